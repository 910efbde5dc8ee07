"""Paths: models that together are within a tolerance at every lam of an interval, or one at every number of a grid."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from . import _dualgap
from ._base import number, strength
from ._certificate import Certificate
from ._grid_path import GridPath, fit_with, grid_path, remedy


class Proven(NamedTuple):
    """A model and what is proven of it at a lam."""

    estimator: Any
    certificate: Certificate


@dataclass(frozen=True)
class PathPiece:
    """A model of a path, and the interval of lam on which it is proven to be within the tolerance.

    Attributes
    ----------
    lam : float
        The lam that the model was trained at.
    interval : tuple of float
        The smallest and the largest lam of its part of the path; the intervals of neighbours overlap or touch.
    certificate : Certificate
        The certificate at `lam`.
    estimator : object
        The fitted estimator, which predicts as any other does.
    passes : float
        Passes over the data that the model took.
    """

    lam: float
    interval: tuple[float, float]
    certificate: Certificate
    estimator: Any = field(repr=False)
    passes: float
    _reach: _dualgap.Reach = field(repr=False)

    @property
    def model(self) -> _dualgap.Model:
        """The model of the library."""
        return self.estimator.model_

    @property
    def coef(self) -> np.ndarray:
        """The weights."""
        return self.estimator.coef_

    def at(self, lam: float) -> Certificate:
        """Return what the model is proven to be at any lam, in its interval or not, for the problem of that lam.

        Parameters
        ----------
        lam : float
            A positive number.

        Returns
        -------
        certificate : Certificate
            The certificate there; computing it does not take the data.
        """
        return Certificate._of(self._reach.certificate(_positive(lam)), reached=self._holds(lam))

    def _holds(self, lam: float) -> bool:
        return self.interval[0] <= lam <= self.interval[1]


class CertifiedPath(Sequence[PathPiece]):
    """Models that together are proven to be within a tolerance at every lam of an interval; made by :func:`path`.

    It is a sequence of `PathPiece`, the largest lam first. ``pandas.DataFrame(path.to_dict())`` is a table of it.

    Attributes
    ----------
    low, high : float
        The interval that was asked for.
    covered : tuple of float
        The part of it that is covered: all of it, unless the path ended early.
    tolerance, absolute_tolerance : float or None
        The gap that a model of the path has at most at every lam of its interval: one of the two.
    stop : str or None
        Why the path ended early, or None.
    passes : float
        Passes over the data, of all models.
    """

    def __init__(
        self, pieces: list[PathPiece], found: dict[str, Any], tolerance: float | None, absolute_tolerance: float | None
    ) -> None:
        self._pieces = pieces
        self.low, self.high = found["within"]["from"], found["within"]["to"]
        self.covered = (found["from"], self.high)
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance
        self.stop: str | None = found["stop"]
        self.passes: float = found["passes"]

    def __len__(self) -> int:
        return len(self._pieces)

    @overload
    def __getitem__(self, index: int) -> PathPiece: ...

    @overload
    def __getitem__(self, index: slice) -> list[PathPiece]: ...

    def __getitem__(self, index: int | slice) -> PathPiece | list[PathPiece]:
        return self._pieces[index]

    def __iter__(self) -> Iterator[PathPiece]:
        return iter(self._pieces)

    @property
    def lams(self) -> np.ndarray:
        """The lam that the models were trained at."""
        return np.array([piece.lam for piece in self])

    def at(self, lam: float) -> Proven:
        """Return the model that is proven at a lam, and its certificate there.

        Where intervals overlap, it is the one with the smaller bound.

        Parameters
        ----------
        lam : float
            A number between the ends of `covered`.

        Returns
        -------
        proven : tuple of a fitted estimator and a Certificate
            The model need not have been trained at this lam: that it is within the tolerance there is proven.
        """
        lam = _positive(lam)
        here = [Proven(piece.estimator, piece.at(lam)) for piece in self if piece._holds(lam)]
        if not here:
            low, high = self.covered
            raise ValueError(f"lam={lam:g} is not on the path, which covers lam from {low:g} to {high:g}")
        return min(here, key=lambda proven: proven.certificate.gap_bound)

    def to_dict(self) -> dict[str, list[float]]:
        """Return a table as columns: one row for each model.

        Returns
        -------
        columns : dict of lists
            ``lam``; ``low`` and ``high``, the ends of the interval; ``primal`` and ``dual`` at `lam`; ``gap``, the
            proven relative gap at `lam`; ``worst_gap``, the largest in the interval; ``passes``.
        """
        worst = [max(piece.at(end).relative_gap for end in piece.interval) for piece in self]
        return {
            "lam": [piece.lam for piece in self],
            "low": [piece.interval[0] for piece in self],
            "high": [piece.interval[1] for piece in self],
            "primal": [piece.certificate.primal for piece in self],
            "dual": [piece.certificate.dual for piece in self],
            "gap": [piece.certificate.relative_gap for piece in self],
            "worst_gap": worst,
            "passes": [piece.passes for piece in self],
        }

    def __repr__(self) -> str:
        if self.absolute_tolerance is None:
            proven = f"{self.tolerance:g} of the objective"
        else:
            proven = f"{self.absolute_tolerance:g}"
        low, high = self.covered
        models = f"{len(self)} models" if len(self) > 1 else "1 model"
        return f"<CertifiedPath: {models} for lam from {low:g} to {high:g}, each at most {proven} above the optimum>"


def path(
    estimator: Any,
    X: Any,
    y: Any = None,
    low: float | str | None = None,
    high: float | str | None = None,
    *,
    over: Literal["lam", "l1", "radius"] = "lam",
    count: int | None = None,
    tolerance: float | None = None,
    absolute_tolerance: float | None = None,
    **fit_arguments: Any,
) -> CertifiedPath | GridPath:
    """Train models that together are within a tolerance at every lam of an interval, and prove it.

    Over `l1` or the `radius` it is a model at every number of a grid, each with its own certificate, from the simplest
    on: at the largest l1 all weights are zero.

    A model and its dual point prove a bound at every lam, not only at the one they were trained at. So a few models are
    enough for all of them: there is no grid, and no lam between two points of one that nobody has looked at.

    Parameters
    ----------
    estimator : object
        An estimator with a ``lam``, such as a LinearClassifier. Its own `lam` and `tolerance` do not matter, and it is
        not changed. Its ``passes`` are for each model, its ``time`` is for the whole path.
    X, y : as in ``fit``
        The training data.
    low, high : float, str or None, default=None
        The ends of the interval: numbers, or multiples of 1/n as text; of l1 also fractions such as ``"0.1max"``. By default
        ``"0.1/n"`` and ``"100/n"``, of l1 ``"0.001max"`` and ``"1max"``, of the radius what the data suggest.
    over : "lam", "l1" or "radius", default="lam"
        What is varied. The `lam` of a path over l1 is that of the estimator: 0, or a multiple of l1 such as ``"0.1l1"``.
    count : int, default=None
        Of a grid of l1 or radii: how many there are, in equal ratios. By default 13 of l1, and 9 radii.
    tolerance : float, default=None
        At every lam, a model of the path has at most this gap, as a fraction of the objective. If none is given, it is
        0.01.
    absolute_tolerance : float, default=None
        The same in units of the objective.
    **fit_arguments
        Further arguments of ``fit``, such as ``sample_weight``.

    Returns
    -------
    path : CertifiedPath, or GridPath over l1 and the radius
        The models, the largest lam first. If a limit or Ctrl-C ends the path early, it is what is covered by then: a
        limit gives a warning, and the exception of Ctrl-C has the path as its attribute ``path``.

    Examples
    --------
    >>> import dualgap
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> path = dualgap.path(dualgap.LinearClassifier(loss="hinge"), X, y, low=0.01, high=1.0, tolerance=0.05)
    >>> path.covered
    (0.01, 1.0)
    >>> estimator, certificate = path.at(0.123)
    >>> certificate.relative_gap <= 0.05
    True
    >>> estimator.score(X, y) > 0.95
    True
    """
    if over not in ("lam", "l1", "radius"):
        raise ValueError(f'a path is over "lam", "l1" or "radius", not {over!r}')
    if over not in estimator.get_params(deep=False):
        raise TypeError(f"a path is over `{over}`, which {type(estimator).__name__} does not have")
    if over == "lam" and count is not None:
        raise ValueError("a path over lam covers every one, with as many models as it takes: leave `count` out")
    if tolerance is not None and absolute_tolerance is not None:
        raise ValueError("a path has one tolerance: leave `tolerance` or `absolute_tolerance` out")
    if absolute_tolerance is not None:
        wanted = {"absolute_tolerance": number(absolute_tolerance, "absolute_tolerance")}
    else:
        wanted = {"tolerance": number(0.01 if tolerance is None else tolerance, "tolerance")}
    arguments = ((X,) if y is None else (X, y), fit_arguments)
    if over != "lam":
        return grid_path(estimator, over, low, high, count, wanted, arguments)
    ends = [_text("0.1/n" if low is None else low, "low"), _text("100/n" if high is None else high, "high")]

    # `fit` reads the data and says what the problem is; the path solves more than this one.
    runs: list[Any] = []

    def walk(
        structure: str, data: _dualgap.Data, request: dict[str, Any], arrays: dict[str, Any], **_: Any
    ) -> tuple[_dualgap.Model, dict[str, Any]]:
        if structure == "linear" and len(getattr(first, "classes_", ())) > 2:
            raise ValueError(
                f"{type(estimator).__name__} solves a problem for each of more than two classes, and a path is of one: "
                "take MulticlassSVM"
            )
        limits = {name: limit for name, limit in request["limits"].items() if "tolerance" not in name}
        request = {**request, "limits": {**limits, **wanted}}
        watch = first._callback()
        with watch as callback:
            pieces, found, raised = _dualgap.path(
                structure,
                data,
                json.dumps(request, allow_nan=False),
                arrays,
                *ends,
                callback=callback,
            )
        if watch.stopped and found["stop"] == "interrupted":
            found["stop"] = "callback"
        runs.extend([pieces, found, raised])
        if pieces:
            return pieces[0][0], _within(pieces[0][1])
        raise raised or RuntimeError(
            f"the path covers no lam: the model of lam={found['short_of']:g} did not reach the tolerance "
            f"({found['stop'].replace('_', ' ')}): {remedy(found['stop'])}"
        )

    # A tolerance of its own, so that no default of an estimator without one ends the runs; it is replaced by the path's.
    first = clone(estimator).set_params(tolerance=next(iter(wanted.values())))
    fit_with(first, walk, arguments)
    found: dict[str, Any]
    raised: BaseException | None
    models, found, raised = runs
    pieces = []
    for model, report, interval, reach in models:
        lam = model.task["penalty"]["lambda"]
        fitted = clone(estimator).set_params(lam=lam)
        # The run is known; `fit` sets what else a fitted estimator has.
        fit_with(fitted, lambda *_, known=(model, _within(report)), **__: known, arguments)
        pieces.append(PathPiece(lam, interval, fitted.certificate_, fitted, report["passes"], reach))
    result = CertifiedPath(pieces, found, wanted.get("tolerance"), wanted.get("absolute_tolerance"))
    if raised is not None:
        raised.path = result  # type: ignore[union-attr]
        raised.add_note("what was covered by then is the attribute `path` of this exception")
        raise raised
    if found["stop"] not in (None, "callback"):
        warnings.warn(
            f"the path covers lam from {found['from']:g} to {result.high:g}, and ended at lam={found['short_of']:g} "
            f"({found['stop'].replace('_', ' ')}): {remedy(found['stop'])}",
            ConvergenceWarning,
            stacklevel=2,
        )
    return result


def _within(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report of a model of a path: it is within the tolerance of the path, whatever ended its run."""
    return {**report, "stop": "gap_reached", "raised": None}


def _positive(lam: Any) -> float:
    value = number(lam, "lam")
    if value == 0.0:
        raise ValueError("a path has no lam of 0")
    return value


def _text(value: Any, name: str) -> str:
    """Return an end of the interval as the library reads it."""
    value = strength(value, name)
    return value if isinstance(value, str) else repr(value)
