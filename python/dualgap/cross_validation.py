"""Estimators that choose their lam by cross-validation, every trial with a certificate of its own."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Tags

from ._cross_validated import CrossValidated
from .linear import LinearClassifier
from .linear_regressor import LinearRegressor


class LinearClassifierCV(CrossValidated, LinearClassifier):
    """A linear classifier of two classes that chooses `lam` by cross-validation.

    Its keywords are those of LinearClassifier without `lam` and `warm_start`, and those of the search.

    Examples
    --------
    >>> import dualgap
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = dualgap.LinearClassifierCV(lams=[1.0, 0.1, 0.001], tolerance=0.05).fit(X, y)
    >>> model.lams_
    array([1.   , 0.1  , 0.001])
    >>> bool(model.cv_gaps_.max() <= 0.05)
    True
    >>> bool(model.cv_mean_errors_[model.best_index_] == model.cv_mean_errors_.min())
    True
    """

    def _classified(self, X: Any, y: Any, *arguments: Any, **keywords: Any) -> Any:
        found = super()._classified(X, y, *arguments, **keywords)
        # One lam for several problems would have to be judged by all of them at once.
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: take MulticlassSVMCV, "
                "whose problem is one for all classes"
            )
        return found

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class LinearRegressorCV(CrossValidated, LinearRegressor):
    """A linear model of numbers that chooses `lam` by cross-validation.

    Its keywords are those of LinearRegressor without `lam` and `warm_start`, and those of the search.

    Examples
    --------
    >>> import dualgap
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> X = X / X.std(axis=0)
    >>> model = dualgap.LinearRegressorCV(intercept=True, one_standard_error=True).fit(X, y)
    >>> model.score(X, y) > 0.4
    True
    """
