"""What is said of a run that stops: the best so far, and what is kept."""

from __future__ import annotations

import pytest

from app.text.run_head import interrupted_sentences, progress_text, stopping_sentences
from core.datasets.task import Task
from core.tuning.events import (
    DatasetFacts,
    HyperGradientStep,
    PenaltyStep,
    RunStarted,
    TrialFinished,
)
from core.tuning.runs.state import state_from_events

TRIALS = [
    RunStarted(metric="accuracy", dataset=DatasetFacts(task=Task.BINARY)),
    TrialFinished(number=0, setting={"C": 2.0}, score=0.75),
    TrialFinished(number=1, setting={"C": 4.0}, score=0.5),
]
STEPS = [
    RunStarted(metric="f1", kind="penalties", dataset=DatasetFacts(task=Task.STRUCTURE)),
    PenaltyStep(step=1, objective=216.6, penalties={"a": 1.0}),
]
BEST = "The best so far, not tested yet: accuracy 75.0\u00a0% in validation, with C = 2."
LEARNED = "The penalties so far, not tested yet, are those of step 1, with an objective of 216.6."


@pytest.mark.parametrize(
    ("events", "unit", "best", "kept"),
    [(TRIALS, "rows", BEST, "2 trials are kept"), (STEPS, "molecules", LEARNED, "1 step is kept")],
)
def test_the_best_so_far_and_what_is_kept(events, unit, best, kept):
    state = state_from_events(events)
    assert stopping_sentences(state) == (
        f"The run stops. The model is fitted on all training {unit} and tested on {unit} that "
        "tuning never saw.",
        best,
        f"“Do not wait” leaves that for later: {kept}.",
    )
    first, second = interrupted_sentences(state)
    assert first.startswith(f"The run was interrupted. {kept}. “Resume” tries")
    assert second == best


def test_steps_that_are_judged_by_held_out_rows():
    state = state_from_events([STEPS[0], HyperGradientStep(step=3, holdout_loss=0.25)])
    assert "step 3, with a held-out error of 0.25." in stopping_sentences(state)[1]


@pytest.mark.parametrize(("events", "kind"), [(TRIALS, "trial"), (STEPS, "step")])
def test_before_anything_has_ended(events, kind):
    state = state_from_events(events[:1])
    assert stopping_sentences(state)[0] == f"The run stops before its first {kind} has ended."
    assert f"before its first {kind} had ended" in interrupted_sentences(state)[0]
    assert progress_text(state, "stopping").startswith("Stopping · ")
    assert progress_text(state_from_events(events), "stopping").startswith(
        "Working out the results · "
    )
