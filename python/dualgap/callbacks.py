"""Watching a run: callbacks that see every certification and can stop the run, and a progress bar.

A callback is a function, or an object with ``__call__``, that receives a :class:`Certification` whenever the gap was
computed, and stops the run by returning True. Every estimator takes one, or a list of them, as `callback`. An object may
also have the methods ``begin(estimator)`` and ``end(estimator)``, which are called before and after the run, and
``advanced(passes)``, which is called now and then between two certifications.

Whatever ends a run early, a callback, an exception of a callback or Ctrl-C, leaves a fitted estimator with the
certificate of its model. A classifier that has a problem for each of several classes is a run for each: what ends one of
them ends them all.

Examples
--------
Stop as soon as it is proven that the optimum is not below 0.1, for example since another model has reached 0.1 already:

>>> from sklearn.datasets import make_classification
>>> from dualgap import LinearClassifier
>>> X, y = make_classification(flip_y=0.5, random_state=0)
>>> model = LinearClassifier(tolerance=1e-6, callback=lambda seen: seen.dual > 0.1).fit(X, y)
>>> model.certificate_.dual > 0.1
True
>>> model.stop_
'callback'
"""

from __future__ import annotations

import math
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from types import TracebackType
from typing import Any, Protocol, TextIO

from . import _html
from ._certificate import Certificate

__all__ = ["Callback", "Certification", "Progress"]


@dataclass(frozen=True, slots=True)
class Certification:
    """What a callback is told: how far the run has come, and what is proven about the model that it has now.

    Attributes
    ----------
    passes : float
        Passes over the data so far, those of certifications not counted.
    seconds : float
        Seconds since the run began, those of certifications included.
    primal : float
        The objective at the weights of the model.
    dual : float
        A value that the optimum is not below.
    gap : float
        ``primal - dual``; infinite if an oracle could not bound what it may have missed.
    relative_gap : float
        The proven bound on the distance to the optimum, all rounding included, as a fraction of `primal`.
    oracle_calls : int
        Calls of the oracle so far, those of certifications not counted.
    steps : int
        Steps of the solver so far.
    test_error : float or None
        The error on test data, if the run has any.
    rounds : int or None
        Rounds of all shards so far, on a cluster.
    """

    passes: float
    seconds: float
    primal: float
    dual: float
    gap: float
    relative_gap: float
    oracle_calls: int
    steps: int
    test_error: float | None = None
    rounds: int | None = None

    @classmethod
    def _of(cls, event: dict[str, Any]) -> Certification:
        """Return the certification of the extension's dict."""
        certificate = Certificate._of(event, reached=False)
        return cls(
            passes=event["passes"],
            seconds=event["solve_seconds"] + event["certify_seconds"],
            primal=certificate.primal,
            dual=certificate.dual,
            gap=certificate.gap if certificate.certified else math.inf,
            relative_gap=certificate.relative_gap,
            oracle_calls=event["oracle_calls"],
            steps=event["steps"],
            test_error=event.get("test_error"),
            rounds=event.get("rounds"),
        )


class Callback(Protocol):
    """A function or an object that can be called like one."""

    def __call__(self, certification: Certification, /) -> bool | None:
        """Receive a certification, and return whether the run should stop."""


@dataclass(frozen=True)
class _Goal:
    """What ends a run, by the keywords of the estimators; None if it is no limit."""

    tolerance: float | None = None
    absolute_tolerance: float | None = None
    passes: float | None = None
    oracle_calls: float | None = None
    time: float | None = None

    @classmethod
    def of(cls, estimator: Any) -> _Goal:
        return cls(**{field.name: getattr(estimator, field.name, None) for field in fields(cls)})

    def fraction(self, seen: Certification) -> float:
        """Return how much of the way is done, from 0 to 1, by whichever limit is nearest.

        A solver needs about the same work for every digit of the gap. So a tolerance is approached on a logarithmic
        scale, which begins at a relative gap of 1, that of zero weights.
        """
        scale = abs(seen.primal)
        return max(
            _digits(seen.relative_gap, self.tolerance),
            _digits(seen.gap / scale, self.absolute_tolerance / scale) if self.absolute_tolerance and scale else 0.0,
            _share(seen.passes, self.passes),
            _share(seen.oracle_calls, self.oracle_calls),
            _share(seen.seconds, self.time),
        )


def _digits(gap: float, tolerance: float | None) -> float:
    if tolerance is None or not gap >= 0.0:
        return 0.0
    if gap <= tolerance:
        return 1.0
    return math.log(gap) / math.log(tolerance) if 0.0 < tolerance < 1.0 and gap < 1.0 else 0.0


def _share(done: float, limit: float | None) -> float:
    return 0.0 if limit is None else min(done / limit, 1.0) if limit > 0.0 else 1.0


class Progress:
    """A bar that shows how far a run has come: in a terminal, in a notebook, or as lines of a log.

    The bar measures the digits of the gap that are still missing, or passes, calls and seconds if one of these limits is
    nearer. ``verbose=True`` of an estimator is short for this callback.

    Parameters
    ----------
    every : float, default=0.1
        The least number of seconds between two drawings. Lines of a log are at least a second apart.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from dualgap import LinearRegressor
    >>> from dualgap.callbacks import Progress
    >>> X, y = make_regression(random_state=0)
    >>> model = LinearRegressor(callback=Progress()).fit(X, y)  # the bar is on the standard error
    """

    def __init__(self, *, every: float = 0.1) -> None:
        self.every = every
        # A run stays in its thread, and several threads may fit with the same bar.
        self._bars: dict[int, _Bar] = {}

    def begin(self, estimator: Any) -> None:
        """Show an empty bar."""
        bar = self._bars[threading.get_ident()] = _Bar(type(estimator).__name__, _Goal.of(estimator))
        bar.draw()

    def __call__(self, certification: Certification, /) -> None:
        """Show how far the run has come."""
        bar = self._bars[threading.get_ident()]
        bar.last, bar.passes = certification, certification.passes
        if time.monotonic() - bar.drawn >= max(self.every, bar.view.pause):
            bar.draw()

    def advanced(self, passes: float) -> None:
        """Show the passes so far, where this does not make a long log longer."""
        bar = self._bars[threading.get_ident()]
        bar.passes = passes
        if bar.view.live and time.monotonic() - bar.drawn >= self.every:
            bar.draw()

    def end(self, estimator: Any) -> None:
        """Show the state at the end of the run."""
        bar = self._bars.pop(threading.get_ident())
        bar.draw()
        bar.view.close()


class _Bar:
    """The bar of one run."""

    def __init__(self, name: str, goal: _Goal) -> None:
        self.name = name
        self.goal = goal
        self.view = _view()
        self.last: Certification | None = None
        self.passes = 0.0
        self.begun = time.monotonic()
        #: When it was drawn, in seconds of the same clock.
        self.drawn = -math.inf

    def draw(self) -> None:
        self.drawn = time.monotonic()
        fraction = 0.0 if self.last is None else self.goal.fraction(self.last)
        self.view.draw(self.name, fraction, self.text())

    def text(self) -> str:
        if self.passes == 0.0:
            return ""
        parts = [f"{self.passes:.4g} passes", _duration(self.drawn - self.begun)]
        if self.last is not None:
            goal = f" (goal {self.goal.tolerance:.2g})" if self.goal.tolerance else ""
            parts.insert(1, f"gap {self.last.relative_gap:.2g}{goal}")
            if self.last.test_error is not None:
                parts.append(f"test error {self.last.test_error:.3g}")
        return ", ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 60.0:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes} min {seconds:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def _percent(fraction: float) -> str:
    """Return whole percents, rounded down: only what is finished is at 100 %."""
    return f"{int(100.0 * fraction):3}%"


class _Log:
    """Lines of their own, for a file."""

    #: The least number of seconds between two drawings.
    pause = 1.0
    #: Whether to draw between two certifications, too.
    live = False

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream

    def draw(self, name: str, fraction: float, text: str) -> None:
        if text:
            self.write(f"{name} {_percent(fraction)}  {text}\n")

    def write(self, text: str) -> None:
        try:
            if self.stream is not None:
                self.stream.write(text)
                self.stream.flush()
        except (OSError, ValueError):
            # A run does not end because nobody reads its log.
            self.stream = None

    def close(self) -> None:
        pass


class _Terminal(_Log):
    """A line that is written over and over."""

    pause = 0.0
    live = True
    #: The numbers of characters of the longest and the shortest bar, and of the text behind it, which is to be readable.
    longest, shortest, readable = 30, 10, 46

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        try:
            "█░".encode(stream.encoding or "ascii")
            self.full, self.empty = "█", "░"
        except (LookupError, UnicodeEncodeError):
            self.full, self.empty = "#", "."
        self.width = 0

    def draw(self, name: str, fraction: float, text: str) -> None:
        # A line of the full width would be broken into two by some terminals.
        columns = shutil.get_terminal_size().columns - 1
        cells = min(max(columns - len(f"{name}   100%  ") - self.readable, self.shortest), self.longest)
        done = int(fraction * cells)
        bar = self.full * done + self.empty * (cells - done)
        line = f"{name} {bar} {_percent(fraction)}  {text}".rstrip()[:columns]
        self.write("\r" + line.ljust(self.width))
        self.width = len(line)

    def close(self) -> None:
        self.write("\n")


class _Notebook:
    """A bar in the output of a notebook's cell."""

    pause = 0.0
    live = True

    def __init__(self) -> None:
        self.handle: Any = None

    def draw(self, name: str, fraction: float, text: str) -> None:
        from IPython.display import HTML, display

        html = HTML(_html.progress(name, fraction, text))
        if self.handle is None:
            self.handle = display(html, display_id=True)
        else:
            self.handle.update(html)

    def close(self) -> None:
        pass


def _view() -> _Log | _Notebook:
    # Whoever is in a notebook has imported IPython.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is not None:
        return _Notebook()
    stream = sys.stderr
    return _Terminal(stream) if stream is not None and stream.isatty() else _Log(stream)


class Watch:
    """The callbacks of one run of an estimator, its own and scikit-learn's, as the extension calls them.

    Entering returns the function for the extension, or None if there is no callback.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.callbacks = _callbacks(estimator)
        #: Whether a callback has stopped the run.
        self.stopped = False
        self._begun: list[Any] = []

    def __enter__(self) -> Callable[[dict[str, Any] | float], bool] | None:
        if hasattr(self.estimator, "_skl_callbacks"):
            self.callbacks.append(_Sklearn())
        try:
            for callback in self.callbacks:
                if begin := getattr(callback, "begin", None):
                    begin(self.estimator)
                self._begun.append(callback)
        except BaseException:
            self._end()
            raise
        return self._told if self.callbacks else None

    def _told(self, event: dict[str, Any] | float) -> bool:
        if isinstance(event, float):
            for callback in self.callbacks:
                if advanced := getattr(callback, "advanced", None):
                    advanced(event)
            return False
        certification = Certification._of(event)
        # All of them see every certification, whatever the first one returns.
        self.stopped = any([bool(callback(certification)) for callback in self.callbacks])
        return self.stopped

    def _end(self) -> None:
        for callback in reversed(self._begun):
            if end := getattr(callback, "end", None):
                end(self.estimator)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()


def _callbacks(estimator: Any) -> list[Any]:
    """Return the estimator's own callbacks as a list."""
    given = getattr(estimator, "callback", None)
    if given is None:
        found = []
    elif callable(given):
        found = [given]
    elif isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        found = list(given)
    else:
        raise TypeError(f"callback must be a function, an object that can be called, or a list of them, not {given!r}")
    for callback in found:
        if not callable(callback) or isinstance(callback, type):
            raise TypeError(f"a callback must be a function, or an object that can be called, not {callback!r}")
    if getattr(estimator, "verbose", False) and not any(isinstance(callback, Progress) for callback in found):
        found.append(Progress())
    return found


class _Sklearn:
    """The callbacks that were set with scikit-learn's ``set_callbacks``: every certification ends a task of theirs.

    Nobody knows how many certifications a run will have, which scikit-learn spells ``max_subtasks=None``. As in its own
    estimators, the task that begins after the last certification is ended without having done anything.
    """

    def begin(self, estimator: Any) -> None:
        self.estimator = estimator
        self.root = estimator._init_callback_context(max_subtasks=None)
        self.root.call_on_fit_task_begin(estimator=estimator)
        #: The task that is under way; None once a hook has raised an exception, which no other hook shall see.
        self.task: Any = self._next()

    def _next(self) -> Any:
        task = self.root.subcontext(task_name="certification")
        return task.call_on_fit_task_begin(estimator=self.estimator)

    def __call__(self, certification: Certification) -> bool:
        task, self.task = self.task, None
        stop = task.call_on_fit_task_end(estimator=self.estimator)
        self.task = self._next()
        return stop

    def end(self, estimator: Any) -> None:
        if self.task is None:
            return
        self.task.call_on_fit_task_end(estimator=estimator)
        self.root.call_on_fit_task_end(estimator=estimator)
