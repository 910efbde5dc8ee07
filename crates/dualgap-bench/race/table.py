"""The tables of docs/race.md, from the records alone, between two markers; the words around them are written by hand."""

from __future__ import annotations

import json
import pathlib
import platform
from collections.abc import Iterable
from typing import Any

from .judge import GOALS, Bracket, default, in_hindsight, ladder, proved
from .records import Record, Records

BEGIN, END = "<!-- race: begin -->", "<!-- race: end -->"
#: The goals that have columns.
COLUMNS = GOALS[1:]
#: A default that leaves more than this is no rival: ours promises it.
PROMISED = 1e-2

#: The records of a problem by program and threads.
Of = dict[tuple[str, int], Record]


def bracket(records: Of) -> Bracket:
    """Return what all records of a problem say about its optimum."""
    own = [rung for (program, _), record in records.items() if program == "dualgap" for rung in record["rungs"]]
    return Bracket.of(own, *(record["rungs"] for (program, _), record in records.items() if program != "dualgap"))


def best_peer(records: Of, goal: float) -> tuple[float, str] | None:
    """Return seconds and name of the fastest peer that came within a goal."""
    judge = bracket(records)
    found = []
    for (program, _), record in records.items():
        seconds = in_hindsight(ladder(record["rungs"]), judge, goal)
        if program != "dualgap" and seconds is not None:
            found.append((seconds, program))
    return min(found, default=None)


def rungs_of(records: Of, threads: int = 1) -> list[dict[str, Any]]:
    """Return the runs of dualgap."""
    return records.get(("dualgap", threads), {"rungs": []})["rungs"]


def ratio(records: Of, goal: float, threads: int = 1) -> float | None:
    """Return our seconds over those of the best peer; above one is slower."""
    own = in_hindsight(ladder(rungs_of(records, threads)), bracket(records), goal)
    peer = best_peer(records, goal)
    return own / peer[0] if own is not None and peer is not None else None


def seconds(number: float | None) -> str:
    """Return seconds with three digits, or a dash for a run that did not get there."""
    if number is None:
        return "–"
    return f"{number * 1e3:.3g} ms" if number < 1 else f"{number:.3g} s"


def times(number: float | None) -> str:
    """Return a ratio; those that fall behind are bold."""
    if number is None:
        return "–"
    text = f"{number:.2f}" if number < 10 else f"{number:.0f}"
    return f"**{text}**" if number > 1 else text


def lines(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Return a table whose first column has words and all others numbers."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return ["| " + " | ".join(row) + " |" for row in [head, rule, *rows]] + [""]


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
            row += [seconds(in_hindsight(ladder(rungs_of(records)), judge, goal)), seconds(proved(ladder(rungs_of(records)), goal))]
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
        median = f"{known[len(known) // 2][0]:.2f}" if known else "unknown"
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
    return [*out, ""]


def threads_table(problems: dict[str, Of]) -> list[str]:
    """Ours on several threads, and how many times as fast as the best peer on one."""
    rows = []
    for name, records in problems.items():
        for program, threads in records:
            if program == "dualgap" and threads > 1:
                row = [f"{name}, {threads} threads"]
                for goal in COLUMNS:
                    share = ratio(records, goal, threads)
                    took = in_hindsight(ladder(rungs_of(records, threads)), bracket(records), goal)
                    row += [seconds(took), "–" if share is None else f"{1 / share:.2f}"]
                rows.append(row)
    head = ["problem"] + [text for goal in COLUMNS for text in (f"to {goal:.0e}", "times as fast as the best peer")]
    return ["### On more than one thread", "", *lines(head, rows)] if rows else []


def defaults_table(problems: dict[str, Of]) -> list[str]:
    """The default tolerance of each program, on the problem as it is."""
    rows = []
    for name, records in problems.items():
        judge, own = bracket(records), default(rungs_of(records))
        rivals = []
        for (program, _), record in records.items():
            rung = default(record["rungs"])
            if program != "dualgap" and rung and judge.is_near(rung["value"], PROMISED):
                rivals.append((rung["seconds"], program, rung["value"]))
        rival = min(rivals, default=None)
        ours = [seconds(own["seconds"]), f"{judge.above(own['value']):.1e}"] if own else ["–", "–"]
        theirs = [f"{seconds(rival[0])}, {rival[1]}", f"{judge.above(rival[2]):.1e}"] if rival else ["–", "–"]
        share = own["seconds"] / rival[0] if own and rival else None
        rows.append([name, *ours, *theirs, times(share)])
    return lines(["problem", "dualgap", "above the optimum", "fastest peer", "above the optimum", "ratio"], rows)


def passes_table(problems: dict[str, Of]) -> list[str]:
    """Seconds a pass, of dualgap and LIBLINEAR, and to one per cent, on the generated sparse sets."""
    rows = []
    for name, records in problems.items():
        rival = records.get(("LIBLINEAR -s 3, dual", 1))
        if not name.startswith("scattered") or not rival:
            continue
        own = [rung for rung in ladder(rungs_of(records)) if rung["passes"]]
        theirs = [rung for rung in rival["rungs"] if rung.get("iterations")]
        a_pass = min((rung["seconds"] * solving(rung) / rung["passes"] for rung in own), default=None)
        iteration = min((rung["seconds"] / rung["iterations"] for rung in theirs), default=None)
        share = iteration / a_pass if a_pass and iteration else None
        near = in_hindsight(ladder(rival["rungs"]), bracket(records), 1e-2)
        row = [name, seconds(a_pass), seconds(iteration), "–" if share is None else f"{share:.2f}"]
        rows.append([*row, seconds(proved(ladder(rungs_of(records)), 1e-2)), seconds(near)])
    head = ["problem", "dualgap, a pass", "LIBLINEAR, an iteration", "times as fast", "dualgap, 1 % proved", "LIBLINEAR within 1 %"]
    return ["### A pass", "", *lines(head, rows)] if rows else []


def solving(rung: dict[str, Any]) -> float:
    """Return the share of a run of dualgap that is not certifying."""
    return rung["solve"] / (rung["solve"] + rung["certify"])


def everyone(problems: dict[str, Of]) -> list[str]:
    """Every program on every problem, with how it ended."""
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
    parts += [*threads_table(problems), *passes_table(problems), "### Defaults", "", *defaults_table(problems)]
    parts += ["### Everyone", "", *everyone(problems), "### Versions and commands", "", *versions(problems)]
    return "\n".join(parts)


def figures(problems: dict[str, Of]) -> list[dict[str, Any]]:
    """Return the judged figures for other programs, a record for each program and problem."""
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


def rivals(path: pathlib.Path, near: float) -> dict[str, set[str]]:
    """Return for each problem the peers that took at most so many times the fastest of them to some goal, by the figures of a race."""
    entries = [entry for entry in json.loads(path.read_text(encoding="utf-8")) if entry["program"] != "dualgap"]
    found: dict[str, set[str]] = {}
    for problem, goal in {(entry["problem"], f"{goal:.0e}") for entry in entries for goal in GOALS}:
        took = {entry["program"]: entry["seconds"][goal] for entry in entries if entry["problem"] == problem}
        known = {program: seconds for program, seconds in took.items() if seconds is not None}
        of_problem = found.setdefault(problem, set())
        of_problem |= {program for program, seconds in known.items() if seconds <= near * min(known.values())}
    return found


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
            row += [seconds(was), seconds(now), f"{was / now:.2f}" if was and now else "–", times(ratio(records, goal))]
        rows.append(row)
    head = ["problem"] + [text for goal in COLUMNS for text in (f"before, to {goal:.0e}", "now", "times as fast", "of the best peer")]
    return lines(head, rows)


def write(page: pathlib.Path, records: Records) -> None:
    """Put the tables between the markers of a page, and the figures into a JSON file beside it."""
    problems = in_order(records.newest())
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n\n{text(problems)}\n{END}{after}", encoding="utf-8")
    judged = ",\n".join(json.dumps(figure) for figure in figures(problems))
    page.with_suffix(".json").write_text(f"[\n{judged}\n]\n", encoding="utf-8")


def in_order(problems: dict[str, Of]) -> dict[str, Of]:
    """Return the problems in the order of the sets, whenever they were measured."""
    from .sets import SOURCES

    places = {source.name: place for place, source in enumerate(SOURCES)}
    return dict(sorted(problems.items(), key=lambda item: places.get(item[0].split()[0], len(places))))
