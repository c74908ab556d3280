"""What a model has found without a target: topics of texts, or how to draw pictures."""

from __future__ import annotations

from app.text.number_format import percent
from core.tuning.events import ImagesDrawn, TopicsFound

NAMED_TOPICS, NAMED_WORDS = 2, 4


def topics_text(event: TopicsFound) -> str:
    """How many topics there are, and the words of the largest; "" where there are none."""
    if not event.topics:
        return ""
    topic_texts = [
        "“{words}” ({share} of all words)".format(
            words=", ".join(topic.words[:NAMED_WORDS]), share=percent(topic.share)
        )
        for topic in event.topics[:NAMED_TOPICS]
    ]
    words = (
        "The best setting so far finds {count} topics, groups of words that come together, in "
        "{documents} texts; the largest: {named}."
    )
    if event.count == 1:
        words = (
            "The best setting so far puts the words of all {documents} texts into one topic: "
            "{named}."
        )
    return words.format(
        count=event.count, documents=f"{event.documents:,}", named=" and ".join(topic_texts)
    )


def pictures_text(event: ImagesDrawn) -> str:
    """That the model's own pictures are generated, and what the blurred ones are."""
    if not event.samples:
        return ""
    words = (
        "The best setting so far generates {count} pictures: no such picture is in the data, the "
        "model draws them at random from its latent variables."
    )
    seen = "Beside them are pictures of the data as they are reconstructed from these."
    sentence = words.format(count=len(event.samples))
    return f"{sentence} {seen}" if event.reconstructions else sentence
