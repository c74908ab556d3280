"""Which column is the target, its task, and its values as an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.columns import unknown_column
from core.datasets.finding import Finding, SuggestedChange, column_change
from core.datasets.task import TASKS, Task, count_text
from core.errors import UnusableError

USUAL_NAMES = ("target", "label", "class", "y")
MAX_USUAL_CLASSES = 10  # distinct whole numbers that are classes
MAX_EVEN_CLASSES = 100  # the same for about equally frequent ones
MAX_TEXT_CLASSES = 1000


def target_column(
    names: Sequence[str], wanted_target: str, where: str, unlikely: Sequence[str] = ()
) -> str:
    """The requested column, or the one named target, label, class or y, or the last likely one."""
    if wanted_target:
        if wanted_target not in names:
            raise unknown_column(wanted_target, list(names), where)
        return wanted_target
    plain_names = [name.strip().lower() for name in names]
    for usual in USUAL_NAMES:
        if usual in plain_names:
            return names[plain_names.index(usual)]
    return [name for name in names if name not in unlikely][-1]


def check_task(task: str) -> None:
    """Raise UnusableError unless a task exists."""
    if task and task not in TASKS:
        cure = f"use {', '.join(TASKS)}"
        raise UnusableError(f"there is no task “{task}”", where="task", cure=cure)


def guess_task(values: np.ndarray) -> Task:
    """Regression or classes, from the target's known values.

    Text makes classes; so do two integers, at most 10 that occur twice or more on average, or at
    most 100 with few gaps and similar frequencies (no class below a fifth of the mean count).
    """
    uniques, counts = np.unique(values, return_counts=True)
    if values.dtype.kind not in "iufb":
        return Task.BINARY if len(uniques) <= 2 else Task.MULTICLASS
    is_integer = bool(np.all(uniques == np.floor(uniques)))
    if is_integer and len(uniques) <= 2:
        return Task.BINARY
    count, mean_count = len(uniques), len(values) / len(uniques)
    span = float(uniques[-1]) - float(uniques[0]) + 1
    is_even = counts.min() >= 0.2 * counts.mean() and span <= 1.5 * count
    is_few = count <= MAX_USUAL_CLASSES and mean_count >= 2
    is_even = is_even and count <= MAX_EVEN_CLASSES and mean_count >= 10
    return Task.MULTICLASS if is_integer and (is_few or is_even) else Task.REGRESSION


def settle_target(
    values: pd.Series, task: str, where: str
) -> tuple[np.ndarray, Task, tuple[Any, ...]]:
    """A target's final values, task and sorted classes; UnusableError where unusable."""
    check_task(task)
    if values.empty:
        cure = "choose another target"
        raise UnusableError("every value of the target is missing", where=where, cure=cure)
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    array = values.to_numpy() if numeric else np.asarray(values.to_numpy(dtype=object), dtype=str)
    chosen_task = Task(task) or guess_task(array)
    if chosen_task.has_numbers:
        return _amounts(array, where), chosen_task, ()
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    if array.dtype.kind == "f" and np.all((array == np.floor(array)) & (np.abs(array) < 2**53)):
        array = array.astype(np.int64)
    refuse_fractions(array, where)
    classes = np.unique(array)
    _check_classes(classes, len(array), numeric, chosen_task, where)
    fitting_task = Task.BINARY if len(classes) == 2 else Task.MULTICLASS
    return array, fitting_task, tuple(classes.tolist())


def refuse_fractions(labels: np.ndarray, where: str) -> None:
    """Raise UnusableError for class labels with a fraction, which scikit-learn does not take."""
    fractions = labels[labels != np.floor(labels)] if labels.dtype.kind == "f" else labels[:0]
    if len(fractions):
        fault = (
            f"the target is numbers with fractions ({fractions[0]:g}), which are no class labels"
        )
        cure = "choose regression as the task, or let the target be a category"
        raise UnusableError(fault, where=where, cure=cure)


def _amounts(array: np.ndarray, where: str) -> np.ndarray:
    if array.dtype.kind not in "iufb":
        fault = f"the target is text (“{array[0]}”), and regression needs numbers"
        cure = "choose another target, or classes as the task"
        raise UnusableError(fault, where=where, cure=cure)
    amounts = array.astype(float)
    if amounts.min() == amounts.max():
        raise _one_value(amounts[0], where)
    return amounts


def _one_value(value: Any, where: str) -> UnusableError:
    fault = f"the target has the same value in every row ({value})"
    return UnusableError(fault, where=where, cure="choose another target")


def _check_classes(classes: np.ndarray, rows: int, numeric: bool, task: Task, where: str) -> None:
    count = len(classes)
    if count < 2:
        raise _one_value(classes[0], where)
    if task.has_two_classes and count > 2:
        fault = f"the target has {count:,} different values, and two classes have two"
        cure = "choose several classes as the task, or another target"
        raise UnusableError(fault, where=where, cure=cure)
    scarce = count > MAX_USUAL_CLASSES and count > rows / 2
    if count > MAX_TEXT_CLASSES or scarce:
        kind, cure = "text", "choose another target"
        if numeric:
            kind, cure = "numbers", "choose regression as the task, or another target"
        fault = f"the target is {kind} with {count:,} different values, too many for classes"
        raise UnusableError(fault, where=where, cure=cure)


def target_findings(
    name: str,
    target: np.ndarray,
    task: Task,
    classes: Sequence[Any],
    is_task_chosen: bool,
    set_aside: int,
) -> list[Finding]:
    """Findings on the target: the task in words, rare classes, dropped rows."""
    findings = []
    if set_aside:
        findings.append(without_target(name, set_aside, len(target) + set_aside))
    is_integer = target.dtype.kind in "iu"
    if classes and is_integer and len(classes) > 2 and not is_task_chosen:
        fields = {"task": Task.REGRESSION}
        offer = SuggestedChange("Predict a number", "--task regression", fields=fields)
        sentence = (
            f"“{name}” has {len(classes)} different whole numbers, taken as classes;"
            " choose regression if they are amounts."
        )
        findings.append(Finding(sentence, name, proposal=offer))
    if task.has_numbers and not is_task_chosen and len(np.unique(target)) == 2:
        offer = column_change("Read as two classes", "--kind", name, "category")
        two_values = f"“{name}” has only two different values"
        sentence = f"{two_values}; let it be a category to have two classes."
        findings.append(Finding(sentence, name, proposal=offer))
    if classes:
        findings += _rare_classes(name, target)
    return findings


def without_target(name: str, count: int, rows: int, prefix: str = "") -> Finding:
    """The finding on rows without a target."""
    have, are = ("has", "is") if count == 1 else ("have", "are")
    share = f"{prefix}{count:,} of {rows:,} rows"
    return Finding(f"{share} {have} no value in the target “{name}” and {are} left out.", name)


def _rare_classes(name: str, target: np.ndarray) -> list[Finding]:
    labels, counts = np.unique(target, return_counts=True)
    rare = [(label, n) for label, n in zip(labels, counts, strict=True) if n < 10]
    if not rare:
        return []
    words = f"{len(rare)} classes of “{name}” have fewer than 10 rows each"
    if len(rare) <= 3:
        phrases = [f"“{label}” has {count_text(n, 'row')}" for label, n in rare]
        words = f"Rare classes of “{name}”: {', '.join(phrases)}"
    return [Finding(f"{words}; scores for them are uncertain.", name, bool(counts.min() < 2))]
