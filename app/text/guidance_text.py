"""Which models are tuned together, and which are not."""

from __future__ import annotations

from core.estimators.facts import uncapitalized
from core.tuning.guidance.guidance_records import ModelAdvice


def tried_text(model: ModelAdvice) -> tuple[str, ...]:
    """The models that are tuned together."""
    titles = model.tries
    return (f"It tries {len(titles)} models: {_joined_titles(titles)}.",) if titles else ()


def not_tried_text(model: ModelAdvice) -> tuple[str, ...]:
    """The models that are not tuned with the others."""
    sentences = []
    if model.alone:
        titles = _joined_titles(model.alone)
        sentences.append(f"Only tuned by themselves, from their own cards: {titles}.")
    if model.lacking:
        titles = ", ".join(f"{missing.title} ({missing.install})" for missing in model.lacking)
        sentences.append(f"With more packages it tries more models: {titles}.")
    return tuple(sentences)


def _joined_titles(titles: list[str]) -> str:
    return ", ".join(uncapitalized(title) for title in titles)
