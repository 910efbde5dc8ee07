"""The report of a run: what it did, why it ended, and what it proved."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import escape
from typing import Any

from . import _html
from ._certificate import Certificate

#: Why a run ended, as a sentence.
_STOPS = {
    "gap_reached": "the tolerance was reached",
    "pass_limit": "the passes were used up",
    "time_limit": "the time was up",
    "oracle_limit": "the oracle calls were used up",
    "interrupted": "the run was interrupted",
    "callback": "a callback stopped the run",
    "stalled": "rounding allows no smaller gap",
}


def in_keywords(text: str) -> str:
    """Return a message of the library with keywords in the place of the settings that it names."""
    text = re.sub(r"the setting `(\w+)`=(\w+)", r'`\1="\2"`', text)
    return re.sub(r"the setting `(\w+)`", r"`\1`", text)


@dataclass(frozen=True)
class Report:
    """What a run did and what it proved. Its text is ``str(report)``; a notebook shows it as a table.

    Attributes
    ----------
    estimator : str
        The name of the estimator's class.
    certificate : Certificate
        The certificate of the model.
    stop : str
        Why the run ended, such as ``"gap_reached"``.
    passes : float
        Passes over the data, those of certifications not counted; of several runs, those of the longest.
    seconds : float
        Seconds of all runs, those of certifications included.
    certifications : int
        How often the gap was computed.
    tolerance : float or None
        The relative gap that the run should reach.
    remarks : list of str
        What the run suggests about its problem: an intercept that would lower the objective much, columns that want a
        scale.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from dualgap import LinearRegressor
    >>> X, y = make_regression(random_state=0)
    >>> report = LinearRegressor(tolerance=1e-3).fit(X, y).report_
    >>> report.stop
    'gap_reached'
    >>> report.certificate.relative_gap <= report.tolerance
    True
    """

    estimator: str
    certificate: Certificate
    stop: str
    passes: float
    seconds: float
    certifications: int
    tolerance: float | None
    remarks: list[str] = field(default_factory=list)

    @classmethod
    def _of(cls, estimator: Any) -> Report:
        """Return the report of a fitted estimator. A model that was read from a file has no history."""
        history = estimator.history_
        # Several classes have a history each.
        runs = history if history and isinstance(history[0], list) else [history]
        ends = [run[-1] for run in runs if run]
        return cls(
            estimator=type(estimator).__name__,
            certificate=estimator.certificate_,
            stop=estimator.stop_,
            passes=max([end["passes"] for end in ends], default=float(estimator.n_iter_)),
            seconds=sum(end["solve_seconds"] + end["certify_seconds"] for end in ends),
            certifications=sum(map(len, runs)),
            tolerance=getattr(estimator, "tolerance", None),
            remarks=list(getattr(estimator, "_remarks", [])),
        )

    def _why(self) -> str:
        return _STOPS.get(self.stop, self.stop)

    def __str__(self) -> str:
        return (
            f"{self.estimator}: {self.certificate}\n{self._why()} after {self.passes:.4g} passes and "
            f"{self.seconds:.3g} s, with {self.certifications} certifications"
            + "".join(f"\nnote: {remark}" for remark in self.remarks)
        )

    def _repr_html_(self) -> str:
        tolerance = "" if self.tolerance is None else f"tolerance {self.tolerance:.2g}"
        more = [
            ("stop", self.stop, f"{self._why()}{f' ({tolerance})' if tolerance else ''}"),
            ("passes", f"{self.passes:.4g}", "over the data"),
            ("time", f"{self.seconds:.3g} s", f"with {self.certifications} certifications"),
        ]
        more += [("note", "", remark) for remark in self.remarks]
        html = _html.certificate(self.certificate, tolerance=self.tolerance, more=more)
        return f"<div><b>{escape(self.estimator)}</b>{html}</div>"
