"""No more neighbours are asked than a fold has rows, and the space says so."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.datasets.reading import read_dataset
from core.space import Axis
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import Problem
from core.tuning.problem_setup import build_problem
from core.tuning.scores.scoring import score_setting


def problem_of(path: Path, rows: int) -> Problem:
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(rows, 3)), columns=["a", "b", "c"])
    table["goal"] = np.where(table["a"] + 0.1 * random.normal(size=rows) > 0, "yes", "no")
    table.to_csv(path, index=False)
    dataset = read_dataset(str(path))
    plan = Plan(DataPlan(str(path)), "knn", "random", folds=3, metric="log_loss")
    return build_problem(plan, dataset)


@pytest.mark.parametrize("rows", [24, 400])
def test_every_setting_of_the_space_can_be_scored(tmp_path: Path, rows: int) -> None:
    problem = problem_of(tmp_path / "data.csv", rows)
    most = {axis.name: axis.high for axis in problem.space}["n_neighbors"]
    fewest = min(len(fit_rows) for fit_rows, _ in problem.splits)
    assert most == min(50, fewest)
    for weights in ("uniform", "distance"):
        setting = {**problem.default, "n_neighbors": most, "weights": weights}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = score_setting(problem.scoring_job(), 0, setting)
        assert outcome.failure == ""


def test_an_axis_is_cut_at_its_most_and_the_default_with_it() -> None:
    axis = Axis("k", "k", "int", 1, 50, log=True, default=5)
    assert axis.up_to(50) is axis
    assert axis.up_to(60) is axis
    assert (axis.up_to(3).high, axis.up_to(3).default) == (3, 3)
    assert (axis.up_to(20).high, axis.up_to(20).default) == (20, 5)
    assert axis.up_to(0).high == 1
    choice = Axis("w", "w", "choice", choices=("a", "b"), default="a")
    assert choice.up_to(0) is choice
