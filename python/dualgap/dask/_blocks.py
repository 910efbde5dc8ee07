"""The blocks of what a user gives: every block is a shard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def blocks_of(X: Any, y: Any, sample_weight: Any) -> list[Any]:
    """Return a path, or a triple of rows, targets and weights, for every shard."""
    if isinstance(X, (str, Path)):
        X = [X]
    if isinstance(X, Sequence) and X and all(isinstance(path, (str, Path)) for path in X):
        if y is not None or sample_weight is not None:
            raise ValueError("files have their own targets, and no weights: give y and sample_weight with arrays only")
        return [str(path) for path in X]
    if y is None:
        raise ValueError("y is needed, unless X are the paths of files")
    columns = [_column(X, "X"), _column(y, "y")]
    if sample_weight is not None:
        columns.append(_column(sample_weight, "sample_weight"))
    lengths = {len(column) for column in columns}
    if len(lengths) > 1 or 0 in lengths:
        raise ValueError(
            f"X, y and weights must have the same blocks, and have {', '.join(str(len(column)) for column in columns)} of "
            "them: rechunk them alike"
        )
    return [(*parts, None)[:3] for parts in zip(*columns, strict=True)]


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
