"""A cluster without processes: all shards are in this one, and the clock is a simulated one.

The rounds are the real ones: `Rounds` drives them, the shards take their steps, the parts are added by the same tree, and certificates are
those of the examples. What is not real is how long things take: that is counted work times the :class:`Rates` of the data, and
what the :class:`~._clock.Clock` says of messages.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from distributed import Client

from . import _shards
from ._clock import Clock, Times
from ._cluster import _FAN, Cluster, Lost, size_of
from ._shards import Part


@dataclass(frozen=True)
class Rates:
    """How long one core takes, in seconds. An entry is a number of a row that is not zero."""

    #: A pass, for each of its entries.
    visit: float
    #: A round beside its passes: vectors as long as the weights.
    round: float
    #: The part of a certificate that has the dual values, for each entry, and whatever it has.
    dual: float
    dual_call: float
    #: The part that has the losses.
    losses: float
    losses_call: float
    #: Adding parts, for each byte that is read or written.
    add: float
    #: What the client does in a round with the sum of all.
    step: float
    #: The fingerprint of the examples, for each entry.
    digest: float
    #: Reading a shard again, for each entry.
    read: float

    @classmethod
    def none(cls) -> Rates:
        """Return rates by which nothing takes any time."""
        return cls(*(0.0 for _ in fields(cls)))

    def as_dict(self) -> dict[str, float]:
        """Return the numbers by their names, for JSON."""
        return asdict(self)


def entries(block: tuple[Any, ...]) -> int:
    """Return how many numbers the rows of a block have that are not left out."""
    return int(block[0].nnz) if sp.issparse(block[0]) else int(np.size(block[0]))


class SimulatedCluster(Cluster):
    """Shards in this process, under a simulated clock; see the module's head."""

    def __init__(self, blocks: list[tuple[Any, ...]], how: dict[str, Any], clock: Clock, rates: Rates) -> None:
        super().__init__(cast(Client, None), cast(list[Any], blocks), how)
        self.time, self.rates = clock, rates
        self.entries: Times = np.array([entries(block) for block in blocks], dtype=np.float64)
        self.places = [str(k) for k in range(len(blocks))]
        #: What every call to all shards has needed: its kind, the passes of each, the bytes sent to all, and the sizes of the parts.
        self.calls: list[tuple[str, Times, int, list[list[int]]]] = []
        #: How long each shard has really computed in these calls.
        self.measured: list[list[float]] = []
        self._sent = 0
        self._gone: list[int] = []

    def __exit__(self, *_: object) -> None:
        _shards.close(self.run)
        # A shard is a thread that ends when nobody has it any more.
        gc.collect()

    def clock(self) -> float:
        """Return the simulated time."""
        return self.time.now

    def read(self) -> list[dict[str, Any]]:
        """Take all shards, and return what they say of themselves."""
        found = [_shards.read(self.run, k, self.how, block) for k, block in enumerate(self.blocks)]
        self.examples = [info["examples"] for info in found]
        return found

    def _call(self, function: Callable[..., Any], arguments: Sequence[Any], each: Sequence[Any] | None) -> list[Any]:
        return [function(self.run, k, *arguments, *last) for k, last in enumerate(self._last(each))]

    def gather(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """Call a function with every shard, and return the results in order."""
        found = self._call(function, arguments, each)
        rate = self.rates.digest if function is _shards.print_part else 0.0
        self.time.gather(rate * self.entries, [size_of(result) for result in found])
        self.count(arguments, each, found)
        return found

    def total(self, kind: str, function: Callable[..., Any], *arguments: Any, each: Sequence[Any] | None = None) -> Part:
        """Call a function with every shard, and add the results by a tree."""
        begin = self.time.now
        parts: list[Part] = self._call(function, arguments, each)
        self.measured.append([seconds for part in parts for seconds in part[1]])
        sizes = [[len(part[0]) for part in parts]]
        while len(parts) > 1:
            parts = [_shards.add(kind, *parts[k : k + _FAN]) for k in range(0, len(parts), _FAN)]
            sizes.append([len(part[0]) for part in parts])
        passes = np.zeros(len(self)) if each is None else np.asarray(each, dtype=np.float64)
        self.calls.append((kind, passes, self._sent, sizes))
        seconds = self.time.total(self.compute(kind, passes), sizes, self._sent, self.rates.add)
        if kind == "change":
            self.time.now += self.rates.step
        self._sent = 0
        self._gone = self.time.lost(len(self), self.time.now - begin)
        if self._gone:
            raise Lost
        self.bytes += parts[0][2]
        self._failures = 0
        return parts[0][0], tuple(seconds.tolist()), parts[0][2]

    def compute(self, kind: str, passes: Times) -> Times:
        """Return how long each shard computes in a call."""
        rates = self.rates
        if kind == "change":
            return rates.visit * passes * self.entries + rates.round
        if kind == "dual":
            return rates.dual * self.entries + rates.dual_call
        return rates.losses * self.entries + rates.losses_call

    def broadcast(self, payload: bytes) -> bytes:
        """Return bytes as an argument of calls to all shards."""
        self.bytes += len(payload) * len(self)
        self._sent = len(payload)
        return payload

    def keep_states(self) -> None:
        """Remember the states of all shards if some are ever lost; it takes its time in any case."""
        if self.time.network.losses:
            super().keep_states()
        else:
            state = len(_shards.state(self.run, 0))
            self.time.gather(np.zeros(len(self)), [state] * len(self))
            self.bytes += state * len(self)

    def recover(self) -> None:
        """Read lost shards again, and let them go on from their last state."""
        self._count()
        for k in self._gone:
            _shards.read(self.run, k, self.how, self.blocks[k])
            _shards.open_packed(self.run, k, self.setup)
            if self.states[k] is not None:
                _shards.restore(self.run, k, cast(bytes, self.states[k]))
                self.restored += 1
            self.lost += 1
        again = self.rates.read * self.entries[self._gone]
        self.time.now += self.time.network.restart
        self.time.gather(again, [size_of(self.states[k]) for k in self._gone])
        self.bytes += sum(size_of(self.setup) + size_of(self.states[k]) for k in self._gone)
        self._gone = []
