"""A fold that is fitted, predicted and scored, beside its model's fit alone; ten models."""

from __future__ import annotations

from functools import cache, partial

from core.space import Setting
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.scores.scoring import ScoringJob, fit_estimator, import_model, score_setting
from limits.reading import table
from limits.work import TIMES, Work, seconds

ROWS = 100_000
MODELS = (
    *("logistic", "logistic-l1l2", "elastic-net", "svm", "forest", "extra-trees", "boosting"),
    *("mlp", "knn", "naive-bayes"),
)
MAX_OTHER = 0.15  # share of a fold that is not the fit


@cache
def first_fold(model: str) -> tuple[ScoringJob, Setting]:
    """The work of the first of five folds, and the model's default setting."""
    data = DataPlan(table("numbers", ROWS), target="y")
    problem = build_problem(Plan(data, "auto", "race"), read_data(data)).single_model(model)
    job = problem.scoring_job(problem.fold_data()[:1])
    import_model(job, problem.default)
    return job, problem.default


def scoring(model: str) -> float:
    job, setting = first_fold(model)
    return seconds(lambda: score_setting(job, 0, setting), 3)


def fitting(model: str) -> float:
    job, setting = first_fold(model)
    return seconds(lambda: fit_estimator(job, setting, job.folds[0]), 3)


WORK = tuple(
    Work(
        f"a fold, 1e5 × 30, {model}",
        1 / (1 - MAX_OTHER),
        partial(scoring, model),
        partial(fitting, model),
        "its fit alone",
        TIMES,
    )
    for model in MODELS
)
