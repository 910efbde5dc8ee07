"""Estimators of rows take the path of a data file, which the program writes and the extension maps."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.model_selection import KFold

from dualgap import LinearClassifier, LinearClassifierCV, LinearRegressor, MulticlassSVM, load

PROGRAM = os.environ.get("DUALGAP_PROGRAM")
needs_program = pytest.mark.skipif(PROGRAM is None, reason="DUALGAP_PROGRAM does not name the program")


def dualgap(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    assert PROGRAM is not None
    return subprocess.run([PROGRAM, *map(str, arguments)], check=False, capture_output=True, text=True)


def table(labels: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(labels)
    X = np.where(draw.random((40, 5)) < 0.6, draw.integers(-8, 9, (40, 5)) / 4, 0.0)
    X[0, 4] = 1.0
    y = np.argmax(X[:, :labels] + draw.random((40, labels)), axis=1)
    return X, y


def converted(folder: Path, X: np.ndarray, y: np.ndarray) -> tuple[Path, Path]:
    """Write the rows as text and as a data file."""
    text, mapped = folder / "data.svm", folder / "data.mapped"
    lines = (
        " ".join([str(label), *(f"{j + 1}:{x}" for j, x in enumerate(row) if x != 0)])
        for label, row in zip(y, X, strict=True)
    )
    text.write_text("\n".join(lines) + "\n")
    run = dualgap("convert", text, "-o", mapped, "-q")
    assert run.returncode == 0, run.stderr
    return text, mapped


@needs_program
@pytest.mark.parametrize(
    ("estimator", "labels"),
    [
        (LinearClassifier(lam=0.1, intercept=True), 2),
        (LinearClassifier(lam=0.1, class_weight={0: 2.0, 1: 1.0}), 2),
        (MulticlassSVM(lam=0.1), 3),
        (LinearRegressor(lam=0.1, intercept="penalised"), 3),
    ],
)
def test_a_fit_on_a_file_is_that_on_its_arrays(tmp_path: Path, estimator: Any, labels: int) -> None:
    X, y = table(labels)
    text, mapped = converted(tmp_path, X, y)
    of_arrays = {"of": estimator.fit(sp.csr_array(X), y).model_, "predicted": estimator.predict(sp.csr_array(X))}
    for path in (mapped, str(mapped), text):
        estimator.fit(path)
        assert estimator.model_.certificate == of_arrays["of"].certificate
        assert estimator.predict(path).tolist() == of_arrays["predicted"].tolist()
        # Dense rows are added up in another order.
        assert estimator.predict(X).tolist() == pytest.approx(of_arrays["predicted"].tolist(), rel=1e-12)
        assert estimator.n_features_in_ == 5
        for data in ((mapped,), (text,), (X, y)):
            assert estimator.certify(*data).relative_gap <= estimator.tolerance
    estimator.save(tmp_path / "model")
    run = dualgap("certify", tmp_path / "model", mapped)
    assert run.returncode == 0, run.stderr
    assert load(tmp_path / "model").predict(mapped).tolist() == of_arrays["predicted"].tolist()


@needs_program
def test_what_was_altered_is_refused(tmp_path: Path) -> None:
    _, mapped = converted(tmp_path, *table(2))
    whole = mapped.read_bytes()
    mapped.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    with pytest.raises(ValueError, match=r"data.mapped: is damaged.*convert the data again"):
        LinearClassifier().fit(mapped)
    mapped.write_bytes(whole)
    with pytest.raises(ValueError, match="leave out y"):
        LinearClassifier().fit(mapped, [1, 2])
    with pytest.raises(FileNotFoundError):
        LinearClassifier().fit(tmp_path / "none.mapped")


@needs_program
def test_the_examples_of_a_file_are_dealt_into_folds_like_those_of_arrays(tmp_path: Path) -> None:
    X, y = table(2)
    text, mapped = converted(tmp_path, X, y)
    # Rows with their zeros and without are solved by other steps, which end near enough to each other.
    search = LinearClassifierCV(lams=[1.0, 0.1, 0.01], cv=4, tolerance=1e-6)
    chosen = [search.fit(*data).lam_ for data in ((X, y), (text,), (mapped,))]
    assert chosen[0] == chosen[1] == chosen[2]
    with pytest.raises(ValueError, match="give `cv` as a number"):
        LinearClassifierCV(cv=KFold(4)).fit(mapped)
