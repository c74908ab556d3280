"""Reads a CSV file by one repeatable call of pandas.read_csv, and explains errors."""

from __future__ import annotations

import csv
import io
import os
import re
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.cell_values import ColumnFormat, cell_number
from core.datasets.column_format import (
    MISSING,
    chosen_format,
    is_code,
    missing_text,
    number_formats,
)
from core.datasets.dataset import DataSource
from core.datasets.files import file_bytes
from core.datasets.files.delimited_rows import (
    ONE_COLUMN,
    CsvRows,
    Dialect,
    QuoteCheck,
    QuoteChoice,
    check_rows,
    has_fitting_quotes,
    is_missing,
    is_number,
    survey_file,
)
from core.datasets.files.file_bytes import (
    HEAD_BYTES,
    TextSource,
    check_fixed_width,
    control_line,
    file_faults,
    guarded_bytes,
)
from core.datasets.files.quotes import BACKSLASH, DOUBLED, ESCAPED, OUTER, UNQUOTED, doubled_lines
from core.datasets.files.row_sampling import RowFormat, count_labels, rows_of
from core.datasets.files.sniffing import names_fit, sniff_dialect, whole_file_choices
from core.datasets.files.table_reader import CountedRows, FileStart, TableReader, unique_names
from core.datasets.finding import ColumnReading, Finding
from core.datasets.raw_table import NO_CHOICES, DataOptions, RawTable
from core.datasets.understanding.target import target_column
from core.errors import UnusableError, write_error

_LARGE = 2**19  # bytes; below, inferring types gains nothing
_CHUNK_ROWS = 2**14
_PARSER_FAULTS = (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError)


class CsvParser(ExitStack):
    """Reads a file with pandas, repeatedly where types change; a thread surveys it meanwhile.

    `dialect` is in another encoding where the first bytes did not tell the right one; `findings`
    are those of the table that was parsed.
    """

    def __init__(self, source: TextSource, dialect: Dialect) -> None:
        super().__init__()
        self._source = source
        self.dialect = dialect
        self._plain = source.path  # what pandas reads
        self._survey: Future[QuoteCheck] | None = None
        self._is_checked = False
        self.findings: tuple[Finding, ...] = ()

    def parse_file(self, arguments: Mapping[str, Any]) -> pd.DataFrame:
        table = self.read_table(arguments)
        dialect, survey = self.dialect, self._surveyed()
        self._check_short_rows(table, survey)
        findings = [reading_finding(self._source, dialect)]
        # Where every line is one row, no text holds the end of a line.
        line_count = dialect.skip + bool(dialect.header) + len(table)
        if dialect.width > 1 and survey.count and survey.lines != line_count:
            findings.append(self._wide_cell_finding(table))
        self.findings = tuple(finding for finding in findings if finding is not None)
        if len(table) == 0:
            fault = "there is no row below the header"
            raise UnusableError(fault, where=self._source.path.name, cure="add rows")
        return table

    def read_table(self, arguments: Mapping[str, Any]) -> pd.DataFrame:
        """The table without a look at its rows."""
        name, dialect = self._source.path.name, self.dialect
        try:
            self._start_survey()
            # An open quote makes one cell of a whole file: of a large one it is known before pandas
            # tries.
            if self._plain.stat().st_size > 4 * file_bytes.LONGEST_LINE:
                self._check_quotes()
            is_own = self._plain == self._source.path or not _is_rewritten(dialect)
            encoding = dialect.encoding if is_own else "utf-8"
            try:
                table = _read_path(self._plain, {**arguments, "encoding": encoding})
            finally:  # what is wrong with the bytes is said first
                self._check_quotes()
        except UnicodeDecodeError:
            if dialect.is_wide:
                fault = "the file begins as UTF-16 and has letters that are none"
                cure = "save the table as CSV again, in UTF-8"
                raise UnusableError(fault, where=name, cure=cure) from None
            other = "latin-1" if dialect.encoding == "cp1252" else "cp1252"
            self.dialect = replace(dialect, encoding=other)
            return self.read_table(arguments)
        except _PARSER_FAULTS as error:
            check_rows(self._source, dialect)
            reason = str(error).removeprefix("Error tokenizing data. C error: ").strip().rstrip(".")
            fault, cure = f"the table cannot be read ({reason})", "check delimiters and quotes"
            raise UnusableError(fault, where=name, cure=cure) from None
        return table.reset_index(drop=True)

    def _start_survey(self) -> None:
        """Begin to survey the file, first written anew where pandas cannot read it by its path."""
        if self._survey is not None:
            return
        source, dialect = self._source, self.dialect
        if dialect.reading != DOUBLED:
            check_rows(source, dialect)
            self._is_checked = True
        # By its path pandas reads a file in C, without a copy of it in Python's memory.
        if source.compression or _is_rewritten(dialect):
            folder = Path(self.enter_context(tempfile.TemporaryDirectory(prefix="tunescope-")))
            self._plain = folder / "table.csv"
            _write_plain(source, dialect, self._plain)
        # pandas' parser and NumPy release Python's lock, so both go through the file at once.
        thread = self.enter_context(ThreadPoolExecutor(1))
        self._survey = thread.submit(survey_file, self._plain, source, dialect.quotes)

    def _surveyed(self) -> QuoteCheck:
        assert self._survey is not None
        return self._survey.result()

    def _check_quotes(self) -> None:
        if not self._surveyed().fits and not self._is_checked:
            check_rows(self._source, self.dialect)
        self._is_checked = True

    def _check_short_rows(self, table: pd.DataFrame, survey: QuoteCheck) -> None:
        dialect = self.dialect
        is_filled = dialect.width > 1 and dialect.extra != "empty"
        if not is_filled or not table.iloc[:, -1].isna().any():
            return
        if not _has_full_rows(self._plain, dialect):
            is_checked = dialect.reading == DOUBLED and survey.fits
            check_rows(self._source, dialect, QuoteChoice(is_checked=is_checked))

    def _wide_cell_finding(self, table: pd.DataFrame) -> Finding | None:
        """A remark on the first text all of whose lines are rows: was its quote never closed?"""
        dialect, name = self.dialect, self._source.path.name
        first = dialect.extra == "names"
        columns = enumerate((cells for _, cells in table.items()), first)
        texts = {i: cells for i, cells in columns if cells.dtype.kind not in "biufc"}
        if not any(
            _holds_rows(text, place, dialect)
            for place, cells in texts.items()
            for text in cells[cells.astype(str).str.contains("\n", regex=False)]
        ):
            return None
        with self._source.open_lines(dialect.encoding) as lines:
            for row in CsvRows(lines, dialect, QuoteChoice(is_checked=True)):
                cells = enumerate(row.cells) if row.end > row.begin else ()
                if any(_holds_rows(cell, i, dialect) for i, cell in cells):
                    return Finding(
                        f"In {name}, a text goes from line {row.begin:,} to {row.end:,}, and each"
                        " of these could be a row; if they are, close the quote in line"
                        f" {row.begin:,}."
                    )
        return None


def _holds_rows(text: str, position: int, dialect: Dialect) -> bool:
    # The first line of the cell ends a row, the last begins one, and those between are whole.
    counts = [line.count(dialect.delimiter) for line in text.splitlines()]
    last = dialect.width - 1
    return len(counts) > 2 and counts == [last - position, *[last] * (len(counts) - 2), position]


def reading_finding(source: TextSource, dialect: Dialect) -> Finding | None:
    """A remark on an unusual reading of quotes: where the usual one would fail."""
    if dialect.reading not in (OUTER, UNQUOTED):
        return None
    try:
        check_rows(source, replace(dialect, reading=DOUBLED))
    except UnusableError as fault:
        place = fault.where.split(", ")[-1]
        phrase = f"In {source.path.name}, {dialect.reading_phrase}"
        return Finding(f"{phrase}: {fault.what} ({place}).")
    return None


def _is_rewritten(dialect: Dialect) -> bool:
    return dialect.is_wide or dialect.reading == OUTER


def _write_plain(source: TextSource, dialect: Dialect, path: Path) -> None:
    """Write a file unpacked; where pandas asks for it in UTF-8 and with quotes doubled."""
    unpacked = guarded_bytes(source.path, source.compression, wide=dialect.is_wide)
    try:
        with unpacked, path.open("wb") as into:
            if not _is_rewritten(dialect):
                shutil.copyfileobj(unpacked, into, 2**20)
                return
            encoding = "utf-8-sig" if dialect.encoding == "utf-8" else dialect.encoding
            lines: Iterator[str] = io.TextIOWrapper(unpacked, encoding, newline="")
            if dialect.reading == OUTER:
                lines = doubled_lines(lines, dialect.quotes)
            into.writelines(line.encode() for line in lines)
    except OSError as error:
        raise write_error("the unpacked table", str(path), error) from None


def _has_full_rows(path: Path, dialect: Dialect) -> bool:
    """Whether no row can be short: outside of quotes are as few delimiters as can be."""
    if dialect.delimiter == " " or dialect.reading == ESCAPED:
        return False
    sign = b"" if dialect.reading == UNQUOTED else dialect.quote.encode()
    delimiter, is_inside, end = dialect.delimiter.encode(), False, 0
    delimiters = lines = 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(2**20):
            if not is_inside and (not sign or sign not in block):
                delimiters += block.count(delimiter)
                lines += block.count(b"\n")
            else:
                letters = np.frombuffer(block, np.uint8)
                parity = np.add.accumulate(letters == ord(sign), dtype=np.uint8) + is_inside
                outside = letters[parity % 2 == 0]
                is_inside = bool(parity[-1] % 2)
                delimiters += int(np.count_nonzero(outside == ord(delimiter)))
                lines += int(np.count_nonzero(outside == 10))
            end = block[-1]
    lines += end != 10
    return delimiters == lines * (dialect.width - 1) - (dialect.extra == "names")


def _read_path(path: Path, arguments: Mapping[str, Any]) -> pd.DataFrame:
    """A large file in chunks: in less time than by one call, and in the memory of its table."""
    # An empty mapping would be looked up for every column.
    options = {**arguments, "compression": None, "dtype": arguments["dtype"] or None}
    file = str(path.absolute())
    with warnings.catch_warnings(), file_faults(str(path)):
        warnings.simplefilter("error", pd.errors.ParserWarning)
        warnings.simplefilter("ignore", pd.errors.DtypeWarning)
        if os.path.getsize(path) >= _LARGE:
            # Asked for texts, pandas makes Python's objects first; left alone it makes its own
            # columns. Where these are no texts ("007" would be a number), it is asked.
            options_of_chunks = {**options, "dtype": None, "chunksize": _CHUNK_ROWS}
            with pd.read_csv(file, **options_of_chunks) as chunks:
                table = _joined_chunks(chunks, arguments["dtype"], _estimated_rows(path))
                if table is not None:
                    return table
        return pd.read_csv(file, **options)


def _estimated_rows(path: Path) -> int:
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES // 4)
    rows = len([*filter(bytes.strip, head.splitlines())])  # blank lines are none
    return int(1.1 * os.path.getsize(path) * rows / (1 + len(head)))


def _joined_chunks(
    chunks: Iterable[pd.DataFrame], texts: Collection[str], estimated_rows: int
) -> pd.DataFrame | None:
    """One table; None where columns are not of the same type in all chunks, or others than asked.

    Numbers go to where they stay; what is too long of it takes no memory, since nobody writes it.
    """
    numbers, pieces, names, end = dict[str, np.ndarray](), dict[str, list[Any]](), list[str](), 0
    for chunk in chunks:
        begin, end, names = end, end + len(chunk), [str(name) for name in chunk]
        for name, values in chunk.items():
            is_text = isinstance(values.dtype, pd.StringDtype)
            if is_text != (name in texts) or not (is_text or values.dtype.kind in "if"):
                return None
            if is_text:
                pieces.setdefault(str(name), []).append(values.array)
                continue
            cells = values.to_numpy()
            before = numbers.get(str(name), cells[:0])
            joined_type = np.result_type(before, cells)
            if end > len(before) or joined_type != before.dtype:
                size = max(end, estimated_rows, 2 * len(before))
                numbers[str(name)] = np.empty(size, joined_type)
                numbers[str(name)][:begin] = before[:begin]
            numbers[str(name)][begin:end] = cells
    joined_texts = {n: type(arrays[0])._concat_same_type(arrays) for n, arrays in pieces.items()}
    columns = {n: joined_texts[n] if n in texts else numbers[n][:end] for n in names}
    return pd.DataFrame(columns, copy=False)


_TEXT_BYTES = 60  # of a text beside its letters
_PACKED = 5.0  # assumed compression ratio
_GROUPED = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")


@dataclass(frozen=True)
class TextFile(TextSource, TableReader):
    """A delimited text."""

    @classmethod
    def recognize(cls, start: FileStart) -> TextFile | None:
        check_fixed_width(start.text, start.path.name)
        return cls(start.path, start.compression, start.head)

    @property
    def can_be_drawn(self) -> bool:
        # Rows are told in bytes, by the ends of lines: two-byte letters and Mac's ends are not.
        return not self.head.startswith((b"\xff\xfe", b"\xfe\xff")) and b"\n" in self.head

    def sniff(self, required_column: str = "", *choice: QuoteChoice) -> Dialect:
        """The dialect of the first bytes; a required column decides between delimiters."""
        return sniff_dialect(self.head, self.path.name, self.is_complete, required_column, *choice)

    def first_cells(self, required_column: str = "") -> Mapping[str, Sequence[str]]:
        return self.sniff(required_column).cells

    def dialect(self, required_column: str = "") -> Dialect:
        """The dialect under which the quotes fit in all of the file, else that of its beginning."""
        dialect = self.sniff(required_column)
        if self.is_complete or has_fitting_quotes(self, dialect):
            return dialect
        return self._other_dialect(required_column) or dialect

    def _other_dialect(self, required_column: str) -> Dialect | None:
        # Signs that the first megabyte lacks may come below it.
        for choice in whole_file_choices(self.head):
            with suppress(UnusableError):
                dialect = self.sniff(required_column, choice)
                check_rows(self, dialect, choice)
                if names_fit(dialect):
                    return dialect
        return None

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        # Where rows below the first bytes do not fit, other readings of quotes are tried.
        dialect = self.sniff(required_column)
        try:
            return self._table_as(dialect, kinds, missing)
        except UnusableError:
            # The fault is in the reading, not in the file, if another one fits all rows.
            other = self._other_dialect(required_column)
            if other is None and dialect.reading != DOUBLED:  # what fails first is easiest to mend
                check_rows(self, replace(dialect, reading=DOUBLED))
            if other is None or (other.quote, other.reading) == (dialect.quote, dialect.reading):
                raise
        return self._table_as(other, kinds, missing)

    def _table_as(
        self, dialect: Dialect, kinds: Mapping[str, str], missing: Sequence[str]
    ) -> RawTable:
        path, compression = self.path, self.compression
        arguments = _arguments(dialect, compression)
        arguments["dtype"] = text_columns(dialect, kinds)
        arguments["na_values"] = _missing_words(dialect, arguments["dtype"], missing)
        with CsvParser(self, dialect) as parser:
            table = parser.parse_file(arguments)
            # A column may begin with numbers and hold words below the head: then it is read once
            # more.
            if late := _late_words(table, dialect, arguments["dtype"]):
                worded = [name for name, words in late.items() if words and words <= set(missing)]
                arguments["dtype"] |= {name: "str" for name in late if name not in worded}
                arguments["na_values"] = _missing_words(
                    dialect, arguments["dtype"], missing, worded
                )
                del table
                table = parser.parse_file(arguments)
            readings = tuple(_missing_readings(parser, arguments, table))
            dialect = parser.dialect
        arguments["encoding"] = dialect.encoding
        if not arguments["dtype"]:
            del arguments["dtype"]
        described = ", ".join(filter(None, (dialect.description, compression)))
        source = DataSource(str(path), "csv", arguments, {}, "", described, compression)
        if dialect.reading == OUTER:
            source = replace(source, quotes=asdict(dialect.quotes))

        def line_of(row: int) -> int:
            with self.open_lines(dialect.encoding) as lines:
                rows = CsvRows(lines, dialect, QuoteChoice(is_checked=True))
                return next((r.begin for r in islice(rows, row + bool(dialect.header), None)), 0)

        units = dialect.units[dialect.extra == "names" :]
        return RawTable(
            path.name,
            table,
            source,
            line_of,
            (
                *unique_names(dialect.header, path.name)[1],
                *parser.findings,
                *self._control_finding(),
            ),
            readings,
            {name: unit for name, unit in zip(dialect.names, units, strict=False) if unit},
        )

    def row_format(self, target: str = "") -> RowFormat:
        """How the rows stand in the text; `target` is the requested target column."""
        dialect, place = self.dialect(target), None
        if dialect.delimiter != ONE_COLUMN:
            with suppress(UnusableError):  # raised again by reading
                place = dialect.names.index(target_column(dialect.names, target, self.path.name))
                place += dialect.extra == "names"
        return _row_format(dialect, place)

    def bytes_of_rows(self, choices: DataOptions = NO_CHOICES) -> float:
        head, dialect = self.head, self.sniff(choices.target)
        texts = text_columns(dialect, choices.kinds)
        form, rows = _row_format(dialect, None), head.count(b"\n")
        if form.quote in head:  # cells may hold ends of lines
            rows = sum(1 for _ in rows_of(io.BytesIO(head), form))
        rows = max(1, rows)
        head_bytes = 8.0 * dialect.width * rows
        if texts:
            head_bytes += _TEXT_BYTES * len(texts) * rows
            head_bytes += len(head) * len(texts) / max(1, dialect.width)
        return head_bytes * self.unpacked_size / len(head)

    @property
    def unpacked_size(self) -> float:
        """The bytes of all of it, where it is packed only roughly."""
        if len(self.head) < HEAD_BYTES:
            return float(len(self.head))
        return float(self.path.stat().st_size) * (_PACKED if self.compression else 1.0)

    def count_rows(self, target: str = "", *, labels: bool = True) -> CountedRows:
        form, zero_rows = self.row_format(target), list[bytes]()
        with self.open_unpacked() as source:
            rows = self._noted_rows(rows_of(source, form), zero_rows)
            counted = count_labels(rows, form) if labels else (sum(1 for _ in rows), None)
        return CountedRows(*counted, form, bool(zero_rows))

    def _noted_rows(self, rows: Iterator[bytes], zero_rows: list[bytes]) -> Iterator[bytes]:
        """The rows; the first one with an index 0 joins `zero_rows`, of LIBSVM lines."""
        return rows

    def open_unpacked(self) -> io.BufferedReader:
        return guarded_bytes(self.path, self.compression, wide=False)

    def _control_finding(self) -> Iterator[Finding]:
        if line := control_line(self.head):
            where = f"{self.path.name} holds control characters (first in line {line:,})"
            yield Finding(f"{where}; they stay in its texts.")


def _row_format(dialect: Dialect, place: int | None) -> RowFormat:
    return RowFormat(
        skip=dialect.skip,
        header=bool(dialect.header),
        delimiter=dialect.delimiter.encode("latin-1", "replace"),
        quote=dialect.quote.encode("latin-1", "replace"),
        place=place,
        reading=dialect.reading.encode(),
        padded=dialect.quotes.padded,
    )


def _arguments(dialect: Dialect, compression: str) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "sep": r"\s+" if dialect.delimiter == " " else dialect.delimiter,
        "encoding": dialect.encoding,
        "compression": compression or None,
        "na_values": [""],
        "keep_default_na": False,
    }
    if not dialect.header or dialect.trimmed or dialect.names != list(dialect.header):
        arguments["header"] = 0 if dialect.header else None
        arguments["names"] = dialect.names
    if dialect.extra != "names":
        arguments["index_col"] = False
    for key, value, usual in (
        ("decimal", dialect.decimal, "."),
        ("thousands", dialect.thousands, ""),
        ("quotechar", dialect.quote, '"'),
        ("quoting", csv.QUOTE_NONE if dialect.reading == UNQUOTED else 0, 0),
        ("escapechar", BACKSLASH if dialect.reading == ESCAPED else "", ""),
        ("skipinitialspace", dialect.padded, False),
        ("skiprows", dialect.skip, 0),
    ):
        if value != usual:
            arguments[key] = value
    return arguments


def _late_words(
    table: pd.DataFrame, dialect: Dialect, text: Collection[str]
) -> dict[str, set[str]]:
    words = {}
    for name, values in table.items():
        if name not in text and values.dtype.kind not in "iufc":
            cells = (cell for cell in values.unique() if isinstance(cell, (str, bool)))
            signs = dialect.decimal, dialect.thousands
            words[str(name)] = {str(c) for c in cells if not is_number(str(c), *signs)}
    return words


def _missing_words(
    dialect: Dialect, text: Collection[str], missing: Sequence[str], late: Sequence[str] = ()
) -> list[str] | dict[str, list[str]]:
    """What pandas takes for missing: "", and words in columns of numbers that have some."""
    worded = {name for name in (*dialect.words_for_nothing, *late) if name not in text}
    if not worded or len(missing) == 1:
        return [""]
    # Where rows alone end in a delimiter, pandas has a column more, called by its number, and
    # refuses to leave it out unless its "" is missing, too.
    spare = {str(len(dialect.names)): [""]} if dialect.extra == "empty" else {}
    return spare | {name: list(missing) if name in worded else [""] for name in dialect.names}


def _missing_readings(
    parser: CsvParser, arguments: Mapping[str, Any], table: pd.DataFrame
) -> Iterator[ColumnReading]:
    names = [n for n in parser.dialect.words_for_nothing if table[n].dtype.kind in "iuf"]
    if not names:
        return
    as_text: dict[str, Any] = {"dtype": dict.fromkeys(names, "str"), "na_values": [""]}
    # Where rows begin with names, pandas refuses a choice of columns beside given names.
    if parser.dialect.extra != "names":
        as_text["usecols"] = names
    texts = parser.read_table({**arguments, **as_text})
    for name in names:
        words = texts[name][table[name].isna()].dropna().str.strip()
        counts = Counter[str](words[words != ""])
        yield ColumnReading(name, missing_text(counts, list(counts)))


def text_columns(dialect: Dialect, kinds: Mapping[str, str]) -> dict[str, str]:
    """The columns to read as text: their first values are not all numbers, or are codes."""
    chosen = {n: "str" for n in dialect.names if kinds.get(n) in ("category", "date", "text")}
    return chosen | {
        name: "str"
        for name, cells in dialect.doubtful_cells.items()
        if name in dialect.word_columns or _is_read_otherwise(cells, dialect, kinds.get(name, ""))
    }


def _is_read_otherwise(cells: Sequence[str], dialect: Dialect, kind: str) -> bool:
    words = [cell.strip() for cell in cells if not is_missing(cell)]
    if kind != "number" and any(map(is_code, words)):
        return True
    marks = [word for word in words if "," in word or "." in word][:100]
    own = ColumnFormat("number", (), dialect.decimal, dialect.thousands)
    # A comma in a file with commas between columns is in quotes, and rarely a decimal sign.
    if not marks or (dialect.delimiter != ";" and not any("," in word for word in marks)):
        return False
    if own.decimal == "." and not all(_GROUPED.fullmatch(word) for word in marks):
        return False
    form = chosen_format(number_formats(marks), words, dialect.delimiter)
    return form is not None and any(cell_number(w, own) != cell_number(w, form) for w in marks)
