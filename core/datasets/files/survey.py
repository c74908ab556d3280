"""One pass through a plain file's bytes, before a parser takes it by its path."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from core.datasets.files.opening import GuardedFile, open_bytes
from core.errors import UnusableError

_BLOCK = 4 * 2**20


@dataclass(frozen=True)
class Survey:
    """What a pass through a file tells.

    Attributes:
        fingerprint: SHA-256 of its bytes, hexadecimal.
        lines: how many it has; None where it has no quote, since each row is a line then.
    """

    fingerprint: str
    lines: int | None


def survey(path: Path, quote: str) -> Survey:
    """Look through a file that is not compressed.

    A parser that takes a path may share the file among its threads; what no table contains is then
    to be refused beforehand, lest an endless line fill the memory.

    Args:
        path: the file.
        quote: the quoting sign, within which a line may end.

    Raises:
        UnusableError: it cannot be read, has a NUL byte or an endless line.
    """
    digest, sign, quoted = hashlib.sha256(), quote.encode(), False

    def see(block: bytearray, size: int) -> None:
        nonlocal quoted
        quoted = quoted or block.find(sign, 0, size) >= 0

    try:
        _through(path, False, see, digest.update)
    except UnusableError:
        _through(path, True, lambda *_: None, lambda _: None)  # tells the line
        raise
    lines = _through(path, True, lambda *_: None, lambda _: None) if quoted else None
    return Survey(digest.hexdigest(), lines)


def _through(
    path: Path,
    counts: bool,
    see: Callable[[bytearray, int], None],
    beside: Callable[[memoryview], None],
) -> int:
    """Go through a file; how many lines it has, where they are counted.

    Args:
        path: the file.
        counts: whether lines are counted.
        see: takes every block, and how much of it is filled.
        beside: takes the same in another thread.
    """
    blocks = (bytearray(_BLOCK), bytearray(_BLOCK))
    inner = open_bytes(path, "")
    with (
        GuardedFile(inner, path.name, wide=False, counts=counts) as file,
        ThreadPoolExecutor(1) as other,
    ):
        before, at = other.submit(beside, memoryview(b"")), 0
        while size := file.readinto(blocks[at]):
            see(blocks[at], size)
            before.result()  # then the other block is free again
            before = other.submit(beside, memoryview(blocks[at])[:size])
            at = 1 - at
        before.result()
        return file.lines
