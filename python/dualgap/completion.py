"""Matrix completion: unknown ratings from known ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _dualgap
from ._arrays import spelled, unspelled, weights
from ._balls import radius_of
from ._base import CertifiedEstimator, number, strength
from ._certificate import Certificate


class MatrixCompletion(CertifiedEstimator):
    """Ratings of items by users: a matrix of low rank in the trace ball, trained to a certified optimum.

    The prediction for a pair is its centre plus an entry of a matrix ``M`` with a row for every user and a column for
    every item. Training minimises ::

        mean loss of M[user, item] at (rating - centre) + mu/2 ||M||^2      with the trace norm of M at most radius

    so the matrix has low rank, and no rank to choose. Users and items are numbers or names. A pair with one that was
    not in training gets its centre.

    Parameters
    ----------
    radius : float or "auto", default="auto"
        The largest trace norm of the matrix, the sum of its singular values. ``"auto"`` chooses it by held-out ratings, a
        fifth of them, and trains on all with the best one; `auto_` says what was tried.
    mu : float or str, default="0.01/n"
        The strength of the squared norm, a number or a multiple of ``1/n``.
    loss : {"squared", "huber"}, default="squared"
        What a rating that is off costs: half its square, or Huber's loss.
    width : float, default=1.0
        Of Huber's loss, how far from the rating it is squared.
    centre : {"effects", "mean", "none"}, default="effects"
        What is predicted before the matrix says anything: the mean of all ratings and the effect of each user and item,
        the mean alone, or zero.
    tolerance, absolute_tolerance, passes, time
        When the run ends, as in :class:`ChainSVM`.
    solver, solver_options, seed, callback, verbose
        The run, as in :class:`ChainSVM`. It uses one thread, because its steps follow each other.

    Attributes
    ----------
    users_, items_ : ndarray
        The users and the items of training, in the order of their first rating.
    user_factors_ : ndarray of shape (n_users, rank)
    item_factors_ : ndarray of shape (n_items, rank)
        The factors: the matrix is ``user_factors_ @ item_factors_.T``.
    singular_values_ : ndarray of shape (rank,)
        The numbers whose roots both factors have.
    mean_ : float
        The mean of the centre.
    user_effects_, item_effects_ : ndarray
        The effects of the centre; zeros unless it has some.
    certificate_ : Certificate
        The bound on the distance to the optimum.
    auto_ : dict
        With ``radius="auto"``: the `values` that were tried and their `errors` on held-out ratings, and the `value` with
        the smallest.

    Examples
    --------
    >>> from dualgap import MatrixCompletion
    >>> users = ["ann", "ann", "bob", "bob", "eve"]
    >>> items = ["tea", "milk", "tea", "milk", "tea"]
    >>> model = MatrixCompletion(radius=4, mu=0.01, centre="mean", tolerance=1e-6).fit(users, items, [5, 1, 1, 5, 5])
    >>> bool(model.predict(["eve"], ["milk"])[0] < 3)
    True
    >>> model.predict(["joe"], ["milk"])
    array([3.4])
    """

    _structure: ClassVar[str] = "completion"
    #: The steps of a run follow each other.
    threads = 0

    def __init__(
        self,
        *,
        radius: float | str = "auto",
        mu: float | str = "0.01/n",
        loss: Literal["squared", "huber"] = "squared",
        width: float = 1.0,
        centre: Literal["effects", "mean", "none"] = "effects",
        tolerance: float | None = 0.01,
        absolute_tolerance: float | None = None,
        passes: int | None = None,
        time: float | None = None,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        seed: int = 0,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.radius = radius
        self.mu = mu
        self.loss = loss
        self.width = width
        self.centre = centre
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance
        self.passes = passes
        self.time = time
        self.solver = solver
        self.solver_options = solver_options
        self.seed = seed
        self.callback = callback
        self.verbose = verbose

    def fit(self, users: Any, items: Any = None, ratings: Any = None, *, sample_weight: Any = None) -> Self:
        """Train the model until its certified gap is within the tolerance.

        Parameters
        ----------
        users, items, ratings : arrays of shape (n_ratings,)
            A user, an item and a number for every rating. The same pair may be rated more than once. Other forms:
            ``fit(matrix)`` with a scipy sparse matrix, whose stored entries are the ratings and whose rows and columns
            are the users and items; ``fit((users, items, ratings))``; and ``fit(pairs, ratings)`` with an array of
            shape (n_ratings, 2), the form that scikit-learn's ``GridSearchCV`` and ``cross_val_score`` need.
        sample_weight : array of shape (n_ratings,), default=None
            What each rating counts in the mean loss. The centre does not depend on it.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        users, items, values = _triples(users, items, ratings)
        task = self._task()
        data = _data(users, items, values, sample_weight)
        self.users_, self.items_ = _distinct(users), _distinct(items)
        # The program predicts for files of pairs, `user item`.
        recipe: dict[str, Any] = {"format": {"ratings": {}}, "folds": None}
        self._keep(*self._run(data, task, recipe=recipe))
        return self

    def predict(self, users: Any, items: Any = None) -> np.ndarray:
        """Predict ratings.

        Parameters
        ----------
        users, items : arrays of shape (n_pairs,)
            A user and an item for every rating; or one array of shape (n_pairs, 2).

        Returns
        -------
        ratings : ndarray of shape (n_pairs,)
            The predictions. A user or an item that was not in training has no effect.
        """
        check_is_fitted(self)
        if items is None:
            users, items = _pairs(users)
        data = _data(_column(users, "users"), _column(items, "items"), None)
        return np.asarray(self.model_.predict(data))

    def evaluate(self, users: Any, items: Any = None, ratings: Any = None) -> dict[str, Any]:
        """Compare predictions with ratings.

        Parameters
        ----------
        users, items, ratings : as in ``fit``
            The ratings.

        Returns
        -------
        figures : dict
            `rmse`, `mae`, `r2`, and how many pairs, users and items are `unknown` to the model.
        """
        check_is_fitted(self)
        data = _data(*_triples(users, items, ratings))
        return self.model_.figures(data)

    def score(self, users: Any, items: Any = None, ratings: Any = None) -> float:
        """Return the root mean squared error, negated, so that more is better.

        Parameters
        ----------
        users, items, ratings : as in ``fit``
            The ratings.

        Returns
        -------
        score : float
            At most 0, which stands for no error.
        """
        return -self.evaluate(users, items, ratings)["rmse"]

    def certify(  # type: ignore[override]
        self, users: Any, items: Any = None, ratings: Any = None, *, sample_weight: Any = None
    ) -> Certificate:
        """Recompute the certificate from the training data, without trusting a number of the model.

        Parameters
        ----------
        users, items, ratings, sample_weight : as in ``fit``
            The training data. Other data are refused.

        Returns
        -------
        certificate : Certificate
            The bound, as computed now.
        """
        check_is_fitted(self)
        data = _data(*_triples(users, items, ratings), sample_weight)
        return self._certified(self.model_, data, sample_weight)

    def _task(self) -> dict[str, Any]:
        """Return the problem in the library's JSON form."""
        if self.loss not in ("squared", "huber"):
            raise ValueError(f"there is no loss {self.loss!r} of ratings: take squared or huber")
        if self.centre not in ("mean", "none", "effects"):
            raise ValueError(f"centre must be one of mean, none, effects, not {self.centre!r}")
        loss: dict[str, Any] = {"name": self.loss}
        if self.loss == "huber":
            loss["width"] = number(self.width, "width")
        ball = {"name": "trace", "radius": radius_of(self.radius)}
        return {
            "structure": {"loss": loss, "centre": self.centre},
            "penalty": {"name": "ball", "ball": ball, "mu": strength(self.mu, "mu")},
        }

    def _set_fitted(self) -> None:
        arrays, constants = self.model_.arrays, self.model_.constants
        self.singular_values_ = arrays["low_rank.s"]
        root = np.sqrt(self.singular_values_)
        self.user_factors_ = arrays["low_rank.u"] * root
        self.item_factors_ = arrays["low_rank.v"] * root
        self.mean_ = next(value for kind, _, value in constants if kind == "mean")
        self.user_effects_ = _effects(constants, "user_effect", len(self.users_))
        self.item_effects_ = _effects(constants, "item_effect", len(self.items_))

    def _restore(self, model: _dualgap.Model) -> None:
        self.users_, self.items_ = unspelled(model.features), unspelled(model.weighted)
        super()._restore(model)

    @classmethod
    def _keywords(cls, model: _dualgap.Model) -> dict[str, Any]:
        structure, penalty = model.task["structure"], model.task["penalty"]
        loss = dict(structure["loss"])
        return {
            **super()._keywords(model),
            "loss": loss.pop("name"),
            **loss,
            "centre": structure["centre"],
            "radius": penalty["ball"]["radius"],
            "mu": penalty["mu"],
        }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


def _triples(users: Any, items: Any, ratings: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a user, an item and a number for every rating, from any of the forms of ``fit``."""
    if sp.issparse(users):
        if items is not None or ratings is not None:
            raise ValueError("a sparse matrix has the ratings: leave the other arguments out")
        matrix = users.tocoo(copy=True)
        matrix.sum_duplicates()
        users, items, ratings = matrix.row, matrix.col, matrix.data
    elif items is None and ratings is None:
        if not (isinstance(users, tuple) and len(users) == 3):
            raise ValueError("give users, items and ratings, a scipy sparse matrix, or pairs and ratings")
        users, items, ratings = users
    elif ratings is None:
        users, items, ratings = *_pairs(users), items
    users, items = _column(users, "users"), _column(items, "items")
    try:
        values = np.asarray(ratings, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("ratings must be numbers") from None
    if not users.shape == items.shape == values.shape:
        raise ValueError(
            f"there are {len(users)} users, {len(items)} items and ratings of shape {values.shape}: every rating needs "
            "one of each"
        )
    if not len(values):
        raise ValueError("there are no ratings")
    if not np.isfinite(values).all():
        k = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"rating {k} is {values[k]}: leave ratings that are not known out")
    return users, items, values


def _pairs(pairs: Any) -> tuple[Any, Any]:
    """Return the users and the items of pairs."""
    if hasattr(pairs, "columns") and len(pairs.columns) == 2:
        first, second = pairs.columns
        return pairs[first], pairs[second]
    if not isinstance(pairs, np.ndarray):
        pairs = np.array([tuple(pair) for pair in pairs], dtype=object)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"pairs must have two columns, users and items, and they have the shape {pairs.shape}")
    return pairs[:, 0], pairs[:, 1]


def _column(values: Any, name: str) -> np.ndarray:
    """Return users or items as an array of whole numbers or strings."""
    array = np.asarray(values)
    if array.dtype == object and array.ndim == 1:
        array = np.array(array.tolist()) if len(array) else array.astype(str)
    if array.ndim != 1 or array.dtype.kind not in "iufUS":
        raise ValueError(f"{name} must be one array of numbers or of strings")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} contain NaN or infinity: leave such ratings out")
    if array.dtype.kind == "S":
        array = array.astype(str)
    return array


def _data(
    users: np.ndarray, items: np.ndarray, values: np.ndarray | None, sample_weight: Any = None
) -> _dualgap.Data:
    """Return ratings, or pairs without them, as data of the library."""
    (all_users, users), (all_items, items) = (np.unique(of, return_inverse=True) for of in (users, items))
    return _dualgap.Data.ratings(
        users.astype(np.int64),
        items.astype(np.int64),
        _spelled(all_users, "user"),
        _spelled(all_items, "item"),
        values=values,
        weights=None if values is None else weights(sample_weight, values),
    )


def _spelled(values: np.ndarray, what: str) -> list[str]:
    names = [spelled(value) for value in values]
    if "" in names:
        raise ValueError(f"a {what} has an empty name")
    return names


def _distinct(values: np.ndarray) -> np.ndarray:
    """Return the distinct values in the order of their first, which the library numbers names by."""
    found, first = np.unique(values, return_index=True)
    return found[np.argsort(first)]


def _effects(constants: list[tuple[str, str, float]], kind: str, count: int) -> np.ndarray:
    found = np.array([value for what, _, value in constants if what == kind])
    return found if len(found) else np.zeros(count)
