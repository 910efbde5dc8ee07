"""The rounds of a run, driven by the client: local passes on all shards, a common step, and now and then a certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _dualgap
from . import _shards
from ._checkpoint import Checkpoint
from ._cluster import Cluster, Lost
from ._shards import Behind, Part, Step

#: The most local passes of a round. More of them gain little: the other shards' changes are unknown to them.
_MOST_PASSES = 4
#: The local passes of the first round, and the fewest of any that chooses them itself: with one, the centre of the rounds moves before the
#: shards have settled around it, and letters in two shards took 184 rounds in the place of 19.
_FEWEST_PASSES = 2
#: A shard is slow if a pass of it took more than this many times as long as one of most shards, and in two rounds: one may have been disturbed.
#: With a worker that was five times as slow as one other or three others, one pass there and four elsewhere took 11 to 35 % less time than two
#: everywhere, and at most two fifths more rounds (simulated: logistic, hinge and multiclass hinge on 4000 generated examples).
_SLOW, _LOOKED = 3.0, 2
#: Only rounds in which all shards make as many passes are compared. There is one at least every so many rounds, and a worker that is fast
#: again is seen in it.
_AGAIN = 10
#: Certify when this share of all passes so far was done since the last certification, and a pass at least.
_CERTIFY_AFTER = 0.2
#: v of the rounds may differ from that of the points by this share of its largest entry: it is rounded in every round.
_DRIFT = 1e-11
#: What a position has beside a change, where there is none.
_STILL = (0.0, 1.0, 1.0)
#: The states of the shards are fetched after this many seconds at least, and this many times as long as it takes.
_KEEP_SECONDS, _KEEP_SHARE = 1.0, 20.0


#: The local passes of a round: of all shards, or of each.
Passes = int | list[int]


def next_passes(given: str | int | list[Passes], rounds: list[dict[str, Any]], left: int = _MOST_PASSES) -> Passes:
    """Return the local passes of the next round: as given, or so many that they take as long as the communication.

    A shard whose worker is slow makes one pass, and the others make as many as fit into it.

    >>> from dualgap.dask._rounds import next_passes
    >>> next_passes("auto", [{"passes": 2, "seconds": 3.0, "computing": [1.0, 0.9]}])
    4
    >>> next_passes("auto", 2 * [{"passes": 2, "seconds": 8.1, "computing": [8.0, 1.0, 1.1]}])
    [1, 4, 4]
    """
    if isinstance(given, list):
        recorded = given[min(len(rounds), len(given) - 1)]
        return [max(1, int(each)) for each in recorded] if isinstance(recorded, list) else max(1, int(recorded))
    if given != "auto":
        return min(max(1, int(given)), left)
    if not rounds:
        return min(_FEWEST_PASSES, left)
    alike = [k for k, made in enumerate(rounds) if isinstance(made["passes"], int)]
    last = rounds[alike[-1]]
    a_pass = max(max(last["computing"]) / last["passes"], 1e-6)
    waiting = last["seconds"] - max(last["computing"])
    # Times are noisy: not more than twice or half as many as before.
    wanted = min(max(waiting / a_pass, last["passes"] / 2), 2 * last["passes"])
    common = int(min(max(_FEWEST_PASSES, round(wanted)), _MOST_PASSES, left))
    if left == 1 or len(alike) < _LOOKED or len(rounds) - alike[-1] >= _AGAIN:
        return common
    paces = np.min([np.divide(rounds[k]["computing"], rounds[k]["passes"]) for k in alike[-_LOOKED:]], axis=0)
    # Of two shards the faster one is most of them. What is short beside the communication holds nobody up.
    usual = max(np.sort(paces)[(len(paces) - 1) // 2], waiting / _MOST_PASSES)
    slow = paces > _SLOW * usual
    if not slow.any():
        return common
    others = min(int(paces.max() / usual), _MOST_PASSES, left)
    return [1 if it else others for it in slow]


class Rounds:
    """A run: the problem, the shards, and what has been done so far."""

    def __init__(
        self,
        cluster: Cluster,
        whole: _dualgap.Whole,
        limits: dict[str, Any],
        local_passes: str | int | list[Passes],
        callback: Callable[[dict[str, Any]], Any] | None,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.cluster, self.whole, self.limits, self.callback = cluster, whole, limits, callback
        self.local_passes, self.checkpoint = local_passes, checkpoint
        for given in local_passes if isinstance(local_passes, list) else []:
            if isinstance(given, list) and len(given) != len(cluster):
                raise ValueError(f"local_passes has {len(given)} numbers for a round, and there are {len(cluster)} shards")
        self.course = _dualgap.Course(len(cluster))
        self.position: _dualgap.Position | None = None
        #: What the workers' positions have to follow: the step, and its payload.
        self.step: Step = (0, "whole", _STILL)
        self.payload: bytes = b""
        #: The last round that was taken, whether or not it came to an end, and what shards have to apply.
        self.taken = 0
        self.last: tuple[int, float] | None = None
        #: Every round: its local passes, σ', λ/λ', the share that it went, its seconds and those of every shard, and bytes that have travelled.
        self.rounds: list[dict[str, Any]] = []
        self.history: list[dict[str, Any]] = []
        #: Passes over all examples, of which a round has fractions if some shards make fewer passes than others.
        self.passes, self.certified_at = 0.0, 0.0
        #: The weights with the smallest primal value, the value, and the sum of their losses.
        self.best: tuple[bytes, float, bytes] | None = None
        #: The primal value of the last certification.
        self.primal: float | None = None
        self.dual = (0.0, 0.0)
        self.seconds, self.certify_seconds = 0.0, 0.0
        self.kept_at, self.keeping = cluster.clock(), 0.0
        if checkpoint is not None and checkpoint.passes:
            self.passes = self.certified_at = checkpoint.passes

    def run(self) -> str:
        """Take rounds until the gap is within the tolerance, or a limit is reached; return why they ended."""
        begin = self.cluster.clock()
        certified = False
        while True:
            try:
                if not certified:
                    self._certify()
                    certified = True
                    stop = self._stop(self.cluster.clock() - begin)
                    if stop is not None:
                        return stop
                    self._keep()
                self._round()
                done = self.passes - self.certified_at
                certified = done < max(1.0, _CERTIFY_AFTER * self.passes) and not self._out(self.cluster.clock() - begin)
            except Lost:
                # The shards that are left keep their points. v is computed from all of them again; the centre of the rounds may stay.
                self.cluster.recover()
                self.last, certified = None, False

    def _round(self) -> None:
        begin = self.cluster.clock()
        self.taken += 1
        passes, before, at = self._local_passes(), self.cluster.bytes, self.position
        share, sigma = self.course.share, self.course.sigma
        each = [passes] * len(self.cluster) if isinstance(passes, int) else passes
        change, computing, _ = self._total("change", _shards.take_round, self.last, self.taken, share, sigma, each=each)
        assert at is not None
        to = self.course.step(self.whole, at, change)
        self._moved("moved", change, to)
        gamma = to[0]
        self.last = self.taken, gamma
        seconds = self.cluster.clock() - begin
        self.passes += float(np.average(each, weights=self.cluster.examples))
        self.seconds += seconds
        self.rounds.append(
            {
                "passes": passes,
                "sigma": sigma,
                "share": share,
                "gamma": gamma,
                "seconds": seconds,
                "computing": list(computing),
                "bytes": self.cluster.bytes - before,
            }
        )

    def _moved(self, kind: str, payload: bytes, to: tuple[float, float, float] = _STILL) -> None:
        """Say how the position has changed since the workers were last told."""
        self.step, self.payload = (self.step[0] + 1, kind, to), payload

    def _total(self, kind: str, function: Callable[..., Part], *arguments: Any, each: list[int] | None = None) -> Part:
        """Add what shards find at the position, and send it whole to workers that do not have the one before."""
        while True:
            try:
                payload = self.cluster.broadcast(self.payload)
                part = self.cluster.total(kind, function, self.step, payload, *arguments, each=each)
                break
            except Behind:
                at = self.position
                assert at is not None
                self._moved("whole", at.to_bytes())
        # All workers have it now.
        self.step, self.payload = (self.step[0], "held", _STILL), b""
        return part

    def _local_passes(self) -> Passes:
        most = self.limits.get("passes")
        left = _MOST_PASSES if most is None else max(1, int(most - self.passes))
        return next_passes(self.local_passes, self.rounds, left)

    def _position(self, v: bytes) -> _dualgap.Position:
        """Return the position, after a look whether it has drifted from the v of all points by rounding."""
        at = self.position
        if at is None:
            at = self.position = _dualgap.Position(self.whole, v)
            self._moved("whole", at.to_bytes())
            return at
        exact, near = np.frombuffer(v), np.frombuffer(at.v())
        if np.abs(exact - near).max() > _DRIFT * np.abs(exact).max():
            at.settle(v)
            self._moved("whole", at.to_bytes())
        return at

    def _certify(self) -> None:
        begin = self.cluster.clock()
        part, _, _ = self.cluster.total("dual", _shards.dual, self.last)
        self.dual, v = self.whole.dual(part)
        self.last = None
        at = self._position(v)
        part, _, _ = self._total("losses", _shards.losses)
        w = at.weights()
        (primal, error), certified = self.whole.primal(w, part)
        if certified and (self.best is None or primal < self.best[1]):
            self.best = w, primal, part
        if self.primal is not None and primal > self.primal:
            # The momentum has overshot.
            at.rest()
            self._moved("rested", b"")
        self.primal = primal
        self.certified_at = self.passes
        self.certify_seconds += self.cluster.clock() - begin
        best = primal if self.best is None else self.best[1]
        self.history.append(
            {
                "passes": self.passes,
                "rounds": len(self.rounds),
                "solve_seconds": self.seconds,
                "certify_seconds": self.certify_seconds,
                "primal": best,
                "dual": self.dual[0],
                "gap": best - self.dual[0],
                "rounding_error": error + self.dual[1],
            }
        )

    def _stop(self, elapsed: float) -> str | None:
        now = self.history[-1]
        bound = now["gap"] + now["rounding_error"]
        tolerance, absolute = self.limits.get("tolerance"), self.limits.get("absolute_tolerance")
        if tolerance is not None and bound <= tolerance * abs(now["primal"]):
            return "gap_reached"
        if absolute is not None and bound <= absolute:
            return "gap_reached"
        if self.callback is not None and self.callback(dict(now)):
            return "interrupted"
        return self._out(elapsed)

    def _out(self, elapsed: float) -> str | None:
        """Return which limit is reached, if one is."""
        if self.limits.get("passes", float("inf")) - self.passes < 1:
            return "pass_limit"
        return "time_limit" if elapsed >= self.limits.get("time", float("inf")) else None

    def _keep(self) -> None:
        """Fetch the states of the shards now and then. The clock decides only from where a lost shard goes on."""
        begin = self.cluster.clock()
        if begin - self.kept_at < max(_KEEP_SECONDS, _KEEP_SHARE * self.keeping):
            return
        self.cluster.keep_states()
        if self.checkpoint is not None:
            self.checkpoint.write(self.passes, self.cluster.states)
        self.kept_at = self.cluster.clock()
        self.keeping = self.kept_at - begin

    def fingerprint(self) -> tuple[list[bytes], int]:
        """Return the parts that the shards have of the fingerprint of all examples, and the number of these."""
        sizes = self.cluster.gather(_shards.sizes)
        *before, total = np.cumsum([[0] * len(sizes[0]), *sizes], axis=0).tolist()
        return self.cluster.gather(_shards.print_part, total, each=before), total[0]
