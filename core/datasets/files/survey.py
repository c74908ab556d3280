"""One pass through a plain file's bytes, before a parser reads it by its path."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from core.datasets.files.file_bytes import GuardedFile, open_bytes
from core.datasets.files.quote_readings import QuoteCheck
from core.datasets.files.quotes import Quotes
from core.errors import UnusableError

_BLOCK = 4 * 2**20


@dataclass(frozen=True)
class FileSurvey:
    """SHA-256 in hexadecimal, and what the quotes look like."""

    fingerprint: str
    check: QuoteCheck


def survey_file(path: Path, quotes: Quotes) -> FileSurvey:
    """Survey an uncompressed file; UnusableError for a NUL byte or an endless line."""
    digest, check = hashlib.sha256(), QuoteCheck(quotes)
    try:
        _pass_through(path, check.add_block, digest.update)
    except UnusableError:
        _raise_with_line(path)
        raise
    check.finish()
    return FileSurvey(digest.hexdigest(), check)


def _raise_with_line(path: Path) -> None:
    with GuardedFile(open_bytes(path, ""), path.name, wide=False) as file:
        while file.read(_BLOCK):
            pass


def _pass_through(
    path: Path,
    on_block: Callable[[memoryview], None],
    on_block_in_thread: Callable[[memoryview], None],
) -> None:
    blocks = (bytearray(_BLOCK), bytearray(_BLOCK))
    inner = open_bytes(path, "")
    with (
        GuardedFile(inner, path.name, wide=False, counts=False) as file,
        ThreadPoolExecutor(1) as executor,
    ):
        pending, block_index = executor.submit(on_block_in_thread, memoryview(b"")), 0
        while size := file.readinto(blocks[block_index]):
            block = memoryview(blocks[block_index])[:size]
            pending.result()  # frees the other block
            pending = executor.submit(on_block_in_thread, block)
            on_block(block)
            block_index = 1 - block_index
        pending.result()
