"""The blocks of what a user gives: every block is a shard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def blocks_of(X: Any, y: Any, sample_weight: Any, lengths: Any = None) -> list[Any]:
    """Return a path, or rows, targets, weights and the lengths of sequences, for every shard.

    >>> from dualgap.dask._blocks import blocks_of
    >>> blocks_of([[[1.0]], [[2.0]]], [["a"], ["b"]], None)
    [([[1.0]], ['a'], None, None), ([[2.0]], ['b'], None, None)]
    """
    if isinstance(X, (str, Path)):
        X = [X]
    if isinstance(X, Sequence) and X and all(isinstance(path, (str, Path)) for path in X):
        if y is not None or sample_weight is not None:
            raise ValueError("files have their own targets, and no weights: give y and sample_weight with arrays only")
        return [str(path) for path in X]
    if y is None:
        raise ValueError("y is needed, unless X are the paths of files")
    named = {"X": X, "y": y, "sample_weight": sample_weight, "lengths": lengths}
    columns = {name: _column(given, name) for name, given in named.items() if given is not None}
    counts = {name: len(column) for name, column in columns.items()}
    if len(set(counts.values())) > 1 or 0 in counts.values():
        found = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise ValueError(f"all must have the same blocks, and their numbers are {found}: rechunk them alike")
    none: list[Any] = [None] * counts["X"]
    return list(zip(*(columns.get(name, none) for name in named), strict=True))


def _column(collection: Any, name: str) -> list[Any]:
    """Return the blocks of a collection along its rows."""
    if not hasattr(collection, "to_delayed"):
        if isinstance(collection, Sequence) and not isinstance(collection, str):
            return list(collection)
        raise TypeError(f"{name} must be a Dask collection or a list of blocks, not {type(collection).__name__}")
    if getattr(collection, "ndim", 1) == 2 and hasattr(collection, "chunks") and len(collection.chunks[1]) > 1:
        collection = collection.rechunk({1: -1})
    delayed = collection.to_delayed()
    return list(delayed.ravel()) if hasattr(delayed, "ravel") else list(delayed)
