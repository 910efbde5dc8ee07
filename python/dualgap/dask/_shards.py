"""What runs on the workers: their shards, kept between calls under the name of the run and their number.

A worker that was lost and started again has no shards: calls then raise :class:`ShardLost`, and the client opens them anew. All
shards of a worker share one position (v and its last change), which follows that of the client by the changes of the rounds: they
travel sparse if they are. A worker that has missed one raises :class:`Behind`, and is sent the whole.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _dualgap
from .._arrays import class_numbers, rows

#: What a shard sends: bytes, the seconds that they took to compute, and how many bytes have travelled for them.
Part = tuple[bytes, float, int]

#: How the position has changed: its serial number; "whole", "moved" or "held", as all workers have it; and the share of a change.
Step = tuple[int, str, float]


class ShardLost(RuntimeError):
    """The worker has no such shard: it was started again since."""


class Behind(RuntimeError):
    """The position of the worker is not the one before this change."""


@dataclass
class _Run:
    """What a worker holds of a run, by the number of the shard."""

    read: dict[int, tuple[Any, Any, Any, Any]] = field(default_factory=dict)
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


def read(run: str, number: int, block: Any) -> dict[str, Any]:
    """Take a block ``(X, y, weights, lengths)``, or read it from a path; return what the client must know of it."""
    X, y, weights, lengths = _from_file(block) if isinstance(block, str) else block
    X = _aligned_rows(X.tocsr()) if sp.issparse(X) else _aligned(getattr(X, "values", X), np.float64)
    y = _aligned(getattr(y, "values", y)).ravel()
    if lengths is not None:
        lengths = _aligned(lengths, np.int64).ravel()
    examples = len(y) if lengths is None else len(lengths)
    if weights is not None:
        weights = _aligned(getattr(weights, "values", weights), np.float64).ravel()
    if X.ndim != 2 or X.shape[0] != len(y):
        raise ValueError(f"shard {number} has numbers of shape {X.shape} and {len(y)} targets: every row needs one")
    if lengths is not None and ((lengths < 1).any() or lengths.sum() != len(y)):
        raise ValueError(f"shard {number} has {len(y)} rows, and the lengths of its sequences do not add up to that")
    if weights is not None and len(weights) != examples:
        raise ValueError(f"shard {number} has {examples} examples and {len(weights)} weights")
    if not examples:
        raise ValueError(f"shard {number} has no examples: every shard needs at least one, so make fewer of them")
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError(f"shard {number} has numbers that are not finite")
    _run(run).read[number] = X, y, weights, lengths
    classes, places = np.unique(y, return_inverse=True)
    by_row = weights if lengths is None or weights is None else np.repeat(weights, lengths)
    return {
        "version": _dualgap.__version__,
        "width": X.shape[1],
        "file": isinstance(block, str),
        "classes": classes if len(classes) <= 10_000 else None,
        "counts": np.bincount(places, weights=by_row, minlength=len(classes)),
        "weights": None if weights is None else weights.tobytes(),
        "total": float(examples) if weights is None else float(np.sum(weights)),
    }


def read_parts(run: str, number: int, *parts: Any) -> dict[str, Any]:
    """Take a block whose parts were computed on their own."""
    return read(run, number, parts)


def _aligned(array: Any, dtype: Any = None) -> Any:
    """Return an array that begins at an address of its type: one that has travelled may begin anywhere."""
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _aligned_rows(X: Any) -> Any:
    return sp.csr_matrix((_aligned(X.data), _aligned(X.indices), _aligned(X.indptr)), shape=X.shape)


def _from_file(path: str) -> tuple[Any, Any, None, None]:
    """Read a LIBSVM file as the program does, so that a shard has the numbers that it would have there."""
    starts, columns, values, width, y = _dualgap.read_libsvm(path)
    return sp.csr_matrix((values, columns, starts), shape=(len(y), width)), y, None, None


def open_shard(run: str, number: int, setup: dict[str, Any]) -> str:
    """Make a shard of what was read, and return its fingerprint."""
    held = _run(run)
    try:
        X, y, weights, lengths = held.read.pop(number)
    except KeyError:
        raise ShardLost(number) from None
    if sp.issparse(X) and X.shape[1] < setup["width"]:
        X = sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], setup["width"]))
    if X.shape[1] != setup["width"]:
        raise ValueError(f"shard {number} has {X.shape[1]} columns, and another has {setup['width']}")
    if setup["classes"] is None:
        targets: dict[str, Any] = {"numbers": np.ascontiguousarray(y, dtype=np.float64)}
    else:
        targets = {"classes": class_numbers(y, setup["classes"]), "labels": setup["labels"]}
    if lengths is None:
        data = _dualgap.Data.examples(rows(X), weights=weights, constant=setup["constant"], **targets)
    else:
        data = _dualgap.Data.sequences(rows(X), np.cumsum([0, *lengths]), weights=weights, **targets)
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


def _follow(run: str, step: Step, payload: bytes) -> _dualgap.Position:
    """Return the position after a step, which the first shard of a worker takes for the others."""
    held, (serial, kind, gamma) = _run(run), step
    with held.lock:
        if held.position is not None and held.serial == serial:
            return held.position
        if kind == "whole" and held.serial < serial:
            half = len(payload) // 2
            held.position = _dualgap.Position(payload[:half], payload[half:])
        elif kind == "moved" and held.position is not None and held.serial == serial - 1:
            held.position.go(payload, gamma)
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
    momentum: float,
    sigma: float,
    passes: int,
) -> Part:
    """Apply the last round and take the next one."""
    shard = _apply(run, number, last)
    at = _follow(run, step, payload)
    begin = time.perf_counter()
    change = shard.round(at, momentum, sigma, passes)
    _run(run).pending[number] = now
    return change, time.perf_counter() - begin, len(change)


def dual(run: str, number: int, last: tuple[int, float] | None) -> Part:
    """Apply the last round, and return the shard's part of the dual value."""
    shard = _apply(run, number, last)
    begin = time.perf_counter()
    part = shard.dual()
    return part, time.perf_counter() - begin, len(part)


def losses(run: str, number: int, step: Step, payload: bytes) -> Part:
    """Return the shard's losses at the weights of the position."""
    shard, held = _shard(run, number), _run(run)
    at = _follow(run, step, payload)
    if held.whole is None:
        raise ShardLost(number)
    begin = time.perf_counter()
    part = shard.losses(held.whole.weights(at.v()))
    return part, time.perf_counter() - begin, len(part)


def add(kind: str, *parts: Part) -> Part:
    """Add what shards have sent, in their order."""
    total = _dualgap.add_parts(kind, [part[0] for part in parts])
    return total, max(part[1] for part in parts), sum(part[2] for part in parts)


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


def witness(run: str, number: int) -> tuple[bytes, bytes, bytes]:
    """Return the dual points of a shard."""
    found = _shard(run, number).witness()
    return found[0], found[1], found[2]


def sizes(run: str, number: int) -> list[int]:
    """Return the sizes of a shard that the fingerprint of all needs."""
    _shard(run, number)
    return _run(run).data[number].sizes()


def digest_part(
    run: str, number: int, stage: int, before: list[int], total: list[int], digest: bytes
) -> bytes | None:
    """Return the state of the fingerprint after this shard's part of a stage."""
    _shard(run, number)
    found = _run(run).data[number].digest_part(stage, before, total, digest)
    return None if found is None else bytes(found)


def close(run: str) -> None:
    """Forget the shards of a run."""
    with _lock:
        _runs.pop(run, None)
