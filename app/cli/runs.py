"""`tunescope runs`: list past runs, name them, write notes to them, delete and restore them.

Outcomes go to standard error, lists to standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.tuning.runs.bin import DeletedRun
    from core.tuning.runs.past_runs import RunSummary

RUN = "a name that tunescope runs shows, or a path"


def add_to(commands: Any) -> None:
    """Add the command and its parts to the parser."""
    runs = commands.add_parser("runs", help="list past runs; rename, delete and restore them")
    runs.add_argument("--json", action="store_true", help="print as JSON")
    runs.set_defaults(run=_list)
    parts = runs.add_subparsers(dest="part", metavar="PART")

    rename = parts.add_parser("rename", help="give a run a name of your own")
    rename.add_argument("folder", metavar="RUN", help=RUN)
    rename.add_argument("text", metavar="NAME", help='"" for that of its folder')
    rename.set_defaults(run=_write, field="name")
    note = parts.add_parser("note", help="write a note to a run; without a text, print it")
    note.add_argument("folder", metavar="RUN", help=RUN)
    note.add_argument("text", metavar="TEXT", nargs="?", help='"" for none')
    note.set_defaults(run=_write, field="note")

    delete = parts.add_parser("delete", help="put runs into the bin, from where they come back")
    delete.add_argument("folders", nargs="+", metavar="RUN", help=RUN)
    delete.set_defaults(run=_delete)
    restore = parts.add_parser("restore", help="bring runs back from the bin")
    restore.add_argument("folders", nargs="+", metavar="RUN", help="as tunescope runs bin shows it")
    restore.set_defaults(run=_restore)
    thrown = parts.add_parser("bin", help="list the runs in the bin, and until when they are kept")
    thrown.add_argument("--json", action="store_true", help="print as JSON")
    thrown.add_argument("--empty", action="store_true", help="remove all of them for good, now")
    thrown.set_defaults(run=_bin)


def _list(given: argparse.Namespace) -> int:
    from core.tuning.runs.past_runs import list_runs

    summaries, left_out = list_runs()
    for sentence in left_out.values():
        _say(f"Left out: {sentence}")
    if given.json:
        print(json.dumps([asdict(summary) for summary in summaries]))
        return 0
    if not summaries:
        _say("There are no runs yet. Start one with: tunescope tune FILE")
        return 0
    _print(summaries)
    return 0


def _print(summaries: list[RunSummary]) -> None:
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


def _write(given: argparse.Namespace) -> int:
    from core.tuning.runs.labels import read_label, write_label
    from core.tuning.runs.run_folder import RunFolder

    folder = RunFolder.open(given.folder)
    label = read_label(folder.path)
    if given.text is None:
        print(label.note)
        return 0
    kept = write_label(folder.path, replace(label, **{given.field: given.text}))
    if given.field == "name":
        _say(f"{folder.name} is called “{kept.name}” now." if kept.name else
             f"{folder.name} has no name of its own any more.")  # fmt: skip
    else:
        _say(f"The note to {folder.name} is {'kept' if kept.note else 'gone'}.")
    return 0


def _delete(given: argparse.Namespace) -> int:
    from core.tuning.runs.bin import KEPT_DAYS, delete_run
    from core.tuning.runs.run_folder import RunFolder

    for name in given.folders:
        binned = delete_run(RunFolder.open(name).path.absolute())
        _say(f"{binned.name} is in the bin and is removed for good in {KEPT_DAYS} days; "
             f"tunescope runs restore {binned.name} brings it back.")  # fmt: skip
    return 0


def _restore(given: argparse.Namespace) -> int:
    from core.tuning.runs.bin import BIN, restore_run
    from core.tuning.runs.run_folder import runs_root

    for name in given.folders:
        _say(f"{restore_run(runs_root() / BIN / Path(name).name).name} is back.")
    return 0


def _bin(given: argparse.Namespace) -> int:
    from core.errors import UnusableError
    from core.tuning.runs.bin import deleted_runs, remove_for_good

    there = deleted_runs()
    if given.empty:
        gone = 0
        for one in there:
            try:
                remove_for_good(Path(one.run.path))
                gone += 1
            except UnusableError as error:
                _say(error.sentence)
        _say(f"Removed for good: {gone} {'run' if gone == 1 else 'runs'}.")
        return 0 if gone == len(there) else 1
    if given.json:
        print(json.dumps([_plain(one) for one in there]))
    elif there:
        width = max(len(one.run.name) for one in there)
        print(f"{'run':{width}}  {'deleted':10}  kept until")
        for one in there:
            days = f"{one.deleted_at:%Y-%m-%d}  {one.removed_at:%Y-%m-%d}"
            print(f"{one.run.name:{width}}  {days}  {one.run.title}".rstrip())
    else:
        _say("The bin is empty.")
    return 0


def _plain(one: DeletedRun) -> dict[str, Any]:
    moments = {"deleted_at": one.deleted_at.isoformat(), "removed_at": one.removed_at.isoformat()}
    return asdict(one.run) | moments


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
