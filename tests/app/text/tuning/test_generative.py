"""What is said of topics that were found and of pictures that were drawn."""

from __future__ import annotations

from app.text.number_format import percent
from app.text.tuning.narrator import narration
from core.datasets.task import Task
from core.tuning.events import ImagesDrawn, RunStarted, TopicsFound
from core.tuning.payloads import DatasetFacts, Topic
from core.tuning.runs.state import state_from_events

TOPICS = TopicsFound(
    number=3,
    count=50,
    documents=11314,
    topics=[
        Topic(0.087, ["space", "nasa", "orbit", "moon", "sky"], [0.1] * 5),
        Topic(0.06, ["game", "team"], [0.2, 0.1]),
        Topic(0.05, ["god"], [0.3]),
    ],
)


def said(event, task="", **dataset):
    facts = DatasetFacts(task=Task(task), **dataset)
    begun = RunStarted(plan={"strategy": "gp"}, dataset=facts)
    return " ".join(narration(state_from_events([begun, event])))


def test_the_largest_topics_are_named_by_their_words():
    words = said(TOPICS, task="topics")
    assert "finds 50 topics, groups of words that come together, in 11,314 texts" in words
    assert (
        f"the largest: “space, nasa, orbit, moon” ({percent(0.087)} of all words) and "
        f"“game, team” ({percent(0.06)} of all words)."
    ) in words
    assert "god" not in words


def test_one_topic_is_not_called_many():
    one = TopicsFound(number=0, count=1, documents=120, topics=TOPICS.topics[:1])
    words = said(one, task="topics")
    assert "puts the words of all 120 texts into one topic: “space" in words


def test_a_later_trial_takes_the_place_of_an_earlier_one():
    begun = RunStarted(plan={"strategy": "gp"}, dataset=DatasetFacts(task=Task.TOPICS))
    later = TopicsFound(number=5, count=80, documents=11314, topics=TOPICS.topics[1:])
    words = " ".join(narration(state_from_events([begun, TOPICS, later])))
    assert "finds 80 topics" in words
    assert "space" not in words


def test_drawn_pictures_are_said_to_be_generated():
    grey = [[0.5] * 4] * 3
    drawn = ImagesDrawn(2, 2, 2, samples=grey, originals=grey, reconstructions=grey)
    words = said(drawn, task="multiclass", pictures=True)
    assert "generates 3 pictures: no such picture is in the data" in words
    assert "pictures of the data as they are reconstructed" in words
    assert "reconstructed" not in said(ImagesDrawn(samples=grey, height=2, width=2))


def test_nothing_to_show_says_nothing():
    before = said(
        RunStarted(plan={"strategy": "gp"}, dataset=DatasetFacts(task=Task.TOPICS)), task="topics"
    )
    assert said(TopicsFound(), task="topics") == before
    assert "draws" not in said(ImagesDrawn())
