"""A learner ends with its minutes: refused before its first fit, in it, or in its last one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core import awake_timer
from core.datasets.reading import read_dataset
from core.errors import UnusableError
from core.optimize.descent import solve_penalized
from core.tuning.events import PenaltyStep, RunFailed, RunFinished
from core.tuning.learning import learning_run
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs import run_clock
from core.tuning.tune import tune


class CountingTimer:
    """A clock on which every look takes a second, from the first `time_limit` on."""

    def __init__(self) -> None:
        self.seconds_passed = 0.0

    @property
    def seconds(self) -> float:
        self.seconds_passed += 1.0
        return self.seconds_passed


@pytest.fixture
def counting_timer(monkeypatch):
    timer = CountingTimer()
    monkeypatch.setattr(awake_timer, "AWAKE", timer)
    monkeypatch.setattr(run_clock, "AWAKE", timer)
    return timer


def test_molecules_that_no_fit_can_finish_are_refused_before_the_first(tmp_path):
    random = np.random.default_rng(0)
    letters = ["".join(random.choice([*"ACGU"], 3000)) for _ in range(6)]
    brackets = ["(" * 200 + "." * 2600 + ")" * 200] * 6
    path = tmp_path / "long.csv"
    pd.DataFrame({"sequence": letters, "structure": brackets}).to_csv(path, index=False)
    events = tune(Plan(DataPlan(str(path)), "rna", "mm", minutes=0.1), read_dataset(str(path)))
    with pytest.raises(UnusableError) as refused:
        next(events)
    assert "molecules of up to 3,000 bases" in refused.value.what
    assert refused.value.cure.startswith("give at least ")


def test_a_first_step_that_does_not_end_is_a_failed_run_with_a_cure(counting_timer):
    plan = Plan(DataPlan("sample:groups"), "logistic", "mm", minutes=1 / 60)
    *_, last = tune(plan, read_dataset("sample:groups"))
    assert isinstance(last, RunFailed)
    assert "before the first fit ended" in last.sentence
    assert "allow more time" in last.sentence


def test_a_step_that_does_not_end_leaves_the_one_before_and_its_weights(
    counting_timer, monkeypatch
):
    fits, final_fit = [], learning_run.final_fit

    def endless_first_fit(loss, groups, C, start):
        fits.append(start)
        while len(fits) == 1:
            solve_penalized(loss, np.ones(loss.size), start + 1e-9 * counting_timer.seconds)
        return final_fit(loss, groups, C, start)

    monkeypatch.setattr(learning_run, "final_fit", endless_first_fit)
    plan = Plan(DataPlan("sample:groups"), "logistic", "mm", minutes=1.0)
    events = list(tune(plan, read_dataset("sample:groups")))
    assert isinstance(events[-1], RunFinished)
    assert fits
    assert any("weights are those of a step" in text for text in events[-1].results.remarks)
    last_step = [event for event in events if isinstance(event, PenaltyStep)][-1]
    assert events[-1].results.groups == last_step.penalties
