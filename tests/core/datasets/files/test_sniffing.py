"""Names, headers and tables of one column."""

from __future__ import annotations

import csv
import gzip
import unicodedata
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_calls import recorded_table

from core.datasets.dataset import Dataset
from core.datasets.files.csv_table import TextFile
from core.datasets.files.registry import open_table
from core.datasets.files.table_reader import unique_names
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.export.bundle.csv_rows import columns_of
from core.export.own_table.answer_rows import Answers
from core.export.own_table.own_table import output_form, own_table_of, write_own_table

Write = Callable[..., str]


def test_a_repeated_name_is_numbered_and_said():
    names, findings = unique_names(["id", "a", "price", "b", "c", "d", "price"], "t.csv")
    assert names == ["id", "a", "price", "b", "c", "d", "price (2)"]
    assert [finding.sentence for finding in findings] == [
        "Two columns are called “price” (columns 3 and 7): the second one is read as “price (2)”."
    ]
    assert findings[0].column == "price"


def test_a_number_that_another_column_has_already_is_passed_over():
    names, findings = unique_names(["x", "x (2)", "x", "x"], "t.csv")
    assert names == ["x", "x (2)", "x (3)", "x (4)"]
    assert "3 columns are called “x” (columns 1, 3 and 4)" in findings[0].sentence
    assert "“x (3)” and “x (4)”" in findings[0].sentence


def test_blanks_letters_of_two_signs_and_empty_names():
    decomposed = unicodedata.normalize("NFD", "Größe")
    names, findings = unique_names([" Größe ", decomposed, "", "\u00a0"], "t.csv")
    assert names == ["Größe", "Größe (2)", "Unnamed: 2", "Unnamed: 3"]
    assert len(findings) == 1


def test_thousands_of_equal_names_are_few_sentences():
    names, findings = unique_names(["a"] * 3000 + [f"b{i % 1000}" for i in range(3000)], "t.csv")
    assert len(set(names)) == 6000
    assert len(findings) <= 6
    assert max(len(finding.sentence) for finding in findings) < 300


@given(st.lists(st.sampled_from(["", "a", "a (2)", "a (3)", " a", "b", "b (2)"]), max_size=12))
def test_the_names_differ_and_first_ones_keep_theirs(given_names):
    names, findings = unique_names(given_names, "t.csv")
    assert len(set(names)) == len(names) == len(given_names)
    bare = [name.strip() for name in given_names]
    for i, name in enumerate(bare):
        if name and name not in bare[:i]:
            assert names[i] == name
    assert bool(findings) == (len({n for n in bare if n}) < len([n for n in bare if n]))


BODY = [[f"{i * 1.5}", str(i % 13), "abc"[i % 3]] for i in range(60)]
NAMES, UNITS = ["weight", "speed", "kind"], ["kg", "m/s", ""]


def written(path: Path, rows: list[list[str]]) -> Path:
    if path.suffix == ".xlsx":
        from sheet_books import xlsx

        cells = [[float(c) if c.replace(".", "").isdigit() else c for c in row] for row in rows]
        return xlsx(path, cells)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return path


def kinds(dataset: Dataset) -> dict[str, str]:
    return {column.name: column.kind_text for column in dataset.columns}


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize(
    "above",
    [
        [["Yields", "2024", "Region A"], ["made by", "Anna"]],
        [["Report", "", ""], ["of", "2024-01-05", ""], ["", "", ""]],
        [["All", "of", "it"]],
        [["1", "Title", "here"]],
    ],
)
@pytest.mark.parametrize("units", [[], ["(kg)", "[m/s]", ""], ["kg", "m/s", "-"]])
def test_the_names_stand_above_cells_of_one_kind(tmp_path, ending, above, units):
    rows = [*above, NAMES, *([units] if units else []), *BODY]
    dataset = read_dataset(str(written(tmp_path / f"a.{ending}", rows)))
    suffixes = (", kg", ", m/s") if units else ("", "")
    expected = [f"number{suffixes[0]}", f"number{suffixes[1]}", "category"]
    assert kinds(dataset) == dict(zip(NAMES, expected, strict=True))
    assert dataset.rows == len(BODY)
    assert dataset.table["weight"].tolist() == [float(row[0]) for row in BODY]
    assert not any("missing" in finding.sentence for finding in dataset.findings)
    table = open_table(str(tmp_path / f"a.{ending}"))
    filled = [row for row in rows if any(row)] if isinstance(table, TextFile) else rows
    assert table.read({}).line_of(0) == len(filled) - len(BODY) + 1 + (len(rows) - len(filled))


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize(
    ("second", "missing"),
    [
        (["broken", "3", "a"], 1),  # a word among numbers is a stray, and no unit
        (["NA", "NA", "b"], 1),
        (["", "", "c"], 1),
        (["1.5", "2", "kg"], 0),
    ],
)
def test_a_first_row_is_no_row_of_units(tmp_path, ending, second, missing):
    dataset = read_dataset(str(written(tmp_path / f"a.{ending}", [NAMES, second, *BODY])))
    assert list(kinds(dataset)) == NAMES
    assert dataset.rows + dataset.set_aside == len(BODY) + 1
    assert next(c for c in dataset.columns if c.name == "weight").missing == missing


@pytest.mark.parametrize(
    ("names", "second"),
    [
        (["weight", "speed", "kind", "colour", "size"], ["", "", "odd", "one", "out"]),
        (["weight", "speed", "kind", "colour", "size"], ["word", "other", "a", "new", "text"]),
        (["name", "colour"], ["n1", "red"]),
    ],
)
def test_a_first_row_without_its_numbers_is_a_row(tmp_path, names, second):
    rows = [[f"{i * 1.5}", str(i % 13), *("abc"[(i + j) % 3] for j in range(3))] for i in range(60)]
    if len(names) == 2:  # words alone
        rows = [[f"n{i % 9}", ["red", "green"][i % 2]] for i in range(60)]
    dataset = read_dataset(str(written(tmp_path / "a.csv", [names, second, *rows])))
    assert [column.name for column in dataset.columns] == names


def test_new_rows_may_lack_the_units_or_write_them_in_the_cells(tmp_path: Path) -> None:
    train = written(tmp_path / "a.csv", [["Yields", "", ""], NAMES, UNITS, *BODY])
    plain = written(tmp_path / "b.csv", [NAMES, *BODY[:20]])
    signed = [[f"{w} kg", f"{s} m/s", k] for w, s, k in BODY[:20]]
    for new in (plain, written(tmp_path / "c.csv", [NAMES, *signed]), train):
        test = read_dataset(str(train), test_file=str(new)).test
        assert test.table["weight"].tolist()[:20] == [float(row[0]) for row in BODY[:20]]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_answers_stand_behind_the_names_and_the_units_stay(tmp_path: Path, ending: str) -> None:
    rows = [["Yields", "", ""], NAMES, UNITS, *BODY]
    table = open_table(str(written(tmp_path / f"a.{ending}", rows)))
    out, answers = tmp_path / f"b.{ending}", Answers([pd.DataFrame({"answer": range(len(BODY))})])
    write_own_table(out, output_form(out, table), own_table_of(table), answers)
    if ending == "xlsx":
        cells = pd.read_excel(out, header=None, dtype=str, engine="openpyxl")
    else:
        cells = pd.read_csv(out, header=None, dtype=str, names=range(4))
    assert cells[3].fillna("").tolist()[1:4] == ["answer", "", "0"]
    assert cells[0][2] == "kg"


NOUNS = [
    *("anchor", "harbour", "sailor", "butter", "onion", "recipe"),
    *("planet", "rocket", "comet", "kettle", "garden", "window"),
]


def prose() -> list[str]:
    """Sixty sentences of different lengths, with commas and semicolons here and there."""
    random = np.random.default_rng(0)
    texts = []
    for _ in range(60):
        words = list(random.choice(NOUNS, random.integers(4, 30)))
        for place in random.integers(0, len(words) - 1, random.integers(0, 4)):
            words[place] = words[place].rstrip(",;") + random.choice([",", ",", ";"])
        texts.append(" ".join(words).capitalize() + ".")
    return texts


MIXED = "\n or \r\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", MIXED])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("header", ["review text", ""])
@pytest.mark.parametrize("quoted", [False, True])
def test_every_line_is_a_text(write: Write, end: str, mark: str, header: str, quoted: bool) -> None:
    texts = prose()
    lines = [*([header] if header else []), *(f'"{text}"' if quoted else text for text in texts)]
    ends = ["\n", "\r\n"] if end == MIXED else [end, end]
    content = mark + "".join(line + ends[i % 2] for i, line in enumerate(lines))
    dataset = read_dataset(write(content.encode()))
    assert (dataset.task, dataset.feature_names) == ("topics", [header or "column 1"])
    assert dataset.table.iloc[:, 0].tolist() == texts
    assert recorded_table(dataset.source).iloc[:, 0].tolist() == texts
    if header:
        cells, lines_of = columns_of(content.removeprefix("\ufeff"), [header])
        assert cells[header] == texts
        assert len(lines_of) == 60


NUMBERS = [*prose()[:4], "12", *prose()[5:9], "3.5", *prose()[10:]]
PAIRS = [(a, b) for a in NOUNS for b in NOUNS]
LONG = [" ".join(NOUNS * 13_000), *prose()[1:]]


@pytest.mark.parametrize(
    "texts",
    [
        *([f"The {a}{comma} and after it the {b}" for a, b in PAIRS] for comma in (",", " ,", ";")),
        [f"{a} {b}" for a, b in PAIRS],
        NUMBERS,
        LONG,
    ],
    ids=["commas", "spaced commas", "semicolons", "two words", "numbers", "a million letters"],
)
def test_signs_within_texts_are_no_delimiters(write: Write, texts: list[str]) -> None:
    csv.field_size_limit(131_072)  # as in a new process
    content = "text\n" + "\n".join(texts) + "\n"
    for choices in (DataOptions(target="text", task="topics"), DataOptions(task="topics")):
        dataset = read_dataset(write(content), choices)
        assert dataset.table["text"].tolist() == texts
    assert columns_of(content, ["text"])[0]["text"] == texts


def test_the_given_target_decides_between_delimiters(write: Write) -> None:
    rows = [f"{text.replace(';', '')};{i % 2};{i}" for i, text in enumerate(prose())]
    path = write("body;label;number\n" + "\n".join(rows) + "\n")
    assert read_dataset(path, DataOptions(target="body", task="topics")).rows == 60
    options = DataOptions(target="label", roles={"body": "ignore"})
    assert read_dataset(path, options).classes == (0, 1)
    path = write("wish;list\n" + "\n".join(f"the {a};{b}" for a, b in PAIRS) + "\n")
    whole = read_dataset(path, DataOptions(target="wish;list", task="topics"))
    assert whole.table["wish;list"].iloc[1] == "the anchor;harbour"


@pytest.mark.parametrize("above", ["", "Measurements\n", "# made by hand\n"])
def test_blanks_still_divide_tables_of_numbers(write: Write, above: str) -> None:
    rows = [f"{i % 7}   {i * 0.5} {'ab'[i % 2]}" for i in range(40)]
    dataset = read_dataset(write(above + "p q r\n" + "\n".join(rows) + "\n"))
    assert (dataset.feature_names, dataset.rows) == (["p", "q"], 40)


@pytest.mark.parametrize("header", ["a\n", ""])
@pytest.mark.parametrize("pack", [str.encode, lambda text: gzip.compress(text.encode())])
def test_empty_cells_in_quotes_are_missing(write, header, pack):
    raw = open_table(write(pack(header + '""\n' * 20))).read({})
    assert raw.table.shape == (20, 1)
    assert raw.table.isna().to_numpy().all()
    assert raw.table.dtypes.iloc[0].kind == "f"  # as a column of empty cells
    assert "quotes" not in raw.source.described


def test_an_empty_text_in_quotes_is_a_row(write: Write) -> None:
    raw = open_table(write('text\n"one two, three"\n""\n\n  \n"four, five"\n')).read({})
    assert raw.table["text"].isna().tolist() == [False, True, False]
    assert [raw.line_of(row) for row in range(4)] == [2, 3, 6, 0]
