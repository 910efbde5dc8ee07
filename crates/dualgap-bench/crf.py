"""Conditional random fields, like for like: CRFsuite's L-BFGS and dualgap on the same features and the same objective.

    python crates/dualgap-bench/crf.py --program target/release/dualgap --data FOLDER [--c2 1] [--sentences 2000]

FOLDER has train.txt.gz and test.txt.gz of CoNLL-2000 (word, part of speech, chunk label); python-crfsuite is installed. Both
sides have the 19 templates of CRFsuite's example, weights for every pair of a feature and a label, and

    c2 |w|^2 + sum of log-losses = n P(w),    lambda = 2 c2/n

The optimum is bracketed by a certified run of dualgap. The table has the CPU seconds until the objective is within 1e-3, 1e-4
and 1e-6 of it: of CRFsuite by its log of every iteration, of dualgap by runs with that many passes, less the
CPU seconds of a run without any (reading, one certification, the test). Of two threads the seconds are those of a clock.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import pycrfsuite

WITHIN = (1e-3, 1e-4, 1e-6)

#: The fields of a template: column (0 is the word, 1 the part of speech) and distance.
TEMPLATES = [[(0, k)] for k in range(-2, 3)] + [[(0, -1), (0, 0)], [(0, 0), (0, 1)]]
TEMPLATES += [[(1, k)] for k in range(-2, 3)] + [[(1, k), (1, k + 1)] for k in range(-2, 2)]
TEMPLATES += [[(1, k), (1, k + 1), (1, k + 2)] for k in range(-2, 1)]


def sentences(path: Path) -> list[list[list[str]]]:
    """Return the lines of every sentence, split."""
    text = gzip.decompress(path.read_bytes()).decode()
    return [[line.split() for line in block.splitlines()] for block in text.split("\n\n") if block.strip()]


def features(sentence: list[list[str]]) -> list[list[str]]:
    """Return the features of every token; templates that reach beyond the sentence give a mark, as those of CRF++ do."""

    def cell(t: int, column: int) -> str:
        if t < 0:
            return f"_B{t}"
        return sentence[t][column] if t < len(sentence) else f"_B+{t - len(sentence) + 1}"

    def name(k: int, t: int) -> str:
        return f"{k}:" + "/".join(cell(t + distance, column) for column, distance in TEMPLATES[k])

    tokens = [[name(k, t) for k in range(len(TEMPLATES))] for t in range(len(sentence))]
    tokens[0].append("first")
    tokens[-1].append("last")
    return tokens


class Logged(pycrfsuite.BaseTrainer):
    """A trainer that keeps the loss and the CPU seconds of every iteration."""

    def message(self, text: str) -> None:
        """Keep what an iteration says."""
        if text.startswith("Loss:"):
            self.log.append((time.process_time() - self.begun, float(text.split()[1])))


def crfsuite(data: list[list[list[str]]], c2: float, iterations: int) -> list[tuple[float, float]]:
    """Return the CPU seconds and n P(w) of every iteration."""
    options = {"c1": 0.0, "c2": c2, "max_iterations": iterations, "delta": 1e-12, "epsilon": 1e-9}
    options |= {"feature.possible_states": True, "feature.possible_transitions": True}
    trainer = Logged(algorithm="lbfgs", params=options)
    trainer.log = []
    for sentence in data:
        trainer.append(pycrfsuite.ItemSequence(features(sentence)), [line[-1] for line in sentence])
    trainer.begun = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(os.path.join(folder, "model"))
    return trainer.log


def dualgap(program: str, folder: Path, c2: float, *options: str) -> tuple[float, dict]:
    """Return the CPU seconds of the process, reading included, and the report of a run."""
    templates = folder / "templates"
    rows = ["/".join(f"%x[{distance},{column}]" for column, distance in fields) for fields in TEMPLATES]
    templates.write_text("".join(f"U{k:02}:{row}\n" for k, row in enumerate(rows)))
    command = [program, "train", "chain", str(folder / "train.txt"), "--loss", "log", "--lambda", f"{2 * c2}/n"]
    command += ["--features", str(templates), "--test", str(folder / "test.txt"), "--json", *options]
    before = os.times()
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    after = os.times()
    report = json.loads(done.stdout)
    return after.children_user + after.children_system - before.children_user - before.children_system, report


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/dualgap")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--c2", type=float, default=1.0)
    parser.add_argument("--iterations", type=int, default=300, help="of CRFsuite")
    parser.add_argument("--sentences", type=int, help="only the first so many")
    args = parser.parse_args()
    data = sentences(args.data / "train.txt.gz")[: args.sentences]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = "\n".join("".join(" ".join(line) + "\n" for line in sentence) for sentence in data)
        (folder / "train.txt").write_text(text)
        (folder / "test.txt").write_bytes(gzip.decompress((args.data / "test.txt.gz").read_bytes()))
        _, best = dualgap(args.program, folder, args.c2, "--tolerance", "1e-7")
        low, high = best["dual"], best["primal"]
        print(f"optimum {low:.9f} to {high:.9f}, {best['dim']} weights, test {json.dumps(best['test'])}")
        log = crfsuite(data, args.c2, args.iterations)
        print("| within | CRFsuite, s | iterations | dualgap, one thread, s | passes | ratio | two threads, s |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        passes = 7
        none = ("--tolerance", "0", "--passes", "0")
        reading, _ = dualgap(args.program, folder, args.c2, *none, "--threads", "1")
        for within in WITHIN:
            reached = [k for k, (_, loss) in enumerate(log) if loss / len(data) <= high * (1 + within)]
            theirs = log[reached[0]][0] if reached else float("nan")
            while True:
                limit = ("--tolerance", "0", "--passes", str(passes))
                one, ours = dualgap(args.program, folder, args.c2, *limit, "--threads", "1")
                if ours["primal"] <= high * (1 + within) or passes > 1000:
                    break
                passes += max(2, passes // 10)
            seconds = one - reading
            _, two = dualgap(args.program, folder, args.c2, *limit, "--threads", "2")
            count = reached[0] + 1 if reached else None
            ratio = f"{theirs:.1f} | {count} | {seconds:.1f} | {passes} | {theirs / seconds:.1f}"
            print(f"| {within:.0e} | {ratio} | {two['fit_seconds']:.1f} |", flush=True)


if __name__ == "__main__":
    main()
