"""scikit-learn's own checks of every estimator that takes X and y.

``python python/tests/test_sklearn.py`` prints how many checks there are, and how each of them ended.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from dualgap import (
    KernelRegressor,
    KernelSVM,
    LinearClassifier,
    LinearClassifierCV,
    LinearRegressor,
    LinearRegressorCV,
    LowRankClassifier,
    LowRankRegressor,
    MulticlassSVM,
    MulticlassSVMCV,
    MultilabelClassifier,
    SparseClassifier,
    SparseRegressor,
)

# A check compares the predictions of repeated examples with those of weighted ones to seven digits: this needs a gap
# of about the square. Another has classes that count 1000 and 0.0001, where the gap takes long to become so small.
TIGHT: dict[str, Any] = {"tolerance": 1e-14, "passes": 3000, "threads": 1}

# In the trace ball so many digits take a method that converges linearly, beyond the gap that rounding allows to prove.
EXACT: dict[str, Any] = {"solver": "apg", "tolerance": None, "passes": 2000}

#: Every estimator that takes X and y. Some checks compare numbers, and these need a small tolerance.
ESTIMATORS: list[BaseEstimator] = [
    LinearClassifier(loss="hinge", intercept=True, **TIGHT),
    # Newton's method, to which long runs are handed over, ends where the gap is down to rounding: too early for seven digits.
    LinearClassifier(loss="logistic", lam=10.0, intercept=True, solver_options={"handover": False}, **TIGHT),
    LinearClassifier(loss="squared-hinge", lam=100.0, l1=0.001, intercept=True, n_jobs=2, **TIGHT),
    LinearRegressor(loss="squared", lam=1.0, **TIGHT),
    LinearRegressor(loss="huber", lam=1.0, intercept=True, **TIGHT),
    LinearRegressor(loss="squared", lam=0.0, l1=0.01, intercept=True, **TIGHT),
    MulticlassSVM(loss="hinge", lam=1.0, intercept=True, **TIGHT),
    MulticlassSVM(loss="softmax", lam=5.0, intercept=True, **TIGHT),
    SparseClassifier(loss="logistic", radius=1.0, mu=0.01, intercept=True, **TIGHT),
    SparseClassifier(loss="squared-hinge", l1=0.1, intercept=True, **TIGHT),
    SparseRegressor(loss="squared", radius=1.0, mu=1.0, **TIGHT),
    SparseRegressor(loss="squared", l1=0.1, intercept=True, **TIGHT),
    LowRankClassifier(radius=10.0, mu=1.0, intercept=True, **EXACT),
    LowRankRegressor(radius=1.0, mu=1.0, **EXACT),
    MultilabelClassifier(ball="l1", radius=1.0, mu=1.0, **TIGHT),
    MultilabelClassifier(ball="trace", radius=1.0, mu=1.0, **EXACT),
    KernelSVM(kernel="polynomial", degree=1, gamma=0.1, coef0=1.0, lam=1.0, tolerance=1e-14, passes=300),
    KernelSVM(loss="logistic", kernel="polynomial", degree=2, gamma=0.1, coef0=1.0, lam=1.0, **TIGHT),
    KernelRegressor(kernel="rbf", gamma=0.1, lam=1e-3, **TIGHT),
    # One lam: with several, repeated examples are dealt to other folds than weighted ones, and may choose another.
    LinearClassifierCV(loss="hinge", intercept=True, lams=["1/n"], cv=2, **TIGHT),
    LinearRegressorCV(loss="squared", lams=[1.0], cv=2, **TIGHT),
    MulticlassSVMCV(loss="hinge", intercept=True, lams=[1.0], cv=2, **TIGHT),
]

#: Checks that are expected to fail, by class and loss: the name of each, and why.
EXPECTED: dict[tuple[str, str], dict[str, str]] = {
    ("MulticlassSVM", "softmax"): {
        "check_class_weight_classifiers": "a lam for seven digits is too strong for a penalised intercept to win there"
    },
}


def expected(estimator: BaseEstimator) -> dict[str, str]:
    return EXPECTED.get((type(estimator).__name__, getattr(estimator, "loss", "")), {})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected)
def test_scikit_learns_checks(estimator: BaseEstimator, check: Any) -> None:
    check(estimator)


if __name__ == "__main__":
    for estimator in ESTIMATORS:
        results = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=expected(estimator))
        counts = Counter(result["status"] for result in results)
        print(estimator, "".join(f", {count} {status}" for status, count in sorted(counts.items())))
        for result in results:
            if result["status"] != "passed":
                print("   ", result["status"], result["check_name"], str(result["exception"])[:300])
