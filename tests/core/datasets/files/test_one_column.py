"""Files of one column of texts: never cut at blanks or commas, with or without a header."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.files.table_file import open_table
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.export.bundle.csv_rows import columns_of

NOUNS = [
    *("anchor", "harbour", "sailor", "butter", "onion", "recipe"),
    *("planet", "rocket", "comet", "kettle", "garden", "window"),
]


def prose(count: int = 60, seed: int = 0, comma: str = ",") -> list[str]:
    """Sentences of different lengths, with commas and semicolons here and there."""
    random = np.random.default_rng(seed)
    texts = []
    for _ in range(count):
        words = list(random.choice(NOUNS, random.integers(4, 30)))
        for place in random.integers(0, len(words) - 1, random.integers(0, 4)):
            words[place] = words[place].rstrip(",;") + random.choice([comma, comma, ";"])
        texts.append(" ".join(words).capitalize() + ".")
    return texts


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("header", ["text", "review text", "Comment", ""])
@pytest.mark.parametrize("quoted", [False, True])
def test_every_line_is_a_text(
    tmp_path: Path, end: str, mark: str, header: str, quoted: bool
) -> None:
    texts = prose()
    lines = [f'"{text}"' if quoted else text for text in texts]
    path = tmp_path / "texts.csv"
    path.write_bytes((mark + end.join(([header] if header else []) + lines) + end).encode())
    dataset = read_dataset(str(path))
    assert (dataset.task, dataset.feature_names) == ("topics", [header or "column 1"])
    assert dataset.table.iloc[:, 0].tolist() == texts
    again = pd.read_csv(path, **json.loads(json.dumps(dict(dataset.source.read_csv))))
    assert again.iloc[:, 0].tolist() == texts
    if header:
        cells, lines_of = columns_of(path.read_bytes().decode("utf-8-sig"), [header])
        assert cells[header] == texts
        assert len(lines_of) == 60


@pytest.mark.parametrize("comma", [",", " ,", ";"])
def test_a_comma_in_every_text_is_no_delimiter(tmp_path: Path, comma: str) -> None:
    texts = [f"The {a}{comma} and after it the {b}" for a in NOUNS for b in NOUNS]
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "\n".join(texts) + "\n")
    dataset = read_dataset(str(path), DataOptions(target="text", task="topics"))
    assert dataset.table["text"].tolist() == texts


def test_the_given_target_decides_between_delimiters(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    rows = [f"{text.replace(';', '')};{i % 2};{i}" for i, text in enumerate(prose(comma=","))]
    path.write_text("body;label;number\n" + "\n".join(rows) + "\n")
    assert read_dataset(str(path), DataOptions(target="body", task="topics")).rows == 60
    assert read_dataset(
        str(path), DataOptions(target="label", roles={"body": "ignore"})
    ).classes == (0, 1)
    path.write_text("wish;list\n" + "\n".join(f"the {a};{b}" for a in NOUNS for b in NOUNS) + "\n")
    whole = read_dataset(str(path), DataOptions(target="wish;list", task="topics"))
    assert whole.table["wish;list"].iloc[1] == "the anchor;harbour"


def test_texts_of_two_words_are_one_column_below_a_name(tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    texts = [f"{a} {b}" for a in NOUNS for b in NOUNS]
    path.write_text("text\n" + "\n".join(texts) + "\n")
    assert read_dataset(str(path), DataOptions(task="topics")).table["text"].tolist() == texts


def test_a_number_among_the_texts_stays(tmp_path: Path) -> None:
    texts = prose()
    texts[4], texts[9] = "12", "3.5"
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "\n".join(texts) + "\n")
    assert read_dataset(str(path)).table["text"].tolist() == texts


def test_blanks_still_divide_tables_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    rows = [f"{i % 7}   {i * 0.5} {'ab'[i % 2]}" for i in range(40)]
    for above in ("", "Measurements\n", "# made by hand\n"):
        path.write_text(above + "p q r\n" + "\n".join(rows) + "\n")
        dataset = read_dataset(str(path))
        assert dataset.feature_names == ["p", "q"]
        assert dataset.rows == 40


def test_a_title_above_and_uneven_rows_are_still_told(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = "".join(f"{i % 7},{i * 1.5},{'ab'[i % 2]}\n" for i in range(40))
    path.write_text("Results of March\n\np,q,r\n" + rows)
    assert read_dataset(str(path)).feature_names == ["p", "q"]
    path.write_text("p,q,r\n" + rows + "1,2\n" + rows)
    with pytest.raises(UnusableError, match="line 42: the row has 2 values"):
        read_dataset(str(path))


HOSTILE = {
    "only a header": ("text\n", "no row below the header"),
    "blank": ("\n \n", "the file is empty"),
    "a mark alone": ("\ufeff", "there is no row"),
    "NUL": ("text\n" + "\n".join(prose(20)) * 100 + "a\0b\n", "there is a NUL byte"),
    "an open quote": ('"text"\n"' + "\n".join(prose()) + "\n", "opens here and is not closed"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_unusable_files_of_texts(tmp_path: Path, case: str) -> None:
    path = tmp_path / "texts.csv"
    path.write_bytes(HOSTILE[case][0].encode())
    with pytest.raises(UnusableError) as caught:
        read_dataset(str(path))
    assert HOSTILE[case][1] in caught.value.sentence
    assert "\n" not in caught.value.sentence


def test_a_text_of_a_million_letters(tmp_path: Path) -> None:
    texts = prose()
    texts[0] = " ".join(NOUNS * 13_000)
    assert len(texts[0]) > 10**6
    csv.field_size_limit(131_072)  # as in a new process
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "\n".join(texts) + "\n")
    dataset = read_dataset(str(path))
    assert dataset.table["text"].tolist() == texts
    assert columns_of(path.read_text(), ["text"])[0]["text"] == texts


def test_mixed_line_ends(tmp_path: Path) -> None:
    texts = prose()
    path = tmp_path / "texts.csv"
    path.write_bytes(
        b"text\r\n" + b"".join(t.encode() + (b"\n", b"\r\n")[i % 2] for i, t in enumerate(texts))
    )
    assert read_dataset(str(path)).table["text"].tolist() == texts


@pytest.mark.parametrize("header", ["a\n", ""])
@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_empty_cells_in_quotes_are_missing(tmp_path: Path, header: str, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    data = (header + '""\n' * 20).encode()
    path.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    raw = open_table(str(path)).read({})
    assert raw.table.shape == (20, 1)
    assert raw.table.isna().to_numpy().all()
    assert raw.table.dtypes.iloc[0].kind == "f"  # as a column of empty cells
    assert "quotes" not in raw.source.described


def test_an_empty_text_in_quotes_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('text\n"one two, three"\n""\n\n  \n"four, five"\n')
    raw = open_table(str(path)).read({})
    assert raw.table["text"].isna().tolist() == [False, True, False]
    assert [raw.line_of(row) for row in range(4)] == [2, 3, 6, 0]
