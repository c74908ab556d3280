"""The results of a run: the tuned setting against the default one on rows that tuning never saw.

The plain dict that RunFinished and RunStopped carry; `build_results` gives all but the last two
lines, which the run itself knows:

| key | meaning |
| --- | --- |
| setting, default_setting | the tuned and the default hyperparameters |
| metric, maximize | what was tuned for |
| validation | {metric: value} during tuning; empty where no validation data was used |
| test, default_test | {metric: value} of both models on the test rows |
| test_interval, default_interval | 95 % intervals of the metric, [low, high] |
| gain | difference (above 0 means that tuning helped, also where less is better), its interval |
|  | low … high, and whether it is likely real (0 lies outside) |
| flattery | how much better validation looked than the test; None without validation |
| right | rows that each model has right (classes) |
| confusion | labels, and counts [actual][predicted] of both models (classes) |
| calibration | predicted and observed share of the second class, a bin each (two classes) |
| predictions | at most 500 pairs actual – tuned (regression) |
| sequences | whole sequences right, of both models, and their count (sequences) |
| pairs, curve | base pairs right, called and true, and how γ moves them (structures) |
| documents | how many were held out, and the words that were predicted (topics) |
| remarks | sentences that the result must carry |
| groups, switched_off | {group: C} of a penalty learner, and the groups at their cap |
| ensemble | of an average: its members (trial numbers), their weights, scores f and settings, |
|  | effective (1/Σw²), kind, finished (S), held_out and single_held_out (cross-fitted metric of |
|  | the average and the single best), single_test (metrics of the best member), left_out |
| fits, trials, failed, seconds, stopped_because, seed | what it took |
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.space import Setting
from core.tuning.bootstrap import Intervals, intervals
from core.tuning.document_results import of_documents
from core.tuning.metric import Metric, Said
from core.tuning.metrics import say, score_said, targets_of
from core.tuning.structured_results import of_molecules, of_sequences

_BINS = 10
_MOST_PREDICTIONS = 500
_FEW_ROWS = 30
_MUCH_FLATTERY = 0.05


@dataclass(frozen=True)
class Contestant:
    """A model that takes part in the comparison: fitted on the training rows, and its setting."""

    model: Any
    setting: Setting


def build_results(
    *,
    tuned: Contestant,
    default: Contestant,
    test_X: Any,
    test_y: np.ndarray,
    task: str,
    classes: Sequence[Any],
    metric: Metric,
    validation: Mapping[str, float],
    seed: int,
    row_groups: np.ndarray | None = None,
    averaged: bool = False,
) -> dict[str, Any]:
    """The comparison part of the results (all but what the run itself records), plain data.

    Args:
        tuned: what tuning found.
        default: the same kind of model as a person would get it without tuning.
        test_X: rows that tuning never saw, as both models take them.
        test_y: their targets, as in the dataset.
        task: as the dataset has it.
        classes: the sorted class labels; empty for regression and structures.
        metric: what was tuned for.
        validation: {metric: value} of the tuned setting during tuning; empty without validation.
        seed: of the resamples.
        row_groups: the group of each test row, where rows belong together.
        averaged: whether the tuned model is an average, which is no setting of one.
    """
    y = targets_of(test_y, task, classes)
    said, said_default = (
        say(contestant.model, test_X, classes, task=task, y=test_y)
        for contestant in (tuned, default)
    )
    test, default_test = score_said(y, said, task), score_said(y, said_default, task)
    spans = intervals(metric, y, said, said_default, seed, row_groups)
    gain = _gain(metric, test[metric.name], default_test[metric.name], spans)
    flattery = _flattery(metric, validation, test)
    details = _details(task, y, said, said_default, classes, seed)
    same = not averaged and tuned.setting == default.setting
    unknown = int((y < 0).sum()) if len(classes) else 0
    results = {
        "setting": dict(tuned.setting),
        "default_setting": dict(default.setting),
        "metric": metric.name,
        "maximize": metric.maximize,
        "validation": dict(validation),
        "test": test,
        "default_test": default_test,
        "test_interval": list(spans.tuned),
        "default_interval": list(spans.default),
        "gain": gain,
        "flattery": flattery,
        **details,
        "remarks": [
            *_remarks(same, gain, flattery, metric, _held_out(task, details, len(y))),
            *_said_of_unknown(unknown, task),
        ],
    }
    return _finite(results)


def _details(
    task: str, y: np.ndarray, tuned: Said, default: Said, classes: Sequence[Any], seed: int
) -> dict[str, Any]:
    if task == "regression":
        return _of_numbers(y, tuned, seed)
    if task == "structure":
        return of_molecules(tuned, default)
    if task == "topics":
        return of_documents(tuned)
    of_classes = _of_classes(y, tuned, default, classes)
    return of_classes | of_sequences(y, tuned, default) if task == "sequence" else of_classes


def _gain(metric: Metric, test: float, default: float, spans: Intervals) -> dict[str, Any]:
    low, high = sorted(metric.better(edge) for edge in spans.difference)
    return {
        "metric": metric.name,
        "difference": metric.better(test - default),
        "low": low,
        "high": high,
        "real": bool(low > 0 or high < 0),
    }


def _flattery(
    metric: Metric, validation: Mapping[str, float], test: Mapping[str, float]
) -> float | None:
    if metric.name not in validation:
        return None
    return metric.better(validation[metric.name] - test[metric.name])


def _of_numbers(y: np.ndarray, tuned: Said, seed: int) -> dict[str, Any]:
    rows = np.arange(len(y))
    if len(y) > _MOST_PREDICTIONS:
        generator = np.random.default_rng(seed)
        rows = np.sort(generator.choice(len(y), _MOST_PREDICTIONS, replace=False))
    return {"predictions": {"actual": y[rows].tolist(), "tuned": tuned.labels[rows].tolist()}}


def _of_classes(
    y: np.ndarray, tuned: Said, default: Said, classes: Sequence[Any]
) -> dict[str, Any]:
    return {
        "right": {
            "tuned": int((tuned.labels == y).sum()),
            "default": int((default.labels == y).sum()),
            "rows": len(y),
        },
        "confusion": {
            "labels": [str(label) for label in classes],
            "tuned": _confusion(y, tuned.labels, len(classes)),
            "default": _confusion(y, default.labels, len(classes)),
        },
        "calibration": _calibration(y, tuned) if len(classes) == 2 else None,
    }


def _confusion(y: np.ndarray, labels: np.ndarray, count: int) -> list[list[int]]:
    """Rows counted, [actual][predicted]; without those of a class that nobody knew."""
    y, labels = y[y >= 0], labels[y >= 0]
    flat = np.bincount(y * count + labels, minlength=count * count)
    return flat.reshape(count, count).tolist()


def _calibration(y: np.ndarray, tuned: Said) -> dict[str, list[float]] | None:
    """Mean predicted and observed share of the second class in ten bins, empty ones left out."""
    if tuned.probabilities is None:
        return None
    predicted = tuned.probabilities[:, 1]
    bins = np.minimum((predicted * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(bins, minlength=_BINS)
    used = counts > 0
    return {
        "predicted": (np.bincount(bins, predicted, _BINS)[used] / counts[used]).tolist(),
        "observed": (np.bincount(bins, y == 1, _BINS)[used] / counts[used]).tolist(),
        "counts": counts[used].tolist(),
    }


def _held_out(task: str, details: Mapping[str, Any], rows: int) -> tuple[int, str]:
    """How much was held out, in what is drawn as a whole."""
    if task == "sequence":
        return details["sequences"]["count"], "sequences"
    return rows, {"structure": "molecules", "topics": "texts"}.get(task, "rows")


def _remarks(
    same: bool,
    gain: dict[str, Any],
    flattery: float | None,
    metric: Metric,
    held_out: tuple[int, str],
) -> list[str]:
    said = []
    if same:
        said.append("No setting that was tried was better than the default one.")
    elif gain["real"] and gain["difference"] < 0:
        said.append("The default setting did better on the data put aside: consider keeping it.")
    count, what = held_out
    if count < _FEW_ROWS:
        said.append(f"Only {count} {what} were held out, so these scores are rough.")
    if flattery is not None and metric.share and flattery > _MUCH_FLATTERY:
        said.append(
            f"Validation flattered by {100 * flattery:.1f} points: believe the test score, which "
            "tuning never saw."
        )
    return said


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
