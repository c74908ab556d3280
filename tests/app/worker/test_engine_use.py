"""The worker uses a run's model on new rows, with the real core, and keeps the whole table."""

from collections import deque

import pandas as pd
import pytest

from app.worker import engine as module
from app.worker import messages as m
from app.worker.engine import Engine
from core.tuning.plan import DataPlan, Plan


@pytest.fixture
def ended(tmp_path):
    data = pd.DataFrame({"x": [(7 * at) % 43 for at in range(60)]})
    data["y"] = ["up" if x > 20 else "down" for x in data["x"]]
    data.to_csv(tmp_path / "data.csv", index=False)
    plan = Plan(DataPlan(str(tmp_path / "data.csv")), "logistic", "random", trials=1, folds=3)
    engine, asked = Engine(), m.Tune(plan, root=str(tmp_path / "runs"))
    folder = engine.folder(asked)
    list(engine.tune(asked, folder, deque()))
    return engine, folder, tmp_path


def test_new_rows_are_told_and_saved_whole(ended, monkeypatch):
    engine, folder, place = ended
    pd.DataFrame({"x": [1, 42, 99]}).to_csv(place / "rows.csv", index=False)
    monkeypatch.setattr(module, "SHOWN_ROWS", 2)
    told = engine.answer(m.Use(folder, str(place / "rows.csv")))
    assert told.headers[0] == "prediction"
    assert [row[0] for row in told.rows] == ["down", "up"]
    assert (told.count, told.marked, told.said) == (3, 1, "")
    saved = engine.answer(m.SaveUsed(str(place / "out.csv")))
    assert saved == m.Predicted(str(place / "out.csv"), 3)
    assert list(pd.read_csv(place / "out.csv")["x"]) == [1, 42, 99]


def test_a_run_whose_file_is_gone_still_predicts(ended):
    _, folder, place = ended
    pd.DataFrame({"x": [1]}).to_csv(place / "rows.csv", index=False)
    (place / "data.csv").unlink()
    told = Engine().answer(m.Use(folder, str(place / "rows.csv")))
    assert told.count == 1
    assert "not known" in told.said
