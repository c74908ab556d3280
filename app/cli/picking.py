"""`tunescope pick`: take another model away from a finished run than the one it kept."""

from __future__ import annotations

import argparse
from typing import Any

from app.cli.parsing.tune_arguments import add_ending
from app.cli.tuning import give_result
from core.errors import UnusableError

_KINDS = ("best", "simplest", "average", "default")


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    pick = commands.add_parser("pick", help="take another model away from a finished run")
    pick.add_argument("folder", metavar="RUN", help="a name that tunescope runs shows, or a path")
    pick.add_argument(
        "which",
        metavar="WHICH",
        help="best, simplest (within one standard error of the best), average, default, or the "
        "number of a trial",
    )
    add_ending(pick)
    pick.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Fit, judge and keep what was picked; print its result, export it."""
    from core.export.exporters import check_export
    from core.tuning.events import RunFailed
    from core.tuning.problem import read_data
    from core.tuning.results.conclude import pick
    from core.tuning.runs.run_folder import RunFolder

    meant = _meant(given.which)
    folder = RunFolder.open(given.folder)
    plan = folder.plan
    dataset = read_data(plan.data)
    for path in given.export:
        check_export(path, dataset.task, plan.model)
    last = pick(folder, meant, dataset)
    if isinstance(last, RunFailed):
        raise UnusableError(last.sentence)
    return give_result(last.results, plan, dataset, folder, given)


def _meant(which: str) -> Any:
    from core.tuning.events import ModelPicked

    if which in _KINDS:
        return ModelPicked(kind=which)
    if which.isdecimal():
        return ModelPicked(kind="trial", number=int(which))
    raise UnusableError(
        f"“{which}” is nothing that can be taken away",
        where="pick",
        cure="give best, simplest, average, default or the number of a trial",
    )
