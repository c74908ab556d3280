"""Files that are no tables, damaged, or made to do harm: each gives a sentence and costs little."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fuzz_readers import data_format
from fuzzing import attack
from packing import PACKERS

from core.datasets.files import file_bytes
from core.datasets.files.file_bytes import ALWAYS_ALLOWED, MAX_EXPANSION, check_stream, unchanged
from core.datasets.finding import UnusableTargetError
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError

Write = Callable[..., str]
HEADER = "p,q,r\n"
SPARSE = "1 1:2\n0 1:3\n" * 9
ROWS = "".join(f"{i % 7},{i * 1.5},{'ab'[i % 2]}\n" for i in range(40))
PACKED = bz2.compress((HEADER + ROWS * 50).encode())
WIDE = (HEADER + ROWS).encode("utf-16")
QUOTED = "".join(f'{i % 7},{i * 1.5},"{"ab"[i % 2]}, c"\n' for i in range(40))


OPEN = 'a quote (") opens here'
CASES: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", "the file is empty"),
    "blank lines": ("\n\n  \n", "the file is empty"),
    "nothing but a header of carriage returns": (
        b"g" + b"\r" * 51 + b"r\xf6\xdfe;preis;y\n1,5;2,25;7\n2,5;1.000,5;8\n",
        "the table cannot be read (No columns",
    ),
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
        f"line 2: {OPEN} and is not closed",
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
    "an open quote": (HEADER + QUOTED + '1,2,"a\n' + QUOTED, f"line 42: {OPEN}"),
    "a quote closed late": (
        HEADER + QUOTED + '1,2,"a\n' + ROWS + '1,2,"b"\n' + QUOTED,
        f"line 42: {OPEN}",
    ),
    "a quote within a row": (HEADER + QUOTED + '1,"2,a\n' + QUOTED, f"line 42: {OPEN}"),
    "names in quotes, and one open": (
        '"p","q","r"\n' + ROWS + '1,2,"a\n' + ROWS,
        f"line 42: {OPEN}",
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
    "an open quote in a file of texts": ('"text"\n"' + "so it is, and was\n" * 60, OPEN),
    "NUL at once": (HEADER + "1,\0,a\n" + ROWS, "line 2: there is a NUL byte"),
    "fixed widths": (
        "".join(f"{i:<6}{'Ann B' if i % 2 else 'Al':<9}{i * 1.5:>8.2f}\n" for i in range(40)),
        "pandas.read_fwf",
    ),
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
    "an old Feather file": (b"FEA1" + bytes(99), "a Feather file of the first version"),
    "a picture in gzip": (gzip.compress(b"GIF89a" + bytes(99)), "a picture"),
    "gzip within gzip": (gzip.compress(gzip.compress(HEADER.encode())), "binary file"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_no_table_is_refused(write: Write, refusal, case: str) -> None:
    content, words = CASES[case]
    sentence = refusal(write(content, "bad.csv"))
    assert words in sentence
    assert "bad.csv" in sentence


def test_control_characters_are_said(write: Write) -> None:
    dataset = read_dataset(write(HEADER + ROWS + "1,2,\x1b[31ma\x1b[0m\n" + ROWS))
    said = [finding.sentence for finding in dataset.findings]
    assert "table.csv holds control characters (first in line 42); they stay in its texts." in said


@pytest.mark.parametrize("first", ["ORC", "BM", "GIF8", "[1]", "{a}", "II*", "RDA"])
def test_a_name_of_a_column_is_no_sign_of_another_file(write: Write, first: str) -> None:
    assert read_dataset(write(f"{first},q,r\n{ROWS}")).columns[0].name == first


@pytest.mark.parametrize(
    ("name", "members", "words"),
    [
        ("two.zip", ["a.csv", "b.csv"], "holds 2 files"),
        ("none.zip", [], "holds 0 files"),
        ("book.xlsx", ["[Content_Types].xml", "xl/workbook.xml"], "the workbook is damaged"),
        ("text.docx", ["[Content_Types].xml", "word/document.xml"], "but no spreadsheet"),
        ("book.xlsb", ["[Content_Types].xml", "xl/workbook.bin"], "the workbook is damaged"),
    ],
)
def test_zip_archives(tmp_path: Path, refusal, name: str, members: list[str], words: str) -> None:
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        for member in members:
            archive.writestr(member, HEADER + ROWS)
    assert words in refusal(tmp_path / name)


def test_paths(write: Write, tmp_path: Path, refusal) -> None:
    heart = write(HEADER + ROWS, "heart.csv")
    assert f"did you mean {heart}" in refusal(tmp_path / "haert.csv")
    assert "no such file" in refusal(tmp_path / "nowhere" / "x.csv")
    said = refusal(tmp_path)
    assert "a folder, not a file" in said
    assert "such as heart.csv" in said
    said = refusal("sample:iriss")
    assert "no such sample" in said
    assert "sample:iris" in said


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied"), "may not be read"),
        (FileNotFoundError(2, "No such file"), "the file is gone"),
        (OSError(5, "Input/output error"), "input/output error"),
    ],
)
def test_a_file_that_fails_while_it_is_read(write, refusal, monkeypatch, error, words):
    path = write(HEADER + ROWS)

    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(file_bytes.Path, "open", refuse)
    assert words in refusal(path)


LONG_ROW = "1,2.5," + "word " * 200 + "\n"
LONG_PAIRS = "1 " + " ".join(f"{i}:2" for i in range(1, 150)) + "\n"


@pytest.mark.parametrize(
    "start", ["", HEADER + ROWS, HEADER + LONG_ROW * 1200, LONG_PAIRS * 1600], ids=str.__len__
)
def test_an_endless_line_is_not_loaded(tmp_path, refusal, monkeypatch, start):
    monkeypatch.setattr(file_bytes, "LONGEST_LINE", 2**20)
    path = tmp_path / "endless.csv"
    with path.open("wb") as file:
        file.write(start.encode())
        for _ in range(24):
            file.write(b"1," * 2**19)
    tracemalloc.start()
    try:
        sentence = refusal(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    lines = start.count("\n") + 1
    assert f"line {lines}: the line is longer than 1 megabytes" in sentence
    assert peak < 20 * 2**20 < path.stat().st_size


BOTH = {"age": "group", "size": "group"}


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"target": "knid"}, "did you mean “kind”"),
        ({"roles": {"sise": "ignore"}}, "did you mean “size”"),
        ({"roles": {"size": "use"}}, "“use” is no role"),
        ({"kinds": {"size": "float"}}, "“float” is no kind"),
        ({"task": "classes"}, "no task “classes”"),
        ({"task": "regression"}, "regression needs numbers"),
        ({"kinds": {"kind": "number"}}, "column kind"),
        ({"kinds": {"kind": "date", "age": "date"}, "target": "size"}, "no dates"),
        ({"roles": dict.fromkeys(("age", "size", "more"), "ignore")}, "no column is left"),
        ({"roles": BOTH, "target": "more"}, "2 columns have the role group"),
        ({"roles": BOTH | {"more": "ignore"}}, "no column is left"),
    ],
)
def test_choices_that_do_not_fit(write: Write, refusal, choices: dict, words: str) -> None:
    rows = "".join(f"{i % 7},{i},{'ab'[i % 2]},{i * 5 % 13}\n" for i in range(40))
    choices = {"target": "kind", "roles": {"more": "ignore"}, **choices}
    assert words in refusal(write("age,size,kind,more\n" + rows), **choices)


@pytest.mark.parametrize("cell", ["inf", "-Infinity"])
def test_an_infinity_counts_as_missing_and_is_told(write: Write, cell: str) -> None:
    dataset = read_dataset(write(HEADER + ROWS + f"1,{cell},a\n" + ROWS))
    sentence = "In column “q”, 1 value is infinite and counts as missing (line 42)."
    assert sentence in [finding.sentence for finding in dataset.findings]
    assert dataset.table["q"].isna().sum() == 1


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (HEADER + ROWS, "p,r\n" + "1,a\n" * 9, "there is no column “q”"),
        (HEADER + ROWS, "p,q,s\n" + ROWS, "there is no column “r”"),
        (HEADER + ROWS, HEADER + "1,x,a\n2,y,b\n" * 9, "column q: the column has text (“x”)"),
        (HEADER + ROWS, HEADER + "1,2,\n" * 9, "no row has a value of the target"),
        (HEADER + ROWS, SPARSE, "the first file is a table with columns"),
        (SPARSE, HEADER + ROWS, "the first file is LIBSVM"),
    ],
)
def test_wrong_second_files(write: Write, refusal, first: str, second: str, words: str) -> None:
    assert words in refusal(write(first, "first.csv"), write(second, "second.csv"))


def test_no_second_file(write: Write, tmp_path: Path, refusal) -> None:
    first = write(HEADER + ROWS)
    assert "no such file" in refusal(first, tmp_path / "third.csv")
    assert "no second file" in refusal("sample:iris", first)


def test_a_target_that_cannot_be_predicted_names_the_other_columns(write: Write) -> None:
    rows = "".join(f"{i % 40},{'ab'[i % 2]},word{i}x\n" for i in range(2000))
    path = write("weight,kind,text\n" + rows)
    with pytest.raises(UnusableTargetError) as caught:
        read_dataset(path)
    assert "text with 2,000 different values" in caught.value.sentence
    assert caught.value.columns == ("weight", "kind")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.sentence, again.columns) == (caught.value.sentence, ("weight", "kind"))
    for column in caught.value.columns:
        assert read_dataset(path, DataOptions(target=column)).target_name == column


def test_a_target_with_a_giant_value_is_refused_without_quoting_it(refusal, write: Write) -> None:
    rows = "".join(f"{i},{'yes' if i % 2 else 'n' * 20_000}\n" for i in range(200))
    sentence = refusal(write("x,y\n" + rows))
    assert "a value of the target has 20,000 characters, too many for a class" in sentence
    assert len(sentence) < 300


def test_an_archive_whose_file_has_no_name(tmp_path: Path) -> None:
    path = tmp_path / "table.csv.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Z", HEADER + ROWS)
    path.write_bytes(path.read_bytes().replace(b"Z", b"\0"))
    with contextlib.suppress(UnusableError):
        assert read_dataset(str(path)).n_rows == 40


def test_what_no_reader_may_do_is_found(tmp_path: Path) -> None:
    def read(path: Path) -> object:
        content = path.read_bytes()
        if b"6" not in content:
            os.kill(os.getpid(), signal.SIGKILL)
        return int(content[:1] or b"x")

    result = attack(data_format("bad", ".x", (b"5 6 7",), read), range(60), tmp_path)
    assert {kind.partition(" at ")[0] for kind in result.findings} >= {
        "ValueError",
        "signal SIGKILL",
    }
    assert result.count == 60
    for kind, numbers in result.findings.items():
        content = (tmp_path / f"bad-{numbers[0]}.x").read_bytes()
        assert (b"6" not in content) == kind.startswith("signal")


MAX_SECONDS = 30  # of a processor that others use too; in linear time it is one or two


def seconds(read: Callable[[], object]) -> float:
    start = time.process_time()
    read()
    return time.process_time() - start


@pytest.mark.slow
def test_columns_in_their_thousands(write: Write) -> None:
    rows = np.random.default_rng(0).integers(0, 10, (20, 10_001)).astype(str)
    names = ",".join(f"c{i}" for i in range(10_001))
    path = write("\n".join([names, *map(",".join, rows)]) + "\n")
    assert seconds(lambda: read_dataset(path, DataOptions(target="c0"))) < MAX_SECONDS


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ['a,b\n1,"{}",2\n', 'a,b\n"{}', 'a,b\n1,2\n3,"{}"\n'],
    ids=["in a row too many", "open", "in a cell"],
)
def test_millions_of_quotes(write: Write, text: str) -> None:
    path = write(text.format('""' * 150_000))

    def read() -> None:
        with contextlib.suppress(UnusableError):
            read_dataset(path)

    assert seconds(read) < MAX_SECONDS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,c\n" + ",,\n" * 300_000, "every cell below the header is empty"),
        # An empty cell above the only column is a blank line.
        ('\ufeff""\r\n"None"\r\n"#DIV/0!"\r\n', "every cell below the header is empty"),
        ('\ufeff""\r\nx\n1\n2\r\n', "only one column"),
    ],
    ids=["empty cells", "words for nothing", "a column"],
)
def test_nothing_to_learn_from(write: Write, refusal, text: str, words: str) -> None:
    assert words in refusal(write(text))


def test_blank_lines_under_the_header(write: Write) -> None:
    rows = "".join(f"{i * 7 % 5},{i * i % 11},{i % 2}\n" for i in range(60))
    dataset = read_dataset(write("a,b,y\n" + "\n" * 1000 + rows))
    assert (dataset.rows, dataset.feature_names) == (60, ["a", "b"])


def test_a_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "growing.csv"
    path.write_text("a,y\n1,0\n")
    with unchanged(path):
        path.read_text()
    with pytest.raises(UnusableError, match="the file changed while it was read"), unchanged(path):
        path.write_text("a,y\n1,0\n2,1\n")
    with pytest.raises(UnusableError, match="the file is gone"), unchanged(path):
        path.unlink()


MB = 2**20


ZEROS = {**dict.fromkeys(PACKERS, b"0,0,0,0\n" * (MB // 8)), "a line": b"0" * MB, "NUL": bytes(MB)}


@pytest.mark.slow  # the packing takes most of it
@pytest.mark.parametrize("kind", ZEROS)
def test_a_file_of_zeros_is_refused_at_once(write: Write, refusal, kind: str) -> None:
    parts = 17 if kind == "bz2" else 50  # bz2 packs slowly
    packed = PACKERS.get(kind, gzip.compress)(ZEROS[kind] * parts)
    assert len(packed) < MB // 2
    path = write(packed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    assert re.search("made to fill the memory.*unpack it yourself", refusal(path))
    assert time.process_time() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kilobytes


@pytest.mark.parametrize("packer", PACKERS)
def test_a_table_that_packs_well_is_read(write: Write, packer: str) -> None:
    """Ones and zeros: a tenth of a tenth of their size when packed."""
    random = np.random.default_rng(0)
    lines = [",".join(map(str, row)) for row in (random.random((3000, 40)) < 0.01).astype(int)]
    text = ",".join(f"c{i}" for i in range(40)) + "\n" + "\n".join(lines) + "\n"
    assert read_dataset(write(PACKERS[packer](text.encode()))).rows == 3000


def test_a_small_file_may_hold_its_sixteen_megabytes(write: Write) -> None:
    path = Path(write(gzip.compress(15 * (b"\n" * 10 + bytes(MB - 10)))))
    assert MAX_EXPANSION * path.stat().st_size < ALWAYS_ALLOWED
    with gzip.open(path) as file:
        check_stream(file, path)


def test_a_zip_file_that_lies_about_its_size_gives_no_more(write: Write, refusal) -> None:
    data = bytearray(PACKERS["zip"](b"0,1\n" * (25 * MB)))
    for place in (data.find(b"PK\x01\x02") + 24, data.find(b"PK\x03\x04") + 22):
        data[place : place + 4] = (1000).to_bytes(4, "little")
    assert refusal(write(bytes(data)))


MEMORY = """
import resource, sys, time
from core.errors import UnusableError
from core.export.prediction import predict_file
def megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
for model in sys.argv[2:]:
    began, before = time.process_time(), megabytes()
    try:
        predict_file(model, sys.argv[1])
    except UnusableError as refused:
        print(round(time.process_time() - began, 2), megabytes() - before, refused.sentence)
"""
HOLDS = {"skops": "schema.json", "npz": "weights.npy", "zip": "model/model.npz"}


@pytest.mark.slow  # a process of its own
def test_models_of_zeros_are_refused_at_once(write: Write, tmp_path: Path) -> None:
    """350 kB of zeros must not take a gigabyte."""
    models = [tmp_path / f"model.{ending}" for ending in HOLDS]
    for path in models:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(HOLDS[path.suffix[1:]], bytes(350 * MB))
        assert path.stat().st_size < 400_000
    command = [sys.executable, "-c", MEMORY, write("a,b\n1,2\n"), *map(str, models)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    refusals = [line.split(maxsplit=2) for line in ran.stdout.splitlines()]
    assert len(refusals) == len(models)
    for path, (seconds, megabytes, sentence) in zip(models, refusals, strict=True):
        assert "unpacked, this file takes 367 MB" in sentence or path.suffix == ".npz"
        assert float(seconds) < 5
        assert int(megabytes) < 200  # of libraries, mostly
