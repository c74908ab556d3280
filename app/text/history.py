"""What came of a change of the history, and what it knows of a model, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

LISTED = 5  # reasons that are told; the others are counted


def _tr(text: str) -> str:
    return QCoreApplication.translate("Experience", text)


def counted(count: int) -> str:
    """So many datasets."""
    return _tr("1 dataset") if count == 1 else _tr("{count} datasets").format(count=count)


def switched(on: bool) -> str:
    """Whether tuning is remembered from now on."""
    if on:
        return _tr("From now on tuning is remembered, and what is remembered helps.")
    return _tr("From now on nothing is remembered and nothing is recalled. What is there stays.")


def forgotten(count: int) -> str:
    """How much was forgotten."""
    return _tr("Forgotten: {datasets}.").format(datasets=counted(count))


def removed_starter(count: int) -> str:
    """What came with the program is gone."""
    if not count:
        return _tr("Nothing of what came with Tunescope was there.")
    return _tr("Removed: {datasets} that came with Tunescope.").format(datasets=counted(count))


def brought_back(count: int) -> str:
    """What came with the program is there again."""
    if not count:
        return _tr("All of what came with Tunescope is there already.")
    return _tr("Brought back: {datasets} that came with Tunescope.").format(datasets=counted(count))


def saved(count: int, path: str) -> str:
    """How much was written, and where to."""
    words = _tr("Saved {datasets} as {path}. What came with Tunescope is not among them.")
    return words.format(datasets=counted(count), path=path)


def taken_in(datasets: int, trials: int, known: int, left_out: Sequence[str]) -> str:
    """What was taken in, what was there before, and what was left out and why."""
    if datasets or trials:
        words = _tr("Taken in: {datasets} with {trials} trials.")
        if trials == 1:
            words = _tr("Taken in: {datasets} with 1 trial.")
        said = [words.format(datasets=counted(datasets), trials=trials)]
    else:
        said = [_tr("There was nothing new to take in.")]
    if known:
        said.append(_tr("Known before: {datasets}.").format(datasets=counted(known)))
    if left_out:
        said.append(_tr("Left out: {reasons}").format(reasons=" ".join(left_out[:LISTED])))
    if len(left_out) > LISTED:
        said.append(_tr("And {count} more.").format(count=len(left_out) - LISTED))
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
        return _tr("Remembering is switched off: it starts like a Gaussian process.")
    count, similar, starter = known["datasets"], known["similar"], known["starter"]
    if not count:
        return _tr("Nothing is remembered yet for this model: it starts like a Gaussian process.")
    words = _tr("Knows {datasets} for this model, {similar} of them similar to yours")
    if count == 1:
        words = _tr("Knows 1 dataset for this model, similar to yours")
        if not similar:
            words = _tr("Knows 1 dataset for this model, not similar to yours")
    said = words.format(datasets=counted(count), similar=similar or _tr("none"))
    if starter:
        said += _tr("; {count} came with Tunescope").format(
            count=_tr("all") if starter == count else starter
        )
    return f"{said}."
