"""How numbers and tables look in docs/race.md."""

from __future__ import annotations

from collections.abc import Iterable


def seconds(number: float | None) -> str:
    """Return seconds with three digits, or a dash for a run that did not get there."""
    if number is None:
        return "–"
    return f"{number * 1e3:.3g} ms" if number < 1 else f"{number:.3g} s"


def times(number: float | None) -> str:
    """Return a ratio; those that fall behind are bold."""
    if number is None:
        return "–"
    text = f"{number:.2f}" if number < 10 else f"{number:.0f}"
    return f"**{text}**" if number > 1 else text


def factor(number: float | None) -> str:
    """Return how many times as fast something is."""
    return "–" if number is None else f"{number:.2f}"


def middle(numbers: Iterable[float]) -> str:
    """Return the median; of an even count the larger of the two in the middle."""
    known = sorted(numbers)
    return f"{known[len(known) // 2]:.2f}" if known else "unknown"


def lines(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Return a table whose first column has words and all others numbers."""
    rule = ["---"] + ["---:"] * (len(head) - 1)
    return ["| " + " | ".join(row) + " |" for row in [head, rule, *rows]] + [""]
