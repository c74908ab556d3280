"""Files written atomically: no kill, full disk or second writer leaves half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl

DRAFT = ".tunescope-"  # so begins the name of a draft's folder, beside the file to come
_DRAFT_NAME = re.compile(rf"{re.escape(DRAFT)}[0-9a-f]{{16}}")
READER_SECONDS = 5.0  # that a pipe waits for a program which reads it


@contextlib.contextmanager
def whole_file(path: Path, *, is_private: bool = False) -> Iterator[Path]:
    """A draft to fill, which replaces `path` when the block ends without an exception.

    Links stay and access rights are kept. A device or a pipe is written directly. A new file that
    is private can be read by its owner alone, whatever the umask. An OSError: it cannot be written.
    """
    real = Path(os.path.realpath(path))
    # A link that leads back to itself is not resolved.
    if real.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    before = real.stat() if real.exists() else None
    if before is not None and not stat.S_ISREG(before.st_mode):
        # Open meanwhile: who reads a pipe would take the first writer's end for that of all.
        with open(real, "wb", opener=patient_opener):
            yield real
        return
    remove_leftovers(real.parent)
    with contextlib.ExitStack() as stack:
        draft = _make_locked_folder(real.parent, stack) / real.name
        # Not tempfile, whose files nobody else may read: the umask decides.
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        os.close(os.open(draft, flags, 0o600 if is_private else 0o666))
        yield draft
        if before is not None:
            draft.chmod(stat.S_IMODE(before.st_mode))
        # Before the rename, or a power cut could leave the new name with no content.
        with draft.open("r+b") as file:
            os.fsync(file.fileno())
        os.replace(draft, real)
        sync_folder(real.parent)


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A draft to fill, which becomes the new folder `path` in the same way."""
    remove_leftovers(path.parent)
    with contextlib.ExitStack() as stack:
        draft = _make_locked_folder(path.parent, stack) / path.name
        draft.mkdir()
        yield draft
        os.rename(draft, path)
        sync_folder(path.parent)


def remove_leftovers(parent: Path) -> None:
    """Remove the drafts of killed programs, whose locks the system has released."""
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            # A person's own folder may begin alike.
            if not _DRAFT_NAME.fullmatch(entry.name):
                continue
            with contextlib.suppress(OSError):
                handle = _lock_folder(Path(entry.path))
                shutil.rmtree(entry.path, ignore_errors=True)
                os.close(handle)


def _make_locked_folder(parent: Path, stack: contextlib.ExitStack) -> Path:
    """A new folder for a draft, which is removed at the end of `stack`."""
    folder, is_taken = parent / f"{DRAFT}{secrets.token_hex(8)}", False
    folder.mkdir(mode=0o700)
    try:
        stack.callback(os.close, _lock_folder(folder))
    except OSError as error:  # others: a drive without locks
        is_taken = error.errno in (errno.EAGAIN, errno.ENOENT)
    # Before it was locked another program may have taken it for a leftover.
    if is_taken or not folder.exists():
        return _make_locked_folder(parent, stack)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _lock_folder(folder: Path) -> int:
    """A handle that keeps a folder locked; OSError where that is taken or impossible."""
    if sys.platform == "win32":  # which opens no folders
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def patient_opener(path: Any, flags: int, mode: int = 0o666) -> int:
    """For `open`: a pipe waits some seconds for its reader."""
    until = time.monotonic() + READER_SECONDS
    while True:
        try:
            handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), mode)
            break
        except OSError as error:
            if error.errno != errno.ENXIO or time.monotonic() > until:
                raise
            time.sleep(0.02)
    if sys.platform != "win32":
        os.set_blocking(handle, True)
    return handle


# For `open` too: a new file is its owner's alone.
private_opener = partial(patient_opener, mode=0o600)


def write_whole(path: Path, text: str, *, is_private: bool = False) -> None:
    """Write a text so that a reader, and a power cut, see the old file or the new one."""
    with whole_file(path, is_private=is_private) as draft:
        draft.write_text(text, encoding="utf-8")


def sync_folder(folder: Path) -> None:
    """Bring a folder's names to the disk, where the file system offers it."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
