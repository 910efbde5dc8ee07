"""Files of weights: one number a line, or a model of LIBLINEAR."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np


def is_model_file(path: str | Path) -> bool:
    """Return whether a file is one of this package's models, and not one of weights as text."""
    with Path(path).open("rb") as file:
        # The length of the header, in eight bytes of which the last are zero; no text has such.
        return b"\0" in file.read(8)


def read_weights(
    path: str | Path, classes: np.ndarray, intercept: str | None, features: int
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the weights of a file, a row for each score, and the intercepts if the file has them apart.

    LIBLINEAR's weights of two classes are those of its first label; here they become those of the second class.
    """
    lines = Path(path).read_text().splitlines()
    if not lines or not lines[0].startswith("solver_type"):
        return _numbers(path, lines, 0).T, None
    header = {}
    for place, line in enumerate(lines):
        if line.strip() == "w":
            break
        name, _, value = line.partition(" ")
        header[name] = value
    else:
        raise ValueError(f"{path}: has no line `w`: is it a whole model of LIBLINEAR?")
    weights = _numbers(path, lines, place + 1).T
    bias = float(header.get("bias", -1))
    if bias >= 0.0:
        if bias != 1.0 or intercept != "penalised":
            raise ValueError(
                f"{path}: was trained with -B {bias:g}: its problem has intercept=\"penalised\", and -B must be 1"
            )
    elif intercept is not None:
        raise ValueError(f"{path}: was trained without -B, and the problem has an intercept: leave it out")
    expected = int(header.get("nr_feature", features)) + (bias >= 0.0)
    if weights.shape[1] != expected:
        raise ValueError(f"{path}: has weights of {weights.shape[1]} features, and its header says {expected}")
    weights = _widened(weights, features + (bias >= 0.0), bias >= 0.0)
    labels = header.get("label", "").split()
    if weights.shape[0] == 1:
        if len(labels) == 2 and len(classes) == 2 and _same(labels[0], classes[0]):
            weights = -weights
    elif labels:
        order = [k for name in classes for k, label in enumerate(labels) if _same(label, name)]
        if len(order) != len(classes):
            raise ValueError(f"{path}: knows the labels {', '.join(labels)}, and y has others")
        weights = weights[order]
    return weights, None


def _same(label: str, name: object) -> bool:
    """Return whether a label of a file is a class of y."""
    try:
        return float(label) == float(name)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return label == str(name)


def _widened(weights: np.ndarray, width: int, constant: bool) -> np.ndarray:
    """Return weights with zeros for features that the file does not know: they never occurred in its data."""
    missing = width - weights.shape[1]
    if missing <= 0:
        return weights
    zeros = np.zeros((weights.shape[0], missing))
    split = weights.shape[1] - constant
    return np.hstack([weights[:, :split], zeros, weights[:, split:]])


def _numbers(path: str | Path, lines: list[str], first: int) -> np.ndarray:
    """Return the numbers of lines, which all have as many."""
    rows: list[list[float]] = []
    for place, line in enumerate(lines[first:], start=first + 1):
        if not line.strip():
            continue
        try:
            row = [float(word) for word in line.split()]
        except ValueError:
            row = [math.nan]
        if not all(map(math.isfinite, row)) or (rows and len(row) != len(rows[0])):
            raise ValueError(f"{path}:{place}: a line has a finite number for each score, and not {line.strip()!r}")
        rows.append(row)
    if not rows:
        raise ValueError(f"{path}: has no weights")
    return np.array(rows)
