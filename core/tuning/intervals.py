"""95 % confidence intervals of the contestants' scores and of their differences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from core.evaluation.resampled_t import corrected_interval
from core.tuning.bootstrap import middle, resampled_scores
from core.tuning.metric import Metric
from core.tuning.told import BASELINE, CONTESTANTS, DEFAULT, TUNED, Told

OTHERS = (DEFAULT, BASELINE)


@dataclass(frozen=True)
class Span:
    """The interval of tuned − other.

    Attributes:
        low, high: its ends; NaN where they cannot be had.
        method: how they were found.
        p: of the test that belongs to it, where there is one.
    """

    low: float
    high: float
    method: str
    p: float | None = None


@dataclass(frozen=True)
class Spans:
    """The interval of every contestant's score, and of tuned − other for both others."""

    scores: dict[str, tuple[float, float]]
    differences: dict[str, Span]


def spans_of(metric: Metric, told: Told, seed: int) -> Spans:
    """The intervals of a metric, by the method that suits it and the rows.

    Args:
        metric: what is measured; what it needs every contestant may say or not.
        told: what the contestants say.
        seed: of resamples.
    """
    if told.folds is not None:
        return _of_folds(metric, told)
    return _of_resamples(metric, told, seed)


def _of_folds(metric: Metric, told: Told) -> Spans:
    assert told.train_share is not None
    share, scores = told.train_share, told.fold_scores(metric)
    unknown = np.full(len(scores[TUNED]), np.nan)
    of_all = {name: scores.get(name, unknown) for name in CONTESTANTS}
    method = "corrected resampled t"
    differences = {n: corrected_interval(of_all[TUNED] - of_all[n], share) for n in OTHERS}
    return Spans(
        {name: corrected_interval(values, share) for name, values in of_all.items()},
        {name: Span(*ends, method) for name, ends in differences.items()},
    )


def _of_resamples(metric: Metric, told: Told, seed: int) -> Spans:
    able = {n: one for n, one in told.said.items() if getattr(one, metric.needs) is not None}
    drawn = resampled_scores(metric, told.y, list(able.values()), seed, told.row_groups)
    found = dict(zip(able, drawn, strict=True))
    unknown = np.full(drawn.shape[1], np.nan)
    of_all = {name: found.get(name, unknown) for name in CONTESTANTS}
    differences = {name: middle(of_all[TUNED] - of_all[name]) for name in OTHERS}
    return Spans(
        {name: middle(values) for name, values in of_all.items()},
        {name: Span(*ends, "bootstrap") for name, ends in differences.items()},
    )
