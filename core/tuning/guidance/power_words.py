"""The gains that a test can show, in a sentence before tuning begins.

Only accuracy and R² have a power that is known before models are fitted.
"""

from __future__ import annotations

from core.evaluation.power import DISCORDANCE, POWER, smallest_gain, smallest_r2_gain
from core.tuning.problem import Problem

_R2 = 0.5  # of the default model, where nothing is known yet
_MIN_ROWS = 5


def power_of(problem: Problem) -> str:
    """The sentence for a problem; "" where rows belong together."""
    dataset = problem.dataset
    if dataset.row_groups is not None:
        return ""
    rows = len(problem.test_rows) if dataset.test is None else dataset.test.rows
    return power_text(problem.metric.name, rows, folds=len(problem.outer))


def power_text(metric: str, rows: int, folds: int = 0) -> str:
    """Such as "With 60 test rows, only gains above some 13 points can be shown …"; or "".

    Args:
        rows: independent rows that are tested; with nested cross-validation, all.
        folds: of nested cross-validation; 0 for one test set.
    """
    if metric not in ("accuracy", "r2"):
        return ""
    rows_text = f"With {rows:,} rows tested by {folds}-fold cross-validation" if folds else ""
    rows_text = rows_text or f"With {rows:,} test row{'' if rows == 1 else 's'}"
    if metric == "accuracy":
        gain, max_gain = smallest_gain(rows, folds=folds) if rows >= _MIN_ROWS else 1.0, 1.0
        share = f"one row in {1 / DISCORDANCE:.0f}"
        assumption = f"if the default and the tuned model disagree on {share}"
        if gain > DISCORDANCE:
            assumption = "if the tuned model loses no row that the default has right"
        unit = "point" if _points_text(gain) == "1" else "points"
    else:
        max_gain = 1.0 - _R2
        gain = smallest_r2_gain(rows, _R2, folds=folds) if rows >= _MIN_ROWS else max_gain
        assumption = "if the default model explains half of the variance"
        unit = "points of R²"
    if gain >= max_gain:
        return f"{rows_text}, hardly any gain can be shown; more rows would help."
    return (
        f"{rows_text}, only gains above some {_points_text(gain)} {unit} can be shown "
        f"({100 * POWER:.0f} % power, {assumption})."
    )


def _points_text(gain: float) -> str:
    """Hundredths, with no more figures than such a forecast has."""
    points = 100 * gain
    return f"{points:.0f}" if points >= 1.5 else f"{points:.1g}"
