"""The bin for deleted runs, from which they are restored or removed for good.

A run moves by one rename, so a kill leaves it in one of the two places. It is removed `KEPT_DAYS`
days later, when the bin is next listed.
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
    """A run in the bin, when it was deleted, and when it will be removed for good."""

    run: RunSummary
    deleted_at: datetime
    removed_at: datetime


def delete_run(folder: Path, root: Path | None = None) -> Path:
    """Put a run into the bin below `root` (the usual one by default); its new path.

    Raises:
        UnusableError: it is running, no run of this folder, or cannot be moved.
    """
    root = root or runs_root()
    _check_ours(folder, root, "deleted")
    try:
        (root / BIN).mkdir(exist_ok=True)
        with contextlib.ExitStack() as stack:
            _lock_run(folder, stack)
            _write_mark(folder, datetime.now(UTC))
            if sys.platform == "win32":  # where no folder with an open file can be renamed
                stack.close()
            return _move_folder(folder, root / BIN)
    except OSError as error:
        cure = "see that you may write there"
        raise write_error("the bin", root / BIN, error, cure=cure) from error


def restore_run(folder: Path, root: Path | None = None) -> Path:
    """Bring a run back from the bin; its new path.

    Raises:
        UnusableError: there is no such run in the bin, or it cannot be moved.
    """
    root = root or runs_root()
    _check_ours(folder, root / BIN, "restored")
    try:
        target = _move_folder(folder, root)
    except OSError as error:
        raise write_error("the folder of runs", root, error) from error
    with contextlib.suppress(OSError):
        (target / MARK).unlink(missing_ok=True)
    return target


def remove_for_good(folder: Path, root: Path | None = None) -> None:
    """Remove a run from the bin irrevocably.

    Raises:
        UnusableError: there is no such run in the bin, it is in use, or it cannot be removed.
    """
    root = root or runs_root()
    _check_ours(folder, root / BIN, "removed")
    if lock_holder(folder / OWNER) is not None:
        raise _running_error(folder, "another process")
    target = folder.with_name(f"{_GOING}{secrets.token_hex(8)}")
    try:
        os.rename(folder, target)  # at once: what is half removed is no run any more
    except OSError as error:
        raise write_error("the bin", folder, error) from error
    shutil.rmtree(target, ignore_errors=True)


def deleted_runs(root: Path | None = None, now: datetime | None = None) -> list[DeletedRun]:
    """The runs in the bin, the last deleted first, after those whose time is over are removed."""
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
    # What cannot be read as a run can still be restored as a folder.
    folders = [parent / name for name in past_runs.left_out]
    runs = [*past_runs.runs, *(_unreadable_run(folder) for folder in folders if folder.is_dir())]
    return PastRuns([run for run in runs if not run.name.startswith(_GOING)], {})


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
    """Check that a run's folder lies directly in `parent`, and is no link."""
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


def _lock_run(folder: Path, stack: contextlib.ExitStack) -> None:
    """Lock a run; UnusableError where a process writes it, OSError where that is unknown."""
    try:
        stack.enter_context(hold_run_lock(folder / OWNER, patience=0.1))
    except RunLockedError as error:
        raise _running_error(folder, str(error)) from None
    except OSError:  # such as a full disk: to look is enough then
        if lock_holder(folder / OWNER) is not None:
            raise


def _running_error(folder: Path, owner: str) -> UnusableError:
    return UnusableError(
        f"this run is running in {owner}, so it cannot be deleted",
        where=folder.name,
        cure="stop it first, or wait until it ends",
    )


def _move_folder(folder: Path, parent: Path) -> Path:
    """Move a folder under its name, with a number appended where that is taken."""
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
    """The time of deletion; now, which is then written, where it cannot be read."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        with (folder / MARK).open("rb") as file:
            deleted_at = datetime.fromisoformat(json.loads(file.read(1000))["deleted_at"])
        if deleted_at.tzinfo is not None and deleted_at <= now + timedelta(days=1):
            return deleted_at
    _write_mark(folder, now)
    return now


def _remove_leftovers(parent: Path) -> None:
    """Remove folders whose removal a kill interrupted."""
    with contextlib.suppress(OSError):
        for folder in parent.glob(f"{_GOING}*"):
            shutil.rmtree(folder, ignore_errors=True)
