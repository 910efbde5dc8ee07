"""The judged figures of a race as JSON, for other programs and for the next race, which may leave out peers that were far behind."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from .judge import GOALS, default, in_hindsight, ladder, proved
from .records import Record
from .rows import Of, bracket

Figure = dict[str, Any]


def figures(problems: dict[str, Of]) -> list[Figure]:
    """Return a record for each program and problem."""
    out = []
    for name, records in problems.items():
        judge = bracket(records)
        for (program, threads), record in records.items():
            runs, own = ladder(record["rungs"]), default(record["rungs"])
            judged: Record = {"problem": name, "program": program, "threads": threads, "version": record["version"]}
            judged["seconds"] = {f"{goal:.0e}": in_hindsight(runs, judge, goal) for goal in GOALS}
            if program == "dualgap":
                judged["proved"] = {f"{goal:.0e}": proved(runs, goal) for goal in GOALS}
            judged["default"] = own and {"seconds": own["seconds"], "above": judge.above(own["value"])}
            out.append(judged | {"lower": judge.lower, "best": judge.best, "ended": record["ended"]})
    return out


def read(path: pathlib.Path) -> list[Figure]:
    """Return the figures of an earlier race, none if there was none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def beside_the_fastest(race: list[Figure]) -> list[Figure]:
    """Return the peers of a race, each with how many times as long as the fastest of them it took to every goal it reached.

    Peers of races before that one have this already, and keep it: theirs may have been another machine.
    """
    peers = [figure for figure in race if figure["program"] != "dualgap"]
    fastest: dict[tuple[str, str], float] = {}
    for figure in peers:
        for goal, took in figure["seconds"].items():
            if took is not None and "times" not in figure:
                fastest[figure["problem"], goal] = min(took, fastest.get((figure["problem"], goal), took))

    def times(figure: Figure) -> dict[str, float]:
        return {goal: took / fastest[figure["problem"], goal] for goal, took in figure["seconds"].items() if took is not None}

    return [figure if "times" in figure else figure | {"times": times(figure)} for figure in peers]


def kept(earlier: list[Figure], now: list[Figure]) -> list[Figure]:
    """Return the peers of earlier races that were not run in this one, marked by `earlier`.

    Without them a race of few peers would leave the next one no others to choose from.
    """
    run = {(figure["problem"], figure["program"]) for figure in now}
    others = [figure for figure in beside_the_fastest(earlier) if (figure["problem"], figure["program"]) not in run]
    return [figure | {"earlier": True} for figure in others]


def write(path: pathlib.Path, problems: dict[str, Of]) -> None:
    """Write the figures, and after them those of peers that only earlier races have run."""
    now = figures(problems)
    judged = ",\n".join(json.dumps(figure) for figure in now + kept(read(path), now))
    path.write_text(f"[\n{judged}\n]\n", encoding="utf-8")


def rivals(path: pathlib.Path, near: float) -> dict[str, set[str]]:
    """Return for each problem the peers that took at most so many times the fastest of them to some goal, by the figures of a race.

    A problem on which no peer has reached any goal has no entry, nor has one that the figures do not know: everyone may be its fastest.
    """
    found: dict[str, set[str]] = {}
    for figure in beside_the_fastest(read(path)):
        if figure["times"] and min(figure["times"].values()) <= near:
            found.setdefault(figure["problem"], set()).add(figure["program"])
    return found
