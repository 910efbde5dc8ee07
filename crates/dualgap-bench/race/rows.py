"""What the records of one row of the race say, a row being a problem: its bracket, the fastest run and the fastest peer."""

from __future__ import annotations

from typing import Any

from .judge import GOALS, Bracket, Rung, default, in_hindsight, ladder
from .records import Record

#: The goals that have columns.
COLUMNS = GOALS[1:]

#: The records of a row by program and threads.
Of = dict[tuple[str, int], Record]


def bracket(records: Of) -> Bracket:
    """Return what all records of a row say about its optimum."""
    own = [rung for (program, _), record in records.items() if program == "dualgap" for rung in record["rungs"]]
    return Bracket.of(own, *(record["rungs"] for (program, _), record in records.items() if program != "dualgap"))


def peers(records: Of) -> dict[str, Record]:
    """Return the records of the other programs; they are run on one thread."""
    return {program: record for (program, _), record in records.items() if program != "dualgap"}


def best_peer(records: Of, goal: float) -> tuple[float, str] | None:
    """Return seconds and name of the fastest peer that came within a goal."""
    judge = bracket(records)
    found = []
    for program, record in peers(records).items():
        seconds = in_hindsight(ladder(record["rungs"]), judge, goal)
        if seconds is not None:
            found.append((seconds, program))
    return min(found, default=None)


def rungs_of(records: Of, threads: int = 1) -> list[Rung]:
    """Return the runs of dualgap."""
    return records.get(("dualgap", threads), {"rungs": []})["rungs"]


def own_seconds(records: Of, goal: float, threads: int = 1) -> float | None:
    """Return the seconds of dualgap's fastest run that came within a goal."""
    return in_hindsight(ladder(rungs_of(records, threads)), bracket(records), goal)


def ratio(records: Of, goal: float, threads: int = 1) -> float | None:
    """Return our seconds over those of the best peer; above one is slower."""
    own, peer = own_seconds(records, goal, threads), best_peer(records, goal)
    return own / peer[0] if own is not None and peer is not None else None


def defaults(records: Of) -> dict[str, tuple[float, float]]:
    """Return seconds, and distance above the optimum, of the run with the defaults of each program on one thread."""
    judge = bracket(records)
    found = {}
    for (program, threads), record in records.items():
        rung = default(record["rungs"])
        if rung and threads == 1:
            found[program] = rung["seconds"], judge.above(rung["value"])
    return found


def shares(rung: dict[str, Any]) -> tuple[float, float, float]:
    """Return which shares of a run of dualgap were solving, certifying, and neither, such as preparing the data."""
    # The seconds of a run beside other work are those of the processor, which may be fewer than its two parts on the clock.
    whole = max(rung["seconds"], rung["solve"] + rung["certify"])
    solve, certify = rung["solve"] / whole, rung["certify"] / whole
    return solve, certify, 1 - solve - certify
