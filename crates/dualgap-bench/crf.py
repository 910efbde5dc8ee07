"""Taggers side by side: CRFsuite (python-crfsuite) and dualgap on the same features, in one run on the same machine.

    python crates/dualgap-bench/crf.py objective --data FOLDER [--c2 1] [--sentences 2000] [--log FILE]
    python crates/dualgap-bench/crf.py quality --data FOLDER [--runs 3]
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

`quality`: test figures and CPU seconds of whole runs, of `--runs` the fastest, CRFsuite with its own defaults. The features are counted on both sides, made in
Python for CRFsuite, as its users do; of its seconds those of training alone are told besides. Ours have reading, certificates and the
test in them.

`tagging`: tokens a second of CPU on one core, with the same templates, in two ways:

    from words      a column file is read, features are made, labels are found, and a column file is written
    from features   dualgap reads a file in CRFsuite's attribute format and writes labels; the others have their lists of
                    attributes in memory, in their own types, before the clock starts, and write nothing

python-crfsuite makes its features in Python, as its users do. The Rust crate `crfs` reads the same model of CRFsuite; the script
makes a small program around it in target/ (cargo and a registry are needed; `--without-crfs` leaves it out). Loading is not
counted in either, and told besides.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import shutil
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
        return f"%{kind}{length or ''}[{distance},{column}]"

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
        if len(text) < length:
            return ""
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
    """Print test figures and the fewest CPU seconds of whole runs, everyone's after the others' in turn."""
    corpus = Corpus(args.data, folder, args.sentences)
    print("| trained by | CPU s | of it training | test accuracy | test F1 | weights |\n| --- | --- | --- | --- | --- | --- |")

    def row(name: str, seconds: tuple[float, float], told: dict[str, float], weights: int) -> None:
        f1 = f"{100 * told['f1']:.2f}" if "f1" in told else ""
        total, training = seconds
        print(f"| {name} | {total:.1f} | {training:.1f} | {100 * told['accuracy']:.2f} | {f1} | {weights} |", flush=True)

    ours: list[tuple[str, tuple[str, ...]]] = [
        ("structural SVM, ten passes", ()),
        ("structural SVM, five passes", ("--hamming", "plain", "--average", "weighted", "--lambda", "1/n", "--passes", "5")),
        ("CRF, eight passes", ("--loss", "log", "--lambda", "1/n", "--tolerance", "0", "--passes", "8")),
        # The best on the last fifth of CoNLL-2000's training file, of lambdas from 2/n to 0.25/n and of 8 and 14 passes.
        ("CRF, lambda = 0.5/n, 14 passes", ("--loss", "log", "--lambda", "0.5/n", "--tolerance", "0", "--passes", "14")),
        ("CRF, 20 passes", ("--loss", "log", "--lambda", f"{2 * args.c2}/n", "--tolerance", "0", "--passes", "20")),
        ("CRF, within 1 %", ("--loss", "log", "--lambda", f"{2 * args.c2}/n", "--tolerance", "0.01")),
    ]
    theirs = () if args.only_ours else (("ap", {}), ("lbfgs", {"c1": 0.0, "c2": args.c2}))
    fewest: dict[str, tuple[tuple[float, float], dict[str, float], int]] = {}

    def keep(name: str, seconds: tuple[float, float], told: dict[str, float], weights: int) -> None:
        if name not in fewest or seconds[0] < fewest[name][0][0]:
            fewest[name] = seconds, told, weights

    for _ in range(args.runs):
        for name, options in ours:
            seconds, report = dualgap(args.program, folder, *options, "--threads", "1", test=True)
            test = report["test"]
            told = {"accuracy": test["accuracy"]} | ({"f1": test["chunks"]["f1"]} if test.get("chunks") else {})
            keep(f"dualgap: {name}", (seconds, report["solve_seconds"]), told, report["dim"])
        for algorithm, params in theirs:
            trainer = crfsuite(corpus, folder / "model", algorithm, **params)
            tagger = pycrfsuite.Tagger()
            tagger.open(str(folder / "model"))
            told = figures(corpus.labels("test"), [tagger.tag(items) for items in corpus.items("test")])
            keep(f"CRFsuite: {algorithm}, its defaults", (trainer.seconds, trainer.training), told, trainer.weights)
    for name, found in fewest.items():
        row(name, *found)


#: The program around the crate `crfs`: tags a column file with the templates, then the same with ready attributes.
PEER = r"""
use crfs::{Attribute, Model};
use std::fmt::Write;

type Field = (String, usize, isize, usize);

/// The CPU time of this process in nanoseconds.
fn spent() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse().unwrap()
}

fn cell(lines: &[Vec<&str>], t: isize, field: &Field, out: &mut String) {
    if t < 0 {
        write!(out, "_B{t}").unwrap();
    } else if t as usize >= lines.len() {
        write!(out, "_B+{}", t as usize - lines.len() + 1).unwrap();
    } else {
        let text = lines[t as usize][field.1];
        out.push_str(match &field.0[..] {
            "prefix" => text.char_indices().nth(field.3 - 1).map_or("", |(end, c)| &text[..end + c.len_utf8()]),
            "suffix" => text.char_indices().rev().nth(field.3 - 1).map_or("", |(start, _)| &text[start..]),
            _ => text,
        });
    }
}

fn attributes(lines: &[Vec<&str>], templates: &[Vec<Field>]) -> Vec<Vec<Attribute>> {
    let of_token = |t: usize| {
        let mut all: Vec<Attribute> = Vec::with_capacity(templates.len() + 1);
        for (k, fields) in templates.iter().enumerate() {
            let mut name = String::new();
            write!(name, "{k}:").unwrap();
            for (place, field) in fields.iter().enumerate() {
                name.push_str(if place > 0 { "/" } else { "" });
                cell(lines, t as isize + field.2, field, &mut name);
            }
            all.push(Attribute::new(name, 1.0));
        }
        if t == 0 {
            all.push(Attribute::new("first", 1.0));
        }
        if t + 1 == lines.len() {
            all.push(Attribute::new("last", 1.0));
        }
        all
    };
    (0..lines.len()).map(of_token).collect()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let templates: Vec<Vec<Field>> = args[3]
        .split(';')
        .map(|one| {
            let field = |text: &str| {
                let part: Vec<&str> = text.split(',').collect();
                let number = |k: usize| part[k].parse::<isize>().unwrap();
                (part[0].to_string(), number(1) as usize, number(2), number(3) as usize)
            };
            one.split('/').map(field).collect()
        })
        .collect();
    let begun = spent();
    let bytes = std::fs::read(&args[1]).unwrap();
    let model = Model::new(&bytes).unwrap();
    let tagger = model.tagger().unwrap();
    let loaded = spent();
    let text = std::fs::read_to_string(&args[2]).unwrap();
    let mut out = String::new();
    let sentences: Vec<Vec<Vec<&str>>> = text
        .split("\n\n")
        .map(|block| block.lines().map(|line| line.split(' ').collect()).collect::<Vec<Vec<&str>>>())
        .filter(|lines| !lines.is_empty())
        .collect();
    for lines in &sentences {
        let labels = tagger.tag(&attributes(lines, &templates)).unwrap();
        for (line, label) in lines.iter().zip(labels) {
            for part in line {
                out.push_str(part);
                out.push(' ');
            }
            out.push_str(label);
            out.push('\n');
        }
        out.push('\n');
    }
    std::fs::write(&args[4], &out).unwrap();
    let written = spent();
    let ready: Vec<_> = sentences.iter().map(|lines| attributes(lines, &templates)).collect();
    let made = spent();
    let count: usize = ready.iter().map(|sequence| tagger.tag(sequence).unwrap().len()).sum();
    println!("{} {} {} {count}", loaded - begun, written - loaded, spent() - made);
}
"""

#: The version of the crate that is compared.
CRFS = "0.4.1"


def peer(folder: Path) -> Path:
    """Build the program around `crfs`, and return its path."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    package = f'[package]\nname = "peer"\nversion = "0.0.0"\nedition = "2021"\n\n[workspace]\n\n[dependencies]\ncrfs = "={CRFS}"\n'
    (folder / "Cargo.toml").write_text(package + "\n[profile.release]\nlto = true\ncodegen-units = 1\n")
    (folder / "src" / "main.rs").write_text(PEER)
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=folder, check=True)
    return folder / "target" / "release" / "peer"


def columns(sentences: list[Sentence]) -> str:
    """Return a column file."""
    return "\n".join("".join(" ".join(line) + "\n" for line in sentence) for sentence in sentences)


def attribute_file(corpus: Corpus, sentences: list[Sentence]) -> str:
    """Return a file of CRFsuite: a label and the attributes of a token a line, whose marks have to be escaped."""

    def line(label: str, names: list[str]) -> str:
        return "\t".join([label, *(name.replace("\\", "\\\\").replace(":", "\\:") for name in names)]) + "\n"

    def block(sentence: Sentence) -> str:
        made = features(sentence, corpus.templates)
        return "".join(line(cells[-1], names) for cells, names in zip(sentence, made, strict=True))

    return "\n".join(map(block, sentences))


def tagging(args: argparse.Namespace, folder: Path) -> None:
    """Print tokens a second, from words and from features that are ready."""
    corpus = Corpus(args.data, folder, args.sentences)
    crfsuite(corpus, folder / "model", "ap", max_iterations=10)
    test = [sentence for sentence in corpus.test for _ in range(args.repeat)]
    count = sum(map(len, test))
    unlabelled = [[line[:-1] for line in sentence] for sentence in test]
    for name, sentences in (("many", unlabelled), ("one", unlabelled[:1])):
        (folder / f"{name}.txt").write_text(columns(sentences))
    for name, sentences in (("train", corpus.train), ("many", test), ("one", test[:1])):
        (folder / f"{name}.crfsuite").write_text(attribute_file(corpus, sentences))
    dualgap(args.program, folder, "-o", str(folder / "words"))
    train = [args.program, "train", "chain", str(folder / "train.crfsuite"), "-o", str(folder / "features"), "--json"]
    run([*train, "--format", "crfsuite"])

    def ours(model: str, ending: str) -> tuple[float, float]:
        predict = [args.program, "predict", str(folder / model), "--output", str(folder / "out.txt"), "--quiet"]
        seconds = [
            min(run_quietly([*predict, str(folder / f"{name}.{ending}")]) for _ in range(5)) for name in ("one", "many")
        ]
        return seconds[0], seconds[1] - seconds[0]

    loading, of_words = ours("words", "txt")
    _, of_features = ours("features", "crfsuite")
    begun = time.process_time()
    tagger = pycrfsuite.Tagger()
    tagger.open(str(folder / "model"))
    opened, begun = time.process_time() - begun, time.process_time()
    lines = []
    for block in (folder / "many.txt").read_text().split("\n\n"):
        sentence = [line.split(" ") for line in block.splitlines()]
        labels = tagger.tag(features(sentence, corpus.templates))
        lines += [" ".join([*cells, label]) + "\n" for cells, label in zip(sentence, labels, strict=True)] + ["\n"]
    (folder / "theirs.txt").write_text("".join(lines))
    from_words = time.process_time() - begun
    items = [pycrfsuite.ItemSequence(features(sentence, corpus.templates)) for sentence in unlabelled]
    begun = time.process_time()
    for sequence in items:
        tagger.tag(sequence)
    from_features = time.process_time() - begun
    rows = [("dualgap", loading, of_words, of_features), ("python-crfsuite", opened, from_words, from_features)]
    if not args.without_crfs and shutil.which("cargo"):
        fields = ";".join("/".join(",".join(map(str, field)) for field in fields) for fields in corpus.templates)
        command = [str(peer(Path("target/crfs-peer").resolve())), str(folder / "model"), str(folder / "many.txt"), fields]
        runs = [list(map(int, run([*command, str(folder / "peer.txt")])[1].split())) for _ in range(3)]
        if (folder / "peer.txt").read_text().split() != (folder / "theirs.txt").read_text().split():
            raise SystemExit("crfs and CRFsuite do not agree about the same model: their features differ")
        rows.append((f"crfs {CRFS}", *(min(one[k] for one in runs) / 1e9 for k in range(3))))
    print(f"{count} tokens; loading of dualgap with the start of a process")
    print("| | loading, ms | from words, tokens/s | ratio | from features, tokens/s | ratio |\n|---|---|---|---|---|---|")
    for name, load, words, ready in rows:
        told = f"{count / words:.0f} | {words / of_words:.1f} | {count / ready:.0f} | {ready / of_features:.1f}"
        print(f"| {name} | {1000 * load:.0f} | {told} |", flush=True)


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
    parser.add_argument("--without-crfs", action="store_true", help="leave the Rust crate out of `tagging`")
    parser.add_argument("--runs", type=int, default=1, help="of everyone in `quality`, of which the fastest counts")
    parser.add_argument("--only-ours", action="store_true", help="leave CRFsuite out of `quality`")
    parser.add_argument("--only-theirs", action="store_true", help="end when the log is written")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        {"objective": objective, "quality": quality, "tagging": tagging}[args.what](args, Path(name))


if __name__ == "__main__":
    main()
