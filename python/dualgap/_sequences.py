"""Lists of sequences to one matrix and back: a row for every position, sequence by sequence."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array


def stacked(X: Any, lengths: Any, *, name: str = "X", empty: bool = False) -> tuple[Any, np.ndarray]:
    """Return the rows of all sequences as one matrix, and the bounds of the sequences in it.

    Parameters
    ----------
    X : list of matrices, or one matrix
        A matrix for each sequence, or one for all of them.
    lengths : array of int or None
        The number of rows of each sequence, if X is one matrix.
    name : str
        What the argument is called in messages.
    empty : bool
        Whether a sequence may be empty.
    """
    if lengths is not None:
        matrix = check_array(X, accept_sparse="csr", dtype=np.float64, order="C", input_name=name)
        return matrix, _bounds(lengths, matrix.shape[0], name, empty)
    if sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object):
        raise ValueError(
            f"{name} is one matrix, and it is not clear where a sequence ends: give `lengths`, the number of rows of "
            "each, or a list with a matrix for each"
        )
    parts = [_part(x, i, name) for i, x in enumerate(X)]
    if not parts:
        raise ValueError(f"{name} has no sequences")
    for i, part in enumerate(parts):
        if part.shape[1] != parts[0].shape[1]:
            raise ValueError(
                f"sequence {i} of {name} has {part.shape[1]} columns, and sequence 0 has {parts[0].shape[1]}: all "
                "positions have the same features"
            )
        if not empty and part.shape[0] == 0:
            raise ValueError(f"sequence {i} of {name} is empty: leave it out, with its labels")
        values = part.data if sp.issparse(part) else part
        if not np.isfinite(values).all():
            raise ValueError(f"sequence {i} of {name} contains NaN or infinity: leave it out, or fill in numbers")
    starts = np.cumsum([0, *(part.shape[0] for part in parts)])
    if any(sp.issparse(part) for part in parts):
        return sp.vstack([sp.csr_matrix(part) for part in parts], format="csr"), starts
    return np.concatenate(parts), starts


def _part(x: Any, i: int, name: str) -> Any:
    """Return the matrix of one sequence."""
    if sp.issparse(x):
        return x.tocsr().astype(np.float64)
    try:
        part = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"sequence {i} of {name} is no matrix of numbers: it needs a row for every position, all of the same width"
        ) from None
    if part.ndim != 2:
        raise ValueError(
            f"sequence {i} of {name} has {part.ndim} dimensions, and it needs two: a row for every position"
        )
    return part


def _bounds(lengths: Any, rows: int, name: str, empty: bool) -> np.ndarray:
    """Return the bounds of sequences of these lengths."""
    lengths = np.asarray(lengths)
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        raise ValueError("lengths must be whole numbers, one for each sequence")
    least = 0 if empty else 1
    if (lengths < least).any():
        i = int(np.argmax(lengths < least))
        raise ValueError(f"lengths[{i}] is {lengths[i]}: a sequence has at least {least} position{'s'[: least != 1]}")
    if lengths.sum() != rows:
        raise ValueError(f"the lengths add up to {lengths.sum()}, and {name} has {rows} rows")
    return np.cumsum([0, *lengths])


def flattened(y: Any, starts: np.ndarray, lengths: Any) -> np.ndarray:
    """Return the labels of all positions as one array."""
    sizes = np.diff(starts)
    if lengths is not None:
        labels = np.asarray(y)
        if labels.shape != (starts[-1],):
            raise ValueError(f"there are {starts[-1]} positions, and y has the shape {labels.shape}: one label for each")
        return labels
    if len(y) != len(sizes):
        raise ValueError(f"there are {len(sizes)} sequences and {len(y)} lists of labels: each needs one")
    parts = []
    for i, size in enumerate(sizes):
        part = np.asarray(y[i])
        if part.shape != (size,):
            raise ValueError(
                f"sequence {i} has {size} positions, and its labels have the shape {part.shape}: one label for each "
                "position"
            )
        parts.append(part)
    return np.concatenate(parts)
