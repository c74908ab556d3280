"""Which models "Find the best model" tunes, which it does not, and which a package would bring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.estimators.facts import uncapitalized


def tried_in_words(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The models that are tuned together; nothing for the card of one model.

    Args:
        entry: of a model, as the advice has it.
    """
    tried = entry.get("tries")
    return (f"It tries {len(tried)} models: {_small(tried)}.",) if tried else ()


def not_tried_in_words(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The models that are not tuned with the others, and what would bring more of them."""
    said = []
    if alone := entry.get("alone"):
        said.append(f"Only tuned by themselves, from their own cards: {_small(alone)}.")
    if lacking := entry.get("lacking"):
        told = ", ".join(f"{one['title']} ({one['install']})" for one in lacking)
        said.append(f"With more packages it tries more models: {told}.")
    return tuple(said)


def _small(titles: list[str]) -> str:
    """Titles inside a sentence."""
    return ", ".join(uncapitalized(title) for title in titles)
