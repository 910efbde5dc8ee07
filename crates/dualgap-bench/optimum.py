"""Who is at the optimum: popular estimators with their default tolerances, and how far above the optimum of their own
problem each of them ended, as dualgap proves it.

    python crates/dualgap-bench/optimum.py --data FOLDER

FOLDER has the LIBSVM files a9a.gz, reuters_corpacq.train.gz and rcv1_vw_small.train.gz; two data sets come with
scikit-learn. The table is printed as Markdown.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.datasets import load_breast_cancer, load_digits, load_svmlight_file
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import dualgap

ESTIMATORS: list[tuple[str, Any]] = [
    ("`LinearSVC()`", LinearSVC(random_state=0)),
    ('`LinearSVC(loss="hinge")`', LinearSVC(loss="hinge", random_state=0)),
    ("`LogisticRegression()`", LogisticRegression()),
    ('`LogisticRegression(solver="saga")`', LogisticRegression(solver="saga", random_state=0)),
    ('`LogisticRegression(solver="liblinear", l1_ratio=1)`', LogisticRegression(solver="liblinear", l1_ratio=1.0)),
    ("`SGDClassifier()`", SGDClassifier(random_state=0)),
    ('`SGDClassifier(loss="log_loss")`', SGDClassifier(loss="log_loss", random_state=0)),
    ("`RidgeClassifier()`", RidgeClassifier()),
    ("`Lasso(alpha=0.001)`", Lasso(alpha=0.001)),
    ("`ElasticNet(alpha=0.001)`", ElasticNet(alpha=0.001)),
]


def data_sets(folder: Path) -> list[tuple[str, Any, np.ndarray]]:
    """Return names, rows and labels of -1 and 1."""
    cancer = load_breast_cancer()
    digits = load_digits()
    found = [
        ("breast cancer", StandardScaler().fit_transform(cancer.data), np.where(cancer.target == 1, 1.0, -1.0)),
        ("digits, odd or even", digits.data / 16.0, np.where(digits.target % 2 == 1, 1.0, -1.0)),
    ]
    for name, file in [("a9a", "a9a.gz"), ("reuters", "reuters_corpacq.train.gz"), ("rcv1", "rcv1_vw_small.train.gz")]:
        path = folder / file
        if not path.exists():
            sys.exit(f"{path} is not there: --data names the folder of the LIBSVM files")
        X, y = load_svmlight_file(str(path))
        # scikit-learn reads indices of 64 bits, and LinearSVC asks for 32.
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        found.append((name, X, np.where(y > 0, 1.0, -1.0)))
    return found


def two_digits(value: float, rounding: str) -> str:
    """Return two digits of a bound, rounded so that it stays one."""
    exact = Decimal(value)
    return f"{exact.quantize(Decimal((0, (1,), exact.adjusted() - 1)), rounding=rounding):.2g}"


def cell(proof: dualgap.Appraisal) -> str:
    """Return the interval of a proof, as a share of the objective."""
    most = two_digits(100 * proof.relative_at_most, ROUND_CEILING)
    if proof.at_least == 0.0:
        return f"≤ {most} %"
    return f"{two_digits(100 * proof.relative_at_least, ROUND_FLOOR)} … {most} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the LIBSVM files")
    parser.add_argument("--time", type=float, default=60.0, help="the most seconds for each proof [60]")
    args = parser.parse_args()
    sets = data_sets(args.data)
    print(f"scikit-learn {sklearn.__version__}, dualgap {dualgap.__version__}\n")
    print("| | " + " | ".join(f"{name} ({X.shape[0]:,} × {X.shape[1]:,})" for name, X, _ in sets) + " |")
    print("| --- |" + " --- |" * len(sets))
    for name, estimator in ESTIMATORS:
        cells = []
        for data, X, y in sets:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = estimator.fit(X, y)
            # An estimator that warned has said itself that it is not there.
            said = " *" if any("onverge" in str(warning.message) for warning in caught) else ""
            begin = time.perf_counter()
            proof = dualgap.certify(model, X, y, passes=None, time=args.time)
            took = time.perf_counter() - begin
            print(f"{name} on {data}: {proof} [{took:.1f} s, {proof.passes:.0f} passes]", file=sys.stderr)
            cells.append(cell(proof) + said)
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
