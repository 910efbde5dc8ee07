"""Estimators under a kernel: their objectives computed anew, their optima by other estimators on explicit features."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, LinearSVC, LinearSVR

import dualgap
from dualgap import KernelRegressor, KernelSVM

N, D = 50, 3
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N, D))
Y = np.where((X**2).sum(axis=1) + 0.5 * RNG.normal(size=N) > D, "out", "in")
SIGNS = np.where(Y == "out", 1, -1)
CLASSES = np.digitize((X**2).sum(axis=1) + 0.5 * RNG.normal(size=N), [2.0, 3.5])
NUMBERS = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=N)

KERNELS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"kernel": "rbf", "gamma": 0.7}, {"metric": "rbf", "gamma": 0.7}),
    (
        {"kernel": "polynomial", "gamma": 0.5, "degree": 2, "coef0": 1.0},
        {"metric": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.0},
    ),
    ({"kernel": "linear"}, {"metric": "linear"}),
]
LOSSES = {
    "hinge": lambda m: np.maximum(0, 1 - m),
    "smooth-hinge": lambda m: np.where(m >= 1, 0, np.where(m <= 0, 0.5 - m, (1 - m) ** 2 / 2)),
    "squared-hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "logistic": lambda m: np.logaddexp(0, -m),
}


def explicit(gram: np.ndarray) -> np.ndarray:
    """Returns rows whose inner products are the matrix."""
    values, vectors = np.linalg.eigh(gram)
    return vectors * np.sqrt(np.maximum(values, 0.0))


@pytest.mark.parametrize(("ours", "theirs"), KERNELS, ids=lambda value: value.get("kernel", ""))
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_objective_of_two_classes_is_what_it_says(ours: Any, theirs: Any, loss: Any) -> None:
    counts = RNG.integers(1, 4, size=N)
    model = KernelSVM(loss=loss, lam=0.05, tolerance=1e-4, **ours).fit(X, Y, sample_weight=counts)
    gram = pairwise_kernels(X, X[model.support_], **theirs)
    scores = gram @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    np.testing.assert_array_equal(model.n_support_, [np.sum(Y[model.support_] == c) for c in ("in", "out")])
    norm = model.dual_coef_[0] @ scores[model.support_]
    objective = np.average(LOSSES[loss](SIGNS * scores), weights=counts) + 0.05 / 2 * norm
    assert model.certificate_.primal == pytest.approx(objective, rel=1e-9)
    assert model.certificate_.relative_gap <= 1e-4
    assert model.certify(X, Y).primal == model.certificate_.primal
    assert hasattr(model, "predict_proba") == (loss == "logistic")


def test_classes_have_a_joint_hinge() -> None:
    costs = np.array([[0, 1, 2], [1, 0, 1], [2, 3, 0.0]])
    model = KernelSVM(gamma=0.5, lam=0.05, costs=costs, tolerance=1e-4).fit(X, CLASSES)
    scores = pairwise_kernels(X, X[model.support_], metric="rbf", gamma=0.5) @ model.dual_coef_.T
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-9)
    losses = (costs[CLASSES] + scores).max(axis=1) - scores[np.arange(N), CLASSES]
    norm = (model.dual_coef_.T * scores[model.support_]).sum()
    assert model.certificate_.primal == pytest.approx(losses.mean() + 0.05 / 2 * norm, rel=1e-9)
    np.testing.assert_array_equal(model.n_support_, np.bincount(CLASSES[model.support_], minlength=3))
    np.testing.assert_array_equal(model.predict(X), scores.argmax(axis=1))


def test_the_optimum_is_that_of_a_linear_machine_on_explicit_features() -> None:
    gram = pairwise_kernels(X, metric="rbf", gamma=0.7)
    rows = explicit(gram)
    ours = KernelSVM(gamma=0.7, lam=0.02, tolerance=1e-7).fit(X, Y)
    theirs = LinearSVC(loss="hinge", C=1 / (0.02 * N), fit_intercept=False, tol=1e-9, max_iter=10**6, random_state=0)
    theirs.fit(rows, Y)
    found = np.maximum(0, 1 - SIGNS * (rows @ theirs.coef_[0])).mean() + 0.01 * (theirs.coef_**2).sum()
    assert ours.certificate_.dual - ours.certificate_.rounding <= found
    assert found == pytest.approx(ours.certificate_.primal, rel=1e-5)
    np.testing.assert_allclose(ours.decision_function(X), rows @ theirs.coef_[0], atol=1e-3)


def test_the_optimum_is_below_what_an_intercept_of_svc_leaves_without_it() -> None:
    # SVC minimises the same objective with an intercept: without the intercept its function is no better than ours, and
    # with it no worse, as ours is SVC's with an intercept of zero.
    ours = KernelSVM(gamma=0.7, lam=0.02, tolerance=1e-7).fit(X, Y)
    theirs = SVC(gamma=0.7, C=1 / (0.02 * N), tol=1e-9).fit(X, Y)
    scores = theirs.decision_function(X)
    norm = theirs.dual_coef_[0] @ (scores - theirs.intercept_)[theirs.support_]
    with_intercept = np.maximum(0, 1 - SIGNS * scores).mean() + 0.01 * norm
    without = np.maximum(0, 1 - SIGNS * (scores - theirs.intercept_)).mean() + 0.01 * norm
    assert with_intercept <= ours.certificate_.primal
    assert ours.certificate_.dual - ours.certificate_.rounding <= without


@pytest.mark.parametrize(("ours", "theirs"), KERNELS, ids=lambda value: value.get("kernel", ""))
def test_the_squared_loss_is_kernel_ridge_regression(ours: Any, theirs: Any) -> None:
    model = KernelRegressor(loss="squared", lam=0.1, tolerance=1e-10, **ours).fit(X, NUMBERS)
    metric = dict(theirs)
    ridge = KernelRidge(alpha=0.1 * N, kernel=metric.pop("metric"), **metric).fit(X, NUMBERS)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), atol=1e-4)
    gram = pairwise_kernels(X, **theirs)
    best = ((gram @ ridge.dual_coef_ - NUMBERS) ** 2).mean() / 2 + 0.05 * ridge.dual_coef_ @ gram @ ridge.dual_coef_
    assert model.certificate_.dual - model.certificate_.rounding <= best <= model.certificate_.primal + 1e-12


def test_the_epsilon_insensitive_loss_is_a_support_vector_regression() -> None:
    rows = explicit(pairwise_kernels(X, metric="rbf", gamma=0.7))
    ours = KernelRegressor(epsilon=0.05, gamma=0.7, lam=0.01, tolerance=1e-6).fit(X, NUMBERS)
    theirs = LinearSVR(epsilon=0.05, C=1 / (0.01 * N), fit_intercept=False, tol=1e-9, max_iter=10**6, random_state=0)
    theirs.fit(rows, NUMBERS)
    losses = np.maximum(0, np.abs(rows @ theirs.coef_ - NUMBERS) - 0.05)
    found = losses.mean() + 0.005 * theirs.coef_ @ theirs.coef_
    assert found == pytest.approx(ours.certificate_.primal, rel=1e-4)
    assert ours.dual_coef_.shape == (1, len(ours.support_)) and len(ours.support_) < N


def test_gamma_scale_is_that_of_scikit_learn() -> None:
    model = KernelSVM(lam=0.1).fit(X, Y)
    assert model.model_.task["structure"]["kernel"]["gamma"] == pytest.approx(1 / (D * X.var()))


def test_the_cache_of_kernel_values_changes_no_bit() -> None:
    small = KernelSVM(gamma=0.5, lam=0.01, kernel_cache=0.001).fit(X, CLASSES)
    large = KernelSVM(gamma=0.5, lam=0.01).fit(X, CLASSES)
    np.testing.assert_array_equal(small.dual_coef_, large.dual_coef_)


def test_a_warm_start_goes_on_where_the_last_run_ended() -> None:
    model = KernelSVM(gamma=0.5, lam=0.01, tolerance=1e-6, warm_start=True).fit(X, Y)
    cold = model.n_iter_
    assert model.fit(X, Y).n_iter_ < cold


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (KernelSVM(loss="logistic", kernel="polynomial", degree=2, gamma=0.5, coef0=1.0, lam=0.1), Y),
        (KernelSVM(costs=np.array([[0, 1, 2], [1, 0, 1], [2, 3, 0.0]]), lam=0.1), CLASSES),
        (KernelRegressor(loss="huber", width=0.3, kernel="linear", lam=0.1), NUMBERS),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_model_file_becomes_the_same_estimator(model: Any, y: Any, form: Any, tmp_path: Path) -> None:
    model.fit(form(X), y)
    model.save(tmp_path / "m.dualgap")
    again = dualgap.load(tmp_path / "m.dualgap")
    assert type(again) is type(model)
    for name in ("loss", "width", "kernel", "degree", "coef0", "lam"):
        assert getattr(again, name) == getattr(model, name)
    np.testing.assert_array_equal(getattr(again, "costs", None), getattr(model, "costs", None))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certify(X, y) == model.certify(X, y)
    assert sp.issparse(model.support_vectors_) == sp.issparse(again.support_vectors_) == (form is sp.csr_array)
    dense = again.support_vectors_.toarray() if form is sp.csr_array else again.support_vectors_
    np.testing.assert_array_equal(dense, X[model.support_])


@pytest.mark.parametrize(
    ("keywords", "y", "message"),
    [
        ({"kernel": "sigmoid"}, Y, "there is no kernel 'sigmoid': take one of rbf, polynomial, linear"),
        ({"gamma": "auto"}, Y, "gamma must be \"scale\" or a positive number, not 'auto'"),
        ({"gamma": 0.0}, Y, "gamma of a kernel must be a positive number, not 0"),
        ({"kernel": "polynomial", "degree": 0}, Y, "a number from 1 to 64, not 0"),
        ({"kernel": "polynomial", "coef0": -1.0}, Y, "coef0 of a polynomial kernel must not be negative"),
        ({"loss": "logistic"}, CLASSES, "more than two classes have the hinge under a kernel"),
        ({"costs": np.ones((2, 2))}, Y, "costs are for more than two classes"),
        ({"solver": "ssg"}, Y, "a kernel goes with the block-dual engine"),
        ({"lam": 0.0}, Y, "lambda must be a positive number"),
        ({"kernel_cache": -1}, Y, "kernel_cache must be a finite number that is not negative"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(keywords: dict[str, Any], y: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KernelSVM(**keywords).fit(X, y)
