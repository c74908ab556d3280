"""The grammar of ARFF files; exported scripts hold this source (needs numpy and pandas).

Source: Weka, https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import IO, Any

import numpy as np
import pandas as pd

_NUMBERS = ("numeric", "real", "integer")
_NAME = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s{]+"""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_NAME})\s*(.+)", re.IGNORECASE | re.DOTALL)
_QUOTED = {
    "'": re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL),
    '"': re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL),
}
_SPACE = re.compile(r"\s*")
_INDEX = re.compile(r"(\d+)\s+(?=[^\s,}])")
_LISTED = re.compile(r"[^,}]*")
_WEIGHT = re.compile(r"\{\s*([^\s{},]+)\s*\}\s*(?:%.*)?", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_JAVA_DATE = re.compile(r"'([^']*)'|([A-Za-z])\2*|.")
_DATES = {
    **{"y": "%Y", "M": "%m", "d": "%d", "H": "%H", "h": "%I", "m": "%M", "s": "%S", "S": "%f"},
    **{"a": "%p", "Z": "%z", "z": "%z", "X": "%z", "E": "%a"},
}
_SPECIAL = re.compile("['\"{}%]")
_MISSING = ("?", "")
_CHUNK = 20_000  # rows that are turned into columns at a time
_FIRST_ROWS = 500
_MAX_ATTRIBUTES = 200_000
_MAX_SPARSE_CELLS = 50_000_000  # of rows that leave most cells out


class ArffError(ValueError):
    """What is wrong in a line, and what to do."""

    def __init__(self, line: int, fault: str, cure: str) -> None:
        super().__init__(f"line {line}: {fault}; {cure}")
        self.line, self.fault, self.cure = line, fault, cure


@dataclass(frozen=True)
class ArffAttribute:
    """A column as the header declares it."""

    name: str
    kind: str  # number, text, nominal or date
    values: tuple[str, ...] = ()  # of a nominal one
    date_format: str = ""  # for pandas.to_datetime; "" where it is not known

    @property
    def absent(self) -> str:
        """The value that sparse rows leave out."""
        return {"number": "0", "nominal": (*self.values, "?")[0]}.get(self.kind, "?")


@dataclass
class ArffContent:
    """A file that was read."""

    attributes: list[ArffAttribute] = field(default_factory=list)
    table: pd.DataFrame = field(default_factory=pd.DataFrame)
    lines: list[int] = field(default_factory=list)  # of every row, from 1
    first_rows: list[list[str]] = field(default_factory=list)
    weighted: int = 0  # rows with a weight of their own
    strays: dict[str, Counter[str]] = field(default_factory=dict)  # no numbers, though declared


def read_arff(
    file: IO[bytes], encoding: str, text: Collection[str] = (), names: Sequence[str] = ()
) -> pd.DataFrame:
    """The table of an ARFF file without weights; `text` names columns of numbers read as texts."""
    with io.TextIOWrapper(file, encoding, "replace", newline="") as lines:
        return parse_arff(lines, text, names).table


def parse_arff(
    lines: Iterable[str], text: Collection[str] = (), names: Sequence[str] = ()
) -> ArffContent:
    """Everything that a file says, by one pass; raises ArffError with the line."""
    content, number = ArffContent(), 0
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        if _read_header_line(content, number, line.strip().removeprefix("\ufeff")):
            break
    else:
        raise ArffError(number + 1, "there is no @data", "add it")
    if not content.attributes:
        raise ArffError(number, "no attribute is declared", "add @attribute lines")
    if names:
        changed = zip(content.attributes, names, strict=True)
        content.attributes = [replace(attribute, name=name) for attribute, name in changed]
    _Rows(content, text).read(numbered)
    if not content.lines:
        raise ArffError(number, "there is no row below @data", "add rows")
    return content


def _read_header_line(content: ArffContent, number: int, line: str) -> bool:
    """True for the last line of the header, @data."""
    word = line.split(maxsplit=1)[0].lower() if line else "%"
    if word == "@data":
        return True
    if word == "@relation" or word.startswith("%"):
        return False
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        fault = f"“{line[:40]}” declares no attribute"
        raise ArffError(number, fault, "write @attribute NAME TYPE")
    name = match[1][1:-1] if match[1][0] in "'\"" else match[1]
    content.attributes.append(_declared(_unescaped(name).strip(), match[2].strip(), number))
    if len(content.attributes) > _MAX_ATTRIBUTES:
        raise ArffError(number, f"more than {_MAX_ATTRIBUTES:,} attributes", "declare fewer")
    return False


def _declared(name: str, declared: str, number: int) -> ArffAttribute:
    if declared.startswith("{"):
        listed, _ = _listed(declared, number)
        values = tuple(f"{word} {value}" if word else value for word, value in listed)
        return ArffAttribute(name, "nominal", values)
    word = re.split(r"[\s{%]", declared, maxsplit=1)[0].lower()
    if word in _NUMBERS:
        return ArffAttribute(name, "number")
    if word == "string":
        return ArffAttribute(name, "text")
    if word == "date":
        written = declared[len(word) :].strip() or "yyyy-MM-dd'T'HH:mm:ss"
        quoted = _QUOTED[written[0]].match(written) if written[0] in _QUOTED else None
        return ArffAttribute(name, "date", (), _strptime_format(quoted[1] if quoted else written))
    if word == "relational":
        fault = f"attribute “{name}” holds tables of its own (relational)"
        raise ArffError(number, fault, "leave it out, or save the table as CSV")
    fault = f"“{declared[:40]}” is no type of attribute"
    raise ArffError(number, fault, "use numeric, string, date, or {value, value, …}")


def _strptime_format(java: str) -> str:
    form = ""
    for match in _JAVA_DATE.finditer(java):
        letter, run = match[2], match[0]
        if letter is None:
            form += (match[1] or "'" if match[1] is not None else run).replace("%", "%%")
        elif letter == "M" and len(run) > 2:
            form += "%b" if len(run) == 3 else "%B"
        elif letter == "y" and len(run) == 2:
            form += "%y"
        elif letter in _DATES:
            form += _DATES[letter]
        else:
            return ""
    return form


class _Rows:
    def __init__(self, content: ArffContent, text: Collection[str]) -> None:
        self._content = content
        self._attributes = content.attributes
        self._width = len(content.attributes)
        self._absent = [attribute.absent for attribute in content.attributes]
        self._kinds = [
            "text" if a.kind == "number" and a.name in text else a.kind for a in self._attributes
        ]
        self._rows: list[list[str]] = []
        self._parts: list[list[Any]] = [[] for _ in content.attributes]
        self._sparse_rows = 0

    def read(self, numbered: Iterable[tuple[int, str]]) -> None:
        content, width = self._content, self._width
        for number, line in numbered:
            row = line.strip()
            if not row or row[0] == "%":
                continue
            if _SPECIAL.search(row) is None:
                cells = [cell.strip() for cell in row.split(",")]
                if len(cells) != width:
                    cells = self._fitting(cells, row.split(), number)
            elif row[0] == "{":
                cells = self._sparse_row(row, number)
            else:
                cells = self._quoted_row(row, number)
            content.lines.append(number)
            self._rows.append(cells)
            if len(self._rows) == _CHUNK:
                self._settle()
        self._settle()
        if not content.lines:
            return
        content.table = pd.DataFrame(
            {i: _joined(parts) for i, parts in enumerate(self._parts)}
        ).set_axis([attribute.name for attribute in self._attributes], axis=1)

    def _fitting(self, *ways: Any) -> list[str]:
        """The cells of a row, by commas or by blanks, whichever are as many as the attributes."""
        *choices, number = ways
        for cells in choices:
            if len(cells) == self._width + 1 and not cells[-1]:
                cells = cells[:-1]  # a comma at the end
            if len(cells) == self._width:
                return list(cells)
        count = len(choices[0])
        values = "1 value" if count == 1 else f"{count} values"
        fault = f"the row has {values} where {self._width} attributes are declared"
        raise ArffError(number, fault, "give a value for each, ? where nothing is known")

    def _quoted_row(self, row: str, number: int) -> list[str]:
        cells, has_weight = _split_row(row, number, ",")
        if len(cells) == self._width:
            self._content.weighted += has_weight
            return cells
        try:
            by_blanks, has_weight = _split_row(row, number, "")
        except ArffError:
            by_blanks = []
        self._content.weighted += has_weight
        return self._fitting(cells, by_blanks, number)

    def _sparse_row(self, row: str, number: int) -> list[str]:
        pairs, end = _listed(row, number)
        rest = row[end:].lstrip(", \t")
        if rest and not rest.startswith("%"):
            if not _is_weight(rest):
                fault = f"“{rest[:40]}” is no weight of a row"
                raise ArffError(number, fault, "write {NUMBER} behind the row, or nothing")
            self._content.weighted += 1
        self._sparse_rows += 1
        if self._sparse_rows * self._width > _MAX_SPARSE_CELLS:
            fault = f"written out, the sparse rows have more than {_MAX_SPARSE_CELLS:,} cells"
            raise ArffError(number, fault, "save the table in LIBSVM's format")
        cells, seen = list(self._absent), set()
        for digits, value in pairs:
            index = int(digits) if digits.isdecimal() and len(digits) < 8 else -1
            if not 0 <= index < self._width or index in seen:
                why = "stands twice" if index in seen else f"is none of 0 to {self._width - 1}"
                fault = f"the index “{digits or value[:20]}” {why}"
                raise ArffError(number, fault, "write {index value, index value, …}")
            seen.add(index)
            cells[index] = value
        return cells

    def _settle(self) -> None:
        if not self._rows:
            return
        content = self._content
        if not content.first_rows:
            content.first_rows = [list(row) for row in self._rows[:_FIRST_ROWS]]
        lines = content.lines[-len(self._rows) :]
        columns = zip(*self._rows, strict=True)
        for i, (attribute, cells) in enumerate(zip(self._attributes, columns, strict=True)):
            if self._kinds[i] == "number":
                part = _numbers(cells, content.strays.setdefault(attribute.name, Counter()))
            else:
                if self._kinds[i] == "nominal":
                    _check_values(attribute, cells, lines)
                part = _texts(cells, attribute.date_format if self._kinds[i] == "date" else "")
            self._parts[i].append(part)
        self._rows = []


def _split_row(row: str, number: int, sign: str) -> tuple[list[str], int]:
    """The cells of a row with quotes, and whether it has a weight; `sign` "" for blanks."""
    cells: list[str] = []
    plain = re.compile(r"[^,]*" if sign else r"[^,\s]*")
    position = 0
    while True:
        position = _SPACE.match(row, position).end()  # type: ignore[union-attr]
        first = row[position : position + 1]
        if first == "{" and cells and _is_weight(row[position:]):
            return cells, 1
        if first == "%" and cells:
            return cells, 0
        if first in _QUOTED and first:
            cell, position = _quoted(row, position, number)
            position = _SPACE.match(row, position).end()  # type: ignore[union-attr]
            follows = row[position : position + 1]
            if sign and follows and follows not in ",%{":
                raise ArffError(number, "text follows a quote that closes", "check the quotes")
        else:
            match = plain.match(row, position)
            assert match is not None
            cell, position = match[0], match.end()
            if comment := re.search(r"\s%", cell):
                cell, position = cell[: comment.start()], len(row)
            cell = cell.strip()
        cells.append(cell)
        position = _SPACE.match(row, position).end()  # type: ignore[union-attr]
        if position == len(row):
            return cells, 0
        if row[position] == ",":
            position += 1
            if position == len(row):
                return [*cells, ""], 0


def _listed(row: str, number: int) -> tuple[list[tuple[str, str]], int]:
    """The values in braces, each with the word before it (an index, or ""), and where they end."""
    items: list[tuple[str, str]] = []
    position = 1
    while True:
        position = _SPACE.match(row, position).end()  # type: ignore[union-attr]
        word = ""
        if match := _INDEX.match(row, position):
            word, position = match[1], match.end()
        if row[position : position + 1] in _QUOTED and position < len(row):
            value, position = _quoted(row, position, number)
        else:
            found = _LISTED.match(row, position)
            assert found is not None
            value, position = found[0].strip(), found.end()
        position = _SPACE.match(row, position).end()  # type: ignore[union-attr]
        follows = row[position : position + 1]
        if value or word or follows == ",":
            items.append((word, value))
        if follows == "}":
            return items, position + 1
        if follows != ",":
            raise ArffError(number, "a brace ({) opens here and is not closed", "close it")
        position += 1


def _quoted(row: str, position: int, number: int) -> tuple[str, int]:
    quote = row[position]
    match = _QUOTED[quote].match(row, position)
    if match is None:
        fault = f"a quote ({quote}) opens here and is not closed"
        raise ArffError(number, fault, "close it")
    return _unescaped(match[1]), match.end()


def _is_weight(text: str) -> bool:
    match = _WEIGHT.fullmatch(text)
    try:
        float(match[1] if match else "no number")
    except ValueError:
        return False
    return True


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def letter(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "u" and len(code) > 1:
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPED.get(code, code)

    return _ESCAPE.sub(letter, text)


def _numbers(cells: Sequence[str], strays: Counter[str]) -> np.ndarray:
    letters = "".join(cells)
    try:
        if "_" in letters:
            raise ValueError
        if not letters.translate(_NO_DIGITS):
            return np.array(cells, dtype=np.int64)
        return np.array(["nan" if cell in _MISSING else cell for cell in cells], dtype=float)
    except (ValueError, OverflowError):
        numbers = []
        for cell in cells:
            try:
                numbers.append(float("nan" if cell in _MISSING or "_" in cell else cell))
                is_stray = "_" in cell
            except ValueError:
                numbers.append(float("nan"))
                is_stray = True
            if is_stray:
                strays[cell] += 1
        return np.array(numbers, dtype=float)


_NO_DIGITS = str.maketrans("", "", "0123456789-+")


def _texts(cells: Sequence[str], date_format: str) -> Any:
    words = [None if cell in _MISSING else cell for cell in cells]
    column = pd.Series(words, dtype="str")
    if not date_format:
        return column
    different = column.drop_duplicates().dropna()
    is_zoned = "%z" in date_format
    dates = pd.to_datetime(different, format=date_format, errors="coerce", utc=is_zoned)
    written = {
        str(word): moment.isoformat().removesuffix("T00:00:00").replace("T", " ")
        for word, moment in zip(different, dates, strict=True)
        if not pd.isna(moment)
    }
    return column.map(lambda word: written.get(word, word), na_action="ignore").astype("str")


def _joined(parts: list[Any]) -> Any:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return pd.concat(parts, ignore_index=True)


def _check_values(attribute: ArffAttribute, cells: Sequence[str], lines: Sequence[int]) -> None:
    strange = set(cells).difference(attribute.values, _MISSING)
    if not strange:
        return
    row = next(i for i, cell in enumerate(cells) if cell in strange)
    some = ", ".join(chain(attribute.values[:5], repeat("…", len(attribute.values) > 5)))
    declared = f"none of the values that attribute “{attribute.name}” declares ({some})"
    fault = f"“{cells[row][:60]}” is {declared}"
    raise ArffError(lines[row], fault, "correct it, or add it to the declaration")
