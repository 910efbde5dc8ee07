"""From numpy, scipy and data frames to the data of the library, and back from names to labels."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_non_negative, column_or_1d

from . import _dualgap

#: The name that the library gives to the column of an intercept.
CONSTANT = "(constant)"


def rows(X: Any) -> _dualgap.Rows:
    """Return a validated matrix as rows, sharing its memory where its layout allows.

    A float64 array in row-major order, and a float64 CSR matrix or array with sorted int32 indices, are not copied.
    """
    if sp.issparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        values = np.ascontiguousarray(X.data, dtype=np.float64)
        indices = np.ascontiguousarray(X.indices)
        return _dualgap.Rows.csr(np.ascontiguousarray(X.indptr), indices, values, X.shape[1])
    return _dualgap.Rows.dense(np.ascontiguousarray(X, dtype=np.float64))


def weights(sample_weight: Any, X: Any) -> np.ndarray | None:
    """Return the weight of each example as float64, or None if all count the same."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        sample_weight = np.full(X.shape[0], sample_weight, dtype=np.float64)
    result = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight", accept_sparse=False
    )
    if result.ndim != 1:
        raise ValueError(f"sample_weight must have one dimension, and it has {result.ndim}")
    check_consistent_length(X, result)
    check_non_negative(result, "`sample_weight`")
    if not result.any():
        raise ValueError("all sample weights are zero: some example must count")
    return result


def spelled(label: Any) -> str:
    """Return the name that a label has in a model file: whole numbers are spelled without a point."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def unspelled(names: Sequence[str]) -> np.ndarray:
    """Return the labels that the names of a model file stand for: whole numbers if all are such, or the names."""
    try:
        labels = np.array([int(name) for name in names], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(list(names))
    return labels if [spelled(label) for label in labels] == list(names) else np.array(list(names))


def class_targets(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes in sorted order, and the number of each example's class."""
    check_classification_targets(y)
    classes, numbers = np.unique(column_or_1d(y, warn=True), return_inverse=True)
    if len({spelled(label) for label in classes}) < len(classes):
        raise ValueError("two classes have the same name when they are written: give them other labels")
    return classes, numbers


def class_numbers(y: Any, classes: np.ndarray) -> np.ndarray:
    """Return the number of each example's class among known ones."""
    y = column_or_1d(y, warn=True)
    strange = np.setdiff1d(y, classes)
    if len(strange):
        raise ValueError(f"these are not the data the model was trained on: it knows no class {strange[0]!r}")
    return np.searchsorted(classes, y)


def class_weights(class_weight: Any) -> Any:
    """Return ``"balanced"`` or weights by class in the library's JSON form, or None."""
    if class_weight is None or class_weight == "balanced":
        return class_weight
    if not isinstance(class_weight, dict):
        raise ValueError(f'class_weight must be None, "balanced", or a dict from class to weight, not {class_weight!r}')
    return {"named": [[spelled(label), float(weight)] for label, weight in class_weight.items()]}


def feature_names(names: Any) -> list[str] | None:
    """Return the names of columns as a model file has them, or None if it cannot: they must be distinct."""
    if names is None:
        return None
    result = [str(name) for name in names]
    return result if len({*result, CONSTANT}) == len(result) + 1 else None
