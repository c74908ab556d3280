"""Reads an ARFF file by one repeatable call of pandas.read_csv.

Below the header, which has names and types, it is a CSV file. Sparse rows, row weights and
relational attributes are refused.

Source: Weka, Attribute-Relation File Format,
https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from core.datasets.blocks import first_infinity
from core.datasets.dataset import DataSource
from core.datasets.files.csv_table import settle_types
from core.datasets.files.file_bytes import LONGEST_LINE, GuardedFile, fingerprint, open_bytes
from core.datasets.files.sniffing import decode_head
from core.datasets.finding import Finding
from core.datasets.raw_table import RawTable
from core.errors import UnusableError

MISSING = ("", "?")
_ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+)\s*(.+)""", re.IGNORECASE
)
_NUMBERS = ("numeric", "real", "integer")
_OPENING_QUOTE = re.compile(r"""(?:^|,)\s*(['"])""")
_MAX_ATTRIBUTES = 200_000


def looks_like_arff(text: str) -> bool:
    """Whether the first line that is no comment begins an ARFF file."""
    lines = (line.strip() for line in io.StringIO(text))
    first = next((line for line in lines if line and not line.startswith("%")), "")
    return re.match(r"@(relation|attribute)\b", first, re.IGNORECASE) is not None


@dataclass
class _Header:
    """The header, and which lines are no rows."""

    types: dict[str, str] = field(default_factory=dict)  # {attribute: type in lower case}
    lines: int = 0  # down to @data
    comments: list[int] = field(default_factory=list)  # line numbers below, from 0
    quote: str = '"'
    escapes: bool = False  # backslashes escape
    rows: list[list[str]] = field(default_factory=list)  # the first rows


@dataclass(frozen=True)
class ArffFile:
    """An ARFF file with its first bytes; `compression` as of `compression_of`."""

    path: Path
    compression: str
    head: bytes

    def first_cells(self, required_column: str = "") -> dict[str, list[str]]:
        """Every column's first values as text."""
        rows = self._parsed_header.rows
        return {name: [row[i] for row in rows] for i, name in enumerate(self._parsed_header.types)}

    def read(
        self, kinds: Mapping[str, str], missing: Sequence[str] = MISSING, required_column: str = ""
    ) -> RawTable:
        """The table; `missing` and `required_column` are unused, since the format defines both."""
        arguments = self._arguments(kinds)
        table = self._parse_table(arguments)
        strays: list[Finding] | None = settle_types(table, arguments, kinds, self.path.name)
        if strays is not None:
            table = self._parse_table(arguments)
        _refuse_infinity(table, self.path.name)
        if not arguments["dtype"]:
            del arguments["dtype"]
        shared = ("na_values", "keep_default_na", "dtype")
        source = DataSource(
            str(self.path),
            "arff",
            {
                "sep": ",",
                "encoding": "utf-8",
                "index_col": False,
                **{name: arguments[name] for name in shared if name in arguments},
            },
            {},
            fingerprint(self.path),
            ", ".join(["ARFF", *([self.compression] if self.compression else [])]),
            self.compression,
            reading=arguments,
        )
        return RawTable(self.path.name, table, source, self._line_of, tuple(strays or ()))

    @cached_property
    def _encoding(self) -> str:
        return decode_head(self.head)[0]

    @cached_property
    def _parsed_header(self) -> _Header:
        """The header, by a pass through the whole file that counts every row's cells."""
        header = _Header()
        with self._open_text() as lines:
            numbered = enumerate(lines)
            for number, line in numbered:
                if self._header_line(header, number, line.strip()):
                    header.lines = number + 1
                    break
            else:
                raise self._line_error("there is no @data", len(header.types) + 1, "add it")
            if not header.types:
                cure = "add @attribute lines"
                raise self._line_error("no attribute is declared", header.lines, cure)
            self._pass_rows(header, numbered)
        return header

    def _open_text(self) -> io.TextIOWrapper:
        raw = GuardedFile(open_bytes(self.path, self.compression), self.path.name, wide=True)
        encoding = "utf-8-sig" if self._encoding == "utf-8" else self._encoding
        return io.TextIOWrapper(io.BufferedReader(raw), encoding, "replace", newline="")

    def _header_line(self, header: _Header, number: int, line: str) -> bool:
        """Parse a line of the header; True for the last one, @data."""
        word = line.split(maxsplit=1)[0].lower() if line else "%"
        if word == "@data":
            return True
        if word in ("@relation", "%") or word.startswith("%"):
            return False
        match = _ATTRIBUTE.fullmatch(line)
        if match is None:
            raise self._line_error(
                f"“{line[:40]}” declares no attribute", number + 1, "write @attribute NAME TYPE"
            )
        name, kind = _unquoted(match[1]).strip(), match[2].strip().lower()
        if name in header.types:
            raise self._line_error(
                f"another attribute is called “{name}” too", number + 1, "give it another name"
            )
        if kind.startswith("relational"):
            raise self._line_error(
                f"attribute “{name}” holds tables of its own (relational)",
                number + 1,
                "leave it out, or save the table as CSV",
            )
        is_valid_type = kind.startswith(("{", "string", "date")) or kind in _NUMBERS
        if not is_valid_type or len(header.types) >= _MAX_ATTRIBUTES:
            raise self._line_error(
                f"“{kind[:40]}” is no type of attribute",
                number + 1,
                "use numeric, string, date, or {value, value, …}",
            )
        header.types[name] = kind
        return False

    def _pass_rows(self, header: _Header, numbered: Iterator[tuple[int, str]]) -> None:
        """Count the cells of every row; collect comments and quoting."""
        csv.field_size_limit(2 * LONGEST_LINE)
        width, quotes, rows = len(header.types), set(), 0
        for number, line in numbered:
            text = line.strip()
            if not text:
                continue
            if text.startswith("%"):
                header.comments.append(number)
                continue
            if text.startswith("{") or (text.endswith("}") and re.search(r",\s*\{[^,]*\}$", text)):
                raise self._line_error(
                    "sparse rows and weights of rows ({…}) are not read",
                    number + 1,
                    "save the table as CSV",
                )
            quotes.update(_OPENING_QUOTE.findall(text))
            header.escapes = header.escapes or "\\" in text
            if len(quotes) > 1:
                fault = "texts are in single and in double quotes"
                raise self._line_error(fault, number + 1, "use one of them")
            header.quote = next(iter(quotes), '"')
            cells = self._split_row(text, header, number)
            if len(cells) != width:
                values = f"{len(cells)} {'value' if len(cells) == 1 else 'values'}"
                raise self._line_error(
                    f"the row has {values} where {width} attributes are declared",
                    number + 1,
                    "give a value for each, ? where nothing is known",
                )
            rows += 1
            if len(header.rows) < 500:
                header.rows.append(["" if cell == "?" else cell for cell in cells])
        if not rows:
            raise self._line_error("there is no row below @data", header.lines, "add rows")

    def _split_row(self, text: str, header: _Header, number: int) -> list[str]:
        csv_options: dict[str, Any] = {"quotechar": header.quote, "skipinitialspace": True}
        if header.escapes:
            csv_options["escapechar"] = "\\"
        if text.count(header.quote) % 2 and not header.escapes:
            raise self._line_error(
                f"a quote ({header.quote}) opens here and is not closed", number + 1, "close it"
            )
        try:
            return next(csv.reader([text], strict=True, **csv_options), [])
        except csv.Error as error:
            raise self._line_error(
                f"the row cannot be read ({error})", number + 1, "check commas and quotes"
            ) from None

    def _arguments(self, kinds: Mapping[str, str]) -> dict[str, Any]:
        header = self._parsed_header
        words = ("category", "date", "text")
        text = [
            name
            for name, kind in header.types.items()
            if kinds.get(name) in words or (kind not in _NUMBERS and kinds.get(name) != "number")
        ]
        skipped = [*range(header.lines), *header.comments] if header.comments else header.lines
        arguments: dict[str, Any] = {
            "header": None,
            "names": list(header.types),
            "skiprows": skipped,
            "encoding": self._encoding,
            "compression": self.compression or None,
            "index_col": False,
            "skipinitialspace": True,
            "na_values": list(MISSING),
            "keep_default_na": False,
            "dtype": dict.fromkeys(text, "str"),
        }
        if header.quote != '"':
            arguments["quotechar"] = header.quote
        if header.escapes:
            arguments["escapechar"] = "\\"
        return arguments

    def _parse_table(self, arguments: Mapping[str, Any]) -> pd.DataFrame:
        wide = self._encoding.startswith("utf-16")
        raw = GuardedFile(open_bytes(self.path, self.compression), self.path.name, wide=wide)
        try:
            with io.BufferedReader(raw, 2**18) as file:
                table = pd.read_csv(file, **{**arguments, "compression": None}, low_memory=False)
        except UnicodeDecodeError:
            raise UnusableError(
                f"a letter is none of {self._encoding}",
                where=self.path.name,
                cure="save the file in UTF-8",
            ) from None
        except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            if raw.fault is not None:
                raise raw.fault from None
            reason = str(error).strip().rstrip(".")
            raise self._line_error(
                f"the rows cannot be read ({reason})",
                self._parsed_header.lines,
                "check commas and quotes",
            ) from None
        return table

    def _line_of(self, row: int) -> int:
        with self._open_text() as lines:
            skip = self._parsed_header.lines
            rows = (
                number
                for number, line in islice(enumerate(lines, 1), skip, None)
                if line.strip() and not line.lstrip().startswith("%")
            )
            return next(islice(rows, row, None), 0)

    def _line_error(self, fault: str, line: int, cure: str) -> UnusableError:
        return UnusableError(fault, where=f"{self.path.name}, line {line}", cure=cure)


def _unquoted(word: str) -> str:
    if word[:1] in ("'", '"'):
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    return word


def _refuse_infinity(table: pd.DataFrame, name: str) -> None:
    if cell := first_infinity(table):
        column, row = cell
        where = f"{name}, row {row + 1} of the data, column {column}"
        raise UnusableError("the value is infinite", where=where, cure="give a finite number, or ?")
