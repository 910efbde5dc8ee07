"""Shards that are data files, column files or inputs of a user's oracle, judged by what is made of the joined data on one machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import cloudpickle
import numpy as np
import psutil
import pytest

import dualgap
import dualgap.dask
from dualgap import _dualgap
from dualgap.dask.__main__ import main

# Workers cannot import the tests.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

PROGRAM = os.environ.get("DUALGAP_PROGRAM")
needs_program = pytest.mark.skipif(PROGRAM is None, reason="DUALGAP_PROGRAM does not name the program")


def same_bracket(one, other):
    slack = one.certificate_.rounding + other.certificate_.rounding
    assert one.certificate_.dual <= other.certificate_.primal + slack
    assert other.certificate_.dual <= one.certificate_.primal + slack


def accepts(model, *data):
    """Whether a saved model is certified by the program, too."""
    return subprocess.run([PROGRAM, "certify", model, *data], check=False, capture_output=True).returncode == 0


def write(path, X, y):
    lines = (
        " ".join([str(label), *(f"{j + 1}:{x:.6g}" for j, x in enumerate(row) if x != 0)])
        for label, row in zip(y, X, strict=True)
    )
    path.write_text("\n".join(lines) + "\n")


def convert(path):
    mapped = path.with_suffix(".mapped")
    subprocess.run([PROGRAM, "convert", path, "-o", mapped, "-q"], check=True)
    return mapped


@needs_program
@pytest.mark.parametrize(
    ("name", "labels", "keywords"),
    [
        ("LinearClassifier", ["-1", "1"], {"loss": "logistic", "intercept": "penalised", "class_weight": "balanced"}),
        ("MulticlassSVM", ["cat", "dog", "eel"], {}),
        ("LinearRegressor", ["0.5", "-2", "7"], {}),
    ],
)
def test_data_files_are_shards_in_place(client, tmp_path, name, labels, keywords):
    random = np.random.default_rng(4)
    X = np.where(random.random((300, 8)) < 0.7, random.normal(size=(300, 8)), 0)
    y = np.array(labels)[(X[:, : len(labels)] + random.random((300, len(labels)))).argmax(axis=1)]
    # The last shard has one class only, and the first fewer columns than the others.
    order = np.argsort(y == labels[-1], kind="stable")
    X, y = X[order], y[order]
    X[:120, 5:] = 0
    if name == "MulticlassSVM":
        # Labels that are words come from a table, whose columns have names.
        def text(part):
            path = tmp_path / f"{part.start}.csv"
            table = [f"{','.join(f'{x:.6g}' for x in row)},{label}" for row, label in zip(X[part], y[part], strict=True)]
            path.write_text("\n".join(["a,b,c,d,e,f,g,h,kind", *table]) + "\n")
            return path
    else:
        def text(part):
            path = tmp_path / f"{part.start}.svm"
            write(path, X[part], y[part])
            return path

    parts = [slice(0, 120), slice(120, 295), slice(295, 300)]
    joined = text(slice(0, 300)).rename(tmp_path / ("all.csv" if name == "MulticlassSVM" else "all.svm"))
    shards = [convert(text(part)) for part in parts]
    keywords = {"lam": 0.01, "tolerance": 1e-3, **keywords}
    model = getattr(dualgap.dask, name)(client=client, **keywords).fit(shards)
    assert model.stop_ == "gap_reached"
    # Files that are mapped have no pages any more when the run is over, because its shards are forgotten: at once, or as soon as a
    # busy worker gets to it.
    until = time.monotonic() + 60
    while set(client.run(_dualgap.mapped_bytes).values()) != {0}:
        assert time.monotonic() < until
        time.sleep(0.05)
    whole = convert(joined)
    again = model.certify(whole)
    slack = again.rounding + model.certificate_.rounding
    assert again.evidence == "witness" and again.dual == pytest.approx(model.certificate_.dual, rel=0, abs=slack)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=0, abs=slack)
    same_bracket(model, getattr(dualgap, name)(**keywords).fit(whole))
    model.save(tmp_path / "model")
    assert accepts(tmp_path / "model", joined) and accepts(tmp_path / "model", whole)
    assert (dualgap.load(tmp_path / "model").predict(whole) == model.predict(whole)).all()


@needs_program
def test_text_and_data_files_of_one_problem(client, tmp_path):
    random = np.random.default_rng(5)
    X = random.normal(size=(200, 4))
    y = np.where(X[:, 0] > 0, 1, -1)
    paths = [tmp_path / "a.svm", tmp_path / "b.svm"]
    for path, part in zip(paths, (slice(0, 80), slice(80, 200)), strict=True):
        write(path, X[part], y[part])
    keywords = {"lam": 0.1, "tolerance": 1e-3, "local_passes": 2, "client": client}
    text = dualgap.dask.LinearClassifier(**keywords).fit(paths)
    mixed = dualgap.dask.LinearClassifier(**keywords).fit([convert(paths[0]), paths[1]])
    assert mixed.coef_.tobytes() == text.coef_.tobytes()
    damaged = bytearray(convert(paths[1]).read_bytes())
    damaged[200] ^= 1
    (tmp_path / "bad.mapped").write_bytes(damaged)
    with pytest.raises(ValueError, match="bad.mapped"):
        dualgap.dask.LinearClassifier(**keywords).fit([paths[0], tmp_path / "bad.mapped"])


def _resident(path):
    """Return how many bytes of a mapped file are in the memory of this process."""
    found = [part.rss for part in psutil.Process().memory_maps() if part.path == str(path)]
    return sum(found)


def _keepers():
    """Return how many threads of this process keep its pages."""
    names = [Path(f"/proc/self/task/{thread.id}/comm").read_text() for thread in psutil.Process().threads()]
    return names.count("dualgap pages\n")


@needs_program
def test_pages_of_data_files_are_dropped_beyond_the_limit(tmp_path):
    random = np.random.default_rng(6)
    path = tmp_path / "a.svm"
    write(path, random.normal(size=(500, 200)), np.arange(500) % 2)
    mapped = convert(path)
    request = json.dumps({"structure": dualgap.LinearClassifier()._structure_settings(), "recipe": None})
    data, _ = _dualgap.Data.read("linear", mapped, request, purpose="shard")
    assert _resident(mapped) > mapped.stat().st_size / 2 and data.about()["mapped"]
    _dualgap.keep_pages(1 << 50)
    _dualgap.keep_pages(0)
    until = time.monotonic() + 60
    while _resident(mapped):
        assert time.monotonic() < until
    assert _keepers() == 1
    # It is still there, and the same.
    assert data.fingerprint() == data.in_common(200, ["0", "1"], []).fingerprint()


def test_nothing_keeps_pages_when_no_file_is_mapped():
    command = """
import psutil, time
from dualgap import _dualgap
threads = psutil.Process().num_threads()
for _ in range(2):
    _dualgap.keep_pages(0, 0.01)
    until = time.monotonic() + 60
    while psutil.Process().num_threads() > threads:
        assert time.monotonic() < until
    assert _dualgap.mapped_bytes() == 0
"""
    subprocess.run([sys.executable, "-c", command], check=True)


def text_of(sentences):
    return "".join("".join(" ".join(token) + "\n" for token in sentence) + "\n" for sentence in sentences)


def sentences(random, count):
    words = [(f"w{k}", "NV"[k % 2], "IO"[k % 3 == 0]) for k in range(40)]
    return [[words[random.integers(40)] for _ in range(random.integers(1, 7))] for _ in range(count)]


@needs_program
@pytest.mark.parametrize(
    "keywords",
    [
        {"features": "standard", "lam": 0.02},
        {"features": "U0:%x[0,0]\nU1:%x[-1,1]/%x[0,1]\n", "min_count": 3, "lam": "1/n"},
    ],
)
def test_column_files_have_the_features_of_the_joined_file(client, tmp_path, keywords):
    random = np.random.default_rng(7)
    all_of_them = sentences(random, 60)
    # Labels and words that only one of the shards has.
    all_of_them[10] = [("rare", "X", "Q"), ("rare", "X", "O"), ("rarer", "X", "O")]
    paths = [tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "c.txt"]
    for path, part in zip(paths, (slice(0, 25), slice(25, 26), slice(26, 60)), strict=True):
        path.write_text(text_of(all_of_them[part]))
    joined = tmp_path / "joined.txt"
    joined.write_text(text_of(all_of_them))
    model = dualgap.dask.SequenceTagger(client=client, tolerance=1e-3, **keywords).fit(paths)
    local = dualgap.SequenceTagger(tolerance=1e-3, **keywords).fit(joined)
    assert model.features_ == local.features_ and list(model.classes_) == list(local.classes_)
    assert model.model_.provenance["fingerprint"] == local.model_.provenance["fingerprint"]
    assert model.model_.provenance["recipe"] == local.model_.provenance["recipe"]
    again = model.certify(joined)
    slack = again.rounding + model.certificate_.rounding
    assert again.evidence == "witness" and again.dual == pytest.approx(model.certificate_.dual, rel=0, abs=slack)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=0, abs=slack)
    same_bracket(model, local)
    model.save(tmp_path / "model")
    assert accepts(tmp_path / "model", joined)
    assert dualgap.load(tmp_path / "model").predict(joined) == model.predict(joined)


def test_what_column_files_cannot_have_is_said(client, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a N I\nb V O\n\n")
    other = tmp_path / "b.txt"
    other.write_text("a N x I\nb V x O\n\n")
    fit = dualgap.dask.SequenceTagger(client=client).fit
    with pytest.raises(ValueError, match="parts of one file"):
        fit([path, other])
    with pytest.raises(ValueError, match="paths of column files"):
        fit([[["a"]]], [[["I"]]])
    with pytest.raises(ValueError, match="pairs"):
        dualgap.dask.SequenceTagger(client=client, features="U0:%x[0,0]\nB1:%x[0,0]\n").fit([path])
    with pytest.raises(ValueError, match="min_count"):
        dualgap.dask.SequenceTagger(client=client, min_count=9).fit([path])
    with pytest.raises(ValueError, match="SequenceTagger"):
        dualgap.dask.ChainSVM(client=client).fit([path])


@needs_program
def test_chains_from_the_shell(client, tmp_path, capsys):
    path = tmp_path / "a.txt"
    path.write_text(text_of(sentences(np.random.default_rng(8), 20)))
    train = ["train", "chain", str(path), "--features", "standard", "--scheduler", client.scheduler.address]
    assert main([*train, "--tolerance", "0.001", "-o", str(tmp_path / "model")]) == 0
    assert "tolerance was reached" in capsys.readouterr().out
    assert accepts(tmp_path / "model", path)


def interval():
    class Interval:
        """Where a signal is up."""

        dim = 2
        called = 0

        def features(self, x, y):
            return [x[y[0] : y[1]].sum(), y[1] - y[0]]

        def loss(self, truth, y):
            both = max(0, min(truth[1], y[1]) - max(truth[0], y[0]))
            return truth[1] - truth[0] + y[1] - y[0] - 2 * both

        def outputs(self, x):
            return [(i, j) for i in range(len(x)) for j in range(i + 1, len(x) + 1)]

        def decode(self, w, x, truth=None):
            def score(y):
                return w @ self.features(x, y) + (0 if truth is None else self.loss(truth, y))

            return max(self.outputs(x), key=score)

        def admits(self, x, y):
            return 0 <= y[0] < y[1] <= len(x)

    return Interval


def signals(count):
    random = np.random.default_rng(9)
    Y = [tuple(sorted(int(end) for end in random.choice(9, 2, replace=False))) for _ in range(count)]
    return [random.normal(size=8) + 2 * ((np.arange(8) >= i) & (np.arange(8) < j)) for i, j in Y], Y


def test_an_oracle_of_ones_own_is_called_where_its_inputs_are(client, tmp_path):
    X, Y = signals(24)
    oracle = interval()()
    parts = [slice(0, 10), slice(10, 24)]
    keywords = {"lam": 0.05, "tolerance": 1e-3}
    model = dualgap.dask.StructuredSVM(oracle, client=client, checkpoint=tmp_path / "run", **keywords)
    weights = np.arange(24) % 3 + 1.0
    model.fit([X[part] for part in parts], [Y[part] for part in parts], [weights[part] for part in parts])
    again = model.certify(X, Y, weights)
    slack = again.rounding + model.certificate_.rounding
    assert again.evidence == "witness" and again.relative_gap <= 1e-3
    assert again.dual == pytest.approx(model.certificate_.dual, rel=0, abs=slack)
    same_bracket(model, dualgap.StructuredSVM(oracle, **keywords).fit(X, Y, weights))
    assert len(model.predict(X[:3])) == 3
    model.save(tmp_path / "model")
    loaded = dualgap.StructuredSVM.load(tmp_path / "model", oracle)
    assert loaded.certify(X, Y).dual == pytest.approx(again.dual)


def test_what_an_oracle_raises_on_a_worker_is_raised(client):
    X, Y = signals(6)

    class Broken(interval()):
        def decode(self, w, x, truth=None):
            raise ZeroDivisionError("decoded by nobody")

    with pytest.raises(ZeroDivisionError, match="by nobody"):
        dualgap.dask.StructuredSVM(Broken(), client=client).fit([X[:3], X[3:]], [Y[:3], Y[3:]])


def test_an_oracle_whose_class_a_worker_cannot_import_is_told(client, tmp_path, monkeypatch):
    X, Y = signals(6)
    kinds = tmp_path / "only_here.py"
    kinds.write_text("class Oracle:\n    dim = 2\n\n    def features(self, x, y): ...\n\n    def loss(self, truth, y): ...\n\n    def decode(self, w, x, truth=None): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    with pytest.raises(RuntimeError, match="No module named 'only_here'.*install the module there too"):
        dualgap.dask.StructuredSVM(only_here.Oracle(), client=client).fit([X[:3], X[3:]], [Y[:3], Y[3:]])
    # So are inputs, and no worker is lost.
    with pytest.raises(RuntimeError, match="No module named 'only_here'"):
        dualgap.dask.StructuredSVM(interval()(), client=client).fit([[only_here.Oracle()] * 3, X[3:]], [Y[:3], Y[3:]])
    assert len(client.scheduler_info()["workers"]) == 2
    with pytest.raises(ValueError, match="not on files"):
        dualgap.dask.StructuredSVM(interval()(), client=client).fit(["signals"])
