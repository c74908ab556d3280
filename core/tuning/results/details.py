"""What the results say of rows beyond scores: errors, calibration, predictions, counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.tuning.results.structured import of_molecules, of_sequences
from core.tuning.scores.metric import Said

_BINS = 10
_MOST_PREDICTIONS = 500


def details_of(
    task: str, y: np.ndarray, said: Mapping[str, Said], classes: Sequence[Any], seed: int
) -> dict[str, Any]:
    """The keys of the results that depend on the task.

    Args:
        task: as the dataset has it.
        y: codes or numbers, shape (rows,).
        said: what the contestants tuned, default and baseline say about these rows.
        classes: the sorted class labels; empty for other tasks.
        seed: of the rows that are shown where there are too many.
    """
    if task == "regression":
        return _of_numbers(y, said["tuned"], seed)
    if task == "structure":
        return of_molecules(said)
    if task == "topics":
        return _of_documents(said["tuned"])
    of_classes = _of_classes(y, said, classes)
    return of_classes | of_sequences(y, said) if task == "sequence" else of_classes


def _of_numbers(y: np.ndarray, tuned: Said, seed: int) -> dict[str, Any]:
    rows = np.arange(len(y))
    if len(y) > _MOST_PREDICTIONS:
        generator = np.random.default_rng(seed)
        rows = np.sort(generator.choice(len(y), _MOST_PREDICTIONS, replace=False))
    return {"predictions": {"actual": y[rows].tolist(), "tuned": tuned.labels[rows].tolist()}}


def _of_classes(y: np.ndarray, said: Mapping[str, Said], classes: Sequence[Any]) -> dict[str, Any]:
    right = {name: int((one.labels == y).sum()) for name, one in said.items()}
    counts = {name: _confusion(y, one.labels, len(classes)) for name, one in said.items()}
    return {
        "right": {**right, "rows": len(y)},
        "confusion": {"labels": [str(label) for label in classes], **counts},
        "calibration": _calibration(y, said["tuned"]) if len(classes) == 2 else None,
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


def _of_documents(tuned: Said) -> dict[str, Any]:
    """How much the held-out documents had to be predicted; both models the same."""
    assert tuned.documents is not None
    words = tuned.documents[:, 1]
    return {
        "documents": {
            "count": len(words),
            "words": int(words.sum()),
            "empty": int((words == 0).sum()),
        }
    }
