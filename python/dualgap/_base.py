"""What all estimators have in common: keywords to a request, a run, and what it leaves behind."""

from __future__ import annotations

import json
import math
import operator
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _dualgap
from ._arrays import CONSTANT
from ._certificate import Certificate
from ._report import Report, in_keywords
from .callbacks import Watch

#: What to do when a run ended for another reason than its tolerance.
_REMEDIES = {
    "pass_limit": "allow more `passes`, or a larger `tolerance`",
    "time_limit": "allow more `time`, or a larger `tolerance`",
    "oracle_limit": "allow more `oracle_calls`, or a larger `tolerance`",
    "interrupted": "the model is certified as it is",
    "stalled": "rounding allows no smaller gap: take a larger `tolerance`, or scale the columns of X",
}


class CertifiedEstimator(CallbackSupportMixin, BaseEstimator):
    """The base of all estimators. A subclass names its structure and says what its task is.

    The run is described by `tolerance`, `absolute_tolerance`, `passes`, `oracle_calls`, `time`, `solver`,
    `solver_options`, `threads`, `seed`, `warm_start`, `callback` and `verbose`, as far as a subclass has them.
    """

    #: The library's name of the structure.
    _structure: ClassVar[str]

    @classmethod
    def _reads(cls, model: _dualgap.Model) -> bool:
        """Return whether a model is one of this class; several classes may share a structure."""
        return model.structure == cls._structure

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> _dualgap.Data:
        """Return the training data of the arguments of ``fit``.

        A reset sets the attributes that the data decide, such as `n_features_in_` and `classes_`; else the data are
        compared with them.
        """
        raise NotImplementedError

    def _penalty(self) -> dict[str, Any]:
        """Return the penalty in the library's JSON form."""
        penalty = {"name": "ridge", "lambda": strength(self.lam, "lam"), "l1": sigma(self.l1, "l1")}
        nonnegative = bool(getattr(self, "nonnegative", False))
        if getattr(self, "q_norm", False):
            if nonnegative:
                raise ValueError("the q-norm has no nonnegative form: leave one of `q_norm` and `nonnegative` out")
            return {**penalty, "name": "q_norm"}
        return {**penalty, "nonnegative": nonnegative}

    def _auto(self) -> str | None:
        """Return what held-out data choose, by the library's name, or None."""
        wanted = [name for name in ("lam", "l1", "radius") if is_auto(getattr(self, name, None))]
        if len(wanted) > 1:
            raise ValueError(
                f'held-out data choose one number at a time, not {" and ".join(wanted)}: give the others as numbers, '
                'or `lam` as a multiple of `l1` such as "0.1l1"'
            )
        return {"lam": "lambda"}.get(wanted[0], wanted[0]) if wanted else None

    def _limits(self) -> dict[str, Any]:
        """Return when the run stops, by the program's names."""
        limits = {
            "tolerance": optional(number, self.tolerance, "tolerance"),
            "absolute_tolerance": optional(
                number, getattr(self, "absolute_tolerance", None), "absolute_tolerance"
            ),
            "passes": optional(whole, getattr(self, "passes", None), "passes"),
            "oracle_calls": optional(whole, getattr(self, "oracle_calls", None), "oracle_calls"),
            "time": optional(number, getattr(self, "time", None), "time"),
        }
        return {name: value for name, value in limits.items() if value is not None}

    @with_callbacks
    def _run(
        self,
        data: _dualgap.Data,
        task: dict[str, Any],
        *,
        structure: str | None = None,
        arrays: dict[str, Any] | None = None,
        recipe: dict[str, Any] | None = None,
        warm_start: _dualgap.Model | None = None,
        interrupt: _dualgap.Interrupt | None = None,
        threads: int | None = None,
    ) -> tuple[_dualgap.Model, dict[str, Any]]:
        """Train a model, and return it with the report of the run.

        `arrays` complete the structure, and `recipe` says how the program reads such data from a file. Another thread
        ends the run by `interrupt`.
        """
        request = {
            "task": task,
            "auto": self._auto(),
            "solver": self.solver,
            "method": self._method(),
            "limits": self._limits(),
            "threads": whole(self.threads if threads is None else threads, "threads"),
            "recipe": recipe,
        }
        return self._solve(
            structure or self._structure, data, request, arrays or {}, warm_start=warm_start, interrupt=interrupt
        )

    def _solve(
        self,
        structure: str,
        data: _dualgap.Data,
        request: dict[str, Any],
        arrays: dict[str, Any],
        *,
        warm_start: _dualgap.Model | None,
        interrupt: _dualgap.Interrupt | None,
    ) -> tuple[_dualgap.Model, dict[str, Any]]:
        """Solve a problem. Paths and cross-validations solve several in its place."""
        watch = self._callback()
        with watch as callback:
            model, report, raised = _dualgap.fit(
                structure,
                data,
                json.dumps(request, allow_nan=False),
                arrays,
                warm_start=warm_start,
                callback=callback,
                interrupt=interrupt,
            )
        if watch.stopped and report["stop"] == "interrupted":
            report["stop"] = "callback"
        report["raised"] = raised
        return model, report

    def _method(self) -> dict[str, Any]:
        """Return the settings of the solver that differ from its defaults."""
        options = dict(getattr(self, "solver_options", None) or {})
        if "seed" in options:
            raise ValueError("the seed is a keyword of its own, and not one of `solver_options`")
        seed = whole(self.seed, "seed")
        # Zero is the default of all solvers that have a seed; Newton's method has none.
        return {**options, "seed": seed} if seed else options

    def _callback(self) -> Watch:
        """Return the callbacks of a run, which are those of the estimator and those of scikit-learn."""
        return Watch(self)

    def _keep(self, model: _dualgap.Model, report: dict[str, Any]) -> None:
        """Set the attributes of a fitted estimator, warn if the tolerance was missed, and raise what ended the run."""
        self._set_run(model, report["certificate"], report["stop"], report["passes"], report["history"])
        self._remarks = remarks_of(report)
        self._set_chosen(report)
        self._set_fitted()
        self._end(report["raised"])

    def _set_chosen(self, report: dict[str, Any]) -> None:
        """Set what the data have decided about the strengths: `auto_` and `l1_max_`, if they have."""
        for name, found in (("auto_", report.get("auto")), ("l1_max_", report.get("l1_max"))):
            if found is not None:
                setattr(self, name, found)
            elif hasattr(self, name):
                delattr(self, name)

    def _set_run(
        self, model: _dualgap.Model, certificate: dict[str, Any], stop: str, passes: float, history: list[Any]
    ) -> None:
        """Set what every run leaves behind."""
        self.model_ = model
        self.certificate_ = Certificate._of(certificate, reached=stop == "gap_reached")
        self.history_ = history
        self.stop_ = stop
        # scikit-learn expects at least one iteration of whatever has run.
        self.n_iter_ = max(1, math.ceil(passes))

    def _set_fitted(self) -> None:
        """Set what a subclass shows besides, such as `coef_`: before an interrupted run raises its exception."""

    def _end(self, raised: BaseException | None) -> None:
        """Raise what ended the run early, or warn if the tolerance was missed."""
        if raised is not None:
            raise raised
        # A callback that stops a run has its reasons, and a limit without a tolerance is what was asked for.
        limits = self._limits()
        over = self.stop_.endswith("_limit") or self.stop_ == "stalled"
        limited = over and not any(limits.get(name) for name in ("tolerance", "absolute_tolerance"))
        if self.stop_ not in ("gap_reached", "callback") and not limited:
            warnings.warn(
                f"the run ended ({self.stop_.replace('_', ' ')}) with a gap of at most "
                f"{self.certificate_.relative_gap:.2g} of the objective, and the tolerance was not reached: "
                f"{self._remedy()}",
                ConvergenceWarning,
                # The caller of `fit`, which called `_keep`, which called this.
                stacklevel=4,
            )

    def _remedy(self) -> str:
        """Return what to do about the end of the run."""
        warm = self.stop_ == "interrupted" and hasattr(self, "warm_start")
        return _REMEDIES[self.stop_] + (": fit again with `warm_start=True` to go on" if warm else "")

    @property
    def report_(self) -> Report:
        """What the run did and what it proved, as a text or, in a notebook, as a table."""
        check_is_fitted(self)
        return Report._of(self)

    def _previous(self) -> _dualgap.Model | None:
        """Return the model that a warm start begins with, if there is one."""
        return getattr(self, "model_", None) if getattr(self, "warm_start", False) else None

    def certify(self, X: Any, y: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the certificate from the training data, without trusting a number of the model.

        Parameters
        ----------
        X, y : as in ``fit``
            The training data. Other data are refused.
        sample_weight : array of shape (n_samples,), default=None
            The weights of the training, which must be those that ``fit`` was given. By default they are taken from the
            model, which holds them as a part of its problem.

        Returns
        -------
        certificate : Certificate
            The bound, as computed now.
        """
        check_is_fitted(self)
        data = self._labelled(X, y, sample_weight, reset=False)
        return self._certified(self.model_, data, sample_weight)

    def _certified(self, model: _dualgap.Model, data: _dualgap.Data, sample_weight: Any) -> Certificate:
        """Return the certificate of a model, recomputed from its data."""
        if sample_weight is not None and not same_weights(sample_weight, model.sample_weights):
            raise ValueError("the sample weights are not those of the training, which the certificate is about")
        found = model.certify(data)
        stop = model.provenance["stop"]
        return Certificate._of(found["certificate"], reached=stop == "gap_reached", evidence=found["evidence"])

    def save(self, path: str | Path, *, witness: bool = True) -> None:
        """Write the portable model file, which the program and the library read, too.

        Parameters
        ----------
        path : str or Path
            Where to write. An existing file is replaced at once, or not at all.
        witness : bool, default=True
            Whether to store the dual point behind the certificate, so that others can check it.

        See Also
        --------
        dualgap.load : Read such a file.
        """
        check_is_fitted(self)
        self.model_.save(path, witness)

    @classmethod
    def _from_model(cls, model: _dualgap.Model) -> Self:
        """Return a fitted estimator of a model from a file: its keywords are those of the problem."""
        estimator = cls(**cls._keywords(model))
        estimator._restore(model)
        return estimator

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        """Return the keywords that the problem of a model has."""
        task, method = model.task, model.provenance["method"]
        found = {
            **penalty_keywords(task["penalty"]),
            "intercept": intercept_of(model),
            "scale": task.get("scaling", "none"),
            "seed": method.get("seed", 0),
        }
        return {name: value for name, value in found.items() if name in cls._get_param_names()}

    def _restore(self, model: _dualgap.Model) -> None:
        """Set the attributes of a fitted estimator from a model of a file."""
        provenance = model.provenance
        self._set_run(model, model.certificate, provenance["stop"], provenance["passes"], [])
        self._remarks = []
        self._set_fitted()


def remarks_of(report: dict[str, Any]) -> list[str]:
    """Return what a run suggests about its problem, in the words of the estimators."""
    return [in_keywords(remark["text"]) for remark in report.get("remarks", [])]


def penalty_keywords(penalty: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of a penalty as a model file has it."""
    if penalty["name"] == "lasso":
        return {"lam": 0.0, "l1": penalty["sigma"], "nonnegative": penalty["nonnegative"]}
    if penalty["name"] == "q_norm":
        return {"lam": penalty["lambda"], "l1": penalty["l1"], "q_norm": True}
    if penalty["name"] == "ridge":
        return {"lam": penalty["lambda"], "l1": penalty["l1"], "nonnegative": penalty["nonnegative"]}
    return {}


def intercept_of(model: _dualgap.Model) -> bool | str:
    """Return the kind of intercept that a model has."""
    if "free" in model.task["penalty"]:
        return "free"
    recipe = model.provenance["recipe"]
    constant = recipe["constant"] if recipe else model.features[-1:] == [CONSTANT]
    return "penalised" if constant else False


def same_weights(given: Any, stored: np.ndarray | None) -> bool:
    """Return whether the weights of a certification are those of the training."""
    given = np.asarray(given, dtype=np.float64)
    return bool((given == (1.0 if stored is None else stored)).all())


def number(value: Any, name: str) -> float:
    """Return a keyword as a number that is not negative."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, not {value!r}") from None
    if not (result >= 0.0 and math.isfinite(result)):
        raise ValueError(f"{name} must be a finite number that is not negative, not {value!r}")
    return result


def is_auto(value: Any) -> bool:
    """Return whether held-out data choose a keyword."""
    return isinstance(value, str) and value == "auto"


def sigma(value: Any, name: str) -> float | str:
    """Return a keyword such as ``0.01``, ``"0.1max"`` or ``"1/n"``; while it is not chosen, that of zero weights."""
    if is_auto(value):
        return "1max"
    if not isinstance(value, str):
        return number(value, name)
    fraction = value.removesuffix("max")
    message = f'{name} must be a number such as 0.01, or a fraction of the largest one such as "0.1max", not {value!r}'
    try:
        found = number(fraction.removesuffix("/n") if fraction == value else fraction, name)
    except ValueError:
        raise ValueError(message) from None
    if fraction != value and not 0.0 < found <= 1.0:
        raise ValueError(f"{message}: the fraction is above 0 and at most 1")
    return value


def strength(value: Any, name: str) -> float | str:
    """Return a keyword such as ``0.01``, ``"1/n"`` or ``"0.1l1"``; while it is not chosen, ``"1/n"``."""
    if is_auto(value) and name == "lam":
        return "1/n"
    if not isinstance(value, str):
        return number(value, name)
    try:
        number(value.removesuffix("/n").removesuffix("l1") if name == "lam" else value.removesuffix("/n"), name)
    except ValueError:
        message = f'{name} must be a number such as 0.01, or a multiple of 1/n such as "10/n", not {value!r}'
        raise ValueError(message) from None
    return value


def whole(value: Any, name: str) -> int:
    """Return a keyword as a whole number that is not negative."""
    try:
        result = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be a whole number, not {value!r}") from None
    if result < 0:
        raise ValueError(f"{name} must not be negative, and it is {value!r}")
    return result


def optional(check: Callable[[Any, str], Any], value: Any, name: str) -> Any:
    """Return a checked keyword, or None if it is not given."""
    return None if value is None else check(value, name)
