"""LIBLINEAR on the rows that `dualgap-bench generated --write FILE` has written: seconds an iteration, and until 1 % is reached.

    pip install scikit-learn
    python crates/dualgap-bench/generated.py FILE

The same problem as in the benchmark: the hinge, lambda = 1/n, no intercept, LIBLINEAR's dual coordinate descent (`LinearSVC`). It says how
long a number of iterations takes, but not how near the optimum is: the gap is computed here, from the weights and the best dual value known.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.svm import LinearSVC

warnings.filterwarnings("ignore")
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("file")
parser.add_argument("--iterations", type=int, default=8)
arguments = parser.parse_args()
X, y = load_svmlight_file(arguments.file)
X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
n = len(y)


def fit(iterations):
    svm = LinearSVC(loss="hinge", C=1.0, fit_intercept=False, tol=1e-12, max_iter=iterations, random_state=0)
    start = time.process_time()
    svm.fit(X, y)
    return time.process_time() - start, svm.coef_.ravel()


def primal(w):
    return np.maximum(0.0, 1.0 - y * (X @ w)).mean() + (w @ w) / (2 * n)


once, _ = fit(1)
several, w = fit(1 + arguments.iterations)
each = (several - once) / arguments.iterations
print(f"  LIBLINEAR: {arguments.iterations} iterations {several - once:.3f} s, each {each:.4f} s; preparing and the first {once:.3f} s")
_, best = fit(60)
optimum = primal(best)
for iterations in range(1, 41):
    seconds, w = fit(iterations)
    if primal(w) <= 1.01 * optimum:
        print(f"  LIBLINEAR: the primal value within 1 % after {iterations} iterations, {seconds:.3f} s, proved by nobody")
        break
