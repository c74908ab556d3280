"""Whether an average of several models is taken, or the single best."""

import pytest

from core.estimators.several import of_model
from core.tuning.events import EnsembleUpdated, RunStarted, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem, read_data
from core.tuning.results.winner import winner_of
from core.tuning.runs.state import folded

WINE = DataPlan("sample:wine")
FOLDS = [0.90, 0.94, 0.92, 0.92]  # their standard deviation is .0163, the mean's error half of it


@pytest.fixture(scope="module")
def problem():
    plan = Plan(WINE, "auto", "race", trials=4, folds=4, options={"repeats": 1})
    return build_problem(plan, read_data(WINE))


@pytest.mark.parametrize(
    ("average", "single", "kind"),
    [(0.93, 0.92, "average"), (0.915, 0.92, "average"), (0.90, 0.92, "best")],
)
def test_the_single_best_is_taken_where_it_is_ahead_by_a_standard_error(
    problem, average, single, kind
):
    settings = [of_model("naive-bayes", {}), of_model("knn", {"n_neighbors": 5})]
    settings = [{**problem.alone(s["model"]).default, **s} for s in settings]
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
    state = folded([RunStarted(averages=True), *trials, update])
    assert winner_of(problem, state, None, {}).kind == kind
