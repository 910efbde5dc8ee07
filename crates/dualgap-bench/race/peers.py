"""The other programs, each with the solvers that it has for a kind of problem.

A peer is made ready for a problem, which is not timed, and then is a function from a tolerance to weights, which is. Without a
tolerance it runs with its own defaults: tolerance and limit of iterations as its authors set them, the problem as it is.

    LinearSVC, LogisticRegression, LIBLINEAR                     C = 1/(lambda n), or 1/(sigma n)
    Lasso, ElasticNet, skglm's SparseLogisticRegression          alpha = lambda + sigma, l1_ratio = sigma/alpha
    Ridge                                                        alpha = lambda n
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .problems import Problem
from .sets import Set

#: From a tolerance, or None for the defaults, to weights.
Fit = Callable[[float | None], np.ndarray]
#: More than any run within the time limit takes.
ITERATIONS = 1_000_000
#: From this number of examples on, listening to what LIBLINEAR prints takes no time beside the run.
LARGE = 100_000
#: Methods that keep a matrix of all pairs of weights are not run with more weights than this: it would take gigabytes.
PAIRS = 10_000


@dataclass(frozen=True)
class Peer:
    """A solver of another program; `package` is its name in the registry."""

    name: str
    package: str
    kinds: tuple[str, ...]
    ready: Callable[[Set, Problem], tuple[Fit, str]]
    #: Whether the number of weights is limited as `PAIRS` says.
    pairs: bool = False
    #: Compiles itself at the first fit, which is made with a few rows before anything is timed.
    compiles: bool = False

    def version(self) -> str:
        """Return the version that is installed."""
        return importlib.metadata.version(self.package)

    def does_not_apply(self, data: Set) -> str:
        """Return why this solver is not run on a set, or nothing."""
        weights = data.d * (len(data.classes) if data.nature == "multiclass" else 1)
        if self.pairs and weights > PAIRS:
            return f"a matrix of {weights} by {weights} numbers"
        return ""


def estimator(make: Callable[[Problem, float], Any], form: str, **limits: int) -> Callable[[Set, Problem], tuple[Fit, str]]:
    """Return how an estimator of scikit-learn's kind is made ready; `make` is given the problem and n."""
    limits = limits or {"max_iter": ITERATIONS}

    def ready(data: Set, problem: Problem) -> tuple[Fit, str]:
        X, y = data.form(form), data.y
        shape = (len(data.classes), data.d) if data.nature == "multiclass" else (data.d,)

        def fit(tolerance: float | None) -> np.ndarray:
            model = make(problem, data.n)
            if tolerance is not None:
                model.set_params(tol=tolerance, **limits)
            return np.asarray(model.fit(X, y).coef_, dtype=float).reshape(shape)

        words = " ".join(repr(make(problem, data.n).set_params(**limits)).split())
        return fit, f"{words[:-1]}, tol=T)"

    return ready


def linear_svc(loss: str, dual: bool, **more: Any) -> Callable[[Problem, float], Any]:
    """Return scikit-learn's LinearSVC."""

    def make(problem: Problem, n: float) -> Any:
        from sklearn.svm import LinearSVC

        C = 1 / (problem.lam * n)
        return LinearSVC(C=C, loss=loss, dual=dual, fit_intercept=False, random_state=0, **more)

    return make


def logistic_regression(solver: str, **more: Any) -> Callable[[Problem, float], Any]:
    """Return scikit-learn's LogisticRegression, for l2 and l1, two classes and many."""

    def make(problem: Problem, n: float) -> Any:
        from sklearn.linear_model import LogisticRegression

        strength = problem.lam + problem.l1
        ratio = problem.l1 / strength
        return LogisticRegression(
            C=1 / (strength * n), l1_ratio=ratio, solver=solver, fit_intercept=False, random_state=0, **more
        )

    return make


def elastic_net(package: str, **more: Any) -> Callable[[Problem, float], Any]:
    """Return the Lasso or the ElasticNet of a package: scikit-learn, celer or skglm."""

    def make(problem: Problem, _: float) -> Any:
        module = importlib.import_module(package)
        alpha = problem.lam + problem.l1
        if problem.kind == "lasso":
            return module.Lasso(alpha=alpha, fit_intercept=False, **more)
        return module.ElasticNet(alpha=alpha, l1_ratio=problem.l1 / alpha, fit_intercept=False, **more)

    return make


def ridge(solver: str) -> Callable[[Problem, float], Any]:
    """Return scikit-learn's Ridge."""

    def make(problem: Problem, n: float) -> Any:
        from sklearn.linear_model import Ridge

        return Ridge(alpha=problem.lam * n, solver=solver, fit_intercept=False, random_state=0)

    return make


def celer_logistic(solver: str) -> Callable[[Problem, float], Any]:
    """Return celer's LogisticRegression."""

    def make(problem: Problem, n: float) -> Any:
        from celer import LogisticRegression

        return LogisticRegression(C=1 / (problem.l1 * n), solver=solver, fit_intercept=False)

    return make


def skglm_logistic(problem: Problem, _: float) -> Any:
    """Return skglm's SparseLogisticRegression."""
    from skglm import SparseLogisticRegression

    return SparseLogisticRegression(alpha=problem.l1, fit_intercept=False)


def skglm_svc(problem: Problem, n: float) -> Any:
    """Return skglm's LinearSVC."""
    from skglm import LinearSVC

    return LinearSVC(C=1 / (problem.lam * n), fit_intercept=False)


class Printed:
    """What C code prints to standard output meanwhile: the only place where LIBLINEAR says how many iterations it took."""

    def __enter__(self) -> Printed:
        self.file = tempfile.TemporaryFile()
        self.kept = os.dup(1)
        os.dup2(self.file.fileno(), 1)
        return self

    def __exit__(self, *_: object) -> None:
        import ctypes

        ctypes.CDLL(None).fflush(None)
        os.dup2(self.kept, 1)
        os.close(self.kept)
        self.file.seek(0)
        self.text = self.file.read().decode("utf-8", "replace")
        self.file.close()


def liblinear(solver: int) -> Callable[[Set, Problem], tuple[Fit, str]]:
    """Return how LIBLINEAR is made ready, its own form of the matrix included."""

    def ready(data: Set, problem: Problem) -> tuple[Fit, str]:
        from liblinear import liblinearutil

        form = liblinearutil.problem(data.y, data.form("csr"))
        options = f"-s {solver} -c {1 / ((problem.lam + problem.l1) * data.n):.17g} -B -1"

        def fit(tolerance: float | None) -> np.ndarray:
            limit = "" if tolerance is None else f" -e {tolerance:.17g}"
            if data.n < LARGE:
                model = liblinearutil.train(form, liblinearutil.parameter(f"{options}{limit} -q"))
            else:
                with Printed() as printed:
                    model = liblinearutil.train(form, liblinearutil.parameter(options + limit))
                fit.iterations = iterations(printed.text)  # type: ignore[attr-defined]
            return weights_of(model, data, many=solver == 4)

        return fit, f"train {options} -e T"

    return ready


def iterations(text: str) -> int | None:
    """Return how many iterations LIBLINEAR says it took."""
    found = re.findall(r"#iter\s*=\s*(\d+)", text) or re.findall(r"^iter\s+(\d+)", text, re.M)
    return int(found[-1]) if found else None


def weights_of(model: Any, data: Set, many: bool) -> np.ndarray:
    """Return LIBLINEAR's weights: for the class that the file has first, or a column for each class as they come in the file."""
    columns = model.nr_class if many else 1
    w = np.ctypeslib.as_array(model.w, shape=(model.nr_feature * columns,)).reshape(-1, columns).copy()
    w = np.pad(w, ((0, data.d - len(w)), (0, 0)))
    order = [model.label[k] for k in range(model.nr_class)]
    if many:
        return w[:, np.argsort(order)].T
    return w[:, 0] * (1.0 if order[0] == data.classes[-1] else -1.0)


def sklearn_peers() -> Iterator[Peer]:
    """Yield the solvers of scikit-learn."""
    name = "scikit-learn"

    def peer(words: str, kinds: str, make: Any, form: str = "rows", pairs: bool = False, **limits: int) -> Peer:
        return Peer(f"{name} {words}", name, tuple(kinds.split()), estimator(make, form, **limits), pairs)

    yield peer("LinearSVC", "hinge", linear_svc("hinge", dual=True))
    yield peer("LinearSVC, dual", "squared-hinge", linear_svc("squared_hinge", dual=True))
    yield peer("LinearSVC, primal", "squared-hinge", linear_svc("squared_hinge", dual=False))
    yield peer("LinearSVC, crammer_singer", "crammer-singer", linear_svc("hinge", True, multi_class="crammer_singer"))
    for solver in ("lbfgs", "newton-cg"):
        yield peer(f"LogisticRegression, {solver}", "logistic softmax", logistic_regression(solver))
    cholesky = logistic_regression("newton-cholesky")
    yield peer("LogisticRegression, newton-cholesky", "logistic softmax", cholesky, pairs=True)
    yield peer("LogisticRegression, liblinear", "logistic l1-logistic", logistic_regression("liblinear"))
    yield peer("LogisticRegression, liblinear dual", "logistic", logistic_regression("liblinear", dual=True))
    yield peer("coordinate descent", "lasso elastic-net", elastic_net("sklearn.linear_model"), "columns")
    gram = elastic_net("sklearn.linear_model", precompute=True)
    yield peer("coordinate descent, precompute", "lasso elastic-net", gram, "columns", pairs=True)
    yield peer("Ridge, cholesky", "ridge", ridge("cholesky"), pairs=True)
    for solver in ("svd", "lsqr", "sparse_cg", "sag", "saga"):
        yield peer(f"Ridge, {solver}", "ridge", ridge(solver))
    yield peer("LogisticRegression, sag", "logistic softmax", logistic_regression("sag"))
    yield peer("LogisticRegression, saga", "logistic softmax l1-logistic", logistic_regression("saga"))


def liblinear_peers() -> Iterator[Peer]:
    """Yield the solvers of LIBLINEAR."""
    for solver, kind, words in (
        (3, "hinge", "dual"),
        (1, "squared-hinge", "dual"),
        (2, "squared-hinge", "primal"),
        (0, "logistic", "primal"),
        (7, "logistic", "dual"),
        (6, "l1-logistic", "primal"),
        (4, "crammer-singer", "dual"),
    ):
        yield Peer(f"LIBLINEAR -s {solver}, {words}", "liblinear-official", (kind,), liblinear(solver))


def other_peers() -> Iterator[Peer]:
    """Yield the solvers of celer and skglm."""
    least_squares = ("lasso", "elastic-net")
    outer = {"max_iter": 10_000}  # of working sets; each has its own limit of epochs
    yield Peer("celer", "celer", least_squares, estimator(elastic_net("celer"), "columns", **outer))
    for solver in ("celer-pn", "celer"):
        ready = estimator(celer_logistic(solver), "columns", **outer)
        yield Peer(f"celer, {solver}", "celer", ("l1-logistic",), ready)
    yield Peer("skglm", "skglm", least_squares, estimator(elastic_net("skglm"), "columns", **outer), compiles=True)
    yield Peer("skglm", "skglm", ("l1-logistic",), estimator(skglm_logistic, "columns", **outer), compiles=True)
    yield Peer("skglm LinearSVC", "skglm", ("hinge",), estimator(skglm_svc, "columns", **outer), compiles=True)


#: Those that are often the fastest come first, because the others are then given up sooner.
PEERS = [*liblinear_peers(), *other_peers(), *sklearn_peers()]


def peers_of(problem: Problem) -> list[Peer]:
    """Return those that solve a kind of problem."""
    return [peer for peer in PEERS if problem.kind in peer.kinds]
