"""How long a call to all shards takes on a cluster: a model of Dask's scheduler, its workers and the messages between them.

A call is what :meth:`Cluster.total` does. The client submits a task for every shard and the tasks of the tree; the scheduler handles
them one after the other, half of its `task` seconds when a task is submitted and half when it is done; a worker fetches what the
client has sent, computes, and says so; every task of the tree fetches the parts that it adds; the client fetches the sum. Every
one of these events happens at a time of its own, with random slowdowns of the workers; none is a mean.

Nothing here knows what is computed: see `_simulator`, where the real rounds run under this clock.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ._cluster import _FAN, _INLINE

#: How many workers fetch from one worker at the same time, by Dask's default (distributed.worker.connections.outgoing).
_CONNECTIONS = 50

Times = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Network:
    """What a cluster is made of; times are in seconds.

    >>> from dualgap.dask import Network
    >>> Network.named("1gbit").bandwidth
    125000000.0
    """

    #: How long a message takes beside its bytes.
    latency: float = 0.0
    #: Bytes a second that a process sends or receives.
    bandwidth: float = float("inf")
    #: What the scheduler and the client do for a task.
    task: float = 0.0
    #: What a call takes whatever it does: the client has to be woken, among others.
    overhead: float = 0.0
    #: The cores that all workers share, or None if everyone has its own.
    cores: int | None = None
    #: A task takes exp(spread · normal) times as long as it should.
    spread: float = 0.0
    #: How many times an hour a worker is lost.
    losses: float = 0.0
    #: How long it takes until the client knows of a loss, and has a worker in its place.
    restart: float = 1.5

    def __post_init__(self) -> None:
        for name in ("latency", "task", "overhead", "spread", "losses", "restart"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be a number from zero on, not {getattr(self, name)!r}")
        if not self.bandwidth > 0:
            raise ValueError(f"bandwidth must be positive, not {self.bandwidth!r}")
        if self.cores is not None and self.cores < 1:
            raise ValueError(f"there is at least one core, not {self.cores!r}")

    @classmethod
    def named(cls, name: str, **changes: Any) -> Network:
        """Return one of the presets, `"laptop"`, `"1gbit"` or `"10gbit"`, with some of its numbers replaced."""
        if name not in _PRESETS:
            raise ValueError(f"there is no network {name!r}: take one of {', '.join(_PRESETS)}, or give its numbers")
        return replace(_PRESETS[name], **changes)

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers by their names, for JSON."""
        found = asdict(self)
        return {**found, "bandwidth": None if np.isinf(self.bandwidth) else self.bandwidth}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Network:
        """Return the network with these numbers, as `as_dict` gives them."""
        return cls(**{**given, "bandwidth": given.get("bandwidth") or float("inf")})


#: What Dask itself takes was measured by `calibrate` with processes of one machine that had other work: 0.8 to 1.6 ms for a task, 1.1 to 2.5 ms until
#: a message is handled, whatever the wire, and 0.7 to 0.9 GB/s. The wire adds its own latency, and may have less bandwidth than that.
_PRESETS = {
    "laptop": Network(latency=1.5e-3, bandwidth=6e8, task=1.5e-3, overhead=4e-3, cores=4),
    "1gbit": Network(latency=1.7e-3, bandwidth=1.25e8, task=1.5e-3, overhead=4e-3),
    "10gbit": Network(latency=1.6e-3, bandwidth=6e8, task=1.5e-3, overhead=4e-3),
}


def served(arrivals: Times, service: float | Times) -> Times:
    """Return when each is done by one that serves them in the order of their arrival (Lindley's recursion).

    >>> import numpy as np
    >>> served(np.array([0.0, 0.5, 9.0]), 1.0)
    array([ 1.,  2., 10.])
    """
    order = np.argsort(arrivals, kind="stable")
    each = np.broadcast_to(np.asarray(service, dtype=np.float64), arrivals.shape)[order]
    until = np.cumsum(each)
    done = np.empty_like(until)
    done[order] = until + np.maximum.accumulate(arrivals[order] - (until - each))
    return done


def shared(arrivals: Times, work: Times, cores: int | None) -> Times:
    """Return when each is done on cores that the system shares out evenly among those that are at work.

    >>> import numpy as np
    >>> shared(np.zeros(4), np.array([1.0, 1.0, 1.0, 1.0]), 2)
    array([2., 2., 2., 2.])
    """
    if cores is None or len(work) <= cores:
        return arrivals + work
    done = np.empty(len(work))
    # `at` is the time, and `share` how much a job that has been there all along has got.
    running: list[tuple[float, int]] = []
    at = share = 0.0
    coming = list(np.argsort(arrivals, kind="stable"))
    coming.reverse()
    while coming or running:
        rate = min(1.0, cores / max(1, len(running)))
        ends = at + (running[0][0] - share) / rate if running else float("inf")
        comes = float(arrivals[coming[-1]]) if coming else float("inf")
        share += (min(ends, comes) - at) * rate if running else 0.0
        at = min(ends, comes)
        if comes < ends:
            k = int(coming.pop())
            heapq.heappush(running, (share + float(work[k]), k))
        else:
            share, k = heapq.heappop(running)
            done[k] = at
    return done


class Clock:
    """The time of a simulated cluster, from zero on."""

    def __init__(self, network: Network, seed: int | Sequence[int] = 0) -> None:
        self.network = network
        self.now = 0.0
        self.chance = np.random.default_rng(seed)

    def fetched(self, count: int, size: float) -> Times:
        """Return when each of so many workers has bytes that the first one has now. Those who come late fetch from others."""
        net, times, have, wave = self.network, np.zeros(count), 1, 0.0
        while have < count and size:
            more = min(count - have, _CONNECTIONS * have)
            wave += 2 * net.latency + -(-more // have) * size / net.bandwidth
            times[have : have + more] = wave
            have += more
        return times

    def slowdowns(self, count: int) -> Times:
        """Return how many times as long as they should some tasks take."""
        return np.exp(self.network.spread * self.chance.standard_normal(count))

    def total(self, compute: Times, sizes: Sequence[Sequence[int]], sent: int = 0, add: float = 0.0) -> Times:
        """Let a call to all shards pass, whose parts are added by a tree; return how long each shard was at work.

        `compute` has the seconds of every shard; `sizes` the bytes of their parts, of the sums of the first level of the tree, and so on up to
        the sum of all; `sent` are the bytes that all workers are sent, and `add` the seconds that adding takes a byte.
        """
        net, half, count = self.network, self.network.task / 2, len(compute)
        inline = sent if sent <= _INLINE else 0
        begin = np.zeros(count)
        held = 0.0
        if sent > inline:
            # By the scheduler to one worker, which has it when the task is done there.
            held = net.task + 4 * net.latency + 2 * sent / net.bandwidth
            begin = held + self.fetched(count, sent)
        tasks = sum(len(level) for level in sizes)
        submitted = half * tasks + 2 * inline / net.bandwidth * count
        told = served(np.zeros(count), half + 2 * inline / net.bandwidth)
        compute = compute * self.slowdowns(count)
        begin = np.maximum(told + net.latency, begin)
        done = shared(begin, compute, net.cores)
        ended = self._added(np.maximum(done + net.latency, submitted), sizes, add)
        self.now += ended + net.overhead + 3 * net.latency + 2 * sum(sizes[-1]) / net.bandwidth
        return done - begin

    def _added(self, arrivals: Times, sizes: Sequence[Sequence[int]], add: float) -> float:
        """Return when the scheduler knows that the sum is there, from when it hears of every part."""
        net, half, free = self.network, self.network.task / 2, 0.0
        coming = [(float(time), 0, k) for k, time in enumerate(arrivals)]
        heapq.heapify(coming)
        missing = [[len(sizes[level][k : k + _FAN]) for k in range(0, len(sizes[level]), _FAN)] for level in range(len(sizes) - 1)]
        slow = [self.slowdowns(len(level)) for level in missing]
        while coming:
            time, level, k = heapq.heappop(coming)
            free = max(free, time) + half
            if level == len(missing):
                continue
            group = k // _FAN
            missing[level][group] -= 1
            if missing[level][group]:
                continue
            # The task is told where the parts are, one of which it has; it asks for the others, adds them and says so.
            parts = sizes[level][group * _FAN : (group + 1) * _FAN]
            fetched, of_all = sum(parts[1:]), sum(parts) + sizes[level + 1][group]
            hops = 2 if len(parts) == 1 else 4
            adding = fetched / net.bandwidth + add * of_all * float(slow[level][group])
            heapq.heappush(coming, (free + hops * net.latency + adding, level + 1, group))
        return free

    def gather(self, compute: Times, results: Sequence[int]) -> None:
        """Let a call to some shards pass, all of whose results the client fetches."""
        net, half = self.network, self.network.task / 2
        told = served(np.zeros(len(compute)), half)
        done = shared(told + net.latency, compute * self.slowdowns(len(compute)), net.cores)
        known = served(np.maximum(done + net.latency, half * len(compute)), half)
        self.now += float(known.max()) + net.overhead + 3 * net.latency + 2 * sum(results) / net.bandwidth

    def lost(self, count: int, seconds: float) -> list[int]:
        """Return which of so many workers are lost within some seconds."""
        if not self.network.losses:
            return []
        chance = -np.expm1(-self.network.losses * seconds / 3600)
        return [int(k) for k in np.flatnonzero(self.chance.random(count) < chance)]


def tree(parts: int) -> list[int]:
    """Return how many parts each level of the tree has, from the shards to the sum.

    >>> tree(20)
    [20, 3, 1]
    """
    levels = [parts]
    while levels[-1] > 1:
        levels.append(-(-levels[-1] // _FAN))
    return levels
