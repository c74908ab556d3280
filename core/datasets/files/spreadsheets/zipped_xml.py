"""A zip archive of XML parts, as workbooks are: of bounded size, without entity definitions."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.parsers import expat

from core.datasets.files.unpacking_limits import max_unpacked_bytes, too_large_error
from core.errors import UnusableError

CONTENT = "content.xml"  # the cells of an ods file
_PIECE = 2**18  # bytes unpacked at a time
_MAX_PARTS = 10_000
_FAULTS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)


def damaged_file_error(name: str, why: str = "") -> UnusableError:
    """The error for a workbook that cannot be read."""
    reason = f" ({' '.join(why.split())[:120]})" if why else ""
    cure = "open it in a spreadsheet program and save it again, or save the table as CSV"
    return UnusableError(f"the workbook is damaged{reason}", where=name, cure=cure)


def password_error(name: str) -> UnusableError:
    """The error for a workbook with a password."""
    return UnusableError("the workbook has a password", where=name, cure="save it without one")


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive; raises UnusableError if damaged, a decompression bomb, or with a password."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > _MAX_PARTS:
                raise damaged_file_error(path.name, f"it has {len(entries):,} parts")
            if sum(entry.file_size for entry in entries) > max_unpacked_bytes(path.stat().st_size):
                raise too_large_error(path)
            if any(entry.flag_bits & 1 for entry in entries):
                raise password_error(path.name)
            yield archive
    except (*_FAULTS, OSError, ValueError, KeyError) as error:
        raise damaged_file_error(path.name, str(error)) from None


def parse_part(
    archive: zipfile.ZipFile,
    part_name: str,
    name: str,
    on_start: Callable[[str, dict[str, str]], None] | None = None,
    on_end: Callable[[str], None] | None = None,
    on_text: Callable[[str], None] | None = None,
) -> None:
    """Pass through a part once, without storing it; UnusableError for malformed XML or a DTD."""
    parser = expat.ParserCreate()

    def refuse_entities(*_: object) -> None:
        fault = "the workbook defines XML entities, as files do that are made to fill the memory"
        raise UnusableError(fault, where=name, cure="save the table as CSV and open that")

    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse_entities
    parser.StartElementHandler = on_start
    parser.EndElementHandler = on_end
    parser.CharacterDataHandler = on_text
    try:
        with archive.open(part_name) as stream:
            while piece := stream.read(_PIECE):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
    except (expat.ExpatError, LookupError) as error:  # LookupError: an unknown encoding
        raise damaged_file_error(name, str(error)) from None


def local_name(tag: str) -> str:
    """A name without its prefix."""
    return tag.rpartition(":")[2]
