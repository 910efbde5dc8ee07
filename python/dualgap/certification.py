"""Certify anybody's model: how far from the optimum of its own problem a fitted model is.

Weak duality proves it for any weights w: with a feasible dual point α and any other weights u,

``P(w) - P(u)  <=  P(w) - P*  <=  P(w) - D(α)``

so that nothing has to be known of the solver behind w. What has to be known is the problem that a model says it has
solved: `_claims` has it for the estimators of other packages.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from . import _claims, _dualgap
from ._arrays import rows
from ._base import CertifiedEstimator, number, optional, whole
from ._certificate import Certificate
from ._claims import Claim, Part
from ._files import load
from ._weight_files import is_model_file, read_weights

#: A strength such as 1/(C n) is rounded when it is computed, and changes no term of an objective by more than a few
#: units in its last place: this share of the objective is added to the bounds.
_ROUNDING = 16 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Appraisal:
    """How far above the optimum of its own problem a model is.

    All values are in the units of `objective`, that of the package the model comes from.

    Attributes
    ----------
    model : str
        What was appraised, such as ``"LinearSVC"``.
    objective : str
        The function that the model says it has minimised.
    primal : float
        The objective at exactly the weights of the model.
    at_most : float
        The proven upper bound on the distance to the optimum, all rounding included.
    at_least : float
        The proven lower bound: better weights were found. Zero if none were.
    unit : float
        What one unit of the library's objective, the weighted mean loss plus the penalty, is in units of `objective`.
        NaN if the parts have several.
    passes : float
        The passes over the data that the run behind the bounds took.
    close : bool
        Whether the bounds are within a tenth of each other, or the model is within the tolerance. Where they are not,
        more `passes` bring them closer.
    parts : tuple of Appraisal
        The independent problems that the objective is a sum of, such as one for each class; empty if there is one.
    """

    model: str
    objective: str
    primal: float
    at_most: float
    at_least: float
    unit: float = 1.0
    passes: float = 0.0
    close: bool = True
    parts: tuple[Appraisal, ...] = ()

    @property
    def relative_at_most(self) -> float:
        """The upper bound as a fraction of the objective."""
        return self._relative(self.at_most)

    @property
    def relative_at_least(self) -> float:
        """The lower bound as a fraction of the objective."""
        return self._relative(self.at_least)

    def _relative(self, bound: float) -> float:
        if bound == 0.0:
            return 0.0
        return bound / abs(self.primal) if self.primal else float("inf")

    def _bounds(self) -> str:
        least = f", at least {_digits(self.at_least, ROUND_FLOOR)}" if self.at_least > 0.0 else ""
        return f"at most {_digits(self.at_most, ROUND_CEILING)} above the optimum{least}"

    def __str__(self) -> str:
        share = f"at most {_digits(100 * self.relative_at_most, ROUND_CEILING)} % of the objective, {self.primal:.6g}"
        return f"{self._bounds()} ({share})"

    def _repr_html_(self) -> str:
        fields = [
            ("model", self.model),
            ("objective", self.objective),
            ("value", f"{self.primal:.6g}"),
            ("proven", str(self)),
        ]
        cells = (f"<tr><th>{name}</th><td>{html.escape(value)}</td></tr>" for name, value in fields)
        return f"<table>{''.join(cells)}</table>"

    @classmethod
    def _sum(cls, parts: Sequence[Appraisal], objective: str) -> Appraisal:
        """Return the appraisal of a sum of independent problems."""
        if len(parts) == 1:
            return replace(parts[0], objective=objective)
        units = {part.unit for part in parts}
        # Sums are rounded correctly; the bounds are moved outward by what that may be.
        return cls(
            model=parts[0].model,
            objective=objective,
            primal=math.fsum(part.primal for part in parts),
            at_most=math.nextafter(math.fsum(part.at_most for part in parts), math.inf),
            at_least=max(math.nextafter(math.fsum(part.at_least for part in parts), -math.inf), 0.0),
            unit=units.pop() if len(units) == 1 else math.nan,
            passes=max(part.passes for part in parts),
            close=all(part.close for part in parts),
            parts=tuple(parts),
        )


def certify(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    problem: CertifiedEstimator | None = None,
    tolerance: float = 1e-6,
    passes: int | None = 1000,
    time: float | None = None,
    threads: int = 0,
    callback: Callable[[dict[str, Any]], bool | None] | None = None,
) -> Appraisal | Certificate:
    """Prove how far from the optimum a fitted model is, whichever package has fitted it.

    A model of this package, or the path of its model file, has a certificate with it, which is recomputed. For a model
    of another package, the problem that it says it has solved is worked out from its parameters: scikit-learn's
    LinearSVC, LinearSVR, linear SVC and SVR, LogisticRegression, Ridge, RidgeClassifier, Lasso, ElasticNet,
    SGDClassifier and SGDRegressor, also at the end of a pipeline or of a search, and the estimators of celer and skglm
    with these names. Weights alone, as arrays or as a file, need a `problem`.

    Parameters
    ----------
    model : object
        A fitted estimator, the path of a model file or of a file of weights, or weights: an array with a number for
        each column of X, or a pair of such an array and the intercept.
    X, y : as in ``fit``
        The training data.
    sample_weight : array of shape (n_samples,), default=None
        The weights of the training, if there were any.
    problem : estimator, default=None
        For weights alone: an estimator of this package, fitted or not, whose keywords say which problem they are
        meant to solve.
    tolerance : float, default=1e-6
        The search for a better bound ends when the model is within this fraction of its objective, ...
    passes : int, default=1000
        ... or after so many passes over the data, or when both bounds are within a tenth of each other.
    time : float, default=None
        The most seconds for each problem.
    threads : int, default=0
        The number of threads; 0 stands for all cores.
    callback : callable, default=None
        Receives the progress of the run as a dict, and ends it by returning True. What is proven until then holds.

    Returns
    -------
    proof : Appraisal or Certificate
        The bounds for a model of others, the recomputed certificate for a model of this package.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Lasso
    >>> import dualgap
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> y = np.array([1.0, 0.0, 2.0])
    >>> proof = dualgap.certify(Lasso(alpha=0.1).fit(X, y), X, y)
    >>> proof.relative_at_most < 1e-3
    True
    >>> zero = dualgap.certify([0.0, 0.0], X, y, problem=dualgap.LinearRegressor(lam=0.1))
    >>> round(zero.primal, 6)
    0.833333
    >>> 0.0 < zero.at_least < zero.at_most < zero.primal
    True
    """
    effort = {
        "tolerance": number(tolerance, "tolerance"),
        "passes": optional(whole, passes, "passes"),
        "time": optional(number, time, "time"),
    }
    limits = {name: value for name, value in effort.items() if value is not None}
    if isinstance(model, CertifiedEstimator):
        return model.certify(X, y, sample_weight)
    if isinstance(model, (str, Path)) and is_model_file(model):
        return load(model).certify(X, y, sample_weight)
    if hasattr(model, "best_estimator_"):  # a search over parameters
        model = model.best_estimator_
    if isinstance(model, Pipeline):
        X, model = model[:-1].transform(X), model[-1]
        if isinstance(model, CertifiedEstimator):
            return model.certify(X, y, sample_weight)
    run = {"limits": limits, "threads": whole(threads, "threads")}
    if hasattr(model, "fit"):
        if problem is not None:
            raise ValueError(
                "a fitted model says itself which problem it solves: leave `problem` out, or give its weights"
            )
        claim = _claims.of_model(model, X, y, sample_weight)
        parts = [_appraise(claim, part, run, callback) for part in claim.parts]
        return Appraisal._sum(parts, claim.objective)
    if problem is None:
        raise TypeError(
            "weights alone do not say which problem they are meant to solve: give it as `problem`, such as "
            'LinearClassifier(loss="hinge", lam=0.01)'
        )
    return _appraise_weights(model, problem, X, y, sample_weight, run, callback)


def _appraise(claim: Claim, part: Part, run: dict[str, Any], callback: Any) -> Appraisal:
    """Appraise one problem of a claim."""
    total = float(part.targets.size) if part.counts is None else math.fsum(part.counts)
    # Theirs is a Σ c_i φ_i + q/2 ‖w‖² + s ‖w‖₁, and ours is Σ c_i φ_i / Σ c_i + λ/2 ‖w‖² + σ ‖w‖₁.
    unit = part.factor(total) * total
    task = {
        "structure": {"loss": claim.loss},
        "penalty": {
            "name": "ridge",
            "lambda": part.squares / unit,
            "l1": part.absolutes / unit,
            "nonnegative": claim.nonnegative,
        },
        "free_intercept": claim.intercept == "free",
    }
    X, weights = claim.X, np.atleast_2d(part.coefficients)
    if claim.intercept is not None:
        scale = 1.0 if claim.intercept == "free" else float(claim.intercept)
        if scale != 1.0:
            column = np.full((X.shape[0], 1), scale)
            X = sp.hstack([X, sp.csr_array(column)], format="csr") if sp.issparse(X) else np.hstack([X, column])
        weights = np.hstack([weights, np.reshape(part.intercept, (-1, 1)) / scale])
        constant = scale == 1.0
    else:
        constant = False
    data = _dualgap.Data.examples(
        rows(X), weights=part.counts, constant=constant, **{part.kind: part.targets}, labels=part.labels
    )
    return _proved(claim.structure, data, {"task": task, **run}, weights, unit, (claim.model, part.name), callback)


def _proved(
    structure: str,
    data: _dualgap.Data,
    request: dict[str, Any],
    weights: np.ndarray,
    unit: float,
    names: tuple[str, str],
    callback: Any,
    arrays: dict[str, Any] | None = None,
) -> Appraisal:
    """Return what the library proves of weights with a row for each score, in units of the caller."""
    # The library has all labels of the first feature before those of the second.
    flat = np.ascontiguousarray(weights.T, dtype=np.float64).ravel().tolist()
    text = json.dumps(request, allow_nan=False)
    found, raised = _dualgap.appraise(structure, data, text, arrays or {}, flat, callback=callback)
    if raised is not None:
        raise raised
    primal = found["certificate"]["primal"]
    slack = _ROUNDING * abs(primal)
    return Appraisal(
        model=names[0],
        objective=names[1],
        primal=unit * primal,
        at_most=unit * (found["at_most"] + slack),
        at_least=unit * max(found["at_least"] - slack, 0.0),
        unit=unit,
        passes=found["passes"],
        close=found["stop"] == "gap_reached",
    )


def _appraise_weights(
    model: Any, problem: Any, X: Any, y: Any, sample_weight: Any, run: dict[str, Any], callback: Any
) -> Appraisal:
    """Appraise weights under the problem of an estimator of this package."""
    if not isinstance(problem, CertifiedEstimator) or not hasattr(problem, "_task"):
        raise TypeError(f"`problem` must be an estimator of this package, such as LinearClassifier, not {problem!r}")
    problem = clone(problem)
    data = problem._labelled(X, y, sample_weight, reset=True)
    task = problem._task()
    classes = getattr(problem, "classes_", np.empty(0))
    if problem._structure == "linear" and len(classes) > 2:
        raise ValueError("these are one problem for each class: certify the weights of each with its own y")
    kind = problem._intercept()
    if isinstance(model, (str, Path)):
        model = read_weights(model, classes, kind, problem.n_features_in_)
    coefficients, intercept = model if isinstance(model, tuple) else (model, None)
    weights = np.atleast_2d(_claims.dense(coefficients))
    if intercept is not None:
        if kind is None and np.any(intercept):
            raise ValueError(
                'the weights have an intercept, and `problem` has none: give it intercept="free" or "penalised"'
            )
        if kind is not None:
            column = np.broadcast_to(np.reshape(intercept, (-1, 1)), (weights.shape[0], 1))
            weights = np.hstack([weights, column])
    expected = problem.n_features_in_ + (kind is not None)
    scores = len(classes) if problem._structure == "multiclass" else 1
    if weights.shape != (scores, expected):
        raise ValueError(
            f"the weights have the shape {weights.shape}, and the problem asks for {(scores, expected)}"
            f"{', the intercept last' if kind is not None else ''}"
        )
    name = f"weights of {type(problem).__name__}"
    objective = "the weighted mean loss plus the penalty, as this package has it"
    return _proved(problem._structure, data, {"task": task, **run}, weights, 1.0, (name, objective), callback)


def _digits(value: float, rounding: str) -> str:
    """Return two digits of a bound, rounded so that the bound stays one."""
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    exact = Decimal(value)
    exponent = exact.adjusted()
    short = exact.quantize(Decimal((0, (1,), exponent - 1)), rounding=rounding)
    if short.is_zero():
        return "0"
    mantissa = short.scaleb(-short.adjusted())
    return f"{mantissa:.1f}e{short.adjusted()}"
