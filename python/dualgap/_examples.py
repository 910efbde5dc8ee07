"""Estimators of independent examples: a row of X for each, with a class or a number.

A subclass writes its keywords, ``_task`` and what its weights are called; ``fit``, ``certify`` and reading the data are
here.
"""

from __future__ import annotations

import json
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _dualgap
from ._arrays import (
    CONSTANT,
    class_numbers,
    class_targets,
    class_weights,
    feature_names,
    rows,
    spelled,
    unspelled,
    weights,
)
from ._base import CertifiedEstimator
from ._certificate import Certificate


def is_path(X: Any) -> bool:
    """Return whether these are not data but the path of a file that has them."""
    return isinstance(X, str | PathLike)


class ExamplesEstimator(CertifiedEstimator):
    """An estimator of rows. If a subclass has an `intercept`, it is False, True or ``"free"``, or ``"penalised"``."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train the model until its certified gap is within the tolerance.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features), or a path
            The rows. Float64 in row-major order, and CSR with int32 indices, are not copied; all else is converted. A path
            names a data file, which is mapped and not read, or a LIBSVM file; it has the targets, too.
        y : array of shape (n_samples,)
            The targets; none if X is a path.
        sample_weight : array of shape (n_samples,), default=None
            What each example counts in the mean loss. Without weights all count the same.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if is_path(X):
            return self._fit_file(X, y, sample_weight)
        data = self._labelled(X, y, sample_weight, reset=True)
        self._keep(*self._run(data, self._task(), recipe=self._recipe(), warm_start=self._previous()))
        return self

    def _fit_file(self, path: str | PathLike[str], y: Any, sample_weight: Any) -> Self:
        """Train the model on the examples of a file."""
        if y is not None:
            raise ValueError("the targets are those of the file: leave out y")
        counts = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        data, told = self._of_file(path, weights=counts)
        model, report = self._run(data, self._task(), recipe=told["recipe"], warm_start=self._previous())
        # What else a fit knows from its arrays is known from the model.
        self._restore(model)
        self._keep(model, report)
        return self

    def _of_file(self, path: str | PathLike[str], **how: Any) -> tuple[_dualgap.Data, dict[str, Any]]:
        """Return the examples of a file, and what is told of them."""
        constant = self._intercept() is not None
        recipe = {"format": "libsvm", "folds": None, "constant": constant, **self._recipe_target()}
        request = json.dumps({"structure": self._structure_settings(), "recipe": recipe})
        return _dualgap.Data.read(self._structure, path, request, threads=self.threads, **how)

    def certify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Certificate:
        if not is_path(X):
            return super().certify(X, y, sample_weight)
        check_is_fitted(self)
        data, _ = self._of_file(X, purpose="test", names_of=self.model_)
        return self._certified(self.model_, data, sample_weight)

    certify.__doc__ = CertifiedEstimator.certify.__doc__

    def _task(self) -> dict[str, Any]:
        """Return the problem in the library's JSON form: the structure, the penalty, and what goes with them."""
        task = {
            "structure": self._structure_settings(),
            "penalty": self._penalty(),
            "free_intercept": self._intercept() == "free",
            "scaling": getattr(self, "scale", "none"),
        }
        if getattr(self, "class_weight", None) is not None:
            task["class_weights"] = class_weights(self.class_weight)
        return task

    def _structure_settings(self) -> dict[str, Any]:
        """Return the fields of the structure, such as its loss."""
        raise NotImplementedError

    def _intercept(self) -> str | None:
        """Return the kind of intercept: free, penalised, or None."""
        intercept = getattr(self, "intercept", False)
        kinds = {False: None, True: "free", "free": "free", "penalised": "penalised"}
        try:
            return kinds[intercept]
        except (KeyError, TypeError):
            raise ValueError(f'intercept must be False, True, "free" or "penalised", not {intercept!r}') from None

    def _recipe(self) -> dict[str, Any] | None:
        """Return how the program reads such data: from LIBSVM files, whose features have no names."""
        if feature_names(getattr(self, "feature_names_in_", None)) is not None:
            return None
        constant = self._intercept() is not None
        return {"format": "libsvm", "folds": None, "constant": constant, **self._recipe_target()}

    def _recipe_target(self) -> dict[str, bool]:
        """Return what the program reads as the target, unless it is a class."""
        return {}

    def _examples(self, X: Any, sample_weight: np.ndarray | None = None, **targets: Any) -> _dualgap.Data:
        """Return validated arrays as data of the library."""
        return _dualgap.Data.examples(
            rows(X),
            features=feature_names(getattr(self, "feature_names_in_", None)),
            constant=self._intercept() is not None,
            weights=sample_weight,
            **targets,
        )

    def _unlabelled(self, X: Any) -> _dualgap.Data:
        """Return rows to predict."""
        check_is_fitted(self)
        if is_path(X):
            return self._of_file(X, purpose="predict", names_of=self.model_)[0]
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self._examples(X)

    def _restore(self, model: _dualgap.Model) -> None:
        super()._restore(model)
        names = model.features
        constant = self._intercept() is not None
        if names:
            self.feature_names_in_ = np.array([name for name in names if name != CONSTANT], dtype=object)
        self.n_features_in_ = model.width - int(constant)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class CertifiedClassifier(ClassifierMixin, ExamplesEstimator):
    """A classifier of rows. It sets `classes_`, and reads class weights from ``class_weight``."""

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> _dualgap.Data:
        X, numbers, counts = self._classified(X, y, sample_weight, reset=reset)
        return self._examples(X, counts, classes=numbers, labels=[spelled(label) for label in self.classes_])

    def _classified(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Return validated rows, the number of each example's class, and weights; a reset sets `classes_`."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=reset)
        if reset:
            self.classes_, numbers = class_targets(y)
            if len(self.classes_) < 2:
                raise ValueError(
                    f"Classifier can't train when only one class is present: all examples are of {self.classes_[0]!r}"
                )
        else:
            numbers = class_numbers(y, self.classes_)
        return X, numbers, weights(sample_weight, X)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of every row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        classes : ndarray of shape (n_samples,)
            The predictions, of `classes_`.
        """
        data = self._unlabelled(X)
        return self.classes_[np.asarray(self.model_.predict(data, self.threads), dtype=np.intp)]

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        keywords = super()._keywords(model)
        stored = model.task.get("class_weights")
        if stored is not None and "class_weight" in cls._get_param_names():
            # A model file has the weights of balanced classes as numbers, one for each class.
            named = dict(stored["named"])
            labels = unspelled(model.labels).tolist()
            keywords["class_weight"] = {label: named.get(spelled(label), 1.0) for label in labels}
        return keywords

    def _restore(self, model: _dualgap.Model) -> None:
        self.classes_ = unspelled(model.labels)
        super()._restore(model)


class CertifiedRegressor(RegressorMixin, ExamplesEstimator):
    """A regressor of rows: one number for each."""

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> _dualgap.Data:
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, y_numeric=True, reset=reset)
        return self._examples(X, weights(sample_weight, X), numbers=y.astype(np.float64, copy=False))

    def _recipe_target(self) -> dict[str, bool]:
        return {"numbers": True}

    def predict(self, X: Any) -> np.ndarray:
        """Predict a number for every row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        numbers : ndarray of shape (n_samples,)
            The predictions.
        """
        data = self._unlabelled(X)
        return self.model_.predict(data, self.threads)
