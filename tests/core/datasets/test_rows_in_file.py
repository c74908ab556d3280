"""Rows as they stand in the file: their lines, and columns that no model saw."""

from __future__ import annotations

from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.rows_in_file import rows_in_file
from core.tuning.plan import DataPlan
from core.tuning.problem import read_data


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
