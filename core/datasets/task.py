"""The tasks, and everything that differs from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Self

from core.wording import count_text


class TaskTraits:
    """The defaults of the table of tasks below."""

    unit: str = "row"  # a row of the file
    item: str = ""  # what a split never divides, the unit where nothing else is said
    data_noun: str = "a table"  # in errors
    class_nouns: str = "classes"
    target_text: str = "{count} classes"  # as a heading
    prediction_text: str = ""  # within a sentence
    choice_title: str = ""  # "" where it cannot be chosen
    question: str = ""  # with {target}, {count} and {sequence}
    verb: str = "predict"  # what a model does with new items
    penalty_noun: str = "columns"  # what penalties are learned for
    model_text: str = "It takes every row by itself."  # in errors
    learning_text: str = ""  # during a run
    baseline_text: str = "the most frequent class"  # the prediction without features
    default_metric: str = "accuracy"
    averaged_metric: str = "log_loss"  # of runs that average: −log p, or squared error
    parameters: tuple[str, ...] = ()  # fields of the plan that are parameters of estimators
    is_table: bool = False  # independent rows with a target each
    is_structured: bool = False  # targets depend on each other; models take raw rows
    has_target: bool = True
    has_numbers: bool = False
    has_classes: bool = False
    has_two_classes: bool = False
    has_sequences: bool = False  # rows are tokens in order
    has_pairs: bool = False  # rows are molecules, base pairs are predicted
    has_one_column: bool = False  # letters or texts


class Task(TaskTraits, StrEnum):
    """What is learned; equal to its name in plans, in JSON and in extensions.

    Regression predicts a number per row, binary and multiclass a class, sequence a label per token
    (a row), structure the base pairs of a molecule. In topics a row is a document, or its counts.
    """

    def __new__(cls, name: str, traits: Mapping[str, object] = MappingProxyType({})) -> Self:
        """A member with its row of the table; looked up by its name alone."""
        assert traits.keys() <= TaskTraits.__annotations__.keys()
        task = str.__new__(cls, name)
        task._value_ = name
        vars(task).update({"item": traits.get("unit", cls.unit), **traits})
        return task

    __repr__ = str.__repr__  # its name in the Python code of a plan

    REGRESSION = (
        "regression",
        {
            "target_text": "a number",
            "prediction_text": "a number",
            "choice_title": "A number",
            "question": "The target “{target}” holds numbers: a number is predicted.",
            "baseline_text": "the mean",
            "default_metric": "r2",
            "averaged_metric": "mse",
            "is_table": True,
            "has_numbers": True,
        },
    )
    BINARY = (
        "binary",
        {
            "target_text": "two classes",
            "prediction_text": "one of two classes",
            "choice_title": "One of two classes",
            "question": "The target “{target}” has two values: this is a yes/no question.",
            "is_table": True,
            "has_classes": True,
            "has_two_classes": True,
        },
    )
    MULTICLASS = (
        "multiclass",
        {
            "prediction_text": "one of several classes",
            "choice_title": "One of several classes",
            "question": "The target “{target}” has {count} values: one of them is predicted.",
            "is_table": True,
            "has_classes": True,
        },
    )
    SEQUENCE = (
        "sequence",
        {
            "unit": "token",
            "item": "sequence",
            "data_noun": "sequences",
            "class_nouns": "labels",
            "target_text": "{count} labels",
            "prediction_text": "a label for every token of a sequence",
            "choice_title": "The label of every token",
            "question": "Every row is a token, and rows with the same “{sequence}” are one "
            "sequence. The label in “{target}” is predicted for every token, with its neighbours "
            "in view.",
            "verb": "label",
            "penalty_noun": "kinds of weights",
            "model_text": "It labels the tokens of sequences.",
            "learning_text": "The model learns which features indicate which label, and which "
            "label tends to follow which.",
            "baseline_text": "the most frequent label of each value",
            "averaged_metric": "joint_log_loss",
            "parameters": ("decoding",),
            "is_structured": True,
            "has_classes": True,
            "has_sequences": True,
        },
    )
    STRUCTURE = (
        "structure",
        {
            "unit": "molecule",
            "data_noun": "molecules",
            "target_text": "base pairs",
            "prediction_text": "which letters of a molecule pair",
            "choice_title": "The structure of a molecule",
            "question": "Every row is a molecule. Which bases of “{sequence}” pair with each "
            "other is learned from the brackets in “{target}”.",
            "verb": "fold",
            "penalty_noun": "motifs",
            "model_text": "It folds RNA molecules.",
            "learning_text": "The model learns which base pairs, stacks and loops favour a "
            "fold, from molecules whose fold is known.",
            "baseline_text": "no base pairs",
            "default_metric": "pair_f1",
            "averaged_metric": "structure_log_loss",
            "parameters": ("gamma",),
            "is_structured": True,
            "has_pairs": True,
            "has_one_column": True,
        },
    )
    TOPICS = (
        "topics",
        {
            "unit": "text",
            "data_noun": "documents",
            "target_text": "topics",
            "prediction_text": "topics of texts",
            "model_text": "It finds the topics of texts.",
            "baseline_text": "how often each word occurs",
            "default_metric": "completion",
            "averaged_metric": "completion",
            "has_target": False,
            "has_one_column": True,
        },
    )
    UNKNOWN = ""  # to be detected, or without data yet

    @property
    def units(self) -> str:
        """The plural of a row: "tokens"."""
        return f"{self.unit}s"

    @property
    def items(self) -> str:
        """The plural of what a split never divides: "sequences"."""
        return f"{self.item}s"

    @property
    def is_classification(self) -> bool:
        return self.is_table and self.has_classes

    def count_text(self, count: int) -> str:
        """A count of rows: "2,310 rows", "1 row"."""
        return count_text(count, self.unit)


TASKS = tuple(task for task in Task if task)
TABLE_TASKS = tuple(task for task in TASKS if task.is_table)
CLASSIFICATION_TASKS = tuple(task for task in TASKS if task.is_classification)
