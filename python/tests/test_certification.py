"""Certify anybody's model: objectives beside formulas in numpy, bounds beside much tighter runs."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

import dualgap

RANDOM = np.random.default_rng(7)
X = RANDOM.normal(size=(60, 5))
TARGET = X @ [1.0, -2.0, 0.0, 0.5, 0.0] + 0.7 + 0.5 * RANDOM.normal(size=60)
SIGN = np.where(TARGET + RANDOM.normal(size=60) > 0.3, "yes", "no")
CLASS = np.digitize(TARGET + 0.5 * RANDOM.normal(size=60), [-0.8, 1.6])
COUNTS = RANDOM.uniform(0.5, 2.0, size=60)


def fitted(model, y, counts=None, X=X):
    # Whether LIBLINEAR converges on so few examples depends on the order in which it takes them: in this one it does.
    if model.get_params().get("random_state", 0) is None:
        model.set_params(random_state=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y) if counts is None else model.fit(X, y, sample_weight=counts)


def scores(model, k=0, X=X):
    return X @ np.atleast_2d(model.coef_)[k] + np.ravel(model.intercept_)[min(k, np.size(model.intercept_) - 1)]


def hinge(m):
    return np.maximum(0.0, 1.0 - m)


def squares(model, intercept=False):
    total = np.sum(np.square(model.coef_))
    return total + np.sum(np.square(model.intercept_)) if intercept else total


def signs(y, positive="yes"):
    return np.where(y == positive, 1.0, -1.0)


def one(counts):
    return np.ones(60) if counts is None else counts


def svm(model, c):
    return model.C * np.sum(one(c) * hinge(signs(SIGN) * scores(model)) ** 2) + 0.5 * squares(model, True)


def svm_l1(model, c):
    norm = np.abs(model.coef_).sum() + np.abs(model.intercept_).sum() / model.intercept_scaling
    return model.C * np.sum(one(c) * hinge(signs(SIGN) * scores(model)) ** 2) + norm


def svm_scaled(model, c):
    own = np.where(SIGN == "yes", 3.0, 1.0) * one(c)
    losses = np.sum(own * hinge(signs(SIGN) * scores(model)))
    return model.C * losses + 0.5 * (squares(model) + np.square(model.intercept_ / 2.5).sum())


def svm_classes(model, c):
    total = 0.0
    for k in range(3):
        weights = np.where(CLASS == k, {0: 2.0, 1: 1.0, 2: 0.5}[k], 1.0) * one(c)
        total += model.C * np.sum(weights * hinge(signs(CLASS, k) * scores(model, k)) ** 2)
    return total + 0.5 * squares(model, True)


def crammer_singer(model, c):
    all_scores = X @ model.coef_.T + model.intercept_
    margins = all_scores + (np.arange(3) != CLASS[:, None]) - all_scores[np.arange(60), CLASS][:, None]
    return model.C * np.sum(one(c) * margins.max(axis=1)) + 0.5 * squares(model, True)


def svr(model, c):
    losses = np.maximum(0.0, np.abs(TARGET - scores(model)) - model.epsilon)
    return model.C * np.sum(one(c) * losses) + 0.5 * squares(model, True)


def svr_squared(model, c):
    return model.C * np.sum(one(c) * (TARGET - scores(model)) ** 2) + 0.5 * squares(model, True)


def svr_free(model, c):
    losses = np.maximum(0.0, np.abs(TARGET - scores(model)) - model.epsilon)
    return model.C * np.sum(one(c) * losses) + 0.5 * squares(model)


def svc(model, c):
    return model.C * np.sum(one(c) * hinge(signs(SIGN) * scores(model))) + 0.5 * squares(model)


def log_loss(m):
    return np.logaddexp(0.0, -m)


def logistic(model, c):
    return model.C * np.sum(one(c) * log_loss(signs(SIGN) * scores(model))) + 0.5 * squares(model)


def logistic_balanced(model, c):
    c = one(c)
    sizes = {name: c[SIGN == name].sum() for name in ("yes", "no")}
    own = np.array([c.sum() / (2 * sizes[name]) for name in SIGN]) * c
    return logistic(model, own)


def logistic_penalised(model, c):
    return logistic(model, c) + 0.5 * np.square(model.intercept_).sum()


def logistic_net(model, c):
    ratio = model.l1_ratio
    norms = 0.5 * (1 - ratio) * squares(model) + ratio * np.abs(model.coef_).sum()
    return model.C * np.sum(one(c) * log_loss(signs(SIGN) * scores(model))) + norms


def softmax(model, c):
    all_scores = X @ model.coef_.T
    losses = np.logaddexp.reduce(all_scores, axis=1) - all_scores[np.arange(60), CLASS]
    return model.C * np.sum(one(c) * losses) + 0.5 * squares(model)


def ridge(model, c):
    return np.sum(one(c) * (TARGET - scores(model)) ** 2) + model.alpha * squares(model)


def ridge_classes(model, c):
    own = one(c) * np.array([{0: 2.0, 1: 1.0, 2: 0.5}[k] for k in CLASS])
    losses = sum(np.sum(own * (signs(CLASS, k) - scores(model, k)) ** 2) for k in range(3))
    return losses + model.alpha * squares(model)


def net(model, c):
    ratio = 1.0 if type(model) is Lasso else model.l1_ratio
    mean = np.sum(one(c) * (TARGET - scores(model)) ** 2) / (2 * np.sum(one(c)))
    return mean + model.alpha * (ratio * np.abs(model.coef_).sum() + (1 - ratio) / 2 * squares(model))


def sgd(model, c):
    weights = one(c) * np.where(SIGN == "yes", 2.0, 1.0)
    return np.sum(weights * hinge(signs(SIGN) * scores(model))) / 60 + model.alpha / 2 * squares(model)


def sgd_classes(model, c):
    ratio, total = model.l1_ratio, 0.0
    for k in range(3):
        total += np.sum(one(c) * log_loss(signs(CLASS, k) * scores(model, k))) / 60
    return total + model.alpha * ((1 - ratio) / 2 * squares(model) + ratio * np.abs(model.coef_).sum())


def sgd_numbers(model, c):
    r = np.abs(TARGET - scores(model))
    losses = np.where(r <= model.epsilon, r**2 / 2, model.epsilon * (r - model.epsilon / 2))
    return np.sum(one(c) * losses) / 60 + model.alpha / 2 * squares(model)


#: Models, their targets, their objectives by formula, and the keywords that make them nearly optimal, if any do.
MODELS = [
    (LinearSVC(C=0.5), SIGN, svm, {"tol": 1e-12, "max_iter": 100_000}),
    (LinearSVC(penalty="l1", intercept_scaling=2.0), SIGN, svm_l1, {"tol": 1e-12, "max_iter": 100_000}),
    (
        LinearSVC(loss="hinge", C=0.3, intercept_scaling=2.5, class_weight={"yes": 3.0}),
        SIGN,
        svm_scaled,
        {"tol": 1e-12, "max_iter": 1_000_000},
    ),
    (LinearSVC(class_weight={0: 2.0, 2: 0.5}), CLASS, svm_classes, {"tol": 1e-12, "max_iter": 100_000}),
    (LinearSVC(multi_class="crammer_singer"), CLASS, crammer_singer, {"tol": 1e-12, "max_iter": 1_000_000}),
    (LinearSVR(epsilon=0.2, C=0.5), TARGET, svr, {"tol": 1e-12, "max_iter": 1_000_000}),
    (LinearSVR(loss="squared_epsilon_insensitive"), TARGET, svr_squared, {"tol": 1e-12, "max_iter": 100_000}),
    (SVC(kernel="linear", C=0.5), SIGN, svc, {"tol": 1e-10}),
    # Slow to certify: neither the loss nor the intercept is smooth in the dual.
    (SVR(kernel="linear", epsilon=0.2), TARGET, svr_free, None),
    (LogisticRegression(C=0.7), SIGN, logistic, {"tol": 1e-12, "max_iter": 10_000}),
    (LogisticRegression(class_weight="balanced"), SIGN, logistic_balanced, {"tol": 1e-12, "max_iter": 10_000}),
    (LogisticRegression(solver="liblinear"), SIGN, logistic_penalised, {"tol": 1e-12}),
    (LogisticRegression(solver="saga", l1_ratio=0.4), SIGN, logistic_net, {"tol": 1e-14, "max_iter": 100_000}),
    (LogisticRegression(solver="saga", l1_ratio=1.0), SIGN, logistic_net, {"tol": 1e-14, "max_iter": 100_000}),
    (LogisticRegression(fit_intercept=False), CLASS, softmax, {"tol": 1e-12, "max_iter": 10_000}),
    (Ridge(alpha=2.0), TARGET, ridge, {}),
    (Ridge(alpha=2.0, positive=True), TARGET, ridge, {"tol": 1e-14}),
    (RidgeClassifier(alpha=2.0, class_weight={0: 2.0, 2: 0.5}), CLASS, ridge_classes, {}),
    (Lasso(alpha=0.1), TARGET, net, {"tol": 1e-14}),
    (Lasso(alpha=0.1, positive=True, fit_intercept=False), TARGET, net, {"tol": 1e-14}),
    (ElasticNet(alpha=0.2, l1_ratio=0.3), TARGET, net, {"tol": 1e-14}),
    (SGDClassifier(class_weight={"yes": 2.0}, random_state=0), SIGN, sgd, None),
    (SGDClassifier(loss="log_loss", penalty="elasticnet", alpha=0.01, random_state=0), CLASS, sgd_classes, None),
    (SGDRegressor(loss="huber", epsilon=0.5, alpha=0.01, average=True, random_state=0), TARGET, sgd_numbers, None),
]


def takes_weights(model):
    return not (isinstance(model, LinearSVC) and model.multi_class == "crammer_singer")


@pytest.mark.parametrize(("model", "y", "objective", "tight"), MODELS, ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_is_the_formula_and_the_bounds_contain_the_truth(model, y, objective, tight, weighted):
    counts = COUNTS if weighted and takes_weights(model) else None
    model = fitted(clone(model), y, counts)
    found = dualgap.certify(model, X, y, sample_weight=counts, threads=1)
    assert found.primal == pytest.approx(objective(model, counts), rel=1e-12)
    assert 0.0 <= found.at_least <= found.at_most
    assert found.close or found.relative_at_most < 1e-3, found
    if tight is None or (weighted and objective is svm_scaled):  # see the test below
        return
    best = fitted(clone(model).set_params(**tight), y, counts)
    proof = dualgap.certify(best, X, y, sample_weight=counts, passes=5000, threads=1)
    assert proof.relative_at_most < 1e-6, proof
    truth = found.primal - proof.primal
    assert found.at_least <= truth + 1e-6 * proof.primal
    assert truth <= found.at_most * (1 + 1e-9) + 1e-12 * proof.primal


def test_a_model_that_does_not_converge_is_caught():
    # LIBLINEAR's hinge goes round in circles under these weights, however many passes it takes. The judge is a
    # quadratic program in w and slack variables.
    model = LinearSVC(loss="hinge", C=0.3, intercept_scaling=2.5, class_weight={"yes": 3.0}, tol=1e-12, random_state=0)
    found = dualgap.certify(fitted(model, SIGN, COUNTS), X, SIGN, sample_weight=COUNTS)
    rows = signs(SIGN)[:, None] * np.hstack([X, np.full((60, 1), 2.5)])
    costs = 0.3 * COUNTS * np.where(SIGN == "yes", 3.0, 1.0)
    sides = np.hstack([rows, np.eye(60)])
    judged = minimize(
        lambda u: 0.5 * u[:6] @ u[:6] + costs @ u[6:],
        np.repeat([0.0, 1.0], [6, 60]),
        jac=lambda u: np.concatenate([u[:6], costs]),
        constraints=[{"type": "ineq", "fun": lambda u: sides @ u - 1.0, "jac": lambda u: sides}],
        bounds=[(None, None)] * 6 + [(0.0, None)] * 60,
        method="SLSQP",
        options={"maxiter": 2000, "ftol": 1e-14},
    )
    best = 0.5 * judged.x[:6] @ judged.x[:6] + costs @ hinge(rows @ judged.x[:6])
    assert 1e-3 < found.at_least <= found.primal - best + 1e-9
    assert found.primal - best <= found.at_most


def test_sparse_and_dense_data_are_one():
    model = fitted(LinearSVC(intercept_scaling=3.0), SIGN)
    dense, sparse = dualgap.certify(model, X, SIGN), dualgap.certify(model, sp.csr_array(X), SIGN)
    assert dense.primal == pytest.approx(sparse.primal, rel=1e-14)


def test_several_outputs_are_added_up():
    Y = np.column_stack([TARGET, -2.0 * TARGET + 1.0])
    found = dualgap.certify(Ridge(alpha=[1.0, 3.0]).fit(X, Y), X, Y)
    assert len(found.parts) == 2
    assert found.primal == pytest.approx(sum(part.primal for part in found.parts))
    assert found.relative_at_most < 1e-9


def test_a_pipeline_is_certified_on_what_its_last_step_saw():
    pipeline = make_pipeline(StandardScaler(), Ridge(alpha=2.0)).fit(X, TARGET)
    proof = dualgap.certify(pipeline, X, TARGET)
    own = dualgap.certify(pipeline[-1], pipeline[0].transform(X), TARGET)
    assert proof == own
    assert proof.relative_at_most < 1e-9


def test_our_own_models_have_their_certificate_recomputed(tmp_path):
    model = dualgap.LinearRegressor(lam=0.1).fit(X, TARGET)
    model.save(tmp_path / "m.dualgap")
    for given in (model, tmp_path / "m.dualgap", str(tmp_path / "m.dualgap")):
        found = dualgap.certify(given, X, TARGET)
        assert isinstance(found, dualgap.Certificate)
        assert found.primal == pytest.approx(model.certificate_.primal)


def test_plain_weights_need_a_problem():
    problem = dualgap.LinearRegressor(lam=0.1, intercept=True)
    best = dualgap.LinearRegressor(lam=0.1, intercept=True, tolerance=1e-10).fit(X, TARGET)
    pair = dualgap.certify((best.coef_, best.intercept_), X, TARGET, problem=problem)
    joined = dualgap.certify([*best.coef_, best.intercept_], X, TARGET, problem=problem)
    assert pair == joined
    assert pair.relative_at_most < 1e-6
    zero = dualgap.certify(np.zeros(6), X, TARGET, problem=problem)
    truth = np.mean(TARGET**2) / 2 - best.certificate_.primal
    assert zero.at_least <= truth <= zero.at_most
    with pytest.raises(TypeError, match="problem"):
        dualgap.certify(np.zeros(6), X, TARGET)
    with pytest.raises(ValueError, match="shape"):
        dualgap.certify(np.zeros(4), X, TARGET, problem=problem)
    with pytest.raises(ValueError, match="NaN"):
        dualgap.certify(np.full(6, np.nan), X, TARGET, problem=problem)


def test_infeasible_weights_have_no_gap():
    problem = dualgap.LinearRegressor(lam=0.1, nonnegative=True)
    with pytest.raises(ValueError, match="weight 1 is -1e0"):
        dualgap.certify([-1.0, 0, 0, 0, 0], X, TARGET, problem=problem)


def liblinear(labels, weights, bias=-1):
    lines = ["solver_type L2R_L2LOSS_SVC_DUAL", "nr_class 2", f"label {labels}", "nr_feature 5", f"bias {bias}", "w"]
    return "\n".join([*lines, *map(repr, map(float, weights))]) + "\n"


def test_weights_of_liblinear_are_those_of_its_first_label(tmp_path):
    y = np.where(SIGN == "yes", 1, -1)
    model = fitted(LinearSVC(C=0.5), y)
    own = dualgap.certify(model, X, y)
    problem = dualgap.LinearClassifier(loss="squared-hinge", lam=1 / (0.5 * 60), intercept="penalised")
    weights = np.append(model.coef_, model.intercept_)
    for labels, sign in [("1 -1", 1), ("-1 1", -1)]:
        Path(tmp_path / "m").write_text(liblinear(labels, sign * weights, bias=1))
        found = dualgap.certify(tmp_path / "m", X, y, problem=problem)
        assert found.primal * 0.5 * 60 == pytest.approx(own.primal)
    (tmp_path / "w").write_text("1\n2\nx\n")
    with pytest.raises(ValueError, match="w:3"):
        dualgap.certify(tmp_path / "w", X, y, problem=problem)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (LinearRegression(), "Ridge"),
        (MLPClassifier(max_iter=2), "not convex"),
        (LogisticRegression(C=np.inf), "finite C"),
        (SGDClassifier(penalty=None), "penalty"),
        (SGDClassifier(loss="modified_huber"), "not known"),
        (SGDClassifier(early_stopping=True), "left out"),
        (SVC(), "kernel='linear'"),
    ],
    ids=lambda x: str(x)[:30],
)
def test_what_cannot_be_proven_says_why(model, words):
    y = TARGET if isinstance(model, LinearRegression) else SIGN
    with pytest.raises(ValueError, match=words):
        dualgap.certify(fitted(model, y), X, y)


def test_softmax_with_free_intercepts_says_what_to_do():
    with pytest.raises(ValueError, match="fit_intercept=False"):
        dualgap.certify(fitted(LogisticRegression(), CLASS), X, CLASS)


def test_strange_models_are_refused_with_a_remedy():
    class Strange:
        coef_ = np.zeros(5)

        def fit(self, X, y):
            return self

    with pytest.raises(TypeError, match="coef_"):
        dualgap.certify(Strange(), X, SIGN)


def test_packages_are_known_by_their_names():
    y, counts = TARGET, None
    model = fitted(Lasso(alpha=0.1), y, counts)
    known = type("Lasso", (Lasso,), {"__module__": "celer.dropin_sklearn"})()
    known.__dict__.update(vars(model), weights=None)
    assert dualgap.certify(known, X, y).primal == dualgap.certify(model, X, y).primal


def test_words_round_the_bounds_outward():
    found = dualgap.Appraisal("m", "o", primal=10.0, at_most=0.03149, at_least=0.0299)
    assert str(found).startswith("at most 3.2e-2 above the optimum, at least 2.9e-2 (")
    assert str(dualgap.Appraisal("m", "o", 1.0, 0.0, 0.0)).startswith("at most 0 above the optimum (")
    assert "<table>" in found._repr_html_() and "at most 3.2e-2" in found._repr_html_()


def test_an_early_end_is_proven_until_there():
    calls = []
    model = fitted(SGDClassifier(random_state=0), SIGN)
    found = dualgap.certify(model, X, SIGN, callback=lambda progress: calls.append(progress) or True)
    full = dualgap.certify(model, X, SIGN)
    assert calls
    assert found.at_most >= full.at_least and found.at_least <= full.at_most


def test_few_passes_are_no_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        found = dualgap.certify(fitted(SVC(kernel="linear", tol=0.1), SIGN), X, SIGN, passes=1)
    assert found.at_most >= found.at_least >= 0.0
