"""Python and the program solve the same problems by the same steps: equal files, bit for bit.

The tests need the program, which the environment variable DUALGAP_PROGRAM names.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import dump_svmlight_file, load_svmlight_file, make_classification

import dualgap
from dualgap import LinearClassifier, LinearRegressor

PROGRAM = os.environ.get("DUALGAP_PROGRAM")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="DUALGAP_PROGRAM does not name the program")


def program(*arguments: Any) -> str:
    """Run the program and return what it prints."""
    assert PROGRAM is not None
    run = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def tensors(path: Path) -> bytes:
    """Return the numbers of a model file, without the header, whose length comes first.

    The header also names the settings of the solver, where the program writes out some defaults.
    """
    file = path.read_bytes()
    return file[8 + int.from_bytes(file[:8], "little") :]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a LIBSVM file of two classes, many of whose entries are zero."""
    X, y = make_classification(120, 15, n_informative=6, flip_y=0.1, random_state=3)
    X[abs(X) < 0.5] = 0.0
    path = tmp_path_factory.mktemp("data") / "two.svm"
    dump_svmlight_file(X, np.where(y == 1, 1, -1), str(path), zero_based=False)
    return path


def words_of(estimator: BaseEstimator) -> list[str]:
    """Return the options of the program that say the same as the keywords of a linear model."""
    said = {
        name: value
        for name, value in estimator.get_params().items()
        if value != type(estimator)().get_params()[name] or name == "loss"
    }
    words: list[str] = []
    for name, value in said.items():
        option = {"lam": "--lambda", "class_weight": "--class-weights"}.get(name, f"--{name.replace('_', '-')}")
        if name == "intercept":
            words.append("--intercept=penalised" if value == "penalised" else "--intercept")
        elif name == "solver_options":
            words += [word for key, setting in value.items() for word in (f"--{key}", str(setting))]
        elif isinstance(value, dict):
            words += [option, ",".join(f"{label}={weight}" for label, weight in value.items())]
        elif value is True:
            words.append(option)
        else:
            words += [option, str(value)]
    return words


#: The task of the program, and the estimator that solves the same problem.
LINEAR: list[tuple[str, BaseEstimator]] = [
    ("binary", LinearClassifier(loss="hinge", lam=0.01, tolerance=1e-4)),
    ("binary", LinearClassifier(loss="logistic", lam="2/n", intercept=True, seed=7, tolerance=1e-5)),
    ("binary", LinearClassifier(loss="squared-hinge", lam=0.0, l1=0.01, class_weight={1: 2.5}, tolerance=1e-4)),
    ("binary", LinearClassifier(loss="smooth-hinge", width=0.5, solver="bcfw", solver_options={"option": "ii"})),
    ("binary", LinearClassifier(loss="hinge", solver="cutting-plane", class_weight="balanced")),
    ("regression", LinearRegressor(loss="squared", lam=0.1, l1=0.01, scale="rms", tolerance=1e-6)),
    ("regression", LinearRegressor(loss="huber", width=0.3, intercept="penalised", nonnegative=True)),
    ("regression", LinearRegressor(loss="epsilon-insensitive", epsilon=0.05, q_norm=True, lam=0.05)),
]


@pytest.mark.parametrize(("task", "estimator"), LINEAR, ids=lambda part: str(part).replace("\n", ""))
def test_a_linear_model_is_that_of_the_program(
    task: str, estimator: Any, file: Path, tmp_path: Path
) -> None:
    X, y = load_svmlight_file(str(file), zero_based=False)
    theirs, ours = tmp_path / "theirs.dualgap", tmp_path / "ours.dualgap"
    program("train", task, file, "--witness", "--quiet", "--output", theirs, *words_of(estimator))
    estimator.fit(X, y)
    estimator.save(ours)
    loaded = dualgap.load(theirs)
    assert type(loaded) is type(estimator)
    assert np.array_equal(loaded.coef_, estimator.coef_), "not the same bits"
    assert loaded.certificate_ == estimator.certificate_
    assert loaded.certify(X, y) == estimator.certify(X, y)
    assert loaded.model_.task == estimator.model_.task
    assert tensors(ours) == tensors(theirs), "the weights and the dual point"

    # The program uses the file of Python as if it were its own.
    assert "Certified" in program("certify", ours, file)
    described = json.loads(program("inspect", "--json", ours))
    assert described
    labels = program("predict", ours, file).split()
    predicted = estimator.predict(X)
    assert [float(label) for label in labels] == predicted.tolist()
