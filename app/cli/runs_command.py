"""`tunescope runs`: list, name, annotate, delete and restore past runs."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.records import JsonObject

if TYPE_CHECKING:
    from core.tuning.runs.deleted_runs import DeletedRun
    from core.tuning.runs.past_runs import RunSummary

RUN = "a name that tunescope runs shows, or a path"


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    runs = commands.add_parser("runs", help="list past runs; rename, delete and restore them")
    runs.add_argument("--json", action="store_true", help="print as JSON")
    runs.set_defaults(run=_list_runs)
    actions = runs.add_subparsers(dest="part", metavar="PART")

    rename = actions.add_parser("rename", help="give a run a name of your own")
    rename.add_argument("folder", metavar="RUN", help=RUN)
    rename.add_argument("text", metavar="NAME", help='"" for that of its folder')
    rename.set_defaults(run=_write_label, field="name")
    note = actions.add_parser("note", help="write a note to a run; without a text, print it")
    note.add_argument("folder", metavar="RUN", help=RUN)
    note.add_argument("text", metavar="TEXT", nargs="?", help='"" for none')
    note.set_defaults(run=_write_label, field="note")

    delete = actions.add_parser("delete", help="put runs into the bin, from where they come back")
    delete.add_argument("folders", nargs="+", metavar="RUN", help=RUN)
    delete.set_defaults(run=_delete_runs)
    restore = actions.add_parser("restore", help="bring runs back from the bin")
    restore.add_argument("folders", nargs="+", metavar="RUN", help="as tunescope runs bin shows it")
    restore.set_defaults(run=_restore_runs)
    bin_parser = actions.add_parser(
        "bin", help="list the runs in the bin, and until when they are kept"
    )
    bin_parser.add_argument("--json", action="store_true", help="print as JSON")
    bin_parser.add_argument("--empty", action="store_true", help="remove all of them for good, now")
    bin_parser.set_defaults(run=_list_deleted)


def _list_runs(arguments: argparse.Namespace) -> int:
    from core.tuning.runs.past_runs import list_runs

    summaries, left_out = list_runs()
    for sentence in left_out.values():
        _print_message(f"Left out: {sentence}")
    if arguments.json:
        print(json.dumps([asdict(summary) for summary in summaries]))
        return 0
    if not summaries:
        _print_message("There are no runs yet. Start one with: tunescope tune FILE")
        return 0
    _print_runs(summaries)
    return 0


def _print_runs(summaries: list[RunSummary]) -> None:
    width = max(len(summary.name) for summary in summaries)
    print(f"{'run':{width}}  {'state':11}  {'test score':22}  gain")
    for summary in summaries:
        test = "" if summary.test is None else f"{summary.metric} {summary.test:.4g}"
        gain = "" if summary.gain is None else f"{summary.gain:+.4g}"
        print(f"{summary.name:{width}}  {summary.state:11}  {test:22}  {gain}".rstrip())
        if summary.title:
            print(f"    {summary.title}")
        for line in summary.note.splitlines():
            print(f"    | {line}".rstrip())


def _write_label(arguments: argparse.Namespace) -> int:
    from core.tuning.runs.run_folder import RunFolder
    from core.tuning.runs.run_labels import read_label, write_label

    folder = RunFolder.open(arguments.folder)
    label = read_label(folder.path)
    if arguments.text is None:
        print(label.note)
        return 0
    new_label = write_label(folder.path, replace(label, **{arguments.field: arguments.text}))
    if arguments.field == "name":
        _print_message(
            f"{folder.name} is called “{new_label.name}” now."
            if new_label.name
            else f"{folder.name} has no name of its own any more."
        )
    else:
        _print_message(f"The note to {folder.name} is {'kept' if new_label.note else 'gone'}.")
    return 0


def _delete_runs(arguments: argparse.Namespace) -> int:
    from core.tuning.runs.deleted_runs import KEPT_DAYS, delete_run
    from core.tuning.runs.run_folder import RunFolder

    for name in arguments.folders:
        deleted_run = delete_run(RunFolder.open(name).path.absolute())
        _print_message(
            f"{deleted_run.name} is in the bin and is removed for good in {KEPT_DAYS} days; "
            f"tunescope runs restore {deleted_run.name} brings it back."
        )
    return 0


def _restore_runs(arguments: argparse.Namespace) -> int:
    from core.tuning.runs.deleted_runs import BIN, restore_run
    from core.tuning.runs.run_folder import runs_root

    for name in arguments.folders:
        _print_message(f"{restore_run(runs_root() / BIN / Path(name).name).name} is back.")
    return 0


def _list_deleted(arguments: argparse.Namespace) -> int:
    from core.errors import UnusableError
    from core.tuning.runs.deleted_runs import deleted_runs, remove_for_good

    binned_runs = deleted_runs()
    if arguments.empty:
        count = 0
        for binned_run in binned_runs:
            try:
                remove_for_good(Path(binned_run.run.path))
                count += 1
            except UnusableError as error:
                _print_message(error.sentence)
        _print_message(f"Removed for good: {count} {'run' if count == 1 else 'runs'}.")
        return 0 if count == len(binned_runs) else 1
    if arguments.json:
        print(json.dumps([_to_json(binned_run) for binned_run in binned_runs]))
    elif binned_runs:
        width = max(len(binned_run.run.name) for binned_run in binned_runs)
        print(f"{'run':{width}}  {'deleted':10}  kept until")
        for binned_run in binned_runs:
            days = f"{binned_run.deleted_at:%Y-%m-%d}  {binned_run.removed_at:%Y-%m-%d}"
            print(f"{binned_run.run.name:{width}}  {days}  {binned_run.run.title}".rstrip())
    else:
        _print_message("The bin is empty.")
    return 0


def _to_json(entry: DeletedRun) -> JsonObject:
    times = {"deleted_at": entry.deleted_at.isoformat(), "removed_at": entry.removed_at.isoformat()}
    return asdict(entry.run) | times


def _print_message(sentence: str) -> None:
    print(sentence, file=sys.stderr)
