"""Run the race: every problem by dualgap and by all peers that solve it, one after the other, and write the tables.

    python -m race --data DIR [--only REGEX]        with crates/dualgap-bench on PYTHONPATH; `make race` does all of it

What has been measured is skipped, so a race that was interrupted goes on where it was. Peers are measured once for each of their
versions, dualgap once for each build.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy looks

import argparse
import itertools
import pathlib
import re
import sys
import time
from collections.abc import Iterator

from . import climb, figures, ours, sets, table
from .judge import GOALS, Bracket, fastest, in_hindsight, ladder
from .peers import peers_of
from .problems import KINDS, Problem, problems_of, value
from .records import Key, Record, Records, key
from .rows import bracket

ROOT = pathlib.Path(__file__).resolve().parents[3]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
#: The value of a report and the value computed here differ by rounding only.
SAME = 1e-9
#: Everyone has so many turns on a problem, one after the other, if the first turn of all has taken so many seconds at most. The speed of a
#: shared machine changes from one second to the next, and repeats one soon after the other are all fast or all slow.
TURNS, BRIEF = 3, 8.0


def parsed() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="race", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program = os.environ.get("DUALGAP_PROGRAM", str(TARGET / "release" / "dualgap"))
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder of the data sets")
    parser.add_argument("--only", default="", help="only problems whose name has a match of this, such as '^a9a hinge'")
    parser.add_argument("--peers", default="", help="only peers whose name has a match of this; '^$' for none")
    parser.add_argument("--near", type=float, help="only peers that took at most so many times the fastest to some goal, by --figures")
    parser.add_argument("--figures", type=pathlib.Path, default=ROOT / "docs" / "race.json", help="the figures of an earlier race (%(default)s)")
    parser.add_argument("--program", type=pathlib.Path, default=program, help="dualgap, also DUALGAP_PROGRAM (%(default)s)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a run (60)")
    parser.add_argument("--patience", type=float, default=10.0, help="a peer's run ends after so many times the fastest to 1e-6 (10)")
    parser.add_argument("--threads", type=int, default=1, help="run dualgap once more with so many threads (1: not)")
    parser.add_argument("--again", action="store_true", help="measure dualgap again, though this build has been measured")
    parser.add_argument("--records", type=pathlib.Path, default=TARGET / "race" / "records.jsonl", help="(%(default)s)")
    parser.add_argument("--page", type=pathlib.Path, help="write the tables into this page, between its two markers")
    parser.add_argument("--compare", type=pathlib.Path, help="print dualgap of these records beside that of --records, and end")
    parser.add_argument("--list", action="store_true", help="print the names of the problems, and end")
    return parser.parse_args()


def wanted(source: sets.Source, only: str) -> bool:
    """Return whether any problem of a set may be meant, before its data are read."""
    strengths = ("10/n", "1/n", "1e-4", "0.1max", "0.01max")
    kinds = source.only or KINDS[source.nature]
    return any(re.search(only, f"{source.name} {kind} {words}") for kind, words in itertools.product(kinds, strengths))


def chosen(options: argparse.Namespace) -> Iterator[tuple[sets.Set, Problem]]:
    """Yield the problems that are meant, set by set."""
    for source in sets.SOURCES:
        if wanted(source, options.only):
            data = sets.load(source, options.data, TARGET / "race" / "data")
            for problem in problems_of(data):
                if re.search(options.only, problem.name):
                    yield data, problem


def facts(data: sets.Set, problem: Problem) -> Record:
    """Return what every record says about its problem."""
    of_problem = {"lambda": problem.lam, "l1": problem.l1, "kind": problem.kind, "data": data.name}
    of_data = {"n": data.n, "d": data.d, "nonzeros": int(data.X.nnz), "classes": len(data.classes) if data.nature == "multiclass" else 1}
    return {"problem": problem.name, **of_problem, **of_data, "date": time.strftime("%Y-%m-%d")}


class Race:
    """The program, the records, and what must not happen."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Look at the program and at what has been measured."""
        self.options = options
        self.records = Records(options.records)
        self.program = ours.Program(options.program)
        self.version = self.program.version()
        self.rivals = None if options.near is None else figures.rivals(options.figures, options.near)
        self.alarms: list[str] = []
        #: What is measured in turns: all that had not been measured before the first one.
        self.measured: set[Key] = set()
        self.turn = 0

    def row(self, data: sets.Set, problem: Problem) -> None:
        """Measure everyone on a problem."""
        self.measured.clear()
        begin = time.monotonic()
        for self.turn in range(TURNS):
            self.own(data, problem, 1)
            self.others(data, problem)
            if self.options.threads > 1:
                self.own(data, problem, self.options.threads)
            if not self.measured or time.monotonic() - begin > BRIEF * (self.turn + 1):
                break

    def is_due(self, key: Key, again: bool = False) -> bool:
        """Return whether something is to be measured in this turn."""
        return key in self.measured if self.turn else again or key not in self.records

    def add(self, record: Record) -> None:
        """Keep a record, of several turns the fastest runs."""
        if self.turn:
            record["rungs"] = fastest(self.records.by_key[key(record)]["rungs"], record["rungs"])
        self.measured.add(key(record))
        self.records.add(record)
        self.say(record)

    def own(self, data: sets.Set, problem: Problem, threads: int) -> None:
        """Measure dualgap, unless this build has been; check that its values are those of its weights."""
        limit = self.options.limit
        if not self.is_due((problem.name, "dualgap", threads, self.version), self.options.again):
            return
        rungs, ended = ours.climb(self.program, data, problem, limit, threads)
        record = facts(data, problem) | {"program": "dualgap", "version": self.version, "threads": threads}
        command = " ".join(self.program.command(data, problem, None, threads)[1:-2])
        record |= {"command": f"dualgap {command} --tolerance T", "rungs": rungs, "ended": ended, "limit": limit}
        if rungs and threads == 1 and not self.turn:
            try:
                w, claimed, rounding = ours.weights(self.program, data, problem, 1e-2, TARGET / "race", limit)
                # Sums that cancel round as much here as there.
                record["checked"] = max(0.0, abs(value(data, problem, w) - claimed) - rounding) / abs(claimed)
            except (OSError, ValueError, KeyError) as error:
                self.alarms.append(f"{problem.name}: the weights cannot be checked: {error!r}")
            if record.get("checked", 0.0) > SAME:
                self.alarms.append(f"{problem.name}: the value of the report is off by {record['checked']:.1e}")
        self.add(record)

    def others(self, data: sets.Set, problem: Problem) -> None:
        """Measure the peers that have not been."""
        for peer in peers_of(problem):
            if not re.search(self.options.peers, peer.name):
                continue
            # A problem that the earlier race does not know, or on which no peer reached a goal, is run by everyone.
            if self.rivals and peer.name not in self.rivals.get(problem.name, {peer.name}):
                continue
            if not self.is_due((problem.name, peer.name, 1, peer.version())):
                continue
            limits = self.options.limit, self.ladder_limit(problem)
            rungs, ended, command = climb.rungs(peer, data, problem, self.judge(problem), *limits)
            record = facts(data, problem) | {"program": peer.name, "version": peer.version(), "threads": 1}
            record |= {"command": command, "rungs": rungs, "ended": ended, "limit": self.options.limit}
            self.add(record)

    def judge(self, problem: Problem) -> Bracket:
        """Return the bracket that says whether a peer may stop climbing, by our certificates alone."""
        own = self.records.newest(self.version).get(problem.name, {}).get(("dualgap", 1), {"rungs": []})
        return Bracket.of(own["rungs"])

    def ladder_limit(self, problem: Problem) -> float:
        """Return how long a run may take so that it can still be among the fastest: hours go into those that cannot."""
        of = self.records.newest(self.version).get(problem.name, {})
        known = [in_hindsight(ladder(record["rungs"]), bracket(of), GOALS[-1]) for record in of.values()]
        fastest = min((seconds for seconds in known if seconds is not None), default=float("inf"))
        return min(self.options.limit, max(1.0, self.options.patience * fastest))

    def say(self, record: Record) -> None:
        """Print a line about a record, and notice a value below a proved bound."""
        judge = bracket(self.records.newest(self.version)[record["problem"]])
        cells = [in_hindsight(ladder(record["rungs"]), judge, goal) for goal in GOALS[1:]]
        words = " ".join("-" if cell is None else f"{cell:.3g}" for cell in cells)
        threads = "" if record["threads"] == 1 else f", {record['threads']} threads"
        print(f"{record['problem']:<40} {record['program'] + threads:<46} {words:<24} {record['ended']}", flush=True)
        for rung in record["rungs"]:
            if judge.contradicts(rung["value"]):
                self.alarms.append(f"{record['problem']}: {record['program']} is below the proved bound: {rung['value']!r}")
                print("ALARM", self.alarms[-1], flush=True)
                break


def main() -> int:
    """Run what is asked for."""
    options = parsed()
    if options.list:
        for _, problem in chosen(options):
            print(problem.name)
        return 0
    if options.compare:
        print("\n".join(table.comparison(Records(options.compare), Records(options.records))))
        return 0
    race = Race(options)
    for data, problem in chosen(options):
        race.row(data, problem)
    if options.page:
        table.write(options.page, race.records)
    for alarm in race.alarms:
        print("ALARM", alarm, file=sys.stderr)
    return 1 if race.alarms else 0


if __name__ == "__main__":
    sys.exit(main())
