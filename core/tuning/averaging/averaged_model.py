"""The average at the end of a run: its members fitted, put together, and what is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.errors import UnusableError
from core.estimators.averages.table_average import average_models
from core.samplers.averaging import best_tenth, effective_members
from core.tuning.averaging.averaged_predictions import (
    concatenate_predictions,
    is_averageable,
    log_densities,
)
from core.tuning.averaging.ensemble import member_weights
from core.tuning.payloads import OmittedTrial
from core.tuning.problem import Problem, take_rows
from core.tuning.run_results import EnsembleResults
from core.tuning.runs.state import RunState
from core.tuning.scores.metrics import predict_all, targets_of
from core.tuning.scores.scoring import (
    FoldData,
    ScoringJob,
    fit_estimator,
    one_line_error,
    score_setting,
)

TWO_MEMBERS = 20  # finished trials


@dataclass
class AveragedModel:
    """The averaged model and how it came about.

    Attributes:
        pipeline: fitted, takes raw rows.
        best: the number of its best member.
        remarks: sentences for the result.
    """

    pipeline: Pipeline
    best: int
    summary: EnsembleResults
    remarks: list[str] = field(default_factory=list)


@dataclass
class _Member:
    number: int
    weight: float
    estimator: Any


def fit_averaged_model(
    problem: Problem, state: RunState, fitted_models: Mapping[int, Any]
) -> AveragedModel:
    """Fit the members on the training rows and put them together.

    Where the run had one fit a trial, its members stay as they were fitted there; those that are
    not in `fitted_models` (after a resume) are fitted again, to the same effect. A member that
    cannot be fitted, or whose predictions are not all numbers, is left out and said.

    Args:
        problem: the run's problem.
        state: how the run stands; at least one trial has ended.
        fitted_models: {trial: fitted estimator} of runs with one fit a trial.

    Raises:
        UnusableError: every member was left out.
    """
    job = problem.scoring_job()
    weight_by_trial = final_weights(problem, state, job)
    prepare, fold = _prepared_fold(problem)
    fitted_members: list[_Member] = []
    omitted_trials = list(state.ensemble.left_out) if state.ensemble else []
    for number, weight in weight_by_trial.items():
        try:
            estimator = fitted_models.get(number)
            if estimator is None:
                estimator = fit_estimator(job, state.setting_of(number), fold)
            _check_finite_predictions(problem, estimator, fold)
            fitted_members.append(_Member(number, weight, estimator))
        except Exception as error:  # whatever goes wrong with one member costs that member only
            why = one_line_error(error)
            omitted_trials.append(OmittedTrial(number, f"Trial {number} is left out: {why}"))
    if not fitted_members:
        raise UnusableError(
            "no member of the average could be fitted on all training rows; "
            + omitted_trials[-1].reason,
            cure="take another model or strategy",
        )
    pipeline = Pipeline(
        [("prepare", prepare), ("model", _combined_estimator(problem, fitted_members))]
    )
    summary = _ensemble_summary(problem, state, fitted_members, omitted_trials)
    remarks = [trial.reason for trial in omitted_trials]
    if not problem.strategy.several:
        remarks += _single_member_remarks(state.finished)
    return AveragedModel(pipeline, fitted_members[0].number, summary, remarks)


def final_weights(problem: Problem, state: RunState, job: ScoringJob) -> dict[int, float]:
    """{trial: weight above 0} of the members, the best first.

    As the last update had it; worked out again where a run was cut short before one, or where a
    trial was taken out since.
    """
    if problem.strategy.several:
        return _weights_of_several(state)
    scores = {trial.number: trial.score for trial in state.scored_trials()}
    maximize, kind = problem.scored_by.maximize, problem.options.weights
    excluded = state.excluded | _unaverageable(state)
    member_numbers = best_tenth(scores, maximize=maximize, excluded=excluded)
    if not member_numbers:  # a person took out everything but what cannot be averaged
        member_numbers = best_tenth(scores, maximize=maximize)
    update = state.ensemble
    # After a resume greedy selection may have lacked what the members said.
    is_incomplete = kind == "greedy" and update is not None and update.average is None
    if update is not None and update.members == member_numbers and not is_incomplete:
        shares = np.array(update.weights)
    else:
        logs = _log_densities(problem, state, member_numbers, job) if kind == "greedy" else None
        shares = member_weights(kind, scores, member_numbers, maximize, logs)
    return {n: float(w) for n, w in zip(member_numbers, shares, strict=True) if w > 0}


def _weights_of_several(state: RunState) -> dict[int, float]:
    """As the last update had them, without trials that were taken out since."""
    update = state.ensemble
    assert update is not None  # without one the single best is taken
    weight_pairs = zip(update.members, update.weights, strict=True)
    return {n: w for n, w in weight_pairs if n not in state.excluded} or {update.members[0]: 1.0}


def _unaverageable(state: RunState) -> set[int]:
    update = state.ensemble
    return {trial.number for trial in update.left_out} if update else set()


def _log_densities(
    problem: Problem, state: RunState, member_numbers: list[int], job: ScoringJob
) -> np.ndarray | None:
    """What the members say about held-out rows, asked again; None where there are none."""
    if not job.returns_predictions:
        return None
    results = [score_setting(job, n, state.setting_of(n)) for n in member_numbers]
    if any(not result.predictions for result in results):
        return None
    target = np.concatenate([problem.dataset.target[rows] for _, rows in problem.splits])
    y = targets_of(target, problem.dataset.task, problem.dataset.classes)
    return log_densities(y, [concatenate_predictions(result.predictions) for result in results])


def _prepared_fold(problem: Problem) -> tuple[Any, FoldData]:
    """The fitted preparation, and the rows that members are fitted on and tried on, prepared.

    All training rows; where a part of them was held out once, the rest, as in the trials.
    """
    rows = (
        problem.train_rows
        if problem.validation_scheme != "validation" or not problem.keeps_models
        else problem.splits[0][0]
    )
    features, target = problem.dataset.features, problem.dataset.target
    prepare = clone(problem.preparation())
    X = prepare.fit_transform(take_rows(features, rows), target[rows])
    test_X, test_y = problem.test_data
    test_X = prepare.transform(test_X)
    return prepare, FoldData(X, target[rows], test_X, test_y)


def _check_finite_predictions(problem: Problem, estimator: Any, fold: FoldData) -> None:
    """Raises ValueError where a member does not give numbers for the test rows; none is scored."""
    task, classes = problem.dataset.task, problem.dataset.classes
    predictions = predict_all(estimator, fold.score_X, classes, task=task, y=fold.score_y)
    if not is_averageable(predictions):
        raise ValueError("its predictions are not all numbers")


def refit_average(problem: Problem, summary: EnsembleResults) -> Pipeline:
    """The same members with the same weights, fitted on the training rows of a problem.

    Args:
        problem: with the rows.
        summary: of the average.
    """
    X, y = problem.training_data
    prepare = clone(problem.preparation())
    prepared = prepare.fit_transform(X, y)
    fold = FoldData(prepared, y, prepared, y)
    job = problem.scoring_job(folds=[fold])
    members = zip(summary.members, summary.weights, summary.settings, strict=True)
    fitted_members = [_Member(n, w, fit_estimator(job, setting, fold)) for n, w, setting in members]
    return Pipeline([("prepare", prepare), ("model", _combined_estimator(problem, fitted_members))])


def _combined_estimator(problem: Problem, fitted_members: list[_Member]) -> Any:
    named_estimators = [(f"trial {member.number}", member.estimator) for member in fitted_members]
    seen_classes = getattr(fitted_members[0].estimator, "classes_", problem.dataset.classes)
    classes = [label for label in problem.dataset.classes if label in set(np.asarray(seen_classes))]
    return average_models(
        problem.dataset.task,
        named_estimators,
        [member.weight for member in fitted_members],
        classes,
    )


def _ensemble_summary(
    problem: Problem,
    state: RunState,
    fitted_members: list[_Member],
    omitted_trials: list[OmittedTrial],
) -> EnsembleResults:
    shares = np.array([member.weight for member in fitted_members])
    shares /= shares.sum()
    update, metric = state.ensemble, problem.metric.name
    return EnsembleResults(
        members=[member.number for member in fitted_members],
        weights=shares.tolist(),
        scores=[float(state.scores[state.row_of[member.number]]) for member in fitted_members],
        settings=[dict(state.setting_of(member.number)) for member in fitted_members],
        effective=effective_members(shares),
        kind=(update.kind if update else "") or problem.options.weights,
        finished=state.finished,
        held_out={metric: update.average} if update and update.average is not None else {},
        single_held_out={metric: update.single} if update and update.single is not None else {},
        left_out=omitted_trials,
    )


def _single_member_remarks(count: int) -> list[str]:
    """Why the average has one member; nothing where it may have more."""
    if count >= TWO_MEMBERS:
        return []
    trials = "1 trial" if count == 1 else f"{count} trials"
    return [
        f"With {trials} the average has one member, the best setting alone: one model in ten "
        f"is averaged, so {TWO_MEMBERS} trials give two."
    ]
