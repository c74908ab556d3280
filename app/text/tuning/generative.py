"""Topics of texts, and pictures drawn by a model."""

from __future__ import annotations

from app.text.number_format import percent
from core.tuning.events import ImagesDrawn, TopicsFound

NAMED_TOPICS, NAMED_WORDS = 2, 4


def topics_text(event: TopicsFound) -> str:
    """How many topics there are, and the largest, or ""."""
    if not event.topics:
        return ""
    topic_texts = [
        f"“{', '.join(topic.words[:NAMED_WORDS])}” ({percent(topic.share)} of all words)"
        for topic in event.topics[:NAMED_TOPICS]
    ]
    count, texts, named = event.count, f"{event.documents:,} texts", " and ".join(topic_texts)
    if count == 1:
        return f"The best setting so far puts the words of all {texts} into one topic: {named}."
    return (
        f"The best setting so far finds {count} topics, groups of words that come together, in "
        f"{texts}; the largest: {named}."
    )


def pictures_text(event: ImagesDrawn) -> str:
    """The drawn and reconstructed pictures."""
    if not event.samples:
        return ""
    sentence = (
        f"The best setting so far generates {len(event.samples)} pictures: no such picture is in "
        "the data, the model draws them at random from its latent variables."
    )
    seen = "Beside them are pictures of the data as they are reconstructed from these."
    return f"{sentence} {seen}" if event.reconstructions else sentence
