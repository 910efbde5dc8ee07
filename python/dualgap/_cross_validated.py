"""What turns an estimator with a `lam` into one that chooses it, or its `l1`, by cross-validation."""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv

from . import _dualgap
from ._base import sigma, strength, whole
from ._certificate import Certificate

#: The program's default grid: seven lam, each √10 times the next.
_GRID = ("100/n", "0.1/n", 7)

#: The keywords of the search and their defaults.
_SEARCH = {"lams": None, "l1s": None, "cv": 5, "one_standard_error": False}

#: What an estimator has and its form with cross-validation has not: the search takes their place.
_REPLACED = ("lam", "warm_start")


#: What the docstring of every class says of the search, before its examples.
_DOCUMENTATION = """Parameters
    ----------
    lams : sequence of float or str, or None, default=None
        The lam to try, numbers or multiples of 1/n as text. By default seven from ``"100/n"`` to ``"0.1/n"``, each √10
        times the next.
    l1s : sequence of float or str, True or None, default=None
        The l1 to try in the place of lam, which is then zero: numbers, or fractions such as ``"0.1max"`` of the smallest
        with which all weights are zero. True stands for thirteen from ``"1max"`` to ``"0.001max"``. The attributes are
        then `l1_` and `l1s_` in the place of `lam_` and `lams_`.
    cv : int, splitter or iterable of (train, test) pairs, default=5
        A number of folds, which are dealt by the `seed` (evenly from every class, if there are classes) as the program
        does; or a splitter of scikit-learn or its pairs, whose test sets hold every example once.
    one_standard_error : bool, default=False
        Whether to choose the largest lam whose mean error is within one standard error of the smallest, in the place of
        the one with the smallest: nearly as good, and simpler.

    Attributes
    ----------
    lam_ : float
        The lam that was chosen; the model of all data is trained with it, as any other.
    lams_ : ndarray of shape (n_lams,)
        The lam that were tried, the largest first.
    best_index_ : int
        The index of `lam_` in `lams_`.
    cv_errors_ : ndarray of shape (n_lams, n_folds)
        The error on each fold: the fraction of wrong labels, or the root mean squared error of numbers.
    cv_mean_errors_, cv_standard_errors_ : ndarrays of shape (n_lams,)
        Its mean over the folds, and the standard error of this mean.
    cv_gaps_ : ndarray of shape (n_lams,)
        The largest proven gap of a trial, as a fraction of the objective. All are within the tolerance, unless a
        warning says otherwise: no lam looks worse than another because its training ended too early.
    cv_certificates_ : list of lists of Certificate
        The certificate of every trial, by lam and fold.
    folds_ : ndarray of shape (n_samples,)
        The fold of each example.

    """


class CrossValidated:
    """A mixin before an estimator with a `lam`: ``fit`` chooses it, or `l1`, by cross-validation, then trains on all data.

    A subclass has the keywords of the estimator, but for `lam` and `warm_start`, and those of the search.
    """

    lams: Any
    l1s: Any
    cv: Any
    one_standard_error: bool

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        cls.__init__ = _constructor(cls)  # type: ignore[method-assign]
        if cls.__doc__ is not None:
            cls.__doc__ = cls.__doc__.replace("Examples\n", f"{_DOCUMENTATION}Examples\n", 1)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose `lam` by cross-validation, and train the model with it on all data.

        Parameters
        ----------
        X, y : as for the estimator without cross-validation
            The training data.
        sample_weight : array of shape (n_samples,), default=None
            What each example counts in training. A held-out example counts once, whatever its weight.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with self._dealing(X, y):
            return super().fit(X, y, sample_weight=sample_weight)  # type: ignore[misc]

    @contextmanager
    def _dealing(self, X: Any, y: Any) -> Iterator[None]:
        """Have the folds at hand while `fit` runs. X has a row for each example, and y may be None."""
        counted = isinstance(self.cv, Integral)
        if not counted and isinstance(X, str | PathLike):
            raise ValueError("the examples of a file are dealt into folds by their number: give `cv` as a number")
        self._folds = whole(self.cv, "cv") if counted else _dealt(self.cv, X, y, is_classifier(self))
        try:
            yield
        finally:
            del self._folds

    def _solve(
        self, structure: str, data: _dualgap.Data, request: dict[str, Any], arrays: dict[str, Any], **keywords: Any
    ) -> tuple[_dualgap.Model, dict[str, Any]]:
        """Search, and train on all data with the lam that was found."""
        if isinstance(self._folds, int) and not 2 <= self._folds <= len(data):
            raise ValueError(
                f"cv={self._folds} and n_samples = {len(data)}: there must be at least two folds, and none may be empty"
            )
        over = "lambda" if self.l1s is None else "l1"
        if over == "l1" and self.lams is not None:
            raise ValueError("the search is over lam or over l1: leave `lams` or `l1s` out")
        if over == "l1" and self.l1 != 0.0:
            raise ValueError("the search is over l1: leave `l1` out")
        if request.get("auto") is not None:
            raise ValueError("the search chooses by its folds itself: leave \"auto\" out")
        values, count = _grid(self.lams) if over == "lambda" else _l1_grid(self.l1s)
        if over == "l1":
            task = request["task"]
            penalty = {**task["penalty"], "lambda": 0.0, "l1": "1max"}
            request = {**request, "task": {**task, "penalty": penalty}}
        found = _dualgap.cross_validate(
            structure,
            data,
            json.dumps(request, allow_nan=False),
            arrays,
            values,
            self._folds,
            over=over,
            count=count,
            seed=whole(self.seed, "seed"),
            callback=_show if getattr(self, "verbose", False) else None,
        )
        chosen = self._set_found(found, over)
        task = request["task"]
        task = {**task, "penalty": {**task["penalty"], over: chosen}}
        return super()._solve(structure, data, {**request, "task": task}, arrays, **keywords)  # type: ignore[misc]

    def _set_found(self, found: dict[str, Any], over: str) -> float:
        """Set the attributes of the search, warn of what makes its choice doubtful, and return what it has chosen."""
        values = np.array(found["values"])
        self.cv_errors_ = np.array(found["errors"], dtype=np.float64)
        self.cv_mean_errors_ = np.array(found["mean"], dtype=np.float64)
        self.cv_standard_errors_ = np.array(found["standard_error"], dtype=np.float64)
        self.cv_gaps_ = np.array(found["worst_gap"], dtype=np.float64)
        self.cv_certificates_ = [
            [Certificate._of(trial, reached) for trial, reached in zip(trials, ends, strict=True)]
            for trials, ends in zip(found["certificates"], found["reached"], strict=True)
        ]
        self.folds_ = np.array(found["folds"])
        self.best_index_ = found["simplest" if self.one_standard_error else "best"]
        chosen = float(values[self.best_index_])
        name = "lam" if over == "lambda" else "l1"
        for other in ("lam", "l1"):
            for attribute, value in ((f"{other}_", chosen), (f"{other}s_", values)):
                if other == name:
                    setattr(self, attribute, value)
                elif hasattr(self, attribute):
                    delattr(self, attribute)
        reached = np.array(found["reached"])
        if not reached.all():
            warnings.warn(
                f"{(~reached).sum()} of {reached.size} runs of the cross-validation did not reach the tolerance (the "
                f"largest gap is {self.cv_gaps_.max():.2g} of the objective): allow more `passes` or `time`, or a "
                "larger `tolerance`",
                ConvergenceWarning,
                stacklevel=7,
            )
        if found["edge"] is not None:
            warnings.warn(
                f"the best {name}, {values[found['best']]:.3g}, is the {found['edge']} of those tried, and a better "
                f"one may lie beyond it: extend `{name}s`",
                UserWarning,
                stacklevel=7,
            )
        return chosen


def _constructor(cls: type) -> Any:
    """Return the ``__init__`` of a class: that of the estimator, and the keywords of the search.

    scikit-learn reads the parameters of an estimator from the signature of this function.
    """
    estimator: Any = next(base for base in cls.__mro__[1:] if "__init__" in base.__dict__)
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [inspect.Parameter(name, keyword, default=default) for name, default in _SEARCH.items()]
    others = [
        parameter
        for name, parameter in inspect.signature(estimator.__init__).parameters.items()
        if name != "self" and name not in _REPLACED
    ]

    def __init__(self: Any, **keywords: Any) -> None:
        for name in _REPLACED:
            if name in keywords:
                raise TypeError(f"{cls.__name__} has no `{name}`: it chooses lam itself, among `lams`")
        for name, default in _SEARCH.items():
            setattr(self, name, keywords.pop(name, default))
        estimator.__init__(self, **keywords)

    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = inspect.Signature([this, *own, *others])  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    return __init__


def _show(done: int, runs: int) -> None:
    """Say how far the search is."""
    print(f"cross-validation: {done} of {runs} runs", file=sys.stderr)


def _l1_grid(l1s: Any) -> tuple[list[str], int | None]:
    """Return the l1 to try as text; without any, the library chooses them."""
    if l1s is True:
        return [], None
    if isinstance(l1s, (str, Integral, float)) or not isinstance(l1s, Iterable):
        raise ValueError(f'l1s must be True, or a sequence of numbers or of fractions such as "0.1max", not {l1s!r}')
    texts = [l1 if isinstance(l1, str) else repr(sigma(l1, "l1s")) for l1 in l1s]
    if not texts:
        raise ValueError("l1s is empty: give at least one l1 to try")
    return texts, None


def _grid(lams: Any) -> tuple[list[str], int | None]:
    """Return the lam to try as text; with a number of them, they are the ends of a grid."""
    if lams is None:
        *ends, count = _GRID
        return ends, count
    if isinstance(lams, (str, Integral, float)) or not isinstance(lams, Iterable):
        raise ValueError(f"lams must be a sequence of numbers or of multiples of 1/n, not {lams!r}")
    texts = [lam if isinstance(lam, str) else repr(strength(lam, "lams")) for lam in lams]
    if not texts:
        raise ValueError("lams is empty: give at least one lam to try")
    return texts, None


def _dealt(cv: Any, X: Any, y: Any, classifier: bool) -> list[int]:
    """Return the fold of each example, as scikit-learn deals them."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    folds = np.full(n, -1)
    splits = list(check_cv(cv, y, classifier=classifier).split(X, y))
    for fold, (train, test) in enumerate(splits):
        if (folds[test] >= 0).any():
            raise ValueError("cv tests an example twice: the test sets must hold every example once, as those of KFold")
        folds[test] = fold
        if len(np.unique(train)) + len(test) != n or np.isin(test, train).any():
            raise ValueError("cv does not train on all examples outside a test set, as the splits of KFold do")
    if (folds < 0).any():
        raise ValueError("cv never tests some examples: the test sets must hold every example once, as those of KFold")
    if len(splits) > 256:
        raise ValueError(f"cv has {len(splits)} folds, and at most 256 are supported")
    return folds.tolist()
