"""Structures of your own: an oracle in Python, trained to a certified optimum."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from . import _dualgap
from ._base import CertifiedEstimator


class Decoded(NamedTuple):
    """What an oracle returns if its output may not be the best one.

    Parameters
    ----------
    output : number, str, bytes, or a tuple of them
        The best output that was found.
    bound : float or None
        A number that no output scores higher than, with the loss in the score if there is a truth: the bound of a
        relaxation, say. The certificate rests on it. None if nothing is known: a run is then reported as uncertified,
        unless the oracle has a `quality`.
    """

    output: Any
    bound: float | None


class Oracle(Protocol):
    """What `StructuredSVM` asks of an oracle: the dimension, and three methods. No class needs to derive from this one.

    An output is a number, a string, bytes, or a tuple of outputs; lists and arrays are taken for tuples, and come back
    as such. Model files store outputs as they are, never as pickles, so that files of strangers are safe to read. An
    input is any object. The fingerprint of the data needs its content: numbers, strings, bytes, lists, tuples, dicts,
    sets, arrays, sparse matrices and dataclasses have one, and for others the oracle has a method ``key(x)``.

    Optional methods and attributes are

    ``decode_batch(w, xs, truths)``
        Returns a list with what `decode` returns for each input; `truths` is None for predictions. It is called where
        several inputs are decoded at the same weights: certifications, predictions, and mini-batches
        (``solver_options={"batch": 32}``).
    ``decode_slack(w, x, truth)``
        Returns the y with the largest ``loss(truth, y) * (1 + w @ features(x, y) - w @ features(x, truth))``, for
        ``rescale="slack"``. The bound of a `Decoded` bounds this product.
    ``admits(x, y)``
        Tells whether y is an output of x. Needed to verify the certificate of a model file, which may say anything, and
        to start from a model of a file or of other data.
    ``key(x)``
        Returns a string, bytes, or anything else that has content, another one for another input.
    ``extent(x)``
        Returns the largest number of features, sum of their absolute values and loss of any output, as a tuple. The
        rounding of all outputs is then part of the error bound, and not only that of the one that was found.
    ``radius(x)``
        Returns a bound on the Euclidean norm of features, for the steps of Prox-SDCA.
    ``quality``
        ``{"additive": delta}`` if no output is better than the decoded one by more than delta, or
        ``{"multiplicative": nu}`` if its gap is at least nu times the largest, for outputs without a bound.
    ``work``
        How many multiplications a call of `decode` takes the time of, as a number or a method of x; a million, about a
        millisecond, if absent. The dearer it is, the more steps are taken on outputs that were found before.
    ``name``, ``params``
        What the model file says of the oracle: the name of the class, and nothing, if absent. `params` is made of what
        JSON has.
    """

    dim: int

    def features(self, x: Any, y: Any) -> Any:
        """Return phi(x, y): an array of length `dim`, a pair (indices, values), a dict of them, or a sparse row."""
        ...

    def loss(self, truth: Any, y: Any) -> float:
        """Return what y costs where `truth` is right: zero for the truth, and nowhere negative."""
        ...

    def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
        """Return the y with the largest ``w @ features(x, y)``, plus ``loss(truth, y)`` if there is a truth.

        An output of its own is claimed to be the best. Return a `Decoded` if it may not be.
        """
        ...


def described(oracle: Any) -> dict[str, Any]:
    """Return what a model file says of an oracle."""
    try:
        dim = operator.index(oracle.dim)
    except AttributeError:
        name = type(oracle).__name__
        raise TypeError(f"the oracle {name} has no attribute `dim`, the length of its features") from None
    except TypeError:
        raise TypeError(f"`dim` of the oracle must be a whole number, not {oracle.dim!r}") from None
    if dim <= 0:
        raise ValueError(f"`dim` of the oracle must be positive, not {dim}")
    description = {"name": str(getattr(oracle, "name", None) or type(oracle).__name__), "dim": dim}
    params = getattr(oracle, "params", None)
    if params is not None:
        try:
            description["params"] = json.loads(json.dumps(params, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise TypeError(f"`params` of the oracle must be made of what JSON has: {error}") from None
    return description


def own_data(oracle: Any, X: Any, Y: Any = None, weights: Any = None) -> _dualgap.Data:
    """Return inputs, with their outputs if there are any, as data of the library."""
    inputs = listed(X)
    key = getattr(oracle, "key", None)
    return _dualgap.Data.own(
        inputs,
        keys=None if key is None else [key(x) for x in inputs],
        outputs=None if Y is None else listed(Y),
        weights=None if weights is None else np.asarray(weights, dtype=np.float64).tolist(),
    )


def listed(X: Any) -> list[Any]:
    """Return the members of a list, an array, a series, or the rows of a matrix."""
    if isinstance(X, (str, bytes, dict)):
        raise TypeError(f"a list of inputs or outputs is needed, not a single {type(X).__name__}")
    if sp.issparse(X):
        rows = X.tocsr()
        return [rows[i : i + 1] for i in range(rows.shape[0])]
    if getattr(X, "ndim", 1) == 2 and hasattr(X, "to_numpy"):
        X = X.to_numpy()
    return list(X)


class StructuredSVM(CertifiedEstimator):
    """A linear model of structured outputs, given by an oracle, and trained to a certified optimum.

    Minimises ``mean_i max_y [loss(y_i, y) - w @ (features(x_i, y_i) - features(x_i, y))] + lam/2 ||w||^2 + l1 ||w||_1``
    and predicts ``argmax_y w @ features(x, y)``. Steps on outputs that were found before (cached planes) save calls of
    the oracle.

    Parameters
    ----------
    oracle : Oracle
        An object with `dim`, `features(x, y)`, `loss(truth, y)` and `decode(w, x, truth=None)`; see `Oracle`. Try it
        with `check_oracle` first.
    lam : float or str, default="1/n"
        The strength of the penalty, as a number or a multiple of 1/n.
    l1 : float or str, default=0.0
        The strength of an l1 penalty beside it. Also a fraction such as ``"0.1max"`` of
        the smallest with which all weights are zero, or ``"auto"``: the one that predicts best on five folds of the
        training data, of which `auto_` tells.
    nonnegative : bool, default=False
        Whether weights must not be negative.
    rescale : {"margin", "slack"}, default="margin"
        Whether the loss is the margin that is asked for, or the weight of what is missing of a margin of one. The
        second needs `decode_slack` of the oracle.
    tolerance : float, default=0.01
        The run ends when the gap is proven to be at most this fraction of the objective.
    absolute_tolerance : float, optional
        The run also ends when the gap is at most this.
    passes, oracle_calls : int, optional
        Limits of the run.
    time : float, optional
        A limit in seconds.
    solver : str, default="auto"
        A solver of the program, such as ``"bcfw"``, ``"subgradient"`` or ``"cutting-plane"``.
    solver_options : dict, optional
        Its settings, such as ``{"direction": "pairwise", "cache": "off"}``.
    threads : int, default=1
        How many threads call the oracle. More than one helps only if its methods release the interpreter lock.
    seed : int, default=0
        The seed of the order in which examples are visited.
    warm_start : bool, default=False
        Whether `fit` starts from the outputs that the last one has found.
    callback : callable, optional
        Receives a dict with the progress after every certification, and ends the run by returning True.

    Attributes
    ----------
    coef_ : ndarray of shape (dim,)
        The weights.
    certificate_ : Certificate
        How far from the optimum they are at most.
    history_ : list of dict
        The certifications of the run.
    stop_ : str
        Why the run ended.
    n_iter_ : int
        The number of passes.
    model_ : Model
        The model of the extension.

    Notes
    -----
    Exceptions of the oracle end the run, and `fit` raises them with their traceback. A false claim that the run meets
    is a RuntimeError: a decoded output that is not the best or a bound that is too small, where an output that is known
    refutes it, a loss of the truth that is not zero, and features that change.

    Ctrl-C ends the run with a certified model, which takes a call of the oracle for every example, and then raises
    KeyboardInterrupt; the estimator is fitted. A second one ends it after the call that is going on, without a model.

    Examples
    --------
    Where a signal is up: an output is an interval, and its loss how many positions it has wrong.

    >>> import numpy as np
    >>> from dualgap import StructuredSVM, check_oracle
    >>> class Interval:
    ...     dim = 2
    ...
    ...     def features(self, x, y):
    ...         return [x[y[0] : y[1]].sum(), y[1] - y[0]]
    ...
    ...     def loss(self, truth, y):
    ...         both = max(0, min(truth[1], y[1]) - max(truth[0], y[0]))
    ...         return truth[1] - truth[0] + y[1] - y[0] - 2 * both
    ...
    ...     def outputs(self, x):
    ...         return [(i, j) for i in range(len(x)) for j in range(i + 1, len(x) + 1)]
    ...
    ...     def decode(self, w, x, truth=None):
    ...         def score(y):
    ...             return w @ self.features(x, y) + (0 if truth is None else self.loss(truth, y))
    ...         return max(self.outputs(x), key=score)
    ...
    ...     def admits(self, x, y):
    ...         return 0 <= y[0] < y[1] <= len(x)
    >>> rng = np.random.default_rng(0)
    >>> Y = [tuple(sorted(rng.choice(9, 2, replace=False))) for _ in range(20)]
    >>> X = [rng.normal(size=8) + 3 * ((np.arange(8) >= i) & (np.arange(8) < j)) for i, j in Y]
    >>> oracle = Interval()
    >>> check_oracle(oracle, X[:3], Y[:3], all_outputs=oracle.outputs).raise_for_breach()
    >>> model = StructuredSVM(oracle, lam=0.01, tolerance=0.001).fit(X, Y)
    >>> model.certificate_.relative_gap <= 0.001
    True
    >>> model.predict([np.array([0.1, 3.2, 2.9, -0.3])])
    [(1, 3)]
    """

    _structure: ClassVar[str] = "python"

    def __init__(
        self,
        oracle: Oracle,
        *,
        lam: float | str = "1/n",
        l1: float | str = 0.0,
        nonnegative: bool = False,
        rescale: Literal["margin", "slack"] = "margin",
        tolerance: float | None = 0.01,
        absolute_tolerance: float | None = None,
        passes: int | None = None,
        oracle_calls: int | None = None,
        time: float | None = None,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        threads: int = 1,
        seed: int = 0,
        warm_start: bool = False,
        callback: Callable[[dict[str, Any]], bool | None] | None = None,
    ) -> None:
        self.oracle = oracle
        self.lam = lam
        self.l1 = l1
        self.nonnegative = nonnegative
        self.rescale = rescale
        self.tolerance = tolerance
        self.absolute_tolerance = absolute_tolerance
        self.passes = passes
        self.oracle_calls = oracle_calls
        self.time = time
        self.solver = solver
        self.solver_options = solver_options
        self.threads = threads
        self.seed = seed
        self.warm_start = warm_start
        self.callback = callback

    def fit(self, X: Any, Y: Any, sample_weight: Any = None) -> Self:
        """Train a model.

        Parameters
        ----------
        X : sequence
            Inputs, whatever the oracle takes; of a matrix, the rows.
        Y : sequence
            Their outputs.
        sample_weight : array-like of shape (n,), optional
            What each example counts.

        Returns
        -------
        self
        """
        data = self._labelled(X, Y, sample_weight, reset=True)
        previous = self._previous()
        task = {
            "structure": {"oracle": described(self.oracle), "rescaling": self.rescale},
            "penalty": self._penalty(),
        }
        # Outputs that were decoded for these very inputs are theirs, and others only if the oracle admits them.
        trusted = previous is None or (
            not getattr(self, "_from_file", False) and previous.provenance["fingerprint"] == data.fingerprint()
        )
        arrays = {"oracle": self.oracle, "trusted": trusted}
        model, report = self._run(data, task, arrays=arrays, warm_start=previous)
        self._from_file = False
        self._keep(model, report)
        return self

    def _labelled(self, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> _dualgap.Data:
        return own_data(self.oracle, X, y, sample_weight)

    def _set_fitted(self) -> None:
        self.coef_ = self.model_.arrays["weights"]

    def predict(self, X: Any) -> list[Any]:
        """Return the output with the highest score for every input, as a list."""
        check_is_fitted(self)
        return self.model_.predict(own_data(self.oracle, X), self.threads)

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Return one minus the mean loss of the predictions: the accuracy, if a wrong output costs one."""
        check_is_fitted(self)
        return 1.0 - self.model_.evaluate(own_data(self.oracle, X, Y, sample_weight), self.threads)

    @classmethod
    def load(cls, path: str | Path, oracle: Oracle) -> Self:
        """Read a model file, which has the name and the `params` of its oracle, but not the oracle.

        Parameters
        ----------
        path : str or Path
            A file that `save` has written.
        oracle : Oracle
            The oracle that the model was trained with, or an equal one.
        """
        model = _dualgap.Model.load(path)
        if model.structure != cls._structure:
            raise ValueError(f"{path} is a model of `{model.structure}`, which needs no oracle: use dualgap.load")
        structure = model.task["structure"]
        stored, given = structure["oracle"], described(oracle)
        for part in ("name", "dim", "params"):
            if stored.get(part) != given.get(part):
                raise ValueError(
                    f"{path} was trained with another oracle: its {part} is {stored.get(part)!r}, "
                    f"and that of the given one {given.get(part)!r}"
                )
        estimator = cls(oracle, **cls._keywords(model), rescale=structure.get("rescaling", "margin"))
        estimator._from_file = True
        estimator._restore(model.with_oracle(oracle))
        return estimator

    @classmethod
    def _from_model(cls, model: _dualgap.Model) -> Self:
        name = model.task["structure"]["oracle"]["name"]
        raise ValueError(
            f"this is a model of the oracle {name!r}, which is Python code and not in the file: "
            f"make the oracle, and use dualgap.StructuredSVM.load(path, oracle)"
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "model_" in self.__dict__:
            # A pickle brings the oracle along, so there is nothing left to distrust but what came from a model file.
            self.model_ = self.model_.with_oracle(self.oracle, trusted=not getattr(self, "_from_file", False))


class Breach(NamedTuple):
    """A clause of the oracle's contract that an example has shown to be broken."""

    example: int
    clause: str
    message: str

    def __str__(self) -> str:
        return f"example {self.example}: {self.clause}, but {self.message}"


@dataclass(frozen=True)
class OracleReport:
    """What `check_oracle` has found.

    Attributes
    ----------
    breaches : list of Breach
        For every example the first breach of every clause.
    decoded : int
        How many outputs were decoded.
    best : int
        How many of them no known output was better than: all, unless the oracle is a heuristic or wrong.
    pairs : int
        How many pairs of an input and an output were looked at.
    """

    breaches: list[Breach]
    decoded: int
    best: int
    pairs: int

    @property
    def passed(self) -> bool:
        """Whether nothing was found."""
        return not self.breaches

    def raise_for_breach(self) -> None:
        """Raise a RuntimeError that names the first breach and counts the others, if there is one."""
        if self.breaches:
            more = f" ({len(self.breaches) - 1} more)" if len(self.breaches) > 1 else ""
            raise RuntimeError(f"{self.breaches[0]}{more}")

    def __str__(self) -> str:
        head = f"{self.decoded} outputs decoded, {self.best} of them the best of {self.pairs} that are known"
        return "\n".join([head, *map(str, self.breaches)])


def check_oracle(
    oracle: Oracle,
    X: Any,
    Y: Any,
    *,
    draws: int = 20,
    seed: int = 0,
    all_outputs: Callable[[Any], Iterable[Any] | None] | None = None,
    some_outputs: Callable[[Any], Iterable[Any]] | None = None,
) -> OracleReport:
    """Check an oracle against its contract on these examples, before training.

    Every example is decoded at zero weights and at random ones, against its truth and without it, and what comes back
    is compared with all outputs that are known: truths (also of other examples, if the oracle `admits` them), what was
    decoded at other weights, and those that are listed. A check that finds nothing proves nothing, but where all
    outputs of small inputs are listed, little is left to go wrong.

    Parameters
    ----------
    oracle : Oracle
        The oracle.
    X, Y : sequence
        Inputs and their outputs. Few and small ones will do.
    draws : int, default=20
        How many weights are drawn.
    seed : int, default=0
        Their seed.
    all_outputs : callable, optional
        Lists all outputs of an input, or returns None for one that has too many.
    some_outputs : callable, optional
        Lists some outputs of an input, those that are likely to be wrong.

    Returns
    -------
    OracleReport
        Its `raise_for_breach` raises an error if the oracle broke its contract.

    Examples
    --------
    >>> from dualgap import check_oracle
    >>> class Sign:
    ...     dim = 1
    ...     def features(self, x, y):
    ...         return [x * y]
    ...     def loss(self, truth, y):
    ...         return float(truth != y)
    ...     def decode(self, w, x, truth=None):
    ...         return 1 if w[0] * x >= 0 else -1   # forgets the loss
    >>> report = check_oracle(Sign(), [0.5, -0.3], [1, -1], all_outputs=lambda x: [-1, 1])
    >>> report.breaches[0].clause
    'no output scores higher than the bound'
    """
    found = _dualgap.check_oracle(
        json.dumps(described(oracle)),
        oracle,
        own_data(oracle, X, Y),
        draws=draws,
        seed=seed,
        all_outputs=all_outputs,
        some_outputs=some_outputs,
    )
    return OracleReport(
        breaches=[Breach(*breach) for breach in found["breaches"]],
        decoded=found["decoded"],
        best=found["best"],
        pairs=found["pairs"],
    )
