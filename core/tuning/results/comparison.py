"""The comparison of the tuned model with the default one and the baseline on test rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from core.datasets.task import Task
from core.datasets.units import Units
from core.evaluation.unit_intervals import MIN_UNITS
from core.records import Record, strict_json
from core.space import Setting
from core.tuning.run_results import (
    Calibration,
    ConfusionCounts,
    DocumentCounts,
    Gain,
    MoleculePairs,
    PairCounts,
    PairCurves,
    PredictionPairs,
    Results,
    RightCounts,
    SequenceCounts,
)
from core.tuning.scores.intervals import ScoreIntervals, score_intervals
from core.tuning.scores.metric import Metric, Predictions, safe_ratio
from core.tuning.scores.predictions import BASELINE, DEFAULT, TUNED, AllScores, ComparedPredictions
from core.tuning.scores.score import difference_text
from core.tuning.scores.structured_metrics import GAMMAS, OWN
from core.wording import count_text

_FEW_ROWS = 30
_SURE = 1.96  # standard errors
_ROUNDING = 1e-9  # of a score: a difference that is none


@dataclass(frozen=True)
class ComparisonContext:
    """How the contestants are compared, and how the tuned one came about."""

    task: str
    classes: Sequence[Any]  # the sorted class labels; empty for other tasks
    metric: Metric  # the one tuned for
    setting: Setting  # of the tuned model
    default_setting: Setting
    validation: Mapping[str, float] = field(default_factory=dict)  # {metric: value}, during tuning
    validation_rows: int = 0  # rows that this value was measured on; 0 where unknown
    seed: int = 0  # of the rows that are shown
    is_average: bool = False  # whether the tuned model is an average, which has no single setting
    second_file: bool = False  # whether the test rows come from a second file
    is_selected: bool = False  # whether a person chose the model after the run had ended

    @property
    def is_default_setting(self) -> bool:
        return not self.is_average and dict(self.setting) == dict(self.default_setting)


def results_of(predictions: ComparedPredictions, comparison: ComparisonContext) -> Results:
    """All of the results but what the run itself records."""
    metric, task = comparison.metric, Task(comparison.task)
    scores = predictions.all_scores(task)
    intervals = score_intervals(metric, predictions, scores, comparison.is_default_setting)
    over_default = _gain_over(metric, scores, DEFAULT, intervals)
    over_baseline = _gain_over(metric, scores, BASELINE, intervals)
    # To beat a bad default is no gain where a constant does so too.
    if over_default.is_positive and over_baseline.difference is not None:
        is_real = over_default.real and over_baseline.real and over_baseline.is_positive
        over_default = replace(over_default, real=is_real)
    validation, optimism = comparison.validation.get(metric.name), None
    if validation is not None:
        optimism = metric.signed_gain(validation - scores[TUNED][metric.name])
    error = _optimism_error(intervals, comparison.validation_rows, len(predictions.y))
    unknown = int((predictions.y < 0).sum()) if len(comparison.classes) else 0
    results = Results(
        setting=dict(comparison.setting),
        default_setting=dict(comparison.default_setting),
        metric=metric.name,
        maximize=metric.maximize,
        validation=dict(comparison.validation),
        test=dict(scores[TUNED]),
        default_test=dict(scores[DEFAULT]),
        baseline=task.baseline_text,
        baseline_test=dict(scores[BASELINE]),
        test_interval=list(intervals.scores[TUNED]),
        default_interval=list(intervals.scores[DEFAULT]),
        baseline_interval=list(intervals.scores[BASELINE]),
        gain=over_default,
        gain_over_baseline=over_baseline,
        rows=len(predictions.y),
        tested_units=_tested_units(predictions.units, over_default),
        folds=0 if predictions.folds is None else len(np.unique(predictions.folds)),
        second_file=comparison.second_file,
        optimism=optimism,
        optimism_error=None if optimism is None else error,
    )
    results = _with_details(results, predictions, comparison)
    remarks = [
        *_remarks(comparison, over_default, over_baseline),
        *_few_rows_remarks(results, predictions.units.count),
        *_optimism_remarks(metric, optimism, error),
    ]
    if unknown:
        subject = f"{task.count_text(unknown)} of the second file"
        verb = "have" if unknown > 1 else "has"
        remarks.append(f"{subject} {verb} a class that training never saw: wrong in any case.")
    return _to_json(replace(results, remarks=remarks))


def _gain_over(
    metric: Metric, scores: AllScores, reference: str, intervals: ScoreIntervals
) -> Gain:
    interval = intervals.differences[reference]
    low, high = sorted(metric.signed_gain(edge) for edge in (interval.low, interval.high))
    tuned, compared = (scores[model].get(metric.name, math.nan) for model in (TUNED, reference))
    difference = tuned - compared
    # Two fits of one setting may add up their numbers in another order.
    if max(map(abs, (low, high, difference))) <= _ROUNDING * max(abs(tuned), abs(compared)):
        low = high = difference = 0.0
    has_few = interval.units is not None and interval.units < MIN_UNITS
    return _to_json(
        Gain(
            metric=metric.name,
            difference=metric.signed_gain(difference),
            low=low,
            high=high,
            method=interval.method,
            p=interval.p,
            real=bool(low > 0 or high < 0) and not has_few,
            few_units=interval.units if has_few else None,
        )
    )


def _optimism_error(intervals: ScoreIntervals, validation_rows: int, rows: int) -> float:
    """The standard error of validation − test: the test score's, and validation's by its rows."""
    low, high = intervals.scores[TUNED]
    error = (high - low) / (2 * _SURE)
    # The variance of a mean over rows falls as their number grows.
    return error * math.sqrt(1.0 + (rows / validation_rows if validation_rows else 0.0))


def _tested_units(units: Units, gain: Gain) -> str | None:
    if not units.is_time:
        return units.count_text if units.has_groups else None
    # Neighbours in time are alike: how much so, the models' errors tell.
    if gain.few_units is None:
        return None
    return count_text(gain.few_units, "independent stretch", "independent stretches") + " of time"


def _remarks(comparison: ComparisonContext, gain: Gain, over_baseline: Gain) -> list[str]:
    sentences = []
    baseline = f"the baseline ({Task(comparison.task).baseline_text})"
    if over_baseline.is_missing:
        sentences.append(f"The tuned model is not better than {baseline}.")
    elif not over_baseline.real:
        sentences.append(f"The test does not show that the tuned model is better than {baseline}.")
    if comparison.is_selected:
        sentences.append("This model was picked by hand after the run had ended.")
    elif comparison.is_default_setting:
        sentences.append("No setting that was tried was better than the default one.")
    elif gain.real and not gain.is_positive:
        default = "The default setting did better on the test set"
        sentences.append(f"{default}: the Export page offers it as well.")
    return sentences


def _few_rows_remarks(results: Results, count: int) -> list[str]:
    if text := results.few_units_text:
        return [f"No verdict: {text}, and at least {MIN_UNITS} are needed."]
    if count >= _FEW_ROWS:
        return []
    return [f"The test set has only {results.tested_text}, so these scores are rough."]


def _optimism_remarks(metric: Metric, optimism: float | None, error: float) -> list[str]:
    if optimism is None or not optimism > _SURE * error:
        return []
    size = difference_text(metric.name, optimism)
    return [
        f"The validation score was {size} {'above' if metric.maximize else 'below'} the test "
        "score, more than chance explains: believe the test score, which had no part in tuning."
    ]


def _to_json(value: Any) -> Any:
    if isinstance(value, Record):
        return replace(value, **{f.name: _to_json(getattr(value, f.name)) for f in fields(value)})
    return strict_json(value)


_BINS = 10
_MAX_PREDICTIONS = 500


def _with_details(
    results: Results, predictions: ComparedPredictions, comparison: ComparisonContext
) -> Results:
    """The results with the parts that depend on the task."""
    y, tuned, by_model = predictions.y, predictions.tuned, predictions.by_model
    task, classes = Task(comparison.task), comparison.classes
    if task.has_numbers:
        return replace(results, predictions=_prediction_pairs(y, tuned, comparison.seed))
    if task.has_pairs:
        pairs, curve = molecule_results(by_model)
        return replace(results, pairs=pairs, curve=curve)
    if not task.has_target:
        assert tuned.documents is not None
        words = tuned.documents[:, 1]  # that had to be predicted; the same for both models
        documents = DocumentCounts(len(words), int(words.sum()), int((words == 0).sum()))
        return replace(results, documents=documents)
    right = {name: int((model.labels == y).sum()) for name, model in by_model.items()}
    counts = {name: _confusion(y, m.labels, len(classes)) for name, m in by_model.items()}
    return replace(
        results,
        right=RightCounts(**right, rows=len(y)),
        confusion=ConfusionCounts([str(label) for label in classes], **counts),
        calibration=_calibration(y, tuned) if len(classes) == 2 else None,
        sequences=sequence_results(y, by_model) if task.has_sequences else None,
    )


def _prediction_pairs(y: np.ndarray, tuned: Predictions, seed: int) -> PredictionPairs:
    rows = np.arange(len(y))
    if len(y) > _MAX_PREDICTIONS:
        rows = np.sort(np.random.default_rng(seed).choice(len(y), _MAX_PREDICTIONS, replace=False))
    return PredictionPairs(y[rows].tolist(), tuned.labels[rows].tolist())


def _confusion(y: np.ndarray, labels: np.ndarray, count: int) -> list[list[int]]:
    """Rows counted, [actual][predicted], without those of a class that training never saw."""
    # Such a class has no row in the matrix; a remark counts its rows.
    y, labels = y[y >= 0], labels[y >= 0]
    return np.bincount(y * count + labels, minlength=count**2).reshape(count, count).tolist()


def _calibration(y: np.ndarray, tuned: Predictions) -> Calibration | None:
    """Mean predicted and observed share of the second class in ten bins, without empty ones."""
    if tuned.probabilities is None:
        return None
    predicted = tuned.probabilities[:, 1]
    bins = np.minimum((predicted * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(bins, minlength=_BINS)
    is_used = counts > 0
    return Calibration(
        predicted=(np.bincount(bins, predicted, _BINS)[is_used] / counts[is_used]).tolist(),
        observed=(np.bincount(bins, y == 1, _BINS)[is_used] / counts[is_used]).tolist(),
        counts=counts[is_used].tolist(),
    )


def sequence_results(y: np.ndarray, by_model: Mapping[str, Predictions]) -> SequenceCounts:
    """Entirely right sequences of every contestant; y in codes, shape (tokens,)."""
    tokens = by_model[TUNED].whole
    assert tokens is not None
    _, sequences = np.unique(tokens[:, 1], return_inverse=True)
    right = {
        name: int((np.bincount(sequences, weights=y != predictions.labels) == 0).sum())
        for name, predictions in by_model.items()
    }
    return SequenceCounts(**right, count=int(sequences.max()) + 1)


def molecule_results(by_model: Mapping[str, Predictions]) -> tuple[MoleculePairs, PairCurves]:
    """Base pairs of all molecules together, and the curve over γ; the baseline calls none."""
    pairs, curve, molecules = {}, {}, 0
    for name in (TUNED, DEFAULT):
        pair_counts = by_model[name].pairs
        assert pair_counts is not None
        of_all, molecules = pair_counts.sum(axis=0), len(pair_counts)
        pairs[name] = PairCounts(*of_all[OWN].tolist())
        right, predicted, true = of_all[:OWN].T.astype(float)
        columns = (GAMMAS, safe_ratio(right, true), safe_ratio(right, predicted))
        curve[name] = np.stack(columns, axis=1).tolist()
    return MoleculePairs(**pairs, molecules=molecules), PairCurves(**curve)
