"""A zip archive of XML parts, as workbooks are: bounded, and without definitions of entities."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.parsers import expat

from core.datasets.files.bounds import most_unpacked, too_much
from core.errors import UnusableError

_PIECE = 2**18  # bytes that are unpacked at a time
_MOST_PARTS = 10_000
_XML = (b"<", b"\xef\xbb\xbf<", b"\xff\xfe<", b"\xfe\xff\x00<", b"<\x00", b"\x00<")

Started = Callable[[str, dict[str, str]], None]


class DamagedError(UnusableError):
    """A workbook that cannot be read."""


def damaged(name: str, why: str = "") -> DamagedError:
    """What is said of a workbook that cannot be read."""
    reason = f" ({' '.join(why.split())[:120]})" if why else ""
    return DamagedError(
        f"the workbook is damaged{reason}",
        where=name,
        cure="open it in a spreadsheet program and save it again, or save the table as CSV",
    )


@contextmanager
def opened_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive, where it holds no more than a file of its size may.

    Raises:
        UnusableError: it is damaged, or made to fill the memory, or has a password.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if len(parts) > _MOST_PARTS:
                raise damaged(path.name, f"it has {len(parts):,} parts")
            if sum(part.file_size for part in parts) > most_unpacked(path.stat().st_size):
                raise too_much(path)
            if any(part.flag_bits & 1 for part in parts):
                raise UnusableError(
                    "the workbook has a password", where=path.name, cure="save it without one"
                )
            yield archive
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError) as error:
        raise damaged(path.name, str(error)) from None
    except (UnicodeDecodeError, OSError, ValueError) as error:
        raise damaged(path.name, str(error)) from None


def check_parts(archive: zipfile.ZipFile, name: str) -> None:
    """See that no part defines entities, which can unpack to more than the memory holds.

    Raises:
        UnusableError: one does, or is no XML although it begins like it.
    """
    for part in archive.infolist():
        if not part.is_dir() and _is_xml(archive, part):
            scan(archive, part.filename, name)


def _is_xml(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    with archive.open(part) as stream:
        start = stream.read(64).lstrip()
    return start.startswith(_XML) or part.filename.lower().endswith((".xml", ".rels"))


def scan(
    archive: zipfile.ZipFile,
    part: str,
    name: str,
    started: Started | None = None,
    ended: Callable[[str], None] | None = None,
    text: Callable[[str], None] | None = None,
) -> None:
    """Pass through a part once and keep nothing of it.

    Args:
        archive: the workbook.
        part: which part.
        name: the file's name, for errors.
        started: told every element's name and attributes, the namespace and a blank before each.
        ended: told the name at an element's end.
        text: told what stands between.

    Raises:
        UnusableError: it is no XML, or defines a type of document.
    """
    parser = expat.ParserCreate(namespace_separator=" ")

    def refuse(*_: object) -> None:
        raise UnusableError(
            "the workbook defines XML entities, as files do that are made to fill the memory",
            where=name,
            cure="save the table as CSV and open that",
        )

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    if started is not None:
        parser.StartElementHandler = started
    if ended is not None:
        parser.EndElementHandler = ended
    if text is not None:
        parser.CharacterDataHandler = text
    try:
        with archive.open(part) as stream:
            while piece := stream.read(_PIECE):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise damaged(name, str(error)) from None
    except LookupError as error:  # an encoding that Python does not know
        raise damaged(name, str(error)) from None


def plain(tag: str) -> str:
    """A name without its namespace."""
    return tag.rpartition(" ")[2]
