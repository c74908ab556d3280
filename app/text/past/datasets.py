"""Earlier datasets in words: how large they were, how alike they are, and what they found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QLocale

from app.text.numbers import plain, shown
from core.tuning.events import CommonSurfaceFitted, HistoryRead
from core.tuning.payloads import HistoryDataset

NAMED_AXES = 3  # of a setting, in a sentence
LISTED = 20  # datasets that are listed while nobody knows yet which ones are used


def size_in_words(statistics: Sequence[float], short: bool = False) -> str:
    """A dataset's size: "1,200 rows × 14 columns, 2 classes", or "1,200 × 14, 2 classes"."""
    rows, columns, classes = counts(statistics)
    named = "1 class" if classes == 1 else f"{classes} classes"
    words = "{rows} rows × {columns} columns, {classes}"
    if short:
        words = "{rows} × {columns}, {classes}"
    return words.format(
        rows=QLocale().toString(rows),
        columns=QLocale().toString(columns),
        classes=named if classes else "numbers",
    )


def counts(statistics: Sequence[float]) -> tuple[int, int, int]:
    """Rows, columns and classes of a dataset (0 classes where a number is predicted)."""
    rows, columns, classes = statistics
    return round(math.exp(rows)), round(math.exp(columns)), round(classes)


def likeness(distance: float) -> float:
    """How alike two datasets are, from 0 to 1 (the same statistics)."""
    return 1.0 / (1.0 + distance)


def best_setting(dataset: HistoryDataset, axes: Sequence[str]) -> dict[str, Any]:
    """The setting of an earlier dataset's best trial; empty where it has no score."""
    scored = [at for at, score in enumerate(dataset.scores) if _is_number(score)]
    if not scored:
        return {}
    sign = 1.0 if dataset.maximize else -1.0
    best = max(scored, key=lambda at: sign * dataset.scores[at])
    return dict(zip(axes, dataset.values[best], strict=True))


def _is_number(score: Any) -> bool:
    return isinstance(score, (int, float)) and math.isfinite(score)


def setting_in_words(setting: Mapping[str, Any], most: int = NAMED_AXES) -> str:
    """A setting as "C = 0.27, gamma = 0.03"; the first few of many numbers."""
    named = [f"{name} = {shown(value)}" for name, value in setting.items()]
    return ", ".join(named[:most] + (["…"] if len(named) > most else []))


def datasets_used(
    history: HistoryRead | None, common: CommonSurfaceFitted | None
) -> list[HistoryDataset]:
    """The earlier datasets that decide trials now, nearest first."""
    if history is None:
        return []
    if common is not None and common.neighbours:
        return [history.datasets[at] for at in common.neighbours]
    return sorted(history.datasets, key=lambda dataset: dataset.distance)[:LISTED]


def history_in_words(history: HistoryRead, common: CommonSurfaceFitted | None) -> str:
    """How many earlier datasets are known, and how many of them are used."""
    known, used = len(history.datasets), len(datasets_used(history, common))
    if not known:
        return "The history holds no other dataset with this model yet."
    if known == 1:
        return "The history holds one earlier dataset, and it counts."
    if used == known:
        return f"The history holds {known} earlier datasets, and all of them count."
    words = "The history holds {known} earlier datasets; the {used} nearest count."
    return words.format(known=known, used=used)


def standard_in_words(mean: float, scale: float, settled: bool, scores: int, known: bool) -> str:
    """By what scores are standardized, and whose these numbers are.

    Args:
        mean, scale, settled: as in CommonSurfaceFitted.
        scores: of this dataset so far.
        known: whether the history holds datasets that they could be borrowed from.
    """
    if settled:
        words = "Mean {mean}, standard deviation {scale}: from this dataset's {scores} scores."
    elif known:
        words = (
            "Mean {mean}, standard deviation {scale}: from earlier datasets until two scores "
            "differ."
        )
    else:
        words = "Mean {mean}, standard deviation {scale}: assumed until two scores differ."
    return words.format(mean=plain(mean), scale=plain(scale, 2), scores=scores)


def history_in_use(history: HistoryRead, common: CommonSurfaceFitted | None) -> str:
    """How many earlier datasets are known and used, and what follows where there are none."""
    said = history_in_words(history, common)
    if history.datasets:
        return said
    return f"{said} The first trial is the default setting."


def measured_against(common: CommonSurfaceFitted, history: HistoryRead | None) -> str:
    """Against which mean and deviation this dataset's scores are measured now; "" for ranks."""
    if not common.trials or common.method != "transfer":
        return ""
    there = history is not None and bool(history.datasets)
    words = standard_in_words(common.mean, common.scale, common.settled, common.trials, there)
    return f"What counts as good here: {words}"
