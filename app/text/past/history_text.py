"""Sentences about the history."""

from __future__ import annotations

from core.tuning.history.history_counts import HistoryCounts, ImportCounts

MAX_REASONS = 5  # listed; more are counted


def dataset_count_text(count: int) -> str:
    """Such as "3 datasets"."""
    return "1 dataset" if count == 1 else f"{count} datasets"


def switch_text(on: bool) -> str:
    """Whether the history is used from now on."""
    if on:
        return "The history is on: runs are added to it, and strategies can learn from it."
    return "The history is off: nothing is added to it or read from it. What it holds stays."


def deletion_text(count: int | None) -> str:
    """How many datasets were deleted; None for all."""
    return "Deleted: everything." if count is None else f"Deleted: {dataset_count_text(count)}."


def starter_removal_text(count: int) -> str:
    """That the shipped datasets were removed."""
    if not count:
        return "The history holds nothing that was shipped with Tunescope."
    return f"Removed: {dataset_count_text(count)} shipped with Tunescope."


def starter_restore_text(count: int) -> str:
    """That the shipped datasets were restored."""
    if not count:
        return "The history holds all that was shipped with Tunescope already."
    return f"Restored: {dataset_count_text(count)} shipped with Tunescope."


def export_text(count: int, path: str) -> str:
    """How much was exported, and where to."""
    words = "Exported {datasets} to {path}, without those shipped with Tunescope."
    return words.format(datasets=dataset_count_text(count), path=path)


def import_text(counts: ImportCounts) -> str:
    """What was imported, already there, and left out."""
    left_out = counts.left_out
    if counts.datasets or counts.trials:
        trials = "1 trial" if counts.trials == 1 else f"{counts.trials} trials"
        sentences = [f"Imported: {dataset_count_text(counts.datasets)} with {trials}."]
    else:
        sentences = ["There was nothing new to import."]
    if counts.known_already:
        sentences.append(f"In the history already: {dataset_count_text(counts.known_already)}.")
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
    if not count:
        return "The history holds nothing for this model yet: it starts like a Gaussian process."
    words = "The history holds {datasets} for this model, {similar} of them similar to yours"
    if count == 1:
        words = "The history holds 1 dataset for this model, similar to yours"
        if not similar:
            words = "The history holds 1 dataset for this model, not similar to yours"
    sentence = words.format(datasets=dataset_count_text(count), similar=similar or "none")
    if starter:
        sentence += f"; {'all' if starter == count else starter} shipped with Tunescope"
    return f"{sentence}."
