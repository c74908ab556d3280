"""What the tested model says about its test rows: curves, calibration, residuals, worst rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.rows_in_file import rows_in_file
from core.evaluation.curves import (
    area_with_interval,
    average_precision_with_interval,
    calibration,
    curve,
    thinned,
)
from core.tuning.why.judged import Judged

MOST_CLASSES = 20
MOST_THRESHOLDS = 200
MOST_POINTS = 500
MOST_COLUMNS = 40
MOST_WRONG = 20
HALF = 0.5
_BINS = 8


def look_at_test_rows(judged: Judged) -> dict[str, Any]:
    """Everything that one look at the test rows tells, plain data.

    Returns:
        ``rows``; ``wrong``, the rows it is most wrong about, {headers, rows, said, lines}; of
        classes ``labels``, ``scale`` (probability or score), ``chosen`` (the threshold that the
        model decides by between two), ``of`` {class: curves and calibration}; of numbers
        ``residuals`` {predicted, actual, along: {column: values}, bins: {column: …}}.
    """
    found: dict[str, Any] = {"rows": len(judged.y), "wrong": _wrong(judged)}
    if judged.dataset.task == "regression":
        return found | {"residuals": _residuals(judged)}
    return found | _of_classes(judged)


def _of_classes(judged: Judged) -> dict[str, Any]:
    labels = [str(label) for label in judged.dataset.classes]
    said = judged.said
    given = said.scores if said.probabilities is None else said.probabilities
    assert given is not None
    known = judged.y >= 0
    y, given = judged.y[known].astype(int), given[known]
    groups = None if judged.groups is None else judged.groups[known]
    counts = np.bincount(y, minlength=len(labels))
    order = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    places = [1, 0] if len(labels) == 2 else [int(at) for at in order if counts[at]]
    sure = said.probabilities is not None
    of = {}
    for at in places:
        positive, score = y == at, given[:, at]
        whole = curve(positive, score)
        few = thinned(whole, MOST_THRESHOLDS)
        seed = judged.problem.plan.seed
        of[labels[at]] = {
            "positives": whole.positives,
            "negatives": whole.negatives,
            "thresholds": few.thresholds.tolist(),
            "true": few.true.tolist(),
            "false": few.false.tolist(),
            "area": _known(area_with_interval(positive, score, groups)),
            "precision": _known(average_precision_with_interval(positive, score, seed, groups)),
            "calibration": calibration(positive, score) if sure else [],
        }
    costs = (judged.state.results or {}).get("costs") or {}
    chosen = costs.get("threshold") if len(labels) == 2 else None
    usual = HALF if sure and len(labels) == 2 else None
    return {
        "labels": [labels[at] for at in places],
        "second": labels[1] if len(labels) == 2 else "",
        "scale": "probability" if sure else "score",
        "chosen": chosen if chosen is not None else usual,
        "by_costs": chosen is not None,
        "of": of,
    }


def _known(values: tuple[float, ...]) -> list[float | None]:
    return [float(value) if math.isfinite(value) else None for value in values]


def _wrong(judged: Judged) -> dict[str, Any]:
    """The rows with the least probability (or score) of their own class, or the largest error."""
    y, said = judged.y, judged.said
    if judged.dataset.task == "regression":
        badness = np.abs(y - said.labels)
        wrong = badness > 0
    elif said.probabilities is not None:
        badness, wrong = _unlikely(y, said.probabilities), said.labels != y
    else:
        assert said.scores is not None
        own = np.take_along_axis(said.scores, np.maximum(y, 0).astype(int)[:, None], 1)[:, 0]
        badness, wrong = said.scores.max(axis=1) - own, said.labels != y
    badness = np.where(wrong, np.where(y == y, badness, -np.inf), -np.inf)
    order = np.argsort(-badness, kind="stable")[: min(MOST_WRONG, int(wrong.sum()))]
    dataset = judged.dataset
    source = dataset.test if dataset.test is not None else dataset
    quoted = rows_in_file(source, judged.rows[order])
    return {
        "headers": quoted.headers,
        "rows": quoted.cells,
        "lines": quoted.lines,
        "counted": quoted.counted,
        "left_out": quoted.left_out,
        "actual": [_told(judged, at, truth=True) for at in order],
        "said": [_told(judged, at, truth=False) for at in order],
        "sure": [_sure(judged, at) for at in order],
        "wrong": int(wrong.sum()),
    }


def _unlikely(y: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Minus the probability of the true class; of a class that nobody knew the largest."""
    own = np.take_along_axis(probabilities, np.maximum(y, 0).astype(int)[:, None], 1)[:, 0]
    return np.where(y < 0, 0.0, -own)


def _told(judged: Judged, at: int, *, truth: bool) -> Any:
    value = judged.y[at] if truth else judged.said.labels[at]
    if judged.dataset.task == "regression":
        return float(value)
    return str(judged.dataset.classes[int(value)]) if value >= 0 else "a class not trained on"


def _sure(judged: Judged, at: int) -> float | None:
    """The probability of what it said; of numbers predicted − actual."""
    said = judged.said
    if judged.dataset.task == "regression":
        return float(said.labels[at] - judged.y[at])
    if said.probabilities is None:
        return None
    return float(said.probabilities[at, int(said.labels[at])])


def _residuals(judged: Judged) -> dict[str, Any]:
    y, predicted = judged.y, judged.said.labels
    rows = np.arange(len(y))
    if len(rows) > MOST_POINTS:
        generator = np.random.default_rng(judged.problem.plan.seed)
        rows = np.sort(generator.choice(len(y), MOST_POINTS, replace=False))
    residual = predicted - y
    along = {"": predicted, **_columns(judged)}
    return {
        "predicted": predicted[rows].tolist(),
        "residual": residual[rows].tolist(),
        "rows": len(y),
        "left_out": max(0, len(judged.dataset.feature_names) - MOST_COLUMNS),
        "along": {name: _plain(values[rows]) for name, values in along.items() if name},
        "bins": {name: _binned(values, residual) for name, values in along.items()},
    }


def _columns(judged: Judged) -> dict[str, np.ndarray]:
    """Test rows' values of the first columns that are numbers or have few different words."""
    found: dict[str, np.ndarray] = {}
    for place, name in enumerate(judged.dataset.feature_names[:MOST_COLUMNS]):
        if judged.dataset.is_sparse:
            parts = [part.X[:, [place]].toarray().ravel() for part in judged.parts]
            found[str(name)] = np.concatenate(parts).astype(float)
            continue
        values = pd.concat([part.X.iloc[:, place] for part in judged.parts], ignore_index=True)
        if pd.api.types.is_numeric_dtype(values.dtype):
            found[str(name)] = values.to_numpy(float, na_value=np.nan)
        elif values.nunique() <= 20:
            found[str(name)] = values.astype(object).where(values.notna(), "").to_numpy(str)
    return found


def _plain(values: np.ndarray) -> list[Any]:
    if values.dtype.kind != "f":
        return [str(value) for value in values]
    return [float(value) if math.isfinite(value) else None for value in values]


def _binned(values: np.ndarray, residual: np.ndarray) -> list[dict[str, Any]]:
    """The mean residual with its 95 % interval, of an eighth of the rows each, or of a word."""
    found = []
    if values.dtype.kind != "f":
        for word in dict.fromkeys(sorted(values.tolist())):
            found.append({"at": str(word), **_mean(residual[values == word])})
        return found
    known = np.isfinite(values)
    values, residual = values[known], residual[known]
    if not len(values):
        return []
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _BINS + 1)))
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(len(edges) - 2, 0))
    for at in np.unique(place):
        inside = place == at
        found.append({"at": float(values[inside].mean()), **_mean(residual[inside])})
    return found


def _mean(values: np.ndarray) -> dict[str, Any]:
    mean = float(values.mean())
    if len(values) < 2:
        return {"mean": mean, "low": None, "high": None, "rows": len(values)}
    half = 1.96 * float(values.std(ddof=1)) / math.sqrt(len(values))
    return {"mean": mean, "low": mean - half, "high": mean + half, "rows": len(values)}
