"""Deletion of the whole history, even where its file is damaged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.errors import UnusableError, write_error
from core.tuning.history.database import hold_file_lock, is_ours, read_switches
from core.tuning.history.store import History, history_path
from core.tuning.history.traces import remove_companions

WAITS = 3.0  # seconds for another program


@dataclass(frozen=True)
class DeletionCounts:
    """How many datasets were deleted (None if unknown), and a sentence for each failure."""

    datasets: int | None
    notices: tuple[str, ...]


def forget_everything(path: Path | None = None) -> DeletionCounts:
    """Delete the whole history, even where it is damaged, locked or of a newer version.

    Raises:
        UnusableError: the file cannot be written, or is another program's.
    """
    path = history_path() if path is None else path
    try:
        with History(path, starter=False, patience=WAITS) as history:
            count = len(history.entries())
            history.forget_all()
            return DeletionCounts(count, tuple(history.notices))
    except UnusableError:
        if path.is_dir() or not is_ours(path):
            raise
    switches = [(name, value) for name, value in read_switches(path) if name == "enabled"]
    try:
        with hold_file_lock(path):
            path.unlink(missing_ok=True)
            remove_companions(path)
    except OSError as error:
        raise write_error("the history", path, error) from error
    with History(path, starter=False) as history:
        history.set_switches(switches)
        history.forget_all()
        return DeletionCounts(None, tuple(history.notices))
