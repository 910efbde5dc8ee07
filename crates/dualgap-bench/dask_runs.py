"""Runs on Dask that take too long for a test: workers killed at random, two workers beside one and beside two threads, and more data
than the workers may have memory.

    python crates/dualgap-bench/dask_runs.py kills --runs 3
    python crates/dualgap-bench/dask_runs.py scaling covtype.data.gz --loss logistic --lam 10/n
    python crates/dualgap-bench/dask_runs.py scaling train.txt.gz --task tagger
    python crates/dualgap-bench/dask_runs.py memory part-0.mapped part-1.mapped --limit 300MB --joined all.mapped
    python crates/dualgap-bench/dask_runs.py simulated covtype.data.gz --workers 1,2,4

All run on this machine, and print a line for every run. `scaling` pins every worker to a core of its own; `simulated` has the simulator's
seconds beside them.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import os
import random
import resource
import signal
import tempfile
import threading
import time
import traceback
from typing import Any

import numpy as np
import psutil
from dask_simulated import add_check
from distributed import Client, LocalCluster

import dualgap
import dualgap.dask
from dualgap import _dualgap
from dualgap.callbacks import Certification

_LOCAL: dict[str, Any] = {
    "binary": dualgap.LinearClassifier,
    "multiclass": dualgap.MulticlassSVM,
    "chain": dualgap.ChainSVM,
    "tagger": dualgap.SequenceTagger,
}
_SHARDED: dict[str, Any] = {
    "binary": dualgap.dask.LinearClassifier,
    "multiclass": dualgap.dask.MulticlassSVM,
    "chain": dualgap.dask.ChainSVM,
    "tagger": dualgap.dask.SequenceTagger,
}


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
                        with contextlib.suppress(ProcessLookupError, TypeError):
                            os.kill(chance.choice(pids), signal.SIGKILL)
                            killed.append(len(killed))

            killer = threading.Thread(target=kill, daemon=True)
            begin = time.perf_counter()

            def hold(seen: Certification) -> None:
                if seen.rounds == 0 and not killer.is_alive():
                    killer.start()
                # The run is not to be over before all are killed.
                time.sleep(given.pause if len(killed) < given.kills else 0)

            keywords = {"loss": "logistic", "lam": 1e-3, "tolerance": given.tolerance}
            model = dualgap.dask.LinearClassifier(client=client, callback=hold, local_passes=1, **keywords)
            try:
                model.fit([X[cut] for cut in cuts], [y[cut] for cut in cuts])
            except BaseException:
                # Before the cluster is closed, which takes its time and writes much.
                print(f"run {run} has failed after {len(killed)} kills\n{traceback.format_exc()}", flush=True)
                raise
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


def read(given: argparse.Namespace) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Return rows, targets, and the lengths of sequences if the file is one of letters."""
    import pandas as pd
    import scipy.sparse as sp

    if "letter.data" in given.data:
        table = pd.read_csv(given.data, sep="\t", header=None, usecols=range(134), na_filter=False)
        ends = np.flatnonzero(table[2].to_numpy() == -1) + 1
        return table.iloc[:, 6:].to_numpy(dtype=float), table[1].to_numpy(dtype=str), np.diff([0, *ends])
    if ".data" in given.data:
        # covtype: the class that occurs most against the others, columns divided by their largest number.
        table = pd.read_csv(given.data, header=None).to_numpy(dtype=float)
        numbers, counts = np.unique(table[:, -1], return_counts=True)
        X = table[:, :-1] / np.abs(table[:, :-1]).max(axis=0)
        X, y = X, np.where(table[:, -1] == numbers[counts.argmax()], 1, -1)
    else:
        starts, columns, values, width, y = _dualgap.read_libsvm(given.data, 0)
        X = sp.csr_matrix((values, columns, starts), shape=(len(y), width))
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], None


def in_files(given: argparse.Namespace, folder: str, parts: int) -> list[str]:
    """Write the sentences of a column file into so many files."""
    with gzip.open(given.data, "rt") as file:
        sentences = file.read().strip("\n").split("\n\n")
    paths = []
    for k, part in enumerate(np.array_split(np.arange(len(sentences)), parts)):
        paths.append(os.path.join(folder, f"part-{k}-of-{parts}.txt"))
        with open(paths[-1], "w") as file:
            file.writelines(sentences[i] + "\n\n" for i in part)
    return paths


def scaling(given: argparse.Namespace) -> None:
    """Compare workers that are pinned to a core each with threads of one process."""
    keywords: dict[str, Any] = {"lam": given.lam, "tolerance": given.tolerance}
    if given.loss:
        keywords["loss"] = given.loss
    if given.features:
        keywords["features"] = given.features
    in_columns = given.task == "tagger"
    brackets: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        X, y, lengths = (None, None, None) if in_columns else read(given)
        for threads in (1, 2):
            begin, used = time.perf_counter(), time.process_time()
            model = _LOCAL[given.task](threads=threads, **keywords)
            if in_columns:
                model.fit(in_files(given, folder, 1)[0])
            elif lengths is not None:
                model.fit(X, y, lengths)
            else:
                model.fit(X, y)
            report("threads", threads, model, time.perf_counter() - begin, time.process_time() - used)
            brackets.append(bracket(model))
        for workers in (1, 2):
            blocks = [in_files(given, folder, workers)] if in_columns else in_blocks(X, y, lengths, workers)
            with cluster(workers) as local, Client(local) as client:
                for core, address in enumerate(sorted(client.scheduler_info(n_workers=-1)["workers"])):
                    client.run(os.sched_setaffinity, 0, {core % (os.cpu_count() or 1)}, workers=[address])
                model = _SHARDED[given.task](client=client, threads=1, **keywords)
                before = sum(client.run(cpu_seconds).values())
                begin = time.perf_counter()
                model.fit(*blocks)
                used = sum(client.run(cpu_seconds).values()) - before
                report("workers", workers, model, time.perf_counter() - begin, used)
                of_rounds(model)
                brackets.append(bracket(model))
    least, most = max(below for below, _ in brackets), min(above for _, above in brackets)
    print(f"  all say that the optimum is from {least:.8g} to {most:.8g}" if least <= most else "  THE BRACKETS DO NOT OVERLAP")
    if least > most:
        raise SystemExit(1)


def bracket(model: Any) -> tuple[float, float]:
    """Return what the optimum is not below and not above, rounding included."""
    found = model.certificate_
    return found.dual - found.rounding, found.primal + found.rounding


def in_blocks(X: Any, y: np.ndarray, lengths: np.ndarray | None, parts: int) -> list[list[Any]]:
    """Return the arguments of `fit` in so many blocks."""
    if lengths is None:
        cuts = [slice(cut[0], cut[-1] + 1) for cut in np.array_split(np.arange(len(y)), parts)]
        return [[X[cut] for cut in cuts], [y[cut] for cut in cuts]]
    some = np.array_split(lengths, parts)
    ends = np.cumsum([0, *(each.sum() for each in some)])
    cuts = [slice(*bounds) for bounds in zip(ends, ends[1:], strict=False)]
    return [[X[cut] for cut in cuts], [y[cut] for cut in cuts], some]


def of_rounds(model: Any) -> None:
    """Print what the rounds of a run have needed."""
    rounds = model.rounds_
    print(
        f"  {len(rounds)} rounds, {model.bytes_ / 1e6:.3g} MB moved, {sum(made['seconds'] for made in rounds):.2f} s in "
        f"rounds of which {sum(max(made['computing']) for made in rounds):.2f} s computing, "
        f"{model.history_[-1]['certify_seconds']:.2f} s in certifications",
        flush=True,
    )


def memory(given: argparse.Namespace) -> None:
    """Train on data files that are larger than the memory that their workers may have, and certify the joined file."""
    sizes = [os.path.getsize(path) for path in given.data]
    with (
        LocalCluster(
            n_workers=given.workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            memory_limit=given.limit,
        ) as local,
        Client(local) as client,
    ):
        limit = next(iter(local.scheduler.workers.values())).memory_limit
        print(f"{len(sizes)} files of {sum(sizes) / 1e6:.0f} MB in all, {given.workers} workers of {limit / 1e6:.0f} MB each")
        if given.keep:
            client.run(keep_pages)
        pids = {nanny.pid for nanny in local.workers.values()}
        most, over = dict.fromkeys(pids, 0), threading.Event()

        def look() -> None:
            while not over.wait(0.02):
                for nanny in local.workers.values():
                    with contextlib.suppress(psutil.Error, TypeError):
                        most[nanny.pid] = max(most.get(nanny.pid, 0), psutil.Process(nanny.pid).memory_info().rss)

        threading.Thread(target=look, daemon=True).start()
        keywords = {"loss": given.loss, "lam": given.lam, "tolerance": given.tolerance, "time": given.time}

        def show(seen: Certification) -> None:
            print(f"  round {seen.rounds}: {seen.passes:.0f} passes, gap {seen.gap:.3g}", flush=True)

        model = dualgap.dask.LinearClassifier(client=client, threads=1, callback=show, **keywords)
        begin = time.perf_counter()
        try:
            model.fit(given.data)
        finally:
            over.set()
            peaks = ", ".join(f"{peak / 1e6:.0f}" for peak in most.values())
            print(f"  resident at most {peaks} MB; {len(most) - len(pids)} workers had to be started again", flush=True)
        report("workers", given.workers, model, time.perf_counter() - begin, sum(client.run(cpu_seconds).values()))
        of_rounds(model)
        print(f"  {model.lost_} shards lost, relative gap {model.certificate_.relative_gap:.2e}")
    if given.joined:
        found = model.certify(given.joined)
        print(f"  certify of the joined file: {found.relative_gap:.2e} by the {found.evidence}")


def keep_pages() -> None:
    """Let this worker keep the pages that it has touched."""
    from dualgap.dask import _pages

    _pages.watch = lambda: None


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
    for name, number in (("every", 2.0), ("pause", 2.0), ("tolerance", 1e-7)):
        one.add_argument(f"--{name}", type=float, default=number)
    two = commands.add_parser("scaling", help="workers beside threads")
    two.set_defaults(call=scaling)
    two.add_argument("data", help="a LIBSVM file, covtype.data.gz, letter.data.gz or a column file")
    two.add_argument("--task", choices=sorted(_LOCAL), default="binary")
    two.add_argument("--loss", help="the loss; each task has its default")
    two.add_argument("--lam", default="10/n")
    two.add_argument("--features", help="what the columns of a column file become")
    two.add_argument("--tolerance", type=float, default=0.01)
    three = commands.add_parser("memory", help="data files larger than the memory of their workers")
    three.set_defaults(call=memory)
    three.add_argument("data", nargs="+", help="data files, a shard each")
    three.add_argument("--joined", help="a data file with the rows of all")
    three.add_argument("--limit", default="300MB", help="the memory limit of a worker")
    three.add_argument("--workers", type=int, default=2)
    three.add_argument("--loss", default="logistic")
    three.add_argument("--lam", default="10/n")
    three.add_argument("--tolerance", type=float, default=0.01)
    three.add_argument("--time", type=float, help="the most seconds")
    three.add_argument("--keep", action="store_true", help="do not drop pages, and see what Dask does")
    add_check(commands.add_parser("simulated", help="simulated seconds beside measured ones"))
    given = parser.parse_args()
    given.call(given)


if __name__ == "__main__":
    main()
