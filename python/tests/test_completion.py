"""MatrixCompletion, judged by its objective written out, by scipy's entries and by tight runs."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import dualgap
from dualgap import MatrixCompletion


def ratings(seed: int = 0, n: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ratings of a matrix of rank one, with noise."""
    rng = np.random.default_rng(seed)
    taste, kind = rng.normal(size=12), rng.normal(size=9)
    users, items = rng.integers(0, 12, n), rng.integers(0, 9, n)
    return users + 100, items, 3.0 + taste[users] * kind[items] + rng.normal(scale=0.1, size=n)


def objective(model: MatrixCompletion, users: Any, items: Any, values: Any, mu: float, counts: np.ndarray) -> float:
    """Return the objective by its definition."""
    matrix = model.user_factors_ @ model.item_factors_.T
    assert np.linalg.norm(matrix, "nuc") <= model.radius * (1 + 1e-9)
    i = [list(model.users_).index(user) for user in users]
    j = [list(model.items_).index(item) for item in items]
    off = np.abs(matrix[i, j] + model.mean_ + model.user_effects_[i] + model.item_effects_[j] - values)
    if model.loss == "huber":
        losses = np.where(off <= model.width, off**2 / 2, model.width * (off - model.width / 2))
    else:
        losses = off**2 / 2
    return float(np.average(losses, weights=counts) + mu / 2 * (matrix**2).sum())


@pytest.mark.parametrize(("loss", "centre"), [("squared", "mean"), ("squared", "none"), ("huber", "effects")])
def test_the_certified_primal_is_the_objective(loss: Any, centre: Any) -> None:
    users, items, values = ratings(1)
    counts = np.linspace(0.5, 1.5, len(values))
    model = MatrixCompletion(radius=8.0, mu=0.02, loss=loss, width=0.5, centre=centre, tolerance=0.05)
    model.fit(users, items, values, sample_weight=counts)
    assert objective(model, users, items, values, 0.02, counts) == pytest.approx(model.certificate_.primal, rel=1e-9)
    tight = clone(model).set_params(tolerance=1e-5).fit(users, items, values, sample_weight=counts)
    loose, best = model.certificate_, tight.certificate_
    assert loose.dual - loose.rounding <= best.primal + best.rounding
    assert loose.primal - best.primal <= loose.gap_bound and best.relative_gap <= 1e-5
    assert model.certify(users, items, values, sample_weight=counts).primal == loose.primal
    with pytest.raises(ValueError):
        model.certify(users, items, values + 1.0, sample_weight=counts)


def test_without_a_tight_radius_the_optimum_is_a_shrunk_mean() -> None:
    # One rating an entry, no centre: each entry solves (x - y)/n + mu x = 0 on its own.
    users, items = np.repeat(np.arange(3), 2), np.tile(np.arange(2), 3)
    values = np.array([1.0, -2.0, 3.0, 0.5, -1.0, 2.0])
    model = MatrixCompletion(radius=100.0, mu="2/n", centre="none", tolerance=1e-9).fit(users, items, values)
    assert model.predict(users, items) == pytest.approx(values / 3, abs=1e-4)


def test_predictions_are_the_centre_and_an_entry() -> None:
    users, items, values = ratings(2)
    model = MatrixCompletion(radius=10.0, centre="effects").fit(users, items, values)
    matrix = model.user_factors_ @ model.item_factors_.T
    centre = model.mean_ + model.user_effects_[:, None] + model.item_effects_
    everyone = np.repeat(model.users_, len(model.items_)), np.tile(model.items_, len(model.users_))
    assert model.predict(*everyone) == pytest.approx((centre + matrix).ravel())
    assert model.mean_ == pytest.approx(values.mean())
    strangers = model.predict([-1, model.users_[0]], [model.items_[0], 999])
    assert strangers == pytest.approx([model.mean_ + model.item_effects_[0], model.mean_ + model.user_effects_[0]])
    figures = model.evaluate([-1, 100], [0, 0], [1.0, 2.0])
    assert figures["unknown"] == {"pairs": 1, "users": 1, "items": 0}
    off = model.predict(users, items) - values
    assert model.score(users, items, values) == pytest.approx(-np.sqrt(np.mean(off**2)))


def test_all_forms_of_ratings_give_the_same_model() -> None:
    users, items, values = ratings(3)
    keep = np.unique(users * 100 + items, return_index=True)[1]
    users, items, values = users[keep] - 100, items[keep], values[keep]
    model = MatrixCompletion(radius=6.0).fit(users, items, values)
    matrix = sp.coo_array((values, (users, items)))
    pairs = np.column_stack([users, items])
    for arguments in [
        (matrix.tocsr(),),
        ((users, items, values),),
        (pairs, values),
        (pd.DataFrame({"user": users, "item": items}), pd.Series(values)),
        (list(zip(users.tolist(), items.tolist(), strict=True)), values.tolist()),
        (users.astype(str), pd.Series(items.astype(str)), values),
        (users.astype(float), items.tolist(), values),
    ]:
        other = MatrixCompletion(radius=6.0).fit(*arguments)
        assert np.array_equal(other.user_factors_, model.user_factors_)
        assert np.array_equal(other.predict(users, items), model.predict(pairs))
        assert other.certify(*arguments).primal == model.certificate_.primal
    assert model.users_.dtype.kind == "i" and set(model.users_) == set(users)


def test_files_pickles_and_clones(tmp_path: Any) -> None:
    users, items, values = ratings(4)
    model = MatrixCompletion(radius=5.0, loss="huber", width=0.7, centre="effects", mu=0.1, seed=2)
    model.fit(users, items, values)
    model.save(tmp_path / "ratings.dualgap")
    for again in (dualgap.load(tmp_path / "ratings.dualgap"), pickle.loads(pickle.dumps(model))):
        assert again.get_params() == model.get_params()
        assert np.array_equal(again.users_, model.users_) and again.users_.dtype.kind == "i"
        assert np.array_equal(again.predict(users, items), model.predict(users, items))
        assert again.certify(users, items, values).primal == model.certificate_.primal


def test_scikit_learn_searches_for_the_radius() -> None:
    users, items, values = ratings(5, n=90)
    search = GridSearchCV(MatrixCompletion(tolerance=0.05), {"radius": [0.01, 15.0]}, cv=3)
    search.fit(np.column_stack([users, items]), values)
    assert search.best_params_ == {"radius": 15.0} and search.best_score_ < 0


def test_a_missed_tolerance_is_told() -> None:
    with pytest.warns(ConvergenceWarning):
        MatrixCompletion(radius=20.0, tolerance=1e-12, passes=1).fit(*ratings(6))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [1, 2], [1.0]), "2 users, 2 items and ratings of shape"),
        (([1, 2], [1, 2], [1.0, np.nan]), "rating 1 is nan: leave ratings that are not known out"),
        (([], [], []), "there are no ratings"),
        (([1, 2], [1, 2], ["good", "bad"]), "ratings must be numbers"),
        (([1.0, np.nan], [1, 2], [1.0, 2.0]), "users contain NaN"),
        (([None, "a"], [1, 2], [1.0, 2.0]), "users must be one array of numbers or of strings"),
        ((["", "a"], [1, 2], [1.0, 2.0]), "a user has an empty name"),
        ((np.ones((3, 3)), [1.0, 2.0, 3.0]), "pairs must have two columns"),
        (([1, 2],), "give users, items and ratings, a scipy sparse matrix, or pairs"),
        ((sp.eye_array(2), [1]), "a sparse matrix has the ratings"),
    ],
)
def test_bad_ratings_are_refused_with_a_remedy(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MatrixCompletion(radius=1.0).fit(*arguments)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"radius": None}, "radius must be"),
        ({"radius": 1.0, "loss": "absolute"}, "take squared or huber"),
        ({"radius": 1.0, "centre": "median"}, "centre must be one of mean, none, effects"),
        ({"radius": -1.0}, "radius must be"),
        ({"radius": 1.0, "mu": "x"}, "multiple of 1/n"),
    ],
)
def test_bad_keywords_are_refused(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MatrixCompletion(**keywords).fit(*ratings(7))
