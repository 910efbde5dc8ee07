"""Linear models: classes by the signs of scores, or numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from . import _dualgap
from ._base import number
from ._examples import CertifiedClassifier, CertifiedRegressor

#: The losses that have a number, and the keyword of this number.
_WIDE = {"smooth-hinge": "width", "huber": "width", "epsilon-insensitive": "epsilon"}


class _LinearMixin:
    """What both linear models have: a loss of one score, weights, and an intercept."""

    _structure: ClassVar[str] = "linear"
    _losses: ClassVar[tuple[str, ...]]

    def _structure_settings(self) -> dict[str, Any]:
        if self.loss not in self._losses:
            raise ValueError(f"there is no loss {self.loss!r}: take one of {', '.join(self._losses)}")
        loss: dict[str, Any] = {"name": self.loss.replace("-", "_")}
        if self.loss in _WIDE:
            loss[_WIDE[self.loss]] = number(getattr(self, _WIDE[self.loss]), _WIDE[self.loss])
        return {"loss": loss}

    @classmethod
    def _reads(cls, model: _dualgap.Model) -> bool:
        loss = model.task["structure"]["loss"]["name"].replace("_", "-")
        return model.structure == cls._structure and loss in cls._losses and model.task["penalty"]["name"] != "ball"

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        loss = dict(model.task["structure"]["loss"])
        return {**super()._keywords(model), "loss": loss.pop("name").replace("_", "-"), **loss}

    def _weights(self, model: _dualgap.Model) -> tuple[np.ndarray, float]:
        """Return the weights of the columns, and the intercept."""
        weights = model.arrays["weights"]
        return (weights, 0.0) if self._intercept() is None else (weights[:-1], float(weights[-1]))


class LinearClassifier(_LinearMixin, CertifiedClassifier):
    """A linear classifier, trained to a certified optimum."""

    _losses: ClassVar[tuple[str, ...]] = ("hinge", "smooth-hinge", "squared-hinge", "logistic")

    def __init__(
        self,
        *,
        loss: Literal["hinge", "smooth-hinge", "squared-hinge", "logistic"] = "hinge",
        width: float = 1.0,
        lam: float | str = "1/n",
        l1: float = 0.0,
        q_norm: bool = False,
        nonnegative: bool = False,
        intercept: bool | Literal["free", "penalised"] = False,
        scale: Literal["none", "max", "rms"] = "none",
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        tolerance: float | None = 0.01,
        absolute_tolerance: float | None = None,
        passes: int | None = None,
        oracle_calls: int | None = None,
        time: float | None = None,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        threads: int = 0,
        seed: int = 0,
        warm_start: bool = False,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.width = width
        self.lam = lam
        self.l1 = l1
        self.q_norm = q_norm
        self.nonnegative = nonnegative
        self.intercept = intercept
        self.scale = scale
        self.class_weight = class_weight
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance
        self.passes = passes
        self.oracle_calls = oracle_calls
        self.time = time
        self.solver = solver
        self.solver_options = solver_options
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    def _set_fitted(self) -> None:
        coefficients, intercept = self._weights(self.model_)
        self.coef_, self.intercept_ = coefficients[np.newaxis], np.array([intercept])

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows: positive ones stand for the second class.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            The scores.
        """
        data = self._unlabelled(X)
        return self.model_.predict(data, self.threads)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of every row."""
        return self.classes_[(self.decision_function(X) > 0.0).astype(np.intp)]


class LinearRegressor(_LinearMixin, CertifiedRegressor):
    """A linear model of numbers, trained to a certified optimum.

    Minimises ``mean(loss) + lam/2 ||w||^2 + l1 ||w||_1``.
    """

    _losses: ClassVar[tuple[str, ...]] = ("squared", "absolute", "huber", "epsilon-insensitive")

    def __init__(
        self,
        *,
        loss: Literal["squared", "absolute", "huber", "epsilon-insensitive"] = "squared",
        width: float = 1.0,
        epsilon: float = 0.1,
        lam: float | str = "1/n",
        l1: float = 0.0,
        q_norm: bool = False,
        nonnegative: bool = False,
        intercept: bool | Literal["free", "penalised"] = False,
        scale: Literal["none", "max", "rms"] = "none",
        tolerance: float | None = 0.01,
        absolute_tolerance: float | None = None,
        passes: int | None = None,
        oracle_calls: int | None = None,
        time: float | None = None,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        threads: int = 0,
        seed: int = 0,
        warm_start: bool = False,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.width = width
        self.epsilon = epsilon
        self.lam = lam
        self.l1 = l1
        self.q_norm = q_norm
        self.nonnegative = nonnegative
        self.intercept = intercept
        self.scale = scale
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance
        self.passes = passes
        self.oracle_calls = oracle_calls
        self.time = time
        self.solver = solver
        self.solver_options = solver_options
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.callback = callback
        self.verbose = verbose

    def _set_fitted(self) -> None:
        self.coef_, self.intercept_ = self._weights(self.model_)
