"""95 % confidence intervals of the contestants' scores and of their differences.

| scores and rows | method |
| --- | --- |
| folds of nested cross-validation | corrected resampled t (Nadeau & Bengio 2003) |
| shares of rows or sequences that are right | exact McNemar test, with Tango's score interval |
| area under the ROC curve | DeLong et al. 1988 |
| means and R², from some hundred rows or groups on | normal, of paired differences |
| the others | paired bootstrap of rows, or of groups where rows belong together |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.evaluation.influence import normal_interval, standard_error
from core.evaluation.paired_proportions import (
    difference_interval,
    discordant,
    mcnemar,
    share_interval,
)
from core.evaluation.resampled_t import corrected_interval
from core.tuning.scores.bootstrap import middle, resampled_scores
from core.tuning.scores.metric import Metric, Said
from core.tuning.scores.predictions import BASELINE, CONTESTANTS, DEFAULT, TUNED, Predictions

OTHERS = (DEFAULT, BASELINE)
MANY = 100  # independent rows or groups from which on means count as normal
_NONE = (float("nan"), float("nan"))


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


def spans_of(
    metric: Metric,
    predictions: Predictions,
    scores: Mapping[str, Mapping[str, float]],
    seed: int,
    same: bool = False,
) -> Spans:
    """The intervals of a metric, by the method that suits it and the rows.

    Args:
        metric: what is measured; a contestant that does not say what it needs has no interval.
        predictions: what the contestants say.
        scores: `predictions.scores`, the middle of normal intervals.
        seed: of resamples.
        same: whether the tuned setting is the default one; the gain then is 0 for certain.
    """
    if predictions.folds is not None:
        return _of_folds(metric, predictions)
    able = {n: one for n, one in predictions.said.items() if getattr(one, metric.needs) is not None}
    independent = predictions.row_groups is None
    if metric.right is not None and (independent or metric.needs == "whole"):
        return _of_right_or_wrong(metric, predictions.y, able, same)
    if metric.influence is not None and (metric.bounded or _units(predictions) >= MANY):
        found = _of_influence(metric, predictions, able, scores)
        if found is not None:
            return found
    return _of_resamples(metric, predictions, able, seed)


def _units(predictions: Predictions) -> int:
    """How many rows or groups are independent of each other."""
    return (
        len(predictions.y)
        if predictions.row_groups is None
        else len(np.unique(predictions.row_groups.astype(str)))
    )


def _of_folds(metric: Metric, predictions: Predictions) -> Spans:
    assert predictions.train_share is not None
    share, scores = predictions.train_share, predictions.fold_scores(metric)
    unknown = np.full(len(scores[TUNED]), np.nan)
    of_all = {name: scores.get(name, unknown) for name in CONTESTANTS}
    method = "corrected resampled t"
    differences = {n: corrected_interval(of_all[TUNED] - of_all[n], share) for n in OTHERS}
    return Spans(
        {name: corrected_interval(values, share) for name, values in of_all.items()},
        {name: Span(*ends, method) for name, ends in differences.items()},
    )


def _of_right_or_wrong(metric: Metric, y: np.ndarray, able: dict[str, Said], same: bool) -> Spans:
    assert metric.right is not None
    right = {name: metric.right(y, getattr(one, metric.needs)) for name, one in able.items()}
    rows = len(right[TUNED])
    differences = {}
    for name in OTHERS:
        won, lost = discordant(right[TUNED], right[name])
        ends = difference_interval(won, lost, rows)
        if same and name == DEFAULT and not won + lost:
            ends = (0.0, 0.0)
        differences[name] = Span(*ends, "exact McNemar", mcnemar(won, lost))
    scores = {name: share_interval(int(one.sum()), rows) for name, one in right.items()}
    return Spans(scores, differences)


def _of_influence(
    metric: Metric,
    predictions: Predictions,
    able: dict[str, Said],
    known: Mapping[str, Mapping[str, float]],
) -> Spans | None:
    """Normal intervals; None where a row's influence is not known, as in a class of one row."""
    assert metric.influence is not None
    groups = None
    if predictions.row_groups is not None:
        if _units(predictions) < MANY:
            return None
        _, groups = np.unique(predictions.row_groups.astype(str), return_inverse=True)
    parts = {name: getattr(one, metric.needs) for name, one in able.items()}
    phi = {name: metric.influence(predictions.y, part) for name, part in parts.items()}
    if not all(np.isfinite(one).all() for one in phi.values()):
        return None
    score = {name: known[name][metric.name] for name in able}
    scores, differences = dict.fromkeys(CONTESTANTS, _NONE), {}
    for name, one in phi.items():
        error = standard_error(one, groups)
        scores[name] = normal_interval(score[name], error, bounded=metric.bounded)
    method = "DeLong" if metric.bounded else "normal"
    for name in OTHERS:
        ends = _NONE
        if name in phi:
            error = standard_error(phi[TUNED] - phi[name], groups)
            ends = normal_interval(score[TUNED] - score[name], error)
        differences[name] = Span(*ends, method)
    return Spans(scores, differences)


def _of_resamples(
    metric: Metric, predictions: Predictions, able: dict[str, Said], seed: int
) -> Spans:
    drawn = resampled_scores(
        metric, predictions.y, list(able.values()), seed, predictions.row_groups
    )
    found = dict(zip(able, drawn, strict=True))
    unknown = np.full(drawn.shape[1], np.nan)
    of_all = {name: found.get(name, unknown) for name in CONTESTANTS}
    differences = {name: middle(of_all[TUNED] - of_all[name]) for name in OTHERS}
    return Spans(
        {name: middle(values) for name, values in of_all.items()},
        {name: Span(*ends, "bootstrap") for name, ends in differences.items()},
    )
