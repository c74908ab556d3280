"""The worker uses a run's model on new rows, with the real core, and keeps the whole table."""

import shutil
from collections import deque

import pandas as pd
import pytest
import skops.io

from app.cli import main
from app.worker import messages as m
from app.worker import prediction_service as module
from app.worker.engine import Engine
from app.worker.worker_process import _Worker, refusal_of
from core.errors import UnusableError
from core.export.using import file_prediction
from core.tuning.plan import DataPlan, Plan


@pytest.fixture(scope="module")
def run_with_data(tmp_path_factory):
    """A folder with data and a finished run of them; made once, tests change copies."""
    place = tmp_path_factory.mktemp("use")
    data = pd.DataFrame({"x": [(7 * at) % 43 for at in range(60)]})
    data["y"] = ["up" if x > 20 else "down" for x in data["x"]]
    data.to_csv(place / "data.csv", index=False)
    plan = Plan(DataPlan("data.csv"), "logistic", "random", trials=1, folds=3)
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(place)
        engine, asked = Engine(), m.Tune(plan, root=str(place / "runs"))
        list(engine.tune(asked, engine.folder(asked), deque()))
    return place


@pytest.fixture
def ended(run_with_data, tmp_path, monkeypatch):
    place = shutil.copytree(run_with_data, tmp_path / "use")
    monkeypatch.chdir(place)
    return Engine(), str(next((place / "runs").iterdir())), place


def test_new_rows_are_told_and_saved_whole(ended, monkeypatch):
    engine, folder, place = ended
    pd.DataFrame({"x": [1, 42, 99]}).to_csv(place / "rows.csv", index=False)
    monkeypatch.setattr(module, "MAX_SHOWN_ROWS", 2)
    progress, told = engine.predictions.use(m.PredictRows(folder, str(place / "rows.csv")))
    assert progress == m.UseProgress(3, 3)
    assert told.headers[:2] == ["x", "prediction"]
    assert [row[:2] for row in told.rows] == [["1", "down"], ["42", "up"]]
    assert told.n_own_columns == 1
    assert (told.count, told.marked, told.sentences) == (3, 1, ())
    saved = engine.answer(m.SavePredictions(str(place / "out.csv")))
    assert saved == m.PredictionsSaved(str(place / "out.csv"), 3)
    assert list(pd.read_csv(place / "out.csv")["x"]) == [1, 42, 99]


def test_the_least_sure_rows_are_shown_and_saved_first(ended, monkeypatch):
    engine, folder, place = ended
    pd.DataFrame({"x": [42, 19, 1, 22]}).to_csv(place / "rows.csv", index=False)
    monkeypatch.setattr(module, "MAX_SHOWN_ROWS", 2)
    *_, told = engine.predictions.use(m.PredictRows(folder, str(place / "rows.csv")))
    assert (told.has_doubt, told.least_sure_first) == (True, False)
    shown = engine.answer(m.SortPredictions(True))
    assert (shown.least_sure_first, shown.count, shown.headers) == (True, 4, told.headers)
    engine.answer(m.SavePredictions(str(place / "out.csv"), least_sure_first=True))
    saved = pd.read_csv(place / "out.csv")
    assert sorted(saved["x"]) == [1, 19, 22, 42]
    assert saved.filter(like="probability of").max(axis=1).is_monotonic_increasing
    assert [row[0] for row in shown.rows] == saved["x"].astype(str).tolist()[:2]
    assert engine.answer(m.SortPredictions(False)) == told


def test_a_run_whose_file_is_gone_still_predicts(ended):
    _, folder, place = ended
    pd.DataFrame({"x": [1]}).to_csv(place / "rows.csv", index=False)
    (place / "data.csv").unlink()
    *_, told = Engine().predictions.use(m.PredictRows(folder, str(place / "rows.csv")))
    assert (told.count, told.marked) == (1, 0)
    assert "the file of the run is gone" in Engine().answer(m.FindTestRow(folder, 1)).problem


def test_a_large_file_is_left_when_told_and_what_is_done_is_kept(ended, monkeypatch):
    engine, folder, place = ended
    pd.DataFrame({"x": range(95)}).to_csv(place / "rows.csv", index=False)
    monkeypatch.setattr(file_prediction, "LARGE_BYTES", 10)
    monkeypatch.setattr(file_prediction, "PART_ROWS", 20)
    told = []
    asked = m.PredictRows(folder, str(place / "rows.csv"))
    *said, used = engine.predictions.use(asked, lambda: told.append(1) or "stop" * (len(told) == 2))
    assert said == [m.UseProgress(20, 95), m.UseProgress(40, 95)]
    assert used.count == 40
    assert used.sentences[0] == "Stopped: 40 of 95 rows are predicted."
    engine.answer(m.SavePredictions(str(place / "out.csv")))
    assert list(pd.read_csv(place / "out.csv")["x"]) == list(range(40))


class Sent:
    def __init__(self):
        self.messages = []

    def send(self, message):
        self.messages.append(message)


def asked_meanwhile(ended, monkeypatch, *meanwhile):
    """What is said while a file of three parts is predicted and other things are asked."""
    engine, folder, place = ended
    pd.DataFrame({"x": range(60)}).to_csv(place / "rows.csv", index=False)
    monkeypatch.setattr(file_prediction, "LARGE_BYTES", 10)
    monkeypatch.setattr(file_prediction, "PART_ROWS", 20)
    worker = _Worker(Sent(), "")
    worker._work = deque(m.Request(id, what) for id, what in enumerate(meanwhile, 2))
    worker._handle_request(engine, m.Request(1, m.PredictRows(folder, str(place / "rows.csv"))))
    return worker._pipe.messages


def test_the_form_is_answered_while_a_large_file_is_predicted(ended, monkeypatch):
    row, lost = m.PredictRow(ended[1], "", False, {"x": 40.0}), m.PredictRow("/no", "", False, {})
    said = asked_meanwhile(ended, monkeypatch, row, m.FindTestRow(ended[1], 1), lost)
    kinds = [type(one.answer).__name__ for one in said]
    assert kinds[:4] == ["UseProgress", "RowPredicted", "TestRowFound", "RowPredicted"]
    assert said[3].answer.problem
    assert [one.id for one in said[:4]] == [1, 2, 3, 4]
    assert kinds[4:] == ["UseProgress", "UseProgress", "RowsPredicted"]
    assert said[-1].answer.count == 60


def test_a_large_file_is_left_for_other_data(ended, monkeypatch):
    said = asked_meanwhile(ended, monkeypatch, m.OpenData(DataPlan("/other.csv")))
    assert said[-1].answer.sentences[0] == "Stopped: 20 of 60 rows are predicted."


def test_page_command_line_and_exported_file_say_the_same(ended, capsys):
    engine, folder, place = ended
    pd.DataFrame({"x": [1.25, 42, None, 99]}).to_csv(place / "rows.csv", index=False)
    model, out = str(place / "m.skops"), place / "cli.csv"
    engine.answer(m.Export(folder, "skops", model))
    list(engine.predictions.use(m.PredictRows(folder, str(place / "rows.csv"))))
    engine.answer(m.SavePredictions(str(place / "page.csv")))
    list(engine.predictions.use(m.PredictRows("", str(place / "rows.csv"), model)))
    engine.answer(m.SavePredictions(str(place / "file.csv")))
    assert main(["predict", model, str(place / "rows.csv"), "--out", str(out)]) == 0
    said = pd.read_csv(out, dtype=str)
    peer = opened(model).predict_proba(pd.read_csv(place / "rows.csv"))
    assert said["probability of up"].astype(float).tolist() == peer[:, 1].tolist()
    for page in ("page.csv", "file.csv"):
        shown = pd.read_csv(place / page, dtype=str)
        plain = [one for one in said.columns if one.startswith(("prediction", "probability"))]
        pd.testing.assert_frame_equal(shown[plain], said[plain])
    assert "1 row is unlike" in capsys.readouterr().err


def opened(path):
    """The pipeline of a skops file, opened by skops alone."""
    return skops.io.load(path, trusted=skops.io.get_untrusted_types(file=path))


def test_rows_that_cannot_be_used_leave_what_was_predicted_before(ended):
    engine, folder, place = ended
    pd.DataFrame({"x": [1]}).to_csv(place / "rows.csv", index=False)
    (place / "empty.csv").write_text("x\n")
    list(engine.predictions.use(m.PredictRows(folder, str(place / "rows.csv"))))
    with pytest.raises(UnusableError, match=r"empty\.csv"):
        list(engine.predictions.use(m.PredictRows(folder, str(place / "empty.csv"))))
    assert engine.answer(m.SavePredictions(str(place / "out.csv"))).count == 1


def test_single_rows_and_rows_of_the_test_set_are_answered(ended):
    engine, folder, place = ended
    form = engine.answer(m.DescribeModel(folder)).form
    assert [column.name for column in form.fields] == ["x"]
    assert form.fields[0].high == 42
    said = engine.answer(m.PredictRow(folder, "", False, {"x": 40.0})).prediction
    assert said.prediction == "up"
    for wrong, words in (
        (m.PredictRow(folder, "", False, {"x": "many"}), "no number"),
        (m.FindTestRow(folder, 999), "no row 999"),
        (m.DescribeModel("", str(place / "no.skops")), "no.skops"),
    ):
        with pytest.raises(UnusableError, match=words) as error:
            engine.answer(wrong)
        assert words in wrong.refused(refusal_of(error.value)).problem
    found = engine.answer(m.FindTestRow(folder, 2)).row
    line = (place / "data.csv").read_text().splitlines()[found.line - 1]
    assert line == f"{found.values['x']:g},{found.truth}"
