"""Training on a cluster of Dask: real processes, judged by runs on one machine and by what `certify` says of the joined data."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import dualgap
import dualgap.dask
from dualgap.dask.__main__ import main
from dualgap.dask._checkpoint import Checkpoint


@pytest.fixture(scope="module")
def examples():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 20))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * random.normal(size=600) > 0, "yes", "no")
    return X, y


@pytest.fixture
def files(examples, tmp_path):
    """Two LIBSVM files, and all of their lines in one."""
    X, y = examples
    numbers = np.where(y == "yes", 1, -1)
    paths = [tmp_path / "a.svm", tmp_path / "b.svm"]
    for path, part in zip(paths, (slice(0, 250), slice(250, 600)), strict=True):
        dump_svmlight_file(X[part], numbers[part], str(path), zero_based=False)
    joined = tmp_path / "joined.svm"
    joined.write_bytes(b"".join(path.read_bytes() for path in paths))
    return paths, joined


def same_bracket(one, other):
    slack = one.certificate_.rounding + other.certificate_.rounding
    assert one.certificate_.dual <= other.certificate_.primal + slack
    assert other.certificate_.dual <= one.certificate_.primal + slack


def certified(distributed, local, X, y, sample_weight=None):
    """The model of the shards is that of the joined data, for the estimator of one machine too."""
    again = distributed.certify(X, y, sample_weight)
    assert again.evidence == "witness"
    slack = again.rounding + distributed.certificate_.rounding
    assert again.primal == pytest.approx(distributed.certificate_.primal, rel=0, abs=slack)
    assert again.dual == pytest.approx(distributed.certificate_.dual, rel=0, abs=slack)
    same_bracket(distributed, local.fit(X, y, sample_weight))


# Without a centre the same shards need several times as many rounds.
@pytest.mark.parametrize(("loss", "lam", "most"), [("hinge", 1e-2, 60), ("logistic", 1e-3, 50)])
def test_dask_arrays_give_the_model_of_one_machine(client, examples, loss, lam, most):
    X, y = examples
    keywords = {"loss": loss, "lam": lam, "tolerance": 1e-3, "intercept": "penalised", "class_weight": "balanced"}
    model = dualgap.dask.LinearClassifier(client=client, local_passes=4, **keywords)
    blocks = da.from_array(X, chunks=(250, -1)), da.from_array(y, chunks=250)
    model.fit(*blocks)
    assert model.stop_ == "gap_reached" and model.bytes_ > 0 and model.lost_ == 0
    assert len(model.rounds_) <= most
    certified(model, dualgap.LinearClassifier(**keywords), X, y)
    assert (model.predict(blocks[0]).compute() == model.predict(X)).all()


def test_data_frames_have_names_of_columns(client, examples, tmp_path):
    X, y = examples
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(label=y, weight=np.arange(600) % 3 + 1.0)
    rows, targets = frame.drop(columns=["label", "weight"]), frame["label"]
    parts = dd.from_pandas(frame, npartitions=3)
    blocks = parts.drop(columns=["label", "weight"]), parts["label"], parts["weight"]
    keywords = {"loss": "logistic", "lam": 1e-2, "tolerance": 1e-3, "intercept": "penalised"}
    model = dualgap.dask.LinearClassifier(client=client, **keywords).fit(*blocks)
    local = dualgap.LinearClassifier(**keywords)
    certified(model, local, rows, targets, frame["weight"])
    assert list(model.feature_names_in_) == list(local.feature_names_in_) == list(rows.columns)
    assert model.model_.provenance["fingerprint"] == local.model_.provenance["fingerprint"]
    predicted = model.predict(blocks[0])
    assert predicted.divisions == blocks[0].divisions
    assert predicted.compute().equals(pd.Series(model.predict(rows), index=rows.index))
    model.save(tmp_path / "model")
    other = rows.rename(columns={"x0": "another"})
    with pytest.raises(ValueError, match="feature names"):
        dualgap.load(tmp_path / "model").predict(other)
    with pytest.raises(ValueError, match="different names"):
        dualgap.dask.LinearClassifier(client=client).fit([rows[:300], other[300:]], [y[:300], y[300:]])


def test_arrays_are_cut_along_their_columns_too(client, examples):
    X, y = examples
    blocks = da.from_array(X, chunks=(250, 7)), da.from_array(y, chunks=250)
    model = dualgap.dask.LinearClassifier(client=client).fit(*blocks)
    assert (model.predict(blocks[0]).compute() == model.predict(X)).all()


def test_csr_blocks_weights_and_the_same_bits_again(client, examples, tmp_path):
    X, y = examples
    X = sp.csr_matrix(np.where(np.abs(X) > 1, X, 0))
    weights = np.arange(600) % 3 + 1.0
    parts = [slice(0, 1), slice(1, 500), slice(500, 600)]
    lists = [[column[part] for part in parts] for column in (X, y, weights)]
    keywords = {"loss": "logistic", "lam": 1e-2, "tolerance": 1e-4}
    first = dualgap.dask.LinearClassifier(client=client, **keywords).fit(*lists)
    certified(first, dualgap.LinearClassifier(**keywords), X, y, weights)
    taken = [made["passes"] for made in first.rounds_]
    second = clone(dualgap.dask.LinearClassifier(client=client, local_passes=taken, **keywords)).fit(*lists)
    assert second.client is client
    assert second.coef_.tobytes() == first.coef_.tobytes()
    first.save(tmp_path / "model")
    assert dualgap.load(tmp_path / "model").certify(X, y).dual == pytest.approx(first.certificate_.dual)


def test_delayed_blocks_are_added_up_by_two_levels(client, examples):
    X, y = examples
    X = sp.csr_matrix(np.where(np.abs(X) > 1, X, 0))
    # Tasks add eight parts each.
    parts = [slice(k, k + 60) for k in range(0, 600, 60)]
    block = dask.delayed(lambda rows, at: rows[at.start : at.stop])
    blocks = [[block(column, part) for part in parts] for column in (X, y)]
    keywords = {"loss": "logistic", "lam": 1e-2, "tolerance": 1e-3}
    model = dualgap.dask.LinearClassifier(client=client, **keywords).fit(*blocks)
    assert all(len(made["computing"]) == 10 for made in model.rounds_)
    certified(model, dualgap.LinearClassifier(**keywords), X, y)


def test_classes_and_numbers(client):
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 6))
    y = (X @ random.normal(size=(6, 3))).argmax(axis=1)
    cut = [slice(0, 100), slice(100, 300)]
    keywords = {"loss": "softmax", "lam": 0.01, "tolerance": 1e-3}
    model = dualgap.dask.MulticlassSVM(client=client, **keywords).fit([X[c] for c in cut], [y[c] for c in cut])
    certified(model, dualgap.MulticlassSVM(**keywords), X, y)
    numbers = X[:, 0] - 2 * X[:, 1]
    keywords = {"lam": 0.01, "l1": 0.01, "tolerance": 1e-4}
    model = dualgap.dask.LinearRegressor(client=client, **keywords).fit([X[c] for c in cut], [numbers[c] for c in cut])
    certified(model, dualgap.LinearRegressor(**keywords), X, numbers)


def test_chains_in_shards_are_those_of_one_machine(client):
    random = np.random.default_rng(3)
    lengths = random.integers(1, 6, size=40)
    X = random.normal(size=(lengths.sum(), 5))
    y = np.where(X[:, 0] + np.roll(X[:, 1], 1) > 0, "in", "out")
    ends = np.cumsum([0, lengths[:15].sum(), lengths[15:].sum()])
    blocks = [[column[ends[k] : ends[k + 1]] for k in range(2)] for column in (X, y)]
    keywords = {"lam": 0.02, "tolerance": 1e-3}
    model = dualgap.dask.ChainSVM(client=client, **keywords).fit(*blocks, [lengths[:15], lengths[15:]])
    again = model.certify(X, y, lengths=lengths)
    assert again.evidence == "witness" and again.relative_gap <= 1e-3
    same_bracket(model, dualgap.ChainSVM(**keywords).fit(X, y, lengths))
    assert model.score(X, y, lengths) > 0.6


def test_matchings_in_shards_are_those_of_one_machine(client):
    random = np.random.default_rng(4)
    X, y = [], []
    for k in range(18):
        shape = int(random.integers(1, 4)), int(random.integers(2, 4))
        links = list(zip(range(shape[0]), random.permutation(shape[1]).tolist(), strict=False))
        graph = random.normal(scale=0.6, size=(*shape, 3))
        for link in links:
            graph[link][0] += 1
        # Some have only some of their edges.
        edges = [edge for edge in np.ndindex(shape) if edge in links or k % 3]
        X.append(graph if k % 2 else (edges, sp.csr_matrix([graph[edge] for edge in edges]), shape))
        y.append(links)
    weights = np.arange(18) % 3 + 1.0
    parts = [slice(0, 1), slice(1, 11), slice(11, 18)]
    keywords = {"lam": 0.02, "tolerance": 1e-3}
    model = dualgap.dask.MatchingSVM(client=client, **keywords)
    model.fit([X[part] for part in parts], [y[part] for part in parts], [weights[part] for part in parts])
    local = dualgap.MatchingSVM(**keywords)
    certified(model, local, X, y, weights)
    for name in ("fingerprint", "recipe"):
        assert model.model_.provenance[name] == local.model_.provenance[name]
    assert model.predict(X[:2]) == dualgap.MatchingSVM._from_model(model.model_).predict(X[:2])
    with pytest.raises(ValueError, match="shard 1 have 2 features, and those of shard 0 3"):
        model.fit([X[1:2], [X[1][:, :, :2]]], [y[1:2], y[1:2]])
    with pytest.raises(ValueError, match="no sure link"):
        model.fit([X[:1], X[1:2]], [[[]], [[]]])
    with pytest.raises(ValueError, match="not on files"):
        model.fit(["graphs"])


def test_changes_of_few_columns_travel_sparse(client):
    # Every example has two of ten thousand columns, and with three hundred of them no round can change more than six hundred.
    random = np.random.default_rng(2)
    columns = random.integers(0, 10_000, size=(300, 2))
    X = sp.csr_matrix((np.ones(600), columns.ravel(), np.arange(0, 601, 2)), shape=(300, 10_000))
    y = np.where(random.random(300) > 0.5, 1, -1)
    cut = [slice(0, 150), slice(150, 300)]
    keywords = {"lam": 0.1, "tolerance": 1e-3}
    model = dualgap.dask.LinearClassifier(client=client, **keywords).fit([X[c] for c in cut], [y[c] for c in cut])
    certified(model, dualgap.LinearClassifier(**keywords), X, y)
    assert all(made["bytes"] < 40_000 for made in model.rounds_)


def test_what_shards_cannot_do_is_said(client, examples):
    X, y = examples
    fit = dualgap.dask.LinearClassifier(client=client).fit
    with pytest.raises(ValueError, match="no examples"):
        fit([X, X[:0]], [y, y[:0]])
    with pytest.raises(ValueError, match="columns"):
        fit([X, X[:, :3]], [y, y])
    with pytest.raises(ValueError, match="same blocks"):
        fit([X], [y, y])
    with pytest.raises(ValueError, match="penalised"):
        dualgap.dask.LinearClassifier(client=client, intercept=True).fit([X], [y])
    with pytest.raises(ValueError, match="MulticlassSVM"):
        fit([X], [np.arange(600) % 3])
    with pytest.raises(OSError, match="missing"):
        fit(["missing.svm"])


def test_from_the_shell(client, files, tmp_path, capsys):
    paths, joined = files
    model = tmp_path / "model"
    train = ["train", "binary", *map(str, paths), "--scheduler", client.scheduler.address]
    more = ["--lambda", "10/n", "--l1", "0.001", "--intercept", "penalised", "--threads", "1"]
    assert main([*train, *more, "--json", "-o", str(model)]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["stop"] == "gap_reached" and (first["task"], first["n"], first["dim"]) == ("binary", 600, 21)
    loaded = dualgap.load(model)
    assert loaded.l1 == 0.001 and loaded.intercept == "penalised"
    recorded = ",".join("/".join(map(str, np.atleast_1d(passes))) for passes in first["local_passes"])
    assert main([*train, *more, "--local-passes", recorded]) == 0
    printed = capsys.readouterr().out
    assert "tolerance was reached" in printed and f"local passes {recorded}" in printed
    with pytest.raises(SystemExit):
        main(["train", "chain", str(paths[0]), "--intercept", "penalised"])
    again = dualgap.load(model).certify(*load_svmlight_file(str(joined), zero_based=False))
    assert again.relative_gap <= 0.01 and again.evidence == "witness"
    capsys.readouterr()
    assert main([*train, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    if "DUALGAP_PROGRAM" in os.environ:
        subprocess.run([os.environ["DUALGAP_PROGRAM"], "certify", model, joined], check=True)
        program = [os.environ["DUALGAP_PROGRAM"], "train", "binary", joined, "--lambda", "10/n", "--l1", "0.001", "--json"]
        told = json.loads(subprocess.run([*program, "--intercept=penalised"], check=True, capture_output=True).stdout)
        # What a cluster has no word for: other solvers, balls, scaled columns, advice.
        assert told.keys() - first.keys() == {"solver", "tactics", "ball", "remarks"}
        for name in ("task", "n", "dim", "lambda", "l1", "nonnegative", "scale", "certified", "basis", "stop", "seed", "version", "fingerprint"):
            assert first[name] == told[name], name


def test_ctrl_c_in_the_shell_keeps_the_model_found_so_far(client, files, tmp_path):
    paths, joined = files
    model = tmp_path / "model"
    train = ["train", "binary", *paths, "--scheduler", client.scheduler.address, "--lambda", "1e-8", "--tolerance", "1e-13", "-o", model]
    running = subprocess.Popen([sys.executable, "-m", "dualgap.dask", *train], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        while not (line := running.stderr.readline()).startswith("round 4:"):
            assert line
        running.send_signal(signal.SIGINT)
        told, said = running.communicate(timeout=120)
    finally:
        running.kill()
        running.wait()
    assert running.returncode == 1 and "stopping" in said and "interrupted" in told
    assert dualgap.load(model).certify(*load_svmlight_file(str(joined), zero_based=False)).evidence == "witness"


_CLIENT = """
import sys
from distributed import Client
import dualgap.dask
with Client(sys.argv[1]) as client:
    model = dualgap.dask.LinearClassifier(client=client, lam=1e-6, tolerance=1e-12, checkpoint=sys.argv[2])
    model.fit(sys.argv[3:])
"""


def test_another_client_goes_on_from_the_checkpoint_of_one_that_was_killed(client, files, tmp_path):
    paths, joined = files
    checkpoint = tmp_path / "run"
    killed = subprocess.Popen([sys.executable, "-c", _CLIENT, client.scheduler.address, checkpoint, *paths])
    try:
        until = time.monotonic() + 120
        while not checkpoint.exists():
            assert killed.poll() is None and time.monotonic() < until
            time.sleep(0.1)
    finally:
        killed.kill()
        killed.wait()
    keywords = {"lam": 1e-6, "checkpoint": checkpoint}
    stops = dualgap.dask.LinearClassifier(client=client, callback=lambda seen: True, tolerance=1e-12, **keywords)
    stops.fit(paths)
    # It begins with the dual points of the other client, and not with zeros, whose dual value is zero.
    assert stops.history_[0]["passes"] > 0 and stops.history_[0]["dual"] > 0
    X, y = load_svmlight_file(str(joined), zero_based=False)
    assert stops.certify(X, y).dual == pytest.approx(stops.certificate_.dual)
    with pytest.raises(ValueError, match="other examples"):
        dualgap.dask.LinearClassifier(client=client, **keywords).fit(paths[::-1])
    with pytest.raises(ValueError, match="another problem"):
        dualgap.dask.LinearClassifier(client=client, **{**keywords, "lam": 1e-3}).fit(paths)


@contextlib.contextmanager
def full_disk():
    """Files of this process cannot grow beyond a kilobyte."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_run_goes_on_when_the_disk_is_full(client, examples, tmp_path, monkeypatch):
    X, y = examples
    # Every round is kept.
    monkeypatch.setattr("dualgap.dask._rounds._KEEP_SECONDS", 0.0)
    monkeypatch.setattr("dualgap.dask._rounds._KEEP_SHARE", 0.0)
    keywords = {"loss": "logistic", "lam": 1e-3, "tolerance": 1e-4}
    model = dualgap.dask.LinearClassifier(client=client, checkpoint=tmp_path / "run", **keywords)
    with full_disk(), pytest.warns(RuntimeWarning, match="goes on without it"):
        model.fit([X[:200], X[200:]], [y[:200], y[200:]])
    assert model.stop_ == "gap_reached" and not list(tmp_path.iterdir())
    certified(model, dualgap.LinearClassifier(**keywords), X, y)


def test_a_full_disk_costs_the_checkpoint_only(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run", {}, ["print"])
    checkpoint.write(1, [b"first"])
    with full_disk(), pytest.warns(RuntimeWarning, match="goes on without it"):
        checkpoint.write(2, [bytes(100_000)])
    assert Checkpoint(tmp_path / "run", {}, ["print"]).states == [b"first"]
    (tmp_path / "run").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="remove"):
        Checkpoint(tmp_path / "run", {}, ["print"])
