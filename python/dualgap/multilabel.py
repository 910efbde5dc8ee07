"""Any number of labels for each example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from . import _dualgap
from ._arrays import class_numbers, class_targets, spelled, unspelled, weights
from ._balls import InBall, expanded
from ._examples import ExamplesEstimator
from ._scores import by_output, loss_keywords, loss_settings, one_of
from .multiclass import penalised


def _has_probabilities(estimator: MultilabelClassifier) -> bool:
    """Return whether the labels have probabilities; else raise the error that says so."""
    if estimator.loss != "logistic":
        raise AttributeError('probabilities need loss="logistic"')
    if not getattr(estimator, "multilabel_", True):
        raise AttributeError("probabilities are for label-indicator matrices, and y had one class for each example")
    return True


class MultilabelClassifier(InBall, ClassifierMixin, ExamplesEstimator):
    """A classifier of any number of labels for each example, trained to a certified optimum.

    Minimises ``mean(sum of the losses of all labels) + mu/2 ||W||^2`` over a matrix of weights in a ball, which the
    labels share: few weights in the l1 ball, a low rank in the trace ball. Without a ball every label would be a
    problem of its own, for :class:`LinearClassifier`.

    Parameters
    ----------
    loss : "smooth-hinge", "squared-hinge" or "logistic", default="smooth-hinge"
        What a wrong or narrow score of a label costs; see :class:`LinearClassifier`. The logistic loss has
        probabilities.
    width : float, default=1.0
        Of the smooth hinge.
    radius : float, default=10.0
        The radius of the ball.
    mu : float or str, default="1/n"
        The strength of ``mu/2 ||W||^2`` in the ball: a number, which may be 0, or a multiple of 1/n such as ``"10/n"``,
        with n the sum of the weights of the examples.
    ball : "l1", "simplex" or "trace", default="l1"
        The ball: weights whose magnitudes add up to at most the radius, nonnegative ones that add up to the radius, or
        those whose singular values add up to at most the radius.
    intercept : bool, default=False
        Whether every score has an intercept. It counts in the ball like the weight of a column of ones, and copies X
        once.
    scale : "none", "max" or "rms", default="none"
        What every column is divided by before the run: its largest magnitude, or its root mean square. All else is
        about the scaled columns; `coef_` is about the columns as they are.
    tolerance : float or None, default=0.01
        Stop when the certified gap is at most this fraction of the objective. With None, only the other limits stop
        the run.
    absolute_tolerance : float, default=None
        Stop at this gap in units of the objective. With both tolerances, either one stops the run.
    passes : int, default=None
        Stop after so many passes over the data, with a ConvergenceWarning.
    time : float, default=None
        Stop after so many seconds, with a ConvergenceWarning.
    solver : str, default="auto"
        The method; see :class:`SparseClassifier` and :class:`LowRankClassifier`.
    constants : dict, default=None
        Of the solver ``"pdbfw"``: numbers `s`, `k`, `eta` and `delta` in the place of its theorem's, such as
        ``{"s": 20, "eta": 0.5}``. The logistic loss needs a `delta`.
    threads : int, default=0
        The number of threads of predictions; zero stands for all cores. A run has one.
    seed : int, default=0
        The seed of the random order. The same seed gives the same bits, here and in the program.
    callback : callable, default=None
        Receives a dict of every certification, and ends the run by returning True.
    verbose : int, default=0
        Whether to show the progress of the run.

    Attributes
    ----------
    classes_ : ndarray of shape (n_labels,)
        The numbers of the columns of y, or their names if y is a data frame with names; the classes, if y has one for
        each example.
    multilabel_ : bool
        Whether y was a label-indicator matrix.
    coef_ : ndarray of shape (n_labels, n_features)
        The weights of each label; zero for a label that no example has. In the trace ball they are computed from the
        factors ``low_rank.u``, ``low_rank.s`` and ``low_rank.v`` of ``model_.arrays`` at every access.
    intercept_ : ndarray of shape (n_labels,)
        The intercepts; zero without any.
    model_ : Model
        The model.
    certificate_ : Certificate
        How far from the optimum the model is at most: recomputed from the data at the end of the run.
    history_ : list of dict
        Every certification of the run: passes, seconds, primal, dual, gap.
    stop_ : str
        Why the run ended: ``"gap_reached"``, ``"pass_limit"``, ``"time_limit"``, ``"interrupted"`` or ``"stalled"``.
    n_iter_ : int
        The number of passes over the data, rounded up.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X is a data frame with names.

    Notes
    -----
    y may also have one class for each example, which is then the only label of it; ``predict`` returns the class with
    the highest score. A model file has only the labels that occur.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from dualgap import MultilabelClassifier
    >>> X, y = make_multilabel_classification(n_samples=200, n_classes=5, random_state=0)
    >>> model = MultilabelClassifier(loss="logistic", ball="trace", radius=20, intercept=True, scale="rms").fit(X, y)
    >>> model.certificate_.relative_gap <= 0.01
    True
    >>> model.predict(X).shape, float((model.predict(X) == y).mean()) > 0.8
    ((200, 5), True)
    """

    _structure: ClassVar[str] = "multilabel"
    _balls: ClassVar[tuple[str, ...]] = ("l1", "simplex", "trace")
    _losses: ClassVar[tuple[str, ...]] = ("smooth-hinge", "squared-hinge", "logistic")

    def __init__(
        self,
        *,
        loss: Literal["smooth-hinge", "squared-hinge", "logistic"] = "smooth-hinge",
        width: float = 1.0,
        radius: float = 10.0,
        mu: float | str = "1/n",
        ball: Literal["l1", "simplex", "trace"] = "l1",
        intercept: bool = False,
        scale: Literal["none", "max", "rms"] = "none",
        tolerance: float | None = 0.01,
        absolute_tolerance: float | None = None,
        passes: int | None = None,
        time: float | None = None,
        solver: str = "auto",
        constants: dict[str, float] | None = None,
        threads: int = 0,
        seed: int = 0,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.width = width
        self.radius = radius
        self.mu = mu
        self.ball = ball
        self.intercept = intercept
        self.scale = scale
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance
        self.passes = passes
        self.time = time
        self.solver = solver
        self.constants = constants
        self.threads = threads
        self.seed = seed
        self.callback = callback
        self.verbose = verbose

    def _structure_settings(self) -> dict[str, Any]:
        return {"loss": loss_settings(self, one_of(self.loss, "loss", self._losses))}

    def _intercept(self) -> str | None:
        return penalised(self.intercept)

    def _recipe_target(self) -> dict[str, bool]:
        return {"label_sets": True}

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> _dualgap.Data:
        names = getattr(y, "columns", None)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True, reset=reset)
        check_classification_targets(y)
        several = y.ndim == 2 and y.shape[1] > 1
        sets = self._indicated(y, names, reset=reset) if several else self._classed(y, reset=reset)
        return self._examples(X, weights(sample_weight, X), sets=sets, labels=self._names())

    def _indicated(self, y: Any, names: Any, *, reset: bool) -> list[list[int]]:
        """Return the labels of each row of an indicator matrix."""
        if reset:
            self.multilabel_ = True
            named = names is not None and len({str(name) for name in names}) == y.shape[1]
            self.classes_ = np.array(names) if named else np.arange(y.shape[1])
        elif y.shape[1] != len(self.classes_):
            raise ValueError(
                f"these are not the data the model was trained on: y has {y.shape[1]} columns, and the model "
                f"{len(self.classes_)} labels"
            )
        entries = y.data if sp.issparse(y) else y
        if ((entries != 0) & (entries != 1)).any():
            raise ValueError("a label-indicator matrix has the entries 0 and 1, and y has others")
        rows, columns = y.nonzero()
        starts = np.searchsorted(rows, np.arange(1, y.shape[0]))
        return [part.tolist() for part in np.split(columns, starts)]

    def _classed(self, y: Any, *, reset: bool) -> list[list[int]]:
        """Return the only label of each example."""
        if reset:
            self.classes_, numbers = class_targets(y)
            self.multilabel_ = False
            if len(self.classes_) < 2:
                raise ValueError(
                    f"Classifier can't train when only one class is present: all examples are of {self.classes_[0]!r}"
                )
        else:
            numbers = class_numbers(column_or_1d(y), self.classes_)
        return [[int(number)] for number in numbers]

    def _names(self) -> list[str]:
        """Return the names that the labels have in a model file."""
        return [spelled(label) for label in self.classes_]

    def _places(self) -> np.ndarray:
        """Return the number of each label of the model: it has only those that occur, in an order of its own."""
        places = {name: k for k, name in enumerate(self._names())}
        return np.array([places[name] for name in self.model_.labels], dtype=np.intp)

    def _spread(self, table: np.ndarray) -> np.ndarray:
        """Return a table whose columns are the labels of the model with one for every label, zero for all others."""
        result = np.zeros((len(table), len(self.classes_)))
        result[:, self._places()] = table
        return result

    def _weights(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights and the intercepts of all labels."""
        arrays = self.model_.arrays
        table = arrays["weights"] if "weights" in arrays else expanded(self.model_)
        return by_output(self._spread(table), self._intercept() is not None)

    @property
    def coef_(self) -> np.ndarray:
        return self._weights()[0]

    @property
    def intercept_(self) -> np.ndarray:
        return self._weights()[1]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the labels.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            The score of each label, which is positive if the label is predicted. If y had one of two classes for each
            example, the score of the second minus that of the first.
        """
        data = self._unlabelled(X)
        scores = self._spread(self.model_.scores(data, self.threads))
        if not self.multilabel_ and len(self.classes_) == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """Predict the labels of every row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        labels : ndarray of shape (n_samples, n_labels)
            A label-indicator matrix: 1 for a label that the row has, else 0. If y had one class for each example, the
            classes, of shape (n_samples,).
        """
        scores = self.decision_function(X)
        if self.multilabel_:
            return (scores > 0.0).astype(np.int64)
        numbers = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[numbers]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every label, under the logistic loss.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels)
            The probability of each label; zero for a label that no example had.
        """
        data = self._unlabelled(X)
        return self._spread(self.model_.probabilities(data, self.threads))

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        found = super()._keywords(model)
        loss = loss_keywords(model.task["structure"]["loss"])
        return {**found, **loss, "intercept": bool(found["intercept"])}

    def _restore(self, model: _dualgap.Model) -> None:
        self.classes_, self.multilabel_ = unspelled(model.labels), True
        super()._restore(model)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        return tags
