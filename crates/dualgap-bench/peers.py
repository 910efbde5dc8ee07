"""Linear models: dualgap beside scikit-learn, LIBLINEAR and celer, in one table from one run.

    pip install scikit-learn liblinear-official celer
    python crates/dualgap-bench/peers.py --data DIR

DIR has the files libsvm/a9a and libsvm/reuters_corpacq.train, compressed with gzip or not. All programs solve the same problem,

    (1/n) sum_i loss(<x_i, w>, y_i) + lambda/2 |w|^2 + sigma |w|_1,        the whole file, no intercept,

on one thread, and are judged by its value at the weights they return. The optimum is known from dualgap's certificate, which bounds
it from both sides. A program that stops by a tolerance of its own is run over a ladder of them; of the rungs that come near enough
the fastest counts, though no user could know it beforehand. Reading files is not timed, and neither is bringing the matrix into
LIBLINEAR's form; what scikit-learn does within `fit` is.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # before numpy looks

import argparse
import json
import multiprocessing
import pathlib
import statistics
import subprocess
import time
import warnings

import numpy as np
from sklearn.datasets import load_svmlight_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = "cargo run --release --locked --quiet --package dualgap-bench --"
LADDER = [10.0**-k for k in range(13)]


def hinge(a, y):
    return np.maximum(0.0, 1.0 - y * a)


def logistic(a, y):
    return np.logaddexp(0.0, -y * a)


def squared(a, y):
    return 0.5 * (a - y) ** 2


# Each peer is made ready for a problem and returns a function from a tolerance to weights: that is what is timed.


def scikit_learn(make):
    def ready(X, y, problem):
        C = 1.0 / (problem["lambda"] * len(y)) if problem["lambda"] else None
        # Each estimator gets the form that it would otherwise convert to.
        X = X.tocsr() if C else X.tocsc()

        def fit(tolerance):
            estimator = make(C or problem["l1"])
            estimator.set_params(fit_intercept=False, tol=tolerance, max_iter=1_000_000)
            return estimator.fit(X, y).coef_.ravel()

        return fit

    return ready


def linear_svc(C):
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, loss="hinge", dual=True, random_state=0)


def logistic_regression(solver):
    from sklearn.linear_model import LogisticRegression

    return lambda C: LogisticRegression(C=C, solver=solver, random_state=0)


def lasso(alpha):
    from sklearn.linear_model import Lasso

    return Lasso(alpha=alpha)


def celer_lasso(alpha):
    from celer import Lasso

    return Lasso(alpha=alpha)


def liblinear(solver):
    def ready(X, y, problem):
        from liblinear import liblinearutil

        data = liblinearutil.problem(y, X.tocsr())
        C = 1.0 / (problem["lambda"] * len(y))

        def fit(tolerance):
            options = f"-s {solver} -c {C:.17g} -e {tolerance:.17g} -B -1 -q"
            model = liblinearutil.train(data, liblinearutil.parameter(options))
            # Weights are for the class that the file has first.
            w = np.ctypeslib.as_array(model.w, shape=(model.nr_feature,)) * float(model.label[0])
            return np.pad(w, (0, X.shape[1] - len(w)))

        return fit

    return ready


PROBLEMS = {
    "a9a hinge": (
        hinge,
        {
            "scikit-learn LinearSVC": scikit_learn(linear_svc),
            "LIBLINEAR, dual (-s 3)": liblinear(3),
        },
    ),
    "a9a logistic": (
        logistic,
        {
            "scikit-learn LogisticRegression, lbfgs": scikit_learn(logistic_regression("lbfgs")),
            "scikit-learn LogisticRegression, liblinear": scikit_learn(logistic_regression("liblinear")),
            "LIBLINEAR, primal (-s 0)": liblinear(0),
            "LIBLINEAR, dual (-s 7)": liblinear(7),
        },
    ),
    "reuters lasso": (
        squared,
        {
            "scikit-learn Lasso": scikit_learn(lasso),
            "celer Lasso": scikit_learn(celer_lasso),
        },
    ),
}


def climb(send, ready, loss, X, y, problem, repetitions):
    """Runs a peer up the ladder until it is as near as anyone asks, and sends (seconds, value) of every rung."""
    warnings.simplefilter("ignore")  # of steps that did not suffice: the value says so
    fit = ready(X, y, problem)
    for tolerance in LADDER:
        seconds = []
        for _ in range(repetitions):
            start = time.perf_counter()
            w = fit(tolerance)
            seconds.append(time.perf_counter() - start)
        value = loss(X @ w, y).mean() + problem["lambda"] / 2 * w @ w + problem["l1"] * np.abs(w).sum()
        send.send((statistics.median(seconds), float(value)))
        if is_near(value, problem, min(tolerances(problem))):
            break
    send.send(None)


def tolerances(problem):
    return [reached["tolerance"] for reached in problem["reached"]]


def is_near(value, problem, tolerance):
    return value - problem["lower"] <= tolerance * problem["upper"]


def rungs(limit, *arguments):
    """What `climb` sends within a time limit, from a process of its own that can be ended; None if that fails."""
    context = multiprocessing.get_context("fork")  # the data are shared, not sent
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=climb, args=(send, *arguments))
    child.start()
    send.close()  # so that a child that dies is noticed
    found, deadline = [], time.monotonic() + limit
    while receive.poll(max(0.0, deadline - time.monotonic())):
        try:
            rung = receive.recv()
        except EOFError:
            child.join()
            return None
        if rung is None:
            break
        found.append(rung)
    child.terminate()
    child.join()
    return found


def read(folder, name):
    path = folder / "libsvm" / name
    path = path if path.exists() else path.with_name(name + ".gz")
    X, y = load_svmlight_file(str(path))
    # Most of the peers want 32 bits, whatever the reader took.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y


def measure_dualgap(options):
    if options.measured:
        return options.measured.read_text().splitlines()
    command = options.bench.split() + ["linear", "--json", "--data", str(options.data.resolve())]
    command += ["--repetitions", str(options.repetitions)]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def row(name, program, cells):
    print("|", " | ".join([name, program, *cells]), "|", flush=True)


def own_rows(problem):
    """The value may be near before that is proved, so there are two."""
    for kind, words in (("near", "dualgap"), ("proved", "dualgap, proved")):
        cells = []
        for reached in problem["reached"]:
            took = reached[kind]
            cells.append(
                f"{problem['prepare'] + took['solve'] + took['certify']:.3f} s" if took else "not reached"
            )
        row(problem["problem"], words, cells)


def cell(found, problem, tolerance):
    if found is None:
        return "failed"  # and has said why
    near = [seconds for seconds, value in found if is_near(value, problem, tolerance)]
    if near:
        return f"{min(near):.3f} s"
    if not found:
        return "out of time"
    best = min(value for _, value in found)
    return f"not reached: {best / problem['lower'] - 1:.1e} above"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="the folder of the data sets")
    parser.add_argument("--repetitions", type=int, default=3, help="the median counts (3)")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for each peer and problem (60)")
    parser.add_argument("--bench", default=BENCH, help=f"how to run dualgap's side ({BENCH})")
    parser.add_argument(
        "--measured", type=pathlib.Path, help="what `dualgap-bench linear --json` printed before, in place of running it"
    )
    options = parser.parse_args()

    problems = [json.loads(line) for line in measure_dualgap(options)]
    row("problem", "program", [f"to {t:.0e}" for t in tolerances(problems[0])])
    row("---", "---", ["---:"] * len(tolerances(problems[0])))
    for problem in problems:
        own_rows(problem)
        loss, peers = PROBLEMS[problem["problem"]]
        X, y = read(options.data, problem["file"])
        for program, ready in peers.items():
            found = rungs(options.limit, ready, loss, X, y, problem, options.repetitions)
            row(problem["problem"], program, [cell(found, problem, tolerance) for tolerance in tolerances(problem)])
    print()
    for problem in problems:
        print(f"{problem['problem']}: the optimum is between {problem['lower']:.12f} and {problem['upper']:.12f}")


if __name__ == "__main__":
    main()
