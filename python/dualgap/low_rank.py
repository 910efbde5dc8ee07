"""Models of low rank: the weights of several outputs in the trace ball."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from . import _dualgap
from ._balls import InBall, LowRank, OutputsRegressor
from ._scores import ScoringClassifier
from .multiclass import penalised


class LowRankClassifier(LowRank, InBall, ScoringClassifier):
    """A classifier whose weights have a low rank, trained to a certified optimum.

    Minimises ``mean(loss) + mu/2 ||W||^2`` over a matrix of weights, a column for each class, whose singular values add
    up to at most the radius. Classes then share a few directions of the inputs. The weights are stored as factors.

    Parameters
    ----------
    loss : "smooth-hinge" or "softmax", default="smooth-hinge"
        The joint loss of the scores of all classes; see :class:`MulticlassSVM`. Softmax has probabilities.
    width : float, default=1.0
        Of the smooth hinge.
    costs : array of shape (n_classes, n_classes), default=None
        What a mistake costs, of the smooth hinge: row by row the true class, column by column the predicted one, both
        in the order of `classes_`. By default every mistake costs 1.
    radius : float or "auto", default=10.0
        The radius of the ball: the largest sum of the singular values of the weights. ``"auto"`` chooses it by held-out
        data, a fifth of the examples; `auto_` says how.
    mu : float or str, default="1/n"
        The strength of ``mu/2 ||W||^2`` in the ball: a number, which may be 0, or a multiple of 1/n such as ``"10/n"``,
        with n the sum of the weights of the examples.
    intercept : bool, default=False
        Whether every score has an intercept. It counts in the ball like the weight of a column of ones, and copies X
        once.
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
        The method: ``"auto"``, ``"pdbfw"``, ``"apg"``, ``"fw"``, ``"block-frank-wolfe"``, ``"stochastic-frank-wolfe"``,
        ``"svrg"``, ``"scgs"`` or ``"storc"``.
    constants : dict, default=None
        Of the solver ``"pdbfw"``: numbers `s`, `k`, `eta` and `delta` in the place of its theorem's, such as
        ``{"s": 20, "eta": 0.5}``. The logistic loss and softmax need a `delta`.
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
    classes_ : ndarray of shape (n_classes,)
        The classes in sorted order.
    U_ : ndarray of shape (n_features, rank)
        The left factor, a row for each column of X; with an intercept, a last row for the constant.
    singular_values_ : ndarray of shape (rank,)
        The singular values, whose sum is at most the radius.
    V_ : ndarray of shape (n_classes, rank)
        The right factor, a row for each class.
    rank_ : int
        The rank of the weights.
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        The weights of each class, computed from the factors at every access; of two classes, those of the second minus
        those of the first.
    intercept_ : ndarray of shape (n_classes,) or (1,)
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
    >>> from sklearn.datasets import load_digits
    >>> from dualgap import LowRankClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LowRankClassifier(loss="softmax", radius=2, tolerance=1e-2).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-2
    True
    >>> model.rank_ < 10, model.U_.shape == (64, model.rank_), model.score(X, y) > 0.9
    (True, True, True)
    """

    _structure: ClassVar[str] = "multiclass"
    _ball: ClassVar[str | None] = "trace"
    _losses: ClassVar[tuple[str, ...]] = ("smooth-hinge", "softmax")

    def __init__(
        self,
        *,
        loss: Literal["smooth-hinge", "softmax"] = "smooth-hinge",
        width: float = 1.0,
        costs: Any = None,
        radius: float | str = 10.0,
        mu: float | str = "1/n",
        intercept: bool = False,
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
        self.costs = costs
        self.radius = radius
        self.mu = mu
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

    def _intercept(self) -> str | None:
        return penalised(self.intercept)

    @property
    def coef_(self) -> np.ndarray:
        return self._class_weights(self._expanded())[0]

    @property
    def intercept_(self) -> np.ndarray:
        return self._class_weights(self._expanded())[1]

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        found = super()._keywords(model)
        return {**found, "intercept": bool(found["intercept"]), "costs": model.costs}


class LowRankRegressor(LowRank, InBall, OutputsRegressor):
    """A regressor of several numbers whose weights have a low rank, trained to a certified optimum.

    Minimises ``mean(sum of losses) + mu/2 ||W||^2`` over a matrix of weights, a column for each output, whose singular
    values add up to at most the radius. Outputs then share a few directions of the inputs. The weights are stored as
    factors.

    Parameters
    ----------
    loss : "squared" or "huber", default="squared"
        What a number that is off by r costs: ``r^2/2``, or the same up to `width` and linear beyond.
    width : float, default=1.0
        Of Huber's loss.
    radius : float or "auto", default=10.0
        The radius of the ball: the largest sum of the singular values of the weights. ``"auto"`` chooses it by held-out
        data, a fifth of the examples; `auto_` says how.
    mu : float or str, default="1/n"
        The strength of ``mu/2 ||W||^2`` in the ball: a number, which may be 0, or a multiple of 1/n such as ``"10/n"``,
        with n the sum of the weights of the examples.
    intercept : bool, default=False
        Whether every output has an intercept. It counts in the ball like the weight of a column of ones, and copies X
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
        The method: ``"auto"``, ``"pdbfw"``, ``"apg"``, ``"fw"``, ``"block-frank-wolfe"``, ``"stochastic-frank-wolfe"``,
        ``"svrg"``, ``"scgs"`` or ``"storc"``.
    constants : dict, default=None
        Of the solver ``"pdbfw"``: numbers `s`, `k`, `eta` and `delta` in the place of its theorem's, such as
        ``{"s": 20, "eta": 0.5}``.
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
    U_ : ndarray of shape (n_features, rank)
        The left factor, a row for each column of X; with an intercept, a last row for the constant.
    singular_values_ : ndarray of shape (rank,)
        The singular values, whose sum is at most the radius.
    V_ : ndarray of shape (n_outputs, rank)
        The right factor, a row for each output; a single output has a second row, which is zero.
    rank_ : int
        The rank of the weights.
    coef_ : ndarray of shape (n_outputs, n_features) or (n_features,)
        The weights of each output, computed from the factors at every access; one dimension if y has one.
    intercept_ : ndarray of shape (n_outputs,) or float
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
    >>> from sklearn.datasets import load_linnerud
    >>> from sklearn.preprocessing import scale
    >>> from dualgap import LowRankRegressor
    >>> X, y = map(scale, load_linnerud(return_X_y=True))
    >>> model = LowRankRegressor(radius=0.5, tolerance=1e-4).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-4
    True
    >>> model.rank_, model.predict(X).shape
    (1, (20, 3))
    """

    _structure: ClassVar[str] = "multioutput"
    _ball: ClassVar[str | None] = "trace"
    _losses: ClassVar[tuple[str, ...]] = ("squared", "huber")
    _alone: ClassVar[bool] = False

    def __init__(
        self,
        *,
        loss: Literal["squared", "huber"] = "squared",
        width: float = 1.0,
        radius: float | str = 10.0,
        mu: float | str = "1/n",
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

    def _intercept(self) -> str | None:
        return penalised(self.intercept)

    @property
    def coef_(self) -> np.ndarray:
        return self._shaped(self._expanded())[0]

    @property
    def intercept_(self) -> Any:
        return self._shaped(self._expanded())[1]

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        found = super()._keywords(model)
        return {**found, "intercept": bool(found["intercept"])}
