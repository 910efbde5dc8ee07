"""MatchingSVM, judged by all matchings of tiny graphs."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score

import dualgap
from dualgap import MatchingSVM

Link = tuple[int, int]


def tiny(seed: int = 0, n: int = 8) -> tuple[list[np.ndarray], list[list[Link]]]:
    """Return graphs with all edges, whose links are mostly those of a first feature."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        rows, columns = (int(k) for k in rng.integers(1, 4, 2))
        links = list(zip(range(rows), rng.permutation(columns).tolist(), strict=False))
        features = rng.normal(scale=0.6, size=(rows, columns, 3))
        for row, column in links:
            features[row, column, 0] += 1.0
        X.append(features)
        y.append(links)
    return X, y


def matchings(edges: list[Link]) -> Iterator[list[Link]]:
    """Yield every matching within these edges."""
    if not edges:
        yield []
        return
    (row, column), *rest = edges
    yield from matchings(rest)
    for others in matchings([edge for edge in rest if edge[0] != row and edge[1] != column]):
        yield [(row, column), *others]


def objective(model: MatchingSVM, X: Any, y: Any, possible: Any, lam: float) -> float:
    """Return the objective by its definition, for links that are matchings."""
    losses = []
    for x, truth, free in zip(X, y, possible, strict=True):
        score = {edge: float(x[edge] @ model.coef_) for edge in np.ndindex(x.shape[:2])}
        of_truth = sum(score[edge] for edge in truth)
        margins = []
        for other in matchings(list(score)):
            wrong = sum(edge not in truth and edge not in free for edge in other)
            missing = sum(edge not in other for edge in truth)
            loss = model.fp * wrong + model.fn * missing
            margins.append(loss + sum(score[edge] for edge in other) - of_truth)
        losses.append(max(margins))
    return float(np.mean(losses) + lam / 2 * model.coef_ @ model.coef_)


def test_predictions_are_the_best_of_all_matchings() -> None:
    X, y = tiny(1)
    model = MatchingSVM(lam=0.01).fit(X, y)
    for x, links in zip(X, model.predict(X), strict=True):
        score = {edge: float(x[edge] @ model.coef_) for edge in np.ndindex(x.shape[:2])}
        best = max(sum(score[edge] for edge in other) for other in matchings(list(score)))
        assert sum(score[edge] for edge in links) == pytest.approx(best, abs=1e-12)
    assert model.score(X, y) > 0.8


def test_the_certified_primal_is_the_objective() -> None:
    X, y = tiny(2)
    possible = [
        [edge for edge in np.ndindex(x.shape[:2]) if edge not in links][:1] for x, links in zip(X, y, strict=True)
    ]
    marked = [{"sure": links, "possible": free} for links, free in zip(y, possible, strict=True)]
    model = MatchingSVM(lam=0.2, fp=1.5, fn=0.5, tolerance=0.05).fit(X, marked)
    assert objective(model, X, y, possible, 0.2) == pytest.approx(model.certificate_.primal, rel=1e-12)
    tight = clone(model).set_params(tolerance=1e-6).fit(X, marked)
    loose, best = model.certificate_, tight.certificate_
    assert loose.dual - loose.rounding <= best.primal + best.rounding
    assert loose.primal - best.primal <= loose.gap_bound
    again = model.certify(X, marked)
    assert (again.primal, again.evidence) == (loose.primal, "witness")


def test_figures_are_those_of_the_links() -> None:
    X, y = tiny(3)
    possible = [[(0, x.shape[1] - 1)] for x in X]
    model = MatchingSVM(lam=0.5).fit(X, y)
    figures = model.evaluate(X, [{"sure": s, "possible": p} for s, p in zip(y, possible, strict=True)])
    predicted = {(i, *link) for i, links in enumerate(model.predict(X)) for link in links}
    sure = {(i, *link) for i, links in enumerate(y) for link in links}
    maybe = sure | {(i, *link) for i, links in enumerate(possible) for link in links}
    assert figures["precision"] == pytest.approx(len(predicted & maybe) / len(predicted))
    assert figures["recall"] == pytest.approx(len(predicted & sure) / len(sure))
    error = 1 - (len(predicted & sure) + len(predicted & maybe)) / (len(predicted) + len(sure))
    assert figures["aer"] == pytest.approx(error)
    assert model.score(X, y) == pytest.approx(2 * len(predicted & sure) / (len(predicted) + len(sure)))


def test_all_forms_of_graphs_and_links_give_the_same_model() -> None:
    X, y = tiny(4)
    model = MatchingSVM(lam=0.1).fit(X, y)
    shuffle = np.random.default_rng(0).permutation
    graphs, matrices, dicts = [], [], []
    for x, links in zip(X, y, strict=True):
        edges = shuffle(np.argwhere(np.ones(x.shape[:2])))
        graphs.append((edges, x[tuple(edges.T)], x.shape[:2]))
        matrix = np.zeros(x.shape[:2])
        for link in links:
            matrix[link] = 1
        matrices.append(matrix)
        dicts.append({"sure": links})
    for other in (
        MatchingSVM(lam=0.1).fit(graphs, matrices),
        MatchingSVM(lam=0.1).fit(X, dicts),
        MatchingSVM(lam=0.1).fit(X, [sp.csr_array(matrix) for matrix in matrices]),
    ):
        assert np.array_equal(other.coef_, model.coef_) and other.certificate_ == model.certificate_
        assert other.predict(graphs) == model.predict(X)
    sparse = [(edges, sp.csr_matrix(features), shape) for edges, features, shape in graphs]
    assert MatchingSVM(lam=0.1).fit(sparse, y).predict(sparse) == model.predict(X)


def test_edges_that_are_not_there_are_not_predicted() -> None:
    graph = ([(0, 0), (1, 1)], [[1.0], [1.0]], (2, 3))
    model = MatchingSVM(lam=0.1).fit([graph], [[(0, 0)]])
    assert set(model.predict([graph, ([], np.empty((0, 1)), (2, 2))])[1]) == set()


def test_files_pickles_and_clones(tmp_path: Any) -> None:
    X, y = tiny(5)
    model = MatchingSVM(lam=0.1, fp=2.0, fn=1.0, seed=4).fit(X, y)
    model.save(tmp_path / "matching.dualgap")
    for again in (dualgap.load(tmp_path / "matching.dualgap"), pickle.loads(pickle.dumps(model))):
        assert type(again) is MatchingSVM and (again.fp, again.fn, again.lam, again.seed) == (2.0, 1.0, 0.1, 4)
        assert again.predict(X) == model.predict(X) and again.certify(X, y).primal == model.certificate_.primal
    assert cross_val_score(MatchingSVM(lam=0.1), X, y, cv=2).min() > 0.3


def test_a_missed_tolerance_is_told() -> None:
    with pytest.warns(ConvergenceWarning):
        MatchingSVM(lam=1e-4, tolerance=1e-9, passes=1).fit(*tiny(6))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: ([], []), "X has no graphs"),
        (lambda X, y: (X, y[1:]), "there are 8 graphs, and y has the links of 7"),
        (lambda X, y: ([X[0][0], *X[1:]], y), "graph 0 has 2 dimensions"),
        (lambda X, y: ([*X[:2], X[2][:, :, :1], *X[3:]], y), "graph 2 have 1 features, and graph 0 has 3"),
        (lambda X, y: ([*X[:2], X[2] * np.inf, *X[3:]], y), "graph 2 contains NaN or infinity"),
        (lambda X, y: (X, [[(0, 9)], *y[1:]]), "graph 0 has no edge from row 0 to column 9"),
        (lambda X, y: (X, [[7], *y[1:]]), "a link of graph 0 is 7"),
        (lambda X, y: (X, [np.ones((9, 9)), *y[1:]]), r"the matrix of its links has \(9, 9\)"),
        (lambda X, y: (X, [np.full(X[0].shape[:2], 3), *y[1:]]), "must be 1 for sure, -1 for possible"),
        (lambda X, y: (X, [{"sur": []}, *y[1:]]), '"sure" and "possible", not'),
        (lambda X, y: (X, [[] for _ in y]), "no sure link to learn from"),
        (lambda X, y: ([([(0, 0), (0, 0)], np.ones((2, 3)), (1, 1)), *X[1:]], [[], *y[1:]]), "twice"),
        (lambda X, y: ([([(0, 5)], np.ones((1, 3)), (1, 1)), *X[1:]], [[], *y[1:]]), "row 0 to column 5"),
        (lambda X, y: ([([(0, -1)], np.ones((1, 3)), (1, 1)), *X[1:]], [[], *y[1:]]), "both count from 0"),
        (lambda X, y: ([([(0, 0)], np.ones((2, 3)), (1, 1)), *X[1:]], y), "its features need a row for each"),
        (lambda X, y: ([([0.5], np.ones((1, 3)), (1, 1)), *X[1:]], y), "pairs of whole numbers"),
    ],
)
def test_bad_data_are_refused_with_a_remedy(change: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MatchingSVM().fit(*change(*tiny(7)))


def test_bad_keywords_and_widths_are_refused() -> None:
    X, y = tiny(8)
    with pytest.raises(ValueError, match="neither wrong nor missing edges cost anything"):
        MatchingSVM(fp=0, fn=0).fit(X, y)
    with pytest.raises(ValueError, match="fp must be"):
        MatchingSVM(fp=-1).fit(X, y)
    model = MatchingSVM().fit(X, y)
    with pytest.raises(ValueError, match="have 1 features, and the model was trained with 3"):
        model.predict([x[:, :, :1] for x in X])
