"""A lock on a run folder, which the system releases when its process ends.

It lies on a file, the mark, whose text names the process. Only the lock decides who owns the
folder, so neither a kill nor a reused process number misleads.
"""

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 0.5  # seconds: a look at the mark by `owner_of` holds it for a moment
TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
LOCKLESS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # some network drives know no locks

if sys.platform == "win32":
    import msvcrt

    FAR = 1 << 30  # where the locked byte lies, so that the text can be read

    def _try_lock(handle: int, shared: bool = False) -> None:
        os.lseek(handle, FAR, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)

else:
    import fcntl

    def _try_lock(handle: int, shared: bool = False) -> None:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


class RunLockedError(Exception):
    """Another process has the lock; the text gives its number if readable."""

    def __init__(self, owner: int) -> None:
        super().__init__(f"process {owner}" if owner else "another process")


@contextlib.contextmanager
def hold_run_lock(mark: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Against other callers here too; RunLockedError after `patience` seconds, or OSError."""
    handle = _acquire_lock(mark, patience)
    try:
        os.ftruncate(handle, 0)
        os.write(handle, str(os.getpid()).encode())
        yield
    finally:
        _let_go(mark, handle)


def lock_holder(mark: Path) -> int | None:
    """The holder's process number, 0 if unreadable; None where the lock is free."""
    try:
        handle = os.open(mark, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return None
    except OSError:  # of another user, who keeps it from us
        return 0
    try:
        _try_lock(handle, shared=True)
    except OSError as error:
        return _read_owner(handle) if error.errno in TAKEN else None
    finally:
        os.close(handle)
    return None


def _acquire_lock(mark: Path, patience: float) -> int:
    give_up = time.monotonic() + patience
    while True:
        handle = _open_mark(mark)
        # Its last owner may have removed the mark between our opening and our lock.
        if _try_acquire(handle) and _is_there(mark, handle):
            return handle
        owner = _read_owner(handle)
        os.close(handle)
        if time.monotonic() > give_up:
            raise RunLockedError(owner)
        time.sleep(0.01)


def _open_mark(mark: Path) -> int:
    try:
        return os.open(mark, os.O_RDWR | os.O_CREAT, 0o600)
    except PermissionError:
        # A mark of another user cannot be written, yet its lock can be seen.
        if (owner := lock_holder(mark)) is not None:
            raise RunLockedError(owner) from None
        raise


def _try_acquire(handle: int) -> bool:
    try:
        _try_lock(handle)
    except OSError as error:
        if error.errno in TAKEN:
            return False
        if error.errno not in LOCKLESS:
            os.close(handle)
            raise
    return True


def _is_there(mark: Path, handle: int) -> bool:
    """Whether its last owner did not remove the opened file."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(mark.stat(), os.fstat(handle))
    return False


def _let_go(mark: Path, handle: int) -> None:
    # The name goes before the lock: a process that waits for the lock sees that it is gone.
    with contextlib.suppress(OSError):
        if _is_there(mark, handle):
            mark.unlink()
    os.close(handle)
    if sys.platform == "win32":  # where no open file can be removed
        with contextlib.suppress(OSError):
            mark.unlink()


def _read_owner(handle: int) -> int:
    os.lseek(handle, 0, os.SEEK_SET)
    text = os.read(handle, 20).decode("ascii", errors="replace")
    return int(text) if text.isdecimal() else 0
