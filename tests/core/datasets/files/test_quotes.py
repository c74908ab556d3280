"""Quotes of text tables: whatever a writer of CSV writes is read, and no row is lost silently."""

from __future__ import annotations

import csv
import gzip
import io
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow.csv import WriteOptions, write_csv

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


def with_pandas(table: list[list[str]], delimiter: str) -> str:
    return pd.DataFrame(table[1:], columns=table[0]).to_csv(
        index=False, sep=delimiter, lineterminator="\r\n"
    )


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


def plainly_read(raw: RawTable) -> pd.DataFrame:
    """What pandas alone gives with the arguments that are kept."""
    source = raw.source
    arguments = json.loads(json.dumps(dict(source.read_csv)))
    if source.quotes:
        text = doubled_text(Path(source.path).read_bytes(), "utf-8", **source.quotes)
        return pd.read_csv(text, **arguments)
    return pd.read_csv(source.path, **arguments)


WRITERS = {
    "excel": lambda table, _: with_writer(table, dialect="excel"),
    "excel-tab": lambda table, _: with_writer(table, dialect="excel-tab"),
    "unix": lambda table, _: with_writer(table, dialect="unix"),
    "minimal": lambda table, sign: with_writer(table, delimiter=sign),
    "all": lambda table, sign: with_writer(table, delimiter=sign, quoting=csv.QUOTE_ALL),
    "words": lambda table, sign: with_writer(table, delimiter=sign, quoting=csv.QUOTE_NONNUMERIC),
    "single": lambda table, sign: with_writer(
        table, delimiter=sign, quotechar="'", quoting=csv.QUOTE_ALL
    ),
    "none": lambda table, sign: with_writer(
        table, delimiter=sign, quoting=csv.QUOTE_NONE, escapechar="\\"
    ),
    "escaped": lambda table, sign: with_writer(
        table, delimiter=sign, doublequote=False, escapechar="\\"
    ),
    "pandas": with_pandas,
    "pyarrow": with_pyarrow,
}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.sampled_from(sorted(WRITERS)), st.sampled_from(",;|\t"))
def test_every_table_of_a_writer_is_read_as_it_is(
    table: list[list[str]], writer: str, delimiter: str
) -> None:
    if writer in ("none", "escaped"):
        # Two backslashes alone do not tell whether they stand for one.
        table = [[cell.replace("\\", "/") for cell in row] for row in table]
        table[1][-1] = f'a "word" {delimiter} and more'
    wanted = [[cell.strip() for cell in row] for row in table]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(WRITERS[writer](table, delimiter).encode())
        cells, raw = read_texts(path, is_plain=True)
        assert cells == wanted
        assert cells_of(plainly_read(raw)) == wanted


def lines_of(count: int = 400, bad: int = 0, text: str = "{}") -> list[str]:
    """Lines of a label and a text, `bad` of them with a quote that opens and does not close."""
    random = np.random.default_rng(0)
    words = np.array(["tax", "goal", "rain", "song", "film"])
    lines = [" ".join(random.choice(words, 9)) for _ in range(count)]
    opened = set(random.choice(count, bad, replace=False).tolist())
    texts = [f'"{line}' if i in opened else text.format(line) for i, line in enumerate(lines)]
    return ["label,text", *(f"{'ab'[i % 2]},{line}" for i, line in enumerate(texts))]


def write(folder: Path, lines: list[str]) -> Path:
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("bad", [1, 10, 11])
def test_quotes_that_never_close_are_letters(tmp_path: Path, bad: int) -> None:
    lines = lines_of(bad=bad)
    cells, raw = read_texts(write(tmp_path, lines))
    assert cells[1:] == [line.split(",") for line in lines[1:]]
    assert "quotes are letters" in raw.source.described
    assert raw.source.read_csv["quoting"] == csv.QUOTE_NONE
    first = next(number for number, line in enumerate(lines, 1) if '"' in line)
    assert f"(line {first})" in raw.findings[0].sentence
    assert cells_of(plainly_read(raw)) == cells


def test_quotes_that_open_and_others_that_close_are_no_pair(tmp_path: Path) -> None:
    lines = lines_of(200)
    for number in (20, 40, 90, 150):
        label, text = lines[number].split(",")
        lines[number] = f'{label},"{text}' if number in (20, 40) else f'{label},{text}"'
    cells, _ = read_texts(write(tmp_path, lines))
    assert cells[1:] == [line.split(",") for line in lines[1:]]


def test_they_are_found_far_below_the_head(tmp_path: Path) -> None:
    lines = lines_of(30_000)
    lines[29_000] = 'a,"open'
    assert len("\n".join(lines)) > 2**20
    cells, raw = read_texts(write(tmp_path, lines))
    assert len(cells) == len(lines)
    assert cells[29_000] == ["a", '"open']
    assert "quotes are letters" in raw.source.described


@pytest.mark.parametrize("text", ['"{}, and more"', '"{}"'])
def test_what_no_reading_fits_is_refused_with_its_line(tmp_path: Path, text: str) -> None:
    lines = lines_of(text=text)
    lines[0], lines[41] = '"label","text"', 'a,"open'
    with pytest.raises(UnusableError, match=r'table.csv, line 42: a quote \("\) opens here'):
        read_texts(write(tmp_path, lines))


READINGS = {
    'he said \\"hi\\", and': (ESCAPED, 'he said "hi", and'),
    'he said "hi" and': (OUTER, 'he said "hi" and'),
    'he said "hi" , and': (OUTER, 'he said "hi" , and'),
    'he said ""hi"", and': (DOUBLED, 'he said "hi", and'),
}


@pytest.mark.parametrize("written", READINGS)
def test_readings_are_tried_in_order(tmp_path: Path, written: str) -> None:
    reading, text = READINGS[written]
    lines = lines_of(60)
    lines[30] = f'a,"{written} more"'
    cells, raw = read_texts(write(tmp_path, lines))
    assert cells[30] == ["a", f"{text} more"]
    assert len(cells) == 61
    assert ("escapechar" in raw.source.read_csv) == (reading == ESCAPED)
    assert bool(raw.source.quotes) == (reading == OUTER)
    assert cells_of(plainly_read(raw)) == cells
    columns, ends = columns_of("\n".join(lines), ["text"])
    assert columns["text"][29] == f"{text} more"
    assert len(ends) == 60


def test_backslashes_of_paths_stay(tmp_path: Path) -> None:
    lines = lines_of(60)
    lines[30] = 'a,"C:\\temp\\, and ""D:\\"""'
    assert read_texts(write(tmp_path, lines))[0][30] == ["a", 'C:\\temp\\, and "D:\\"']


def test_quotes_within_cells_are_letters_beside_proper_ones(tmp_path: Path) -> None:
    lines = lines_of(60)
    lines[20:22] = ['a,5" pipe', 'b,"a ""pipe"", bent"  ']
    cells, raw = read_texts(write(tmp_path, lines))
    assert cells[20:22] == [["a", '5" pipe'], ["b", 'a "pipe", bent']]
    assert not raw.findings


@pytest.mark.parametrize("quoted", [0, 1])
def test_single_quotes_of_one_column_are_seen(tmp_path: Path, quoted: int) -> None:
    rows = [[f"o'clock {i}, sharp", f"{i}"][:: 1 - 2 * quoted] for i in range(40)]
    text = with_writer(
        [["a", "b"], *rows], quotechar="'", quoting=csv.QUOTE_MINIMAL, lineterminator="\n"
    )
    path = tmp_path / "table.csv"
    path.write_text(text)
    raw = open_table(str(path)).read({}, ("",))
    assert raw.source.read_csv["quotechar"] == "'"
    assert [str(cell) for cell in raw.table.iloc[7]] == rows[7]


def test_a_text_that_could_be_rows_is_read_and_told(tmp_path: Path) -> None:
    lines = lines_of(60)
    lines[30:30] = ['a,"Ingredients:', "flour,1", "sugar,2", 'butter,3"']
    cells, raw = read_texts(write(tmp_path, lines))
    assert cells[30] == ["a", "Ingredients:\nflour,1\nsugar,2\nbutter,3"]
    assert "from line 31 to 34" in raw.findings[0].sentence


@pytest.mark.parametrize("packing", ["utf-16", "gzip"])
def test_other_bytes_are_looked_at_as_well(tmp_path: Path, packing: str) -> None:
    text = "\n".join([*lines_of(30_000), 'a,"open']) + "\n"
    path = tmp_path / "table.csv"
    data = text.encode("utf-16" if packing == "utf-16" else "utf-8")
    path.write_bytes(gzip.compress(data) if packing == "gzip" else data)
    cells, raw = read_texts(path)
    assert len(cells) == 30_002
    assert "quotes are letters" in raw.source.described


HOSTILE = {
    "a text of 100 KB": '1,"' + 'word, "" ' * 12_000 + '"',
    "quotes in a row": "1,x" + '"' * 300_000,
    "quotes in a text": '1,"x' + ' " ' * 300_000 + '"',
    "backslashes": '1,"' + "\\" * 300_000 + '"x',
    "blanks": "1," + " " * 300_000 + '"' * 7 + " " * 300_000,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_cells_cost_little(tmp_path: Path, case: str) -> None:
    start = time.perf_counter()
    cells, _ = read_texts(write(tmp_path, [*lines_of(50), HOSTILE[case]]))
    assert len(cells) == 52
    assert time.perf_counter() - start < 20
