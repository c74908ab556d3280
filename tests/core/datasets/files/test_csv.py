"""CSV files in every usual way of writing come out as the table that was written."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from packing import PACKERS
from recorded_calls import agree, recorded_table

from core.datasets.files import csv_table
from core.datasets.files.sniffing import sniff_dialect
from core.datasets.files.table_reader import LONGEST_NAME
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError

Write = Callable[..., str]


NAMES = ["size", "colour", "weight", "kind"]


def table_text(delimiter: str = ",", decimal: str = ".", header: bool = True) -> str:
    lines = [delimiter.join(NAMES)] if header else []
    for i in range(40):
        colour = ("red", "green", "blue")[i % 3]
        weight = f"{i * 0.25 + 0.5}".replace(".", decimal)
        lines.append(delimiter.join((str(i * 3 % 17), colour, weight, ("yes", "no")[i % 2])))
    return "\n".join(lines) + "\n"


ENCODINGS = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "cp1252": "Windows-1252", "utf-16": "UTF-16"}


@pytest.mark.parametrize(
    ("delimiter", "decimal"),
    [(",", "."), *((sign, mark) for sign in (";", "\t", "|", " ", "   ") for mark in ".,")],
)
@pytest.mark.parametrize("header", [True, False])
def test_delimiters_decimals_headers_and_encodings(write, delimiter, decimal, header):
    text = table_text(delimiter, decimal, header).replace("blue", "grün")
    encoding = list(ENCODINGS)[(ord(delimiter[0]) + ord(decimal) + header) % 4]
    dataset = read_dataset(write(text, encoding=encoding))
    assert (dataset.rows, dataset.task, dataset.classes) == (40, "binary", ("no", "yes"))
    names = NAMES if header else [f"column {i}" for i in (1, 2, 3, 4)]
    assert [column.name for column in dataset.columns] == names
    np.testing.assert_array_equal(dataset.table[names[2]], np.arange(40) * 0.25 + 0.5)
    assert set(dataset.table[names[1]]) == {"red", "green", "grün"}
    assert ENCODINGS[encoding] in dataset.source.described
    agree(dataset)


@pytest.mark.parametrize("ending", ["gz", "csv"])
@pytest.mark.parametrize("pack", PACKERS)
def test_compression_is_told_by_content(write: Write, pack: str, ending: str) -> None:
    dataset = read_dataset(write(PACKERS[pack](table_text().encode()), f"table.{ending}"))
    assert (dataset.rows, dataset.source.compression) == (40, pack)
    agree(dataset)


def test_missing_values_in_their_usual_spellings(write: Write) -> None:
    spellings = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-", ".", "n/a"]
    lines = [f"{i * 7 % 31}.5,{'ab'[i % 2]},{'uv'[i // 2 % 2]}" for i in range(40)]
    lines += [f"{missing},{missing},u" for missing in spellings]
    dataset = read_dataset(write("x,w,y\n" + "\n".join(lines) + "\n"))
    numbers, words, _ = dataset.columns
    assert (numbers.kind, numbers.missing) == ("number", len(spellings))
    # Among words some of them are words: Namibia, a house without a garage.
    assert words.missing == len(spellings) - 4
    assert set(words.categories) == {"a", "b", "NA", "None", "-", "."}
    assert {reading.column: reading.sentence for reading in dataset.readings} == {
        "w": "“NA”, “None”, “-” … is a value of its own (4 rows); "
        "“N/A”, “NaN”, “nan” … counts as missing (7 rows)",
        "x": "“NA”, “N/A”, “NaN” … counts as missing (11 rows)",
    }
    again = read_dataset(dataset.source.path, DataOptions(readings={"w": "missing"})).columns[1]
    assert (again.missing, again.categories) == (len(spellings), ("a", "b"))
    agree(dataset)


def test_padded_cells_as_in_the_adult_file(write: Write) -> None:
    lines = [
        f"{i % 50 + 17}, {('Private', '?', 'Gov')[i % 3]}, {'<=50K' if i % 2 else '>50K'}"
        for i in range(60)
    ]
    dataset = read_dataset(write("\n".join(lines), "adult.data"))
    assert dataset.classes == ("<=50K", ">50K")
    assert dataset.columns[1].missing == 20
    agree(dataset)


@pytest.mark.parametrize("mark", ["\u2028", "\x0c", "\x85"])
def test_what_ends_no_line_of_a_table(write: Write, mark: str) -> None:
    rows = "".join(f"{i},a{mark}b{i % 3},{i % 2}\n" for i in range(20))
    text = f"si{mark}ze,words{mark}here,y\n" + rows
    names = [f"si{mark}ze", f"words{mark}here", "y"]
    assert sniff_dialect(text.encode(), "table.csv", complete=True).names == names
    assert [column.name for column in read_dataset(write(text)).columns] == names


@pytest.mark.parametrize(
    "header", ["size ,kind\t, y ", " size,kind,y", '" size "," kind","y"', "size\u00a0,kind,y"]
)
def test_blanks_around_names_are_no_part_of_them(write: Write, header: str) -> None:
    rows = "".join(f"{i},{'0' * (i % 3)}{i % 7},{i % 2}\n" for i in range(20))
    file = write(header + "\n" + rows)
    assert sniff_dialect(Path(file).read_bytes(), "", complete=True).names == ["size", "kind", "y"]
    for target in ("y", " y "):
        choices = DataOptions(
            target=target, kinds={"kind ": "category"}, roles={" size": "feature"}
        )
        dataset = read_dataset(file, choices)
        assert [column.name for column in dataset.columns] == ["size", "kind", "y"]
        assert dataset.target_name == "y"
        assert dataset.table["kind"].tolist()[:3] == ["0", "01", "002"]
        agree(dataset)


@pytest.mark.parametrize("header", ["p,q,r", "p ,q ,r "])
@pytest.mark.parametrize("style", ["rows", "header and rows", "row names", "title"])
def test_trailing_delimiters_row_names_and_titles(write: Write, header: str, style: str) -> None:
    rows = [f"{i * 3 % 17},{' NA ' if i % 5 == 0 else i * 1.5},{'ab'[i % 2]}" for i in range(40)]
    text = {
        "rows": f"{header}\n" + ",\n".join(rows) + ",\n",
        "header and rows": f"{header},\n" + ",\n".join(rows) + ",\n",
        "row names": f"{header}\n" + "".join(f"row{i},{row}\n" for i, row in enumerate(rows)),
        "title": f"A table\n\n{header}\n" + "\n".join(rows) + "\n",
    }[style]
    dataset = read_dataset(write(text))
    assert (dataset.target_name, dataset.feature_names) == ("r", ["p", "q"])
    assert dataset.table["p"].tolist() == [i * 3 % 17 for i in range(40)]
    wanted = [np.nan if i % 5 == 0 else i * 1.5 for i in range(40)]
    np.testing.assert_array_equal(dataset.table["q"], wanted)
    assert {finding.column for finding in dataset.findings} <= {"", "Unnamed: 3"}
    agree(dataset)
    # The words for nothing without blanks around them are pandas' to find.
    plain = read_dataset(write(text.replace(" NA ", "NA")))
    np.testing.assert_array_equal(plain.table["q"], wanted)
    agree(plain)


def test_kinds_of_columns(write: Write) -> None:
    rows = []
    for i in range(60):
        day = f"2024-{i % 12 + 1:02d}-{i % 28 + 1:02d}"
        rows.append(
            f"{1000 + i * 7},{day},{i % 28 + 1}/3/2024,{'yes' if i % 3 else 'no'},{i % 2},same,"
            f",the quick brown fox number {i} jumps over it,{'abc'[i % 3]},{i * 0.37 % 3:.3f}"
        )
    header = "customer_id,day,other_day,flag,bit,fixed,empty,remark,letter,amount\n"
    dataset = read_dataset(write(header + "\n".join(rows)))
    kinds = {column.name: (column.kind, column.role) for column in dataset.columns}
    assert kinds == {
        "customer_id": ("identifier", "ignore"),
        "day": ("date", "feature"),
        "other_day": ("date", "feature"),
        "flag": ("yes/no", "feature"),
        "bit": ("yes/no", "feature"),
        "fixed": ("constant", "ignore"),
        "empty": ("constant", "ignore"),
        "remark": ("text", "feature"),
        "letter": ("category", "feature"),
        "amount": ("number", "target"),
    }
    assert all(column.note for column in dataset.columns if column.role == "ignore")
    formats = {column.name: column.date_format for column in dataset.columns}
    assert (formats["day"], formats["other_day"]) == ("ISO8601", "%d/%m/%Y")
    left_out = {finding.column for finding in dataset.findings}
    assert {"customer_id", "fixed", "empty", "remark"} <= left_out
    agree(dataset)


def test_choices_of_a_person_come_first(write: Write) -> None:
    text = "id,code,x,y,z\n" + "".join(f"{i},{i % 4},{i % 9},{i % 3},{i % 2}\n" for i in range(60))
    dataset = read_dataset(
        write(text),
        DataOptions(
            target="z",
            roles={"id": "feature", "x": "group", "y": "ignore"},
            kinds={"code": "category"},
        ),
    )
    assert dataset.target_name == "z"
    assert dataset.feature_names == ["id", "code"]
    assert dataset.table["code"].tolist()[:3] == ["0", "1", "2"]
    assert len(np.unique(dataset.row_groups)) == 9
    agree(dataset)


def test_text_that_only_begins_below_the_head(write: Write) -> None:
    body = "1.25,3.5,0\n2.5,4.25,1\n" * 50_000
    dataset = read_dataset(write("p,q,y\n" + body + "many,3.5,0\nfew,1.5,1\n" * 6_000))
    assert dataset.columns[0].kind == "category"
    assert dataset.table["p"].iloc[0] == "1.25"
    agree(dataset)


def test_rows_without_a_target_are_counted_and_left_out(write: Write) -> None:
    text = "p,q,y\n" + "".join(f"{i % 7},{i},{'' if i % 10 == 0 else i % 2}\n" for i in range(50))
    dataset = read_dataset(write(text))
    assert (dataset.rows, dataset.set_aside, len(dataset.table)) == (45, 5, 45)
    assert dataset.classes == (0, 1)
    assert dataset.target.dtype.kind == "i"


@pytest.mark.parametrize(
    ("header", "wanted"),
    [("Label,b,c", "Label"), ("a,CLASS,c", "CLASS"), ("a,b,c", "c"), ("y,target,c", "target")],
)
def test_the_usual_target(write: Write, header: str, wanted: str) -> None:
    text = header + "\n" + "".join(f"{i % 2},{i % 3 % 2},{i % 5 % 2}\n" for i in range(40))
    assert read_dataset(write(text)).target_name == wanted


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"], "binary"),
        (["a", "b", "c"], "multiclass"),
        (["0", "1"], "binary"),
        (["1", "2", "3", "4"], "multiclass"),
        ([str(code) for code in range(26)], "multiclass"),
        ([f"{i * 0.37:.2f}" for i in range(50)], "regression"),
        ([str(i * i) for i in range(15)], "regression"),
        (["0.5", "1.5", "2.5"], "regression"),
        (["0.5", "1.5"], "regression"),
    ],
)
def test_the_task_follows_from_the_target(write: Write, values: list[str], task: str) -> None:
    lines = [f"{i % 7},{values[i % len(values)]}" for i in range(12 * len(values))]
    assert read_dataset(write("x,y\n" + "\n".join(lines))).task == task


def test_the_task_can_be_chosen(write: Write) -> None:
    path = write("x,y\n" + "".join(f"{i % 7},{i % 4}\n" for i in range(60)))
    assert read_dataset(path).task == "multiclass"
    chosen = read_dataset(path, DataOptions(task="regression"))
    assert chosen.task == "regression"
    assert chosen.target.dtype == float
    with pytest.raises(UnusableError, match="4 different values"):
        read_dataset(path, DataOptions(task="binary"))


def test_classes_with_fractions_are_labels_when_they_are_a_category(write: Write) -> None:
    path = write("x,y\n" + "".join(f"{i % 7},{i % 2 + 0.5}\n" for i in range(60)))
    with pytest.raises(UnusableError, match="numbers with fractions"):
        read_dataset(path, DataOptions(task="binary"))
    dataset = read_dataset(path, DataOptions(kinds={"y": "category"}))
    assert (dataset.task, dataset.classes) == ("binary", ("0.5", "1.5"))
    agree(dataset)


NUMBERED = "".join(f"{i / 7:.3f},{i % 9},{i * 0.3:.1f},{i * i}\n" for i in range(40))
LETTERS = "".join(f"{'pe'[i % 2]},{'xsbf'[i % 4]},{'yn'[i // 3 % 2]}\n" for i in range(40))


@pytest.mark.parametrize(
    ("text", "names", "lines_above"),
    [
        ("0,1,2,3\n" + NUMBERED, ["0", "1", "2", "3"], 0),
        (LETTERS, ["column 1", "column 2", "column 3"], 0),
        ("#" + table_text(), ["#size", *NAMES[1:]], 0),
        *(
            (above + table_text(), NAMES, count)
            for above, count in {
                "# made by hand\n# one, two, three, four\n": 2,
                "Weights of parcels\n\n": 2,
                "sep=,\n": 1,
                "\n": 1,
                '# from 5" pipes\n': 1,
                '# "small" things\n': 1,
                '#,"closed, here"\n': 1,
            }.items()
        ),
    ],
    ids=itertools.count(),
)
def test_headers_and_lines_above_them(write, text, names, lines_above):
    dataset = read_dataset(write(text))
    assert dataset.rows == 40
    assert [column.name for column in dataset.columns] == names
    assert dataset.source.read_csv.get("skiprows", 0) == lines_above
    agree(dataset)


def test_an_open_quote_above_the_table_swallows_nothing(write: Write) -> None:
    text = '#,"5 inch\na,b,y\n1,2,x\n3,4,"z"\n5,6,x\n7,8,z\n9,9,z\n'
    with pytest.raises(UnusableError, match=r"line 1: a note above the table opens a quote"):
        read_dataset(write(text))


def test_a_second_file_is_read_like_the_first(write: Write) -> None:
    first = "x,c,y\n" + "".join(f"{i % 7},{'12a'[i % 3]},{i % 2}\n" for i in range(60))
    second = "y;c;x;more\n" + "".join(f"{i % 2};{i % 2 + 1};{i},5;u\n" for i in range(20))
    dataset = read_dataset(write(first, "train.csv"), test_file=write(second, "test.csv"))
    test = dataset.test
    assert test is not None
    assert test.rows == 20
    assert list(test.table.columns) == ["x", "c"]
    assert test.table["x"].iloc[1] == 1.5
    assert test.table["c"].tolist()[:2] == ["1", "2"]
    plain = recorded_table(test.source)
    pd.testing.assert_frame_equal(plain[["x", "c"]], test.table, check_exact=True)


def test_new_classes_in_the_second_file_are_found(write: Write) -> None:
    first = write("x,y\n" + "".join(f"{i % 7},{'ab'[i % 2]}\n" for i in range(40)), "one.csv")
    second = write("x,y\n1,a\n2,z\n3,b\n", "two.csv")
    dataset = read_dataset(str(first), test_file=str(second))
    assert dataset.test is not None
    assert "“z”" in dataset.test.findings[0].sentence


def test_letters_of_windows_1252_come_at_any_place(write: Write) -> None:
    word = "„größe“ – 5 €, œuvre"
    rows = [f"{i};{word if i == 39 else 'plain'};{'ab'[i % 2]}" for i in range(40)]
    for above in (0, 40_000):  # in the first megabyte, and below it
        more = [f"{i};a plain word or two;{'ab'[i % 2]}" for i in range(above)]
        path = write("\n".join(["n;word;kind", *more, *rows]) + "\n", encoding="cp1252")
        dataset = read_dataset(str(path), DataOptions(roles={"word": "feature"}))
        assert dataset.table["word"].iloc[-1] == word
        assert dataset.source.read_csv["encoding"] == "cp1252"
    odd = b"n;word;kind\n" + b"".join(b"%d;\x81\xe4;%d\n" % (i, i % 2) for i in range(40))
    dataset = read_dataset(write(odd), DataOptions(roles={"word": "feature"}))
    assert dataset.source.read_csv["encoding"] == "latin-1"  # 0x81 is none of Windows-1252


@pytest.mark.parametrize(("word", "missing"), [("NA", 70), ("abc", 70), ("true", 70), ("", 70)])
def test_words_below_the_first_rows_of_a_column_of_numbers(write, word, missing):
    cells = [f"{i % 97}.5" if i < 630 or i % 2 else word for i in range(770)]
    rows = "".join(f"{cell},{i % 3}.25,{i % 2}\n" for i, cell in enumerate(cells))
    dataset = read_dataset(write("x,z,y\n" + rows))
    column = dataset.columns[0]
    assert (column.kind, column.missing) == ("number", missing)
    assert dataset.table is not None
    known = dataset.table["x"].dropna().tolist()
    assert known == [float(cell) for cell in cells if cell != word]


@pytest.mark.parametrize("extra", [0, 1])
def test_a_name_of_any_length_is_read_or_refused(write: Write, extra: int) -> None:
    name = "n" * (LONGEST_NAME + extra)
    path = write(f"a,{name},y\n" + "1,2,3\n2,3,4\n" * 20)
    if not extra:
        assert read_dataset(str(path)).table.columns[1] == name
        return
    with pytest.raises(UnusableError, match=r"the name of column 2 has 10,001 characters"):
        read_dataset(str(path))


def test_blank_lines_at_the_beginning_reserve_no_rows(tmp_path):
    path = tmp_path / "blank.csv"
    path.write_text("a,b\n" + "\n" * 2000 + "1.5,2.5\n" * 1000)
    assert csv_table._estimated_rows(path) == pytest.approx(1000, rel=0.2)
