"""The numbers of a real cluster that a simulated one needs: latency, bandwidth, and what Dask takes for a task and for a call."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from distributed import Client, wait

from ._clock import Network
from ._shards import hold

#: Bytes whose way from worker to worker is timed.
_BYTES = 8_000_000
#: Tasks at once, and one after the other.
_TASKS, _CHAIN = 200, 10


def calibrate(client: Client, *, repeats: int = 7) -> Network:
    """Measure a cluster that has nothing else to do, in a few seconds; return its numbers for :func:`simulate`.

    With one worker, messages between workers are taken for as fast as those to the client. If all workers are on the machine of
    the client, they share its cores.
    """
    places = sorted(client.scheduler_info(n_workers=-1)["workers"])
    if not places:
        raise ValueError("the cluster has no workers to measure")
    one, other = places[0], places[-1]

    def submit(place: str, function: Callable[..., Any], *arguments: Any) -> Any:
        return client.submit(function, *arguments, workers=[place], pure=False)

    def chain() -> None:
        future = submit(one, hold, b"")
        for k in range(_CHAIN):
            future = submit((other, one)[k % 2], hold, future)
        future.result()

    def many() -> None:
        wait([submit(places[k % len(places)], hold, b"") for k in range(_TASKS)])

    call = _median(lambda: submit(one, hold, b"").result(), repeats)
    task = max(0.0, (_median(many, repeats) - call) / (_TASKS - 1))
    # A link of the chain is a task, a word to the scheduler and one from it, a question to the other worker and its answer.
    hop = max(0.0, (_median(chain, repeats) - call) / _CHAIN - task)
    latency = hop / (4 if other != one else 2)
    large = [submit(one, os.urandom, _BYTES) for _ in range(repeats + 1)]
    wait(large)
    there = iter(large)
    if other == one:
        # By the scheduler to the client: twice the way.
        moved = _median(lambda: len(next(there).result()), repeats) / 2
    else:
        moved = _median(lambda: submit(other, len, next(there)).result(), repeats) - call
    bandwidth = _BYTES / max(moved, 1e-4)
    hosts = {address.split("://")[-1].rsplit(":", 1)[0] for address in [*places, client.scheduler.address]}
    cores = os.cpu_count() if len(hosts) == 1 else None
    overhead = max(0.0, call - task - 5 * latency)
    return Network(latency=latency, bandwidth=bandwidth, task=task, overhead=overhead, cores=cores)


def _median(work: Callable[[], Any], repeats: int) -> float:
    work()
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds)
