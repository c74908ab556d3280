"""The history: what worked on earlier datasets, without any of their data.

Every finished trial of a run is kept with the dataset's three descriptive statistics and the
setting (Yogatama & Mann 2014, §3.1). Never a row, a column's name, a value, a file's name or a
fingerprint: there is no place for them in the file. The statistics are rounded to three decimals
of a natural logarithm, so that the number of rows and of columns can still be told to about one
in a thousand.
"""

from __future__ import annotations

import math
import os
import sqlite3
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.errors import UnusableError, cannot_write
from core.samplers.transfer.history import EarlierDataset, Statistics, TuningHistory
from core.space import Setting
from core.tuning.history import records
from core.tuning.history.database import PATIENCE
from core.tuning.history.exchange import as_json, records_in, starter_records
from core.tuning.history.facts import Entry, Facts, Imported, Known, statistics_of
from core.tuning.history.file import HistoryFile, set_switch
from core.tuning.history.readers import forget_in_readers
from core.tuning.history.records import Record
from core.tuning.history.traces import erase_traces, forget_copies
from core.writing import write_whole

__all__ = [
    "Entry",
    "Facts",
    "History",
    "Imported",
    "Known",
    "history_path",
    "statistics_of",
]

SIMILAR = 1.0  # standard deviations of the statistics within which datasets count as alike
MOST = 1000  # datasets that a run learns from


def history_path() -> Path:
    """The file of the history: TUNESCOPE_HISTORY, or one in the user's data folder."""
    if given := os.environ.get("TUNESCOPE_HISTORY"):
        return Path(given)
    from platformdirs import user_data_path

    return user_data_path("tunescope", appauthor=False) / "history.sqlite3"


class History:
    """The history of datasets; used from one thread at a time, by any number of programs.

    Args:
        path: the file; None for the usual one. It is created, with the starter history, where
            there is none.
        starter: whether a new file gets the starter history.
        patience: seconds to wait for another program.

    Attributes:
        notices: sentences that a person should see.

    Raises:
        UnusableError: from every method, where the file cannot be used any more.
    """

    def __init__(
        self, path: Path | None = None, *, starter: bool = True, patience: float = PATIENCE
    ) -> None:
        self.path = history_path() if path is None else Path(path)
        self._axes: dict[str, tuple[str, ...]] = {}  # of the datasets that are being written
        self._file = HistoryFile(self.path, patience, replaced=self._axes.clear)
        self.notices = self._file.notices
        try:
            if self._file.writable and starter:
                self._greet()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -------------------------------------------------------------------------------- switches

    @property
    def enabled(self) -> bool:
        """Whether runs are kept and used; asked of the file itself."""
        return self._file.switch("enabled") != "no"

    def switch(self, on: bool) -> None:
        """Begin or cease to keep and use runs; what is kept stays."""
        self.set_switches([("enabled", "yes" if on else "no")])

    def set_switches(self, switches: Sequence[tuple[str, str]]) -> None:
        """Set several at once: (name, value)."""
        with self._file.writing() as database:
            for name, value in switches:
                set_switch(database, name, value)

    # --------------------------------------------------------------------------------- writing

    def fresh_id(self) -> str:
        """An id that nothing is kept under yet; "" where nothing is kept now."""
        return uuid.uuid4().hex if self._file.writable and self.enabled else ""

    def begin(self, facts: Facts, id: str = "") -> str:
        """The id under which a new dataset's trials are kept; "" where nothing is.

        Where it cannot be written, a notice says so.

        Args:
            facts: of the run.
            id: the one to take; "" for a fresh one. What is kept under it already stays.
        """
        fresh = self.fresh_id()
        if not fresh:
            return ""
        id = id or fresh
        names = tuple(axis.name for axis in facts.axes)
        record = Record(
            id,
            datetime.now(UTC).isoformat(timespec="seconds"),
            facts.model,
            facts.task,
            facts.metric,
            facts.maximize,
            facts.strategy,
            facts.statistics,
            names,
        )
        try:
            with self._file.once(), self._file.writing() as database:
                records.write_dataset(database, record, records.RUN)
        except UnusableError as error:  # what is known can still be used
            self.notices.append(f"{error.sentence} Nothing is added to the history.")
            return ""
        self._axes[id] = names
        return id

    def add(self, id: str, number: int, setting: Setting, score: float) -> None:
        """Keep a finished trial; it is committed when this returns.

        What was added before stays as it is. Nothing is added while the history is switched off,
        nor to this dataset afterwards; to a dataset that was forgotten; nor of a setting that lacks
        an axis. Entries that are no axes are not kept.

        Raises:
            UnusableError: it cannot be written, once; later trials are passed over.
        """
        if not id or not self._file.writable or not math.isfinite(score):
            return
        with self._file.once(), self._file.writing() as database:
            if not self._may_grow(database, id):
                return
            values = records.values_in(setting, self._names(id))
            if values is not None:
                records.write_trial(database, id, int(number), values, float(score))

    def _may_grow(self, database: sqlite3.Connection, id: str) -> bool:
        """Whether trials are added to a dataset; never again once the history was off meanwhile."""
        if not self.enabled:
            set_switch(database, records.CLOSED + id, "yes")
        return not self._file.switch(records.CLOSED + id)

    def _names(self, id: str) -> tuple[str, ...]:
        if id not in self._axes:
            self._axes[id] = records.names_of(self._file.database, id)
        return self._axes[id]

    # --------------------------------------------------------------------------------- reading

    def datasets_for(
        self, facts: Facts, *, without: str = "", most: int = MOST
    ) -> tuple[EarlierDataset, ...]:
        """Earlier datasets with the same model, metric and kind of task.

        Args:
            facts: of the present run; only trials whose settings fit its axes are given.
            without: an id that is left out.
            most: how many at most, the nearest ones.

        Returns:
            Datasets with one trial or more, in the order they came in; none while switched off.
        """
        with self._file.reading() as database:
            if not self.enabled:
                return ()
            kind = records.kind_of(facts.task)
            found = [
                one
                for one in records.candidates(database, facts.model, facts.metric)
                if one.id != without and records.kind_of(one.task) == kind
            ]
            read = {axes: records.reading(facts.axes, axes) for axes in {o.axes for o in found}}
            kept = []
            for place in _nearest_first(found, facts.statistics, most):
                dataset = records.earlier_dataset(database, found[place], read[found[place].axes])
                if dataset is not None:
                    kept.append((place, dataset))
                if len(kept) == most:
                    break
        return tuple(dataset for _, dataset in sorted(kept, key=lambda pair: pair[0]))

    def known(self, facts: Facts) -> Known:
        """How many earlier datasets a run would use, and how many of them are alike."""
        datasets = self.datasets_for(facts)
        if not datasets:
            return Known()
        near = TuningHistory(datasets, facts.statistics).distances() <= SIMILAR
        return Known(len(datasets), int(near.sum()), sum(one.starter for one in datasets))

    def entries(self) -> list[Entry]:
        """Everything that is kept, the latest first; a notice tells of what is damaged."""
        with self._file.reading() as database:
            found, damaged = records.read_entries(database)
        if damaged:
            many = "1 dataset" if damaged == 1 else f"{damaged} datasets"
            said = f"{many} of the history cannot be read. Deleting all of it removes them too."
            self.notices += [said] if said not in self.notices else []
        return found

    # ------------------------------------------------------------------------------ forgetting

    def forget(self, id: str) -> None:
        """Delete a dataset and its trials so that they cannot be read back from any file."""
        self._delete("id = ?", id)
        self.notices += forget_in_readers(self.path, {id})
        self.notices += forget_copies(self.path, {id})

    def forget_all(self) -> None:
        """Delete everything, the starter history as well."""
        self._delete("1", removes_starter=True)
        self.notices += forget_in_readers(self.path, None)
        self.notices += forget_copies(self.path, None)

    def forget_starter(self) -> int:
        """Delete the starter history, which does not come back by itself; how many datasets."""
        return self._delete("origin = ?", records.STARTER, removes_starter=True)

    def restore_starter(self) -> int:
        """Bring the starter history back; how many datasets are new."""
        with self._file.writing() as database:
            set_switch(database, "starter", "there")
            return records.write_records(database, starter_records(), records.STARTER)[0]

    # ------------------------------------------------------------------------------- exchanging

    def export_to(self, path: Path) -> int:
        """Write everything but the starter history as JSON, whole or not at all; how many datasets.

        Raises:
            UnusableError: the file cannot be written.
        """
        with self._file.reading() as database:
            found = records.read_records(database, but=records.STARTER)
        try:
            write_whole(Path(path), as_json(found))
        except OSError as error:
            raise cannot_write("the file", path, error) from error
        return len(found)

    def import_from(self, path: Path) -> Imported:
        """Import what `export_to` wrote; datasets that are there already are completed.

        Raises:
            UnusableError: the file cannot be read or is no history.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            what = "the file cannot be read"
            raise UnusableError(what, where=str(path), cure="choose another file") from error
        try:
            found, left_out = records_in(text)
        except UnusableError as error:
            raise UnusableError(error.what, where=str(path), cure=error.cure) from error
        return self._take_in(found, records.FILE, left_out)

    def import_optuna(
        self,
        storage: str,
        model: str,
        statistics: Statistics,
        study: str | None = None,
        *,
        metric: str = "",
    ) -> Imported:
        """Import Optuna studies of one of the program's models.

        Args:
            storage: a storage URL (sqlite:///studies.db, mysql://…), or the path of a journal or
                SQLite file.
            model: whose hyperparameters were tuned; a name in the registry.
            statistics: of the dataset that was tuned on; see `statistics_of`.
            study: its name; None for all studies of the storage.
            metric: what the studies' values are; "" for the task's usual one.

        Raises:
            UnusableError: the storage cannot be read, or nothing of it can be taken.
        """
        from core.tuning.history.optuna_studies import studies_as_records

        found, left_out = studies_as_records(storage, model, statistics, study, metric)
        return self._take_in(found, records.OPTUNA, left_out)

    def _take_in(self, found: list[Record], origin: str, left_out: list[str]) -> Imported:
        with self._file.writing() as database:
            if origin == records.OPTUNA:
                found = [records.told_apart(database, one) for one in found]
            counts = records.write_records(database, found, origin)
        return Imported(*counts, left_out=tuple(left_out))

    def _delete(self, condition: str, *values: Any, removes_starter: bool = False) -> int:
        with self._file.writing() as database:
            if removes_starter:
                set_switch(database, "starter", "removed")
            deleted = records.delete(database, condition, *values)
        with self._file.in_words():
            erased = erase_traces(self._file.database, self.path)
        self._file.reopen_if_replaced()
        if not erased:
            self.notices.append(
                "Another program is reading the history; what was deleted vanishes from the file "
                "when that program ends."
            )
        return deleted

    def _greet(self) -> None:
        """The starter history enters a file that has never had it."""
        with self._file.in_words():
            if self._file.switch("starter"):
                return
        with self._file.writing() as database:
            if not self._file.switch("starter"):  # now that no other program can write
                set_switch(database, "starter", "there")
                records.write_records(database, starter_records(), records.STARTER)


def _nearest_first(
    found: Sequence[records.Candidate], statistics: Statistics, most: int
) -> Sequence[int]:
    """Places of the candidates, nearest first where not all can be taken."""
    if len(found) <= most:
        return range(len(found))
    known = tuple(EarlierDataset(one.id, one.statistics, (), ()) for one in found)
    distances = TuningHistory(known, statistics).distances()
    return [int(place) for place in distances.argsort(kind="stable")]
