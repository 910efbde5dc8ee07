"""The checkpoint of a run on the client's disk: the dual points of all shards, from which another client goes on."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from .. import _dualgap


class Checkpoint:
    """A file with the states of all shards, their fingerprints and the problem.

    v and the weights are not in it: the first certification computes them from the points, and proves these. What goes on from
    a checkpoint is therefore certified like any run, whatever the file says.

    >>> import tempfile
    >>> from pathlib import Path
    >>> from dualgap.dask._checkpoint import Checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "run"
    ...     Checkpoint(path, {"lam": 0.1}, ["print"]).write(7, [b"state"])
    ...     again = Checkpoint(path, {"lam": 0.1}, ["print"])
    ...     again.passes, again.states
    (7.0, [b'state'])
    """

    def __init__(self, path: str | os.PathLike[str], problem: dict[str, Any], prints: list[str]) -> None:
        self.path = Path(path)
        self.head = json.dumps({"version": _dualgap.__version__, "problem": problem, "prints": prints}, sort_keys=True)
        self.passes = 0.0
        self.states: list[bytes] = []
        self._failed = False
        if self.path.exists():
            self._load()

    def _load(self) -> None:
        remedy = "give the shards and keywords that it was written with, or remove the file"
        try:
            with np.load(self.path, allow_pickle=False) as stored:
                head, passes = str(stored["head"]), float(stored["passes"])
                states = [stored[f"state{k}"].tobytes() for k in range(int(stored["shards"]))]
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise ValueError(f"{self.path} is no checkpoint of a run on shards ({error}): {remedy}") from error
        except Exception as error:
            # The errors of damaged archives have no class in common.
            raise ValueError(f"{self.path} is damaged ({error}): remove the file") from error
        if head != self.head:
            mine, other = json.loads(self.head), json.loads(head)
            differs = next((name for name in ("version", "prints", "problem") if mine[name] != other.get(name)), "problem")
            what = {"version": "another version of dualgap", "prints": "other examples or other shards"}
            raise ValueError(f"{self.path} is the checkpoint of {what.get(differs, 'another problem')}: {remedy}")
        self.passes, self.states = passes, states

    def write(self, passes: float, states: list[Any]) -> None:
        """Write the file in one piece. A disk that is full costs the checkpoint, and not the run."""
        stored: dict[str, Any] = {f"state{k}": np.frombuffer(state, dtype=np.uint8) for k, state in enumerate(states)}
        beside = self.path.with_name(self.path.name + ".new")
        try:
            with open(beside, "wb") as file:
                np.savez(file, **stored, head=np.array(self.head), passes=passes, shards=len(states))
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        except OSError as error:
            if not self._failed:
                warnings.warn(
                    f"the checkpoint {self.path} could not be written ({error}): the run goes on without it, and its model is "
                    "not lost",
                    RuntimeWarning,
                    stacklevel=2,
                )
            self._failed = True
            beside.unlink(missing_ok=True)
