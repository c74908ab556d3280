"""Which column is the target, its task and values, also prepared for comparison with others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.datasets.columns import unknown_column
from core.datasets.dataset import Dataset
from core.datasets.finding import Finding, SuggestedChange, column_change
from core.datasets.task import TASKS, Task
from core.errors import UnusableError
from core.wording import count_text

USUAL_NAMES = ("target", "label", "class", "y")
MAX_USUAL_CLASSES = 10  # distinct whole numbers that are classes
MAX_EVEN_CLASSES = 100  # the same for about equally frequent ones
MAX_TEXT_CLASSES = 1000
MAX_CLASS_LETTERS = 1000  # of one class; NumPy keeps the room of the longest for every row
MIN_CLASS_ROWS = 20  # fewer may be separated by chance
_COMPARED_ROWS, _FIRST_ROWS = 5000, 500
_MAX_CLASSES = 50  # that are compared


def target_column(
    names: Sequence[str], wanted_target: str, where: str, unlikely: Sequence[str] = ()
) -> str:
    """The requested column, or the one named target, label, class or y, or the last likely one."""
    if wanted_target:
        if wanted_target not in names:
            raise unknown_column(wanted_target, list(names), where)
        return wanted_target
    # Reversed, so that of two columns of one name the first is taken.
    by_plain_name = {name.strip().lower(): name for name in reversed(names)}
    usual = [by_plain_name[name] for name in USUAL_NAMES if name in by_plain_name]
    return usual[0] if usual else [name for name in names if name not in unlikely][-1]


def rival_target(dataset: Dataset) -> str:
    """A column as likely as the guessed target, or "".

    It is named like one as well, or it is the first, or behind a guessed class or y the last, with
    two values where the guessed has more.
    """
    if not dataset.task.is_table or dataset.is_sparse:
        return ""
    columns, name, place = dataset.columns, dataset.target_name.strip().lower(), 0
    features = [column for column in columns if column.role == "feature"]
    if name in USUAL_NAMES:
        # A y may be a coordinate beside the x, and a class that of a passenger.
        names = [f.name for f in features if f.name.strip().lower() in USUAL_NAMES[:-1]]
        if names or name not in ("class", "y") or columns[0].role == "target":
            return names[0] if names else ""
        place = -1
    if dataset.task.has_two_classes or not features or features[place] is not columns[place]:
        return ""
    return features[place].name if features[place].distinct == 2 else ""


def check_task(task: str) -> None:
    """Raise UnusableError unless a task exists."""
    if task and task not in TASKS:
        cure = f"use {', '.join(TASKS)}"
        raise UnusableError(f"there is no task “{task}”", where="task", cure=cure)


def guess_task(values: np.ndarray) -> Task:
    """Classes where the target's known values are texts, or few integers that come again."""
    uniques, counts = np.unique(values, return_counts=True)
    count, mean_count = len(uniques), len(values) / max(1, len(uniques))
    classes = Task.BINARY if count <= 2 else Task.MULTICLASS
    if values.dtype.kind not in "iufb":
        return classes
    span = float(uniques[-1]) - float(uniques[0]) + 1
    # Codes of classes come about equally often and leave hardly any number out; amounts do neither.
    is_even = counts.min() >= 0.2 * mean_count and span <= 1.5 * count  # with few gaps
    is_even = is_even and count <= MAX_EVEN_CLASSES and mean_count >= 10
    is_few = count <= 2 or (count <= MAX_USUAL_CLASSES and mean_count >= 2)
    is_integer = bool(np.all(uniques == np.floor(uniques)))
    return classes if is_integer and (is_few or is_even) else Task.REGRESSION


def settle_target(
    values: pd.Series, task: str, where: str
) -> tuple[np.ndarray, Task, tuple[Any, ...]]:
    """A target's final values, task and sorted classes; UnusableError where unusable."""
    check_task(task)
    if values.empty:
        cure = "choose another target"
        raise UnusableError("every value of the target is missing", where=where, cure=cure)
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    longest = 0 if numeric else max(len(str(value)) for value in values.unique())
    if longest > MAX_CLASS_LETTERS:
        fault = f"a value of the target has {longest:,} characters, too many for a class"
        raise UnusableError(fault, where=where, cure="choose another target")
    array = values.to_numpy() if numeric else np.asarray(values.to_numpy(dtype=object), dtype=str)
    chosen_task = Task(task) or guess_task(array)
    if chosen_task.has_numbers:
        return _amounts(array, where), chosen_task, ()
    if array.dtype.kind == "b":
        array = array.astype(np.int64)
    # A gap makes whole numbers floats; labels read 1, not 1.0.
    if array.dtype.kind == "f" and np.all((array == np.floor(array)) & (np.abs(array) < 2**53)):
        array = array.astype(np.int64)
    refuse_fractions(array, where)
    classes = np.unique(array)
    _check_classes(classes, len(array), numeric, chosen_task, where)
    return array, (Task.MULTICLASS, Task.BINARY)[len(classes) == 2], tuple(classes.tolist())


def refuse_fractions(labels: np.ndarray, where: str) -> None:
    """Raise UnusableError for class labels with a fraction, which scikit-learn does not take."""
    fractions = labels[labels != np.floor(labels)] if labels.dtype.kind == "f" else labels[:0]
    if len(fractions):
        numbers = f"numbers with fractions ({fractions[0]:g})"
        fault = f"the target is {numbers}, which are no class labels"
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
    count, fault = len(classes), ""
    if count < 2:
        raise _one_value(classes[0], where)
    if task.has_two_classes and count > 2:
        fault = f"the target has {count:,} different values, and two classes have two"
        cure = "choose several classes as the task, or another target"
    # On average at least two rows a class, else there is nothing to learn of most.
    elif count > MAX_TEXT_CLASSES or count > max(MAX_USUAL_CLASSES, rows / 2):
        kind, cure = "text", "choose another target"
        if numeric:
            kind, cure = "numbers", "choose regression as the task, or another target"
        fault = f"the target is {kind} with {count:,} different values, too many for classes"
    if fault:
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
    findings = [without_target(name, set_aside, len(target) + set_aside)] if set_aside else []
    # Ratings and counts may be either, so the other task is offered.
    if not is_task_chosen and len(classes) > 2 and target.dtype.kind in "iu":
        fields = {"task": Task.REGRESSION}
        offer = SuggestedChange("Predict a number", "--task regression", fields=fields)
        numbers = f"“{name}” has {len(classes)} different whole numbers, taken as classes"
        sentence = f"{numbers}; choose regression if they are amounts."
        findings.append(Finding(sentence, name, proposal=offer))
    if not is_task_chosen and task.has_numbers and len(np.unique(target)) == 2:
        offer = column_change("Read as two classes", "--kind", name, "category")
        two_values = f"“{name}” has only two different values"
        sentence = f"{two_values}; let it be a category to have two classes."
        findings.append(Finding(sentence, name, proposal=offer))
    return [*findings, *(_rare_classes(name, target) if classes else ())]


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


@dataclass(frozen=True)
class PreparedTarget:
    """The target of a table, prepared for comparison with every column."""

    values: np.ndarray  # n amounts or codes of classes
    classes: int  # k; 0 for amounts
    first_rows: np.ndarray  # exclude most columns
    compared_rows: np.ndarray  # decide on the others


def prepare_target(dataset: Dataset) -> PreparedTarget:
    """The target of a dataset of numbers or classes."""
    values, count = dataset.target, 0
    if not dataset.task.has_numbers:
        values, labels = pd.factorize(values, sort=True)
        count = len(labels)
    rows = [comparison_rows(values, count, max_rows) for max_rows in (_FIRST_ROWS, _COMPARED_ROWS)]
    return PreparedTarget(values, count, *rows)


def comparison_rows(values: np.ndarray, classes: int, max_rows: int) -> np.ndarray:
    """Evenly spaced rows, equally many per class but for very rare classes."""
    if not classes:
        return evenly_spaced(np.arange(len(values)), max_rows)
    frequent = np.flatnonzero(np.bincount(values) >= MIN_CLASS_ROWS)
    if not 2 <= len(frequent) <= _MAX_CLASSES:
        return np.empty(0, dtype=np.int64)
    rows_per_class = max(MIN_CLASS_ROWS, max_rows // len(frequent))
    rows = [evenly_spaced(np.flatnonzero(values == label), rows_per_class) for label in frequent]
    return np.sort(np.concatenate(rows))


def correlation(numbers: np.ndarray, amounts: np.ndarray) -> float:
    """The absolute correlation; 0 where either is constant."""
    if numbers.min() == numbers.max() or amounts.min() == amounts.max():
        return 0.0
    # Scaled first: squares of very large amounts would overflow.
    x, y = (vector / np.abs(vector).max() for vector in (numbers, amounts))
    x, y = x - x.mean(), y - y.mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return abs(float(x @ y)) / size if size > 0 else 0.0


def evenly_spaced(row_indices: np.ndarray, max_rows: int) -> np.ndarray:
    """At most `max_rows` of the indices, evenly spaced."""
    if len(row_indices) <= max_rows:
        return row_indices
    return row_indices[np.linspace(0, len(row_indices) - 1, max_rows).astype(int)]
