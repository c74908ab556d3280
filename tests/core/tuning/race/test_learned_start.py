"""The learned penalty that a linear model starts with, against the learner's own run."""

import pytest

from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem, read_data
from core.tuning.race.learned_start import learned_start
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune


@pytest.mark.parametrize(
    ("sample", "model", "learner"), [("wine", "logistic", "loo"), ("prices", "linear", "evidence")]
)
def test_it_is_what_the_learner_finds_on_the_same_rows(sample, model, learner, tmp_path):
    data = DataPlan(f"sample:{sample}")
    dataset = read_data(data)
    start = learned_start(build_problem(Plan(data, "auto", "race"), dataset).single_model(model))
    plan = Plan(data, model, learner, evaluation="test", refit=False)
    folder = RunFolder.create(plan, path=tmp_path / "run")
    for _ in tune(plan, dataset, folder=folder):
        pass
    kept = best_of(folder).named_steps["model"]  # fitted and described by the learner itself
    name = "C" if model == "logistic" else "alpha"
    assert start[name] == pytest.approx(getattr(kept, name), rel=1e-6)


def test_groups_that_were_asked_for_share_the_penalty_of_a_start():
    data = DataPlan("sample:groups")
    dataset = read_data(data)
    single = build_problem(Plan(data, "auto", "race", trials=3), dataset)
    grouped = build_problem(Plan(data, "auto", "race", trials=3, groups="prefix"), dataset)
    starts = [learned_start(problem.single_model("logistic")) for problem in (single, grouped)]
    assert starts[0] is not None
    assert starts[1] == starts[0]


def test_other_models_and_large_tables_learn_none(monkeypatch):
    data = DataPlan("sample:wine")
    problem = build_problem(Plan(data, "auto", "race", trials=3), read_data(data))
    assert learned_start(problem.single_model("svm")) is None
    monkeypatch.setattr("core.tuning.race.learned_start.MAX_VALUES", 10)
    assert learned_start(problem.single_model("logistic")) is None
