"""Who was near the optimum, and when.

A run of a program is a rung `{"tolerance", "seconds", "value"}`; a run of dualgap has proved bounds besides, `{"lower", "gap"}`, the
gap relative to the value and with rounding included. The optimum P* lies between the largest lower bound and the smallest value that
any program found. Values are judged by

    value - floor <= goal |best|        floor = the lower bound, so that nobody is called near who is not.

A lower bound that is further than TIGHT from the best value would call nobody near. Then the best value is the floor if two programs have
found it independently, and the row says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Rung = dict[str, Any]

#: How near, relative to the optimum. The first is for the generated sets, of which the issue is a pass and one per cent.
GOALS = (1e-2, 1e-3, 1e-4, 1e-6)
#: A lower bound as near as this serves to judge the nearest goal.
TIGHT = 2e-7
#: Rounding of a value that is computed here, relative; a mean of a million numbers has less.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Bracket:
    """What is known about an optimum."""

    lower: float
    best: float
    #: Whether a second program has found the best value.
    agreed: bool = False

    @classmethod
    def of(cls, ours: Iterable[Rung], *others: Iterable[Rung]) -> Bracket:
        """Return the bracket from all runs of a problem, those of other programs each by themselves."""
        ours = list(ours)
        lower = max((rung["lower"] for rung in ours), default=float("-inf"))
        values = sorted(min(rung["value"] for rung in rungs) for rungs in map(list, [ours, *others]) if rungs)
        agreed = len(values) > 1 and values[1] - values[0] <= TIGHT * abs(values[0])
        return cls(lower, values[0] if values else float("inf"), agreed)

    @property
    def is_tight(self) -> bool:
        """Return whether the lower bound can judge all goals."""
        return self.best - self.lower <= TIGHT * abs(self.best)

    @property
    def floor(self) -> float:
        """Return what stands for the optimum."""
        return self.best if self.agreed and not self.is_tight else self.lower

    def above(self, value: float) -> float:
        """Return how far a value is above the optimum, relative."""
        return (value - self.floor) / abs(self.best) if self.best else value - self.floor

    def is_near(self, value: float, goal: float) -> bool:
        """Return whether a value is within a goal."""
        return self.above(value) <= goal

    def contradicts(self, value: float) -> bool:
        """Return whether a value is below what is proved to be a lower bound: then something is wrong with the proof."""
        return value < self.lower - ROUNDING * abs(self.lower) - 1e-15


def fastest(*turns: Iterable[Rung]) -> list[Rung]:
    """Return the runs of several turns: of those with the same tolerance that found the same, the fastest."""
    found: dict[tuple[float | None, float], Rung] = {}
    for rung in itertools.chain(*turns):
        known = found.setdefault((rung["tolerance"], rung["value"]), rung)
        if rung["seconds"] < known["seconds"]:
            found[rung["tolerance"], rung["value"]] = rung
    return list(found.values())


def ladder(rungs: Iterable[Rung]) -> list[Rung]:
    """Return the runs with a tolerance: those without one are of the defaults."""
    return [rung for rung in rungs if rung["tolerance"] is not None]


def default(rungs: Iterable[Rung]) -> Rung | None:
    """Return the fastest run with the defaults, if there is one."""
    return min((rung for rung in rungs if rung["tolerance"] is None), key=lambda rung: rung["seconds"], default=None)


def in_hindsight(rungs: Iterable[Rung], bracket: Bracket, goal: float) -> float | None:
    """Return the seconds of the fastest rung that is near enough, though no user could know it beforehand."""
    return min((rung["seconds"] for rung in rungs if bracket.is_near(rung["value"], goal)), default=None)


def proved(rungs: Iterable[Rung], goal: float) -> float | None:
    """Return the seconds of the fastest run of dualgap that has proved a goal."""
    return min((rung["seconds"] for rung in rungs if rung.get("gap") is not None and rung["gap"] <= goal), default=None)


def is_done(rungs: Iterable[Rung], bracket: Bracket) -> bool:
    """Return whether a program has come as near as anyone asks, so that it need not climb on."""
    return any(bracket.is_near(rung["value"], min(GOALS)) for rung in rungs)
