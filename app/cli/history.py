"""`tunescope history`: list, delete, export and import the history of earlier datasets.

Outcomes go to standard error, lists to standard output.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import UnusableError

if TYPE_CHECKING:
    from core.tuning.history.store import Entry, History, Imported

USUAL_ROWS, USUAL_COLUMNS = 1000, 10  # of the data of studies, where nobody says


def add_to(commands: Any) -> None:
    """Add the command and its parts to the parser."""
    history = commands.add_parser("history", help="the history of earlier datasets")
    history.add_argument("--json", action="store_true", help="print as JSON")
    history.set_defaults(run=_list)
    parts = history.add_subparsers(dest="part", metavar="PART")

    forget = parts.add_parser("delete", aliases=["forget"], help="delete some datasets, or all")
    forget.add_argument("ids", nargs="*", metavar="ID", help="as tunescope history shows it")
    forget.add_argument("--all", action="store_true", help="everything")
    forget.add_argument("--starter", action="store_true", help="what is shipped with the program")
    forget.set_defaults(run=_forget)

    restore = parts.add_parser("restore", help="restore what is shipped with the program")
    restore.set_defaults(run=_restore)
    for word, what in (
        ("on", "add runs to it and learn from it"),
        ("off", "neither add to it nor learn from it"),
    ):
        switch = parts.add_parser(word, help=what)
        switch.set_defaults(run=_switch, on=word == "on")

    export = parts.add_parser("export", help="write the history into a file")
    export.add_argument("file", metavar="FILE.json")
    export.set_defaults(run=_export)
    taken = parts.add_parser("import", help="import what another computer wrote")
    taken.add_argument("file", metavar="FILE.json")
    taken.set_defaults(run=_import)
    _add_optuna(parts)


def _add_optuna(parts: Any) -> None:
    optuna = parts.add_parser("import-optuna", help="import Optuna studies")
    optuna.add_argument("storage", metavar="STORAGE", help="a storage URL, or a file")
    optuna.add_argument("--model", required=True, metavar="NAME", help="whose settings were tried")
    optuna.add_argument("--study", metavar="NAME", help="one study of the storage (default: all)")
    for name, what in (
        ("rows", f"rows of the data (default {USUAL_ROWS})"),
        ("columns", f"columns of the data (default {USUAL_COLUMNS})"),
        ("classes", "classes of the data (default 2, or 0 where a number is predicted)"),
    ):
        optuna.add_argument(f"--{name}", type=int, metavar="N", help=what)
    optuna.set_defaults(run=_import_optuna)


def _list(given: argparse.Namespace) -> int:
    with _opened() as history:
        entries, enabled = history.entries(), history.enabled
        for sentence in history.notices:
            _say(sentence)
    if given.json:
        print(json.dumps([asdict(entry) for entry in entries]))
        return 0
    if not enabled:
        _say("The history is off; tunescope history on switches it on.")
    if not entries:
        _say("The history is empty. Every run with trials adds a dataset.")
        return 0
    shown = _short(entries)
    wide = max(len(short) for short in shown)
    model = max(len(entry.model) for entry in entries)
    print(f"{'id':{wide}}  {'when':10}  {'model':{model}}  {'rows × columns':>16}  classes  trials"
          "  best score")  # fmt: skip
    for short, entry in zip(shown, entries, strict=True):
        size = f"{entry.rows} × {entry.features}"
        best = "" if entry.best is None else f"{entry.metric} {entry.best:.4g}"
        print(
            f"{short:{wide}}  {entry.when[:10]:10}  {entry.model:{model}}  {size:>16}  "
            f"{entry.classes or '–':>7}  {entry.trials:>6}  {best}{_origin(entry)}".rstrip()
        )
    return 0


def _origin(entry: Entry) -> str:
    if entry.starter:
        return " · shipped with Tunescope"
    return " · imported" if entry.imported else ""


def _short(entries: list[Entry]) -> list[str]:
    """The shortest beginnings of the ids that tell all of them apart."""
    ids = [entry.id for entry in entries]
    for length in range(6, 1 + max(map(len, ids))):
        short = [id[:length] for id in ids]
        if len(set(short)) == len(ids):
            return short
    return ids


def _forget(given: argparse.Namespace) -> int:
    if bool(given.ids) + given.all + given.starter != 1:
        raise UnusableError(
            "it is not clear what to delete", cure="give IDs, or --all, or --starter"
        )
    if given.all:
        from core.tuning.history.forgetting import forget_everything

        gone = forget_everything()
        for sentence in gone.notices:
            _say(sentence)
        many = "everything" if gone.datasets is None else _counted(gone.datasets)
        _say(f"Deleted: {many}.")
        return 0
    with _opened() as history:
        if given.starter:
            count = history.forget_starter()
        else:
            found = {_found(history.entries(), part) for part in given.ids}
            for id in found:
                history.forget(id)
            count = len(found)
        for sentence in history.notices:
            _say(sentence)
    _say(f"Deleted: {_counted(count)}.")
    return 0


def _found(entries: list[Entry], part: str) -> str:
    """The one id that begins so."""
    found = [entry.id for entry in entries if entry.id.startswith(part)]
    if part in found:
        return part
    if not found or not part:
        raise UnusableError(
            f"no dataset is called “{part}”", cure="tunescope history lists their ids"
        )
    if len(found) > 1:
        raise UnusableError(f"{len(found)} ids begin with “{part}”", cure="give more letters")
    return found[0]


def _restore(given: argparse.Namespace) -> int:
    with _opened() as history:
        count = history.restore_starter()
    _say(f"Restored: {_counted(count)}.")
    return 0


def _switch(given: argparse.Namespace) -> int:
    with _opened() as history:
        history.switch(given.on)
    words = "on" if given.on else "off; what it holds stays, and is not used"
    _say(f"The history is {words}.")
    return 0


def _export(given: argparse.Namespace) -> int:
    with _opened() as history:
        count = history.export_to(Path(given.file))
    print(given.file)
    _say(f"Written: {_counted(count)}, without those shipped with Tunescope.")
    return 0


def _import(given: argparse.Namespace) -> int:
    return _taken_in(lambda history: history.import_from(Path(given.file)))


def _import_optuna(given: argparse.Namespace) -> int:
    from core.estimators.registry import MODELS
    from core.tuning.history.store import statistics_of

    if given.model not in MODELS:
        raise UnusableError(
            f"there is no model “{given.model}”", cure="tunescope models lists them"
        )
    tells_apart = any(task != "regression" for task in MODELS[given.model].tasks)
    sizes = (
        _size("rows", given.rows, USUAL_ROWS, 1),
        _size("columns", given.columns, USUAL_COLUMNS, 1),
        _size("classes", given.classes, 2 if tells_apart else 0, 0),
    )
    if given.rows is None and given.columns is None and given.classes is None:
        _say("The size of the data was not given: it counts as {} rows, {} columns and {} classes."
             .format(*sizes))  # fmt: skip
    statistics = statistics_of(*sizes)
    return _taken_in(
        lambda history: history.import_optuna(
            given.storage, given.model, statistics, given.study or None
        )
    )


def _size(name: str, given: int | None, usual: int, least: int) -> int:
    if given is None:
        return usual
    if given < least:
        raise UnusableError(f"“{given}” is out of range", where=name, cure=f"give at least {least}")
    return given


def _taken_in(take: Callable[[History], Imported]) -> int:
    with _opened() as history:
        found = take(history)
    for sentence in found.left_out:
        _say(f"Left out: {sentence}")
    _say(f"Imported: {_counted(found.datasets)} with {found.trials} trials; "
         f"{found.known_already} there already.")  # fmt: skip
    return 0


def _opened() -> History:
    """The history; what was noticed while it was opened is said."""
    from core.tuning.history.store import History

    history = History()
    for sentence in history.notices:
        _say(sentence)
    history.notices.clear()
    return history


def _counted(count: int) -> str:
    return "1 dataset" if count == 1 else f"{count} datasets"


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
