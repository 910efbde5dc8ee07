"""The tools of scikit-learn around an estimator: pipelines, searches, and metadata that are routed."""

from __future__ import annotations

import numpy as np
import sklearn
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dualgap import LinearClassifier, LinearRegressor

X, Y = make_classification(120, 8, n_informative=5, flip_y=0.05, random_state=0)


def test_a_search_over_keywords_in_a_pipeline() -> None:
    model = make_pipeline(StandardScaler(), LinearClassifier(loss="logistic", intercept=True))
    search = GridSearchCV(model, {"linearclassifier__lam": [1e-3, 1e-1, "1/n"], "linearclassifier__l1": [0.0, 0.01]})
    search.fit(X, Y)
    assert search.best_score_ > 0.7
    best = search.best_estimator_[-1]
    scaled = search.best_estimator_[0].transform(X)
    assert best.certify(scaled, Y) == best.certificate_


def test_folds_are_scored() -> None:
    assert cross_val_score(LinearClassifier(), X, Y, cv=3).mean() > 0.7
    assert len(cross_val_score(LinearRegressor(), X, Y, cv=3, scoring="neg_mean_squared_error")) == 3
    proba = cross_val_score(LinearClassifier(loss="logistic"), X, Y, cv=3, scoring="neg_log_loss")
    assert (proba > -np.log(2.0)).all()


def test_sample_weights_are_routed() -> None:
    weights = np.where(np.arange(len(Y)) < 60, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LinearClassifier(lam=0.01, tolerance=1e-8).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, model).fit(X, Y, sample_weight=weights)
    plain = LinearClassifier(lam=0.01, tolerance=1e-8).fit(pipeline[0].transform(X[:60]), Y[:60])
    assert np.allclose(pipeline[-1].coef_, plain.coef_, atol=1e-4)
