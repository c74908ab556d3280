"""Rows drawn from files, parts of files, and rows as they stand there."""

from __future__ import annotations

import csv
import gzip
import io
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.files.row_sampling import (
    RowFormat,
    count_labels,
    draw_rows,
    rows_of,
    sample_lines,
)
from core.datasets.memory_limit import VARIABLE
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset, rows_in_file
from core.errors import UnusableError
from core.tuning.plan import DataPlan
from core.tuning.problem_setup import read_data, with_row_count

ROWS = 4000
ARFF = "@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n1,x\n2,y\n"
arrow = pytest.mark.skipif(not find_spec("pyarrow"), reason="needs pyarrow")
NAMES = [
    "rows.csv", "rows.tsv", "rows.csv.gz", "rows.libsvm", "rows.libsvm.gz", "zero.libsvm",
    pytest.param("rows.parquet", marks=arrow), pytest.param("rows.feather", marks=arrow),
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One table in all formats, with a rare class, holes, and line ends inside of quotes."""
    folder, random = tmp_path_factory.mktemp("files"), np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(ROWS, 4)), columns=list("abcd")).round(4)
    table.loc[::7, "b"] = np.nan
    table["words"] = random.choice(["one", "two, three", 'four "5"', "six\nseven"], ROWS)
    table["label"] = random.choice(["p", "q", "rare"], ROWS, p=[0.6, 0.398, 0.002])
    table.to_csv(folder / "rows.csv", index=False)
    table.to_csv(folder / "rows.tsv", index=False, sep="\t")
    table.to_csv(folder / "rows.csv.gz", index=False)
    if find_spec("pyarrow"):
        table.to_parquet(folder / "rows.parquet", row_group_size=700)
        table.to_feather(folder / "rows.feather")
    numbers = table[list("abcd")].fillna(0.0).to_numpy()
    for name, first in (("rows.libsvm", 1), ("zero.libsvm", 0)):
        lines = []
        for label, row in zip(table["label"], numbers, strict=True):
            pairs = " ".join(f"{j + first}:{x}" for j, x in enumerate(row) if x > 1)
            lines.append(f"{int(label == 'p')} {pairs}")
        text = "\n".join(lines) + "\n"
        (folder / name).write_text(text)
        with gzip.open(folder / f"{name}.gz", "wt") as packed:
            packed.write(text)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_has_the_rows_of_a_whole_reading(files, name):
    data = DataPlan(str(files / name), rows=300, rows_seed=5)
    sample, whole = read_data(data), read_data(replace(data, rows=0))
    told = sample.sampled
    assert (told.rows, told.of, told.seed, told.asked) == (300, ROWS, 5, True)
    assert told.stratified
    assert sample.rows == 300
    assert whole.sampled is None
    if sample.is_sparse:
        assert (sample.features != whole.features[told.chosen]).nnz == 0
    else:
        expected = whole.features.iloc[told.chosen].reset_index(drop=True)
        pd.testing.assert_frame_equal(sample.features, expected)
    np.testing.assert_array_equal(sample.target, whole.target[told.chosen])
    assert sample.source == whole.source
    assert "300 of the 4,000 rows" in sample.findings[0].sentence
    assert "seed 5" in sample.findings[0].sentence
    assert read_data(data).sampled.chosen.tolist() == told.chosen.tolist()
    assert set(read_data(replace(data, rows_seed=6)).sampled.chosen) != set(told.chosen)


@pytest.mark.parametrize("name", NAMES)
def test_as_many_rows_as_fit_into_memory(files, name, monkeypatch):
    """A larger memory holds more of them; all are read where they fit, and a plan keeps both."""
    counts = []
    data = DataPlan(str(files / name))
    for memory in (8 * 20_000, 8 * 40_000, 8 * 10**9):
        monkeypatch.setenv(VARIABLE, str(memory))
        dataset = read_data(data)
        counts.append(dataset.rows)
        plan = with_row_count(data, dataset)
        monkeypatch.setenv(VARIABLE, "1")
        assert read_data(plan).rows == dataset.rows
    assert 1000 <= counts[0] <= counts[1] < counts[2] == ROWS
    assert "does not fit into the memory" in read_data(data).findings[0].sentence


@arrow
def test_a_file_s_own_limit_is_said_not_the_memory(files, monkeypatch):
    monkeypatch.setattr(ColumnarFile, "max_bytes", 4 * 10**8)
    monkeypatch.setattr(ColumnarFile, "bytes_of_rows", lambda *_: 1e9)
    sentences = []
    for memory in (8 * 10**9, 8 * 10**8, 8 * 10**7):  # an eighth is for the rows of a file
        monkeypatch.setenv(VARIABLE, str(memory))
        dataset = read_data(DataPlan(str(files / "rows.parquet")))
        sentences.append(dataset.findings[0].sentence)
    assert sentences[0].startswith("rows.parquet is more than 400 MB")
    assert "1,600 of its 4,000 rows" in sentences[0]
    assert all("does not fit into the memory" in sentence for sentence in sentences[1:])
    assert "memory" not in sentences[0]


def test_a_second_file_past_memory_is_drawn_too(files, monkeypatch):
    monkeypatch.setenv(VARIABLE, "1")
    file = str(files / "rows.csv")
    data = DataPlan(file, test_file=file, rows=0)
    dataset = read_data(data)
    assert (dataset.rows, dataset.test.rows) == (ROWS, 1000)
    assert with_row_count(data, dataset).test_rows == 1000
    assert any("drawn at random" in one.sentence for one in dataset.test.findings)
    libsvm = str(files / "zero.libsvm")
    test = read_data(DataPlan(libsvm, test_file=libsvm)).test
    whole = read_data(DataPlan(libsvm, rows=0))
    expected = whole.features[test.sampled.chosen].toarray()
    np.testing.assert_array_equal(test.features.toarray(), expected)


def test_no_more_rows_than_there_are(files):
    dataset = read_data(DataPlan(str(files / "rows.csv"), rows=ROWS))
    assert dataset.rows == ROWS
    assert dataset.sampled is None
    with pytest.raises(UnusableError, match="rows cannot be drawn"):
        read_data(DataPlan(str(files / "rows.csv"), rows=-3))


def test_sequences_are_not_taken_apart(write, monkeypatch):
    lines = [f"{k // 5},w{k % 7},{'AB'[k % 2]}" for k in range(3000)]
    data = DataPlan(write("\n".join(["sentence,word,label", *lines])), task="sequence")
    with pytest.raises(UnusableError, match="belong together"):
        read_data(replace(data, rows=100))
    monkeypatch.setenv(VARIABLE, "1")
    assert read_data(data).rows == 3000


@pytest.mark.parametrize(
    ("text", "encoding", "words"),
    [
        (ARFF, "utf-8", "rows are drawn from CSV, LIBSVM, Parquet"),
        ("a,label\n1,x\n2,y\n3,x\n", "utf-16", "UTF-8"),
    ],
)
def test_other_formats_say_that_rows_cannot_be_drawn(write, text, encoding, words):
    with pytest.raises(UnusableError, match=words):
        read_data(DataPlan(write(text, encoding=encoding), rows=1))


def test_errors_name_the_row_of_the_whole_file(write):
    """The wrong row is drawn in any case: its class has two rows, which a class keeps."""
    lines = [f"{k},{'ab'[k % 2]}" for k in range(3000)]
    lines[1234] = lines[1250] = "inf,rare"
    dataset = read_data(DataPlan(write("\n".join(["x,label", *lines])), rows=200))
    sentence = "In column “x”, 2 values are infinite and count as missing (row 1,235)."
    assert sentence in [finding.sentence for finding in dataset.findings]


@arrow
def test_files_that_lie_or_are_cut_short(files, write):
    good = (files / "rows.parquet").read_bytes()
    holes = good[:200] + b"\xff" * 2800 + good[3000:]
    # The footer says 4,000 rows as a number of variable length: now it says a few more.
    said, more = _varint(2 * ROWS), _varint(2 * (ROWS + 60))
    at = good.rfind(said)
    assert at > 0
    lying = good[:at] + more + good[at + len(said) :]
    for content, rows, words in (
        (good[: len(good) // 2], 100, "the file is damaged"),
        (holes, 3999, "the file is damaged"),
        (lying, 100, "it says that it has 4,060 rows, and has 4,000"),
    ):
        with pytest.raises(UnusableError, match=words):
            read_data(DataPlan(write(content, "rows.parquet"), rows=rows))


def _varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


PEAKS = """
import sys
from core.tuning.plan import DataPlan
from core.tuning.problem_setup import read_data
def kilobytes(name):
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines[name].split()[0])
for rows in (1000, 0):
    before = kilobytes("VmRSS")
    read_data(DataPlan(sys.argv[1], rows=rows))
    print(kilobytes("VmHWM") - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system tells the peak")
def test_reading_stays_within_a_bounded_memory(write):
    """In a process of its own: the peak with a sample, and that with the whole file."""
    numbers = np.random.default_rng(0).normal(size=100)
    line = " ".join(f"{k}:{x:.3f}" for k, x in enumerate(numbers, 1))
    path = write("".join(f"{k % 2} {line}\n" for k in range(20_000)), "large.libsvm")
    command = [sys.executable, "-c", PEAKS, path]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    sample, whole = map(int, ran.stdout.split())
    assert sample < 0.5 * whole


def test_lines_count_rows_without_a_target_and_blank_ones(write):
    lines = ["a,note,target"] + [f"{at},n{at},{at % 2}" for at in range(30)]
    lines[5] = "4,n4,"  # no target
    lines.insert(10, "")
    options = DataOptions(roles={"note": "ignore"}, task="binary")
    dataset = read_dataset(write("\n".join(lines)), options)
    assert dataset.set_aside == 1
    shown = rows_in_file(dataset, [0, 4, 28])
    assert shown.counted == "line"
    assert shown.headers == ["a", "note", "target"]
    for line, cells in zip(shown.lines, shown.cells, strict=True):
        assert lines[line - 1].split(",")[:2] == [str(cells[0]), cells[1]]
    assert shown.cells[1][0] == 5  # the row below the one that was left out


def test_a_sample_has_rows_and_no_lines():
    shown = rows_in_file(read_dataset("sample:iris"), [149, 0])
    assert (shown.counted, shown.lines, len(shown.headers)) == ("row", [150, 1], 4)


def test_libsvm_shows_the_columns_that_are_filled(write):
    rows = [f"{at % 2} {1 + at % 3}:1.5 7:{at}" for at in range(1, 21)]
    dataset = read_dataset(write("# a comment\n" + "\n".join(rows) + "\n"))
    shown = rows_in_file(dataset, [0])
    assert (shown.counted, shown.lines) == ("line", [2])
    assert shown.headers == ["feature 2", "feature 7"]
    assert shown.cells == [[1.5, 1.0]]


def test_a_file_that_is_gone_still_shows_what_was_read(write):
    path = write("a,target\n" + "\n".join(f"{at},{at % 2}" for at in range(20)))
    dataset = read_dataset(path, DataOptions(task="binary"))
    Path(path).unlink()
    assert rows_in_file(dataset, [3]).counted == "row"


def test_of_rows_that_were_drawn_the_lines_are_those_of_the_whole_file(write):
    lines = ["a,target", *(f"{at},{at % 2}" for at in range(400))]
    dataset = read_data(DataPlan(write("\n".join(lines)), task="binary", rows=100))
    assert dataset.rows == 100
    shown = rows_in_file(dataset, [0, 50, 99])
    wanted = dataset.table["a"].iloc[[0, 50, 99]].tolist()
    assert [lines[line - 1].split(",")[0] for line in shown.lines] == [str(a) for a in wanted]


def test_a_class_of_one_row_is_passed_over(write):
    rows = [f"{at},{'rare' if at == 2 else 'ab'[at % 2]}" for at in range(40)]
    dataset = read_dataset(write("\n".join(["number,target", *rows])))
    assert dataset.rows == 39
    shown = rows_in_file(dataset, [0, 2])
    assert (shown.counted, shown.lines) == ("line", [2, 5])
    assert [row[0] for row in shown.cells] == [0, 3]


CSV = RowFormat(header=True, delimiter=b",", quote=b'"', place=-1)


def test_every_row_is_as_likely_as_any_other():
    """Of 40 rows 10 are drawn 4,000 times: counts by a chi-square test, and pairs as well."""
    found = np.zeros(40)
    together = 0
    for seed in range(4000):
        rows = draw_rows(40, 10, seed)
        assert len(set(rows.tolist())) == 10
        assert (np.diff(rows) > 0).all()
        found[rows] += 1
        together += {0, 1} <= set(rows.tolist())
    # Without replacement the counts vary less than a chi-square has it, by 1 − 10/40.
    assert chisquare(found).statistic / 0.75 == pytest.approx(39, abs=4 * np.sqrt(2 * 39))
    expected = 4000 * (10 / 40) * (9 / 39)
    assert abs(together - expected) < 4 * np.sqrt(expected)


def test_rows_of_a_class_are_as_likely_as_each_other_and_classes_have_their_shares():
    codes = np.repeat([0, 1, 2], [600, 300, 100])[np.random.default_rng(0).permutation(1000)]
    found = np.zeros(1000)
    for seed in range(2000):
        rows = draw_rows(1000, 200, seed, codes)
        assert np.bincount(codes[rows]).tolist() == [120, 60, 20]
        found[rows] += 1
    # All three classes give a fifth of their rows, so that every row comes 400 times.
    assert np.abs(found - 400).max() < 5 * np.sqrt(2000 * 0.2 * 0.8)


def test_a_rare_class_keeps_twenty_rows_and_the_number_stays():
    codes = np.repeat([0, 1, 2], [9900, 98, 2])
    rows = draw_rows(10_000, 100, 1, codes)
    assert np.bincount(codes[rows]).tolist() == [78, 20, 2]
    for size in (1, 3, 5, 9_999, 10_000):
        assert len(draw_rows(10_000, size, 1, codes)) == size
    np.testing.assert_array_equal(draw_rows(10, 10, 5), np.arange(10))
    assert draw_rows(1000, 100, 7).tolist() == draw_rows(1000, 100, 7).tolist()


def csv_text(rows, **dialect):
    text = io.StringIO(newline="")
    csv.writer(text, **dialect).writerows([["id", "text", "label"], *rows])
    return text.getvalue()


def read_again(rows, **dialect):
    return [next(csv.reader(io.StringIO(row.decode(), newline=""), **dialect)) for row in rows]


TEXTS = ("plain", "two\nlines, and more", 'a "word", b', '"\n"', "", "back\\slash", 'end"', "\\")


@pytest.mark.parametrize(
    ("reading", "dialect"),
    [
        (b"doubled", {}),
        (b"doubled", {"lineterminator": "\r\n"}),
        (b"doubled", {"quoting": csv.QUOTE_ALL}),
        (b"escaped", {"doublequote": False, "escapechar": "\\"}),
        (b"escaped", {"quoting": csv.QUOTE_NONE, "escapechar": "\\"}),
    ],
)
def test_rows_are_those_that_python_reads(reading, dialect):
    """Line ends, delimiters and quotes within cells; blank lines, and a last one without an end."""
    dialect = {"lineterminator": "\n", **dialect}
    end = dialect["lineterminator"]
    texts = [text.replace("\n", end) for text in TEXTS * 3]
    table = [[str(i), text, "ab"[i % 2]] for i, text in enumerate(texts)]
    text = io.StringIO(newline="")
    csv.writer(text, **dialect).writerows([["id", "text", "label"], *table])
    raw = text.getvalue() + f'{end}24,5" pipe,a{end}   {end}25,last,b'
    form = RowFormat(0, True, b",", b'"', -1, reading, padded=False)
    rows = list(rows_of(io.BytesIO(raw.encode()), form))
    read = [next(csv.reader(io.StringIO(row.decode(), newline=""), **dialect)) for row in rows]
    assert read == [*table, ["24", '5" pipe', "a"], ["25", "last", "b"]]
    assert count_labels(rows, form)[1].tolist() == [i % 2 for i in range(26)]


def test_rows_where_quotes_are_letters_or_close_late():
    letters = RowFormat(0, False, b",", b'"', -1, b"letters", padded=False)
    assert list(rows_of(io.BytesIO(b'"a,b\n1,"c\n'), letters)) == [b'"a,b\n', b'1,"c\n']
    outer = RowFormat(0, False, b",", b'"', -1, b"outer", padded=False)
    rows = [b'1,"he "said" no\nand left",b\n', b'2, "c,d\n']
    assert list(rows_of(io.BytesIO(b"".join(rows)), outer)) == rows


def test_labels_of_libsvm_lines_and_too_many_of_them():
    text = b"# nothing\n1 1:2\n-1 qid:3 2:4 # -1\n\n1\n"
    total, codes = count_labels(rows_of(io.BytesIO(text), RowFormat()), RowFormat())
    assert (total, codes.tolist()) == (3, [0, 1, 0])
    many = b"".join(b"%d 1:1\n" % k for k in range(300))
    assert count_labels(rows_of(io.BytesIO(many), RowFormat()), RowFormat()) == (300, None)


def test_what_stands_before_the_rows_stays():
    text = b"made by X\n\na,label\n" + b"".join(b"%d,%d\n" % (k, k % 2) for k in range(50))
    form, into = RowFormat(2, True, b",", b'"', -1), io.BytesIO()
    chosen, total, shares = sample_lines(lambda: io.BytesIO(text), form, 10, 3, into)
    assert (total, shares) == (50, True)
    lines = into.getvalue().splitlines()
    assert lines[:3] == [b"made by X", b"", b"a,label"]
    assert [int(line.split(b",")[0]) for line in lines[3:]] == chosen.tolist()
