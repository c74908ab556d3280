"""What is learned from a dataset: the tasks, and everything that differs from one to the next."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Self


class TaskTraits:
    """What is the case where a row of the table below does not say otherwise.

    Attributes:
        unit: a row of the file.
        item: what a split never takes apart.
        data_noun: what a run is on, in the sentence of an error.
        class_nouns: the classes of the target.
        target_text: what is predicted, of so many classes; in the head of a report.
        prediction_text: the same in the middle of a sentence.
        choice_title: the same where the task is chosen; "" where it cannot be.
        question: what is predicted from what, for a target, a count of classes and the column of
            role sequence.
        verb: what a model does with new items.
        penalty_noun: what learned penalties are of.
        model_text: what the models of this task do, said of one that does not suit other data.
        learning_text: what a model of this task learns, while it does.
        baseline_text: what is said without learning from the features, as a noun.
        default_metric: the metric of a run that names none.
        averaged_metric: the metric of runs that average: −log p of what is true, or the squared
            error.
        parameters: the fields of the plan that estimators have as parameters.
        is_table: whether rows stand for themselves and have a target each.
        is_structured: whether targets depend on each other; the models take raw rows.
        has_target: whether anything is predicted.
        has_numbers, has_classes, has_two_classes: what a row's target is.
        has_sequences: whether rows are tokens in order, and their sequences stay whole.
        has_pairs: whether rows are molecules, whose base pairs are predicted.
        has_one_column: whether the one feature is letters or texts.
    """

    unit: str = "row"
    item: str = "row"
    data_noun: str = "a table"
    class_nouns: str = "classes"
    target_text: str = "{count} classes"
    prediction_text: str = ""
    choice_title: str = ""
    question: str = ""
    verb: str = "predict"
    penalty_noun: str = "columns"
    model_text: str = "It takes every row by itself."
    learning_text: str = ""
    baseline_text: str = "the most frequent class"
    default_metric: str = "accuracy"
    averaged_metric: str = "log_loss"
    parameters: tuple[str, ...] = ()
    is_table: bool = False
    is_structured: bool = False
    has_target: bool = True
    has_numbers: bool = False
    has_classes: bool = False
    has_two_classes: bool = False
    has_sequences: bool = False
    has_pairs: bool = False
    has_one_column: bool = False


class Task(TaskTraits, StrEnum):
    """What is learned; equal to its name in plans, in JSON and in extensions.

    A regression predicts a number of each row, binary and multiclass a class, sequence the label
    of each token (a row is a token, in order), structure the base pairs of each molecule (the
    target in dot-bracket notation). Topics predict nothing: a row is a document, its feature one
    column of texts or (sparse) the count of every word.
    """

    def __new__(cls, name: str, traits: Mapping[str, object] = MappingProxyType({})) -> Self:
        """A member with its row of the table; by its name alone it is found."""
        assert traits.keys() <= TaskTraits.__annotations__.keys()
        task = str.__new__(cls, name)
        task._value_ = name
        vars(task).update(traits)
        return task

    __repr__ = str.__repr__  # in the Python code of a plan it stands as its name

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
            "item": "molecule",
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
            "item": "text",
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
    UNKNOWN = ""  # of a plan that leaves it to the file, and where there are no data yet

    @property
    def units(self) -> str:
        """Many rows: "tokens"."""
        return f"{self.unit}s"

    @property
    def items(self) -> str:
        """Many of what a split never takes apart: "sequences"."""
        return f"{self.item}s"

    @property
    def is_classification(self) -> bool:
        """Whether a class is predicted of each row by itself."""
        return self.is_table and self.has_classes

    def count_text(self, count: int) -> str:
        """So many rows: "2,310 rows", "1 row"."""
        return f"1 {self.unit}" if count == 1 else f"{count:,} {self.units}"


TASKS = tuple(task for task in Task if task)
TABLE_TASKS = tuple(task for task in TASKS if task.is_table)
CLASSIFICATION_TASKS = tuple(task for task in TASKS if task.is_classification)
