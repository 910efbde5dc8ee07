"""Workers that lie, and a scheduler that is restarted: what a run believes, and what `certify` of the joined data says."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys

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
        return part, 0.0, len(part)

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


def test_a_restarted_scheduler_costs_progress_only(examples, tmp_path):
    X, y = examples
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    keywords = {"loss": "logistic", "lam": 1e-4, "local_passes": 2, "checkpoint": tmp_path / "run"}
    running, restarted = [], []

    def restart(progress):
        if progress["rounds"] >= 4 and not restarted:
            _kill(running)
            restarted.append(progress["rounds"])
            _cluster(port, running)

    try:
        with Client(_cluster(port, running), timeout=60) as client:
            model = dualgap.dask.LinearClassifier(client=client, callback=restart, tolerance=1e-6, **keywords)
            model.fit(*blocks(X, y))
            assert restarted and len(model.rounds_) > restarted[0] and model.lost_ >= 2
            assert model.stop_ == "gap_reached" and model.certify(X, y).relative_gap <= 1e-6
    finally:
        _kill(running)
