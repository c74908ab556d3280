"""What came of a change of the history, and what it knows of a model, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LISTED = 5  # reasons that are told; the others are counted


def counted(count: int) -> str:
    """So many datasets."""
    return "1 dataset" if count == 1 else f"{count} datasets"


def switched(on: bool) -> str:
    """Whether the history is used from now on."""
    if on:
        return "The history is on: runs are added to it, and strategies can learn from it."
    return "The history is off: nothing is added to it or read from it. What it holds stays."


def forgotten(count: int | None) -> str:
    """How much was forgotten; None for everything there was."""
    return "Deleted: everything." if count is None else f"Deleted: {counted(count)}."


def removed_starter(count: int) -> str:
    """What came with the program is gone."""
    if not count:
        return "The history holds nothing that was shipped with Tunescope."
    return f"Removed: {counted(count)} shipped with Tunescope."


def brought_back(count: int) -> str:
    """What came with the program is there again."""
    if not count:
        return "The history holds all that was shipped with Tunescope already."
    return f"Restored: {counted(count)} shipped with Tunescope."


def saved(count: int, path: str) -> str:
    """How much was written, and where to."""
    words = "Exported {datasets} to {path}, without those shipped with Tunescope."
    return words.format(datasets=counted(count), path=path)


def taken_in(datasets: int, trials: int, known: int, left_out: Sequence[str]) -> str:
    """What was imported, what was there before, and what was left out and why."""
    if datasets or trials:
        words = "Imported: {datasets} with {trials} trials."
        if trials == 1:
            words = "Imported: {datasets} with 1 trial."
        said = [words.format(datasets=counted(datasets), trials=trials)]
    else:
        said = ["There was nothing new to import."]
    if known:
        said.append(f"In the history already: {counted(known)}.")
    if left_out:
        said.append("Left out: {reasons}".format(reasons=" ".join(left_out[:LISTED])))
    if len(left_out) > LISTED:
        said.append(f"And {len(left_out) - LISTED} more.")
    return " ".join(said)


def known_in_words(known: Mapping[str, Any] | None) -> str:
    """What a strategy that uses the history can start from; "" while nobody knows.

    Args:
        known: {datasets, similar, starter, enabled}, or {"problem": why it cannot be used}.
    """
    if not known:
        return ""
    if "problem" in known:
        return str(known["problem"])
    if not known["enabled"]:
        return "The history is off: it starts like a Gaussian process."
    count, similar, starter = known["datasets"], known["similar"], known["starter"]
    if not count:
        return "The history holds nothing for this model yet: it starts like a Gaussian process."
    words = "The history holds {datasets} for this model, {similar} of them similar to yours"
    if count == 1:
        words = "The history holds 1 dataset for this model, similar to yours"
        if not similar:
            words = "The history holds 1 dataset for this model, not similar to yours"
    said = words.format(datasets=counted(count), similar=similar or "none")
    if starter:
        said += "; {count} shipped with Tunescope".format(
            count="all" if starter == count else starter
        )
    return f"{said}."
