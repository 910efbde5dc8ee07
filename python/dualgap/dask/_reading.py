"""What a worker makes a shard of: arrays, files, graphs, or inputs of a user's oracle.

Reading says what the client must know of a shard; with what it has found out of all of them, :func:`data_of` makes the data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import _dualgap
from .._arrays import class_numbers, feature_names, rows
from ..matching import SURE, graph_data, graphs_of, marks_of
from ..structured import listed, own_data
from . import _pages

#: What data files begin with.
_DATA_FILE = b"dualgap data file"
#: More different targets than this are no classes.
_MOST_CLASSES = 10_000


@dataclass
class Arrays:
    """Rows, targets, weights, and the lengths of sequences."""

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    lengths: np.ndarray | None


@dataclass
class Own:
    """Inputs and outputs of a user's oracle."""

    X: list[Any]
    y: list[Any]
    weights: np.ndarray | None


@dataclass
class Graphs:
    """Graphs, which have nothing that the other shards decide."""

    data: _dualgap.Data


#: What was read.
Read = Arrays | Own | Graphs | _dualgap.Data


def read(number: int, block: Any, how: dict[str, Any]) -> tuple[Read, dict[str, Any]]:
    """Take a block ``(X, y, weights, lengths)``, or read it from a path; return it with what the client must know of it."""
    if isinstance(block, str):
        mapped = _is_mapped(block)
        if mapped or how["structure"] == "chain":
            return _of_library(block, how, mapped)
        block = libsvm(block, how["threads"])
        held, info = _arrays(number, *block)
        return held, {**info, "file": True}
    if how["structure"] == "python":
        return _own(number, *block)
    if how["structure"] == "matching":
        return _graphs(number, *block)
    return _arrays(number, *block)


def data_of(number: int, held: Read, setup: dict[str, Any]) -> _dualgap.Data:
    """Return the data of a shard, with the columns and labels of all of them."""
    if isinstance(held, Own):
        return own_data(setup["arrays"]["oracle"], held.X, held.y, held.weights)
    if isinstance(held, Graphs):
        return held.data
    if isinstance(held, Arrays):
        return _data_of_arrays(number, held, setup)
    return held.in_common(setup["width"], setup["labels"] or [], setup["features"], constant=setup["constant"])


def _is_mapped(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_DATA_FILE)) == _DATA_FILE


def _of_library(path: str, how: dict[str, Any], mapped: bool) -> tuple[_dualgap.Data, dict[str, Any]]:
    """Read a file as the program does. The rows of a data file stay in it."""
    if mapped:
        _pages.watch()
    request = json.dumps({"structure": how["settings"], "recipe": how["recipe"]})
    data, told = _dualgap.Data.read(how["structure"], path, request, purpose="shard", threads=how["threads"])
    about = data.about()
    labels = about["labels"]
    return data, {
        "width": about["width"],
        "file": True,
        "classes": None if labels is None or len(labels) > _MOST_CLASSES else np.array(labels, dtype=object),
        "counts": None if labels is None else np.array(about["counts"], dtype=np.float64),
        **_weighed(None, about["examples"]),
        "rows": about["rows"],
        "features": about["features"],
        "feature_counts": about["feature_counts"],
        "recipe": told["recipe"],
    }


def libsvm(path: str, threads: int) -> tuple[Any, Any, None, None]:
    """Read a LIBSVM file as the program does, so that a shard has the numbers that it would have there."""
    starts, columns, values, width, y = _dualgap.read_libsvm(path, threads)
    return sp.csr_matrix((values, columns, starts), shape=(len(y), width)), y, None, None


def _own(number: int, X: Any, y: Any, weights: Any, _: Any) -> tuple[Own, dict[str, Any]]:
    X, y = listed(X), listed(y)
    if len(X) != len(y):
        raise ValueError(f"shard {number} has {len(X)} inputs and {len(y)} outputs")
    weights = _checked_weights(number, weights, len(X))
    return Own(X, y, weights), {"width": 0, "file": False, "classes": None, "counts": None, **_weighed(weights, len(X))}


def _graphs(number: int, X: Any, y: Any, weights: Any, _: Any) -> tuple[Graphs, dict[str, Any]]:
    weights = _checked_weights(number, weights, len(X))
    graphs = graphs_of(X)
    marks = marks_of(y, graphs)
    about = {"width": graphs[0][1].shape[1], "sure": bool((marks == SURE).any()), **_weighed(weights, len(graphs))}
    return Graphs(graph_data(graphs, marks, weights)), about


def _arrays(number: int, X: Any, y: Any, weights: Any, lengths: Any) -> tuple[Arrays, dict[str, Any]]:
    names = list(getattr(X, "columns", [])) if lengths is None else []
    X = _aligned_rows(X.tocsr()) if sp.issparse(X) else _aligned(getattr(X, "values", X), np.float64)
    y = _aligned(getattr(y, "values", y)).ravel()
    if lengths is not None:
        lengths = _aligned(lengths, np.int64).ravel()
    examples = len(y) if lengths is None else len(lengths)
    if X.ndim != 2 or X.shape[0] != len(y):
        raise ValueError(f"shard {number} has numbers of shape {X.shape} and {len(y)} targets: every row needs one")
    if lengths is not None and ((lengths < 1).any() or lengths.sum() != len(y)):
        raise ValueError(f"shard {number} has {len(y)} rows, and the lengths of its sequences do not add up to that")
    weights = _checked_weights(number, weights, examples)
    if not np.isfinite(X.data if sp.issparse(X) else X).all():
        raise ValueError(f"shard {number} has numbers that are not finite")
    classes, places = np.unique(y, return_inverse=True)
    by_row = weights if lengths is None or weights is None else np.repeat(weights, lengths)
    return Arrays(X, y, weights, lengths), {
        "width": X.shape[1],
        # As scikit-learn has it, only texts are names.
        "features": (feature_names(names) or []) if all(isinstance(name, str) for name in names) else [],
        "file": False,
        "classes": classes if len(classes) <= _MOST_CLASSES else None,
        "counts": np.bincount(places, weights=by_row, minlength=len(classes)),
        **_weighed(weights, examples),
    }


def _checked_weights(number: int, weights: Any, examples: int) -> np.ndarray | None:
    if not examples:
        raise ValueError(f"shard {number} has no examples: every shard needs at least one, so make fewer of them")
    if weights is None:
        return None
    weights = _aligned(getattr(weights, "values", weights), np.float64).ravel()
    if len(weights) != examples:
        raise ValueError(f"shard {number} has {examples} examples and {len(weights)} weights")
    return weights


def _weighed(weights: np.ndarray | None, examples: int) -> dict[str, Any]:
    return {
        "examples": examples,
        "weights": None if weights is None else weights.tobytes(),
        "total": float(examples) if weights is None else float(np.sum(weights)),
    }


def _aligned(array: Any, dtype: Any = None) -> Any:
    """Return an array that begins at an address of its type: one that has travelled may begin anywhere."""
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _aligned_rows(X: Any) -> Any:
    return sp.csr_matrix((_aligned(X.data), _aligned(X.indices), _aligned(X.indptr)), shape=X.shape)


def _data_of_arrays(number: int, held: Arrays, setup: dict[str, Any]) -> _dualgap.Data:
    X = held.X
    if sp.issparse(X) and X.shape[1] < setup["width"]:
        X = sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], setup["width"]))
    if X.shape[1] != setup["width"]:
        raise ValueError(f"shard {number} has {X.shape[1]} columns, and another has {setup['width']}")
    if setup["classes"] is None:
        targets: dict[str, Any] = {"numbers": np.ascontiguousarray(held.y, dtype=np.float64)}
    else:
        targets = {"classes": class_numbers(held.y, setup["classes"]), "labels": setup["labels"]}
    if held.lengths is None:
        return _dualgap.Data.examples(rows(X), weights=held.weights, constant=setup["constant"], **targets)
    return _dualgap.Data.sequences(rows(X), np.cumsum([0, *held.lengths]), weights=held.weights, **targets)
