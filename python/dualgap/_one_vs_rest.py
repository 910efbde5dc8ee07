"""More than two classes as one certified problem of two classes for each: it, or any other."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np
from sklearn.utils import compute_class_weight

from . import _dualgap

#: How often signals are looked for, in seconds: Ctrl-C should be answered within 0.2.
PATIENCE = 0.05

#: A model and the report of its run.
Part = tuple[_dualgap.Model, dict[str, Any]]


def workers(n_jobs: int | None, parts: int) -> int:
    """Return the number of runs at the same time: one by default, and all cores for -1."""
    if n_jobs is None:
        return 1
    cores = os.cpu_count() or 1
    if n_jobs < 0:
        n_jobs = cores + 1 + n_jobs
    if n_jobs <= 0:
        raise ValueError("n_jobs must be a positive number, or -1 for all cores")
    return min(n_jobs, parts)


def run_each(
    run: Callable[[int, _dualgap.Interrupt], Part], parts: int, jobs: int
) -> tuple[list[Part], BaseException | None]:
    """Run all parts, `jobs` at the same time, and return them with the exception that ended them early, if any.

    Runs release the interpreter lock, so threads are enough. After a signal, or what a callback has returned or raised,
    the parts that have not begun end at once, with a certificate of their start.
    """
    stop = _dualgap.Interrupt()
    caught: BaseException | None = None
    futures: list[Future[Part]] = []
    if jobs > 1:
        with ThreadPoolExecutor(jobs) as pool:
            try:
                for k in range(parts):
                    futures.append(pool.submit(run, k, stop))
                    # An error of one part ends the others, too.
                    futures[-1].add_done_callback(lambda ended: stop.set() if ended.exception() else None)
                # A signal that comes just before a wait does not end it, and is seen after it.
                while wait(futures, timeout=PATIENCE).not_done:
                    pass
            except KeyboardInterrupt as error:
                stop.set()
                caught = error
    # Those that no thread has taken: all, or after a signal some.
    rest = [run(k, stop) for k in range(len(futures), parts)]
    done = [future.result() for future in futures] + rest
    raised = [report["raised"] for _, report in done if report["raised"] is not None]
    return done, caught or next(iter(raised), None)


def example_weights(
    class_weight: Any, classes: np.ndarray, numbers: np.ndarray, counts: np.ndarray | None
) -> np.ndarray | None:
    """Return the weight of each example times that of its own class, in the problems of all classes."""
    if class_weight is None:
        return counts
    if isinstance(class_weight, dict):
        strange = [label for label in class_weight if label not in classes]
        if strange:
            raise ValueError(f"there is no class {strange[0]!r} to be weighted")
        of_class = np.array([float(class_weight.get(label, 1.0)) for label in classes])
    else:
        labels = np.arange(len(classes))
        of_class = compute_class_weight(class_weight, classes=labels, y=numbers, sample_weight=counts)
    if not (np.isfinite(of_class).all() and (of_class >= 0.0).all()):
        raise ValueError("the weight of a class must be a number that is not negative")
    return of_class[numbers] if counts is None else counts * of_class[numbers]


def worst_stop(stops: Sequence[str]) -> str:
    """Return why the first part that missed its tolerance ended, or that a callback ended all of them."""
    if "callback" in stops:
        return "callback"
    return next((stop for stop in stops if stop != "gap_reached"), "gap_reached")


def most_passes(reports: Sequence[dict[str, Any]]) -> int:
    """Return the passes of the longest run, at least one."""
    return max(1, *(math.ceil(report["passes"]) for report in reports))
