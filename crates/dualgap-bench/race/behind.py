"""Where dualgap is slower than the fastest peer, and how its seconds divide there; and rows that nobody has solved or measured."""

from __future__ import annotations

from collections.abc import Iterable

from .judge import in_hindsight, ladder
from .layout import lines, times
from .problems import rows_of
from .records import Record
from .rows import COLUMNS, Of, best_peer, bracket, own_seconds, peers, ratio, rungs_of, shares

#: What "nobody solves a row" means.
SOLVED = COLUMNS[0]


def worst(records: Of) -> tuple[float, float] | None:
    """Return the largest ratio above one and its goal; a goal that only a peer reaches counts as infinite."""
    found = []
    for goal in COLUMNS:
        missed = own_seconds(records, goal) is None and best_peer(records, goal) is not None
        found.append((float("inf") if missed else ratio(records, goal) or 0.0, goal))
    largest = max(found, key=lambda pair: pair[0])
    return largest if largest[0] > 1 else None


def behind_table(problems: dict[str, Of]) -> list[str]:
    """Rows that are behind, those of a set and a kind together, with the shares of the run that counts."""
    rows = []
    behind = {name: found for name, records in problems.items() if (found := worst(records))}
    places = {name.rpartition(" ")[0]: place for place, name in reversed(list(enumerate(behind)))}
    for name in sorted(behind, key=lambda name: places[name.rpartition(" ")[0]]):
        times_as_long, goal = behind[name]
        records, peer = problems[name], best_peer(problems[name], goal)
        judge, runs = bracket(records), ladder(rungs_of(records))
        near = [rung for rung in runs if judge.is_near(rung["value"], goal)]
        rung = min(near, key=lambda rung: rung["seconds"]) if near else (runs[-1] if runs else None)
        ours = [f"{rung['passes']:.3g}", *(f"{share:.0%}" for share in shares(rung))] if rung else ["–"] * 4
        told = "not reached" if times_as_long == float("inf") else times(times_as_long)
        rows.append([name, f"{goal:.0e}", told, peer[1] if peer else "–", *ours])
    head = ["problem", "to", "ratio", "best peer", "passes", "solving", "certifying", "neither"]
    words = (
        "Each at the goal with the largest ratio, and the run of dualgap that counts there; where it does not reach the goal, its last run. "
        "Shares are those of its seconds; neither solving nor certifying is, for one, preparing the data."
    )
    return ["### Rows behind", "", words, "", *lines(head, rows)] if rows else []


def open_rows(problems: dict[str, Of]) -> list[str]:
    """Say which rows nobody has solved, which have no peer, and which have not been measured."""
    unsolved = [name for name, records in problems.items() if not any(reached(record, records) for record in records.values())]
    alone = [name for name, records in problems.items() if not peers(records)]
    missing = list(unmeasured(problems))
    out = [f"- Nobody is known to come within {SOLVED:.0e} in the time limit: {listed(unsolved)}."]
    out.append(f"- Without any peer: {listed(alone)}.")
    out.append(f"- Not measured: {listed(missing)}.")
    return out


def reached(record: Record, records: Of) -> bool:
    """Return whether a program has come as near as is called solved."""
    return in_hindsight(ladder(record["rungs"]), bracket(records), SOLVED) is not None


def unmeasured(problems: dict[str, Of]) -> Iterable[str]:
    """Yield the rows of the race that have no record of dualgap, and the sets that have no record at all."""
    from .sets import SOURCES

    sizes = {record["data"]: record["n"] for records in problems.values() for record in records.values() if "n" in record}
    for source in SOURCES:
        if source.name not in sizes:
            yield f"all of {source.name}"
            continue
        for kind, strength in rows_of(source.nature, source.only, sizes[source.name]):
            name = f"{source.name} {kind} {strength}"
            if ("dualgap", 1) not in problems.get(name, {}):
                yield name


def listed(names: list[str]) -> str:
    """Return names in a sentence."""
    return ", ".join(names) if names else "none"
