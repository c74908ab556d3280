"""The history: what worked on earlier datasets, without any of their data.

It stores every finished trial with its setting and three descriptive statistics of the dataset
(Yogatama & Mann 2014, §3.1): never a row, value, name of a column or file, or fingerprint. The
statistics are logarithms to three decimals, which tell rows and columns to about one in a thousand.
As JSON it is one object a dataset, its trials as short rows:

{"tunescope_history": 1, "datasets": [
 {"id": …, "began": …, "model": …, "task": …, "metric": …, "maximize": …, "strategy": …,
  "statistics": [log rows, log features, classes], "axes": [names],
  "trials": [[number, score, a value for every axis], …]}, …]}
"""

import json
import math
import os
import re
import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

from core.errors import UnusableError, write_error
from core.ordinary_files import read_ordinary
from core.records import JsonObject
from core.samplers.transfer.history import (
    EarlierDataset,
    Statistics,
    TuningHistory,
    teaching_datasets,
)
from core.space import Setting
from core.tuning.history import dataset_records, traces
from core.tuning.history.database import (
    PATIENCE,
    STARTER_EDITION,
    HistoryFile,
    hold_file_lock,
    is_ours,
    read_switches,
    set_switch,
)
from core.tuning.history.dataset_records import (
    LARGEST,
    DatasetRecord,
    HistoryCounts,
    HistoryEntry,
    ImportCounts,
    RunMetadata,
    StoredTrial,
    is_plain,
    sound_flag,
    sound_names,
    sound_score,
    sound_statistics,
    sound_text,
)
from core.writing import write_whole

MAX_DATASETS = 1000  # datasets that a run learns from
WAITS = 3.0  # seconds for another program
VERSION = 1
TEXTS = ("began", "model", "task", "metric", "strategy")


def history_path() -> Path:
    """The file of the history: TUNESCOPE_HISTORY, or one in the user's data folder."""
    if path_text := os.environ.get("TUNESCOPE_HISTORY"):
        return Path(path_text)
    from platformdirs import user_data_path

    return user_data_path("tunescope", appauthor=False) / "history.sqlite3"


class History:
    """The history of datasets; used from one thread at a time, by any number of programs."""

    def __init__(
        self, path: Path | None = None, *, starter: bool = True, patience: float = PATIENCE
    ) -> None:
        self.path = history_path() if path is None else Path(path)
        self._axes: dict[str, tuple[str, ...]] = {}  # of the datasets that are being written
        self._file = HistoryFile(self.path, patience, replaced=self._axes.clear)
        self.notices = self._file.notices  # sentences for the person
        try:
            if self._file.writable and starter:
                self._add_starter()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -------------------------------------------------------------------------------- switches

    @property
    def enabled(self) -> bool:
        """Read from the file each time."""
        return self._file.switch_value("enabled") != "no"

    def set_enabled(self, on: bool) -> None:
        """What is stored stays."""
        self.set_switches([("enabled", "yes" if on else "no")])

    def set_switches(self, switches: Sequence[tuple[str, str]]) -> None:
        with self._file.writing() as database:
            for name, value in switches:
                set_switch(database, name, value)

    # --------------------------------------------------------------------------------- writing

    def fresh_id(self) -> str:
        """A new dataset's id; "" where nothing is stored now."""
        return uuid.uuid4().hex if self._file.writable and self.enabled else ""

    def begin_dataset(self, facts: RunMetadata, id: str = "") -> str:
        """Begin a dataset under `id`, or a fresh one; "" where none can be, which a notice says.

        One that is there already stays as it is.
        """
        fresh = self.fresh_id()
        if not fresh:
            return ""
        id = id or fresh
        names = tuple(axis.name for axis in facts.axes)
        began = datetime.now(UTC).isoformat(timespec="seconds")
        scored = (facts.model, facts.task, facts.metric, facts.maximize)
        record = DatasetRecord(id, began, *scored, facts.strategy, facts.statistics, names)
        try:
            with self._file.single_statement(), self._file.writing() as database:
                dataset_records.write_dataset(database, record, dataset_records.RUN)
            # On the disk before an event tells of its trials, so that a power failure deletes none.
            self._file.database.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except UnusableError as error:  # what is known can still be used
            self.notices.append(f"{error.sentence} Nothing is added to the history.")
            return ""
        self._axes[id] = names
        return id

    def add_trial(self, id: str, number: int, setting: Setting, score: float) -> None:
        """It is committed when this returns."""
        self.write_trials(id, [(number, setting, score)], is_replaced=False)

    def write_trials(
        self, id: str, trials: Sequence[tuple[int, Setting, float]], *, is_replaced: bool
    ) -> None:
        """Add (number, setting, score), or make these a dataset's only trials; all or nothing."""
        # Ignored are a known trial, a forgotten dataset, one that was written to while the history
        # was off, a setting that lacks an axis, and its entries that are no axes.
        if not id or not self._file.writable:
            return
        with self._file.single_statement(), self._file.writing() as database:
            if not self._may_grow(database, id):
                return
            if is_replaced:
                dataset_records.delete_trials(database, "id = ?", id)
            for number, setting, score in trials:
                values = dataset_records.values_in(setting, self._axis_names(id))
                if values is not None and math.isfinite(score):
                    dataset_records.write_trial(database, id, int(number), values, float(score))

    def _may_grow(self, database: sqlite3.Connection, id: str) -> bool:
        """Whether a dataset takes trials; never again once the history was off meanwhile."""
        if not self.enabled:
            set_switch(database, dataset_records.CLOSED + id, "yes")
        return not self._file.switch_value(dataset_records.CLOSED + id)

    def _axis_names(self, id: str) -> tuple[str, ...]:
        if id not in self._axes:
            self._axes[id] = dataset_records.names_of(self._file.database, id)
        return self._axes[id]

    # --------------------------------------------------------------------------------- reading

    def datasets_for(
        self, facts: RunMetadata, *, without: str = "", max_datasets: int = MAX_DATASETS
    ) -> tuple[EarlierDataset, ...]:
        """The nearest earlier datasets with the same model, metric and kind of task.

        They are in order of insertion, with the trials that fit the axes of the present run, of
        which the `facts` are; none while the history is switched off.
        """
        with self._file.reading() as database:
            if not self.enabled:
                return ()
            kind = dataset_records.kind_of(facts.task)
            candidates = [
                candidate
                for candidate in dataset_records.candidates(database, facts.model, facts.metric)
                if candidate.id != without and dataset_records.kind_of(candidate.task) == kind
            ]
            space = facts.axes
            axes = {candidate.axes for candidate in candidates}
            readers = {names: dataset_records.setting_reader(space, names) for names in axes}
            datasets: dict[int, EarlierDataset] = {}  # by index
            # The nearest first, so that the trials of no more datasets than are wanted are read.
            for index in _nearest_first(candidates, facts.statistics, max_datasets):
                near, read = candidates[index], readers[candidates[index].axes]
                if (dataset := dataset_records.earlier_dataset(database, near, read)) is not None:
                    datasets[index] = dataset
                if len(datasets) == max_datasets:
                    break
        return tuple(datasets[index] for index in sorted(datasets))

    def matching_counts(self, facts: RunMetadata) -> HistoryCounts:
        """How many earlier datasets a run would use, and how many of them are similar."""
        present = (facts.statistics, *facts.test_statistics)
        datasets, same = teaching_datasets(self.datasets_for(facts), present)
        if not datasets:
            return HistoryCounts(enabled=self.enabled, same=same)
        near = TuningHistory(datasets, facts.statistics).distances() <= dataset_records.SIMILAR
        starter_count = sum(dataset.starter for dataset in datasets)
        return HistoryCounts(len(datasets), int(near.sum()), starter_count, self.enabled, same)

    def entries(self) -> list[HistoryEntry]:
        """The latest first; a notice reports damaged ones."""
        with self._file.reading() as database:
            entries, damaged = dataset_records.read_entries(database)
        if damaged:
            count = "1 dataset" if damaged == 1 else f"{damaged} datasets"
            notice = f"{count} of the history cannot be read. Deleting all of it removes them too."
            self.notices += [notice] if notice not in self.notices else []
        return entries

    # ------------------------------------------------------------------------------ forgetting

    def forget_dataset(self, id: str) -> None:
        """Irrecoverably, in every file."""
        self._delete_datasets("id = ?", id)
        self.notices += traces.forget_in_readers(self.path, {id})
        self.notices += traces.forget_copies(self.path, {id})

    def forget_all(self) -> None:
        self._delete_datasets("1", removes_starter=True)
        self.notices += traces.forget_in_readers(self.path, None)
        self.notices += traces.forget_copies(self.path, None)

    def forget_starter(self) -> int:
        """For good; how many datasets."""
        return self._delete_datasets("origin = ?", dataset_records.STARTER, removes_starter=True)

    def restore_starter(self) -> int:
        """How many datasets are new."""
        with self._file.writing() as database:
            return self._write_starter(database)

    # ------------------------------------------------------------------------------- exchanging

    def export_to(self, path: Path) -> int:
        """Write all but the starter history as JSON; how many datasets."""
        with self._file.reading() as database:
            records = dataset_records.read_records(database, dataset_records.STARTER)
        try:
            write_whole(Path(path), as_json(records))
        except OSError as error:
            raise write_error("the file", path, error) from error
        return len(records)

    def import_from(self, path: Path) -> ImportCounts:
        """Import what `export_to` wrote, completing datasets that exist."""
        try:
            text = read_ordinary(Path(path)).decode("utf-8")
        except (OSError, ValueError) as error:
            problem = "the file cannot be read"
            raise UnusableError(problem, where=str(path), cure="choose another file") from error
        try:
            records, left_out = records_in(text)
        except UnusableError as error:
            raise UnusableError(error.what, where=str(path), cure=error.cure) from error
        return self._add_records(records, dataset_records.FILE, left_out)

    def import_optuna(
        self,
        storage: str,
        model: str,
        statistics: Statistics,
        study: str | None = None,
        *,
        metric: str = "",
    ) -> ImportCounts:
        """Import Optuna studies of one of the program's models; all of them where none is named.

        `storage` is a URL (sqlite:///studies.db, mysql://…), or the path of a journal or SQLite
        file; `statistics`, as of `statistics_of`, are those of the dataset that was tuned on;
        `metric` is that of the studies' values, "" for the task's default.
        """
        from core.tuning.history.optuna_studies import studies_as_records

        records, left_out = studies_as_records(storage, model, statistics, study, metric)
        return self._add_records(records, dataset_records.OPTUNA, left_out)

    def _add_records(
        self, records: list[DatasetRecord], origin: str, left_out: list[str]
    ) -> ImportCounts:
        with self._file.writing() as database:
            # Two studies may begin in one moment, and a copy may go on by itself.
            if origin == dataset_records.OPTUNA:
                records = [dataset_records.with_distinct_id(database, record) for record in records]
            counts = dataset_records.write_records(database, records, origin)
        return ImportCounts(*counts, left_out=tuple(left_out))

    def _delete_datasets(self, condition: str, *values: Any, removes_starter: bool = False) -> int:
        with self._file.writing() as database:
            if removes_starter:
                set_switch(database, "starter", "removed")
            deleted = dataset_records.delete_datasets(database, condition, *values)
        with self._file.translated_errors():
            erased = traces.erase_traces(self._file.database, self.path)
        self._file.reopen_if_replaced()
        if not erased:
            self.notices.append(
                "Another program is reading the history; what was deleted vanishes from the file "
                "when that program ends."
            )
        return deleted

    def _add_starter(self) -> None:
        final_values = ("removed", STARTER_EDITION)
        with self._file.translated_errors():
            if self._file.switch_value("starter") in final_values:
                return
        with self._file.writing() as database:
            if self._file.switch_value("starter") not in final_values:  # no other can write now
                # The first edition was scored on the samples, those rows included that test.
                dataset_records.delete_datasets(database, "origin = ?", dataset_records.STARTER)
                self._write_starter(database)

    @staticmethod
    def _write_starter(database: sqlite3.Connection) -> int:
        set_switch(database, "starter", STARTER_EDITION)
        records, origin = starter_records(), dataset_records.STARTER
        return dataset_records.write_records(database, records, origin)[0]


def _nearest_first(
    candidates: Sequence[dataset_records.UnreadDataset], statistics: Statistics, max_datasets: int
) -> Sequence[int]:
    if len(candidates) <= max_datasets:
        # All of them are read: how far they are does not matter.
        return range(len(candidates))
    datasets = tuple(
        EarlierDataset(candidate.id, candidate.statistics, (), ()) for candidate in candidates
    )
    distances = TuningHistory(datasets, statistics).distances()
    return [int(index) for index in distances.argsort(kind="stable")]


@dataclass(frozen=True)
class DeletionCounts:
    """How many datasets were deleted (None if unknown), and a sentence for each failure."""

    datasets: int | None
    notices: tuple[str, ...]


def forget_everything(path: Path | None = None) -> DeletionCounts:
    """Delete the whole history, even where it is damaged, locked or of a newer version."""
    path = history_path() if path is None else path
    try:
        with History(path, starter=False, patience=WAITS) as history:
            count = len(history.entries())
            history.forget_all()
            return DeletionCounts(count, tuple(history.notices))
    except UnusableError:
        if path.is_dir() or not is_ours(path):
            raise
    # What SQL cannot empty any more is removed, but for a person's wish that nothing is stored.
    switches = [(name, value) for name, value in read_switches(path) if name == "enabled"]
    try:
        with hold_file_lock(path):
            path.unlink(missing_ok=True)
            traces.remove_companions(path)
    except OSError as error:
        raise write_error("the history", path, error) from error
    with History(path, starter=False) as history:
        history.set_switches(switches)
        history.forget_all()
        return DeletionCounts(None, tuple(history.notices))


# ------------------------------------------------------------------------------------------- JSON


def as_json(records: Iterable[DatasetRecord]) -> str:
    """Datasets as text, one per line."""
    plain = map(_record_dict, records)
    lines = [json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in plain]
    head = f'{{"tunescope_history": {VERSION}, "datasets": ['
    return head + "\n" + ",\n".join(lines) + "\n]}\n"


def records_in(text: str) -> tuple[list[DatasetRecord], list[str]]:
    """The datasets of a text, and a sentence for each that is damaged."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_history() from error
    version = content.get("tunescope_history") if isinstance(content, dict) else None
    if type(version) is not int or not isinstance(content.get("datasets"), list):
        raise _no_history()
    if version > VERSION:
        problem = f"the file is of a newer version ({version}) than this program knows ({VERSION})"
        raise UnusableError(problem, cure="update Tunescope")
    records, left_out = [], []
    for number, plain in enumerate(content["datasets"], start=1):
        try:
            records.append(_parse_record(plain))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            left_out.append(f"Dataset {number} of the file is damaged and was left out.")
    return records, left_out


def _no_history() -> UnusableError:
    cure = "choose a JSON file that Tunescope exported"
    return UnusableError("the file is no history of datasets", cure=cure)


def _record_dict(record: DatasetRecord) -> JsonObject:
    return {
        "id": record.id,
        **{name: getattr(record, name) for name in TEXTS},
        "maximize": record.maximize,
        "statistics": list(record.statistics),
        "axes": list(record.axes),
        "trials": [[trial.number, trial.score, *trial.values] for trial in record.trials],
    }


def _parse_record(plain: JsonObject) -> DatasetRecord:
    """Raise KeyError, TypeError, AttributeError or ValueError on a wrong shape."""
    axes = sound_names(plain["axes"])
    # One model of several has its name behind the run's.
    if not re.fullmatch(r"[0-9a-f]{1,64}(-[\w-]{1,64})?", plain["id"], re.ASCII):
        raise ValueError("not an id")
    return DatasetRecord(
        id=plain["id"],
        **{name: sound_text(plain[name]) for name in TEXTS},
        maximize=sound_flag(plain["maximize"]),
        statistics=sound_statistics(plain["statistics"]),
        axes=axes,
        trials=tuple(_parse_trial(row, len(axes)) for row in plain["trials"]),
    )


def _parse_trial(row: list[Any], width: int) -> StoredTrial:
    number, score, *values = row
    if len(values) != width or not all(map(is_plain, values)):
        raise ValueError("not a setting")
    if type(number) is not int or not 0 <= number < LARGEST:
        raise ValueError("not a trial's number")
    return StoredTrial(number, tuple(values), sound_score(score))


def starter_records() -> list[DatasetRecord]:
    """The history that comes with the program; nothing where a package lacks its file."""
    file = files("resources") / "starter_history.json"
    if not file.is_file():
        return []
    return records_in(file.read_text(encoding="utf-8"))[0]
