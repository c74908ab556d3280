"""Files written atomically: no kill, full disk or second writer leaves half of one."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

DRAFT = ".tunescope-"  # so begins the name of a draft, which ends as that of its file
READER_SECONDS = 5.0  # that a pipe waits for a program which reads it


@contextlib.contextmanager
def whole_file(path: Path, *, is_private: bool = False) -> Iterator[Path]:
    """A draft to fill, which replaces `path` when the block ends without an exception.

    Links stay and access rights are kept. A device or a pipe is written directly. A new file that
    is private can be read by its owner alone, whatever the umask.

    Raises:
        OSError: it cannot be written.
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
    draft = real.with_name(f"{DRAFT}{secrets.token_hex(8)}{real.suffix[:16]}")
    # Not tempfile, whose files nobody else may read: the umask decides.
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    os.close(os.open(draft, flags, 0o600 if is_private else 0o666))
    try:
        yield draft
        if before is not None:
            draft.chmod(stat.S_IMODE(before.st_mode))
        # Before the rename, or a power cut could leave the new name with no content.
        with draft.open("r+b") as file:
            os.fsync(file.fileno())
        os.replace(draft, real)
        sync_folder(real.parent)
    finally:
        draft.unlink(missing_ok=True)


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
