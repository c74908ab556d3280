"""Generated tables in every format, cell by cell beside what pandas, pyarrow and calamine read.

A cell is what the person wrote (the number, the trimmed text, the date), or a sentence says what
was done with it; no row and no column is lost without one.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
import os
import random
import re
import tempfile
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from core.datasets.files.registry import open_table
from core.datasets.raw_table import FormatOptions, RawTable, with_formats
from core.errors import UnusableError

EXAMPLES = int(os.environ.get("TUNESCOPE_PEER_EXAMPLES", "30"))  # of every format
DAY = datetime.date(2019, 1, 1)
WORDS = (
    *("red", "green, dark", 'say "hi"', "blau;x", "a|b", "tab\there", "Größe", "Gro\u0308ße"),
    *(" around ", "\u00a0wide", "two\nlines", "日本", "it's", "5 km off", "x=1", "#7", "\\n", "e5"),
)
NOTHING = ("NA", "N/A", "nan", "null", "None", "?", "-", "#DIV/0!", "missing")
NAMES = (
    *("a", "a", "b", "price, €", 'the "name"', " around ", "Gro\u0308ße", "Größe", "x y", "NA"),
    *("1", "2020", "", "y;z", "a.b", "sentence", "text", "date", "two\nlines", "index"),
)
NOT_IN_SHEETS = (math.inf, -math.inf, "#DIV/0!")  # as numbers and texts
Rows = Sequence[Sequence[Any]]
Made = Callable[[random.Random], Any]


def _day(source: random.Random) -> datetime.date:
    return DAY + datetime.timedelta(source.randrange(2000))


def _moment(source: random.Random) -> datetime.datetime:
    time = datetime.time(source.randrange(24), source.randrange(60), source.randrange(60))
    return datetime.datetime.combine(_day(source), time)


# What a typed format holds as it is, and a text as Python writes it.
TYPED: dict[str, Made] = {
    "count": lambda r: r.randrange(-40, 40),
    "whole": lambda r: r.randrange(10 ** r.randrange(1, 12)),
    "big": lambda r: 2**53 + r.randrange(99),
    "wide": lambda r: r.choice((2**63, 2**64)) - r.randrange(1, 99),
    "number": lambda r: round(r.gauss(0, 100), r.randrange(4)),
    "tiny": lambda r: r.random() * 10.0 ** r.randrange(-300, 300),
    "infinite": lambda r: r.choice((float("inf"), -float("inf"), 1.5, 2.25, 3.125)),
    "truth": lambda r: r.random() < 0.5,
    "day": _day,
    "moment": _moment,
    "word": lambda r: r.choice(WORDS),
    "few words": lambda r: r.choice(("ja", "nein")),
    "words for nothing": lambda r: r.choice((*WORDS[:3], *NOTHING)),
    "code": lambda r: f"{r.randrange(500):05d}",
    "version": lambda r: f"1.{r.randrange(12)}",
    "nothing": lambda r: None,
}
# Numbers and dates as people write them.
SPELLED: dict[str, Made] = {
    "price": lambda r: f"${r.randrange(10**5):,}.{r.randrange(100):02d}",
    "percent": lambda r: f"{r.randrange(100)} %",
    "weight": lambda r: f"{r.randrange(90) / 10} kg",
    "comma": lambda r: f"{r.randrange(1000)},{r.randrange(100):02d}",
    "thousands": lambda r: f"{r.randrange(10**7):,}",
    "dots": lambda r: f"{r.randrange(10**7):,}".replace(",", "."),
    "exponent": lambda r: r.choice(("1E5", "100000", "2.5e-3", "1e+05", "+7", ".5", "6.")),
    "minus": lambda r: r.choice(("\u22125", "(100)", "-3", "12", "7-")),
    "numbers beside nothing": lambda r: r.choice((*NOTHING, "1", "2.5", "3", "4", "5", "6") * 2),
    "stray": lambda r: "lost" if r.random() < 0.03 else str(r.randrange(99)),
    "european": lambda r: f"{_day(r):%d.%m.%Y}",
    "american": lambda r: f"{_day(r):%m/%d/%Y}",
    "truth in letters": lambda r: r.choice(("TRUE", "FALSE")),
    "mixed": lambda r: r.choice(("1", "2.5", "x", "NA", "2020-01-01", "", " 3 ", "007")),
}


@st.composite
def tables(draw: st.DrawFn, makers: dict[str, Made], max_columns: int = 8) -> list[list[Any]]:
    """Names, and rows of cells below."""
    kinds = draw(st.lists(st.sampled_from(sorted(makers)), min_size=1, max_size=max_columns))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=len(kinds), max_size=len(kinds)))
    holes = draw(st.lists(st.sampled_from((0, 0, 0.1)), min_size=len(kinds), max_size=len(kinds)))
    n_rows, source = draw(st.integers(1, 60)), random.Random(draw(st.integers(0, 10**6)))
    cells = [
        [None if source.random() < hole else makers[kind](source) for _ in range(n_rows)]
        for kind, hole in zip(kinds, holes, strict=True)
    ]
    return [names, *map(list, zip(*cells, strict=True))]


def read(path: Path) -> RawTable:
    """The table as every reading begins."""
    return with_formats(open_table(str(path)).read({}), FormatOptions())


def text_of(cell: Any) -> str:
    """A cell as text, by other means than the reader's."""
    if cell is None or cell is pd.NaT or cell != cell:
        return ""
    if isinstance(cell, datetime.date):
        return cell.isoformat().removesuffix("T00:00:00").replace("T", " ")
    return unicodedata.normalize("NFC", str(cell)).strip(" \t\r\n\u00a0")


def numbers_of(text: str) -> list[float]:
    """What a text may be as a number: plainly, or with signs between thousands, or units."""
    text = re.sub(r"[€$%\s\u00a0]|kg", "", text.replace("\u2212", "-"))
    text = re.sub(r"^\((.*)\)$|^(.*)-$", r"-\1\2", text)
    found: list[float] = []
    for plain in (text, text.replace(",", ""), text.replace(".", "").replace(",", ".")):
        try:
            found += [float(plain), int(plain) if plain.lstrip("-").isdigit() else float(plain)]
        except ValueError:
            continue
    return found


def is_same(ours: Any, theirs: Any) -> bool:
    """Whether a cell of ours is theirs, as a person would say."""
    text = text_of(theirs)
    if ours is None or ours != ours:
        return text == ""
    if isinstance(ours, str):
        return ours in (text, re.sub(r"^(-?\d+)\.0+$", r"\1", text))
    if isinstance(theirs, float) and isinstance(ours, int):
        return float(ours) == theirs
    # pandas, too, may miss the last bit of a number with 17 digits.
    return any(math.isclose(ours, number, rel_tol=4e-16) for number in numbers_of(text))


def check(raw: RawTable, names: Sequence[str], rows: Rows) -> None:
    """Every row, every column and every cell are theirs, or a sentence says what was done."""
    said = [*(f.sentence for f in raw.findings), *(r.full_sentence for r in raw.readings)]
    table = raw.table
    assert len(table) == len(rows), (len(table), len(rows), raw.source.described, said)
    assert table.shape[1] == len(names), (list(table), names, raw.source.described, said)
    for place, (name, theirs) in enumerate(zip(map(str, table), names, strict=True)):
        bare = text_of(theirs) or f"Unnamed: {place}"
        assert name == bare or any(f"“{bare}”" in sentence for sentence in said), (name, theirs)
        shown_name = " ".join(name.split())  # sentences are single lines
        own = " ".join(sentence for sentence in said if f"“{shown_name}”" in sentence)
        for line, ours in enumerate(table[name]):
            cell = rows[line][place]
            is_said = ("missing" if pd.isna(ours) else "is the number") in own
            assert is_same(ours, cell) or is_said, (name, line, ours, cell, said)


def named_rows(rows: Rows, described: str) -> tuple[Sequence[str], Rows]:
    """The rows of a file without types, as the description says that they are divided."""
    above = re.search(r"(\d+) lines? above the table left out", described)
    rows = rows[int(above[1]) if above else 0 :]
    if "no header" in described:
        return ([f"column {i + 1}" for i in range(len(rows[0]))], rows)
    return rows[0], rows[1:]


DIALECTS = st.tuples(
    st.sampled_from(",;\t| "),
    st.booleans(),
    st.sampled_from(("\r\n", "\n")),
    st.sampled_from(("utf-8", "utf-8-sig", "utf-16", "latin-1")),
    st.booleans(),
)
usual = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@usual
@given(tables(TYPED | SPELLED), DIALECTS)
def test_csv_beside_pandas(table, dialect):
    delimiter, is_quoted, end, encoding, has_header = dialect
    out = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if is_quoted or delimiter == " " else csv.QUOTE_MINIMAL
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerows(["" if c is None else str(c) for c in r] for r in table[not has_header :])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(out.getvalue().encode(encoding, "replace"))
        how = {"sep": delimiter, "encoding": encoding, "header": None}
        theirs = pd.read_csv(path, **how, dtype=str, keep_default_na=False)
        try:
            stored = open_table(str(path)).read({})
        except UnusableError:
            if len(theirs) < 4 or theirs.shape[1] < 2:
                return  # not enough for a table
            raise
        raw = with_formats(stored, FormatOptions())
        if not raw.source.quotes:  # the kept arguments are all that a script needs
            arguments = json.loads(json.dumps(dict(raw.source.read_csv)))
            again = pd.read_csv(path, **arguments).reset_index(drop=True)
            pd.testing.assert_frame_equal(again, stored.table)
    is_told = len(theirs) >= 4 and theirs.iloc[1:].map(text_of).any(axis=None)
    if not is_told or (theirs.shape[1] == 1 and "one column" not in raw.source.described):
        return  # signs within few texts could as well divide columns; which do is said
    check(raw, *named_rows(theirs.to_numpy().tolist(), raw.source.described))


@usual
@given(tables(TYPED), st.sampled_from(("parquet", "feather")))
def test_parquet_and_feather_beside_pyarrow(table, ending):
    arrays = [_array(column) for column in zip(*table[1:], strict=True)]
    made = pa.Table.from_arrays(arrays, names=table[0])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{ending}"
        if ending == "parquet":
            parquet.write_table(made, path)
            theirs = parquet.ParquetFile(path).read()
        else:
            with pa.ipc.new_file(str(path), made.schema) as file:
                file.write_table(made)
            theirs = feather.read_table(path)
        raw = read(path)
    rows = list(zip(*(column.to_pylist() for column in theirs.columns), strict=True))
    check(raw, theirs.column_names, rows)


def _array(cells: Sequence[Any]) -> pa.Array:
    is_wide = all(isinstance(c, int) for c in cells if c is not None) and any(
        c and c >= 2**63 for c in cells
    )
    return pa.array(cells, pa.uint64() if is_wide else None)


def _in_sheet(cell: Any) -> Any:
    """None for what no sheet holds; a text without blanks that OpenDocument joins."""
    if cell in NOT_IN_SHEETS:
        return None
    return re.sub(r"\s+", " ", cell) if isinstance(cell, str) else cell


@usual
@given(
    tables({name: made for name, made in TYPED.items() if name != "wide"}, 5),
    st.sampled_from(("openpyxl", "odf")),
)
def test_sheets_beside_openpyxl_and_odfpy(table, engine):
    pytest.importorskip(engine)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / {"openpyxl": "table.xlsx", "odf": "table.ods"}[engine]
        cells = pd.DataFrame([list(map(_in_sheet, row)) for row in table], dtype=object)
        cells.to_excel(str(path), header=False, index=False)
        try:
            raw = read(path)
        except UnusableError:
            if len(table) < 4 or len(table[0]) < 2 or not any(map(any, table[1:])):
                return  # not enough for a table
            raise
        how = {"header": None, "dtype": object, "na_filter": False}
        theirs = pd.read_excel(path, engine=engine, **how).to_numpy().tolist()
    filled = [i for i in range(len(theirs[0])) if any(text_of(row[i]) for row in theirs)]
    rows = [[row[i] for i in filled] for row in theirs]
    names, rows = named_rows(rows, raw.source.described)
    check(raw, names, [row for row in rows if any(map(text_of, row))])


@usual
@given(tables(TYPED))
def test_arff_beside_liac(table):
    liac = pytest.importorskip("arff")
    # It writes no quotes within names, and each name once.
    names = [re.sub(r"[\"\n]", "", f"{text_of(n)} {i}") for i, n in enumerate(table[0])]
    columns = [list(column) for column in zip(*table[1:], strict=True)]
    kinds = [
        "REAL" if all(type(c) in (int, float) for c in cells if c is not None) else "STRING"
        for cells in columns
    ]
    rows = [
        [str(c) if k == "STRING" and c is not None else c for c, k in zip(row, kinds, strict=True)]
        for row in table[1:]
    ]
    attributes = list(zip(names, kinds, strict=True))
    text = liac.dumps({"relation": "r", "attributes": attributes, "data": rows})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.arff"
        path.write_text(text, encoding="utf-8")
        raw = read(path)
    check(raw, names, liac.loads(text)["data"])
