"""The shards as the client sees them: where they are, calls to all of them, and what to do when one is lost."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from distributed import Client, Future, wait
from distributed.client import TimeoutError as DaskTimeout
from distributed.scheduler import KilledWorker

from .. import _dualgap
from . import _shards
from ._shards import Part, ShardLost

#: How often the client looks whether all workers are there while it waits, in seconds.
_LOOK = 1.0
#: Parts that one task adds. Two levels of such tasks are enough for sixty shards.
_FAN = 8
#: Vectors of more bytes are put on the workers once, and not into every task.
_INLINE = 100_000
#: Losses in a row, without a round between them, after which the run gives up.
_MOST_LOSSES = 20


class Lost(Exception):
    """Shards were lost."""


class Cluster:
    """The shards of a run on their workers.

    ``blocks`` are what a worker reads a shard from: delayed blocks, or paths. They are kept, so that a lost shard can be read
    again.
    """

    def __init__(self, client: Client, blocks: list[Any]) -> None:
        self.client = client
        self.run = uuid.uuid4().hex
        self.blocks = blocks
        self.places: list[str] = []
        self.prints: list[str] = []
        self.setup: dict[str, Any] = {}
        #: The last known state of each shard.
        self.states: list[bytes | None] = [None] * len(blocks)
        #: How many shards were lost, and how many of them went on from a state.
        self.lost, self.restored = 0, 0
        self.bytes = 0
        self._failures = 0

    def __len__(self) -> int:
        return len(self.blocks)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.client.run(_shards.close, self.run, on_error="ignore")
        except Exception:  # noqa: BLE001, S110 (a cluster that is gone has forgotten)
            pass

    def read(self) -> list[dict[str, Any]]:
        """Read all shards, and return what they say of themselves."""
        self.places = self._spread(range(len(self)), {})
        while True:
            try:
                futures = [self._reading(k) for k in range(len(self))]
                found = self._wait(futures, dict(enumerate(self.places)))
                break
            except Lost:
                self._count()
                self.places = self._spread(range(len(self)), {})
        for info in found:
            self._check_version(info)
        return found

    def open(self, setup: dict[str, Any]) -> None:
        """Make shards of what was read."""
        self.setup = setup
        self.prints = [""] * len(self)
        try:
            self.prints = self.gather(_shards.open_shard, setup)
        except Lost:
            self.recover(fresh=True)

    def _reading(self, k: int) -> Future:
        block, place = self.blocks[k], [self.places[k]]
        if isinstance(block, str):
            return self.client.submit(_shards.read, self.run, k, block, workers=place, pure=False)
        # The parts of a block are computed where the shard will be.
        parts = [None if part is None else self._computed(part, place) for part in block]
        return self.client.submit(_read_parts, self.run, k, *parts, workers=place, pure=False)

    def _computed(self, part: Any, place: list[str]) -> Any:
        if hasattr(part, "__dask_graph__"):
            return self.client.compute(part, workers=place, allow_other_workers=False)
        return self.client.scatter(part, workers=place, hash=False)

    def _check_version(self, info: dict[str, Any]) -> None:
        if info["version"] != _dualgap.__version__:
            raise RuntimeError(
                f"a worker has dualgap {info['version']}, and the client {_dualgap.__version__}: install the same version"
            )

    def alive(self) -> dict[str, int]:
        """Return the workers and their threads."""
        workers = self.client.scheduler_info(n_workers=-1)["workers"]
        return {address: int(worker["nthreads"]) for address, worker in workers.items()}

    def _spread(self, shards: Any, taken: dict[int, str]) -> list[str]:
        """Return a worker for each of these shards: those with the fewest shards first, in the order of their names."""
        self.client.wait_for_workers(1, timeout=120)
        load = dict.fromkeys(sorted(self.alive()), 0)
        for place in taken.values():
            if place in load:
                load[place] += 1
        places = []
        for _ in shards:
            place = min(load, key=lambda address: load[address])
            load[place] += 1
            places.append(place)
        return places

    def _wait(self, futures: list[Future], places: dict[int, str]) -> list[Any]:
        """Return the results, or raise :class:`Lost` if a worker is gone."""
        while True:
            try:
                wait(futures, timeout=_LOOK)
                break
            except (TimeoutError, DaskTimeout):
                alive = self.alive()
                if any(place not in alive for place in places.values()):
                    self.client.cancel(futures, force=True)
                    raise Lost from None
        try:
            return self.client.gather(futures)
        except (ShardLost, KilledWorker):
            raise Lost from None
        except Exception as error:
            # What a lost worker had computed is lost with it; a mistake in the data is no loss.
            if type(error).__name__ in ("FutureCancelledError", "CancelledError", "CommClosedError"):
                raise Lost from None
            raise

    def submit(self, function: Callable[..., Any], *arguments: Any) -> list[Future]:
        """Call a function with every shard, where it is."""
        return [
            self.client.submit(function, self.run, k, *arguments, workers=[place], pure=False)
            for k, place in enumerate(self.places)
        ]

    def gather(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call a function with every shard, and return the results in order."""
        self._require_workers()
        return self._wait(self.submit(function, *arguments), dict(enumerate(self.places)))

    def total(self, kind: str, function: Callable[..., Any], *arguments: Any) -> Part:
        """Call a function with every shard, and add the results by a tree."""
        self._require_workers()
        futures = self.submit(function, *arguments)
        kept = list(futures)
        while len(futures) > 1:
            groups = [futures[k : k + _FAN] for k in range(0, len(futures), _FAN)]
            futures = [self.client.submit(_shards.add, kind, *group, pure=False) for group in groups]
            kept += futures
        part: Part = self._wait(futures, dict(enumerate(self.places)))[0]
        self.bytes += part[2]
        self._failures = 0
        return part

    def broadcast(self, vector: bytes) -> Any:
        """Return a vector as an argument of calls to all shards."""
        self._require_workers()
        self.bytes += len(vector) * len(set(self.places))
        if len(vector) <= _INLINE:
            return vector
        return self.client.scatter(vector, workers=sorted(set(self.places)), broadcast=True, hash=False)

    def _require_workers(self) -> None:
        alive = self.alive()
        if any(place not in alive for place in self.places):
            raise Lost

    def keep_states(self) -> None:
        """Remember the states of all shards, so that a lost one goes on from there."""
        self.states = list(self.gather(_shards.state))

    def _count(self) -> None:
        self._failures += 1
        if self._failures > _MOST_LOSSES:
            raise RuntimeError(f"workers were lost {_MOST_LOSSES} times in a row: look at their logs")

    def recover(self, *, fresh: bool = False) -> None:
        """Read lost shards again, on other workers or on the same ones, and let them go on from their last state."""
        while True:
            self._count()
            try:
                present = self._present()
                gone = [k for k in range(len(self)) if fresh or k not in present]
                for k, place in zip(gone, self._spread(gone, present), strict=True):
                    self.places[k] = place
                self.lost += len(gone)
                places = {k: self.places[k] for k in gone}
                for info in self._wait([self._reading(k) for k in gone], places):
                    self._check_version(info)
                opened = [
                    self.client.submit(
                        _shards.open_shard, self.run, k, self.setup, workers=[self.places[k]], pure=False
                    )
                    for k in gone
                ]
                for k, found in zip(gone, self._wait(opened, places), strict=True):
                    if self.prints[k] and found != self.prints[k]:
                        raise RuntimeError(
                            f"shard {k} was read again, and has other examples than before: the source of a shard must "
                            "not change while a run goes on"
                        )
                    self.prints[k] = found
                stored = [(k, state) for k in gone if (state := self.states[k]) is not None]
                again = [
                    self.client.submit(_shards.restore, self.run, k, state, workers=[self.places[k]], pure=False)
                    for k, state in stored
                ]
                self._wait(again, places)
                self.restored += len(stored)
                return
            except Lost:
                fresh = False

    def _present(self) -> dict[int, str]:
        """Return the shards that are where they should be."""
        alive = self.alive()
        there = self.client.run(_held, self.run, workers=[place for place in set(self.places) if place in alive], on_error="ignore")
        return {
            k: place for k, place in enumerate(self.places) if place in alive and k in (there.get(place) or ())
        }


def _read_parts(run: str, number: int, X: Any, y: Any, weights: Any) -> dict[str, Any]:
    return _shards.read(run, number, (X, y, weights))


def _held(run: str) -> list[int]:
    return [number for held, number in _shards._shards if held == run]
