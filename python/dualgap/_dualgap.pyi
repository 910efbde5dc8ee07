"""
The library behind the estimators. Its names may change without notice: use the package.
"""

from _typeshed import Incomplete, SupportsGetItem
from os import PathLike
from typing import Any, Final, SupportsFloat, SupportsIndex, final

__all__ = ["__version__", "Course", "Data", "Interrupt", "Model", "Position", "Reach", "Rows", "Shard", "Whole", "add_parts", "appraise", "assemble", "check_oracle", "column_recipe", "cross_validate", "fit", "grid_path", "keep_pages", "mapped_bytes", "path", "read_libsvm", "usual_min_count"]

__version__: Final[str]
"""
The version of the library.
"""

@final
class Course:
    """
    The κ and σ' of the rounds.
    """
    def __new__(cls, /, shards: SupportsIndex, state: str | None = None) -> Course:
        """
        Return the course at its beginning, for so many shards; or from the state of another one, as JSON.
        """
    @property
    def share(self, /) -> float:
        """
        λ/λ' of the next round.
        """
    @property
    def sigma(self, /) -> float:
        """
        σ' of the next round.
        """
    def state(self, /) -> str:
        """
        Return the state as JSON.
        """
    def step(self, /, whole: Whole, at: Position, change: bytes) -> tuple[float, float, float]:
        """
        Go the best share of the change of all shards; return it, and λ/λ' of the round and of the next one.
        """

@final
class Data:
    """
    A data set to train on or to predict.
    """
    def __len__(self, /) -> int: ...
    def about(self, /) -> dict:
        """
        Return what the other shards must know of the data of one.
        """
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
    def in_common(self, /, width: SupportsIndex, labels: SupportsGetItem[int, str], features: SupportsGetItem[int, str], *, constant: bool = False) -> Data:
        """
        Return the data with the columns and labels of all shards, and with the features of these names if they have any.
        """
    @staticmethod
    def matchings(rows: Rows, sizes: SupportsGetItem[int, tuple[SupportsIndex, SupportsIndex]], edges: Incomplete, starts: Any, *, marks: Any | None = None, weights: Any | None = None, features: SupportsGetItem[int, str] | None = None) -> Data:
        """
        Return graphs: graph `i` has the numbers of rows and columns `sizes[i]` and the edges `starts[i]..starts[i + 1]`,
        each with a row of features and, if there are `marks`, 0 for no link, 1 for a possible one and 2 for a sure one.
        """
    @staticmethod
    def own(inputs: SupportsGetItem[int, Any], *, keys: SupportsGetItem[int, Any] | None = None, outputs: SupportsGetItem[int, Any] | None = None, weights: SupportsGetItem[int, SupportsFloat | SupportsIndex] | None = None) -> Data:
        """
        Return inputs of a Python oracle, with outputs if there are any. The content of an input is that of its key.
        """
    def print_part(self, /, before: SupportsGetItem[int, SupportsIndex], total: SupportsGetItem[int, SupportsIndex]) -> bytes:
        """
        Return a shard's part of the fingerprint of all shards. `before` are the sizes of the shards before this one and `total`
        those of all.
        """
    @staticmethod
    def ratings(users: Any, items: Any, user_names: SupportsGetItem[int, str], item_names: SupportsGetItem[int, str], *, values: Any | None = None, weights: Any | None = None) -> Data:
        """
        Return ratings: rating `k` is `values[k]`, of `item_names[items[k]]` by `user_names[users[k]]`. Without `values`
        they are pairs to predict.
        """
    @staticmethod
    def read(structure: str, source: bytes | bytearray | str | PathLike[str], request: str, *, purpose: str = "train", names_of: Model | None = None, weights: Any | None = None, threads: SupportsIndex = 0) -> tuple[Data, dict]:
        """
        Read data as the program does, from a path or from the bytes of a file.

        `request` is JSON, `{"structure": …, "recipe": …}` in the forms that a model file has; without a recipe the format
        is guessed. To `train` a file must have targets; a `shard` is read to train on together with others; to `test` or to `predict` it is read with the
        names of the model `names_of`. `weights` are those of the examples. Returns the data, and a dict of the completed `recipe`, of whether they are `labelled`, and of what is
        `unseen` by the model.
        """
    @staticmethod
    def sequences(rows: Rows, starts: Any, edges: Rows | None = None, *, classes: Any | None = None, labels: SupportsGetItem[int, str] | None = None, weights: Any | None = None, features: SupportsGetItem[int, str] | None = None) -> Data:
        """
        Return sequences: sequence `i` has the rows `starts[i]..starts[i + 1]`, each with a number of `labels` if there
        are `classes`. `edges` has a row of features of the pair of a position and the one before; `features` names those of
        positions, and then those of pairs.
        """
    def sizes(self, /) -> list[int]:
        """
        Return the sizes of a shard that the fingerprint of all shards needs: the number of examples, and others.
        """

@final
class Interrupt:
    """
    A flag that ends the runs that were given it, from any thread.

    Signals reach only the main thread, which raises this for runs in others.
    """
    def __new__(cls, /) -> Interrupt:
        """
        Return a flag that is not raised.
        """
    def set(self, /) -> None:
        """
        End the runs, and those that begin with this flag.
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
    @property
    def constants(self, /) -> list[tuple[str, str, float]]:
        """
        What predictions depend on besides the weights: a kind, a name and a number each.
        """
    @property
    def costs(self, /) -> Any | None:
        """
        The costs of mistakes, a row for every true class, or `None` if all cost 1.
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
    def figures(self, /, data: Data, threads: SupportsIndex = 0) -> Any:
        """
        Return all figures of the comparison with labelled data, as a dict.
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
    def predict_file(self, /, source: bytes | bytearray | str | PathLike[str], out: str | PathLike[str], threads: SupportsIndex = 0) -> Any:
        """
        Write the predictions for a file, as the program does; return what the model did not see in training.
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
    def support(self, /) -> tuple | None:
        """
        The training inputs that have coefficients, for a model under a kernel: which ones they are, and the rows, as an
        array or as the three arrays of the CSR form.
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
    def weighted(self, /) -> list[str]:
        """
        The names of what a feature has weights for: the labels, the outputs, or the items.
        """
    @property
    def width(self, /) -> int:
        """
        The number of features of a row.
        """
    def with_oracle(self, /, oracle: Any, *, trusted: bool = False) -> Model:
        """
        Return the model with what its file has no room for: a Python object that is the `oracle`. Unless `trusted`, the
        outputs in its witness count only if the oracle admits them.
        """

@final
class Position:
    """
    Where all shards are: v, the weights, and the centre of the next round.
    """
    def __new__(cls, /, whole: Whole, v: bytes) -> Position:
        """
        Return the position at this v, with the centre at its weights.
        """
    @staticmethod
    def from_bytes(bytes: bytes) -> Position:
        """
        Return a position from its bytes.
        """
    def go(self, /, whole: Whole, change: bytes, to: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex]) -> None:
        """
        Go the share γ of a change after a round, where λ/λ' was `share` and will be `next`.
        """
    def rest(self, /) -> None:
        """
        Take the momentum away.
        """
    def settle(self, /, v: bytes) -> None:
        """
        Replace v by the one that was rebuilt from the points.
        """
    def to_bytes(self, /) -> bytes:
        """
        Return the position as bytes.
        """
    def v(self, /) -> bytes:
        """
        Return v as bytes.
        """
    def weights(self, /) -> bytes:
        """
        Return the weights that the last round has ended at, as bytes.
        """

@final
class Reach:
    """
    What one model and its dual point prove at every λ; see the library's `Reach`.
    """
    def __getnewargs__(self, /) -> tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float], bool, str]: ...
    def __new__(cls, /, fixed: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex], square: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex], dual: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex], conjugate: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex], certified: bool, basis: str) -> Reach:
        """
        Restore a pickled one.
        """
    def certificate(self, /, lam: SupportsFloat | SupportsIndex) -> Any:
        """
        Return the certificate of the model at a λ, as a dict.
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

@final
class Shard:
    """
    Some of the examples, with their dual points.
    """
    def __new__(cls, /, structure: str, data: Data, request: str, arrays: dict, total: SupportsFloat | SupportsIndex) -> Shard:
        """
        Return a shard of these data, whose task is a request as `fit` has it. The examples of all shards weigh `total`.
        """
    def apply(self, /, gamma: SupportsFloat | SupportsIndex) -> None:
        """
        Go this share of the last round.
        """
    def dim(self, /) -> int:
        """
        Return the number of weights.
        """
    def dual(self, /) -> bytes:
        """
        Return the shard's part of the dual value and of v, as bytes.
        """
    def losses(self, /, w: bytes) -> bytes:
        """
        Return the losses at these weights, as bytes.
        """
    def restore(self, /, state: bytes | bytearray) -> None:
        """
        Go on from a state.
        """
    def round(self, /, at: Position, share: SupportsFloat | SupportsIndex, sigma: SupportsFloat | SupportsIndex, passes: SupportsIndex) -> bytes:
        """
        Take steps for so many passes around the position of all shards, where `share` is λ/λ'; return the change as bytes.
        """
    def state(self, /) -> bytes:
        """
        Return the state from which another shard of the same examples goes on.
        """
    def witness(self, /) -> list[bytes]:
        """
        Return the dual points: how many entries each example has, their keys and their weights, and the outputs that keys of an
        oracle of one's own are places in, all as bytes.
        """

@final
class Whole:
    """
    The problem of all shards, without their examples.
    """
    def __new__(cls, /, structure: str, request: str, arrays: dict, total: SupportsFloat | SupportsIndex) -> Whole:
        """
        Return the problem of a request as `fit` has it, for examples that weigh `total`.
        """
    def dual(self, /, sum: bytes) -> tuple[tuple[float, float], bytes]:
        """
        Return the dual value with its error, and v as bytes, of the sum of the shards' parts.
        """
    @property
    def lam(self, /) -> float:
        """
        The strength of the penalty.
        """
    def primal(self, /, w: bytes, sum: bytes) -> tuple[tuple[float, float], bool]:
        """
        Return the primal value with its error, and whether it is a bound, at these weights and the sum of their losses.
        """
    def weights(self, /, v: bytes) -> bytes:
        """
        Return the weights at this v, both as bytes.
        """

def add_parts(kind: str, parts: SupportsGetItem[int, bytes | bytearray]) -> bytes:
    """
    Add what shards have sent, in their order: "change", "dual" or "losses".
    """

def appraise(structure: str, data: Data, request: str, arrays: dict, weights: SupportsGetItem[int, SupportsFloat | SupportsIndex], *, callback: Any | None = None) -> tuple:
    """
    Prove how far from the optimum of a problem weights are, whoever made them.

    The weights are in the order of the structure: for classes, one for each label of the first feature, then of the
    second. Returns the bounds as a dict, and the exception of a signal or of the callback that ended the run
    early, if there was one.
    """

def assemble(structure: str, any: Data, request: str, arrays: dict, total: SupportsFloat | SupportsIndex, outcome: dict) -> Model:
    """
    Make an ordinary model of what rounds on shards have ended with.

    `any` are examples with the columns and labels of the shards; `outcome` has the weights `w`, the sum of their `losses`, the
    `dual` value with its error, the `witness` of every shard, and what the run was.
    """

def check_oracle(description: str, oracle: Any, data: Data, *, draws: SupportsIndex, seed: SupportsIndex, all_outputs: Any | None = None, some_outputs: Any | None = None) -> dict:
    """
    Check an oracle on labelled data; see the library's `check_own_oracle`.

    Returns how many outputs were decoded, how many of them no known output is better than, how many pairs were looked at,
    and the breaches: the example, the clause, and how it is broken.
    """

def column_recipe(*, preset: str | None = None, templates: str | None = None, name: str = "the templates") -> Any:
    """
    Return the recipe of a column file, as a dict: with the features of a preset, or with templates, which are checked.
    """

def cross_validate(structure: str, data: Data, request: str, arrays: dict, values: SupportsGetItem[int, str], folds: SupportsIndex | SupportsGetItem[int, SupportsIndex], *, over: str = "lambda", count: SupportsIndex | None = None, seed: SupportsIndex = 0, callback: Any | None = None) -> dict:
    """
    Try every number of a grid on every fold.

    `values` are numbers, multiples of 1/n or fractions of the largest l1 as text, of what the grid is `over`: `lambda`, `l1` or
    `radius`. With a `count`, they are the two ends of a grid of so many on a logarithmic scale; without any, the grid is
    the one that suits the data. `folds` are a number of folds, which are dealt by the `seed`, or the fold of each example. The
    `callback` receives the numbers of the runs that have ended and of all, and ends the search by returning `True`.

    Returns a dict of what was found.
    """

def fit(structure: str, data: Data, request: str, arrays: dict, *, warm_start: Model | None = None, watch: Data | None = None, callback: Any | None = None, interrupt: Interrupt | None = None) -> tuple:
    """
    Train a model.

    Returns the model, a report as a dict, and the exception of a signal or of the callback that ended the run early, if
    there was one.
    """

def grid_path(structure: str, data: Data, request: str, arrays: dict, over: str, values: SupportsGetItem[int, str], *, count: SupportsIndex | None = None, callback: Any | None = None) -> tuple:
    """
    Train a model at every number of a grid, from the simplest on. `values` and `count` are as in `cross_validate`.

    Returns the models with their reports; why the path ended early, or None; and the exception of a signal or of the callback
    that ended it, if there was one.
    """

def keep_pages(most: SupportsIndex, idle: SupportsFloat | SupportsIndex = 5.0) -> None:
    """
    Drop the pages of all mapped files whenever this process has more than `most` bytes of memory. It goes on until no file has been mapped
    for `idle` seconds; another call changes the limit. Does nothing on systems that do not tell how much memory a process has.
    """

def mapped_bytes() -> int:
    """
    Return how many bytes of files this process has mapped.
    """

def path(structure: str, data: Data, request: str, arrays: dict, low: str, high: str, *, callback: Any | None = None) -> tuple:
    """
    Compute a path between `low` and `high`, which are numbers or multiples of 1/n as text. Either may be the larger.

    Returns the pieces, each as a tuple of the model, its report, the ends of its interval and its `Reach`; a dict that
    says how much is covered; and the exception of a signal or of the callback that ended the path early, if there was one.
    """

def read_libsvm(path: str | PathLike[str], threads: SupportsIndex) -> tuple[Incomplete, Incomplete, Incomplete, int, Incomplete]:
    """
    Read a LIBSVM file, plain or compressed, as the program does: return the starts, columns and values of its rows, the number of
    columns, and the number that each line begins with.
    """

def usual_min_count(tokens: SupportsIndex) -> int:
    """
    Return how often a feature must occur in so many tokens if nothing is said about it.
    """
