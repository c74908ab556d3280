"""A text as it was given, byte by byte, answers behind its rows: delimited, ARFF, CoNLL, FASTA.

https://waikato.github.io/weka-wiki/formats_and_processing/arff_stable/
"""

import codecs
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import IO, cast

import pandas as pd

from core.datasets.files import row_sampling
from core.datasets.files.conll import with_labels
from core.datasets.files.csv_table import TextFile
from core.datasets.files.delimited_rows import ONE_COLUMN, Dialect
from core.datasets.files.dot_brackets import dot_bracket_text
from core.datasets.files.file_bytes import GuardedFile, decode_head, open_bytes
from core.datasets.files.line_table import ArffFile, LineFile
from core.datasets.files.quotes import (
    BACKSLASH,
    DOUBLED,
    ESCAPED,
    OUTER,
    UNQUOTED,
    Quotes,
    csv_reader,
)
from core.datasets.files.sniffing import sniff_dialect
from core.export.destination import TABS, OutputForm
from core.export.own_table.answer_rows import (
    Answers,
    Cell,
    OwnTable,
    ReadTable,
    answer_text,
    check_row_count,
    plain_cells,
)
from core.export.own_table.row_order import TextLine, write_lines
from core.export.spreadsheet_cells import is_formula

_WIDE = "utf-16"
_MAX_TEXTS = 1000  # answers whose bytes are kept
_USUAL_SIGNS = b",;\t| "
_SIGNS = (",", ";", "\t", "|")  # what may divide the answers from a table of one column


class TextLines:
    """The lines of a text with their ends: in its own encoding, UTF-16 as UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str, line_end: str) -> None:
        self._decoded: io.TextIOWrapper | None = None
        self._stream = stream
        self._codec = "utf-8" if encoding.startswith(_WIDE) else "latin-1"
        if encoding.startswith(_WIDE) or line_end == "\r":
            # Binary files end lines at LF alone; Latin-1 gives every byte back as it was.
            source = encoding if encoding.startswith(_WIDE) else "latin-1"
            self._decoded = io.TextIOWrapper(stream, source, newline=line_end)

    def readline(self) -> bytes:
        """The next line; empty at the end."""
        if self._decoded is None:
            return self._stream.readline()
        return self._decoded.readline().encode(self._codec)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")


@dataclass(frozen=True)
class TextTable(OwnTable):
    """The table of a delimited text."""

    is_text = True

    file: TextFile
    dialect: Dialect
    form: row_sampling.RowFormat

    @property
    def has_header(self) -> bool:
        return bool(self.dialect.header)

    @cached_property
    def names(self) -> list[str]:
        """The columns' names as they are read; "" for names of rows, which have no header."""
        row_names = [""] if self.dialect.extra == "names" else []
        return [*row_names, *self.dialect.names]

    @property
    def delimiter(self) -> str:
        return self.dialect.delimiter

    def rows(self) -> Iterator[list[Cell]]:
        """The cells of every row, as texts as they stand there."""
        with text_lines(self.file, self.dialect.encoding) as lines:
            row_sampling.preamble(lines, self.form)
            for number, record in enumerate(row_sampling.records(lines, self.form)):
                # The mark of the encoding stands before the first cell, which it is no part of.
                bare = record.removeprefix(codecs.BOM_UTF8) if number == 0 else record
                yield list(self.split_record(bare))

    def split_record(self, record: bytes) -> list[str]:
        text = record.decode(self.codec, "surrogateescape").rstrip("\r\n")
        dialect = self.dialect
        if dialect.delimiter == ONE_COLUMN and not text.startswith(dialect.quote or "\0"):
            return [text]
        is_blank = dialect.delimiter == " "
        lines = io.StringIO(text.strip() if is_blank else text, newline="")
        cells: list[str] = next(csv_reader(lines, self.dialect.quotes), [])
        width = len(self.names)
        return cells[:width] + [""] * (width - len(cells))

    @cached_property
    def codec(self) -> str:
        return "utf-8" if self.dialect.encoding.startswith(_WIDE) else self.dialect.encoding

    def can_stay(self, form: OutputForm, answers: Answers) -> bool:
        """Whether the delimiter may stay: a name in .tsv means tabs, and one in .csv does not."""
        if form.ending in TABS:
            return self.delimiter == "\t"
        was_tabs = self.file.path.suffix.lower() in TABS
        return not (form.ending == ".csv" and was_tabs and self.delimiter == "\t")

    def write_answered(self, into: IO[bytes], answers: Answers) -> list[str]:
        encoding = self.dialect.encoding
        write = line_writer(into, encoding, self.file.head)
        text, end = _AnsweredText(self, answers), line_end(self.file.head, encoding).encode()
        with text_lines(self.file, encoding) as lines:
            write_lines(text.lines(lines), answers, write, end)
        return text.sentences()


def text_table_of(file: TextFile, column: str = "") -> TextTable:
    """The table of a delimited text; `column` is one that the model needs."""
    dialect = sniff_dialect(file.head, file.path.name, file.is_complete, column)
    return TextTable(file, dialect, file.row_format(column))


@contextmanager
def text_lines(file: TextFile | ArffFile, encoding: str) -> Iterator[IO[bytes]]:
    """The lines of a file."""
    is_wide = encoding.startswith(_WIDE)
    inner = open_bytes(file.path, file.compression)
    with io.BufferedReader(GuardedFile(inner, file.path.name, wide=is_wide), 2**18) as stream:
        lines = TextLines(stream, encoding, line_end(file.head, encoding)[-1:])
        yield cast(IO[bytes], lines)  # of which lines alone are read


def line_end(head: bytes, encoding: str) -> str:
    """How lines end: as the first one does."""
    if encoding.startswith(_WIDE):
        head = head[: len(head) // 2 * 2].decode(_WIDE, "replace").encode()
    # The head may end within a letter of two bytes, which is cut off above.
    match = re.search(rb"\r\n|\n|\r", head)
    return match.group().decode() if match else "\n"


def line_writer(into: IO[bytes], encoding: str, head: bytes) -> Callable[[bytes], object]:
    """Writes lines of `TextLines` as they stood in their file."""
    if not encoding.startswith(_WIDE):
        return into.write
    is_little = head.startswith(codecs.BOM_UTF16_LE)
    into.write(codecs.BOM_UTF16_LE if is_little else codecs.BOM_UTF16_BE)
    letters = "utf-16-le" if is_little else "utf-16-be"
    return lambda line: into.write(line.decode().encode(letters))


@dataclass
class _AnsweredText:
    table: TextTable
    answers: Answers
    formulas: int = 0  # cells that a spreadsheet would calculate
    replaced: set[str] = field(default_factory=set)  # with letters that the encoding lacks

    def __post_init__(self) -> None:
        dialect = self.table.dialect
        self.names = self.answers.names_beside(self.table.names)
        sign = dialect.delimiter if dialect.delimiter != ONE_COLUMN else _free_sign(self.table)
        self._sign = sign.encode()
        self._quotes = replace(dialect.quotes, delimiter=sign)
        self._formula = _formula_pattern(self.table)
        quote = re.escape(dialect.quote.encode())
        is_doubled = bool(quote) and dialect.reading == DOUBLED
        # Signs within quotes divide nothing; other ways of quoting are split in full.
        self._in_quotes = re.compile(quote + b"[^%b]*" % quote + quote) if is_doubled else None
        # Of answers that occur again and again: their bytes, and whether they are formulas.
        self._encoded_texts: dict[str, tuple[bytes, bool]] = {}

    def lines(self, lines: IO[bytes]) -> Iterator[TextLine]:
        table, rows, row_count = self.table, self.answers.rows(self._encoded_rows), 0
        names = self.names
        preamble = row_sampling.preamble(lines, table.form)
        has_units = bool(table.dialect.units)
        for number, line in enumerate(preamble):
            to_last = len(preamble) - 1 - number
            if table.has_header and to_last <= has_units:
                cells = names if to_last == has_units else [""] * len(names)
                answer = self._sign.join(map(self._encoded, cells))
                line = self._with_cells(self._without_formulas(line), answer, is_header=True)
            yield line, False
        for line in row_sampling.logical_lines(lines, table.form):
            if not row_sampling.is_row(line, table.form):
                yield line, False
                continue
            row = next(rows, None)
            # Prediction was stopped: the rows below have no answers.
            if row is None and not self.answers.is_whole:
                break
            row_count += 1  # where there are too many as well, to say so
            if row is not None:
                yield self._with_cells(self._without_formulas(line), row), True
        check_row_count(self.answers, row_count, table.file.path.name)

    def sentences(self) -> list[str]:
        sentences = [formulas_sentence(self.formulas)] if self.formulas else []
        if not self.table.has_header:
            names_text = ", ".join(self.names)
            sentences.append(f"The file has no header; behind its columns stand: {names_text}.")
        if self.replaced:
            words = ", ".join(f"“{text[:40]}”" for text in sorted(self.replaced)[:3])
            sentences.append(
                f"The file's encoding, {self.table.dialect.encoding}, lacks letters of {words}"
                f"{' and others' if len(self.replaced) > 3 else ''}, where ? stands for them; a "
                "name that ends in .xlsx keeps them."
            )
        return sentences

    def _with_cells(self, line: bytes, cells: bytes, *, is_header: bool = False) -> bytes:
        body, sign, dialect = line.rstrip(b"\r\n"), self._sign, self.table.dialect
        end = line[len(body) :]
        if dialect.delimiter in (" ", ONE_COLUMN):
            return body + sign + cells + end
        if dialect.extra == "empty" and not is_header:  # the row's last cell is empty already
            return body + (b"" if body.endswith(sign) else sign) + cells + end
        width = len(self.table.names) - (dialect.extra == "names" and is_header)
        return body + sign * max(1, width - self._cell_count(body) + 1) + cells + end

    def _cell_count(self, body: bytes) -> int:
        form = self.table.form
        if self._in_quotes is None and form.is_telling(body):
            return len(row_sampling.split_cells(body, form))
        plain = body if self._in_quotes is None else self._in_quotes.sub(b"", body)
        return plain.count(self._sign) + 1

    def _encoded_rows(self, table: pd.DataFrame) -> Iterator[bytes]:
        columns = (self._encoded_column(plain_cells(table[name])) for name in table)
        return map(self._sign.join, zip(*columns, strict=True))

    def _encoded_column(self, cells: list[Cell]) -> list[bytes]:
        is_usual = self.table.dialect.decimal == "." and self._sign in _USUAL_SIGNS
        if is_usual and set(map(type, cells)) in ({float}, {int}):  # none of which needs quotes
            return "\n".join(map(repr, cells)).encode().split(b"\n")
        return list(map(self._encoded, cells))

    def _encoded(self, cell: Cell) -> bytes:
        if not isinstance(cell, str):
            text = answer_text(cell, self.table.dialect.decimal)
            return quoted(text, self._quotes).encode(self.table.codec)
        pair = self._encoded_texts.get(cell)
        if pair is None:
            is_risky = is_formula(cell)
            pair = (
                self._in_its_letters(quoted(f"'{cell}" if is_risky else cell, self._quotes)),
                is_risky,
            )
            if len(self._encoded_texts) < _MAX_TEXTS:
                self._encoded_texts[cell] = pair
        self.formulas += pair[1]
        return pair[0]

    def _in_its_letters(self, text: str) -> bytes:
        codec = self.table.codec
        try:
            return text.encode(codec)
        except UnicodeEncodeError:
            plain = text.translate(_PLAIN_SIGNS)
            data = plain.encode(codec, "replace")
            # Typographic signs have a plain form; only letters that became “?” are told.
            if data.count(b"?") > plain.count("?"):
                self.replaced.add(text)
            return data

    def _without_formulas(self, line: bytes) -> bytes:
        table = self.table
        # Most lines hold no formula: the search spares splitting them.
        if not self._formula.search(line):
            return line
        cells = table.split_record(line)
        safe_cells, formulas = _escaped_formulas(cells)
        if not formulas:
            return line
        self.formulas += formulas
        body = line.rstrip(b"\r\n")
        text = table.delimiter.join(quoted(cell, table.dialect.quotes) for cell in safe_cells)
        return text.encode(table.codec, "surrogateescape") + line[len(body) :]


_PLAIN_SIGNS = str.maketrans({"“": '"', "”": '"', "…": "...", "–": "-", "’": "'"})


def formulas_sentence(count: int) -> str:
    """The sentence on cells that a spreadsheet would calculate."""
    if count == 1:
        return (
            "1 cell begins like a formula and is written as text, so that no spreadsheet runs it."
        )
    words = "cells begin like formulas and are written as text, so that no spreadsheet runs them."
    return f"{count:,} {words}"


def _formula_pattern(table: TextTable) -> re.Pattern[bytes]:
    sign, quote = (re.escape(word.encode()) for word in (table.delimiter, table.dialect.quote))
    ends = rb"|".join(filter(None, (quote, sign, rb"[\r\n]", rb"$")))
    number = rb"[+\-]?[\d.,]*\d(?:[eE][+-]?\d+)?[ ]*(?:%s)" % ends
    starts = rb"[=@+\-\r\n]|\xe2\x88\x92|\xef\xbc\x9d" + (b"" if sign == b"\\\t" else rb"|\t")
    starts += rb"|%s\t" % quote if quote else b""
    opening = rb"(?:%s)?" % quote if quote else b""
    # Hardly any cell begins so, which is asked for before whether it is a number.
    pattern = rb"(?:^|%s)[ ]*%s(?=%s)(?!%s)(?!\r?\n?$)"
    return re.compile(pattern % (sign, opening, starts, number))


def _free_sign(table: TextTable) -> str:
    free = dict.fromkeys(_SIGNS)
    for cells in table.rows():
        for sign in [sign for sign in free if sign in str(cells[0])]:
            del free[sign]
        # Every sign occurs; a tab is the rarest in texts.
        if not free:
            return "\t"
    return next(iter(free))


def quoted(text: str, quotes: Quotes) -> str:
    """A cell in quotes where it needs them; blanks for what cannot be said without quotes."""
    delimiter, quote = quotes.delimiter, quotes.quote
    has_quotes = bool(quote) and quotes.reading != UNQUOTED
    needs = delimiter in text or "\n" in text or "\r" in text or (has_quotes and quote in text)
    if delimiter == " ":
        needs = needs or text != "".join(text.split()) or not text
    needs = needs or (quotes.reading == ESCAPED and BACKSLASH in text)
    if not needs:
        return text
    if not has_quotes:
        return re.sub(rf"[{re.escape(delimiter)}\r\n]", " ", text)
    if quotes.reading == ESCAPED:
        text = text.replace(BACKSLASH, 2 * BACKSLASH).replace(quote, BACKSLASH + quote)
    elif quotes.reading != OUTER:
        text = text.replace(quote, 2 * quote)
    return quote + text + quote


_WEIGHT = re.compile(rb"\s*,\s*\{[^{}]*\}\s*$")
_PLAIN = re.compile(r"[\w.+:/-]+")
_QUOTED = re.compile(rb"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\}""", re.DOTALL)


@dataclass(frozen=True)
class ArffTable(ReadTable):
    """The table of an ARFF file, with attributes of answers behind."""

    file: ArffFile
    is_text = True

    def can_stay(self, form: OutputForm, answers: Answers) -> bool:
        return form.kind == "arff"

    def write_answered(self, into: IO[bytes], answers: Answers) -> list[str]:
        encoding = decode_head(self.file.head)[0]
        codec = "utf-8" if encoding.startswith("utf-16") else encoding
        write = line_writer(into, encoding, self.file.head)
        end = line_end(self.file.head, encoding)
        with text_lines(self.file, encoding) as lines:
            answered_lines = self._answered_lines(lines, answers, codec, end)
            write_lines(answered_lines, answers, write, end.encode())
        return []

    def _answered_lines(
        self, lines: IO[bytes], answers: Answers, codec: str, end: str
    ) -> Iterator[TextLine]:
        # As the file itself quotes its words.
        quote = '"' if b'"' in self.file.head and b"'" not in self.file.head else "'"
        width, row_count, is_data = len(self.names), 0, False
        rows = answers.rows()
        for line in lines:
            word = line.strip().lower()
            if not is_data:
                if is_data := word == b"@data" or word.startswith((b"@data ", b"@data\t")):
                    attributes = self._attributes(answers, quote)
                    yield "".join(t + end for t in attributes).encode(codec, "replace"), False
                yield line, False
            elif not word or word.startswith(b"%"):
                yield line, False
            elif (row := next(rows, None)) is not None:
                row_count += 1
                texts = (_quoted_word(answer_text(cell), quote) for cell in row)
                cells = [text.encode(codec, "replace") for text in texts]
                yield _with_answers(line, cells, width), True
            else:
                row_count += answers.is_whole
        check_row_count(answers, row_count, self.file.path.name)

    def _attributes(self, answers: Answers, quote: str) -> list[str]:
        names, table = answers.names_beside(self.names), answers.first
        return [
            f"@attribute {_quoted_word(name, quote)} "
            + ("numeric" if table[column].dtype.kind in "iuf" else "string")
            for name, column in zip(names, table, strict=True)
        ]


def _quoted_word(text: str, quote: str) -> str:
    if not text:
        return "?"
    if _PLAIN.fullmatch(text):
        return text
    text = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return quote + re.sub(r"[\r\n]+", " ", text) + quote


def _with_answers(line: bytes, cells: Sequence[bytes], width: int) -> bytes:
    body = line.rstrip()
    end = line[len(body) :]
    if not body.lstrip().startswith(b"{"):
        # The weight of a row, in braces at its end, stays the last.
        weight = _WEIGHT.search(body)
        position = weight.start() if weight else len(body)
        return body[:position] + b"," + b",".join(cells) + body[position:] + end
    # In a sparse row pairs index value stand in braces, and so do the answers.
    position = next((m.start() for m in _QUOTED.finditer(body) if m.group() == b"}"), len(body))
    pairs = b", ".join(b"%d %s" % (width + index, cell) for index, cell in enumerate(cells))
    comma = b", " if body[:position].strip() != b"{" else b""
    return body[:position].rstrip() + comma + pairs + body[position:] + end


_KEEPS_ORDER = "Sequences stay together: the rows keep their order; a name in .csv sorts them."
LABEL, STRUCTURE = "prediction", "structure"


@dataclass(frozen=True)
class LineTable(ReadTable):
    """The table of a CoNLL or FASTA file."""

    file: LineFile
    is_text = True

    def can_stay(self, form: OutputForm, answers: Answers) -> bool:
        return form.kind == "lines" and self._answer_name in answers.columns

    @property
    def _answer_name(self) -> str:
        return LABEL if self.file.kind == "conll" else STRUCTURE

    def write_answered(self, into: IO[bytes], answers: Answers) -> list[str]:
        encoding = decode_head(self.file.head)[0]
        end = line_end(self.file.head, encoding)
        index = answers.columns.index(self._answer_name)
        words = [answer_text(row[index]) for row in answers.rows()]
        check_row_count(answers, len(self.raw_table.table), self.file.path.name)
        if self.file.kind == "conll":
            with self.file.open_lines() as stream:
                lines = re.split(r"\r\n|\r|\n", stream.read())
            text = end.join(with_labels(lines, words))
        else:
            table = self.raw_table.table.fillna("")
            names, letters = (table.iloc[:, column].tolist() for column in (0, 1))
            text = dot_bracket_text(names, letters, words).replace("\n", end)
        into.write(text.encode(encoding, "replace"))
        sentences = [_KEEPS_ORDER] if answers.is_sorted else []
        omitted_names = [name for column, name in enumerate(answers.columns) if column != index]
        if omitted_names:
            names_text = ", ".join(omitted_names)
            sentence = f"The format has no place for {names_text}; a name in .csv keeps them."
            sentences.append(sentence)
        return sentences


def write_csv(
    into: IO[bytes], names: Sequence[str], rows: Iterable[Sequence[Cell]], delimiter: str = ","
) -> list[str]:
    """Write a CSV file in UTF-8; sentences on cells that are written otherwise."""
    formulas, quotes = 0, Quotes(delimiter)
    for row in chain([names], rows):
        texts, count = _escaped_formulas(map(answer_text, row))
        formulas += count
        line = delimiter.join(quoted(text, quotes) for text in texts)
        line = '""' if not line and len(texts) == 1 else line  # a blank line would be no row
        into.write(f"{line}\n".encode("utf-8", "surrogateescape"))
    return [formulas_sentence(formulas)] if formulas else []


def _escaped_formulas(texts: Iterable[str]) -> tuple[list[str], int]:
    pairs = [(f"'{text}", True) if is_formula(text) else (text, False) for text in texts]
    return [text for text, _ in pairs], sum(is_risky for _, is_risky in pairs)
