"""Seconds a pass, of dualgap and LIBLINEAR, and to one per cent, on the generated sparse sets."""

from __future__ import annotations

from collections.abc import Iterable

from .judge import Rung, in_hindsight, ladder, proved
from .layout import factor, lines, seconds
from .rows import Of, bracket, rungs_of, shares

LIBLINEAR = "LIBLINEAR -s 3, dual"
#: What is asked of a pass over a million rows.
ASKED = 5.0


def fewest(rungs: Iterable[Rung], count: str) -> Rung | None:
    """Return the run with the fewest passes, in which the fewest examples were left out: late passes of both programs visit few."""
    return min((rung for rung in rungs if rung.get(count)), key=lambda rung: (rung[count], rung["seconds"]), default=None)


def own_pass(records: Of) -> tuple[float, float] | None:
    """Return passes of dualgap, and seconds of each without certificates; preparing the data is a part of them."""
    rung = fewest(rungs_of(records), "passes")
    return (rung["passes"], rung["seconds"] * (1 - shares(rung)[1]) / rung["passes"]) if rung else None


def their_pass(records: Of) -> tuple[float, float] | None:
    """Return iterations of LIBLINEAR, and seconds of each; preparing the data is a part of them."""
    rung = fewest(records.get((LIBLINEAR, 1), {"rungs": []})["rungs"], "iterations")
    return (rung["iterations"], rung["seconds"] / rung["iterations"]) if rung else None


def passes_table(problems: dict[str, Of]) -> list[str]:
    """Both programs on the sets whose rows are scattered over more weights than a cache holds."""
    rows, reached = [], []
    for name, records in problems.items():
        own, theirs = own_pass(records), their_pass(records)
        if not name.startswith("scattered") or not own or not theirs:
            continue
        reached.append((theirs[1] / own[1], name))
        near = in_hindsight(ladder(records[LIBLINEAR, 1]["rungs"]), bracket(records), 1e-2)
        cells = [f"{each:.0f}, {seconds(took)} each" for each, took in (own, theirs)]
        rows.append([name, *cells, factor(theirs[1] / own[1]), seconds(proved(ladder(rungs_of(records)), 1e-2)), seconds(near)])
    if not rows:
        return []
    head = ["problem", "dualgap, passes", "LIBLINEAR, iterations", "times as fast", "dualgap, 1 % proved", "LIBLINEAR within 1 %"]
    words = (
        "Of each program the run with the fewest passes, because later ones leave out most examples. Preparing the data is counted in both, "
        f"certificates are not. {verdict(reached)}"
    )
    return ["### A pass", "", words, "", *lines(head, rows)]


def verdict(reached: list[tuple[float, str]]) -> str:
    """Say whether a pass is as fast as asked."""
    enough = sum(times >= ASKED for times, _ in reached)
    told = f"reached in {enough} of {len(reached)} rows" if enough else "not reached"
    return f"{ASKED:g} times as fast is {told}: a pass is {min(reached)[0]:.2f} to {max(reached)[0]:.2f} times as fast."
