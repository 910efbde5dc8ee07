"""Pieces of HTML for notebooks: readable on light and dark pages, without scripts or anything from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._certificate import Certificate

#: Blue, and the orange beside it, of Okabe and Ito's palette: told apart by everybody, on white and on black.
BLUE, ORANGE = "#0072B2", "#E69F00"


def progress(name: str, fraction: float, text: str) -> str:
    """Return a bar with a name before it and a text behind it."""
    percent = 100.0 * min(max(fraction, 0.0), 1.0)
    return (
        '<div style="display:flex;align-items:center;gap:0.8em;font-size:0.9em">'
        f"<span>{escape(name)}</span>"
        '<span style="display:inline-block;width:16em;height:0.8em;border:1px solid rgba(128,128,128,0.6);'
        'border-radius:3px;overflow:hidden">'
        f'<span style="display:block;width:{percent:.1f}%;height:100%;background:{BLUE}"></span></span>'
        f"<span>{int(percent)}&nbsp;%</span><span>{escape(text)}</span></div>"
    )


def table(rows: list[tuple[str, str, str]]) -> str:
    """Return a table of names, values and remarks."""
    cell = "padding:0.1em 1em 0.1em 0;border:none"
    lines = "".join(
        f'<tr style="background:none"><th style="{cell};text-align:left;font-weight:600">{escape(name)}</th>'
        f'<td style="{cell};text-align:right;font-family:monospace">{escape(value)}</td>'
        f'<td style="{cell};text-align:left;opacity:0.75">{escape(remark)}</td></tr>'
        for name, value, remark in rows
    )
    return f'<table style="border-collapse:collapse;margin:0.4em 0;border:none"><tbody>{lines}</tbody></table>'


def gap_scale(relative_gap: float, tolerance: float | None) -> str:
    """Return a logarithmic scale that is filled from a gap of 100 % down to the proven one.

    A mark shows the tolerance, if there is one.
    """
    smallest = min(gap for gap in (relative_gap, tolerance, 1e-4) if gap)
    # The decade below the smallest number leaves room for its mark. Gaps below 1e-16 are not told apart.
    decades = min(max(math.ceil(-math.log10(smallest)), 4), 16)
    left, width, top = 6.0, 360.0, 4.0

    def place(gap: float) -> float:
        digits = -math.log10(gap) if gap > 0.0 else decades
        return left + width * min(max(digits, 0.0), decades) / decades

    end = place(relative_gap) if math.isfinite(relative_gap) else left
    parts = [
        f'<rect x="{left}" y="{top}" width="{width}" height="10" rx="2" fill="none" stroke="currentColor" '
        'stroke-opacity="0.5"/>',
        f'<rect x="{left}" y="{top}" width="{end - left:.1f}" height="10" rx="2" fill="{BLUE}"/>',
    ]
    stride = -(-decades // 5)
    for decade in range(0, decades + 1, stride):
        parts.append(
            f'<text x="{place(10.0**-decade):.1f}" y="{top + 25}" text-anchor="middle" fill="currentColor" '
            f'font-size="10">{_share(10.0**-decade)}</text>'
        )
    if tolerance:
        x = place(tolerance)
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top - 3}" y2="{top + 13}" stroke="{ORANGE}" stroke-width="3"/>'
        )
    title = f"proven gap {relative_gap:.2g}" + (f", tolerance {tolerance:.2g}" if tolerance else "")
    return (
        f'<svg width="{width + 40:.0f}" height="34" viewBox="-14 0 {width + 40:.0f} 34" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{"".join(parts)}</svg>'
    )


def _share(gap: float) -> str:
    return f"{100.0 * gap:g} %" if gap >= 1e-4 else f"{gap:.0e}".replace("e-0", "e-")


def certificate(found: Certificate, *, tolerance: float | None = None, more: Sequence[tuple[str, str, str]] = ()) -> str:
    """Return a certificate as a sentence, a scale of the gap and a table; `more` rows come last."""
    if found.is_vacuous:
        sentence = (
            "<b>No more is proved yet</b> than that losses are never negative. More passes, or a tolerance in their "
            "place, prove more."
        )
    elif found.certified:
        sentence = (
            f"The objective of this model is at most <b>{found.gap_bound:.2g}</b> "
            f"({_percent(found.relative_gap)}) above the optimum."
        )
    else:
        sentence = (
            "<b>Not certified</b>: an oracle could not bound what it may have missed, and the primal value is only the "
            "best one that was found."
        )
    rows = [
        ("primal", f"{found.primal:.10g}", "the objective at the weights of the model"),
        ("dual", f"{found.dual:.10g}", "the optimum is not below"),
        ("gap", f"{found.gap:.3g}", "primal - dual"),
        ("rounding", f"{found.rounding:.2g}", "by how much both may be wrong together"),
    ]
    if found.basis != "exact":
        rows.append(("basis", str(found.basis), "what the primal value rests on"))
    if found.evidence != "witness":
        rows.append(("evidence", str(found.evidence), "what the dual value rests on"))
    scale = gap_scale(found.relative_gap, tolerance) if found.certified else ""
    return f"<div><div>{sentence}</div>{scale}{table([*rows, *more])}</div>"


def _percent(share: float) -> str:
    return f"{100.0 * share:.2g} %" if 1e-4 <= share < 1.0 else f"{share:.2g} of it"
