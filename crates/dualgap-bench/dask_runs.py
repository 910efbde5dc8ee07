"""Runs on Dask that take too long for a test: workers killed at random, and two workers beside one and beside two threads.

    python crates/dualgap-bench/dask_runs.py kills --runs 3
    python crates/dualgap-bench/dask_runs.py scaling covtype.libsvm.binary --task binary --lam 10/n
    python crates/dualgap-bench/dask_runs.py simulated covtype.data.gz --workers 1,2,4

All run on this machine, and print a line for every run. `scaling` pins every worker to a core of its own; `simulated` has the simulator's
seconds beside them.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import threading
import time
from typing import Any

import numpy as np
from dask_simulated import add_check
from distributed import Client, LocalCluster

import dualgap
import dualgap.dask
from dualgap import _dualgap

_LOCAL: dict[str, Any] = {"binary": dualgap.LinearClassifier, "multiclass": dualgap.MulticlassSVM}
_SHARDED: dict[str, Any] = {"binary": dualgap.dask.LinearClassifier, "multiclass": dualgap.dask.MulticlassSVM}


def cluster(workers: int) -> LocalCluster:
    """Return a cluster of processes of one thread each."""
    return LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0")


def kills(given: argparse.Namespace) -> None:
    """Kill workers at random times while a run goes on, and certify what it ends with."""
    numbers = np.random.default_rng(given.seed)
    X = numbers.normal(size=(given.examples, 40))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + 0.5 * numbers.normal(size=given.examples) > 0, 1, -1)
    cuts = np.array_split(np.arange(given.examples), given.shards)
    for run in range(given.runs):
        with cluster(given.workers) as local, Client(local) as client:
            chance = random.Random(f"{given.seed} {run}")
            killed: list[int] = []
            over = threading.Event()

            def kill() -> None:
                while len(killed) < given.kills and not over.wait(chance.expovariate(1 / given.every)):
                    # Not those that are just starting: Dask waits for them for long.
                    there = set(local.scheduler.workers)
                    pids = [nanny.pid for nanny in local.workers.values() if nanny.worker_address in there]
                    if pids:
                        os.kill(chance.choice(pids), signal.SIGKILL)
                        killed.append(len(killed))

            killer = threading.Thread(target=kill, daemon=True)
            begin = time.perf_counter()

            def hold(progress: dict[str, Any]) -> None:
                if progress["rounds"] == 0 and not killer.is_alive():
                    killer.start()
                # The run is not to be over before all are killed.
                time.sleep(given.pause if len(killed) < given.kills else 0)

            keywords = {"loss": "logistic", "lam": 1e-3, "tolerance": given.tolerance}
            model = dualgap.dask.LinearClassifier(client=client, callback=hold, local_passes=1, **keywords)
            try:
                model.fit([X[cut] for cut in cuts], [y[cut] for cut in cuts])
            finally:
                over.set()
            seconds = time.perf_counter() - begin
            found = model.certify(X, y)
            print(
                f"run {run}: {len(killed)} kills, {model.lost_} shards lost, {model.restored_} restored, "
                f"{len(model.rounds_)} rounds, {seconds:.0f} s, stop {model.stop_}, "
                f"certified {found.relative_gap:.2e} by the {found.evidence}",
                flush=True,
            )
            assert model.stop_ == "gap_reached" and found.relative_gap <= given.tolerance


def scaling(given: argparse.Namespace) -> None:
    """Compare workers that are pinned to a core each with threads of one process."""
    starts, columns, values, width, y = _dualgap.read_libsvm(given.data)
    import scipy.sparse as sp

    X = sp.csr_matrix((values, columns, starts), shape=(len(y), width))
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order]
    keywords: dict[str, Any] = {"lam": given.lam, "tolerance": given.tolerance, "loss": given.loss}
    for threads in (1, 2):
        begin, used = time.perf_counter(), time.process_time()
        model = _LOCAL[given.task](threads=threads, **keywords).fit(X, y)
        report("threads", threads, model, time.perf_counter() - begin, time.process_time() - used)
    for workers in (1, 2):
        with cluster(workers) as local, Client(local) as client:
            for core, address in enumerate(sorted(client.scheduler_info(n_workers=-1)["workers"])):
                client.run(os.sched_setaffinity, 0, {core % os.cpu_count()}, workers=[address])
            cuts = np.array_split(np.arange(len(y)), workers)
            blocks = [X[cut[0] : cut[-1] + 1] for cut in cuts], [y[cut[0] : cut[-1] + 1] for cut in cuts]
            model = _SHARDED[given.task](client=client, threads=1, **keywords)
            before = sum(client.run(cpu_seconds).values())
            begin = time.perf_counter()
            model.fit(*blocks)
            used = sum(client.run(cpu_seconds).values()) - before
            report("workers", workers, model, time.perf_counter() - begin, used)
            rounds = model.rounds_
            print(
                f"  {len(rounds)} rounds, {model.bytes_ / 1e6:.3g} MB moved, {sum(made['seconds'] for made in rounds):.2f} s in "
                f"rounds of which {sum(made['computing'] for made in rounds):.2f} s computing, "
                f"{model.history_[-1]['certify_seconds']:.2f} s in certifications",
                flush=True,
            )


def cpu_seconds() -> float:
    """Return the processor time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def report(kind: str, count: int, model: Any, seconds: float, used: float) -> None:
    """Print what a run has needed."""
    found = model.certificate_
    last = model.history_[-1]
    print(
        f"{count} {kind}: {last['passes']:.0f} passes, {seconds:.2f} s in all, {used:.2f} s of processors, "
        f"{last['solve_seconds'] + last['certify_seconds']:.2f} s without reading; primal {found.primal:.8g}, dual {found.dual:.8g}",
        flush=True,
    )


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    one = commands.add_parser("kills", help="ten random kill -9 in every run")
    one.set_defaults(call=kills)
    for name, default in (("runs", 3), ("kills", 10), ("workers", 3), ("shards", 5), ("examples", 4000), ("seed", 0)):
        one.add_argument(f"--{name}", type=int, default=default)
    for name, number in (("every", 3.0), ("pause", 0.5), ("tolerance", 1e-7)):
        one.add_argument(f"--{name}", type=float, default=number)
    two = commands.add_parser("scaling", help="workers beside threads")
    two.set_defaults(call=scaling)
    two.add_argument("data", help="a LIBSVM file")
    two.add_argument("--task", choices=sorted(_LOCAL), default="binary")
    two.add_argument("--loss", default="logistic")
    two.add_argument("--lam", default="10/n")
    two.add_argument("--tolerance", type=float, default=0.01)
    add_check(commands.add_parser("simulated", help="simulated seconds beside measured ones"))
    given = parser.parse_args()
    given.call(given)


if __name__ == "__main__":
    main()
