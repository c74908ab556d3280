"""What each model's own Gaussian process tells while several models are tuned."""

import itertools

import numpy as np
import pytest

from core.estimators.multi_model import MODEL, split_model_setting
from core.space import setting_at
from core.tuning.events import SurrogateFitted, TrialFinished, TrialStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.tune import tune

WINE = DataPlan("sample:wine")
PLAN = Plan(WINE, "auto", "race", trials=70, folds=3, seed=2, options={"repeats": 1})


@pytest.fixture(scope="module")
def events():
    return list(tune(PLAN, read_data(WINE)))


def test_a_surrogate_is_of_the_trials_of_one_model(events):
    problem = build_problem(PLAN, read_data(WINE))
    scores, settings, seen = {}, {}, 0
    for event in events:
        if isinstance(event, TrialFinished):
            scores[event.number], settings[event.number] = event.score, event.setting
        if not isinstance(event, SurrogateFitted):
            continue
        seen += 1
        space = problem.single_model(event.model).space
        assert event.trials == len(event.numbers) >= 2
        for point, number, response in zip(
            event.points, event.numbers, event.responses, strict=True
        ):
            assert settings[number][MODEL] == event.model
            assert response == pytest.approx(scores[number])
            own = split_model_setting(settings[number])[1]
            found = setting_at(space, np.array(point))
            assert {name: value for name, value in own.items() if isinstance(value, str)} == {
                name: value for name, value in found.items() if isinstance(value, str)
            }
    assert seen >= 5


def test_the_trial_that_follows_is_the_one_that_the_surrogate_proposes(events):
    for before, after in itertools.pairwise(events):
        if isinstance(before, SurrogateFitted):
            assert isinstance(after, TrialStarted)
            assert after.setting[MODEL] == before.model
