"""Linear models: what they minimise, how classes become problems, and what a fit leaves behind."""

from __future__ import annotations

import os
import pickle
import signal
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from dualgap import Certificate, LinearClassifier, LinearRegressor
from dualgap._report import in_keywords

MARGIN_LOSSES = {
    "hinge": lambda m: np.maximum(0.0, 1.0 - m),
    "smooth-hinge": lambda m: np.where(m > 0.5, np.maximum(0.0, 1.0 - m) ** 2, 1.0 - m - 0.25),
    "squared-hinge": lambda m: np.maximum(0.0, 1.0 - m) ** 2,
    "logistic": lambda m: np.log1p(np.exp(-m)),
}
RESIDUAL_LOSSES = {
    "squared": lambda r: r * r / 2.0,
    "absolute": np.abs,
    "huber": lambda r: np.where(abs(r) <= 0.5, r * r / 2.0, 0.5 * (abs(r) - 0.25)),
    "epsilon-insensitive": lambda r: np.maximum(0.0, abs(r) - 0.2),
}
PENALTIES: list[dict[str, Any]] = [
    {"lam": 0.01},
    {"lam": "2/n", "l1": 0.01, "intercept": True},
    {"lam": 0.0, "l1": 0.02, "intercept": "free"},
    {"lam": 0.03, "nonnegative": True, "intercept": "penalised"},
]


def penalty_of(model: Any, coefficients: np.ndarray, intercept: float, total: float) -> float:
    lam = 2.0 / total if model.lam == "2/n" else model.lam
    if model.intercept == "penalised":
        coefficients = np.append(coefficients, intercept)
    return lam / 2.0 * coefficients @ coefficients + model.l1 * abs(coefficients).sum()


def classes_of_two(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n, 8, n_informative=4, flip_y=0.2, random_state=1)
    return X, np.where(y == 1, "yes", "no")


def classes_of_three() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(90, 8, n_informative=4, n_classes=3, flip_y=0.1, random_state=2)


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", MARGIN_LOSSES)
def test_a_classifier_minimises_what_it_says(loss: str, penalty: dict[str, Any]) -> None:
    X, y = classes_of_two()
    weights = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    model = LinearClassifier(loss=loss, width=0.5, class_weight={"yes": 3.0}, tolerance=1e-6, **penalty)
    model.fit(X, y, sample_weight=weights)
    counts = weights * np.where(y == "yes", 3.0, 1.0)
    w, b = model.coef_[0], model.intercept_[0]
    assert np.allclose(model.decision_function(X), X @ w + b, atol=1e-12)
    margins = np.where(y == "yes", 1.0, -1.0) * (X @ w + b)
    objective = counts @ MARGIN_LOSSES[loss](margins) / counts.sum() + penalty_of(model, w, b, counts.sum())
    found = model.certificate_
    assert objective == pytest.approx(found.primal, rel=1e-12)
    assert found.reached and found.dual <= found.primal + found.rounding and found.relative_gap <= 1e-6
    assert not model.nonnegative or w.min() >= 0.0


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", RESIDUAL_LOSSES)
def test_a_regressor_minimises_what_it_says(loss: str, penalty: dict[str, Any]) -> None:
    X, y = make_regression(60, 8, noise=5.0, random_state=0)
    y = y / y.std() + 1.0
    model = LinearRegressor(loss=loss, width=0.5, epsilon=0.2, tolerance=1e-6, **penalty).fit(X, y)
    w, b = model.coef_, model.intercept_
    assert np.allclose(model.predict(X), X @ w + b, atol=1e-12)
    objective = RESIDUAL_LOSSES[loss](y - X @ w - b).mean() + penalty_of(model, w, b, len(y))
    assert objective == pytest.approx(model.certificate_.primal, rel=1e-12)
    assert model.certificate_.relative_gap <= 1e-6


def test_scaled_columns_are_penalised_and_plain_ones_returned() -> None:
    X, y = make_regression(50, 5, noise=1.0, random_state=0)
    X *= [1.0, 10.0, 0.1, 3.0, 1e4]
    rms = np.sqrt((X**2).mean(axis=0))
    scaled = LinearRegressor(lam=0.1, scale="rms", tolerance=1e-10).fit(X, y)
    plain = LinearRegressor(lam=0.1, tolerance=1e-10).fit(X / rms, y)
    assert np.allclose(scaled.coef_, plain.coef_ / rms, rtol=1e-5)
    assert np.allclose(scaled.predict(X), X @ scaled.coef_, rtol=1e-12)


def test_the_q_norm_is_another_penalty() -> None:
    X, y = make_regression(50, 20, noise=1.0, random_state=0)
    ridge, q_norm = (LinearRegressor(lam=0.1, q_norm=q).fit(X, y) for q in (False, True))
    assert q_norm.model_.task["penalty"]["name"] == "q_norm"
    assert q_norm.certificate_.reached and not np.allclose(ridge.coef_, q_norm.coef_, rtol=0.01)


@pytest.mark.parametrize("weighted", [None, "balanced", {0: 2.0, 2: 0.5}], ids=str)
def test_several_classes_are_a_problem_each_and_their_certificates_add_up(weighted: Any) -> None:
    X, y = classes_of_three()
    settings: dict[str, Any] = {"loss": "logistic", "lam": 0.01, "intercept": True, "tolerance": 1e-4}
    model = LinearClassifier(class_weight=weighted, **settings).fit(X, y)
    of_class = {None: [1.0, 1.0, 1.0], "balanced": len(y) / 3.0 / np.bincount(y)}
    counts = np.asarray(of_class.get(weighted if isinstance(weighted, str) else None))[y]
    if isinstance(weighted, dict):
        counts = np.array([2.0, 1.0, 0.5])[y]
    parts = [LinearClassifier(**settings).fit(X, y == k, sample_weight=counts) for k in range(3)]
    assert np.allclose(model.coef_, [part.coef_[0] for part in parts], rtol=1e-12)
    assert np.array_equal(model.predict(X), np.argmax([part.decision_function(X) for part in parts], axis=0))
    assert model.certificate_.primal == pytest.approx(sum(part.certificate_.primal for part in parts), rel=1e-12)
    assert model.certificate_.gap_bound >= sum(part.certificate_.gap for part in parts)
    assert [part.reached for part in model.certificates_] == [True] * 3
    assert model.certify(X, y) == model.certificate_
    probabilities = model.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    with pytest.raises(ValueError, match="MulticlassSVM"):
        model.save("nowhere.dualgap")


def test_classes_side_by_side_give_the_same_bits() -> None:
    X, y = classes_of_three()
    one, two = (LinearClassifier(n_jobs=jobs, intercept=True).fit(X, y) for jobs in (None, 2))
    assert np.array_equal(one.coef_, two.coef_) and one.certificate_ == two.certificate_


def test_probabilities_are_for_the_logistic_loss() -> None:
    X, y = classes_of_two()
    model = LinearClassifier(loss="logistic", intercept=True).fit(X, y)
    odds = model.predict_log_proba(X)[:, 1] - model.predict_log_proba(X)[:, 0]
    assert np.allclose(odds, model.decision_function(X))
    assert not hasattr(LinearClassifier(loss="hinge"), "predict_proba")


@pytest.mark.parametrize("classes", [classes_of_two, classes_of_three])
def test_a_warm_start_begins_where_the_last_fit_ended(classes: Any) -> None:
    X, y = classes()
    cold = LinearClassifier(lam=0.001, tolerance=1e-5).fit(X, y)
    warm = LinearClassifier(lam=0.001, tolerance=1e-5, warm_start=True).fit(X, y)
    assert np.array_equal(cold.coef_, warm.coef_)
    with warnings.catch_warnings():
        # The weights of a dual point may be good enough as they are.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warm.set_params(passes=0).fit(X, y)
    assert warm.certificate_.dual == pytest.approx(cold.certificate_.dual, rel=1e-12)
    assert warm.set_params(passes=None).fit(X, y).n_iter_ < cold.n_iter_ / 2
    near = clone(cold).set_params(lam=0.0011).fit(X, y)
    assert warm.set_params(lam=0.0011).fit(X, y).n_iter_ < near.n_iter_
    warm.fit(X, y == y[0])  # other classes, from which nothing carries over
    assert warm.certificate_.reached


def test_certify_recomputes_from_the_training_data_and_no_other() -> None:
    X, y = classes_of_two()
    weights = np.linspace(0.5, 2.0, len(y))
    model = LinearClassifier(intercept=True).fit(X, y, sample_weight=weights)
    assert model.certify(X, y) == model.certify(X, y, weights) == model.certificate_
    moved = X.copy()
    moved[3, 4] += 1e-9
    for other in [(moved, y), (X, y[::-1]), (X[:-1], y[:-1])]:
        with pytest.raises(ValueError, match="not the data the model was trained on"):
            model.certify(*other)
    with pytest.raises(ValueError, match="knows no class"):
        model.certify(X, np.where(y == "yes", "yes", "perhaps"))
    with pytest.raises(ValueError, match="sample weights are not those"):
        model.certify(X, y, weights[::-1])
    with pytest.raises(NotFittedError):
        LinearClassifier().certify(X, y)


def test_a_missed_tolerance_is_a_warning_with_a_remedy() -> None:
    X, y = classes_of_two()
    with pytest.warns(ConvergenceWarning, match="more `passes`") as caught:
        model = LinearClassifier(lam=1e-6, tolerance=1e-12, passes=2).fit(X, y)
    assert caught[0].filename == __file__
    assert model.stop_ == "pass_limit" and not model.certificate_.reached
    assert model.certificate_.gap_bound >= 0.0 and len(model.history_) >= 1


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"lam": "1/m"}, "lam must be a number such as 0.01"),
        ({"lam": -1.0}, "lam must be a finite number"),
        ({"loss": "squared"}, "no loss 'squared'"),
        ({"loss": "log_loss"}, "no loss 'log_loss': its name is 'logistic'"),
        ({"solver": "gauss"}, "no solver `gauss`"),
        ({"solver_options": {"pace": 1}}, "no setting `pace`"),
        ({"scale": "huge"}, "expected one of `none`, `max`, `rms`$"),
        ({"seed": 0.5}, "seed must be a whole number"),
        ({"intercept": "maybe"}, "intercept must be"),
        ({"class_weight": {"no": 1.0, "perhaps": 2.0}}, "no class `perhaps`"),
        ({"class_weight": "even"}, "class_weight must be"),
        ({"q_norm": True, "nonnegative": True}, "q-norm has no nonnegative form"),
    ],
)
def test_a_bad_keyword_is_refused_in_words(keywords: dict[str, Any], words: str) -> None:
    X, y = classes_of_two()
    with pytest.raises(ValueError, match=words):
        LinearClassifier(**keywords).fit(X, y)


@pytest.mark.parametrize("jobs", [None, 2])
@pytest.mark.parametrize("classes", [2, 4])
def test_an_interrupted_fit_leaves_a_certified_model(classes: int, jobs: int | None) -> None:
    X = np.random.default_rng(0).normal(size=(3000, 40))
    y = np.arange(len(X)) % classes  # noise: a tolerance of zero is out of reach for long
    signals: list[None] = []

    def press_once(_: Any) -> None:
        if not signals:
            signals.append(os.kill(os.getpid(), signal.SIGINT))

    model = LinearClassifier(lam=1e-9, tolerance=0.0, solver="bcfw", n_jobs=jobs, callback=press_once)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.stop_ == "interrupted"
    assert model.certify(X, y) == model.certificate_
    assert np.isfinite(model.certificate_.gap_bound) and model.predict(X).shape == y.shape


@pytest.mark.parametrize("model", [LinearClassifier(loss="logistic", lam=0.1), LinearRegressor(l1=0.1)], ids=str)
def test_pickles_and_clones(model: BaseEstimator) -> None:
    X, _ = classes_of_two()
    y = (X[:, 0] > 0.0).astype(int)
    model.fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == again.certify(X, y) == model.certificate_
    assert again.model_.to_bytes() == model.model_.to_bytes()
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "model_")


def test_the_sum_of_certificates_bounds_the_sum_of_gaps() -> None:
    parts = [Certificate(0.1, 0.1 - 1e-17, 1e-18), Certificate(0.2, 0.1, 0.0, reached=False)]
    total = Certificate._sum(parts)
    assert total.gap_bound >= 0.1 and not total.reached and total.certified
    assert Certificate._sum([*parts, Certificate(1.0, 0.0, 0.0, certified=False)]).gap_bound == np.inf


def test_a_report_suggests_an_intercept_that_would_gain_much():
    X, y = make_regression(n_samples=60, n_features=4, noise=1.0, random_state=0)
    model = LinearRegressor(lam=0.1, tolerance=1e-4).fit(X, y + 1000.0)
    (remark,) = model.report_.remarks
    assert remark.startswith("`intercept` would lower the objective by ")
    assert f"note: {remark}" in str(model.report_)
    assert remark in model.report_._repr_html_().replace("&#x27;", "'")
    assert not LinearRegressor(lam=0.1, tolerance=1e-4, intercept=True).fit(X, y + 1000.0).report_.remarks


def test_settings_of_the_library_are_keywords_in_remarks():
    text = "the setting `scale`=rms divides, and the setting `intercept` would"
    assert in_keywords(text) == '`scale="rms"` divides, and `intercept` would'
