"""Training on a cluster from the shell: ``python -m dualgap.dask train binary shard-*.svm --scheduler ADDRESS -o MODEL``.

And before that: ``simulate binary shard-*.svm --workers 1,4,16`` tells how many workers the data are worth, and ``calibrate`` measures a
cluster for it.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, LocalCluster

from ._command_report import Watched, report_of
from ._estimators import LinearClassifier, LinearRegressor, MulticlassSVM
from ._simulate_commands import add_commands
from ._rounds import Passes
from ._tagger import SequenceTagger

_OF_ROWS: dict[str, Any] = {"binary": LinearClassifier, "regression": LinearRegressor, "multiclass": MulticlassSVM}
_TASKS = {**_OF_ROWS, "chain": SequenceTagger}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m dualgap.dask", description="Train on a cluster of Dask.")
    commands = parser.add_subparsers(required=True, dest="command")
    add_commands(commands, _OF_ROWS)
    train = commands.add_parser("train", help="train on shards")
    train.add_argument("task", choices=sorted(_TASKS))
    train.add_argument("shards", nargs="+", help="files that every worker can read: LIBSVM or data files, column files for chains")
    train.add_argument("--output", "-o", help="where the model file goes")
    train.add_argument("--scheduler", help="the address of the scheduler; without it the workers are processes of this machine")
    train.add_argument("--workers", type=int, default=2, help="the number of such processes")
    train.add_argument("--loss", help="the name of the loss; each task has its default")
    train.add_argument("--lambda", dest="lam", default="1/n", help="a number, or a multiple of 1/n")
    train.add_argument("--l1", type=float, help="the strength of the l1 norm beside that of --lambda")
    train.add_argument("--intercept", choices=["penalised"], help="add a column of ones; chains have none")
    train.add_argument("--features", help="what columns become for a chain: standard, paper-conll2000, or a file of templates")
    train.add_argument("--tolerance", type=float, default=0.01, help="the relative gap to reach")
    train.add_argument("--passes", type=int, help="the most passes")
    train.add_argument("--time", type=float, help="the most seconds")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--threads", type=int, default=0, help="of a shard on its worker; 0 stands for those of the worker")
    train.add_argument("--local-passes", default="auto", help="auto, a number, or numbers as a run has recorded them")
    train.add_argument("--checkpoint", help="a file to go on from if it is there, and to write now and then")
    train.add_argument("--json", action="store_true", help="print the report as JSON")
    train.add_argument("--quiet", "-q", action="store_true", help="print nothing but errors (and JSON, if asked for)")
    return parser


def _local_passes(text: str) -> str | int | list[Passes]:
    """Return what was recorded: with commas between rounds, and slashes between shards.

    >>> from dualgap.dask.__main__ import _local_passes
    >>> _local_passes("2"), _local_passes("2,2,1/4/4")
    (2, [2, 2, [1, 4, 4]])
    """
    if text == "auto":
        return text
    rounds = [[int(number) for number in one.split("/")] for one in text.split(",")]
    given: list[Passes] = [one[0] if len(one) == 1 else one for one in rounds]
    return given[0] if isinstance(given[0], int) and len(given) == 1 else given


def _recorded(passes: Passes) -> str:
    return str(passes) if isinstance(passes, int) else "/".join(map(str, passes))


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Let processes that begin here go on at Ctrl-C, which a terminal sends to them, too: they are needed for the certificate."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def main(arguments: list[str] | None = None) -> int:
    """Run the program, and return its exit status: 0 if the tolerance was reached."""
    parser = _parser()
    given = parser.parse_args(arguments)
    if hasattr(given, "call"):
        return int(given.call(given))
    lam: float | str = given.lam if "n" in given.lam else float(given.lam)
    if given.features and given.task != "chain":
        parser.error("only the columns of chains become features")
    if given.intercept and given.task == "chain":
        parser.error("chains have no intercept")
    keywords = {name: value for name in ("loss", "l1", "intercept", "features") if (value := getattr(given, name))}

    cluster = None
    if given.scheduler is None:
        with _without_ctrl_c():
            cluster = LocalCluster(n_workers=given.workers, threads_per_worker=1, dashboard_address=":0")
    watched = Watched(quiet=given.quiet)
    with Client(cluster if cluster is not None else given.scheduler) as client:
        model = _TASKS[given.task](
            client=client,
            lam=lam,
            tolerance=given.tolerance,
            passes=given.passes,
            time=given.time,
            seed=given.seed,
            threads=given.threads,
            local_passes=_local_passes(given.local_passes),
            checkpoint=given.checkpoint,
            callback=watched,
            **keywords,
        )
        try:
            model.fit(given.shards)
        except KeyboardInterrupt:
            # The model is there, unless it was given up, too.
            if not hasattr(model, "model_"):
                return 130
    if cluster is not None:
        cluster.close()
    if given.output:
        model.save(given.output)
    if given.json:
        print(json.dumps(report_of(given.task, model, watched)))
    elif not given.quiet:
        print(model.report_)
        print(
            f"{len(model.rounds_)} rounds, {model.bytes_ / 1e6:.3g} MB moved, {model.lost_} shards lost "
            f"({model.restored_} restored); local passes "
            + ",".join(_recorded(made["passes"]) for made in model.rounds_)
        )
    return 0 if model.stop_ == "gap_reached" else 1


if __name__ == "__main__":
    sys.exit(main())
