"""What more cores of one machine would give: a model of every phase of a run, from counted instructions and memory traffic.

    cargo build --release --locked --package dualgap-cli
    python3 crates/dualgap-bench/cores.py --data DIR [--only REGEX] [--page docs/cores.md] [--json cores.json]

A run reads, steps (`solve`) and certifies. callgrind counts the instructions of each phase on one thread, and how many of them are
inside of what the library hands out to the threads of a pool (`linalg/parallel.rs`); its simulated
cache, as large as the own cache of a core, counts the lines that come from beyond it. With the parts m that the work is handed out in,

    T(p) = max( t1 (s + (1 − s) ceil(m/p)/m),  lines · 64 bytes / B(p) )

where t1 are the seconds on one thread, s is the serial share of the instructions, and B(p) the bandwidth of a machine with p cores.
The seconds on one and on two threads are measured (the best of a few runs), and so is the bandwidth of this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: The functions of a phase, by the names that the linker knows; and the seconds of the report.
PHASES = {
    "read": (re.compile(r"dualgap_cli3job.*4read17h"), "read_seconds"),
    "solve": (re.compile(r"run\.\.train\.\.Drive\$GT\$7advance"), "solve_seconds"),
    "certify": (re.compile(r"run\.\.train\.\.Drive\$GT\$\d+certify"), "certify_seconds"),
}
#: The same for callgrind, which knows no regular expressions.
COLLECTED = {
    "read": "*dualgap_cli3job*4read17h*",
    "solve": "*run..train..Drive$GT$7advance*",
    "certify": "*run..train..Drive$GT$*certify*",
}
#: Work that is handed out to threads: what `parallel::map_mut` does with a run of items.
HANDED_OUT = re.compile(r"8parallel7map_mut28_\$u7b\$\$u7b\$closure")
#: Bytes a second of machines with so many cores: two, four and eight channels of memory, and two sockets of the last.
BANDWIDTH = {8: 60e9, 32: 150e9, 128: 400e9}
#: The own cache of a core, which callgrind simulates as its last one: 2 MB.
CACHE = ["--LL=2097152,16,64"]
#: Words of two folds: callgrind takes two hundred times as long as the processor.
LETTERS = ["chain", "ocr_letters/letter.data.gz", "--format", "letters", "--train-folds", "1-2", "--lambda", "0.001"]


@dataclass(frozen=True)
class Workload:
    """A run, and the most parts that its phases are handed out in (None: as many as threads could want)."""

    name: str
    arguments: list[str]
    parts: dict[str, int | None] = field(default_factory=dict)


WORKLOADS = [
    Workload("dual ascent, a9a, hinge", ["binary", "libsvm/a9a.gz", "--lambda", "1/n"], {"certify": 16}),
    Workload(
        "Newton, ijcnn1, logistic",
        ["binary", "libsvm/ijcnn1.gz", "--loss", "logistic", "--solver", "newton", "--tolerance", "1e-6"],
        {"solve": 16, "certify": 16},
    ),
    Workload(
        "coordinate descent, a9a, logistic and l1",
        ["binary", "libsvm/a9a.gz", "--loss", "logistic", "--lambda", "0", "--l1", "0.01max", "--solver", "coordinates"],
        {"solve": 16, "certify": 16},
    ),
    Workload("dual ascent, news20, 20 classes", ["multiclass", "libsvm/news20.gz", "--lambda", "1/n", "--passes", "2"]),
    Workload("structural SVM, letters", [*LETTERS, "--passes", "4"]),
    # The first ten passes are stochastic, on one thread; gradients of all sequences come after them.
    Workload(
        "CRF, letters",
        [*LETTERS[:5], "1", "--lambda", "0.001", "--loss", "log", "--tolerance", "1e-6", "--passes", "33"],
        {"solve": 64, "certify": 64},
    ),
    Workload("structural SVM, CoNLL-2000", ["chain", "conll2000/test.txt.gz", "--lambda", "1/n", "--passes", "1"]),
]


def commands(program: str, data: str, workload: Workload, threads: int) -> list[str]:
    """Return the command line of a workload."""
    task, path, *rest = workload.arguments
    return [program, "train", task, os.path.join(data, path), *rest, "--threads", str(threads), "--quiet", "--json"]


def profile(command: list[str], *options: str) -> list[tuple[str, str, dict[str, float]]]:
    """Return the calls of a run under callgrind: who called whom, and the counts of what was called."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        tool = ["valgrind", "--tool=callgrind", "--demangle=no", *options, f"--callgrind-out-file={out}"]
        done = subprocess.run([*tool, *command], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
        return read_calls(pathlib.Path(out).read_text())


def read_calls(text: str) -> list[tuple[str, str, dict[str, float]]]:
    """Return the calls that callgrind has written down."""
    events: list[str] = []
    names: dict[str, str] = {}
    calls = []
    caller = callee = ""
    called = False

    def name_of(given: str) -> str:
        number, _, name = given.partition(" ")
        if name:
            names[number] = name
        return names.get(number, given)

    for line in text.splitlines():
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith("fn="):
            caller = name_of(line[3:])
        elif line.startswith("cfn="):
            callee = name_of(line[4:])
        elif line.startswith("calls="):
            called = True
        elif called:
            # Zeros at the end of a line are left out.
            costs = [float(cost) for cost in line.split()[1:]]
            calls.append((caller, callee, dict(zip(events, costs + [0.0] * (len(events) - len(costs)), strict=True))))
            called = False
    return calls


def inclusive(calls: list[tuple[str, str, dict[str, float]]], function: re.Pattern[str], event: str) -> float:
    """Return a count of these functions and of all that they call."""
    return sum(cost[event] for caller, callee, cost in calls if function.search(callee) and not function.search(caller))


def timed(command: list[str], repeats: int) -> dict[str, float]:
    """Return the least seconds of every phase."""
    best: dict[str, float] = {}
    for _ in range(repeats):
        done = subprocess.run(command, capture_output=True, text=True)
        report = json.loads(done.stdout)
        for phase, (_, key) in PHASES.items():
            best[phase] = min(best.get(phase, float("inf")), report[key])
    return best


def bandwidth(threads: int) -> float:
    """Return the bytes a second that some threads read and write together when they copy arrays that no cache holds."""
    import numpy as np

    size, repeats = 64_000_000, 4
    arrays = [(np.ones(size // 8), np.ones(size // 8)) for _ in range(threads)]

    def copy(pair: tuple[Any, Any]) -> None:
        for _ in range(repeats):
            np.copyto(*pair)

    best = float("inf")
    for _ in range(3):
        workers = [threading.Thread(target=copy, args=(pair,)) for pair in arrays]
        begin = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        best = min(best, time.perf_counter() - begin)
    # A line is read before it is written: three times the size.
    return 3 * size * repeats * threads / best


def speedup(phase: dict[str, Any], cores: int, rate: float) -> float:
    """Return how many times as fast as on one thread a phase is by the model, on cores that together move so many bytes a second."""
    parts = phase["parts"] or 8 * cores
    one, serial = phase["seconds"]["1"], phase["serial"]
    seconds = one * (serial + (1 - serial) * -(-parts // cores) / parts)
    return one / max(seconds, min(phase["bytes"] / rate, one))


def count(program: str, data: str, workload: Workload) -> dict[str, Any]:
    """Return what callgrind counts in the phases of a workload."""
    command = commands(program, data, workload, 1)
    everything = profile(command, "--cache-sim=yes", *CACHE)
    phases = {}
    for name, (function, _) in PHASES.items():
        own = {event: inclusive(everything, function, event) for event in ("Ir", "DLmr", "DLmw")}
        handed = inclusive(profile(command, f"--toggle-collect={COLLECTED[name]}"), HANDED_OUT, "Ir")
        traffic = 64 * (own["DLmr"] + own["DLmw"])
        phases[name] = {"instructions": own["Ir"], "serial": 1 - handed / own["Ir"], "bytes": traffic}
        print(f"{workload.name}, {name}: {phases[name]}", file=sys.stderr, flush=True)
    return phases


def joined(kept: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the phases of all workloads that were both counted and timed."""
    phases = []
    for workload in WORKLOADS:
        times = kept["times"].get(workload.name)
        for name, counts in kept["counts"].get(workload.name, {}).items():
            if times is not None:
                seconds = {threads: times[threads][name] for threads in ("1", "2")}
                parts = workload.parts.get(name)
                phases.append({"workload": workload.name, "phase": name, **counts, "parts": parts, "seconds": seconds})
    return phases


def table(phases: list[dict[str, Any]], rates: dict[int, float]) -> str:
    """Return the table of the page."""
    lines = [
        "| run | phase | seconds | instructions | serial | MB | measured at 2 | 2 | 8 | 32 | 128 |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for phase in phases:
        one, two = phase["seconds"]["1"], phase["seconds"]["2"]
        predicted = [f"{speedup(phase, cores, rates[cores]):.2f}" for cores in (2, 8, 32, 128)]
        lines.append(
            f"| {phase['workload']} | {phase['phase']} | {one:.3f} | {phase['instructions'] / 1e6:.0f} M | {phase['serial']:.1%} | "
            f"{phase['bytes'] / 1e6:.0f} | {one / two:.2f} | {' | '.join(predicted)} |"
        )
    for workload in dict.fromkeys(phase["workload"] for phase in phases):
        own = [phase for phase in phases if phase["workload"] == workload]
        one, two = (sum(phase["seconds"][threads] for phase in own) for threads in ("1", "2"))
        predicted = [
            f"{one / sum(phase['seconds']['1'] / speedup(phase, cores, rates[cores]) for phase in own):.2f}"
            for cores in (2, 8, 32, 128)
        ]
        lines.append(f"| {workload} | all | {one:.3f} | | | | {one / two:.2f} | {' | '.join(predicted)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the table or write it into a page between its two marks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="the folder of the data sets")
    parser.add_argument("--program", default=str(ROOT / "target/release/dualgap"))
    parser.add_argument("--only", default="", help="a regular expression of workloads")
    parser.add_argument("--repeats", type=int, default=5, help="timed runs, of which the fastest counts")
    parser.add_argument("--times-only", action="store_true", help="count nothing: to be done while the machine is quiet")
    parser.add_argument("--page", help="a page whose table is replaced")
    parser.add_argument("--json", help="where to keep what was measured; what is there is not measured again")
    given = parser.parse_args()
    kept: dict[str, Any] = {"counts": {}, "times": {}}
    if given.json and os.path.exists(given.json):
        kept = json.loads(pathlib.Path(given.json).read_text())
    if "bandwidth" not in kept:
        kept["bandwidth"] = {str(threads): bandwidth(threads) for threads in (1, 2)}
    for workload in WORKLOADS:
        if not re.search(given.only, workload.name):
            continue
        if workload.name not in kept["times"]:
            each = {str(threads): commands(given.program, given.data, workload, threads) for threads in (1, 2)}
            kept["times"][workload.name] = {threads: timed(command, given.repeats) for threads, command in each.items()}
        if workload.name not in kept["counts"] and not given.times_only:
            kept["counts"][workload.name] = count(given.program, given.data, workload)
        if given.json:
            pathlib.Path(given.json).write_text(json.dumps(kept, indent=1))
    rates = {2: kept["bandwidth"]["2"], **BANDWIDTH}
    text = table(joined(kept), rates)
    print(f"this machine moves {kept['bandwidth']['1'] / 1e9:.1f} GB/s on one thread and {kept['bandwidth']['2'] / 1e9:.1f} on two")
    print(text)
    if given.page:
        page = pathlib.Path(given.page)
        marks = "<!-- cores.py -->", "<!-- end -->"
        before, _, rest = page.read_text().partition(marks[0])
        page.write_text(f"{before}{marks[0]}\n\n{text}\n\n{marks[1]}{rest.partition(marks[1])[2]}")


if __name__ == "__main__":
    main()
