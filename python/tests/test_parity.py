"""The estimators of scikit-learn on the same objective: values agree to within what is proven and what they promise.

With n examples, the scaling of the strengths is

    LinearSVC, LogisticRegression   lam = 1/(C n);  with an l1 penalty: lam = 0, l1 = 1/(C n)
    LinearSVR                       lam = 1/(C n)
    Ridge                           lam = alpha/n
    Lasso                           lam = 0, l1 = alpha
    ElasticNet                      lam = alpha (1 - l1_ratio), l1 = alpha l1_ratio
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
from sklearn.svm import LinearSVC, LinearSVR

from dualgap import LinearClassifier, LinearRegressor

N, C = 80, 0.7
CLASSES = make_classification(N, 10, n_informative=5, flip_y=0.1, random_state=0)
NUMBERS = make_regression(N, 10, noise=3.0, random_state=0)


def objective(loss: str, targets: np.ndarray, scores: np.ndarray, w: np.ndarray, lam: float, l1: float) -> float:
    """Return the objective, written down once more."""
    margins, residuals = targets * scores, abs(targets - scores)
    mean = {
        "hinge": np.maximum(0.0, 1.0 - margins),
        "squared-hinge": np.maximum(0.0, 1.0 - margins) ** 2,
        "logistic": np.log1p(np.exp(-margins)),
        "squared": residuals**2 / 2.0,
        "epsilon-insensitive": np.maximum(0.0, residuals - 0.5),
    }[loss].mean()
    return mean + lam / 2.0 * w @ w + l1 * abs(w).sum()


def logistic(l1_ratio: float, **keywords: Any) -> LogisticRegression:
    return LogisticRegression(C=C, l1_ratio=l1_ratio, tol=1e-10, max_iter=100_000, **keywords)


SVC: dict[str, Any] = {"C": C, "fit_intercept": False, "tol": 1e-9, "max_iter": 1_000_000, "dual": True, "random_state": 0}
TWINS = [
    (LinearSVC(loss="hinge", **SVC), LinearClassifier(loss="hinge", lam=1 / (C * N))),
    (LinearSVC(loss="squared_hinge", **SVC), LinearClassifier(loss="squared-hinge", lam=1 / (C * N))),
    (
        LinearSVC(loss="hinge", **{**SVC, "fit_intercept": True}),
        LinearClassifier(loss="hinge", lam=1 / (C * N), intercept="penalised"),
    ),
    (logistic(0.0), LinearClassifier(loss="logistic", lam=1 / (C * N), intercept=True)),
    (
        logistic(1.0, solver="liblinear", fit_intercept=False),
        LinearClassifier(loss="logistic", lam=0.0, l1=1 / (C * N)),
    ),
    (Ridge(alpha=2.0, tol=1e-12), LinearRegressor(lam=2.0 / N, intercept=True)),
    (Lasso(alpha=0.5, tol=1e-12, max_iter=100_000), LinearRegressor(lam=0.0, l1=0.5, intercept=True)),
    (
        ElasticNet(alpha=0.5, l1_ratio=0.3, tol=1e-12, max_iter=100_000),
        LinearRegressor(lam=0.5 * 0.7, l1=0.5 * 0.3, intercept=True),
    ),
    (
        LinearSVR(epsilon=0.5, C=0.1, fit_intercept=False, tol=1e-9, max_iter=1_000_000, dual=True, random_state=0),
        LinearRegressor(loss="epsilon-insensitive", epsilon=0.5, lam=1 / (0.1 * N)),
    ),
]


@pytest.mark.parametrize(("theirs", "ours"), TWINS, ids=lambda model: type(model).__name__)
def test_the_same_objective_has_the_same_optimum(theirs: BaseEstimator, ours: Any) -> None:
    X, y = CLASSES if isinstance(ours, LinearClassifier) else NUMBERS
    theirs, ours = clone(theirs).fit(X, y), clone(ours).set_params(tolerance=1e-8).fit(X, y)
    targets = 2.0 * y - 1.0 if isinstance(ours, LinearClassifier) else y
    w, b = np.ravel(theirs.coef_), np.ravel(theirs.intercept_)
    penalised = np.append(w, b) if ours.intercept == "penalised" else w
    value = objective(ours.loss, targets, X @ w + b, penalised, ours.lam, ours.l1)
    found = ours.certificate_
    # No value is below a dual one; theirs is above it by their own tolerance, which is far below a millionth here.
    assert found.dual - found.rounding <= value * (1.0 + 1e-12)
    assert value <= found.primal * (1.0 + 1e-6)
    assert found.relative_gap <= 1e-8
