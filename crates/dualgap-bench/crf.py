"""Taggers side by side: CRFsuite (python-crfsuite) and dualgap on the same features, in one run on the same machine.

    python crates/dualgap-bench/crf.py objective --data FOLDER [--c2 1] [--sentences 2000] [--log FILE]
    python crates/dualgap-bench/crf.py quality --data FOLDER
    python crates/dualgap-bench/crf.py tagging --data FOLDER

FOLDER has train.txt.gz and test.txt.gz of CoNLL-2000 (word, part of speech, chunk label), or the .conllu.gz files of a
treebank, whose words get their universal tags. The features are the 19 templates of CRFsuite's example, of a treebank those
of words and affixes.

`objective`: like for like. Both sides have weights for every pair of a feature and a label, and minimise

    c2 |w|^2 + sum of log-losses = n P(w),    lambda = 2 c2/n

The optimum is bracketed by a certified run of dualgap. The table has the CPU seconds until the objective is within 1e-3, 1e-4
and 1e-6 of it: of CRFsuite by its log of every iteration (kept in the file of `--log`, and read from there if it exists), of
dualgap by runs with as many passes as that takes, to one part in sixteen, less the CPU seconds of a run without any (reading, one
certification). Of two threads the seconds are those of a clock.

`quality`: test figures and CPU seconds of whole runs, CRFsuite with its own defaults. `tagging`: tokens a second.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pycrfsuite

WITHIN = (1e-3, 1e-4, 1e-6)

#: The fields of a template: a kind (`x` for the cell, `prefix` and `suffix` with a length), a column and a distance.
Field = tuple[str, int, int, int]

Sentence = list[list[str]]


def chunking() -> list[list[Field]]:
    """Return the 19 templates of CRFsuite's example: column 0 is the word, 1 the part of speech."""

    def cells(column: int, *distances: int) -> list[Field]:
        return [("x", column, distance, 0) for distance in distances]

    found = [cells(0, k) for k in range(-2, 3)] + [cells(0, -1, 0), cells(0, 0, 1)]
    found += [cells(1, k) for k in range(-2, 3)] + [cells(1, k, k + 1) for k in range(-2, 2)]
    return found + [cells(1, k, k + 1, k + 2) for k in range(-2, 1)]


def tagging_words() -> list[list[Field]]:
    """Return templates for words without anything else: the context, and affixes."""
    found: list[list[Field]] = [[("x", 0, k, 0)] for k in range(-2, 3)]
    found += [[("x", 0, -1, 0), ("x", 0, 0, 0)], [("x", 0, 0, 0), ("x", 0, 1, 0)]]
    return found + [[(kind, 0, 0, k)] for kind in ("prefix", "suffix") for k in range(1, 5)]


def written(templates: list[list[Field]]) -> str:
    """Return the file of the templates."""

    def field(kind: str, column: int, distance: int, length: int) -> str:
        return f"%{kind}[{distance},{column}{f',{length}' if length else ''}]"

    rows = ["/".join(field(*part) for part in fields) for fields in templates]
    return "".join(f"U{k:02}:{row}\n" for k, row in enumerate(rows))


def features(sentence: Sentence, templates: list[list[Field]]) -> list[list[str]]:
    """Return the features of every token, as dualgap makes them; beyond the sentence there is a mark, as CRF++ has it.

    Two of them stand for the weights of the first and of the last label.
    """

    def cell(t: int, kind: str, column: int, length: int) -> str:
        if t < 0:
            return f"_B{t}"
        if t >= len(sentence):
            return f"_B+{t - len(sentence) + 1}"
        text = sentence[t][column]
        return text[:length] if kind == "prefix" else text[-length:] if kind == "suffix" else text

    def name(k: int, t: int) -> str:
        return f"{k}:" + "/".join(cell(t + distance, kind, column, size) for kind, column, distance, size in templates[k])

    tokens = [[name(k, t) for k in range(len(templates))] for t in range(len(sentence))]
    tokens[0].append("first")
    tokens[-1].append("last")
    return tokens


class Corpus:
    """The sentences of a folder, as column files of their own."""

    def __init__(self, data: Path, folder: Path, most: int | None) -> None:
        treebank = sorted(data.glob("*.conllu.gz"))
        self.templates = tagging_words() if treebank else chunking()
        for part in ("train", "test"):
            path = next(path for path in treebank if part in path.name) if treebank else data / f"{part}.txt.gz"
            sentences = list(self._sentences(gzip.decompress(path.read_bytes()).decode(), bool(treebank)))
            setattr(self, part, sentences[:most] if part == "train" else sentences)
            text = "\n".join("".join(" ".join(line) + "\n" for line in sentence) for sentence in getattr(self, part))
            (folder / f"{part}.txt").write_text(text)
        (folder / "templates").write_text(written(self.templates))

    train: list[Sentence]
    test: list[Sentence]

    @staticmethod
    def _sentences(text: str, treebank: bool) -> Iterator[Sentence]:
        for block in text.split("\n\n"):
            lines = [line.split("\t" if treebank else None) for line in block.splitlines() if line[:1] != "#" or not treebank]
            if treebank:
                # A blank would end a column of our file.
                lines = [[line[1].replace(" ", "_"), line[3]] for line in lines if line[0].isdigit()]
            if lines:
                yield lines

    def items(self, part: str) -> list[pycrfsuite.ItemSequence]:
        """Return the features as CRFsuite keeps them."""
        return [pycrfsuite.ItemSequence(features(sentence, self.templates)) for sentence in getattr(self, part)]

    def labels(self, part: str) -> list[list[str]]:
        """Return the labels."""
        return [[line[-1] for line in sentence] for sentence in getattr(self, part)]


class Logged(pycrfsuite.BaseTrainer):
    """A trainer that keeps the loss and the CPU seconds of every iteration."""

    def message(self, text: str) -> None:
        """Keep what an iteration says."""
        if text.startswith("Loss:"):
            self.log.append((time.process_time() - self.begun, float(text.split()[1])))
        elif text.startswith("Number of features:"):
            self.weights = int(text.split()[-1])


def crfsuite(corpus: Corpus, model: Path, algorithm: str, **options: Any) -> Logged:
    """Train; the trainer has the log, and `seconds` of CPU time with the reading of its items."""
    before = time.process_time()
    trainer = Logged(algorithm=algorithm, params={key.replace("__", "."): value for key, value in options.items()})
    trainer.log, trainer.weights = [], 0
    for items, labels in zip(corpus.items("train"), corpus.labels("train"), strict=True):
        trainer.append(items, labels)
    trainer.begun = time.process_time()
    trainer.train(str(model))
    trainer.seconds, trainer.training = time.process_time() - before, time.process_time() - trainer.begun
    return trainer


def run(command: list[str]) -> tuple[float, str]:
    """Return the CPU seconds of a process, and what it printed."""
    before = os.times()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    after = os.times()
    if done.returncode not in (0, 1, 3) or not done.stdout:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return seconds, done.stdout


def dualgap(program: str, folder: Path, *options: str, test: bool = False) -> tuple[float, dict[str, Any]]:
    """Return the CPU seconds of the process, reading included, and the report of a run."""
    command = [program, "train", "chain", str(folder / "train.txt"), "--features", str(folder / "templates"), "--json"]
    command += ["--test", str(folder / "test.txt")] if test else []
    seconds, out = run([*command, *options])
    return seconds, json.loads(out)


def objective(args: argparse.Namespace, folder: Path) -> None:
    """Print seconds until the objective is near its optimum."""
    corpus = Corpus(args.data, folder, args.sentences)
    n = len(corpus.train)
    posed = ("--loss", "log", "--lambda", f"{2 * args.c2}/n")
    if args.log and args.log.exists():
        kept = json.loads(args.log.read_text())
    else:
        options = {"c1": 0.0, "c2": args.c2, "max_iterations": args.iterations, "delta": 1e-12, "epsilon": 1e-9}
        options |= {"feature__possible_states": True, "feature__possible_transitions": True}
        trainer = crfsuite(corpus, folder / "model", "lbfgs", **options)
        kept = {"sentences": n, "c2": args.c2, "weights": trainer.weights, "iterations": trainer.log}
        if args.log:
            args.log.write_text(json.dumps(kept))
    if (kept["sentences"], kept["c2"]) != (n, args.c2):
        raise SystemExit(f"{args.log} is of another problem")
    log = kept["iterations"]
    print(f"CRFsuite: {kept['weights']} weights, {len(log)} iterations in {log[-1][0]:.1f} CPU s", flush=True)
    if args.only_theirs:
        return
    trace = folder / "trace"
    _, best = dualgap(args.program, folder, *posed, "--tolerance", str(args.tolerance), "--trace", str(trace))
    certified = [json.loads(line) for line in trace.read_text().splitlines()]
    low, high = best["dual"], best["primal"]
    print(f"optimum {low:.9f} to {high:.9f}, {best['dim']} weights, {best['passes']} passes", flush=True)
    print("| within | CRFsuite, s | iterations | dualgap, one thread, s | passes | ratio | two threads, s | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    reading, _ = dualgap(args.program, folder, *posed, "--tolerance", "0", "--passes", "0", "--threads", "1")
    for within in WITHIN:
        reached = [k for k, (_, loss) in enumerate(log) if loss / n <= high * (1 + within)]
        theirs = log[reached[0]][0] if reached else float("nan")
        # Between two certifications of the first run, bisected.
        k = next(k for k, seen in enumerate(certified) if seen["primal"] <= high * (1 + within))
        short, passes = math.floor(certified[k - 1]["passes"]) if k else 6, math.ceil(certified[k]["passes"])
        while passes - short > max(1, passes // 16):
            tried = (short + passes) // 2
            _, ours = dualgap(args.program, folder, *posed, "--tolerance", "0", "--passes", str(tried))
            short, passes = (short, tried) if ours["primal"] <= high * (1 + within) else (tried, passes)
        limit = (*posed, "--tolerance", "0", "--passes", str(passes))
        one, _ = dualgap(args.program, folder, *limit, "--threads", "1")
        seconds = one - reading
        _, two = dualgap(args.program, folder, *limit, "--threads", "2")
        count = reached[0] + 1 if reached else f"> {len(log)}"
        clock = two["solve_seconds"]
        row = f"{theirs:.1f} | {count} | {seconds:.1f} | {passes} | {theirs / seconds:.1f} | {clock:.1f} | {theirs / clock:.1f}"
        print(f"| {within:.0e} | {row} |", flush=True)


def chunks(labels: list[str]) -> set[tuple[int, int, str]]:
    """Return the chunks of a sentence, as the CoNLL shared tasks count them."""
    found, start, kind = set(), None, ""
    for t, label in enumerate([*labels, "O"]):
        mark, _, name = label.partition("-")
        if start is not None and (mark != "I" or name != kind):
            found.add((start, t, kind))
            start = None
        if mark == "B" or (mark == "I" and start is None):
            start, kind = t, name
    return found


def figures(truth: list[list[str]], predicted: list[list[str]]) -> dict[str, float]:
    """Return accuracy and, of chunks, F1."""
    pairs = [(a, b) for one, other in zip(truth, predicted, strict=True) for a, b in zip(one, other, strict=True)]
    told = {"accuracy": sum(a == b for a, b in pairs) / len(pairs)}
    if any(label.startswith("B-") for label, _ in pairs):
        sets = [(chunks(one), chunks(other)) for one, other in zip(truth, predicted, strict=True)]
        right = sum(len(one & other) for one, other in sets)
        told["f1"] = 2 * right / sum(len(one) + len(other) for one, other in sets)
    return told


def quality(args: argparse.Namespace, folder: Path) -> None:
    """Print test figures and CPU seconds of whole runs."""
    corpus = Corpus(args.data, folder, args.sentences)
    print("| trained by | CPU s | test accuracy | test F1 | weights |\n| --- | --- | --- | --- | --- |")

    def row(name: str, seconds: float, told: dict[str, float], weights: int) -> None:
        f1 = f"{100 * told['f1']:.2f}" if "f1" in told else ""
        print(f"| {name} | {seconds:.1f} | {100 * told['accuracy']:.2f} | {f1} | {weights} |", flush=True)

    ours: list[tuple[str, tuple[str, ...]]] = [
        ("structural SVM, ten passes", ()),
        ("CRF, 20 passes", ("--loss", "log", "--lambda", f"{2 * args.c2}/n", "--tolerance", "0", "--passes", "20")),
        ("CRF, within 1 %", ("--loss", "log", "--lambda", f"{2 * args.c2}/n", "--tolerance", "0.01")),
    ]
    for name, options in ours:
        seconds, report = dualgap(args.program, folder, *options, "--threads", "1", test=True)
        test = report["test"]
        told = {"accuracy": test["accuracy"]} | ({"f1": test["chunks"]["f1"]} if test.get("chunks") else {})
        row(f"dualgap: {name}", seconds, told, report["dim"])
    for algorithm, options in (("ap", {}), ("lbfgs", {"c1": 0.0, "c2": args.c2})):
        trainer = crfsuite(corpus, folder / "model", algorithm, **options)
        tagger = pycrfsuite.Tagger()
        tagger.open(str(folder / "model"))
        told = figures(corpus.labels("test"), [tagger.tag(items) for items in corpus.items("test")])
        row(f"CRFsuite: {algorithm}, its defaults", trainer.training, told, trainer.weights)


def tagging(args: argparse.Namespace, folder: Path) -> None:
    """Print tokens a second, loading and the making of features included on both sides, and CRFsuite's without."""
    corpus = Corpus(args.data, folder, args.sentences)
    crfsuite(corpus, folder / "model", "ap", max_iterations=10)
    dualgap(args.program, folder, "-o", str(folder / "ours"))
    test = [sentence for sentence in corpus.test for _ in range(args.repeat)]
    (folder / "many.txt").write_text("\n".join("".join(" ".join(line) + "\n" for line in part) for part in test))
    (folder / "none.txt").write_text("\n".join("".join(" ".join(line) + "\n" for line in part) for part in test[:1]))
    count = sum(map(len, test))
    predict = [args.program, "predict", str(folder / "ours"), "--output", str(folder / "out.txt")]
    alone = min(run_quietly([*predict, str(folder / "none.txt")]) for _ in range(3))
    whole = min(run_quietly([*predict, str(folder / "many.txt")]) for _ in range(3))
    begun = time.process_time()
    tagger = pycrfsuite.Tagger()
    tagger.open(str(folder / "model"))
    opened = time.process_time() - begun
    begun = time.process_time()
    items = [pycrfsuite.ItemSequence(features(sentence, corpus.templates)) for sentence in test]
    made = time.process_time() - begun
    begun = time.process_time()
    for sequence in items:
        tagger.tag(sequence)
    tagged = time.process_time() - begun
    ours = count / (whole - alone)
    print(f"{count} tokens; loading: dualgap {alone * 1000:.0f} ms with the start of a process, CRFsuite {opened * 1000:.0f} ms")
    print(f"dualgap, column file to column file: {ours:.0f} tokens a second of CPU")
    for name, seconds in (("from words", made + tagged), ("from features that are ready", tagged)):
        print(f"python-crfsuite, {name}: {count / seconds:.0f} tokens a second, ratio {ours * seconds / count:.1f}")


def run_quietly(command: list[str]) -> float:
    """Return the CPU seconds of a process that prints nothing."""
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["objective", "quality", "tagging"])
    parser.add_argument("--program", default="target/release/dualgap")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--c2", type=float, default=1.0)
    parser.add_argument("--iterations", type=int, default=300, help="of CRFsuite")
    parser.add_argument("--tolerance", type=float, default=1e-7, help="of the bracket of the optimum")
    parser.add_argument("--sentences", type=int, help="only the first so many")
    parser.add_argument("--repeat", type=int, default=10, help="the test set so often, for `tagging`")
    parser.add_argument("--log", type=Path, help="where the log of CRFsuite is kept")
    parser.add_argument("--only-theirs", action="store_true", help="end when the log is written")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        {"objective": objective, "quality": quality, "tagging": tagging}[args.what](args, Path(name))


if __name__ == "__main__":
    main()
