"""The rounds of a run, driven by the client: local passes on all shards, a common step, and now and then a certificate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

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
#: As on one machine, a run has stalled after so many certifications in a row that have improved neither value.
_STANDSTILL = 10
#: The states of the shards are fetched after this many seconds at least, and this many times as long as it takes.
_KEEP_SECONDS, _KEEP_SHARE = 1.0, 20.0


#: The local passes of a round: of all shards, or of each.
Passes = int | list[int]
#: What the callbacks are told, a certification or the passes between two, to which they answer whether to stop.
Told = Callable[[dict[str, Any] | float], bool]

_Found = TypeVar("_Found")


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
        callback: Told | None,
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
        #: Whether a callback or Ctrl-C ends the run, and what was raised then.
        self.ended = False
        self.raised: BaseException | None = None
        #: Whether shards have to be read again before anything else.
        self.lost = False
        self.examples = sum(cluster.examples)
        #: Passes over all examples, of which a round has fractions if some shards make fewer passes than others; and visits.
        self.passes, self.certified_at, self.steps = 0.0, 0.0, 0
        #: The weights with the smallest primal value, the value with its error, and the sum of their losses.
        self.best: tuple[bytes, tuple[float, float], bytes] | None = None
        #: The primal value of the last certification.
        self.primal: float | None = None
        self.dual = (0.0, 0.0)
        self.standstill = 0
        self.seconds, self.certify_seconds = 0.0, 0.0
        self.begun = self.kept_at = cluster.clock()
        self.keeping = 0.0
        if checkpoint is not None and checkpoint.passes:
            self.passes = self.certified_at = checkpoint.passes
            self.steps = round(self.passes * self.examples)

    def attempt(self, work: Callable[[], _Found]) -> _Found | None:
        """Return what the work finds, or None if shards were lost meanwhile, or at the first Ctrl-C: it is then to be done again."""
        try:
            if self.lost:
                # The shards that are left keep their points. v is computed from all of them again; the centre of the rounds may stay.
                self.cluster.recover()
                self.last, self.lost = None, False
            return work()
        except Lost:
            self.lost = True
        except KeyboardInterrupt as error:
            if self.raised is not None:
                raise
            self._end(error)
            if self.position is not None:
                # It may have moved without a word to the workers.
                self._moved("whole", self.position.to_bytes())
        return None

    def run(self) -> str:
        """Take rounds until the gap is within the tolerance, or a limit is reached; return why they ended."""
        while (stop := self.attempt(self._go)) is None:
            pass
        return stop

    def _go(self) -> str:
        while True:
            self._certify()
            stop = self._stop()
            if stop is not None:
                return stop
            self._keep()
            while True:
                self._round()
                if self.passes - self.certified_at >= max(1.0, _CERTIFY_AFTER * self.passes) or self.ended or self._out():
                    break

    def _end(self, error: BaseException | None) -> None:
        """End the run with the next certificate. The callbacks are not called again."""
        self.ended, self.raised, self.callback = True, error, None

    def _tell(self, news: dict[str, Any] | float) -> None:
        if self.callback is None:
            return
        try:
            if self.callback(news):
                self._end(None)
        except BaseException as error:  # noqa: BLE001 (raised when the model is there)
            self._end(error)

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
        self.steps += int(np.dot(each, self.cluster.examples))
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
        self._tell(self.passes)

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
        return next_passes(self.local_passes, self.rounds, max(1, int(min(_MOST_PASSES, *self._left().values()))))

    def _left(self) -> dict[str, float]:
        """Return how many passes each of the limits on work leaves, by why the run ends when that is less than one."""
        passes, calls = (self.limits.get(name, float("inf")) for name in ("passes", "oracle_calls"))
        return {"pass_limit": passes - self.passes, "oracle_limit": (calls - self.steps) / self.examples}

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
        if certified and (self.best is None or primal < self.best[1][0]):
            self.best = w, (primal, error), part
        if self.primal is not None and primal > self.primal:
            # The momentum has overshot.
            at.rest()
            self._moved("rested", b"")
        self.primal = primal
        self.certified_at = self.passes
        self.certify_seconds += self.cluster.clock() - begin
        best, error = (primal, error) if self.best is None else self.best[1]
        self._note(best, error + self.dual[1], primal)

    def _note(self, primal: float, rounding: float, here: float) -> None:
        """Write down a certification, as a run on one machine does: the best primal value, and that of the weights now."""
        dual, certified = self.dual[0], self.best is not None
        if self.history:
            before = self.history[-1]
            still = primal >= before["primal"] and dual <= before["dual"]
            self.standstill = self.standstill + 1 if still else 0
        self.history.append(
            {
                "passes": self.passes,
                "rounds": len(self.rounds),
                "steps": self.steps,
                "oracle_calls": self.steps,
                "solve_seconds": self.seconds,
                "certify_seconds": self.certify_seconds,
                "primal": primal,
                "dual": dual,
                "gap": primal - dual if certified else None,
                "rounding_error": rounding,
                "certified": certified,
                "iterate_primal": here,
                "iterate_dual": dual,
            }
        )

    def _stop(self) -> str | None:
        """Tell of the last certification, and return why the run ends with it, if it does."""
        now = self.history[-1]
        self._tell(dict(now))
        if now["certified"]:
            bound = now["gap"] + now["rounding_error"]
            relative, absolute = self.limits.get("tolerance", -1.0), self.limits.get("absolute_tolerance", -1.0)
            if bound <= max(relative * abs(now["primal"]), absolute):
                return "gap_reached"
            if now["gap"] <= now["rounding_error"]:
                return "stalled"
        if self.standstill >= _STANDSTILL:
            return "stalled"
        return "interrupted" if self.ended else self._out()

    def _out(self) -> str | None:
        """Return which limit is reached, if one is."""
        for stop, left in self._left().items():
            if left < 1:
                return stop
        return "time_limit" if self.cluster.clock() - self.begun >= self.limits.get("time", float("inf")) else None

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
