"""Deleted datasets are erased everywhere: in the file, its damaged copies, and runs that read them.

In runs they are overwritten in place with as many bytes, which disturbs no program that writes the
run. The starter history stays. A list beside the file of the history names the folder of all runs,
and every run elsewhere.
"""

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import replace
from functools import partial
from glob import escape
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from core.errors import UnusableError, write_error
from core.ordinary_files import open_ordinary, read_ordinary
from core.tuning.event_lines import from_json, to_json
from core.tuning.events import Event, HistoryRead, JointSurfaceFitted
from core.tuning.history.database import COMPANIONS, MOST_HISTORY_BYTES, PATIENCE, hold_file_lock
from core.tuning.runs.run_folder import EVENTS, LONGEST, MOST_EVENT_BYTES, runs_root
from core.writing import whole_file, write_whole

READ = (b'{"event": "HistoryRead"', b'{"event": "PastRecalled"')  # now, and formerly
FITTED = b'{"event": "CommonSurfaceFitted"'
EARLY = 100  # lines among which a run says what it read
CHUNK = 1 << 20
READERS = 2.0  # seconds that readers of the file are waited for


def erase_traces(database: sqlite3.Connection, path: Path) -> bool:
    """Rewrite the file so that deleted rows are gone; False while another program keeps it open."""
    (patience,) = database.execute("PRAGMA busy_timeout").fetchone()
    database.execute("VACUUM")
    database.execute(f"PRAGMA busy_timeout = {round(1000 * READERS)}")
    try:
        (busy, _, _) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        # Where another program keeps reading the old content, a new file takes the name.
        return not busy or _replace_file(database, path)
    finally:
        database.execute(f"PRAGMA busy_timeout = {patience}")


def _replace_file(database: sqlite3.Connection, path: Path) -> bool:
    with (
        hold_file_lock(path),
        closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as guard,
    ):
        guard.execute("BEGIN IMMEDIATE")  # nobody writes meanwhile
        try:
            with whole_file(path) as draft:
                database.execute("VACUUM INTO ?", (str(draft),))
                remove_companions(path)
        except OSError:  # Windows keeps the names of open files
            return False
        finally:
            guard.execute("ROLLBACK")
    return True


def remove_companions(path: Path) -> None:
    """Remove SQLite's companion files before a file is replaced or removed."""
    for companion in COMPANIONS[1:]:
        path.with_name(path.name + companion).unlink(missing_ok=True)


def forget_copies(path: Path, ids: Collection[str] | None) -> list[str]:
    """Remove damaged copies that hold one of these datasets, or all; a sentence per failure."""
    sentences, copies = list[str](), path.parent.glob(f"{escape(path.stem)}.damaged-*")
    for copy in sorted(copy for copy in copies if path.suffix in copy.name):
        try:
            if ids is None or _contains_any(copy, [id.encode() for id in ids]):
                copy.unlink(missing_ok=True)
        except OSError as error:
            failure = write_error("this damaged copy", copy, error, "delete it yourself")
            sentences.append(failure.sentence)
    return sentences


def _contains_any(path: Path, marks: Collection[bytes]) -> bool:
    tail = b""
    with open_ordinary(path, MOST_HISTORY_BYTES) as file:
        while chunk := file.read(CHUNK):
            if any(mark in tail + chunk for mark in marks):
                return True
            tail = chunk[-64:]  # an id has 64 letters at most
    return False


def reads_history(path: Path, ids: Collection[str] | None) -> bool:
    """Whether a run's events hold forgotten datasets; True where they cannot be read."""
    try:
        with open_ordinary(path, MOST_EVENT_BYTES) as file:
            early_lines = islice(iter(partial(file.readline, LONGEST), b""), EARLY)
            lines = [line for line in early_lines if line.startswith(READ)]
        return any(_without(from_json(line), ids)[1] is not None for line in lines)
    except OSError:
        return True
    except ValueError:
        return False


def forget_in(path: Path, ids: Collection[str] | None) -> None:
    """Overwrite datasets in a run's events; `ids` None for all but the starter history.

    An OSError where the file cannot be written, a ValueError where it is damaged.
    """
    with path.open("r+b") as file:
        new_index: dict[int, int] = {}  # {index of a dataset before: now}
        touched, number = False, 0
        while line := file.readline(LONGEST):
            number += 1
            if len(line) == LONGEST:
                raise ValueError("a line never ends")
            if line.startswith(READ):
                new_index, changed = _without(from_json(line), ids)
                touched = touched or changed is not None
                _overwrite(file, line, changed)
            elif number > EARLY and not touched:
                return
            # A joint surface names the datasets by their index.
            elif touched and line.startswith(FITTED):
                _overwrite(file, line, _renumber(from_json(line), new_index))
        if touched:
            os.fsync(file.fileno())


def _without(event: Event, ids: Collection[str] | None) -> tuple[dict[int, int], Event | None]:
    assert isinstance(event, HistoryRead)
    remaining = [
        index
        for index, dataset in enumerate(event.datasets)
        if dataset.starter or (ids is not None and dataset.id not in ids)
    ]
    new_index = {old: new for new, old in enumerate(remaining)}
    if len(remaining) == len(event.datasets):
        return new_index, None
    return new_index, replace(event, datasets=[event.datasets[index] for index in remaining])


def _renumber(event: Event, new_index: dict[int, int]) -> Event:
    assert isinstance(event, JointSurfaceFitted)
    pairs = zip(event.neighbours, event.past_responses, strict=True)
    remaining = [(new_index[index], responses) for index, responses in pairs if index in new_index]
    neighbours, responses = [row for row, _ in remaining], [values for _, values in remaining]
    return replace(event, neighbours=neighbours, past_responses=responses)


def _overwrite(file: BinaryIO, line: bytes, event: Event | None) -> None:
    if event is None:
        return
    text = to_json(event).encode()
    # As many bytes as before: a program that appends to the file keeps its place.
    if len(text) >= len(line):
        raise ValueError("it would not fit")
    file.seek(-len(line), os.SEEK_CUR)
    file.write(text.ljust(len(line) - 1) + b"\n")
    file.flush()


def remember_reader(history: Path, run: Path) -> None:
    """Note that the run in a folder reads the history, if the list can be written."""
    run = run.resolve()
    # One line for all runs in the usual place, so that the list does not grow with them.
    folder = run.parent if run.parent == runs_root().resolve() else run
    if folder not in _known_folders(history):
        _change_list(history, lambda folders: [*folders, folder])


def forget_in_readers(history: Path, ids: Collection[str] | None) -> list[str]:
    """Overwrite datasets in what runs have read, None for all; a sentence for each failure."""
    known_folders = _known_folders(history)
    # A folder that is gone, such as one on a drive, is named once.
    gone = [folder for folder in known_folders if not folder.is_dir()]
    sentences = [
        f"The folder {folder} is gone; what its runs had read of the history could not be deleted"
        " from it."
        for folder in gone
    ]
    # Not `resolve`, which raises for a link that leads to itself.
    for folder in dict.fromkeys([Path(os.path.realpath(runs_root())), *known_folders]):
        sentences += [
            f"What the run {run} has read of the history could not be deleted from it; delete its"
            " folder, or give yourself the right to write there and forget again."
            for run in _forget_below(folder, ids)
        ]
    if gone:
        _change_list(history, lambda folders: [folder for folder in folders if folder not in gone])
    return sentences


def _forget_below(folder: Path, ids: Collection[str] | None) -> list[Path]:
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


def _list_path(history: Path) -> Path:
    return history.with_name(f"{history.stem}-runs.json")


def _known_folders(history: Path) -> list[Path]:
    try:
        content = json.loads(read_ordinary(_list_path(history)))
    except (OSError, ValueError, RecursionError):
        return []
    texts = [t for t in content if isinstance(t, str)] if isinstance(content, list) else []
    return [Path(text) for text in texts if os.path.isabs(text) and "\0" not in text]


def _change_list(history: Path, change: Callable[[list[Path]], list[Path]]) -> None:
    with contextlib.suppress(OSError, UnusableError), hold_file_lock(history):
        folders = map(str, change(_known_folders(history)))
        write_whole(_list_path(history), json.dumps(list(folders)), is_private=True)
