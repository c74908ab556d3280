"""The runs that have read the history, from which forgotten datasets must be erased too.

A list beside the history's file names the folder of all runs, and every run elsewhere.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Collection
from pathlib import Path

from core.errors import UnusableError
from core.tuning.history.database import hold_file_lock
from core.tuning.history.traces import forget_in, reads_history
from core.tuning.runs.run_folder import EVENTS, runs_root
from core.writing import write_whole


def remember_reader(history: Path, run: Path) -> None:
    """Note that the run in a folder reads the history, if the list can be written."""
    run = run.resolve()
    folder = run.parent if run.parent == runs_root().resolve() else run
    if folder not in _known_folders(history):
        _change_list(history, lambda folders: [*folders, folder])


def forget_in_readers(history: Path, ids: Collection[str] | None) -> list[str]:
    """Overwrite datasets in what runs have read; None for all but the starter history.

    Returns:
        A sentence for each folder that is gone, which is named once, or cannot be written.
    """
    known_folders = _known_folders(history)
    gone = [folder for folder in known_folders if not folder.is_dir()]
    sentences = [
        f"The folder {folder} is gone; what its runs had read of the history could not be deleted"
        " from it."
        for folder in gone
    ]
    for folder in dict.fromkeys([runs_root().resolve(), *known_folders]):
        sentences += map(_not_written, _forget_below(folder, ids))
    if gone:
        _change_list(history, lambda folders: [folder for folder in folders if folder not in gone])
    return sentences


def _forget_below(folder: Path, ids: Collection[str] | None) -> list[Path]:
    """Forget in a run's folder, or in all runs below it; the folders that cannot be written."""
    lost = []
    try:
        event_files = [folder / EVENTS, *sorted(folder.glob(f"*/{EVENTS}"))]
        event_files = [path for path in event_files if path.is_file()]
    except OSError:
        return [folder]
    for path in event_files:
        try:
            forget_in(path, ids)
        except OSError:
            lost += [path.parent] if reads_history(path, ids) else []
        except ValueError:  # damaged
            continue
    return lost


def _not_written(run: Path) -> str:
    return (
        f"What the run {run} has read of the history could not be deleted from it; delete its"
        " folder, or give yourself the right to write there and forget again."
    )


def _list_path(history: Path) -> Path:
    return history.with_name(f"{history.stem}-runs.json")


def _known_folders(history: Path) -> list[Path]:
    try:
        content = json.loads(_list_path(history).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    texts = [t for t in content if isinstance(t, str)] if isinstance(content, list) else []
    return [Path(text) for text in texts if os.path.isabs(text) and "\0" not in text]


def _change_list(history: Path, change: Callable[[list[Path]], list[Path]]) -> None:
    with contextlib.suppress(OSError, UnusableError), hold_file_lock(history):
        folders = map(str, change(_known_folders(history)))
        write_whole(_list_path(history), json.dumps(list(folders)))
