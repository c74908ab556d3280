"""The progress line: what it says of a run that goes on after an interruption."""

import io

from app.cli.progress_line import ProgressLine
from core.tuning.events import (
    HistoryRead,
    RemarkMade,
    RunResumed,
    RunStarted,
    TrialFinished,
    TrialStarted,
)
from core.tuning.payloads import HistoryDataset


def test_a_resumed_run_is_told_in_its_own_metric_and_against_its_own_best():
    stream = io.StringIO()
    line = ProgressLine(stream)
    line.replay_events(
        [RunStarted(metric="mse", maximize=False), TrialFinished(number=0, score=1.5)]
    )
    assert stream.getvalue() == ""
    line.consume(RunResumed(done=1, total=3))
    line.consume(TrialFinished(number=1, setting={"alpha": 2.0}, score=2.5))
    line.consume(TrialFinished(number=2, setting={"alpha": 3.0}, score=0.5))
    told = stream.getvalue().splitlines()
    assert told == ["Continuing after 1 trials.", "Trial 2: mse 0.5 · alpha = 3"]


def test_long_work_leaves_a_line_in_a_file_now_and_then(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("app.cli.progress_line.time.monotonic", lambda: now[0])
    stream = io.StringIO()
    line = ProgressLine(stream)
    for seconds, text in ((0, "1 of 9"), (12, "2 of 9"), (31, "3 of 9"), (40, "4 of 9")):
        now[0] = 100.0 + seconds
        line.report_progress(text)
    assert stream.getvalue().splitlines() == ["1 of 9", "3 of 9"]


def test_notices_and_what_can_help_are_said_and_the_default_only_where_it_is_one():
    stream = io.StringIO()
    line = ProgressLine(stream)
    datasets = [HistoryDataset(str(at), [], [], [], True, False, 0.0) for at in range(34)]
    line.consume(HistoryRead(datasets=datasets))
    line.consume(RemarkMade(sentence="The history is damaged."))
    line.consume(TrialStarted(number=0, setting={"C": 2.0}, reason="past"))
    line.consume(TrialFinished(number=0, setting={"C": 2.0}, score=0.5))
    line.consume(TrialStarted(number=1, setting={"C": 1.0}, reason="default"))
    line.consume(TrialFinished(number=1, setting={"C": 1.0}, score=0.6))
    assert stream.getvalue().splitlines() == [
        "34 earlier datasets can help.",
        "The history is damaged.",
        "Trial 0: accuracy 0.5 · C = 2",
        "Trial 1: accuracy 0.6 · default setting",
    ]
