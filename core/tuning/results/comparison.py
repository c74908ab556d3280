"""The results of a run: the tuned model against the default one and the baseline on test rows.

The plain dict that RunFinished and RunStopped carry; `results_of` gives all but the last two
lines, which the run itself knows:

| key | meaning |
| --- | --- |
| setting, default_setting | the tuned and the default hyperparameters |
| metric, maximize | what was tuned for |
| validation | {metric: value} during tuning; empty where no validation data was used |
| test, default_test, baseline_test | {metric: value} of the models on the test rows |
| baseline | what the model that knows nothing of the features says, a noun |
| test_interval, default_interval, baseline_interval | 95 % confidence intervals, [low, high] |
| gain | over the default: difference (above 0 means that tuning helped, also where less is |
|  | better), its 95 % confidence interval low … high, the method of the interval, p of its test |
|  | where there is one, and real: whether a gain is above 0 with its whole interval, over the |
|  | baseline too, or a loss below 0 |
| gain_over_baseline | the same against the model that knows nothing of the features |
| rows | test rows; folds: of nested cross-validation, 0 for one test set |
| second_file | whether they are those of a second file |
| optimism | how much better the validation score is than the test score; None without validation |
| optimism_error | the standard error of that difference |
| right | rows that each model has right (classes) |
| confusion | labels, and counts [actual][predicted] of the models (classes) |
| calibration | predicted and observed share of the second class, a bin each (two classes) |
| predictions | at most 500 pairs actual – tuned (regression) |
| sequences | whole sequences right, of the models, and their count (sequences) |
| pairs, curve | base pairs right, called and true, and how γ moves them (structures) |
| documents | how many were tested, and the words that were predicted (topics) |
| metric_reason | why it is not the task's usual one; absent where it is |
| costs | of mistakes, where there are such, and what the threshold made of them |
|  | (core.tuning.results.threshold.of_costs) |
| remarks | sentences that the result must carry |
| groups, switched_off | {group: C} of a penalty learner, and the groups at their cap |
| ensemble | of an average: its members (trial numbers), their weights, scores f and settings, |
|  | effective (1/Σw²), kind, finished (S), held_out and single_held_out (cross-fitted metric of |
|  | the average and the single best), left_out |
| evaluation | how it was judged: kind (test or nested), folds of nested cross-validation, whether |
|  | the whole tuning was repeated in each, second_file, fitted (the rows that the model which is |
|  | kept was fitted on, all or train), rows and units of the dataset |
| taken, candidates | of several models: which was taken (best, average; simplest, default, trial |
|  | where a person picked it), and each that may be: its trial, setting, validation score, test, |
|  | test_interval, gain and gain_over_baseline where it was tested |
| fits, trials, failed, seconds, stopped_because, seed | what it took |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from core.estimators.baseline import baseline_in_words
from core.space import Setting
from core.tuning.results.details import details_of
from core.tuning.scores.intervals import Span, Spans, spans_of
from core.tuning.scores.metric import Metric
from core.tuning.scores.predictions import BASELINE, DEFAULT, TUNED, Predictions

_FEW_ROWS = 30
_SURE = 1.96  # standard errors


@dataclass(frozen=True)
class Comparison:
    """What the contestants are compared for, and how the tuned one came about.

    Attributes:
        task: as the dataset has it.
        classes: the sorted class labels; empty for other tasks.
        metric: what was tuned for.
        setting, default_setting: of the tuned and the default model.
        validation: {metric: value} of the tuned setting during tuning; empty without validation.
        validation_rows: rows that this value was measured on; 0 where that is not known.
        seed: of the resamples.
        averaged: whether the tuned model is an average, which is no setting of one.
        second_file: whether the test rows come from a second file.
        picked: whether a person took this one after the run had ended.
    """

    task: str
    classes: Sequence[Any]
    metric: Metric
    setting: Setting
    default_setting: Setting
    validation: Mapping[str, float] = field(default_factory=dict)
    validation_rows: int = 0
    seed: int = 0
    averaged: bool = False
    second_file: bool = False
    picked: bool = False

    @property
    def same(self) -> bool:
        """Whether tuning ended at the default setting."""
        return not self.averaged and dict(self.setting) == dict(self.default_setting)


def results_of(predictions: Predictions, comparison: Comparison) -> dict[str, Any]:
    """The comparison part of the results (all but what the run itself records), plain data."""
    metric, task = comparison.metric, comparison.task
    scores = predictions.scores(task)
    spans = spans_of(metric, predictions, scores, comparison.seed, comparison.same)
    over_default = _gain(metric, scores, DEFAULT, spans)
    over_baseline = _gain(metric, scores, BASELINE, spans)
    if over_default["difference"] > 0 and math.isfinite(over_baseline["difference"]):
        over_default["real"] &= over_baseline["real"] and over_baseline["difference"] > 0
    optimism = _optimism(comparison, scores[TUNED])
    error = _optimism_error(spans, comparison.validation_rows, len(predictions.y))
    details = details_of(task, predictions.y, predictions.said, comparison.classes, comparison.seed)
    unknown = int((predictions.y < 0).sum()) if len(comparison.classes) else 0
    results = {
        "setting": dict(comparison.setting),
        "default_setting": dict(comparison.default_setting),
        "metric": metric.name,
        "maximize": metric.maximize,
        "validation": dict(comparison.validation),
        "test": scores[TUNED],
        "default_test": scores[DEFAULT],
        "baseline": baseline_in_words(task),
        "baseline_test": scores[BASELINE],
        "test_interval": list(spans.scores[TUNED]),
        "default_interval": list(spans.scores[DEFAULT]),
        "baseline_interval": list(spans.scores[BASELINE]),
        "gain": over_default,
        "gain_over_baseline": over_baseline,
        "rows": len(predictions.y),
        "folds": 0 if predictions.folds is None else len(np.unique(predictions.folds)),
        "second_file": comparison.second_file,
        "optimism": optimism,
        "optimism_error": None if optimism is None else error,
        **details,
        "remarks": [
            *_remarks(comparison, over_default, over_baseline),
            *_said_of_few(*_tested(task, details, len(predictions.y))),
            *_optimism_in_words(metric, optimism, error),
            *_said_of_unknown(unknown, task),
        ],
    }
    return _finite(results)


def _gain(
    metric: Metric, scores: Mapping[str, Mapping[str, float]], other: str, spans: Spans
) -> dict[str, Any]:
    span: Span = spans.differences[other]
    low, high = sorted(metric.better(edge) for edge in (span.low, span.high))
    lost = math.nan
    difference = scores[TUNED].get(metric.name, lost) - scores[other].get(metric.name, lost)
    return {
        "metric": metric.name,
        "difference": metric.better(difference),
        "low": low,
        "high": high,
        "method": span.method,
        "p": span.p,
        "real": bool(low > 0 or high < 0),
    }


def _optimism(comparison: Comparison, test: Mapping[str, float]) -> float | None:
    metric = comparison.metric
    if metric.name not in comparison.validation:
        return None
    return metric.better(comparison.validation[metric.name] - test[metric.name])


def _optimism_error(spans: Spans, validation_rows: int, rows: int) -> float:
    """The standard error of validation − test: the test score's, and validation's by its rows."""
    low, high = spans.scores[TUNED]
    error = (high - low) / (2 * _SURE)
    return error * math.sqrt(1.0 + (rows / validation_rows if validation_rows else 0.0))


def _tested(task: str, details: Mapping[str, Any], rows: int) -> tuple[int, str]:
    """How much was tested, in what is drawn as a whole."""
    if task == "sequence":
        return details["sequences"]["count"], "sequences"
    return rows, {"structure": "molecules", "topics": "texts"}.get(task, "rows")


def _remarks(
    comparison: Comparison, gain: Mapping[str, Any], over_baseline: Mapping[str, Any]
) -> list[str]:
    said = []
    baseline = f"the baseline ({baseline_in_words(comparison.task)})"
    if over_baseline["difference"] <= 0:
        said.append(f"The tuned model is not better than {baseline}.")
    elif not over_baseline["real"]:
        said.append(f"The test does not show that the tuned model is better than {baseline}.")
    if comparison.picked:
        said.append("This model was picked by hand after the run had ended.")
    elif comparison.same:
        said.append("No setting that was tried was better than the default one.")
    elif gain["real"] and gain["difference"] < 0:
        said.append(
            "The default setting did better on the test set: the Export page offers it as well."
        )
    return said


def _said_of_few(count: int, what: str) -> list[str]:
    if count >= _FEW_ROWS:
        return []
    return [f"The test set has only {count} {what}, so these scores are rough."]


def _optimism_in_words(metric: Metric, optimism: float | None, error: float) -> list[str]:
    """A warning where validation looked better than its standard error explains."""
    if optimism is None or not optimism > _SURE * error:
        return []
    size = f"{100 * optimism:.1f} points" if metric.share else f"{optimism:.3g}"
    way = "above" if metric.maximize else "below"
    return [
        f"The validation score was {size} {way} the test score, more than chance explains: believe "
        "the test score, which had no part in tuning."
    ]


def _said_of_unknown(count: int, task: str) -> list[str]:
    if not count:
        return []
    what = "token" if task == "sequence" else "row"
    have = (
        f"{count:,} {what}s of the second file have"
        if count > 1
        else f"1 {what} of the second file has"
    )
    return [f"{have} a class that training never saw: wrong in any case."]


def _finite(value: Any) -> Any:
    """The same with None for numbers that JSON has no words for, and numpy's as Python's own."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
