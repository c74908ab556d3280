"""Limits on unpacked size, against decompression bombs."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

from core.errors import UnusableError

ALWAYS_ALLOWED = 2**24  # bytes that any packed file may unpack to
MAX_EXPANSION = 100  # how often a larger one may hold its own size; tables have some 3 to 30
MAX_MODEL_BYTES = 2**32  # bytes of a model, unpacked
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def max_unpacked_bytes(packed: int) -> int:
    """The maximal unpacked size of a packed file of a size."""
    return max(ALWAYS_ALLOWED, MAX_EXPANSION * packed)


def too_large_error(path: Path, max_bytes: int = 0) -> UnusableError:
    """The error for a packed file beyond the limit, of its size where none is given."""
    packed = path.stat().st_size
    max_bytes = max_bytes or max_unpacked_bytes(packed)
    return UnusableError(
        f"unpacked, its {packed / 1e6:.3g} MB are more than {max_bytes / 1e6:,.0f} MB, as in "
        "files that are made to fill the memory",
        where=path.name,
        cure="if you trust it, unpack it yourself and open what is inside",
    )


def check_stream(unpacked: IO[bytes], path: Path) -> None:
    """Unpack a file once, without storing it; raises UnusableError beyond the limit."""
    remaining_bytes = max_unpacked_bytes(path.stat().st_size)
    while chunk := unpacked.read(2**18):
        remaining_bytes -= len(chunk)
        if remaining_bytes < 0:
            raise too_large_error(path)


def check_archive(archive: zipfile.ZipFile, path: Path, packed: int = 0) -> None:
    """Check a model's archive by its directory; raises where it is too large or packed otherwise.

    `path` is its file, or contains it, with `packed` bytes (0 for the file's size).
    """
    entries = archive.infolist()
    size = sum(entry.file_size for entry in entries)
    if size > min(MAX_MODEL_BYTES, 4 * max_unpacked_bytes(packed or path.stat().st_size)):
        fault = f"unpacked, this file takes {size / 1e6:,.0f} MB, more than a model of its size"
        raise UnusableError(fault, where=str(path), cure="give a file that Tunescope exported")
    if any(entry.compress_type not in _PLAIN for entry in entries):
        raise zipfile.BadZipFile("another way of packing")
