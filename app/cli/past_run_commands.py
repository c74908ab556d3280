"""`tunescope runs | resume | replay | report | pick | export`: past runs."""

import argparse
import json
import math
import sys
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from app.cli.progress_line import ProgressLine
from app.cli.streams import print_remark
from app.cli.tune_arguments import (
    add_cluster,
    add_ending,
    add_examples,
    cluster_connection,
    executor_arguments,
)
from app.cli.tune_command import FollowedRun, follow_run, give_result, result_text
from core.errors import UnusableError
from core.estimators.multi_model import SEVERAL
from core.export.exportable_models import (
    TUNED,
    ExportableModel,
    exportable_model,
    exportable_models,
)
from core.records import JsonObject
from core.tuning.event_lines import to_json
from core.tuning.events import (
    ClusterWorker,
    Event,
    ModelSelected,
    RunFailed,
    RunFinished,
    RunStopped,
)
from core.tuning.ranges import setting_text
from core.tuning.runs import past_runs
from core.tuning.runs.run_folder import RunFolder, runs_root
from core.tuning.scores.score import measured_text, signed_difference
from core.tuning.strategies.registry import STRATEGIES
from core.wording import count_text, printable_text

MAX_NAME = 24  # letters of a column in the list of runs


def add_runs(commands: Any) -> None:
    """Add the command."""
    runs = commands.add_parser("runs", help="list past runs; rename, delete and restore them")
    runs.add_argument("--json", action="store_true")
    runs.set_defaults(run=_list_runs)
    actions = runs.add_subparsers(dest="part", metavar="PART")

    rename = actions.add_parser("rename", help="give a run a name of your own")
    rename.add_argument("folder", metavar="RUN")
    rename.add_argument("text", metavar="NAME")
    rename.set_defaults(run=_write_label, field="name")
    note = actions.add_parser("note", help="write a note to a run; without a text, print it")
    note.add_argument("folder", metavar="RUN")
    note.add_argument("text", metavar="TEXT", nargs="?")
    note.set_defaults(run=_write_label, field="note")

    delete = actions.add_parser("delete", help="put runs into the bin, from where they come back")
    delete.add_argument("folders", nargs="+", metavar="RUN")
    delete.set_defaults(run=_delete_runs)
    restore = actions.add_parser("restore", help="bring runs back from the bin")
    restore.add_argument("folders", nargs="+", metavar="RUN")
    restore.set_defaults(run=_restore_runs)
    bin_parser = actions.add_parser(
        "bin", help="list the runs in the bin, and until when they are kept"
    )
    bin_parser.add_argument("--json", action="store_true")
    bin_parser.add_argument("--empty", action="store_true")
    bin_parser.set_defaults(run=_list_deleted)


def _list_runs(arguments: argparse.Namespace) -> int:
    summaries, left_out = past_runs.list_runs()
    for sentence in left_out.values():
        print_remark(f"Left out: {sentence}")
    workers: dict[Path, list[ClusterWorker]] = {}
    if open_runs := [run.path for run in summaries if run.state in ("running", "interrupted")]:
        from core.tuning.cluster.shared_folder import workers_of

        workers = workers_of(map(Path, open_runs))
    if arguments.json:
        entries = [
            {**asdict(run), "workers": list(map(asdict, workers.get(Path(run.path), ())))}
            for run in summaries
        ]
        print(json.dumps(entries))
        return 0
    if summaries:
        _print_runs(summaries, workers)
    elif not left_out:
        print_remark("There are no runs yet. Start one with: tunescope tune FILE")
    return 0


def _print_runs(
    summaries: list[past_runs.RunSummary], workers: dict[Path, list[ClusterWorker]]
) -> None:
    width = max(len(summary.name) for summary in summaries)
    column = max(len("predicts"), *(min(MAX_NAME, len(s.target)) for s in summaries))
    print(f"{'run':{width}}  {'state':11}  {'predicts':{column}}  {'test score':22}  gain")
    for summary in summaries:
        test = "" if summary.test is None else measured_text(summary.test, summary.metric)
        gain = signed_difference(summary.gain, summary.metric)
        start = f"{summary.name:{width}}  {summary.state:11}  {summary.target[:MAX_NAME]:{column}}"
        print(f"{start}  {test:22}  {gain}".rstrip())
        if summary.title:
            print(f"    {summary.title}")
        for line in summary.note.splitlines():
            print(f"    | {line}".rstrip())
        for line in _worker_lines(workers.get(Path(summary.path), [])):
            print(f"    {line}")


def _worker_lines(workers: list[ClusterWorker]) -> Iterator[str]:
    if not workers:
        return
    from app.text.run_head import activity_text, workers_text

    living_workers = [worker for worker in workers if worker.usable]
    yield workers_text(living_workers) if living_workers else "No process works on it now."
    for worker in workers:
        activity = activity_text(worker) if worker.usable else "no sign of life"
        yield printable_text(f"- {worker.name} on {worker.host}: {activity}")


def _write_label(arguments: argparse.Namespace) -> int:
    folder = RunFolder.find_run(arguments.folder)
    label = past_runs.read_label(folder.path)
    if arguments.text is None:
        print(label.note)
        return 0
    label = replace(label, **{arguments.field: arguments.text})
    label = past_runs.write_label(folder.path, label)
    if arguments.field == "note":
        print_remark(f"The note to {folder.name} is {'kept' if label.note else 'gone'}.")
    elif label.name:
        print_remark(f"{folder.name} is called “{label.name}” now.")
    else:
        print_remark(f"{folder.name} has no name of its own any more.")
    return 0


def _delete_runs(arguments: argparse.Namespace) -> int:
    for name in arguments.folders:
        deleted_run = past_runs.delete_run(RunFolder.open(name).path.absolute())
        print_remark(
            f"{deleted_run.name} is in the bin and is removed for good in {past_runs.KEPT_DAYS} "
            f"days; tunescope runs restore {deleted_run.name} brings it back."
        )
    return 0


def _restore_runs(arguments: argparse.Namespace) -> int:
    for name in arguments.folders:
        # The name alone: a path that leads elsewhere must not be moved among the runs.
        binned_run = runs_root() / past_runs.BIN / Path(name).name
        print_remark(f"{past_runs.restore_run(binned_run).name} is back.")
    return 0


def _list_deleted(arguments: argparse.Namespace) -> int:
    binned_runs = past_runs.deleted_runs()
    if arguments.empty:
        count = 0
        # A run that another program holds must not keep the others in the bin.
        for binned_run in binned_runs:
            try:
                past_runs.remove_for_good(Path(binned_run.run.path))
                count += 1
            except UnusableError as error:
                print_remark(error.sentence)
        print_remark(f"Removed for good: {count_text(count, 'run')}.")
        return 0 if count == len(binned_runs) else 1
    if arguments.json:
        print(json.dumps([_deleted_as_json(binned_run) for binned_run in binned_runs]))
    elif binned_runs:
        width = max(len(binned_run.run.name) for binned_run in binned_runs)
        print(f"{'run':{width}}  {'deleted':10}  kept until")
        for binned_run in binned_runs:
            days = f"{binned_run.deleted_at:%Y-%m-%d}  {binned_run.removed_at:%Y-%m-%d}"
            print(f"{binned_run.run.name:{width}}  {days}  {binned_run.run.title}".rstrip())
    else:
        print_remark("The bin is empty.")
    return 0


def _deleted_as_json(entry: past_runs.DeletedRun) -> JsonObject:
    times = {"deleted_at": entry.deleted_at.isoformat(), "removed_at": entry.removed_at.isoformat()}
    return asdict(entry.run) | times


def add_replays(commands: Any) -> None:
    """Add the commands."""
    resume = commands.add_parser("resume", help="continue an interrupted or finished run")
    resume.add_argument("folder", metavar="RUN")
    resume.add_argument("--trials", type=int, default=0, metavar="N")
    resume.add_argument("--minutes", type=float, default=0.0, metavar="M")
    resume.add_argument("--stop", action="store_true")
    resume.add_argument("--workers", type=int, default=0, metavar="N")
    resume.add_argument("--memory", default="", metavar="SIZE")
    add_cluster(resume)
    add_ending(resume)
    resume.set_defaults(run=resume_run)

    replay = commands.add_parser("replay", help="tell a past run again")
    replay.add_argument("folder", metavar="RUN")
    replay.add_argument("--json", action="store_true")
    replay.set_defaults(run=_replay_run)

    report = commands.add_parser("report", help="write the HTML report of a past run")
    report.add_argument("folder", metavar="RUN")
    report.add_argument("--out", metavar="FILE.html")
    add_examples(report)
    report.set_defaults(run=_write_report)


def resume_run(arguments: argparse.Namespace) -> int:
    """Continue a run, or tell its result again."""
    from core.export.exporters import check_export
    from core.tuning.history.store import History
    from core.tuning.problem_setup import read_data
    from core.tuning.results.conclude import conclude, fit_best_again
    from core.tuning.tune import RecordedRun, tune

    more = {"trials": arguments.trials, "minutes": arguments.minutes}
    for name, amount in more.items():
        if amount and arguments.stop:
            fault = f"--{name} and --stop do not go together"
            raise UnusableError(fault, cure="give one of them")
        if not 0 <= amount < math.inf:
            fault = f"“{amount:g}” is out of range"
            raise UnusableError(fault, where=name, cure="give at least 0")
    folder = RunFolder.find_run(arguments.folder)
    plan, past = folder.plan, folder.all_events()
    if arguments.minutes:
        plan = plan.with_more_minutes(arguments.minutes, past[-1].seconds if past else 0.0)
    # It may go on on another computer, with another memory and other processors.
    plan = plan.changed(
        memory=arguments.memory or plan.memory, workers=arguments.workers or plan.workers
    )
    dataset = read_data(plan.data)
    for path in arguments.export:
        check_export(path, dataset.task, plan.model)
    # Nothing is left to try: the result is told again, and exported where that is asked for.
    if past and isinstance(past[-1], RunFinished) and not any(more.values()):
        if refit_remark := fit_best_again(folder, dataset):
            print_remark(refit_remark)
        if not arguments.stop:
            print_remark("This run is finished; --trials N or --minutes M continues it.")
        return give_result(past[-1], plan, dataset, folder, arguments)
    if arguments.trials and STRATEGIES[plan.strategy].kind == "penalties":
        reason = f"{plan.strategy} learns penalties and makes no trials"
        print_remark(f"--trials has no effect: {reason}.")
    requests: deque[Event] = deque()
    with cluster_connection(arguments) as connection:
        if arguments.stop:
            # A stream, so that it is concluded while interrupts are handled.
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
                **executor_arguments(connection),
            )
        return follow_run(FollowedRun(stream, requests, plan, dataset, folder, past), arguments)


def _replay_run(arguments: argparse.Namespace) -> int:
    folder = RunFolder.find_run(arguments.folder)
    line = ProgressLine(sys.stdout)
    for event in folder.all_events():
        if arguments.json:
            print(to_json(event))
            continue
        line.consume(event)
        if isinstance(event, (RunFinished, RunStopped)) and event.results is not None:
            line.print_line(result_text(event.results, line.run_state))
        elif isinstance(event, RunFailed):
            line.print_line(event.sentence)
    line.close()
    return 0


def _write_report(arguments: argparse.Namespace) -> int:
    from core.export.exporters import export_run
    from core.export.finished_run import finished_run

    folder = RunFolder.find_run(arguments.folder)
    out = Path(arguments.out) if arguments.out else Path(f"{folder.name}.html")
    print(export_run(finished_run(folder, arguments.examples), out, "report"))
    return 0


_KINDS = ("best", "simplest", "average", "default")


def _pick_model(arguments: argparse.Namespace) -> int:
    from core.export.exporters import check_export
    from core.tuning.problem_setup import read_data
    from core.tuning.results.conclude import select_model

    selection = _requested_model(arguments.which)
    folder = RunFolder.find_run(arguments.folder)
    plan = folder.plan
    dataset = read_data(plan.data)
    # First: a path that does not fit must not come out after minutes of fitting.
    for path in arguments.export:
        check_export(path, dataset.task, plan.model)
    last = select_model(folder, selection, dataset)
    if isinstance(last, RunFailed):
        raise UnusableError(last.sentence)
    return give_result(last, plan, dataset, folder, arguments)


def _requested_model(which: str) -> ModelSelected:
    if which in _KINDS:
        return ModelSelected(kind=which)
    if which.isdecimal():
        return ModelSelected(kind="trial", number=int(which))
    cure = "give best, simplest, average, default or the number of a trial"
    raise UnusableError(f"there is no model “{which}” to select", where="pick", cure=cure)


OPTUNA = "optuna"


def add_export(commands: Any) -> None:
    """Add the command."""
    export = commands.add_parser(
        "export", help="save a model of a past run: the tuned one, or another"
    )
    export.add_argument("folder", metavar="RUN")
    export.add_argument("paths", nargs="*", metavar="PATH")
    export.add_argument(
        "--which", default="tuned", metavar="tuned|best|simplest|average|default|baseline|TRIAL"
    )
    export.add_argument("--format", default="", metavar="NAME")
    export.add_argument("--out", default="", metavar="PATH")
    add_examples(export)
    export.add_argument("--json", action="store_true")
    export.set_defaults(run=_export_models)
    # The earlier spelling of --which, which the list of commands leaves out.
    pick = commands.add_parser("pick")
    pick.add_argument("folder", metavar="RUN")
    pick.add_argument("which", metavar="WHICH")
    add_ending(pick)
    pick.set_defaults(run=_pick_model)


def _export_models(arguments: argparse.Namespace) -> int:
    from core.export.exporters import check_export, export_all
    from core.export.finished_run import finished_run, with_selected_model
    from core.tuning.results.conclude import fit_best_again

    folder = RunFolder.find_run(arguments.folder)
    _check_format(arguments)
    if arguments.which in _KINDS[:-1]:
        if arguments.out:
            fault, cure = "it goes with no --format", "give the file as a PATH"
            raise UnusableError(fault, where=f"--which {arguments.which}", cure=cure)
        arguments.export, arguments.verbose = arguments.paths, False
        return _pick_model(arguments)
    if arguments.format == OPTUNA:
        return _export_study(folder, arguments)
    finished = finished_run(folder, arguments.examples)
    if not arguments.paths and not arguments.out:
        return _print_choices(exportable_models(finished.state), arguments.json)
    choice = exportable_model(finished.state, arguments.which)
    for path in arguments.paths:
        check_export(path, finished.takeaway.task, finished.plan.model, arguments.which)
    if arguments.out:
        about = finished.takeaway.task, finished.plan.model, arguments.which
        check_export(arguments.out, *about, arguments.format)
    if choice.name == TUNED and (refit_remark := fit_best_again(folder)):
        print_remark(refit_remark)
    exported_run = with_selected_model(finished, arguments.which)
    formats = {arguments.out: arguments.format} if arguments.out else {}
    written, failed = export_all(lambda: exported_run, [*arguments.paths, *formats], formats)
    if arguments.json:
        json_object = {"run": finished.name, **_as_json(choice), "exports": written}
        print(json.dumps({**json_object, **({"failed_exports": failed} if failed else {})}))
    else:
        print(f"{choice.title}{_score_text(choice)}. {choice.sentence}")
        for path in written:
            print(f"Saved:   {path}")
    for sentence in failed.values():
        print_remark(f"tunescope: {sentence}")
    return 1 if failed else 0


def _check_format(arguments: argparse.Namespace) -> None:
    if bool(arguments.format) != bool(arguments.out):
        present, missing = ("--format", "--out") if arguments.format else ("--out", "--format")
        raise UnusableError(f"{missing} is missing", where=present, cure=f"give {missing} as well")
    if arguments.format == OPTUNA and (arguments.paths or arguments.which != "tuned"):
        fault = "a study tells of the whole run, not of one model"
        raise UnusableError(fault, where="--format optuna", cure="give --out alone")


def _export_study(folder: RunFolder, arguments: argparse.Namespace) -> int:
    from core.export.optuna_study import export_study

    name = export_study(folder, arguments.out)
    if arguments.json:
        print(json.dumps({"run": folder.name, "study": name, "exports": [arguments.out]}))
    else:
        several = ", one for each model" if folder.plan.model == SEVERAL else ""
        print(f"The run as the study “{name}” of Optuna{several}.")
        print(f"Saved:   {arguments.out}")
    return 0


def _print_choices(choices: list[ExportableModel], as_json: bool) -> int:
    if as_json:
        print(json.dumps([_as_json(choice) for choice in choices]))
        return 0
    width = max(len(choice.name) for choice in choices)
    for choice in choices:
        setting = f": {setting_text(choice.setting)}" if choice.setting else ""
        print(f"{choice.name:>{width}}  {choice.title}{_score_text(choice)}{setting}")
    return 0


def _score_text(choice: ExportableModel) -> str:
    scores = []
    if choice.validation is not None:
        scores.append(f"validation {measured_text(choice.validation, choice.judged_by)}")
    if (test := choice.test.get(choice.metric)) is not None:
        scores.append(f"test {measured_text(test, choice.metric)}")
    return f" ({', '.join(scores)})" if scores else ""


def _as_json(choice: ExportableModel) -> JsonObject:
    validation = {} if choice.validation is None else {choice.judged_by: choice.validation}
    return {
        "which": choice.name,
        "sentence": choice.sentence,
        "params": choice.setting,
        "validation": validation,
        "test": choice.test,
    }
