"""The tables of docs/race.md, from the records alone, between two markers; the words around them are written by hand."""

from __future__ import annotations

import pathlib
import platform

from . import figures
from .behind import behind_table, open_rows
from .defaults import defaults_table
from .judge import default, in_hindsight, ladder, proved
from .layout import factor, lines, middle, seconds, times
from .passes import passes_table
from .records import Record, Records
from .rows import COLUMNS, Of, best_peer, bracket, own_seconds, ratio, rungs_of
from .threads import threads_table

BEGIN, END = "<!-- race: begin -->", "<!-- race: end -->"


def race_table(problems: dict[str, Of]) -> list[str]:
    """Ours, the best peer, and their ratio, for every problem and goal."""
    head = ["problem"]
    for goal in COLUMNS:
        head += [f"dualgap to {goal:.0e}", "proved", "best peer", "ratio"]
    rows = []
    for name, records in problems.items():
        judge = bracket(records)
        row = [name + ("" if judge.is_tight else " *")]
        for goal in COLUMNS:
            peer = best_peer(records, goal)
            row += [seconds(own_seconds(records, goal)), seconds(proved(ladder(rungs_of(records)), goal))]
            row += [f"{seconds(peer[0])}, {peer[1]}" if peer else "–", times(ratio(records, goal))]
        rows.append(row)
    return lines(head, rows)


def summary(problems: dict[str, Of]) -> list[str]:
    """How many rows are ahead, and which are furthest behind."""
    out = []
    for goal in COLUMNS:
        ratios = {name: ratio(records, goal) for name, records in problems.items()}
        known = sorted((number, name) for name, number in ratios.items() if number is not None)
        ahead = sum(number <= 1 for number, _ in known)
        peer_only = [name for name, r in problems.items() if ratios[name] is None and best_peer(r, goal)]
        median = middle(number for number, _ in known)
        out.append(f"- To {goal:.0e}: ahead in {ahead} of {len(known)} rows that both reach; the median ratio is {median}.")
        if known and known[-1][0] > 1:
            worst = [f"{name} ({number:.3g})" for number, name in reversed(known[-8:]) if number > 1]
            out.append(f"  Furthest behind: {', '.join(worst)}.")
        if peer_only:
            out.append(f"  Reached by a peer and not by dualgap: {', '.join(peer_only)}.")
    below = [
        f"{name}, {program}"
        for name, records in problems.items()
        for (program, _), record in records.items()
        if any(bracket(records).contradicts(rung["value"]) for rung in record["rungs"])
    ]
    out.append(f"- **Below a certified bound: {'; '.join(below)}.**" if below else "- No value is below a certified bound.")
    return [*out, *open_rows(problems), ""]


def everyone(problems: dict[str, Of]) -> list[str]:
    """Every program that was run on a problem, with how it ended."""
    rows = []
    for name, records in problems.items():
        judge = bracket(records)
        for (program, threads), record in records.items():
            if threads > 1:
                continue
            rungs = ladder(record["rungs"])
            cells = [seconds(in_hindsight(rungs, judge, goal)) for goal in COLUMNS]
            near = min((judge.above(rung["value"]) for rung in rungs), default=None)
            own = default(record["rungs"])
            told = f"{seconds(own['seconds'])}, {judge.above(own['value']):.0e}" if own else "–"
            ended = "" if record["ended"] == "finished" else record["ended"].replace("|", "/")[:80]
            rows.append([name, program, *cells, "–" if near is None else f"{max(near, 0):.0e}", told, ended])
    head = ["problem", "program", *[f"to {goal:.0e}" for goal in COLUMNS], "nearest", "by default", "ended by"]
    return lines(head, rows)


def versions(problems: dict[str, Of]) -> list[str]:
    """The machine, the versions, and a command of every program."""
    found: dict[str, Record] = {}
    for records in problems.values():
        for (program, _), record in records.items():
            if record["command"]:
                found.setdefault(f"{program} {record['version']}", record)
    dates = sorted({record.get("date", "") for records in problems.values() for record in records.values()})
    cpu = next((line.split(":")[1].strip() for line in cpuinfo() if line.startswith("model name")), platform.processor())
    out = [f"Measured {dates[0]} to {dates[-1]} on {cpu}, Python {platform.python_version()}."] if dates else []
    limits = sorted({record["limit"] for records in problems.values() for record in records.values() if "limit" in record})
    out += [f"Limits of a run: {', '.join(seconds(float(limit)) for limit in limits)}."] if limits else []
    rows = [[name, f"`{shortened(record['command'])}`"] for name, record in sorted(found.items())]
    return [*out, "", *lines(["program and version", "command, of its first problem"], rows)]


def shortened(command: str) -> str:
    """Return a command without the folders of this machine."""
    return " ".join(word.rsplit("/", 1)[-1] if word.startswith("/") else word for word in command.split())


def cpuinfo() -> list[str]:
    """Return what Linux says about the processor."""
    path = pathlib.Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else []


def text(problems: dict[str, Of]) -> str:
    """Return all tables."""
    parts = ["### Summary", "", *summary(problems), "### Seconds to the optimum", "", *race_table(problems)]
    if any(not bracket(records).is_tight for records in problems.values()):
        parts += ["\\* The certificate does not bracket this optimum closely: a value that two programs found judges, if there is one.", ""]
    parts += [*behind_table(problems), *threads_table(problems), *passes_table(problems), *defaults_table(problems)]
    parts += ["### Everyone who was run", "", *everyone(problems), "### Versions and commands", "", *versions(problems)]
    return "\n".join(parts)


def comparison(before: Records, after: Records) -> list[str]:
    """Return dualgap of two files of records side by side, and how many times as fast it has become."""
    old, rows = before.newest(), []
    for name, records in in_order(after.newest()).items():
        if ("dualgap", 1) not in records or ("dualgap", 1) not in old.get(name, {}):
            continue
        judge = bracket(records | {("before", 1): old[name]["dualgap", 1]})
        row = [name]
        for goal in COLUMNS:
            was, now = (in_hindsight(ladder(rungs_of(of)), judge, goal) for of in (old[name], records))
            row += [seconds(was), seconds(now), factor(was / now if was and now else None), times(ratio(records, goal))]
        rows.append(row)
    head = ["problem"] + [text for goal in COLUMNS for text in (f"before, to {goal:.0e}", "now", "times as fast", "of the best peer")]
    return lines(head, rows)


def write(page: pathlib.Path, records: Records) -> None:
    """Put the tables between the markers of a page, and the figures into a JSON file beside it."""
    problems = in_order(records.newest())
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{text(problems)}\n{END}{after}", encoding="utf-8")
    figures.write(page.with_suffix(".json"), problems)


def in_order(problems: dict[str, Of]) -> dict[str, Of]:
    """Return the problems in the order of the sets, whenever they were measured."""
    from .sets import SOURCES

    places = {source.name: place for place, source in enumerate(SOURCES)}
    return dict(sorted(problems.items(), key=lambda item: places.get(item[0].split()[0], len(places))))
