"""`tunescope history`: the history of earlier datasets."""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.streams import print_remark
from app.text import history_text as texts
from core.datasets.task import Task
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.tuning.history.dataset_records import HistoryEntry, ImportCounts, statistics_of
from core.tuning.scores.score import named_score_text

if TYPE_CHECKING:
    from core.tuning.history.store import History

USUAL_ROWS, USUAL_COLUMNS = 1000, 10  # of the data of a study, by default


def add_history(commands: Any) -> None:
    """Add the command."""
    history = commands.add_parser("history", help="the history of earlier datasets")
    history.add_argument("--json", action="store_true")
    history.set_defaults(run=_list_datasets)
    actions = history.add_subparsers(dest="part", metavar="PART")

    forget = actions.add_parser("delete", aliases=["forget"], help="delete some datasets, or all")
    forget.add_argument("ids", nargs="*", metavar="ID")
    forget.add_argument("--all", action="store_true")
    forget.add_argument("--starter", action="store_true")
    forget.set_defaults(run=_delete_datasets)

    restore = actions.add_parser("restore", help="restore what is shipped with the program")
    restore.set_defaults(run=_restore_starter)
    for word, help_text in (
        ("on", "add runs to it and learn from it"),
        ("off", "neither add to it nor learn from it"),
    ):
        switch = actions.add_parser(word, help=help_text)
        switch.set_defaults(run=_switch_history, on=word == "on")

    export = actions.add_parser("export", help="write the history into a file")
    export.add_argument("file", metavar="FILE.json")
    export.set_defaults(run=_export_history)
    import_parser = actions.add_parser("import", help="import what another computer wrote")
    import_parser.add_argument("file", metavar="FILE.json")
    import_parser.set_defaults(
        run=lambda words: _import_datasets(lambda history: history.import_from(Path(words.file)))
    )

    optuna = actions.add_parser("import-optuna", help="import Optuna studies")
    optuna.add_argument("storage", metavar="STORAGE")
    optuna.add_argument("--model", default="", metavar="NAME")
    optuna.add_argument("--metric", default="", metavar="NAME")
    optuna.add_argument("--study", metavar="NAME")
    for name in ("rows", "columns", "classes"):
        optuna.add_argument(f"--{name}", type=int, metavar="N")
    optuna.set_defaults(run=_import_optuna)


def _list_datasets(arguments: argparse.Namespace) -> int:
    with _open_history() as history:
        entries, enabled = history.entries(), history.enabled
    if arguments.json:
        print(json.dumps([asdict(entry) for entry in entries]))
        return 0
    if not enabled:
        print_remark("The history is off; tunescope history on switches it on.")
    if not entries:
        print_remark("The history is empty. Every run with trials adds a dataset.")
        return 0
    short_ids = _shortest_ids(entries)
    wide = max(len(short) for short in short_ids)
    model = max(len(entry.model) for entry in entries)
    print(
        f"{'id':{wide}}  {'when':10}  {'model':{model}}  {'rows × columns':>16}  classes  trials"
        "  best score"
    )
    for short, entry in zip(short_ids, entries, strict=True):
        size = f"{entry.rows} × {entry.features}"
        best = named_score_text(entry.best, entry.metric)
        print(
            f"{short:{wide}}  {entry.when[:10]:10}  {entry.model:{model}}  {size:>16}  "
            f"{entry.classes or '–':>7}  {entry.trials:>6}  {best}{_origin_text(entry)}".rstrip()
        )
    return 0


def _origin_text(entry: HistoryEntry) -> str:
    if entry.starter:
        return " · shipped with Tunescope"
    return " · imported" if entry.imported else ""


def _shortest_ids(entries: list[HistoryEntry]) -> list[str]:
    ids = [entry.id for entry in entries]
    # Six letters tell some thousand datasets apart; more where two begin alike.
    for length in range(6, 1 + max(map(len, ids))):
        short = [id[:length] for id in ids]
        if len(set(short)) == len(ids):
            return short
    return ids


def _delete_datasets(arguments: argparse.Namespace) -> int:
    if bool(arguments.ids) + arguments.all + arguments.starter != 1:
        fault = "it is not clear what to delete"
        raise UnusableError(fault, cure="give IDs, or --all, or --starter")
    if arguments.all:
        from core.tuning.history.store import forget_everything

        # Without opening it: a damaged history can be deleted, too.
        deletion = forget_everything()
        for sentence in deletion.notices:
            print_remark(sentence)
        print_remark(texts.deletion_text(deletion.datasets))
        return 0
    with _open_history() as history:
        if arguments.starter:
            count = history.forget_starter()
        else:
            matching_ids = {_matching_id(history.entries(), prefix) for prefix in arguments.ids}
            for id in matching_ids:
                history.forget_dataset(id)
            count = len(matching_ids)
    print_remark(texts.deletion_text(count))
    return 0


def _matching_id(entries: list[HistoryEntry], prefix: str) -> str:
    matches = [entry.id for entry in entries if entry.id.startswith(prefix)]
    # One id may begin with the whole of another one.
    if prefix in matches:
        return prefix
    if not matches or not prefix:
        fault = f"no dataset is called “{prefix}”"
        raise UnusableError(fault, cure="tunescope history lists their ids")
    if len(matches) > 1:
        raise UnusableError(f"{len(matches)} ids begin with “{prefix}”", cure="give more letters")
    return matches[0]


def _restore_starter(arguments: argparse.Namespace) -> int:
    with _open_history() as history:
        count = history.restore_starter()
    print_remark(texts.starter_restore_text(count))
    return 0


def _switch_history(arguments: argparse.Namespace) -> int:
    with _open_history() as history:
        history.set_enabled(arguments.on)
    print_remark(texts.switch_text(arguments.on))
    return 0


def _export_history(arguments: argparse.Namespace) -> int:
    with _open_history() as history:
        count = history.export_to(Path(arguments.file))
    print(arguments.file)
    print_remark(texts.export_text(count, arguments.file))
    return 0


def _import_optuna(arguments: argparse.Namespace) -> int:
    model = MODELS.get(arguments.model)
    if arguments.model and model is None:
        fault = f"there is no model “{arguments.model}”"
        raise UnusableError(fault, cure="tunescope models lists them")
    # A study of Optuna says nothing of its data: classes where the model can tell them apart.
    tells_apart = model is None or any(not Task(task).has_numbers for task in model.tasks)
    sizes = (
        _checked_size("rows", arguments.rows, USUAL_ROWS, 1),
        _checked_size("columns", arguments.columns, USUAL_COLUMNS, 1),
        _checked_size("classes", arguments.classes, 2 if tells_apart else 0, 0),
    )
    if model and arguments.rows is None and arguments.columns is None and arguments.classes is None:
        rows, columns, classes = sizes
        print_remark(
            f"The size of the data was not given: it counts as {rows} rows, {columns} columns and "
            f"{classes} classes."
        )
    statistics = statistics_of(*sizes)
    return _import_datasets(
        lambda history: history.import_optuna(
            arguments.storage,
            arguments.model,
            statistics,
            arguments.study or None,
            metric=arguments.metric,
        )
    )


def _checked_size(name: str, size: int | None, default: int, min_size: int) -> int:
    if size is None:
        return default
    if size < min_size:
        fault = f"“{size}” is out of range"
        raise UnusableError(fault, where=name, cure=f"give at least {min_size}")
    return size


def _import_datasets(import_function: Callable[[History], ImportCounts]) -> int:
    with _open_history() as history:
        counts = import_function(history)
    for sentence in counts.left_out:
        print_remark(f"Left out: {sentence}")
    print_remark(texts.import_text(replace(counts, left_out=())))
    return 0


@contextlib.contextmanager
def _open_history() -> Iterator[History]:
    from core.tuning.history.store import History

    with History() as history:
        try:
            yield history
        finally:
            for sentence in history.notices:
                print_remark(sentence)
