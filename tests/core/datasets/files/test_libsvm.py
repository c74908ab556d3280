"""LIBSVM files: as scikit-learn's loader reads them, sparse throughout, in every packing."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packing import PACKERS
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.errors import UnusableError

Write = Callable[..., str]


def rows_text(rows: int = 40, first: int = 1) -> str:
    return "".join(
        f"{'+1' if i % 2 else '-1'} {first}:{i}.5 {first + 2}:2 {first + 6}:1\n"
        for i in range(rows)
    )


def test_comments_blank_lines_and_rows_without_pairs(write: Write) -> None:
    text = "# written by hand\n" + rows_text() + "\n+1 # nothing here\n-1 2:3 # more\n"
    dataset = read_dataset(write(text))
    assert dataset.source.format == "libsvm"
    assert (dataset.rows, dataset.classes, dataset.task) == (42, (-1, 1), "binary")
    assert isinstance(dataset.matrix, sparse.csr_matrix)
    assert dataset.matrix.shape == (42, 7)
    assert dataset.matrix[41, 1] == 3
    assert dataset.feature_names == [f"feature {i}" for i in range(1, 8)]


@pytest.mark.parametrize("first", [0, 1])
def test_both_countings_give_the_same_matrix(write: Write, first: int) -> None:
    dataset = read_dataset(write(rows_text(first=first)))
    assert dataset.source.libsvm["zero_based"] is (first == 0)
    assert dataset.matrix.shape == (40, 7)
    assert dataset.matrix[3].toarray().tolist() == [[3.5, 0, 2, 0, 0, 0, 1]]


@pytest.mark.parametrize("pack", PACKERS)
def test_packed_and_read_again_by_the_recorded_arguments(write: Write, pack: str) -> None:
    data = rows_text().encode()
    ending = {"gzip": "gz"}.get(pack, pack)
    dataset = read_dataset(write(PACKERS[pack](data), f"data.libsvm.{ending}"))
    assert dataset.source.compression == pack
    again = dataset.source.path if pack in ("gzip", "bz2") else io.BytesIO(data)
    matrix, target = load_svmlight_file(again, **dataset.source.libsvm)[:2]
    assert (matrix != dataset.matrix).nnz == 0
    np.testing.assert_array_equal(target, dataset.target)


def test_a_second_file_gets_as_many_features(write: Write) -> None:
    train, test = write(rows_text(), "a"), write("1 2:1 9:4\n-1 1:1\n", "a.t")
    dataset = read_dataset(train, test_file=test)
    assert dataset.matrix.shape == (40, 9)
    assert dataset.test.matrix.shape == (2, 9)
    assert dataset.test.matrix[0, 8] == 4
    assert len(dataset.feature_names) == len(dataset.test.feature_names) == 9
    assert dataset.source.libsvm["n_features"] == dataset.test.source.libsvm["n_features"] == 9
    assert read_dataset(test, test_file=test).test.matrix.shape == (2, 9)


def test_a_second_file_that_counts_from_zero_is_refused(write: Write, refusal) -> None:
    train, test = write(rows_text(), "a"), write("1 2:1\n-1 0:1 4:2\n", "a.t")
    assert "a.t, line 2, column 4: the index is 0" in refusal(train, test)


@pytest.mark.parametrize(
    ("label", "task", "classes"),
    [("{0:.2f}", "regression", ()), ("{1}", "multiclass", (0, 1, 2, 3, 4))],
)
def test_regression_and_several_classes(write: Write, label: str, task: str, classes: tuple):
    rows = (f"{label.format(i * 0.37, i % 5)} 1:{i}\n" for i in range(1, 41))
    dataset = read_dataset(write("".join(rows)))
    assert (dataset.task, dataset.classes) == (task, classes)


def test_a_wide_file_stays_small(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    matrix = sparse.random(2000, 50_000, 0.001, "csr", random_state=rng)
    path = tmp_path / "wide.libsvm"
    dump_svmlight_file(matrix, rng.integers(0, 2, 2000), str(path), zero_based=False)
    dataset = read_dataset(str(path))
    assert sparse.issparse(dataset.features)
    held = dataset.matrix.data.nbytes + dataset.matrix.indices.nbytes
    assert held <= 16 * matrix.nnz


CASES = {
    "order": ("1 3:1 2:1", 3 + 4, "index 2 comes after index 3"),
    "twice": ("1 3:1 3:1", 7, "index 3 comes after index 3"),
    "zero": ("1 0:1 2:1", 3, "the index is 0"),
    "no value": ("1 3:", 3, "is no pair"),
    "no index": ("1 x:3", 3, "is no pair"),
    "no colon": ("1 3 4:5", 3, "is no pair"),
    "two points": ("1 3:1.5.2", 3, "is no pair"),
    "negative": ("1 -3:1", 3, "negative"),
    "label": ("one 3:1", 1, "“one” is no number"),
    "labels": ("1,2 3:1", 1, "several labels"),
    "infinite": ("1 3:inf", 3, "infinite"),
    "no number": ("1 3:nan", 3, "no number"),
    "too large": ("1 3000000000:1", 3, "too large"),
    "too large for memory": ("1 2000000000:1", 3, "number the features from 1 to 5,000,000"),
    "infinite label": ("inf 3:1", 1, "infinite"),
}


@pytest.mark.parametrize("case", CASES)
def test_every_fault_has_line_and_column(write: Write, refusal, case: str) -> None:
    line, column, words = CASES[case]
    text = "# first\n" + rows_text() + line + "\n" + rows_text()
    sentence = refusal(write(text, "bad.libsvm"))
    assert sentence.startswith(f"bad.libsvm, line 42, column {column}: ")
    assert words in sentence


def test_a_row_without_the_qid_of_the_others(write: Write, refusal) -> None:
    said = refusal(write("1 qid:1 1:2\n0 qid:1 1:3\n1 1:2\n0 qid:2 1:1\n"))
    assert "line 3: the row does not have one qid" in said


def test_choices_for_tables_do_not_fit(write: Write, refusal) -> None:
    path = write(rows_text())
    assert "target in front" in refusal(path, roles={"feature 1": "ignore"})
    assert read_dataset(path, DataOptions(target="target")).target_name == "target"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_round_trip_against_scikit_learn(data: st.DataObject) -> None:
    shape = data.draw(st.integers(8, 25)), data.draw(st.integers(1, 12))
    values = st.one_of(st.just(0.0), st.floats(-1e6, 1e6).map(lambda x: round(x, 3)))
    cells = data.draw(st.lists(values, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    dense = np.array(cells).reshape(shape)
    # All features are used, so both readers see the same width, and the first one often enough to
    # show that counting begins there.
    dense[0, :] = dense[:, 0] = 1.0
    labels = np.arange(shape[0]) % data.draw(st.integers(2, 3))
    zero_based = data.draw(st.booleans())
    queries = np.arange(shape[0]) // 3 if data.draw(st.booleans()) else None
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "data")
        dump_svmlight_file(
            dense, labels, path, zero_based=zero_based, query_id=queries, comment="round trip"
        )
        dataset = read_dataset(path)
        theirs = load_svmlight_file(path, query_id=True)
    assert (theirs[0] != dataset.matrix).nnz == 0
    np.testing.assert_array_equal(dataset.matrix.toarray(), theirs[0].toarray())
    np.testing.assert_array_equal(dataset.target, labels)
    if queries is not None:
        np.testing.assert_array_equal(dataset.row_groups, theirs[2])


@pytest.mark.parametrize("written", ["+1", "-.5", "1.", "007", "0.1234567890123456789", "1e-7"])
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n", "\n\n", " # note\n"])
def test_values_are_those_of_the_loader_however_they_are_written(
    write: Write, written: str, end: str
) -> None:
    text = rows_text() + f"{written} 1:{written} 3:2{end}" + rows_text()
    dataset = read_dataset(write(text), DataOptions(task="regression"))
    matrix, target = load_svmlight_file(io.BytesIO(text.encode()))
    assert (dataset.matrix != matrix).nnz == 0
    np.testing.assert_array_equal(dataset.target, target)


@pytest.mark.parametrize("pair", ["1.0:2", "1:", "1:.", "-1:2", '1:"2"', "1:0x1", "3:1 2:1"])
def test_what_the_loader_refuses_is_refused_with_its_line(write: Write, pair: str) -> None:
    with pytest.raises(UnusableError, match="line 41"):
        read_dataset(write(rows_text() + f"1 {pair}\n" + rows_text(), "rows.libsvm"))
