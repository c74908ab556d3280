"""`tunescope resume | replay | report`: what the run folders hold."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli import cluster
from app.cli.parsing.tune_arguments import add_ending, add_examples
from app.cli.progress import ProgressLine
from app.cli.tuning import Followed, follow, give_result
from app.cli.words import result_in_words
from core.errors import UnusableError

if TYPE_CHECKING:
    from core.tuning.events import Event


def add_to(commands: Any) -> None:
    """Add the commands to the parser."""
    resume = commands.add_parser("resume", help="go on with an interrupted or finished run")
    resume.add_argument("folder", metavar="RUN", help="a name that tunescope runs shows, or a path")
    resume.add_argument(
        "--trials", type=int, default=0, metavar="N", help="so many trials more than planned"
    )
    resume.add_argument(
        "--stop",
        action="store_true",
        help="try nothing more: fit, test and save the best so far",
    )
    cluster.add_to(resume)
    add_ending(resume)
    resume.set_defaults(run=_resume)

    replay = commands.add_parser("replay", help="tell a past run again")
    replay.add_argument("folder", metavar="RUN")
    replay.add_argument("--json", action="store_true", help="print its events as JSON lines")
    replay.set_defaults(run=_replay)

    report = commands.add_parser("report", help="write the HTML report of a past run")
    report.add_argument("folder", metavar="RUN")
    report.add_argument("--out", metavar="FILE.html", help="where to (default: RUN.html here)")
    add_examples(report)
    report.set_defaults(run=_report)


def _resume(given: argparse.Namespace) -> int:
    from core.export.exporters import check_export
    from core.tuning.events import RunFinished
    from core.tuning.history.store import History
    from core.tuning.problem import read_data
    from core.tuning.results.conclude import conclude, fit_best_again
    from core.tuning.runs.run_folder import RunFolder
    from core.tuning.strategies.registry import STRATEGIES
    from core.tuning.tune import Past, tune

    if given.trials and given.stop:
        raise UnusableError("--trials and --stop do not go together", cure="give one of them")
    if given.trials < 0:
        raise UnusableError(
            f"“{given.trials}” is out of range", where="trials", cure="give at least 0"
        )
    folder = RunFolder.open(given.folder)
    plan, past = folder.plan, folder.events()
    dataset = read_data(plan.data)
    for path in given.export:
        check_export(path, dataset.task, plan.model)
    if past and isinstance(past[-1], RunFinished) and not given.trials:
        if again := fit_best_again(folder, dataset):
            print(again, file=sys.stderr)
        if not given.stop:
            print("This run is finished; --trials N goes on with more trials.", file=sys.stderr)
        return give_result(past[-1].results, plan, dataset, folder, given)
    if given.trials and STRATEGIES[plan.strategy].kind == "penalties":
        said = f"{plan.strategy} learns penalties and makes no trials"
        print(f"--trials has no effect: {said}.", file=sys.stderr)
    requests: deque[Event] = deque()
    with cluster.connected(given) as connection:
        if given.stop:
            stream: Iterator[Event] = (
                conclude(plan, dataset, events, folder=folder) for events in [past]
            )
        else:
            stream = tune(
                plan,
                dataset,
                folder=folder,
                past=Past(past, given.trials),
                requests=requests,
                history=History,
                **cluster.executing(connection),
            )
        return follow(Followed(stream, requests, plan, dataset, folder, past), given)


def _replay(given: argparse.Namespace) -> int:
    from core.tuning.event_lines import to_json
    from core.tuning.events import RunFailed, RunFinished, RunStopped
    from core.tuning.runs.run_folder import RunFolder

    folder = RunFolder.open(given.folder)
    line = ProgressLine(sys.stdout)
    for event in folder.events():
        if given.json:
            print(to_json(event))
            continue
        line.consume(event)
        if isinstance(event, (RunFinished, RunStopped)):
            line.say(result_in_words(event.results, folder.plan))
        elif isinstance(event, RunFailed):
            line.say(event.sentence)
    line.close()
    return 0


def _report(given: argparse.Namespace) -> int:
    from core.export.exporters import export_run
    from core.export.finished_run import finished_run
    from core.tuning.runs.run_folder import RunFolder

    folder = RunFolder.open(given.folder)
    out = Path(given.out) if given.out else Path(f"{folder.name}.html")
    print(export_run(finished_run(folder, given.examples), out, "report"))
    return 0
