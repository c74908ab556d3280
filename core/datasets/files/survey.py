"""One pass through a plain file's bytes, before a parser takes it by its path."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from core.datasets.files.opening import GuardedFile, open_bytes

_BLOCK = 4 * 2**20


@dataclass(frozen=True)
class Survey:
    """What a pass through a file tells.

    Attributes:
        fingerprint: SHA-256 of its bytes, hexadecimal.
        lines: how many it has.
    """

    fingerprint: str
    lines: int


def survey(path: Path) -> Survey:
    """Look through a file that is not compressed.

    A parser that takes a path may share the file among its threads; what no table contains is then
    to be refused beforehand, lest an endless line fill the memory.

    Raises:
        UnusableError: it cannot be read, has a NUL byte or an endless line.
    """
    digest = hashlib.sha256()
    blocks = (bytearray(_BLOCK), bytearray(_BLOCK))
    with GuardedFile(open_bytes(path, ""), path.name, wide=False) as file:
        with ThreadPoolExecutor(1) as beside:
            before, at = beside.submit(digest.update, b""), 0
            while size := file.readinto(blocks[at]):
                before.result()  # then the other block is free again
                before = beside.submit(digest.update, memoryview(blocks[at])[:size])
                at = 1 - at
            before.result()
        return Survey(digest.hexdigest(), file.lines)
