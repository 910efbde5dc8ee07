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
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.datasets import dump_svmlight_file, load_svmlight_file, make_classification

import dualgap
from dualgap import (
    KernelRegressor,
    KernelSVM,
    LinearClassifier,
    LinearRegressor,
    LowRankClassifier,
    LowRankRegressor,
    MulticlassSVM,
    MultilabelClassifier,
    SparseClassifier,
    SparseRegressor,
)

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


COSTS = np.array([[0, 1, 2, 1], [1, 0, 0.5, 3], [2, 1, 0, 1], [1, 4, 1, 0.0]])

#: Words of the program, the kind of targets, and the estimator that solves the same problem.
OTHERS: list[tuple[str, str, BaseEstimator]] = [
    (
        "binary --ball l1 --radius 2 --loss logistic --intercept=penalised",
        "two",
        SparseClassifier(loss="logistic", radius=2.0, intercept=True),
    ),
    ("multiclass --ball l1 --radius 2 --solver apg", "classes", SparseClassifier(radius=2.0, solver="apg")),
    (
        "regression --ball simplex --radius 2 --loss huber --width 0.5 --scale rms",
        "numbers",
        SparseRegressor(loss="huber", width=0.5, ball="simplex", radius=2.0, scale="rms"),
    ),
    ("multioutput --ball l1 --radius 2 --mu 0.01", "outputs", SparseRegressor(radius=2.0, mu=0.01)),
    (
        "multiclass --ball trace --radius 2 --loss softmax --class-weights balanced",
        "classes",
        LowRankClassifier(loss="softmax", radius=2.0, class_weight="balanced"),
    ),
    ("multioutput --ball trace --radius 2 --intercept", "outputs", LowRankRegressor(radius=2.0, intercept=True)),
    (
        "multilabel --ball trace --radius 2 --loss logistic",
        "labels",
        MultilabelClassifier(loss="logistic", ball="trace", radius=2.0),
    ),
    ("multilabel --ball l1 --radius 4 --width 0.5", "labels", MultilabelClassifier(radius=4.0, width=0.5)),
    (
        "multiclass --lambda 2/n --intercept --costs COSTS",
        "classes",
        MulticlassSVM(lam="2/n", intercept=True, costs=COSTS),
    ),
    ("multiclass --lambda 0.1 --loss softmax", "classes", MulticlassSVM(loss="softmax", lam=0.1)),
    ("multiclass --lambda 0 --l1 0.05 --loss softmax", "classes", MulticlassSVM(loss="softmax", lam=0.0, l1=0.05)),
    ("binary --kernel rbf --lambda 0.1 --loss logistic", "two", KernelSVM(loss="logistic", lam=0.1)),
    (
        "multiclass --kernel polynomial --degree 2 --coef0 1 --gamma 0.5 --lambda 0.1",
        "classes",
        KernelSVM(kernel="polynomial", degree=2, coef0=1.0, gamma=0.5, lam=0.1),
    ),
    (
        "regression --kernel rbf --gamma 0.2 --lambda 0.1 --loss epsilon-insensitive --epsilon 0.05",
        "numbers",
        KernelRegressor(gamma=0.2, lam=0.1, epsilon=0.05),
    ),
]


def spelling(target: Any, kind: str) -> str:
    """Return a target as a LIBSVM file has it."""
    if kind == "labels":
        return ",".join(str(label) for label in np.flatnonzero(target))
    return ",".join(map(str, target)) if kind == "outputs" else str(target)


@pytest.mark.parametrize(("words", "kind", "estimator"), OTHERS, ids=[words for words, _, _ in OTHERS])
def test_another_model_is_that_of_the_program(words: str, kind: str, estimator: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    # Few digits, so that the decimal numbers of the file are exactly these.
    X = rng.normal(size=(80, 6)).round(3)
    scores = (X @ rng.normal(size=(6, 4)) + 0.3 * rng.normal(size=(80, 4))).round(3)
    y = {
        "two": (scores[:, 0] > 0).astype(int),
        "classes": scores.argmax(axis=1),
        "numbers": scores[:, 0],
        "outputs": scores[:, :3],
        "labels": (scores > 0.2).astype(int),
    }[kind]
    lines = [
        f"{spelling(target, kind)} " + " ".join(f"{j + 1}:{x}" for j, x in enumerate(row) if x)
        for target, row in zip(y, X, strict=True)
    ]
    file, costs = tmp_path / "data.svm", tmp_path / "costs.tsv"
    file.write_text("\n".join(lines) + "\n")
    table = ["\t".join(["", "0", "1", "2", "3"]), *("\t".join(map(str, [k, *row])) for k, row in enumerate(COSTS))]
    costs.write_text("\n".join(table) + "\n")
    theirs, ours = tmp_path / "theirs.dualgap", tmp_path / "ours.dualgap"
    task = [str(costs) if word == "COSTS" else word for word in words.split()]
    program("train", *task, file, "--tolerance", 1e-4, "--seed", 3, "--witness", "--quiet", "--output", theirs)
    estimator.set_params(tolerance=1e-4, seed=3).fit(sp.csr_array(X), y)
    estimator.save(ours)
    loaded = dualgap.load(theirs)
    assert type(loaded) is type(estimator)
    assert loaded.certificate_ == estimator.certificate_
    assert loaded.model_.task == estimator.model_.task
    assert tensors(ours) == tensors(theirs), "the weights and the dual point"

    # Each certifies the model of the other, and predicts the same.
    assert loaded.certify(X, y) == estimator.certify(X, y)
    assert "Certified" in program("certify", ours, file)
    predicted = [spelling(target, kind) for target in estimator.predict(X)]
    if kind in ("two", "classes", "labels"):
        assert program("predict", ours, file).splitlines() == predicted
    np.testing.assert_array_equal(loaded.predict(X), estimator.predict(X))
