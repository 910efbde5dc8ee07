"""MulticlassSVM: its objective computed anew, and beside scikit-learn's estimators of the same problem."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import dualgap
from dualgap import MulticlassSVM

N, D = 60, 5
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, D))
NUMBERS = (X @ RNG.normal(size=(D, 4)) + 0.5 * RNG.normal(size=(N, 4))).argmax(axis=1)
Y = np.array([10, 20, 30, 40])[NUMBERS]
COSTS = np.array([[0, 1, 2, 1], [1, 0, 0.5, 3], [2, 1, 0, 1], [1, 4, 1, 0.0]])
ZERO_ONE = 1.0 - np.eye(4)


def hinge(scores: np.ndarray, y: np.ndarray, costs: np.ndarray) -> np.ndarray:
    return (costs[y] + scores).max(axis=1) - scores[np.arange(len(y)), y]


def slack_hinge(scores: np.ndarray, y: np.ndarray, costs: np.ndarray) -> np.ndarray:
    return (costs[y] * (1 + scores - scores[np.arange(len(y)), y][:, None])).max(axis=1)


def smooth_hinge(scores: np.ndarray, y: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Computes max over distributions of <b, s> - |b|^2/4, for a width of a half, by bisection of the threshold."""
    s = costs[y] + scores
    low, high = s.min(axis=1) - 1, s.max(axis=1)
    for _ in range(100):
        middle = (low + high) / 2
        many = (np.maximum(s - middle[:, None], 0) / 0.5).sum(axis=1) > 1
        low, high = np.where(many, middle, low), np.where(many, high, middle)
    beta = np.maximum(s - low[:, None], 0) / 0.5
    return (beta * s).sum(axis=1) - 0.25 * (beta**2).sum(axis=1) - scores[np.arange(len(y)), y]


def softmax(scores: np.ndarray, y: np.ndarray, costs: np.ndarray) -> np.ndarray:
    return np.logaddexp.reduce(scores, axis=1) - scores[np.arange(len(y)), y]


@pytest.mark.parametrize(
    ("keywords", "loss", "costs"),
    [
        ({}, hinge, ZERO_ONE),
        ({"costs": COSTS}, hinge, COSTS),
        ({"costs": COSTS, "rescale": "slack"}, slack_hinge, COSTS),
        ({"loss": "smooth-hinge", "width": 0.5, "costs": COSTS}, smooth_hinge, COSTS),
        ({"loss": "softmax"}, softmax, ZERO_ONE),
        ({"loss": "softmax", "lam": 0.0, "l1": 0.05}, softmax, ZERO_ONE),
        ({"l1": 0.02, "nonnegative": True}, hinge, ZERO_ONE),
    ],
)
def test_the_objective_is_what_it_says(keywords: dict[str, Any], loss: Any, costs: np.ndarray) -> None:
    counts = RNG.integers(1, 4, size=N)
    model = MulticlassSVM(**{"lam": 0.1, "intercept": True, "tolerance": 1e-4, **keywords})
    model.fit(X, Y, sample_weight=counts)
    assert model.coef_.shape == (4, D) and model.intercept_.shape == (4,)
    scores = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), np.array([10, 20, 30, 40])[scores.argmax(axis=1)])
    every = np.column_stack([model.coef_, model.intercept_])
    assert not model.nonnegative or (every >= 0).all()
    penalty = model.lam / 2 * (every**2).sum() + model.l1 * np.abs(every).sum()
    objective = np.average(loss(scores, NUMBERS, costs), weights=counts) + penalty
    assert model.certificate_.primal == pytest.approx(objective, rel=1e-12)
    assert model.certificate_.relative_gap <= 1e-4


def test_softmax_is_multinomial_logistic_regression() -> None:
    ours = MulticlassSVM(loss="softmax", lam=0.05, tolerance=1e-12).fit(X, Y)
    theirs = LogisticRegression(C=1 / (0.05 * N), fit_intercept=False, tol=1e-10, max_iter=10_000).fit(X, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    np.testing.assert_allclose(ours.predict_log_proba(X), np.log(ours.predict_proba(X)))


def test_the_hinge_is_that_of_crammer_and_singer() -> None:
    ours = MulticlassSVM(lam=0.05, tolerance=1e-6).fit(X, Y)
    theirs = LinearSVC(
        multi_class="crammer_singer", C=1 / (0.05 * N), fit_intercept=False, tol=1e-8, max_iter=100_000, random_state=0
    ).fit(X, Y)
    found = hinge(X @ theirs.coef_.T, NUMBERS, ZERO_ONE).mean() + 0.05 / 2 * (theirs.coef_**2).sum()
    certificate = ours.certificate_
    assert certificate.dual - certificate.rounding <= found
    assert found == pytest.approx(certificate.primal, rel=1e-5)


def test_two_classes_have_one_score() -> None:
    y = np.where(NUMBERS > 1, "yes", "no")
    model = MulticlassSVM(loss="softmax", lam=0.1, intercept=True, tolerance=1e-10).fit(X, y)
    assert model.coef_.shape == (1, D) and model.intercept_.shape == (1,)
    scores = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, "yes", "no"))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-scores)), rtol=1e-9)
    # Two vectors share the norm of their difference, so each has half of it.
    wide = np.hstack([X, np.ones((N, 1))])
    theirs = LogisticRegression(C=1 / (0.05 * N), fit_intercept=False, tol=1e-10, max_iter=10_000).fit(wide, y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), theirs.coef_[0], atol=1e-4)


def test_class_weights_are_sample_weights() -> None:
    model = MulticlassSVM(lam=0.1, class_weight={20: 3.0, 40: 0.5}, tolerance=1e-8).fit(X, Y)
    counts = np.select([Y == 20, Y == 40], [3.0, 0.5], 1.0)
    weighted = MulticlassSVM(lam=0.1, tolerance=1e-8).fit(X, Y, sample_weight=counts)
    assert model.certificate_.primal == pytest.approx(weighted.certificate_.primal, rel=1e-7)
    balanced = MulticlassSVM(lam=0.1, class_weight="balanced", tolerance=1e-8).fit(X, Y)
    counts = (1.0 / np.bincount(NUMBERS))[NUMBERS]
    weighted.fit(X, Y, sample_weight=counts)
    assert balanced.certificate_.primal == pytest.approx(weighted.certificate_.primal, rel=1e-7)


@pytest.mark.parametrize("solver", ["bcfw", "fw", "cutting-plane", "n-slack", "eg"])
def test_solvers_agree(solver: str) -> None:
    model = MulticlassSVM(lam=0.1, solver=solver, tolerance=1e-2, passes=20_000).fit(X, Y)
    best = MulticlassSVM(lam=0.1, tolerance=1e-8).fit(X, Y).certificate_
    assert best.primal - best.gap_bound <= model.certificate_.primal <= best.primal * 1.011


def test_a_warm_start_goes_on_where_the_last_run_ended() -> None:
    model = MulticlassSVM(lam=0.1, tolerance=1e-8, warm_start=True).fit(X, Y)
    cold = model.n_iter_
    model.fit(X, Y)
    assert model.n_iter_ < cold and model.certificate_.reached


def test_a_model_file_becomes_the_same_estimator(tmp_path: Path) -> None:
    model = MulticlassSVM(costs=COSTS, rescale="slack", lam=0.05, intercept=True, scale="rms", seed=3)
    model.fit(sp.csr_array(X), Y)
    model.save(tmp_path / "m.dualgap")
    again = dualgap.load(tmp_path / "m.dualgap")
    assert isinstance(again, MulticlassSVM)
    for name in ("loss", "rescale", "lam", "l1", "intercept", "scale", "seed"):
        assert getattr(again, name) == getattr(model, name)
    np.testing.assert_array_equal(again.costs, COSTS)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certify(X, Y) == model.certify(X, Y)
    assert clone(again).fit(X, Y).certificate_ == model.certificate_
    assert pickle.loads(pickle.dumps(model)).certify(X, Y) == model.certify(X, Y)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"loss": "logistic"}, "there is no loss 'logistic': take one of hinge, smooth-hinge, softmax"),
        ({"costs": COSTS[:2]}, "for each of the 4 classes, and its shape is \\(2, 4\\)"),
        ({"costs": -COSTS}, "costs are not negative"),
        ({"costs": COSTS + 1}, "the diagonal of a cost matrix is zero"),
        ({"rescale": "both"}, "there is no rescale 'both': take one of margin, slack"),
        ({"loss": "softmax", "rescale": "slack"}, "slack rescaling is for the hinge"),
        ({"intercept": "free"}, "intercept must be False or True"),
        ({"lam": 0.0}, "lambda must be a positive number, not 0"),
        ({"lam": 0.0, "l1": 0.1, "rescale": "slack"}, "slack rescaling needs a lambda"),
        ({"solver": "apg"}, "there is no solver `apg` under a penalty"),
        ({"loss": "smooth-hinge", "width": 0.0}, "the width of a loss is positive"),
        ({"solver_options": {"s": 2}}, "this solver has no setting `s`"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MulticlassSVM(**keywords).fit(X, Y)


def test_probabilities_need_softmax() -> None:
    assert not hasattr(MulticlassSVM().fit(X, Y), "predict_proba")
    assert hasattr(MulticlassSVM(loss="softmax"), "predict_proba")
