"""Kernels: dualgap beside scikit-learn's SVC, in one table from one run.

    pip install scikit-learn
    python crates/dualgap-bench/kernels.py --data DIR

DIR has the files digits/digits.csv and libsvm/letter.scale, compressed with gzip. The kernel is rbf with gamma = scale.

Two classes. Even and odd digits, and the letters A to M and N to Z. SVC solves

    min over f and b of   1/2 |f|^2 + C sum_i max(0, 1 - y_i (f(x_i) + b)),            C = 1/(lambda n),

and dualgap the same problem with b = 0, divided by C n: not quite the same problem. They are made comparable by what both know of
the one without b: of the coefficients a_i in [0, C] of either program the dual value sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j k(x_i, x_j)
is a lower bound of its optimum, and 1/2 |f|^2 + C sum_i max(0, 1 - y_i f(x_i)) an upper one, for dualgap's f and for SVC's without its b.
The table has both values per C n, computed here by numpy, and dualgap's certified interval besides. To reach the problem without b
by LIBSVM itself, --one-function runs it on the precomputed kernel of the pairs (x, 1) and (-x, -1), which force b to zero; twice as
many examples, and not timed.

Many classes. SVC trains one machine for every pair of classes: another problem. Compared are test error and time.

SVC runs with its defaults (tolerance 1e-3, a cache of 200 MB), and with a cache as large as dualgap's. Reading files is not timed, and
neither is predicting. Both programs have one thread, unless --threads says otherwise; SVC never has more.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import tempfile
import time

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

ROOT = pathlib.Path(__file__).resolve().parents[2]


def digits(folder):
    with gzip.open(folder / "digits/digits.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    X, y = table[:, :-1], table[:, -1].astype(int)
    # Every fifth example is for the test.
    test = np.arange(len(y)) % 5 == 4
    return X[~test], y[~test], X[test], y[test]


def letters(folder):
    X, y = load_svmlight_file(str(folder / "libsvm/letter.scale.gz"))
    Z, z = load_svmlight_file(str(folder / "libsvm/letter.scale.t.gz"), n_features=X.shape[1])
    return X.toarray(), y.astype(int), Z.toarray(), z.astype(int)


def dualgap(program, task, data, options):
    X, y, Z, z = data
    with tempfile.TemporaryDirectory() as folder:
        for name, (inputs, labels) in {"train": (X, y), "test": (Z, z)}.items():
            dump_svmlight_file(inputs, labels, f"{folder}/{name}", zero_based=False)
        command = f"{program} train {task} {folder}/train --test {folder}/test --kernel rbf --json {options}"
        report = json.loads(subprocess.run(command.split(), capture_output=True, check=False).stdout)
    report["seconds"] = report["solve_seconds"] + report["certify_seconds"]
    return report


def svc(data, C, cache):
    X, y, Z, z = data
    machine = SVC(kernel="rbf", gamma="scale", C=C, cache_size=cache)
    begin = time.perf_counter()
    machine.fit(X, y)
    seconds = time.perf_counter() - begin
    return machine, seconds, float(np.mean(machine.predict(Z) != z))


def values(X, y, machine, C):
    """The two values of SVC's coefficients in the problem without b, per C n."""
    gamma = 1.0 / (X.shape[1] * X.var())
    a = np.zeros(len(y))
    a[machine.support_] = machine.dual_coef_[0]  # times y
    f = np.concatenate([rbf_kernel(X[k : k + 1000], X[machine.support_], gamma) @ machine.dual_coef_[0] for k in range(0, len(y), 1000)])
    square = a @ f
    sign = np.where(y == machine.classes_[1], 1.0, -1.0)
    primal = 0.5 * square + C * np.maximum(0.0, 1.0 - sign * f).sum()
    return primal / (C * len(y)), (np.abs(a).sum() - 0.5 * square) / (C * len(y))


def one_function(X, y, C):
    """The optimum without b by LIBSVM: pairs (x, 1) and (-x, -1) of a kernel that is odd in the sign, each with half of C."""
    gamma = 1.0 / (X.shape[1] * X.var())
    K = rbf_kernel(X, X, gamma)
    sign = np.where(y == np.unique(y)[1], 1.0, -1.0)
    G = np.block([[K, -K], [-K, K]])
    s = np.concatenate([sign, -sign])
    machine = SVC(kernel="precomputed", C=C / 2, tol=1e-6).fit(G, s)
    a = np.zeros(len(s))
    a[machine.support_] = np.abs(machine.dual_coef_[0])
    v = a * s
    return (a.sum() - 0.5 * v @ (G @ v)) / (C * len(y))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--program", default=str(ROOT / "target/release/dualgap"))
    parser.add_argument("--only", choices=["digits", "letter"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tolerance", default="1e-3")
    parser.add_argument("--one-function", action="store_true")
    arguments = parser.parse_args()
    sets = {"digits": digits, "letter": letters}
    for name, read in sets.items():
        if arguments.only not in (None, name):
            continue
        X, y, Z, z = read(arguments.data)
        n = len(y)
        half = (lambda y: y % 2) if name == "digits" else (lambda y: (y > 13).astype(int))
        two = (X, half(y), Z, half(z))
        for C in (1.0, 10.0):
            options = f"--c {C} --threads {arguments.threads} --tolerance {arguments.tolerance}"
            ours = dualgap(arguments.program, "binary", two, options)
            print(f"{name}, two classes, n = {n}, C = {C:g}")
            line = "  {:28} {:8.2f} s  test error {:6.2%}  vectors {:6}  primal {:.6f}  dual {:.6f}"
            vectors = ours["counters"]["support_vectors"]
            print(line.format("dualgap", ours["seconds"], ours["test"]["error"], vectors, ours["primal"], ours["dual"]))
            for cache in (200, 1074):
                machine, seconds, error = svc(two, C, cache)
                primal, dual = values(two[0], two[1], machine, C)
                print(line.format(f"SVC, with b, {cache} MB", seconds, error, len(machine.support_), primal, dual), flush=True)
            if arguments.one_function:
                print(f"  the optimum without b by LIBSVM: {one_function(two[0], two[1], C):.6f}")
            print(f"{name}, {len(np.unique(y))} classes, n = {n}, C = {C:g}")
            ours = dualgap(arguments.program, "multiclass", (X, y, Z, z), options)
            line = "  {:28} {:8.2f} s  test error {:6.2%}  vectors {:6}"
            print(line.format("dualgap", ours["seconds"], ours["test"]["error"], ours["counters"]["support_vectors"]))
            for cache in (200, 1074):
                machine, seconds, error = svc((X, y, Z, z), C, cache)
                print(line.format(f"SVC, one against one, {cache} MB", seconds, error, len(machine.support_)), flush=True)


if __name__ == "__main__":
    main()
