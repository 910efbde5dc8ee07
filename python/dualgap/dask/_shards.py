"""What runs on the workers: their shards, kept between calls under the name of the run and their number.

A worker that was lost and started again has no shards: calls then raise :class:`ShardLost`, and the client opens them anew.
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _dualgap
from .._arrays import class_numbers, rows

#: What a shard sends: bytes, the seconds that they took to compute, and how many bytes have travelled for them.
Part = tuple[bytes, float, int]

#: The examples that were read, the library's data, and the shards, by run and number.
_read: dict[tuple[str, int], tuple[Any, Any, Any]] = {}
_data: dict[tuple[str, int], _dualgap.Data] = {}
_shards: dict[tuple[str, int], _dualgap.Shard] = {}
#: The round that a shard has taken and not applied.
_pending: dict[tuple[str, int], int] = {}
_lock = threading.Lock()


class ShardLost(RuntimeError):
    """The worker has no such shard: it was started again since."""


def read(run: str, number: int, block: Any) -> dict[str, Any]:
    """Take a block ``(X, y, weights)``, or read it from a path; return what the client must know of it."""
    X, y, weights = _from_file(block) if isinstance(block, str) else block
    X = _aligned_rows(X.tocsr()) if sp.issparse(X) else _aligned(getattr(X, "values", X), np.float64)
    y = _aligned(getattr(y, "values", y)).ravel()
    if weights is not None:
        weights = _aligned(getattr(weights, "values", weights), np.float64).ravel()
    if X.ndim != 2 or X.shape[0] != len(y) or (weights is not None and len(weights) != len(y)):
        raise ValueError(f"shard {number} has {X.shape} numbers, {len(y)} targets, and as many weights as it has examples")
    if not len(y):
        raise ValueError(f"shard {number} has no examples: every shard needs at least one, so make fewer of them")
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError(f"shard {number} has numbers that are not finite")
    _read[run, number] = X, y, weights
    classes, places = np.unique(y, return_inverse=True)
    return {
        "version": _dualgap.__version__,
        "examples": len(y),
        "width": X.shape[1],
        "classes": classes if len(classes) <= 10_000 else None,
        "counts": np.bincount(places, weights=weights, minlength=len(classes)),
        "weights": None if weights is None else weights.tobytes(),
        "total": float(len(y)) if weights is None else float(np.sum(weights)),
    }


def _aligned(array: Any, dtype: Any = None) -> Any:
    """Return an array that begins at an address of its type: one that has travelled may begin anywhere."""
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _aligned_rows(X: Any) -> Any:
    return sp.csr_matrix((_aligned(X.data), _aligned(X.indices), _aligned(X.indptr)), shape=X.shape)


def _from_file(path: str) -> tuple[Any, Any, None]:
    from sklearn.datasets import load_svmlight_file

    # LIBSVM counts columns from one. To guess it, as is the default, would give shards different columns.
    X, y = load_svmlight_file(path, zero_based=False)
    return X, y, None


def open_shard(run: str, number: int, setup: dict[str, Any]) -> str:
    """Make a shard of what was read, and return its fingerprint."""
    key = run, number
    try:
        X, y, weights = _read.pop(key)
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
    data = _dualgap.Data.examples(rows(X), weights=weights, constant=setup["constant"], **targets)
    request = {**setup["request"], "threads": setup["request"]["threads"] or _own_threads()}
    shard = _dualgap.Shard(setup["structure"], data, json.dumps(request), setup["arrays"], setup["total"])
    with _lock:
        _data[key], _shards[key] = data, shard
        _pending.pop(key, None)
    return data.fingerprint()


def _own_threads() -> int:
    from distributed import get_worker

    try:
        return int(get_worker().state.nthreads)
    except (ValueError, AttributeError):
        return 1


def _shard(run: str, number: int) -> _dualgap.Shard:
    try:
        return _shards[run, number]
    except KeyError:
        raise ShardLost(number) from None


def _apply(run: str, number: int, last: tuple[int, float] | None) -> None:
    """Apply the last round, if it is the one that the shard has taken and not applied yet."""
    if last is not None and _pending.get((run, number)) == last[0]:
        _pending.pop((run, number))
        _shard(run, number).apply(last[1])


def take_round(
    run: str, number: int, v: bytes, last: tuple[int, float] | None, now: int, sigma: float, passes: int
) -> Part:
    """Apply the last round and take the next one."""
    shard = _shard(run, number)
    _apply(run, number, last)
    begin = time.perf_counter()
    change = shard.round(v, sigma, passes)
    _pending[run, number] = now
    return change, time.perf_counter() - begin, len(change)


def dual(run: str, number: int, last: tuple[int, float] | None) -> Part:
    """Apply the last round, and return the shard's part of the dual value."""
    shard = _shard(run, number)
    _apply(run, number, last)
    _pending.pop((run, number), None)
    begin = time.perf_counter()
    part = shard.dual()
    return part, time.perf_counter() - begin, len(part)


def losses(run: str, number: int, w: bytes) -> Part:
    """Return the shard's losses at these weights."""
    begin = time.perf_counter()
    part = _shard(run, number).losses(w)
    return part, time.perf_counter() - begin, len(part)


def add(kind: str, *parts: Part) -> Part:
    """Add what shards have sent, in their order."""
    total = _dualgap.add_parts(kind, [part[0] for part in parts])
    return total, max(part[1] for part in parts), sum(part[2] for part in parts)


def state(run: str, number: int) -> bytes:
    """Return the state of a shard."""
    return _shard(run, number).state()


def restore(run: str, number: int, stored: bytes) -> None:
    """Go on from the state of a shard that was lost."""
    _shard(run, number).restore(stored)


def witness(run: str, number: int) -> tuple[bytes, bytes, bytes]:
    """Return the dual points of a shard."""
    found = _shard(run, number).witness()
    return found[0], found[1], found[2]


def sizes(run: str, number: int) -> list[int]:
    """Return the sizes of a shard that the fingerprint needs."""
    _shard(run, number)
    return _data[run, number].sizes()


def digest_part(
    run: str, number: int, stage: int, before: list[int], total: list[int], digest: bytes
) -> bytes | None:
    """Return the state of the fingerprint after this shard's part of a stage."""
    _shard(run, number)
    found = _data[run, number].digest_part(stage, before, total, digest)
    return None if found is None else bytes(found)


def close(run: str) -> None:
    """Forget the shards of a run."""
    with _lock:
        for held in (_read, _data, _shards, _pending):
            for key in [key for key in held if key[0] == run]:
                del held[key]
