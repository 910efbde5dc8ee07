"""Losses by name, and classifiers that have a score for every class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from . import _dualgap
from ._base import number
from ._examples import CertifiedClassifier
from ._linear import _WIDE


def one_of(value: Any, name: str, choices: tuple[str, ...]) -> Any:
    """Return a keyword that is one of some words."""
    if value not in choices:
        raise ValueError(f"there is no {name} {value!r}: take one of {', '.join(choices)}")
    return value


def only_binary(reason: str) -> ValueError:
    """Return the error for more than two classes, in the words that scikit-learn has for it."""
    return ValueError(f"Only binary classification is supported. The type of the target is multiclass: {reason}")


def loss_settings(estimator: Any, loss: str) -> dict[str, Any]:
    """Return a loss in the library's JSON form, with its number from the keywords of an estimator."""
    settings: dict[str, Any] = {"name": loss.replace("-", "_")}
    if loss in _WIDE:
        settings[_WIDE[loss]] = number(getattr(estimator, _WIDE[loss]), _WIDE[loss])
    return settings


def loss_keywords(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords of a loss as a model file has it."""
    numbers = {name: value for name, value in settings.items() if name != "name"}
    return {"loss": settings["name"].replace("_", "-"), **numbers}


def by_output(weights: np.ndarray, constant: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return weights with a row for every column of X, and a last one for the constant, as coefficients and intercepts.

    Both have a row for each output.
    """
    outputs = weights.T
    return (outputs[:, :-1], outputs[:, -1]) if constant else (outputs, np.zeros(len(outputs)))


def _has_probabilities(estimator: ScoringClassifier) -> bool:
    """Return whether the loss has probabilities; else raise the error that says so."""
    if estimator.loss not in estimator._probable:
        raise AttributeError(f'probabilities need loss="{estimator._probable[0]}"')
    return True


class ScoringClassifier(CertifiedClassifier):
    """A classifier with a score for every class, or with one whose sign tells two classes apart.

    Two classes that have a score each are shown as one, the difference of the second and the first.
    """

    #: The losses of the class.
    _losses: ClassVar[tuple[str, ...]]
    #: Those that have probabilities.
    _probable: ClassVar[tuple[str, ...]] = ("softmax",)

    loss: Any
    threads: int

    def _structure_settings(self) -> dict[str, Any]:
        return {"loss": loss_settings(self, one_of(self.loss, "loss", self._losses))}

    def _run(self, data: _dualgap.Data, task: dict[str, Any], **more: Any) -> tuple[_dualgap.Model, dict[str, Any]]:
        return super()._run(data, task, arrays=self._completion(), **more)

    def _completion(self) -> dict[str, Any]:
        """Return what completes the structure besides its settings: the costs of mistakes."""
        costs = getattr(self, "costs", None)
        if costs is None:
            return {}
        costs, classes = np.array(costs, dtype=np.float64), len(self.classes_)
        if costs.shape != (classes, classes):
            raise ValueError(
                f"costs must have a row and a column for each of the {classes} classes, and its shape is {costs.shape}"
            )
        return {"costs": costs}

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        structure = model.task["structure"]
        return {**super()._keywords(model), **loss_keywords(structure.get("of", structure)["loss"])}

    def _class_weights(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of one score, or of one for each class, as coefficients and intercepts."""
        coef, intercept = by_output(weights.reshape(len(weights), -1), self._intercept() is not None)
        if len(self.classes_) == 2 and len(coef) == 2:
            return coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        return coef, intercept

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes, one score, which is positive for the second class; else the score of each class.
        """
        data = self._unlabelled(X)
        scores = self.model_.scores(data, self.threads)
        if scores.shape[1] == 1:
            return scores[:, 0]
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        scores = self.decision_function(X)
        numbers = (scores > 0.0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[numbers]

    predict.__doc__ = CertifiedClassifier.predict.__doc__

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes, if the loss has them.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            The probabilities, which add up to one.
        """
        data = self._unlabelled(X)
        each = self.model_.probabilities(data, self.threads)
        return np.hstack([1.0 - each, each]) if each.shape[1] == 1 else each

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithms of the probabilities of the classes, if the loss has them.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            The logarithms of what ``predict_proba`` returns.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))
