"""Training on a cluster of Dask: real processes, judged by runs on one machine and by what `certify` says of the joined data."""

from __future__ import annotations

import os
import signal

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster
from sklearn.datasets import dump_svmlight_file

import dualgap
import dualgap.dask
from dualgap.dask.__main__ import main


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def examples():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 20))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * random.normal(size=600) > 0, "yes", "no")
    return X, y


def same_bracket(one, other):
    slack = one.certificate_.rounding_error + other.certificate_.rounding_error
    assert one.certificate_.dual <= other.certificate_.primal + slack
    assert other.certificate_.dual <= one.certificate_.primal + slack


def certified(distributed, local, X, y, sample_weight=None):
    """The model of the shards is that of the joined data, for the estimator of one machine too."""
    again = distributed.certify(X, y, sample_weight)
    assert again.evidence == "witness"
    slack = again.rounding_error + distributed.certificate_.rounding_error
    assert again.primal == pytest.approx(distributed.certificate_.primal, abs=slack)
    assert again.dual == pytest.approx(distributed.certificate_.dual, abs=slack)
    same_bracket(distributed, local.fit(X, y, sample_weight))


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_dask_arrays_give_the_model_of_one_machine(client, examples, loss):
    X, y = examples
    keywords = {"loss": loss, "lam": 1e-3, "tolerance": 1e-3, "intercept": "penalised", "class_weight": "balanced"}
    model = dualgap.dask.LinearClassifier(client=client, **keywords)
    blocks = da.from_array(X, chunks=(250, -1)), da.from_array(y, chunks=250)
    model.fit(*blocks)
    assert model.stop_ == "gap_reached" and model.bytes_ > 0 and model.lost_ == 0
    certified(model, dualgap.LinearClassifier(**keywords), X, y)
    assert (model.predict(blocks[0]).compute() == model.predict(X)).all()


def test_csr_blocks_weights_and_the_same_bits_again(client, examples, tmp_path):
    X, y = examples
    X = sp.csr_matrix(np.where(np.abs(X) > 1, X, 0))
    weights = np.arange(600) % 3 + 1.0
    parts = [slice(0, 1), slice(1, 500), slice(500, 600)]
    lists = [[column[part] for part in parts] for column in (X, y, weights)]
    keywords = {"lam": 1e-3, "tolerance": 1e-3}
    first = dualgap.dask.LinearClassifier(client=client, **keywords).fit(*lists)
    certified(first, dualgap.LinearClassifier(**keywords), X, y, weights)
    taken = [made["passes"] for made in first.rounds_]
    second = dualgap.dask.LinearClassifier(client=client, local_passes=taken, **keywords).fit(*lists)
    assert second.coef_.tobytes() == first.coef_.tobytes()
    first.save(tmp_path / "model")
    assert dualgap.load(tmp_path / "model").certify(X, y).dual == pytest.approx(first.certificate_.dual)


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


def test_killed_workers_cost_progress_and_no_truth(client, examples):
    X, y = examples
    cut = [slice(0, 200), slice(200, 400), slice(400, 600)]
    keywords = {"loss": "hinge", "lam": 1e-5, "tolerance": 1e-5, "passes": 100_000, "local_passes": 1}
    killed = []

    def kill(progress):
        # From the callback, so that it happens in the middle of the run, however fast it is.
        if len(killed) < 3 and progress["rounds"] >= 2 * (len(killed) + 1):
            address, pid = sorted(client.run(os.getpid).items())[len(killed) % 2]
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    model = dualgap.dask.LinearClassifier(client=client, callback=kill, **keywords)
    model.fit([X[c] for c in cut], [y[c] for c in cut])
    assert len(killed) == 3 and model.lost_ >= 3
    assert model.stop_ == "gap_reached"
    assert model.certify(X, y).relative_gap <= 1e-5
    del keywords["local_passes"]
    same_bracket(model, dualgap.LinearClassifier(**keywords).fit(X, y))


def test_a_source_that_changes_is_refused(client, examples, tmp_path):
    X, y = examples
    numbers = np.where(y == "yes", 1, -1)
    paths = [tmp_path / "a.svm", tmp_path / "b.svm"]
    for path, part in zip(paths, (slice(0, 300), slice(300, 600)), strict=True):
        dump_svmlight_file(X[part], numbers[part], str(path), zero_based=False)

    def change(progress):
        for path in paths:
            dump_svmlight_file(X[:299], numbers[:299], str(path), zero_based=False)
        for pid in client.run(os.getpid).values():
            os.kill(pid, signal.SIGKILL)

    model = dualgap.dask.LinearClassifier(client=client, callback=change, lam=1e-4, tolerance=1e-9)
    with pytest.raises(RuntimeError, match="other examples than before"):
        model.fit(paths)


def test_from_the_shell(client, examples, tmp_path, capsys):
    X, y = examples
    numbers = np.where(y == "yes", 1, -1)
    paths = [str(tmp_path / name) for name in ("a.svm", "b.svm")]
    for path, part in zip(paths, (slice(0, 300), slice(300, 600)), strict=True):
        dump_svmlight_file(X[part], numbers[part], path, zero_based=False)
    model = str(tmp_path / "model")
    scheduler = client.scheduler.address
    assert main(["train", "binary", *paths, "--scheduler", scheduler, "--lambda", "10/n", "-o", model]) == 0
    assert "tolerance was reached" in capsys.readouterr().out
    joined = dualgap.load(model)
    assert joined.certify(X, numbers).relative_gap <= 0.01
