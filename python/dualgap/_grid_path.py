"""Paths over l1 or a radius: a certified model at every number of a grid."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from . import _dualgap
from ._base import _REMEDIES, number, sigma, whole
from ._certificate import Certificate


@dataclass(frozen=True)
class GridPoint:
    """A model of a path over l1 or the radius.

    Attributes
    ----------
    value : float
        The l1 or the radius that the model was trained with.
    certificate : Certificate
        Its certificate.
    estimator : object
        The fitted estimator.
    passes : float
        Passes over the data that the model took.
    """

    value: float
    certificate: Certificate
    estimator: Any = field(repr=False)
    passes: float

    @property
    def interval(self) -> tuple[float, float]:
        """The value twice: nothing is proven beside it."""
        return (self.value, self.value)

    @property
    def model(self) -> _dualgap.Model:
        """The model of the library."""
        return self.estimator.model_

    @property
    def coef(self) -> np.ndarray:
        """The weights."""
        return self.estimator.coef_

    @property
    def nonzero(self) -> int:
        """The number of weights that are not zero, without the intercept."""
        return int(np.count_nonzero(self.coef))


class GridPath(Sequence[GridPoint]):
    """A certified model at every l1 or radius of a grid, the simplest first; made by :func:`path`.

    Attributes
    ----------
    over : str
        ``"l1"`` or ``"radius"``.
    tolerance, absolute_tolerance : float or None
        The gap that every model has at most: one of the two.
    stop : str or None
        Why the path ended before the end of the grid, or None.
    """

    def __init__(
        self,
        points: list[GridPoint],
        over: str,
        stop: str | None,
        tolerance: float | None,
        absolute_tolerance: float | None,
    ) -> None:
        self._points = points
        self.over = over
        self.stop = stop
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance

    def __len__(self) -> int:
        return len(self._points)

    @overload
    def __getitem__(self, index: int) -> GridPoint: ...

    @overload
    def __getitem__(self, index: slice) -> list[GridPoint]: ...

    def __getitem__(self, index: int | slice) -> GridPoint | list[GridPoint]:
        return self._points[index]

    def __iter__(self) -> Iterator[GridPoint]:
        return iter(self._points)

    @property
    def values(self) -> np.ndarray:
        """The l1 or the radii of the models."""
        return np.array([point.value for point in self])

    @property
    def passes(self) -> float:
        """Passes over the data, of all models."""
        return sum(point.passes for point in self)

    def to_dict(self) -> dict[str, list[float]]:
        """Return a table as columns: one row for each model.

        Returns
        -------
        columns : dict of lists
            ``l1`` or ``radius``; ``primal`` and ``dual``; ``gap``, the proven relative gap; ``nonzero``, the number of
            weights that are not zero; ``passes``.
        """
        return {
            self.over: [point.value for point in self],
            "primal": [point.certificate.primal for point in self],
            "dual": [point.certificate.dual for point in self],
            "gap": [point.certificate.relative_gap for point in self],
            "nonzero": [point.nonzero for point in self],
            "passes": [point.passes for point in self],
        }

    def __repr__(self) -> str:
        models = f"{len(self)} models" if len(self) > 1 else "1 model"
        return f"<GridPath: {models} for {self.over} from {self[0].value:g} to {self[-1].value:g}>"


def grid_path(
    estimator: Any,
    over: str,
    low: Any,
    high: Any,
    count: int | None,
    wanted: dict[str, float],
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
) -> GridPath:
    """Train a model at every l1 or radius of a grid."""
    if (low is None) != (high is None):
        raise ValueError("a grid has two ends: give both `low` and `high`, or neither")
    check = sigma if over == "l1" else number
    ends = [check(high, "high"), check(low, "low")] if low is not None else []
    if over == "radius":
        ends.reverse()
    if count is not None and not ends:
        if over == "radius":
            raise ValueError("give `low` and `high` with a `count` of radii")
        ends = ["1max", "0.001max"]
    texts = [end if isinstance(end, str) else repr(end) for end in ends]
    number_of = {"l1": 13, "radius": 9}[over] if count is None else whole(count, "count")
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
        request = {**request, "limits": {**limits, **wanted}, "auto": None}
        watch = first._callback()
        with watch as callback:
            models, stop, raised = _dualgap.grid_path(
                structure,
                data,
                json.dumps(request, allow_nan=False),
                arrays,
                over,
                texts,
                count=number_of if texts else None,
                callback=callback,
            )
        if watch.stopped and stop == "interrupted":
            stop = "callback"
        runs.extend([models, stop, raised])
        if models:
            return models[0][0], {**models[0][1], "raised": None}
        raise raised or RuntimeError(f"the path ended before its first model ({str(stop).replace('_', ' ')})")

    # Any number will do for the first request, and `auto` is one that stands for none.
    # A tolerance of its own, so that no default of an estimator without one ends the runs; it is replaced by the path's.
    first = clone(estimator).set_params(**{over: "auto", "tolerance": next(iter(wanted.values()))})
    fit_with(first, walk, arguments)
    stop: str | None
    raised: BaseException | None
    models, stop, raised = runs
    points = []
    for model, report in models:
        value = _value(model.task["penalty"], over)
        fitted = clone(estimator).set_params(**{over: value})
        fit_with(fitted, lambda *_, known=(model, {**report, "raised": None}), **__: known, arguments)
        points.append(GridPoint(value, fitted.certificate_, fitted, report["passes"]))
    result = GridPath(points, over, stop, wanted.get("tolerance"), wanted.get("absolute_tolerance"))
    if raised is not None:
        raised.path = result  # type: ignore[union-attr]
        raised.add_note("what was trained by then is the attribute `path` of this exception")
        raise raised
    if stop not in (None, "callback"):
        warnings.warn(
            f"the path ended after {len(points)} models ({stop.replace('_', ' ')}): {remedy(stop)}",
            ConvergenceWarning,
            stacklevel=3,
        )
    return result


def _value(penalty: dict[str, Any], over: str) -> float:
    """Return the l1 or the radius of a penalty as a model has it."""
    if over == "radius":
        return penalty["ball"]["radius"]
    return penalty["sigma"] if penalty["name"] == "lasso" else penalty["l1"]


def fit_with(estimator: Any, solve: Any, arguments: tuple[tuple[Any, ...], dict[str, Any]]) -> None:
    """Fit an estimator, where another function solves its problem."""
    data, others = arguments
    estimator._solve = solve
    try:
        estimator.fit(*data, **others)
    finally:
        del estimator._solve


def remedy(stop: str) -> str:
    """Return what to do about a path that ended early."""
    return _REMEDIES.get(stop, "take a larger `tolerance`")
