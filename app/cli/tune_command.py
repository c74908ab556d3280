"""`tunescope tune`: from the file to the exported model; the result as text and as JSON."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.interrupt_handler import (
    INTERRUPTED,
    InterruptHandler,
    kept_run_text,
    untested_best,
    untested_best_text,
)
from app.cli.progress_line import ProgressLine
from app.cli.streams import SafeStream, print_remark
from app.cli.tune_arguments import (
    add_tune_arguments,
    cluster_connection,
    data_of,
    executor_arguments,
    plan_of,
    refuse_role_of_target,
    unused_option_texts,
    wherever_from,
)
from app.text.data_text import unclear_target_text
from core.datasets.finding import ColumnReading, Finding
from core.errors import UnusableError, write_error
from core.extras import own_command
from core.garbage_collection import restore_collection
from core.records import JsonObject, Record, to_plain
from core.tuning.event_lines import to_json
from core.tuning.events import Event, RunFinished, RunStopped
from core.tuning.plan import DataPlan, Plan
from core.tuning.results.answer import answer_of
from core.tuning.results.result_facts import Fact, result_facts
from core.tuning.run_results import Results, completed_candidates
from core.tuning.runs.model_runs import model_leaderboard
from core.tuning.runs.run_folder import RunFolder, runs_root
from core.tuning.runs.state import RunState, state_from_events
from core.wording import count_text, quoted
from core.writing import patient_opener

BRIEF_LABELS = ("Tuned", "Default", "Gain", "Cost", "Note")
MAX_OPTION = 200  # letters of an option that a finding proposes
MAX_NOTES = 2  # that are printed of a brief result

if TYPE_CHECKING:
    from core.datasets.dataset import Dataset
    from core.tuning.tune import NewRun


@dataclass(frozen=True)
class ModelResult(Record):
    """One of several models of a run."""

    model: str
    validation: dict[str, float]  # {metric: best score}, empty without a complete trial
    standard_error: float | None
    estimate: dict[str, float]  # {metric: estimated score of the best trial that ended early}
    trials: int
    ended_early: int
    seconds: float
    state: str
    why: str  # a sentence for a failed model


def result_text(results: Results, run: RunState) -> str:
    """The facts of a run's results, a line each."""
    leaderboard = model_leaderboard(run) if run.tunes_several_models else ()
    return _fact_lines(result_facts(results, run.started, leaderboard))


def _fact_lines(facts: Iterable[Fact]) -> str:
    return "\n".join(f"{f'{fact.label}: ':9}{fact.value}" for fact in facts if fact.value)


def answer_text(results: Results, run: RunState) -> str:
    """The answer, the scores, the cost and notes."""
    answer, target = answer_of(results, run.started, run.topics), run.started.dataset.target
    facts = [f for f in result_facts(results, run.started) if f.label in BRIEF_LABELS and f.value]
    notes = [fact for fact in facts if fact.label == "Note"]
    shown = [fact for fact in facts if fact.label != "Note"] + notes[:MAX_NOTES]
    ability = f"{quoted([target])[0]}: {answer.ability}" if target else answer.ability
    lines = [ability, answer.tuning, answer.advice, _fact_lines(shown)]
    if more := len(notes) - MAX_NOTES:
        lines += [f"{count_text(more, 'more note')}: --verbose"] if more > 0 else []
    return "\n".join(lines)


def leaderboard_of(run: RunState) -> list[ModelResult]:
    """The models of a run, best first; empty for one model."""
    if not run.tunes_several_models:
        return []
    return [
        ModelResult(
            model=row.model,
            validation={} if row.best is None else {run.started.metric: row.best},
            standard_error=row.error,
            estimate={} if row.estimate is None else {run.started.metric: row.estimate},
            trials=row.trials,
            ended_early=row.early,
            seconds=row.seconds,
            state=row.state,
            why=row.why,
        )
        for row in model_leaderboard(run)
    ]


def add_tune(commands: Any) -> None:
    """Add the command."""
    add_tune_arguments(commands).set_defaults(run=run_tune)


class UnclearTargetError(UnusableError):
    """A guess of the target beside which another column is as likely."""

    def __init__(self, dataset: Dataset, rival: str) -> None:
        self.names = (rival, dataset.target_name)
        fault = unclear_target_text(dataset.target_name, rival)
        cure = f"say which is predicted: --target {rival!r}, or --target {dataset.target_name!r}"
        super().__init__(fault, where=dataset.name, cure=cure)


def run_tune(arguments: argparse.Namespace) -> int:
    """Tune, print the result, export; a person is asked where the target is unclear."""
    try:
        return _run_tuning(arguments)
    except UnclearTargetError as unclear:
        arguments.target = _asked_target(unclear)
        return _run_tuning(arguments)
    except UnusableError as error:
        if ", column " in error.where and not arguments.target:
            print_remark("This column was taken for the target; --target NAME names another.")
        raise


def _asked_target(unclear: UnclearTargetError) -> str:
    # Nobody can answer: a script must say --target.
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise unclear
    first, last = unclear.names
    print(
        f"Which column is predicted? [1] {first}  [2] {last}  ", end="", file=sys.stderr, flush=True
    )
    answers = {"1": first, first: first, "2": last, last: last}
    answer = sys.stdin.readline().strip()
    if answer not in answers:
        raise unclear
    return answers[answer]


def _run_tuning(arguments: argparse.Namespace) -> int:
    with ProgressLine(sys.stderr).show_during(f"reading {arguments.file}"):
        from core.datasets.summary import all_findings
        from core.tuning.tune import prepare_run

        new_run = prepare_run(data_of(arguments), partial(_checked_plan, arguments))
        aim = _aim_text(new_run)
    print_remark(aim)
    dataset, problem = new_run.dataset, new_run.problem
    for finding in all_findings(dataset):
        print_remark(f"Data: {finding.sentence}{_option_text(finding)}")
    for reading in dataset.readings:
        print_remark(f"Read: {reading.full_sentence}{_option_text(reading)}")
    for sentence in (*unused_option_texts(arguments, problem), *new_run.sentences):
        print_remark(sentence)
    if problem.strategy.kind != "trials":
        arguments.cluster = ""  # unused_option_texts printed that it has no effect
    path = Path(arguments.run_dir) if arguments.run_dir else None
    if arguments.later:
        address = RunFolder.create(new_run.plan, path=path).address
        print_remark(f"{own_command()} work {address} begins it, on as many computers as you like.")
        return 0
    copy = _EventsCopy(arguments.events) if arguments.events else None
    with cluster_connection(arguments, arguments.workers) as connection:
        if connection is not None and arguments.workers is None:
            new_run = new_run.with_workers(connection.threads)
        plan = new_run.plan
        folder = RunFolder.create(plan, path=path)
        requests: deque[Event] = deque()
        where = executor_arguments(connection)
        stream = new_run.events(folder, requests=requests, **where)
        run = FollowedRun(stream, requests, plan, dataset, folder, copy=copy)
        try:
            return follow_run(run, arguments)
        except UnusableError:
            # What was refused before its first event leaves no folder.
            folder.forget_if_idle()
            raise


def _aim_text(new_run: NewRun) -> str:
    from core.tuning.guidance.forecast import estimate_of

    dataset, time_text = new_run.dataset, ""
    # A model that cannot be fitted makes failed trials, which tell more.
    with contextlib.suppress(Exception):
        time_text = f" ({estimate_of(new_run.problem).sentence})"
    if not dataset.task.has_target:
        return f"Finds {dataset.task.target_text}{time_text}."
    has_choice = new_run.plan.data.guesses_target and dataset.task.is_table
    hint = "; --target NAME names another column" if has_choice else ""
    return f"Predicts “{dataset.target_name}”{time_text}{hint}."


def _checked_plan(arguments: argparse.Namespace, data: DataPlan, dataset: Dataset) -> Plan:
    from core.datasets.understanding.target import rival_target

    if data.guesses_target and (rival := rival_target(dataset)):
        raise UnclearTargetError(dataset, rival)
    refuse_role_of_target(data.roles, dataset.target_name)
    plan = plan_of(arguments, wherever_from(data), dataset)
    if arguments.export:
        from core.export.exporters import check_export

        # What cannot be exported is refused before anything is computed.
        for path in arguments.export:
            check_export(path, dataset.task, plan.model)
    return plan


def _findings(dataset: Dataset) -> list[str]:
    from core.datasets.summary import all_findings

    return [finding.sentence for finding in all_findings(dataset)]


def _option_text(finding: Finding | ColumnReading) -> str:
    option = finding.proposal.option if finding.proposal else ""
    return f" ({option})" if option and len(option) <= MAX_OPTION else ""


class _EventsCopy:
    """The events in a file as well; a write error does not end the run."""

    def __init__(self, path: str) -> None:
        try:
            # Closed when the run has ended.
            self._file = open(  # noqa: SIM115
                path, "w", encoding="utf-8", buffering=1, opener=patient_opener
            )
        except OSError as error:
            cure = "choose a file that you may write to"
            raise write_error("the events", path, error, cure=cure) from error
        self._stream = SafeStream(self._file)

    def add_event(self, event: Event, say: Callable[[str], None]) -> None:
        was_whole = self._stream.fault is None
        self._stream.write(to_json(event) + "\n")
        if was_whole and (error := self._stream.fault):
            why = error.strerror or type(error).__name__
            say(
                f"The copy of the events in {self._file.name} ends here ({why});"
                " the run continues, and its folder has them all."
            )

    def close(self) -> None:
        with contextlib.suppress(OSError):  # closing writes the buffer once more
            self._file.close()


@dataclass(frozen=True)
class FollowedRun:
    """A run shown as it goes on; `past` are its earlier events."""

    stream: Generator[Event, None, None]
    requests: deque[Event]
    plan: Plan
    dataset: Dataset
    folder: RunFolder
    past: Sequence[Event] = ()
    copy: _EventsCopy | None = None


def follow_run(run: FollowedRun, arguments: argparse.Namespace) -> int:
    """Show a run until it ends or is interrupted, then its result."""
    from core.tuning.results.conclude import conclude

    plan, dataset, folder = run.plan, run.dataset, run.folder
    last: Event | None = None
    line = ProgressLine(sys.stderr)
    line.replay_events(run.past)
    with InterruptHandler(
        line, run.requests, lambda: _report_untested(line.run_state, run, arguments)
    ) as stopping:
        try:
            with contextlib.closing(run.stream):
                for last in run.stream:
                    restore_collection()  # what the run needs is imported by its first event
                    if run.copy is not None:
                        run.copy.add_event(last, line.print_line)
                    line.consume(last)
        except KeyboardInterrupt:
            # What is made now could not be kept, or others go on.
            if not folder.is_writable or arguments.leaves:
                _report_untested(line.run_state, run, arguments)
                return INTERRUPTED
            # From the folder: the stream was left in the middle of an event.
            because = "it was interrupted"
            try:
                last = conclude(plan, dataset, folder.all_events(), folder=folder, because=because)
            except UnusableError:  # the disk is full, mostly: the best so far is in memory
                _report_untested(line.run_state, run, arguments)
                raise
            line.consume(last)
        finally:
            line.close()
            if run.copy is not None:
                run.copy.close()
        # From here on an interrupt ends the process at once: the run is whole.
        stopping.answered()
        status = INTERRUPTED if stopping.interrupted else 0
        if isinstance(last, (RunFinished, RunStopped)):
            return give_result(last, plan, dataset, folder, arguments) or status
        print_remark(f"tunescope: {getattr(last, 'sentence', 'nothing was run.')}")
        if status:
            print_remark(f"tunescope: {kept_run_text(line.run_state, folder.address)}")
        return status or 1


def _report_untested(state: RunState, run: FollowedRun, arguments: argparse.Namespace) -> None:
    kept_sentence = kept_run_text(state, run.folder.address)
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
    results = last.results
    # Every run that this program ended has them.
    assert results is not None
    events = folder.all_events()
    run = state_from_events(events)
    exports: list[str] = []
    failed: dict[str, str] = {}
    if arguments.export:
        from core.export.exporters import export_all
        from core.export.finished_run import finished_run

        read = partial(finished_run, folder, arguments.examples, events)
        exports, failed = export_all(read, arguments.export)
    if arguments.json:
        for remark in results.remarks:
            print_remark(f"Note: {remark}")
        json_result = result_as_json(results, plan, dataset, folder, exports)
        if models := leaderboard_of(run):
            json_result["leaderboard"] = to_plain(models)
        print(json.dumps({**json_result, **({"failed_exports": failed} if failed else {})}))
    else:
        print((result_text if arguments.verbose else answer_text)(results, run))
        print(f"Run:     {folder.name}")
        for path in exports:
            print(f"Saved:   {path}")
        command = f"{own_command()} predict {_model_name(folder)}"
        print(f"Next:    {command} NEW_ROWS --out answers.csv")
    # The result stands nevertheless: it was printed before.
    for sentence in failed.values():
        print_remark(f"tunescope: {sentence}")
    return 1 if failed else 0


def _model_name(folder: RunFolder) -> str:
    """How the next command calls the run: "last", until there is a later one."""
    if folder.path.parent != runs_root():
        return str(folder.path)
    return "last" if RunFolder.find_run("last").path == folder.path else folder.name


def result_as_json(
    results: Results, plan: Plan, dataset: Dataset, folder: RunFolder, exports: list[str]
) -> JsonObject:
    """The object that `--json` prints."""
    interval = results.validation_interval
    return {
        **_of_run(plan, dataset, folder),
        "params": results.setting,
        **({"params_of": "the best member"} if results.ensemble is not None else {}),
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
        "candidates": to_plain(completed_candidates(results)),
        "exports": exports,
    }


def _of_run(plan: Plan, dataset: Dataset, folder: RunFolder) -> JsonObject:
    return {
        "run": folder.name,
        "dataset": {
            "rows": dataset.rows,
            "features": int(dataset.features.shape[1]),
            "task": dataset.task,
            **({"target": dataset.target_name} if dataset.task.has_target else {}),
        },
        "model": plan.model,
        "strategy": plan.strategy,
    }
