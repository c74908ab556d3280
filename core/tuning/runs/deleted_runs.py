"""The bin: where deleted runs wait, whole, until they are brought back or removed for good.

A run goes there and comes back by one renaming of its folder, so that a kill at any moment leaves
it in one of the two places. It is removed for good `KEPT_DAYS` days later, when somebody next
looks into the bin.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from core.errors import UnusableError, write_error
from core.tuning.runs.past_runs import PastRuns, RunSummary, list_runs
from core.tuning.runs.run_folder import OWNER, PLAN, runs_root
from core.tuning.runs.run_lock import RunLockedError, hold_run_lock, lock_holder
from core.writing import sync_folder, write_whole

BIN = "bin"
MARK = "deleted.json"  # when, in the run's folder
KEPT_DAYS = 30
_GOING = ".removing-"  # so begins the name of a folder that is being removed


@dataclass(frozen=True)
class DeletedRun:
    """A run in the bin, and the moments when it was deleted and will be removed for good."""

    run: RunSummary
    deleted_at: datetime
    removed_at: datetime


def delete_run(folder: Path, root: Path | None = None) -> Path:
    """Put a run into the bin; returns where it is now.

    Args:
        folder: the run's.
        root: the folder of all runs (the usual one by default), which has the bin.

    Raises:
        UnusableError: it is under way, no run of this folder, or cannot be moved.
    """
    root = root or runs_root()
    _check_ours(folder, root, "deleted")
    try:
        (root / BIN).mkdir(exist_ok=True)
        with contextlib.ExitStack() as held:
            _lock_run(folder, held)
            _write_mark(folder, datetime.now(UTC))
            if sys.platform == "win32":  # where no folder with an open file can be renamed
                held.close()
            return _move_folder(folder, root / BIN)
    except OSError as error:
        raise write_error("the bin", root / BIN, error, cure="see that you may write there") from (
            error
        )


def restore_run(folder: Path, root: Path | None = None) -> Path:
    """Bring a run back from the bin; returns where it is now.

    Raises:
        UnusableError: there is no such run in the bin, or it cannot be moved.
    """
    root = root or runs_root()
    _check_ours(folder, root / BIN, "restored")
    try:
        back = _move_folder(folder, root)
    except OSError as error:
        raise write_error("the folder of runs", root, error) from error
    with contextlib.suppress(OSError):
        (back / MARK).unlink(missing_ok=True)
    return back


def remove_for_good(folder: Path, root: Path | None = None) -> None:
    """Remove a run that is in the bin; nothing brings it back.

    Raises:
        UnusableError: there is no such run in the bin, it is in use, or it cannot be removed.
    """
    root = root or runs_root()
    _check_ours(folder, root / BIN, "removed")
    if lock_holder(folder / OWNER) is not None:
        raise _running_error(folder, "another process")
    going = folder.with_name(f"{_GOING}{secrets.token_hex(8)}")
    try:
        os.rename(folder, going)  # at once: what is half removed is no run any more
    except OSError as error:
        raise write_error("the bin", folder, error) from error
    shutil.rmtree(going, ignore_errors=True)


def deleted_runs(root: Path | None = None, now: datetime | None = None) -> list[DeletedRun]:
    """The runs in the bin, the last deleted first. Those whose time is over are removed first.

    A run whose time of deletion cannot be read counts as deleted now.
    """
    root, now = root or runs_root(), now or datetime.now(UTC)
    _remove_leftovers(root / BIN)
    entries = []
    for run in _list_bin(root / BIN).runs:
        folder = Path(run.path)
        deleted_at = _read_mark(folder, now)
        removed_at = deleted_at + timedelta(days=KEPT_DAYS)
        if removed_at <= now:
            with contextlib.suppress(UnusableError):
                remove_for_good(folder, root)
                continue
        entries.append(DeletedRun(run, deleted_at, removed_at))
    return sorted(entries, key=lambda entry: entry.deleted_at, reverse=True)


def _list_bin(parent: Path) -> PastRuns:
    past_runs = list_runs(parent)
    runs = [run for run in past_runs.runs if not run.name.startswith(_GOING)]
    # What cannot be read as a run can still be brought back as the folder that it is.
    unreadable_runs = [
        _unreadable_run(parent / name) for name in past_runs.left_out if not name.startswith(_GOING)
    ]
    return PastRuns([*runs, *(run for run in unreadable_runs if Path(run.path).is_dir())], {})


def _unreadable_run(folder: Path) -> RunSummary:
    return RunSummary(
        path=str(folder),
        name=folder.name,
        dataset="",
        fingerprint="",
        model="",
        strategy="",
        state="unreadable",
        started_at="",
        metric="",
        maximize=True,
    )


def _check_ours(folder: Path, parent: Path, action: str) -> None:
    """See that a run's folder lies in this very place, and is no link to elsewhere."""
    if folder.parent.resolve() != parent.resolve():
        raise UnusableError(
            f"this run is not among those that can be {action} here",
            where=str(folder),
            cure=f"these lie in {parent}; move or remove its folder yourself",
        )
    if not os.path.lexists(folder / PLAN) or folder.name.startswith(_GOING):
        raise UnusableError(
            "there is no run here", where=str(folder), cure="tunescope runs lists those there are"
        )
    if folder.is_symlink():
        raise UnusableError(
            "this is a link to a run in another folder",
            where=str(folder),
            cure="remove the link yourself; the run stays where it is",
        )


def _lock_run(folder: Path, held: contextlib.ExitStack) -> None:
    """Own the run while it is moved.

    Raises:
        UnusableError: a process is writing it.
        OSError: whether one does cannot be told.
    """
    try:
        held.enter_context(hold_run_lock(folder / OWNER, patience=0.1))
    except RunLockedError as error:
        raise _running_error(folder, str(error)) from None
    except OSError:  # such as a full disk: to look is enough then
        if lock_holder(folder / OWNER) is not None:
            raise


def _running_error(folder: Path, who: str) -> UnusableError:
    return UnusableError(
        f"this run is running in {who}, so it cannot be deleted",
        where=folder.name,
        cure="stop it first, or wait until it ends",
    )


def _move_folder(folder: Path, parent: Path) -> Path:
    """Move a folder to a place under its name, with a number behind where that is taken."""
    target, count = parent / folder.name, 1
    while os.path.lexists(target):
        count += 1
        target = parent / f"{folder.name}_{count}"
    os.rename(folder, target)
    (target / OWNER).unlink(missing_ok=True)
    for changed in (folder.parent, parent):
        sync_folder(changed)
    return target


def _write_mark(folder: Path, now: datetime) -> None:
    with contextlib.suppress(OSError):  # on a full disk it counts as deleted at the next look
        (folder / MARK).unlink(missing_ok=True)
        write_whole(folder / MARK, json.dumps({"deleted_at": now.isoformat()}))


def _read_mark(folder: Path, now: datetime) -> datetime:
    """When a run was deleted; now, and written down, where that cannot be read."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        with (folder / MARK).open("rb") as file:
            deleted_at = datetime.fromisoformat(json.loads(file.read(1000))["deleted_at"])
        if deleted_at.tzinfo is not None and deleted_at <= now + timedelta(days=1):
            return deleted_at
    _write_mark(folder, now)
    return now


def _remove_leftovers(parent: Path) -> None:
    """Go on removing what a kill kept from being removed."""
    with contextlib.suppress(OSError):
        for folder in parent.glob(f"{_GOING}*"):
            shutil.rmtree(folder, ignore_errors=True)
