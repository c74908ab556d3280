"""Metrics of tables, and the predictions of any fitted estimator.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | rows |
| K | | | classes; labels are coded 0 … K − 1 in the order of `classes`, −1 for an unknown one |
| B | | | resamples |
| w | ``weights`` | (B, n) | how often a resample contains a row |
| y | ``y`` | (n,) | targets: codes, or numbers |

Every metric is written for weights; a plain score is B = 1, w = 1. Rows of classes that training
never saw are wrong in every metric: they make one more class, of which no row is found (recall, F1
and area 0, probability 0).
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.datasets.task import TASKS, Task
from core.errors import UnusableError
from core.evaluation import influence
from core.tuning.scores.metric import Metric, Predictions, mean_metric, resampled_mean, safe_ratio
from core.tuning.scores.structured_metrics import (
    COMPLETED,
    DOCUMENTS,
    STRUCTURED,
    predict_documents,
    predict_molecules,
    predict_tokens,
)

_CLASSES = tuple(task for task in TASKS if task.has_classes)
_NUMBERS = tuple(task for task in TASKS if task.has_numbers)


def _finite_mean(values: np.ndarray) -> np.ndarray:
    is_finite = np.isfinite(values)
    sums = np.where(is_finite, values, 0.0).sum(axis=1)
    return safe_ratio(sums, is_finite.sum(axis=1).astype(float))


def _is_right(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.asarray(y == labels)


def _class_counts(y: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """Rows rightly called k, rows of class k, and rows called k, each of shape (B, K or K + 1)."""
    codes = np.arange(min(int(y.min()), 0), int(max(y.max(), labels.max())) + 1)
    actual, called = (y[:, None] == codes).astype(float), (labels[:, None] == codes).astype(float)
    return weights @ (actual * called), weights @ actual, weights @ called


def _balanced_accuracy(y: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    right, actual, _ = _class_counts(y, labels, weights)
    return _finite_mean(safe_ratio(right, actual))


def _f1(y: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Macro-averaged over the classes that occur: 2 right / (actual + called)."""
    right, actual, called = _class_counts(y, labels, weights)
    return _finite_mean(safe_ratio(2 * right, actual + called))


def _roc_auc(y: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """One class against the others, averaged over classes."""
    areas = [_roc_area(y == code, scores[:, code], weights) for code in _scored_classes(y, scores)]
    if (is_unknown := y < 0).any():
        areas.append(np.where(weights @ is_unknown > 0, 0.0, np.nan))  # no row of it is found
    return _finite_mean(np.stack(areas, axis=1))


def _scored_classes(y: np.ndarray, scores: np.ndarray) -> Sequence[int]:
    """The classes whose areas are averaged; one of two, as both areas are equal."""
    return (1,) if scores.shape[1] == 2 and not (y < 0).any() else range(scores.shape[1])


def auc_influence(y: np.ndarray, scores: np.ndarray, folds: np.ndarray | None = None) -> np.ndarray:
    """The mean over the classes that have an area; NaN where all rows are of one class."""
    present_codes = [code for code in _scored_classes(y, scores) if 0 < (y == code).sum() < len(y)]
    influences = [
        influence.area_influence(y == code, scores[:, code], folds)[1] for code in present_codes
    ]
    if (y < 0).any():
        influences.append(np.zeros(len(y)))  # the unknown class's area is 0 whatever the rows are
    return np.mean(influences, axis=0) if influences else np.full(len(y), np.nan)


def _roc_area(positive: np.ndarray, score: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """P(score of a positive > score of a negative) + ½ P(equal), shape (B,); O(n) a resample."""
    order = np.argsort(score)
    ordered = score[order]
    # Equal scores make one step together, of which half is won.
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sorted_weights = weights[:, order]
    above = np.add.reduceat(sorted_weights * positive[order], starts, axis=1)
    below = np.add.reduceat(sorted_weights * ~positive[order], starts, axis=1)
    wins = (above * (np.cumsum(below, axis=1) - below / 2)).sum(axis=1)
    return safe_ratio(wins, above.sum(axis=1) * below.sum(axis=1))


def _log_losses(y: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    tiny = np.finfo(float).eps
    true_probability = np.take_along_axis(probabilities, y[:, None].astype(int), axis=1)[:, 0]
    true_probability = np.where(y < 0, 0.0, true_probability)
    return -np.log(np.clip(true_probability, tiny, 1 - tiny))


def _squared_errors(y: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    return np.asarray((y - numbers) ** 2)


def _r2(y: np.ndarray, numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    centred = y - y.mean()  # large means would cancel below
    spread = resampled_mean(centred**2, weights) - resampled_mean(centred, weights) ** 2
    return 1.0 - safe_ratio(resampled_mean(_squared_errors(y, numbers), weights), spread)


def fold_metric(metric: Metric, variance: float | None) -> Metric:
    """The same for one fold; R² against the variance of all training rows, where it is given.

    The mean over folds of equal size is then the R² of all held-out rows together. Against a small
    fold's own variance R² has no lower bound.
    """
    if metric.function is not _r2 or not variance:
        return metric

    def pooled_r2(y: np.ndarray, numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return 1.0 - resampled_mean(_squared_errors(y, numbers), weights) / variance

    return replace(metric, function=pooled_r2)


_ALL = (
    mean_metric(
        "accuracy",
        "Accuracy",
        _CLASSES,
        "labels",
        lambda y, labels: _is_right(y, labels).astype(float),
        _is_right,
    ),
    Metric(
        "balanced_accuracy",
        "Accuracy, every class counted the same",
        _CLASSES,
        "labels",
        _balanced_accuracy,
    ),
    Metric("f1", "F1, averaged over classes", _CLASSES, "labels", _f1),
    Metric(
        "auc", "Area under the ROC curve", _CLASSES, "scores", _roc_auc, influence=auc_influence
    ),
    mean_metric("log_loss", "Log loss", _CLASSES, "probabilities", _log_losses),
    Metric(
        "r2",
        "Share of variance explained (R²)",
        _NUMBERS,
        "labels",
        _r2,
        influence=influence.r2_influence,
        has_floor=False,
        values=lambda y, numbers: -_squared_errors(y, numbers) / (y.var() or np.nan),
    ),
    mean_metric("mse", "Mean squared error", _NUMBERS, "labels", _squared_errors),
    mean_metric(
        "mae", "Mean absolute error", _NUMBERS, "labels", lambda y, numbers: np.abs(y - numbers)
    ),
)

# Scores a setting on the rows that it was fitted to (Model.training_score); it measures no task.
EXPLAINED = Metric(
    "log_likelihood",
    "How well the training data are explained (log likelihood)",
    (),
    "losses",
    lambda _, losses, weights: resampled_mean(-losses, weights),
    share=False,
)

_EVERY = (*_ALL, *STRUCTURED, *DOCUMENTS, COMPLETED, EXPLAINED)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _EVERY}


def default_metric(task: str) -> str:
    """The usual metric of a task."""
    return Task(task).default_metric


def codes_of(y: np.ndarray, classes: Sequence[Any]) -> np.ndarray:
    """Class labels as positions in the sorted classes, −1 for others; numbers as floats."""
    if not len(classes):
        return np.asarray(y, dtype=float)
    # pandas and the losses take a second, and many ask for a metric's title alone.
    from core.losses.class_labels import label_codes

    return label_codes(y, classes)


def targets_of(y: np.ndarray, task: str, classes: Sequence[Any]) -> np.ndarray:
    """Targets as metrics take them: codes, numbers, or zeros for structures."""
    return np.zeros(len(y)) if Task(task).has_pairs else codes_of(y, classes)


def predict_all(
    estimator: Any, X: Any, classes: Sequence[Any], *, task: str = "", y: np.ndarray | None = None
) -> Predictions:
    """All predictions of a fitted estimator for n rows.

    `classes` are those of the dataset, sorted; one that the estimator never saw has probability 0.
    Models of sequences and structures need the task and the true targets `y`, those of topics the
    task.
    """
    dataset_task = Task(task)
    if dataset_task.has_pairs:
        assert y is not None
        return predict_molecules(_model_of(estimator), X, y)
    if not dataset_task.has_target:
        return predict_documents(estimator, X)
    if not len(classes):
        return Predictions(np.asarray(estimator.predict(X), dtype=float).ravel())
    predictions = _predict_classes(estimator, X, classes)
    if dataset_task.has_sequences:
        assert y is not None
        model = _model_of(estimator)
        if model.decoding == "viterbi":
            predictions = replace(predictions, labels=codes_of(model.predict(X), classes))
        return predict_tokens(model, X, y, predictions)
    return predictions


def _model_of(estimator: Any) -> Any:
    # Pipelines of sequences and molecules hand on what they are given.
    return estimator[-1] if hasattr(estimator, "named_steps") else estimator


def _predict_classes(estimator: Any, X: Any, classes: Sequence[Any]) -> Predictions:
    codes = codes_of(estimator.classes_, classes)
    if hasattr(estimator, "predict_proba"):
        known_probabilities = estimator.predict_proba(X)
        probabilities = np.zeros((len(known_probabilities), len(classes)))
        probabilities[:, codes] = known_probabilities
        from sklearn.model_selection import FixedThresholdClassifier  # slow to import

        labels = codes[np.argmax(known_probabilities, axis=1)]
        # Its labels follow its threshold, not the larger probability.
        if isinstance(_model_of(estimator), FixedThresholdClassifier):
            labels = codes_of(estimator.predict(X), classes)
        return Predictions(labels, probabilities, probabilities)
    decisions = np.asarray(estimator.decision_function(X))
    # The sign decides between two classes: predicting the labels too would take twice as long.
    if decisions.ndim == 1:
        labels = codes[(decisions > 0).astype(int)]
        decisions = np.stack([-decisions, decisions], axis=1)
    else:
        labels = codes_of(estimator.predict(X), classes)
    # A class that the estimator never saw ranks below all others.
    scores = np.full((len(decisions), len(classes)), decisions.min() - 1.0)
    scores[:, codes] = decisions
    return Predictions(labels, scores)


def predict_for_metric(
    metric: Metric, estimator: Any, X: Any, y: np.ndarray, classes: Sequence[Any], task: str = ""
) -> Predictions:
    """The predictions of a fitted estimator; UnusableError where the metric needs others."""
    predictions = predict_all(estimator, X, classes, task=task, y=y)
    if getattr(predictions, metric.needs) is None:
        problem = f"{metric.title.lower()} needs probabilities, and this model gives none"
        cure = "choose accuracy or auc, or another model"
        raise UnusableError(problem, where="option metric", cure=cure)
    return predictions
