"""Callbacks, the progress bar, scikit-learn's callbacks, Ctrl-C, and fits in threads."""

import io
import math
import pickle
import subprocess
import sys
import textwrap
import threading
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from dualgap import LinearClassifier, callbacks
from dualgap.callbacks import Certification, Progress


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 20, flip_y=0.3, random_state=0)


def test_a_callback_sees_the_history(data):
    seen = []
    model = LinearClassifier(solver="bcfw", tolerance=1e-3, callback=seen.append).fit(*data)
    assert len(seen) == len(model.history_) > 2
    for certification, entry in zip(seen, model.history_, strict=True):
        assert isinstance(certification, Certification)
        assert certification.passes == entry["passes"]
        assert certification.seconds == entry["solve_seconds"] + entry["certify_seconds"]
        assert (certification.primal, certification.dual) == (entry["primal"], entry["dual"])
        assert certification.gap == certification.primal - certification.dual
        assert certification.relative_gap >= certification.gap / certification.primal
        assert (certification.steps, certification.oracle_calls) == (entry["steps"], entry["oracle_calls"])
        assert certification.test_error is None
    assert seen[-1].relative_gap == model.certificate_.relative_gap


def test_a_callback_that_returns_true_stops_the_run(data):
    seen = []

    def third(certification):
        seen.append(certification)
        return len(seen) == 3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearClassifier(solver="bcfw", tolerance=1e-9, callback=third).fit(*data)
    assert (model.stop_, len(seen)) == ("callback", 3)
    assert not model.certificate_.reached
    assert model.certificate_.primal == seen[-1].primal
    assert model.certify(*data).gap_bound <= model.certificate_.gap_bound * (1 + 1e-9)
    # The run goes on from there.
    model.set_params(callback=None, tolerance=1e-4, warm_start=True).fit(*data)
    assert model.history_[0]["dual"] >= seen[-1].dual


def test_a_limit_still_warns(data):
    with pytest.warns(ConvergenceWarning, match="pass limit"):
        LinearClassifier(tolerance=1e-9, passes=4, callback=lambda seen: None).fit(*data)


class Recorder:
    def __init__(self, stop=False):
        self.stop = stop
        self.events = []

    def begin(self, estimator):
        self.events.append("begin")

    def __call__(self, certification):
        self.events.append(certification.passes)
        return self.stop

    def end(self, estimator):
        self.events.append("end")


def test_all_of_a_list_are_called_whatever_the_first_one_returns(data):
    first, second = Recorder(stop=True), Recorder()
    model = LinearClassifier(tolerance=1e-9, callback=[first, second]).fit(*data)
    assert first.events == second.events == ["begin", model.history_[0]["passes"], "end"]


def test_an_exception_of_a_callback_is_raised_with_its_traceback(data):
    recorder = Recorder()

    def unfortunate_callback(certification):
        raise ZeroDivisionError("by hand")

    model = LinearClassifier(tolerance=1e-9, callback=[recorder, unfortunate_callback])
    with pytest.raises(ZeroDivisionError, match="by hand") as raised:
        model.fit(*data)
    assert "unfortunate_callback" in [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert recorder.events[-1] == "end"
    # The model is what it was by then, and certified.
    assert model.stop_ == "interrupted"
    assert model.certify(*data).certified
    assert model.predict(data[0]).shape == (300,)


@pytest.mark.parametrize("wrong", ["progress", 3, Progress, [Progress], [None], {"a": 1}])
def test_what_is_no_callback_is_refused(data, wrong):
    with pytest.raises(TypeError, match="callback"):
        LinearClassifier(callback=wrong).fit(*data)


def test_a_callback_runs_in_the_thread_that_called_fit(data):
    names = []

    def fit():
        LinearClassifier(callback=lambda _: names.append(threading.get_ident())).fit(*data)
        return threading.get_ident()

    with ThreadPoolExecutor(1) as pool:
        own = pool.submit(fit).result()
    assert set(names) == {own} != {threading.get_ident()}


def test_a_callback_can_fit_another_model(data):
    inner = []
    LinearClassifier(callback=lambda _: inner.append(LinearClassifier().fit(*data).stop_)).fit(*data)
    assert set(inner) == {"gap_reached"}


def test_two_threads_fit_at_the_same_time_as_one_does(data):
    def fit(seed):
        return LinearClassifier(tolerance=1e-5, seed=seed, threads=1).fit(*data)

    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(fit, range(4)))
    for seed, model in enumerate(together):
        np.testing.assert_array_equal(model.coef_, fit(seed).coef_)


@pytest.fixture(scope="module")
def three_classes():
    return make_classification(200, 10, n_informative=5, n_classes=3, flip_y=0.3, random_state=0)


@pytest.mark.parametrize("jobs", [None, 2])
def test_what_ends_the_run_of_one_class_ends_all(three_classes, jobs):
    begun = []

    def third(certification):
        begun.append(certification)
        return len(begun) == 3

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearClassifier(solver="bcfw", tolerance=1e-9, n_jobs=jobs, callback=third).fit(*three_classes)
    assert model.stop_ == "callback"
    assert model.certificate_.certified and not model.certificate_.reached
    assert model.report_.certifications == sum(map(len, model.history_))
    assert model.report_.stop == "callback"


@pytest.mark.parametrize("jobs", [None, 2])
def test_an_exception_in_one_of_several_classes_is_raised(three_classes, jobs):
    def fail(certification):
        raise ZeroDivisionError

    model = LinearClassifier(n_jobs=jobs, callback=fail)
    with pytest.raises(ZeroDivisionError):
        model.fit(*three_classes)
    assert model.predict(three_classes[0]).shape == (200,)


# The bar.


def certification(gap, primal=1.0, passes=0.0, seconds=0.0, calls=0):
    return Certification(passes, seconds, primal, primal - gap, gap, gap / primal, calls, 0)


def test_every_digit_of_the_gap_is_the_same_part_of_the_bar():
    goal = callbacks._Goal(tolerance=1e-4)
    fractions = [goal.fraction(certification(10.0**-digits)) for digits in range(6)]
    assert fractions == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0, 1.0])
    assert goal.fraction(certification(2.0)) == 0.0
    # The absolute tolerance begins at a gap of the whole objective, too.
    goal = callbacks._Goal(absolute_tolerance=1e-4)
    assert goal.fraction(certification(1e-1, primal=10.0)) == pytest.approx(0.4)


def test_the_nearest_limit_counts():
    goal = callbacks._Goal(tolerance=0.01, passes=100, time=10.0, oracle_calls=1000)
    assert goal.fraction(certification(0.1, passes=70)) == pytest.approx(0.7)
    assert goal.fraction(certification(0.1, passes=10, seconds=8.0)) == pytest.approx(0.8)
    assert goal.fraction(certification(0.1, calls=900)) == pytest.approx(0.9)
    assert goal.fraction(certification(0.1)) == pytest.approx(0.5)
    uncertified = Certification(50, 0, 1.0, 0.0, math.inf, math.inf, 0, 0)
    assert goal.fraction(uncertified) == 0.5
    assert callbacks._Goal(tolerance=0.0).fraction(certification(1e-9)) == 0.0
    assert callbacks._Goal(tolerance=2.0).fraction(certification(1.0)) == 1.0


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


def test_a_terminal_has_one_line(data, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "60")
    LinearClassifier(tolerance=1e-3, callback=Progress(every=0.0)).fit(*data)
    text = sys.stderr.getvalue()
    assert text.endswith("\n") and text.count("\n") == 1
    drawn = text.rstrip("\n").split("\r")[1:]
    assert len(drawn) > 3 and max(map(len, drawn)) < 60
    assert "░   0%" in drawn[0] and "100%" in drawn[-1]
    done = [line.count("█") for line in drawn]
    assert done == sorted(done) and done[-1] == 10, "the bar is short, so that the text can be read"


def test_the_passes_move_between_two_certifications(data, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    progress = Progress(every=0.0)
    progress.begin(LinearClassifier())
    progress.advanced(1.0)
    progress.advanced(2.0)
    progress(certification(0.1, passes=4.0))
    progress.advanced(5.0)
    progress.end(LinearClassifier())
    drawn = sys.stderr.getvalue().split("\r")[1:]
    assert ["1 passes" in drawn[1], "2 passes" in drawn[2], "gap 0.1" in drawn[3]] == [True] * 3
    assert "5 passes, gap 0.1 (goal 0.01)" in drawn[4]
    # A log is written at certifications alone.
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    progress.begin(LinearClassifier())
    progress.advanced(1.0)
    assert sys.stderr.getvalue() == ""
    progress.end(LinearClassifier())


def test_an_object_hears_of_passes_between_two_certifications():
    class Counter:
        passes: list[float] = []
        certified: list[float] = []

        def advanced(self, passes):
            self.passes.append(passes)

        def __call__(self, certification):
            self.certified.append(certification.passes)
            # Passes are told every 50 milliseconds, so the run goes on until it has lasted that long.
            return bool(self.passes) or certification.seconds > 60.0

    X, y = make_classification(5000, 50, flip_y=0.5, random_state=0)
    LinearClassifier(solver="bcfw", lam=1e-10, tolerance=1e-12, callback=Counter()).fit(X, y)
    assert 0.0 < Counter.passes[0] <= Counter.certified[-1]


def test_a_file_has_lines(data, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    model = LinearClassifier(tolerance=1e-3, verbose=True).fit(*data)
    last = sys.stderr.getvalue().splitlines()[-1]
    assert last.startswith("LinearClassifier 100%") and f"{model.certificate_.relative_gap:.2g}" in last
    assert "\r" not in sys.stderr.getvalue()


def test_runs_side_by_side_have_bars_of_their_own(three_classes, monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    progress = Progress()
    LinearClassifier(n_jobs=2, callback=progress).fit(*three_classes)
    ends = [line for line in sys.stderr.getvalue().splitlines() if " 100%" in line]
    assert len(ends) >= 3
    assert not progress._bars


def test_a_run_does_not_end_because_nobody_reads_its_progress(data, monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        if stream is None:
            assert LinearClassifier(verbose=True).fit(*data).stop_ == "gap_reached"
        else:
            view = callbacks._Log(stream)
            view.draw("a", 0.5, "b")
            assert view.stream is None


def test_a_notebook_has_a_bar_of_its_own(data, monkeypatch):
    shown = []

    class Handle:
        def update(self, html):
            shown.append(html)

    def display(html, display_id):
        shown.append(html)
        return Handle()

    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(HTML=str, display=display))
    LinearClassifier(verbose=True).fit(*data)
    assert "width:0.0%" in shown[0] and "width:100.0%" in shown[-1]


def test_a_bar_can_be_cloned_and_pickled_with_its_estimator(data):
    model = LinearClassifier(callback=[Progress()], verbose=True).fit(*data)
    again = pickle.loads(pickle.dumps(clone(model))).fit(*data)
    np.testing.assert_array_equal(again.coef_, model.coef_)


# Scikit-learn's callbacks.


class FitRecorder:
    """A callback of scikit-learn that can stop at a task."""

    def __init__(self, stop_at=None):
        self.stop_at = stop_at
        self.events = []

    def setup(self, estimator, context):
        self.events.append(("setup", None, None))

    def teardown(self, estimator, context):
        self.events.append(("teardown", None, None))

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name, context.task_id))
        return context.task_name == "certification" and context.task_id == self.stop_at


def test_certifications_are_the_tasks_of_scikit_learn(data):
    recorder = FitRecorder()
    model = LinearClassifier(tolerance=1e-3).set_callbacks(recorder).fit(*data)
    tasks = range(len(model.history_) + 1)  # the last one begins after the last certification, and is empty
    inner = [(kind, "certification", task) for task in tasks for kind in ("begin", "end")]
    outer = [("setup", None, None), ("begin", "fit", 0), *inner, ("end", "fit", 0), ("teardown", None, None)]
    assert recorder.events == outer


def test_every_class_is_a_fit_of_its_own_for_scikit_learn(three_classes):
    recorder = FitRecorder()
    model = LinearClassifier(n_jobs=2).set_callbacks(recorder).fit(*three_classes)
    ends = [name for kind, name, _ in recorder.events if kind == "end"]
    assert ends.count("fit") == 3
    assert ends.count("certification") == sum(map(len, model.history_)) + 3


def test_a_callback_of_scikit_learn_stops_the_run(data):
    recorder = FitRecorder(stop_at=1)
    model = LinearClassifier(tolerance=1e-9).set_callbacks(recorder).fit(*data)
    assert (model.stop_, len(model.history_)) == ("callback", 2)
    assert recorder.events[-1][0] == "teardown"


def test_callbacks_of_scikit_learn_are_torn_down_after_an_exception(data):
    recorder = FitRecorder()

    def fail(certification):
        raise KeyError

    with pytest.raises(KeyError):
        LinearClassifier(callback=fail).set_callbacks(recorder).fit(*data)
    assert [event[0] for event in recorder.events] == ["setup", "begin", "begin", "end", "end", "teardown"]


def test_an_exception_of_scikit_learns_callback_leaves_a_certified_model(data):
    class Failing(FitRecorder):
        def on_fit_task_end(self, estimator, context):
            super().on_fit_task_end(estimator, context)
            raise ZeroDivisionError

    recorder = Failing()
    model = LinearClassifier().set_callbacks(recorder)
    with pytest.raises(ZeroDivisionError):
        model.fit(*data)
    assert [event[0] for event in recorder.events] == ["setup", "begin", "begin", "end", "teardown"]
    assert model.certificate_.certified


class Propagated(FitRecorder):
    max_propagation_depth = None

    def __deepcopy__(self, memo):
        return self


def test_a_search_hands_its_callbacks_on(data):
    recorder = Propagated()
    search = GridSearchCV(LinearClassifier(), {"lam": [0.1, 0.01]}, cv=2).set_callbacks(recorder).fit(*data)
    names = [name for kind, name, _ in recorder.events if kind == "end"]
    assert names.count("fit") == 4 + 1 + 1, "four fits, the last one, and the search"
    assert search.best_estimator_.certificate_.reached


def test_scikit_learns_bar_draws_our_runs(data, capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    LinearClassifier().set_callbacks(ProgressBar()).fit(*data)
    assert "LinearClassifier - fit" in capsys.readouterr().out


# Ctrl-C.

INTERRUPTED = """
    import os, signal, threading, time, warnings
    import numpy as np
    from dualgap import LinearClassifier

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 40)), rng.integers(0, 2, 2000)
    started = threading.Event()

    def press():
        started.wait()
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=press).start()
    # A minute is the longest that this can take; a tiny lam keeps the solver busy for as long.
    model = LinearClassifier(solver="bcfw", lam=1e-10, tolerance=1e-12, time=60.0, callback=lambda _: started.set())
    begin = time.monotonic()
    try:
        model.fit(X, y)
        raise SystemExit("not interrupted")
    except KeyboardInterrupt:
        pass
    assert time.monotonic() - begin < 30.0
    assert model.stop_ == "interrupted", model.stop_
    before = model.certificate_
    assert before.certified and not before.reached
    assert model.certify(X, y).gap_bound <= before.gap_bound * (1 + 1e-9)
    assert model.predict(X).shape == (2000,)
    warnings.simplefilter("ignore")
    model.set_params(warm_start=True, passes=4, callback=None).fit(X, y)
    assert model.certificate_.dual >= before.dual
    print("continued")
"""


def test_ctrl_c_leaves_a_certified_model_that_can_go_on():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(INTERRUPTED)], capture_output=True, text=True, timeout=120
    )
    assert (done.stdout.strip(), done.returncode) == ("continued", 0), done.stderr


def test_there_is_no_report_before_a_fit():
    with pytest.raises(NotFittedError):
        LinearClassifier().report_  # noqa: B018
