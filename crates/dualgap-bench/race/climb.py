"""A peer on a problem, in processes of its own that may crash, run out of memory or take too long.

The data are shared with the child by forking, not sent. Every run has a limit of CPU seconds, which the kernel keeps; what was found
until then has been sent already. Peers that compile themselves have done so before.
"""

from __future__ import annotations

import multiprocessing
import resource
import signal
import time
import traceback
import warnings
from typing import Any

import numpy as np
from scipy import sparse

from .judge import Bracket, Rung, is_done
from .peers import Fit, Peer
from .problems import Problem, value
from .sets import Set

LADDER: list[float | None] = [10.0**-k for k in range(13)]
#: A run is repeated so often, or until all of them have taken so many seconds; the fastest counts.
OFTEN, LONG = 9, 0.3
#: A ladder is given up when all of its rungs have taken this many times the limit of one.
WHOLE = 3
#: The longest tick of a kernel's clock.
TICK = 0.01
#: Bytes that a child may allocate on top of what its parent has.
MEMORY = 8 << 30


def rungs(
    peer: Peer, data: Set, problem: Problem, bracket: Bracket, limit: float, ladder_limit: float | None = None
) -> tuple[list[Rung], str, str]:
    """Return what a peer found with its defaults and up the ladder, how that ended, and its command.

    The limits are CPU seconds of a run: of the one with the defaults, and of each on the ladder.
    """
    reason = peer.does_not_apply(data)
    if reason:
        return [], f"does not apply: {reason}", ""
    try:
        if peer.compiles:
            compile_ahead(peer, problem.kind, data.is_dense)
        fit, command = peer.ready(data, problem)  # before forking, so that its imports and forms of the matrix are made once
    except Exception as error:  # whatever a peer does, the race goes on
        return [], failed(error), ""
    found, _ = child([None], fit, data, problem, bracket, limit)
    more, ended = child(LADDER, fit, data, problem, bracket, ladder_limit or limit)
    return found + more, ended, command


def failed(error: Exception) -> str:
    """Return how a program ended that raised an exception."""
    return "out of memory" if isinstance(error, MemoryError) else f"failed: {traceback.format_exception_only(error)[-1].strip()}"


def child(tolerances: list[float | None], fit: Fit, data: Set, problem: Problem, bracket: Bracket, limit: float) -> Any:
    """Run `climb` in a process, and return its rungs and how it ended."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    process = context.Process(target=climb, args=(send, tolerances, fit, data, problem, bracket, limit))
    process.start()
    send.close()  # so that a child that dies is noticed
    found: list[Rung] = []
    ended = ""
    # On a busy machine CPU seconds take longer than seconds; this is for a child that sleeps.
    deadline = time.monotonic() + 60 + 30 * limit
    while not ended:
        if not receive.poll(max(0.0, deadline - time.monotonic())):
            ended = "time limit"
            break
        try:
            what, message = receive.recv()
        except EOFError:
            break
        if what == "rung":
            found.append(message)
        else:
            ended = message
    if ended:  # or it may hang on its way out
        process.kill()
    process.join()
    if not ended:
        ended = "time limit" if process.exitcode == -signal.SIGXCPU else f"crashed with exit code {process.exitcode}"
    return found, f"time limit of {limit:.3g} s" if ended == "time limit" else ended


def climb(send: Any, tolerances: list[float | None], fit: Fit, data: Set, problem: Problem, bracket: Bracket, limit: float) -> None:
    """Run a peer from one tolerance to the next until it is as near as anyone asks, and send what it finds."""
    warnings.simplefilter("ignore")  # of steps that did not suffice: the value says so
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        first = time.process_time()
        for tolerance in tolerances:
            spent = time.process_time()
            if spent - first > WHOLE * limit:
                send.send(("ended", "time limit"))
                return
            resource.setrlimit(resource.RLIMIT_CPU, (int(spent + limit) + 1, resource.RLIM_INFINITY))
            rung = measured(lambda tolerance=tolerance: fit(tolerance))
            weights = rung.pop("weights")
            rung |= {"tolerance": tolerance, "value": value(data, problem, weights)}
            if getattr(fit, "iterations", None):
                rung["iterations"] = fit.iterations  # type: ignore[attr-defined]
            if not np.isfinite(rung["value"]):
                continue
            send.send(("rung", rung))
            if is_done([rung], bracket):
                break
        send.send(("ended", "finished"))
    except Exception as error:
        send.send(("ended", failed(error)))


def measured(work: Any) -> dict[str, Any]:
    """Return the weights, and CPU and wall seconds of the fastest of several runs where one takes milliseconds."""
    runs: list[tuple[float, float]] = []
    weights = None
    while not runs or (len(runs) < OFTEN and sum(cpu for cpu, _ in runs) < LONG):
        wall, thread, process = time.perf_counter(), time.thread_time(), time.process_time()
        weights = work()
        # Under a limit of CPU seconds the clock of a process advances by ticks, and only that of a thread is exact. All threads
        # are asked nevertheless, so that nobody gains by a second one.
        cpu = max(time.thread_time() - thread, time.process_time() - process - TICK)
        runs.append((cpu, time.perf_counter() - wall))
    cpu, wall = min(runs)
    return {"seconds": cpu, "wall": wall, "repeats": len(runs), "weights": weights}


COMPILED: set[tuple[str, str, bool]] = set()


def compile_ahead(peer: Peer, kind: str, dense: bool) -> None:
    """Fit a peer to a few rows of the form that it will be given, in this process, once."""
    if (peer.name, kind, dense) in COMPILED:
        return
    random = np.random.default_rng(0)
    X = random.standard_normal((40, 30)) * (random.random((40, 30)) < (1.0 if dense else 0.1))
    y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    matrix = sparse.csr_matrix(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    data = Set("tiny", "binary", None, matrix, y)  # type: ignore[arg-type]
    lam, l1 = (0.01, 0.0) if kind == "hinge" else (0.001 if kind == "elastic-net" else 0.0, 0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit, _ = peer.ready(data, Problem("tiny", kind, "", lam, l1))
        fit(1e-6)
    COMPILED.add((peer.name, kind, dense))
