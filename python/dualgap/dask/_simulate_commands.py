"""``python -m dualgap.dask simulate`` and ``calibrate``."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster

from ._calibration import calibrate
from ._clock import Network
from ._reading import libsvm
from ._simulated import Rates
from ._simulator import simulate

#: The numbers of a network that have an option of their own, and what it says.
_NUMBERS = {
    "latency": "seconds of a message",
    "bandwidth": "bytes a second of a process",
    "task": "seconds of the scheduler for a task",
    "overhead": "seconds of a call to all shards, whatever it does",
    "cores": "the cores that all workers share",
    "spread": "a task takes exp(spread · normal) times as long as it should",
    "losses": "how many times an hour a worker is lost",
    "restart": "seconds until a lost worker is replaced",
}


def add_commands(commands: Any, tasks: dict[str, Any]) -> None:
    """Add the two commands to those of the program."""
    one = commands.add_parser("simulate", help="tell how many workers data are worth: real rounds, a simulated clock")
    one.set_defaults(call=lambda given: _simulate(given, tasks))
    one.add_argument("task", choices=sorted(tasks))
    one.add_argument("shards", nargs="+", help="LIBSVM files: all examples, which are dealt out anew")
    one.add_argument("--workers", default="1,2,4,8,16,32,64,128", help="numbers of workers, with commas")
    one.add_argument("--network", default="10gbit", help="laptop, 1gbit, 10gbit, or a file that calibrate or simulate has written as JSON")
    for name, text in _NUMBERS.items():
        option = "--task-seconds" if name == "task" else f"--{name}"
        kind = int if name == "cores" else float
        one.add_argument(option, dest=f"network_{name}", type=kind, help=f"{text}, in the place of the network's")
    one.add_argument("--rates", help="a file that simulate has written as JSON: its rates are taken, and not measured again")
    one.add_argument("--loss", help="the name of the loss; each task has its default")
    one.add_argument("--lambda", dest="lam", default="1/n", help="a number, or a multiple of 1/n")
    one.add_argument("--tolerance", type=float, default=0.01, help="the relative gap to reach")
    one.add_argument("--passes", type=int, help="the most passes")
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--memory", type=float, default=4e9, help="the bytes that shards may take in this process")
    one.add_argument("--largest", type=int, default=10_000, help="the largest number of workers that is run, and not extrapolated")
    one.add_argument("--json", action="store_true", help="print all of it as JSON")
    two = commands.add_parser("calibrate", help="measure a cluster, for simulate --network")
    two.set_defaults(call=_calibrate)
    two.add_argument("--scheduler", help="the address of the scheduler; without it the workers are processes of this machine")
    two.add_argument("--workers", type=int, default=2, help="the number of such processes")


def _simulate(given: argparse.Namespace, tasks: dict[str, Any]) -> int:
    lam: float | str = given.lam if "n" in given.lam else float(given.lam)
    keywords = {"loss": given.loss} if given.loss else {}
    estimator = tasks[given.task](lam=lam, tolerance=given.tolerance, passes=given.passes, seed=given.seed, **keywords)
    X, y = _joined(given.shards)
    rates = None if given.rates is None else Rates(**_inputs(given.rates)["rates"])
    found = simulate(
        estimator,
        X,
        y,
        workers=[int(count) for count in given.workers.split(",")],
        network=_network(given),
        rates=rates,
        seed=given.seed,
        memory=given.memory,
        largest=given.largest,
        progress=lambda row: print(f"{row['workers']} workers: {row['seconds']:.3g} s", file=sys.stderr),
    )
    print(found.json() if given.json else found)
    return 0


def _network(given: argparse.Namespace) -> Network:
    options = {name: getattr(given, f"network_{name}") for name in _NUMBERS}
    changes = {name: number for name, number in options.items() if number is not None}
    if not given.network.endswith(".json"):
        return Network.named(given.network, **changes)
    return replace(Network.from_dict(_inputs(given.network)["network"]), **changes)


def _inputs(path: str) -> dict[str, Any]:
    """Return the inputs of a simulation from a file with all of it."""
    stored: dict[str, Any] = json.loads(Path(path).read_text())
    inputs: dict[str, Any] = stored.get("inputs", stored)
    return inputs


def _joined(paths: list[str]) -> tuple[Any, Any]:
    """Return the examples of all files."""
    read = [libsvm(path, 0)[:2] for path in paths]
    width = max(X.shape[1] for X, _ in read)
    same = [sp.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width)) for X, _ in read]
    return sp.vstack(same, format="csr"), np.concatenate([y for _, y in read])


def _calibrate(given: argparse.Namespace) -> int:
    if given.scheduler is not None:
        with Client(given.scheduler) as client:
            found = calibrate(client)
    else:
        with (
            LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            found = calibrate(client)
    print(json.dumps({"network": found.as_dict()}))
    return 0
