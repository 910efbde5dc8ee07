"""The rounds of a run, driven by the client: local passes on all shards, a common step, and now and then a certificate."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from .. import _dualgap
from . import _shards
from ._cluster import Cluster, Lost

#: The most local passes of a round. More of them gain little: the other shards' changes are unknown to them.
_MOST_PASSES = 16
#: Certify when this share of all passes so far was done since the last certification, and a pass at least.
_CERTIFY_AFTER = 0.1
#: The states of the shards are fetched after so many seconds of rounds.
_KEEP_SECONDS = 20.0


class Rounds:
    """A run: the problem, the shards, and what has been done so far."""

    def __init__(
        self,
        cluster: Cluster,
        whole: _dualgap.Whole,
        limits: dict[str, Any],
        local_passes: str | int | list[int],
        callback: Callable[[dict[str, Any]], Any] | None,
    ) -> None:
        self.cluster, self.whole, self.limits, self.callback = cluster, whole, limits, callback
        self.local_passes = local_passes
        self.v = b""
        self.sigma = _dualgap.Whole.next_sigma(len(cluster))
        self.last: tuple[int, float] | None = None
        #: Every round: its local passes, σ', the share that it went, seconds, and bytes that have travelled.
        self.rounds: list[dict[str, Any]] = []
        self.history: list[dict[str, Any]] = []
        self.passes, self.certified_at = 0, 0
        #: The weights with the smallest primal value, the value, and the sum of their losses.
        self.best: tuple[bytes, float, bytes] | None = None
        self.dual = (0.0, 0.0)
        self.seconds, self.certify_seconds = 0.0, 0.0
        self.kept_at = time.monotonic()

    def run(self) -> str:
        """Take rounds until the gap is within the tolerance, or a limit is reached; return why they ended."""
        begin = time.monotonic()
        certified = False
        while True:
            try:
                if not certified:
                    self._certify()
                    certified = True
                    stop = self._stop(time.monotonic() - begin)
                    if stop is not None:
                        return stop
                    self._keep()
                self._round()
                done = self.passes - self.certified_at
                certified = done < max(1.0, _CERTIFY_AFTER * self.passes) and not self._out(time.monotonic() - begin)
            except Lost:
                # The shards that are left keep their points. v is computed from all of them again.
                self.cluster.recover()
                self.last, certified = None, False

    def _round(self) -> None:
        begin = time.perf_counter()
        number, passes, before = len(self.rounds), self._local_passes(), self.cluster.bytes
        arguments = (self.cluster.broadcast(self.v), self.last, number, self.sigma, passes)
        change, computing, _ = self.cluster.total("change", _shards.take_round, *arguments)
        gamma, self.v = self.whole.step(self.v, change)
        seconds = time.perf_counter() - begin
        self.last = number, gamma
        self.passes += passes
        self.seconds += seconds
        self.rounds.append(
            {
                "passes": passes,
                "sigma": self.sigma,
                "gamma": gamma,
                "seconds": seconds,
                "computing": computing,
                "bytes": self.cluster.bytes - before,
            }
        )
        self.sigma = _dualgap.Whole.next_sigma(len(self.cluster), self.sigma, gamma)

    def _local_passes(self) -> int:
        """Return the local passes of the next round: as given, or so many that they take as long as the communication."""
        number = len(self.rounds)
        given = self.local_passes
        most = self.limits.get("passes")
        left = _MOST_PASSES if most is None else max(1, most - self.passes)
        if isinstance(given, list):
            return max(1, given[min(number, len(given) - 1)])
        if given != "auto":
            return min(max(1, int(given)), left)
        if not self.rounds:
            return 1
        last = self.rounds[-1]
        a_pass = max(last["computing"] / last["passes"], 1e-6)
        wanted = (last["seconds"] - last["computing"]) / a_pass
        # Times are noisy: not more than twice or half as many as before.
        wanted = min(max(wanted, last["passes"] / 2), 2 * last["passes"])
        return int(min(max(1, round(wanted)), _MOST_PASSES, left))

    def _certify(self) -> None:
        begin = time.perf_counter()
        part, _, _ = self.cluster.total("dual", _shards.dual, self.last)
        self.dual, self.v = self.whole.dual(part)
        self.last = None
        w = self.whole.weights(self.v)
        part, _, _ = self.cluster.total("losses", _shards.losses, self.cluster.broadcast(w))
        (primal, error), certified = self.whole.primal(w, part)
        if certified and (self.best is None or primal < self.best[1]):
            self.best = w, primal, part
        self.certified_at = self.passes
        self.certify_seconds += time.perf_counter() - begin
        best = primal if self.best is None else self.best[1]
        self.history.append(
            {
                "passes": float(self.passes),
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
        if self.passes >= self.limits.get("passes", float("inf")):
            return "pass_limit"
        return "time_limit" if elapsed >= self.limits.get("time", float("inf")) else None

    def _keep(self) -> None:
        """Fetch the states of the shards now and then. The clock decides only from where a lost shard goes on."""
        if time.monotonic() - self.kept_at >= _KEEP_SECONDS:
            self.cluster.keep_states()
            self.kept_at = time.monotonic()

    def fingerprint(self) -> tuple[bytes, int]:
        """Return the state of the digest of all examples in order, and their number."""
        sizes = self.cluster.gather(_shards.sizes)
        total = [sum(column) for column in zip(*sizes, strict=True)]
        digest: bytes = b""
        stage = 0
        while True:
            before = [0] * len(total)
            for k, size in enumerate(sizes):
                future = self.cluster.client.submit(
                    _shards.digest_part,
                    self.cluster.run,
                    k,
                    stage,
                    before,
                    total,
                    digest,
                    workers=[self.cluster.places[k]],
                    pure=False,
                )
                found = self.cluster._wait([future], {k: self.cluster.places[k]})[0]
                if found is None:
                    return digest, total[0]
                digest = found
                before = [one + more for one, more in zip(before, size, strict=True)]
            stage += 1
