"""Chooses a file's reader by its first bytes, not by its name."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from core.datasets.column_format import MISSING
from core.datasets.files.addresses import split_sheet_address
from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.files.csv_table import TextFile as TextFile
from core.datasets.files.file_bytes import (
    check_path,
    compression_of,
    decode_head,
    file_faults,
    read_head,
)
from core.datasets.files.foreign_files import check_fixed_width
from core.datasets.files.line_table import ArffFile, LineFile, line_kind, looks_like_arff
from core.datasets.files.spreadsheets.binary_sheets import MAGIC
from core.datasets.files.spreadsheets.sheet_table import SheetFile
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

_COLUMNAR = ((b"PAR1", "parquet"), (b"ARROW1", "feather"))
_START_BYTES = 2**16  # by which ARFF, CoNLL and FASTA are told from a table
_ODS = "application/vnd.oasis.opendocument.spreadsheet"


class TableFile(Protocol):
    """A file with a table, in any format."""

    @property
    def path(self) -> Path:
        """The file."""

    def first_cells(self, required_column: str = "") -> Mapping[str, Sequence[str]]:
        """Every column's first values as text; raises UnusableError where it is no table."""

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table; raises UnusableError with the place of the fault."""


def open_table(file: str) -> TableFile:
    """The reader of a file or sheet (book.xlsx#Sheet2); UnusableError if missing or no table."""
    name, sheet = split_sheet_address(file)
    path = check_path(name)
    with file_faults(path.name), path.open("rb") as stream:
        start = stream.read(16)
    columnar = next((kind for magic, kind in _COLUMNAR if start.startswith(magic)), "")
    if columnar:
        return ColumnarFile(path, columnar)
    if start.startswith(MAGIC):
        return SheetFile(path, "xls", sheet)
    if start.startswith(b"PK") and (kind := _workbook_kind(path)):
        return SheetFile(path, kind, sheet)
    compression = compression_of(path)
    head = read_head(path, compression)
    text = decode_head(head[:_START_BYTES])[1]
    if looks_like_arff(text):
        return ArffFile(path, compression, head)
    table = TextFile(path, compression, head)
    kind = "" if table.is_libsvm else line_kind(text, complete=len(head) < _START_BYTES)
    if kind:
        return LineFile(path, compression, head, kind)
    if not table.is_libsvm:
        check_fixed_width(text, path.name)
    return table


def _workbook_kind(path: Path) -> str:
    """The kind xlsx, xlsb or ods; "" for another archive. Other Office documents are refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            if "[Content_Types].xml" in names or any(n.startswith("xl/") for n in names):
                if "xl/workbook.bin" in names:
                    return "xlsb"
                if any(name.startswith("xl/") for name in names):
                    return "xlsx"
                raise _other_document(path)
            if "content.xml" not in names or "mimetype" not in names:
                return ""
            kind = archive.open("mimetype").read(200).decode("ascii", "replace").strip()
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError, EOFError):
        return ""  # opening the archive raises the error
    if kind.removesuffix("-template") != _ODS:
        raise _other_document(path)
    return "ods"


def _other_document(path: Path) -> UnusableError:
    fault = "this is an Office document, but no spreadsheet"
    return UnusableError(fault, where=path.name, cure="save its table as a spreadsheet or CSV file")
