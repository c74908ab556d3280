"""The grammar of ARFF files; exported scripts hold this source (needs numpy and pandas).

Source: Weka, https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, Any

import numpy as np
import pandas as pd

_KINDS = {"numeric": "number", "real": "number", "integer": "number", "string": "text"}
_STRING = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_STRING}|[^\s{{]+)\s*(.+)", re.IGNORECASE | re.DOTALL)
_QUOTED = re.compile(_STRING, re.DOTALL)
_OVER = re.compile(r"\s*(?=\Z|[%{])")  # a row, unless the brace is none of a weight
# A value in a row by commas or by blanks (" %" begins a comment), and in braces, with its index.
_VALUES = {
    sign: re.compile(rf"(?>\s*{index})({_STRING}|(?!['\"]){letters})\s*", re.DOTALL)
    for sign, index, letters in (
        (",", "()", r"(?:[^,%]|(?<=\S)%)*"),
        (" ", "()", r"(?:[^,\s%]|(?<=\S)%)*"),
        ("}", r"(?:(\d+)\s+(?=[^\s,}]))?", r"[^,}]*"),
    )
}
_WEIGHT = re.compile(r"\{\s*([^\s{},]+)\s*\}\s*(?:%.*)?", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_JAVA_DATE = re.compile(r"'([^']*)'|([A-Za-z])\2*|.")
_DATES = {
    **{"y": "%Y", "M": "%m", "d": "%d", "H": "%H", "h": "%I", "m": "%M", "s": "%S", "S": "%f"},
    **{"a": "%p", "Z": "%z", "z": "%z", "X": "%z", "E": "%a"},
    **{"yy": "%y", "MMM": "%b", "MMMM": "%B"},
}
_SPECIAL = re.compile("['\"{}%]")
_NO_DIGITS = str.maketrans("", "", "0123456789-+")
_MISSING = ("?", "")
_CHUNK = 20_000  # rows that are turned into columns at a time
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
    rows, parts = _rows_of(content, numbered), list[pd.DataFrame]()
    while chunk := list(islice(rows, _CHUNK)):
        parts.append(_columns(content, chunk, text))
    if not parts:
        raise ArffError(number, "there is no row below @data", "add rows")
    declared = [attribute.name for attribute in content.attributes]
    content.table = pd.concat(parts, ignore_index=True).set_axis(declared, axis=1)
    return content


def _read_header_line(content: ArffContent, number: int, line: str) -> bool:
    word = line.split(maxsplit=1)[0].lower() if line else "%"
    if word == "@data" or word == "@relation" or word.startswith("%"):
        return word == "@data"
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        fault = f"“{line[:40]}” declares no attribute"
        raise ArffError(number, fault, "write @attribute NAME TYPE")
    content.attributes.append(_declared(_unquoted(match[1]).strip(), match[2].strip(), number))
    if len(content.attributes) > _MAX_ATTRIBUTES:
        raise ArffError(number, f"more than {_MAX_ATTRIBUTES:,} attributes", "declare fewer")
    return False


def _declared(name: str, declared: str, number: int) -> ArffAttribute:
    if declared.startswith("{"):
        listed, _ = _split(declared, number, "}")
        values = tuple(f"{word} {value}" if word else value for word, value in listed)
        return ArffAttribute(name, "nominal", values)
    word = re.split(r"[\s{%\[]", declared, maxsplit=1)[0].lower()
    if word in _KINDS:
        return ArffAttribute(name, _KINDS[word])
    if word == "date":
        written = declared[len(word) :].strip() or "yyyy-MM-dd'T'HH:mm:ss"
        quoted = _QUOTED.match(written)
        form = _strptime_format(quoted[0][1:-1] if quoted else written)
        return ArffAttribute(name, "date", (), form)
    fault = f"“{declared[:40]}” is no type of attribute"
    cure = "use numeric, string, date, or {value, value, …}"
    if word == "relational":
        fault = f"attribute “{name}” holds tables of its own (relational)"
        cure = "leave it out, or save the table as CSV"
    raise ArffError(number, fault, cure)


def _strptime_format(java: str) -> str:
    form = ""
    for match in _JAVA_DATE.finditer(java):
        literal, letter, run = match[1], match[2], match[0]
        if letter is None:
            form += (run if literal is None else literal or "'").replace("%", "%%")
        elif (part := _DATES.get(run, _DATES.get(letter, ""))) and part not in form:
            form += part
        else:  # unknown, or twice, of which pandas makes no pattern
            return ""
    return form


def _rows_of(content: ArffContent, numbered: Iterable[tuple[int, str]]) -> Iterator[list[str]]:
    absent, n_sparse = [attribute.absent for attribute in content.attributes], 0
    for number, line in numbered:
        row = line.strip()
        if not row or row[0] == "%":
            continue
        cells = [] if _SPECIAL.search(row) else [cell.strip() for cell in row.split(",")]
        if len(cells) != len(absent):
            is_sparse = row[0] == "{"
            n_sparse += is_sparse
            if n_sparse * len(absent) > _MAX_SPARSE_CELLS:
                fault = f"written out, the sparse rows have more than {_MAX_SPARSE_CELLS:,} cells"
                raise ArffError(number, fault, "save the table in LIBSVM's format")
            split = _sparse_cells if is_sparse else _dense_cells
            cells, is_weighted = split(row, number, absent)
            content.weighted += is_weighted
        content.lines.append(number)
        yield cells


def _dense_cells(row: str, number: int, absent: Sequence[str]) -> tuple[list[str], bool]:
    """A row's cells by commas or by blanks, whichever are as many; whether it has a weight."""
    count, width = 0, len(absent)
    for sign in (",", " "):
        try:
            items, end = _split(row, number, sign)
        except ArffError:
            if sign == ",":
                raise
            continue
        cells = [cell for _, cell in items]
        if len(cells) == width + 1 and not cells[-1]:
            cells = cells[:-1]  # a comma at the end
        if len(cells) == width:
            return cells, row[end : end + 1] == "{"
        count = count or len(cells)
    values = "1 value" if count == 1 else f"{count} values"
    fault = f"the row has {values} where {width} attributes are declared"
    raise ArffError(number, fault, "give a value for each, ? where nothing is known")


def _sparse_cells(row: str, number: int, absent: Sequence[str]) -> tuple[list[str], bool]:
    pairs, end = _split(row, number, "}")
    rest = row[end:].lstrip(", \t")
    is_weighted = bool(rest) and not rest.startswith("%")
    if is_weighted and not _is_weight(rest):
        fault = f"“{rest[:40]}” is no weight of a row"
        raise ArffError(number, fault, "write {NUMBER} behind the row, or nothing")
    cells, seen = list(absent), set()
    for digits, value in pairs:
        index = int(digits) if digits.isdecimal() and len(digits) < 8 else -1
        if not 0 <= index < len(cells) or index in seen:
            why = "stands twice" if index in seen else f"is none of 0 to {len(cells) - 1}"
            fault = f"the index “{digits or value[:20]}” {why}"
            raise ArffError(number, fault, "write {index value, index value, …}")
        seen.add(index)
        cells[index] = value
    return cells, is_weighted


def _columns(
    content: ArffContent, rows: Sequence[Sequence[str]], text: Collection[str]
) -> pd.DataFrame:
    columns: dict[int, Any] = {}
    for i, cells in enumerate(zip(*rows, strict=True)):
        attribute = content.attributes[i]
        if attribute.kind == "number" and attribute.name not in text:
            columns[i] = _numbers(cells, content.strays.setdefault(attribute.name, Counter()))
            continue
        if attribute.kind == "nominal":
            _check_values(attribute, cells, content.lines[-len(cells) :])
        columns[i] = _texts(cells, attribute.date_format)
    return pd.DataFrame(columns)


def _split(row: str, number: int, sign: str) -> tuple[list[tuple[str, str]], int]:
    """The values by a sign of `_PLAIN`, each with the index before it, or ""; where they end."""
    items: list[tuple[str, str]] = []
    position = in_braces = int(sign == "}")
    while True:
        if items and not in_braces and (end := _place_of_end(row, position)) >= 0:
            return items, end
        match = _VALUES[sign].match(row, position)
        if match is None:
            quote = next(letter for letter in row[position:] if letter in "'\"")
            raise ArffError(number, f"a quote ({quote}) opens here and is not closed", "close it")
        word, value, position = match[1] or "", _unquoted(match[2].strip()), match.end()
        follows = row[position : position + 1]
        if value or word or follows == "," or not in_braces:
            items.append((word, value))
        if follows == ",":
            position += 1
        elif in_braces and follows == "}":
            return items, position + 1
        elif in_braces:
            raise ArffError(number, "a brace ({) opens here and is not closed", "close it")
        elif sign == "," and _place_of_end(row, position) < 0:
            raise ArffError(number, "text follows a quote that closes", "check the quotes")


def _place_of_end(row: str, position: int) -> int:
    """Where a row ends behind blanks, or its comment or weight begins; -1 where a value follows."""
    match = _OVER.match(row, position)
    if match is None or (row.startswith("{", match.end()) and not _is_weight(row, match.end())):
        return -1
    return match.end()


def _is_weight(row: str, position: int = 0) -> bool:
    match = _WEIGHT.fullmatch(row, position)
    try:
        float(match[1] if match else "no number")
    except ValueError:
        return False
    return True


def _unquoted(text: str) -> str:
    """What a text in quotes says; another as it is."""
    if text[:1] not in ("'", '"'):
        return text

    def letter(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] == "u" and len(code) > 1:
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPED.get(code, code)

    return _ESCAPE.sub(letter, text[1:-1])


def _numbers(cells: Sequence[str], strays: Counter[str]) -> np.ndarray:
    letters = "".join(cells)
    with suppress(ValueError, OverflowError):
        if not letters.translate(_NO_DIGITS):
            return np.array(cells, dtype=np.int64)
        if "_" not in letters:
            return np.array(["nan" if cell in _MISSING else cell for cell in cells], dtype=float)
    numbers = np.full(len(cells), np.nan)
    for i, cell in enumerate(cells):
        try:
            numbers[i] = float(cell if "_" not in cell else "no number")
        except ValueError:
            if cell not in _MISSING:
                strays[cell] += 1
    return numbers


def _texts(cells: Sequence[str], date_format: str) -> pd.Series:
    column = pd.Series([None if cell in _MISSING else cell for cell in cells], dtype="str")
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


def _check_values(attribute: ArffAttribute, cells: Sequence[str], lines: Sequence[int]) -> None:
    if not (strange := set(cells).difference(attribute.values, _MISSING)):
        return
    row = next(i for i, cell in enumerate(cells) if cell in strange)
    some = ", ".join([*attribute.values[:5], *["…"][: len(attribute.values) > 5]])
    declared = f"none of the values that attribute “{attribute.name}” declares ({some})"
    fault = f"“{cells[row][:60]}” is {declared}"
    raise ArffError(lines[row], fault, "correct it, or add it to the declaration")
