"""What one would use instead of `dualgap.dask`, on the same data and the same objective: dask-ml, Spark's logistic regression, and
xgboost's linear booster.

    python crates/dualgap-bench/dask_peers.py covtype.data.gz [--lam 10/n] [--only dask-ml]

The objective is `mean log-loss + λ/2 |w|²` without an intercept, and is computed here from the weights of every peer, in the same way. Of
each the table has the seconds of `fit`, on two workers of a thread each, and how far its objective is above the lower bound that
dualgap proves, as a share of it. dask-ml minimises the sum of the losses plus `|w|²/2C`, so its C is `1/(λ n)`; its solvers are given
the tolerances and the numbers of iterations below, and the table has a row for each. Spark's objective is ours; it runs on two
threads of one machine, with its rows in memory before the clock starts, and needs Java. xgboost's linear booster has no distributed
form: it runs in one process with two threads. Its intercept cannot be left out, so that its objective may be lower than ours.

Everything that is installed is run, and what is not is named: dask-ml, pyspark and xgboost need not be in the environment of dualgap. The bound is
taken from `--bound` if it is given, so that peers can run in an environment of their own.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
import pandas
import scipy.sparse as sp
from distributed import Client, LocalCluster

#: The iterations that dask-ml's solvers are given, to see what more of them buy.
ITERATIONS = {"admm": (10, 50), "lbfgs": (20, 100), "proximal_grad": (100,), "gradient_descent": (100,)}
#: The iterations that Spark is given.
SPARK = (20, 100)
#: The rounds that xgboost is given.
ROUNDS = (10, 100)


def covtype(path: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of covtype with columns divided by their maxima, and whether the class is the second one."""
    table = pandas.read_csv(path, header=None).to_numpy(dtype=np.float64)
    return table[:, :-1] / np.maximum(np.abs(table[:, :-1]).max(axis=0), 1e-300), (table[:, -1] == 2).astype(np.int64)


def objective(X: np.ndarray, y: np.ndarray, lam: float, w: np.ndarray, intercept: float = 0.0) -> float:
    """Return the mean log-loss plus the penalty."""
    margins = (2 * y - 1) * (X @ w + intercept)
    return float(np.logaddexp(0.0, -margins).mean() + 0.5 * lam * (w @ w))


def parted(X: np.ndarray, y: np.ndarray) -> tuple[Any, Any]:
    """Return Dask arrays of two blocks, which the workers hold."""
    half = -(-len(y) // 2)
    arrays = da.from_array(X, chunks=(half, -1)).persist(), da.from_array(y, chunks=half).persist()
    return arrays


def ours(X: np.ndarray, y: np.ndarray, lam: float, tolerance: float, client: Client) -> tuple[np.ndarray, float, float]:
    """Return the weights, the seconds and the lower bound of dualgap."""
    import dualgap.dask

    half = -(-len(y) // 2)
    blocks = [[sp.csr_matrix(X[:half]), sp.csr_matrix(X[half:])], [2 * y[:half] - 1, 2 * y[half:] - 1]]
    model = dualgap.dask.LinearClassifier(loss="logistic", lam=lam, tolerance=tolerance, client=client)
    begin = time.perf_counter()
    model.fit(*blocks)
    return model.coef_.ravel(), time.perf_counter() - begin, model.certificate_.dual


def dask_ml(solver: str, iterations: int) -> Callable[..., tuple[np.ndarray, float, float]]:
    """Return a function that trains with this solver."""

    def fit(X: np.ndarray, y: np.ndarray, lam: float) -> tuple[np.ndarray, float, float]:
        from dask_ml.linear_model import LogisticRegression

        model = LogisticRegression(
            penalty="l2", C=1 / (lam * len(y)), solver=solver, max_iter=iterations, tol=1e-6, fit_intercept=False
        )
        arrays = parted(X, y)
        begin = time.perf_counter()
        model.fit(*arrays)
        return np.asarray(model.coef_).ravel(), time.perf_counter() - begin, 0.0

    return fit


def spark(iterations: int) -> Callable[..., tuple[np.ndarray, float, float]]:
    """Return a function that trains with Spark, for so many iterations of L-BFGS at most."""

    def fit(X: np.ndarray, y: np.ndarray, lam: float) -> tuple[np.ndarray, float, float]:
        from pyspark.ml.classification import LogisticRegression
        from pyspark.ml.functions import array_to_vector
        from pyspark.sql import SparkSession
        from pyspark.sql.functions import col

        session = SparkSession.builder.master("local[2]").config("spark.driver.memory", "8g").getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        with tempfile.TemporaryDirectory() as folder:
            pandas.DataFrame({"row": list(X), "label": y.astype(np.float64)}).to_parquet(f"{folder}/rows.parquet")
            rows = session.read.parquet(f"{folder}/rows.parquet").repartition(2)
            rows = rows.select(array_to_vector(col("row")).alias("features"), "label").cache()
            rows.count()
            model = LogisticRegression(regParam=lam, maxIter=iterations, tol=1e-9, fitIntercept=False, standardization=False)
            begin = time.perf_counter()
            fitted = model.fit(rows)
            seconds = time.perf_counter() - begin
            rows.unpersist()
        return fitted.coefficients.toArray(), seconds, 0.0

    return fit


def booster(rounds: int) -> Callable[..., tuple[np.ndarray, float, float]]:
    """Return a function that trains so many rounds of xgboost's linear booster."""

    def fit(X: np.ndarray, y: np.ndarray, lam: float) -> tuple[np.ndarray, float, float]:
        import xgboost

        data = xgboost.DMatrix(X, label=y)
        given = {"booster": "gblinear", "objective": "binary:logistic", "lambda": lam, "eta": 1.0, "base_score": 0.5, "nthread": 2}
        begin = time.perf_counter()
        model = xgboost.train(given, data, num_boost_round=rounds)
        seconds = time.perf_counter() - begin
        margins = model.predict(xgboost.DMatrix(np.vstack([np.zeros(X.shape[1]), np.eye(X.shape[1])])), output_margin=True)
        return margins[1:] - margins[0], seconds, float(margins[0])

    return fit


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="covtype.data.gz")
    parser.add_argument("--lam", type=float, default=10.0, help="λ times the number of examples")
    parser.add_argument("--bound", type=float, help="a lower bound of the optimum")
    parser.add_argument("--only", default="", help="rows whose names have this in them")
    args = parser.parse_args()
    X, y = covtype(args.data)
    lam, bound = args.lam / len(y), args.bound

    def row(name: str, seconds: float, value: float) -> None:
        above = "" if bound is None else f"{(value - bound) / bound:.2e}"
        print(f"| {name} | {seconds:.2f} | {value:.9f} | {above} |", flush=True)

    print("| trained by | seconds | objective | above the bound |\n| --- | --- | --- | --- |")
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as local, Client(local) as client:
        if importlib.util.find_spec("dualgap") is not None:
            runs = [(tolerance, ours(X, y, lam, tolerance, client)) for tolerance in (1e-2, 1e-4, 1e-6)]
            bound = max(dual for _, (_, _, dual) in runs)
            for tolerance, (w, seconds, _) in runs:
                row(f"dualgap.dask, tolerance {tolerance:g}", seconds, objective(X, y, lam, w))
            print(f"the bound: {bound!r}")
        peers: list[tuple[str, str, Callable[..., tuple[np.ndarray, float, float]]]] = [
            ("dask_ml", f"dask-ml, {solver}, {most} iterations", dask_ml(solver, most))
            for solver, tried in ITERATIONS.items()
            for most in tried
        ]
        peers += [("pyspark", f"Spark, {most} iterations", spark(most)) for most in SPARK]
        peers += [("xgboost", f"xgboost, gblinear, {rounds} rounds, one process", booster(rounds)) for rounds in ROUNDS]
        for package, name, fit in peers:
            if args.only not in name:
                continue
            if importlib.util.find_spec(package) is None:
                print(f"{name}: {package} is not installed")
                continue
            try:
                w, seconds, intercept = fit(X, y, lam)
            except Exception as error:  # a peer that cannot is a row, too
                print(f"| {name} | failed: {type(error).__name__}: {str(error)[:80]} | | |", flush=True)
                continue
            row(name, seconds, objective(X, y, lam, w, intercept))


if __name__ == "__main__":
    main()
