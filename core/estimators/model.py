"""The Model: what the registry says of one kind of estimator."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from core.datasets.task import TASKS, Task
from core.estimators.class_weights import CLASS_WEIGHT
from core.estimators.facts import ModelingFacts, Suggestion
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES
from core.extensions import check_kind
from core.space import Axis, Setting


@dataclass(frozen=True)
class Model:
    """One kind of model, as the pages, the command line and the tests find it.

    Attributes:
        name: on the command line.
        title: in the window ("Support vector machine").
        noun: in a sentence ("a support vector machine"); the title where it is empty.
        good_for: when to choose it, one or two plain sentences.
        cost: what it costs, one plain sentence.
        tasks: which of core.datasets.task it does.
        space: (task) -> its search space; the defaults are scikit-learn's own.
        build: (task, setting, seed) -> an unfitted scikit-learn estimator.
        loss: name of the loss that penalty learners use for a task ({task: loss}); empty if none.
        takes_sparse: whether it fits CSR matrices without making them dense.
        scaled: whether it wants standardized columns.
        script: (task, setting, seed) -> (import line, constructor expression) for the exported
            Python script.
        defaults: (task, prepared training columns) -> the default values that depend on the data,
            for the axes that have such ones; None where no axis has.
        most: (rows to fit on) -> the largest values that so many rows allow, {axis: value}; None
            where rows do not matter.
        simplex: names of axes whose values count only as shares of their sum.
        probabilistic: the same model where probabilities of classes are asked for, if `build` gives
            an estimator without them; None where it gives them anyway.
        training_score: (fitted estimator, its rows, their targets) -> how well it explains the rows
            it was fitted to, as a log likelihood in nats a row (a word, for documents); larger is
            better. None where a model can only be judged by rows that it has not seen.
        extra: the optional part of the program that it needs (core.estimators.optional_parts).
        class_weights: whether its classifier takes `class_weight`, an axis of its space where a
            class is rare (core.estimators.class_weights).
        suggests: (facts of the data) -> why it is the model to take; None where another may be.
        warns: (facts of the data) -> what speaks against a model that would work, one plain
            sentence; "" if nothing does.
        minibatch: documents that it learns from at a time: fewer are refused.
        shows: what every trial shows of the fitted model: its topics, or pictures that it draws.
        folder: what the program of its folder export predicts (core.export.bundle.folder_file),
            where scikit-learn has no counterpart; "" where a fitted pipeline is exported.
        costly: whether a fit may take an hour: an average's members are not fitted again.
        holds: of an extension, the full names of types that its fitted estimator holds and the
            program's own models do not (core.estimators.stored.allowed_types); where the extension
            is installed, files that hold them are opened. Each must merely hold what it is given,
            whatever that is: files may come from strangers.
        competes: whether it is among the models that are tuned together
            (core.estimators.multi_model).
        complexity: how hard it is to see through, from 1 (weights that can be read) to 9; of models
            that score about the same the lowest is the simplest.
        starts: (task, default setting) -> settings that do well on many tables, as far as they
            differ from the default: tried after it where several models are tuned together.
        growth: the power of the rows with which a fit takes longer.
        dearer: axes in proportion to whose value a fit takes longer.
    """

    name: str
    title: str
    good_for: str
    cost: str
    tasks: tuple[str, ...]
    space: Callable[[str], tuple[Axis, ...]]
    build: Callable[[str, Setting, int], Any]
    loss: dict[str, str]
    takes_sparse: bool
    scaled: bool
    script: Callable[[str, Setting, int], tuple[str, str]]
    defaults: Callable[[str, Any], Setting] | None = None
    most: Callable[[int], dict[str, float]] | None = None
    simplex: tuple[str, ...] = ()
    probabilistic: Model | None = None
    training_score: Callable[[Any, Any, Any], float] | None = None
    extra: str = ""
    class_weights: bool = False
    noun: str = ""
    suggests: Callable[[ModelingFacts], Suggestion | None] = lambda facts: None
    warns: Callable[[ModelingFacts], str] = lambda facts: ""
    minibatch: int = 1
    shows: Literal["", "topics", "pictures"] = ""
    folder: Literal["", "topics", "classes"] = ""
    costly: bool = False
    holds: tuple[str, ...] = ()
    competes: bool = True
    starts: Callable[[str, Setting], tuple[Setting, ...]] = lambda task, default: ()
    growth: float = 1.0
    dearer: tuple[str, ...] = ()
    complexity: int = 5

    @property
    def known_tasks(self) -> tuple[Task, ...]:
        """Its tasks without those that an extension names for a later version."""
        return tuple(Task(task) for task in self.tasks if task in TASKS)

    def space_of(self, task: str, *, rare: bool = False) -> tuple[Axis, ...]:
        """The search space for data of a task; `rare` where a class of theirs is rare."""
        weighs = rare and self.class_weights and Task(task).is_classification
        return (*self.space(task), CLASS_WEIGHT) if weighs else self.space(task)


def row_count_warning(fewest: int = 0, most: float = math.inf) -> Callable[[ModelingFacts], str]:
    """The `warning_text` of a model that wants so many rows."""

    def warning_text(facts: ModelingFacts) -> str:
        if facts.rows > most:
            return f"{facts.rows:,} rows are many for it: each trial takes minutes."
        return f"{facts.rows:,} rows are few for it." if facts.rows < fewest else ""

    return warning_text


def check_model(entry: Any) -> None:
    """Raise an exception for an object of an extension that is no usable model."""
    check_kind(entry, Model)
    if entry.extra and entry.extra not in OPTIONAL_DEPENDENCIES:
        raise ValueError(f"there is no optional part “{entry.extra}”")
    if not entry.known_tasks:
        raise ValueError(f"there is no task “{', '.join(entry.tasks)}”")
    for name in entry.holds:
        check_kind(name, str)
    for task in entry.known_tasks:
        for axis in entry.space(task):
            check_kind(axis, Axis)


few_or_many = row_count_warning  # the name of earlier versions
