"""Facts of a dataset by which models and strategies recommend themselves."""

from __future__ import annotations

from dataclasses import dataclass

from core.datasets.task import Task

ENOUGH_ROWS = 1000  # for flexible models to beat a linear one
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class ModelingFacts:
    """Facts from the summary of a dataset."""

    task: Task
    rows: int
    columns: int
    inputs: int  # p: columns, one a value of a category
    classes: int  # K; 0 for a regression
    training: int  # rows that tuning sees
    learning: int  # rows of a penalty learner: all where every row is tested once
    sparse: bool
    groups: tuple[str, ...]  # by the names of columns
    items: str = ""  # "12 molecules", where rows are not counted
    words: int = 0  # of the vocabulary of documents
    rare: bool = False  # whether a class is rare
    texts: bool = False  # whether the words of a column become columns

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
        """Scores of a row: K above two classes, else 1."""
        return self.classes if self.classes > 2 else 1

    @property
    def sentence(self) -> str:
        """The data in a few words: "270 rows, 13 columns, two classes"."""
        if self.items:
            return self.items
        target = f"{count_word(self.classes)} classes" if self.classes else "a number to predict"
        columns = "1 column" if self.columns == 1 else f"{self.columns:,} columns"
        return f"{self.rows:,} rows, {columns}, {target}"


@dataclass(frozen=True)
class Suggestion:
    """A recommendation; the first of the highest rank is taken."""

    rank: int
    reason: str


def count_word(count: int) -> str:
    """A small number as a word, a larger one in digits."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def uncapitalized(title: str) -> str:
    """A title inside a sentence: "random forest", but "LightGBM"."""
    first = title.partition(" ")[0]
    return title if first[1:] != first[1:].lower() else title[:1].lower() + title[1:]


Facts = ModelingFacts  # the name of earlier versions
