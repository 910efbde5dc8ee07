"""The simulated cluster: closed forms of its clock, and rounds that are the real ones."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import dualgap
import dualgap.dask
from dualgap.dask import Network, Rates, simulate
from dualgap.dask.__main__ import main
from dualgap.dask._clock import Clock, served, shared, tree
from dualgap.dask._simulator import _Dealt, power_law


def total(network, compute, size=1000, sent=0, add=0.0, seed=0):
    """The seconds of a call whose parts all have this size."""
    clock = Clock(network, seed)
    levels = [[size] * count for count in tree(len(compute))]
    seconds = clock.total(np.asarray(compute, dtype=float), levels, sent, add)
    return clock.now, seconds.max()


@pytest.fixture(scope="module")
def examples():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 10))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * random.normal(size=400) > 0, 1, -1)
    return X, y


#: As if a core took a microsecond for everything that has a rate.
RATES = Rates(*(1e-6 for _ in dataclasses.fields(Rates)))


def simulated(examples, workers, network="10gbit", rates=RATES, **keywords):
    model = dualgap.dask.LinearClassifier(loss="logistic", lam=1e-2, tolerance=1e-3, **keywords)
    return simulate(model, *examples, workers=workers, network=network, rates=rates)


@pytest.mark.parametrize("count", [1, 3, 8, 9, 100])
def test_messages_that_take_no_time_leave_the_slowest_worker(count):
    compute = np.random.default_rng(count).random(count)
    assert total(Network(), compute, sent=10**6) == (compute.max(), compute.max())


def test_one_worker_exchanges_nothing_with_others():
    net = Network(latency=0.5, bandwidth=100.0, task=0.25, overhead=2.0)
    # Two words, three hops to fetch the result by the scheduler, and its bytes twice.
    assert total(net, [7.0], size=50)[0] == pytest.approx(7 + 2 + 0.25 + 5 * 0.5 + 2 * 50 / 100)


@pytest.mark.parametrize(("count", "levels"), [(2, 1), (8, 1), (9, 2), (64, 2), (65, 3)])
def test_slow_links_leave_the_bytes(count, levels):
    size, bandwidth = 10**6, 1e3
    seconds = total(Network(bandwidth=bandwidth), np.zeros(count), size=size)[0]
    # On every level the fullest task fetches all parts but its own; the client gets the sum by the scheduler.
    widths = [min(8, before) for before in tree(count)[:-1]]
    assert len(widths) == levels
    assert seconds == pytest.approx((sum(width - 1 for width in widths) + 2) * size / bandwidth)


def test_what_all_workers_are_sent_spreads_in_waves_of_fifty():
    net, sent = Network(bandwidth=1e3), 10**6

    def seconds(count):
        return total(net, np.zeros(count), size=0, sent=sent)[0] * 1e3 / sent

    # To the first by the scheduler; from it to fifty; from these to the others, as many each.
    assert [seconds(count) for count in (1, 2, 51)] == pytest.approx([2, 3, 52])
    assert seconds(51 + 51) == pytest.approx(53)
    assert seconds(51 * 51) == pytest.approx(2 + 50 + 50)
    # Few bytes go with every task, through the scheduler.
    assert total(net, np.zeros(4), size=0, sent=500)[0] == pytest.approx(4 * 2 * 500 / 1e3)


def test_the_scheduler_handles_one_task_after_the_other():
    for count in (1, 10, 1000):
        assert total(Network(task=1.0), np.zeros(count))[0] == pytest.approx(sum(tree(count)))


def test_workers_share_the_cores_of_a_machine():
    assert total(Network(cores=2), [1.0] * 4)[0] == pytest.approx(2.0)
    assert total(Network(cores=4), [1.0] * 4)[0] == pytest.approx(1.0)
    # The long one has a core of its own from the second when the short ones are done.
    assert shared(np.zeros(3), np.array([1.0, 1.0, 3.0]), 2) == pytest.approx([1.5, 1.5, 3.5])
    # Nobody waits before he comes.
    assert shared(np.array([0.0, 5.0]), np.array([1.0, 1.0]), 1) == pytest.approx([1.0, 6.0])


def test_work_is_conserved_on_shared_cores():
    random = np.random.default_rng(1)
    work = random.random(30)
    done = shared(np.zeros(30), work, 3)
    assert (done >= work).all()
    assert done.max() >= work.sum() / 3
    assert shared(np.zeros(30), work, 1).max() == pytest.approx(work.sum())


def test_queues_follow_the_recursion():
    random = np.random.default_rng(2)
    arrivals, service = random.random(50) * 10, random.random(50)
    free, expected = 0.0, np.empty(50)
    for k in np.argsort(arrivals):
        free = expected[k] = max(free, arrivals[k]) + service[k]
    assert served(arrivals, service) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["latency", "task", "overhead"])
def test_a_call_never_gets_faster_by_slower_parts(name):
    net = Network.named("1gbit")
    compute = np.random.default_rng(3).random(40)
    seconds = [total(dataclasses.replace(net, **{name: value}), compute, sent=10**6)[0] for value in (0.0, 1e-3, 1e-2, 1.0)]
    assert seconds == sorted(seconds)
    assert seconds[0] < seconds[-1]


def test_stragglers_follow_the_seed():
    net = Network(spread=0.5)
    once = [total(net, np.ones(100), seed=seed)[0] for seed in (0, 0, 1)]
    assert once[0] == once[1] != once[2]
    # The slowest of a hundred is slow.
    assert once[0] > 2.0
    assert total(net, np.ones(100)) > total(net, np.ones(10))


def test_a_power_law_is_continued_within_its_bounds():
    counts = [1, 2, 4, 8, 16]
    assert power_law(counts, [count**0.5 for count in counts], 64, 0.0, 1.0) == pytest.approx(8.0)
    assert power_law(counts, [count**2.0 for count in counts], 32, 0.0, 1.0) == pytest.approx(512.0)
    assert power_law(counts, [1 / count for count in counts], 32, 0.0, 1.0) == pytest.approx(1 / 16)
    assert power_law([4], [7.0], 8, 0.0, 1.0) == 7.0


def test_the_rounds_are_the_real_ones(examples):
    found = simulated(examples, [1, 3, 100])
    local = dualgap.LinearClassifier(loss="logistic", lam=1e-2, tolerance=1e-8).fit(*examples)
    for row in found.rows:
        assert row["stop"] == "gap_reached"
        assert row["gap"] <= 1e-3
        assert row["dual"] <= local.certificate_.primal + 1e-9
        assert row["primal"] >= local.certificate_.dual - 1e-9
    # More shards know less of each other.
    assert found.rows[0]["rounds"] < found.rows[2]["rounds"]


def test_a_simulated_run_is_one_on_processes(client, examples, monkeypatch):
    # When states are fetched is up to the clock.
    monkeypatch.setattr("dualgap.dask._rounds._KEEP_SECONDS", float("inf"))
    keywords = {"loss": "logistic", "lam": 1e-2, "tolerance": 1e-3, "local_passes": 2}
    # The simulator deals the examples out in an order of its own.
    X, y, _, _ = zip(*_Dealt(*examples, None, 0).even(2), strict=True)
    model = dualgap.dask.LinearClassifier(client=client, **keywords).fit(list(X), list(y))
    row = simulate(dualgap.dask.LinearClassifier(**keywords), *examples, workers=[2], rates=RATES).rows[0]
    assert row["rounds"] == len(model.rounds_) > 1
    assert (row["primal"], row["dual"]) == (model.certificate_.primal, model.certificate_.dual)
    # Rounds are not all: certificates, the points and the fingerprint travel too. That shards are opened is not simulated.
    assert sum(made["bytes"] for made in model.rounds_) < row["bytes"] < model.bytes_ < row["bytes"] + 10_000


def test_a_simulation_repeats_itself(examples):
    net = Network.named("1gbit", spread=0.3)
    one, other = (simulated(examples, [2, 5], net).as_dict() for _ in range(2))
    assert one == other


def test_with_nothing_but_computation_time_is_that_of_the_passes(examples):
    rates = dataclasses.replace(Rates.none(), visit=1e-6)
    for row in simulated(examples, [1, 4], Network(), rates).rows:
        assert row["seconds"] == pytest.approx(1e-6 * row["passes"] * 4000 / row["workers"])
        assert row["seconds"] == pytest.approx(row["computing"])


def test_lost_workers_cost_time_and_no_truth(examples):
    quiet, mortal = Network.named("10gbit"), Network.named("10gbit", losses=2000.0)
    calm, wild = (simulated(examples, [8], net, local_passes=1).rows[0] for net in (quiet, mortal))
    assert wild["lost"] > 0 == calm["lost"]
    assert wild["stop"] == "gap_reached"
    assert wild["seconds"] > calm["seconds"]


def test_what_does_not_fit_in_memory_is_extrapolated(examples):
    model = dualgap.dask.LinearClassifier(loss="logistic", lam=1e-2, tolerance=1e-3)
    found = simulate(model, *examples, workers=[1, 2, 4, 8, 100], rates=RATES, memory=8000)
    assert [row["extrapolated"] for row in found.rows] == [False] * 4 + [True]
    rows = found.rows
    assert rows[3]["rounds"] <= rows[4]["rounds"] <= rows[3]["rounds"] * 100 / 8
    assert "extrapolated" in str(found)
    assert found.best == min(rows, key=lambda row: row["seconds"])["workers"]


def test_sequences_stay_whole():
    random = np.random.default_rng(4)
    lengths = random.integers(1, 6, size=40)
    X = sp.csr_matrix(random.normal(size=(lengths.sum(), 4)))
    y = random.integers(0, 3, size=lengths.sum())
    model = dualgap.dask.ChainSVM(lam=0.1, tolerance=1e-2)
    found = simulate(model, X, y, lengths, workers=[1, 5], rates=RATES)
    local = dualgap.ChainSVM(lam=0.1, tolerance=1e-6).fit(X, y, lengths)
    for row in found.rows:
        assert row["dual"] <= local.certificate_.primal + 1e-9
        assert row["primal"] >= local.certificate_.dual - 1e-9


def test_the_command_repeats_itself_from_what_it_wrote(examples, tmp_path, capsys):
    data = str(tmp_path / "data.svm")
    dump_svmlight_file(*examples, data, zero_based=False)
    common = ["simulate", "binary", data, "--loss", "logistic", "--lambda", "0.01", "--workers", "1,4"]
    assert main([*common, "--network", "1gbit", "--spread", "0.2", "--json"]) == 0
    first = capsys.readouterr().out
    (tmp_path / "first.json").write_text(first)
    again = str(tmp_path / "first.json")
    assert main([*common, "--network", again, "--rates", again, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(first)
    assert main([*common, "--network", again, "--rates", again]) == 0
    assert "workers" in capsys.readouterr().out


def test_what_makes_no_cluster_is_refused(examples):
    with pytest.raises(ValueError, match="no network 'fast'"):
        simulated(examples, [1], "fast")
    for wrong in ({"latency": -1.0}, {"bandwidth": 0.0}, {"cores": 0}, {"task": float("nan")}):
        with pytest.raises(ValueError):
            Network(**wrong)
    for workers in ([0], [401], []):
        with pytest.raises(ValueError, match="from 1 to 400 workers"):
            simulated(examples, workers)
