"""The data sets of the race: those of a folder, and those that are generated here.

A set is one LIBSVM file, which dualgap reads, and the same numbers as a sparse matrix, which the others get. Files of the folder that
are in LIBSVM's format are taken as they are, compressed or not. All others are written once, under the folder of the race, and read
back from there, so that all programs see the same digits.
"""

from __future__ import annotations

import functools
import gzip
import pathlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

#: From this share of nonzeros on, programs that take dense arrays get one: it is then the faster form.
DENSE = 0.2


@dataclass(frozen=True)
class Source:
    """Where a set comes from: a LIBSVM file of the data folder, or a function that makes matrix and labels."""

    name: str
    nature: str  # binary, multiclass or regression
    libsvm: str = ""
    make: Callable[[pathlib.Path], tuple[Any, Any]] | None = None
    #: Kinds of problems to which the set is confined; all of its nature without it.
    only: tuple[str, ...] = ()


@dataclass
class Set:
    """A data set in memory, in every form that a program wants it in; forms are made before anything is timed."""

    name: str
    nature: str
    path: pathlib.Path
    X: Any
    y: np.ndarray
    only: tuple[str, ...] = ()
    _forms: dict[str, Any] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """Return the number of examples."""
        return self.X.shape[0]

    @property
    def d(self) -> int:
        """Return the number of features."""
        return self.X.shape[1]

    @functools.cached_property
    def classes(self) -> np.ndarray:
        """Return the labels in ascending order."""
        return np.unique(self.y)

    @property
    def is_dense(self) -> bool:
        """Return whether programs that take dense arrays get one."""
        return self.X.nnz >= DENSE * self.n * self.d

    def form(self, name: str) -> Any:
        """Return the matrix: `csr`, or `rows` and `columns`, dense in that order or else sparse."""
        if name not in self._forms:
            dense = self.is_dense and name != "csr"
            made = {
                ("csr", False): lambda: self.X,
                ("rows", False): lambda: self.X,
                ("columns", False): lambda: self.X.tocsc(),
                ("rows", True): lambda: np.ascontiguousarray(self.X.toarray()),
                ("columns", True): lambda: np.asfortranarray(self.X.toarray()),
            }
            self._forms[name] = made[name, dense]()
        return self._forms[name]


def covtype(folder: pathlib.Path) -> tuple[Any, Any]:
    """Class 2, the largest, against the rest."""
    with gzip.open(folder / "covtype" / "covtype.data.gz", "rb") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float64)
    return sparse.csr_matrix(table[:, :-1]), np.where(table[:, -1] == 2, 1, -1)


def covtype_unit(folder: pathlib.Path) -> tuple[Any, Any]:
    """The same with rows of length one, rounded to what single precision has."""
    X, y = covtype(folder)
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return rounded(sparse.diags(1.0 / lengths) @ X), y


def digits(folder: pathlib.Path) -> tuple[Any, Any]:
    """Pixels from 0 to 16 as they are."""
    table = np.loadtxt(gzip.open(folder / "digits" / "digits.csv.gz", "rt"), delimiter=",")
    return sparse.csr_matrix(table[:, :-1]), table[:, -1].astype(int)


def rounded(X: Any) -> Any:
    """Return a matrix whose numbers have seven digits: a file has no more."""
    X = sparse.csr_matrix(X)
    X.data = np.array([f"{value:.7g}" for value in X.data], dtype=np.float64)
    return X


def raw_columns(n: int, d: int, seed: int) -> np.ndarray:
    """Correlated columns as they come: a few common causes, offsets, and units from hundredths to thousands."""
    random = np.random.default_rng(seed)
    causes = max(2, d // 6)
    X = random.standard_normal((n, causes)) @ random.standard_normal((causes, d)) / np.sqrt(causes)
    X = X + 0.3 * random.standard_normal((n, d)) + random.uniform(0, 2, d)
    return X * 10.0 ** random.uniform(-2, 3, d)


def standardised(X: np.ndarray) -> np.ndarray:
    """Return the columns that a teacher sees, so that all of them matter."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def raw_binary(n: int, d: int, seed: int) -> Callable[[pathlib.Path], tuple[Any, Any]]:
    """Two classes, drawn from a logistic model of raw columns."""

    def make(_: pathlib.Path) -> tuple[Any, Any]:
        X, random = raw_columns(n, d, seed), np.random.default_rng(seed + 1)
        scores = standardised(X) @ (random.standard_normal(d) * (random.random(d) < 0.5)) * 3 / np.sqrt(d)
        return rounded(X), np.where(random.random(n) < 1 / (1 + np.exp(-2 * scores)), 1, -1)

    return make


def raw_classes(n: int, d: int, classes: int, seed: int) -> Callable[[pathlib.Path], tuple[Any, Any]]:
    """Many classes, drawn from a softmax of raw columns."""

    def make(_: pathlib.Path) -> tuple[Any, Any]:
        X, random = raw_columns(n, d, seed), np.random.default_rng(seed + 1)
        scores = standardised(X) @ random.standard_normal((d, classes)) * 2 / np.sqrt(d)
        return rounded(X), (scores + random.gumbel(size=scores.shape)).argmax(axis=1)

    return make


def raw_numbers(n: int, d: int, seed: int) -> Callable[[pathlib.Path], tuple[Any, Any]]:
    """Numbers that depend on a third of raw columns."""

    def make(_: pathlib.Path) -> tuple[Any, Any]:
        X, random = raw_columns(n, d, seed), np.random.default_rng(seed + 1)
        w = random.standard_normal(d) * (random.random(d) < 1 / 3)
        y = standardised(X) @ w + 0.5 * random.standard_normal(n)
        return rounded(X), np.round(10 + 3 * y, 4)

    return make


def scattered(n: int, d: int, nonzeros: int, seed: int) -> Callable[[pathlib.Path], tuple[Any, Any]]:
    """Rows of a few nonzeros anywhere: more weights than a cache holds, and no two neighbours alike."""

    def make(_: pathlib.Path) -> tuple[Any, Any]:
        random = np.random.default_rng(seed)
        columns = np.sort(random.integers(0, d, (n, nonzeros)), axis=1)
        values = np.round(random.standard_normal((n, nonzeros)) / np.sqrt(nonzeros), 4)
        X = sparse.csr_matrix((values.ravel(), columns.ravel(), np.arange(0, n * nonzeros + 1, nonzeros)), shape=(n, d))
        X.sum_duplicates()
        scores = X @ random.standard_normal(d)
        return X, np.where(scores + 0.5 * random.standard_normal(n) > 0, 1, -1)

    return make


HINGE = ("hinge",)

#: In the order of the race: small sets first, so that a table has most of its rows soon.
SOURCES = [
    Source("heart_scale", "binary", "heart_scale"),
    Source("housing_scale", "regression", "housing_scale"),
    Source("duke", "binary", "duke"),
    Source("raw-62x2000", "binary", make=raw_binary(62, 2000, 40)),
    Source("rcv1_vw_small", "binary", "rcv1_vw_small.train"),
    Source("reuters_corpacq", "binary", "reuters_corpacq.train"),
    Source("raw-6400x36", "regression", make=raw_numbers(6400, 36, 30)),
    Source("raw-4601x57", "binary", make=raw_binary(4601, 57, 10)),
    Source("digits", "multiclass", make=digits),
    Source("raw-7494x16", "multiclass", make=raw_classes(7494, 16, 10, 20)),
    Source("raw-4435x36", "multiclass", make=raw_classes(4435, 36, 6, 22)),
    Source("a9a", "binary", "a9a"),
    Source("ijcnn1", "binary", "ijcnn1"),
    Source("letter", "multiclass", "letter.scale"),
    Source("news20", "multiclass", "news20"),
    Source("scattered-1e5", "binary", make=scattered(10**5, 10**5, 20, 50), only=HINGE),
    Source("covtype-unit", "binary", make=covtype_unit),
    Source("covtype-raw", "binary", make=covtype),
    Source("scattered-1e6", "binary", make=scattered(10**6, 10**5, 20, 51), only=HINGE),
]


def load(source: Source, folder: pathlib.Path, made: pathlib.Path) -> Set:
    """Read a set, after writing its file if it is one that is made; `made` is the folder for those."""
    from sklearn.datasets import dump_svmlight_file, load_svmlight_file

    if source.make is None:
        path = folder / "libsvm" / source.libsvm
        path = path if path.exists() else path.with_name(path.name + ".gz")
        if not path.exists():
            raise SystemExit(f"{path} is missing: DATA must have the file, compressed with gzip or not")
    else:
        path = made / f"{source.name}.svm"
        if not path.exists():
            made.mkdir(parents=True, exist_ok=True)
            X, y = source.make(folder)
            unfinished = path.with_suffix(".part")
            dump_svmlight_file(X, y, str(unfinished), zero_based=False)
            unfinished.rename(path)
    X, y = load_svmlight_file(str(path), zero_based=False)
    # Most of the peers want 32 bits, whatever the reader took.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return Set(source.name, source.nature, path, X, y, source.only)
