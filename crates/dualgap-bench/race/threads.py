"""dualgap on several threads, beside the fastest peer on one thread and beside itself on one."""

from __future__ import annotations

from .layout import factor, lines, middle, seconds
from .rows import COLUMNS, Of, best_peer, own_seconds, ratio

#: What is asked of two threads, beside the fastest peer on one.
ASKED = 1.5


def measured(records: Of) -> list[int]:
    """Return the numbers of threads above one on which the same build was measured as on one."""
    version = records.get(("dualgap", 1), {"version": None})["version"]
    own = [threads for (program, threads), record in records.items() if program == "dualgap" and record["version"] == version]
    return sorted(threads for threads in own if threads > 1)


def beside_peer(records: Of, goal: float, threads: int) -> float | None:
    """Return how many times as fast dualgap is on several threads as the fastest peer on one."""
    share = ratio(records, goal, threads)
    return None if share is None else 1 / share


def beside_itself(records: Of, goal: float, threads: int) -> float | None:
    """Return how many times as fast dualgap is on several threads as on one."""
    one, several = own_seconds(records, goal), own_seconds(records, goal, threads)
    return one / several if one and several else None


def threads_table(problems: dict[str, Of]) -> list[str]:
    """Every row that was measured on more than one thread."""
    found = [(name, records, threads) for name, records in problems.items() for threads in measured(records)]
    rows = []
    for name, records, threads in found:
        row = [f"{name}, {threads} threads"]
        for goal in COLUMNS:
            row += [seconds(own_seconds(records, goal, threads))]
            row += [factor(beside_peer(records, goal, threads)), factor(beside_itself(records, goal, threads))]
        rows.append(row)
    head = ["problem"]
    for goal in COLUMNS:
        head += [f"to {goal:.0e}", "as the best peer on one", "as dualgap on one"]
    words = "Times as fast as the best peer on one thread, and as dualgap on one."
    return ["### On more than one thread", "", words, "", *summary(problems), "", *lines(head, rows)] if rows else []


def summary(problems: dict[str, Of]) -> list[str]:
    """In how many rows several threads are as fast as asked, and by how much they help."""
    out = []
    for threads in sorted({threads for records in problems.values() for threads in measured(records)}):
        of = [records for records in problems.values() if threads in measured(records)]
        for goal in COLUMNS:
            peers = [times for records in of if (times := beside_peer(records, goal, threads)) is not None]
            itself = [times for records in of if (times := beside_itself(records, goal, threads)) is not None]
            reached = sum(best_peer(records, goal) is not None for records in of)
            enough = sum(times >= ASKED for times in peers)
            faster = sum(times > 1 for times in itself)
            beside = f"at least {ASKED:g} times as fast as the best peer on one thread in {enough} of {reached} rows that a peer reaches"
            beside += f", median {middle(peers)}"
            alone = f"faster than dualgap on one thread in {faster} of {len(itself)} rows, median {middle(itself)}"
            out.append(f"- {threads} threads to {goal:.0e}: {beside}; {alone}.")
    return out
