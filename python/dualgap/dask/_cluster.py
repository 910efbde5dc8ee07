"""The shards as the client sees them: where they are, calls to all of them, and what to do when one is lost."""

from __future__ import annotations

import asyncio
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from typing import Any, Self

import dask
from distributed import Client, Future, LocalCluster, fire_and_forget, wait
from distributed.client import CancelledError
from distributed.scheduler import KilledWorker, heartbeat_interval

from .. import _dualgap
from . import _shards
from ._shards import Packed, Part, ShardLost

#: How often the client looks whether all workers are there while it waits, in seconds.
_LOOK = 0.5
#: Parts that one task adds. Two levels of such tasks are enough for sixty shards.
_FAN = 8
#: Payloads of more bytes are sent to one worker, from which the others fetch them, and not with every task.
_INLINE = 100_000
#: Losses in a row, without a round between them, after which the run gives up.
_MOST_LOSSES = 20
#: How long to wait for a worker if there is none, or for the scheduler, in seconds.
_PATIENCE = 600
#: A worker is not given up before so many of its heartbeats have not come, as Dask has it: of many workers each sends fewer of them.
_BEATS = 10
#: How long the nanny of a worker may take to end it, in seconds: it asks for four, and then kills.
_ENDING = 15


def size_of(sent: Any) -> int:
    """Return about how many bytes have to travel: of numbers eight, without what Dask adds.

    >>> from dualgap.dask._cluster import size_of
    >>> size_of([b"state", ("dual", 7), None])
    17
    """
    if isinstance(sent, (tuple, list)):
        return sum(map(size_of, sent))
    if isinstance(sent, Packed):
        return len(sent.pickled)
    return len(sent) if isinstance(sent, (bytes, str)) else 0 if sent is None else 8


class Lost(Exception):
    """Shards were lost."""


class Cluster:
    """The shards of a run on their workers.

    ``blocks`` are what a worker reads a shard from: delayed blocks, or paths. They are kept, so that a lost shard can be read
    again. ``how`` says what paths are read as, and ``patience`` after how many seconds without a heartbeat a worker is given up.
    """

    def __init__(self, client: Client, blocks: list[Any], how: dict[str, Any], patience: float = float("inf")) -> None:
        self.client = client
        self.how, self.patience = how, patience
        #: The last heartbeat of every worker, by the clock of the scheduler, and when the client first knew of it, by its own.
        self._heard: dict[str, tuple[float, float]] = {}
        self._config = ExitStack()
        self.run = uuid.uuid4().hex
        self.blocks = blocks
        self.places: list[str] = []
        #: How many examples each shard has.
        self.examples: list[int] = []
        #: The fingerprint of each shard, as far as they are known.
        self.prints: dict[int, str] = {}
        self.setup = Packed.of({})
        #: The last known state of each shard.
        self.states: list[bytes | None] = [None] * len(blocks)
        #: How many shards were lost, and how many of them went on from a state.
        self.lost, self.restored = 0, 0
        #: The bytes of all that was sent, but for reading. A sum that stays on its worker counts, too.
        self.bytes = 0
        self._failures = 0

    def __len__(self) -> int:
        return len(self.blocks)

    def clock(self) -> float:
        """Return the time in seconds, from some moment on."""
        return time.perf_counter()

    def __enter__(self) -> Self:
        if isinstance(getattr(self.client, "cluster", None), LocalCluster):
            # It closes for ever the nanny of a worker that is not there again, or again not there, 15 seconds after it was lost.
            self._config.enter_context(dask.config.set({"distributed.deploy.lost-worker-timeout": f"{_PATIENCE}s"}))
        return self

    def __exit__(self, *_: object) -> None:
        self._config.close()
        try:
            alive = self.alive()
            places = sorted(place for place in set(self.places) if place in alive)
            closing = [self._submit(place, _shards.close, self.run) for place in places]
            # A worker that is too busy to be waited for still forgets: without this its task would be dropped with its future.
            fire_and_forget(closing)
            wait(closing, timeout=5)
        except Exception:  # noqa: BLE001, S110 (a cluster that is gone has forgotten)
            pass

    def read(self) -> list[dict[str, Any]]:
        """Read all shards, and return what they say of themselves."""
        while True:
            try:
                self.places = self._spread(range(len(self)), {})
                found = self._read(range(len(self)))
                break
            except Lost:
                self._count()
        self.examples = [info["examples"] for info in found]
        return found

    def open(self, setup: dict[str, Any]) -> None:
        """Make shards of what was read."""
        self.setup = Packed.of(setup)
        try:
            self.prints = dict(enumerate(self.gather(_shards.open_packed, self.setup)))
        except Lost:
            self.recover()
        while len(self.prints) < len(self):
            try:
                self.prints = dict(enumerate(self.gather(_shards.fingerprint)))
            except Lost:
                self.recover()

    def _read(self, shards: Iterable[int]) -> list[dict[str, Any]]:
        shards = list(shards)
        found = self._wait([self._reading(k) for k in shards], [self.places[k] for k in shards])
        for info in found:
            if info["version"] != _dualgap.__version__:
                raise RuntimeError(
                    f"a worker has dualgap {info['version']}, and the client {_dualgap.__version__}: install the same version"
                )
        return found

    def _reading(self, k: int) -> Future:
        block, place = self.blocks[k], self.places[k]
        if isinstance(block, str):
            return self._submit(place, _shards.read, self.run, k, self.how, block)
        return self._submit(place, _shards.read_parts, self.run, k, self.how, *(self._as_it_travels(part, place) for part in block))

    def _as_it_travels(self, part: Any, place: str) -> Any:
        """Return a part of a block as it travels: computed where the shard will be, or packed if it may have objects of any class."""
        if hasattr(part, "__dask_graph__"):
            return self.client.compute(part, workers=[place], allow_other_workers=False)
        return Packed.of(part) if isinstance(part, (list, tuple)) else part

    def _submit(self, place: str, function: Callable[..., Any], *arguments: Any) -> Future:
        with warnings.catch_warnings():
            # Vectors and blocks are as large as they are.
            warnings.filterwarnings("ignore", message="Sending large graph")
            return self.client.submit(function, *arguments, workers=[place], pure=False)

    def alive(self) -> dict[str, int]:
        """Return the workers and their threads."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                # Not `scheduler_info`, which tells what it knew before when the scheduler does not answer.
                workers = self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"]
                self._hear({address: worker["last_seen"] for address, worker in workers.items()})
                return {address: int(worker["nthreads"]) for address, worker in workers.items()}
            except (OSError, TimeoutError):
                # The scheduler is busy, or was restarted and is not there yet. One that has gone for good ends the client, too.
                if time.monotonic() > until or self.client.status not in ("running", "connecting"):
                    raise
                time.sleep(_LOOK)

    def _hear(self, beats: dict[str, float]) -> None:
        now = time.monotonic()
        news = {address: (beat, now) for address, beat in beats.items()}
        for address in news.keys() & self._heard.keys():
            if self._heard[address][0] == beats[address]:
                news[address] = self._heard[address]
        self._heard = news

    def _spread(self, shards: Iterable[int], taken: dict[int, str]) -> list[str]:
        """Return a worker for each of these shards: those with the fewest shards first, in the order of their names."""
        until = time.monotonic() + _PATIENCE
        while not (alive := self.alive()):
            if time.monotonic() > until:
                raise RuntimeError(
                    f"the cluster has had no worker for {_PATIENCE} seconds: look at their logs; clusters of Dask give up workers that are "
                    "not back after the time that `distributed.deploy.lost-worker-timeout` says"
                )
            time.sleep(_LOOK)
        load = dict.fromkeys(sorted(alive), 0)
        for place in taken.values():
            if place in load:
                load[place] += 1
        places = []
        for _ in shards:
            place = min(load, key=lambda address: load[address])
            load[place] += 1
            places.append(place)
        return places

    def _wait(self, futures: list[Future], places: Iterable[str]) -> list[Any]:
        """Return the results, or raise :class:`Lost` if a worker is gone."""
        places, done, patience = set(places), False, _LOOK
        results: list[Any] = []
        try:
            while len(results) < len(futures):
                try:
                    if not done:
                        wait(futures, timeout=_LOOK)
                        done = True
                    results.append(futures[len(results)].result(timeout=patience))
                except TimeoutError:
                    self._require(places, futures)
                    # The workers compute, or their result is large.
                    patience = 2 * patience if done else _LOOK
        except (ShardLost, KilledWorker, CancelledError, asyncio.CancelledError, Lost):
            raise Lost from None
        except Exception as error:
            # What others find that ask a worker which is just dying has many names. A mistake in the data is no loss.
            if self._is_gone(places):
                raise Lost from error
            raise
        return results

    def _is_gone(self, places: set[str]) -> bool:
        """Return whether one of these workers is not there, now or in a moment: the scheduler may hear of it later than others."""
        for pause in (0.0, _LOOK):
            time.sleep(pause)
            if not places <= self.alive().keys():
                return True
        return False

    def _require(self, places: set[str], futures: list[Future]) -> None:
        # A scheduler that takes long to answer has not heard of the workers meanwhile.
        asked = time.monotonic()
        alive = self.alive()
        most = max(self.patience, _BEATS * heartbeat_interval(len(alive)))
        silent = sorted(place for place in places & alive.keys() if asked - self._heard[place][1] > most)
        if silent:
            self._give_up(silent)
        if silent or not places <= alive.keys():
            self.client.cancel(futures, force=True)
            raise Lost

    def _give_up(self, silent: list[str]) -> None:
        """Let Dask end workers that stand still. Their nannies start others; one without a nanny is forgotten by the scheduler."""
        message = f"given up, because they have sent no heartbeat for {self.patience:g} seconds and more: {', '.join(silent)}"
        warnings.warn(f"workers were {message}", RuntimeWarning, stacklevel=2)
        with suppress(OSError, TimeoutError):
            self.client.sync(
                self.client.scheduler.restart_workers,
                workers=silent,
                timeout=_ENDING,
                wait_for_workers=False,
                on_error="return",
                stimulus_id=f"dualgap-{uuid.uuid4().hex}",
            )

    def submit(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Any] | None = None) -> list[Future]:
        """Call a function with every shard, where it is. If `each` is given, the last argument is what it has for the shard."""
        calls = enumerate(zip(self.places, self._last(each), strict=True))
        return [self._submit(place, function, self.run, k, *arguments, *last) for k, (place, last) in calls]

    def _last(self, each: Sequence[Any] | None) -> list[tuple[Any, ...]]:
        return [()] * len(self) if each is None else [(own,) for own in each]

    def gather(self, function: Callable[..., Any], *arguments: Any, each: Sequence[Any] | None = None) -> list[Any]:
        """Call a function with every shard as `submit` does, and return the results in order."""
        found = self._wait(self.submit(function, *arguments, each=each), self.places)
        self.count(arguments, each, found)
        return found

    def count(self, arguments: Sequence[Any], each: Sequence[Any] | None, found: Sequence[Any]) -> None:
        """Count what has travelled for a call to all shards."""
        self.bytes += len(self) * size_of(arguments) + size_of(each or ()) + size_of(found)

    def total(self, kind: str, function: Callable[..., Any], *arguments: Any, each: Sequence[Any] | None = None) -> Part:
        """Call a function with every shard as `submit` does, and add the results by a tree."""
        futures = self.submit(function, *arguments, each=each)
        kept = list(futures)
        while len(futures) > 1:
            groups = [futures[k : k + _FAN] for k in range(0, len(futures), _FAN)]
            futures = [self.client.submit(_shards.add, kind, *group, pure=False) for group in groups]
            kept += futures
        part: Part = self._wait(futures, self.places)[0]
        self.bytes += part[2]
        self._failures = 0
        return part

    def broadcast(self, payload: bytes) -> Any:
        """Return bytes as an argument of calls to all shards."""
        self.bytes += len(payload) * len(set(self.places))
        if len(payload) <= _INLINE:
            return payload
        return self._submit(self.places[0], _shards.hold, payload)

    def keep_states(self) -> None:
        """Remember the states of all shards, so that a lost one goes on from there."""
        self.states = list(self.gather(_shards.state))

    def restore_states(self) -> None:
        """Let all shards go on from their states."""
        try:
            self.gather(_shards.restore, each=self.states)
        except Lost:
            self.recover()
            self.restore_states()

    def _count(self) -> None:
        self._failures += 1
        if self._failures > _MOST_LOSSES:
            raise RuntimeError(f"workers were lost {_MOST_LOSSES} times in a row: look at their logs")

    def recover(self) -> None:
        """Read lost shards again, on other workers or on the same ones, and let them go on from their last state."""
        missing: set[int] = set()
        while True:
            self._count()
            # Workers that are lost again and again need time to start.
            time.sleep(min(5.0, 0.05 * 2 ** (self._failures - 1)) if self._failures > 1 else 0.0)
            try:
                present = self._present()
                away = [k for k in range(len(self)) if k not in present]
                for k, place in zip(away, self._spread(away, present), strict=True):
                    self.places[k] = place
                # With those that are there again since another one was lost, but may not have their state.
                missing.update(away)
                gone = sorted(missing)
                self._read(gone)
                places = [self.places[k] for k in gone]
                opened = [self._submit(self.places[k], _shards.open_packed, self.run, k, self.setup) for k in gone]
                for k, found in zip(gone, self._wait(opened, places), strict=True):
                    self._check_print(k, found)
                stored = [(k, state) for k in gone if (state := self.states[k]) is not None]
                again = [self._submit(self.places[k], _shards.restore, self.run, k, state) for k, state in stored]
                self._wait(again, places)
                self.bytes += len(gone) * size_of(self.setup) + size_of([state for _, state in stored])
                self.lost += len(gone)
                self.restored += len(stored)
                return
            except Lost:
                continue

    def _check_print(self, k: int, found: str) -> None:
        if self.prints.setdefault(k, found) != found:
            raise RuntimeError(
                f"shard {k} was read again, and has other examples than before: the source of a shard must not change "
                "while a run goes on"
            )

    def _present(self) -> dict[int, str]:
        """Return the shards that are where they should be."""
        alive = self.alive()
        places = sorted(place for place in set(self.places) if place in alive)
        there = self._wait([self._submit(place, _shards.held_shards, self.run) for place in places], places)
        held = dict(zip(places, there, strict=True))
        return {k: place for k, place in enumerate(self.places) if k in held.get(place, ())}
