"""Sparse and low-rank estimators: their objectives computed anew, their optima by other means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.datasets import make_regression
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dualgap
from dualgap import LowRankClassifier, LowRankRegressor, SparseClassifier, SparseRegressor

N, D = 60, 6
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D))
SCORES = X @ RNG.normal(size=(D, 3)) + 0.3 * RNG.normal(size=(N, 3))
CLASSES = np.array(["a", "b", "c"])[SCORES.argmax(axis=1)]
SIGNS = np.where(SCORES[:, 0] > 0.0, 1, -1)
COUNTS = RNG.integers(1, 4, size=N)

LOSSES = {
    "smooth-hinge": lambda m: np.where(m >= 1, 0, np.where(m <= 0, 0.5 - m, (1 - m) ** 2 / 2)),
    "squared-hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "logistic": lambda m: np.logaddexp(0, -m),
    "squared": lambda r: r**2 / 2,
    "huber": lambda r: np.where(np.abs(r) <= 1, r**2 / 2, np.abs(r) - 0.5),
}


def is_certificate_of(certificate: dualgap.Certificate, objective: float) -> None:
    """Asserts that the certified objective is this one, but for rounding."""
    assert certificate.primal == pytest.approx(objective, rel=1e-12, abs=1e-12)


def has_optimum(certificate: dualgap.Certificate, best: float) -> None:
    """Asserts that an optimum that was found by other means is between the bounds, which are close to it."""
    assert certificate.dual - certificate.rounding <= best + 1e-9
    assert best <= certificate.primal + 1e-6
    assert certificate.primal <= best + 1e-6


@pytest.mark.parametrize("loss", ["smooth-hinge", "squared-hinge", "logistic"])
@pytest.mark.parametrize("ball", ["l1", "simplex"])
def test_the_objective_of_two_classes_in_a_ball_is_what_it_says(loss: Any, ball: Any) -> None:
    model = SparseClassifier(loss=loss, ball=ball, radius=1.5, mu=0.02, intercept=True, tolerance=1e-6)
    model.fit(X, SIGNS, sample_weight=COUNTS)
    every = np.append(model.coef_, model.intercept_)
    assert model.coef_.shape == (1, D) and model.intercept_.shape == (1,)
    if ball == "l1":
        assert np.abs(every).sum() <= 1.5 * (1 + 1e-12)
    else:
        assert (every >= 0).all() and every.sum() == pytest.approx(1.5)
    margins = SIGNS * (X @ model.coef_[0] + model.intercept_[0])
    loss_now = np.average(LOSSES[loss](margins), weights=COUNTS)
    is_certificate_of(model.certificate_, loss_now + 0.02 / 2 * (every**2).sum())
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_[0] + model.intercept_[0], atol=1e-12)


def best_in_l1_ball(objective: Any, size: int, radius: float) -> float:
    """Minimises over the l1 ball by SciPy: weights are differences of nonnegative ones."""
    result = minimize(
        lambda z: objective(z[:size] - z[size:]),
        np.full(2 * size, radius / (4 * size)),
        method="SLSQP",
        bounds=[(0, None)] * (2 * size),
        constraints={"type": "ineq", "fun": lambda z: radius - z.sum()},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    return float(result.fun)


def test_the_optimum_in_the_l1_ball_is_the_one_that_scipy_finds() -> None:
    def objective(w: np.ndarray) -> float:
        return float(np.logaddexp(0, -SIGNS * (X @ w)).mean() + 0.01 / 2 * w @ w)

    model = SparseClassifier(loss="logistic", radius=1.0, mu=0.01, tolerance=1e-7).fit(X, SIGNS)
    has_optimum(model.certificate_, best_in_l1_ball(objective, D, 1.0))


def test_three_classes_in_the_l1_ball_have_a_joint_loss() -> None:
    def objective(w: np.ndarray) -> float:
        scores = X @ w.reshape(3, D).T
        numbers = np.searchsorted(["a", "b", "c"], CLASSES)
        tops = np.logaddexp.reduce(scores, axis=1)
        return float((tops - scores[np.arange(N), numbers]).mean() + 0.01 / 2 * w @ w)

    model = SparseClassifier(loss="logistic", radius=3.0, mu=0.01, tolerance=1e-7).fit(X, CLASSES)
    assert model.coef_.shape == (3, D) and np.abs(model.coef_).sum() <= 3.0 * (1 + 1e-12)
    is_certificate_of(model.certificate_, objective(model.coef_.ravel()))
    has_optimum(model.certificate_, best_in_l1_ball(objective, 3 * D, 3.0))
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_outputs_in_the_l1_ball_share_its_radius(loss: Any) -> None:
    def objective(w: np.ndarray) -> float:
        off = X @ w.reshape(3, D).T - SCORES
        return float(LOSSES[loss](off).sum(axis=1).mean() + 0.01 / 2 * w @ w)

    model = SparseRegressor(loss=loss, radius=2.0, mu=0.01, tolerance=1e-7).fit(X, SCORES)
    is_certificate_of(model.certificate_, objective(model.coef_.ravel()))
    has_optimum(model.certificate_, best_in_l1_ball(objective, 3 * D, 2.0))
    assert model.predict(X).shape == (N, 3)
    one = SparseRegressor(loss=loss, radius=2.0).fit(X, SCORES[:, 0])
    assert one.coef_.shape == (D,) and isinstance(one.intercept_, float) and one.predict(X).shape == (N,)


def test_pure_l1_is_the_lasso_of_scikit_learn() -> None:
    rows, y = make_regression(80, 20, n_informative=4, noise=3.0, random_state=1)
    ours = SparseRegressor(l1=2.0, intercept=True, tolerance=1e-10).fit(rows, y)
    theirs = Lasso(alpha=2.0, tol=1e-12).fit(rows, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-3)
    assert ours.sparse_coef_.nnz == (theirs.coef_ != 0).sum()


def test_pure_l1_of_two_classes_is_sparse_logistic_regression() -> None:
    ours = SparseClassifier(loss="logistic", l1=0.05, tolerance=1e-9).fit(X, SIGNS)
    theirs = LogisticRegression(
        l1_ratio=1.0, C=1 / (0.05 * N), solver="liblinear", fit_intercept=False, tol=1e-10, max_iter=10_000
    ).fit(X, SIGNS)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def project(s: np.ndarray, radius: float) -> np.ndarray:
    """Projects singular values onto those that add up to at most the radius."""
    if s.sum() <= radius:
        return s
    sums = np.cumsum(s) - radius
    count = np.flatnonzero(s * np.arange(1, len(s) + 1) > sums)[-1] + 1
    return np.maximum(s - sums[count - 1] / count, 0.0)


def best_in_trace_ball(objective: Any, gradient: Any, shape: tuple[int, int], radius: float, step: float) -> float:
    """Minimises over the trace ball by projected gradients."""
    w = np.zeros(shape)
    for _ in range(3000):
        u, s, v = np.linalg.svd(w - step * gradient(w), full_matrices=False)
        w = (u * project(s, radius)) @ v
    return float(objective(w))


def test_outputs_in_the_trace_ball_have_weights_of_low_rank() -> None:
    def objective(w: np.ndarray) -> float:
        return float(((X @ w - SCORES) ** 2).sum(axis=1).mean() / 2 + 0.01 / 2 * (w**2).sum())

    def gradient(w: np.ndarray) -> np.ndarray:
        return X.T @ (X @ w - SCORES) / N + 0.01 * w

    model = LowRankRegressor(radius=2.0, mu=0.01, tolerance=1e-8).fit(X, SCORES)
    assert model.singular_values_.sum() <= 2.0 * (1 + 1e-9)
    np.testing.assert_allclose((model.U_ * model.singular_values_) @ model.V_.T, model.coef_.T)
    assert model.U_.shape == (D, model.rank_) and model.V_.shape == (3, model.rank_)
    np.testing.assert_allclose(model.U_.T @ model.U_, np.eye(model.rank_), atol=1e-8)
    is_certificate_of(model.certificate_, objective(model.coef_.T))
    has_optimum(model.certificate_, best_in_trace_ball(objective, gradient, (D, 3), 2.0, 0.2))
    np.testing.assert_allclose(model.predict(X), X @ model.coef_.T, atol=1e-12)


def test_classes_in_the_trace_ball_reach_the_optimum_of_projected_gradients() -> None:
    numbers = np.searchsorted(["a", "b", "c"], CLASSES)
    truth = np.eye(3)[numbers]
    rows = np.hstack([X, np.ones((N, 1))])

    def objective(w: np.ndarray) -> float:
        scores = rows @ w
        losses = np.logaddexp.reduce(scores, axis=1) - (scores * truth).sum(axis=1)
        return float(losses.mean() + 0.01 / 2 * (w**2).sum())

    def gradient(w: np.ndarray) -> np.ndarray:
        scores = rows @ w
        odds = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
        return rows.T @ (odds - truth) / N + 0.01 * w

    model = LowRankClassifier(loss="softmax", radius=2.0, mu=0.01, intercept=True, tolerance=1e-7).fit(X, CLASSES)
    assert model.U_.shape == (D + 1, model.rank_)
    is_certificate_of(model.certificate_, objective(np.vstack([model.coef_.T, model.intercept_])))
    has_optimum(model.certificate_, best_in_trace_ball(objective, gradient, (D + 1, 3), 2.0, 0.5))
    np.testing.assert_allclose(model.decision_function(X), X @ model.coef_.T + model.intercept_, atol=1e-12)


def test_one_output_in_a_wide_trace_ball_is_ridge_regression() -> None:
    y = SCORES[:, 0]
    model = LowRankRegressor(radius=100.0, mu=0.1, tolerance=1e-9).fit(X, y)
    closed = np.linalg.solve(X.T @ X / N + 0.1 * np.eye(D), X.T @ y / N)
    np.testing.assert_allclose(model.coef_, closed, atol=1e-4)
    best = ((X @ closed - y) ** 2).mean() / 2 + 0.1 / 2 * closed @ closed
    assert model.certificate_.dual - model.certificate_.rounding <= best <= model.certificate_.primal
    assert model.predict(X).shape == (N,)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (SparseClassifier(loss="logistic", radius=2.0, intercept=True), SIGNS),
        (SparseClassifier(loss="logistic", ball="simplex", radius=2.0, scale="rms"), CLASSES),
        (SparseRegressor(loss="huber", width=2.0, radius=2.0), SCORES[:, 0]),
        (SparseRegressor(radius=2.0, mu=0.5), SCORES),
        (LowRankClassifier(radius=2.0, intercept=True), CLASSES),
        (LowRankRegressor(radius=2.0), SCORES),
        (LowRankRegressor(radius=2.0, intercept=True), SCORES[:, 0]),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "y",
)
def test_a_model_file_becomes_the_same_estimator(model: Any, y: np.ndarray, tmp_path: Path) -> None:
    model.fit(sp.csr_array(X), y, sample_weight=COUNTS)
    model.save(tmp_path / "m.dualgap")
    again = dualgap.load(tmp_path / "m.dualgap")
    assert type(again) is type(model)
    for name in ("loss", "radius", "scale"):
        assert getattr(again, name) == getattr(model, name)
    assert bool(again.intercept) == bool(model.intercept)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.certify(X, y) == model.certify(X, y)
    assert model.certify(X, y).primal == model.certificate_.primal


def test_outputs_keep_their_order_whatever_their_names() -> None:
    named = pd.DataFrame(SCORES, columns=["z", "a", "m"])
    model = SparseRegressor(radius=2.0).fit(X, named)
    assert model.model_.labels == ["z", "a", "m"]
    np.testing.assert_array_equal(model.coef_, SparseRegressor(radius=2.0).fit(X, SCORES).coef_)


def test_they_work_in_pipelines_and_searches() -> None:
    search = GridSearchCV(
        make_pipeline(StandardScaler(), SparseClassifier(loss="logistic")),
        {"sparseclassifier__radius": [0.01, 3.0], "sparseclassifier__ball": ["l1", "simplex"]},
        cv=2,
    )
    search.fit(X, CLASSES)
    assert search.best_params_ == {"sparseclassifier__radius": 3.0, "sparseclassifier__ball": "l1"}


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (SparseClassifier(l1=0.1, radius=1.0), SIGNS, "`l1` is a penalty in the place of a ball"),
        (SparseClassifier(l1=0.1, ball="simplex"), SIGNS, "`l1` is a penalty in the place of a ball"),
        (SparseClassifier(ball="trace"), SIGNS, "there is no ball 'trace': take one of l1, simplex"),
        (SparseClassifier(loss="hinge"), SIGNS, "a ball needs a smooth loss"),
        (SparseClassifier(loss="squared-hinge"), CLASSES, "squared hinge is a loss of two classes"),
        (SparseClassifier(loss="log"), SIGNS, "there is no loss 'log': take one of"),
        (SparseClassifier(radius=0.0), SIGNS, "the radius of a ball is positive, not 0"),
        (SparseClassifier(radius=-1.0), SIGNS, "radius must be a finite number that is not negative"),
        (SparseClassifier(mu="1/m"), SIGNS, "a multiple of 1/n"),
        (SparseClassifier(solver="bcfw"), SIGNS, "there is no solver `bcfw` in a ball"),
        (SparseClassifier(solver="stochastic-frank-wolfe"), SIGNS, "for the trace ball"),
        (SparseClassifier(loss="logistic", solver="pdbfw"), SIGNS, "give a delta of your own"),
        (SparseClassifier(solver="pdbfw", constants={"etta": 0.5}), SIGNS, "there is no constant 'etta'"),
        (SparseClassifier(solver="pdbfw", constants={"s": 0}), SIGNS, "at least one entry"),
        (SparseClassifier(solver="apg", constants={"eta": 0.5}), SIGNS, "`constants` are for the solvers pdbfw and"),
        (SparseClassifier(intercept="free"), SIGNS, "an intercept without penalty does not go with a ball"),
        (SparseRegressor(loss="absolute"), SCORES[:, 0], "a ball needs a smooth loss"),
        (SparseRegressor(l1=0.1), SCORES, "y should be a 1d array"),
        (LowRankClassifier(intercept="free"), CLASSES, "intercept must be False or True"),
        (LowRankClassifier(costs=np.ones((2, 2))), CLASSES, "for each of the 3 classes"),
        (LowRankRegressor(loss="absolute"), SCORES, "there is no loss 'absolute': take one of squared, huber"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(model: Any, y: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_constants_of_the_papers_method_are_taken() -> None:
    model = SparseClassifier(solver="pdbfw", constants={"s": np.int64(6), "k": 2}, radius=1.0, mu=0.1).fit(X, SIGNS)
    assert model.certificate_.reached and model.model_.provenance["method"]["constants"]["s"] == 6
