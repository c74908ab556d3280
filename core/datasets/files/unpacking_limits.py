"""How much a packed file may hold: a few bytes can unpack to more than a computer has."""

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
    """The bytes that the content of a packed file of a size may have."""
    return max(ALWAYS_ALLOWED, MAX_EXPANSION * packed)


def too_large_error(path: Path) -> UnusableError:
    """What is said of a packed file that holds more."""
    packed = path.stat().st_size
    max_bytes = max_unpacked_bytes(packed)
    return UnusableError(
        f"unpacked, its {packed / 1e6:.3g} MB are more than {max_bytes / 1e6:,.0f} MB, as in "
        "files that"
        " are made to fill the memory",
        where=path.name,
        cure="if you trust it, unpack it yourself and open what is inside",
    )


def check_stream(unpacked: IO[bytes], path: Path) -> None:
    """Unpack a file once and keep nothing of it, to see that it ends in time.

    Raises:
        UnusableError: it holds more than a file of its size may.
    """
    bytes_left = max_unpacked_bytes(path.stat().st_size)
    while chunk := unpacked.read(2**18):
        bytes_left -= len(chunk)
        if bytes_left < 0:
            raise too_large_error(path)


def check_archive(archive: zipfile.ZipFile, path: Path, packed: int = 0) -> None:
    """See that the archive of a model has a model's size, by what its directory says.

    Nothing more than that is ever unpacked: zipfile stops there.

    Args:
        archive: it.
        path: the file that it is, or is in.
        packed: its bytes; 0 for those of the file.

    Raises:
        UnusableError: it would take too much memory, or is packed in a way of others.
    """
    entries = archive.infolist()
    size = sum(entry.file_size for entry in entries)
    if size > min(MAX_MODEL_BYTES, 4 * max_unpacked_bytes(packed or path.stat().st_size)):
        raise UnusableError(
            f"unpacked, this file takes {size / 1e6:,.0f} MB, more than a model of its size",
            where=str(path),
            cure="give a file that Tunescope exported",
        )
    if any(entry.compress_type not in _PLAIN for entry in entries):
        raise zipfile.BadZipFile("another way of packing")
