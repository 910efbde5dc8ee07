"""
The library behind the estimators. Its names may change without notice: use the package.
"""

from _typeshed import Incomplete, SupportsGetItem
from os import PathLike
from typing import Any, Final, SupportsIndex, final

__all__ = ["__version__", "Data", "Model", "Rows", "fit"]

__version__: Final[str]
"""
The version of the library.
"""

@final
class Data:
    """
    A data set to train on or to predict.
    """
    def __len__(self, /) -> int: ...
    @staticmethod
    def examples(rows: Rows, *, classes: Any | None = None, sets: SupportsGetItem[int, SupportsGetItem[int, SupportsIndex]] | None = None, numbers: Any | None = None, outputs: Incomplete | None = None, labels: SupportsGetItem[int, str] | None = None, weights: Any | None = None, features: SupportsGetItem[int, str] | None = None, constant: bool = False) -> Data:
        """
        Return independent examples: rows, and at most one kind of targets.

        `classes` are numbers of `labels`, `sets` are lists of such numbers, `numbers` has one number an example and
        `outputs` several, which are named by `labels`. `constant` appends a column of ones, which copies the rows.
        """
    def fingerprint(self, /) -> str:
        """
        The fingerprint of the data, as a model file has it.
        """
    @staticmethod
    def sequences(rows: Rows, starts: Any, *, classes: Any | None = None, labels: SupportsGetItem[int, str] | None = None, edges: Rows | None = None, weights: Any | None = None) -> Data:
        """
        Return sequences: sequence `i` has the rows `starts[i]..starts[i + 1]`, each with a number of `labels` if there
        are `classes`. `edges` has a row of features of the pair of a position and the one before.
        """

@final
class Model:
    """
    A fitted model with its certificate.
    """
    def __reduce__(self, /) -> tuple[Any, tuple]: ...
    @property
    def arrays(self, /) -> dict:
        """
        The arrays that the weights consist of, by the names that they have in the model file.
        """
    @property
    def certificate(self, /) -> Any:
        """
        The certificate of the weights, as a dict.
        """
    def certify(self, /, data: Data) -> dict:
        """
        Recompute the certificate from the training data, without trusting a number of the model.

        Returns a dict of the certificate, and of whether its dual value rests on a `witness` or on the `word` of the run.
        """
    def describe(self, /) -> list[tuple[str, str]]:
        """
        The problem in words: pairs of a name and a value.
        """
    def evaluate(self, /, data: Data, threads: SupportsIndex = 0) -> float:
        """
        Return the error on labelled data, by which the program compares models.
        """
    @property
    def features(self, /) -> list[str]:
        """
        The names of the features; empty if they have none.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Model:
        """
        Read the bytes of a model file.
        """
    @property
    def has_witness(self, /) -> bool:
        """
        Whether the dual point behind the certificate is there.
        """
    @property
    def labels(self, /) -> list[str]:
        """
        The names of the labels; empty for numbers.
        """
    @staticmethod
    def load(path: str | PathLike[str]) -> Model:
        """
        Read a model file.
        """
    def predict(self, /, data: Data, threads: SupportsIndex = 0) -> Any:
        """
        Predict every example of the data.
        """
    def probabilities(self, /, data: Data, threads: SupportsIndex = 0) -> Any:
        """
        Return the probabilities of the labels, a column for each, or for two classes that of the second.
        """
    @property
    def provenance(self, /) -> Any:
        """
        How the model was made, as a dict.
        """
    @property
    def sample_weights(self, /) -> Incomplete | None:
        """
        The weight of each training example, or `None` if all are the same.
        """
    def save(self, /, path: str | PathLike[str], witness: bool = True) -> None:
        """
        Write a model file, atomically.
        """
    def scores(self, /, data: Data, threads: SupportsIndex = 0) -> Any:
        """
        Return the scores behind the predictions, a column for every label or output.
        """
    @property
    def structure(self, /) -> str:
        """
        The name of the structure.
        """
    @property
    def task(self, /) -> Any:
        """
        The task as the model file has it.
        """
    def to_bytes(self, /, witness: bool = True) -> bytes:
        """
        Return the bytes of a model file, with or without the dual point behind the certificate.
        """
    @property
    def width(self, /) -> int:
        """
        The number of features of a row.
        """

@final
class Rows:
    """
    Rows of numbers, dense or sparse, that share the memory of the arrays they were made from.
    """
    def __len__(self, /) -> int: ...
    @staticmethod
    def csr(indptr: Any, indices: Any, values: Incomplete, width: SupportsIndex) -> Rows:
        """
        Return compressed sparse rows.

        The float64 values are not copied, nor are int32 indices; int64 indices are checked and narrowed.
        """
    @staticmethod
    def dense(values: Incomplete) -> Rows:
        """
        Return the rows of a two-dimensional float64 array in row-major order, without a copy.
        """
    @property
    def width(self, /) -> int:
        """
        The number of columns.
        """

def fit(structure: str, data: Data, request: str, arrays: dict, *, warm_start: Model | None = None, watch: Data | None = None, callback: Any | None = None) -> tuple:
    """
    Train a model.

    Returns the model, a report as a dict, and the exception of a signal that ended the run early, if there was one.
    """
