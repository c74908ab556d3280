"""Storages of Optuna to write into: a SQLite file, a journal, or the URL of a database."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import distribution_to_json
from optuna.exceptions import DuplicatedStudyError, ExperimentalWarning
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages._rdb import models
from optuna.storages.journal import JournalFileBackend, JournalRedisBackend
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial
from sqlalchemy import event

from core.errors import UnusableError, write_error
from core.export.destination import check_destination
from core.tuning.history.optuna_studies import SQLITE, refuse_other_databases
from core.writing import whole_file

JOURNALS = (".log", ".journal", ".jsonl")


def write_study(
    storage: Path | str,
    name: str,
    trials: Sequence[FrozenTrial],
    maximize: bool,
    metric: str,
    attributes: Mapping[str, Any],
) -> None:
    """Write a study into a storage as of `export_study`; a new file appears whole or not at all.

    Raises:
        UnusableError: the study exists, the file is something else, or cannot be written.
    """
    location = str(storage)
    try:
        with _open_storage(location) as open_storage, warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            direction = StudyDirection.MAXIMIZE if maximize else StudyDirection.MINIMIZE
            study = optuna.create_study(storage=open_storage, study_name=name, direction=direction)
            study.set_metric_names([metric])
            for key, value in attributes.items():
                if value is not None:
                    study.set_user_attr(key, value)
            with _delete_on_failure(study):
                _add_trials(study, open_storage, trials)
    except DuplicatedStudyError:
        fault = f"this storage holds a study “{name}” already"
        raise UnusableError(fault, where=location, cure="choose another file") from None
    except UnusableError:
        raise
    except OSError as error:
        raise write_error("the study", location, error) from error
    except Exception as error:  # whatever a storage or its driver may raise
        lines = str(error).strip().splitlines() or [type(error).__name__]
        fault = f"this storage of Optuna cannot be written ({lines[0].rstrip('.')})"
        cure = "give the path of a new file ending in .db or .log"
        raise UnusableError(fault, where=location, cure=cure) from error


@contextlib.contextmanager
def _delete_on_failure(study: Study) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):  # the first failure is the one to tell
            optuna.delete_study(study_name=study.study_name, storage=study._storage)
        raise


def _add_trials(study: Study, storage: BaseStorage, trials: Sequence[FrozenTrial]) -> None:
    if not isinstance(storage, RDBStorage):
        study.add_trials(trials)
        return
    for trial in trials:
        trial._validate()
    with storage.scoped_session() as session, session.begin():  # Optuna commits each trial
        for number, trial in enumerate(trials):
            session.add(_trial_row(trial, number, study._study_id))


def _trial_row(trial: FrozenTrial, number: int, study: int) -> models.TrialModel:
    # Optuna's own tables store times and kinds as its version does.
    Value, Intermediate = models.TrialValueModel, models.TrialIntermediateValueModel
    row = models.TrialModel(
        number=number,
        study_id=study,
        state=trial.state,
        datetime_start=trial.datetime_start,
        datetime_complete=trial.datetime_complete,
    )
    for objective, raw_value in enumerate(trial.values or ()):
        value, kind = Value.value_to_stored_repr(raw_value)
        row.values.append(Value(objective=objective, value=value, value_type=kind))
    for name, raw_value in trial.params.items():
        space = trial.distributions[name]
        row.params.append(
            models.TrialParamModel(
                param_name=name,
                param_value=space.to_internal_repr(raw_value),
                distribution_json=distribution_to_json(space),
            )
        )
    for step, raw_value in trial.intermediate_values.items():
        stored, sort = Intermediate.intermediate_value_to_stored_repr(raw_value)
        intermediate_row = Intermediate(
            step=step, intermediate_value=stored, intermediate_value_type=sort
        )
        row.intermediate_values.append(intermediate_row)
    for name, raw_value in trial.user_attrs.items():
        attribute_row = models.TrialUserAttributeModel(key=name, value_json=json.dumps(raw_value))
        row.user_attributes.append(attribute_row)
    return row


@contextlib.contextmanager
def _open_storage(location: str) -> Iterator[BaseStorage]:
    if location.startswith(("redis://", "rediss://")):
        yield JournalStorage(JournalRedisBackend(location))
        return
    if "://" in location and not location.startswith(SQLITE):
        with _database_storage(location) as storage:
            yield storage
        return
    path = Path(location.removeprefix(SQLITE)).expanduser()
    check_destination(path)
    is_journal = path.suffix.lower() in JOURNALS and not location.startswith(SQLITE)
    if path.exists() and path.stat().st_size:
        if is_journal:
            _refuse_other_text(path)
        else:
            refuse_other_databases(path, str(path))
        with _file_storage(path, is_journal) as storage:
            yield storage
        return
    with whole_file(path) as draft, _file_storage(draft, is_journal, is_draft=True) as storage:
        yield storage


@contextlib.contextmanager
def _file_storage(path: Path, is_journal: bool, is_draft: bool = False) -> Iterator[BaseStorage]:
    if is_journal:
        yield JournalStorage(JournalFileBackend(str(path)))
        return
    with _database_storage(SQLITE + str(path)) as storage:
        if is_draft:  # it is brought to the disk as a whole
            event.listen(storage.engine, "connect", _relax_durability)
            storage.engine.dispose()
        yield storage


def _relax_durability(connection: Any, record: Any) -> None:
    connection.execute("PRAGMA synchronous=OFF")  # no wait for the disk after every trial
    connection.execute("PRAGMA journal_mode=MEMORY")


@contextlib.contextmanager
def _database_storage(url: str) -> Iterator[RDBStorage]:
    storage = RDBStorage(url)
    try:
        yield storage
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _refuse_other_text(path: Path) -> None:
    with path.open("rb") as file:  # Optuna would append to any file
        line = file.readline(1 << 16)
    try:
        is_journal = "op_code" in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        is_journal = False
    if not is_journal:
        fault = "this file is no journal of Optuna"
        raise UnusableError(fault, where=str(path), cure="choose another name")
