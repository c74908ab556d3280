"""Earlier datasets in words: how large they were, how alike they are, and what they found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QLocale

from app.text.number_format import format_number, format_value
from core.space import Setting
from core.tuning.events import HistoryRead, JointSurfaceFitted
from core.tuning.payloads import HistoryDataset

NAMED_AXES = 3  # of a setting, in a sentence
MAX_DATASETS = 20  # datasets that are listed while nobody knows yet which ones are used


def dataset_size_text(statistics: Sequence[float], short: bool = False) -> str:
    """A dataset's size: "1,200 rows × 14 columns, 2 classes", or "1,200 × 14, 2 classes"."""
    rows, columns, classes = size_counts(statistics)
    class_text = "1 class" if classes == 1 else f"{classes} classes"
    words = "{rows} rows × {columns} columns, {classes}"
    if short:
        words = "{rows} × {columns}, {classes}"
    return words.format(
        rows=QLocale().toString(rows),
        columns=QLocale().toString(columns),
        classes=class_text if classes else "numbers",
    )


def size_counts(statistics: Sequence[float]) -> tuple[int, int, int]:
    """Rows, columns and classes of a dataset (0 classes where a number is predicted)."""
    rows, columns, classes = statistics
    return round(math.exp(rows)), round(math.exp(columns)), round(classes)


def similarity(distance: float) -> float:
    """How similar two datasets are, from 0 to 1 (the same statistics)."""
    return 1.0 / (1.0 + distance)


def best_setting(dataset: HistoryDataset, axes: Sequence[str]) -> Setting:
    """The setting of an earlier dataset's best trial; empty where it has no score."""
    scored_indices = [index for index, score in enumerate(dataset.scores) if _is_number(score)]
    if not scored_indices:
        return {}
    sign = 1.0 if dataset.maximize else -1.0
    best = max(scored_indices, key=lambda index: sign * dataset.scores[index])
    return dict(zip(axes, dataset.values[best], strict=True))


def _is_number(score: Any) -> bool:
    return isinstance(score, (int, float)) and math.isfinite(score)


def short_setting_text(setting: Mapping[str, Any], max_values: int = NAMED_AXES) -> str:
    """A setting as "C = 0.27, gamma = 0.03"; the first few of many numbers."""
    value_texts = [f"{name} = {format_value(value)}" for name, value in setting.items()]
    return ", ".join(value_texts[:max_values] + (["…"] if len(value_texts) > max_values else []))


def datasets_used(
    history: HistoryRead | None, common: JointSurfaceFitted | None
) -> list[HistoryDataset]:
    """The earlier datasets that decide trials now, nearest first."""
    if history is None:
        return []
    if common is not None and common.neighbours:
        return [history.datasets[index] for index in common.neighbours]
    return sorted(history.datasets, key=lambda dataset: dataset.distance)[:MAX_DATASETS]


def known_datasets_text(history: HistoryRead, common: JointSurfaceFitted | None) -> str:
    """How many earlier datasets are known, and how many of them are used."""
    dataset_count, used = len(history.datasets), len(datasets_used(history, common))
    if not dataset_count:
        return "The history holds no other dataset with this model yet."
    if dataset_count == 1:
        return "The history holds one earlier dataset, and it counts."
    if used == dataset_count:
        return f"The history holds {dataset_count} earlier datasets, and all of them count."
    words = "The history holds {known} earlier datasets; the {used} nearest count."
    return words.format(known=dataset_count, used=used)


def standardization_text(
    mean: float, scale: float, settled: bool, scores: int, has_history: bool
) -> str:
    """By what scores are standardized, and whose these numbers are.

    Args:
        mean, scale, settled: as in CommonSurfaceFitted.
        scores: of this dataset so far.
        has_history: whether the history holds datasets that they could be borrowed from.
    """
    if settled:
        words = "Mean {mean}, standard deviation {scale}: from this dataset's {scores} scores."
    elif has_history:
        words = (
            "Mean {mean}, standard deviation {scale}: from earlier datasets until two scores "
            "differ."
        )
    else:
        words = "Mean {mean}, standard deviation {scale}: assumed until two scores differ."
    return words.format(mean=format_number(mean), scale=format_number(scale, 2), scores=scores)


def history_use_text(history: HistoryRead, common: JointSurfaceFitted | None) -> str:
    """How many earlier datasets are known and used, and what follows where there are none."""
    count_sentence = known_datasets_text(history, common)
    if history.datasets:
        return count_sentence
    return f"{count_sentence} The first trial is the default setting."


def measured_against(common: JointSurfaceFitted, history: HistoryRead | None) -> str:
    """Against which mean and deviation this dataset's scores are measured now; "" for ranks."""
    if not common.trials or common.method != "transfer":
        return ""
    has_datasets = history is not None and bool(history.datasets)
    words = standardization_text(
        common.mean, common.scale, common.settled, common.trials, has_datasets
    )
    return f"How scores are standardized: {words}"
