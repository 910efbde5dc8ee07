"""Chains, matchings and ratings: Python trains the same bits as the program, which `DUALGAP_PROGRAM` names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap
from dualgap import ChainSVM, MatchingSVM, MatrixCompletion

pytestmark = pytest.mark.skipif(
    "DUALGAP_PROGRAM" not in os.environ, reason="DUALGAP_PROGRAM names no program to compare with"
)


def program(*words: Any) -> str:
    """Run the program, and return what it prints."""
    command = [os.environ["DUALGAP_PROGRAM"], *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def assert_same(mine: Any, theirs: Any) -> None:
    """Assert that two models have the same problem, the same weights and the same certificate, bit for bit."""
    mine, theirs = mine.model_, theirs.model_
    assert mine.task == theirs.task and mine.certificate == theirs.certificate
    assert mine.provenance["fingerprint"] == theirs.provenance["fingerprint"]
    assert mine.arrays.keys() == theirs.arrays.keys()
    for name, array in mine.arrays.items():
        assert array.tobytes() == theirs.arrays[name].tobytes(), name


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("keywords", "options"),
    [
        ({}, []),
        ({"solver": "bcfw", "seed": 7, "passes": 30}, ["--solver", "bcfw", "--seed", "7", "--passes", "30"]),
        ({"hamming": "plain", "rescale": "slack"}, ["--hamming", "plain", "--rescale", "slack"]),
        ({"solver_options": {"lanes": True}}, ["--lanes"]),
        (
            {"l1": 0.01, "solver_options": {"direction": "pairwise"}},
            ["--l1", "0.01", "--direction", "pairwise"],
        ),
    ],
)
def test_chains_of_letters(tmp_path: Path, keywords: dict[str, Any], options: list[str]) -> None:
    rng = np.random.default_rng(0)
    X, y, lines, number = [], [], [], 0
    for word in ("cab", "bac", "a", "abba", "cc", "bab"):
        pixels = (rng.random((len(word), 128)) < 0.3).astype(int)
        for t, letter in enumerate(word):
            pixels[t, ord(letter) - ord("a")] = 1
            number += 1
            last = -1 if t + 1 == len(word) else number + 1
            lines.append("\t".join(map(str, [number, letter, last, 1, t + 1, 0, *pixels[t]])))
        # A letter has its pixels and a constant.
        X.append(sp.csr_array(np.column_stack([pixels, np.ones(len(word))])))
        y.append(list(word))
    (tmp_path / "letters").write_text("\n".join(lines) + "\n")
    out = tmp_path / "m.dualgap"
    program("train", "chain", tmp_path / "letters", "--lambda", "0.1", *options, "--witness", "-o", out)
    mine = ChainSVM(lam=0.1, **keywords).fit(X, y)
    theirs = dualgap.load(out)
    assert type(theirs) is ChainSVM
    assert_same(mine, theirs)
    assert theirs.certify(X, y).evidence == "witness"


@pytest.mark.parametrize(
    ("keywords", "options"), [({}, []), ({"fp": 2.0, "fn": 1.0, "seed": 3}, ["--fp", "2", "--fn", "1", "--seed", "3"])]
)
def test_matchings_of_edge_files(tmp_path: Path, keywords: dict[str, Any], options: list[str]) -> None:
    rng = np.random.default_rng(1)
    X, y, text = [], [], []
    for _ in range(8):
        rows, columns = (int(k) for k in rng.integers(2, 5, 2))
        features = np.round(rng.normal(size=(rows, columns, 3)), 3)
        links = {(row, row % columns) for row in range(min(rows, columns))}
        for row, column in np.ndindex(rows, columns):
            features[row, column, 0] += (row, column) in links
            values = " ".join(f"{k + 1}:{value!r}" for k, value in enumerate(features[row, column].tolist()))
            text.append(f"{row} {column} {int((row, column) in links)} {values}")
        text.append("")
        X.append((np.argwhere(np.ones((rows, columns))), sp.csr_array(features.reshape(-1, 3)), (rows, columns)))
        y.append(sorted(links))
    (tmp_path / "edges").write_text("\n".join(text))
    mine, out = tmp_path / "mine.dualgap", tmp_path / "theirs.dualgap"
    program("train", "matching", tmp_path / "edges", *options, "--witness", "-o", out)
    model = MatchingSVM(**keywords).fit(X, y)
    assert_same(model, dualgap.load(out))
    model.save(mine)
    assert mine.read_bytes() == out.read_bytes()
    lines = program("predict", mine, tmp_path / "edges").splitlines()
    assert lines == [" ".join(f"{row}-{column}" for row, column in links) for links in model.predict(X)]


def test_a_matching_whose_features_have_names_is_certified_from_arrays(tmp_path: Path) -> None:
    (tmp_path / "edges").write_text("0 0 1 near:1\n0 1 0 far:1\n\n0 0 ? near:0.5 far:0.5\n0 1 1 near:2\n")
    out = tmp_path / "m.dualgap"
    program("train", "matching", tmp_path / "edges", "--witness", "-o", out)
    X = [sp.csr_array([[1.0, 0.0], [0.0, 1.0]]), sp.csr_array([[0.5, 0.5], [2.0, 0.0]])]
    graphs = [([(0, 0), (0, 1)], features, (1, 2)) for features in X]
    model = dualgap.load(out)
    marked = [[(0, 0)], {"sure": [(0, 1)], "possible": [(0, 0)]}]
    assert model.model_.features == ["near", "far"] and model.certify(graphs, marked).evidence == "witness"
    assert model.predict(graphs) == [[(0, 0)], [(0, 1)]]


@pytest.mark.parametrize(
    ("keywords", "options"),
    [
        ({}, []),
        ({"centre": "effects", "loss": "huber", "mu": 0.01}, "--centre effects --loss huber --mu 0.01".split()),
    ],
)
def test_ratings(tmp_path: Path, keywords: dict[str, Any], options: list[str]) -> None:
    rng = np.random.default_rng(2)
    users = [f"u{k}" for k in rng.integers(0, 9, 50)]
    items, values = rng.integers(0, 7, 50), rng.integers(1, 6, 50)
    lines = [f"{user} {item} {value}" for user, item, value in zip(users, items, values, strict=True)]
    (tmp_path / "ratings").write_text("\n".join(lines) + "\n")
    mine, out = tmp_path / "mine.dualgap", tmp_path / "theirs.dualgap"
    program("train", "completion", tmp_path / "ratings", "--radius", "9", *options, "--witness", "-o", out)
    model = MatrixCompletion(radius=9.0, **keywords).fit(users, items, values)
    assert_same(model, dualgap.load(out))
    model.save(mine)
    assert mine.read_bytes() == out.read_bytes()
    (tmp_path / "pairs").write_text("u1 3\nnobody 2\n")
    assert list(map(float, program("predict", mine, tmp_path / "pairs").split())) == list(
        model.predict(["u1", "nobody"], [3, 2])
    )
