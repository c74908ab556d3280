"""`tunescope pick`: select another model of a finished run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from app.cli.parsing.tune_arguments import add_ending
from app.cli.tune_command import give_result
from core.errors import UnusableError

if TYPE_CHECKING:
    from core.tuning.events import ModelSelected

_KINDS = ("best", "simplest", "average", "default")


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    pick = commands.add_parser("pick", help="select another model of a finished run")
    pick.add_argument("folder", metavar="RUN", help="a name that tunescope runs shows, or a path")
    pick.add_argument(
        "which",
        metavar="WHICH",
        help="best, simplest (within one standard error of the best), average, default, or the "
        "number of a trial",
    )
    add_ending(pick)
    pick.set_defaults(run=run_pick)


def run_pick(arguments: argparse.Namespace) -> int:
    """Fit, test and keep the selected model; print and export it."""
    from core.export.exporters import check_export
    from core.tuning.events import RunFailed
    from core.tuning.problem import read_data
    from core.tuning.results.conclude import select_model
    from core.tuning.runs.run_folder import RunFolder

    selection = _requested_model(arguments.which)
    folder = RunFolder.open(arguments.folder)
    plan = folder.plan
    dataset = read_data(plan.data)
    for path in arguments.export:
        check_export(path, dataset.task, plan.model)
    last = select_model(folder, selection, dataset)
    if isinstance(last, RunFailed):
        raise UnusableError(last.sentence)
    return give_result(last, plan, dataset, folder, arguments)


def _requested_model(which: str) -> ModelSelected:
    from core.tuning.events import ModelSelected

    if which in _KINDS:
        return ModelSelected(kind=which)
    if which.isdecimal():
        return ModelSelected(kind="trial", number=int(which))
    cure = "give best, simplest, average, default or the number of a trial"
    raise UnusableError(f"there is no model “{which}” to select", where="pick", cure=cure)
