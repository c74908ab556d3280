"""Quotes of text tables: whatever a writer of CSV writes is read, and no row is lost silently."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow.csv import WriteOptions, write_csv
from recorded_calls import recorded_table

from core.datasets.files.csv_table import TextFile
from core.datasets.files.quotes import DOUBLED, ESCAPED, OUTER, doubled_text
from core.datasets.files.registry import open_table
from core.datasets.raw_table import RawTable
from core.errors import UnusableError
from core.export.bundle.csv_rows import columns_of

PIECES = (
    *("alpha", "beta two", " ", ",", ";", "|", "\t", '"', '""', "\n", "\r\n", "'", "''", "\\"),
    *("ä", "日本", '5"', ", ", "\n\n", "a,b", "12", "-", "#", "\u2028", '"q"', "it's", "3.5"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
NAMES = ("label", "text", "more", "other")


@st.composite
def tables(draw: st.DrawFn) -> list[list[str]]:
    """Rows of texts below names; the first column is one of letters."""
    width = draw(st.integers(2, 4))
    label = st.sampled_from("abc")
    row = st.tuples(label, *[TEXTS] * (width - 1)).map(list)
    return [list(NAMES[:width]), *draw(st.lists(row, min_size=3, max_size=12))]


def with_writer(table: list[list[str]], **dialect: object) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, **dialect).writerows(table)
    return out.getvalue()


def with_pyarrow(table: list[list[str]], delimiter: str) -> str:
    out = io.BytesIO()
    columns = {name: [row[i] for row in table[1:]] for i, name in enumerate(table[0])}
    write_csv(pa.table(columns), out, WriteOptions(delimiter=delimiter))
    return out.getvalue().decode()


def read_texts(path: Path, *, is_plain: bool = False) -> tuple[list[list[str]], RawTable]:
    """Names and cells; `is_plain` for a file that is known to be delimited text."""
    file = TextFile(path, "", path.read_bytes()) if is_plain else open_table(str(path))
    raw = file.read(dict.fromkeys(NAMES, "category"), ("",))
    return cells_of(raw.table), raw


def cells_of(table: pd.DataFrame) -> list[list[str]]:
    """Names and cells without the blanks around them, which mean nothing in a column."""
    rows = table.astype(object).where(table.notna(), "").to_numpy().tolist()
    return [list(table.columns), *[[str(cell).strip() for cell in row] for row in rows]]


def plainly_read(raw: RawTable) -> list[list[str]]:
    """What pandas alone gives with the arguments that are kept."""
    source = raw.source
    if source.quotes:
        text = doubled_text(Path(source.path).read_bytes(), "utf-8", **source.quotes)
        return cells_of(pd.read_csv(text, **source.read_csv))
    return cells_of(recorded_table(source))


# Of the module csv; pandas and pyarrow have writers of their own.
DIALECTS = {
    "excel": {},
    "unix": {"dialect": "unix"},
    "words": {"quoting": csv.QUOTE_NONNUMERIC},
    "single": {"quotechar": "'", "quoting": csv.QUOTE_ALL},
    "none": {"quoting": csv.QUOTE_NONE, "escapechar": "\\"},
    "escaped": {"doublequote": False, "escapechar": "\\"},
}


def text_of(writer: str, table: list[list[str]], delimiter: str) -> str:
    if writer == "pyarrow":
        return with_pyarrow(table, delimiter)
    if writer == "pandas":
        frame = pd.DataFrame(table[1:], columns=table[0])
        return frame.to_csv(index=False, sep=delimiter, lineterminator="\r\n")
    return with_writer(table, delimiter=delimiter, **DIALECTS[writer])


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.sampled_from([*DIALECTS, "pandas", "pyarrow"]), st.sampled_from(",;|\t"))
def test_every_table_of_a_writer_is_read_as_it_is(table, writer, delimiter):
    if writer in ("none", "escaped"):
        # Two backslashes alone do not tell whether they stand for one.
        table = [[cell.replace("\\", "/") for cell in row] for row in table]
        table[1][-1] = f'a "word" {delimiter} and more'
    wanted = [[cell.strip() for cell in row] for row in table]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(text_of(writer, table, delimiter).encode())
        cells, raw = read_texts(path, is_plain=True)
        assert cells == wanted
        assert plainly_read(raw) == wanted


def lines_of(count: int = 400, bad: int = 0, text: str = "{}") -> list[str]:
    """Lines of a label and a text, `bad` of them with a quote that opens and does not close."""
    random = np.random.default_rng(0)
    words = np.array(["tax", "goal", "rain", "song", "film"])
    lines = [" ".join(random.choice(words, 9)) for _ in range(count)]
    opened = set(random.choice(count, bad, replace=False).tolist())
    texts = [f'"{line}' if i in opened else text.format(line) for i, line in enumerate(lines)]
    return ["label,text", *(f"{'ab'[i % 2]},{line}" for i, line in enumerate(texts))]


@pytest.fixture
def read_lines(write: Callable[..., str]):
    """Reads a file of lines, as `read_texts` does."""

    def of_lines(lines: list[str], encode: Callable[[str], bytes] = str.encode):
        return read_texts(Path(write(encode("\n".join(lines) + "\n"))))

    return of_lines


@pytest.mark.parametrize("bad", [1, 10, 11])
def test_quotes_that_never_close_are_letters(read_lines, bad: int) -> None:
    lines = lines_of(bad=bad)
    cells, raw = read_lines(lines)
    assert cells[1:] == [line.split(",") for line in lines[1:]]
    assert "quotes are letters" in raw.source.described
    assert raw.source.read_csv["quoting"] == csv.QUOTE_NONE
    first = next(number for number, line in enumerate(lines, 1) if '"' in line)
    assert f"(line {first})" in raw.findings[0].sentence
    assert plainly_read(raw) == cells


def test_quotes_that_open_and_others_that_close_are_no_pair(read_lines) -> None:
    lines = lines_of(200)
    for number in (20, 40, 90, 150):
        label, text = lines[number].split(",")
        lines[number] = f'{label},"{text}' if number in (20, 40) else f'{label},{text}"'
    cells, _ = read_lines(lines)
    assert cells[1:] == [line.split(",") for line in lines[1:]]


@pytest.mark.parametrize(
    "encode",
    [str.encode, lambda text: text.encode("utf-16"), lambda text: gzip.compress(text.encode())],
    ids=["plain", "utf-16", "gzip"],
)
def test_they_are_found_far_below_the_head(read_lines, encode: Callable[[str], bytes]) -> None:
    lines = lines_of(30_000)
    lines[29_000] = 'a,"open'
    assert len("\n".join(lines)) > 2**20
    cells, raw = read_lines(lines, encode)
    assert len(cells) == len(lines)
    assert cells[29_000] == ["a", '"open']
    assert "quotes are letters" in raw.source.described


@pytest.mark.parametrize("text", ['"{}, and more"', '"{}"'])
def test_what_no_reading_fits_is_refused_with_its_line(read_lines, text: str) -> None:
    lines = lines_of(text=text)
    lines[0], lines[41] = '"label","text"', 'a,"open'
    with pytest.raises(UnusableError, match=r'table.csv, line 42: a quote \("\) opens here'):
        read_lines(lines)


READINGS = {
    'he said \\"hi\\", and': (ESCAPED, 'he said "hi", and'),
    'he said "hi" and': (OUTER, 'he said "hi" and'),
    'he said "hi" , and': (OUTER, 'he said "hi" , and'),
    'he said ""hi"", and': (DOUBLED, 'he said "hi", and'),
}


@pytest.mark.parametrize("written", READINGS)
def test_readings_are_tried_in_order(read_lines, written: str) -> None:
    reading, text = READINGS[written]
    lines = lines_of(60)
    lines[30] = f'a,"{written} more"'
    cells, raw = read_lines(lines)
    assert cells[30] == ["a", f"{text} more"]
    assert len(cells) == 61
    assert ("escapechar" in raw.source.read_csv) == (reading == ESCAPED)
    assert bool(raw.source.quotes) == (reading == OUTER)
    assert plainly_read(raw) == cells
    columns, ends = columns_of("\n".join(lines), ["text"])
    assert columns["text"][29] == f"{text} more"
    assert len(ends) == 60


def test_backslashes_of_paths_stay(read_lines) -> None:
    lines = lines_of(60)
    lines[30] = 'a,"C:\\temp\\, and ""D:\\"""'
    assert read_lines(lines)[0][30] == ["a", 'C:\\temp\\, and "D:\\"']


def test_quotes_within_cells_are_letters_beside_proper_ones(read_lines) -> None:
    lines = lines_of(60)
    lines[20:22] = ['a,5" pipe', 'b,"a ""pipe"", bent"  ']
    cells, raw = read_lines(lines)
    assert cells[20:22] == [["a", '5" pipe'], ["b", 'a "pipe", bent']]
    assert not raw.findings


@pytest.mark.parametrize("quoted", [0, 1])
def test_single_quotes_of_one_column_are_seen(write: Callable[..., str], quoted: int) -> None:
    rows = [[f"o'clock {i}, sharp", f"{i}"][:: 1 - 2 * quoted] for i in range(40)]
    text = with_writer([["a", "b"], *rows], quotechar="'", lineterminator="\n")
    raw = open_table(write(text)).read({}, ("",))
    assert raw.source.read_csv["quotechar"] == "'"
    assert [str(cell) for cell in raw.table.iloc[7]] == rows[7]


def test_a_text_that_could_be_rows_is_read_and_told(read_lines) -> None:
    lines = lines_of(60)
    lines[30:30] = ['a,"Ingredients:', "flour,1", "sugar,2", 'butter,3"']
    cells, raw = read_lines(lines)
    assert cells[30] == ["a", "Ingredients:\nflour,1\nsugar,2\nbutter,3"]
    assert "from line 31 to 34" in raw.findings[0].sentence


HOSTILE = {
    "a text of 100 KB": '1,"' + 'word, "" ' * 12_000 + '"',
    "quotes in a row": "1,x" + '"' * 300_000,
    "quotes in a text": '1,"x' + ' " ' * 300_000 + '"',
    "backslashes": '1,"' + "\\" * 300_000 + '"x',
    "blanks": "1," + " " * 300_000 + '"' * 7 + " " * 300_000,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_cells_cost_little(read_lines, case: str) -> None:
    start = time.process_time()
    cells, _ = read_lines([*lines_of(50), HOSTILE[case]])
    assert len(cells) == 52
    assert time.process_time() - start < 20
