"""How the result of a run is evaluated: on one test set, or by nested cross-validation.

Nested: the whole tuning is repeated without each outer fold, so that every row is tested once by a
model fitted without it (Varma and Simon 2006). A small test set can show large gains only.
"""

from __future__ import annotations

from core.datasets.task import Task
from core.errors import UnusableError
from core.tuning.plan import EVALUATIONS, Plan
from core.tuning.run_results import EvaluationFacts, Results

FEW_ROWS = 1000  # below so many every row tests, where a repeated tuning costs a moment
OUTER_FOLDS = 5


def evaluation_of(plan: Plan, task: str, rows: int, kind: str) -> str:
    """How a plan's result is evaluated, "test" or "nested".

    As planned; by default nested for penalty learners on tables of few rows, unless the plan
    chooses the test rows. `kind` is the strategy's, `rows` those with a known target.

    Raises:
        UnusableError: there is no such evaluation, or it does not fit the task or a second file.
    """
    evaluation, data = plan.evaluation, plan.data
    if evaluation and evaluation not in EVALUATIONS:
        raise UnusableError(
            f"there is no evaluation “{evaluation}”",
            where="option evaluation",
            cure="choose auto, " + " or ".join(EVALUATIONS),
        )
    if evaluation == "nested":
        _check_nested(plan, task)
    if evaluation:
        return evaluation
    has_test_choice = bool(data.test_file) or bool(data.latest) or data.test_size is not None
    has_few_rows = Task(task).is_table and rows < FEW_ROWS
    return "nested" if has_few_rows and kind == "penalties" and not has_test_choice else "test"


def _check_nested(plan: Plan, task: str) -> None:
    if not Task(task).is_table:
        raise UnusableError(
            "nested cross-validation is for tables of numbers or classes",
            where="option evaluation",
            cure="choose evaluation test",
        )
    if plan.data.test_file:
        raise UnusableError(
            "nested cross-validation tests every row of the first file, none of the second",
            where="option evaluation",
            cure="leave out the second file, or choose evaluation test",
        )
    if plan.data.latest:
        raise UnusableError(
            "nested cross-validation tests every row, not the latest ones",
            where="option evaluation",
            cure="draw the rows at random, or choose evaluation test",
        )


def evaluation_text(results: Results) -> str:
    """How the scores of a result were measured, and on which rows its model was fitted."""
    facts = results.evaluation
    return "" if facts is None else f"{_score_text(facts)} {_fitted_rows_text(facts)}".strip()


def _score_text(facts: EvaluationFacts) -> str:
    if facts.kind != "nested":
        return ""
    if not facts.repeated:
        return (
            f"Each row was tested once, in {facts.folds} folds, by a model fitted without it; "
            "but the setting was chosen with all rows in sight, so these scores are too good."
        )
    return (
        f"Each row was tested once, by a model tuned and fitted without it (nested "
        f"cross-validation, {facts.folds} folds)."
    )


def _fitted_rows_text(facts: EvaluationFacts) -> str:
    if facts.fitted != "all":
        return "" if facts.kind == "nested" else "The model is the one that was tested."
    drawn = "drawn " if facts.drawn else ""
    rows = f"the model that is kept is fitted on all {facts.rows:,} {drawn}{facts.units}."
    if facts.kind == "nested":
        return rows[0].upper() + rows[1:]
    return f"The score was measured on a model fitted without the test {facts.units}; {rows}"
