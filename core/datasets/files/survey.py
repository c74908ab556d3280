"""One pass through a plain file's bytes, before a parser reads it by its path."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from core.datasets.files.file_bytes import GuardedFile, open_bytes
from core.errors import UnusableError

_BLOCK = 4 * 2**20


@dataclass(frozen=True)
class FileSurvey:
    """SHA-256 in hexadecimal, and the number of lines (None in a file without quotes)."""

    fingerprint: str
    lines: int | None


def survey_file(path: Path, quote: str) -> FileSurvey:
    """Survey an uncompressed file; a line may end inside of `quote`.

    Raises:
        UnusableError: it cannot be read, has a NUL byte or an endless line.
    """
    digest, sign, quoted = hashlib.sha256(), quote.encode(), False

    def note_quotes(block: bytearray, size: int) -> None:
        nonlocal quoted
        quoted = quoted or block.find(sign, 0, size) >= 0

    try:
        _pass_through(path, False, note_quotes, digest.update)
    except UnusableError:
        _pass_through(path, True, lambda *_: None, lambda _: None)  # raises with the line
        raise
    lines = _pass_through(path, True, lambda *_: None, lambda _: None) if quoted else None
    return FileSurvey(digest.hexdigest(), lines)


def _pass_through(
    path: Path,
    counts: bool,
    on_block: Callable[[bytearray, int], None],
    on_block_in_thread: Callable[[memoryview], None],
) -> int:
    """Read a file; returns the number of lines, where `counts`.

    `on_block` takes every block and its filled size, `on_block_in_thread` the same in a thread.
    """
    blocks = (bytearray(_BLOCK), bytearray(_BLOCK))
    inner = open_bytes(path, "")
    with (
        GuardedFile(inner, path.name, wide=False, counts=counts) as file,
        ThreadPoolExecutor(1) as executor,
    ):
        pending, block_index = executor.submit(on_block_in_thread, memoryview(b"")), 0
        while size := file.readinto(blocks[block_index]):
            on_block(blocks[block_index], size)
            pending.result()  # frees the other block
            pending = executor.submit(on_block_in_thread, memoryview(blocks[block_index])[:size])
            block_index = 1 - block_index
        pending.result()
        return file.lines
