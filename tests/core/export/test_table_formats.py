"""Runs on workbooks, columnar files and ARFF: their scripts, and predictions across formats."""

from __future__ import annotations

import re
from functools import partial
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from exported_files import exported, script_output

from core.export.exporters import export_run
from core.export.finished_run import finished_run
from core.export.prediction import predict_file
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data

NEEDED = {"xlsx": "openpyxl", "ods": "odf", "parquet": "pyarrow", "feather": "pyarrow"}
PACKAGES = dict.fromkeys(("xlsx", "ods"), "python-calamine")
PACKAGES |= dict.fromkeys(("parquet", "feather"), "pyarrow")
FORMATS = ("csv", "xlsx", "ods", "parquet", "feather", "arff")
ROWS = 90


def table(seed):
    """Numbers, categories and dates with a hole each, and a class that hangs on them."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=ROWS).round(3)
    colour = rng.choice(["red", "dark green", "blue"], ROWS)
    pull = size + (colour == "red") + 0.3 * rng.normal(size=ROWS)
    made = pd.DataFrame(
        {
            "size": size,
            "colour": colour,
            "when": pd.date_range("2024-01-01", periods=ROWS).strftime("%Y-%m-%d"),
            "class": np.where(pull > 0.3, "yes, sure", "no"),
        }
    )
    made.loc[4, ["size", "colour"]] = [np.nan, None]
    return made


def saved(path, made):
    """The table in the format of the file's ending; sheets with a title and merged cells."""
    ending = path.suffix[1:]
    pytest.importorskip(NEEDED.get(ending, "pandas"))
    if ending == "csv":
        made.to_csv(path, index=False)
    elif ending == "xlsx":
        save_sheet(path, made)
    elif ending == "ods":
        made.to_excel(str(path), index=False, startrow=2, startcol=1)
    elif ending == "arff":
        save_arff(path, made)
    else:
        made = made.assign(lists=[[1, 2]] * len(made)).set_index(made["when"].rename("day"))
        made = made.drop(columns="when").rename_axis("when")
        made.to_parquet(path) if ending == "parquet" else made.reset_index().to_feather(path)
    return path


def save_sheet(path, made):
    """A second sheet comes first, and two cells of the column of colours are merged."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["another", "sheet"])
    book.active.append([1, 2])
    sheet = book.create_sheet("The data")
    sheet.append(["A title"])
    sheet.append([])
    sheet.append([None, *made.columns])
    for row in made.itertuples(index=False):
        sheet.append([None, *(None if value != value else value for value in row)])
    for row in range(4, sheet.max_row + 1):
        sheet.cell(row, 2).number_format = '0.000" kg"'
    same = next(i for i in range(10, 80) if made["colour"][i] == made["colour"][i + 1])
    sheet.merge_cells(f"C{same + 4}:C{same + 5}")
    book.save(path)


def save_arff(path, made):
    kinds = ("numeric", "{red,'dark green',blue}", "date yyyy-MM-dd", "{'yes, sure',no}")
    lines = ["% made here", "@relation table"]
    lines += [f"@attribute {n} {k}" for n, k in zip(made.columns, kinds, strict=True)]
    lines += ["@data"]
    for row in made.itertuples(index=False):
        cells = ["?" if v is None or v != v else str(v) for v in row]
        lines.append(",".join(f"'{c}'" if " " in c else c for c in cells))
    path.write_text("\n".join([*lines, "%", "%"]))


def address(path):
    return f"{path}#The data" if path.suffix == ".xlsx" else str(path)


@pytest.fixture
def tuned(finish_run, tmp_path):
    # Make a finished run of a format: (format, other format to test on) -> Made.

    def make(ending, test="", model="logistic"):
        folder = tmp_path / f"{ending} {test}".strip()
        folder.mkdir()
        data = DataPlan(
            address(saved(folder / f"data.{ending}", table(1))),
            target="class",
            test_file=address(saved(folder / f"test.{test}", table(2))) if test else "",
        )
        return finish_run(Plan(data, model, "random", seed=1), read_data(data), folder / "made")

    return make


@pytest.mark.parametrize("ending", FORMATS)
def test_script_and_model_read_every_format(tuned, run_outside, tmp_path, ending):
    made = tuned(ending)
    script = exported(made.folder, tmp_path / ending / "tuned.py")
    assert PACKAGES.get(ending, "") in script.read_text().split('"""')[1]
    printed = script_output(run_outside, script, tmp_path / ending)
    assert re.findall(r"tuned: (\d\.\d+)$", printed, re.MULTILINE) == [f"{made.score:.6f}"]
    model = exported(made.folder, tmp_path / "best.skops")
    rows = table(7)
    expected = predict_file(model, saved(tmp_path / "new.csv", rows))
    assert set(expected["prediction"]) == {"yes, sure", "no"}
    for other in FORMATS[1:]:
        if other in NEEDED and find_spec(NEEDED[other]) is None:
            continue
        there = predict_file(model, address(saved(tmp_path / f"new.{other}", rows)))
        pd.testing.assert_frame_equal(there, expected)


def test_the_test_file_may_have_another_format(tuned, run_outside, tmp_path):
    made = tuned("xlsx", "arff")
    script = exported(made.folder, tmp_path / "tuned.py")
    printed = script_output(run_outside, script, tmp_path / "xlsx arff")
    assert f"tuned: {made.score:.6f}" in printed


def test_words_that_count_as_missing_are_not_told_where_examples_are_not(
    finish_run, run_outside, tmp_path
):
    made = table(1)
    size = made["size"].astype(object)
    size[[7, 30]] = ["a secret", "another"]
    path = saved(tmp_path / "data.xlsx", made.assign(size=size))
    data = DataPlan(address(path), target="class")
    run = finish_run(Plan(data, "logistic", "random", seed=1), read_data(data))
    for examples in (True, False):
        told = finished_run(run.folder, examples=examples)
        script = export_run(told, tmp_path / "tuned.py")
        assert "secret" not in script.read_text()  # which no script needs any more
    assert f"tuned: {run.score:.6f}" in script_output(run_outside, script, tmp_path)


@pytest.mark.parametrize("ending", ["xlsx", "parquet"])
def test_labels_of_sequences_in_every_format(tagger, tmp_path, ending):
    model = exported(tagger.folder, tmp_path / "model.npz")
    pytest.importorskip(NEEDED[ending])
    rows = tagger.table
    rows.to_csv(tmp_path / "new.csv", index=False)
    write = rows.to_parquet if ending == "parquet" else partial(rows.to_excel, index=False)
    write(tmp_path / f"new.{ending}")
    expected = predict_file(model, tmp_path / "new.csv")
    pd.testing.assert_frame_equal(predict_file(model, tmp_path / f"new.{ending}"), expected)
