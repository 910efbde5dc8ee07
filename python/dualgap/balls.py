"""Sparse models: weights in the l1 ball or in the simplex, or under a pure l1 penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags

from . import _dualgap
from ._balls import InBall, OutputsRegressor
from ._base import sigma
from ._examples import ExamplesEstimator
from ._scores import ScoringClassifier, loss_settings, one_of, only_binary

#: The radius without another one.
_RADIUS = 10.0


class Sparse(InBall, ExamplesEstimator):
    """The ball or the penalty of a sparse model."""

    l1: Any
    constants: Any
    intercept: Any
    coef_: np.ndarray

    def _penalty(self) -> dict[str, Any]:
        if self.l1 is None:
            return super()._penalty()
        if self.radius is not None or self.constants is not None or (self.ball, self.mu) != ("l1", "1/n"):
            raise ValueError("`l1` is a penalty in the place of a ball: leave radius, ball, mu and constants out")
        return {"name": "ridge", "lambda": 0.0, "l1": sigma(self.l1, "l1")}

    def _radius(self) -> float:
        return _RADIUS if self.radius is None else super()._radius()

    def _free(self) -> bool:
        """Return whether an intercept can be free of a penalty."""
        raise NotImplementedError

    def _intercept(self) -> str | None:
        if self.intercept is True:
            return "free" if self._free() else "penalised"
        return super()._intercept()

    @property
    def sparse_coef_(self) -> sp.csr_array:
        return sp.csr_array(np.atleast_2d(self.coef_))


class SparseClassifier(Sparse, ScoringClassifier):
    """A classifier with few nonzero weights, trained to a certified optimum.

    Minimises ``mean(loss) + mu/2 ||W||^2`` over weights in a ball, or ``mean(loss) + l1 ||W||_1``. Two classes have one
    score, whose sign decides; more have one each, under a joint loss of all of them.

    Parameters
    ----------
    loss : "smooth-hinge", "squared-hinge", "logistic" or "hinge", default="smooth-hinge"
        What a wrong or narrow score costs; see :class:`LinearClassifier`, and for more than two classes
        :class:`MulticlassSVM`, where the logistic loss is called softmax, and there is no squared hinge. A ball needs a
        smooth loss, which the hinge is not. The logistic loss has probabilities.
    width : float, default=1.0
        Of the smooth hinge.
    radius : float, "auto" or None, default=None
        The radius of the ball: the largest sum of the magnitudes of all weights. ``"auto"`` chooses it by held-out data,
        a fifth of the examples; `auto_` says how. By default 10, unless there is an
        `l1`.
    mu : float or str, default="1/n"
        The strength of ``mu/2 ||W||^2`` in the ball: a number, which may be 0, or a multiple of 1/n such as ``"10/n"``,
        with n the sum of the weights of the examples.
    ball : "l1" or "simplex", default="l1"
        The ball: weights whose magnitudes add up to at most the radius, or nonnegative ones that add up to the radius.
    l1 : float, str or None, default=None
        The strength of a pure l1 penalty, ``l1 ||W||_1``, in the place of the ball. Also a fraction such as ``"0.1max"`` of
        the smallest with which all weights are zero, or ``"auto"``: the one that predicts best on five folds.
    intercept : bool, "free" or "penalised", default=False
        Whether there is an intercept. ``"penalised"`` treats it as the weight of a column of ones, which counts in the
        ball; ``"free"``, for two classes under an l1 penalty, leaves it alone. True is free where that is
        possible, and else penalised. An intercept copies X once.
    scale : "none", "max" or "rms", default="none"
        What every column is divided by before the run: its largest magnitude, or its root mean square. All else is
        about the scaled columns; `coef_` is about the columns as they are.
    class_weight : dict, "balanced" or None, default=None
        What the examples of each class count, times `sample_weight`. ``"balanced"`` gives all classes the same total.
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
        The method in the ball: ``"auto"``, ``"pdbfw"``, ``"apg"``, ``"fw"``, ``"block-frank-wolfe"``, ``"away"``,
        ``"pairwise"``, ``"svrg"``, ``"scgs"`` or ``"storc"``. Under an l1 penalty it is ``"auto"``.
    constants : dict, default=None
        Of the solver ``"pdbfw"``: numbers `s`, `k`, `eta` and `delta` in the place of its theorem's, such as
        ``{"s": 20, "eta": 0.5}``. The logistic loss and softmax need a `delta`. The solver
        ``"block-frank-wolfe"`` has `s` and `eta`, too.
    threads : int, default=0
        The number of threads of predictions; zero stands for all cores. A run in a ball has one.
    seed : int, default=0
        The seed of the random order. The same seed gives the same bits, here and in the program.
    callback : callable, default=None
        Receives a dict of every certification, and ends the run by returning True.
    verbose : int, default=0
        Whether to show the progress of the run.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in sorted order.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        The weights: of the second of two classes, or of each class.
    sparse_coef_ : scipy.sparse.csr_array of the same shape
        The weights in sparse form, made at every access.
    intercept_ : ndarray of shape (1,) or (n_classes,)
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

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from dualgap import SparseClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseClassifier(loss="logistic", radius=10, intercept=True, scale="rms", tolerance=1e-3).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> model.sparse_coef_.nnz < X.shape[1] / 2, model.score(X, y) > 0.9
    (True, True)
    """

    _losses: ClassVar[tuple[str, ...]] = ("smooth-hinge", "squared-hinge", "logistic", "hinge")
    _probable: ClassVar[tuple[str, ...]] = ("logistic",)

    def __init__(
        self,
        *,
        loss: Literal["smooth-hinge", "squared-hinge", "logistic", "hinge"] = "smooth-hinge",
        width: float = 1.0,
        radius: float | str | None = None,
        mu: float | str = "1/n",
        ball: Literal["l1", "simplex"] = "l1",
        l1: float | str | None = None,
        intercept: bool | Literal["free", "penalised"] = False,
        scale: Literal["none", "max", "rms"] = "none",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
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
        self.l1 = l1
        self.intercept = intercept
        self.scale = scale
        self.class_weight = class_weight
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
        loss = one_of(self.loss, "loss", self._losses)
        if len(self.classes_) > 2:
            if loss == "squared-hinge":
                raise only_binary("the squared hinge is a loss of two classes")
            loss = "softmax" if loss == "logistic" else loss
        return {"loss": loss_settings(self, loss)}

    def _run(self, data: _dualgap.Data, task: dict[str, Any], **more: Any) -> tuple[_dualgap.Model, dict[str, Any]]:
        structure = "linear" if len(self.classes_) == 2 else "multiclass"
        return super()._run(data, task, structure=structure, **more)

    def _free(self) -> bool:
        return self.l1 is not None and len(self.classes_) == 2

    def _set_fitted(self) -> None:
        self.coef_, self.intercept_ = self._class_weights(self.model_.arrays["weights"])

    @classmethod
    def _reads(cls, model: _dualgap.Model) -> bool:
        return super()._reads(model) and len(model.labels) > 0

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.loss != "squared-hinge"
        return tags

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        found = super()._keywords(model)
        return {**found, "loss": "logistic" if found["loss"] == "softmax" else found["loss"]}


class SparseRegressor(Sparse, OutputsRegressor):
    """A regressor with few nonzero weights, trained to a certified optimum.

    Minimises ``mean(loss) + mu/2 ||W||^2`` over weights in a ball, or ``mean(loss) + l1 ||w||_1``, which under the
    squared loss is the lasso. In a ball y may have several columns: their losses are added, and they share the radius.

    Parameters
    ----------
    loss : "squared", "huber", "absolute" or "epsilon-insensitive", default="squared"
        What a number that is off by r costs: ``r^2/2``, the same up to `width` and linear beyond, ``|r|``, or
        ``max(0, |r| - epsilon)``. A ball needs a smooth loss, which the last two are not.
    width : float, default=1.0
        Of Huber's loss.
    epsilon : float, default=0.1
        Of the epsilon-insensitive loss.
    radius : float, "auto" or None, default=None
        The radius of the ball: the largest sum of the magnitudes of all weights. ``"auto"`` chooses it by held-out data,
        a fifth of the examples; `auto_` says how. By default 10, unless there is an
        `l1`.
    mu : float or str, default="1/n"
        The strength of ``mu/2 ||W||^2`` in the ball: a number, which may be 0, or a multiple of 1/n such as ``"10/n"``,
        with n the sum of the weights of the examples.
    ball : "l1" or "simplex", default="l1"
        The ball: weights whose magnitudes add up to at most the radius, or nonnegative ones that add up to the radius.
    l1 : float, str or None, default=None
        The strength of a pure l1 penalty, ``l1 ||W||_1``, in the place of the ball. Also a fraction such as ``"0.1max"`` of
        the smallest with which all weights are zero, or ``"auto"``: the one that predicts best on five folds.
    intercept : bool, "free" or "penalised", default=False
        Whether there is an intercept. ``"penalised"`` treats it as the weight of a column of ones, which counts in the
        ball; ``"free"``, for one output under an l1 penalty, leaves it alone. True is free where that is
        possible, and else penalised. An intercept copies X once.
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
        The method in the ball: ``"auto"``, ``"pdbfw"``, ``"apg"``, ``"fw"``, ``"block-frank-wolfe"``, ``"away"``,
        ``"pairwise"``, ``"svrg"``, ``"scgs"`` or ``"storc"``. Under an l1 penalty it is ``"auto"``.
    constants : dict, default=None
        Of the solver ``"pdbfw"``: numbers `s`, `k`, `eta` and `delta` in the place of its theorem's, such as
        ``{"s": 20, "eta": 0.5}``. The logistic loss and softmax need a `delta`. The solver
        ``"block-frank-wolfe"`` has `s` and `eta`, too.
    threads : int, default=0
        The number of threads of predictions; zero stands for all cores. A run in a ball has one.
    seed : int, default=0
        The seed of the random order. The same seed gives the same bits, here and in the program.
    callback : callable, default=None
        Receives a dict of every certification, and ends the run by returning True.
    verbose : int, default=0
        Whether to show the progress of the run.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        The weights; two dimensions if y has two.
    sparse_coef_ : scipy.sparse.csr_array of shape (1, n_features) or (n_outputs, n_features)
        The weights in sparse form, made at every access.
    intercept_ : float or ndarray of shape (n_outputs,)
        The intercept; zero without one.
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

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from dualgap import SparseRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> lasso = SparseRegressor(l1=1.0, intercept=True, tolerance=1e-4).fit(X, y)
    >>> lasso.certificate_.relative_gap <= 1e-4
    True
    >>> lasso.sparse_coef_.nnz < 5
    True
    """

    _losses: ClassVar[tuple[str, ...]] = ("squared", "huber", "absolute", "epsilon-insensitive")

    def __init__(
        self,
        *,
        loss: Literal["squared", "huber", "absolute", "epsilon-insensitive"] = "squared",
        width: float = 1.0,
        epsilon: float = 0.1,
        radius: float | str | None = None,
        mu: float | str = "1/n",
        ball: Literal["l1", "simplex"] = "l1",
        l1: float | str | None = None,
        intercept: bool | Literal["free", "penalised"] = False,
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
        self.epsilon = epsilon
        self.radius = radius
        self.mu = mu
        self.ball = ball
        self.l1 = l1
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

    def _free(self) -> bool:
        return self.l1 is not None and self._outputs() == 1

    def _set_fitted(self) -> None:
        self.coef_, self.intercept_ = self._shaped(self.model_.arrays["weights"])

    @classmethod
    def _reads(cls, model: _dualgap.Model) -> bool:
        return super()._reads(model) and (model.structure == "multioutput" or not model.labels)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Under a penalty every output is a problem of its own.
        tags.target_tags.multi_output = self.l1 is None
        return tags
