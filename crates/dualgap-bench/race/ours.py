"""dualgap, by its command line, timed without reading the file and with everything else.

The report of a run says how long training took, from the data in memory to the certified model. Where that is milliseconds the fastest of
several runs counts, in one process (``dualgap-bench again``), as the peers are called several times in theirs. Where other work has taken
the processor away from a longer run, the CPU seconds of the process count, without those of a process that only reads.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .climb import LONG, OFTEN
from .judge import Rung
from .problems import TASKS, Problem
from .sets import Set

#: Certified gaps that are asked for, relative. A value may be near long before that is proved.
LADDER = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
#: That of the run that brackets the optimum.
REFERENCE = 1e-9
#: A process that had the processor for this share of its time was alone.
ALONE = 0.95
#: Runs that are shorter are not measured by the difference of two processes: it would be lost in their noise.
SHORT = 0.02
#: Runs that are shorter are repeated in one process.
BRIEF = 0.1


@dataclass
class Ended:
    """A process that has ended: seconds on the clock and of the processor, and what it printed."""

    wall: float
    cpu: float
    code: int
    out: str
    error: str


def run(command: list[str], limit: float) -> Ended:
    """Run a process to its end, or for so many CPU seconds: then it is asked to end, which it does with a certified model."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=error)
        ended = threading.Event()
        watch = threading.Thread(target=interrupt_late, args=(process.pid, limit, ended))
        watch.start()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        ended.set()
        watch.join()  # threads and forks of what comes next do not go together
        process.returncode = os.waitstatus_to_exitcode(status)  # so that nobody waits for it again
        texts = []
        for file in (out, error):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
        return Ended(wall, usage.ru_utime + usage.ru_stime, process.returncode, *texts)


def interrupt_late(pid: int, limit: float, ended: threading.Event) -> None:
    """Send Ctrl-C to a process that has used up its CPU seconds, or has slept for long; end it if that does not help."""
    begin, signals = time.monotonic(), 0
    while not ended.wait(0.05):
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return
        used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        if used > limit + 60 * signals or time.monotonic() - begin > (60 + 30 * limit) * (1 + signals):
            os.kill(pid, signal.SIGINT if signals == 0 else signal.SIGKILL)
            signals += 1


def fit_seconds(ended: Ended, report: dict[str, Any], reading: float) -> float:
    """Return the seconds of a run without reading; `reading` are the CPU seconds of a process that does only that."""
    told = report.get("fit_seconds", report["solve_seconds"] + report["certify_seconds"])
    cpu = ended.cpu - reading
    return told if ended.cpu >= ALONE * ended.wall or cpu < SHORT else cpu


@dataclass
class Program:
    """The program, and what is known about it."""

    path: pathlib.Path
    reading: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def bench(self) -> pathlib.Path:
        """Return the program of the benchmarks, which calls this one several times in a process."""
        return self.path.with_name("dualgap-bench")

    def version(self) -> str:
        """Return the version and the first digits of the program's digest: any change makes another one."""
        words = run([str(self.path), "--version"], 60).out.split()
        digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        return f"{words[-1]} {digest[:10]}"

    def command(self, data: Set, problem: Problem, tolerance: float | None, threads: int = 1) -> list[str]:
        """Return the command that solves a problem; without a tolerance, to the default one."""
        task, loss = TASKS[problem.kind]
        words = [str(self.path), "train", task, str(data.path), "--loss", loss, "--lambda", repr(problem.lam)]
        words += ["--l1", repr(problem.l1)] if problem.l1 else []
        words += ["--tolerance", f"{tolerance:g}"] if tolerance is not None else []
        return [*words, "--threads", str(threads), "--json", "--quiet"]

    def reading_seconds(self, data: Set, problem: Problem) -> float:
        """Return the CPU seconds of a process that reads the data and then finds that there are too few sample weights."""
        task, _ = TASKS[problem.kind]
        if (data.name, task) not in self.reading:
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                file.write("1\n")
                file.flush()
                command = [*self.command(data, problem, None), "--sample-weights", file.name]
                repeats = [run(command, 600) for _ in range(3)]
            if any(ended.code != 2 for ended in repeats):
                raise SystemExit(f"should have refused a single sample weight: {' '.join(command)}")
            self.reading[data.name, task] = min(ended.cpu for ended in repeats)
        return self.reading[data.name, task]

    def rung(self, data: Set, problem: Problem, tolerance: float | None, limit: float, threads: int = 1, once: bool = False) -> Rung:
        """Run the program, several times where a run takes milliseconds, and return the fastest run."""
        command = self.command(data, problem, tolerance, threads)
        # CPU seconds say nothing about several threads.
        reading = self.reading_seconds(data, problem) if threads == 1 else float("inf")
        best: Rung = {}
        spent, repeats = 0.0, 0
        # Without the benchmarks, which a race builds, every run has a process of its own.
        briefly = 0.0 if once or not self.bench.exists() else BRIEF
        while repeats == 0 or (not once and repeats < OFTEN and briefly <= spent < LONG):
            ended = run(command, threads * limit + self.reading_seconds(data, problem))
            try:
                report = json.loads(ended.out)
            except json.JSONDecodeError:
                why = ended.error.strip().splitlines()[-1:] or [f"exit code {ended.code}"]
                raise RuntimeError(f"{' '.join(command)}: {why[0]}") from None
            seconds = fit_seconds(ended, report, reading)
            repeats += 1
            spent += seconds
            if not best or seconds < best["seconds"]:
                best = as_rung(report, tolerance) | {"seconds": seconds, "wall": ended.wall, "cpu": ended.cpu}
        if repeats == 1 and best["seconds"] < briefly:
            fastest = min(self.again(command, OFTEN, limit), key=lambda report: report["fit_seconds"])
            if fastest["fit_seconds"] < best["seconds"]:
                best |= as_rung(fastest, tolerance) | {"seconds": fastest["fit_seconds"]}
            repeats += OFTEN
        return best | {"repeats": repeats}

    def again(self, command: list[str], times: int, limit: float) -> list[dict[str, Any]]:
        """Return the reports of a command that is run several times in one process."""
        out = run([str(self.bench), "again", str(times), *command[1:]], times * limit + 60).out
        reports, decoder = [], json.JSONDecoder()
        while out := out.lstrip():
            report, end = decoder.raw_decode(out)
            reports.append(report)
            out = out[end:]
        if len(reports) != times:
            raise RuntimeError(f"{self.bench}: {len(reports)} reports of {times}: build it again")
        return reports


def as_rung(report: dict[str, Any], tolerance: float | None) -> Rung:
    """Return what the race keeps of a report."""
    gap = report["gap_bound"]
    return {
        "tolerance": tolerance,
        "value": report["primal"],
        "lower": report["primal"] - gap if gap is not None else float("-inf"),
        "gap": report["relative_gap_bound"],
        "stop": report["stop"],
        "passes": report["passes"],
        "read": report["read_seconds"],
        "solve": report["solve_seconds"],
        "certify": report["certify_seconds"],
        "nonzeros": report["nonzero_weights"],
        "tactics": report["tactics"],
        "remarks": [remark["text"] for remark in report["remarks"]],
    }


def climb(program: Program, data: Set, problem: Problem, limit: float, threads: int = 1) -> tuple[list[Rung], str]:
    """Return the runs with the default tolerance, with every one of the ladder, and of the bracket; and how it ended."""
    found: list[Rung] = []
    try:
        found.append(program.rung(data, problem, None, limit, threads))
        for tolerance in LADDER:
            rung = program.rung(data, problem, tolerance, limit, threads)
            found.append(rung)
            if rung["stop"] != "gap_reached":
                return found, f"{rung['stop']} at {tolerance:g}"
        if threads == 1:
            found.append(program.rung(data, problem, REFERENCE, 2 * limit, once=True))
    except RuntimeError as error:
        return found, f"failed: {error}"
    return found, "finished"


def dense(header: dict[str, Any], numbers: bytes, shape: tuple[int, ...]) -> np.ndarray:
    """Return the weights of a model file, whose zeros may have been left out: docs/model-file.md."""

    def tensor(name: str) -> np.ndarray:
        start, end = header[name]["data_offsets"]
        kinds = {"F64": "<f8", "F32": "<f4", "U8": "u1"}
        return np.frombuffer(numbers[start:end], dtype=kinds[header[name]["dtype"]])

    if "weights" in header:
        return tensor("weights").reshape(shape)
    full, place, zeros, shift = np.zeros(shape), -1, 0, 0
    values = iter(tensor("weights.values"))
    for byte in tensor("weights.places").tolist():
        zeros |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            place += zeros + 1
            full.flat[place] = next(values)
            zeros = shift = 0
    return full


def weights(program: Program, data: Set, problem: Problem, tolerance: float, folder: pathlib.Path, limit: float) -> Any:
    """Return the weights of a run, the value that its report has for them, and the bound on the rounding of its certificate."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "model.dualgap"
    command = [*program.command(data, problem, tolerance), "--output", str(model)]
    report = json.loads(run(command, limit + program.reading_seconds(data, problem)).out)
    raw = model.read_bytes()
    model.unlink()
    length = int.from_bytes(raw[:8], "little")  # safetensors: a length, a header of JSON, and the numbers
    header, numbers = json.loads(raw[8 : 8 + length]), raw[8 + length :]
    of_model = json.loads(header["__metadata__"]["dualgap"])["header"]
    outputs = (len(of_model["labels"]),) if TASKS[problem.kind][0] == "multiclass" else ()
    w = dense(header, numbers, (of_model["features"], *outputs))
    if w.ndim == 2:
        names = of_model["labels"]
        w = w[:, np.argsort([float(name) for name in names])].T
    padded = np.zeros((*w.shape[:-1], data.d))
    padded[..., : w.shape[-1]] = w
    return padded, report["primal"], report["rounding_error"]
