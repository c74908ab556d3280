"""The Model: what the registry says of one kind of estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.space import Axis, Setting


@dataclass(frozen=True)
class Model:
    """One kind of model, as the pages, the command line and the tests find it.

    Attributes:
        name: on the command line.
        title: in the window ("Support vector machine").
        good_for: when to choose it, one or two plain sentences.
        cost: what it costs, one plain sentence.
        tasks: which of regression, binary, multiclass it does.
        space: (task) -> its search space; the defaults are scikit-learn's own.
        build: (task, setting, seed) -> an unfitted scikit-learn estimator.
        loss: name of the loss that penalty learners use for a task ({task: loss}); empty if none.
        takes_sparse: whether it fits CSR matrices without making them dense.
        scaled: whether it wants standardized columns.
        script: (task, setting, seed) -> (import line, constructor expression) for the exported
            Python script.
        defaults: (task, prepared training columns) -> the default values that depend on the data,
            for the axes that have such ones; None where no axis has.
        simplex: names of axes whose values count only as shares of their sum.
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
    simplex: tuple[str, ...] = ()
