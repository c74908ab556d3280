"""The parts of the results beyond scores: errors, calibration, predictions, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.datasets.task import Task
from core.tuning.results.structured_results import molecule_results, sequence_results
from core.tuning.run_results import (
    Calibration,
    ConfusionCounts,
    DocumentCounts,
    PredictionPairs,
    Results,
    RightCounts,
)
from core.tuning.scores.metric import Predictions
from core.tuning.scores.predictions import ComparedPredictions

_BINS = 10
_MAX_PREDICTIONS = 500


def with_details(
    results: Results,
    task: Task,
    predictions: ComparedPredictions,
    classes: Sequence[Any],
    seed: int,
) -> Results:
    """The results with the parts that depend on the task; `seed` chooses rows to show."""
    y, tuned, by_model = predictions.y, predictions.tuned, predictions.by_model
    if task.has_numbers:
        return replace(results, predictions=_prediction_pairs(y, tuned, seed))
    if task.has_pairs:
        pairs, curve = molecule_results(by_model)
        return replace(results, pairs=pairs, curve=curve)
    if not task.has_target:
        return replace(results, documents=_document_counts(tuned))
    return replace(
        results,
        right=RightCounts(**_right_counts(y, by_model), rows=len(y)),
        confusion=_confusion_counts(y, by_model, classes),
        calibration=_calibration(y, tuned) if len(classes) == 2 else None,
        sequences=sequence_results(y, by_model) if task.has_sequences else None,
    )


def _prediction_pairs(y: np.ndarray, tuned: Predictions, seed: int) -> PredictionPairs:
    rows = np.arange(len(y))
    if len(y) > _MAX_PREDICTIONS:
        generator = np.random.default_rng(seed)
        rows = np.sort(generator.choice(len(y), _MAX_PREDICTIONS, replace=False))
    return PredictionPairs(y[rows].tolist(), tuned.labels[rows].tolist())


def _right_counts(y: np.ndarray, by_model: Mapping[str, Predictions]) -> dict[str, int]:
    return {name: int((predictions.labels == y).sum()) for name, predictions in by_model.items()}


def _confusion_counts(
    y: np.ndarray, by_model: Mapping[str, Predictions], classes: Sequence[Any]
) -> ConfusionCounts:
    n = len(classes)
    counts = {name: _confusion(y, model.labels, n) for name, model in by_model.items()}
    return ConfusionCounts([str(label) for label in classes], **counts)


def _confusion(y: np.ndarray, labels: np.ndarray, count: int) -> list[list[int]]:
    """Rows counted, [actual][predicted], without those of a class that training never saw."""
    y, labels = y[y >= 0], labels[y >= 0]
    flat = np.bincount(y * count + labels, minlength=count * count)
    return flat.reshape(count, count).tolist()


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


def _document_counts(tuned: Predictions) -> DocumentCounts:
    """The words of the held-out documents that had to be predicted; the same for both models."""
    assert tuned.documents is not None
    words = tuned.documents[:, 1]
    return DocumentCounts(len(words), int(words.sum()), int((words == 0).sum()))
