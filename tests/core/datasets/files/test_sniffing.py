"""Names, headers and tables of one column."""

from __future__ import annotations

import csv
import gzip
import json
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.datasets.dataset import Dataset
from core.datasets.files.csv_table import TextFile
from core.datasets.files.registry import open_table
from core.datasets.files.table_reader import unique_names
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.export.bundle.csv_rows import columns_of
from core.export.own_table.answer_rows import Answers
from core.export.own_table.own_table import output_form, own_table_of, write_own_table


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


def written(path: Path, rows: list[list[str]], delimiter: str = ",") -> Path:
    if path.suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([float(c) if c.replace(".", "").isdigit() else c for c in row])
        book.save(path)
        return path
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
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
def test_the_names_stand_above_cells_of_one_kind(
    tmp_path: Path, ending: str, above: list[list[str]], units: list[str]
) -> None:
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
def test_a_first_row_is_no_row_of_units(
    tmp_path: Path, ending: str, second: list[str], missing: int
) -> None:
    dataset = read_dataset(str(written(tmp_path / f"a.{ending}", [NAMES, second, *BODY])))
    assert list(kinds(dataset)) == NAMES
    assert dataset.rows + dataset.set_aside == len(BODY) + 1
    assert next(c for c in dataset.columns if c.name == "weight").missing == missing


@pytest.mark.parametrize(
    "second", [["", "", "odd", "one", "out"], ["word", "other", "a", "new", "text"]]
)
def test_a_first_row_without_its_numbers_is_a_row(tmp_path: Path, second: list[str]) -> None:
    rows = [[f"{i * 1.5}", str(i % 13), *("abc"[(i + j) % 3] for j in range(3))] for i in range(60)]
    names = ["weight", "speed", "kind", "colour", "size"]
    dataset = read_dataset(str(written(tmp_path / "a.csv", [names, second, *rows])))
    assert [column.name for column in dataset.columns] == names


def test_a_table_of_words_stays(tmp_path: Path) -> None:
    words = [["name", "colour"], *([f"n{i % 9}", ["red", "green"][i % 2]] for i in range(40))]
    assert list(kinds(read_dataset(str(written(tmp_path / "b.csv", words))))) == ["name", "colour"]


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
        import openpyxl

        cells = [[cell.value for cell in row] for row in openpyxl.load_workbook(out).active.rows]
        cells = [[*row, *[None] * (4 - len(row))] for row in cells]
    else:
        cells = list(csv.reader(out.read_text().splitlines()))
    assert [row[3] in (None, "") for row in cells[1:4]] == [False, True, False]
    assert [cells[1][3], str(cells[3][3]), cells[2][0]] == ["answer", "0", "kg"]


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
@pytest.mark.parametrize("header", ["review text", ""])
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
