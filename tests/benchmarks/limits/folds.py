"""A fold that is fitted, predicted and scored, beside its model's fit and prediction alone."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import cache

from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.scores.scoring import (
    fit_estimator,
    fit_warnings_ignored,
    import_model,
    score_setting,
)
from limits.reading import table
from limits.work import TIMES, Work, seconds

MAX_OTHER = 0.15  # share of a fold that is neither the model's fit nor its prediction
ROWS = 100_000
REPEATS = 9


@dataclass(frozen=True)
class Fold:
    """A model's fold; fewer rows or trees where it takes minutes, so that ours weigh more."""

    model: str
    rows: int = ROWS
    repeats: int = REPEATS
    trees: int | None = None

    @property
    def title(self) -> str:
        trees = f", {self.trees} trees" if self.trees else ""
        return f"a fold, {self.rows:.0e} × 30, {self.model}{trees}".replace("+0", "")


FOLDS = (
    *(Fold(name) for name in ("logistic", "logistic-l1l2", "naive-bayes")),
    *(Fold(name, repeats=3) for name in ("elastic-net", "boosting")),
    *(Fold(name, repeats=1, trees=10) for name in ("forest", "extra-trees")),
    *(Fold(name, repeats=1) for name in ("mlp", "knn")),
    Fold("svm", rows=ROWS // 10, repeats=1),
)


@cache
def both_seconds(fold: Fold) -> tuple[float, float]:
    """Of the first of five folds: fitted, predicted and scored; fitted and predicted alone."""
    data = DataPlan(table("numbers", fold.rows), target="y")
    problem = build_problem(Plan(data, "auto", "race"), read_data(data)).single_model(fold.model)
    setting = problem.default | ({"n_estimators": fold.trees} if fold.trees else {})
    job = problem.scoring_job(problem.fold_data()[:1])
    import_model(job, setting)

    def fit_and_predict() -> None:
        estimator = fit_estimator(job, setting, job.folds[0])
        has_probabilities = hasattr(estimator, "predict_proba")
        predict = estimator.predict_proba if has_probabilities else estimator.decision_function
        with fit_warnings_ignored():
            predict(job.folds[0].score_X)

    # In turns: other programs slow both alike.
    pairs = [
        (seconds(lambda: score_setting(job, 0, setting), 1), seconds(fit_and_predict, 1))
        for _ in range(fold.repeats)
    ]
    now, limit = (statistics.median(column) for column in zip(*pairs, strict=True))
    return now, limit


WORK = tuple(
    Work(
        fold.title,
        1 / (1 - MAX_OTHER),
        lambda fold=fold: both_seconds(fold)[0],
        lambda fold=fold: both_seconds(fold)[1],
        "its fit and prediction alone",
        TIMES,
    )
    for fold in FOLDS
)
