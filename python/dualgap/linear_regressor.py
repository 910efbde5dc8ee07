"""Linear models of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from ._examples import CertifiedRegressor
from ._linear import LinearMixin
from .callbacks import Callback


class LinearRegressor(LinearMixin, CertifiedRegressor):
    """A linear model of numbers, trained to a certified optimum.

    Minimises ``mean(loss(y - <x, w>)) + lam/2 ||w||^2 + l1 ||w||_1``.

    Parameters
    ----------
    loss : "squared", "absolute", "huber" or "epsilon-insensitive", default="squared"
        What a residual r costs: ``r^2/2``, ``|r|``, ``r^2/2`` up to `width` and ``width (|r| - width/2)`` beyond, or
        ``max(0, |r| - epsilon)``.
    width : float, default=1.0
        Of the Huber loss.
    epsilon : float, default=0.1
        Of the epsilon-insensitive loss.
    lam : float or str, default="1/n"
        The strength of the penalty: a number, or a multiple of 1/n such as ``"10/n"``, with n the sum of the weights of
        the examples. Zero together with a positive `l1` is pure l1, and ``"0.1l1"`` is a tenth of it. ``"auto"`` is the
        one that predicts best on five folds of the training data; `auto_` tells how. Ridge's `alpha` is ``lam=alpha/n``, Lasso's is
        ``lam=0, l1=alpha``, and that of ElasticNet is ``lam=alpha*(1-l1_ratio), l1=alpha*l1_ratio``.
    l1 : float or str, default=0.0
        The strength of the l1 penalty, which makes many weights zero. Also a fraction such as ``"0.1max"`` of
        the smallest with which all weights are zero, or ``"auto"``: the one that predicts best on five folds of the
        training data, of which `auto_` tells.
    q_norm : bool, default=False
        Whether to penalise ``lam c/2 ||w||_q^2`` with q near 1 in the place of the Euclidean norm, for dense inputs
        that are small in every entry.
    nonnegative : bool, default=False
        Whether weights must not be negative.
    intercept : bool, "free" or "penalised", default=False
        Whether scores have an intercept. True and ``"free"`` leave it without a penalty; ``"penalised"`` treats it as
        the weight of a column of ones. An intercept copies X.
    scale : "none", "max" or "rms", default="none"
        What every column is divided by before the run: its largest magnitude, or its root mean square. `lam` and `l1`
        are then about the scaled columns; `coef_` is about the columns as they are.
    tolerance : float or None, default=0.01
        Stop when the certified gap is at most this fraction of the objective. With None, only the other limits stop
        the run.
    absolute_tolerance : float, default=None
        Stop at this gap in units of the objective. With both tolerances, either one stops the run.
    passes, oracle_calls : int, default=None
        Stop after so many passes over the data, or calls of the oracle, with a ConvergenceWarning.
    time : float, default=None
        Stop after so many seconds, with a ConvergenceWarning.
    solver : str, default="auto"
        The method. ``"auto"`` chooses as the run goes on; ``"bcfw"``, ``"fw"``, ``"ssg"``, ``"subgradient"``,
        ``"cutting-plane"`` and ``"n-slack"`` are those of the papers.
    solver_options : dict, default=None
        Settings of the solver by name, such as ``{"sampling": "gap", "option": "ii"}``.
    threads : int, default=0
        The number of threads of a run; zero stands for all cores. The result does not depend on it.
    seed : int, default=0
        The seed of the random order. The same seed gives the same bits, here and in the program.
    warm_start : bool, default=False
        Whether to start from the dual point of the previous fit, which may have had another `lam`, or fewer examples.
    callback : callable or list of them, default=None
        Receives a :class:`dualgap.callbacks.Certification` whenever the gap was computed, and ends the run by returning
        True.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The weights.
    intercept_ : float
        The intercept; zero without any.
    model_ : Model
        The model.
    certificate_ : Certificate
        How far from the optimum the model is at most: recomputed from the data at the end of the run.
    history_ : list of dict
        Every certification of the run: passes, seconds, primal, dual, gap.
    stop_ : str
        Why the run ended: ``"gap_reached"``, ``"pass_limit"``, ``"time_limit"``, ``"oracle_limit"``,
        ``"interrupted"``, ``"callback"`` or ``"stalled"``.
    n_iter_ : int
        The number of passes over the data, rounded up.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, if X is a data frame with names.

    Notes
    -----
    Float64 arrays in row-major order and float64 CSR matrices with sorted int32 indices are used in place. Float32 is
    converted to float64, which copies it: the certificate is about the converted numbers, which are the same.

    Examples
    --------
    >>> import numpy as np
    >>> from dualgap import LinearRegressor
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> y = X @ [3.0, -1.0] + 2.0
    >>> model = LinearRegressor(lam=1e-6, intercept=True, tolerance=None, absolute_tolerance=1e-9).fit(X, y)
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([ 3., -1.]), 2.0)
    >>> model.certificate_.gap_bound <= 1e-9
    True
    """

    _losses: ClassVar[tuple[str, ...]] = ("squared", "absolute", "huber", "epsilon-insensitive")

    def __init__(
        self,
        *,
        loss: Literal["squared", "absolute", "huber", "epsilon-insensitive"] = "squared",
        width: float = 1.0,
        epsilon: float = 0.1,
        lam: float | str = "1/n",
        l1: float | str = 0.0,
        q_norm: bool = False,
        nonnegative: bool = False,
        intercept: bool | Literal["free", "penalised"] = False,
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
        callback: Callback | Iterable[Callback] | None = None,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.width = width
        self.epsilon = epsilon
        self.lam = lam
        self.l1 = l1
        self.q_norm = q_norm
        self.nonnegative = nonnegative
        self.intercept = intercept
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

    def _set_fitted(self) -> None:
        self.coef_, self.intercept_ = self._weights(self.model_)
