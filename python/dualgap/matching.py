"""Matchings: which rows and columns of a graph belong together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _dualgap
from ._arrays import rows, weights
from ._base import CertifiedEstimator, number

#: Marks of edges: none, a possible link, a sure link. In a matrix they are 0, -1 and 1.
_NONE, _POSSIBLE, SURE = 0, 1, 2

#: The edges of a graph, the features of each, and its numbers of rows and columns.
Graph = tuple[np.ndarray, Any, tuple[int, int]]


class MatchingSVM(CertifiedEstimator):
    """Links between rows and columns, at most one for each, trained to a certified optimum.

    An example is a bipartite graph whose edges have features; the score of an edge is linear in them. The prediction is
    the set of edges with the largest sum of scores in which every row and every column occurs at most once. Training
    minimises the structural hinge under a loss that counts wrong and missing edges, as for the alignment of words in
    Lacoste-Julien et al. (2013).

    Sure links need not be one to one: the truth of an example is a largest matching within them, the nearest to the
    diagonal. Possible links cost nothing, predicted or not.

    Parameters
    ----------
    fp : float, default=1.0
        What a wrong link costs.
    fn : float, default=3.0
        What a missing link costs.
    lam : float or str, default="1/n"
        The strength of the squared norm: a number, or a multiple of ``1/n`` such as ``"10/n"``.
    l1 : float or str, default=0.0
        The strength of the l1 norm. Also a fraction such as ``"0.1max"`` of
        the smallest with which all weights are zero, or ``"auto"``: the one that predicts best on five folds of the
        training data, of which `auto_` tells.
    nonnegative : bool, default=False
        Whether weights must not be negative.
    tolerance, absolute_tolerance, passes, oracle_calls, time
        When the run ends, as in :class:`ChainSVM`.
    solver, solver_options, threads, seed, warm_start, callback, verbose
        The run, as in :class:`ChainSVM`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights of the features of an edge.
    certificate_ : Certificate
        The bound on the distance to the optimum.
    n_features_in_ : int
        The number of features of an edge.

    Examples
    --------
    Two graphs with all edges, of 2 by 2 and of 1 by 2, and one feature, the distance of an edge from the diagonal:

    >>> import numpy as np
    >>> from dualgap import MatchingSVM
    >>> X = [np.array([[[0.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]]]), np.array([[[0.9, 1.0], [0.1, 1.0]]])]
    >>> y = [[(0, 0), (1, 1)], [(0, 1)]]
    >>> model = MatchingSVM(lam=0.01).fit(X, y)
    >>> model.predict(X)
    [[(0, 0), (1, 1)], [(0, 1)]]
    >>> model.evaluate(X, y)["aer"]
    0.0
    """

    _structure: ClassVar[str] = "matching"
    n_features_in_: int

    def __init__(
        self,
        *,
        fp: float = 1.0,
        fn: float = 3.0,
        lam: float | str = "1/n",
        l1: float | str = 0.0,
        nonnegative: bool = False,
        tolerance: float | None = 0.01,
        absolute_tolerance: float | None = None,
        passes: int | None = None,
        oracle_calls: int | None = None,
        time: float | None = None,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        threads: int = 0,
        seed: int = 0,
        warm_start: bool = False,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.fp = fp
        self.fn = fn
        self.lam = lam
        self.l1 = l1
        self.nonnegative = nonnegative
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance
        self.passes = passes
        self.oracle_calls = oracle_calls
        self.time = time
        self.solver = solver
        self.solver_options = solver_options
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the model until its certified gap is within the tolerance.

        Parameters
        ----------
        X : list of graphs
            A graph with all edges is an array of shape (n_rows, n_columns, n_features). One with some edges is a tuple
            ``(edges, features, shape)``: the row and the column of every edge, an array or a sparse matrix with a row
            for every edge, and the numbers of rows and columns.
        y : list of links of each graph
            An array or a sparse matrix of shape (n_rows, n_columns) with 1 for a sure link, -1 for a possible one and 0
            for none; or a list of the pairs ``(row, column)`` that are sure links; or a dict with the lists ``"sure"``
            and ``"possible"``.
        sample_weight : array of shape (n_graphs,), default=None
            What each graph counts in the mean loss.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        data = self._labelled(X, y, sample_weight, reset=True)
        self._keep(*self._run(data, self._task(), recipe=self._recipe(), warm_start=self._previous()))
        return self

    def predict(self, X: Any) -> list[list[tuple[int, int]]]:
        """Predict the links of every graph.

        Parameters
        ----------
        X : list of graphs
            As in ``fit``.

        Returns
        -------
        links : list of lists of (int, int)
            The row and the column of every link, in ascending order.
        """
        check_is_fitted(self)
        return self.model_.predict(graph_data(self._graphs(X, reset=False)), self.threads)

    def evaluate(self, X: Any, y: Any) -> dict[str, Any]:
        """Compare predictions with the truth.

        Parameters
        ----------
        X, y : as in ``fit``
            Graphs and their links.

        Returns
        -------
        figures : dict
            The alignment error rate `aer`, `precision` (of the predicted links, those that are possible), `recall` (of
            the sure links, those that are predicted), the fraction of `exact` graphs, and counts.
        """
        check_is_fitted(self)
        return self.model_.figures(self._labelled(X, y, None, reset=False), self.threads)

    def score(self, X: Any, y: Any) -> float:
        """Return one minus the alignment error rate: without possible links, the F1 of the links.

        Parameters
        ----------
        X, y : as in ``fit``
            Graphs and their links.

        Returns
        -------
        score : float
            At most 1, which stands for no mistake.
        """
        return 1.0 - self.evaluate(X, y)["aer"]

    def _task(self) -> dict[str, Any]:
        """Return the problem in the library's JSON form."""
        loss = {"false_positive": number(self.fp, "fp"), "false_negative": number(self.fn, "fn")}
        return {"structure": {"loss": loss}, "penalty": self._penalty()}

    def _recipe(self) -> dict[str, Any]:
        # Features have no names, as in edge files whose features are numbers.
        return {"format": "edges", "folds": None}

    def _check_sure(self, sure: bool) -> None:
        if not sure:
            raise ValueError("there is no sure link to learn from: in a matrix it is a 1")

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> _dualgap.Data:
        graphs = self._graphs(X, reset=reset)
        marks = marks_of(y, graphs)
        if reset:
            self._check_sure((marks == SURE).any())
        names = None if reset else self.model_.features or None
        return graph_data(graphs, marks, weights(sample_weight, np.empty(len(graphs))), names)

    def _graphs(self, X: Any, *, reset: bool) -> list[Graph]:
        """Return the edges, the features and the shape of every graph."""
        graphs = graphs_of(X, None if reset else self.n_features_in_)
        if reset:
            self.n_features_in_ = graphs[0][1].shape[1]
        return graphs

    def _set_fitted(self) -> None:
        self.coef_ = self.model_.arrays["weights"]

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        loss = model.task["structure"]["loss"]
        return {**super()._keywords(model), "fp": loss["false_positive"], "fn": loss["false_negative"]}

    def _restore(self, model: _dualgap.Model) -> None:
        self.n_features_in_ = model.width
        super()._restore(model)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.target_tags.required = True
        return tags


def graphs_of(X: Any, width: int | None = None) -> list[Graph]:
    """Return validated graphs, whose edges have as many features as those of the first one, or as many as a model has."""
    graphs = [_graph(graph, i) for i, graph in enumerate(X)]
    if not graphs:
        raise ValueError("X has no graphs")
    wanted = graphs[0][1].shape[1] if width is None else width
    for i, (_, features, _) in enumerate(graphs):
        if features.shape[1] != wanted:
            of = "graph 0 has" if width is None else "the model was trained with"
            raise ValueError(f"the edges of graph {i} have {features.shape[1]} features, and {of} {wanted}")
    return graphs


def marks_of(y: Any, graphs: list[Graph]) -> np.ndarray:
    """Return the marks of all edges of graphs, by their links."""
    if len(y) != len(graphs):
        raise ValueError(f"there are {len(graphs)} graphs, and y has the links of {len(y)}: each needs one")
    return np.concatenate([_marks(links, graph, i) for i, (links, graph) in enumerate(zip(y, graphs, strict=True))])


def _graph(graph: Any, i: int) -> Graph:
    """Return the edges, the features of each, and the shape of a graph."""
    if isinstance(graph, tuple) and len(graph) == 3:
        edges, features, shape = graph
        edges = np.asarray(edges)
        if edges.size == 0:
            edges = np.empty((0, 2), dtype=np.int64)
        if edges.ndim != 2 or edges.shape[1] != 2 or edges.dtype.kind not in "iu":
            raise ValueError(f"the edges of graph {i} must be pairs of whole numbers, the row and the column of each")
        if not sp.issparse(features):
            features = _numbers(features, i)
        if features.ndim != 2 or features.shape[0] != len(edges):
            raise ValueError(f"graph {i} has {len(edges)} edges: its features need a row for each")
        shape = (int(shape[0]), int(shape[1]))
    else:
        array = _numbers(graph, i)
        if array.ndim != 3:
            raise ValueError(
                f"graph {i} has {array.ndim} dimensions: give an array of shape (n_rows, n_columns, n_features), or "
                "(edges, features, shape)"
            )
        shape = array.shape[:2]
        edges = np.indices(shape).reshape(2, -1).T
        features = array.reshape(-1, array.shape[2])
    values = features.data if sp.issparse(features) else features
    if not np.isfinite(values).all():
        raise ValueError(f"graph {i} contains NaN or infinity: leave the edge out, or fill in numbers")
    return np.ascontiguousarray(edges, dtype=np.int64), features, shape


def _numbers(array: Any, i: int) -> np.ndarray:
    try:
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"graph {i} has features that are no numbers, or not the same number for every edge") from None


def _marks(links: Any, graph: Graph, i: int) -> np.ndarray:
    """Return the mark of every edge of a graph."""
    edges, _, shape = graph
    marks = np.zeros(len(edges), dtype=np.int64)
    if isinstance(links, np.ndarray) or sp.issparse(links):
        matrix = links.toarray() if sp.issparse(links) else links
        if matrix.shape != shape:
            raise ValueError(
                f"graph {i} has the shape {shape}, and the matrix of its links has {matrix.shape}; pairs of rows and "
                "columns are given as a list"
            )
        if not np.isin(matrix, (-1, 0, 1)).all():
            raise ValueError(f"the links of graph {i} must be 1 for sure, -1 for possible and 0 for none")
        sure, possible = np.argwhere(matrix == 1).tolist(), np.argwhere(matrix == -1).tolist()
    elif isinstance(links, Mapping):
        strange = set(links) - {"sure", "possible"}
        if strange:
            raise ValueError(f'the links of graph {i} are "sure" and "possible", not {sorted(strange)}')
        sure, possible = links.get("sure", []), links.get("possible", [])
    else:
        sure, possible = links, []
    place = {(int(row), int(column)): k for k, (row, column) in enumerate(edges)}
    for mark, pairs in [(_POSSIBLE, possible), (SURE, sure)]:
        for pair in pairs:
            try:
                row, column = map(int, pair)
            except (TypeError, ValueError):
                raise ValueError(f"a link of graph {i} is {pair!r}: it must be a row and a column") from None
            if (row, column) not in place:
                raise ValueError(
                    f"graph {i} has no edge from row {row} to column {column}, and y has a link there: leave the link "
                    "out, or give the edge features"
                )
            marks[place[row, column]] = mark
    return marks


def graph_data(
    graphs: list[Graph],
    marks: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
    names: list[str] | None = None,
) -> _dualgap.Data:
    """Return graphs as data of the library; a model of the program may have names of features."""
    parts = [features for _, features, _ in graphs]
    if any(sp.issparse(part) for part in parts):
        matrix = sp.vstack([sp.csr_matrix(part) for part in parts], format="csr")
    else:
        matrix = np.concatenate(parts)
    return _dualgap.Data.matchings(
        rows(matrix),
        [shape for _, _, shape in graphs],
        np.concatenate([edges for edges, _, _ in graphs]),
        np.cumsum([0, *(len(edges) for edges, _, _ in graphs)]),
        marks=marks,
        weights=sample_weight,
        features=names,
    )
