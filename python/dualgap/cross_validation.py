"""Estimators that choose their lam by cross-validation, every trial with a certificate of its own."""

from __future__ import annotations

from ._cross_validated import CrossValidated
from .linear import LinearClassifier, LinearRegressor


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
