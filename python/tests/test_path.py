"""Paths: every claim about a lam is compared with the optimum there."""

from __future__ import annotations

import pickle
import signal
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import dualgap


@pytest.fixture(scope="module")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 6))
    return X, X @ random.normal(size=6) + random.normal(size=80)


@pytest.fixture(scope="module")
def signs() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    X = random.normal(size=(120, 5))
    return X, np.where(X @ random.normal(size=5) + 0.7 * random.normal(size=120) > 0, "yes", "no")


def ridge(X: np.ndarray, y: np.ndarray, lam: float, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the ridge solution in closed form."""
    mass = np.full(len(y), 1 / len(y)) if weights is None else weights / weights.sum()
    gram = X.T @ (mass[:, None] * X) + lam * np.eye(X.shape[1])
    return np.linalg.solve(gram, X.T @ (mass * y))


def objective(X: np.ndarray, y: np.ndarray, lam: float, w: np.ndarray, weights: np.ndarray | None = None) -> float:
    return float(np.average((X @ w - y) ** 2, weights=weights) / 2 + lam / 2 * w @ w)


def covers(path: dualgap.CertifiedPath) -> bool:
    """Return whether intervals leave no lam of the whole interval out."""
    ends = [piece.interval for piece in path]
    touching = all(upper[0] <= lower[1] for upper, lower in zip(ends[:-1], ends[1:], strict=True))
    return touching and ends[0][1] == path.high and ends[-1][0] == path.low


@pytest.mark.parametrize("weighted", [False, True])
def test_at_every_lam_the_model_is_as_near_to_the_optimum_as_it_says(numbers: Any, weighted: bool) -> None:
    X, y = numbers
    weights = np.random.default_rng(2).uniform(0.2, 3.0, len(y)) if weighted else None
    path = dualgap.path(dualgap.LinearRegressor(), X, y, 0.001, 3.0, tolerance=0.03, sample_weight=weights)
    assert covers(path) and len(path) > 2 and path.covered == (0.001, 3.0) and path.stop is None
    for lam in [*np.geomspace(0.001, 3.0, 60), *path.lams, *(piece.interval[0] for piece in path)]:
        estimator, certificate = path.at(lam)
        best = objective(X, y, lam, ridge(X, y, lam, weights), weights)
        own = objective(X, y, lam, estimator.coef_, weights)
        assert certificate.primal == pytest.approx(own, rel=1e-12)
        assert certificate.dual <= best * (1 + 1e-12)
        assert own - best <= certificate.gap_bound <= 0.03 * own and certificate.reached
    # Outside of its interval a model is worse, and it knows.
    piece = path[0]
    best = objective(X, y, 0.001, ridge(X, y, 0.001, weights), weights)
    beyond = piece.at(0.001)
    assert not beyond.reached
    assert objective(X, y, 0.001, piece.coef, weights) - best <= beyond.gap_bound


def test_a_path_of_signs_is_within_an_absolute_tolerance_of_tight_fits(signs: Any) -> None:
    X, y = signs
    estimator = dualgap.LinearClassifier(loss="hinge", l1=0.01, intercept="penalised", lam="7/n", tolerance=0.5)
    path = dualgap.path(estimator, sp.csr_array(X), y, "1/n", "100/n", absolute_tolerance=0.004)
    assert (path.low, path.high) == (1 / 120, 100 / 120) and covers(path)
    assert path.tolerance is None and path.absolute_tolerance == 0.004
    for lam in np.random.default_rng(3).uniform(path.low, path.high, 12):
        model, certificate = path.at(lam)
        tight = dualgap.LinearClassifier(loss="hinge", l1=0.01, intercept="penalised", lam=lam, tolerance=1e-7)
        tight.fit(X, y)
        w, score = np.append(model.coef_, model.intercept_), model.decision_function(X)
        own = np.maximum(0, 1 - np.where(y == "yes", 1, -1) * score).mean() + lam / 2 * w @ w + 0.01 * abs(w).sum()
        assert own == pytest.approx(certificate.primal, rel=1e-12)
        assert certificate.dual <= tight.certificate_.primal
        assert own - tight.certificate_.dual <= 0.004 * (1 + 1e-6)
    assert estimator.lam == "7/n" and not hasattr(estimator, "model_"), "the estimator is a pattern, and not fitted"


def test_the_pieces_are_fitted_estimators_of_their_lam(signs: Any) -> None:
    X, y = signs
    frame = pd.DataFrame(X, columns=list("abcde"))
    path = dualgap.path(dualgap.LinearClassifier(loss="logistic"), frame, y, 0.01, 1.0, tolerance=0.05)
    assert [piece.lam for piece in path] == sorted(path.lams, reverse=True)
    for piece in path:
        fitted = piece.estimator
        assert fitted.lam == piece.lam and fitted.stop_ == "gap_reached"
        assert list(fitted.feature_names_in_) == list("abcde") and list(fitted.classes_) == ["no", "yes"]
        assert fitted.certify(frame, y).gap_bound == pytest.approx(piece.certificate.gap_bound, rel=1e-6)
        assert fitted.score(frame, y) > 0.7
        assert piece.model is fitted.model_
        # The data are read anew by `certify`, whose bound at the own lam is that of the path.
        assert piece.at(piece.lam).primal == pytest.approx(piece.certificate.primal, rel=1e-12)
        assert piece.at(piece.lam).dual == pytest.approx(piece.certificate.dual, rel=1e-12)
    table = pd.DataFrame(path.to_dict())
    assert len(table) == len(path) == len(path[:]) and (table["gap"] <= table["worst_gap"]).all()
    assert (table["worst_gap"] <= 0.05).all() and table["passes"].sum() <= path.passes
    again = pickle.loads(pickle.dumps(path))
    assert again.at(0.1).certificate == path.at(0.1).certificate
    assert np.array_equal(again.at(0.1).estimator.predict(frame), path.at(0.1).estimator.predict(frame))


def test_sequences_and_classes_have_paths() -> None:
    random = np.random.default_rng(4)
    X = [random.normal(size=(4, 3)) for _ in range(15)]
    y = [np.where(x[:, 0] > 0, "B", "A") for x in X]
    words = [["so" if label == "A" else "we" for label in labels] for labels in y]
    rows, labels = np.concatenate(X), np.arange(60) % 3
    for estimator, arguments in [
        (dualgap.ChainSVM(), (X, y)),
        (dualgap.SequenceTagger(), (words, [list(map(str, labels)) for labels in y])),
        (dualgap.MulticlassSVM(loss="softmax"), (rows, labels)),
    ]:
        path = dualgap.path(estimator, *arguments, 0.01, 1.0, tolerance=0.1)
        assert covers(path)
        for lam in [0.02, 0.3]:
            tight = clone(estimator).set_params(lam=lam, tolerance=1e-4).fit(*arguments)
            found, certificate = path.at(lam)
            assert tight.certificate_.dual <= certificate.primal <= tight.certificate_.primal / 0.9
            assert certificate.dual <= tight.certificate_.primal
            assert len(found.predict(arguments[0])) == len(arguments[0])


def test_what_has_no_path_is_refused(numbers: Any) -> None:
    X, y = numbers
    model = dualgap.LinearRegressor()
    path = dualgap.path(model, X, y, 0.1, 1.0)
    for lam in [0.09, 1.01, 0.0, "1/n"]:
        with pytest.raises(ValueError, match="lam"):
            path.at(lam)
    with pytest.raises(ValueError, match="one tolerance"):
        dualgap.path(model, X, y, 0.1, 1.0, tolerance=0.1, absolute_tolerance=0.1)
    with pytest.raises(ValueError, match="interval"):
        dualgap.path(model, X, y, 0.0, 1.0)
    with pytest.raises(ValueError, match="relative tolerance of a path"):
        dualgap.path(model, X, y, 0.1, 1.0, tolerance=1.5)
    with pytest.raises(ValueError, match="1/n"):
        dualgap.path(model, X, y, "1/m", 1.0)
    with pytest.raises(ValueError, match="take MulticlassSVM"):
        dualgap.path(dualgap.LinearClassifier(), X, np.arange(80) % 3)
    with pytest.raises(TypeError, match="LinearRegressorCV does not have"):
        dualgap.path(dualgap.LinearRegressorCV(), X, y)


def test_a_path_that_ends_early_says_what_it_covers(signs: Any) -> None:
    X, y = signs
    model = dualgap.LinearClassifier(passes=2)
    with pytest.warns(ConvergenceWarning, match=r"covers lam from .* ended at lam=.*pass limit"):
        path = dualgap.path(model, X, y, 1e-6, 10.0, tolerance=0.001)
    assert path.stop == "pass_limit" and 1e-6 < path.covered[0] < path.covered[1] == 10.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        path.at(path.covered[0])
    with pytest.raises(RuntimeError, match=r"covers no lam.*pass limit.*allow more `passes`"):
        dualgap.path(model, X, y, 1e-7, 1e-6, tolerance=1e-9)


def test_a_callback_sees_the_runs_and_ends_the_path(signs: Any) -> None:
    X, y = signs
    seen: list[Any] = []

    def stop(certification: Any) -> bool:
        seen.append(certification)
        return len(seen) == 3

    path = dualgap.path(dualgap.LinearClassifier(callback=stop), X, y, 0.001, 1.0, tolerance=0.001)
    assert len(seen) == 3 and path.stop == "callback" and path.covered[0] > 0.001

    def fail(_: Any) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        dualgap.path(dualgap.LinearClassifier(callback=fail), X, y)


def test_ctrl_c_leaves_the_covered_part(signs: Any) -> None:
    X, y = signs
    calls = []

    def press(_: Any) -> None:
        calls.append(1)
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        dualgap.path(dualgap.LinearClassifier(callback=press), X, y, 1e-4, 1.0, tolerance=0.001)
    path = caught.value.path
    assert len(path) >= 1 and path.covered[0] > 1e-4
    assert path.at(1.0).certificate.relative_gap <= 0.001
