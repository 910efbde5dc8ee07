"""What runs on the workers: their shards, kept between calls under the name of the run and their number.

A worker that was lost and started again has no shards: calls then raise :class:`ShardLost`, and the client opens them anew. All
shards of a worker share one position (v, the weights and the centre of the rounds), which follows that of the client by the changes of
the rounds: they travel sparse if they are. A worker that has missed one raises :class:`Behind`, and is sent the whole.
"""

from __future__ import annotations

import json
import pickle
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Self

import cloudpickle

from .. import _dualgap
from . import _reading

#: What shards send: bytes, the seconds that each of them took to compute its own, and how many bytes have travelled for them.
Part = tuple[bytes, tuple[float, ...], int]

#: How the position has changed: its serial number; "whole", "moved", "rested" or "held", as all workers have it; and of a move the share
#: of the change, and λ/λ' before and after it.
Step = tuple[int, str, tuple[float, float, float]]


class ShardLost(RuntimeError):
    """The worker has no such shard: it was started again since."""


class Behind(RuntimeError):
    """The position of the worker is not the one before this change."""


@dataclass(frozen=True)
class Packed:
    """What may be of a user's class, as bytes that its task unpickles.

    Where a worker cannot import the class, the task then fails and says so. Dask unpickles arguments before there is a task, and a
    failure ends the connection: the worker would count as lost, and so would the one that is tried next.

    >>> from dualgap.dask._shards import Packed
    >>> Packed.of({"oracle": 7}).unpacked()
    {'oracle': 7}
    """

    pickled: bytes

    @classmethod
    def of(cls, value: Any) -> Self:
        """Pickle a value; classes of a script or a notebook travel with it."""
        return cls(cloudpickle.dumps(value))

    def unpacked(self) -> Any:
        """Return the value."""
        try:
            return pickle.loads(self.pickled)  # noqa: S301 (of the client, which may run anything here)
        except (ImportError, AttributeError) as error:
            raise RuntimeError(
                f"a worker cannot load what the run sends it ({error}): install the module there too, or define the class where `fit` is called"
            ) from error


@dataclass
class _Run:
    """What a worker holds of a run, by the number of the shard."""

    read: dict[int, _reading.Read] = field(default_factory=dict)
    data: dict[int, _dualgap.Data] = field(default_factory=dict)
    shards: dict[int, _dualgap.Shard] = field(default_factory=dict)
    #: The round that a shard has taken and not applied.
    pending: dict[int, int] = field(default_factory=dict)
    whole: _dualgap.Whole | None = None
    position: _dualgap.Position | None = None
    serial: int = -1
    used: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


_runs: dict[str, _Run] = {}
_lock = threading.Lock()
#: After so many seconds without a call a run is forgotten when another one begins: its client is gone. One that was only slow reads
#: its shards again.
_FORGET = 1800.0


def _run(run: str) -> _Run:
    now = time.monotonic()
    with _lock:
        if run not in _runs:
            for other in [name for name, held in _runs.items() if now - held.used > _FORGET]:
                del _runs[other]
            _runs[run] = _Run()
        _runs[run].used = now
        return _runs[run]


def read(run: str, number: int, how: dict[str, Any], block: Any) -> dict[str, Any]:
    """Take a block, or read it from a path; return what the client must know of it."""
    held, info = _reading.read(number, block, {**how, "threads": how.get("threads") or _own_threads()})
    _run(run).read[number] = held
    return {**info, "version": _dualgap.__version__}


def read_parts(run: str, number: int, how: dict[str, Any], *parts: Any) -> dict[str, Any]:
    """Take a block whose parts were computed on their own, or packed."""
    return read(run, number, how, tuple(part.unpacked() if isinstance(part, Packed) else part for part in parts))


def open_packed(run: str, number: int, setup: Packed) -> str:
    """Open a shard by what has travelled."""
    return open_shard(run, number, setup.unpacked())


def open_shard(run: str, number: int, setup: dict[str, Any]) -> str:
    """Make a shard of what was read, and return its fingerprint."""
    held = _run(run)
    if number not in held.read:
        raise ShardLost(number)
    data = _reading.data_of(number, held.read.pop(number), setup)
    request = json.dumps({**setup["request"], "threads": setup["request"]["threads"] or _own_threads()})
    problem = setup["structure"], request, setup["arrays"], setup["total"]
    shard = _dualgap.Shard(problem[0], data, *problem[1:])
    with held.lock:
        held.whole = held.whole or _dualgap.Whole(*problem)
        held.data[number], held.shards[number] = data, shard
        held.pending.pop(number, None)
    return data.fingerprint()


def _own_threads() -> int:
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except (ValueError, AttributeError):
        return 1


def _shard(run: str, number: int) -> _dualgap.Shard:
    try:
        return _run(run).shards[number]
    except KeyError:
        raise ShardLost(number) from None


def _apply(run: str, number: int, last: tuple[int, float] | None) -> _dualgap.Shard:
    """Apply the last round, if it is the one that the shard has taken and not applied yet."""
    shard, pending = _shard(run, number), _run(run).pending
    if pending.pop(number, None) == (last[0] if last else -1) and last is not None:
        shard.apply(last[1])
    return shard


def _follow(run: str, number: int, step: Step, payload: bytes) -> _dualgap.Position:
    """Return the position after a step, which the first shard of a worker takes for the others."""
    # A worker without the shard was lost, and is not only behind.
    _shard(run, number)
    held, (serial, kind, to) = _run(run), step
    with held.lock:
        if held.position is not None and held.serial == serial:
            return held.position
        if kind == "whole" and held.serial < serial:
            held.position = _dualgap.Position.from_bytes(payload)
        elif held.whole is None or held.position is None or held.serial != serial - 1:
            raise Behind(held.serial)
        elif kind == "moved":
            held.position.go(held.whole, payload, to)
        elif kind == "rested":
            held.position.rest()
        else:
            raise Behind(held.serial)
        held.serial = serial
        return held.position


def take_round(
    run: str,
    number: int,
    step: Step,
    payload: bytes,
    last: tuple[int, float] | None,
    now: int,
    share: float,
    sigma: float,
    passes: int,
) -> Part:
    """Apply the last round and take the next one."""
    at = _follow(run, number, step, payload)
    shard = _apply(run, number, last)
    begin = time.perf_counter()
    change = shard.round(at, share, sigma, passes)
    _run(run).pending[number] = now
    return change, (time.perf_counter() - begin,), len(change)


def dual(run: str, number: int, last: tuple[int, float] | None) -> Part:
    """Apply the last round, and return the shard's part of the dual value."""
    shard = _apply(run, number, last)
    begin = time.perf_counter()
    part = shard.dual()
    return part, (time.perf_counter() - begin,), len(part)


def losses(run: str, number: int, step: Step, payload: bytes) -> Part:
    """Return the shard's losses at the weights of the position."""
    at = _follow(run, number, step, payload)
    shard = _shard(run, number)
    begin = time.perf_counter()
    part = shard.losses(at.weights())
    return part, (time.perf_counter() - begin,), len(part)


def add(kind: str, *parts: Part) -> Part:
    """Add what shards have sent, in their order."""
    total = _dualgap.add_parts(kind, [part[0] for part in parts])
    sent = len(total) + sum(part[2] for part in parts)
    return total, tuple(seconds for part in parts for seconds in part[1]), sent


def hold(payload: Any) -> Any:
    """Return what workers then fetch from each other."""
    return payload


def held_shards(run: str) -> list[int]:
    """Return the numbers of the shards that are open here."""
    return sorted(_run(run).shards)


def fingerprint(run: str, number: int) -> str:
    """Return the fingerprint of a shard."""
    _shard(run, number)
    return _run(run).data[number].fingerprint()


def state(run: str, number: int) -> bytes:
    """Return the state of a shard."""
    return _shard(run, number).state()


def restore(run: str, number: int, stored: bytes) -> None:
    """Go on from the state of a shard that was lost."""
    _run(run).pending.pop(number, None)
    _shard(run, number).restore(stored)


def witness(run: str, number: int) -> list[bytes]:
    """Return the dual points of a shard."""
    return list(_shard(run, number).witness())


def sizes(run: str, number: int) -> list[int]:
    """Return the sizes of a shard that the fingerprint of all needs."""
    _shard(run, number)
    return _run(run).data[number].sizes()


def print_part(run: str, number: int, total: list[int], before: list[int]) -> bytes:
    """Return this shard's part of the fingerprint of all."""
    _shard(run, number)
    return bytes(_run(run).data[number].print_part(before, total))


def close(run: str) -> None:
    """Forget the shards of a run."""
    with _lock:
        held = _runs.pop(run, None)
    if held is not None:
        # An error that was raised here, and that the worker keeps until the client forgets it, may hold the run by its traceback.
        held.read.clear()
        held.data.clear()
        held.shards.clear()
