"""The problems of the race, and their values.

    P(w) = (1/n) sum_i loss(<x_i, w>, y_i) + lambda/2 |w|^2 + sigma |w|_1        the whole file, no intercept

The losses are those of docs/linear-models.md: the squared hinge has no half, least squares has one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .sets import Set

#: What may be asked of a set of a nature.
KINDS = {
    "binary": ("hinge", "squared-hinge", "logistic", "lasso", "elastic-net", "l1-logistic"),
    "multiclass": ("crammer-singer", "softmax"),
    "regression": ("ridge", "lasso", "elastic-net"),
}

#: Values of sigma by name: shares of the smallest at which all weights are zero.
SHARES = {"0.1max": 0.1, "0.01max": 0.01}

#: The task and the loss of the program for each kind.
TASKS = {
    "hinge": ("binary", "hinge"),
    "squared-hinge": ("binary", "squared-hinge"),
    "logistic": ("binary", "logistic"),
    "l1-logistic": ("binary", "logistic"),
    "lasso": ("regression", "squared"),
    "elastic-net": ("regression", "squared"),
    "ridge": ("regression", "squared"),
    "crammer-singer": ("multiclass", "hinge"),
    "softmax": ("multiclass", "softmax"),
}


@dataclass(frozen=True)
class Problem:
    """One row of the race; `strength` is how the penalty reads in its name."""

    data: str
    kind: str
    strength: str
    lam: float
    l1: float

    @property
    def name(self) -> str:
        """Return what `--only` is matched with and records are known by."""
        return f"{self.data} {self.kind} {self.strength}"


def l1_max(data: Set, kind: str) -> float:
    """Return the smallest sigma at which no weight is needed: the largest slope of the mean loss at w = 0."""
    slopes = np.abs(data.X.T @ data.y).max() / data.n
    return float(slopes / 2 if kind == "l1-logistic" else slopes)


def rows_of(nature: str, only: tuple[str, ...], n: int) -> Iterator[tuple[str, str]]:
    """Yield kind and strength of the problems that a set of n examples takes part in."""
    for kind in only or KINDS[nature]:
        l1 = kind in ("lasso", "elastic-net", "l1-logistic")
        for strength in SHARES if l1 else strengths(n):
            yield kind, strength


def strengths(n: int) -> dict[str, float]:
    """Return the values of lambda by name, none of them twice."""
    found: dict[str, float] = {}
    for name, lam in (("10/n", 10 / n), ("1/n", 1 / n), ("1e-4", 1e-4)):
        if lam not in found.values():
            found[name] = lam
    return found


def problems_of(data: Set) -> Iterator[Problem]:
    """Yield the problems that a set takes part in."""
    for kind, strength in rows_of(data.nature, data.only, data.n):
        if strength in SHARES:
            l1 = float(f"{SHARES[strength] * l1_max(data, kind):.6g}")
            lam = float(f"{l1 / 10:.6g}") if kind == "elastic-net" else 0.0
            yield Problem(data.name, kind, strength, lam, l1)
        else:
            yield Problem(data.name, kind, strength, strengths(data.n)[strength], 0.0)


def value(data: Set, problem: Problem, w: np.ndarray) -> float:
    """Return P(w); the weights of many classes have a row for each of them, in the order of `classes`."""
    scores = np.asarray(data.X @ w.T if w.ndim == 2 else data.X @ w)
    penalty = problem.lam / 2 * float((w * w).sum()) + problem.l1 * float(np.abs(w).sum())
    return float(losses(problem.kind, scores, labels(data)).mean()) + penalty


def labels(data: Set) -> np.ndarray:
    """Return numbers as they are, and classes by their place in the order of labels."""
    return np.searchsorted(data.classes, data.y) if data.nature == "multiclass" else data.y


def losses(kind: str, a: Any, y: np.ndarray) -> np.ndarray:
    """Return the loss of each example at its score, or at its scores."""
    if kind in ("crammer-singer", "softmax"):
        rows = np.arange(len(y))
        truth = a[rows, y]
        if kind == "crammer-singer":
            a = a + 1.0
            a[rows, y] -= 1.0
            return a.max(axis=1) - truth
        top = a.max(axis=1)
        return top + np.log(np.exp(a - top[:, None]).sum(axis=1)) - truth
    if kind == "hinge":
        return np.maximum(0.0, 1.0 - y * a)
    if kind == "squared-hinge":
        return np.maximum(0.0, 1.0 - y * a) ** 2
    if kind in ("logistic", "l1-logistic"):
        return np.logaddexp(0.0, -y * a)
    return 0.5 * (a - y) ** 2
