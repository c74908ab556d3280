"""The winner of a run: fitted on the training rows, and again on all rows.

Learning the undrawn rows of a file larger than memory in parts, by models that can.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.datasets.files.file_bytes import fingerprint
from core.datasets.files.file_parts import row_parts
from core.datasets.files.registry import open_table
from core.datasets.reading import read_part
from core.errors import UnusableError
from core.estimators.fitting import fit_with_remarks
from core.estimators.model_settings import model_and_values
from core.estimators.registry import MODELS
from core.space import Setting
from core.tuning.averaging.averaged_model import (
    fit_averaged_model,
    refit_average,
    with_choice_of_test_rows,
)
from core.tuning.learning.holdout import choose_gamma, with_gamma
from core.tuning.learning.learning_run import recorded_fit, refit_penalties
from core.tuning.learning.training import PenaltyFit
from core.tuning.problem import Problem
from core.tuning.results.candidates import (
    AVERAGE,
    BEST,
    Candidate,
    best_candidate,
    best_full_trial,
    best_of_run,
    find_candidate,
    is_learned,
)
from core.tuning.results.threshold import choose_threshold, replace_value, with_threshold
from core.tuning.run_results import DecisionThreshold, EnsembleResults, Interval
from core.tuning.runs.state import RunState
from core.tuning.scores.scoring import one_line_error

KEPT_TESTED = "The model could not be fitted on all rows; the tested one is kept."


@dataclass(frozen=True)
class TunedModel:
    """The tuned model: a fitted pipeline and its origin."""

    pipeline: Pipeline
    setting: Setting
    validation: dict[str, float]
    remarks: tuple[str, ...] = ()
    learned: PenaltyFit | None = None  # a penalty learner's state
    ensemble: EnsembleResults | None = None  # of an average
    threshold: DecisionThreshold | None = None  # between two classes, where mistakes have costs
    gamma: float | None = None  # of a folding model, where it was chosen on training molecules
    kind: str = BEST  # of candidate (core.tuning.results.candidates)
    validation_interval: Interval | None = None  # where validation is corrected for the choice
    extra_rows: int = 0  # rows of the file beyond the drawn ones, which it learned from in parts

    def without_rows(self) -> TunedModel:
        return self if self.learned is None else replace(self, learned=self.learned.without_rows())

    @property
    def members(self) -> tuple[int, ...]:
        """In the order of the average's fitted models."""
        return tuple(self.ensemble.members) if self.ensemble else ()


def fit_tuned_model(
    problem: Problem, state: RunState, learned: PenaltyFit | None, fitted_models: Mapping[int, Any]
) -> TunedModel:
    """The result of tuning, fitted on the problem's training rows, with its threshold.

    The penalty learner's state and an average's {trial: fitted member} save fits where available.
    """
    candidate = None if state.picked is None else find_candidate(problem, state, state.picked)
    is_own = candidate is None or candidate.kind == AVERAGE or is_learned(problem, candidate)
    if candidate is not None and not is_own:
        tuned_model = _fit_candidate(problem, candidate)
    elif problem.averages and (candidate is not None or _average_wins(problem, state)):
        tuned_model = _fit_average(problem, state, fitted_models)
    elif problem.strategy.kind == "trials":
        best = best_of_run(problem, state)
        assert best is not None  # callers have checked that a trial has ended
        tuned_model = _fit_candidate(problem, best_candidate(state, best))
    else:
        fit = recorded_fit(problem, state) if learned is None else learned
        validation = {} if fit.holdout_loss is None else {"holdout_loss": fit.holdout_loss}
        tuned_model = TunedModel(fit.pipeline(), {}, validation, fit.remarks, fit)
    threshold = choose_threshold(problem, tuned_model.pipeline, tuned_model.learned)
    tuned_model = replace(tuned_model, threshold=replace_value(threshold, state.threshold))
    choice = choose_gamma(problem, tuned_model.pipeline, tuned_model.learned)
    if choice is not None:
        remarks = tuned_model.remarks + ((choice.remark,) if choice.remark else ())
        tuned_model = replace(tuned_model, gamma=choice.gamma, remarks=remarks)
    return _with_decision(problem, tuned_model)


def _with_decision(problem: Problem, tuned_model: TunedModel) -> TunedModel:
    pipeline = tuned_model.pipeline
    if tuned_model.gamma is not None:
        pipeline = with_gamma(pipeline, tuned_model.gamma)
    elif tuned_model.threshold is not None:
        pipeline = with_threshold(pipeline, tuned_model.threshold, problem.dataset.classes)
    return replace(tuned_model, pipeline=pipeline)


def _fit_candidate(problem: Problem, candidate: Candidate) -> TunedModel:
    pipeline = problem.pipeline(candidate.setting)
    remarks = fit_with_remarks(pipeline, *problem.training_data)
    validation = {} if candidate.score is None else {problem.metric.name: candidate.score}
    return TunedModel(
        pipeline,
        candidate.setting,
        validation,
        remarks,
        kind=candidate.kind,
        validation_interval=candidate.interval,
    )


def _fit_average(problem: Problem, state: RunState, fitted_models: Mapping[int, Any]) -> TunedModel:
    average = fit_averaged_model(problem, state, fitted_models)
    best = state.trials[state.row_of[average.best]]
    # Rows that had a part in the choice would give an optimistic score.
    validation = average.summary.held_out
    if not validation and problem.validation_scheme != "training":
        validation = {problem.metric.name: best.score}
    return TunedModel(
        average.pipeline,
        best.setting,
        validation,
        tuple(average.remarks),
        ensemble=average.summary,
        kind=AVERAGE if state.ensemble is None or len(state.ensemble.members) > 1 else BEST,
        validation_interval=state.ensemble.average_interval if state.ensemble else None,
    )


def _average_wins(problem: Problem, state: RunState) -> bool:
    if not problem.strategy.several:
        return True
    update = state.ensemble
    if update is None or update.average is None or update.single is None:
        return False
    sign = 1.0 if problem.scored_by.maximize else -1.0
    best = best_full_trial(state)
    lead = sign * (update.single - update.average)
    # The best of many trials leads by chance too: a lead within its error says nothing.
    return len(update.members) > 1 and lead <= (best.error if best is not None else 0.0)


def has_other_rows(problem: Problem) -> bool:
    """Whether the final model is fitted on other rows than the tested one."""
    is_larger = len(problem.fitted_rows) != len(problem.train_rows)
    is_sampled = problem.dataset.sampled is not None
    return problem.plan.refit and (is_larger or problem.has_holdout or is_sampled)


def refit_on_all_rows(
    problem: Problem, tested_model: TunedModel
) -> tuple[TunedModel, tuple[str, ...]]:
    """The tested model fitted again on all rows, its setting and penalties kept.

    So are the weights of an average, but for what the test rows have to say about them. It is
    `tested_model` itself, with sentences, where it was not fitted again.
    """
    rows = problem.fitted_rows
    is_sampled = problem.dataset.sampled is not None
    if not problem.plan.refit or (len(rows) == len(problem.train_rows) and not problem.has_holdout):
        if is_sampled and problem.plan.refit and _can_learn_more(tested_model):
            return _fit_again(problem, tested_model)
        return tested_model, (_drawn_rows_remark(problem, tested_model),) if is_sampled else ()
    if tested_model.ensemble is not None and problem.model.costly:
        remark = "The members of the average are not fitted again on all rows"
        reason = "of this kind of model that would take as long as their trials"
        return tested_model, (f"{remark}: {reason}.",)
    return _fit_again(problem, tested_model)


def _fit_again(problem: Problem, tested_model: TunedModel) -> tuple[TunedModel, tuple[str, ...]]:
    try:
        refitted_model = _refit_model(problem, tested_model)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError, UnusableError) as error:
        return tested_model, (f"{KEPT_TESTED} {one_line_error(error)}",)
    if problem.dataset.sampled is None:
        return _with_decision(problem, refitted_model), ()
    if not _can_learn_more(refitted_model):
        remark = _drawn_rows_remark(problem, refitted_model)
        return _with_decision(problem, refitted_model), (remark,)
    try:
        fit = fit_remaining_rows(refitted_model.pipeline, problem.dataset)
    except (ValueError, ArithmeticError, OSError, UnusableError) as error:
        remark = "The model that is kept was fitted on the drawn rows alone"
        remark += f": the others could not be learned. {one_line_error(error)}"
        return _with_decision(problem, refitted_model), (remark,)
    remark = (
        f"Once fitted on the {problem.dataset.rows:,} drawn rows, the model that is kept learned "
        f"from {fit.rows:,} others of the file too, in parts and from each once; columns are "
        "prepared as in the drawn rows."
    )
    if fit.skipped_rows:
        remark += f" {fit.skipped_rows:,} rows of classes that the drawn rows lack were left out."
    final_model = replace(refitted_model, pipeline=fit.pipeline, extra_rows=fit.rows)
    return _with_decision(problem, final_model), (remark,)


def _can_learn_more(tuned_model: TunedModel) -> bool:
    is_single_model = tuned_model.learned is None and tuned_model.ensemble is None
    model = tuned_model.pipeline[-1]
    model = getattr(model, "estimator_", model)  # behind a threshold
    while hasattr(model, "regressor_"):
        model = model.regressor_
    return is_single_model and hasattr(model, "partial_fit")


def _drawn_rows_remark(problem: Problem, tuned_model: TunedModel) -> str:
    remark = "The model that is kept was fitted on the drawn rows alone"
    if not problem.plan.refit:
        return f"{remark}: it is the one that was tested."
    if tuned_model.ensemble is not None:
        return f"{remark}: an average cannot learn the others in parts."
    name = model_and_values(problem.plan.model, tuned_model.setting)[0]
    return f"{remark}: {MODELS[name].noun} cannot learn the others in parts."


def _refit_model(problem: Problem, tested_model: TunedModel) -> TunedModel:
    tested_pipeline, rows = tested_model.pipeline, problem.fitted_rows
    run_problem, problem = problem, problem.with_rows(rows, rows[:0])
    if tested_model.learned is not None:
        penalty_fit = refit_penalties(problem, tested_model.learned)
        return replace(tested_model, pipeline=penalty_fit.pipeline(), learned=penalty_fit)
    if tested_model.ensemble is not None:
        summary = with_choice_of_test_rows(run_problem, tested_pipeline, tested_model.ensemble)
        return replace(tested_model, pipeline=refit_average(problem, summary), ensemble=summary)
    pipeline = problem.pipeline(tested_model.setting)
    fit_with_remarks(pipeline, *problem.training_data)
    return replace(tested_model, pipeline=pipeline)


MAX_CHUNK_ROWS = 500_000  # rows of a part


@dataclass(frozen=True)
class OutOfCoreFit:
    """A pipeline of all rows of a file, prepared as its drawn ones."""

    pipeline: Any
    rows: int  # how many undrawn rows it learned from
    skipped_rows: int  # rows of classes that the drawn rows lack


def fit_remaining_rows(pipeline: Any, dataset: Dataset) -> OutOfCoreFit:
    """A copy of a pipeline of drawn rows that has learned the file's others once."""
    assert dataset.sampled is not None
    path = Path(dataset.source.path)
    # Which rows are left is known by their places in the file as it was.
    if fingerprint(path) != dataset.source.fingerprint:
        problem = "the file has changed since its rows were drawn"
        raise UnusableError(problem, where=path.name, cure="start anew")
    pipeline = deepcopy(pipeline)
    learned_rows = skipped_rows = 0
    size = min(MAX_CHUNK_ROWS, max(dataset.rows, 1))
    for chunk in row_parts(open_table(str(path)), size, dataset.sampled.chosen):
        try:
            rows = read_part(dataset, chunk)
        except UnusableError as error:
            # A part in which every target is empty teaches nothing, and is no fault of the file.
            if "no row has a value" in error.what:
                continue
            raise
        X, y = rows.features, rows.target
        if dataset.classes:
            has_known_class = np.isin(y, np.array(dataset.classes))
            skipped_rows += int((~has_known_class).sum())
            X, y = X[has_known_class], y[has_known_class]
        if len(y):
            _fit_chunk(pipeline[-1], pipeline[:-1].transform(X), y)
        learned_rows += len(y)
    return OutOfCoreFit(pipeline, learned_rows, skipped_rows)


def _fit_chunk(model: Any, X: Any, y: np.ndarray) -> None:
    while hasattr(model, "regressor_"):
        y = model.transformer_.transform(np.asarray(y, dtype=float).reshape(-1, 1)).ravel()
        model = model.regressor_
    model.partial_fit(X, y)
