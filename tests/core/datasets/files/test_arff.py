"""ARFF files: scipy as a peer, and what of the format is refused."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import arff

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset

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
    again = pd.read_csv(path, **dataset.source.reading)
    pd.testing.assert_frame_equal(dataset.table, again[dataset.feature_names])


def test_scipy_reads_the_same(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = zip(rng.normal(size=50), rng.choice(["x", "y", "z"], 50), strict=True)
    text = "@relation r\n@attribute p real\n@attribute q {x,y,z}\n@data\n"
    text += "".join(f"{value!r},{word}\n" for value, word in rows).replace("np.float64", "")
    text = text.replace("(", "").replace(")", "")
    dataset = read_dataset(str(written(tmp_path / "a.arff", text)))
    theirs, _ = arff.loadarff(io.StringIO(text))
    np.testing.assert_array_equal(dataset.table["p"], theirs["p"])
    np.testing.assert_array_equal(dataset.target, theirs["q"].astype(str))


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
    again = pd.read_csv(path, **dataset.source.reading)
    pd.testing.assert_frame_equal(dataset.table, again[dataset.feature_names])


def test_escaped_quotes(tmp_path: Path) -> None:
    text = "@relation r\n@attribute p real\n@attribute q string\n@attribute y {a,b}\n@data\n"
    text += "".join(f"{i}.5,'it\\'s {i % 3}',{'ab'[i % 2]}\n" for i in range(20))
    dataset = read_dataset(str(written(tmp_path / "a.arff", text)))
    assert dataset.table["q"].iloc[0] == "it's 0"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@relation x\n@attribute a real\n1,2\n", "line 3: “1,2” declares no attribute"),
        ("@relation x\n@data\n1,2\n", "line 2: no attribute is declared"),
        ("@relation x\n@attribute a real\n", "there is no @data"),
        ("@relation x\n@attribute a real\n@data\n", "no row below @data"),
        (HEAD + "\n".join(LINES) + "\n1,red,2\n", "line 40: the row has 3 values where 6"),
        (HEAD + "\n".join(LINES) + "\n{0 1, 2 3}\n", "line 40: sparse rows and weights"),
        (HEAD + LINES[0] + ", {5}\n", "line 12: sparse rows and weights"),
        (HEAD + LINES[1] + '\n1,"red",1,?,?,a\n', "single and in double quotes"),
        (HEAD + "1,'red,1,?,?,a\n", "line 12: a quote (') opens here"),
        ("@relation x\n@attribute a relational\n@attribute b real\n@end a\n", "(relational)"),
        ("@relation x\n@attribute a complex\n@data\n1\n", "“complex” is no type"),
        ("@relation x\n@attribute a real\n@attribute a real\n@data\n1,2\n", "called “a” too"),
        (HEAD + "\n".join(LINES).replace("0.25", "1e999") + "\n", "the value is infinite"),
    ],
)
def test_what_is_refused(tmp_path: Path, refusal, text: str, words: str) -> None:
    assert words in refusal(written(tmp_path / "a.arff", text))


def test_words_among_declared_numbers(tmp_path: Path) -> None:
    text = "@relation r\n@attribute p real\n@attribute y {a,b}\n@data\n"
    text += "".join(f"{i / 2},{'ab'[i % 2]}\n" for i in range(40)) + "lost,a\n"
    dataset = read_dataset(str(written(tmp_path / "a.arff", text)))
    assert any("“lost”" in f.sentence for f in dataset.findings)
    assert np.isnan(dataset.table["p"].iloc[40])
