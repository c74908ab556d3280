"""Returns memory freed by a parser's threads to the system."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

_TRIM, _MMAP = -1, -3  # the numbers of glibc's limits


@contextlib.contextmanager
def freed_at_once() -> Iterator[None]:
    """Return memory freed inside to the system at once; glibc else keeps some 30 MB per thread."""
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
