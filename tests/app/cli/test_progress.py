"""The progress line: what it says of a run that goes on after an interruption."""

import io

from app.cli.progress import ProgressLine
from core.tuning.events import RunResumed, RunStarted, TrialFinished


def test_a_resumed_run_is_told_in_its_own_metric_and_against_its_own_best():
    stream = io.StringIO()
    line = ProgressLine(stream)
    line.remember([RunStarted(metric="mse", maximize=False), TrialFinished(number=0, score=1.5)])
    assert stream.getvalue() == ""
    line.consume(RunResumed(done=1, total=3))
    line.consume(TrialFinished(number=1, setting={"alpha": 2.0}, score=2.5))
    line.consume(TrialFinished(number=2, setting={"alpha": 3.0}, score=0.5))
    told = stream.getvalue().splitlines()
    assert told == ["Going on after 1 trials.", "Trial 2: mse 0.5 · alpha = 3"]
