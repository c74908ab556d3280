"""What guidance knows of the data, and how a model or a strategy recommends itself for them.

| symbol | code | meaning |
| --- | --- | --- |
| m | ``training`` | rows that tuning will see |
| p | ``inputs`` | columns after categories are spread over one column a value |
| K | ``classes`` | classes; 0 for a regression |
| n | ``weights`` | penalized weights of a linear model: p, or p K with more than two classes |
"""

from __future__ import annotations

from dataclasses import dataclass

from core.datasets.task import Task

ENOUGH_ROWS = 1000  # for flexible models to beat a linear one
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class ModelingFacts:
    """What the advice rests on (symbols above), from the summary of a dataset.

    Attributes:
        learning: rows that a penalty learner trains on: all where every row tests once.
        groups: groups of columns that their names form.
        items: sequences, molecules or texts in words.
        words: of documents, that the rules keep.
        rare: whether a class is rare.
        texts: whether a column is texts, whose words become columns.
    """

    task: Task
    rows: int
    columns: int
    inputs: int
    classes: int
    training: int
    learning: int
    sparse: bool
    groups: tuple[str, ...]
    items: str = ""
    words: int = 0
    rare: bool = False
    texts: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "task", Task(self.task))  # extensions may give its name

    @property
    def structured(self) -> bool:
        """Whether the data are sequences or molecules."""
        return self.task.is_structured

    @property
    def weights(self) -> int:
        """Penalized weights of a linear model."""
        return self.inputs * self.outputs

    @property
    def outputs(self) -> int:
        """Scores that a model gives a row: one a class where there are more than two."""
        return self.classes if self.classes > 2 else 1

    @property
    def sentence(self) -> str:
        """The data in a few words: "270 rows, 13 columns, two classes"."""
        if self.items:
            return self.items
        target_text = (
            f"{count_word(self.classes)} classes" if self.classes else "a number to predict"
        )
        columns = "1 column" if self.columns == 1 else f"{self.columns:,} columns"
        return f"{self.rows:,} rows, {columns}, {target_text}"


@dataclass(frozen=True)
class Suggestion:
    """A model or a strategy recommends itself; the first of the highest rank is taken.

    Attributes:
        rank: how well it suits these data, 1 for what is taken where nothing suits better.
        reason: one sentence, with the data's numbers.
    """

    rank: int
    reason: str


def count_word(count: int) -> str:
    """A small number as a word, a larger one in digits."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def uncapitalized(title: str) -> str:
    """A title inside a sentence: "random forest"; names such as LightGBM stay as they are."""
    first = title.partition(" ")[0]
    return title if first[1:] != first[1:].lower() else title[:1].lower() + title[1:]


Facts = ModelingFacts  # the name of earlier versions
