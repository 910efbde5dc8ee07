"""Workers that lie, and a scheduler that is restarted: what a run believes, and what `certify` of the joined data says."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

import cloudpickle
import numpy as np
import pytest
from distributed import Client

import dualgap
import dualgap.dask


# Workers cannot import the tests.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def examples():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 10))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1, -1)


def _lie_about_losses(share):
    """Let this worker report the losses at larger weights, which are smaller where a plane separates the classes."""
    from dualgap.dask import _shards

    def losses(run, number, step, payload):
        shard = _shards._shard(run, number)
        w = np.frombuffer(_shards._follow(run, number, step, payload).weights())
        part = shard.losses((share * w).tobytes())
        return part, (0.0,), len(part)

    _shards.losses = losses


def _lie_about_changes():
    """Let this worker report twice the change that its steps have made."""
    from dualgap import _dualgap
    from dualgap.dask import _shards

    honest = _shards.take_round

    def take_round(*arguments):
        part, seconds, sent = honest(*arguments)
        return _dualgap.add_parts("change", [part, part]), seconds, sent

    _shards.take_round = take_round


@contextlib.contextmanager
def liar(client, lie, *arguments):
    """One of the workers lies as long as the test takes."""
    address = sorted(client.scheduler_info()["workers"])[0]
    client.run(lie, *arguments, workers=[address])
    try:
        yield
    finally:
        client.run(_be_honest, workers=[address])


def _be_honest():
    import importlib

    from dualgap.dask import _shards

    runs = _shards._runs
    importlib.reload(_shards)
    _shards._runs.update(runs)


def blocks(X, y):
    return [X[:150], X[150:]], [y[:150], y[150:]]


def test_a_worker_that_lies_about_losses_is_believed_until_somebody_certifies(client, examples):
    X, y = examples
    keywords = {"loss": "logistic", "lam": 1e-3, "tolerance": 0.1, "local_passes": 1}
    with liar(client, _lie_about_losses, 1.2):
        model = dualgap.dask.LinearClassifier(client=client, **keywords).fit(*blocks(X, y))
    assert model.stop_ == "gap_reached" and model.certificate_.relative_gap <= 0.1
    # The weights, the dual point and the fingerprint are right, and the claim about them is not.
    with pytest.raises(ValueError, match="claims a primal value"):
        model.certify(X, y)
    with liar(client, _lie_about_losses, 3.0), pytest.raises(RuntimeError, match="exceeds the primal"):
        # A larger lie contradicts the dual value, whatever the tolerance.
        dualgap.dask.LinearClassifier(client=client, **{**keywords, "tolerance": 1e-4}).fit(*blocks(X, y))


def test_a_worker_that_lies_about_its_changes_costs_progress_and_no_truth(client, examples):
    X, y = examples
    keywords = {"loss": "logistic", "lam": 1e-2, "tolerance": 1e-3, "passes": 60, "local_passes": 1}
    with liar(client, _lie_about_changes):
        model = dualgap.dask.LinearClassifier(client=client, **keywords).fit(*blocks(X, y))
    found = model.certify(X, y)
    slack = found.rounding + model.certificate_.rounding
    assert found.evidence == "witness"
    assert found.primal == pytest.approx(model.certificate_.primal, rel=0, abs=slack)
    assert found.dual == pytest.approx(model.certificate_.dual, rel=0, abs=slack)


def _set_version(version):
    from dualgap import _dualgap

    _dualgap.__version__ = version


def test_a_worker_of_another_version_is_refused(client, examples):
    X, y = examples
    address = sorted(client.scheduler_info()["workers"])[1]
    model = dualgap.dask.LinearClassifier(client=client, lam=0.1)
    client.run(_set_version, "0.0.1", workers=[address])
    try:
        with pytest.raises(RuntimeError, match=f"a worker has dualgap 0.0.1, and the client {dualgap.__version__}: install"):
            model.fit(*blocks(X, y))
    finally:
        client.run(_set_version, dualgap.__version__, workers=[address])
    assert model.fit(*blocks(X, y)).stop_ == "gap_reached"


def signs():
    """Return an oracle of a class that travels with it: workers cannot import one of a module of tests."""

    class Signs:
        """Two outputs. Where the environment says so, to find the better one takes long."""

        dim = 4

        def features(self, x, y):
            return y * x

        def loss(self, truth, y):
            return float(truth != y)

        def decode(self, w, x, truth=None):
            if "SLOW" in os.environ:
                time.sleep(0.002)
            return max((-1, 1), key=lambda y: w @ self.features(x, y) + (0 if truth is None else self.loss(truth, y)))

    return Signs()


def _be_slow(slow):
    if slow:
        os.environ["SLOW"] = "1"
    else:
        del os.environ["SLOW"]


def test_what_a_slow_worker_made_is_recorded_and_can_be_repeated(client):
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 4))
    Y = np.where(X[:, 0] + random.normal(size=60) > 0, 1, -1)
    X, Y = list(X), Y.tolist()
    blocks = [X[:30], X[30:]], [Y[:30], Y[30:]]
    slow = sorted(client.scheduler_info()["workers"])[1]
    keywords = {"client": client, "lam": 0.05, "tolerance": 1e-3}
    client.run(_be_slow, True, workers=[slow])
    try:
        model = dualgap.dask.StructuredSVM(signs(), **keywords).fit(*blocks)
    finally:
        client.run(_be_slow, False, workers=[slow])
    # Thirty examples of two milliseconds each. Whether it makes fewer passes is up to the clock: `next_passes` has examples of that.
    assert max(made["computing"][1] for made in model.rounds_) >= 0.06
    passes = [made["passes"] for made in model.rounds_]
    assert all(1 <= each[1] < each[0] for each in passes if isinstance(each, list))
    assert model.history_[-1]["passes"] == pytest.approx(sum(np.mean(each) for each in passes))
    assert model.stop_ == "gap_reached" and model.certify(X, Y).relative_gap <= 1e-3
    # All workers are fast now, and the recorded passes are those of the slow one.
    again = dualgap.dask.StructuredSVM(signs(), local_passes=passes, **keywords).fit(*blocks)
    assert again.coef_.tobytes() == model.coef_.tobytes()
    with pytest.raises(ValueError, match="3 numbers for a round, and there are 2 shards"):
        dualgap.dask.StructuredSVM(signs(), local_passes=[[1, 2, 3]], **keywords).fit(*blocks)


def _cluster(port, running):
    """Start a scheduler and two workers, as processes of their own."""
    address = f"tcp://127.0.0.1:{port}"
    scheduler = ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = ["worker", address, "--nthreads", "1", "--no-dashboard", "--death-timeout", "60"]
    for what, *options in (scheduler, worker, worker):
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *options]
        running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return address


def _kill(running):
    while running:
        process = running.pop()
        process.kill()
        process.wait()


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_a_worker_that_stands_still_is_given_up(examples):
    X, y = examples
    running, stopped = [], []

    def stop(seen):
        if seen.rounds >= 2 and not stopped:
            stopped.extend(list(client.run(os.getpid).values())[:1])
            os.kill(stopped[0], signal.SIGSTOP)

    try:
        with Client(_cluster(_free_port(), running), timeout=60) as client:
            client.wait_for_workers(2)
            keywords = {"loss": "logistic", "lam": 1e-4, "local_passes": 2, "patience": 10.0}
            model = dualgap.dask.LinearClassifier(client=client, callback=stop, tolerance=1e-6, **keywords)
            with pytest.warns(RuntimeWarning, match="no heartbeat"):
                model.fit(*blocks(X, y))
            assert stopped and model.lost_ >= 1
            assert model.stop_ == "gap_reached" and model.certify(X, y).relative_gap <= 1e-6
    finally:
        # If all went well its nanny has ended it.
        for process in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        _kill(running)


def test_a_restarted_scheduler_costs_progress_only(examples, tmp_path, monkeypatch):
    X, y = examples
    # States are fetched with every certificate.
    monkeypatch.setattr("dualgap.dask._rounds._KEEP_SECONDS", 0.0)
    monkeypatch.setattr("dualgap.dask._rounds._KEEP_SHARE", 0.0)
    port = _free_port()
    keywords = {"loss": "logistic", "lam": 1e-4, "local_passes": 2, "checkpoint": tmp_path / "run"}
    running, restarted = [], []

    def restart(seen):
        if seen.rounds >= 4 and not restarted:
            _kill(running)
            restarted.append(seen.rounds)
            _cluster(port, running)

    try:
        with Client(_cluster(port, running), timeout=60) as client:
            model = dualgap.dask.LinearClassifier(client=client, callback=restart, tolerance=1e-6, **keywords)
            model.fit(*blocks(X, y))
            assert restarted and len(model.rounds_) > restarted[0] and model.lost_ >= model.restored_ >= 2
            assert model.stop_ == "gap_reached" and model.certify(X, y).relative_gap <= 1e-6
    finally:
        _kill(running)
