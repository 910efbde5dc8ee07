"""Workers that are killed: shards of every source are read again, go on from the state that the client has, and the certificate stays true."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import cloudpickle
import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import dump_svmlight_file

import dualgap
import dualgap.dask

# Workers cannot import the tests.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def mortal():
    with (
        LocalCluster(n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def every_state(monkeypatch):
    """The client fetches the states of the shards with every certificate."""
    monkeypatch.setattr("dualgap.dask._rounds._KEEP_SECONDS", 0.0)
    monkeypatch.setattr("dualgap.dask._rounds._KEEP_SHARE", 0.0)


def _process_with_shards():
    """Return the process of this worker if it has shards."""
    from dualgap.dask import _shards

    return os.getpid() if any(run.shards for run in _shards._runs.values()) else None


class Killer:
    """A callback that kills workers that have shards: one in each of these rounds, or in the first one that is told of after it."""

    def __init__(self, client, *rounds):
        self.client, self.rounds, self.killed = client, list(rounds), []

    def __call__(self, seen):
        if self.rounds and seen.rounds >= self.rounds[0]:
            del self.rounds[0]
            found = self.client.run(_process_with_shards, on_error="ignore")
            self.killed.append(next(pid for pid in found.values() if pid is not None))
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.killed[-1], signal.SIGKILL)


def judge(model, killer, *joined):
    """The model is certified by the joined data, and shards went on from their states."""
    assert killer.killed and not killer.rounds
    assert model.lost_ >= model.restored_ >= 1
    assert model.stop_ == "gap_reached"
    again = model.certify(*joined)
    slack = again.rounding + model.certificate_.rounding
    assert again.evidence == "witness"
    assert again.primal == pytest.approx(model.certificate_.primal, rel=0, abs=slack)
    assert again.dual == pytest.approx(model.certificate_.dual, rel=0, abs=slack)


@pytest.fixture(scope="module")
def examples():
    random = np.random.default_rng(0)
    X = random.normal(size=(600, 20))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * random.normal(size=600) > 0, 1, -1)


def test_killed_workers_cost_progress_and_no_truth(mortal, examples, every_state):
    X, y = examples
    killer = Killer(mortal, 4, 8)
    keywords = {"loss": "logistic", "lam": 1e-3, "tolerance": 1e-5}
    model = dualgap.dask.LinearClassifier(client=mortal, callback=killer, local_passes=2, **keywords)
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "100ms"}):
        model.fit(np.array_split(X, 3), np.array_split(y, 3))
    assert len(mortal.cluster.workers) == 3, "a cluster of this machine starts lost workers again, however long that takes"
    judge(model, killer, X, y)
    local, slack = dualgap.LinearClassifier(**keywords).fit(X, y).certificate_, model.certificate_.rounding
    assert max(local.dual, model.certificate_.dual) <= min(local.primal, model.certificate_.primal) + local.rounding + slack


@pytest.mark.skipif("DUALGAP_PROGRAM" not in os.environ, reason="DUALGAP_PROGRAM does not name the program")
def test_data_files_are_mapped_again(mortal, examples, every_state, tmp_path):
    X, y = examples
    paths = []
    for name, part in (("a", slice(0, 250)), ("b", slice(250, 600)), ("joined", slice(0, 600))):
        dump_svmlight_file(X[part], y[part], str(tmp_path / f"{name}.svm"), zero_based=False)
        paths.append(tmp_path / f"{name}.mapped")
        convert(tmp_path / f"{name}.svm", paths[-1])
    killer = Killer(mortal, 4)
    keywords = {"loss": "logistic", "lam": 1e-3, "tolerance": 1e-5, "local_passes": 2}
    model = dualgap.dask.LinearClassifier(client=mortal, callback=killer, **keywords).fit(paths[:2])
    judge(model, killer, paths[2])


def convert(text, mapped):
    subprocess.run([os.environ["DUALGAP_PROGRAM"], "convert", text, "-o", mapped, "-q"], check=True)


def test_column_files_are_read_and_numbered_again(mortal, every_state, tmp_path):
    random = np.random.default_rng(7)
    words = [(f"w{k}", "NV"[k % 2], "IO"[k % 3 == 0]) for k in range(40)]
    lines = "".join("".join(" ".join(words[k]) + "\n" for k in random.integers(40, size=5)) + "\n" for _ in range(80)).split("\n\n")
    paths = [tmp_path / "a.txt", tmp_path / "b.txt", tmp_path / "joined.txt"]
    for path, part in zip(paths, (lines[:30], lines[30:-1], lines[:-1]), strict=True):
        path.write_text("\n\n".join(part) + "\n\n")
    killer = Killer(mortal, 2)
    keywords = {"features": "standard", "lam": 0.1, "tolerance": 0.1, "local_passes": 4}
    model = dualgap.dask.SequenceTagger(client=mortal, callback=killer, **keywords).fit(paths[:2])
    judge(model, killer, paths[2])


class Signs:
    """Two outputs."""

    dim = 4

    def features(self, x, y):
        return y * x

    def loss(self, truth, y):
        return float(truth != y)

    def decode(self, w, x, truth=None):
        return max((-1, 1), key=lambda y: w @ self.features(x, y) + (0 if truth is None else self.loss(truth, y)))


def test_inputs_of_an_oracle_are_sent_again(mortal, every_state):
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 4))
    Y = np.where(X[:, 0] + random.normal(size=60) > 0, 1, -1).tolist()
    X, killer = list(X), Killer(mortal, 2)
    keywords = {"lam": 0.05, "tolerance": 1e-3, "local_passes": 2}
    model = dualgap.dask.StructuredSVM(Signs(), client=mortal, callback=killer, **keywords).fit([X[:30], X[30:]], [Y[:30], Y[30:]])
    judge(model, killer, X, Y)


def test_a_source_that_changes_is_refused(mortal, examples, tmp_path):
    X, y = examples
    paths = [tmp_path / "a.svm", tmp_path / "b.svm"]
    for path in paths:
        dump_svmlight_file(X, y, str(path), zero_based=False)
    killer = Killer(mortal, 1)

    def change(seen):
        for path in paths:
            dump_svmlight_file(X[:-1], y[:-1], str(path), zero_based=False)
        killer(seen)

    model = dualgap.dask.LinearClassifier(client=mortal, callback=change, lam=1e-4, tolerance=1e-9)
    with pytest.raises(RuntimeError, match="other examples than before"):
        model.fit(paths)
