"""Estimators that choose their lam by cross-validation, every trial with a certificate of its own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import Tags

from ._cross_validated import CrossValidated
from .chain import ChainSVM
from .linear import LinearClassifier
from .linear_regressor import LinearRegressor
from .multiclass import MulticlassSVM


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


class MulticlassSVMCV(CrossValidated, MulticlassSVM):
    """A classifier of two or more classes that chooses `lam` by cross-validation.

    Its keywords are those of MulticlassSVM without `lam` and `warm_start`, and those of the search.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dualgap import MulticlassSVMCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MulticlassSVMCV(loss="softmax", intercept=True, lams=[1.0, 0.01, 0.001]).fit(X, y)
    >>> model.score(X, y) > 0.9, model.cv_errors_.shape
    (True, (3, 5))
    """


class ChainSVMCV(CrossValidated, ChainSVM):
    """A chain of labels for each sequence that chooses `lam` by cross-validation. Folds are of whole sequences.

    Its keywords are those of ChainSVM without `lam` and `warm_start`, and those of the search.

    Examples
    --------
    >>> import numpy as np
    >>> from dualgap import ChainSVMCV
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(size=(5, 3)) for _ in range(30)]
    >>> y = [x[:, 0] + x[:, 1] > 0 for x in X]
    >>> model = ChainSVMCV(lams=[1.0, 0.01], cv=3).fit(X, y)
    >>> model.lam_
    0.01
    """

    def fit(self, X: Any, y: Any, lengths: Any = None, *, edges: Any = None, sample_weight: Any = None) -> Self:
        """Choose `lam` by cross-validation, and train the model with it on all data.

        Parameters
        ----------
        X, y, lengths, edges, sample_weight : as for ChainSVM
            The sequences and their labels.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        count = len(X) if lengths is None else len(lengths)
        # A splitter sees the number of sequences alone.
        with self._dealing(np.zeros((count, 1)), None):
            return ChainSVM.fit(self, X, y, lengths, edges=edges, sample_weight=sample_weight)
