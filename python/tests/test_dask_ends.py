"""What runs on Dask tell their callbacks, and how they end: by callbacks, Ctrl-C and limits, with the contract of one machine."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from distributed import Client, LocalCluster

import dualgap
import dualgap.dask
from dualgap import plot
from dualgap.callbacks import Certification, Progress
from dualgap.dask._cluster import Cluster
from dualgap.dask._rounds import Rounds


@pytest.fixture(scope="module")
def examples():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 10))
    return X, np.where(X[:, 0] + 0.5 * X[:, 1] + 0.3 * random.normal(size=400) > 0, 1, -1)


def blocks(X, y, parts=2):
    return np.array_split(X, parts), np.array_split(y, parts)


def estimator(client, **keywords):
    return dualgap.dask.LinearClassifier(client=client, **{"loss": "logistic", "lam": 1e-3, "tolerance": 1e-3, **keywords})


class Recorder:
    """What a callback is called with, in order; the passes between certifications are apart."""

    def __init__(self):
        self.events, self.advances = [], []

    def begin(self, estimator):
        self.events.append("begin")

    def __call__(self, seen):
        self.events.append(seen)

    def advanced(self, passes):
        self.advances.append(passes)

    def end(self, estimator):
        self.events.append("end")


def test_callbacks_see_the_history_and_a_bar_is_drawn(client, examples, capsys):
    first, second = Recorder(), Recorder()
    model = estimator(client, callback=[first, second], verbose=True).fit(*blocks(*examples))
    assert first.events == second.events
    begin, *seen, end = first.events
    assert (begin, end) == ("begin", "end") and len(seen) == len(model.history_) > 2
    for certification, entry in zip(seen, model.history_, strict=True):
        assert isinstance(certification, Certification)
        assert (certification.primal, certification.dual) == (entry["primal"], entry["dual"])
        assert (certification.steps, certification.rounds) == (entry["steps"], entry["rounds"])
        assert certification.steps == 400 * certification.passes
    assert seen[-1].relative_gap == model.certificate_.relative_gap
    assert len(first.advances) == len(model.rounds_)
    assert "LinearClassifier" in capsys.readouterr().err
    with pytest.raises(TypeError, match="callback"):
        estimator(client, callback=Progress).fit(*blocks(*examples))


def test_the_history_is_one_of_one_machine_and_can_be_drawn(client, examples):
    pytest.importorskip("matplotlib").use("Agg")
    model = estimator(client).fit(*blocks(*examples))
    local = dualgap.LinearClassifier(loss="logistic", lam=1e-3, tolerance=1e-3).fit(*examples)
    assert set(model.history_[0]) == {*local.history_[0], "rounds"}
    for against in ("passes", "seconds"):
        assert len(plot.convergence(model, against=against)) == 2


def test_callbacks_of_scikit_learn_are_called(client, examples):
    class Counting:
        """The hooks of scikit-learn."""

        requires_fit_info = ()
        max_propagation_depth = 0

        def __init__(self):
            self.tasks, self.torn_down = [], False

        def setup(self, estimator, context):
            self.torn_down = False

        def on_fit_task_begin(self, estimator, context, **more):
            pass

        def on_fit_task_end(self, estimator, context, **more):
            self.tasks.append(context.task_name)
            return False

        def teardown(self, estimator, context):
            self.torn_down = True

    counting = Counting()
    model = estimator(client)
    model.set_callbacks(counting)
    model.fit(*blocks(*examples))
    # One task begins after the last certification, and ends without one.
    assert counting.tasks.count("certification") == len(model.history_) + 1
    assert counting.torn_down


def test_a_callback_that_returns_true_stops_the_run(client, examples):
    model = estimator(client, tolerance=1e-9, callback=lambda seen: seen.rounds >= 3).fit(*blocks(*examples))
    assert model.stop_ == "callback"
    assert model.history_[-2]["rounds"] < 3 <= model.history_[-1]["rounds"]
    assert model.certify(*examples).gap_bound <= model.certificate_.gap_bound * (1 + 1e-9)


class Unfortunate(Recorder):
    """A callback that fails between two certifications."""

    def advanced(self, passes):
        raise ZeroDivisionError("by hand")


def test_an_exception_of_a_callback_is_raised_when_the_model_is_there(client, examples):
    def at_once(seen):
        raise ZeroDivisionError("by hand")

    recorder, unfortunate = Recorder(), Unfortunate()
    for wrong in (at_once, unfortunate):
        model = estimator(client, tolerance=1e-9, callback=[recorder, wrong])
        with pytest.raises(ZeroDivisionError, match="by hand"):
            model.fit(*blocks(*examples))
        assert recorder.events[-1] == "end"
        assert model.stop_ == "interrupted"
        assert model.certify(*examples).dual == pytest.approx(model.certificate_.dual)
    # The steps of the round before are in the model.
    assert len(model.rounds_) == 1 and model.certificate_.dual > 0


def interrupted(model, examples, stop="interrupted"):
    """Ctrl-C while a model is trained leaves one that is certified."""
    with pytest.raises(KeyboardInterrupt):
        model.fit(*blocks(*examples))
    assert model.stop_ == stop
    assert model.certificate_.certified and not model.certificate_.reached
    assert model.certify(*examples).dual == pytest.approx(model.certificate_.dual)


def test_ctrl_c_leaves_a_certified_model(client, examples):
    begun, ended = threading.Event(), threading.Event()

    def press():
        begun.wait()
        time.sleep(0.3)
        # Python drops an interrupt that comes while it frees an object: whoever pressed the keys presses them again.
        while not ended.is_set():
            os.kill(os.getpid(), signal.SIGINT)
            ended.wait(10.0)

    presser = threading.Thread(target=press)
    presser.start()
    model = estimator(client, lam=1e-8, tolerance=1e-12, time=60.0, callback=lambda seen: begun.set())
    try:
        interrupted(model, examples)
    finally:
        ended.set()
        begun.set()
        presser.join()
    assert estimator(client).fit(*blocks(*examples)).stop_ == "gap_reached"


@pytest.mark.parametrize("moment", ["losses", "whole", "moved", "witness", "print_part"])
def test_ctrl_c_may_come_at_any_moment(client, examples, monkeypatch, moment):
    pressed = []

    def press_once(work):
        def pressing(*arguments, **keywords):
            names = [given if isinstance(given, str) else getattr(given, "__name__", None) for given in arguments]
            if moment in names and not pressed:
                pressed.append(moment)
                raise KeyboardInterrupt
            return work(*arguments, **keywords)

        return pressing

    # Where it comes before `_moved` the position has moved, and no worker is told.
    for kind, name in ((Cluster, "total"), (Cluster, "gather"), (Rounds, "_moved")):
        monkeypatch.setattr(kind, name, press_once(getattr(kind, name)))
    # The fingerprint is computed when the run is over.
    stop = "pass_limit" if moment == "print_part" else "interrupted"
    interrupted(estimator(client, tolerance=None, passes=4), examples, stop)
    assert pressed


def test_a_gap_that_rounding_hides_is_a_standstill(client, examples):
    # Nothing warns: no tolerance was asked for.
    model = estimator(client, lam=0.1, tolerance=0, time=60.0).fit(*blocks(*examples))
    assert model.stop_ == "stalled"
    assert 0 < model.certificate_.gap_bound <= 3 * model.certificate_.rounding


def test_values_that_no_longer_improve_are_a_standstill(client, examples, monkeypatch):
    # As if the shards did nothing any more.
    monkeypatch.setattr("dualgap.dask._rounds.Rounds._round", lambda run: setattr(run, "passes", 2 * run.passes + 1))
    with pytest.warns(UserWarning, match="stalled"):
        model = estimator(client, time=60.0).fit(*blocks(*examples))
    assert model.stop_ == "stalled" and len(model.history_) == 11


def test_oracle_calls_end_a_run(client, examples):
    model = estimator(client, tolerance=None, oracle_calls=2000).fit(*blocks(*examples))
    assert model.stop_ == "oracle_limit"
    # Every visit counts as a call, and a round is of whole passes.
    assert 2000 - 400 < model.history_[-1]["oracle_calls"] == 400 * model.history_[-1]["passes"] <= 2000


def test_threads_and_places_of_shards_change_no_bit(client, examples):
    with (
        LocalCluster(n_workers=1, threads_per_worker=3, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as other,
    ):
        model = estimator(other).fit(*blocks(*examples, parts=5))
        threads = set(other.nthreads().values())
    assert threads == {3}
    taken = [made["passes"] for made in model.rounds_]
    again = estimator(client, local_passes=taken).fit(*blocks(*examples, parts=5))
    assert again.coef_.tobytes() == model.coef_.tobytes()
    assert again.certificate_ == model.certificate_
