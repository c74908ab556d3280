"""What came of a change of the history, and what it knows of a model, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LISTED = 5  # reasons that are told; the others are counted


def counted(count: int) -> str:
    """So many datasets."""
    return "1 dataset" if count == 1 else f"{count} datasets"


def switched(on: bool) -> str:
    """Whether tuning is remembered from now on."""
    if on:
        return "From now on tuning is remembered, and what is remembered helps."
    return "From now on nothing is remembered and nothing is recalled. What is there stays."


def forgotten(count: int) -> str:
    """How much was forgotten."""
    return f"Forgotten: {counted(count)}."


def removed_starter(count: int) -> str:
    """What came with the program is gone."""
    if not count:
        return "Nothing of what came with Tunescope was there."
    return f"Removed: {counted(count)} that came with Tunescope."


def brought_back(count: int) -> str:
    """What came with the program is there again."""
    if not count:
        return "All of what came with Tunescope is there already."
    return f"Brought back: {counted(count)} that came with Tunescope."


def saved(count: int, path: str) -> str:
    """How much was written, and where to."""
    words = "Saved {datasets} as {path}. What came with Tunescope is not among them."
    return words.format(datasets=counted(count), path=path)


def taken_in(datasets: int, trials: int, known: int, left_out: Sequence[str]) -> str:
    """What was taken in, what was there before, and what was left out and why."""
    if datasets or trials:
        words = "Taken in: {datasets} with {trials} trials."
        if trials == 1:
            words = "Taken in: {datasets} with 1 trial."
        said = [words.format(datasets=counted(datasets), trials=trials)]
    else:
        said = ["There was nothing new to take in."]
    if known:
        said.append(f"Known before: {counted(known)}.")
    if left_out:
        said.append("Left out: {reasons}".format(reasons=" ".join(left_out[:LISTED])))
    if len(left_out) > LISTED:
        said.append(f"And {len(left_out) - LISTED} more.")
    return " ".join(said)


def known_in_words(known: Mapping[str, Any] | None) -> str:
    """What a strategy that remembers can start from; "" while nobody knows.

    Args:
        known: {datasets, similar, starter, enabled}, or {"problem": why nothing can be recalled}.
    """
    if not known:
        return ""
    if "problem" in known:
        return str(known["problem"])
    if not known["enabled"]:
        return "Remembering is switched off: it starts like a Gaussian process."
    count, similar, starter = known["datasets"], known["similar"], known["starter"]
    if not count:
        return "Nothing is remembered yet for this model: it starts like a Gaussian process."
    words = "Knows {datasets} for this model, {similar} of them similar to yours"
    if count == 1:
        words = "Knows 1 dataset for this model, similar to yours"
        if not similar:
            words = "Knows 1 dataset for this model, not similar to yours"
    said = words.format(datasets=counted(count), similar=similar or "none")
    if starter:
        said += "; {count} came with Tunescope".format(count="all" if starter == count else starter)
    return f"{said}."
