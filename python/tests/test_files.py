"""Model files: what was saved comes back, with the names of labels and columns."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

import dualgap
from dualgap import LinearClassifier, LinearRegressor


def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(50, 6, weights=[0.8], flip_y=0.1, random_state=0)


@pytest.mark.parametrize("intercept", [False, "free", "penalised"])
@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        LinearClassifier(loss="smooth-hinge", width=0.5, lam=0.0, l1=0.01, scale="max", class_weight="balanced"),
        LinearRegressor(loss="epsilon-insensitive", epsilon=0.2, lam=0.1, nonnegative=True, seed=3),
    ],
    ids=["classifier", "regressor"],
)
def test_a_model_comes_back_as_it_was(model: Any, names: bool, intercept: Any, tmp_path: Path) -> None:
    X, y = data()
    table = pd.DataFrame(X, columns=[f"column {j}" for j in range(X.shape[1])]) if names else X
    model.set_params(intercept=intercept).fit(table, y)
    model.save(tmp_path / "model.dualgap")
    again = dualgap.load(tmp_path / "model.dualgap")
    assert type(again) is type(model)
    assert np.array_equal(again.coef_, model.coef_) and np.array_equal(again.intercept_, model.intercept_)
    assert again.n_features_in_ == X.shape[1] and hasattr(again, "feature_names_in_") == names
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # about names that are there or missing
        assert np.array_equal(again.predict(table), model.predict(table))
        assert again.certify(table, y) == again.certificate_ == model.certificate_
    for keyword in ("loss", "lam", "l1", "scale", "nonnegative", "intercept", "seed"):
        assert getattr(again, keyword) == getattr(model, keyword), keyword
    # What was loaded is trained again like what was saved: the same problem, and balanced weights as numbers.
    again.set_params(tolerance=model.tolerance).fit(table, y)
    assert again.certificate_ == model.certificate_ and np.array_equal(again.coef_, model.coef_)


@pytest.mark.parametrize("labels", [(3, 7), ("no", "yes"), (False, True)], ids=str)
def test_labels_come_back(labels: tuple[Any, Any], tmp_path: Path) -> None:
    X, y = data()
    named = np.array(labels)[y]
    model = LinearClassifier().fit(X, named)
    model.save(tmp_path / "model.dualgap")
    again = dualgap.load(str(tmp_path / "model.dualgap"))
    # Truth values have no form of their own in a file.
    expected = model.predict(X).astype(str) if labels == (False, True) else model.predict(X)
    assert again.predict(X).tolist() == expected.tolist()


def test_without_its_witness_a_dual_value_is_a_word(tmp_path: Path) -> None:
    X, y = data()
    model = LinearClassifier().fit(X, y)
    model.save(tmp_path / "model.dualgap", witness=False)
    again = dualgap.load(tmp_path / "model.dualgap")
    assert model.certify(X, y).evidence == "witness" and again.certify(X, y).evidence == "word"
    with pytest.raises(ValueError, match="witness"):
        again.set_params(warm_start=True).fit(X, y)


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.dualgap"
    with pytest.raises(FileNotFoundError, match="model.dualgap"):
        dualgap.load(path)
    path.write_bytes(b"no model")
    with pytest.raises(ValueError, match="model.dualgap"):
        dualgap.load(path)
