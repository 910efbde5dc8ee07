"""What `python -m dualgap.dask train` prints: lines while it goes on, and JSON with the names that `dualgap train --json` has."""

from __future__ import annotations

import math
import signal
import sys
import time
from typing import Any

import numpy as np

from .. import _dualgap
from ..callbacks import Certification


class Watched:
    """A callback that prints a line for every certification, and knows when reading and fitting were over."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet
        self.times = [time.perf_counter()]

    def begin(self, estimator: Any) -> None:
        """Note the time when the data are read; from now on Ctrl-C is answered."""
        self.times.append(time.perf_counter())
        try:
            self.before = signal.signal(signal.SIGINT, _stopping)
        except ValueError:
            # Only the main thread has signals.
            self.before = None

    def __call__(self, seen: Certification) -> None:
        """Print a line."""
        if not self.quiet:
            line = f"round {seen.rounds}: {seen.passes:.4g} passes, primal {seen.primal:.6g}, gap {seen.gap:.3g}"
            print(line, file=sys.stderr)

    def end(self, estimator: Any) -> None:
        """Note the time when there is a model."""
        self.times.append(time.perf_counter())
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)


def _stopping(*_: Any) -> None:
    """Say what Ctrl-C does, as `dualgap train` does; another one gives up."""
    print("\nstopping: the model is being certified (Ctrl-C again to give up)", file=sys.stderr)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    raise KeyboardInterrupt


def report_of(task: str, model: Any, watched: Watched) -> dict[str, Any]:
    """Return what `--json` prints."""
    certificate, provenance = model.certificate_, model.model_.provenance
    penalty, last = model.model_.task["penalty"], model.history_[-1]
    begun, read, ended = watched.times
    weights, scale = list(model.model_.arrays.values()), abs(certificate.primal)
    return {
        "task": task,
        "n": provenance["examples"],
        "dim": sum(map(np.size, weights)),
        "nonzero_weights": sum(map(int, map(np.count_nonzero, weights))),
        "lambda": penalty["lambda"],
        "l1": penalty["l1"],
        "nonnegative": penalty["nonnegative"],
        "scale": "none",
        "primal": certificate.primal,
        "dual": certificate.dual,
        "gap": _finite(certificate.gap),
        "relative_gap": _finite(certificate.gap / scale if scale else math.inf),
        "rounding_error": certificate.rounding,
        "gap_bound": _finite(certificate.gap_bound),
        "relative_gap_bound": _finite(certificate.relative_gap),
        "certified": certificate.certified,
        "basis": certificate.basis,
        "stop": model.stop_,
        "passes": last["passes"],
        "oracle_calls": last["oracle_calls"],
        "read_seconds": read - begun,
        "fit_seconds": ended - read,
        "solve_seconds": last["solve_seconds"],
        "certify_seconds": last["certify_seconds"],
        "seed": provenance["method"].get("seed", 0),
        "version": _dualgap.__version__,
        "fingerprint": provenance["fingerprint"],
        "rounds": len(model.rounds_),
        "local_passes": [made["passes"] for made in model.rounds_],
        "bytes": model.bytes_,
        "lost_shards": model.lost_,
        "restored_shards": model.restored_,
        "history": model.history_,
    }


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None
