"""Arrays, sparse matrices and data frames: the same numbers give the same model, and large ones are not copied."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_regression

from dualgap import LinearClassifier, LinearRegressor
from dualgap._arrays import spelled, unspelled


def numbers() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_regression(40, 6, noise=1.0, random_state=0)
    X[np.abs(X) < 0.7] = 0.0
    return X, y


def fitted(X: Any, y: Any) -> np.ndarray:
    model = LinearRegressor(lam=0.1, intercept=True, tolerance=1e-4).fit(X, y)
    assert np.array_equal(model.predict(X), model.predict(X))
    assert model.certify(X, y) == model.certificate_
    return model.coef_


def wide(X: Any) -> Any:
    """Return a CSR array with int64 indices."""
    X = sp.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unsorted(X: Any) -> Any:
    """Return a CSR array whose entries are in no order, and with some in two parts."""
    X = sp.coo_array(X)
    order = np.random.default_rng(0).permutation(X.nnz)
    row, col, data = (part[order] for part in (X.coords[0], X.coords[1], X.data))
    both = np.r_[row, row], np.r_[col, col], np.r_[data / 2.0, data / 2.0]
    indptr = np.r_[0, np.cumsum(np.bincount(both[0], minlength=X.shape[0]))]
    by_row = np.argsort(both[0], kind="stable")
    result = sp.csr_array((both[2][by_row], both[1][by_row], indptr), shape=X.shape)
    assert not result.has_sorted_indices
    return result


SPARSE = [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array, sp.coo_array, wide, unsorted]
DENSE = [np.asfortranarray, np.ascontiguousarray, lambda X: X.tolist(), lambda X: np.repeat(X, 2, axis=0)[::2]]


@pytest.mark.parametrize("kind", [*SPARSE, *DENSE])
def test_every_kind_of_matrix_gives_the_same_bits(kind: Any) -> None:
    # An intercept makes the rows sparse in the library, whatever they were.
    X, y = numbers()
    assert np.array_equal(fitted(kind(X), y), fitted(X, y))


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.bool_])
def test_other_numbers_are_converted_to_float64(kind: Any) -> None:
    X, y = numbers()
    X = (X * 4.0).astype(kind)
    assert np.array_equal(fitted(X, y), fitted(X.astype(np.float64), y))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_columns_are_kept_and_compared(frame: Any) -> None:
    X, y = numbers()
    names = ["age", "height", "weight", "income", "x5", "naïve"]
    table = frame({name: X[:, j] for j, name in enumerate(names)})
    model = LinearRegressor(lam=0.1, tolerance=1e-4).fit(table, y)
    assert list(model.feature_names_in_) == names == model.model_.features
    assert np.array_equal(model.coef_, LinearRegressor(lam=0.1, tolerance=1e-4).fit(X, y).coef_)
    assert model.certify(table, y) == model.certificate_
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame({name: X[:, j] for j, name in enumerate(reversed(names))}))


def test_labels_of_every_kind_come_back() -> None:
    X, _ = numbers()
    rng = np.random.default_rng(0)
    for labels in ([0, 1], [-1, 1], [1.0, 2.0], ["b", "a"], [True, False], [np.str_("x"), "y"]):
        y = rng.choice(np.array(labels), len(X))
        predicted = LinearClassifier().fit(X, y).predict(X)
        assert predicted.dtype == y.dtype and set(predicted) <= set(labels)
    for series in (pd.Series(["yes", "no"] * 20, dtype="category"), pl.Series(["yes", "no"] * 20)):
        assert list(LinearClassifier().fit(X, series).classes_) == ["no", "yes"]


@pytest.mark.parametrize("labels", [[0, 1], [-1.0, 2.0], ["01", "1"], ["no", "1"], ["1.5", "2"]])
def test_names_of_a_file_become_labels_again(labels: list[Any]) -> None:
    names = [spelled(label) for label in labels]
    assert unspelled(names).tolist() == labels
    assert [spelled(label) for label in unspelled(names)] == names


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([[1.0] * 40], "one dimension"),
        ([1.0] * 39, "inconsistent numbers of samples"),
        ([-1.0] + [1.0] * 39, "Negative values"),
        ([np.nan] + [1.0] * 39, "NaN"),
        ([0.0] * 40, "all sample weights are zero"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights: Any, words: str) -> None:
    X, y = numbers()
    with pytest.raises(ValueError, match=words):
        LinearRegressor().fit(X, y, sample_weight=weights)


def test_one_weight_for_all_changes_nothing_but_the_sum() -> None:
    X, y = numbers()
    one, two = (LinearRegressor(lam=0.1).fit(X, y, sample_weight=w).coef_ for w in (None, 2.0))
    assert np.allclose(one, two)


# Fits a matrix of about 40 MB and prints how far above the memory before the fit the peak is, as a share of the matrix.
FIT_LARGE = """
import sys, warnings
import numpy as np, scipy.sparse as sp
from dualgap import LinearRegressor

def memory(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))

n, k, d = 20_000, 160, 400
rng = np.random.default_rng(0)
if sys.argv[1] == "csr":
    # The columns of each row are sorted and distinct.
    indices = (rng.integers(0, 2, (n, 1), dtype=np.int32) + 2 * np.arange(k, dtype=np.int32)).ravel()
    values, indptr = rng.random(n * k), np.arange(0, n * k + 1, k, dtype=np.int32)
    X = sp.csr_array((values, indices, indptr), shape=(n, d))
    size = values.nbytes + indices.nbytes
else:
    X = rng.random((n, d // 2))
    size = X.nbytes
y = rng.random(n)
warnings.simplefilter("ignore")
# Dual ascent: Newton's method has matrices of its own, d by d.
LinearRegressor(solver="bcfw", passes=1).fit(X[:100], y[:100])  # loads all code
before = memory("VmRSS")
LinearRegressor(solver="bcfw", tolerance=1e-9, passes=1).fit(X, y)
print((memory("VmHWM") - before) / size)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in another way there")
@pytest.mark.parametrize("kind", ["csr", "dense"])
def test_a_large_matrix_is_not_copied(kind: str) -> None:
    run = subprocess.run([sys.executable, "-c", FIT_LARGE, kind], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 0.4, "a copy of the values alone is two thirds"
