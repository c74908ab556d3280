"""Files that may be a stranger's: ordinary ones, of bounded size, read without waiting."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MOST_BYTES = 1 << 30  # of one file in a run folder but its events


def open_ordinary(path: Path, most: int = MOST_BYTES) -> BinaryIO:
    """The file, open to read; an OSError where it cannot be read or has more bytes than `most`.

    A pipe or a device, which could last for ever, is refused like that as well.
    """
    # Not to wait where a pipe has this name.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
        if about.st_size > most:
            raise OSError(errno.EFBIG, f"it is longer than {most / 1e6:,.0f} MB", str(path))
        return os.fdopen(handle, "rb")
    except OSError:
        os.close(handle)
        raise


def read_ordinary(path: Path, most: int = MOST_BYTES) -> bytes:
    """The content of such a file; errors as of `open_ordinary`."""
    with open_ordinary(path, most) as file:
        return file.read(os.fstat(file.fileno()).st_size)  # one that grows meanwhile is cut
