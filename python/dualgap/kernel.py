"""Support vector machines and regression under a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags

from . import _dualgap
from ._base import CertifiedEstimator, number, strength, whole
from ._examples import CertifiedRegressor
from ._scores import ScoringClassifier, loss_keywords, loss_settings, one_of, only_binary


class UnderKernel(CertifiedEstimator):
    """The kernel of an estimator, and the training inputs that have coefficients."""

    #: The losses of the class.
    _losses: ClassVar[tuple[str, ...]]

    loss: Any
    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    lam: Any
    kernel_cache: Any
    n_features_in_: int

    def _kernel(self) -> dict[str, Any]:
        """Return the kernel in the library's JSON form."""
        name = one_of(self.kernel, "kernel", ("rbf", "polynomial", "linear"))
        if name == "linear":
            return {"name": name}
        if isinstance(self.gamma, str) and self.gamma != "scale":
            raise ValueError(f'gamma must be "scale" or a positive number, not {self.gamma!r}')
        gamma = None if isinstance(self.gamma, str) else number(self.gamma, "gamma")
        if name == "rbf":
            return {"name": name, "gamma": gamma}
        # The library says why it refuses a negative one.
        return {"name": name, "gamma": gamma, "degree": whole(self.degree, "degree"), "coef0": float(self.coef0)}

    def _structure_settings(self) -> dict[str, Any]:
        loss = loss_settings(self, one_of(self.loss, "loss", self._losses))
        return {"of": {"loss": loss}, "kernel": self._kernel()}

    def _penalty(self) -> dict[str, Any]:
        return {"name": "ridge", "lambda": strength(self.lam, "lam")}

    def _cache(self) -> dict[str, Any]:
        """Return the bytes of kernel values that a run keeps, unless it is the default."""
        if self.kernel_cache is None:
            return {}
        return {"cache_bytes": int(1e6 * number(self.kernel_cache, "kernel_cache"))}

    def _support(self) -> tuple[Any, ...]:
        """Return the numbers of the support vectors, and the vectors."""
        support = self.model_.support
        assert support is not None, "a model under a kernel has support vectors"
        return support

    @property
    def support_(self) -> np.ndarray:
        return self._support()[0]

    @property
    def support_vectors_(self) -> Any:
        rows = self._support()[1]
        if not isinstance(rows, tuple):
            return rows
        starts, columns, values = rows
        return sp.csr_array((values, columns, starts), shape=(len(starts) - 1, self.n_features_in_))

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        structure = model.task["structure"]
        kernel = dict(structure["kernel"])
        found = {**super()._keywords(model), "kernel": kernel.pop("name"), **kernel}
        return {**found, **loss_keywords(structure["of"]["loss"])}


class KernelSVM(UnderKernel, ScoringClassifier):
    """A support vector machine under a kernel, trained to a certified optimum.

    Minimises ``mean(loss) + lam/2 ||f||^2`` over functions f of the kernel's space: one for two classes, whose sign
    decides, and else one for each class under the joint hinge of Crammer and Singer. There is no intercept: to have
    one, choose a kernel that contains the constants, such as polynomial with a positive `coef0`.

    Parameters
    ----------
    loss : "hinge", "smooth-hinge", "squared-hinge" or "logistic", default="hinge"
        What a wrong or narrow score costs; see :class:`LinearClassifier`. More than two classes have the hinge. The
        logistic loss has probabilities.
    width : float, default=1.0
        Of the smooth hinge.
    costs : array of shape (n_classes, n_classes), default=None
        What a mistake costs, of more than two classes: row by row the true class, column by column the predicted one,
        both in the order of `classes_`. By default every mistake costs 1.
    kernel : "rbf", "polynomial" or "linear", default="rbf"
        The kernel of two rows x and z: ``exp(-gamma ||x - z||^2)``, ``(gamma <x, z> + coef0)^degree``, or ``<x, z>``.
    gamma : float or "scale", default="scale"
        Of rbf and polynomial: a number, or 1/(n_features * variance of X).
    degree : int, default=3
        Of polynomial.
    coef0 : float, default=0.0
        Of polynomial: what is added to the inner product; not negative. It takes the place of an intercept.
    lam : float or str, default="1/n"
        The strength of the penalty: a number, or a multiple of 1/n such as ``"10/n"``, with n the sum of the weights of
        the examples. A `C` of scikit-learn is ``lam=1/(C*n)``.
    class_weight : dict, "balanced" or None, default=None
        What the examples of each class count, times `sample_weight`. ``"balanced"`` gives all classes the same total.
    kernel_cache : float, default=None
        Keep at most so many megabytes of kernel values; by default 1074. The result does not depend on it.
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
        The method. ``"auto"`` chooses as the run goes on; ``"bcfw"`` and ``"fw"`` are those of the papers.
    solver_options : dict, default=None
        Settings of the solver by name, such as ``{"sampling": "gap"}``.
    threads : int, default=0
        The number of threads of a run; zero stands for all cores. The result does not depend on it.
    seed : int, default=0
        The seed of the random order. The same seed gives the same bits, here and in the program.
    warm_start : bool, default=False
        Whether to start from the dual point of the previous fit, which may have had another `lam`, or fewer examples.
    callback : callable, default=None
        Receives a dict of every certification, and ends the run by returning True.
    verbose : int, default=0
        Whether to show the progress of the run.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes in sorted order.
    support_ : ndarray of shape (n_SV,)
        Which training examples have coefficients, ascending: the support vectors.
    support_vectors_ : ndarray or scipy.sparse.csr_array of shape (n_SV, n_features)
        Their rows, sparse if X was, made at every access.
    n_support_ : ndarray of shape (n_classes,)
        The number of support vectors of each class.
    dual_coef_ : ndarray of shape (1, n_SV) or (n_classes, n_SV)
        The coefficients of the support vectors: a score is their sum over the support vectors, each times the kernel of
        the row and the support vector.
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
    >>> from sklearn.datasets import make_moons
    >>> from dualgap import KernelSVM
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = KernelSVM(gamma=2.0, lam=1e-3, tolerance=1e-3).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> model.score(X, y) > 0.95, len(model.support_) < 100
    (True, True)
    """

    _losses: ClassVar[tuple[str, ...]] = ("hinge", "smooth-hinge", "squared-hinge", "logistic")
    _probable: ClassVar[tuple[str, ...]] = ("logistic",)

    def __init__(
        self,
        *,
        loss: Literal["hinge", "smooth-hinge", "squared-hinge", "logistic"] = "hinge",
        width: float = 1.0,
        costs: Any = None,
        kernel: Literal["rbf", "polynomial", "linear"] = "rbf",
        gamma: float | Literal["scale"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float | str = "1/n",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        kernel_cache: float | None = None,
        tolerance: float | None = 0.01,
        absolute_tolerance: float | None = None,
        passes: int | None = None,
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
        self.width = width
        self.costs = costs
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.class_weight = class_weight
        self.kernel_cache = kernel_cache
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance
        self.passes = passes
        self.time = time
        self.solver = solver
        self.solver_options = solver_options
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    def _completion(self) -> dict[str, Any]:
        if self.costs is not None and len(self.classes_) == 2:
            raise ValueError("costs are for more than two classes: take class_weight for two")
        return {**super()._completion(), **self._cache()}

    def _run(self, data: _dualgap.Data, task: dict[str, Any], **more: Any) -> tuple[_dualgap.Model, dict[str, Any]]:
        structure = "kernel_linear" if len(self.classes_) == 2 else "kernel_multiclass"
        if structure == "kernel_multiclass" and self.loss != "hinge":
            raise only_binary("more than two classes have the hinge under a kernel")
        return super()._run(data, task, structure=structure, **more)

    @property
    def dual_coef_(self) -> np.ndarray:
        return self.model_.arrays["coefficients"].T

    @property
    def n_support_(self) -> np.ndarray:
        # The coefficient of a support vector's own class is positive, and those of all others are not.
        coef = self.dual_coef_
        own = (coef[0] > 0.0).astype(np.intp) if len(coef) == 1 else coef.argmax(axis=0)
        return np.bincount(own, minlength=len(self.classes_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.loss == "hinge"
        return tags

    @classmethod
    def _reads(cls, model: _dualgap.Model) -> bool:
        return len(model.labels) > 0

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        return {**super()._keywords(model), "costs": model.costs}


class KernelRegressor(UnderKernel, CertifiedRegressor):
    """Regression under a kernel, trained to a certified optimum.

    Minimises ``mean(loss) + lam/2 ||f||^2`` over functions f of the kernel's space. With the squared loss this is
    kernel ridge regression, with the epsilon-insensitive loss a support vector regression without an intercept.

    Parameters
    ----------
    loss : "epsilon-insensitive", "squared", "absolute" or "huber", default="epsilon-insensitive"
        What a number that is off by r costs: ``max(0, |r| - epsilon)``, ``r^2/2``, ``|r|``, or ``r^2/2`` up to `width`
        and linear beyond.
    width : float, default=1.0
        Of Huber's loss.
    epsilon : float, default=0.1
        Of the epsilon-insensitive loss.
    kernel : "rbf", "polynomial" or "linear", default="rbf"
        The kernel of two rows x and z: ``exp(-gamma ||x - z||^2)``, ``(gamma <x, z> + coef0)^degree``, or ``<x, z>``.
    gamma : float or "scale", default="scale"
        Of rbf and polynomial: a number, or 1/(n_features * variance of X).
    degree : int, default=3
        Of polynomial.
    coef0 : float, default=0.0
        Of polynomial: what is added to the inner product; not negative. It takes the place of an intercept.
    lam : float or str, default="1/n"
        The strength of the penalty: a number, or a multiple of 1/n such as ``"10/n"``, with n the sum of the weights of
        the examples. A `C` of scikit-learn is ``lam=1/(C*n)``.
    kernel_cache : float, default=None
        Keep at most so many megabytes of kernel values; by default 1074. The result does not depend on it.
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
        The method. ``"auto"`` chooses as the run goes on; ``"bcfw"`` and ``"fw"`` are those of the papers.
    solver_options : dict, default=None
        Settings of the solver by name, such as ``{"sampling": "gap"}``.
    threads : int, default=0
        The number of threads of a run; zero stands for all cores. The result does not depend on it.
    seed : int, default=0
        The seed of the random order. The same seed gives the same bits, here and in the program.
    warm_start : bool, default=False
        Whether to start from the dual point of the previous fit, which may have had another `lam`, or fewer examples.
    callback : callable, default=None
        Receives a dict of every certification, and ends the run by returning True.
    verbose : int, default=0
        Whether to show the progress of the run.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Which training examples have coefficients, ascending: the support vectors.
    support_vectors_ : ndarray or scipy.sparse.csr_array of shape (n_SV, n_features)
        Their rows, sparse if X was, made at every access.
    dual_coef_ : ndarray of shape (1, n_SV)
        The coefficients of the support vectors: a prediction is their sum over the support vectors, each times the
        kernel of the row and the support vector.
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
    >>> import numpy as np
    >>> from dualgap import KernelRegressor
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> model = KernelRegressor(epsilon=0.05, gamma=1.0, lam=1e-4, tolerance=1e-2).fit(X, np.sin(X[:, 0]))
    >>> model.certificate_.relative_gap <= 1e-2
    True
    >>> bool(abs(model.predict(X) - np.sin(X[:, 0])).max() < 0.1)
    True
    """

    _structure: ClassVar[str] = "kernel_linear"
    _losses: ClassVar[tuple[str, ...]] = ("epsilon-insensitive", "squared", "absolute", "huber")

    def __init__(
        self,
        *,
        loss: Literal["epsilon-insensitive", "squared", "absolute", "huber"] = "epsilon-insensitive",
        width: float = 1.0,
        epsilon: float = 0.1,
        kernel: Literal["rbf", "polynomial", "linear"] = "rbf",
        gamma: float | Literal["scale"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        lam: float | str = "1/n",
        kernel_cache: float | None = None,
        tolerance: float | None = 0.01,
        absolute_tolerance: float | None = None,
        passes: int | None = None,
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
        self.width = width
        self.epsilon = epsilon
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.lam = lam
        self.kernel_cache = kernel_cache
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance
        self.passes = passes
        self.time = time
        self.solver = solver
        self.solver_options = solver_options
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    def _run(self, data: _dualgap.Data, task: dict[str, Any], **more: Any) -> tuple[_dualgap.Model, dict[str, Any]]:
        return super()._run(data, task, arrays=self._cache(), **more)

    @property
    def dual_coef_(self) -> np.ndarray:
        return self.model_.arrays["coefficients"].T
