"""What all estimators have in common: keywords to a request, a run, and what it leaves behind."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _dualgap
from ._certificate import Certificate

#: What to do when a run ended for another reason than its tolerance.
_REMEDIES = {
    "pass_limit": "allow more `passes`, or a larger `tolerance`",
    "time_limit": "allow more `time`, or a larger `tolerance`",
    "oracle_limit": "allow more `oracle_calls`, or a larger `tolerance`",
    "interrupted": "the model is certified as it is: fit again with `warm_start=True` to go on",
    "stalled": "rounding allows no smaller gap: take a larger `tolerance`, or scale the columns of X",
}


class CertifiedEstimator(BaseEstimator):
    """The base of all estimators. A subclass names its structure and says what its task is.

    The run is described by `tolerance`, `absolute_tolerance`, `passes`, `oracle_calls`, `time`, `solver`,
    `solver_options`, `threads`, `seed`, `warm_start`, `callback` and `verbose`, as far as a subclass has them.
    """

    #: The library's name of the structure.
    _structure: ClassVar[str]

    def _penalty(self) -> dict[str, Any]:
        """Return the penalty in the library's JSON form."""
        return {
            "name": "ridge",
            "lambda": strength(self.lam, "lam"),
            "l1": number(self.l1, "l1"),
            "nonnegative": bool(self.nonnegative),
        }

    def _limits(self) -> dict[str, Any]:
        """Return when the run stops, by the program's names."""
        tolerance, absolute = self.tolerance, getattr(self, "absolute_tolerance", None)
        limits = {
            "tolerance": None if tolerance is None else number(tolerance, "tolerance"),
            "absolute_tolerance": None if absolute is None else number(absolute, "absolute_tolerance"),
            "passes": getattr(self, "passes", None),
            "oracle_calls": getattr(self, "oracle_calls", None),
            "time": getattr(self, "time", None),
        }
        return {name: value for name, value in limits.items() if value is not None}

    def _run(
        self,
        data: _dualgap.Data,
        task: dict[str, Any],
        *,
        structure: str | None = None,
        arrays: dict[str, Any] | None = None,
        warm_start: _dualgap.Model | None = None,
    ) -> tuple[_dualgap.Model, dict[str, Any]]:
        """Train a model, and return it with the report of the run."""
        method = dict(getattr(self, "solver_options", None) or {})
        method["seed"] = self.seed
        request = {
            "task": task,
            "solver": self.solver,
            "method": method,
            "limits": self._limits(),
            "threads": self.threads,
        }
        model, report, raised = _dualgap.fit(
            structure or self._structure,
            data,
            json.dumps(request, allow_nan=False),
            arrays or {},
            warm_start=warm_start,
            callback=self._callback(),
        )
        report["raised"] = raised
        return model, report

    def _callback(self) -> Callable[[dict[str, Any]], bool | None] | None:
        """Return the function that receives the progress of the run, if there is one."""
        return getattr(self, "callback", None)

    def _keep(self, model: _dualgap.Model, report: dict[str, Any]) -> None:
        """Set the attributes of a fitted estimator, warn if the tolerance was missed, and raise what ended the run."""
        reached = report["stop"] == "gap_reached"
        self.model_ = model
        self.certificate_ = Certificate._of(report["certificate"], reached)
        self.history_ = report["history"]
        self.stop_ = report["stop"]
        self.n_iter_ = max(1, math.ceil(report["passes"]))
        if report["raised"] is not None:
            raise report["raised"]
        if not reached:
            warnings.warn(
                f"the run ended ({report['stop'].replace('_', ' ')}) with a gap of at most "
                f"{self.certificate_.relative_gap:.2g} of the objective, and the tolerance was not reached: "
                f"{_REMEDIES[report['stop']]}",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _previous(self) -> _dualgap.Model | None:
        """Return the model that a warm start begins with, if there is one."""
        return getattr(self, "model_", None) if getattr(self, "warm_start", False) else None

    def save(self, path: str | Path, *, witness: bool = True) -> None:
        """Write the portable model file, which the program and the library read, too.

        Parameters
        ----------
        path : str or Path
            Where to write. An existing file is replaced at once, or not at all.
        witness : bool, default=True
            Whether to store the dual point behind the certificate, so that others can check it.
        """
        check_is_fitted(self)
        self.model_.save(path, witness)

    @classmethod
    def _from_model(cls, model: _dualgap.Model) -> Self:
        """Return a fitted estimator of a model from a file."""
        raise NotImplementedError


def number(value: Any, name: str) -> float:
    """Return a keyword as a number that is not negative."""
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, not {value!r}") from None
    if not (result >= 0.0 and math.isfinite(result)):
        raise ValueError(f"{name} must be a finite number that is not negative, not {value!r}")
    return result


def strength(value: Any, name: str) -> float | str:
    """Return a keyword such as ``0.01`` or ``"1/n"``."""
    return value if isinstance(value, str) else number(value, name)
