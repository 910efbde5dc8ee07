"""ChainSVM, judged by all labelings of tiny sequences."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

import dualgap
from dualgap import ChainSVM

LABELS = np.array(["a", "b", "c"])


def tiny(seed: int = 0, n: int = 12, edges: int = 0) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """Return sequences whose labels depend on their rows and on the label before, with noise."""
    rng = np.random.default_rng(seed)
    X, y, pairs = [], [], []
    for _ in range(n):
        length = int(rng.integers(1, 5))
        labels = rng.integers(0, 3, length)
        labels[1:] = np.where(rng.random(length - 1) < 0.6, labels[:-1], labels[1:])
        X.append(np.eye(3)[labels] + rng.normal(scale=0.7, size=(length, 3)))
        y.append(LABELS[labels])
        pairs.append(rng.normal(size=(length, edges)))
    return X, y, pairs


def scores(model: ChainSVM, x: np.ndarray, pairs: np.ndarray | None = None) -> dict[tuple[int, ...], float]:
    """Return the score of every labeling, from the weights."""
    found = {}
    for labels in itertools.product(range(len(model.classes_)), repeat=len(x)):
        score = model.start_[labels[0]] + model.end_[labels[-1]]
        score += sum(model.coef_[k] @ x[t] for t, k in enumerate(labels))
        for t in range(1, len(x)):
            score += model.transitions_[labels[t - 1], labels[t]]
            if pairs is not None:
                score += pairs[t] @ model.pair_coef_[:, labels[t - 1], labels[t]]
        found[labels] = float(score)
    return found


def objective(model: ChainSVM, X: Any, y: Any, lam: float, counts: np.ndarray, l1: float = 0.0) -> float:
    """Return the objective by its definition."""
    losses = []
    for x, labels in zip(X, y, strict=True):
        truth = tuple(np.searchsorted(model.classes_, labels))
        cost = 1.0 if model.hamming == "plain" else 1.0 / len(x)
        found = scores(model, x)
        margins = []
        for other, score in found.items():
            loss = cost * sum(a != b for a, b in zip(other, truth, strict=True))
            rise = score - found[truth]
            margins.append(loss + rise if model.rescale == "margin" else loss * (1.0 + rise))
        losses.append(max(margins))
    weights = np.concatenate([model.coef_.ravel(), model.start_, model.end_, model.transitions_.ravel()])
    return float(np.average(losses, weights=counts) + lam / 2 * weights @ weights + l1 * np.abs(weights).sum())


def test_predictions_are_the_best_of_all_labelings() -> None:
    X, y, pairs = tiny(1, edges=2)
    model = ChainSVM(lam=0.02).fit(X, y, edges=pairs)
    assert model.pair_coef_.shape == (2, 3, 3) and np.abs(model.pair_coef_).max() > 0
    found = model.predict(X, edges=pairs)
    for x, e, labels in zip(X, pairs, found, strict=True):
        all_scores = scores(model, x, e)
        assert all_scores[tuple(np.searchsorted(LABELS, labels))] >= max(all_scores.values()) - 1e-12
    right = np.concatenate(found) == np.concatenate(y)
    assert model.score(X, y, edges=pairs) == pytest.approx(right.mean()) and right.mean() > 0.6
    with pytest.raises(ValueError, match="give `edges`"):
        model.predict(X)
    with pytest.raises(ValueError, match="3 features, and the model was trained with 2"):
        model.predict(X, edges=[np.ones((len(x), 3)) for x in X])


@pytest.mark.parametrize("hamming", ["normalized", "plain"])
@pytest.mark.parametrize("rescale", ["margin", "slack"])
def test_the_certified_primal_is_the_objective(hamming: Any, rescale: Any) -> None:
    X, y, _ = tiny(2)
    counts = np.linspace(0.5, 2.0, len(X))
    model = ChainSVM(hamming=hamming, rescale=rescale, lam=0.1, l1=0.01, tolerance=0.05)
    model.fit(X, y, sample_weight=counts)
    assert objective(model, X, y, 0.1, counts, 0.01) == pytest.approx(model.certificate_.primal, rel=1e-12)
    tight = clone(model).set_params(tolerance=1e-6).fit(X, y, sample_weight=counts)
    loose, best = model.certificate_, tight.certificate_
    assert loose.dual - loose.rounding <= best.primal + best.rounding
    assert loose.primal - best.primal <= loose.gap_bound
    assert best.relative_gap <= 1e-6 and loose.relative_gap <= 0.05
    again = model.certify(X, y, counts)
    assert (again.primal, again.evidence) == (loose.primal, "witness")
    with pytest.raises(ValueError, match="sample weights are not those"):
        model.certify(X, y, counts[::-1])


def test_lambda_may_be_a_multiple_of_one_over_n() -> None:
    X, y, _ = tiny(3)
    model = ChainSVM(lam="3/n", tolerance=0.01).fit(X, y)
    assert objective(model, X, y, 3 / len(X), np.ones(len(X))) == pytest.approx(model.certificate_.primal, rel=1e-12)


def test_all_forms_of_the_data_give_the_same_model() -> None:
    X, y, _ = tiny(4)
    model = ChainSVM(lam=0.1).fit(X, y)
    lengths = [len(x) for x in X]
    flat = ChainSVM(lam=0.1).fit(np.concatenate(X), np.concatenate(y), lengths)
    assert np.array_equal(model.coef_, flat.coef_) and model.certificate_ == flat.certificate_
    assert np.array_equal(flat.predict(np.concatenate(X), lengths), np.concatenate(model.predict(X)))
    assert flat.certify(np.concatenate(X), np.concatenate(y), lengths=lengths).reached
    sparse = ChainSVM(lam=0.1, tolerance=1e-6).fit([sp.csr_array(x) for x in X], y)
    dense = ChainSVM(lam=0.1, tolerance=1e-6).fit([x.tolist() for x in X], y)
    assert np.allclose(sparse.coef_, dense.coef_, atol=1e-3)
    numbers = ChainSVM(lam=0.1).fit(X, [np.searchsorted(LABELS, labels) for labels in y])
    assert np.array_equal(numbers.classes_, [0, 1, 2]) and np.array_equal(numbers.coef_, model.coef_)


def test_a_beam_is_certified_by_its_bounds_and_predicts_as_viterbi_does() -> None:
    X, y, _ = tiny(5)
    model = ChainSVM(lam=0.5, beam=2, tolerance=0.1).fit(X, y)
    assert model.certificate_.certified and model.certificate_.basis == "bounds"
    for x, labels in zip(X, model.predict(X), strict=True):
        all_scores = scores(model, x)
        assert all_scores[tuple(np.searchsorted(LABELS, labels))] >= max(all_scores.values()) - 1e-12
    with pytest.warns(ConvergenceWarning):
        unbounded = ChainSVM(lam=0.5, beam=2, beam_bound=False, passes=5).fit(X, y)
    assert not unbounded.certificate_.certified


def test_a_missed_tolerance_is_told() -> None:
    X, y, _ = tiny(6)
    with pytest.warns(ConvergenceWarning, match="allow more `passes`"):
        model = ChainSVM(lam=1e-4, tolerance=1e-9, passes=1).fit(X, y)
    assert not model.certificate_.reached and model.stop_ == "pass_limit"


def test_a_warm_start_begins_where_the_model_before_ended() -> None:
    X, y, _ = tiny(7)
    model = ChainSVM(lam=0.01, tolerance=1e-4, warm_start=True).fit(X, y)
    before = model.certificate_.dual
    cold = clone(model).fit(X, y).history_[0]["dual"]
    assert cold < before <= model.fit(X, y).history_[0]["dual"]


def test_files_pickles_and_clones(tmp_path: Any) -> None:
    X, y, _ = tiny(8)
    model = ChainSVM(lam=0.1, hamming="plain", beam=3, seed=5).fit(X, y)
    model.save(tmp_path / "chain.dualgap")
    loaded = dualgap.load(tmp_path / "chain.dualgap")
    for again in (loaded, pickle.loads(pickle.dumps(model))):
        assert type(again) is ChainSVM and again.get_params()["hamming"] == "plain"
        assert (again.lam, again.beam, again.seed, again.n_features_in_) == (0.1, 3, 5, 3)
        assert all(np.array_equal(a, b) for a, b in zip(again.predict(X), model.predict(X), strict=True))
        assert again.certify(X, y).primal == model.certificate_.primal
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_scikit_learn_searches_over_its_keywords() -> None:
    X, y, _ = tiny(9, n=20)
    search = GridSearchCV(ChainSVM(tolerance=0.1), {"lam": [0.01, 1.0], "hamming": ["plain"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.5 and len(search.predict(X)) == 20


def test_empty_sequences_are_predicted_but_not_learned_from() -> None:
    X, y, _ = tiny(10)
    model = ChainSVM().fit(X, y)
    found = model.predict([np.empty((0, 3)), X[0], np.empty((0, 3))])
    assert [len(labels) for labels in found] == [0, len(X[0]), 0]
    with pytest.raises(ValueError, match="sequence 1 of X is empty: leave it out"):
        ChainSVM().fit([X[0], np.empty((0, 3))], [y[0], []])


def test_labels_that_the_model_does_not_know_are_mistakes() -> None:
    X, y, _ = tiny(11)
    model = ChainSVM().fit(X, y)
    figures = model.evaluate(X[:1], [["z"] * len(X[0])])
    assert figures["accuracy"] == 0.0 and figures["labels"] == len(X[0])
    with pytest.raises(ValueError, match="it knows no class"):
        model.certify(X, [["z"] * len(x) for x in X])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X[0], y[0]), "where a sequence ends: give `lengths`"),
        (lambda X, y: ([], []), "X has no sequences"),
        (lambda X, y: (X, y[:-1]), "12 sequences and 11 lists of labels"),
        (lambda X, y: ([X[0][0], *X[1:]], y), "sequence 0 of X has 1 dimensions"),
        (lambda X, y: ([*X[:3], X[3][:, :2], *X[4:]], y), "sequence 3 of X has 2 columns, and sequence 0 has 3"),
        (lambda X, y: ([*X[:3], X[3] * np.nan, *X[4:]], y), "sequence 3 of X contains NaN"),
        (lambda X, y: ([*X[:3], [[1.0], [1.0, 2.0]], *X[4:]], y), "sequence 3 of X is no matrix"),
        (lambda X, y: (X, [*y[:2], ["a"] * 9, *y[3:]]), r"its labels have the shape \(9,\)"),
        (lambda X, y: (X, [["a"] * len(x) for x in X]), "at least two labels"),
    ],
)
def test_bad_data_are_refused_with_a_remedy(change: Any, message: str) -> None:
    X, y, _ = tiny(12)
    with pytest.raises(ValueError, match=message):
        ChainSVM().fit(*change(X, y))


def test_lengths_must_fit_the_rows() -> None:
    X, y, _ = tiny(13)
    rows, labels = np.concatenate(X), np.concatenate(y)
    with pytest.raises(ValueError, match="the lengths add up to 4"):
        ChainSVM().fit(rows, labels, [1, 3])
    with pytest.raises(ValueError, match="lengths must be whole numbers"):
        ChainSVM().fit(rows, labels, [0.5])
    with pytest.raises(ValueError, match=r"lengths\[1\] is 0"):
        ChainSVM().fit(rows, labels, [len(rows), 0])
    model = ChainSVM().fit(X, y)
    with pytest.raises(ValueError, match="X has 2 features, but ChainSVM is expecting 3"):
        model.predict([x[:, :2] for x in X])


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"hamming": "half"}, "hamming must be one of normalized, plain"),
        ({"rescale": "both"}, "rescale must be one of margin, slack"),
        ({"beam": 0}, "follows at least one label"),
        ({"beam": 2, "rescale": "slack"}, "slack rescaling is not searched by a beam"),
        ({"lam": -1.0}, "lam must be"),
        ({"solver": "nonsense"}, "nonsense"),
    ],
)
def test_bad_keywords_are_refused(keywords: dict[str, Any], message: str) -> None:
    X, y, _ = tiny(14)
    with pytest.raises(ValueError, match=message):
        ChainSVM(**keywords).fit(X, y)
