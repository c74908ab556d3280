"""The records of the history: what it stores of a run, checked from whatever file it comes.

Rows of the database become settings of a space or count as damaged. Each `sound_` function returns
the value, or raises ValueError.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from core.datasets.task import CLASSIFICATION_TASKS
from core.estimators.recipe import CLASS_WEIGHT, EVEN
from core.records import Record
from core.space import Axis, Setting

if TYPE_CHECKING:
    from core.samplers.transfer.history import EarlierDataset, Statistics


@dataclass(frozen=True)
class RunMetadata:
    """What of a run is stored beside its trials."""

    model: str
    task: str
    metric: str
    maximize: bool
    statistics: Statistics  # of the dataset; see `statistics_of`
    strategy: str
    axes: tuple[Axis, ...]  # the model's space, of which only the names are stored
    test_statistics: tuple[Statistics, ...] = ()  # of a second file, whose rows test; not stored


@dataclass(frozen=True)
class HistoryEntry:
    """One earlier dataset in a line of the page."""

    id: str
    when: str  # ISO time, UTC; "" where unknown
    model: str
    task: str
    metric: str
    strategy: str
    rows: int  # approximate, as are the features: the file holds rounded logarithms
    features: int
    classes: int
    trials: int
    best: float | None  # the best score; None without trials
    starter: bool
    imported: bool  # whether it came from a file or an Optuna study


SIMILAR = 1.0  # standard deviations of the statistics within which datasets count as alike


@dataclass(frozen=True)
class HistoryCounts(Record):
    """How many earlier datasets a run can use; of them, how many are similar, and the starter's."""

    datasets: int = 0
    similar: int = 0
    starter: int = 0
    enabled: bool = True
    same: int = 0  # runs beside these, on what may be the present dataset


@dataclass(frozen=True)
class ImportCounts(Record):
    """New datasets and trials, known datasets, and a sentence for each that was left out."""

    datasets: int = 0
    trials: int = 0
    known_already: int = 0
    left_out: tuple[str, ...] = ()


def statistics_of(rows: int, features: int, classes: int) -> Statistics:
    """Natural logarithms of rows and features, to three decimals, and the classes (0: numbers)."""
    return round(math.log(max(1, rows)), 3), round(math.log(max(1, features)), 3), float(classes)


LARGEST = 2**63  # what SQLite counts to
WIDEST = 50.0  # natural logarithm of rows or columns
MAX_CLASSES = 1e9
FARTHEST = 1e100  # of a score from 0; its square is still a number
LONGEST = 1000  # letters of a name


def sound_text(value: Any) -> str:
    """A name or time that can be encoded and printed."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > LONGEST:
        raise ValueError("not a text")
    return value


def sound_flag(value: Any) -> bool:
    """A boolean, not a number."""
    if not isinstance(value, bool):
        raise ValueError("not yes or no")
    return value


def sound_number(value: Any, low: float, high: float) -> float:
    """A finite number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError("not a number, or out of range")
    return float(value)


def sound_score(value: Any) -> float:
    """The score of a trial."""
    return sound_number(value, -FARTHEST, FARTHEST)


def sound_statistics(values: Any) -> Statistics:
    """The three descriptive statistics of a dataset."""
    rows, features, classes = values
    class_count = sound_number(classes, 0, MAX_CLASSES)
    if not class_count.is_integer():
        raise ValueError("not a number of classes")
    return sound_number(rows, 0, WIDEST), sound_number(features, 0, WIDEST), class_count


def sound_names(values: Any) -> tuple[str, ...]:
    """The names of axes, each once."""
    if not isinstance(values, list | tuple):
        raise ValueError("no names")
    names = tuple(map(sound_text, values))
    if len(set(names)) < len(names):
        raise ValueError("a name is there twice")
    return names


def is_plain(value: Any) -> bool:
    """Whether a value can be a hyperparameter's: text, finite number, boolean or None."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, str):
        # Half of a surrogate pair could not be encoded again.
        return len(value) <= LONGEST and not any(0xD800 <= ord(letter) < 0xE000 for letter in value)
    return value is None or (isinstance(value, int) and abs(value) < LARGEST)


STARTER, RUN, FILE, OPTUNA = "starter", "run", "file", "optuna"  # where a dataset came from
CLOSED = "closed "  # and an id: the switch of a dataset to which nothing more is added


@dataclass(frozen=True)
class StoredTrial:
    """One finished trial, its values in the order of the dataset's axes."""

    number: int
    values: tuple[Any, ...]
    score: float


@dataclass(frozen=True)
class DatasetRecord:
    """One dataset and its trials, as they are written, exported and imported."""

    id: str  # random, unique
    began: str  # ISO time, UTC; "" where unknown
    model: str
    task: str
    metric: str
    maximize: bool
    strategy: str
    statistics: Statistics  # see core.samplers.transfer.history
    axes: tuple[str, ...]  # names of the hyperparameters, in the order of the trials' values
    trials: tuple[StoredTrial, ...] = ()


def kind_of(task: str) -> str:
    """What must agree for trials to be comparable: all classification is one kind."""
    return "classification" if task in CLASSIFICATION_TASKS else task


def values_in(setting: Mapping[str, Any], axes: Sequence[str]) -> str | None:
    """A setting's values as a JSON list; None where one is missing or no plain value."""
    values = [setting.get(name, ...) for name in axes]
    values = [value.item() if hasattr(value, "item") else value for value in values]  # numpy's
    if not all(map(is_plain, values)):
        return None
    return json.dumps(values)


Rows = Iterable[Sequence[Any]]
SettingReader = Callable[[Rows], list[Setting | None]]  # None where values do not fit the space
Row = tuple[Any, ...]
T = TypeVar("T")


def setting_reader(space: Sequence[Axis], names: Sequence[str]) -> SettingReader:
    """A function that makes settings of rows of values, None where they do not fit the space.

    `names`: of the values, in order.
    """
    # Class weights are an axis of some tables only: where either side lacks it, it means none.
    optional = CLASS_WEIGHT.name
    axes = [axis for axis in space if axis.name in names or axis.name != optional]
    axis_names = [axis.name for axis in space]
    required = [name for name in axis_names if name != optional]
    if sorted(required) != sorted(name for name in names if name != optional):
        return lambda rows: [None for _ in rows]
    columns = [(axis.name, _value_reader(axis), names.index(axis.name)) for axis in axes]
    fixed = {optional: EVEN} if optional in axis_names and optional not in names else {}
    is_dropped = optional in names and optional not in axis_names
    weight_index = names.index(optional) if is_dropped else None

    def read_rows(rows: Rows) -> list[Setting | None]:
        settings: list[Setting | None] = []
        for values in rows:
            try:
                if weight_index is not None and values[weight_index] != EVEN:
                    raise ValueError("of weighed classes")
                setting = {name: read(values[index]) for name, read, index in columns}
                settings.append(setting | fixed)
            except (ValueError, TypeError, LookupError, ArithmeticError):
                settings.append(None)
        return settings

    return read_rows


def settings_in(space: Sequence[Axis], names: Sequence[str], rows: Rows) -> list[Setting | None]:
    """The settings of rows of values; None for those that do not fit."""
    return setting_reader(space, names)(rows)


def _value_reader(axis: Axis) -> Callable[[Any], Any]:
    """Checks a value against the axis: ValueError or TypeError if it is off it."""
    if axis.kind == "choice":
        return lambda value: _read_choice(axis, value)
    # Rounding on the way through JSON and the unit cube may leave a range by its last digit.
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
    """The choice equal to a value; 1 is not True, nor 0 False."""
    choice = axis.choices[axis.choices.index(value)]
    if isinstance(choice, bool) != isinstance(value, bool):
        raise ValueError("not a choice")
    return choice


# -------------------------------------------------------------------------------------- writing


def write_dataset(database: sqlite3.Connection, record: DatasetRecord, origin: str) -> int | None:
    """Write a dataset without its trials; its row's number, None where the id exists."""
    texts = (record.id, record.began, record.model, record.task, record.metric, record.strategy)
    written = database.execute(
        "INSERT OR IGNORE INTO datasets (id, began, model, task, metric, strategy, maximize, "
        "log_rows, log_features, classes, axes, origin) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
        (*texts, int(record.maximize), *record.statistics, json.dumps(record.axes), origin),
    )
    return written.lastrowid if written.rowcount == 1 else None


def write_trial(
    database: sqlite3.Connection, id: str, number: int, values: str, score: float
) -> None:
    """Write one trial of an existing dataset, unless it exists already."""
    database.execute(
        "INSERT OR IGNORE INTO trials SELECT number, ?, ?, ? FROM datasets WHERE id = ?",
        (number, values, score, id),
    )


def write_records(
    database: sqlite3.Connection, records: Iterable[DatasetRecord], origin: str
) -> tuple[int, int, int]:
    """Write datasets in a transaction; how many datasets and trials are new, and ids existed."""
    new_count, known_count, rows = 0, 0, []
    for record in records:
        dataset_number = write_dataset(database, record, origin)
        if dataset_number is None:
            known_count += 1
            # Known by its id: trials that are new are added to it.
            dataset_number, names = database.execute(
                "SELECT number, axes FROM datasets WHERE id = ?", (record.id,)
            ).fetchone()
            if tuple(_parse_values(names)) != record.axes:
                continue  # one id, two spaces: no export of ours
        else:
            new_count += 1
        for trial in record.trials:
            rows.append((dataset_number, trial.number, json.dumps(trial.values), trial.score))
    written = database.executemany("INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?)", rows)
    return new_count, max(0, written.rowcount), known_count


def delete_trials(database: sqlite3.Connection, condition: str, *values: Any) -> None:
    """Delete the trials of the datasets whose row meets a condition."""
    database.execute(
        f"DELETE FROM trials WHERE dataset IN (SELECT number FROM datasets WHERE {condition})",
        values,
    )


def delete_datasets(database: sqlite3.Connection, condition: str, *values: Any) -> int:
    """Delete the datasets whose row meets a condition, and their trials; how many."""
    delete_trials(database, condition, *values)
    deleted = database.execute(f"DELETE FROM datasets WHERE {condition}", values).rowcount
    # The switch that closed a dataset names its id, which is to be gone as well.
    database.execute(
        "DELETE FROM switches WHERE name LIKE ? || '%' AND substr(name, ?) NOT IN "
        "(SELECT id FROM datasets)",
        (CLOSED, len(CLOSED) + 1),
    )
    return deleted


def with_distinct_id(database: sqlite3.Connection, record: DatasetRecord) -> DatasetRecord:
    """The record, under a new id where a dataset with other trials has its id."""
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
    """The axes of a dataset; none where it is unknown."""
    row = database.execute("SELECT axes FROM datasets WHERE id = ?", (id,)).fetchone()
    return tuple(_parse_values(row[0])) if row else ()


@dataclass(frozen=True)
class UnreadDataset:
    """An earlier dataset without its trials."""

    number: int
    id: str
    task: str
    statistics: Statistics
    maximize: bool
    axes: tuple[str, ...]
    starter: bool


def candidates(database: sqlite3.Connection, model: str, metric: str) -> list[UnreadDataset]:
    """Every dataset with a model and metric, in order of insertion."""
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
    for row in rows:
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            yield parse(row)


def earlier_dataset(
    database: sqlite3.Connection, candidate: UnreadDataset, read: SettingReader
) -> EarlierDataset | None:
    """A candidate with those of its trials that `read` accepts; None without any."""
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
    from core.samplers.transfer.history import EarlierDataset  # imports numpy

    identity, (fit_settings, scores) = (candidate.id, candidate.statistics), zip(*fit, strict=True)
    return EarlierDataset(*identity, fit_settings, scores, candidate.maximize, candidate.starter)


def read_records(database: sqlite3.Connection, excluded_origin: str) -> list[DatasetRecord]:
    """All but those of one origin, in order of insertion."""
    rows = database.execute(
        "SELECT number, id, began, model, task, metric, strategy, maximize, log_rows, "
        "log_features, classes, axes FROM datasets WHERE origin != ? ORDER BY number",
        (excluded_origin,),
    ).fetchall()
    trials: dict[int, list[StoredTrial]] = {}
    trial_rows = database.execute("SELECT dataset, number, setting, score FROM trials").fetchall()
    for dataset_number, trial in _sound_rows(trial_rows, lambda row: (row[0], _parse_trial(row))):
        trials.setdefault(dataset_number, []).append(trial)
    return list(_sound_rows(rows, lambda row: _parse_record(row, tuple(trials.get(row[0], ())))))


def _parse_trial(row: Row) -> StoredTrial:
    values = tuple(_parse_values(row[2]))
    if not all(map(is_plain, values)):
        raise ValueError("not a setting")
    return StoredTrial(row[1], values, sound_score(row[3]))


def _parse_record(row: Row, trials: tuple[StoredTrial, ...]) -> DatasetRecord:
    id, began, model, task, metric, strategy = map(sound_text, row[1:7])
    scored = (model, task, metric, bool(row[7]))
    statistics, names = sound_statistics(row[8:11]), sound_names(_parse_values(row[11]))
    trials = tuple(trial for trial in trials if len(trial.values) == len(names))
    return DatasetRecord(id, began, *scored, strategy, statistics, names, trials)


def read_entries(database: sqlite3.Connection) -> tuple[list[HistoryEntry], int]:
    """The latest first, and how many are damaged and left out."""
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
    id, began, model, task, metric, strategy = map(sound_text, row[:6])
    sizes = round(math.exp(log_rows)), round(math.exp(log_features)), round(classes)
    origin, trials, best = row[9:]
    origins = origin == STARTER, origin in (FILE, OPTUNA)
    texts = (id, began, model, task, metric, strategy)
    return HistoryEntry(*texts, *sizes, trials, best, *origins)


def _parse_rows(texts: Iterable[str]) -> list[list[Any]]:
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
