"""Metrics: what a score can be, on rows or on many resamples of them at once.

| symbol | code | shape | meaning |
| --- | --- | --- | --- |
| n | | | rows |
| K | | | classes; labels are coded 0 … K − 1 in the order of `classes`, −1 for an unknown one |
| B | | | resamples |
| w | ``weights`` | (B, n) | how often a resample contains a row |
| y | ``y`` | (n,) | targets: codes, or numbers |

Every metric is written once, for weights; a plain score is the case B = 1, w = 1. What a model
says about rows (`Said`) is worked out once and serves all metrics and all resamples.

Rows of classes that training never saw, as a second file may have, are wrong in every metric: they
make one more class, of which no row is found (recall, F1 and area 0, probability 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from core.errors import UnusableError
from core.evaluation import influence
from core.losses.labels import places_of
from core.tuning.scores.document_metrics import COMPLETED, DOCUMENTS, say_of_documents
from core.tuning.scores.metric import Metric, Said, mean, ratio
from core.tuning.scores.structured_metrics import STRUCTURED, say_of_molecules, say_of_tokens

_CLASSES = ("binary", "multiclass", "sequence")
_NUMBERS = ("regression",)


def _mean_of_known(values: np.ndarray) -> np.ndarray:
    known = np.isfinite(values)
    return ratio(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1).astype(float))


def _right(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.asarray(y == labels)


def _accuracy(y: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return mean(_right(y, labels).astype(float), weights)


def _accuracy_influence(y: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return influence.of_mean(_right(y, labels).astype(float))


def _counts(y: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
    """Rows rightly called k, rows of class k, and rows called k, each of shape (B, K or K + 1)."""
    codes = np.arange(min(int(y.min()), 0), int(max(y.max(), labels.max())) + 1)
    actual, called = (y[:, None] == codes).astype(float), (labels[:, None] == codes).astype(float)
    return weights @ (actual * called), weights @ actual, weights @ called


def _balanced_accuracy(y: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    right, actual, _ = _counts(y, labels, weights)
    return _mean_of_known(ratio(right, actual))


def _f1(y: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Macro-averaged over the classes that occur: 2 right / (actual + called)."""
    right, actual, called = _counts(y, labels, weights)
    return _mean_of_known(ratio(2 * right, actual + called))


def _auc(y: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """One class against the rest, averaged over classes; with two classes both are the same."""
    each = [_area(y == code, scores[:, code], weights) for code in _rated(y, scores)]
    if (unknown := y < 0).any():
        each.append(np.where(weights @ unknown > 0, 0.0, np.nan))
    return _mean_of_known(np.stack(each, axis=1))


def _rated(y: np.ndarray, scores: np.ndarray) -> Sequence[int]:
    """The classes whose areas are averaged; one of two where both areas are the same."""
    return (1,) if scores.shape[1] == 2 and not (y < 0).any() else range(scores.shape[1])


def _auc_influence(y: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The mean over the classes that have an area; NaN where one of these has a single row."""
    occurring = [code for code in _rated(y, scores) if 0 < (y == code).sum() < len(y)]
    each = [influence.of_area(y == code, scores[:, code])[1] for code in occurring]
    if (y < 0).any():
        each.append(np.zeros(len(y)))  # the unknown class's area is 0 whatever the rows are
    return np.mean(each, axis=0) if each else np.full(len(y), np.nan)


def _area(positive: np.ndarray, score: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """P(score of a positive > score of a negative) + ½ P(equal), shape (B,); O(n) a resample."""
    order = np.argsort(score)
    ordered = score[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sorted_weights = weights[:, order]
    above = np.add.reduceat(sorted_weights * positive[order], starts, axis=1)
    below = np.add.reduceat(sorted_weights * ~positive[order], starts, axis=1)
    wins = (above * (np.cumsum(below, axis=1) - below / 2)).sum(axis=1)
    return ratio(wins, above.sum(axis=1) * below.sum(axis=1))


def _log_loss(y: np.ndarray, probabilities: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return mean(_log_losses(y, probabilities), weights)


def _log_losses(y: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    tiny = np.finfo(float).eps
    own = np.take_along_axis(probabilities, y[:, None].astype(int), axis=1)[:, 0]
    own = np.where(y < 0, 0.0, own)
    return -np.log(np.clip(own, tiny, 1 - tiny))


def _mse(y: np.ndarray, numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return mean((y - numbers) ** 2, weights)


def _mae(y: np.ndarray, numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return mean(np.abs(y - numbers), weights)


def _r2(y: np.ndarray, numbers: np.ndarray, weights: np.ndarray) -> np.ndarray:
    centred = y - y.mean()  # large means would cancel below
    spread = mean(centred**2, weights) - mean(centred, weights) ** 2
    return 1.0 - ratio(_mse(y, numbers, weights), spread)


_ALL = (
    Metric(
        "accuracy",
        "Accuracy",
        _CLASSES,
        True,
        True,
        "labels",
        _accuracy,
        _right,
        _accuracy_influence,
    ),
    Metric(
        "balanced_accuracy",
        "Accuracy, every class counted the same",
        _CLASSES,
        True,
        True,
        "labels",
        _balanced_accuracy,
    ),
    Metric("f1", "F1, averaged over classes", _CLASSES, True, True, "labels", _f1),
    Metric(
        "auc",
        "Area under the ROC curve",
        _CLASSES,
        True,
        True,
        "scores",
        _auc,
        influence=_auc_influence,
        bounded=True,
    ),
    Metric(
        "log_loss",
        "Log loss",
        _CLASSES,
        False,
        False,
        "probabilities",
        _log_loss,
        influence=lambda y, said: influence.of_mean(_log_losses(y, said)),
    ),
    Metric(
        "r2",
        "Share of variance explained (R²)",
        _NUMBERS,
        True,
        True,
        "labels",
        _r2,
        influence=influence.of_r2,
    ),
    Metric(
        "mse",
        "Mean squared error",
        _NUMBERS,
        False,
        False,
        "labels",
        _mse,
        influence=lambda y, said: influence.of_mean((y - said) ** 2),
    ),
    Metric(
        "mae",
        "Mean absolute error",
        _NUMBERS,
        False,
        False,
        "labels",
        _mae,
        influence=lambda y, said: influence.of_mean(np.abs(y - said)),
    ),
)

# How a setting is judged by the rows that it was fitted to (Model.training_score); it measures no
# task, for it says nothing about rows that the model has not seen.
EXPLAINED = Metric(
    "log_likelihood",
    "How well the training data are explained (log likelihood)",
    (),
    True,
    False,
    "losses",
    lambda _, losses, weights: mean(-losses, weights),
)

_EVERY = (*_ALL, *STRUCTURED, *DOCUMENTS, COMPLETED, EXPLAINED)
METRICS: dict[str, Metric] = {metric.name: metric for metric in _EVERY}


def default_metric(task: str) -> str:
    """The metric that a task usually has: r2, accuracy, base pairs found, or words completed."""
    usual = {"regression": "r2", "structure": "pair_f1", "topics": "completion"}
    return usual.get(task, "accuracy")


def averaged_metric(task: str) -> str:
    """The metric of runs that average: −log p of what is true, or the squared error."""
    likelihoods = {
        "regression": "mse",
        "sequence": "joint_log_loss",
        "structure": "structure_log_loss",
        "topics": "completion",
    }
    return likelihoods.get(task, "log_loss")


def codes_of(y: np.ndarray, classes: Sequence[Any]) -> np.ndarray:
    """Class labels as their places in the sorted classes; numbers of a regression as they are.

    A label that is none of the classes, as a second file may have, is −1.
    """
    if not len(classes):
        return np.asarray(y, dtype=float)
    return places_of(y, classes)


def targets_of(y: np.ndarray, task: str, classes: Sequence[Any]) -> np.ndarray:
    """Targets as metrics take them: codes, numbers, or nothing of use for structures."""
    return np.zeros(len(y)) if task == "structure" else codes_of(y, classes)


def say(
    estimator: Any, X: Any, classes: Sequence[Any], *, task: str = "", y: np.ndarray | None = None
) -> Said:
    """Everything that a fitted estimator says about rows.

    Args:
        estimator: a scikit-learn classifier or regressor, a model of sequences, molecules or
            topics, or a pipeline that ends in one.
        X: what it takes, n rows.
        classes: the sorted class labels of the dataset; empty for other tasks. Classes that the
            estimator never saw get probability 0.
        task: matters for sequences, structures and topics.
        y: the true targets, which models of sequences and structures are asked about.
    """
    if task == "structure":
        assert y is not None
        return say_of_molecules(_model_of(estimator), X, y)
    if task == "topics":
        return say_of_documents(estimator, X)
    if not len(classes):
        return Said(np.asarray(estimator.predict(X), dtype=float).ravel())
    said = _say_of_classes(estimator, X, classes)
    if task == "sequence":
        assert y is not None
        model = _model_of(estimator)
        if model.decoding == "viterbi":
            said = replace(said, labels=codes_of(model.predict(X), classes))
        return say_of_tokens(model, X, y, said)
    return said


def _model_of(estimator: Any) -> Any:
    # Pipelines of sequences and molecules hand on what they are given.
    return estimator[-1] if hasattr(estimator, "named_steps") else estimator


def _say_of_classes(estimator: Any, X: Any, classes: Sequence[Any]) -> Said:
    known = codes_of(estimator.classes_, classes)
    if hasattr(estimator, "predict_proba"):
        given = estimator.predict_proba(X)
        probabilities = np.zeros((len(given), len(classes)))
        probabilities[:, known] = given
        from sklearn.model_selection import FixedThresholdClassifier  # the window needs it not

        labels = known[np.argmax(given, axis=1)]
        if isinstance(_model_of(estimator), FixedThresholdClassifier):
            labels = codes_of(estimator.predict(X), classes)
        return Said(labels, probabilities, probabilities)
    decisions = np.asarray(estimator.decision_function(X))
    if decisions.ndim == 1:
        decisions = np.stack([-decisions, decisions], axis=1)
    scores = np.full((len(decisions), len(classes)), decisions.min() - 1.0)
    scores[:, known] = decisions
    return Said(codes_of(estimator.predict(X), classes), scores)


def score_one(
    metric: Metric, estimator: Any, X: Any, y: np.ndarray, classes: Sequence[Any], task: str = ""
) -> float:
    """The score of a fitted estimator on rows.

    Args:
        metric: what to measure.
        estimator: fitted.
        X: rows that it takes.
        y: their targets, as in the dataset.
        classes: the sorted class labels of the dataset; empty for other tasks.
        task: matters for sequences, structures and topics.

    Raises:
        UnusableError: the metric needs probabilities and the model gives none.
    """
    said = said_by(metric, estimator, X, y, classes, task)
    return metric.score(targets_of(y, task, classes), said)


def said_by(
    metric: Metric, estimator: Any, X: Any, y: np.ndarray, classes: Sequence[Any], task: str = ""
) -> Said:
    """What a fitted estimator says about rows, with what the metric needs; as `score_one`."""
    said = say(estimator, X, classes, task=task, y=y)
    if getattr(said, metric.needs) is None:
        raise UnusableError(
            f"{metric.title.lower()} needs probabilities, and this model gives none",
            where="option metric",
            cure="choose accuracy or auc, or another model",
        )
    return said


def score_said(y: np.ndarray, said: Said, task: str) -> dict[str, float]:
    """Every metric of a task that can be had, {metric: value}; `y` in codes or numbers."""
    return {
        name: metric.score(y, said)
        for name, metric in METRICS.items()
        if task in metric.tasks and getattr(said, metric.needs) is not None
    }
