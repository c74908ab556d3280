"""The averaged model at the end of a run: its members fitted and combined."""

import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from core.errors import UnusableError
from core.estimators.averages.table_average import average_models
from core.samplers.averaging import best_tenth, effective_members
from core.tuning.averaging.averaged_predictions import (
    MAX_WEIGHT_ROWS,
    RowPredictions,
    concatenate_predictions,
    is_averageable,
    log_densities,
)
from core.tuning.averaging.ensemble import member_weights
from core.tuning.problem import Problem, take_rows
from core.tuning.run_results import EnsembleResults, OmittedTrial
from core.tuning.runs.state import RunState
from core.tuning.scores import scoring
from core.tuning.scores.metrics import predict_all, targets_of

TWO_MEMBERS = 20  # finished trials
Item = TypeVar("Item")


@dataclass
class AveragedModel:
    """The averaged model and how it came about."""

    pipeline: Pipeline  # fitted, takes raw rows
    best: int  # trial number of its best member
    summary: EnsembleResults
    remarks: list[str] = field(default_factory=list)  # sentences for the result


@dataclass
class _Member:
    number: int
    weight: float
    estimator: Any


def fit_averaged_model(
    problem: Problem, state: RunState, fitted_models: Mapping[int, Any]
) -> AveragedModel:
    """Fit the members on the training rows and average them; those that fail are omitted.

    Members in `fitted_models` ({trial: estimator}, of runs with one fit a trial) are not fitted
    again.
    """
    weight_by_trial = final_weights(problem, state)
    prepare, fold = _prepared_fold(problem)
    job = problem.scoring_job(folds=[fold])
    task, classes = problem.dataset.task, problem.dataset.classes

    def fit_member(number: int) -> _Member | OmittedTrial:
        try:
            estimator = fitted_models.get(number)
            if estimator is None:
                estimator = scoring.fit_estimator(job, state.setting_of(number), fold)
            predictions = predict_all(estimator, fold.score_X, classes, task=task, y=fold.score_y)
            if not is_averageable(predictions):
                raise ValueError("its predictions are not all numbers")
            return _Member(number, weight_by_trial[number], estimator)
        except Exception as error:  # a fit may fail in any way, and costs this member only
            return OmittedTrial(
                number, f"Trial {number} is left out: {scoring.one_line_error(error)}"
            )

    members = _fit_in_parallel(fit_member, weight_by_trial, problem)
    fitted_members = [member for member in members if isinstance(member, _Member)]
    omitted_trials = list(state.ensemble.left_out) if state.ensemble else []
    omitted_trials += [member for member in members if isinstance(member, OmittedTrial)]
    if not fitted_members:
        raise UnusableError(
            "no member of the average could be fitted on all training rows; "
            + omitted_trials[-1].reason,
            cure="take another model or strategy",
        )
    model = _combined_estimator(problem, fitted_members)
    pipeline = Pipeline([("prepare", prepare), ("model", model)])
    summary = _ensemble_summary(problem, state, fitted_members, omitted_trials)
    remarks = [trial.reason for trial in omitted_trials]
    if not problem.strategy.several and state.finished < TWO_MEMBERS:
        remarks.append(_single_member_remark(state.finished))
    return AveragedModel(pipeline, fitted_members[0].number, summary, remarks)


def final_weights(problem: Problem, state: RunState) -> dict[int, float]:
    """{trial: weight above 0} of the members, the best first."""
    # Those of the last update; computed again if there was none or a trial was excluded since.
    if problem.strategy.several:
        update = state.ensemble
        assert update is not None  # without one the single best is taken
        pairs = zip(update.members, update.weights, strict=True)
        return {n: w for n, w in pairs if n not in state.excluded} or {update.members[0]: 1.0}
    scores = {trial.number: trial.score for trial in state.scored_trials()}
    maximize, kind = problem.scored_by.maximize, problem.options.weights
    update, excluded = state.ensemble, set(state.excluded)
    if update is not None:
        excluded |= {trial.number for trial in update.left_out}
    member_numbers = best_tenth(scores, maximize=maximize, excluded=excluded)
    if not member_numbers:  # a person excluded all others
        member_numbers = best_tenth(scores, maximize=maximize)
    # After a resume greedy selection may have lacked the members' predictions.
    is_incomplete = kind == "greedy" and update is not None and update.average is None
    if update is not None and update.members == member_numbers and not is_incomplete:
        shares = np.array(update.weights)
    else:
        logs = _log_densities(problem, state, member_numbers) if kind == "greedy" else None
        shares = member_weights(kind, scores, member_numbers, maximize, logs)
    return {n: float(w) for n, w in zip(member_numbers, shares, strict=True) if w > 0}


def _log_densities(
    problem: Problem, state: RunState, member_numbers: list[int]
) -> np.ndarray | None:
    """Log densities of held-out rows, predicted again; None where there are none."""
    if problem.validation_scheme == "training":
        return None
    job = problem.scoring_job()
    results = [scoring.score_setting(job, n, state.setting_of(n)) for n in member_numbers]
    if any(not result.predictions for result in results):
        return None
    target = np.concatenate([problem.dataset.target[rows] for _, rows in problem.splits])
    y = targets_of(target, problem.dataset.task, problem.dataset.classes)
    return log_densities(y, [concatenate_predictions(result.predictions) for result in results])


def _prepared_fold(problem: Problem) -> tuple[Any, scoring.FoldData]:
    # Kept models were fitted without the validation rows; the others are fitted like them.
    is_held_out = problem.validation_scheme == "validation" and problem.keeps_models
    rows = problem.splits[0][0] if is_held_out else problem.train_rows
    features, target = problem.dataset.features, problem.dataset.target
    prepare = clone(problem.preparation())
    X = prepare.fit_transform(take_rows(features, rows), target[rows])
    test_X, test_y = problem.test_data
    return prepare, scoring.FoldData(X, target[rows], prepare.transform(test_X), test_y)


def _fit_in_parallel(
    fit: Callable[[int], Item], numbers: Iterable[int], problem: Problem
) -> list[Item]:
    # Filters are those of all threads: each fit's own ones end while others go on.
    with scoring.fit_warnings_ignored(), ThreadPoolExecutor(problem.refits_at_once) as pool:
        return list(pool.map(fit, numbers))


def with_choice_of_test_rows(
    problem: Problem, pipeline: Pipeline, summary: EnsembleResults
) -> EnsembleResults:
    """The average of a run of several models as it is kept: all rows have chosen its weights.

    After the test, the test rows' own choice of weights counts by their share of the rows. This
    recovers a third or more of the .001 in accuracy and log loss, .02 in R², that a choice by 70 %
    of the rows loses (tests/benchmarks/bench_ingredients.py). `pipeline` is the average fitted on
    the training rows, `summary` has the weights that these chose.
    """
    if not problem.strategy.several or len(summary.members) < 2 or not len(problem.test_rows):
        return summary
    step = math.ceil(len(problem.test_rows) / MAX_WEIGHT_ROWS)
    X, target = (rows[::step] for rows in problem.test_data)
    task, classes = problem.dataset.task, problem.dataset.classes
    prepared, y = pipeline[0].transform(X), targets_of(target, task, classes)
    average = getattr(pipeline[-1], "estimator_", pipeline[-1])  # behind a threshold
    members = [
        predict_all(member, prepared, classes, task=task, y=target)
        for member in average.estimators_
    ]
    if task.has_numbers:
        rows = RowPredictions.of_members([member.labels for member in members], y)
    else:
        rows = RowPredictions.of_members(list(log_densities(y, members).T))
    share = len(problem.test_rows) / (len(problem.test_rows) + problem.validated_rows)
    weights = (1 - share) * np.array(summary.weights) + share * rows.bagged_weights()
    order = np.argsort(-weights, kind="stable")
    return replace(
        summary,
        members=[summary.members[member] for member in order],
        weights=weights[order].tolist(),
        scores=[summary.scores[member] for member in order],
        settings=[summary.settings[member] for member in order],
        effective=effective_members(weights),
        tested_weights=[summary.weights[member] for member in order],
    )


def refit_average(problem: Problem, summary: EnsembleResults) -> Pipeline:
    """The average of `summary`, its members fitted on the training rows of a problem."""
    X, y = problem.training_data
    prepare = clone(problem.preparation())
    prepared = prepare.fit_transform(X, y)
    fold = scoring.FoldData(prepared, y, prepared, y)
    job = problem.scoring_job(folds=[fold])
    settings = dict(zip(summary.members, summary.settings, strict=True))
    weights = dict(zip(summary.members, summary.weights, strict=True))

    def fit_member(number: int) -> _Member:
        return _Member(number, weights[number], scoring.fit_estimator(job, settings[number], fold))

    fitted_members = _fit_in_parallel(fit_member, settings, problem)
    return Pipeline([("prepare", prepare), ("model", _combined_estimator(problem, fitted_members))])


def _combined_estimator(problem: Problem, fitted_members: list[_Member]) -> Any:
    # A class that no training row has is unknown to every member.
    named_estimators = [(f"trial {member.number}", member.estimator) for member in fitted_members]
    seen_classes = getattr(fitted_members[0].estimator, "classes_", problem.dataset.classes)
    classes = [label for label in problem.dataset.classes if label in set(np.asarray(seen_classes))]
    weights = [member.weight for member in fitted_members]
    return average_models(problem.dataset.task, named_estimators, weights, classes)


def _ensemble_summary(
    problem: Problem, state: RunState, members: list[_Member], omitted_trials: list[OmittedTrial]
) -> EnsembleResults:
    shares = np.array([member.weight for member in members])
    shares /= shares.sum()
    update, metric = state.ensemble, problem.metric.name
    return EnsembleResults(
        members=[member.number for member in members],
        weights=shares.tolist(),
        scores=[float(state.scores[state.row_of[member.number]]) for member in members],
        settings=[dict(state.setting_of(member.number)) for member in members],
        effective=effective_members(shares),
        kind=(update.kind if update else "") or problem.options.weights,
        finished=state.finished,
        held_out={metric: update.average} if update and update.average is not None else {},
        single_held_out={metric: update.single} if update and update.single is not None else {},
        left_out=omitted_trials,
    )


def _single_member_remark(count: int) -> str:
    trials = "1 trial" if count == 1 else f"{count} trials"
    return (
        f"With {trials} the average has one member, the best setting alone: one model in ten "
        f"is averaged, so {TWO_MEMBERS} trials give two."
    )
