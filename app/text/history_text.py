"""Text about the history: what is in it, what comes and goes, and which earlier datasets help."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.space import Setting
from core.tuning.events import HistoryDataset, HistoryRead, JointSurfaceFitted
from core.tuning.history.dataset_records import SIMILAR, HistoryCounts, ImportCounts
from core.wording import count_text, format_integer, format_number, format_value

if TYPE_CHECKING:
    from core.tuning.runs.state import ScoreStandardization

MAX_REASONS = 5  # listed; more are counted


def switch_text(on: bool) -> str:
    """Whether the history is used from now on."""
    if on:
        return "The history is on: runs are added to it, and strategies can learn from it."
    return "The history is off: nothing is added to it or read from it. What it holds stays."


def deletion_text(count: int | None) -> str:
    """How many datasets were deleted; None for all."""
    return "Deleted: everything." if count is None else f"Deleted: {count_text(count, 'dataset')}."


def starter_removal_text(count: int) -> str:
    """That the shipped datasets were removed."""
    if not count:
        return "The history holds nothing that was shipped with Tunescope."
    return f"Removed: {count_text(count, 'dataset')} shipped with Tunescope."


def starter_restore_text(count: int) -> str:
    """That the shipped datasets were restored."""
    if not count:
        return "The history holds all that was shipped with Tunescope already."
    return f"Restored: {count_text(count, 'dataset')} shipped with Tunescope."


def export_text(count: int, path: str) -> str:
    """What was exported, and where to."""
    datasets = count_text(count, "dataset")
    return f"Exported {datasets} to {path}, without those shipped with Tunescope."


def import_text(counts: ImportCounts) -> str:
    """What was imported, already there, and left out."""
    left_out = counts.left_out
    # New trials of a dataset that was there already count as well.
    if counts.datasets or counts.trials:
        trials = count_text(counts.trials, "trial")
        sentences = [f"Imported: {count_text(counts.datasets, 'dataset')} with {trials}."]
    else:
        sentences = ["There was nothing new to import."]
    if counts.known_already:
        sentences.append(f"In the history already: {count_text(counts.known_already, 'dataset')}.")
    if left_out:
        sentences.append(f"Left out: {' '.join(left_out[:MAX_REASONS])}")
    if len(left_out) > MAX_REASONS:
        sentences.append(f"And {len(left_out) - MAX_REASONS} more.")
    return " ".join(sentences)


def matching_counts_text(counts: HistoryCounts) -> str:
    """The datasets that a strategy can start from."""
    if not counts.enabled:
        return "The history is off: it starts like a Gaussian process."
    count, similar, starter = counts.datasets, counts.similar, counts.starter
    runs, same = count_text(counts.same or 0, "earlier run"), ""
    if counts.same:
        same = f" Left out: {runs} that may have been on this dataset, its test rows included"
        same += " (as many columns and classes, half to double the rows)."
    if not count:
        words = f"The history holds nothing {'else ' if same else ''}for this model yet"
        return f"{words}: it starts like a Gaussian process.{same}"
    how_many = "" if similar else "not "
    if count > 1:
        how_many = f"{similar or 'none'} of them "
    sentence = f"The history holds {count_text(count, 'dataset')} for this model, {how_many}"
    sentence += "similar to yours"
    if starter:
        sentence += f"; {'all' if starter == count else starter} shipped with Tunescope"
    return f"{sentence}.{same}"


NAMED_AXES = 3  # of a setting, in a sentence
MAX_DATASETS = 20  # listed before it is known which ones are used


def dataset_size_text(statistics: Sequence[float], short: bool = False) -> str:
    """Such as "1,200 rows × 14 columns, 2 classes", short "1,200 × 14, 2 classes"."""
    rows, columns, classes = size_counts(statistics)
    names = ("", "") if short else (" rows", " columns")
    size = f"{format_integer(rows)}{names[0]} × {format_integer(columns)}{names[1]}"
    return f"{size}, {count_text(classes, 'class', 'classes') if classes else 'numbers'}"


def size_counts(statistics: Sequence[float]) -> tuple[int, int, int]:
    """Rows, columns and classes of a dataset."""
    rows, columns, classes = statistics
    # Rows and columns are kept as logarithms, as the distance of datasets takes them.
    return round(math.exp(rows)), round(math.exp(columns)), round(classes)


def similarity(distance: float) -> float:
    """Similarity of two datasets, from 0 to 1."""
    return 1.0 / (1.0 + distance)


def best_setting(dataset: HistoryDataset, axes: Sequence[str]) -> Setting:
    """The best setting of an earlier dataset, or {}."""
    # Each dataset keeps the direction of its own measure.
    sign = 1.0 if dataset.maximize else -1.0
    scored = [
        (sign * score, -index)
        for index, score in enumerate(dataset.scores)
        if isinstance(score, (int, float)) and math.isfinite(score)
    ]
    return dict(zip(axes, dataset.values[-max(scored)[1]], strict=True)) if scored else {}


def short_setting_text(setting: Mapping[str, Any], max_values: int = NAMED_AXES) -> str:
    """A setting as "C = 0.27, gamma = 0.03"."""
    value_texts = [f"{name} = {format_value(value)}" for name, value in setting.items()]
    return ", ".join(value_texts[:max_values] + (["…"] if len(value_texts) > max_values else []))


def datasets_used(
    history: HistoryRead | None, common: JointSurfaceFitted | None
) -> list[HistoryDataset]:
    """The earlier datasets in use, nearest first."""
    if history is None:
        return []
    # Once a surface was fitted it says which; before, the nearest are as good a guess.
    if common is not None and common.neighbours:
        return [history.datasets[index] for index in common.neighbours]
    return sorted(history.datasets, key=lambda dataset: dataset.distance)[:MAX_DATASETS]


def known_datasets_text(history: HistoryRead, common: JointSurfaceFitted | None) -> str:
    """The sentence of the Strategy page, and how many are used."""
    datasets, used = history.datasets, len(datasets_used(history, common))
    counts = HistoryCounts(
        datasets=len(datasets),
        similar=sum(dataset.distance <= SIMILAR for dataset in datasets),
        starter=sum(dataset.starter for dataset in datasets),
        same=history.same or 0,
    )
    nearest = f" The {used} nearest count." if used < len(datasets) else ""
    return matching_counts_text(counts) + nearest


def standardization_text(standard: ScoreStandardization, has_history: bool, metric: str) -> str:
    """The mean and deviation that standardize scores, and their source."""
    if standard.settled:
        source = f"from this dataset's {standard.trials} scores"
        source += " and from earlier datasets" if standard.is_shared else ""
    elif has_history:
        source = "from earlier datasets until two scores differ"
    else:
        source = "assumed until two scores differ"
    # Not needed before the first paint.
    from core.tuning.scores.score import SHARES, difference_text, score_text

    scale = standard.scale
    deviation = difference_text(metric, scale) if metric in SHARES else format_number(scale, 2)
    numbers = f"Mean {score_text(standard.mean, metric)}, standard deviation {deviation}"
    return f"{numbers}: {source}."


def measured_against(common: JointSurfaceFitted, history: HistoryRead | None, metric: str) -> str:
    """How this dataset's scores are standardized; "" for ranks."""
    if not common.trials or common.method != "transfer":
        return ""
    has_datasets = history is not None and bool(history.datasets)
    from core.tuning.runs.state import ScoreStandardization  # not for the first paint

    text = standardization_text(ScoreStandardization.of_surface(common), has_datasets, metric)
    return f"How scores are standardized: {text}"
