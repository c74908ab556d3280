"""`tunescope tune`: from the file to the exported model."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from app.cli import cluster_options
from app.cli.interrupt_handler import (
    INTERRUPTED,
    InterruptHandler,
    kept_run_text,
    untested_best,
    untested_best_text,
)
from app.cli.leaderboard_output import leaderboard_of
from app.cli.parsing import tune_arguments
from app.cli.parsing.column_options import refuse_role_of_target
from app.cli.parsing.unused_options import unused_option_texts
from app.cli.plan_from_arguments import data_of, plan_of, wherever_from
from app.cli.progress_line import ProgressLine
from app.cli.terminal_text import result_text
from core.errors import UnusableError, write_error
from core.estimators.multi_model import SEVERAL
from core.garbage_collection import restore_collection
from core.records import JsonObject, to_plain

if TYPE_CHECKING:
    from core.datasets.dataset import Dataset
    from core.tuning.events import Event, RunFinished, RunStopped
    from core.tuning.plan import Plan
    from core.tuning.run_results import Results
    from core.tuning.runs.run_folder import RunFolder
    from core.tuning.runs.state import RunState


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    tune_arguments.add_to(commands).set_defaults(run=run_tune)


def run_tune(arguments: argparse.Namespace) -> int:
    """Tune, print the result, export."""
    from core.export.exporters import check_export
    from core.tuning.fixed_row_count import with_row_count
    from core.tuning.guidance.power_words import power_of
    from core.tuning.history.store import History
    from core.tuning.patience import stop_rule_text
    from core.tuning.plan_checks import MAX_WORKERS
    from core.tuning.problem import build_problem, read_data
    from core.tuning.runs.run_folder import RunFolder
    from core.tuning.tune import tune

    data = data_of(arguments)
    dataset = read_data(data)
    refuse_role_of_target(data.roles, dataset.target_name)
    plan = plan_of(arguments, with_row_count(wherever_from(data), dataset), dataset)
    for path in arguments.export:  # refused before anything is computed
        check_export(path, dataset.task, plan.model)
    problem = build_problem(plan, dataset)  # refuses before a folder is made
    for line in _finding_lines(dataset):
        print(f"Data: {line}", file=sys.stderr)
    for reading in dataset.readings:
        option = f" ({reading.proposal.option})" if reading.proposal else ""
        print(f"Read: {reading.full_sentence}{option}", file=sys.stderr)
    for sentence in unused_option_texts(arguments, problem):
        print(sentence, file=sys.stderr)
    if problem.metric_reason:
        print(problem.metric_reason, file=sys.stderr)
    if power := power_of(problem):
        print(power, file=sys.stderr)
    if problem.strategy.kind == "trials":
        print(stop_rule_text(plan), file=sys.stderr)
    else:
        arguments.cluster = ""  # unused_option_texts printed that it has no effect
    restore_collection()
    copy = _open_events_copy(Path(arguments.events)) if arguments.events else None
    with cluster_options.cluster_connection(arguments, arguments.workers) as connection:
        if connection is not None and arguments.workers is None:
            plan = plan.changed(workers=min(connection.threads, MAX_WORKERS))
        folder = RunFolder.create(plan, path=Path(arguments.run_dir) if arguments.run_dir else None)
        requests: deque[Event] = deque()
        where = cluster_options.executor_arguments(connection)
        stream = tune(plan, dataset, folder=folder, history=History, requests=requests, **where)
        run = FollowedRun(stream, requests, plan, dataset, folder, copy=copy)
        try:
            return follow_run(run, arguments)
        except UnusableError:
            folder.forget_if_idle()
            raise


def _findings(dataset: Dataset) -> list[str]:
    from core.datasets.summary import all_findings

    return [finding.sentence for finding in all_findings(dataset)]


def _finding_lines(dataset: Dataset) -> list[str]:
    from core.datasets.summary import all_findings

    lines = []
    for finding in all_findings(dataset):
        option = finding.proposal.option if finding.proposal else ""
        lines.append(f"{finding.sentence} ({option})" if option else finding.sentence)
    return lines


def _open_events_copy(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        cure = "choose a file that you may write to"
        raise write_error("the events", str(path), error, cure=cure) from error


class _Copy:
    """The copy of a run's events; a write error does not end the run."""

    def __init__(self, file: TextIO | None, say: Callable[[str], None]) -> None:
        self._file, self._say = file, say

    def __enter__(self) -> _Copy:
        return self

    def add_event(self, event: Event) -> None:
        from core.tuning.event_lines import to_json

        if self._file is None:
            return
        try:
            self._file.write(to_json(event) + "\n")
        except OSError as error:
            why = error.strerror or type(error).__name__
            self._say(
                f"The copy of the events in {self._file.name} ends here ({why});"
                " the run continues, and its folder has them all."
            )
            self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # close writes the buffer again
                self._file.close()
        self._file = None

    def __exit__(self, *_error: object) -> None:
        self._close_file()


@dataclass(frozen=True)
class FollowedRun:
    """A run that is shown as it goes on; `past` are its earlier events."""

    stream: Generator[Event, None, None]
    requests: deque[Event]
    plan: Plan
    dataset: Dataset
    folder: RunFolder
    past: Sequence[Event] = ()
    copy: TextIO | None = None  # takes every event as a JSON line


def follow_run(run: FollowedRun, arguments: argparse.Namespace) -> int:
    """Show a run until it ends or is interrupted, then its result."""
    from core.tuning.events import RunFinished, RunStopped
    from core.tuning.results.conclude import conclude

    plan, dataset, folder = run.plan, run.dataset, run.folder
    last: Event | None = None
    line = ProgressLine(sys.stderr)
    line.replay_events(run.past)
    with InterruptHandler(
        line, run.requests, lambda: _report_untested(line.run_state, run, arguments)
    ) as stopping:
        try:
            with contextlib.closing(run.stream), _Copy(run.copy, line.print_line) as copy:
                for last in run.stream:
                    copy.add_event(last)
                    line.consume(last)
        except KeyboardInterrupt:
            because = "it was interrupted"
            last = conclude(plan, dataset, folder.all_events(), folder=folder, because=because)
            line.consume(last)
        finally:
            line.close()
        stopping.answered()
        status = INTERRUPTED if stopping.interrupted else 0
        if isinstance(last, (RunFinished, RunStopped)):
            return give_result(last, plan, dataset, folder, arguments) or status
        print(f"tunescope: {getattr(last, 'sentence', 'nothing was run.')}", file=sys.stderr)
        if status:
            print(f"tunescope: {kept_run_text(line.run_state, folder.name)}", file=sys.stderr)
        return status or 1


def _report_untested(state: RunState, run: FollowedRun, arguments: argparse.Namespace) -> None:
    kept_sentence = kept_run_text(state, run.folder.name)
    if state.results is None and arguments.json:
        print(json.dumps(_untested_as_json(state, run, arguments, kept_sentence)), flush=True)
    elif state.results is None and (best_lines := untested_best_text(state)):
        print(best_lines, flush=True)
    print(f"tunescope: {kept_sentence}", file=sys.stderr, flush=True)


def _untested_as_json(
    state: RunState, run: FollowedRun, arguments: argparse.Namespace, kept_sentence: str
) -> JsonObject:
    return {
        **_of_run(run.plan, run.dataset, run.folder),
        **to_plain(untested_best(state)),
        "remarks": [kept_sentence],
        "findings": _findings(run.dataset),
        "fits": state.fit_count,
        "trials": state.finished,
        "seconds": round(state.seconds, 4),
        "stopped_because": "it was interrupted",
        "seed": run.plan.seed,
        "exports": [],
        **(
            {"failed_exports": dict.fromkeys(arguments.export, kept_sentence)}
            if arguments.export
            else {}
        ),
    }


def give_result(
    last: RunFinished | RunStopped,
    plan: Plan,
    dataset: Dataset,
    folder: RunFolder,
    arguments: argparse.Namespace,
) -> int:
    """Export and print the result; 1 where an export failed."""
    from core.export.exporters import export_all
    from core.export.finished_run import finished_run

    results = last.results
    assert results is not None  # every run that this program ended has them
    exports, failed = export_all(lambda: finished_run(folder, arguments.examples), arguments.export)
    models = leaderboard_of(folder.all_events()) if plan.model == SEVERAL else []
    if arguments.json:
        for remark in results.remarks:
            print(f"Note: {remark}", file=sys.stderr)
        json_result = result_as_json(results, plan, dataset, folder, exports)
        json_result |= {"leaderboard": to_plain(models)} if models else {}
        print(json.dumps({**json_result, **({"failed_exports": failed} if failed else {})}))
    else:
        print(result_text(results, plan, models))
        print(f"Run:    {folder.name}")
        for path in exports:
            print(f"Saved:  {path}")
    for sentence in failed.values():
        print(f"tunescope: {sentence}", file=sys.stderr)
    return 1 if failed else 0


def result_as_json(
    results: Results, plan: Plan, dataset: Dataset, folder: RunFolder, exports: list[str]
) -> JsonObject:
    """The object that `--json` prints."""
    interval = results.validation_interval
    return {
        **_of_run(plan, dataset, folder),
        "params": results.setting,
        **({"groups": results.groups} if results.groups else {}),
        **({} if results.ensemble is None else {"ensemble": to_plain(results.ensemble)}),
        "metric": results.metric,
        **({} if results.metric_reason is None else {"metric_reason": results.metric_reason}),
        **({} if results.costs is None else {"costs": to_plain(results.costs)}),
        "validation": results.validation,
        **({} if interval is None else {"validation_interval": interval}),
        "test": results.test,
        "default_test": results.default_test,
        "remarks": results.remarks,
        "findings": _findings(dataset),
        "baseline_test": results.baseline_test,
        "gain": {
            "metric": results.gain.metric,
            "value": results.gain.difference,
            "low": results.gain.low,
            "high": results.gain.high,
            "likely_real": results.gain.real,
        },
        "evaluation": to_plain(results.evaluation),
        "fits": results.fits,
        "trials": results.trials,
        "seconds": results.seconds,
        "stopped_because": results.stopped_because,
        "seed": results.seed,
        "exports": exports,
    }


def _of_run(plan: Plan, dataset: Dataset, folder: RunFolder) -> JsonObject:
    return {
        "run": folder.name,
        "dataset": {
            "rows": dataset.rows,
            "features": int(dataset.features.shape[1]),
            "task": dataset.task,
        },
        "model": plan.model,
        "strategy": plan.strategy,
    }
