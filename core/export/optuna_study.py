"""A run as an Optuna study, in a storage that Optuna and optuna-dashboard open.

| in the run | in the study |
| --- | --- |
| a trial with a score | COMPLETE, its score the value, the folds' scores intermediate values |
| a trial that was ended early | PRUNED, the same folds; the estimate among its attributes |
| a trial that failed, or never ended | FAIL, the reason among its attributes |
| a step of a penalty learner | COMPLETE, the penalties its parameters, the objective its value |

Hyperparameters of several models in one run are called MODEL.NAME.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import FrozenTrial, TrialState, create_trial

from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.estimators.settings import own_setting
from core.estimators.several import MODEL
from core.export.optuna_storage import write_study
from core.samplers.search_space import distributions
from core.space import axis_from_dict
from core.tuning.events import (
    HyperGradientStep,
    PenaltyStep,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, folded

Params = dict[str, Any]
End = TrialFinished | TrialFailed


def export_study(run: RunFolder, storage: Path | str) -> str:
    """Write a run as a study of its name; what else the storage holds stays.

    Args:
        run: finished or not.
        storage: the path of a journal (``.log``, ``.journal`` or ``.jsonl``) or of a SQLite file,
            which is made where there is none; or the URL of a storage, such as
            ``sqlite:///study.db``.

    Returns:
        The study's name.

    Raises:
        UnusableError: nothing was tried yet, there is a study of this name, or the storage cannot
            be written.
    """
    events = run.events()
    state = folded(events)
    if state.learns_penalties:
        trials = list(_steps(state))
    else:
        starts = {e.number: e for e in events if isinstance(e, TrialStarted)}
        ends: dict[int, End] = {e.number: e for e in events if isinstance(e, End)}
        trials = _trials(state, starts, ends)
    if not trials:
        raise UnusableError(
            "nothing was tried in this run yet", where=str(run.path), cure="let it go on"
        )
    name = state.started.run or run.name
    maximize = state.started.maximize and not state.learns_penalties
    write_study(storage, name, trials, maximize, _metric(state), _about(state))
    return name


def _metric(state: RunState) -> str:
    if not state.learns_penalties:
        return state.started.metric
    return "held-out loss" if state.gradients else "objective"


def _about(state: RunState) -> dict[str, Any]:
    """What the study says of the run; plain values."""
    plan, dataset = state.started.plan, state.started.dataset
    known = {name: plan.get(name) for name in ("model", "strategy", "seed", "folds")}
    about = {name: dataset.get(name) for name in ("name", "task", "rows", "features")}
    return {**known, **{f"dataset {name}": value for name, value in about.items()}}


def _trials(
    state: RunState, starts: Mapping[int, TrialStarted], ends: Mapping[int, End]
) -> list[FrozenTrial]:
    """The trials in the order of their numbers."""
    model = str(state.started.plan.get("model"))
    numbers = sorted({*starts, *ends})
    params = [_params(model, (ends.get(n) or starts[n]).setting) for n in numbers]
    spaces = _spaces(state, params)
    return [
        _trial(state, starts.get(n), ends.get(n), given, {name: spaces[name] for name in given})
        for n, given in zip(numbers, params, strict=True)
    ]


def _trial(
    state: RunState,
    start: TrialStarted | None,
    end: End | None,
    params: Params,
    spaces: dict[str, BaseDistribution],
) -> FrozenTrial:
    notes: dict[str, Any] = {}
    if start is not None:
        told = {"reason": start.reason or None, "expected": start.expected}
        notes = {**told, "uncertainty": start.uncertainty}
    value, folds, kind = None, {}, TrialState.FAIL
    if isinstance(end, TrialFinished):
        notes |= {"seconds": end.took, "fits": end.fits}
        folds = {k: score for k, score in enumerate(end.fold_scores) if math.isfinite(score)}
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
    at = end or start
    assert at is not None  # it was started or it has ended
    if at.number in state.excluded:
        notes["excluded"] = True
    began = start.seconds if start is not None else max(0.0, at.seconds - getattr(end, "took", 0.0))
    made = create_trial(
        state=kind,
        value=value,
        params=params,
        distributions=spaces,
        intermediate_values=folds,
        user_attrs={"trial": at.number, **_said(notes)},
    )
    return _at(made, state, began, state.seconds if end is None else end.seconds)


def _steps(state: RunState) -> Iterator[FrozenTrial]:
    """The steps of a penalty learner, the penalties as parameters on a logarithmic axis."""
    steps: list[PenaltyStep | HyperGradientStep] = [*state.steps, *state.gradients]
    params = [
        {f"penalty {group}": C for group, C in _penalties(step).items() if 0 < C < math.inf}
        for step in steps
    ]
    spaces = _spaces(state, params)
    before = state.started.seconds
    for step, given in zip(steps, params, strict=True):
        learned_on = isinstance(step, HyperGradientStep)
        objective = step.holdout_loss if isinstance(step, HyperGradientStep) else step.objective
        finite = math.isfinite(objective)
        made = create_trial(
            state=TrialState.COMPLETE if finite else TrialState.FAIL,
            value=objective if finite else None,
            params=given,
            distributions={name: spaces[name] for name in given},
            user_attrs=_said({"step": step.step, "fits": step.fits, "held out": learned_on}),
        )
        yield _at(made, state, before, step.seconds)
        before = step.seconds


def _penalties(step: Any) -> dict[str, float]:
    if isinstance(step, HyperGradientStep):
        return {group: math.exp(d) for group, d in step.d.items()}
    return dict(step.penalties)


def _at(trial: FrozenTrial, state: RunState, began: float, ended: float) -> FrozenTrial:
    """The trial at its moments, in local time without a zone, as Optuna has them."""
    try:
        zero = datetime.fromisoformat(state.started.started_at).astimezone().replace(tzinfo=None)
    except ValueError:
        zero = datetime.fromtimestamp(0)
    trial.datetime_start = zero + timedelta(seconds=began)
    trial.datetime_complete = zero + timedelta(seconds=max(began, ended))
    return trial


def _said(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Notes as attributes: those that there are, in strict JSON."""
    return {
        name: value
        for name, value in notes.items()
        if value is not None and not (isinstance(value, float) and not math.isfinite(value))
    }


def _params(model: str, setting: Mapping[str, Any]) -> Params:
    """A setting by the names that it has in the study, in Optuna's kinds of value."""
    of, own = own_setting(model, setting)
    several = MODEL in setting and of != model
    named = {f"{of}.{name}" if several else name: _plain(value) for name, value in own.items()}
    return {MODEL: of, **named} if several else named


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _spaces(state: RunState, params: Sequence[Params]) -> dict[str, BaseDistribution]:
    """{name: distribution} of every parameter: that of its axis, widened by what was tried."""
    tried: dict[str, list[Any]] = {}
    for given in params:
        for name, value in given.items():
            tried.setdefault(name, []).append(value)
    known = _known(state, tried)
    return {name: _widened(known.get(name), values) for name, values in tried.items()}


def _known(state: RunState, tried: Mapping[str, Sequence[Any]]) -> dict[str, BaseDistribution]:
    """The distributions of the run's own axes, and of the axes of its several models."""
    found = distributions([axis_from_dict(plain) for plain in state.started.space])
    if not state.several:
        return found
    task = str(state.started.dataset.get("task"))
    for name in dict.fromkeys(tried.get(MODEL, ())):
        if name in MODELS and task in MODELS[name].tasks:
            own = distributions(MODELS[name].space_of(task, rare=True))
            found |= {f"{name}.{axis}": kind for axis, kind in own.items()}
    return found


def _widened(kind: BaseDistribution | None, values: Sequence[Any]) -> BaseDistribution:
    """A distribution that holds all values, as near the given one as can be."""
    numbers = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    choices = getattr(kind, "choices", None)
    if choices is not None or not numbers or not all(map(math.isfinite, values)):
        known = [_plain(one) for one in choices or ()]
        more = [one for one in dict.fromkeys(values) if one not in known]
        return CategoricalDistribution([*known, *more])
    low, high = min(values), max(values)
    log = low > 0 and (kind is None or bool(getattr(kind, "log", False)))
    if isinstance(kind, FloatDistribution | IntDistribution):
        low, high = min(low, kind.low), max(high, kind.high)
    whole = all(isinstance(one, int) for one in values)
    if whole and not isinstance(kind, FloatDistribution):
        return IntDistribution(int(low), int(high), log=log and int(low) >= 1)
    return FloatDistribution(low, high, log=log)
