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

from core.errors import UnusableError, cannot_write
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
    about: Mapping[str, Any],
) -> None:
    """Write a study into a storage; a new file appears whole or not at all.

    Args:
        storage: a path or URL, as `core.export.optuna_study.export_study` says.
        name: of the study.
        trials: in their order.
        maximize: whether larger values are better.
        metric: what the values measure.
        about: the study's attributes.

    Raises:
        UnusableError: there is a study of this name, the file is something else, or the storage
            cannot be written.
    """
    where = str(storage)
    try:
        with _opened(where) as opened, warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            direction = StudyDirection.MAXIMIZE if maximize else StudyDirection.MINIMIZE
            study = optuna.create_study(storage=opened, study_name=name, direction=direction)
            study.set_metric_names([metric])
            for key, value in about.items():
                if value is not None:
                    study.set_user_attr(key, value)
            with _undone(study):
                _add(study, opened, trials)
    except DuplicatedStudyError:
        raise UnusableError(
            f"this storage holds a study “{name}” already",
            where=where,
            cure="choose another file",
        ) from None
    except UnusableError:
        raise
    except OSError as error:
        raise cannot_write("the study", where, error) from error
    except Exception as error:  # whatever a storage or its driver may raise
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise UnusableError(
            f"this storage of Optuna cannot be written ({lines[0].rstrip('.')})",
            where=where,
            cure="give the path of a new file ending in .db or .log",
        ) from error


@contextlib.contextmanager
def _undone(study: Study) -> Iterator[None]:
    """Take an incomplete study out again where its trials cannot be added."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):  # the first failure is the one to tell
            optuna.delete_study(study_name=study.study_name, storage=study._storage)
        raise


def _add(study: Study, storage: BaseStorage, trials: Sequence[FrozenTrial]) -> None:
    """Add trials to a new study; to a database in one transaction, since Optuna takes one a trial.

    The rows are made by Optuna's own models, which know how this version keeps times and kinds.
    """
    if not isinstance(storage, RDBStorage):
        study.add_trials(trials)
        return
    for trial in trials:
        trial._validate()
    with storage.scoped_session() as session, session.begin():
        for number, trial in enumerate(trials):
            session.add(_row(trial, number, study._study_id))


def _row(trial: FrozenTrial, number: int, study: int) -> models.TrialModel:
    """A trial with all that belongs to it, as Optuna keeps it."""
    Value, Intermediate = models.TrialValueModel, models.TrialIntermediateValueModel
    row = models.TrialModel(
        number=number,
        study_id=study,
        state=trial.state,
        datetime_start=trial.datetime_start,
        datetime_complete=trial.datetime_complete,
    )
    for place, given in enumerate(trial.values or ()):
        value, kind = Value.value_to_stored_repr(given)
        row.values.append(Value(objective=place, value=value, value_type=kind))
    for name, given in trial.params.items():
        space = trial.distributions[name]
        row.params.append(
            models.TrialParamModel(
                param_name=name,
                param_value=space.to_internal_repr(given),
                distribution_json=distribution_to_json(space),
            )
        )
    for step, given in trial.intermediate_values.items():
        stored, sort = Intermediate.intermediate_value_to_stored_repr(given)
        one = Intermediate(step=step, intermediate_value=stored, intermediate_value_type=sort)
        row.intermediate_values.append(one)
    for name, given in trial.user_attrs.items():
        said = models.TrialUserAttributeModel(key=name, value_json=json.dumps(given))
        row.user_attributes.append(said)
    return row


@contextlib.contextmanager
def _opened(where: str) -> Iterator[BaseStorage]:
    """The storage, closed on the way out; a file that is new is filled as a draft."""
    if where.startswith(("redis://", "rediss://")):
        yield JournalStorage(JournalRedisBackend(where))
        return
    if "://" in where and not where.startswith(SQLITE):
        with _database(where) as found:
            yield found
        return
    path = Path(where.removeprefix(SQLITE)).expanduser()
    check_destination(path)
    journal = path.suffix.lower() in JOURNALS and not where.startswith(SQLITE)
    if path.exists() and path.stat().st_size:
        if journal:
            _refuse_other_text(path)
        else:
            refuse_other_databases(path, str(path))
        with _file(path, journal) as found:
            yield found
        return
    with whole_file(path) as draft, _file(draft, journal, draft=True) as found:
        yield found


@contextlib.contextmanager
def _file(path: Path, journal: bool, draft: bool = False) -> Iterator[BaseStorage]:
    if journal:
        yield JournalStorage(JournalFileBackend(str(path)))
        return
    with _database(SQLITE + str(path)) as found:
        if draft:  # it is brought to the disk as a whole
            event.listen(found.engine, "connect", _hurried)
            found.engine.dispose()
        yield found


def _hurried(connection: Any, record: Any) -> None:
    """Let SQLite not wait for the disk after every trial."""
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("PRAGMA journal_mode=MEMORY")


@contextlib.contextmanager
def _database(url: str) -> Iterator[RDBStorage]:
    found = RDBStorage(url)
    try:
        yield found
    finally:
        found.remove_session()
        found.engine.dispose()


def _refuse_other_text(path: Path) -> None:
    """Optuna would append to any file.

    Raises:
        UnusableError: it does not begin as a journal does.
    """
    with path.open("rb") as file:
        line = file.readline(1 << 16)
    try:
        known = "op_code" in json.loads(line)
    except (ValueError, TypeError, RecursionError):
        known = False
    if not known:
        raise UnusableError(
            "this file is no journal of Optuna", where=str(path), cure="choose another name"
        )
