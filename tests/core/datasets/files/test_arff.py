"""ARFF files: scipy as a peer, and what of the format is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import arff

from core.datasets.files.arff_grammar import parse_arff, read_arff
from core.datasets.files.registry import open_table
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError

HEAD = """% A comment before all
@RELATION 'yields of 2024'

@ATTRIBUTE size NUMERIC
@attribute "the colour" {red, 'dark green', blue}
@attribute 'it\\'s' real
@attribute when date "yyyy-MM-dd"
@attribute note string
@attribute class {a,b}

@DATA
"""
COLOURS = ("red", "'dark green'", "blue")
NOTES = ("none", "'a, b'")
LINES = [
    f"{i % 7}, {COLOURS[i % 3]}, {i / 4}, 2024-01-{i + 1:02d}, {NOTES[i % 2]}, {'ab'[i % 2]}"
    for i in range(28)
]


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_names_types_and_values(tmp_path: Path) -> None:
    lines = list(LINES)
    lines[4] = "?,?,?,?,?,a"
    lines.insert(7, "% a comment between rows")
    path = written(tmp_path / "a.arff", HEAD + "\n".join(lines) + "\n%\n")
    dataset = read_dataset(str(path), DataOptions(roles={"note": "feature"}))
    kinds = {column.name: (column.kind, column.missing) for column in dataset.columns}
    assert kinds == {
        "size": ("number", 1),
        "the colour": ("category", 1),
        "it's": ("number", 1),
        "when": ("date", 1),
        "note": ("category", 1),
        "class": ("category", 0),
    }
    assert dataset.table["the colour"].iloc[1] == "dark green"
    assert dataset.table["note"].iloc[1] == "a, b"
    assert dataset.table["note"].iloc[0] == "none"  # only ? stands for nothing
    with path.open("rb") as file:
        again = read_arff(file, **dataset.source.reading)
    pd.testing.assert_frame_equal(dataset.table, again[dataset.feature_names])


def test_classes_of_digits_are_classes(tmp_path: Path) -> None:
    text = "@relation r\n@attribute p real\n@attribute class {0,1,2}\n@data\n"
    text += "".join(f"{i / 3},{i % 3}\n" for i in range(40))
    dataset = read_dataset(str(written(tmp_path / "a.arff", text)))
    assert (dataset.task, dataset.classes) == ("multiclass", ("0", "1", "2"))


def test_packed_and_with_another_name(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress((HEAD + "\n".join(LINES)).encode()))
    dataset = read_dataset(str(path))
    assert dataset.source.format == "arff"
    assert dataset.rows == 28
    with gzip.open(path) as file:
        again = read_arff(file, **dataset.source.reading)
    pd.testing.assert_frame_equal(dataset.table, again[dataset.feature_names])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@relation x\n@attribute a real\n1,2\n", "line 3: “1,2” declares no attribute"),
        ("@relation x\n@data\n1,2\n", "line 2: no attribute is declared"),
        ("@relation x\n@attribute a real\n", "there is no @data"),
        ("@relation x\n@attribute a real\n@data\n", "no row below @data"),
        (HEAD + "\n".join(LINES) + "\n1,red,2\n", "line 40: the row has 3 values where 6"),
        (HEAD + "\n".join(LINES) + "\n{0 1, 6 3}\n", "line 40: the index “6” is none of 0 to 5"),
        (HEAD + "{0 1, 0 3}\n", "line 12: the index “0” stands twice"),
        (HEAD + "{0 1, x 3}\n", "line 12: the index “x 3” is none of 0 to 5"),
        (HEAD + "{0 1, 1 red\n", "line 12: a brace ({) opens here"),
        (HEAD + LINES[0] + ", {heavy}\n", "line 12: the row has 7 values where 6"),
        (HEAD + "{0 1}, {heavy}\n", "line 12: “{heavy}” is no weight"),
        (HEAD + "1,'red' x,1,?,?,a\n", "line 12: text follows a quote"),
        (HEAD + LINES[0] + "\n1,green,1,?,?,a\n", "line 13: “green” is none of the values"),
        (HEAD + "1,'red,1,?,?,a\n", "line 12: a quote (') opens here"),
        ("@relation x\n@attribute a relational\n@attribute b real\n@end a\n", "(relational)"),
        ("@relation x\n@attribute a complex\n@data\n1\n", "“complex” is no type"),
    ],
)
def test_what_is_refused(tmp_path: Path, refusal, text: str, words: str) -> None:
    assert words in refusal(written(tmp_path / "a.arff", text))


def parsed(kinds: list[str], *rows: str) -> pd.DataFrame:
    head = [f"@attribute x{i} {kind}" for i, kind in enumerate(kinds)]
    return parse_arff(["@relation r", *head, "@data", *rows]).table


def test_sparse_rows_leave_out_zeros_and_first_values() -> None:
    table = parsed(
        ["real", "{X,Y}", "string", "{'class A','class B'}"],
        "{0 1.5, 3 'class B'}",
        "{ 1 Y ,2 '\"' }",
        "{}",
        "2, X, 'a, b', \"class A\"",
        '{0 ?, 2 "it\\\'s"} , {3}',
    )
    np.testing.assert_array_equal(table["x0"], [1.5, 0, 0, 2, np.nan])
    assert table["x1"].tolist() == ["X", "Y", "X", "X", "X"]
    assert table["x2"].fillna("none").tolist() == ["none", '"', "none", "a, b", "it's"]
    assert table["x3"].tolist() == ["class B", "class A", "class A", "class A", "class A"]


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        (""" 'A','B' , '"','C,D' """, ["A", "B", '"', "C,D"]),
        (r""" '\'','\\','\\\'',"\\," """, ["'", "\\", "\\'", "\\,"]),
        (r""" "\n","\t","\u123a","abc\011abc" """, ["\n", "\t", "\u123a", "abc\tabc"]),
        ("O'Brien, 5%, a\\b, {", ["O'Brien", "5%", "a\\b", "{"]),
        ("a\tb\t'c d'\te", ["a", "b", "c d", "e"]),
        ("a,b,c,d % a comment", ["a", "b", "c", "d"]),
        ("a,b,c,d,", ["a", "b", "c", "d"]),
        ("'a' , 'b' , c d , ?, {2.5} % heavy", ["a", "b", "c d", None]),
    ],
)
def test_cells_of_a_row(row: str, cells: list[str | None]) -> None:
    found = parsed(["string"] * 4, row).iloc[0]
    assert [None if pd.isna(cell) else cell for cell in found] == cells


def test_declared_dates_are_iso_dates() -> None:
    table = parsed(
        ["date yyyy", "DATE 'dd.MM.yyyy'", 'date "d/M/yy HH:mm"', "date", "date odd-QQ"],
        "1999, 31.01.1999, '28/4/17 13:00', 2024-01-05T12:30:00, 7",
        "2004, 01.12.2004, ?, 2024-01-05T00:00:00, 8",
    )
    assert table.iloc[0].tolist() == [
        *("1999-01-01", "1999-01-31", "2017-04-28 13:00:00", "2024-01-05 12:30:00", "7")
    ]
    assert table.iloc[1].fillna("").tolist() == ["2004-01-01", "2004-12-01", "", "2024-01-05", "8"]


def test_names_twice_and_weights_are_said(tmp_path: Path) -> None:
    text = "@relation r\n@attribute p real\n@attribute p real\n@attribute y {a,b}\n@data\n"
    text += "".join(f"{i % 7},{i / 3},{'ab'[i % 2]},{{{i}.5}}\n" for i in range(40))
    path = written(tmp_path / "a.arff", text)
    dataset = read_dataset(str(path))
    assert dataset.feature_names == ["p", "p (2)"]
    said = [finding.sentence for finding in dataset.findings]
    assert any("Two columns are called “p”" in sentence for sentence in said)
    assert any("40 rows have weights, left out here" in sentence for sentence in said)
    with path.open("rb") as file:
        again = read_arff(file, **dataset.source.reading)
    pd.testing.assert_frame_equal(dataset.table, again[dataset.feature_names])


def test_the_line_of_a_row(tmp_path: Path) -> None:
    text = "% c\n@relation r\n@attribute p real\n@data\n\n1\n% c\n{}\n\n3\n"
    raw = open_table(str(written(tmp_path / "a.arff", text))).read({})
    assert [raw.line_of(row) for row in range(4)] == [6, 8, 10, 0]
    assert raw.table["p"].tolist() == [1, 0, 3]


def test_files_of_scipy_are_what_scipy_reads() -> None:
    """All of its tests' files without relations and times of a zone, where it has them here."""
    folder = Path(arff.__file__).parent / "tests" / "data"
    compared = 0
    for path in sorted(folder.glob("*.arff")):
        try:
            theirs, meta = arff.loadarff(path)
            raw = open_table(str(path)).read({})
        except (NotImplementedError, arff.ParseArffError, UnusableError):
            continue
        compared += 1
        assert list(raw.table.columns) == meta.names()
        for name, kind in zip(meta.names(), meta.types(), strict=True):
            ours = raw.table[name]
            if kind == "numeric":
                np.testing.assert_array_equal(ours, theirs[name])
            elif kind == "nominal":
                assert ours.tolist() == [value.decode() for value in theirs[name]]
            else:
                moments = pd.to_datetime(ours, format="ISO8601").to_numpy("datetime64[s]")
                np.testing.assert_array_equal(moments, theirs[name].astype("datetime64[s]"))
    if not compared:
        pytest.skip("scipy is installed without its tests' files")
    assert compared > 8


def test_hostile_sparse_rows(tmp_path: Path, refusal) -> None:
    head = "".join(f"@attribute a{i} real\n" for i in range(20_000))
    path = written(tmp_path / "a.arff", f"@relation r\n{head}@data\n" + "{}\n" * 3000)
    assert "the sparse rows have more than" in refusal(path)
    many = written(tmp_path / "b.arff", HEAD + "1,'" + "\\'" * 100_000 + "\n")
    assert "a quote (') opens here" in refusal(many)
    blanks = written(
        tmp_path / "c.arff", HEAD + "1," + " " * 300_000 + "'red'" + " " * 300_000 + "x\n"
    )
    assert "line 12" in refusal(blanks)
