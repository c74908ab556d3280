"""Whether an average of several models is taken, or the single best."""

import numpy as np
import pytest

from core.estimators.several import of_model
from core.tuning.events import EnsembleUpdated, RunStarted, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem, read_data
from core.tuning.results import candidates
from core.tuning.results.conclude import conclusion
from core.tuning.results.judging import Course
from core.tuning.results.winner import winner_of
from core.tuning.runs.clock import Clock
from core.tuning.runs.state import folded

WINE = DataPlan("sample:wine")
FOLDS = [0.90, 0.94, 0.92, 0.92]  # their standard deviation is .0163, the mean's error half of it


@pytest.fixture(scope="module")
def problem():
    plan = Plan(WINE, "auto", "race", trials=4, folds=4, options={"repeats": 1})
    return build_problem(plan, read_data(WINE))


def state_of(problem, average, single):
    """A run of two trials and their average."""
    settings = [
        {**problem.alone("naive-bayes").default, **of_model("naive-bayes", {})},
        {**problem.alone("knn").default, **of_model("knn", {})},
    ]
    trials = [
        TrialFinished(number=n, setting=setting, score=0.92 - n / 100, fold_scores=FOLDS)
        for n, setting in enumerate(settings)
    ]
    update = EnsembleUpdated(
        finished=2,
        members=[0, 1],
        weights=[0.5, 0.5],
        scores=[0.92, 0.91],
        effective=2.0,
        average=average,
        single=single,
        kind="greedy",
    )
    return folded([RunStarted(averages=True), *trials, update])


@pytest.mark.parametrize(
    ("average", "single", "kind"),
    [(0.93, 0.92, "average"), (0.915, 0.92, "average"), (0.90, 0.92, "best")],
)
def test_the_single_best_is_taken_where_it_is_ahead_by_a_standard_error(
    problem, average, single, kind
):
    assert winner_of(problem, state_of(problem, average, single), None, {}).kind == kind


def test_a_member_of_the_average_is_tested_alone_without_another_fit(problem, monkeypatch):
    fits = []
    monkeypatch.setattr(candidates, "fit", lambda *given: fits.append(given))
    course = Course(state_of(problem, 0.93, 0.92), Clock(0.0))
    concluding = conclusion(problem, course, "", None, None)
    with pytest.raises(StopIteration) as ended:
        next(concluding)
    results = ended.value.value
    assert results["taken"] == "average"
    (told,) = (one for one in results["candidates"] if one["kind"] == candidates.BEST)
    assert not fits
    X, y = problem.test
    alone = problem.pipeline(told["setting"]).fit(*problem.train)
    assert told["test"]["accuracy"] == pytest.approx(np.mean(alone.predict(X) == y))
