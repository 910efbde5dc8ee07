"""From numpy, scipy and data frames to the data of the library."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _dualgap


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


def spelled(label: Any) -> str:
    """Return the name that a label has in a model file: whole numbers are spelled without a point."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)
