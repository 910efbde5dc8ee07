"""Workers that lie: what a run believes, and what `certify` of the joined data says."""

from __future__ import annotations

import contextlib
import sys

import cloudpickle
import numpy as np
import pytest

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
        shard, whole = _shards._shard(run, number), _shards._run(run).whole
        w = np.frombuffer(whole.weights(_shards._follow(run, step, payload).v()))
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
