"""Every program as a user meets it: without a tolerance, on the problem as it is."""

from __future__ import annotations

from .judge import default
from .layout import lines, seconds, times
from .rows import Of, defaults, rungs_of

#: A default that leaves more than this is no rival: ours promises it.
PROMISED = 1e-2
#: However far a default ends from the optimum.
ANYWHERE = float("inf")
#: A default that takes longer than so many times that of a peer has to say what to do about it.
SLOW = 5.0
#: What stands for no remark, and for a record that is older than the keeping of remarks.
SILENT, UNKNOWN = "nothing", "not recorded"

#: The fastest default of other programs: seconds, name, and how far above the optimum.
Fastest = tuple[float, str, float]


def fastest(records: Of, within: float) -> Fastest | None:
    """Return the fastest default of the peers that came within so much of the optimum."""
    others = {program: found for program, found in defaults(records).items() if program != "dualgap"}
    return min(((took, program, above) for program, (took, above) in others.items() if above <= within), default=None)


def slower(records: Of, within: float) -> float | None:
    """Return how many times as long our default takes as the fastest of those peers."""
    own, peer = defaults(records).get("dualgap"), fastest(records, within)
    return own[0] / peer[0] if own and peer else None


def is_slow(records: Of, within: float = ANYWHERE) -> bool:
    """Return whether our default takes longer than the goal allows beside those peers."""
    return (slower(records, within) or 0.0) > SLOW


def told(records: Of) -> str:
    """Return what dualgap says at the end of its default run."""
    own = default(rungs_of(records))
    if not own or "remarks" not in own:
        return UNKNOWN
    return "; ".join(own["remarks"]).replace("|", "/") or SILENT


def defaults_table(problems: dict[str, Of]) -> list[str]:
    """Our default beside the fastest that keeps what ours promises, beside the fastest of all, and what is said where it is slow."""
    rows = []
    for name, records in problems.items():
        own = defaults(records).get("dualgap")
        row = [name, *([seconds(own[0]), f"{own[1]:.0e}"] if own else ["–", "–"])]
        near, anyone = fastest(records, PROMISED), fastest(records, ANYWHERE)
        row += [*beside(near), times(slower(records, PROMISED))]
        row += [*beside(anyone), times(slower(records, ANYWHERE))] if anyone != near else ["the same", "", ""]
        rows.append([*row, told(records) if is_slow(records) else ""])
    above = "above the optimum"
    head = ["problem", "dualgap", above, "fastest peer within 1 %", above, "ratio", "fastest of all peers", above, "ratio", "dualgap says"]
    return ["### Defaults", "", *summary(problems), "", *lines(head, rows)]


def beside(peer: Fastest | None) -> list[str]:
    """Return the cells of a peer."""
    return [f"{seconds(peer[0])}, {peer[1]}", f"{peer[2]:.0e}"] if peer else ["–", "–"]


def summary(problems: dict[str, Of]) -> list[str]:
    """Which of our defaults take longer than the goal allows, and how many of them say something."""
    out = []
    of = {PROMISED: "the fastest peer that ends within 1 %", ANYWHERE: "the fastest of all peers, however far from the optimum it ends"}
    for within, words in of.items():
        compared = [name for name, records in problems.items() if slower(records, within) is not None]
        slow = [name for name in compared if is_slow(problems[name], within)]
        said = sum(told(problems[name]) not in (SILENT, UNKNOWN) for name in slow)
        out.append(f"- More than {SLOW:g} times the seconds of {words}: {len(slow)} of {len(compared)} rows.")
        if slow:
            out.append(f"  dualgap has a remark on {said} of these: {', '.join(slow)}.")
    return out
