"""The problems that models of other packages say they have solved, in the terms of the library.

Every objective here has the form

``a Σ c_i φ(score_i, y_i) + q/2 ‖w‖² + s ‖w‖₁``

with a loss φ of the library and c_i what example i counts. Each reader below has the formula of its package's
documentation beside its a, q and s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from ._arrays import class_numbers, weights


@dataclass
class Part:
    """One of the independent problems of a model: its targets, what they count, and the model's weights."""

    name: str
    kind: str
    targets: np.ndarray
    labels: list[str] | None
    counts: np.ndarray | None
    coefficients: np.ndarray
    intercept: Any
    #: a as a function of Σ c_i, q and s.
    factor: Callable[[float], float]
    squares: float
    absolutes: float


@dataclass
class Claim:
    """What a fitted model says it has minimised."""

    model: str
    objective: str
    X: Any
    loss: dict[str, Any]
    #: None, ``"free"``, or for a penalised intercept the value of its column.
    intercept: Any
    structure: str = "linear"
    nonnegative: bool = False
    parts: list[Part] = field(default_factory=list)


def of_model(model: Any, X: Any, y: Any, sample_weight: Any) -> Claim:
    """Return what a fitted model says it has minimised, or raise an error that says why nothing can be proven."""
    package = type(model).__module__.split(".")[0]
    name = type(model).__name__
    if (package, name) in _HOPELESS:
        raise ValueError(f"{name} cannot be certified: {_HOPELESS[package, name]}")
    reader = _READERS.get((package, name))
    if reader is None:
        raise TypeError(
            f"the problem of {package}.{name} is not known: give its weights, such as model.coef_, with a `problem`"
        )
    # A support vector machine under another kernel has no weights.
    check_is_fitted(model, ["coef_", "dual_coef_"], all_or_any=any)
    if isinstance(model, BaseEstimator) and hasattr(model, "n_features_in_"):
        X = validate_data(model, X, accept_sparse="csr", dtype=np.float64, reset=False)
    else:
        X = check_array(X, accept_sparse="csr", dtype=np.float64)
    return reader(_Fitted(model, name, X, y, weights(sample_weight, X)))


def dense(coefficients: Any) -> np.ndarray:
    """Return coefficients as a dense array of float64."""
    if sp.issparse(coefficients):
        coefficients = coefficients.toarray()
    return np.asarray(coefficients, dtype=np.float64)


@dataclass
class _Fitted:
    """A fitted model with its validated training data."""

    model: Any
    name: str
    X: Any
    y: Any
    counts: np.ndarray | None

    def get(self, parameter: str, default: Any = None) -> Any:
        return getattr(self.model, parameter, default)

    @property
    def coefficients(self) -> np.ndarray:
        return np.atleast_2d(dense(self.model.coef_))

    def intercepts(self, scores: int) -> np.ndarray:
        return np.broadcast_to(np.ravel(np.asarray(self.get("intercept_", 0.0), dtype=np.float64)), (scores,))

    def positive(self, parameter: str, alternative: str) -> float:
        """Return a strength, or raise an error if the problem has no penalty."""
        value = float(self.get(parameter))
        if not (value > 0.0 and np.isfinite(value)):
            raise ValueError(
                f"{self.name}({parameter}={value:g}) has no penalty, and no dual bound here: {alternative}"
            )
        return value

    def weighted(self, per_class: np.ndarray | None, numbers: np.ndarray) -> np.ndarray | None:
        """Return the sample weights times those of classes."""
        if per_class is None:
            return self.counts
        own = per_class[numbers]
        return own if self.counts is None else own * self.counts

    def class_weights(self, y: np.ndarray, *, of_samples: bool) -> np.ndarray | None:
        """Return the weight of each class, as scikit-learn computes it."""
        class_weight = self.get("class_weight")
        if class_weight is None:
            return None
        counts = self.counts if of_samples else None
        return compute_class_weight(class_weight, classes=self.model.classes_, y=y, sample_weight=counts)

    def classifier(
        self,
        claim: Claim,
        factor: Callable[[float], float],
        squares: float,
        absolutes: float,
        *,
        signs: bool = False,
        of_samples: bool = True,
    ) -> Claim:
        """Add a problem of two classes, or one against the rest for each of several.

        With `signs` the loss is one of numbers, and the targets are −1 and 1. The rest counts 1 whatever the classes in
        it count: this is what LIBLINEAR and SGDClassifier do.
        """
        classes = self.model.classes_
        y = column_or_1d(self.y)
        numbers = class_numbers(y, classes)
        per_class = self.class_weights(y, of_samples=of_samples)
        coefficients = self.coefficients
        scores = coefficients.shape[0]
        for k, (row, intercept) in enumerate(zip(coefficients, self.intercepts(scores), strict=True)):
            positive = numbers == (1 if scores == 1 else k)
            if scores == 1 or per_class is None:
                counts = self.weighted(per_class, numbers)
            else:
                own = np.where(positive, per_class[k], 1.0)
                counts = own if self.counts is None else own * self.counts
            name = claim.objective if scores == 1 else f"class {classes[k]!r} against the rest"
            targets = np.where(positive, 1.0, -1.0) if signs else positive.astype(np.int64)
            claim.parts.append(
                Part(
                    name=name,
                    kind="numbers" if signs else "classes",
                    targets=targets,
                    labels=None if signs else ["rest", "class"],
                    counts=counts,
                    coefficients=row,
                    intercept=intercept,
                    factor=factor,
                    squares=squares,
                    absolutes=absolutes,
                )
            )
        return claim

    def regressor(self, claim: Claim, factor: Callable[[float], float], squares: Any, absolutes: float) -> Claim:
        """Add a problem for each column of y."""
        targets = np.asarray(self.y, dtype=np.float64)
        targets = targets.reshape(targets.shape[0], -1)
        scores = targets.shape[1]
        coefficients = self.coefficients
        if coefficients.shape[0] != scores:
            raise ValueError(f"the model has {coefficients.shape[0]} outputs, and y has {scores} columns")
        strengths = np.broadcast_to(np.ravel(squares), (scores,))
        for k, (row, intercept) in enumerate(zip(coefficients, self.intercepts(scores), strict=True)):
            claim.parts.append(
                Part(
                    name=claim.objective if scores == 1 else f"output {k}",
                    kind="numbers",
                    targets=np.ascontiguousarray(targets[:, k]),
                    labels=None,
                    counts=self.counts,
                    coefficients=row,
                    intercept=intercept,
                    factor=factor,
                    squares=float(strengths[k]),
                    absolutes=absolutes,
                )
            )
        return claim

    def classes_at_once(
        self, claim: Claim, factor: Callable[[float], float], squares: float, absolutes: float
    ) -> Claim:
        """Add one problem of all classes, with a row of weights for each."""
        classes = self.model.classes_
        y = column_or_1d(self.y)
        numbers = class_numbers(y, classes)
        counts = self.weighted(self.class_weights(y, of_samples=True), numbers)
        claim.structure = "multiclass"
        claim.parts.append(
            Part(
                name=claim.objective,
                kind="classes",
                targets=numbers.astype(np.int64),
                labels=[str(k) for k in range(len(classes))],
                counts=counts,
                coefficients=self.coefficients,
                intercept=self.intercepts(len(classes)),
                factor=factor,
                squares=squares,
                absolutes=absolutes,
            )
        )
        return claim

    def liblinear_intercept(self) -> float | None:
        """Return the value of the column whose weight, penalised like any other, is the intercept."""
        return float(self.get("intercept_scaling", 1.0)) if self.get("fit_intercept") else None

    def free_intercept(self) -> str | None:
        return "free" if self.get("fit_intercept") else None


def _linear_svc(fitted: _Fitted) -> Claim:
    # ½‖w‖² + C Σ c max(0, 1 − m) or max(0, 1 − m)², or ‖w‖₁ in the place of ½‖w‖²; the intercept's weight is one of w.
    C = fitted.positive("C", "take a finite C")
    penalty, loss = fitted.get("penalty"), fitted.get("loss")
    claim = Claim(fitted.name, "", fitted.X, {"name": loss}, fitted.liblinear_intercept())
    if fitted.get("multi_class") == "crammer_singer":
        if len(fitted.model.classes_) == 2:
            raise ValueError(
                "LinearSVC(multi_class='crammer_singer') of two classes keeps the difference of their weights only: "
                "take multi_class='ovr'"
            )
        claim.loss = {"name": "hinge"}
        claim.objective = f"1/2 Σ ||w_k||² + {C:g} Σ max_k [k ≠ y_i] + s_k - s_y (Crammer and Singer)"
        return fitted.classes_at_once(claim, lambda _: C, 1.0, 0.0)
    ridge = penalty == "l2"
    power = "²" if loss == "squared_hinge" else ""
    claim.objective = f"{'1/2 ||w||²' if ridge else '||w||_1'} + {C:g} Σ max(0, 1 - y_i s_i){power}"
    return fitted.classifier(claim, lambda _: C, float(ridge), float(not ridge))


def _linear_svr(fitted: _Fitted) -> Claim:
    # ½‖w‖² + C Σ c max(0, |r| − ε), or its square; the intercept's weight is one of w.
    C, epsilon = fitted.positive("C", "take a finite C"), float(fitted.get("epsilon"))
    claim = Claim(fitted.name, "", fitted.X, {}, fitted.liblinear_intercept())
    claim.objective = f"1/2 ||w||² + {C:g} Σ max(0, |y_i - s_i| - {epsilon:g})"
    if fitted.get("loss") == "epsilon_insensitive":
        claim.loss = {"name": "epsilon_insensitive", "epsilon": epsilon}
        return fitted.regressor(claim, lambda _: C, 1.0, 0.0)
    if epsilon != 0.0:
        raise ValueError("the squared epsilon-insensitive loss is known with epsilon=0 only, as the squared loss")
    claim.loss, claim.objective = {"name": "squared"}, f"1/2 ||w||² + {C:g} Σ (y_i - s_i)²"
    return fitted.regressor(claim, lambda _: 2.0 * C, 1.0, 0.0)


def _svc(fitted: _Fitted) -> Claim:
    # ½‖w‖² + C Σ c max(0, 1 − y(⟨w, x⟩ + b)).
    _check_linear_kernel(fitted)
    C = fitted.positive("C", "take a finite C")
    if len(fitted.model.classes_) > 2:
        raise ValueError("SVC of several classes is one problem for each pair: certify LinearSVC, or two classes")
    claim = Claim(fitted.name, "", fitted.X, {"name": "hinge"}, "free")
    claim.objective = f"1/2 ||w||² + {C:g} Σ max(0, 1 - y_i (s_i + b))"
    return fitted.classifier(claim, lambda _: C, 1.0, 0.0, of_samples=False)


def _svr(fitted: _Fitted) -> Claim:
    # ½‖w‖² + C Σ c max(0, |r| − ε).
    _check_linear_kernel(fitted)
    C, epsilon = fitted.positive("C", "take a finite C"), float(fitted.get("epsilon"))
    claim = Claim(fitted.name, "", fitted.X, {"name": "epsilon_insensitive", "epsilon": epsilon}, "free")
    claim.objective = f"1/2 ||w||² + {C:g} Σ max(0, |y_i - s_i - b| - {epsilon:g})"
    return fitted.regressor(claim, lambda _: C, 1.0, 0.0)


def _check_linear_kernel(fitted: _Fitted) -> None:
    if fitted.get("kernel") != "linear":
        raise ValueError(f"{fitted.name} is certified with kernel='linear' only; KernelSVM is when it is fitted")


def _logistic_regression(fitted: _Fitted) -> Claim:
    # C Σ c log(1 + exp(−m)) + (1 − ρ)/2 ‖w‖² + ρ ‖w‖₁, with softmax in its place for several classes. The intercept is
    # free, but penalised with the solver liblinear.
    C = fitted.positive("C", "take a finite C")
    penalty = fitted.get("penalty", "deprecated")
    if penalty is None:
        raise ValueError("LogisticRegression(penalty=None) has no penalty, and no dual bound here: take a finite C")
    ratio = {"l1": 1.0, "l2": 0.0}.get(penalty, float(fitted.get("l1_ratio") or 0.0))
    penalised = fitted.get("solver") == "liblinear"
    intercept = fitted.liblinear_intercept() if penalised else fitted.free_intercept()
    norms = _norms(1.0 - ratio, ratio)
    claim = Claim(fitted.name, "", fitted.X, {"name": "logistic"}, intercept)
    if len(fitted.model.classes_) > 2:
        if intercept is not None:
            raise ValueError(
                "softmax with intercepts outside the penalty is not provable yet: fit with fit_intercept=False, with a "
                "column of ones in X if there should be an intercept; it is then penalised like any other weight"
            )
        claim.loss, claim.objective = {"name": "softmax"}, f"{C:g} Σ log-loss (softmax) + {norms}"
        return fitted.classes_at_once(claim, lambda _: C, 1.0 - ratio, ratio)
    claim.objective = f"{C:g} Σ log(1 + exp(-y_i s_i)) + {norms}"
    return fitted.classifier(claim, lambda _: C, 1.0 - ratio, ratio)


def _ridge(fitted: _Fitted) -> Claim:
    # Σ c r² + α‖w‖² = 2 (Σ c ½r² + α/2 ‖w‖²), with an α for each output if there are several.
    alpha = np.asarray(fitted.get("alpha_", fitted.get("alpha")), dtype=np.float64)
    if not (alpha > 0.0).all():
        raise ValueError("Ridge(alpha=0) has no penalty, and no dual bound here: take a positive alpha")
    claim = Claim(fitted.name, "", fitted.X, {"name": "squared"}, fitted.free_intercept())
    claim.nonnegative = bool(fitted.get("positive", False))
    claim.objective = f"Σ (y_i - s_i)² + {np.ravel(alpha)[0]:g} ||w||²"
    if fitted.name == "RidgeClassifier":
        return _ridge_classifier(fitted, claim, float(np.ravel(alpha)[0]))
    return fitted.regressor(claim, lambda _: 2.0, 2.0 * alpha, 0.0)


def _ridge_classifier(fitted: _Fitted, claim: Claim, alpha: float) -> Claim:
    # Ridge on targets of −1 and 1, one output for each of several classes; all outputs have the same weights.
    if fitted.get("class_weight") is not None:
        own = compute_sample_weight(fitted.get("class_weight"), fitted.y)
        fitted.counts = own if fitted.counts is None else own * fitted.counts
    numbers = class_numbers(column_or_1d(fitted.y), fitted.model.classes_)
    scores = fitted.coefficients.shape[0]
    columns = [1] if scores == 1 else range(scores)
    fitted.y = np.column_stack([np.where(numbers == k, 1.0, -1.0) for k in columns])
    return fitted.regressor(claim, lambda _: 2.0, 2.0 * alpha, 0.0)


def _elastic_net(fitted: _Fitted) -> Claim:
    # 1/(2 Σ c) Σ c r² + α ρ ‖w‖₁ + α (1 − ρ)/2 ‖w‖², with ρ = 1 for the lasso. Of celer and skglm alike.
    if getattr(fitted.model, "weights", None) is not None:
        raise ValueError(f"{fitted.name} with weights of features is not known: scale the columns of X in their place")
    ratio = 1.0 if fitted.name.startswith("Lasso") else float(fitted.get("l1_ratio_", fitted.get("l1_ratio")))
    alpha = float(fitted.get("alpha_", fitted.get("alpha")))
    if not alpha > 0.0:
        raise ValueError(f"{fitted.name}(alpha=0) has no penalty, and no dual bound here: take a positive alpha")
    claim = Claim(fitted.name, "", fitted.X, {"name": "squared"}, fitted.free_intercept())
    claim.nonnegative = bool(fitted.get("positive", False))
    squares, absolutes = alpha * (1.0 - ratio), alpha * ratio
    claim.objective = f"1/(2n) Σ (y_i - s_i)² + {_norms(squares, absolutes)}"
    return fitted.regressor(claim, lambda total: 1.0 / total, squares, absolutes)


#: The losses of scikit-learn's stochastic gradients that the library has, and whether they are of numbers.
_SGD_LOSSES = {
    "hinge": (lambda _: {"name": "hinge"}, False),
    "squared_hinge": (lambda _: {"name": "squared_hinge"}, False),
    "log_loss": (lambda _: {"name": "logistic"}, False),
    "squared_error": (lambda _: {"name": "squared"}, True),
    "huber": (lambda epsilon: {"name": "huber", "width": epsilon}, True),
    "epsilon_insensitive": (lambda epsilon: {"name": "epsilon_insensitive", "epsilon": epsilon}, True),
}


def _sgd(fitted: _Fitted) -> Claim:
    # 1/n Σ c φ + α ((1 − ρ)/2 ‖w‖² + ρ ‖w‖₁), with the intercept free.
    loss = fitted.get("loss")
    if loss not in _SGD_LOSSES:
        raise ValueError(f"{fitted.name}(loss={loss!r}): this loss is not known here, and {', '.join(_SGD_LOSSES)} are")
    if fitted.get("early_stopping"):
        raise ValueError(
            f"{fitted.name}(early_stopping=True) has left out a part of the data that it does not tell: fit without"
        )
    penalty = fitted.get("penalty")
    if penalty is None:
        raise ValueError(f"{fitted.name}(penalty=None) has no dual bound here: take penalty='l2', 'l1' or 'elasticnet'")
    alpha = fitted.positive("alpha", "take a positive alpha")
    ratio = {"l2": 0.0, "l1": 1.0}.get(penalty, float(fitted.get("l1_ratio") or 0.0))
    squares, absolutes = alpha * (1.0 - ratio), alpha * ratio
    make, of_numbers = _SGD_LOSSES[loss]
    claim = Claim(fitted.name, "", fitted.X, make(float(fitted.get("epsilon"))), fitted.free_intercept())
    claim.objective = f"1/n Σ {loss} + {_norms(squares, absolutes)}"
    n = fitted.X.shape[0]
    if fitted.name == "SGDRegressor":
        return fitted.regressor(claim, lambda _: 1.0 / n, squares, absolutes)
    return fitted.classifier(claim, lambda _: 1.0 / n, squares, absolutes, signs=of_numbers, of_samples=False)


def _celer_logistic(fitted: _Fitted) -> Claim:
    # C Σ log(1 + exp(−m)) + ‖w‖₁.
    C = fitted.positive("C", "take a finite C")
    claim = Claim(fitted.name, "", fitted.X, {"name": "logistic"}, fitted.free_intercept())
    claim.objective = f"{C:g} Σ log(1 + exp(-y_i s_i)) + ||w||_1"
    return fitted.classifier(claim, lambda _: C, 0.0, 1.0)


def _skglm_logistic(fitted: _Fitted) -> Claim:
    # 1/n Σ log(1 + exp(−m)) + α ‖w‖₁.
    alpha = fitted.positive("alpha", "take a positive alpha")
    claim = Claim(fitted.name, "", fitted.X, {"name": "logistic"}, fitted.free_intercept())
    claim.objective = f"1/n Σ log(1 + exp(-y_i s_i)) + {alpha:g} ||w||_1"
    return fitted.classifier(claim, lambda total: 1.0 / total, 0.0, alpha)


def _skglm_svc(fitted: _Fitted) -> Claim:
    # ½‖w‖² + C Σ max(0, 1 − m), without an intercept.
    C = fitted.positive("C", "take a finite C")
    claim = Claim(fitted.name, "", fitted.X, {"name": "hinge"}, fitted.free_intercept())
    claim.objective = f"1/2 ||w||² + {C:g} Σ max(0, 1 - y_i s_i)"
    return fitted.classifier(claim, lambda _: C, 1.0, 0.0)


def _norms(squares: float, absolutes: float) -> str:
    """Return the penalty in words."""
    terms = [f"{squares:g}/2 ||w||²"] if squares else []
    return " + ".join(terms + ([f"{absolutes:g} ||w||_1"] if absolutes else []))


_READERS: dict[tuple[str, str], Callable[[_Fitted], Claim]] = {
    ("sklearn", "LinearSVC"): _linear_svc,
    ("sklearn", "LinearSVR"): _linear_svr,
    ("sklearn", "SVC"): _svc,
    ("sklearn", "SVR"): _svr,
    ("sklearn", "LogisticRegression"): _logistic_regression,
    ("sklearn", "Ridge"): _ridge,
    ("sklearn", "RidgeCV"): _ridge,
    ("sklearn", "RidgeClassifier"): _ridge,
    ("sklearn", "Lasso"): _elastic_net,
    ("sklearn", "LassoCV"): _elastic_net,
    ("sklearn", "ElasticNet"): _elastic_net,
    ("sklearn", "ElasticNetCV"): _elastic_net,
    ("sklearn", "SGDClassifier"): _sgd,
    ("sklearn", "SGDRegressor"): _sgd,
    ("celer", "Lasso"): _elastic_net,
    ("celer", "LassoCV"): _elastic_net,
    ("celer", "ElasticNet"): _elastic_net,
    ("celer", "ElasticNetCV"): _elastic_net,
    ("celer", "LogisticRegression"): _celer_logistic,
    ("skglm", "Lasso"): _elastic_net,
    ("skglm", "ElasticNet"): _elastic_net,
    ("skglm", "SparseLogisticRegression"): _skglm_logistic,
    ("skglm", "LinearSVC"): _skglm_svc,
}

#: Models whose problem is known and has no proof, and why.
_HOPELESS = {
    ("sklearn", "LinearRegression"): "it has no penalty, and no dual bound here; Ridge with a small alpha has one",
    ("sklearn", "Perceptron"): "it has no penalty, and stops when it errs no more: take SGDClassifier(loss='hinge')",
    ("sklearn", "MLPClassifier"): "its objective is not convex, and no dual bound reaches its optimum",
    ("sklearn", "MLPRegressor"): "its objective is not convex, and no dual bound reaches its optimum",
}
