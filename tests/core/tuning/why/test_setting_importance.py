"""Which settings mattered, on scores whose shares of variance are worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.datasets.task import Task
from core.space import Axis
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, TrialExcluded, TrialFinished
from core.tuning.run_results import Results
from core.tuning.runs.state import state_from_events
from core.tuning.why.setting_importance import _MIN_RESAMPLES, RESAMPLES, setting_importance

A = Axis("a", "First", "float", 0.0, 1.0, default=0.5)
B = Axis("b", "Second", "float", 1e-3, 1e3, log=True, default=1.0)
C = Axis("c", "Third", "choice", choices=("x", None, "z"), default="x")


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    """As many as an answer needs at least: twenty take seconds."""
    monkeypatch.setattr("core.tuning.why.setting_importance.RESAMPLES", _MIN_RESAMPLES)


def run(score, axes=(A, B, C), count=80, extra=()):
    rng = np.random.default_rng(3)
    events = [RunStarted(plan={"model": "svm"}, space=list(axes))]
    for number in range(count):
        u, v, w = rng.random(3)
        setting = {"a": u, "b": 10 ** (6 * v - 3), "c": C.choices[int(3 * w)]}
        own = {axis.name: setting[axis.name] for axis in axes}
        events.append(TrialFinished(number=number, setting=own, score=score(u, v, int(3 * w))))
    return state_from_events([*events, *extra, RunFinished(results=Results(trials=count))])


def answer(state):
    return list(setting_importance(state))[-1]


def test_shares_are_those_of_the_variance():
    # Var(3u) = 9/12, Var(1.5v) = 2.25/12, and of the choice nothing: 0.8, 0.2, 0.
    found = answer(run(lambda u, v, w: 3 * u + 1.5 * v))
    shares = {one["name"]: one["share"] for one in found["settings"]}
    assert [one["name"] for one in found["settings"]][:2] == ["a", "b"]
    assert shares["a"] == pytest.approx(0.8, abs=0.1)
    assert shares["b"] == pytest.approx(0.2, abs=0.1)
    assert shares["c"] < 0.05
    assert found["together"] < 0.1
    for one in found["settings"]:
        assert one["low"] <= one["share"] <= one["high"]


def test_a_choice_can_matter_most():
    found = answer(run(lambda u, v, w: float(w == 1) + 0.1 * u))
    assert found["settings"][0]["name"] == "c"
    assert found["settings"][0]["share"] > 0.8


def test_what_only_two_explain_together_is_said():
    # (u − ½)(v − ½) has no main effects at all.
    found = answer(run(lambda u, v, w: (u - 0.5) * (v - 0.5), count=120))
    assert found["together"] > 0.5


def test_few_trials_have_long_intervals():
    def wide(count):
        found = answer(run(lambda u, v, w: 3 * u + 1.5 * v, count=count))
        return next(one["high"] - one["low"] for one in found["settings"] if one["name"] == "a")

    assert wide(12) > 1.5 * wide(120)


def test_what_cannot_be_told_is_said_in_a_sentence():
    assert "two settings" in answer(run(lambda u, v, w: u, axes=(A,)))["problem"]
    assert "10 trials" in answer(run(lambda u, v, w: u, count=9))["problem"]
    assert "no setting mattered" in answer(run(lambda u, v, w: 0.5))["problem"]


def test_failed_and_excluded_trials_do_not_count():
    bad = TrialFinished(number=20, setting={"a": 0.5, "b": 1.0, "c": "x"}, score=float("nan"))
    out = TrialExcluded(number=4)
    assert answer(run(lambda u, v, w: 3 * u, count=20, extra=[out, bad]))["of"] == 19


def test_of_very_many_trials_some_are_drawn(monkeypatch):
    monkeypatch.setattr("core.tuning.why.setting_importance.MAX_TRIALS", 40)
    found = answer(run(lambda u, v, w: 3 * u + 1.5 * v))
    assert (found["trials"], found["of"]) == (40, 80)


def test_what_is_known_so_far_is_told(monkeypatch):
    monkeypatch.setattr("core.tuning.why.setting_importance._REPORT_SECONDS", 0.0)
    told = list(setting_importance(run(lambda u, v, w: 3 * u + v, count=20)))
    assert [one["done"] for one in told] == [False] * (len(told) - 1) + [True]
    assert _MIN_RESAMPLES <= told[-1]["resamples"] <= RESAMPLES


def test_of_several_models_the_best_ones_settings_are_told():
    rng = np.random.default_rng(1)
    axis = Axis("model", "Model", "choice", choices=("svm", "knn"), default="svm")
    events = [
        RunStarted(plan={"model": "auto"}, dataset=DatasetFacts(task=Task.BINARY), space=[axis])
    ]
    for number in range(40):
        C, gamma = 10 ** rng.uniform(-2, 3), 10 ** rng.uniform(-4, 1)
        setting = {"model": "svm", "C": C, "gamma": gamma}
        if number % 2:
            setting = {"model": "knn", "n_neighbors": 5, "weights": "uniform", "p": 2}
        score = 0.5 if number % 2 else 0.6 + 0.05 * np.log10(C)
        events.append(TrialFinished(number=number, setting=setting, score=float(score)))
    found = answer(state_from_events([*events, RunFinished(results=Results(trials=40))]))
    assert found["model"] == "svm"
    assert found["of"] == 20
    assert found["settings"][0]["name"] == "C"
