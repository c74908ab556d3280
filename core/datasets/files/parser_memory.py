"""The memory that a parser's threads free goes back to the system."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

_TRIM, _MMAP = -1, -3  # the numbers of glibc's limits


@contextlib.contextmanager
def freed_at_once() -> Iterator[None]:
    """Let the system have at once what is freed inside, by other threads too.

    Each thread of a parser keeps some 30 megabytes otherwise, which glibc gives to nobody else.
    After the block it keeps 16 megabytes a thread at most, where it would come to 64 by itself.
    """
    try:
        adjust = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # another C library
        yield
        return
    adjust(_TRIM, 2**20)
    try:
        yield
    finally:
        adjust(_TRIM, 2**24)
        adjust(_MMAP, 2**25)
