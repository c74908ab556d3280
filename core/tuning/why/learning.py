"""Would more rows help: the tested setting fitted on parts of the training rows.

The setting (or the penalties) stays as the run found it; nothing is tuned again. Every part is
scored on the same test rows. The interval of a mean holds the chance of the parts that were drawn
and of the test rows: in every resample of the test rows, parts are drawn with replacement too.
All rows are one part only, so its interval is of the test rows alone. Of outer folds the first is
taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.evaluation.learning_curve import (
    SHARES,
    mean_of_parts,
    mean_with_interval,
    nested_parts,
)
from core.tuning.problem import Problem
from core.tuning.scores.bootstrap import middle, resampled_scores
from core.tuning.scores.metric import Metric, Said
from core.tuning.scores.metrics import say
from core.tuning.why.judged import Judged, Part

REPEATS = 3
MOST_TEST_ROWS = 5000


def fits(shares: tuple[float, ...] = SHARES, repeats: int = REPEATS) -> float:
    """How many fits on all rows the curve takes about as long as."""
    return repeats * sum(share for share in shares if share < 1)


def learning_curve(judged: Judged) -> Iterator[dict[str, Any]]:
    """The curve after every size, plain data.

    Yields:
        ``metric``, ``maximize``, ``share``; ``sizes``, [{rows, mean, low, high, repeats}], growing;
        ``done``; in the last also ``gain`` {mean, low, high, from, to} of all rows over half of
        them (above 0: more rows helped) and ``answer``: yes, no or unclear.
    """
    part = judged.parts[0]
    if len(part.y) > MOST_TEST_ROWS:
        drawn = np.random.default_rng(judged.problem.plan.seed).choice(
            len(part.y), MOST_TEST_ROWS, replace=False
        )
        part = part.some(np.sort(drawn))
    metric, rows = judged.metric, part.problem.train_rows
    seed = judged.problem.plan.seed
    parts = [_parts(part.problem, seed + repeat) for repeat in range(REPEATS)]
    told: dict[str, Any] = {"metric": metric.name, "maximize": metric.maximize, "sizes": []}
    drawn_of: dict[float, np.ndarray] = {}
    for at, share in enumerate(SHARES):
        models = [part.pipeline]
        if share < 1:
            tried = [_fitted(judged, part.problem, rows[places[at]]) for places in parts]
            models = [model for model in tried if model is not None]
        if models:
            said = [_say(part, model) for model in models]
            scores = [metric.score(part.y, one) for one in said]
            drawn_of[share] = _drawn(metric, part, said, seed)
            low, high = mean_with_interval(drawn_of[share], seed)
            size = {"rows": len(parts[0][at]), "mean": float(np.mean(scores)), "low": low}
            told["sizes"].append({**size, "high": high, "repeats": len(models)})
        yield {**told, "sizes": list(told["sizes"]), "done": share == 1, **_gain(told, drawn_of)}


def _fitted(judged: Judged, problem: Problem, rows: np.ndarray) -> Any:
    """The model on so few rows; None where it cannot be fitted to them."""
    if not _enough(problem, rows):
        return None
    try:
        return judged.fitted(problem.on(rows, problem.test_rows))
    except (ValueError, ArithmeticError, np.linalg.LinAlgError, UnusableError):
        return None  # such as more neighbours than rows


def _gain(told: dict[str, Any], drawn: dict[float, np.ndarray]) -> dict[str, Any]:
    if 1.0 not in drawn or 0.5 not in drawn:
        return {} if 1.0 not in drawn else {"answer": "unclear"}
    sign = 1.0 if told["maximize"] else -1.0
    # Half and whole are scored on the same resamples of test rows.
    half = mean_of_parts(drawn[0.5], 1)
    low, high = middle(sign * (drawn[1.0][0] - half))
    half_size, _, whole_size = told["sizes"][-3:] if 0.75 in drawn else _ends(told["sizes"])
    before, now = half_size["rows"], whole_size["rows"]
    mean = sign * (whole_size["mean"] - half_size["mean"])
    answer = "yes" if low > 0 else "no" if high <= 0 else "unclear"
    gain = {"mean": mean, "low": low, "high": high, "from": before, "to": now}
    return {"gain": gain, "answer": answer}


def _ends(sizes: list[dict[str, Any]]) -> tuple[dict[str, Any], None, dict[str, Any]]:
    return sizes[-2], None, sizes[-1]


def _parts(problem: Problem, seed: int) -> list[np.ndarray]:
    dataset, rows = problem.dataset, problem.train_rows
    labels = None
    if dataset.classes:
        labels = np.unique(dataset.target[rows], return_inverse=True)[1]
    groups = None if dataset.kept_together is None else dataset.kept_together[rows]
    return nested_parts(labels, groups, len(rows), SHARES, seed)


def _enough(problem: Problem, rows: np.ndarray) -> bool:
    """Whether a model can be fitted on so few rows: all classes, and a few rows each."""
    if not problem.dataset.classes:
        return len(rows) >= 10
    every = len(np.unique(problem.dataset.target[problem.train_rows]))
    here = len(np.unique(problem.dataset.target[rows]))
    return len(rows) >= max(10, 3 * every) and here == every


def _say(part: Part, model: Any) -> Said:
    dataset = part.problem.dataset
    return say(model, part.X, dataset.classes, task=dataset.task)


def _drawn(metric: Metric, part: Part, said: list[Said], seed: int) -> np.ndarray:
    dataset = part.problem.dataset
    groups = None
    if dataset.test is None and dataset.row_groups is not None:
        groups = dataset.row_groups[part.rows]
    # Rows alike in all labels are drawn together, which differs from size to size: to compare
    # sizes, the same rows must be drawn for each.
    groups = np.arange(len(part.y)) if groups is None else groups
    return resampled_scores(metric, part.y, said, seed, groups)
