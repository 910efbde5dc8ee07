"""The Python package beside the program: what it adds to a run, in time and memory.

    pip install .
    cargo build --release --package dualgap-cli
    python crates/dualgap-bench/python.py --data DIR

DIR has the files libsvm/a9a and libsvm/news20, compressed with gzip or not. Prints Markdown:

- the CPU seconds of `fit` on one thread beside those of the program without reading, for the same problem, which must end with
  the same bits;
- by how much a fit raises the peak memory above matrix and interpreter, for a sparse matrix of a gigabyte;
- the time of two fits in two threads beside that of one;
- how long Ctrl-C takes to end a run, with a certified model;
- how long `import dualgap` takes, what it loads, and the sizes of the extension and of the wheel.

Machines are noisy: of several runs the fastest counts, and the program and the package take turns.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]

#: Data set, task of the program, estimator, and tolerance.
RUNS = [
    ("a9a", "binary", "LinearClassifier", 1e-2),
    ("a9a", "binary", "LinearClassifier", 1e-4),
    ("news20", "multiclass", "MulticlassSVM", 1e-2),
]


def path_of(folder: pathlib.Path, name: str) -> pathlib.Path:
    """Return the file of a data set, compressed or not."""
    path = folder / "libsvm" / name
    return path if path.exists() else path.with_name(name + ".gz")


def read(folder: pathlib.Path, name: str) -> tuple[Any, Any]:
    """Return a data set as scipy and numpy have it: the labels are whole numbers, as the program spells them."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path_of(folder, name)))
    X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
    return X, y.astype(int)


def timed(work: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> tuple[float, Any]:
    """Return the seconds that `work` took, and its result."""
    start = clock()
    result = work()
    return clock() - start, result


def children() -> float:
    """Return the CPU seconds of all programs that were run so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def table(*rows: list[str]) -> None:
    """Print a table whose first row is its head."""
    head, *rest = rows
    for row in [head, ["---"] + ["---:"] * (len(head) - 1), *rest]:
        print("|", " | ".join(row), "|")
    print(flush=True)


def recorded_seconds() -> list[float]:
    """Return a list to which every fit from now on appends the seconds that the library spent."""
    from dualgap import _dualgap

    train, found = _dualgap.fit, []

    def fit(*arguments: Any, **keywords: Any) -> Any:
        result = train(*arguments, **keywords)
        found.append(result[1]["solve_seconds"] + result[1]["certify_seconds"])
        return result

    _dualgap.fit = fit  # type: ignore[assignment]
    return found


def overhead(options: argparse.Namespace) -> None:
    """Compare `fit` with the program, run by run."""
    import dualgap

    inner = recorded_seconds()
    head = ["data", "tolerance", "program: read", "solve and certify", "all but reading"]
    rows = [[*head, "Python: solve and certify", "`fit`", "more"]]
    for name, task, estimator, tolerance in RUNS:
        if options.only and name not in options.only:
            continue
        X, y = read(options.data, name)
        make = getattr(dualgap, estimator)
        reading, solving, whole, inside, fits = [], [], [], [], []
        command = [options.program, "train", task, path_of(options.data, name), "--json", "--quiet"]
        command += ["--tolerance", tolerance, "--threads", 1]
        for _ in range(options.repetitions):
            run = [str(part) for part in command]
            seconds, ended = timed(lambda run=run: subprocess.run(run, stdout=subprocess.PIPE, check=True), children)
            report = json.loads(ended.stdout)
            reading.append(report["read_seconds"])
            solving.append(report["solve_seconds"] + report["certify_seconds"])
            whole.append(seconds)
            model = make(tolerance=tolerance, threads=1)
            seconds, fitted = timed(lambda model=model: model.fit(X, y), time.process_time)
            fits.append(seconds)
            inside.append(inner.pop())
            found = fitted.certificate_
            if (found.primal, found.dual) != (report["primal"], report["dual"]):
                sys.exit(f"{name}: the program has another certificate than Python: {report['primal']}, {found.primal}")
        own, fit = min(whole) - min(reading), min(fits)
        cells = [f"{seconds:.3f} s" for seconds in (min(reading), min(solving), own, min(inside), fit)]
        rows.append([name, f"{tolerance:g}", *cells, f"{100.0 * (fit / own - 1.0):+.1f} %"])
    table(*rows)


#: Run in a process of its own, whose peak is the matrix and nothing else before `fit` begins.
MEMORY = """
    import resource, sys
    import numpy as np, scipy.sparse as sp
    import dualgap

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    entries, stride = 100, 500
    n = int(float(sys.argv[1]) * 1e9 / (12 * entries))
    random = np.random.default_rng(0)
    values, indices = np.empty(n * entries), np.empty(n * entries, dtype=np.int32)
    offsets = np.arange(entries, dtype=np.int32) * stride
    for begin in range(0, n, 10_000):
        part = slice(begin * entries, min(begin + 10_000, n) * entries)
        size = part.stop - part.start
        values[part] = random.standard_normal(size)
        indices[part] = (random.integers(0, stride, size, dtype=np.int32).reshape(-1, entries) + offsets).ravel()
    indptr = np.arange(n + 1, dtype=np.int32) * np.int32(entries)
    X = sp.csr_array((values, indices, indptr), shape=(n, entries * stride))
    y = np.where(random.random(n) < 0.5, -1, 1)
    # What is loaded or begun at the first fit is no part of what a fit of these data takes.
    dualgap.LinearClassifier(lam=1.0).fit(X[:1000], y[:1000])
    before = peak()
    dualgap.LinearClassifier(lam=1.0, tolerance=0.5).fit(X, y)
    print(values.nbytes + indices.nbytes + indptr.nbytes, before, peak())
"""


def memory(options: argparse.Namespace) -> None:
    """Print by how much a fit raises the peak memory of a process that holds a large matrix."""
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(MEMORY), str(options.gigabytes)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    matrix, before, after = (int(part) / 1e9 for part in run.stdout.split())
    table(
        ["CSR matrix", "peak before `fit`", "peak after `fit`", "added", "of the matrix"],
        [
            *(f"{part:.3f} GB" for part in (matrix, before, after, after - before)),
            f"{100.0 * (after - before) / matrix:.1f} %",
        ],
    )


def threads(options: argparse.Namespace) -> None:
    """Print how long two fits take in two threads of Python, each on one core, beside one fit."""
    import dualgap

    X, y = read(options.data, "a9a")

    def fit() -> Any:
        return dualgap.LinearClassifier(tolerance=1e-5, threads=1).fit(X, y)

    def both() -> None:
        workers = [threading.Thread(target=fit) for _ in range(2)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    one = min(timed(fit)[0] for _ in range(options.repetitions))
    two = min(timed(both)[0] for _ in range(options.repetitions))
    table(
        ["one fit", "two fits in two threads", "ratio", "cores"],
        [f"{one:.3f} s", f"{two:.3f} s", f"{two / one:.2f}", str(os.cpu_count())],
    )


def interrupt(options: argparse.Namespace) -> None:
    """Print how long a run goes on after Ctrl-C."""
    import dualgap

    rows = [["data", "answered within", "certified relative gap then"]]
    for name, estimator in {name: estimator for name, _, estimator, _ in RUNS}.items():
        if options.only and name not in options.only:
            continue
        X, y = read(options.data, name)
        worst, gap = 0.0, 0.0
        for repetition in range(options.repetitions):
            model = getattr(dualgap, estimator)(tolerance=1e-14)
            pressed = 0.0

            def press() -> None:
                nonlocal pressed
                pressed = time.perf_counter()
                signal.raise_signal(signal.SIGINT)

            # At another time of the pass each time.
            timer = threading.Timer(0.5 + 0.037 * repetition, press)
            timer.start()
            try:
                model.fit(X, y)
            except KeyboardInterrupt:
                worst = max(worst, time.perf_counter() - pressed)
                gap = model.certificate_.relative_gap
            else:
                sys.exit(f"{name}: the run ended before Ctrl-C")
        rows.append([name, f"{worst:.3f} s", f"{gap:.1e}"])
    table(*rows)


def imports(options: argparse.Namespace) -> None:
    """Print how long the package takes to import, and its sizes."""
    code = "import sys, time; t = time.perf_counter(); import dualgap; t = time.perf_counter() - t; "
    code += "print(t, 'numpy' in sys.modules, 'sklearn' in sys.modules)"
    found = []
    for _ in range(2 * options.repetitions):
        run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
        seconds, numpy, sklearn = run.stdout.split()
        found.append((float(seconds), numpy, sklearn))
    seconds, numpy, sklearn = min(found)
    loaded = {"False": "no", "True": "yes"}
    spec = importlib.util.find_spec("dualgap._dualgap")
    assert spec is not None and spec.origin is not None
    cells = [f"{1e3 * seconds:.1f} ms", loaded[numpy], loaded[sklearn], f"{os.path.getsize(spec.origin) / 1e6:.1f} MB"]
    head = ["`import dualgap`", "numpy loaded", "scikit-learn loaded", "extension"]
    if options.wheel:
        head.append("wheel")
        cells.append(f"{options.wheel.stat().st_size / 1e6:.1f} MB")
    table(head, cells)


PARTS = {"overhead": overhead, "memory": memory, "threads": threads, "interrupt": interrupt, "imports": imports}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder of the data sets")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="what to measure (all)")
    parser.add_argument("--only", nargs="+", help="the names of the data sets to measure (all)")
    parser.add_argument("--repetitions", type=int, default=5, help="the fastest counts (5)")
    parser.add_argument("--gigabytes", type=float, default=1.0, help="the size of the large matrix (1)")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "target/release/dualgap", help="dualgap itself")
    parser.add_argument("--wheel", type=pathlib.Path, help="the wheel, for its size")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # of runs that are ended early
    for part in options.parts:
        print(f"### {part}\n")
        PARTS[part](options)


if __name__ == "__main__":
    main()
