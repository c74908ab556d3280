"""Every unusable file gives one sentence with the place and a cure, and costs little memory."""

from __future__ import annotations

import bz2
import gzip
import lzma
import pickle
import tempfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.datasets.files import file_bytes
from core.datasets.finding import UnusableTargetError
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError

HEADER = "p,q,r\n"
ROWS = "".join(f"{i % 7},{i * 1.5},{'ab'[i % 2]}\n" for i in range(40))
PACKED = bz2.compress((HEADER + ROWS * 50).encode())
WIDE = (HEADER + ROWS).encode("utf-16")
QUOTED = "".join(f'{i % 7},{i * 1.5},"{"ab"[i % 2]}, c"\n' for i in range(40))


def sentence_for(path: Path | str, test_file: str = "", **choices: object) -> str:
    with pytest.raises(UnusableError) as caught:
        read_dataset(str(path), DataOptions(**choices), test_file=test_file)
    error = caught.value
    assert error.where, error.sentence
    assert error.cure, error.sentence
    assert "\n" not in error.sentence
    return error.sentence


TEXTS = {
    "nothing": ("", "the file is empty"),
    "blank lines": ("\n\n  \n", "the file is empty"),
    "only a header": (HEADER, "no row below the header"),
    "one column": ("a\n1\n2\n3\n", "only one column"),
    "a row too long": (HEADER + ROWS + "1,2,a,4\n" + ROWS, "line 42: the row has 4 values where"),
    "first row too long": (HEADER + "1,2,a,9\n" + ROWS, "line 2: the row has 4 values where"),
    "a row too short": (HEADER + ROWS + "1,2\n" + ROWS, "line 42: the row has 2 values where"),
    "short among quotes": (HEADER + ROWS + '"1",2\n' + ROWS, "line 42: the row has 2 values"),
    "short without header": (ROWS + "1,2\n" + ROWS, "line 41: the row has 2 values where"),
    "long without header": (ROWS + "1,2,a,5\n" + ROWS, "line 41: the row has 4 values where"),
    "short among blanks": (
        (HEADER + ROWS + "1,2\n" + ROWS).replace(",", "  "),
        "line 42: the row has 2 values where",
    ),
    "after a blank line": (HEADER + "\n" + ROWS + "1,2\n", "line 43: the row has 2 values"),
    "a header too long": ("p,q,r,s\n" + ROWS, "line 1: the row has 4 values where"),
    "a quote open from the first row": (
        HEADER + '"1,2,a\n' + QUOTED,
        'line 2: a quote (") opens here and is not closed',
    ),
    "a target of words": (
        HEADER + "".join(f"{i},{i % 7},word{i}\n" for i in range(5000)),
        "column r: the target is text with 5,000 different values",
    ),
    "all missing": (
        "p,q,s\n" + "".join(f",NA,{'ab'[i % 2]}\n" for i in range(40)),
        "“p”: every value is missing",
    ),
    "no target at all": ("p,q\n" + "1,\n2,NA\n" * 9, "every value of the target is missing"),
    "one class": (ROWS.replace("b", "a"), "same value in every row"),
    "an open quote": (HEADER + QUOTED + '1,2,"a\n' + QUOTED, 'line 42: a quote (") opens here'),
    "a quote closed late": (
        HEADER + QUOTED + '1,2,"a\n' + ROWS + '1,2,"b"\n' + QUOTED,
        'line 42: a quote (") opens here',
    ),
    "a quote within a row": (HEADER + QUOTED + '1,"2,a\n' + QUOTED, "line 42: a quote"),
    "names in quotes, and one open": (
        '"p","q","r"\n' + ROWS + '1,2,"a\n' + ROWS,
        'line 42: a quote (") opens here',
    ),
    "NUL": (HEADER + ROWS * 100 + "1,\0,a\n" + ROWS, "line 4002: there is a NUL byte"),
    "a web page": ("<!DOCTYPE html>\n<html>a,b\n</html>", "a web page"),
    "a web page's table": ("<table><tr><td>1</td></tr></table>", "a web page"),
    "JSON": ('[{"a": 1,\n"b": 2}]', "a JSON file"),
    "JSON lines": ('{"a": 1}\n{"a": 2}\n' * 9, "read_json(FILE, lines=True)"),
    "Excel 2003": (
        '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>',
        "save it as .xlsx",
    ),
    "a mark alone": ("\ufeff", "there is no row"),
    "NUL in a file of texts": ("text\n" + "so it is, and was\n" * 2000 + "a\0b\n", "a NUL byte"),
    "an open quote in a file of texts": (
        '"text"\n"' + "so it is, and was\n" * 60,
        "opens here and is not closed",
    ),
    "NUL at once": (HEADER + "1,\0,a\n" + ROWS, "line 2: there is a NUL byte"),
    "fixed widths": (
        "".join(f"{i:<6}{'Ann B' if i % 2 else 'Al':<9}{i * 1.5:>8.2f}\n" for i in range(40)),
        "pandas.read_fwf",
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_texts(tmp_path: Path, case: str) -> None:
    content, words = TEXTS[case]
    path = tmp_path / "bad.csv"
    path.write_text(content, encoding="utf-8")
    sentence = sentence_for(path)
    assert words in sentence
    assert "bad.csv" in sentence


BINARIES = {
    "noise": (bytes(range(256)) * 20, "binary file"),
    "UTF-32": ((HEADER + ROWS).encode("utf-32"), "the text is in UTF-32; save it in UTF-8"),
    "UTF-16 without a mark": ((HEADER + ROWS).encode("utf-16-le"), "without its mark; save it"),
    "a PDF": (b"%PDF-1.7\n" + bytes(99), "a PDF document"),
    "a database": (b"SQLite format 3\0" + bytes(99), "export the table of interest as CSV"),
    "a pickle": (pickle.dumps({"a": [1]}), "a pickle, which could run anything"),
    "an old pickle": (pickle.dumps({"a": [1]}, protocol=0), "a pickle, which could run anything"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(99), "a picture"),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 90, "the workbook is damaged"),
    "gzip cut short": (gzip.compress((HEADER + ROWS * 50).encode())[:-30], "broken"),
    "gzip cut early": (gzip.compress((HEADER + ROWS * 50).encode())[:60], "broken"),
    "bz2 cut short": (PACKED[:-30], "broken"),
    "bz2 with a wrong bit": (PACKED[:60] + bytes([PACKED[60] ^ 255]) + PACKED[61:], "broken"),
    "half of a pair of surrogates": (
        WIDE[:60] + b"\x00\xdc" + WIDE[62:],
        "begins as UTF-16 and has letters that are none",
    ),
    "xz cut short": (lzma.compress((HEADER + ROWS * 50).encode())[:-30], "broken"),
    "a zip of nothing": (b"PK\x03\x04" + b"abc" * 30, "broken"),
    "a picture in gzip": (gzip.compress(b"GIF89a" + bytes(99)), "a picture"),
    "gzip within gzip": (gzip.compress(gzip.compress(HEADER.encode())), "binary file"),
}


@pytest.mark.parametrize("case", BINARIES)
def test_binary_and_broken(tmp_path: Path, case: str) -> None:
    content, words = BINARIES[case]
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    assert words in sentence_for(path)


def test_control_characters_are_said(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(HEADER + ROWS + "1,2,\x1b[31ma\x1b[0m\n" + ROWS)
    said = [finding.sentence for finding in read_dataset(str(path)).findings]
    assert "a.csv holds control characters (first in line 42); they stay in its texts." in said


@pytest.mark.parametrize("first", ["ORC", "BM", "GIF8", "[1]", "{a}", "II*", "RDA"])
def test_a_name_of_a_column_is_no_sign_of_another_file(tmp_path: Path, first: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{first},q,r\n{ROWS}")
    assert read_dataset(str(path)).columns[0].name == first


def test_zip_archives(tmp_path: Path) -> None:
    for name, members, words in (
        ("two.zip", ["a.csv", "b.csv"], "holds 2 files"),
        ("none.zip", [], "holds 0 files"),
        ("book.xlsx", ["[Content_Types].xml", "xl/workbook.xml"], "the workbook is damaged"),
        ("text.docx", ["[Content_Types].xml", "word/document.xml"], "but no spreadsheet"),
        ("book.xlsb", ["[Content_Types].xml", "xl/workbook.bin"], "the workbook is damaged"),
    ):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as archive:
            for member in members:
                archive.writestr(member, HEADER + ROWS)
        assert words in sentence_for(path)


def test_paths(tmp_path: Path) -> None:
    (tmp_path / "heart.csv").write_text(HEADER + ROWS)
    assert "did you mean" in sentence_for(tmp_path / "haert.csv")
    assert "heart.csv" in sentence_for(tmp_path / "haert.csv")
    assert "no such file" in sentence_for(tmp_path / "nowhere" / "x.csv")
    assert "a folder, not a file" in sentence_for(tmp_path)
    assert "such as heart.csv" in sentence_for(tmp_path)
    assert "no such sample" in sentence_for("sample:iriss")
    assert "sample:iris" in sentence_for("sample:iriss")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied"), "may not be read"),
        (FileNotFoundError(2, "No such file"), "the file is gone"),
        (OSError(5, "Input/output error"), "input/output error"),
    ],
)
def test_a_file_that_fails_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, words: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(HEADER + ROWS)

    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(file_bytes.Path, "open", refuse)
    assert words in sentence_for(path)


LONG_ROW = "1,2.5," + "word " * 200 + "\n"
LONG_PAIRS = "1 " + " ".join(f"{i}:2" for i in range(1, 150)) + "\n"


@pytest.mark.parametrize(
    "start", ["", HEADER + ROWS, HEADER + LONG_ROW * 1200, LONG_PAIRS * 1600], ids=str.__len__
)
def test_an_endless_line_is_not_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    monkeypatch.setattr(file_bytes, "LONGEST_LINE", 2**20)
    path = tmp_path / "endless.csv"
    with path.open("wb") as file:
        file.write(start.encode())
        for _ in range(24):
            file.write(b"1," * 2**19)
    tracemalloc.start()
    try:
        sentence = sentence_for(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    lines = start.count("\n") + 1
    assert f"line {lines}: the line is longer than 1 megabytes" in sentence
    assert peak < 20 * 2**20 < path.stat().st_size


def test_choices_that_do_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("age,size,kind\n" + ROWS)
    assert "did you mean “kind”" in sentence_for(path, target="knid")
    assert "did you mean “size”" in sentence_for(path, roles={"sise": "ignore"})
    assert "“use” is no role" in sentence_for(path, roles={"size": "use"})
    assert "“float” is no kind" in sentence_for(path, kinds={"size": "float"})
    assert "no task “classes”" in sentence_for(path, task="classes")
    assert "regression needs numbers" in sentence_for(path, task="regression")
    assert "column kind" in sentence_for(path, kinds={"kind": "number"})
    assert "no dates" in sentence_for(path, kinds={"kind": "date", "age": "date"}, target="size")
    everything = {"age": "ignore", "size": "ignore"}
    assert "no column is left" in sentence_for(path, roles=everything)
    both = {"age": "group", "size": "group"}
    assert "no column is left" in sentence_for(path, roles=both)
    path.write_text(
        "age,size,more,kind\n"
        + "".join(
            f"{i % 7},{i},{row}\n"
            for i, row in enumerate(f"{k * 5 % 13},{'ab'[k % 2]}" for k in range(40))
        )
    )
    assert "2 columns have the role group" in sentence_for(path, roles=both)


@pytest.mark.parametrize("cell", ["inf", "-Infinity"])
def test_an_infinity_counts_as_missing_and_is_told(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(HEADER + ROWS + f"1,{cell},a\n" + ROWS)
    dataset = read_dataset(str(path))
    sentence = "In column “q”, 1 value is infinite and counts as missing (line 42)."
    assert sentence in [finding.sentence for finding in dataset.findings]
    assert dataset.table is not None
    assert dataset.table["q"].isna().sum() == 1


def test_wrong_second_files(tmp_path: Path) -> None:
    first = tmp_path / "first.csv"
    first.write_text(HEADER + ROWS)
    for content, words in (
        ("p,r\n" + "1,a\n" * 9, "there is no column “q”"),
        ("p,q,s\n" + ROWS, "there is no column “r”"),
        (HEADER + "1,x,a\n2,y,b\n" * 9, "column q: the column has text (“x”)"),
        (HEADER + "1,2,\n" * 9, "no row has a value of the target"),
        ("1 1:2\n0 1:3\n" * 9, "the first file is a table with columns"),
    ):
        second = tmp_path / "second.csv"
        second.write_text(content)
        assert words in sentence_for(first, test_file=str(second))
    assert "no such file" in sentence_for(first, test_file=str(tmp_path / "third.csv"))
    sparse_file = tmp_path / "first.libsvm"
    sparse_file.write_text("1 1:2\n0 1:3\n" * 9)
    assert "the first file is LIBSVM" in sentence_for(sparse_file, test_file=str(first))
    assert "no second file" in sentence_for("sample:iris", test_file=str(first))


def test_a_target_that_cannot_be_predicted_names_the_other_columns(tmp_path: Path) -> None:
    words = [f"word{i}x" for i in range(2000)]
    path = tmp_path / "letters.csv"
    path.write_text(
        "\n".join(
            ["weight,kind,text", *(f"{i % 40},{'ab'[i % 2]},{w}" for i, w in enumerate(words))]
        )
    )
    with pytest.raises(UnusableTargetError) as caught:
        read_dataset(str(path))
    assert "text with 2,000 different values" in caught.value.sentence
    assert caught.value.columns == ("weight", "kind")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.sentence, again.columns) == (caught.value.sentence, ("weight", "kind"))
    for column in caught.value.columns:
        assert read_dataset(str(path), DataOptions(target=column)).target_name == column


@settings(max_examples=50, deadline=None)
@given(st.one_of(st.binary(max_size=400), st.text(alphabet="01,;\n\"'a.:| \t-#", max_size=200)))
def test_any_bytes_give_a_dataset_or_one_sentence(content: bytes | str) -> None:
    data = content.encode() if isinstance(content, str) else content
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "anything"
        path.write_bytes(data)
        dataset = sentence = None
        try:
            dataset = read_dataset(str(path))
        except UnusableError as error:
            sentence = error.sentence
    if dataset is None:
        assert sentence.endswith(".")
        assert "\n" not in sentence
    else:
        assert dataset.rows == len(dataset.target) == dataset.features.shape[0]
        assert dataset.features.shape[1] == len(dataset.feature_names) > 0
