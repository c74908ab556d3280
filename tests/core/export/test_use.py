"""A run's model on new rows: the same as its exported file says, and unlike rows are marked."""

import pandas as pd
import pytest

from core.export.exporters import export_run
from core.export.finished_run import finished_run
from core.export.prediction import predict_file
from core.export.use import NOT_KNOWN, UNLIKE, use_file, use_run
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    place = tmp_path_factory.mktemp("use")
    data = pd.DataFrame({"age": [(7 * at) % 43 for at in range(60)], "town": ["a", "b", "c"] * 20})
    data["sick"] = ["yes" if age > 20 else "no" for age in data["age"]]
    data.to_csv(place / "data.csv", index=False)
    plan = Plan(DataPlan(str(place / "data.csv")), "logistic", "random", trials=2, folds=3)
    dataset, folder = read_data(plan.data), RunFolder.create(plan, path=place / "run")
    list(tune(plan, dataset, folder=folder))
    folder.close()
    rows = pd.DataFrame({"age": [5, 30, 500], "town": ["a", "new", "b"]})
    rows.to_csv(place / "rows.csv", index=False)
    return finished_run(folder), dataset, place


def test_a_run_predicts_as_its_file_and_marks_what_is_unlike(ended):
    run, dataset, place = ended
    used = use_run(run, str(place / "rows.csv"), dataset)
    told = predict_file(export_run(run, place / "m.skops"), place / "rows.csv")
    pd.testing.assert_frame_equal(used.table[list(told.columns)], told)
    alone = use_file(str(place / "m.skops"), str(place / "rows.csv"))
    pd.testing.assert_frame_equal(alone.table, told)
    assert alone.said == NOT_KNOWN
    first, second, third = used.table[UNLIKE]
    assert first == ""
    assert second.startswith("town was never “new”")
    assert third.startswith("age is outside 0 to 42")
    assert (used.marked, used.said) == (2, "")
    assert list(used.table["age"]) == [5, 30, 500]


def test_without_its_data_a_run_still_predicts_and_says_what_is_not_known(ended):
    run, _, place = ended
    used = use_run(run, str(place / "rows.csv"), None)
    assert len(used.table) == 3
    assert (used.said, used.marked) == (NOT_KNOWN, 0)
    assert UNLIKE not in used.table
