"""The progress line: milestones of runs of one model and of several, and the time that is left."""

from __future__ import annotations

import io
import os

import pytest

from app.cli import progress_line
from app.cli.progress_line import ProgressLine
from core.tuning.events import (
    HistoryDataset,
    HistoryRead,
    ModelScreened,
    Progress,
    RemarkMade,
    RunResumed,
    RunStarted,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)


@pytest.fixture
def line():
    """A progress line, and what it has written so far."""
    stream = io.StringIO()
    made = ProgressLine(stream)

    def told(*new_events):
        for event in new_events:
            made.consume(event)
        return stream.getvalue().splitlines()

    return made, told


def test_a_resumed_run_is_told_in_its_own_metric_and_against_its_own_best(line):
    made, told = line
    made.replay_events(
        [RunStarted(metric="mse", maximize=False), TrialFinished(number=0, score=1.5)]
    )
    assert told() == []
    assert told(
        RunResumed(done=1, total=3),
        TrialFinished(number=1, setting={"alpha": 2.0}, score=2.5),
        TrialFinished(number=2, setting={"alpha": 3.0}, score=0.5),
    ) == ["Continuing after 1 trials.", "Trial 2: mean squared error 0.5 · alpha = 3"]


def test_notices_and_what_can_help_are_said_and_the_default_only_where_it_is_one(line):
    datasets = [HistoryDataset(str(at), [], [], [], True, False, 0.0) for at in range(34)]
    assert line[1](
        HistoryRead(datasets=datasets),
        RemarkMade(sentence="The history is damaged."),
        TrialStarted(number=0, setting={"C": 2.0}, reason="past"),
        TrialFinished(number=0, setting={"C": 2.0}, score=0.5),
        TrialStarted(number=1, setting={"C": 1.0}, reason="default"),
        TrialFinished(number=1, setting={"C": 1.0}, score=0.6),
    ) == [
        "34 earlier datasets can help.",
        "The history is damaged.",
        "Trial 0: accuracy 50.0\u00a0% · C = 2",
        "Trial 1: accuracy 60.0\u00a0% · default setting",
    ]


def test_a_run_is_told_by_its_models(race, line):
    said = line[1](*race.run())
    assert said[0] == "3 models (logistic, svm, forest) on x (300 rows, 4 columns), strategy race"
    scores = "logistic 72.0\u00a0%, forest 70.0\u00a0%, svm 69.0\u00a0%"
    assert said[1] == f"Screening, accuracy: {scores}"
    assert "Trial 0: accuracy 74.0\u00a0% · logistic: default setting" in said
    assert "Trial 4: accuracy 80.0\u00a0% · svm: C = 10, gamma = 0.01" in said


def test_a_first_look_that_failed_is_told(race, line):
    said = line[1](race.begun(), *race.looks(failed=("svm",)), race.compared(()))
    assert "The screening of svm failed: There was not enough memory." in said
    assert "Screening, accuracy: logistic 72.0\u00a0%, forest 70.0\u00a0%" in said


def test_what_earlier_datasets_taught_is_told_once(race, line):
    known = HistoryRead(model="svm", axes=["C"], datasets=[
        HistoryDataset("a", [5.0, 1.0, 2.0], [[9.0]], [0.9], True, False, 0.5)])  # fmt: skip
    past = ModelScreened(model="svm", setting={"model": "svm"}, score=0.71, reason="past")
    worse = ModelScreened(model="forest", setting={"model": "forest"}, score=0.6, reason="past")
    said = line[1](race.begun(), known, *race.looks(), past, worse)
    assert len(said) == 1
    assert line[1](race.compared(()), race.compared(()))[1:] == [
        "Screening, accuracy: logistic 72.0\u00a0%, svm 71.0\u00a0%, forest 70.0\u00a0%",
        "A setting of an earlier dataset looked better than the default one of: svm.",
    ]


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
        "screening: 2 of 3 models · 30 s left · 0.9 GB"
    )
    assert "trial 1 · best 74.0\u00a0% by logistic · 30 s left · 0.9 GB" in drawn(
        *list(race.trials())[:3], told
    )
    halfway = Progress(seconds=15.0, seconds_left=7.0, ending=8.0)
    assert f"[{12 * '#'}{12 * '.'}]" in drawn(halfway)
    assert drawn(TuningEnded(seconds=21.0)).endswith("finishing · 8 s left · 0.9 GB")


@pytest.mark.parametrize("is_terminal", [True, False])
def test_it_moves_while_nothing_happens(monkeypatch, is_terminal):
    monkeypatch.setattr(progress_line, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(progress_line, "LOG_SECONDS", 0.02)
    reader, writer = os.openpty() if is_terminal else os.pipe()
    told = b""
    with open(writer, "w") as stream, ProgressLine(stream).show_during("reading rows.csv"):
        while told.count(b"reading rows.csv") < 3:  # for good, if it stood still
            told += os.read(reader, 1000)
    os.close(reader)
    assert (b"\n" in told) is not is_terminal
    assert (b"0:00 reading" in told) is is_terminal
