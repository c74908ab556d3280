"""What a model is given of each column is said alike before a run, and of the run itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.export.finished_run import finished_run
from core.tuning.guidance.column_encodings import column_encodings, report_on
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune


@pytest.fixture
def data(tmp_path: Path) -> DataPlan:
    rng = np.random.default_rng(0)
    shop = rng.integers(0, 60, 300)
    age = np.where(rng.random(300) < 0.1, np.nan, rng.normal(40, 9, 300).round(1))
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 300), unit="D")
    table = pd.DataFrame({"shop": [f"s{s}" for s in shop], "age": age, "day": day.date})
    table["y"] = rng.normal(size=60)[shop] + rng.normal(size=300)
    table.loc[5:7, "y"] = np.nan  # rows that are set aside
    table.to_csv(tmp_path / "table.csv", index=False)
    return DataPlan(str(tmp_path / "table.csv"), target="y")


@pytest.mark.parametrize(("model", "strategy"), [("linear", "random"), ("auto", "race")])
def test_the_run_was_given_what_was_announced(
    data: DataPlan, tmp_path: Path, model: str, strategy: str
) -> None:
    announced = column_encodings(read_data(data), model)
    assert list(announced) == ["shop", "age", "day"]
    folder = RunFolder.create(Plan(data, model, strategy, trials=1), path=tmp_path / "run")
    list(tune(folder.plan, read_data(data), folder=folder))
    folder.close()
    said = finished_run(folder).takeaway.encodings
    assert said == [f"“{name}”: {words}." for name, words in announced.items()]
    if model == "auto":  # what suits these data
        report = report_on(data)
        assert {c.name: c.encoding for c in report.columns if c.encoding} == announced
