"""Linear models: two or more classes by the signs of scores, or numbers."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _dualgap
from ._arrays import rows, spelled
from ._base import CertifiedEstimator, number

_WIDE = {"smooth-hinge": "width", "huber": "width", "epsilon-insensitive": "epsilon"}


class LinearRegressor(RegressorMixin, CertifiedEstimator):
    """A linear model of numbers, trained to a certified optimum.

    Minimises ``mean(loss) + lam/2 ||w||^2 + l1 ||w||_1``.
    """

    _structure: ClassVar[str] = "linear"

    def __init__(
        self,
        *,
        loss: Literal["squared", "absolute", "huber", "epsilon-insensitive"] = "squared",
        width: float = 1.0,
        epsilon: float = 0.1,
        lam: float | str = "1/n",
        l1: float = 0.0,
        nonnegative: bool = False,
        intercept: bool | Literal["free", "penalised"] = False,
        tolerance: float = 0.01,
        passes: int | None = None,
        time: float | None = None,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        threads: int = 0,
        seed: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.loss = loss
        self.width = width
        self.epsilon = epsilon
        self.lam = lam
        self.l1 = l1
        self.nonnegative = nonnegative
        self.intercept = intercept
        self.tolerance = tolerance
        self.passes = passes
        self.time = time
        self.solver = solver
        self.solver_options = solver_options
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        data = _dualgap.Data.examples(
            rows(X), numbers=y.astype(np.float64), weights=weights, constant=bool(self.intercept)
        )
        loss = {"name": self.loss.replace("-", "_")}
        if self.loss in _WIDE:
            loss[_WIDE[self.loss]] = number(getattr(self, _WIDE[self.loss]), _WIDE[self.loss])
        task = {
            "structure": {"loss": loss},
            "penalty": self._penalty(),
            "free_intercept": self.intercept in (True, "free"),
        }
        self._keep(*self._run(data, task, warm_start=self._previous()))
        return self

    def predict(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self.model_.predict(_dualgap.Data.examples(rows(X), constant=bool(self.intercept)), self.threads)
