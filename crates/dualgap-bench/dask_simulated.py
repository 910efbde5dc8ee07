"""The simulator of rounds on real data: beside measured runs, and where each data set stops scaling.

    python crates/dualgap-bench/dask_runs.py simulated covtype.data.gz --workers 1,2,4
    python crates/dualgap-bench/dask_simulated.py covtype.data.gz --workers 1,4,16,64,256,1024,4096,10000 --network 10gbit

The data are a LIBSVM file, or by their names `covtype.data` (the second class against the others, columns divided by their maxima),
`letter.data` (words, folds 1 to 9) and CoNLL-2000's `train.txt` (words and tags of five positions that occur three times).
"""

from __future__ import annotations

import argparse
import collections
import gzip
import json
import os
import sys
import time
from typing import Any

import numpy as np
import scipy.sparse as sp
from distributed import Client, LocalCluster

import dualgap.dask
from dualgap import _dualgap
from dualgap.dask._simulator import _Dealt, measured_rates

_TASKS: dict[str, Any] = {
    "binary": dualgap.dask.LinearClassifier,
    "multiclass": dualgap.dask.MulticlassSVM,
    "chain": dualgap.dask.ChainSVM,
}


#: What is shown of a row as soon as it is there.
SHOWN = ("workers", "rounds", "passes", "bytes", "seconds", "computing", "certifying", "finishing")


def load(path: str) -> tuple[Any, Any, Any]:
    """Return rows, targets, and the lengths of sequences if there are any."""
    name = os.path.basename(path)
    if name.startswith("covtype.data"):
        import pandas

        table = pandas.read_csv(path, header=None).to_numpy(dtype=np.float64)
        X = table[:, :-1] / np.maximum(np.abs(table[:, :-1]).max(axis=0), 1e-300)
        return sp.csr_matrix(X), np.where(table[:, -1] == 2, 1, -1), None
    if name.startswith("letter.data"):
        return letters(path)
    if name.startswith("train.txt"):
        return chunks(path)
    starts, columns, values, width, y = _dualgap.read_libsvm(path, 0)
    return sp.csr_matrix((values, columns, starts), shape=(len(y), width)), y, None


def letters(path: str) -> tuple[Any, Any, Any]:
    """Return the words of folds 1 to 9, with a constant feature."""
    rows, labels, lengths = [], [], []
    with gzip.open(path, "rt") as file:
        for line in file:
            cells = line.split()
            if cells[5] == "0":
                continue
            if cells[4] == "1":
                lengths.append(0)
            lengths[-1] += 1
            labels.append(cells[1])
            rows.append([1.0, *map(float, cells[6:134])])
    return sp.csr_matrix(np.array(rows)), np.array(labels), np.array(lengths)


def chunks(path: str) -> tuple[Any, Any, Any]:
    """Return sentences with words, tags and pairs of tags around every position, as far as they occur three times."""
    sentences: list[list[list[str]]] = [[]]
    with gzip.open(path, "rt") as file:
        for line in file:
            if line.strip():
                sentences[-1].append(line.split())
            elif sentences[-1]:
                sentences.append([])
    sentences = [sentence for sentence in sentences if sentence]
    found: list[list[tuple[Any, ...]]] = []
    for sentence in sentences:
        for t in range(len(sentence)):
            around = [sentence[s] if 0 <= s < len(sentence) else ["", "", ""] for s in range(t - 2, t + 3)]
            names: list[tuple[Any, ...]] = [(k, kind, token[kind].lower()) for k, token in enumerate(around) for kind in (0, 1)]
            names += [(k, "pair", around[k][1], around[k + 1][1]) for k in range(4)]
            found.append([("constant",), *names])
    counts = collections.Counter(name for names in found for name in names)
    numbers = {name: k for k, name in enumerate(name for name, count in counts.items() if count >= 3)}
    columns = [[numbers[name] for name in names if name in numbers] for names in found]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in columns])])
    flat = np.array([column for row in columns for column in sorted(row)])
    X = sp.csr_matrix((np.ones(len(flat)), flat, starts), shape=(len(found), len(numbers)))
    y = np.array([token[2] for sentence in sentences for token in sentence])
    return X, y, np.array([len(sentence) for sentence in sentences])


def estimator(given: argparse.Namespace, **more: Any) -> Any:
    """Return what to train."""
    keywords = {"loss": given.loss} if given.loss else {}
    lam = given.lam if "n" in given.lam else float(given.lam)
    return _TASKS[given.task](lam=lam, tolerance=given.tolerance, threads=1, **keywords, **more)


def task_of(given: argparse.Namespace, lengths: Any) -> None:
    """Choose what the command line leaves open."""
    given.task = given.task or ("binary" if lengths is None else "chain")
    given.loss = given.loss or ("logistic" if given.task == "binary" else None)


def check(given: argparse.Namespace) -> None:
    """Print measured seconds of real workers beside the simulated ones of the same rounds."""
    X, y, lengths = load(given.data)
    task_of(given, lengths)
    data = _Dealt(X, y, lengths, 0)
    for workers in [int(count) for count in given.workers.split(",")]:
        local = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0")
        with local, Client(local) as client:
            network = dualgap.dask.calibrate(client)
            rates = measured_rates(estimator(given), data)
            best: Any = None
            for _ in range(given.repeats):
                model = estimator(given, client=client, local_passes=given.local_passes)
                blocks = [list(parts) for parts in zip(*data.even(workers), strict=True)]
                model.fit(blocks[0], blocks[1], *([] if lengths is None else [blocks[3]]))
                last = model.history_[-1]
                seconds = last["solve_seconds"] + last["certify_seconds"]
                if best is None or seconds < best[0]:
                    best = seconds, last["certify_seconds"], model
        seconds, certifying, model = best
        again = estimator(given, local_passes=given.local_passes)
        row = dualgap.dask.simulate(
            again, X, y, lengths, workers=[workers], network=network, rates=rates, memory=float("inf")
        ).rows[0]
        same = row["primal"] == model.certificate_.primal and row["dual"] == model.certificate_.dual
        simulated = row["seconds"] - row["finishing"]
        print(
            f"{workers} workers: {len(model.rounds_)} rounds ({'the same bracket' if same else 'ANOTHER BRACKET'} in {row['rounds']} simulated); "
            f"measured {seconds:.3f} s ({certifying:.3f} s certifying, {sum(max(made['computing']) for made in model.rounds_):.3f} s computing), "
            f"simulated {simulated:.3f} s ({row['certifying']:.3f} s, {row['computing']:.3f} s): ratio {simulated / seconds:.2f}",
            flush=True,
        )
        print(f"  {json.dumps({'network': network.as_dict(), 'rates': rates.as_dict()})}", flush=True)
        assert same and row["rounds"] == len(model.rounds_), "the simulated rounds are not those of the workers"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that both commands have."""
    parser.add_argument("data", help="a LIBSVM file, covtype.data, letter.data or CoNLL-2000's train.txt, plain or compressed")
    parser.add_argument("--task", choices=sorted(_TASKS), help="by default binary, or chain for sequences")
    parser.add_argument("--loss")
    parser.add_argument("--lam", default="10/n")
    parser.add_argument("--tolerance", type=float, default=0.01)


def add_check(parser: argparse.ArgumentParser) -> None:
    """Add the options of the comparison with measured runs."""
    add_options(parser)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--local-passes", type=int, default=2, help="in every round, so that both have the same rounds")
    parser.add_argument("--repeats", type=int, default=3, help="measured runs, of which the fastest counts")
    parser.set_defaults(call=check)


def main() -> None:
    """Print where a data set stops scaling."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--workers", default="1,2,4,8,16,32,64,128,256,512,1024,2048,4096,10000")
    parser.add_argument("--network", default="10gbit", help="names of networks, with commas")
    parser.add_argument("--memory", type=float, default=4e9)
    parser.add_argument("--largest", type=int, default=10_000, help="the largest number of workers that is run")
    parser.add_argument("--rates", help="a file of rates: they are taken from it, or measured and written if it is not there")
    parser.add_argument("--spread", type=float, default=0.0)
    parser.add_argument("--losses", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", help="a file for all of it")
    given = parser.parse_args()
    X, y, lengths = load(given.data)
    task_of(given, lengths)
    examples = X.shape[0] if lengths is None else len(lengths)
    counts = [count for count in map(int, filter(None, given.workers.split(","))) if count <= examples]
    found = {}
    if given.rates and os.path.exists(given.rates):
        with open(given.rates) as file:
            rates = dualgap.dask.Rates(**json.load(file))
    else:
        rates = measured_rates(estimator(given), _Dealt(X, y, lengths, given.seed))
        if given.rates:
            with open(given.rates, "w") as file:
                json.dump(rates.as_dict(), file)
    if not counts:
        return
    for name in given.network.split(","):
        network = dualgap.dask.Network.named(name, spread=given.spread, losses=given.losses)
        begin = time.perf_counter()
        table = dualgap.dask.simulate(
            estimator(given),
            X,
            y,
            lengths,
            workers=counts,
            network=network,
            rates=rates,
            seed=given.seed,
            memory=given.memory,
            largest=given.largest,
            progress=lambda row: print({name: row[name] for name in SHOWN}, file=sys.stderr, flush=True),
        )
        found[name] = table.as_dict()
        print(f"{os.path.basename(given.data)}, {name}, simulated in {time.perf_counter() - begin:.0f} s\n{table}", flush=True)
        if given.json:
            with open(given.json, "w") as file:
                json.dump(found, file)


if __name__ == "__main__":
    main()
