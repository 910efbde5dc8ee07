"""What linear models have in common: a loss of one score, weights, and an intercept."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from . import _dualgap
from ._base import number
from ._examples import ExamplesEstimator

#: The losses that have a number, and the keyword of this number.
_WIDE = {"smooth-hinge": "width", "huber": "width", "epsilon-insensitive": "epsilon"}

#: What scikit-learn calls our losses.
_ELSEWHERE = {
    "log_loss": "logistic",
    "squared_hinge": "squared-hinge",
    "squared_error": "squared",
    "absolute_error": "absolute",
    "epsilon_insensitive": "epsilon-insensitive",
}


class LinearMixin(ExamplesEstimator):
    """The settings and the weights of a linear model."""

    _structure: ClassVar[str] = "linear"
    _losses: ClassVar[tuple[str, ...]]
    loss: str

    def _structure_settings(self) -> dict[str, Any]:
        if self.loss not in self._losses:
            ours = _ELSEWHERE.get(self.loss)
            remedy = f"its name is {ours!r}" if ours in self._losses else f"take one of {', '.join(self._losses)}"
            raise ValueError(f"there is no loss {self.loss!r}: {remedy}")
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
