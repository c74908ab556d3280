"""Optuna studies: a run as one, in a storage that Optuna and optuna-dashboard open.

Scored trials and steps of a penalty learner are COMPLETE, the folds' scores intermediate values;
those that ended early PRUNED, failed or unfinished ones FAIL. A run of several models is a study
for each of them, RUN/MODEL, so that every trial of one has the same hyperparameters.
"""

import contextlib
import json
import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
    distribution_to_json,
)
from optuna.exceptions import DuplicatedStudyError, ExperimentalWarning
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages._rdb import models
from optuna.storages.journal import JournalFileBackend, JournalRedisBackend
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial
from sqlalchemy import event

from core.errors import UnusableError, write_error
from core.estimators.model_settings import model_and_values
from core.estimators.registry import MODELS
from core.export.destination import check_destination
from core.ordinary_files import open_ordinary
from core.records import JsonObject
from core.samplers.search_space import distributions
from core.tuning.events import (
    Event,
    HyperGradientStep,
    PenaltyStep,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.history.optuna_studies import SQLITE, refuse_other_databases, refuse_other_texts
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, state_from_events
from core.writing import remove_leftovers, whole_file

optuna.logging.set_verbosity(optuna.logging.WARNING)  # the command's own lines say it
Params = JsonObject
End = TrialFinished | TrialFailed


@dataclass(frozen=True)
class _StudyContent:
    name: str
    trials: list[FrozenTrial]
    attributes: JsonObject


def export_study(run: RunFolder, storage: Path | str) -> str:
    """Write a run, finished or not, as a study of its name, which is returned; other studies stay.

    A run of several models gives one for each, NAME/MODEL.

    Args:
        storage: the path of a journal (`JOURNALS`) or SQLite file, new or not, or a URL.
    """
    events = run.all_events()
    state = state_from_events(events)
    name = state.started.run or run.name
    if state.learns_penalties:
        trials = list(_step_trials(state))
        studies = [_StudyContent(name, trials, _study_attributes(state))] if trials else []
    else:
        studies = _studies_of_models(name, state, events)
    if not studies:
        fault = "nothing was tried in this run yet"
        raise UnusableError(fault, where=str(run.path), cure="let it continue")
    maximize, metric = state.started.maximize, state.started.metric
    if state.learns_penalties:
        maximize, metric = False, "held-out loss" if state.gradients else "objective"
    _write_studies(storage, studies, maximize, metric)
    return name


def _study_attributes(state: RunState) -> JsonObject:
    plan, dataset = state.started.plan, state.started.dataset
    plan_facts = {name: plan.get(name) for name in ("model", "strategy", "seed", "folds")}
    dataset_facts = {name: dataset.get(name) for name in ("name", "task", "rows", "features")}
    dataset_facts["classes"] = len(state.started.dataset.classes)
    return {**plan_facts, **{f"dataset {name}": value for name, value in dataset_facts.items()}}


def _studies_of_models(name: str, state: RunState, events: Sequence[Event]) -> list[_StudyContent]:
    starts = {e.number: e for e in events if isinstance(e, TrialStarted)}
    ends: dict[int, End] = {e.number: e for e in events if isinstance(e, End)}
    run_model = state.started.run_plan.model
    params_by_model: dict[str, dict[int, Params]] = {}  # {model: {number of a trial: parameters}}
    for number in sorted({*starts, *ends}):
        model, values = model_and_values(run_model, (ends.get(number) or starts[number]).setting)
        params = {name: _to_plain_value(value) for name, value in values.items()}
        params_by_model.setdefault(model, {})[number] = params
    studies = []
    for model, params_by_number in params_by_model.items():
        spaces = _param_distributions(state, list(params_by_number.values()), model)
        trials = [
            _frozen_trial(state, starts.get(n), ends.get(n), params, {p: spaces[p] for p in params})
            for n, params in params_by_number.items()
        ]
        study_name = f"{name}/{model}" if state.tunes_several_models else name
        attributes = {**_study_attributes(state), "model": model}
        studies.append(_StudyContent(study_name, trials, attributes))
    return studies


def _frozen_trial(
    state: RunState,
    start: TrialStarted | None,
    end: End | None,
    params: Params,
    spaces: dict[str, BaseDistribution],
) -> FrozenTrial:
    notes: JsonObject = {}
    if start is not None:
        proposal = {"reason": start.reason or None, "expected": start.expected}
        notes = {**proposal, "uncertainty": start.uncertainty}
    value, folds, kind = None, {}, TrialState.FAIL
    if isinstance(end, TrialFinished):
        notes |= {"seconds": end.took, "fits": end.fits}
        folds = {k: score for k, score in enumerate(end.fold_scores) if math.isfinite(score)}
        # An estimate is no score: Optuna takes no pruned trial for the best.
        if end.behind:
            kind, notes["estimate"] = TrialState.PRUNED, end.score
        elif math.isfinite(end.score):
            kind, value = TrialState.COMPLETE, end.score
        else:
            notes["failure"] = "its score is not a number"
    elif end is not None:
        notes |= {"seconds": end.took, "failure": end.reason}
    else:
        notes["failure"] = "the run ended before it did"
    event = end or start
    assert event is not None  # it was started or it has ended
    if event.number in state.excluded:
        notes["excluded"] = True
    # Runs of earlier versions may lack the start of a trial: it is counted back.
    began = start.seconds if start else max(0.0, event.seconds - getattr(end, "took", 0.0))
    frozen_trial = create_trial(
        state=kind,
        value=value,
        params=params,
        distributions=spaces,
        intermediate_values=folds,
        user_attrs={"trial": event.number, **_user_attributes(notes)},
    )
    return _with_times(frozen_trial, state, began, state.seconds if end is None else end.seconds)


def _step_trials(state: RunState) -> Iterator[FrozenTrial]:
    steps: list[tuple[PenaltyStep | HyperGradientStep, float, Mapping[str, float]]] = [
        *((step, step.objective, step.penalties) for step in state.steps),
        *((s, s.holdout_loss, {g: math.exp(d) for g, d in s.d.items()}) for s in state.gradients),
    ]
    # Optuna takes finite values alone, and a 0 would end the logarithmic axis.
    params = [
        {f"penalty {group}": C for group, C in penalties.items() if 0 < C < math.inf}
        for _, _, penalties in steps
    ]
    spaces = _param_distributions(state, params)
    previous_seconds = state.started.seconds
    for (step, objective, _), step_params in zip(steps, params, strict=True):
        finite = math.isfinite(objective)
        frozen_trial = create_trial(
            state=TrialState.COMPLETE if finite else TrialState.FAIL,
            value=objective if finite else None,
            params=step_params,
            distributions={name: spaces[name] for name in step_params},
            user_attrs=_user_attributes(
                {"step": step.step, "fits": step.fits, "held out": bool(state.gradients)}
            ),
        )
        yield _with_times(frozen_trial, state, previous_seconds, step.seconds)
        previous_seconds = step.seconds


def _with_times(trial: FrozenTrial, state: RunState, began: float, ended: float) -> FrozenTrial:
    start = start_of_run(state)
    trial.datetime_start = start + timedelta(seconds=began)
    trial.datetime_complete = start + timedelta(seconds=max(began, ended))
    return trial


def start_of_run(state: RunState) -> datetime:
    """When it began; Optuna has local times without a zone."""
    try:
        return datetime.fromisoformat(state.started.started_at).astimezone().replace(tzinfo=None)
    except ValueError:
        return datetime.fromtimestamp(0)


def _user_attributes(notes: Mapping[str, Any]) -> JsonObject:
    return {
        name: value
        for name, value in notes.items()
        if value is not None and not (isinstance(value, float) and not math.isfinite(value))
    }


def _to_plain_value(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _param_distributions(
    state: RunState, params: Sequence[Params], model: str = ""
) -> dict[str, BaseDistribution]:
    values_by_name: dict[str, list[Any]] = {}
    for trial_params in params:
        for name, value in trial_params.items():
            values_by_name.setdefault(name, []).append(value)
    space, task = state.started.space, state.started.dataset.task
    # Every one of several models has a space of its own.
    if state.tunes_several_models:
        has_space = model in MODELS and task in MODELS[model].tasks
        space = list(MODELS[model].space_of(task, rare=True)) if has_space else []
    axis_distributions = distributions(space)
    return {
        name: _widen_distribution(axis_distributions.get(name), values)
        for name, values in values_by_name.items()
    }


def _widen_distribution(kind: BaseDistribution | None, values: Sequence[Any]) -> BaseDistribution:
    is_numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    choices = getattr(kind, "choices", None)
    # Values that are no numbers throughout can only be categories, which have no order.
    if choices is not None or not is_numeric or not all(map(math.isfinite, values)):
        known_choices = [_to_plain_value(choice) for choice in choices or ()]
        new_choices = [value for value in dict.fromkeys(values) if value not in known_choices]
        return CategoricalDistribution([*known_choices, *new_choices])
    low, high = min(values), max(values)
    # Values beyond the space may be 0 or less, where no logarithmic axis goes.
    log = low > 0 and (kind is None or bool(getattr(kind, "log", False)))
    if isinstance(kind, FloatDistribution | IntDistribution):
        low, high = min(low, kind.low), max(high, kind.high)
    is_integer = all(isinstance(value, int) for value in values)
    if is_integer and not isinstance(kind, FloatDistribution):
        return IntDistribution(int(low), int(high), log=log and int(low) >= 1)
    return FloatDistribution(low, high, log=log)


JOURNALS = (".log", ".journal", ".jsonl")


def _write_studies(
    storage: Path | str, contents: Sequence[_StudyContent], maximize: bool, metric: str
) -> None:
    location = str(storage)
    try:
        with (
            _open_storage(location) as open_storage,
            warnings.catch_warnings(),
            contextlib.ExitStack() as stack,
        ):
            warnings.simplefilter("ignore", ExperimentalWarning)
            direction = StudyDirection.MAXIMIZE if maximize else StudyDirection.MINIMIZE
            unfinished = 0
            for content in contents:
                study = _new_or_begun_study(open_storage, content, direction)
                if len(study.get_trials(deepcopy=False)) == len(content.trials):
                    continue  # the whole of it, before a program was killed
                unfinished += 1
                stack.enter_context(_delete_on_failure(study))
                study.set_metric_names([metric])
                for key, value in content.attributes.items():
                    if value is not None:
                        study.set_user_attr(key, value)
                _add_trials(study, open_storage, content.trials)
            if not unfinished:
                raise DuplicatedStudyError
    except DuplicatedStudyError:
        fault = f"this storage holds a study “{content.name}” already"
        raise UnusableError(fault, where=location, cure="choose another file") from None
    # A sentence of our own says it better than the one below.
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
        # A study without its trials would block its name.
        with contextlib.suppress(Exception):  # the first failure is the one to tell
            optuna.delete_study(study_name=study.study_name, storage=study._storage)
        raise


def _new_or_begun_study(
    storage: BaseStorage, content: _StudyContent, direction: StudyDirection
) -> Study:
    try:
        return optuna.create_study(storage=storage, study_name=content.name, direction=direction)
    except DuplicatedStudyError:
        study = optuna.load_study(storage=storage, study_name=content.name)
        stored, new = (
            [(trial.state, trial.params, trial.values) for trial in trials]
            for trials in (study.get_trials(deepcopy=False), content.trials)
        )
        if stored != new[: len(stored)] or study.direction != direction:
            raise
        return study


def _add_trials(study: Study, storage: BaseStorage, trials: Sequence[FrozenTrial]) -> None:
    if not isinstance(storage, RDBStorage):
        study.add_trials(trials[len(study.get_trials(deepcopy=False)) :])
        return
    # As Optuna itself does before it writes a trial.
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
        row.intermediate_values.append(
            Intermediate(step=step, intermediate_value=stored, intermediate_value_type=sort)
        )
    for name, raw_value in trial.user_attrs.items():
        text = json.dumps(raw_value)
        row.user_attributes.append(models.TrialUserAttributeModel(key=name, value_json=text))
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
    if path.exists():  # databases lock and journals read what they write to
        open_ordinary(path, sys.maxsize).close()
    is_journal = path.suffix.lower() in JOURNALS and not location.startswith(SQLITE)
    # A study joins an existing file in place; a new file appears whole.
    if path.exists() and path.stat().st_size:
        if is_journal:
            refuse_other_texts(path, str(path))
        else:
            refuse_other_databases(path, str(path))
        remove_leftovers(path.parent)
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
