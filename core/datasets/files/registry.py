"""The formats of tables, and the reader of a file: by its first bytes, not by its name."""

from __future__ import annotations

from core.datasets.files.addresses import split_sheet_address
from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.files.csv_table import TextFile
from core.datasets.files.file_bytes import check_path
from core.datasets.files.libsvm import LibsvmFile
from core.datasets.files.line_table import ArffFile, LineFile
from core.datasets.files.sheet_table import SheetFile
from core.datasets.files.table_reader import FileStart, TableReader

# In the order in which they are asked: whoever knows its files by a sign of theirs comes before
# those that know them by how the lines look, and delimited text, which anything may be, is last.
READERS: tuple[type[TableReader], ...] = (
    ColumnarFile,
    SheetFile,
    ArffFile,
    LibsvmFile,
    LineFile,
    TextFile,
)


def open_table(file: str) -> TableReader:
    """The reader of a file or sheet (book.xlsx#Sheet2)."""
    name, sheet = split_sheet_address(file)
    start = FileStart(check_path(name), sheet)
    readers = (each.recognize(start) for each in READERS)
    return next(reader for reader in readers if reader is not None)
