"""The average at the end of a run: its members fitted, put together, and what is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.errors import UnusableError
from core.estimators.averages.tables import averaged
from core.samplers.averaging import effective_members, members
from core.tuning.averaging.averaged_said import can_be_averaged, joined, log_densities
from core.tuning.averaging.ensemble import weigh
from core.tuning.payloads import LeftOut
from core.tuning.problem import Problem, take
from core.tuning.runs.state import RunState
from core.tuning.scores.metrics import say, targets_of
from core.tuning.scores.scoring import FoldData, Work, fitted_on, in_a_sentence, score_setting

TWO_MEMBERS = 20  # finished trials


@dataclass
class Average:
    """The averaged model and how it came about.

    Attributes:
        pipeline: fitted, takes raw rows.
        best: the number of its best member.
        told: `results["ensemble"]` (core.tuning.results.comparison).
        remarks: sentences for the result.
    """

    pipeline: Pipeline
    best: int
    told: dict[str, Any]
    remarks: list[str] = field(default_factory=list)


@dataclass
class _Member:
    number: int
    weight: float
    estimator: Any


def averaged_model(problem: Problem, state: RunState, kept: Mapping[int, Any]) -> Average:
    """Fit the members on the training rows and put them together.

    Where the run had one fit a trial, its members stay as they were fitted there; those that are
    not in `kept` (after a resume) are fitted again, to the same effect. A member that cannot be
    fitted, or whose predictions are not all numbers, is left out and said.

    Args:
        problem: the run's problem.
        state: how the run stands; at least one trial has ended.
        kept: {trial: fitted estimator} of runs with one fit a trial.

    Raises:
        UnusableError: every member was left out.
    """
    work = problem.work()
    chosen = final_weights(problem, state, work)
    prepare, fold = _prepared(problem)
    found: list[_Member] = []
    left_out = list(state.ensemble.left_out) if state.ensemble else []
    for number, weight in chosen.items():
        try:
            estimator = kept.get(number)
            if estimator is None:
                estimator = fitted_on(work, state.setting_of(number), fold)
            _refuse_other_than_numbers(problem, estimator, fold)
            found.append(_Member(number, weight, estimator))
        except Exception as error:  # whatever goes wrong with one member costs that member only
            why = in_a_sentence(error)
            left_out.append(LeftOut(number, f"Trial {number} is left out: {why}"))
    if not found:
        raise UnusableError(
            "no member of the average could be fitted on all training rows; " + left_out[-1].reason,
            cure="take another model or strategy",
        )
    pipeline = Pipeline([("prepare", prepare), ("model", _one(problem, found))])
    told = _told(problem, state, found, left_out)
    remarks = [one.reason for one in left_out]
    if not problem.strategy.several:
        remarks += _too_few(state.finished)
    return Average(pipeline, found[0].number, told, remarks)


def final_weights(problem: Problem, state: RunState, work: Work) -> dict[int, float]:
    """{trial: weight above 0} of the members, the best first.

    As the last update had it; worked out again where a run was cut short before one, or where a
    trial was taken out since.
    """
    if problem.strategy.several:
        return _weights_of_several(state)
    scores = {trial.number: trial.score for trial in state.scored()}
    maximize, kind = problem.scored_by.maximize, str(problem.options["weights"])
    excluded = state.excluded | _unaverageable(state)
    chosen = members(scores, maximize=maximize, excluded=excluded)
    if not chosen:  # a person took out everything but what cannot be averaged
        chosen = members(scores, maximize=maximize)
    update = state.ensemble
    # After a resume greedy selection may have lacked what the members said.
    lacking = kind == "greedy" and update is not None and update.average is None
    if update is not None and update.members == chosen and not lacking:
        shares = np.array(update.weights)
    else:
        logs = _log_densities(problem, state, chosen, work) if kind == "greedy" else None
        shares = weigh(kind, scores, chosen, maximize, logs)
    return {n: float(w) for n, w in zip(chosen, shares, strict=True) if w > 0}


def _weights_of_several(state: RunState) -> dict[int, float]:
    """As the last update had them, without trials that were taken out since."""
    update = state.ensemble
    assert update is not None  # without one the single best is taken
    told = zip(update.members, update.weights, strict=True)
    return {n: w for n, w in told if n not in state.excluded} or {update.members[0]: 1.0}


def _unaverageable(state: RunState) -> set[int]:
    update = state.ensemble
    return {one.number for one in update.left_out} if update else set()


def _log_densities(
    problem: Problem, state: RunState, chosen: list[int], work: Work
) -> np.ndarray | None:
    """What the members say about held-out rows, asked again; None where there are none."""
    if not work.tells:
        return None
    outcomes = [score_setting(work, n, state.setting_of(n)) for n in chosen]
    if any(not outcome.said for outcome in outcomes):
        return None
    target = np.concatenate([problem.dataset.target[rows] for _, rows in problem.splits])
    y = targets_of(target, problem.dataset.task, problem.dataset.classes)
    return log_densities(y, [joined(outcome.said) for outcome in outcomes])


def _prepared(problem: Problem) -> tuple[Any, FoldData]:
    """The fitted preparation, and the rows that members are fitted on and tried on, prepared.

    All training rows; where a part of them was held out once, the rest, as in the trials.
    """
    rows = (
        problem.train_rows
        if problem.judged != "validation" or not problem.keeps
        else problem.splits[0][0]
    )
    features, target = problem.dataset.features, problem.dataset.target
    prepare = clone(problem.preparation())
    X = prepare.fit_transform(take(features, rows), target[rows])
    test_X, test_y = problem.test
    test_X = prepare.transform(test_X)
    return prepare, FoldData(X, target[rows], test_X, test_y)


def _refuse_other_than_numbers(problem: Problem, estimator: Any, fold: FoldData) -> None:
    """Raises ValueError where a member does not give numbers for the test rows; none is scored."""
    task, classes = problem.dataset.task, problem.dataset.classes
    said = say(estimator, fold.score_X, classes, task=task, y=fold.score_y)
    if not can_be_averaged(said):
        raise ValueError("its predictions are not all numbers")


def refitted_average(problem: Problem, told: Mapping[str, Any]) -> Pipeline:
    """The same members with the same weights, fitted on the training rows of a problem.

    Args:
        problem: with the rows.
        told: as in `Average`.
    """
    X, y = problem.train
    prepare = clone(problem.preparation())
    prepared = prepare.fit_transform(X, y)
    fold = FoldData(prepared, y, prepared, y)
    work = problem.work(folds=[fold])
    members = zip(told["members"], told["weights"], told["settings"], strict=True)
    found = [_Member(n, w, fitted_on(work, setting, fold)) for n, w, setting in members]
    return Pipeline([("prepare", prepare), ("model", _one(problem, found))])


def _one(problem: Problem, found: list[_Member]) -> Any:
    named = [(f"trial {member.number}", member.estimator) for member in found]
    seen = getattr(found[0].estimator, "classes_", problem.dataset.classes)
    classes = [label for label in problem.dataset.classes if label in set(np.asarray(seen))]
    return averaged(problem.dataset.task, named, [member.weight for member in found], classes)


def _told(
    problem: Problem,
    state: RunState,
    found: list[_Member],
    left_out: list[LeftOut],
) -> dict[str, Any]:
    shares = np.array([member.weight for member in found])
    shares /= shares.sum()
    update, metric = state.ensemble, problem.metric.name
    return {
        "members": [member.number for member in found],
        "weights": shares.tolist(),
        "scores": [float(state.scores[state.row_of[member.number]]) for member in found],
        "settings": [dict(state.setting_of(member.number)) for member in found],
        "effective": effective_members(shares),
        "kind": (update.kind if update else "") or str(problem.options.get("weights", "")),
        "finished": state.finished,
        "held_out": {metric: update.average} if update and update.average is not None else {},
        "single_held_out": {metric: update.single} if update and update.single is not None else {},
        "left_out": [asdict(one) for one in left_out],
    }


def _too_few(count: int) -> list[str]:
    """Why the average has one member; nothing where it may have more."""
    if count >= TWO_MEMBERS:
        return []
    trials = "1 trial" if count == 1 else f"{count} trials"
    return [
        f"With {trials} the average has one member, the best setting alone: one model in ten "
        f"is averaged, so {TWO_MEMBERS} trials give two."
    ]
