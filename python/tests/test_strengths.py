"""Strengths that data decide: fractions of the largest l1, grids of l1 and radii, and what held-out data choose."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.linear_model import Lasso, lasso_path

import dualgap

pytestmark = pytest.mark.filterwarnings("ignore:the best l")


@pytest.fixture(scope="module")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 12))
    return X, X[:, :3].sum(axis=1) + 1.0 + random.normal(size=60)


def program(*words: Any) -> dict[str, Any]:
    """Run the program of the tests, and return what it prints."""
    run = [os.environ["DUALGAP_PROGRAM"], *map(str, words), "--json"]
    return json.loads(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def test_a_fraction_is_that_of_the_largest_l1(numbers: Any) -> None:
    X, y = numbers
    centred = X - X.mean(axis=0)
    largest = np.abs(centred.T @ (y - y.mean())).max() / len(y)
    model = dualgap.LinearRegressor(lam=0, l1="0.1max", intercept=True, tolerance=1e-9).fit(X, y)
    assert model.l1_max_ == pytest.approx(largest, rel=1e-12)
    lasso = Lasso(alpha=0.1 * largest, tol=1e-12).fit(X, y)
    assert model.coef_ == pytest.approx(lasso.coef_, abs=1e-4)
    assert model.certify(X, y).relative_gap <= 1e-9
    assert not np.any(dualgap.LinearRegressor(lam=0, l1="1max", intercept=True).fit(X, y).coef_)
    assert not hasattr(dualgap.LinearRegressor(lam=0, l1=0.1).fit(X, y), "l1_max_")
    net = dualgap.LinearRegressor(lam="0.5l1", l1="0.2max").fit(X, y).model_.task["penalty"]
    assert net["lambda"] == 0.5 * net["l1"]


@pytest.mark.parametrize("bad", ["1.5max", "0max", "max", "-0.1max", "nanmax", "x", -1.0, "0.1l1"])
def test_fractions_that_make_no_sense_are_refused(numbers: Any, bad: Any) -> None:
    with pytest.raises(ValueError, match="l1 must be"):
        dualgap.LinearRegressor(l1=bad).fit(*numbers)
    with pytest.raises(ValueError, match="lam must be"):
        dualgap.LinearRegressor(lam="0.1max").fit(*numbers)
    with pytest.raises(ValueError, match="one number at a time"):
        dualgap.LinearRegressor(lam="auto", l1="auto").fit(*numbers)


def test_a_path_over_l1_is_that_of_scikit_learn(numbers: Any) -> None:
    X, y = numbers
    path = dualgap.path(dualgap.LinearRegressor(lam=0), X, y, "0.01max", "1max", over="l1", count=5, tolerance=1e-8)
    assert len(path) == 5 and path.stop is None and path[0].nonzero == 0
    _, coefficients, _ = lasso_path(X, y, alphas=path.values, tol=1e-12)
    for point, expected in zip(path, coefficients.T, strict=True):
        assert point.coef == pytest.approx(expected, abs=2e-3)
        assert point.certificate.relative_gap <= 1e-8
        assert point.estimator.l1 == point.value
    assert list(path.to_dict()) == ["l1", "primal", "dual", "gap", "nonzero", "passes"]
    assert len(dualgap.path(dualgap.LinearRegressor(lam="0.1l1"), X, y, over="l1")) == 13
    radii = dualgap.path(dualgap.SparseRegressor(), X, y, 0.5, 2.0, over="radius", count=3)
    assert radii.values == pytest.approx([0.5, 1.0, 2.0])
    assert [np.abs(point.coef).sum() <= point.value * (1 + 1e-9) for point in radii] == [True] * 3
    for keywords, message in [({"over": "mu"}, "a path is over"), ({"count": 3}, "leave `count` out")]:
        with pytest.raises(ValueError, match=message):
            dualgap.path(dualgap.LinearRegressor(), X, y, **keywords)
    with pytest.raises(TypeError, match="radius"):
        dualgap.path(dualgap.LinearRegressor(), X, y, over="radius")
    assert pickle.loads(pickle.dumps(path))[1].value == path[1].value


def test_l1_and_lam_choose_themselves_as_in_the_program(numbers: Any, tmp_path: Path) -> None:
    X, y = numbers
    file = tmp_path / "numbers.svm"
    dump_svmlight_file(X, y, str(file), zero_based=False)
    options = ["train", "regression", file, "--seed", 3]
    for keywords, words in [({"lam": 0, "l1": "auto"}, ["--lambda", 0, "--l1", "auto"]), ({"lam": "auto"}, ["--lambda", "auto"])]:
        model = dualgap.LinearRegressor(**keywords, seed=3).fit(X, y)
        told = program(*options, *words)["auto"]
        assert (model.auto_["over"], model.auto_["value"]) == (told["over"], pytest.approx(told["chosen"], rel=1e-9))
        assert model.auto_["errors"] == pytest.approx([one["error"] for one in told["candidates"]], rel=1e-6)
        assert clone(model).get_params()["lam"] == keywords["lam"]
    fraction = program(*options, "--lambda", 0, "--l1", "0.1max")
    assert dualgap.LinearRegressor(lam=0, l1="0.1max").fit(X, y).l1_max_ == pytest.approx(fraction["l1_max"], rel=1e-9)


def test_cross_validation_over_l1(numbers: Any) -> None:
    X, y = numbers
    model = dualgap.LinearRegressorCV(l1s=["0.5max", "0.1max", "0.01max"], intercept=True, cv=3).fit(X, y)
    assert model.l1_ in model.l1s_ and model.cv_errors_.shape == (3, 3) and not hasattr(model, "lam_")
    assert model.model_.task["penalty"]["sigma"] == model.l1_
    assert len(dualgap.LinearRegressorCV(l1s=True, cv=3).fit(X, y).l1s_) == 13
    for keywords in ({"l1s": []}, {"l1s": 0.1}, {"l1s": [0.1], "lams": [0.1]}, {"l1s": [0.1], "l1": 0.1}, {"l1": "auto"}):
        with pytest.raises(ValueError, match="l1|lam|auto"):
            dualgap.LinearRegressorCV(**keywords).fit(X, y)


def test_radii_choose_themselves(numbers: Any) -> None:
    X, y = numbers
    model = dualgap.SparseRegressor(radius="auto").fit(X, y)
    assert model.auto_["over"] == "radius"
    assert model.model_.task["penalty"]["ball"]["radius"] == model.auto_["value"]
    random = np.random.default_rng(1)
    users, items = random.integers(0, 20, 250), random.integers(0, 15, 250)
    ratings = 3 + np.outer(random.normal(size=20), random.normal(size=15))[users, items]
    completed = dualgap.MatrixCompletion().fit(users, items, ratings)
    best = int(np.argmin(completed.auto_["errors"]))
    assert completed.auto_["value"] == completed.auto_["values"][best]
