"""Which models "Find the best model" tunes, which it does not, and which a package would bring."""

from __future__ import annotations

from core.estimators.facts import uncapitalized
from core.tuning.guidance.guidance_records import ModelAdvice


def tried_text(model: ModelAdvice) -> tuple[str, ...]:
    """The models that are tuned together; nothing for the card of one model."""
    titles = model.tries
    return (f"It tries {len(titles)} models: {_joined_titles(titles)}.",) if titles else ()


def not_tried_text(model: ModelAdvice) -> tuple[str, ...]:
    """The models that are not tuned with the others, and what would bring more of them."""
    sentences = []
    if model.alone:
        titles = _joined_titles(model.alone)
        sentences.append(f"Only tuned by themselves, from their own cards: {titles}.")
    if model.lacking:
        missing_models = ", ".join(
            f"{missing.title} ({missing.install})" for missing in model.lacking
        )
        sentences.append(f"With more packages it tries more models: {missing_models}.")
    return tuple(sentences)


def _joined_titles(titles: list[str]) -> str:
    return ", ".join(uncapitalized(title) for title in titles)
