"""What a model has found without a target: topics of texts, or how to draw pictures."""

from __future__ import annotations

from app.text.numbers import percent
from core.tuning.events import ImagesDrawn, TopicsFound

NAMED_TOPICS, NAMED_WORDS = 2, 4


def of_topics(event: TopicsFound) -> str:
    """How many topics there are, and the words of the largest; "" where there are none."""
    if not event.topics:
        return ""
    named = [
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
        count=event.count, documents=f"{event.documents:,}", named=" and ".join(named)
    )


def of_pictures(event: ImagesDrawn) -> str:
    """That the model's own pictures are made up, and what the blurred ones are."""
    if not event.samples:
        return ""
    words = (
        "The best setting so far draws {count} pictures that are made up: no such picture is in "
        "the data, the model makes them from hidden causes at random."
    )
    seen = "Beside them are pictures of the data as they come back through those causes."
    said = words.format(count=len(event.samples))
    return f"{said} {seen}" if event.reconstructions else said
