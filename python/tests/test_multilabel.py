"""MultilabelClassifier: its objective computed anew, and indicators of every form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

import dualgap
from dualgap import MultilabelClassifier

N, D = 50, 5
RNG = np.random.default_rng(2)
X = RNG.normal(size=(N, D))
Y = (X @ RNG.normal(size=(D, 4)) + 0.5 * RNG.normal(size=(N, 4)) > 0.3).astype(np.int64)
LOSSES = {
    "smooth-hinge": lambda m: np.where(m >= 1, 0, np.where(m <= 0, 0.5 - m, (1 - m) ** 2 / 2)),
    "squared-hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "logistic": lambda m: np.logaddexp(0, -m),
}


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("ball", ["l1", "simplex", "trace"])
def test_the_objective_is_what_it_says(loss: Any, ball: Any) -> None:
    counts = RNG.integers(1, 4, size=N)
    model = MultilabelClassifier(loss=loss, ball=ball, radius=2.0, mu=0.02, intercept=True, tolerance=1e-4)
    model.fit(X, Y, sample_weight=counts)
    every = np.column_stack([model.coef_, model.intercept_])
    norms = {"l1": np.abs(every).sum(), "simplex": every.sum(), "trace": np.linalg.norm(every, "nuc")}
    assert norms[ball] <= 2.0 * (1 + 1e-9)
    scores = X @ model.coef_.T + model.intercept_
    losses = LOSSES[loss]((2 * Y - 1) * scores).sum(axis=1)
    objective = np.average(losses, weights=counts) + 0.02 / 2 * (every**2).sum()
    assert model.certificate_.primal == pytest.approx(objective, rel=1e-12)
    assert model.certificate_.relative_gap <= 1e-4
    np.testing.assert_allclose(model.decision_function(X), scores, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), (scores > 0).astype(int))
    if loss == "logistic":
        np.testing.assert_allclose(model.predict_proba(X), 1 / (1 + np.exp(-scores)), atol=1e-12)
    assert model.certify(X, Y).primal == model.certificate_.primal


def test_a_wide_ball_has_the_optimum_of_separate_problems() -> None:
    model = MultilabelClassifier(loss="logistic", radius=1e3, mu=0.1, tolerance=1e-9).fit(X, Y)
    best = 0.0
    for signs in (2 * Y - 1).T:
        found = minimize(lambda w: np.logaddexp(0, -signs * (X @ w)).mean() + 0.05 * w @ w, np.zeros(D), tol=1e-12)
        best += found.fun
    assert model.certificate_.dual - model.certificate_.rounding <= best
    assert model.certificate_.primal == pytest.approx(best, rel=1e-8)


def test_indicators_may_be_dense_sparse_lists_or_data_frames() -> None:
    model = MultilabelClassifier(ball="trace", radius=3.0).fit(X, Y)
    for other in (sp.csr_array(Y), sp.csc_matrix(Y), Y.tolist(), Y.astype(bool), Y.astype(float), pd.DataFrame(Y)):
        again = MultilabelClassifier(ball="trace", radius=3.0).fit(X, other)
        np.testing.assert_array_equal(again.coef_, model.coef_)
        assert again.certify(X, other) == model.certify(X, Y)


def test_a_label_that_no_example_has_is_never_predicted(tmp_path: Path) -> None:
    wide = np.insert(Y, 1, 0, axis=1)
    model = MultilabelClassifier(loss="logistic", radius=5.0).fit(X, wide)
    narrow = MultilabelClassifier(loss="logistic", radius=5.0).fit(X, Y)
    np.testing.assert_array_equal(np.delete(model.coef_, 1, axis=0), narrow.coef_)
    assert (model.coef_[1] == 0).all() and (model.predict(X)[:, 1] == 0).all()
    assert (model.predict_proba(X)[:, 1] == 0).all() and model.predict(X).shape == wide.shape
    assert model.certify(X, wide).primal == narrow.certificate_.primal
    model.save(tmp_path / "m.dualgap")
    again = dualgap.load(tmp_path / "m.dualgap")
    assert again.classes_.tolist() == [0, 2, 3, 4]
    assert again.certify(X, wide[:, again.classes_]) == model.certify(X, wide)


@pytest.mark.parametrize("ball", ["l1", "trace"])
def test_a_model_file_has_the_names_of_the_labels(ball: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame(Y, columns=["zebra", "ant", "lion", "bee"])
    model = MultilabelClassifier(loss="logistic", ball=ball, radius=3.0, intercept=True).fit(X, frame)
    assert model.classes_.tolist() == ["zebra", "ant", "lion", "bee"]
    ordered = MultilabelClassifier(loss="logistic", ball=ball, radius=3.0, intercept=True)
    ordered.fit(X, frame[["ant", "bee", "lion", "zebra"]])
    np.testing.assert_array_equal(model.coef_, ordered.coef_[[3, 0, 2, 1]])
    model.save(tmp_path / "m.dualgap")
    again = dualgap.load(tmp_path / "m.dualgap")
    assert isinstance(again, MultilabelClassifier) and again.classes_.tolist() == ["ant", "bee", "lion", "zebra"]
    assert (again.ball, again.radius, again.loss, again.intercept) == (ball, 3.0, "logistic", True)
    np.testing.assert_array_equal(again.predict(X), model.predict(X)[:, [1, 3, 2, 0]])
    assert again.certify(X, frame[["ant", "bee", "lion", "zebra"]]) == model.certify(X, frame)


def test_one_class_for_each_example_is_its_only_label() -> None:
    y = np.array(["a", "b", "c"])[np.arange(N) % 3]
    model = MultilabelClassifier(radius=5.0).fit(X, y)
    labels = MultilabelClassifier(radius=5.0).fit(X, (y[:, None] == ["a", "b", "c"]).astype(int))
    np.testing.assert_array_equal(model.coef_, labels.coef_)
    best = model.decision_function(X).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), np.array(["a", "b", "c"])[best])
    assert not model.multilabel_ and labels.multilabel_
    assert model.certify(X, y) == labels.certify(X, (y[:, None] == ["a", "b", "c"]).astype(int))


@pytest.mark.parametrize(
    ("keywords", "y", "message"),
    [
        ({"loss": "hinge"}, Y, "there is no loss 'hinge': take one of smooth-hinge"),
        ({"ball": "l2"}, Y, "there is no ball 'l2': take one of l1, simplex, trace"),
        ({"radius": 0.0}, Y, "the radius of a ball is positive"),
        ({"solver": "away", "ball": "trace"}, Y, "l1 ball"),
        ({}, Y * [1, 0, 0, 0], "two labels at least, and the data have 1"),
        ({}, Y * 0, "two labels at least, and the data have 0"),
        ({}, Y * 2 - 1, "a label-indicator matrix has the entries 0 and 1"),
        ({}, sp.csr_array(Y * 2), "a label-indicator matrix has the entries 0 and 1"),
        ({}, Y + np.arange(N)[:, None] % 4, "a label-indicator matrix has the entries 0 and 1"),
        ({}, X, "Unknown label type: continuous-multioutput"),
    ],
)
def test_bad_input_is_refused_with_a_remedy(keywords: dict[str, Any], y: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MultilabelClassifier(**keywords).fit(X, y)


def test_other_data_are_not_certified() -> None:
    model = MultilabelClassifier(radius=3.0).fit(X, Y)
    with pytest.raises(ValueError, match="y has 3 columns, and the model 4 labels"):
        model.certify(X, Y[:, :3])
