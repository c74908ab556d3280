"""Streams of runs whose models show what they learned: topics, or pictures that they draw."""

from __future__ import annotations

import numpy as np

from core.datasets.task import Task
from core.tuning.events import (
    DatasetFacts,
    ImagesDrawn,
    RunStarted,
    Topic,
    TopicsFound,
    TrialFinished,
)

LETTERS = "abcdefghij"


def topics(count=50, shown=12):
    """Topic k has 1/(k + 2) of the words; word w of it comes with 0.2/(w + 1)."""
    weights = [round(0.2 / (w + 1), 4) for w in range(len(LETTERS))]
    found = [
        Topic(round(1 / (k + 2) / 4, 4), [f"word{k}{letter}" for letter in LETTERS], weights)
        for k in range(shown)
    ]
    return TopicsFound(number=4, count=count, documents=11314, topics=found)


def images(height=5, width=4, each=8, classes=3):
    """Pictures of one bright column, the class; reconstructions are half as bright."""
    codes = np.arange(each) % classes
    originals = np.tile(np.eye(width)[codes], height)  # row by row
    samples = np.random.default_rng(0).random(originals.shape).round(3)
    return ImagesDrawn(
        number=2,
        height=height,
        width=width,
        samples=samples.tolist(),
        originals=originals.tolist(),
        reconstructions=(0.5 * originals).tolist(),
        labels=[f"c{code}" for code in codes],
    )


def run(event=None, judged="cv"):
    """A run of a trial that shows these topics or pictures."""
    event = event or topics()
    is_topics = isinstance(event, TopicsFound)
    facts = DatasetFacts(task=Task.TOPICS if is_topics else Task.MULTICLASS, pictures=not is_topics)
    plan = {"strategy": "random"}
    yield RunStarted(run=type(event).__name__, plan=plan, dataset=facts, judged=judged)
    yield TrialFinished(number=0, score=0.5)
    yield event
