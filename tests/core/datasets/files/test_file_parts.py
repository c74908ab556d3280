"""Rows drawn from files, parts of files, and rows as they stand there."""

from __future__ import annotations

import gzip
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

from core.datasets.files.columnar_table import ColumnarFile
from core.datasets.memory_limit import VARIABLE
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset, rows_in_file
from core.errors import UnusableError
from core.tuning.plan import DataPlan
from core.tuning.problem_setup import read_data, with_row_count

ROWS = 4000
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


def rows(features, numbers):
    return (
        features.iloc[numbers].reset_index(drop=True)
        if hasattr(features, "iloc")
        else features[numbers]
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_has_the_rows_of_a_whole_reading(files, name):
    data = DataPlan(str(files / name), rows=300, rows_seed=5)
    sample, whole = read_data(data), read_data(DataPlan(str(files / name), rows=0))
    told = sample.sampled
    assert (told.rows, told.of, told.seed, told.asked) == (300, ROWS, 5, True)
    assert told.stratified
    assert sample.rows == 300
    assert whole.sampled is None
    expected = rows(whole.features, told.chosen)
    if sample.is_sparse:
        np.testing.assert_array_equal(sample.features.toarray(), expected.toarray())
    else:
        pd.testing.assert_frame_equal(sample.features, expected)
    np.testing.assert_array_equal(sample.target, whole.target[told.chosen])
    assert sample.source.fingerprint == whole.source.fingerprint
    assert sample.source.path == whole.source.path
    assert sample.source.compression == whole.source.compression
    assert dict(sample.source.read_csv) == dict(whole.source.read_csv)
    assert dict(sample.source.libsvm) == dict(whole.source.libsvm)
    assert sample.source.described == whole.source.described
    assert "300 of the 4,000 rows" in sample.findings[0].sentence
    assert "seed 5" in sample.findings[0].sentence
    again = read_data(data)
    np.testing.assert_array_equal(again.sampled.chosen, told.chosen)
    other = read_data(DataPlan(str(files / name), rows=300, rows_seed=6))
    assert set(other.sampled.chosen) != set(told.chosen)


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


def test_sequences_are_not_taken_apart(tmp_path, monkeypatch):
    lines = [f"{k // 5},w{k % 7},{'AB'[k % 2]}" for k in range(3000)]
    path = tmp_path / "tokens.csv"
    path.write_text("\n".join(["sentence,word,label", *lines]))
    with pytest.raises(UnusableError, match="belong together"):
        read_data(DataPlan(str(path), task="sequence", rows=100))
    monkeypatch.setenv(VARIABLE, "1")
    assert read_data(DataPlan(str(path), task="sequence")).rows == 3000


def test_other_formats_say_that_rows_cannot_be_drawn(tmp_path):
    path = tmp_path / "rows.arff"
    path.write_text("@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n1,x\n2,y\n")
    with pytest.raises(UnusableError, match="rows are drawn from CSV, LIBSVM, Parquet"):
        read_data(DataPlan(str(path), rows=1))
    wide = tmp_path / "wide.csv"
    wide.write_text("a,label\n1,x\n2,y\n3,x\n", encoding="utf-16")
    with pytest.raises(UnusableError, match="UTF-8"):
        read_data(DataPlan(str(wide), rows=1))


def test_errors_name_the_row_of_the_whole_file(tmp_path):
    """The wrong row is drawn in any case: its class has two rows, which a class keeps."""
    lines = [f"{k},{'ab'[k % 2]}" for k in range(3000)]
    lines[1234] = lines[1250] = "inf,rare"
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["x,label", *lines]))
    dataset = read_data(DataPlan(str(path), rows=200))
    sentence = "In column “x”, 2 values are infinite and count as missing (row 1,235)."
    assert sentence in [finding.sentence for finding in dataset.findings]


@arrow
def test_files_that_lie_or_are_cut_short(files, tmp_path):
    good = (files / "rows.parquet").read_bytes()
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(good[: len(good) // 2])
    with pytest.raises(UnusableError, match=r"cut\.parquet: the file is damaged"):
        read_data(DataPlan(str(cut), rows=100))
    holes = bytearray(good)
    holes[200:3000] = b"\xff" * 2800
    spoilt = tmp_path / "spoilt.parquet"
    spoilt.write_bytes(bytes(holes))
    with pytest.raises(UnusableError, match=r"spoilt\.parquet: the file is damaged"):
        read_data(DataPlan(str(spoilt), rows=3999))
    # The footer says 4,000 rows as a number of variable length: now it says a few more.
    said, more = _varint(2 * ROWS), _varint(2 * (ROWS + 60))
    assert good.count(said) >= 1
    lying = tmp_path / "lying.parquet"
    at = good.rfind(said)
    lying.write_bytes(good[:at] + more + good[at + len(said) :])
    with pytest.raises(UnusableError, match="it says that it has 4,060 rows, and has 4,000"):
        read_data(DataPlan(str(lying), rows=100))


def _varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system tells the peak")
def test_reading_stays_within_a_bounded_memory(tmp_path):
    """In a process of its own: the peak with a sample, and that with the whole file."""
    path, random = tmp_path / "large.libsvm", np.random.default_rng(0)
    line = " ".join(f"{k}:{x:.3f}" for k, x in enumerate(random.normal(size=100), 1))
    path.write_text("".join(f"{k % 2} {line}\n" for k in range(20_000)))
    code = (
        "import sys\n"
        "from core.tuning.plan import DataPlan\n"
        "from core.tuning.problem_setup import read_data\n"
        "def kilobytes(name):\n"
        "    lines = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        "    return int(lines[name].split()[0])\n"
        "for rows in map(int, sys.argv[2:]):\n"
        "    before = kilobytes('VmRSS')\n"
        "    read_data(DataPlan(sys.argv[1], rows=rows))\n"
        "    print(kilobytes('VmHWM') - before)\n"
    )
    command = [sys.executable, "-c", code, str(path), "1000", "0"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    sample, whole = map(int, ran.stdout.split())
    assert sample < 0.5 * whole


def test_lines_count_rows_without_a_target_and_blank_ones(tmp_path):
    path = tmp_path / "data.csv"
    lines = ["a,note,target"] + [f"{at},n{at},{at % 2}" for at in range(30)]
    lines[5] = "4,n4,"  # no target
    lines.insert(10, "")
    path.write_text("\n".join(lines))
    dataset = read_dataset(str(path), DataOptions(roles={"note": "ignore"}, task="binary"))
    assert dataset.set_aside == 1
    found = rows_in_file(dataset, [0, 4, 28])
    assert found.counted == "line"
    assert found.headers == ["a", "note", "target"]
    for line, cells in zip(found.lines, found.cells, strict=True):
        assert lines[line - 1].split(",")[:2] == [str(cells[0]), cells[1]]
    assert found.cells[1][0] == 5  # the row below the one that was left out


def test_a_sample_has_rows_and_no_lines():
    found = rows_in_file(read_dataset("sample:iris"), [149, 0])
    assert (found.counted, found.lines) == ("row", [150, 1])
    assert len(found.headers) == 4


def test_libsvm_shows_the_columns_that_are_filled(tmp_path):
    path = tmp_path / "data.svm"
    rows = [f"{at % 2} {1 + at % 3}:1.5 7:{at}" for at in range(1, 21)]
    path.write_text("# a comment\n" + "\n".join(rows) + "\n")
    dataset = read_dataset(str(path))
    found = rows_in_file(dataset, [0])
    assert (found.counted, found.lines) == ("line", [2])
    assert found.headers == ["feature 2", "feature 7"]
    assert found.cells == [[1.5, 1.0]]


def test_a_file_that_is_gone_still_shows_what_was_read(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,target\n" + "\n".join(f"{at},{at % 2}" for at in range(20)))
    dataset = read_dataset(str(path), DataOptions(task="binary"))
    path.unlink()
    assert rows_in_file(dataset, [3]).counted == "row"


def test_of_rows_that_were_drawn_the_lines_are_those_of_the_whole_file(tmp_path):
    path = tmp_path / "data.csv"
    lines = ["a,target", *(f"{at},{at % 2}" for at in range(400))]
    path.write_text("\n".join(lines))
    dataset = read_data(DataPlan(str(path), task="binary", rows=100))
    assert dataset.rows == 100
    found = rows_in_file(dataset, [0, 50, 99])
    wanted = dataset.table["a"].iloc[[0, 50, 99]].tolist()
    assert [lines[line - 1].split(",")[0] for line in found.lines] == [str(a) for a in wanted]


def test_a_class_of_one_row_is_passed_over(tmp_path):
    path = tmp_path / "data.csv"
    rows = [f"{at},{'rare' if at == 2 else 'ab'[at % 2]}" for at in range(40)]
    path.write_text("\n".join(["number,target", *rows]))
    dataset = read_dataset(str(path))
    assert dataset.rows == 39
    found = rows_in_file(dataset, [0, 2])
    assert (found.counted, found.lines) == ("line", [2, 5])
    assert [row[0] for row in found.cells] == [0, 3]
