"""What a name's ending says of the file to write: its format and its compression."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from core.datasets.files.columnar_table import check_package
from core.datasets.files.line_table import ArffFile, LineFile
from core.datasets.files.spreadsheets.sheet_table import SheetFile
from core.datasets.files.table_file import TableFile, TextFile
from core.errors import UnusableError
from core.export.own_table.endings import COLUMNAR, LINES, OWN_ALONE, PACKED, SHEETS, TABS, TEXTS

_WRITABLE = ".csv, .tsv, .txt, .xlsx, .parquet or .feather"


@dataclass(frozen=True)
class OutputForm:
    """The format of a file to write."""

    kind: str  # text, lines, xlsx, ods, arff, parquet or feather
    ending: str = ".csv"
    compression: str = ""  # of a text: gzip, bz2 or xz

    @property
    def delimiter(self) -> str:
        """Between the cells of a new text."""
        return "\t" if self.ending in TABS else ","


def output_form(path: Path, file: TableFile | None) -> OutputForm:
    """The format that a name asks for, or UnusableError; `file`: the table, None without one."""
    ending = path.suffix.lower()
    compression = PACKED.get(ending, "")
    if compression:
        ending = path.with_suffix("").suffix.lower()
    kind = COLUMNAR.get(ending, "") or ("text" if ending in TEXTS else SHEETS.get(ending, ""))
    own_ending = file.path.suffix.lower() if file is not None else ""
    if ending in OWN_ALONE:
        kind = _kind_of(file) if ending == own_ending else ""
    elif isinstance(file, LineFile) and (ending == own_ending or ending in LINES):
        kind = "lines"
    elif not kind and ending == own_ending and isinstance(file, TextFile):
        kind = "text"  # whatever such files are called
    if not kind or (compression and kind not in ("text", "lines", "arff")):
        which = " of this table" if ending in OWN_ALONE else ""
        fault = f"no file that ends in {path.suffix.lower()} is written{which}"
        raise UnusableError(fault, where=str(path), cure=f"end the name in {_WRITABLE}")
    if kind in ("parquet", "feather"):
        check_package("pyarrow", path.name)
    return OutputForm(kind, ending, compression)


def _kind_of(file: TableFile | None) -> str:
    if isinstance(file, SheetFile):
        return file.kind if file.kind in SHEETS.values() else ""
    return "arff" if isinstance(file, ArffFile) else ""


def form_without_name(file: TableFile | None) -> OutputForm:
    """The format of a table that goes to standard output: a text."""
    if isinstance(file, LineFile):
        return OutputForm("lines")
    return OutputForm("text", file.path.suffix.lower() if isinstance(file, TextFile) else ".csv")


@contextmanager
def opened_text(path: Path, form: OutputForm) -> Iterator[IO[bytes]]:
    """A text file to write, compressed as its name says."""
    openers = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}
    if form.compression:
        with openers[form.compression](path, "wb") as packed:  # type: ignore[operator]
            yield cast(IO[bytes], packed)
        return
    with path.open("wb") as stream:
        yield stream
