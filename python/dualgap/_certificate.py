"""The certificate of a model: how far from the optimum it can be at most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _html


@dataclass(frozen=True)
class Certificate:
    """A bound on how far from optimal a model is, computed from the data.

    Attributes
    ----------
    primal : float
        The objective at exactly the weights of the model.
    dual : float
        The dual objective at a feasible point, which no value of the objective is below.
    rounding : float
        By how much `primal` and `dual` together may be wrong.
    reached : bool
        Whether the run reached the tolerance that it was given.
    certified : bool
        Whether `primal` is an upper bound. It is not if an oracle could not bound what it may have missed.
    basis : str or dict
        What `primal` rests on: ``"exact"``, or a promise of an approximate oracle.
    evidence : str
        What `dual` rests on: ``"witness"``, the dual point that it was computed from, or the ``"word"`` of the run, if
        a model file was saved without its witness.
    """

    primal: float
    dual: float
    rounding: float
    reached: bool = True
    certified: bool = True
    basis: Any = "exact"
    evidence: str = "witness"

    @classmethod
    def _of(cls, fields: dict[str, Any], reached: bool, evidence: str = "witness") -> Certificate:
        """Return the certificate of the extension's dict."""
        return cls(
            primal=fields["primal"],
            dual=fields["dual"],
            rounding=fields["rounding_error"],
            reached=reached,
            certified=fields["certified"],
            basis=fields.get("basis", "exact"),
            evidence=evidence,
        )

    @classmethod
    def _sum(cls, parts: Sequence[Certificate]) -> Certificate:
        """Return the certificate of the sum of independent problems."""
        primal = math.fsum(part.primal for part in parts)
        dual = math.fsum(part.dual for part in parts)
        # Sums are rounded correctly, that is by at most half a unit in the last place each; the one of rounding errors
        # is moved up to be a bound.
        own = [0.5 * math.ulp(primal), 0.5 * math.ulp(dual)]
        rounding = math.nextafter(math.fsum([*(part.rounding for part in parts), *own]), math.inf)
        bases = [part.basis for part in parts]
        return cls(
            primal=primal,
            dual=dual,
            rounding=rounding,
            reached=all(part.reached for part in parts),
            certified=all(part.certified for part in parts),
            basis=bases[0] if all(basis == bases[0] for basis in bases) else bases,
            evidence="word" if any(part.evidence == "word" for part in parts) else "witness",
        )

    @property
    def gap(self) -> float:
        """The duality gap, ``primal - dual``."""
        return self.primal - self.dual

    @property
    def gap_bound(self) -> float:
        """The proven bound on the distance to the optimum: the gap, and all rounding; infinite if nothing is proven."""
        return max(self.gap + self.rounding, 0.0) if self.certified else float("inf")

    @property
    def relative_gap(self) -> float:
        """The proven bound as a fraction of the primal value."""
        bound = self.gap_bound
        if bound == 0.0:
            return 0.0
        return bound / abs(self.primal) if self.primal else float("inf")

    @property
    def is_vacuous(self) -> bool:
        """Whether the proven lower bound is not above zero, which losses are never below: then nothing is proved yet."""
        return self.certified and self.primal > 0.0 and self.gap_bound > 0.0 and self.dual <= self.rounding

    def _repr_html_(self) -> str:
        return _html.certificate(self)

    def __str__(self) -> str:
        if not self.certified:
            return f"uncertified: primal {self.primal:.6g} is only the best value that was found"
        if self.is_vacuous:
            return (
                "no more is proved yet than that losses are never negative (more passes, or a tolerance, prove more): "
                f"primal {self.primal:.6g}, dual {self.dual:.6g}, rounding {self.rounding:.1g}"
            )
        return (
            f"at most {self.gap_bound:.2g} above the optimum ({self.relative_gap:.2g} of the objective): "
            f"primal {self.primal:.6g}, dual {self.dual:.6g}, rounding {self.rounding:.1g}"
        )
