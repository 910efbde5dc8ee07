"""How many workers a data set is worth: the real rounds on any number of shards, under a simulated clock.

How many rounds a number of shards needs is not modelled but found: all shards are in this process, where a pass over them costs what
a pass over one does, and take the steps that they would take on as many workers (`_simulated`). How long that would take
on a cluster is counted work times the measured rates of one core, and messages (`_clock`).

Numbers of workers that do not fit in the memory of this process are extrapolated. The rounds grow by the power law of the last four
numbers that were run, and no faster than the workers, which is what the analysis of CoCoA+ bounds; the size of what a shard sends
follows its share of the examples; and the local passes of a round are chosen by the rule of a run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import nnls

from .. import _dualgap
from . import _shards
from ._clock import Clock, Network, tree
from ._rounds import _CERTIFY_AFTER, Rounds, next_passes
from ._simulated import Rates, SimulatedCluster, entries

#: Vectors as long as the weights that a shard has at the same time, about.
_VECTORS = 12
#: The passes of the rounds that the rates are measured by. The rates of certificates come from those between them.
_TRIAL = (1, 2, 4, 1, 2, 4, 8)
#: How many of the largest numbers of workers a power law is fitted to.
_FITTED = 4


@dataclass(frozen=True)
class Simulation:
    """What :func:`simulate` has found: a row for every number of workers, and all that is needed to repeat it."""

    #: For every number of workers: ``workers``, ``rounds``, ``passes``, ``bytes``, ``seconds`` and what they are made of (``computing``,
    #: ``certifying``, ``finishing``), ``speedup``, ``efficiency``, ``gap``, ``stop``, ``lost``, ``extrapolated``.
    rows: list[dict[str, Any]]
    #: The sizes of the problem, the ``network``, the ``rates`` and the ``seed``.
    inputs: dict[str, Any]

    @property
    def best(self) -> int:
        """The number of workers that is done first: more of them are slower."""
        return int(min(self.rows, key=lambda row: row["seconds"])["workers"])

    def as_dict(self) -> dict[str, Any]:
        """Return the rows, the inputs and the best number of workers, for JSON."""
        return {"best": self.best, "rows": self.rows, "inputs": self.inputs}

    def json(self) -> str:
        """Return all of it as JSON."""
        return json.dumps(self.as_dict())

    def __str__(self) -> str:
        head = f"{'workers':>8} {'rounds':>7} {'passes':>7} {'MB':>9} {'seconds':>9} {'computing':>9} {'speedup':>8} {'efficiency':>10}"
        lines = [head]
        for row in self.rows:
            lines.append(
                f"{row['workers']:>8} {row['rounds']:>7} {row['passes']:>7.6g} {row['bytes'] / 1e6:>9.4g} {row['seconds']:>9.4g} "
                f"{row['computing']:>9.4g} {row['speedup']:>8.3g} {row['efficiency']:>10.3g}"
                + (" extrapolated" if row["extrapolated"] else "" if row["stop"] == "gap_reached" else f" {row['stop']}")
            )
        return "\n".join([*lines, f"fastest with {self.best} of these"])


def simulate(
    estimator: Any,
    X: Any,
    y: Any,
    lengths: Any = None,
    *,
    workers: Iterable[int] = (1, 2, 4, 8, 16, 32),
    network: Network | str = "10gbit",
    rates: Rates | None = None,
    seed: int = 0,
    memory: float = 4e9,
    largest: int = 10_000,
    progress: Callable[[dict[str, Any]], Any] | None = None,
) -> Simulation:
    """Simulate the training of an estimator of :mod:`dualgap.dask` on different numbers of workers, a shard on each.

    The rounds and certificates are real, and so is every iterate; the clock is simulated. Reading the data is not part of it.

    Parameters
    ----------
    estimator : estimator of dualgap.dask
        What to train, and to which tolerance. Its client is not used.
    X : array or CSR matrix
        All rows.
    y : array
        The targets, or the labels of all positions.
    lengths : array, default=None
        The number of rows of each sequence, for chains.
    workers : iterable of int
        How many workers. Numbers whose shards do not fit in `memory`, or that are above `largest`, are extrapolated from the others.
    network : Network or str, default="10gbit"
        The cluster: ``"laptop"``, ``"1gbit"``, ``"10gbit"`` or numbers, such as those that :func:`calibrate` measures.
    rates : Rates, default=None
        How fast a core is with these data. By default it is measured, and then the same call gives other numbers next time; the rates of
        a simulation are in its `inputs`, and repeat it.
    seed : int, default=0
        Decides how the examples are dealt out to the shards, who is slow when, and who is lost.
    memory : float, default=4e9
        The bytes that shards may take in this process.
    largest : int, default=10_000
        The largest number of workers that is run.
    progress : callable, default=None
        Called with every row when it is there.

    Returns
    -------
    simulation : Simulation
        Printed, it is a table.

    Examples
    --------
    >>> import numpy as np, dualgap.dask
    >>> numbers = np.random.default_rng(0)
    >>> X = numbers.normal(size=(200, 5))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> found = dualgap.dask.simulate(dualgap.dask.LinearClassifier(lam=0.1), X, y, workers=[1, 4])
    >>> [row["stop"] for row in found.rows]
    ['gap_reached', 'gap_reached']
    """
    network = Network.named(network) if isinstance(network, str) else network
    counts = sorted({int(count) for count in workers})
    data = _Dealt(X, y, lengths, seed)
    if not counts or counts[0] < 1 or counts[-1] > len(data):
        raise ValueError(f"there can be from 1 to {len(data)} workers, one for each example, not {counts}")
    estimator._refuse()
    if rates is None:
        rates = measured_rates(estimator, data)
    runs: list[_Run] = []
    rows: list[dict[str, Any]] = []
    for count in counts:
        if runs and (count > largest or count * runs[-1].bytes_per_shard > memory):
            row = _extrapolated(estimator, runs, count, Clock(network, [seed, count]), rates)
        else:
            runs.append(_Run(estimator, data, count, Clock(network, [seed, count]), rates))
            row = runs[-1].row
        first = rows[0] if rows else row
        row["speedup"] = first["workers"] * first["seconds"] / row["seconds"]
        row["efficiency"] = row["speedup"] / count
        rows.append(row)
        if progress is not None:
            progress(row)
    inputs = {
        "examples": len(data),
        "entries": data.entries,
        "weights": runs[0].weights,
        "network": network.as_dict(),
        "rates": rates.as_dict(),
        "seed": seed,
        "version": _dualgap.__version__,
    }
    return Simulation(rows, inputs)


class _Dealt:
    """Examples in a random order, to be cut into shards."""

    def __init__(self, X: Any, y: Any, lengths: Any, seed: int) -> None:
        X = X.tocsr() if sp.issparse(X) else np.asarray(X, dtype=np.float64)
        y = np.asarray(y)
        sizes = np.ones(len(y), dtype=np.int64) if lengths is None else np.asarray(lengths, dtype=np.int64)
        if X.shape[0] != len(y) or sizes.sum() != len(y):
            raise ValueError(f"there are {X.shape[0]} rows, {len(y)} targets, and lengths that add up to {sizes.sum()}")
        order = np.random.default_rng(seed).permutation(len(sizes))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        self.sizes, self.chains = sizes[order], lengths is not None
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        # Row by row: those of a sequence stay together.
        rows = np.repeat(starts[:-1][order] - self.starts[:-1], self.sizes) + np.arange(len(y))
        self.X, self.y = X[rows], y[rows]
        self.entries = entries((self.X,))

    def __len__(self) -> int:
        return len(self.sizes)

    def cut(self, places: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return the blocks between these places."""
        blocks = []
        for begin, end in zip(places[:-1], places[1:], strict=True):
            rows = slice(self.starts[begin], self.starts[end])
            lengths = self.sizes[begin:end] if self.chains else None
            blocks.append((self.X[rows], self.y[rows], None, lengths))
        return blocks

    def even(self, count: int) -> list[tuple[Any, ...]]:
        """Return so many blocks, with about as many examples each."""
        return self.cut([k * len(self) // count for k in range(count + 1)])

    def halving(self) -> list[tuple[Any, ...]]:
        """Return blocks of half of the examples, a quarter, an eighth and so on."""
        places = sorted({len(self) - (len(self) >> k) for k in range(7)} | {len(self)})
        return self.cut(places)


def _open(estimator: Any, cluster: SimulatedCluster) -> _dualgap.Whole:
    setup = estimator._setup(cluster.read())
    cluster.open(setup)
    return _dualgap.Whole(setup["structure"], json.dumps(setup["request"]), setup["arrays"], setup["total"])


class _Run:
    """A run on so many shards: what it has needed, and what of it others are extrapolated from."""

    def __init__(self, estimator: Any, data: _Dealt, count: int, clock: Clock, rates: Rates) -> None:
        self.count = count
        with SimulatedCluster(data.even(count), estimator._how(), clock, rates) as cluster:
            whole = _open(estimator, cluster)
            self.weights = _shards._shard(cluster.run, 0).dim()
            clock.now = 0.0
            cluster.bytes = 0
            run = Rounds(cluster, whole, estimator._limits(), estimator.local_passes, None)
            stop = run.run()
            ended, before = clock.now, cluster.bytes
            cluster.gather(_shards.witness)
            run.fingerprint()
            last = run.history[-1]
            self.finishing, self.finishing_bytes = clock.now - ended, cluster.bytes - before
            self.entries = cluster.entries
            self.calls = cluster.calls
            self.row: dict[str, Any] = {
                "workers": count,
                "rounds": len(run.rounds),
                "passes": run.passes,
                "bytes": cluster.bytes,
                "seconds": clock.now,
                "computing": sum(max(made["computing"]) for made in run.rounds),
                "certifying": run.certify_seconds,
                "finishing": self.finishing,
                "local_passes": [made["passes"] for made in run.rounds],
                "primal": last["primal"],
                "dual": last["dual"],
                "gap": last["gap"] / abs(last["primal"]) if last["primal"] else 0.0,
                "stop": stop,
                "lost": cluster.lost,
                "extrapolated": False,
            }

    @property
    def bytes_per_shard(self) -> float:
        return 8.0 * _VECTORS * self.weights

    def size(self, kind: str) -> float:
        """Return the mean bytes of what a shard sends."""
        sizes = [np.mean(call[3][0]) for call in self.calls if call[0] == kind]
        return float(np.mean(sizes)) if sizes else 0.0

    def sent(self, kind: str) -> float:
        """Return the mean bytes that all workers are sent with a call."""
        sent = [call[2] for call in self.calls if call[0] == kind]
        return float(np.mean(sent)) if sent else 0.0


def power_law(counts: Sequence[float], values: Sequence[float], at: float, least: float, most: float) -> float:
    """Return the value at a count beyond the last, by the exponent of the last few, which is from `least` to `most`.

    >>> power_law([1, 2, 4], [3.0, 6.0, 12.0], 16, 0.0, 1.0)
    48.0
    """
    x, y = np.log(counts[-_FITTED:]), np.log(np.maximum(values[-_FITTED:], 1e-300))
    spread = float(np.sum((x - x.mean()) ** 2))
    slope = float(np.sum((x - x.mean()) * (y - y.mean())) / spread) if spread else 0.0
    return float(values[-1] * (at / counts[-1]) ** min(max(slope, least), most))


def _extrapolated(estimator: Any, runs: list[_Run], count: int, clock: Clock, rates: Rates) -> dict[str, Any]:
    """Return the row of a number of workers that was not run; see the module's head."""
    last, counts = runs[-1], [run.count for run in runs]
    rounds = round(power_law(counts, [run.row["rounds"] for run in runs], count, 0.0, 1.0))
    leaves = [run.size("change") for run in runs]

    def size(shards: float) -> float:
        """The bytes of the change of one of so many shards."""
        if shards > counts[-1]:
            return power_law(counts, leaves, shards, -1.0, 0.0)
        return float(np.exp(np.interp(np.log(shards), np.log(counts), np.log(leaves))))

    each = np.full(count, last.entries.sum() / count)
    levels = tree(count)
    change = [[round(size(max(1.0, shards)))] * shards for shards in levels]
    fixed = {kind: [[round(last.size(kind))] * shards for shards in levels] for kind in ("dual", "losses")}
    made: list[dict[str, Any]] = []
    passes, certified, certifying, bytes_ = 0.0, -1.0, 0.0, 0.0
    while len(made) < rounds or certified < passes:
        begin = clock.now
        if passes - certified >= max(1.0, _CERTIFY_AFTER * passes) or len(made) == rounds:
            clock.total(rates.dual * each + rates.dual_call, fixed["dual"], 0, rates.add)
            clock.total(rates.losses * each + rates.losses_call, fixed["losses"], round(last.sent("losses")), rates.add)
            bytes_ += _sums(fixed["dual"]) + _sums(fixed["losses"]) + count * last.sent("losses")
            certifying, certified = certifying + clock.now - begin, passes
            continue
        chosen = next_passes(estimator.local_passes, made)
        sent = last.sent("change")
        seconds = clock.total(rates.visit * np.asarray(chosen) * each + rates.round, change, round(sent), rates.add)
        clock.now += rates.step
        made.append({"passes": chosen, "seconds": clock.now - begin, "computing": seconds})
        passes, bytes_ = passes + float(np.mean(chosen)), bytes_ + count * sent + _sums(change)
    finishing = last.finishing * count / last.count
    clock.now += finishing
    return {
        "workers": count,
        "rounds": rounds,
        "passes": passes,
        "bytes": round(bytes_ + last.finishing_bytes * count / last.count),
        "seconds": clock.now,
        "computing": float(sum(max(one["computing"]) for one in made)),
        "certifying": certifying,
        "finishing": finishing,
        "stop": "extrapolated",
        "lost": 0,
        "extrapolated": True,
    }


def _sums(levels: list[list[int]]) -> int:
    """Return the bytes of the parts of a tree, and of its sums."""
    return sum(map(sum, levels))


def measured_rates(estimator: Any, data: _Dealt) -> Rates:
    """Return how fast a core is with these data: a few rounds on shards of different sizes, timed."""
    with SimulatedCluster(data.halving(), estimator._how(), Clock(Network()), Rates.none()) as cluster:
        begin = time.perf_counter()
        whole = _open(estimator, cluster)
        opened = time.perf_counter() - begin
        run = Rounds(cluster, whole, {"passes": sum(_TRIAL)}, list(_TRIAL), None)
        run.run()
        fitted = {kind: _fitted(cluster, kind) for kind in ("change", "dual", "losses")}
        assert run.position is not None
        at = _dualgap.Position(whole, run.position.v())
        change = _shards._shard(cluster.run, 0).round(at, 1.0, 1.0, 1)
        adding = _least(lambda: _dualgap.add_parts("change", [change, change]))
        stepping = _least(lambda: _dualgap.Course(1).step(whole, at, change))
        begin = time.perf_counter()
        run.fingerprint()
        printed = time.perf_counter() - begin
        everything = float(cluster.entries.sum())
    return Rates(
        *fitted["change"],
        *fitted["dual"],
        *fitted["losses"],
        add=adding / (3 * len(change)),
        step=stepping,
        digest=printed / everything,
        read=opened / everything,
    )


def _fitted(cluster: SimulatedCluster, kind: str) -> tuple[float, float]:
    """Return the seconds for each entry (and pass), and for a call, that fit what was measured with the least relative errors."""
    measured: dict[tuple[float, float], list[float]] = {}
    for (what, passes, _, _), seconds in zip(cluster.calls, cluster.measured, strict=True):
        if what == kind:
            for work, second in zip(cluster.entries * np.maximum(1, passes), seconds, strict=True):
                measured.setdefault((float(work), 1.0), []).append(second)
    # Of those with the same work the median: one may have been interrupted, and the first one finds the data in no cache.
    matrix, right = np.array(list(measured)), np.array([max(np.median(each), 1e-9) for each in measured.values()])
    scale = np.array([matrix[:, 0].max(), 1.0])
    found, _ = nnls(matrix / scale / right[:, None], np.ones(len(right)))
    return float(found[0] / scale[0]), float(found[1])


def _least(work: Callable[[], Any]) -> float:
    """Return the least seconds of a few calls."""
    seconds = []
    for _ in range(5):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)
