"""What one would use instead of dualgap.dask: dask-ml, Spark's linear models and xgboost's linear booster, on the same data.

    python -m venv peers
    peers/bin/pip install . "dask[array,dataframe]" distributed dask-ml xgboost-cpu pyspark pandas
    peers/bin/python crates/dualgap-bench/dask_peers.py covtype.data.gz

Logistic loss under a ridge, no intercept, two processes of one thread each. Prints a row for every one: seconds of `fit`, of data that
the workers have already (ours are sent to them in that time), and how far the primal at its weights is above the lower bound that
dualgap has proved. Spark needs Java 17. A booster always has an intercept, without a penalty: its row says where that leaves it.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask.array as da
import numpy as np
from dask_runs import cluster, in_blocks, read
from distributed import Client, wait

import dualgap.dask

#: Weights and intercept.
Model = tuple[np.ndarray, float]


@contextmanager
def two_workers() -> Iterator[Client]:
    """Return a client of two processes."""
    with cluster(2) as local, Client(local) as client:
        yield client


def objective(model: Model, X: np.ndarray, y: np.ndarray, lam: float) -> float:
    """Return the primal of the logistic loss."""
    weights, intercept = model
    return float(np.logaddexp(0.0, -y * (X @ weights + intercept)).mean() + lam / 2 * weights @ weights)


def on_workers(client: Client, X: np.ndarray, y: np.ndarray) -> tuple[da.Array, da.Array]:
    """Return two blocks, computed and held by the workers."""
    rows = -(-len(y) // 2)
    held = [client.persist(da.from_array(array, chunks=(rows, *array.shape[1:]))) for array in (X, y)]
    wait(held)
    return held[0], held[1]


def of_ours(given: argparse.Namespace, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, float, Model, float]]:
    """Yield name, seconds, weights and the proved lower bound."""
    with two_workers() as client:
        for tolerance in given.tolerances:
            keywords: dict[str, Any] = {"loss": "logistic", "lam": given.lam, "tolerance": tolerance, "threads": 1}
            model = dualgap.dask.LinearClassifier(client=client, **keywords)
            blocks = in_blocks(X, y, None, 2)
            begin = time.perf_counter()
            model.fit(*blocks)
            seconds = time.perf_counter() - begin
            found = model.certificate_
            yield f"dualgap, tolerance {tolerance:g}", seconds, (model.coef_.ravel(), 0.0), found.dual


def of_dask_ml(given: argparse.Namespace, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, float, Model]]:
    """Yield dask-ml."""
    from dask_ml.linear_model import LogisticRegression

    for solver in given.solvers:
        with two_workers() as client:
            held = on_workers(client, X, (y > 0).astype(float))
            # Its objective is the sum of the losses and ‖w‖²/2C.
            model = LogisticRegression(C=1.0 / (given.lam * len(y)), penalty="l2", fit_intercept=False, solver=solver)
            begin = time.perf_counter()
            model.fit(*held)
            yield f"dask-ml, {solver}", time.perf_counter() - begin, (np.ravel(model.coef_), 0.0)


def of_spark(given: argparse.Namespace, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, float, Model]]:
    """Yield Spark's L-BFGS."""
    import pandas as pd
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    names = [f"x{j}" for j in range(X.shape[1])]
    table = spark.createDataFrame(pd.DataFrame(X, columns=names).assign(label=(y > 0).astype(float)))
    table = VectorAssembler(inputCols=names, outputCol="features").transform(table).select("features", "label").repartition(2).cache()
    table.count()
    for tolerance in (1e-6, 1e-12):
        fitted = LogisticRegression(regParam=given.lam, elasticNetParam=0.0, standardization=False, fitIntercept=False, maxIter=1000, tol=tolerance)
        begin = time.perf_counter()
        model = fitted.fit(table)
        yield f"Spark, tol {tolerance:g}", time.perf_counter() - begin, (model.coefficients.toArray(), 0.0)
    spark.stop()


def of_xgboost(given: argparse.Namespace, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, float, Model]]:
    """Yield the linear booster, which divides its penalty by the examples as we do; in one process, because it knows no other."""
    import xgboost

    matrix = xgboost.DMatrix(X, label=y > 0)
    for rounds in (20, 200):
        keywords = {"booster": "gblinear", "objective": "binary:logistic", "reg_lambda": given.lam, "base_score": 0.5, "nthread": 2}
        begin = time.perf_counter()
        booster = xgboost.train(keywords, matrix, num_boost_round=rounds)
        seconds = time.perf_counter() - begin
        found = [float(number) for number in booster.get_dump()[0].split() if number not in ("bias:", "weight:")]
        yield f"xgboost, gblinear, {rounds} rounds, two threads", seconds, (np.array(found[1:]), found[0])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="covtype.data.gz, or a LIBSVM file that fits in memory as dense numbers")
    parser.add_argument("--lam", type=float, help="10/n unless given")
    parser.add_argument("--tolerances", type=float, nargs="+", default=[1e-2, 1e-4, 1e-6])
    parser.add_argument("--solvers", nargs="+", default=["lbfgs"], help="of dask-ml; its newton and gradient_descent know no penalty")
    parser.add_argument("--peers", nargs="+", default=["dask_ml", "xgboost", "spark"])
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y, _ = read(given)
    X = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X)
    given.lam = given.lam or 10.0 / len(y)
    for name in ("dask", "dask-ml", "pyspark", "xgboost-cpu"):
        print(f"{name} {importlib.metadata.version(name)}", end="; ")
    print(f"{X.shape[0]} rows, {X.shape[1]} columns, lambda = {given.lam:.3g}")
    print("| trained by | s | above the proved lower bound, relative |\n| --- | ---: | ---: |")
    low = -np.inf
    rows: list[tuple[str, float, Model]] = []
    for name, seconds, model, bound in of_ours(given, X, y):
        low = max(low, bound)
        rows.append((name, seconds, model))

    def show(name: str, seconds: float, model: Model) -> None:
        print(f"| {name} | {seconds:.2f} | {objective(model, X, y, given.lam) / low - 1:.1e} |", flush=True)

    for row in rows:
        show(*row)
    others: list[Callable[..., Iterator[tuple[str, float, Model]]]] = [of_dask_ml, of_xgboost, of_spark]
    for kind in others:
        if kind.__name__[3:] not in given.peers:
            continue
        try:
            for row in kind(given, X, y):
                show(*row)
        except Exception as problem:  # The table says so, and goes on.
            print(f"| {kind.__name__[3:]} | – | {type(problem).__name__}: {str(problem).splitlines()[0][:100]} |", flush=True)


if __name__ == "__main__":
    main()
