"""Several models in the terminal: lines of a run, its result and what `--json` prints."""

from __future__ import annotations

import io
from dataclasses import replace

from app.cli.leaderboard_output import leaderboard_of
from app.cli.progress_line import ProgressLine
from app.cli.terminal_text import result_text, setting_text
from core.tuning.events import HistoryRead, ModelScreened, Progress, RunStarted, TuningEnded
from core.tuning.payloads import HistoryDataset
from core.tuning.plan import DataPlan, Plan


def test_a_run_is_told_by_its_models(race):
    stream = io.StringIO()
    line = ProgressLine(stream)
    for event in race.run():
        line.consume(event)
    said = stream.getvalue().splitlines()
    assert said[0] == "3 models (logistic, svm, forest) on x (300 rows, 4 columns), strategy race"
    assert said[1] == "Screening, accuracy: logistic 0.72, forest 0.7, svm 0.69"
    assert "Trial 0: accuracy 0.74 · logistic: default setting" in said
    assert "Trial 4: accuracy 0.8 · svm: C = 10, gamma = 0.01" in said


def test_a_first_look_that_failed_is_told(race):
    stream = io.StringIO()
    line = ProgressLine(stream)
    for event in (race.begun(), *race.looks(failed=("svm",)), race.compared(())):
        line.consume(event)
    assert "The screening of svm failed: There was not enough memory." in stream.getvalue()
    assert "Screening, accuracy: logistic 0.72, forest 0.7\n" in stream.getvalue()


def test_what_earlier_datasets_taught_is_told(race):
    stream = io.StringIO()
    line = ProgressLine(stream)
    known = HistoryRead(model="svm", axes=["C"], datasets=[
        HistoryDataset("a", [5.0, 1.0, 2.0], [[9.0]], [0.9], True, False, 0.5)])  # fmt: skip
    past = ModelScreened(model="svm", setting={"model": "svm"}, score=0.71, reason="past")
    worse = ModelScreened(model="forest", setting={"model": "forest"}, score=0.6, reason="past")
    for event in (race.begun(), known, *race.looks(), past, worse):
        line.consume(event)
    assert "Screening," not in stream.getvalue()
    line.consume(race.compared(()))
    line.consume(race.compared(()))
    assert stream.getvalue().splitlines()[1:] == [
        "Screening, accuracy: logistic 0.72, svm 0.71, forest 0.7",
        "A setting of an earlier dataset looked better than the default one of: svm.",
    ]


def test_the_leaderboard_is_what_the_trials_say(race):
    found = leaderboard_of(race.run())
    assert [one["model"] for one in found] == ["svm", "logistic", "forest"]
    assert found[0]["validation"] == {"accuracy": 0.8}
    assert found[2]["validation"] == {}
    assert found[2]["estimate"] == {"accuracy": 0.66}  # the better of 0.61 and 0.66
    assert found[1]["estimate"] == {}
    assert found[2]["ended_early"] == 2
    assert leaderboard_of([RunStarted(plan={"model": "svm"})]) == []


def test_the_result_lists_the_models(race):
    plan = Plan(DataPlan("x.csv"), "auto", "race")
    said = result_text(race.results(), plan, leaderboard_of(race.run())).splitlines()
    assert "Model:   svm, accuracy 0.8 in validation (3.0 s)" in said
    assert "Model:   forest, accuracy about 0.66 in validation, ended early (0.0 s)" in said
    assert "Setting: svm: C = 10, gamma = 0.01" in said


def test_a_model_without_any_score_and_one_whose_score_is_zero(race):
    plan = Plan(DataPlan("x.csv"), "auto", "race")
    board = leaderboard_of([race.begun(), race.compared([])])
    assert all(one["estimate"] == {} == one["validation"] for one in board)
    board[0] = replace(board[0], validation={"accuracy": 0.0})
    said = result_text(race.results(), plan, board).splitlines()
    assert any("accuracy 0 in validation" in line for line in said)
    assert sum("no score" in line for line in said) == 2


def test_a_setting_names_its_model():
    assert setting_text({"model": "svm", "C": 0.27}) == "svm: C = 0.27"
    assert setting_text({"C": 0.27}) == "C = 0.27"


def test_models_that_were_not_tried_are_counted_and_not_listed(race):
    plan = Plan(DataPlan("x.csv"), "auto", "race")
    results = race.results(untried={"forest": 180.0})
    lines = result_text(results, plan, leaderboard_of(race.run())).splitlines()
    assert "Untried: 2 of 3 models tried; a random forest would have needed 3 min more." in lines
    assert not any(line.startswith("Model:   forest") for line in lines)


def test_the_time_left_is_told_from_the_screening_to_the_last_second(race, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    line = ProgressLine(stream)

    def drawn(*new_events):
        for event in new_events:
            line.consume(event)
        return stream.getvalue().rsplit("\r", 1)[-1].strip()

    told = Progress(seconds=1.0, seconds_left=20.0, ending=8.0, memory=900_000_000)
    assert drawn(race.begun(), *list(race.looks())[:2], told).endswith(
        "screening: 2 of 3 models · 28 s left · 0.9 GB"
    )
    assert "trial 1 · best 0.74 by logistic · 28 s left · 0.9 GB" in drawn(
        *list(race.trials())[:3], told
    )
    assert drawn(TuningEnded(seconds=21.0)).endswith("finishing · 8.0 s left · 0.9 GB")
