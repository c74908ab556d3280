"""`tunescope resume | replay | report`: past runs."""

from __future__ import annotations

import argparse
import math
import sys
from collections import deque
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli import cluster_options
from app.cli.parsing.tune_arguments import add_ending, add_examples, add_memory
from app.cli.progress_line import ProgressLine
from app.cli.terminal_text import result_text
from app.cli.tune_command import FollowedRun, follow_run, give_result
from core.errors import UnusableError

if TYPE_CHECKING:
    from core.tuning.events import Event


def add_to(commands: Any) -> None:
    """Add the commands to the parser."""
    resume = commands.add_parser("resume", help="continue an interrupted or finished run")
    resume.add_argument("folder", metavar="RUN", help="a name that tunescope runs shows, or a path")
    help_text = "so many trials more than planned"
    resume.add_argument("--trials", type=int, default=0, metavar="N", help=help_text)
    help_text = "so many minutes more, of a run that minutes bound"
    resume.add_argument("--minutes", type=float, default=0.0, metavar="M", help=help_text)
    help_text = "try nothing more: fit, test and save the best so far"
    resume.add_argument("--stop", action="store_true", help=help_text)
    add_memory(resume)
    cluster_options.add_to(resume)
    add_ending(resume)
    resume.set_defaults(run=_resume_run)

    replay = commands.add_parser("replay", help="tell a past run again")
    replay.add_argument("folder", metavar="RUN")
    replay.add_argument("--json", action="store_true", help="print its events as JSON lines")
    replay.set_defaults(run=_replay_run)

    report = commands.add_parser("report", help="write the HTML report of a past run")
    report.add_argument("folder", metavar="RUN")
    report.add_argument("--out", metavar="FILE.html", help="where to (default: RUN.html here)")
    add_examples(report)
    report.set_defaults(run=_write_report)


def _resume_run(arguments: argparse.Namespace) -> int:
    from core.export.exporters import check_export
    from core.tuning.events import RunFinished
    from core.tuning.history.store import History
    from core.tuning.problem import read_data
    from core.tuning.results.conclude import conclude, fit_best_again
    from core.tuning.runs.run_folder import RunFolder
    from core.tuning.strategies.registry import STRATEGIES
    from core.tuning.tune import RecordedRun, tune

    more = {"trials": arguments.trials, "minutes": arguments.minutes}
    for name, amount in more.items():
        if amount and arguments.stop:
            fault = f"--{name} and --stop do not go together"
            raise UnusableError(fault, cure="give one of them")
        if not 0 <= amount < math.inf:
            fault = f"“{amount:g}” is out of range"
            raise UnusableError(fault, where=name, cure="give at least 0")
    folder = RunFolder.open(arguments.folder)
    plan, past = folder.plan, folder.all_events()
    if arguments.minutes:
        plan = plan.with_more_minutes(arguments.minutes, past[-1].seconds if past else 0.0)
    plan = plan.changed(memory=arguments.memory or plan.memory)
    dataset = read_data(plan.data)
    for path in arguments.export:
        check_export(path, dataset.task, plan.model)
    if past and isinstance(past[-1], RunFinished) and not any(more.values()):
        if refit_remark := fit_best_again(folder, dataset):
            print(refit_remark, file=sys.stderr)
        if not arguments.stop:
            words = "This run is finished; --trials N or --minutes M continues it."
            print(words, file=sys.stderr)
        return give_result(past[-1], plan, dataset, folder, arguments)
    if arguments.trials and STRATEGIES[plan.strategy].kind == "penalties":
        reason = f"{plan.strategy} learns penalties and makes no trials"
        print(f"--trials has no effect: {reason}.", file=sys.stderr)
    requests: deque[Event] = deque()
    with cluster_options.cluster_connection(arguments) as connection:
        if arguments.stop:
            stream: Generator[Event, None, None] = (
                conclude(plan, dataset, events, folder=folder) for events in [past]
            )
        else:
            stream = tune(
                plan,
                dataset,
                folder=folder,
                past=RecordedRun(past, arguments.trials),
                requests=requests,
                history=History,
                **cluster_options.executor_arguments(connection),
            )
        return follow_run(FollowedRun(stream, requests, plan, dataset, folder, past), arguments)


def _replay_run(arguments: argparse.Namespace) -> int:
    from core.tuning.event_lines import to_json
    from core.tuning.events import RunFailed, RunFinished, RunStopped
    from core.tuning.runs.run_folder import RunFolder

    folder = RunFolder.open(arguments.folder)
    line = ProgressLine(sys.stdout)
    for event in folder.all_events():
        if arguments.json:
            print(to_json(event))
            continue
        line.consume(event)
        if isinstance(event, (RunFinished, RunStopped)) and event.results is not None:
            line.print_line(result_text(event.results, folder.plan))
        elif isinstance(event, RunFailed):
            line.print_line(event.sentence)
    line.close()
    return 0


def _write_report(arguments: argparse.Namespace) -> int:
    from core.export.exporters import export_run
    from core.export.finished_run import finished_run
    from core.tuning.runs.run_folder import RunFolder

    folder = RunFolder.open(arguments.folder)
    out = Path(arguments.out) if arguments.out else Path(f"{folder.name}.html")
    print(export_run(finished_run(folder, arguments.examples), out, "report"))
    return 0
