"""The estimators of :mod:`dualgap.dask`."""

from __future__ import annotations

import copy
import json
import os
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from distributed import Client, get_client
from sklearn.callback import with_callbacks

import dualgap

from .. import _dualgap
from .._arrays import class_weights, rows, spelled
from .._base import whole as whole_number
from . import _shards
from ._blocks import blocks_of
from ._checkpoint import Checkpoint
from ._cluster import Cluster
from ._rounds import Passes, Rounds

_KEYWORDS = """

    On a cluster there are four more keywords:

    client : distributed.Client, default=None
        The cluster; by default the client of this process.
    local_passes : "auto", int or list, default="auto"
        How many passes every shard makes in a round before the changes are added up. ``"auto"`` takes so many that they take as
        long as the communication, and fewer where a worker is slow, which depends on the clock. What was taken is recorded in
        `rounds_`, a number for all shards or a list with that of each; the list of it repeats the run on the same shards.
    checkpoint : path, default=None
        Where the client writes the dual points of all shards now and then. If the file is there when `fit` begins, the run goes
        on from it: after a client that was killed, or another scheduler. It must be of the same shards and problem.
    patience : float, default=60
        After how many seconds without a heartbeat a worker is given up, and its shards are read again elsewhere. Workers send one
        every half second, also while they compute, and less often where they are many: ten of them are awaited in any case.

    `passes` and `oracle_calls` end a run between rounds, and every visit of an example counts as a call of the oracle.

    And more attributes: `rounds_`, a list of dicts with the ``passes``, ``sigma``, ``share`` (λ/λ'), ``gamma``, ``seconds``,
    ``computing`` (the seconds of each shard) and ``bytes`` of every round; `bytes_`, the bytes of all that workers and client have
    sent to each other, but for reading the examples and what Dask adds to messages; `lost_` and `restored_`, how many shards were
    lost with their workers, and how many of them went on from a state that the client had.
"""


class Distributed:
    """An estimator whose examples are in shards on the workers of a cluster."""

    #: The estimator of one machine.
    _local: ClassVar[type]
    feature_names_in_: np.ndarray

    def __init__(
        self,
        *,
        client: Client | None = None,
        local_passes: str | int | list[Passes] = "auto",
        checkpoint: str | os.PathLike[str] | None = None,
        patience: float = 60.0,
        **keywords: Any,
    ) -> None:
        self._local.__init__(self, **keywords)  # type: ignore[misc]
        self.client = client
        self.local_passes = local_passes
        self.checkpoint = checkpoint
        self.patience = patience

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*cls._local._get_param_names(), "client", "local_passes", "checkpoint", "patience"])

    def __sklearn_clone__(self) -> Self:
        """Return an estimator with the same keywords. A client cannot be copied, and is shared."""
        keywords = self.get_params(deep=False)
        client = keywords.pop("client")
        return type(self)(client=client, **copy.deepcopy(keywords))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train the model on the shards of X until its certified gap is within the tolerance.

        Parameters
        ----------
        X : Dask array, Dask data frame, list of blocks, or list of paths
            The rows. A block is a delayed or plain array, CSR matrix or data frame; a path is that of a LIBSVM file or of a data
            file (``dualgap convert``), with its targets. Every block is a shard, and stays on its worker; a data file is mapped and
            not read.
        y : Dask array, Dask series, or list of blocks, default=None
            The targets, in the same blocks; absent for paths.
        sample_weight : as y, default=None
            What each example counts in the mean loss.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._fit_blocks(blocks_of(X, y, sample_weight))

    def _fit_blocks(self, blocks: list[Any]) -> Self:
        """Train the model on these shards."""
        self._refuse()
        with Cluster(self.client or get_client(), blocks, self._how(), self.patience) as cluster:
            model, report = self._run_rounds(cluster)
            self.bytes_, self.lost_, self.restored_ = cluster.bytes, cluster.lost, cluster.restored
            # Before the shards are closed: a busy worker takes its time, and Ctrl-C then costs no model.
            self._keep(model, report)
        return self

    @with_callbacks
    def _run_rounds(self, cluster: Cluster) -> tuple[_dualgap.Model, dict[str, Any]]:
        """Train a model on the shards of a cluster, and return it with the report of the run."""
        watch = self._callback()
        found = cluster.read()
        setup = self._setup(found)
        cluster.open(setup)
        whole = _dualgap.Whole(self._structure, json.dumps(setup["request"]), setup["arrays"], setup["total"])
        checkpoint = self._resumed(cluster, setup)
        with watch as callback:
            run = Rounds(cluster, whole, self._limits(), self.local_passes, callback, checkpoint)
            stop, model = self._finish(run, setup, found)
        self.rounds_ = run.rounds
        return model, {
            "certificate": model.certificate,
            "stop": "callback" if watch.stopped and stop == "interrupted" else stop,
            "passes": run.passes,
            "history": run.history,
            "raised": run.raised,
        }

    def _how(self) -> dict[str, Any]:
        """Return what workers read files as."""
        task = self._task()
        recipe = {"format": "libsvm", "folds": None, "constant": False, **self._recipe_target()}
        threads = whole_number(self.threads, "threads")
        return {"structure": self._structure, "settings": task["structure"], "recipe": recipe, "threads": threads}

    def _resumed(self, cluster: Cluster, setup: dict[str, Any]) -> Checkpoint | None:
        """Return the checkpoint, if one is wanted, after the shards were told to go on from it."""
        if self.checkpoint is None:
            return None
        problem = {"structure": setup["structure"], "task": setup["request"]["task"], "total": setup["total"]}
        checkpoint = Checkpoint(self.checkpoint, problem, [cluster.prints[k] for k in range(len(cluster))])
        if checkpoint.states:
            cluster.states = list(checkpoint.states)
            cluster.restore_states()
        return checkpoint

    def _kind_of_intercept(self) -> str | None:
        return self._intercept()

    def _refuse(self) -> None:
        """Raise an error for what shards do not support."""
        if self._kind_of_intercept() == "free":
            raise ValueError('an intercept without penalty does not go with shards: take intercept="penalised"')
        if self._auto() is not None:
            raise ValueError("held-out data choose nothing on shards: give the strength as a number")
        if getattr(self, "scale", "none") != "none":
            raise ValueError("columns are not scaled on shards: scale them before")
        if getattr(self, "warm_start", False):
            raise ValueError("a run on shards has no warm start: begin it anew")
        if self.solver not in ("auto", "sdca", "bcfw"):
            raise ValueError(f"shards take dual steps, and not those of {self.solver!r}: leave the solver out")

    def _setup(self, found: list[dict[str, Any]]) -> dict[str, Any]:
        """Return what all shards have in common, from what they say of themselves."""
        if len({info["weights"] is None for info in found}) > 1:
            raise ValueError("some shards have weights and others none")
        width, features, recipe = self._shard_columns(found)
        self.n_features_in_ = width
        total = sum(info["total"] for info in found)
        classes = self._shard_classes(found)
        if classes is not None:
            total = self._class_total(found, total)
        request = {
            "task": self._shard_task(found),
            "solver": self.solver,
            "method": self._method(),
            "threads": whole_number(self.threads, "threads"),
            "recipe": recipe,
        }
        json.dumps(request, allow_nan=False)
        return {
            "structure": self._structure,
            "width": width,
            "features": features,
            "classes": classes,
            "labels": None if classes is None else [spelled(label) for label in classes],
            "constant": self._kind_of_intercept() is not None,
            "total": total,
            "request": request,
            "arrays": self._completion() if hasattr(self, "_completion") else {},
        }

    def _shard_columns(self, found: list[dict[str, Any]]) -> tuple[int, list[str], dict[str, Any] | None]:
        """Return the number of columns of all shards, their names if they have any, and how the program reads such data."""
        width = max(info["width"] for info in found)
        names: list[str] = found[0].get("features", [])
        if any(info.get("features", []) != names for info in found):
            raise ValueError("the shards have columns of different names: they must be the same, in the same order")
        recipes = [info["recipe"] for info in found if "recipe" in info]
        if any(recipe != recipes[0] for recipe in recipes):
            raise ValueError("the data files were read in different ways: convert them with the same options")
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)
        recipe = recipes[0] if recipes and names else self._recipe()
        if recipe is not None:
            recipe = {**recipe, "constant": self._kind_of_intercept() is not None}
        return width, names, recipe

    def _shard_task(self, found: list[dict[str, Any]]) -> dict[str, Any]:
        return self._task()

    def _shard_classes(self, found: list[dict[str, Any]]) -> np.ndarray | None:
        """Return the classes of all shards, or None for a regressor."""
        return None

    def _class_total(self, found: list[dict[str, Any]], total: float) -> float:
        return total

    def _finish(
        self, run: Rounds, setup: dict[str, Any], found: list[dict[str, Any]]
    ) -> tuple[str, _dualgap.Model]:
        """Run, and make the model; workers may also be lost at the end, and then the run goes on."""
        witness = None
        while witness is None:
            stop = run.run()
            witness = run.attempt(lambda: run.cluster.gather(_shards.witness))
        # The fingerprint depends on the examples only: a worker that is lost now costs no progress.
        while (found_print := run.attempt(run.fingerprint)) is None:
            pass
        print_, examples = found_print
        if run.best is None:
            raise run.raised or RuntimeError("the run could not be certified")
        w, _, losses = run.best
        weights = None if found[0]["weights"] is None else b"".join(info["weights"] for info in found)
        outcome = {
            "w": w,
            "losses": losses,
            "dual": run.dual,
            "witness": witness,
            "stop": stop,
            "passes": run.passes,
            "examples": examples,
            "print": print_,
            "weights": weights,
        }
        request = json.dumps(setup["request"])
        model = _dualgap.assemble(
            setup["structure"], self._any(setup), request, setup["arrays"], setup["total"], outcome
        )
        return stop, model

    def _any(self, setup: dict[str, Any]) -> _dualgap.Data:
        """Return an example with the columns and labels of the shards."""
        targets: dict[str, Any] = (
            {"numbers": np.zeros(1)}
            if setup["classes"] is None
            else {"classes": np.zeros(1, dtype=np.int64), "labels": setup["labels"]}
        )
        if setup["features"]:
            targets["features"] = setup["features"]
        return _dualgap.Data.examples(no_rows(setup["width"]), constant=setup["constant"], **targets)

    def _local_estimator(self) -> Any:
        """Return the fitted estimator of one machine, which needs no cluster."""
        estimator = self._local._from_model(self.model_)
        if hasattr(self, "classes_"):
            estimator.classes_ = self.classes_
        return estimator

    def predict(self, X: Any) -> Any:
        """Predict as the estimator of one machine does; of a Dask array a Dask array, and of a Dask data frame a series."""
        if hasattr(X, "map_partitions"):
            return X.map_partitions(_predicted_series, self._local_estimator())
        if hasattr(X, "map_blocks") and hasattr(X, "chunks"):
            return X.rechunk({1: -1}).map_blocks(_predicted, self._local_estimator(), drop_axis=1, dtype=None, meta=np.array([]))
        return self._local.predict(self, X)  # type: ignore[attr-defined]


def no_rows(width: int) -> _dualgap.Rows:
    """Return a row of zeros."""
    return rows(sp.csr_matrix((1, width)))


def _predicted(block: Any, estimator: Any) -> Any:
    return estimator.predict(block)


def _predicted_series(frame: Any, estimator: Any) -> Any:
    # Whoever has a Dask data frame has pandas, which dualgap does not need otherwise.
    import pandas as pd

    return pd.Series(estimator.predict(frame), index=frame.index)


def _name_classes(found: list[dict[str, Any]]) -> None:
    """Make numbers of the labels of files if all are numbers, and names of all if one is none."""
    named = [info for info in found if info["file"] and info["classes"].dtype.kind == "O"]
    try:
        numbers = [np.array([float(name) for name in info["classes"]]) for info in named]
        same = all(
            spelled(number) == name
            for info, each in zip(named, numbers, strict=True)
            for number, name in zip(each, info["classes"], strict=True)
        )
    except ValueError:
        same = False
    if same:
        for info, each in zip(named, numbers, strict=True):
            info["classes"] = each
    else:
        for info in found:
            info["classes"] = np.array([spelled(label) for label in info["classes"]])


class _Classes(Distributed):
    """A classifier on shards."""

    _most_classes: ClassVar[int | None] = None

    def _shard_classes(self, found: list[dict[str, Any]]) -> np.ndarray:
        if any(info["classes"] is None for info in found):
            raise ValueError("a shard has more than 10,000 different targets: are these numbers to predict?")
        _name_classes(found)
        self.classes_ = np.unique(np.concatenate([info["classes"] for info in found]))
        whole = self.classes_.dtype.kind == "f" and (self.classes_ == np.round(self.classes_)).all()
        if found[0]["file"] and whole:
            self.classes_ = self.classes_.astype(np.int64)
        if len(self.classes_) < 2:
            raise ValueError(
                f"Classifier can't train when only one class is present: all examples are of {self.classes_[0]!r}"
            )
        if self._most_classes is not None and len(self.classes_) > self._most_classes:
            raise ValueError("on shards a linear classifier has two classes: train more of them jointly by MulticlassSVM")
        return self.classes_

    def _class_counts(self, found: list[dict[str, Any]]) -> np.ndarray:
        counts = np.zeros(len(self.classes_))
        for info in found:
            counts[np.searchsorted(self.classes_, info["classes"])] += info["counts"]
        return counts

    def _numbers_of_classes(self, found: list[dict[str, Any]]) -> dict[Any, float] | None:
        """Return the class weights as numbers: those of balanced classes depend on all shards."""
        given = getattr(self, "class_weight", None)
        if given != "balanced":
            return given
        counts = self._class_counts(found)
        each = counts.sum() / (len(counts) * counts)
        return dict(zip(self.classes_.tolist(), each.tolist(), strict=True))

    def _shard_task(self, found: list[dict[str, Any]]) -> dict[str, Any]:
        task: dict[str, Any] = self._task()
        weights = self._numbers_of_classes(found)
        return task if weights is None else {**task, "class_weights": class_weights(weights)}

    def _class_total(self, found: list[dict[str, Any]], total: float) -> float:
        weights = self._numbers_of_classes(found)
        if weights is None:
            return total
        each = np.array([weights.get(label, 1.0) for label in self.classes_.tolist()])
        return float(each @ self._class_counts(found))


class LinearClassifier(_Classes, dualgap.LinearClassifier):
    _local: ClassVar[type] = dualgap.LinearClassifier
    _most_classes: ClassVar[int | None] = 2
    __doc__ = "A linear classifier of two classes on a cluster; see :class:`dualgap.LinearClassifier`." + _KEYWORDS


class MulticlassSVM(_Classes, dualgap.MulticlassSVM):
    _local: ClassVar[type] = dualgap.MulticlassSVM
    __doc__ = "A multiclass classifier on a cluster; see :class:`dualgap.MulticlassSVM`." + _KEYWORDS


class LinearRegressor(Distributed, dualgap.LinearRegressor):
    _local: ClassVar[type] = dualgap.LinearRegressor
    __doc__ = "A linear model of numbers on a cluster; see :class:`dualgap.LinearRegressor`." + _KEYWORDS
