"""Runs side by side: curves as brute force has them, differences, and what must be said."""

import random
from dataclasses import replace

import pytest

from core.space import Axis
from core.tuning.events import RunStarted, TrialExcluded, TrialFinished, TrialStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.runs.past_runs import RunSummary
from core.tuning.runs.run_comparison import (
    PICKED,
    are_comparable,
    best_so_far,
    cautions,
    curve_of,
    differing_names,
    refusal_text,
    settings_of,
)
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events

SPACE = [Axis("C", "C", "float", 0.1, 10.0, default=1.0)]


def stream(scores, maximize=True):
    yield RunStarted(run="r", metric="accuracy", maximize=maximize, space=SPACE)
    for number, score in enumerate(scores):
        setting = {"C": float(number)}
        yield TrialStarted(number=number, setting=setting)
        yield TrialFinished(number=number, setting=setting, score=score, seconds=2.0 * number + 1)


@pytest.mark.parametrize("maximize", [True, False])
def test_the_curve_is_the_running_best(maximize):
    chance = random.Random(4)
    scores = [round(chance.random(), 2) for _ in range(200)]
    trials, seconds, best = best_so_far(state_from_events(stream(scores, maximize)))
    choose = max if maximize else min
    whole = [choose(scores[: at + 1]) for at in range(200)]
    at = [0] + [i for i in range(1, 200) if whole[i] != whole[i - 1]] + [199]
    at = sorted(set(at))
    assert trials == [i + 1 for i in at]
    assert seconds == [2.0 * i + 1 for i in at]
    assert best == [whole[i] for i in at]


def test_failed_and_excluded_trials_are_no_best():
    events = [*stream([0.5, float("nan"), 0.9, 0.6]), TrialExcluded(number=2)]
    assert best_so_far(state_from_events(events))[2] == [0.5, 0.6]
    assert best_so_far(state_from_events(stream([float("nan")]))) == ([], [], [])


def test_a_run_is_read_from_its_folder(tmp_path):
    folder = RunFolder.create(Plan(DataPlan("a.csv"), "svm", "gp", trials=4), path=tmp_path / "r")
    for event in stream([0.5, 0.8]):
        folder.append(event)
    folder.close()
    curve = curve_of(folder.path)
    assert (curve.best, curve.problem, curve.metric) == ([0.5, 0.8], "", "accuracy")
    assert curve.values["trials"] == 4
    assert curve.values["best C"] == 1.0
    assert curve_of(folder.path, wanted=lambda: False).best == []


def test_a_run_that_is_gone_says_so(tmp_path):
    assert "there is no run here" in curve_of(tmp_path / "x").problem


def test_only_what_differs_is_named():
    one = settings_of(Plan(DataPlan("a.csv"), "svm", "gp", options={"kernel": "se"}), {"C": 1})
    other = settings_of(Plan(DataPlan("a.csv"), "svm", "gp", seed=3), {"C": 2.0})
    assert differing_names([one, other]) == ["option kernel", "seed", "best C"]
    assert differing_names([one, one]) == []


RUN = RunSummary(
    "p", "n", "iris", "f", "svm", "gp", "finished", "2026", "accuracy", True,
    test=0.9, interval=[0.8, 0.95], target="y", split="[0]",
)  # fmt: skip


def test_only_runs_of_one_file_target_and_measure_are_compared():
    assert are_comparable(RUN, replace(RUN, model="forest", split="[1]"))
    for change in ({"fingerprint": "g"}, {"target": "z"}, {"metric": "log_loss"}):
        other = replace(RUN, **change)
        assert not are_comparable(RUN, other)
        assert "cannot be compared" in refusal_text([RUN, RUN, other])
    assert "other data and measures," in refusal_text(
        [RUN, replace(RUN, fingerprint="g", metric="r2")]
    )
    assert refusal_text([RUN, RUN]) == ""


def test_a_choice_by_test_scores_is_cautioned():
    assert cautions([RUN]) == []
    assert cautions([RUN, replace(RUN, test=None)]) == []
    far = replace(RUN, test=0.99, interval=[0.97, 1.0])
    assert cautions([RUN, far]) == [PICKED]
    assert any("overlap" in said for said in cautions([RUN, RUN]))
    assert any("same rows" in said for said in cautions([far, replace(RUN, split="[1]")]))
