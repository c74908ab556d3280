"""Facts of a dataset by which models and strategies recommend themselves."""

import json
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from core.datasets.task import Task
from core.records import Record
from core.wording import duration_text

ENOUGH_ROWS = 1000  # for flexible models to beat a linear one
# A fit below these seconds has five, four, three, two dots; a share above these as many.
_QUICK_SECONDS = (0.01, 0.2, 1.0, 4.0)
_FLEXIBLE_SHARES = (0.9, 0.65, 0.35, 0.1)
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
        return self.task.is_structured

    @property
    def weights(self) -> int:
        return self.inputs * self.outputs

    @property
    def outputs(self) -> int:
        """Scores of a row: K above two classes, else 1."""
        return self.classes if self.classes > 2 else 1

    @property
    def sentence(self) -> str:
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


@dataclass(frozen=True)
class ModelScale(Record):
    """A property of a model in dots, from one to five."""

    name: str
    dots: int
    measure: str = ""  # "a fit on 2,000 rows of 10 columns takes 0.3 s"

    @property
    def sentence(self) -> str:
        return f"{self.name}: {self.dots} of 5" + (f" ({self.measure})" if self.measure else "")


def model_scales(model: str, task: Task, complexity: int) -> tuple[ModelScale, ...]:
    """How quick, readable and flexible a model of tables is; empty where nothing was measured."""
    measured = _measured_facts().get(model, {}).get(picture_kind(task))
    if measured is None:
        return ()
    seconds, share = measured["seconds"], measured["learned"]
    quick = 5 - sum(seconds >= limit for limit in _QUICK_SECONDS)
    flexible = 5 - sum(share < limit for limit in _FLEXIBLE_SHARES)
    time = f"a fit on 2,000 rows of 10 columns takes {duration_text(seconds)}"
    board = f"it learns {100 * share:.0f} % of a chessboard of 16 fields"
    return (
        ModelScale("quick", quick, time),
        ModelScale("readable", max(1, 6 - complexity)),
        ModelScale("flexible", flexible, board),
    )


def picture_kind(task: Task) -> str:
    """What the picture of a model shows: "classes", "numbers" or the task of a structure."""
    if not task.is_table:
        return str(task)
    return "numbers" if task.has_numbers else "classes"


@lru_cache(maxsize=1)
def _measured_facts() -> dict[str, dict[str, dict[str, float]]]:
    text = (files("resources") / "models" / "facts.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def count_word(count: int) -> str:
    """A small number as a word, a larger one in digits."""
    return _WORDS[count] if count < len(_WORDS) else f"{count:,}"


def uncapitalized(title: str) -> str:
    """A title inside a sentence: "random forest", but "LightGBM"."""
    first = title.partition(" ")[0]
    return title if first[1:] != first[1:].lower() else title[:1].lower() + title[1:]


Facts = ModelingFacts  # the name of earlier versions
