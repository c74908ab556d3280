"""No strategy asks for a setting again before the space is spent, whatever came before it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from run_events import settings
from run_events import tune_here as tune

from core.errors import UnusableError
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.space import Axis, unit_vector
from core.tuning.events import TrialStarted, TuningEnded
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.scores.scoring import TrialResult
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.trials.asked_settings import AskedSettings
from core.tuning.trials.trial_run import AskTellStudy

STRATEGY_NAMES = [
    name for name, strategy in STRATEGIES.items() if strategy.kind == "trials" and name != "race"
]
IRIS = DataPlan("sample:iris")


def knn_problem(iris, strategy, seed=0):
    """A space of 6 × 2 × 2 settings."""
    plan = Plan(IRIS, "knn", strategy, ranges={"n_neighbors": [1, 6]}, seed=seed)
    return build_problem(plan, iris)


def svm_problem(iris, strategy, seed=0, model="svm"):
    return build_problem(Plan(IRIS, model, strategy, seed=seed), iris)


def score_of(setting):
    values = [float(value) for value in setting.values() if isinstance(value, int | float)]
    return -float(np.sum(np.square(values)))


def ask_all(study, count, workers=1):
    """Settings that a study asks for, `workers` of them running at a time."""
    started, running = [], []
    while len(started) < count and not (started and study.exhausted_reason):
        trial = study.ask()
        started.append(trial.setting)
        running.append(trial)
        if len(running) == workers:
            ended = running.pop(0)
            failure = "none" if ended.number % 5 == 3 else ""
            scores = () if failure else (score_of(ended.setting),)
            study.tell(TrialResult(ended.number, ended.setting, scores, failure=failure))
    return started


def repeated_count(problem, asked):
    """How many settings equal an earlier one, by exact whole numbers and 1e-4 of real ranges."""
    points = np.array([unit_vector(problem.space, setting) for setting in asked])
    gaps = np.abs(points[:, None] - points[None]).max(axis=2)
    return int((gaps[np.tril_indices(len(asked), -1)] <= 1e-4).sum())


def history_for(problem):
    datasets = []
    for seed in (1, 2):
        random = np.random.default_rng(seed)
        plan = replace(problem.plan, strategy="random", seed=seed)
        study = AskTellStudy(replace(problem, plan=plan), TuningHistory())
        drawn = [study.ask().setting for _ in range(8)]
        scores = tuple(random.random(8).tolist())
        datasets.append(EarlierDataset(f"a{seed}", (5.0, 1.0 + seed, 3.0), tuple(drawn), scores))
    return TuningHistory(tuple(datasets), (4.6, 1.4, 3.0))


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("strategy", STRATEGY_NAMES)
def test_a_small_space_is_asked_for_once_each_until_it_is_spent(iris, strategy, workers):
    if strategy == "cma-es":
        pytest.skip("for numbers alone")
    problem = knn_problem(iris, strategy, seed=3)
    study = AskTellStudy(problem, history_for(problem))
    asked = ask_all(study, 40, workers)
    assert repeated_count(problem, asked) == 0
    assert len(asked) == 24
    assert study.exhausted_reason.startswith("every setting")


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("strategy", STRATEGY_NAMES)
def test_a_wide_space_is_never_asked_for_the_same_setting(iris, strategy, seed):
    problem = svm_problem(iris, strategy, seed)
    history = history_for(problem)
    # The default, a start twice, and one that differs from another by the rounding of a file.
    first = dict(history.datasets[0].settings[1])
    rounded = {name: float(f"{value:.4g}") for name, value in first.items()}
    starts = [problem.default, first, rounded, first]
    study = AskTellStudy(problem, history, starts, starts_are="past", default_first=True)
    asked = ask_all(study, 30)
    assert len(asked) == 30
    assert repeated_count(problem, asked) == 0


@pytest.mark.parametrize("strategy", ["gp", "tpe", "transfer"])
def test_whole_numbers_and_choices_among_real_numbers(iris, strategy):
    problem = svm_problem(iris, strategy, model="mlp")
    assert repeated_count(problem, ask_all(AskTellStudy(problem, TuningHistory()), 30)) == 0


def test_the_start_design_of_another_run_is_not_tried_again(iris):
    """An earlier run of the same seed had the same start design, kept to four digits."""
    problem = svm_problem(iris, "gp")
    design = ask_all(AskTellStudy(problem, TuningHistory()), 6)
    starts = [{n: float(f"{v:.4g}") for n, v in setting.items()} for setting in design[1:3]]
    asked = ask_all(AskTellStudy(problem, TuningHistory(), starts, starts_are="past"), 8)
    assert asked[1:3] == starts
    assert repeated_count(problem, asked) == 0


@pytest.mark.parametrize("strategy", STRATEGY_NAMES)
def test_a_resumed_run_asks_for_the_same_and_for_nothing_again(iris, strategy):
    model, ranges = "knn", {"n_neighbors": [1, 6]}
    if strategy == "cma-es":  # for numbers alone
        model, ranges = "svm", {}
    plan = Plan(IRIS, model, strategy, trials=14, folds=3, patience=0, ranges=ranges)
    whole = list(tune(plan, iris, history=None))
    cut = [event for event in whole if not isinstance(event, TuningEnded)]
    ends = [index for index, event in enumerate(cut) if isinstance(event, TrialStarted)]
    past = cut[: ends[8] + 1]
    rest = list(tune(plan, iris, past=past, history=None))
    assert settings([*past, *rest]) == settings(whole)
    problem = build_problem(plan, iris)
    assert repeated_count(problem, list(settings([*past, *rest]).values())) == 0


def test_settings_by_hand_are_not_tried_twice(iris):
    problem = knn_problem(iris, "random")
    study = AskTellStudy(problem, TuningHistory())
    tried = study.ask().setting
    with pytest.raises(UnusableError, match="tried already"):
        study.request_setting(tried)
    wanted = {"n_neighbors": 6, "weights": "distance", "p": 1}
    study.request_setting(wanted)
    study.request_setting(wanted)
    assert study.ask().setting == wanted
    assert study.ask().reason != "hand"


def test_what_counts_as_equal():
    space = (Axis("C", "", "float", 1e-3, 1e3, log=True), Axis("depth", "", "int", 1, 50_000))
    asked = AskedSettings(space)
    asked.add_setting({"C": 0.008193, "depth": 7})
    assert {"C": 0.0081934, "depth": 7} in asked
    assert {"C": 0.0083, "depth": 7} not in asked
    assert {"C": 0.008193, "depth": 8} not in asked
    weights = AskedSettings([Axis(name, "", "float", 0.0, 1.0) for name in "ab"], ("a", "b"))
    weights.add_setting({"a": 0.2, "b": 0.4})
    assert {"a": 0.5, "b": 1.0} in weights
    assert {"a": 1.0, "b": 0.5} not in weights
    weights.add_setting({"a": 0.0, "b": 0.0})
    assert not weights.is_spent
