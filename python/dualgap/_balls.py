"""Weights in a ball, and the factors of weights of low rank."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from . import _dualgap
from ._arrays import weights
from ._base import CertifiedEstimator, is_auto, number, strength, whole
from ._examples import CertifiedRegressor
from ._scores import by_output, loss_keywords, loss_settings, one_of

#: The constants of methods, and how each is checked. The library would ignore all others.
_CONSTANTS = {"s": whole, "k": whole, "eta": number, "delta": number}

#: The methods that have constants. The library ignores those of others.
_WITH_CONSTANTS = ("pdbfw", "block-frank-wolfe")

#: The name of the second output that a single one gets where the library asks for several.
_NOTHING = "(always zero)"


class InBall(CertifiedEstimator):
    """An estimator whose weights are in the ball of its `radius`, with ``mu/2 ||W||^2`` in the objective."""

    #: The ball, unless it is the keyword `ball`.
    _ball: ClassVar[str | None] = None
    #: The values of the keyword `ball`.
    _balls: ClassVar[tuple[str, ...]] = ("l1", "simplex")

    solver: Any
    ball: Any
    radius: Any
    mu: Any

    def _penalty(self) -> dict[str, Any]:
        name = self._ball or one_of(self.ball, "ball", self._balls)
        return {"name": "ball", "ball": {"name": name, "radius": self._radius()}, "mu": strength(self.mu, "mu")}

    def _radius(self) -> float:
        """Return the radius, which the library checks."""
        return radius_of(self.radius)

    def _method(self) -> dict[str, Any]:
        constants = getattr(self, "constants", None)
        if constants is None:
            return super()._method()
        if self.solver not in _WITH_CONSTANTS:
            raise ValueError(f"`constants` are for the solvers {' and '.join(_WITH_CONSTANTS)}: leave them out")
        names = tuple(_CONSTANTS)
        checked = {one_of(name, "constant", names): _CONSTANTS[name](x, name) for name, x in constants.items()}
        return {**super()._method(), "constants": checked}

    @classmethod
    def _reads(cls, model: _dualgap.Model) -> bool:
        penalty = model.task["penalty"]
        balls = (cls._ball,) if cls._ball else cls._balls
        return penalty["name"] == "ball" and penalty["ball"]["name"] in balls

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        penalty = model.task["penalty"]
        found = {"ball": penalty["ball"]["name"], "radius": penalty["ball"]["radius"], "mu": penalty["mu"]}
        mine = {name: value for name, value in found.items() if name in cls._get_param_names()}
        return {**super()._keywords(model), **mine}


def radius_of(value: Any) -> float:
    """Return the keyword `radius` as a number, which is any while held-out data have not chosen it."""
    return 1.0 if is_auto(value) else number(value, "radius")


class LowRank(CertifiedEstimator):
    """The weights of a model in the trace ball: factors of low rank, U diag(s) V', with a row of V for each output."""

    @property
    def U_(self) -> np.ndarray:
        return self.model_.arrays["low_rank.u"]

    @property
    def singular_values_(self) -> np.ndarray:
        return self.model_.arrays["low_rank.s"]

    @property
    def V_(self) -> np.ndarray:
        return self.model_.arrays["low_rank.v"]

    @property
    def rank_(self) -> int:
        return len(self.singular_values_)

    def _expanded(self) -> np.ndarray:
        return expanded(self.model_)


def expanded(model: _dualgap.Model) -> np.ndarray:
    """Return the weights of a model of low rank as a matrix, with a column for each output."""
    factors = model.arrays
    return (factors["low_rank.u"] * factors["low_rank.s"]) @ factors["low_rank.v"].T


class OutputsRegressor(CertifiedRegressor):
    """A regressor of one number or several for each row: y has one dimension or two, and so have predictions."""

    #: The losses of the class.
    _losses: ClassVar[tuple[str, ...]]
    #: Whether one output is a problem of its own in the library; else a second one joins it that is always zero, whose
    #: weights are zero, so that neither the optimum nor the certificate changes.
    _alone: ClassVar[bool] = True

    loss: Any
    threads: int

    def _structure_settings(self) -> dict[str, Any]:
        return {"loss": loss_settings(self, one_of(self.loss, "loss", self._losses))}

    def _run(self, data: _dualgap.Data, task: dict[str, Any], **more: Any) -> tuple[_dualgap.Model, dict[str, Any]]:
        structure = "linear" if self._alone and self._outputs() == 1 else "multioutput"
        return super()._run(data, task, structure=structure, **more)

    def _outputs(self) -> int:
        """Return how many numbers a row has."""
        return math.prod(self._y_shape)

    def _recipe_target(self) -> dict[str, bool]:
        return {"numbers": True} if self._alone and self._outputs() == 1 else {"outputs": True}

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> _dualgap.Data:
        names = getattr(y, "columns", None)
        several = self.__sklearn_tags__().target_tags.multi_output
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, multi_output=several, y_numeric=True, reset=reset
        )
        if reset:
            # The shape of what is predicted for a row.
            self._y_shape = y.shape[1:]
        elif y.shape[1:] != self._y_shape:
            raise ValueError("these are not the data the model was trained on: y has another number of columns")
        outputs = np.ascontiguousarray(y.reshape(len(y), -1), dtype=np.float64)
        counts = weights(sample_weight, X)
        if self._outputs() == 1 and self._alone:
            return self._examples(X, counts, numbers=outputs[:, 0])
        if self._outputs() == 1:
            outputs = np.hstack([outputs, np.zeros_like(outputs)])
            return self._examples(X, counts, outputs=outputs, labels=["1", _NOTHING])
        labels = [str(name) for name in names] if names is not None else []
        if len(set(labels)) < outputs.shape[1]:
            # The names that the program gives to the outputs of a LIBSVM file.
            labels = [str(k + 1) for k in range(outputs.shape[1])]
        return self._examples(X, counts, outputs=outputs, labels=labels)

    def _shaped(self, weights: np.ndarray) -> tuple[Any, Any]:
        """Return weights with a column for each output as `coef_` and `intercept_`, in the shapes that y asks for."""
        every = weights.reshape(len(weights), -1)[:, : self._outputs()]
        coef, intercept = by_output(every, self._intercept() is not None)
        return (coef, intercept) if self._y_shape else (coef[0], float(intercept[0]))

    def predict(self, X: Any) -> np.ndarray:
        """Predict the numbers of every row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        numbers : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The predictions, with as many dimensions as y had.
        """
        data = self._unlabelled(X)
        scores = self.model_.scores(data, self.threads)[:, : self._outputs()]
        return scores.reshape(-1, *self._y_shape)

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        return {**super()._keywords(model), **loss_keywords(model.task["structure"]["loss"])}

    def _restore(self, model: _dualgap.Model) -> None:
        outputs = [name for name in model.labels if name != _NOTHING]
        self._y_shape = (len(outputs),) if len(outputs) > 1 else ()
        super()._restore(model)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
