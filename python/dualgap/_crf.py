"""What taggers have besides, as ``sklearn_crfsuite.CRF`` has it: marginals, single sentences, and weights by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _dualgap


def check_probabilities(model: _dualgap.Model) -> None:
    """Raise an error if a model of chains has no probabilities."""
    if model.task["structure"].get("loss", "hinge") != "log":
        raise ValueError(
            'a model of the hinge has no probabilities: train it with loss="log", as a conditional random field'
        )


class Crfsuite:
    """The methods and attributes of ``sklearn_crfsuite.CRF`` that an estimator with the same input gains by them."""

    classes_: np.ndarray
    features_: list[str]
    coef_: np.ndarray
    transitions_: Any
    model_: _dualgap.Model
    threads: int

    def predict(self, X: Any) -> list[list[str]]:
        """Predict a label for every token."""
        raise NotImplementedError

    def _to_predict(self, X: Any) -> tuple[_dualgap.Data | None, list[int] | None]:
        """Return data without empty sentences, if there are others, and the length of every sentence, if known."""
        raise NotImplementedError

    def predict_single(self, x: Sequence[Any]) -> list[str]:
        """Predict the labels of one sentence.

        Parameters
        ----------
        x : list of tokens
            A sentence, as ``fit`` was given many.

        Returns
        -------
        labels : list of str
            The label of every token.
        """
        return self.predict([x])[0]

    def predict_marginals(self, X: Any) -> list[list[dict[str, float]]]:
        """Return the probability of every label for every token, by a model with ``loss="log"``.

        Parameters
        ----------
        X : as in ``predict``
            A column file, or sentences.

        Returns
        -------
        marginals : list of lists of dicts
            For every token the labels with their probabilities, which add up to one.
        """
        check_is_fitted(self)
        check_probabilities(self.model_)
        data, lengths = self._to_predict(X)
        if data is None:
            return [[] for _ in lengths or []]
        table = self.model_.probabilities(data, self.threads)
        if lengths is None:
            lengths = [len(labels) for labels in self.model_.predict(data, self.threads)]
        names = [str(label) for label in self.classes_]
        rows = iter(table.tolist())
        return [[dict(zip(names, next(rows), strict=True)) for _ in range(length)] for length in lengths]

    def predict_marginals_single(self, x: Sequence[Any]) -> list[dict[str, float]]:
        """Return the probability of every label for every token of one sentence.

        Parameters
        ----------
        x : list of tokens
            A sentence.

        Returns
        -------
        marginals : list of dicts
            For every token the labels with their probabilities.
        """
        return self.predict_marginals([x])[0]

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """The weights of pairs of neighbouring labels as a dict, as sklearn-crfsuite has them."""
        check_is_fitted(self)
        names = [str(label) for label in self.classes_]
        table = np.asarray(self.transitions_)
        return {(a, b): float(table[i, j]) for i, a in enumerate(names) for j, b in enumerate(names) if table[i, j]}

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """The weights of pairs of a feature and a label that are not zero, as a dict."""
        check_is_fitted(self)
        names = [str(label) for label in self.classes_]
        places = zip(*np.nonzero(self.coef_.T), strict=True)
        return {(self.features_[f], names[k]): float(self.coef_[k, f]) for f, k in places}

    @property
    def attributes_(self) -> list[str]:
        """The names of the features, as sklearn-crfsuite calls them."""
        check_is_fitted(self)
        return self.features_
