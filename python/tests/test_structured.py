"""Oracles in Python: the same optima as the built-in structures, and no lie that goes unnoticed."""

from __future__ import annotations

import _thread
import dataclasses
import itertools
import json
import pickle
import threading
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from dualgap import Decoded, StructuredSVM, _dualgap, check_oracle, load
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning


class Enumerated:
    """An oracle that tries all outputs."""

    def outputs(self, x: Any) -> list[Any]:
        raise NotImplementedError

    def features(self, x: Any, y: Any) -> Any:
        raise NotImplementedError

    def loss(self, truth: Any, y: Any) -> float:
        return float(truth != y)

    def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
        def score(y: Any) -> float:
            return w @ self.features(x, y) + (0.0 if truth is None else self.loss(truth, y))

        return max(self.outputs(x), key=score)

    def admits(self, x: Any, y: Any) -> bool:
        return y in self.outputs(x)

    def hinge(self, w: np.ndarray, x: Any, truth: Any) -> float:
        """The largest loss-augmented score over that of the truth, by brute force."""
        right = w @ self.features(x, truth)
        return max(self.loss(truth, y) + w @ self.features(x, y) - right for y in self.outputs(x))


class Classes(Enumerated):
    """One of three classes, of three numbers."""

    dim = 9

    def outputs(self, x: Any) -> list[str]:
        return ["a", "b", "c"]

    def features(self, x: Any, y: str) -> np.ndarray:
        phi = np.zeros(9)
        k = "abc".index(y)
        phi[3 * k : 3 * k + 3] = x
        return phi


class Labelings(Enumerated):
    """Two labels at each position, with weights as the chain has them."""

    dim = 2 * 2 + 2 + 2 + 4

    def outputs(self, x: np.ndarray) -> list[tuple[int, ...]]:
        return list(itertools.product((0, 1), repeat=len(x)))

    def features(self, x: np.ndarray, y: tuple[int, ...]) -> np.ndarray:
        phi = np.zeros(self.dim)
        for row, label in zip(x, y, strict=True):
            phi[[label, 2 + label]] += row
        phi[4 + y[0]] += 1
        phi[6 + y[-1]] += 1
        for one, other in itertools.pairwise(y):
            phi[8 + 2 * one + other] += 1
        return phi

    def loss(self, truth: tuple[int, ...], y: tuple[int, ...]) -> float:
        return sum(a != b for a, b in zip(truth, y, strict=True)) / len(truth)


class Assignment:
    """Who does which job: an input has a row of features for every pair, x[i, j]."""

    dim = 2

    def features(self, x: np.ndarray, y: tuple[int, ...]) -> np.ndarray:
        return x[np.arange(len(y)), list(y)].sum(axis=0)

    def loss(self, truth: tuple[int, ...], y: tuple[int, ...]) -> float:
        return float(sum(a != b for a, b in zip(truth, y, strict=True)))

    def decode(self, w: np.ndarray, x: np.ndarray, truth: Any = None) -> np.ndarray:
        scores = x @ w
        if truth is not None:
            scores += 1.0
            scores[np.arange(len(truth)), list(truth)] -= 1.0
        return linear_sum_assignment(scores, maximize=True)[1]

    def admits(self, x: np.ndarray, y: Any) -> bool:
        return sorted(y) == list(range(len(x)))


def classes_data(n: int = 12) -> tuple[np.ndarray, list[str]]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 3))
    Y = ["abc"[k] for k in (X + 0.7 * rng.normal(size=X.shape)).argmax(axis=1)]
    return X, Y


def overlap(one: Any, other: dict[str, Any]) -> bool:
    """Whether the intervals that two certificates leave for the optimum have a point in common."""
    slack = one.rounding + other["rounding_error"] + 1e-12
    return one.dual <= other["primal"] + slack and other["dual"] <= one.primal + slack


def quadratic(w: np.ndarray, lam: float) -> float:
    return lam / 2 * float(w @ w)


def request(structure: dict[str, Any], lam: float) -> str:
    task = {"structure": structure, "penalty": {"name": "ridge", "lambda": lam}}
    return json.dumps({"task": task, "limits": {"tolerance": 1e-6}, "threads": 1})


def test_the_optimum_of_classes_is_that_of_the_built_in_structure() -> None:
    X, Y = classes_data()
    oracle = Classes()
    model = StructuredSVM(oracle, lam=0.05, tolerance=1e-6).fit(X, Y)
    rows = _dualgap.Rows.dense(X)
    numbers = np.array(["abc".index(y) for y in Y])
    data = _dualgap.Data.examples(rows, classes=numbers, labels=["a", "b", "c"])
    built_in, _, _ = _dualgap.fit("multiclass", data, request({}, 0.05), {})
    found = model.certificate_
    assert found.reached and found.certified and overlap(found, built_in.certificate)
    # The primal value is that of the weights, by brute force.
    w = model.coef_
    primal = np.mean([oracle.hinge(w, x, y) for x, y in zip(X, Y, strict=True)]) + quadratic(w, 0.05)
    assert abs(found.primal - primal) <= found.rounding + 1e-12
    assert model.predict(X) == [oracle.decode(w, x) for x in X]
    assert model.score(X, Y) == pytest.approx(np.mean([y == z for y, z in zip(Y, model.predict(X), strict=True)]))


def test_the_optimum_of_labelings_is_that_of_a_chain() -> None:
    rng = np.random.default_rng(2)
    lengths = [1, 3, 2, 3, 2]
    X = [rng.normal(size=(t, 2)) for t in lengths]
    Y = [tuple(int(k) for k in rng.integers(2, size=t)) for t in lengths]
    model = StructuredSVM(Labelings(), lam=0.1, tolerance=1e-6).fit(X, Y)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    data = _dualgap.Data.sequences(
        _dualgap.Rows.dense(np.concatenate(X)), starts, classes=np.concatenate(Y), labels=["0", "1"]
    )
    built_in, _, _ = _dualgap.fit("chain", data, request({"hamming": "normalized"}, 0.1), {})
    assert model.certificate_.reached and overlap(model.certificate_, built_in.certificate)
    assert model.predict(X) == [tuple(y) for y in built_in.predict(data)]


def test_an_assignment_is_trained_as_brute_force_says() -> None:
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(4, 4, 2)) for _ in range(8)]
    oracle = Assignment()
    Y = [oracle.decode(np.array([1.0, -0.5]), x + 0.4 * rng.normal(size=x.shape)) for x in X]
    all_outputs = lambda x: itertools.permutations(range(len(x)))  # noqa: E731
    report = check_oracle(oracle, X, Y, all_outputs=all_outputs)
    assert report.passed and report.best == report.decoded, str(report)
    weights = rng.uniform(0.5, 2.0, size=8)
    model = StructuredSVM(oracle, lam=0.1, tolerance=1e-4).fit(X, Y, sample_weight=weights)

    def hinge(w: np.ndarray, x: np.ndarray, truth: Any) -> float:
        right = w @ oracle.features(x, truth)
        return max(oracle.loss(truth, y) + w @ oracle.features(x, y) - right for y in all_outputs(x))

    def primal(w: np.ndarray) -> float:
        hinges = [hinge(w, x, y) for x, y in zip(X, Y, strict=True)]
        return float(np.average(hinges, weights=weights)) + quadratic(w, 0.1)

    found = model.certificate_
    assert abs(found.primal - primal(model.coef_)) <= found.rounding + 1e-12
    # No weights are below the dual value.
    for w in model.coef_ + 0.3 * rng.normal(size=(30, 2)):
        assert primal(w) >= found.dual - found.rounding


@pytest.mark.parametrize("form", ["pair", "dict", "row", "sparse array", "list"])
def test_features_have_several_forms_and_one_meaning(form: str) -> None:
    class Other(Classes):
        def features(self, x: Any, y: str) -> Any:
            dense = super().features(x, y)
            (places,) = dense.nonzero()
            return {
                "pair": (places, dense[places]),
                "dict": {int(j): dense[j] for j in places},
                "row": sp.csr_matrix(dense),
                "sparse array": sp.coo_array(dense),
                "list": dense.tolist(),
            }[form]

        def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
            return Classes().decode(w, x, truth)

    X, Y = classes_data(6)
    plain = StructuredSVM(Classes(), lam=0.1).fit(X, Y)
    assert np.array_equal(StructuredSVM(Other(), lam=0.1).fit(X, Y).coef_, plain.coef_)


def test_a_batch_gives_the_same_model_with_fewer_calls() -> None:
    calls = {"one": 0, "batch": 0}

    class Counted(Classes):
        def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
            calls["one"] += 1
            return super().decode(w, x, truth)

    class Batched(Counted):
        def decode_batch(self, w: np.ndarray, xs: list[Any], truths: list[Any] | None) -> list[Any]:
            calls["batch"] += 1
            return [Classes.decode(self, w, x, t) for x, t in zip(xs, truths or [None] * len(xs), strict=True)]

    X, Y = classes_data()
    options = {"batch": 4}
    plain = StructuredSVM(Counted(), lam=0.05, solver_options=options).fit(X, Y)
    one_by_one, calls["one"] = calls["one"], 0
    batched = StructuredSVM(Batched(), lam=0.05, solver_options=options).fit(X, Y)
    assert np.array_equal(plain.coef_, batched.coef_) and plain.certificate_ == batched.certificate_
    assert calls["one"] == 0, "four at a time in steps, all of them in certifications"
    assert calls["batch"] * 4 <= one_by_one
    before = calls["batch"]
    assert batched.predict(X) == plain.predict(X) and calls["batch"] == before + 1
    Batched.decode_batch = lambda self, w, xs, truths: ["a"]  # type: ignore[method-assign]
    with pytest.raises(ValueError, match="batch of 4 inputs was decoded to 1 output"):
        clone(batched).fit(X, Y)


def test_stored_outputs_save_calls_of_the_oracle() -> None:
    calls: list[str] = []

    class Counted(Classes):
        def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
            calls.append("")
            return super().decode(w, x, truth)

    X, Y = classes_data(30)
    made = {}
    for solver in ("auto", "bcfw"):
        calls.clear()
        StructuredSVM(Counted(), lam=0.01, tolerance=1e-3, solver=solver).fit(X, Y)
        made[solver] = len(calls)
    assert made["auto"] < made["bcfw"] / 2, made


def test_a_bound_certifies_and_no_bound_does_not() -> None:
    class Bounded(Classes):
        bound: float | None = 0.01

        def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
            y = super().decode(w, x, truth)
            top = w @ self.features(x, y) + (0.0 if truth is None else self.loss(truth, y))
            return Decoded(y, None if self.bound is None else top + self.bound)

    X, Y = classes_data()
    model = StructuredSVM(Bounded(), lam=0.05, tolerance=0.1).fit(X, Y)
    assert model.certificate_.basis == "bounds" and model.certificate_.certified
    assert model.certificate_.gap >= 0.01 - 1e-12
    Bounded.bound = None
    with pytest.warns(ConvergenceWarning):
        model = StructuredSVM(Bounded(), lam=0.05, tolerance=0.1, passes=3).fit(X, Y)
    assert not model.certificate_.certified and model.certificate_.gap_bound == float("inf")
    Bounded.quality = {"additive": 0.01}
    model = StructuredSVM(Bounded(), lam=0.05, tolerance=0.1).fit(X, Y)
    assert model.certificate_.basis == {"additive": 0.01}


def test_slack_rescaling_has_its_own_search() -> None:
    class Levels(Enumerated):
        dim = 3

        def outputs(self, x: float) -> list[int]:
            return [0, 1, 2]

        def features(self, x: float, y: int) -> np.ndarray:
            return x * np.eye(3)[y]

        def loss(self, truth: int, y: int) -> float:
            return abs(truth - y)

    class WithSlack(Levels):
        def decode_slack(self, w: np.ndarray, x: float, truth: int) -> int:
            return max(self.outputs(x), key=lambda y: self.product(w, x, truth, y))

        def product(self, w: np.ndarray, x: float, truth: int, y: int) -> float:
            return self.loss(truth, y) * (1 + w @ (self.features(x, y) - self.features(x, truth)))

    X, Y = [1.0, -1.0, 0.3, 0.9], [0, 2, 1, 0]
    with pytest.raises(ValueError, match="decode_slack"):
        StructuredSVM(Levels(), rescale="slack").fit(X, Y)
    oracle = WithSlack()
    model = StructuredSVM(oracle, lam=0.1, rescale="slack", tolerance=1e-4).fit(X, Y)
    w = model.coef_
    hinges = [max(oracle.product(w, x, t, y) for y in range(3)) for x, t in zip(X, Y, strict=True)]
    assert abs(model.certificate_.primal - np.mean(hinges) - quadratic(w, 0.1)) <= model.certificate_.rounding + 1e-12
    assert check_oracle(oracle, X, Y, all_outputs=oracle.outputs).passed


class SmallBound(Classes):
    def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
        return Decoded(super().decode(w, x, truth), -1.0)


class CostlyTruth(Classes):
    def loss(self, truth: Any, y: Any) -> float:
        return 1.0


class Restless(Classes):
    calls = 0

    def features(self, x: Any, y: str) -> np.ndarray:
        Restless.calls += 1
        return super().features(x, y) + 1e-3 * (Restless.calls % 5)


class Forgetful(Classes):
    """Ignores the loss, but calls its output the best."""

    def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
        return super().decode(w, x) if np.abs(w).max() > 0.2 else super().decode(w, x, truth)


class Beyond(Classes):
    """Has one feature too many, that of its last class."""

    def features(self, x: Any, y: str) -> Any:
        return [{"a": 0, "b": 1, "c": 9}[y]], [1.0]

    def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
        return "c"


@pytest.mark.parametrize(
    ("oracle", "clause", "message"),
    [
        (SmallBound(), "no output scores higher than the bound", "scores higher than the bound it gave"),
        (CostlyTruth(), "the loss of the truth is zero", "the loss of the truth is 1, not 0"),
        (Restless(), "the same pair has the same features", "changed between two calls"),
        (Forgetful(), "no output scores higher than the bound", "scores higher than the one it called the best"),
        (Beyond(), "features are finite, with indices below the dimension", "at index 9 of 9"),
    ],
)
def test_lies_are_found(oracle: Any, clause: str, message: str) -> None:
    X, Y = classes_data()
    report = check_oracle(oracle, X, Y, all_outputs=oracle.outputs)
    assert clause in {breach.clause for breach in report.breaches}
    with pytest.raises(RuntimeError, match="example 0: "):
        report.raise_for_breach()
    with pytest.raises((RuntimeError, ValueError), match=message):
        StructuredSVM(oracle, lam=0.01, tolerance=1e-4, solver="bcfw").fit(X, Y)


@pytest.mark.parametrize("method", ["features", "loss", "decode", "admits", "extent", "work", "key", "decode_batch"])
def test_an_exception_is_raised_with_its_traceback(method: str) -> None:
    class Broken(Classes):
        def fails(self, *arguments: Any) -> Any:
            raise KeyError("a bug of the user")

    setattr(Broken, method, Broken.fails)
    X, Y = classes_data(4)
    with pytest.raises(KeyError, match="a bug of the user") as raised:
        StructuredSVM(Broken()).fit(X, Y)
    assert "fails" in {frame.name for frame in traceback.extract_tb(raised.value.__traceback__)}
    if method in ("features", "decode"):
        with pytest.raises(KeyError, match="a bug of the user"):
            check_oracle(Broken(), X, Y)


def test_a_bad_oracle_is_refused_in_words() -> None:
    X, Y = classes_data(3)

    class Empty:
        dim = 2

    with pytest.raises(TypeError, match=r"Empty has no method `features\(x, y\)`"):
        StructuredSVM(Empty()).fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="no attribute `dim`"):
        StructuredSVM(object()).fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there are 3 inputs and 2 outputs"):
        StructuredSVM(Classes()).fit(X, Y[:2])
    with pytest.raises(TypeError, match="the output of example 1: .*not None"):
        StructuredSVM(Classes()).fit(X, ["a", None, "b"])
    endless: list[Any] = []
    endless.append(endless)
    for strange, message in ((endless, "more than 32 levels"), (2**63, "64 bits"), ((1.0, float("nan")), "nan")):
        with pytest.raises(ValueError, match=message):
            StructuredSVM(Classes()).fit(X, ["a", strange, "b"])
    with pytest.raises(RuntimeError, match="the truth is none of its outputs"):
        StructuredSVM(Classes()).fit(X, ["a", "b", "z"])

    class Short(Classes):
        def features(self, x: Any, y: str) -> Any:
            return np.zeros(4)

        def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
            return "b" if truth == "a" else "a"

    with pytest.raises(ValueError, match=r"shape \[4\].*dimension is 9"):
        StructuredSVM(Short()).fit(X, Y)

    class Speechless(Classes):
        def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
            return None

    with pytest.raises(TypeError, match="not None"):
        StructuredSVM(Speechless()).fit(X, Y)


KINDS = [True, 3, -(2**63), 0.5, -0.0, float("inf"), "ä", b"\x00\xff", (), (1, ("a", (2.5, b"b"))), ((),)]


class Anything(Enumerated):
    """Outputs of all kinds; an input is a place among them."""

    dim = len(KINDS) ** 2
    params = {"kinds": len(KINDS)}

    def outputs(self, x: Any) -> list[Any]:
        return KINDS

    def features(self, x: int, y: Any) -> np.ndarray:
        phi = np.zeros(self.dim)
        phi[len(KINDS) * KINDS.index(y) + x] = 1.0
        return phi


def test_outputs_of_all_kinds_come_back_from_a_file(tmp_path: Path) -> None:
    X = list(range(len(KINDS)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = StructuredSVM(Anything(), lam=0.1, tolerance=1e-3).fit(X, KINDS)
    assert model.predict(X) == KINDS and [type(y) for y in model.predict(X)] == [type(y) for y in KINDS]
    model.save(tmp_path / "model")
    assert b"pickle" not in (tmp_path / "model").read_bytes()
    loaded = StructuredSVM.load(tmp_path / "model", Anything())
    assert np.array_equal(loaded.coef_, model.coef_) and loaded.predict(X) == model.predict(X)
    assert loaded.certify(X, KINDS).primal == pytest.approx(model.certificate_.primal)
    assert (loaded.lam, loaded.rescale, loaded.certificate_) == (0.1, "margin", model.certificate_)
    with pytest.raises(ValueError, match="these are not the data"):
        loaded.certify(X[::-1], KINDS)
    with pytest.raises(ValueError, match="another oracle: its name is 'Anything', and that of the given one 'Classes'"):
        StructuredSVM.load(tmp_path / "model", Classes())
    with pytest.raises(ValueError, match=r"StructuredSVM.load\(path, oracle\)"):
        load(tmp_path / "model")
    with pytest.raises(ValueError, match=r"StructuredSVM.load\(path, oracle\)"):
        _dualgap.Model.load(tmp_path / "model").predict(_dualgap.Data.own(X))

    class Trusting(Anything):
        name = "Anything"
        admits = None  # type: ignore[assignment]

    trusting = StructuredSVM.load(tmp_path / "model", Trusting())
    assert trusting.predict(X) == model.predict(X)
    with pytest.raises(TypeError, match="admits"):
        trusting.certify(X, KINDS)
    with pytest.raises(TypeError, match="admits"):
        trusting.set_params(warm_start=True).fit(X, KINDS)


def test_a_witness_with_an_output_that_is_none_is_refused() -> None:
    X, Y = classes_data()
    model = StructuredSVM(Classes(), lam=0.05, tolerance=1e-3).fit(X, Y)

    data = _dualgap.Data.own(list(X), outputs=Y)
    assert model.model_.with_oracle(Classes()).certify(data)["evidence"] == "witness"

    # Truths are admitted and nothing else, so that all other outputs of the witness are none.
    class Narrow(Classes):
        def admits(self, x: Any, y: Any) -> bool:
            return y == Y[[np.array_equal(x, row) for row in X].index(True)]

    with pytest.raises(ValueError, match="it has an output that is none of this example's"):
        model.model_.with_oracle(Narrow()).certify(data)


@dataclasses.dataclass
class Record:
    words: list[str]
    weights: np.ndarray
    extra: dict[str, Any]


def test_inputs_are_identified_by_their_content() -> None:
    def fingerprint(*inputs: Any) -> str:
        return _dualgap.Data.own(list(inputs)).fingerprint()

    kinds: list[Any] = [
        1, 1.0, True, None, "a", b"a", (1, 2), [[1], 2], {"a": 1, "b": [2]}, {"a", "b"}, np.arange(3),
        np.arange(3.0), np.arange(3.0)[:, None], np.float64(2.5), sp.csr_array(np.eye(2)), 2**80,
        Record(["a"], np.ones(2), {"x": 1}),
    ]  # fmt: skip
    prints = [fingerprint(x) for x in kinds]
    assert len(set(prints)) == len(kinds)
    assert prints == [fingerprint(x) for x in pickle.loads(pickle.dumps(kinds))]
    assert fingerprint({"b": [2], "a": 1}) == fingerprint({"a": 1, "b": (2,)})
    assert fingerprint(np.arange(6).reshape(2, 3).T) == fingerprint(np.ascontiguousarray(np.arange(6).reshape(2, 3).T))
    with pytest.raises(TypeError, match=r"example 0: .*`key\(x\)`"):
        fingerprint(object())

    class Keyed(Classes):
        def key(self, x: Any) -> str:
            return repr(x.row)

        def features(self, x: Any, y: str) -> np.ndarray:
            return super().features(x.row, y)

    class Wrapped:
        def __init__(self, row: np.ndarray) -> None:
            self.row = row

    X, Y = classes_data(6)
    model = StructuredSVM(Keyed(), lam=0.1).fit([Wrapped(x) for x in X], Y)
    assert np.array_equal(model.coef_, StructuredSVM(Classes(), lam=0.1).fit(X, Y).coef_)


def test_an_estimator_can_be_cloned_pickled_and_started_warm() -> None:
    X, Y = classes_data()
    model = StructuredSVM(Classes(), lam=0.05, tolerance=1e-4, warm_start=True)
    assert clone(model).lam == 0.05
    model.fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X) == model.predict(X) and again.certify(X, Y).certified
    cold = model.n_iter_
    assert again.fit(X, Y).n_iter_ < cold and again.certificate_.reached


def test_a_callback_can_end_the_run() -> None:
    X, Y = classes_data()
    seen: list[dict[str, Any]] = []

    def stop(progress: dict[str, Any]) -> bool:
        seen.append(progress)
        return len(seen) == 2

    model = StructuredSVM(Classes(), lam=1e-4, tolerance=1e-9, callback=stop).fit(X, Y)
    assert model.stop_ == "callback" and model.certificate_.certified and len(model.history_) >= 2


@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_in_a_call_of_the_oracle(presses: int) -> None:
    X, Y = classes_data()
    left = [presses]
    pause = threading.Event()

    class Interrupted(Classes):
        def decode(self, w: np.ndarray, x: Any, truth: Any = None) -> Any:
            if left[0] and np.abs(w).max() > 0:
                left[0] -= 1
                _thread.interrupt_main()
                # The main thread looks for signals twenty times a second.
                pause.wait(0.15)
            return super().decode(w, x, truth)

    model = StructuredSVM(Interrupted(), lam=1e-4, tolerance=1e-12)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    if presses == 1:
        assert model.stop_ == "interrupted" and model.certificate_.certified
        assert len(model.predict(X)) == len(X)
    else:
        assert not hasattr(model, "model_")


def test_threads_give_the_same_model() -> None:
    X, Y = classes_data()
    options = {"batch": 4}
    one, two = (StructuredSVM(Classes(), lam=0.05, solver_options=options, threads=k).fit(X, Y) for k in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)


def test_the_example_of_the_book_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).parents[2] / "docs" / "own-structure.md"
    _, code, *_ = page.read_text(encoding="utf-8").split("```python\n")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(code.split("```")[0], names)
    assert names["model"].certificate_.reached and (tmp_path / "interval.dualgap").exists()
