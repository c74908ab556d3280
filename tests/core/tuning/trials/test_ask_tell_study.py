"""What asks the strategy: asking again what was recorded, also where it comes out otherwise."""

import pytest

from core.samplers.transfer.history import TuningHistory
from core.tuning.events import TrialFailed, TrialFinished, TrialStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem, read_data
from core.tuning.scores.scoring import TrialResult
from core.tuning.trials.ask_tell_study import AskTellStudy

IRIS = DataPlan("sample:iris")


@pytest.fixture(scope="module")
def problem():
    return build_problem(Plan(IRIS, "logistic", "gp", trials=9), read_data(IRIS))


def test_trials_recorded_by_another_version_are_taken_as_they_are(problem):
    asker = AskTellStudy(problem, TuningHistory())
    past = [
        TrialStarted(number=0, setting={"C": 3.0}, reason="default"),
        TrialFinished(number=0, setting={"C": 3.0}, score=0.9),
        TrialStarted(number=1, setting={"C": 0.5}),
        TrialFailed(number=1, setting={"C": 0.5}, reason="It took too long."),
        TrialStarted(number=2, setting={"C": 7.0}),  # was under way when the run was cut off
    ]
    asker.replay_trials(past)
    asker.tell(TrialResult(2, {"C": 7.0}, (0.8, 0.7)))
    states = [(t.params["C"], t.value, t.state.name) for t in asker._study.trials]
    assert states == [(3.0, 0.9, "COMPLETE"), (0.5, None, "FAIL"), (7.0, 0.75, "COMPLETE")]
    assert asker.ask().number == 3
