"""Cross-validation: every trial is judged by a model that others have trained."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dualgap

pytestmark = pytest.mark.filterwarnings("ignore:the best lam")


@pytest.fixture(scope="module")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 20))
    return X, X[:, :3].sum(axis=1) + 2.0 * random.normal(size=60)


@pytest.fixture(scope="module")
def signs() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    X = random.normal(size=(90, 12))
    return X, np.where(X[:, 0] + X[:, 1] + 1.5 * random.normal(size=90) > 0, "yes", "no")


def test_every_error_is_that_of_a_ridge_that_was_solved_directly(numbers: Any) -> None:
    X, y = numbers
    model = dualgap.LinearRegressorCV(lams=[10.0, 0.1, 1.0], cv=4, tolerance=1e-9).fit(X, y)
    assert model.lams_.tolist() == [10.0, 1.0, 0.1]
    for k, lam in enumerate(model.lams_):
        for fold in range(4):
            out = model.folds_ != fold
            ridge = Ridge(alpha=lam * out.sum(), fit_intercept=False, solver="svd").fit(X[out], y[out])
            error = np.sqrt(np.mean((ridge.predict(X[~out]) - y[~out]) ** 2))
            assert model.cv_errors_[k, fold] == pytest.approx(error, rel=1e-4)
            assert model.cv_certificates_[k][fold].relative_gap <= model.cv_gaps_[k] <= 1e-9
    errors = model.cv_errors_
    assert model.cv_mean_errors_ == pytest.approx(errors.mean(axis=1), rel=1e-14)
    assert model.cv_standard_errors_ == pytest.approx(errors.std(axis=1, ddof=1) / 2.0, rel=1e-12)
    assert model.best_index_ == errors.mean(axis=1).argmin() and model.lam_ == model.lams_[model.best_index_]


def test_every_error_is_that_of_a_logistic_regression_of_scikit_learn(signs: Any) -> None:
    X, y = signs
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = dualgap.LinearClassifierCV(loss="logistic", cv=cv, lams=["20/n", 0.02], tolerance=1e-8).fit(X, y)
    for k, lam in enumerate([20 / 90, 0.02]):
        assert model.lams_[k] == lam
        for fold, (train, test) in enumerate(cv.split(X, y)):
            assert (model.folds_[test] == fold).all()
            other = LogisticRegression(C=1 / (lam * len(train)), fit_intercept=False, tol=1e-10, max_iter=10_000)
            assert model.cv_errors_[k, fold] == pytest.approx(1 - other.fit(X[train], y[train]).score(X[test], y[test]))


def test_the_model_is_that_of_a_fit_with_the_chosen_lam(signs: Any) -> None:
    X, y = signs
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 90)
    keywords: dict[str, Any] = {"loss": "smooth-hinge", "intercept": True, "class_weight": "balanced", "seed": 3}
    model = dualgap.LinearClassifierCV(**keywords).fit(X, y, sample_weight=weights)
    plain = dualgap.LinearClassifier(**keywords, lam=model.lam_).fit(X, y, sample_weight=weights)
    assert np.array_equal(model.coef_, plain.coef_) and np.array_equal(model.intercept_, plain.intercept_)
    assert model.certificate_ == plain.certificate_
    assert model.certify(X, y).gap_bound == pytest.approx(plain.certify(X, y).gap_bound)
    # The default grid is about the total weight, which balancing multiplies.
    assert len(model.lams_) == 7 and model.cv_errors_.shape == (7, 5)
    assert np.diff(np.log(model.lams_)) == pytest.approx(-np.log(10) / 2)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X)) and again.lam_ == model.lam_


def test_sequences_are_held_out_whole() -> None:
    random = np.random.default_rng(4)
    lengths = random.integers(2, 6, 24)
    X = [random.normal(size=(length, 4)) for length in lengths]
    y = [np.where(x[:, 0] + random.normal(size=len(x)) > 0, "B", "A") for x in X]
    model = dualgap.ChainSVMCV(lams=[1.0, 0.05], cv=3, tolerance=1e-5).fit(X, y)
    for k, lam in enumerate(model.lams_):
        for fold in range(3):
            out = [i for i in range(24) if model.folds_[i] != fold]
            held = [i for i in range(24) if model.folds_[i] == fold]
            chain = dualgap.ChainSVM(lam=lam, tolerance=1e-7, seed=9).fit([X[i] for i in out], [y[i] for i in out])
            wrong = [chain.predict([X[i]])[0] != y[i] for i in held]
            assert model.cv_errors_[k, fold] == pytest.approx(np.concatenate(wrong).mean())
    stacked = dualgap.ChainSVMCV(lams=[1.0, 0.05], cv=3, tolerance=1e-5)
    stacked.fit(np.concatenate(X), np.concatenate(y), lengths)
    assert np.array_equal(stacked.cv_errors_, model.cv_errors_) and np.array_equal(stacked.coef_, model.coef_)
    split = dualgap.ChainSVMCV(lams=[1.0], cv=KFold(4)).fit(X, y)
    assert split.folds_.tolist() == np.repeat([0, 1, 2, 3], 6).tolist()


def test_classes_are_chosen_for_together() -> None:
    random = np.random.default_rng(5)
    X = random.normal(size=(60, 5))
    y = np.array(["a", "b", "c"])[np.argmax(X[:, :3] + random.normal(size=(60, 3)), axis=1)]
    costs = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    model = dualgap.MulticlassSVMCV(costs=costs, lams=[1.0, 0.1], cv=3, tolerance=1e-6).fit(X, y)
    for k, lam in enumerate(model.lams_):
        for fold in range(3):
            out = model.folds_ != fold
            plain = dualgap.MulticlassSVM(costs=costs, lam=lam, tolerance=1e-8, seed=9).fit(X[out], y[out])
            assert model.cv_errors_[k, fold] == pytest.approx(1 - plain.score(X[~out], y[~out]))


def test_one_standard_error_chooses_the_largest_lam_within_it(signs: Any) -> None:
    X, y = signs
    model = dualgap.LinearClassifierCV().fit(X, y)
    simple = clone(model).set_params(one_standard_error=True).fit(X, y)
    assert np.array_equal(model.cv_errors_, simple.cv_errors_), "the seed decides on the folds"
    best = model.best_index_
    most = model.cv_mean_errors_[best] + model.cv_standard_errors_[best]
    assert simple.best_index_ == np.flatnonzero(simple.cv_mean_errors_ <= most)[0] <= best
    assert len({tuple(clone(model).set_params(seed=seed).fit(X, y).folds_) for seed in range(3)}) == 3
    counts = np.array([[(y[model.folds_ == fold] == label).sum() for fold in range(5)] for label in ("no", "yes")])
    assert (np.ptp(counts, axis=1) <= 1).all(), "every class is dealt evenly"


def test_splits_that_are_no_folds_are_refused(signs: Any) -> None:
    X, y = signs
    for cv, complaint in [
        (ShuffleSplit(3, random_state=0), "once|every example"),
        (TimeSeriesSplit(3), "all examples outside"),
        ([(np.arange(45), np.arange(45, 90))], "never tests"),
        ([(np.arange(60), np.arange(60, 90))] * 2, "twice"),
        (1, "at least two"),
        (91, "n_samples = 90"),
        (-1, "cv must not be negative"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            dualgap.LinearClassifierCV(cv=cv, lams=[0.1]).fit(X, y)
    groups = np.arange(90) % 7
    given = list(GroupKFold(7).split(X, y, groups))
    model = dualgap.LinearClassifierCV(cv=given, lams=[0.1]).fit(X, y)
    assert model.cv_errors_.shape == (1, 7)
    assert all(len(set(groups[model.folds_ == fold])) == 1 for fold in range(7))
    many = np.repeat(X, 3, axis=0)
    with pytest.raises(ValueError, match="at most 256"):
        dualgap.LinearClassifierCV(cv=LeaveOneOut()).fit(many, np.repeat(y, 3))
    with pytest.raises(ValueError, match="no two labels"):
        dualgap.LinearClassifierCV(cv=KFold(2)).fit(X, np.arange(90) < 45)


def test_keywords_are_checked(signs: Any) -> None:
    X, y = signs
    names = set(dualgap.LinearClassifier().get_params())
    assert set(dualgap.LinearClassifierCV().get_params()) == names - {"lam", "warm_start"} | {
        "lams",
        "l1s",
        "cv",
        "one_standard_error",
    }
    with pytest.raises(TypeError, match="no `lam`"):
        dualgap.LinearClassifierCV(lam=0.1)
    with pytest.raises(TypeError, match="strange"):
        dualgap.LinearClassifierCV(strange=0.1)
    for lams in [[], 0.1, "1/n", [-1.0], [float("nan")], ["1/m"], ["a"]]:
        with pytest.raises(ValueError, match=r"lam|1/n"):
            dualgap.LinearClassifierCV(lams=lams).fit(X, y)
    with pytest.raises(ValueError, match="take MulticlassSVMCV"):
        dualgap.LinearClassifierCV().fit(X, np.arange(90) % 3)
    pipeline = make_pipeline(StandardScaler(), dualgap.LinearClassifierCV(lams=[0.1, 0.01])).fit(X, y)
    assert pipeline.score(X, y) > 0.7


def test_a_doubtful_choice_is_told(signs: Any, numbers: Any) -> None:
    X, y = signs
    with pytest.warns(UserWarning, match="the best lam, .*, is the smallest of those tried.*extend `lams`"):
        dualgap.LinearRegressorCV(lams=[1e4, 1e3, 0.1]).fit(*numbers)
    with (
        pytest.warns(ConvergenceWarning, match="the run ended"),
        pytest.warns(ConvergenceWarning, match="runs of the cross-validation did not reach the tolerance"),
    ):
        model = dualgap.LinearClassifierCV(lams=[1e-4, 1e-5], passes=1, tolerance=1e-6).fit(X, y)
    assert not any(trial.reached for trials in model.cv_certificates_ for trial in trials)
    assert (model.cv_gaps_ > 1e-6).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dualgap.LinearClassifierCV(lams=[0.1]).fit(X, y)


@pytest.mark.skipif("DUALGAP_PROGRAM" not in os.environ, reason="DUALGAP_PROGRAM names the program to compare with")
@pytest.mark.parametrize("task", ["binary", "regression"])
def test_the_program_finds_the_same(task: str, signs: Any, numbers: Any, tmp_path: Path) -> None:
    X, y = signs if task == "binary" else numbers
    # Few digits, so that the file has every number exactly; rows of a file are sparse.
    X, targets = X.round(3), np.where(y == "yes", 1, -1) if task == "binary" else y.round(3)
    estimator = dualgap.LinearClassifierCV if task == "binary" else dualgap.LinearRegressorCV
    dump_svmlight_file(X, targets, str(tmp_path / "data.svm"), zero_based=False)
    model = estimator(seed=5, cv=4).fit(sp.csr_array(X), targets)
    program = [os.environ["DUALGAP_PROGRAM"], "cv", task, str(tmp_path / "data.svm"), "--seed", "5", "--folds", "4"]
    found = json.loads(subprocess.run([*program, "--json"], check=True, capture_output=True).stdout)
    candidates = found["candidates"]
    assert [candidate["lambda"] for candidate in candidates] == model.lams_.tolist()
    assert [candidate["error"] for candidate in candidates] == model.cv_mean_errors_.tolist()
    assert [candidate["standard_error"] for candidate in candidates] == model.cv_standard_errors_.tolist()
