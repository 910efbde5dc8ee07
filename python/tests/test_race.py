"""The judge of the race: values, ladders, records and tables, and what becomes of programs that fail."""

from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "crates" / "dualgap-bench"))

from race import __main__ as main
from race import behind, climb, defaults, figures, ours, passes, peers, sets, table, threads
from race.judge import Bracket, in_hindsight, is_done, proved
from race.problems import KINDS, Problem, l1_max, problems_of, value
from race.records import Records, key
from race.rows import best_peer, bracket, ratio, shares

RANDOM = np.random.default_rng(0)


def a_set(nature: str, n: int = 24, d: int = 5, path: pathlib.Path = pathlib.Path()) -> sets.Set:
    random = np.random.default_rng(1)
    X = sparse.csr_matrix(np.round(random.standard_normal((n, d)), 3))
    y = {"binary": np.where(random.random(n) < 0.5, 1.0, -1.0), "multiclass": np.arange(n) % 3 + 1.0, "regression": X.sum(axis=1).A1}
    return sets.Set(f"tiny-{nature}", nature, path, X, np.asarray(y[nature]))


def rung(seconds: float, of: float, tolerance: float | None = 1e-3, **more: Any) -> dict[str, Any]:
    return {"tolerance": tolerance, "seconds": seconds, "value": of, **more}


def by_hand(kind: str, scores: np.ndarray, y: float, classes: np.ndarray) -> float:
    if kind == "crammer-singer":
        truth = list(classes).index(y)
        return max(score + (k != truth) for k, score in enumerate(scores)) - scores[truth]
    if kind == "softmax":
        return math.log(sum(math.exp(score) for score in scores)) - scores[list(classes).index(y)]
    margin = y * float(scores)
    return {
        "hinge": max(0.0, 1 - margin),
        "squared-hinge": max(0.0, 1 - margin) ** 2,
        "logistic": math.log(1 + math.exp(-margin)),
        "l1-logistic": math.log(1 + math.exp(-margin)),
    }.get(kind, (float(scores) - y) ** 2 / 2)


@pytest.mark.parametrize(("nature", "kind"), [(nature, kind) for nature, kinds in KINDS.items() for kind in kinds])
def test_a_value_is_the_mean_loss_and_the_penalty(nature: str, kind: str) -> None:
    data, problem = a_set(nature), Problem("tiny", kind, "", 0.3, 0.2)
    w = RANDOM.standard_normal((3, 5) if nature == "multiclass" else 5)
    rows = data.X.toarray()
    loss = sum(by_hand(kind, w @ row, y, data.classes) for row, y in zip(rows, data.y, strict=True)) / data.n
    assert value(data, problem, w) == pytest.approx(loss + 0.15 * (w**2).sum() + 0.2 * abs(w).sum())


@pytest.mark.parametrize("kind", ["lasso", "l1-logistic"])
def test_at_the_largest_sigma_no_small_weight_pays(kind: str) -> None:
    data = a_set("binary")
    top = l1_max(data, kind)
    zero = value(data, Problem("", kind, "", 0, top), np.zeros(5))
    moves = [sign * 1e-4 * np.eye(5)[j] for j in range(5) for sign in (1, -1)]
    assert all(value(data, Problem("", kind, "", 0, 1.001 * top), w) > zero for w in moves)
    assert any(value(data, Problem("", kind, "", 0, 0.9 * top), w) < zero for w in moves)


def test_no_problem_is_there_twice_and_strengths_are_as_said() -> None:
    found = list(problems_of(a_set("binary", n=10_000)))
    assert len({(p.kind, p.lam, p.l1) for p in found}) == len(found)
    assert {p.lam for p in found if p.kind == "hinge"} == {1e-3, 1e-4}
    assert [p.strength for p in found if p.kind == "hinge"] == ["10/n", "1/n"]
    top = l1_max(a_set("binary", n=10_000), "lasso")
    assert [p.l1 for p in found if p.kind == "lasso"] == pytest.approx([0.1 * top, 0.01 * top], rel=1e-5)
    assert all(p.lam == pytest.approx(p.l1 / 10) for p in found if p.kind == "elastic-net")


def test_a_tight_bound_judges_and_a_loose_one_does_not() -> None:
    tight = Bracket.of([rung(1, 1.0 + 1e-7, lower=1.0)])
    assert tight.is_tight and tight.floor == 1.0
    assert tight.is_near(1 + 9e-7, 1e-6) and not tight.is_near(1 + 2e-6, 1e-6)
    loose = Bracket.of([rung(1, 1.1, lower=0.5)], [rung(1, 1.0), rung(2, 1.0)])
    assert not loose.is_tight and loose.floor == 0.5  # one program alone has found the best value
    agreed = Bracket.of([rung(1, 1.1, lower=0.5)], [rung(1, 1.0)], [rung(1, 1.0 + 1e-9)])
    assert not agreed.is_tight and agreed.floor == 1.0
    # Nobody has found the optimum yet: only the bound itself would end a ladder.
    assert not is_done([rung(1, 0.9)], Bracket.of([rung(1, 1.1, lower=0.5)]))
    assert not is_done([rung(1, 0.9)], Bracket.of([]))


def test_a_value_below_a_proved_bound_is_noticed_and_rounding_is_not() -> None:
    bracket = Bracket(1.0, 1.0)
    assert bracket.contradicts(1 - 1e-9) and not bracket.contradicts(1 - 1e-14)


def test_hindsight_takes_the_fastest_that_is_near_and_a_proof_needs_a_gap() -> None:
    rungs = [rung(1, 1.1, lower=0.5, gap=0.6), rung(3, 1.00001, lower=0.9, gap=0.1), rung(2, 1.00002, lower=0.9, gap=0.1)]
    rungs.append(rung(9, 1.0, lower=1.0, gap=0.0))
    bracket = Bracket.of(rungs)
    assert in_hindsight(rungs, bracket, 1e-4) == 2
    assert in_hindsight(rungs, bracket, 1e-6) == 9
    assert in_hindsight(rungs[:1], bracket, 1e-2) is None
    assert proved(rungs, 1e-4) == 9


def record(problem: str, program: str, rungs: list[dict[str, Any]], version: str = "1", threads: int = 1) -> dict[str, Any]:
    measured = {"rungs": rungs, "ended": "finished", "command": "run"}
    return {"problem": problem, "program": program, "version": version, "threads": threads, **measured}


def test_records_outlive_a_crash_and_the_newest_counts(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "records.jsonl"
    first, second = record("a hinge", "peer", [rung(1, 1.0)]), record("a hinge", "dualgap", [rung(1, 1.0, lower=1.0)])
    Records(path).add(first)
    with path.open("a") as file:
        file.write('{"problem": "a hinge", "progr')  # the power went
    again = Records(path)
    assert key(first) in again and key(second) not in again
    again.add(second)
    again.add(second | {"version": "2"})
    again.add(second)  # measured once more
    whole = Records(path)
    assert whole.by_key == again.by_key and len(whole.by_key) == 3
    assert whole.newest()["a hinge"]["dualgap", 1]["version"] == "1"
    assert whole.newest("2")["a hinge"]["dualgap", 1]["version"] == "2"
    assert ("peer", 1) in whole.newest("2")["a hinge"]


def test_the_tables_stand_between_the_markers_and_omit_nothing(tmp_path: pathlib.Path) -> None:
    records = Records(tmp_path / "records.jsonl")
    own = [rung(0.5, 1.05, None, lower=0.9, gap=0.15), rung(2.0, 1.0, lower=1.0, gap=0.0, passes=3.0, solve=1.0, certify=0.5)]
    records.add(record("scattered-1e5 hinge 1/n", "dualgap", own))
    records.add(record("scattered-1e5 hinge 1/n", "dualgap", own, threads=2))
    records.add(record("scattered-1e5 hinge 1/n", "LIBLINEAR -s 3, dual", [rung(1.0, 1.0), rung(0.1, 1.5, None)]))
    records.add(record("scattered-1e5 hinge 1/n", "fails", []) | {"ended": "out of memory"})
    page = tmp_path / "race.md"
    page.write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    for _ in range(2):
        table.write(page, records)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n") and "old" not in text
    assert text.count("**2.00**") == 4 and "### Rows behind" in text and "out of memory" in text and "### On more than one thread" in text
    judged = {(entry["program"], entry["threads"]): entry for entry in json.loads(page.with_suffix(".json").read_text())}
    assert judged["dualgap", 1]["seconds"]["1e-06"] == 2.0 and judged["fails", 1]["seconds"]["1e-06"] is None
    assert judged["LIBLINEAR -s 3, dual", 1]["default"]["above"] == pytest.approx(0.5)


def figure(program: str, *seconds: float | None, problem: str = "a hinge") -> dict[str, Any]:
    return {"problem": problem, "program": program, "seconds": dict(zip(["1e-02", "1e-03", "1e-04", "1e-06"], seconds, strict=True))}


def test_peers_that_were_near_once_are_rivals(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "race.json"
    of = [figure("dualgap", 1e-9, 1e-9, 1e-9, 1e-9), figure("early", 1.0, 5.0, None, None), figure("late", 4.0, 5.5, 6.0, 9.0)]
    of += [figure("never", 2.1, 11.0, 12.1, 18.1), figure("failed", None, None, None, None, problem="a lasso")]
    path.write_text(json.dumps(of))
    # Nobody has reached a goal of the lasso, so that everyone may be its fastest.
    assert figures.rivals(path, 2.0) == {"a hinge": {"early", "late"}}
    assert figures.rivals(path, 2.2)["a hinge"] == {"early", "late", "never"}


def test_a_race_of_few_peers_does_not_forget_the_others(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "race.json"
    path.write_text(json.dumps([figure("dualgap", *[9.0] * 4), figure("run", *[1.0] * 4), figure("not run", 3.0, 3.0, 3.0, None)]))
    # On a machine that takes twice as long the one that was not run has not come nearer.
    now = {"a hinge": {("run", 1): record("a hinge", "run", [rung(2.0, 1.0)])}}
    now["a hinge"]["dualgap", 1] = record("a hinge", "dualgap", [own_rung(1.0)])
    for _ in range(2):
        figures.write(path, now)
        kept = {entry["program"]: entry.get("earlier", False) for entry in json.loads(path.read_text())}
        assert kept == {"run": False, "not run": True, "dualgap": False}
        assert figures.rivals(path, 2.0) == {"a hinge": {"run"}}
        assert figures.rivals(path, 3.0) == {"a hinge": {"run", "not run"}}


def own_rung(seconds: float, of: float = 1.0, tolerance: float | None = 1e-6, **more: Any) -> dict[str, Any]:
    return rung(seconds, of, tolerance, **({"lower": 1.0, "gap": 0.0, "passes": 4.0, "solve": seconds / 2, "certify": seconds / 4} | more))


def row(*of: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(one["program"], one["threads"]): one for one in of}


def test_a_pass_is_that_of_the_run_with_the_fewest() -> None:
    name = "scattered-1e6 hinge 1/n"
    own = record(name, "dualgap", [own_rung(4.0), own_rung(4.4, passes=400.0)])
    theirs = record(name, passes.LIBLINEAR, [rung(9.0, 1.0, iterations=2), rung(9.1, 1.0, iterations=90), rung(3.0, 2.0, iterations=None)])
    assert passes.own_pass(row(own, theirs)) == (4.0, 0.75)
    assert passes.their_pass(row(own, theirs)) == (2, 4.5)
    text = "\n".join(passes.passes_table({name: row(own, theirs)}))
    assert "reached in 1 of 1 rows: a pass is 6.00 to 6.00" in text
    assert "5 times as fast is not reached" in passes.verdict([(4.9, name)])
    assert not passes.passes_table({name: row(own)}) and not passes.passes_table({"a9a hinge 1/n": row(own, theirs)})


def test_shares_are_those_of_the_seconds_that_count() -> None:
    assert shares({"seconds": 4.0, "solve": 1.0, "certify": 1.0}) == (0.25, 0.25, 0.5)
    assert shares({"seconds": 1.0, "solve": 3.0, "certify": 1.0}) == (0.75, 0.25, 0.0)  # another process had the processor


def test_rows_behind_are_told_at_their_worst_goal_and_by_set_and_kind() -> None:
    loose = own_rung(1.0, 1.0005, 1e-2)

    def against(seconds: float, *near: float, ours: Any = None) -> Any:
        peer = [rung(seconds, 1.0), *(rung(took, 1.0005) for took in near)]
        return row(record("", "dualgap", ours or [loose, own_rung(2.0)]), record("", "peer", peer))

    ahead, behind_late, behind_early = against(3.0), against(0.5), against(1.9, 0.1)
    problems = {"a lasso 1max": behind_late, "a hinge 1/n": behind_early, "a lasso 2max": behind_late, "a hinge 10/n": ahead}
    assert behind.worst(ahead) is None
    assert behind.worst(behind_early) == (10.0, 1e-3) and behind.worst(behind_late) == (4.0, 1e-4)
    never = against(1.0, ours=[own_rung(1.0, 2.0)])
    assert behind.worst(never) == (float("inf"), 1e-3)
    table = [line.split(" | ")[0] for line in behind.behind_table(problems) if line.startswith("| a")]
    assert table == ["| a lasso 1max", "| a lasso 2max", "| a hinge 1/n"]
    assert "not reached" in "\n".join(behind.behind_table({"a hinge 1/n": never}))
    assert not behind.behind_table({"a hinge 1/n": ahead})


def test_rows_that_are_open_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "SOURCES", [sets.Source("a", "binary", only=("hinge",)), sets.Source("b", "binary")])
    size = {"data": "a", "n": 100_000}  # where 10/n is 1e-4
    unsolved = row(record("a hinge 10/n", "dualgap", [own_rung(1.0, 2.0)]) | size)
    solved, nobody, missing = behind.open_rows({"a hinge 10/n": unsolved, "a hinge 2/n": row(record("", "peer", [rung(1.0, 1.0), rung(1.0, 1.0)]))})
    assert "a hinge 10/n" in solved and nobody.endswith(": a hinge 10/n.") and missing.endswith(": a hinge 1/n, all of b.")


def test_a_slow_default_is_told_with_what_the_program_says() -> None:
    def beside(remarks: list[str] | None, *default: tuple[float, float]) -> Any:
        own = own_rung(10.0, tolerance=None) | ({} if remarks is None else {"remarks": remarks})
        return row(record("", "dualgap", [own]), *(record("", f"peer {k}", [rung(*run, None)]) for k, run in enumerate(default)))

    near_and_far = beside(["--scale rms would help"], (9.0, 1.005), (1.0, 3.0))
    assert defaults.slower(near_and_far, defaults.PROMISED) == pytest.approx(10 / 9)
    assert defaults.slower(near_and_far, defaults.ANYWHERE) == 10.0 and defaults.is_slow(near_and_far)
    assert defaults.told(near_and_far) == "--scale rms would help" and defaults.told(beside([])) == "nothing"
    text = "\n".join(defaults.defaults_table({"one": near_and_far, "two": beside(None, (0.1, 1.0)), "three": beside([], (9.0, 1.0))}))
    assert "1 %: 1 of 3 rows" in text and "ends: 2 of 3 rows.\n  dualgap has a remark on 1 of these: one, two." in text
    assert text.count("would help") == text.count("not recorded") == text.count("the same") - 1 == 1


def test_threads_are_beside_the_best_peer_and_beside_one_thread_of_the_same_build() -> None:
    one, two = record("", "dualgap", [own_rung(3.0)]), record("", "dualgap", [own_rung(2.0)], threads=2)
    problems = {"fast": row(one, two, record("", "peer", [rung(4.0, 1.0)])), "slow": row(one, two, record("", "peer", [rung(2.9, 1.0)]))}
    assert threads.beside_peer(problems["fast"], 1e-3, 2) == 2.0 and threads.beside_itself(problems["fast"], 1e-3, 2) == 1.5
    text = "\n".join(threads.threads_table(problems))
    assert "in 1 of 2 rows that a peer reaches, median 2.00; faster than dualgap on one thread in 2 of 2 rows, median 1.50." in text
    assert not threads.threads_table({"stale": row(one, two | {"version": "0"})})


def test_the_page_has_a_place_for_the_tables() -> None:
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "race.md").read_text(encoding="utf-8")
    assert page.count(table.BEGIN) == page.count(table.END) == 1 and page.index(table.BEGIN) < page.index(table.END)


def misbehaving(tolerance: float | None) -> np.ndarray:
    """What programs do: find something, and then the worst."""
    if tolerance is None or tolerance > 0.05:
        return np.zeros(5)
    raise RuntimeError("did not converge")


def crashing(tolerance: float | None) -> np.ndarray:
    if tolerance is None or tolerance > 0.05:
        return np.zeros(5)
    os._exit(3)


def endless(tolerance: float | None) -> np.ndarray:
    while tolerance is not None:
        pass
    return np.zeros(5)


@pytest.mark.parametrize(
    ("fit", "rungs", "ended"),
    [(misbehaving, 3, "failed: RuntimeError"), (crashing, 3, "crashed with exit code 3"), (endless, 1, "time limit of 0.2 s")],
)
def test_what_was_found_before_a_program_failed_is_kept(fit: Any, rungs: int, ended: str) -> None:
    data, problem = a_set("binary"), Problem("tiny", "hinge", "1/n", 0.1, 0.0)
    peer = peers.Peer("peer", "numpy", ("hinge",), lambda *_: (fit, "fit"))
    found, why, command = climb.rungs(peer, data, problem, Bracket(-1.0, -1.0), limit=0.2)
    assert len(found) == rungs and why.startswith(ended) and command == "fit"
    assert all(run["value"] == 1.0 for run in found)


def test_the_fastest_of_several_short_runs_counts() -> None:
    sleeps = iter([0.02, 0.0, *[0.01] * 20])
    run = climb.measured(lambda: time.sleep(next(sleeps)))
    assert run["repeats"] == climb.OFTEN and run["seconds"] < 0.01


def test_weights_of_liblinear_are_put_into_our_order() -> None:
    one = np.array([1.0, 2.0])
    data = a_set("binary", d=3)
    model = SimpleNamespace(nr_class=2, nr_feature=2, w=one.ctypes.data_as(pointer()), label=[-1, 1])
    assert list(peers.weights_of(model, data, many=False)) == [-1.0, -2.0, 0.0]
    many = np.arange(6.0)  # features by classes, which the file has in the order 2, 3, 1
    model = SimpleNamespace(nr_class=3, nr_feature=2, w=many.ctypes.data_as(pointer()), label=[2, 3, 1])
    assert peers.weights_of(model, a_set("multiclass", d=3), many=True).tolist() == [[2, 5, 0], [0, 3, 0], [1, 4, 0]]


def pointer() -> Any:
    import ctypes

    return ctypes.POINTER(ctypes.c_double)


@pytest.mark.skipif("DUALGAP_PROGRAM" not in os.environ, reason="needs the program")
def test_a_small_race(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = [sets.Source(f"tiny-{nature}", nature, make=lambda _, n=nature: made(n)) for nature in KINDS]
    monkeypatch.setattr(sets, "SOURCES", tiny)
    monkeypatch.setattr(main, "TARGET", tmp_path)
    monkeypatch.setattr(climb, "OFTEN", 1)
    monkeypatch.setattr(ours, "OFTEN", 1)
    program = pathlib.Path(os.environ["DUALGAP_PROGRAM"])
    peer = "^scikit-learn (LinearSVC($|, crammer|, primal)|.*(liblinear|newton-cholesky|descent|Ridge, cholesky)$)"
    limits = {"limit": 5.0, "patience": 10.0, "near": None}
    records = tmp_path / "records.jsonl"
    options = argparse.Namespace(
        data=tmp_path, only=" (1/n|0.1max)$", peers=peer, program=program, again=False, records=records, **limits
    )
    race = main.Race(options)
    problems = list(main.chosen(options))
    assert {problem.kind for _, problem in problems} == {kind for kinds in KINDS.values() for kind in kinds}
    for data, problem in problems:
        race.own(data, problem, 1)
        race.others(data, problem)
    assert not race.alarms
    for name, found in race.records.newest().items():
        assert bracket(found).is_tight, name
        assert best_peer(found, 1e-6) and ratio(found, 1e-6), name
    # Nothing is measured twice.
    lines = records.read_text()
    again = main.Race(options)
    for data, problem in problems:
        again.own(data, problem, 1)
        again.others(data, problem)
    assert records.read_text() == lines
    assert len(table.comparison(again.records, again.records)) == len(problems) + 3


def made(nature: str) -> tuple[Any, Any]:
    data = a_set(nature)
    return data.X, data.y
