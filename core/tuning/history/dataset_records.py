"""What the history holds of a dataset, and the statements that write and read it.

Of a dataset there are three descriptive statistics; of a trial the values of the hyperparameters
that the model's space names, and the score. Nothing else has a place in the file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from core.datasets.task import CLASSIFICATION_TASKS
from core.estimators.class_weights import CLASS_WEIGHT, EVEN
from core.samplers.transfer.history import EarlierDataset, Statistics
from core.space import Axis, Setting
from core.tuning.history.record_checks import (
    FARTHEST,
    is_plain,
    sound_names,
    sound_score,
    sound_statistics,
    sound_text,
)
from core.tuning.history.run_metadata import HistoryEntry

STARTER, RUN, FILE, OPTUNA = "starter", "run", "file", "optuna"  # where a dataset came from
CLOSED = "closed "  # and an id: the switch of a dataset to which nothing more is added


@dataclass(frozen=True)
class StoredTrial:
    """One finished trial: the values in the order of its dataset's axes."""

    number: int
    values: tuple[Any, ...]
    score: float


@dataclass(frozen=True)
class DatasetRecord:
    """One dataset and its trials, as they are written, exported and imported.

    Attributes:
        id: random; tells it from the others.
        began: ISO time, UTC; "" where it is not known.
        axes: names of the hyperparameters, in the order of the trials' values.
        statistics: see core.samplers.transfer.history.
    """

    id: str
    began: str
    model: str
    task: str
    metric: str
    maximize: bool
    strategy: str
    statistics: Statistics
    axes: tuple[str, ...]
    trials: tuple[StoredTrial, ...] = ()


def kind_of(task: str) -> str:
    """What has to agree for trials to be comparable: classes of any number are one kind."""
    return "classification" if task in CLASSIFICATION_TASKS else task


def values_in(setting: Mapping[str, Any], axes: Sequence[str]) -> str | None:
    """The values of a setting as a JSON list; None where one is missing or no plain value."""
    values = [setting.get(name, ...) for name in axes]
    values = [value.item() if hasattr(value, "item") else value for value in values]  # numpy's
    if not all(map(is_plain, values)):
        return None
    return json.dumps(values)


Rows = Iterable[Sequence[Any]]
Row = tuple[Any, ...]
T = TypeVar("T")


def setting_reader(
    space: Sequence[Axis], names: Sequence[str]
) -> Callable[[Rows], list[Setting | None]]:
    """What makes settings of rows of values; None of those that do not fit the space.

    Args:
        space: the axes.
        names: of the values, in their order.

    Class weights are an axis on some tables only: where one side has it and the other has not, no
    weights are what both mean.
    """
    optional = CLASS_WEIGHT.name
    wanted_axes = [axis for axis in space if axis.name in names or axis.name != optional]
    required_names = [name for name in names if name != optional]
    if sorted(axis.name for axis in wanted_axes if axis.name != optional) != sorted(required_names):
        return lambda rows: [None for _ in rows]
    columns = [(axis.name, _value_reader(axis), names.index(axis.name)) for axis in wanted_axes]
    axis_names = [axis.name for axis in space]
    fixed = {optional: EVEN} if optional in axis_names and optional not in names else {}
    beside = names.index(optional) if optional in names and optional not in axis_names else None

    def read_rows(rows: Rows) -> list[Setting | None]:
        settings: list[Setting | None] = []
        for values in rows:
            try:
                if beside is not None and values[beside] != EVEN:
                    raise ValueError("of weighed classes")
                settings.append(
                    {name: take(values[position]) for name, take, position in columns} | fixed
                )
            except (ValueError, TypeError, LookupError, ArithmeticError):
                settings.append(None)
        return settings

    return read_rows


def settings_in(space: Sequence[Axis], names: Sequence[str], rows: Rows) -> list[Setting | None]:
    """The settings that rows of values make in a space; None for those that do not fit it."""
    return setting_reader(space, names)(rows)


def _value_reader(axis: Axis) -> Callable[[Any], Any]:
    """Of a value as the axis has it; ValueError or TypeError where it has not."""
    if axis.kind == "choice":
        return lambda value: _read_choice(axis, value)
    is_integer, slack = axis.kind == "int", 1e-9 * max(abs(axis.low), abs(axis.high))
    kind, low, high = int if is_integer else float, axis.low, axis.high
    lowest, highest = low - slack, high + slack

    def read_value(value: Any) -> Any:
        if value.__class__ not in (float, int):
            raise TypeError("not a number")
        number = kind(value)
        if (is_integer and number != value) or not lowest <= number <= highest:
            raise ValueError("not on the axis")
        return number if low <= number <= high else kind(min(high, max(low, number)))

    return read_value


def _read_choice(axis: Axis, value: Any) -> Any:
    """The choice that a value is; 1 is not yes, nor 0 no."""
    choice = axis.choices[axis.choices.index(value)]
    if isinstance(choice, bool) != isinstance(value, bool):
        raise ValueError("not a choice")
    return choice


# -------------------------------------------------------------------------------------- writing


def write_dataset(database: sqlite3.Connection, record: DatasetRecord, origin: str) -> int | None:
    """Write a dataset without its trials: its row's number; None where its id is known already."""
    written = database.execute(
        "INSERT OR IGNORE INTO datasets (id, began, model, task, metric, maximize, strategy, "
        "log_rows, log_features, classes, axes, origin) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            record.id,
            record.began,
            record.model,
            record.task,
            record.metric,
            int(record.maximize),
            record.strategy,
            *record.statistics,
            json.dumps(record.axes),
            origin,
        ),
    )
    return written.lastrowid if written.rowcount == 1 else None


def write_trial(
    database: sqlite3.Connection, id: str, number: int, values: str, score: float
) -> None:
    """Write one trial of a dataset that is there; what is written already stays as it is."""
    database.execute(
        "INSERT OR IGNORE INTO trials SELECT number, ?, ?, ? FROM datasets WHERE id = ?",
        (number, values, score, id),
    )


def write_records(
    database: sqlite3.Connection, records: Iterable[DatasetRecord], origin: str
) -> tuple[int, int, int]:
    """Write datasets with their trials, inside the caller's transaction.

    Returns:
        Datasets and trials that are new, and datasets whose id was known.
    """
    new_count, known_count, rows = 0, 0, []
    for record in records:
        dataset_number = write_dataset(database, record, origin)
        new_count, known_count = (
            new_count + (dataset_number is not None),
            known_count + (dataset_number is None),
        )
        if dataset_number is None:
            dataset_number, names = database.execute(
                "SELECT number, axes FROM datasets WHERE id = ?", (record.id,)
            ).fetchone()
            if _parse_names(names) != record.axes:
                continue  # one id, two spaces: no export of ours
        rows += [
            (dataset_number, trial.number, json.dumps(trial.values), trial.score)
            for trial in record.trials
        ]
    written = database.executemany("INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?)", rows)
    return new_count, max(0, written.rowcount), known_count


def delete_datasets(database: sqlite3.Connection, condition: str, *values: Any) -> int:
    """Delete the datasets that meet a condition on their row, and their trials; how many."""
    database.execute(
        f"DELETE FROM trials WHERE dataset IN (SELECT number FROM datasets WHERE {condition})",
        values,
    )
    deleted = database.execute(f"DELETE FROM datasets WHERE {condition}", values).rowcount
    database.execute(
        "DELETE FROM switches WHERE name LIKE ? || '%' AND substr(name, ?) NOT IN "
        "(SELECT id FROM datasets)",
        (CLOSED, len(CLOSED) + 1),
    )
    return deleted


def with_distinct_id(database: sqlite3.Connection, record: DatasetRecord) -> DatasetRecord:
    """The record under an id of its own where a dataset with other trials has its id."""
    while any(
        (values, score) != (json.dumps(trial.values), trial.score)
        for trial in record.trials
        for values, score in database.execute(
            "SELECT setting, score FROM trials JOIN datasets ON dataset = datasets.number "
            "WHERE id = ? AND trials.number = ?",
            (record.id, trial.number),
        )
    ):
        record = replace(record, id=hashlib.sha256(record.id.encode()).hexdigest()[:32])
    return record


# -------------------------------------------------------------------------------------- reading


def names_of(database: sqlite3.Connection, id: str) -> tuple[str, ...]:
    """The axes of a dataset; none where it is not known."""
    row = database.execute("SELECT axes FROM datasets WHERE id = ?", (id,)).fetchone()
    return _parse_names(row[0]) if row else ()


@dataclass(frozen=True)
class UnreadDataset:
    """An earlier dataset whose trials have not been read."""

    number: int
    id: str
    task: str
    statistics: Statistics
    maximize: bool
    axes: tuple[str, ...]
    starter: bool


def candidates(database: sqlite3.Connection, model: str, metric: str) -> list[UnreadDataset]:
    """Every dataset with a model and metric, in the order they came in."""
    rows = database.execute(
        "SELECT number, id, task, log_rows, log_features, classes, maximize, axes, origin "
        "FROM datasets WHERE model = ? AND metric = ? ORDER BY number",
        (model, metric),
    )
    return list(_sound_rows(rows, _parse_candidate))


def _parse_candidate(row: Row) -> UnreadDataset:
    statistics = sound_statistics(row[3:6])
    names = sound_names(_parse_values(row[7]))
    return UnreadDataset(row[0], row[1], row[2], statistics, bool(row[6]), names, row[8] == STARTER)


def _sound_rows(rows: Iterable[Row], parse: Callable[[Row], T]) -> Iterator[T]:
    """What is made of rows, those that are damaged left out."""
    for row in rows:
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            yield parse(row)


def earlier_dataset(
    database: sqlite3.Connection,
    candidate: UnreadDataset,
    read: Callable[[Rows], list[Setting | None]],
) -> EarlierDataset | None:
    """A candidate with its trials that fit, as `setting_reader` has them; None where none does."""
    rows = database.execute(
        "SELECT setting, score FROM trials WHERE dataset = ? ORDER BY number", (candidate.number,)
    ).fetchall()
    settings = read(_parse_rows(text for text, _ in rows))
    fit = [
        (setting, score)
        for setting, (_, score) in zip(settings, rows, strict=True)
        if setting is not None and isinstance(score, float) and abs(score) <= FARTHEST
    ]
    if not fit:
        return None
    return EarlierDataset(
        candidate.id,
        candidate.statistics,
        tuple(setting for setting, _ in fit),
        tuple(score for _, score in fit),
        candidate.maximize,
        candidate.starter,
    )


def read_records(database: sqlite3.Connection, excluded_origin: str) -> list[DatasetRecord]:
    """Every dataset with its trials but those of one origin, in the order they came in."""
    rows = database.execute(
        "SELECT number, id, began, model, task, metric, maximize, strategy, log_rows, "
        "log_features, classes, axes FROM datasets WHERE origin != ? ORDER BY number",
        (excluded_origin,),
    ).fetchall()
    trials: dict[int, list[StoredTrial]] = {}
    every = database.execute("SELECT dataset, number, setting, score FROM trials").fetchall()
    for dataset_number, trial in _sound_rows(every, lambda row: (row[0], _parse_trial(row))):
        trials.setdefault(dataset_number, []).append(trial)
    return list(_sound_rows(rows, lambda row: _parse_record(row, tuple(trials.get(row[0], ())))))


def _parse_trial(row: Row) -> StoredTrial:
    values = tuple(_parse_values(row[2]))
    if not all(map(is_plain, values)):
        raise ValueError("not a setting")
    return StoredTrial(row[1], values, sound_score(row[3]))


def _parse_record(row: Row, trials: tuple[StoredTrial, ...]) -> DatasetRecord:
    names = sound_names(_parse_values(row[11]))
    return DatasetRecord(
        id=sound_text(row[1]),
        began=sound_text(row[2]),
        model=sound_text(row[3]),
        task=sound_text(row[4]),
        metric=sound_text(row[5]),
        maximize=bool(row[6]),
        strategy=sound_text(row[7]),
        statistics=sound_statistics(row[8:11]),
        axes=names,
        trials=tuple(trial for trial in trials if len(trial.values) == len(names)),
    )


def read_entries(database: sqlite3.Connection) -> tuple[list[HistoryEntry], int]:
    """Every dataset in a line, the latest first, and how many are damaged and left out."""
    sound = f"CASE WHEN abs(score) <= {FARTHEST} AND typeof(score) = 'real' THEN score END"
    rows = database.execute(
        "SELECT id, began, model, task, metric, strategy, log_rows, log_features, classes, origin, "
        f"count(score), CASE WHEN maximize THEN max({sound}) ELSE min({sound}) END "
        "FROM datasets LEFT JOIN trials ON trials.dataset = datasets.number "
        "GROUP BY datasets.number ORDER BY datasets.number DESC"
    ).fetchall()
    entries = list(_sound_rows(rows, _parse_entry))
    return entries, len(rows) - len(entries)


def _parse_entry(row: Row) -> HistoryEntry:
    log_rows, log_features, classes = sound_statistics(row[6:9])
    id, when, model, task, metric, strategy = map(sound_text, row[:6])
    return HistoryEntry(
        id,
        when,
        model,
        task,
        metric,
        strategy,
        rows=round(math.exp(log_rows)),
        features=round(math.exp(log_features)),
        classes=round(classes),
        trials=row[10],
        best=row[11],
        starter=row[9] == STARTER,
        imported=row[9] in (FILE, OPTUNA),
    )


def _parse_names(text: str) -> tuple[str, ...]:
    return tuple(_parse_values(text))


def _parse_rows(texts: Iterable[str]) -> list[list[Any]]:
    """Lists of values, read at one go where all are sound."""
    text_list = list(texts)
    try:
        rows = json.loads(f"[{','.join(text_list)}]")
    except (ValueError, TypeError, RecursionError):
        return [_parse_values(text) for text in text_list]
    return rows if len(rows) == len(text_list) else [_parse_values(text) for text in text_list]


def _parse_values(text: Any) -> list[Any]:
    try:
        values = json.loads(text)
    except (ValueError, TypeError, RecursionError):  # changed by hand
        return []
    return values if isinstance(values, list) else []
