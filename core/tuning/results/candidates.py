"""What a person may take away from a run: the best, a simpler one, an average, any trial.

The simplest is the trial of the simplest model whose score is within one standard error of the
best's (the one-standard-error rule; Breiman and others 1984, §3.4.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sklearn.pipeline import Pipeline

from core.errors import UnusableError
from core.estimators.fitting import fit_with_remarks
from core.estimators.multi_model import split_model_setting
from core.estimators.registry import MODELS
from core.space import Setting
from core.tuning.events import ModelSelected
from core.tuning.problem import Problem
from core.tuning.results.comparison import ComparisonContext, results_of
from core.tuning.run_results import CandidateResults
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial
from core.tuning.scores.metrics import predict_all
from core.tuning.scores.predictions import ComparedPredictions
from core.tuning.scores.scoring import one_line_error

BEST, SIMPLEST, AVERAGE, DEFAULT, TRIAL = "best", "simplest", "average", "default", "trial"


@dataclass(frozen=True)
class Candidate:
    """One that may be taken away.

    Attributes:
        kind: best, simplest, average, default or trial.
        number: of its trial; None for an average, and for a default that was not tried.
        setting: empty for an average.
        score: in validation; None where it had none.
    """

    kind: str
    number: int | None
    setting: Setting
    score: float | None


def selected_candidate(problem: Problem, state: RunState) -> Candidate | None:
    """What a person has picked; None where nobody has.

    Raises:
        UnusableError: it is not there.
    """
    selection = state.picked
    return None if selection is None else find_candidate(problem, state, selection)


def find_candidate(problem: Problem, state: RunState, selection: ModelSelected) -> Candidate:
    """The candidate that is meant.

    Raises:
        UnusableError: there is no such trial, it has no score, or nothing was averaged.
    """
    if selection.kind == DEFAULT:
        return _default_candidate(problem, state)
    if selection.kind == TRIAL:
        trial = None if selection.number is None else state.find_trial(selection.number)
        if trial is None or trial.failure:
            raise UnusableError(
                f"there is no trial {selection.number} with a score",
                where="run",
                cure="choose one from the table of trials",
            )
        return _trial_candidate(TRIAL, trial)
    candidates_by_kind = {candidate.kind: candidate for candidate in candidates_of(problem, state)}
    if (
        selection.kind == SIMPLEST and BEST in candidates_by_kind
    ):  # the best may be the simplest itself
        return replace(candidates_by_kind.get(SIMPLEST, candidates_by_kind[BEST]), kind=SIMPLEST)
    if selection.kind not in candidates_by_kind:
        raise UnusableError(
            f"this run has nothing to select called “{selection.kind}”",
            where="run",
            cure="choose one of " + ", ".join([*candidates_by_kind, TRIAL]),
        )
    return candidates_by_kind[selection.kind]


def candidates_of(problem: Problem, state: RunState) -> list[Candidate]:
    """What a run of several models offers, the best first; the default for every run of trials."""
    candidates = []
    if problem.strategy.several:
        best = best_full_trial(state)
        if best is not None:
            candidates.append(_trial_candidate(BEST, best))
            simplest = _simplest_trial(state, best)
            if simplest.number != best.number:
                candidates.append(_trial_candidate(SIMPLEST, simplest))
        if (update := state.ensemble) is not None and len(update.members) > 1:
            candidates.append(Candidate(AVERAGE, None, {}, update.average))
    elif problem.strategy.kind == "trials" and state.best_trial is not None:
        candidates.append(_trial_candidate(BEST, state.best_trial))
    return [*candidates, _default_candidate(problem, state)]


def best_full_trial(state: RunState) -> Trial | None:
    """The best trial that was scored on all folds; the best of all where none was."""
    full_trials = [trial for trial in state.scored_trials() if not trial.behind]
    sign = 1.0 if state.maximize else -1.0
    competing_trials = [trial for trial in full_trials if trial.number not in state.excluded]
    return max(
        competing_trials or full_trials,
        key=lambda t: (sign * t.score, -t.number),
        default=state.best_trial,
    )


def _simplest_trial(state: RunState, best: Trial) -> Trial:
    sign, error = (1.0 if state.maximize else -1.0), best.error
    close_trials = [
        trial
        for trial in state.scored_trials()
        if not trial.behind
        and trial.number not in state.excluded
        and sign * trial.score >= sign * best.score - error
    ]
    return min(
        close_trials or [best],
        key=lambda t: (_model_complexity(t.setting), -sign * t.score, t.number),
    )


def _model_complexity(setting: Mapping[str, Any]) -> int:
    name, _ = split_model_setting(setting)
    return MODELS[name].complexity if name in MODELS else 9


def _trial_candidate(kind: str, trial: Trial) -> Candidate:
    return Candidate(kind, trial.number, dict(trial.setting), trial.score)


def _default_candidate(problem: Problem, state: RunState) -> Candidate:
    setting = problem.default
    default_trial = next(
        (t for t in state.scored_trials() if dict(t.setting) == setting and not t.behind), None
    )
    if default_trial is None:
        return Candidate(DEFAULT, None, setting, None)
    return _trial_candidate(DEFAULT, default_trial)


@dataclass(frozen=True)
class SelectedModel:
    """The one that was taken, fitted on the training rows.

    Attributes:
        kind: as of a candidate.
        members: the trials of an average, in the order of its fitted models; empty for one model.
    """

    kind: str
    pipeline: Pipeline
    members: tuple[int, ...] = ()

    def member_pipeline(self, number: int | None) -> Pipeline | None:
        """One of the average's models as a pipeline of its own; None where it is not among them."""
        fitted_models = getattr(self.pipeline.named_steps["model"], "estimators_", ())
        if number not in self.members or len(fitted_models) != len(self.members):
            return None
        estimator = fitted_models[self.members.index(number)]
        return Pipeline([("prepare", self.pipeline.named_steps["prepare"]), ("model", estimator)])


def candidate_results(
    problem: Problem,
    state: RunState,
    selected_model: SelectedModel,
    predictions: ComparedPredictions | None,
    comparison: ComparisonContext,
) -> list[CandidateResults]:
    """The candidates of a run of several models.

    Args:
        problem: the run's problem.
        state: how the run stands.
        selected_model: the one that was taken.
        predictions: what the contestants say about the test rows, for the scores of the others
            there; None where nobody wants to wait for them.
        comparison: what they are compared for.
    """
    entries = []
    for candidate in candidates_of(problem, state):
        entry = CandidateResults(
            kind=candidate.kind,
            trial=candidate.number,
            setting=candidate.setting,
            validation=candidate.score,
            taken=candidate.kind == selected_model.kind,
        )
        if predictions is not None and candidate.kind not in (selected_model.kind, DEFAULT):
            entry = _with_test_scores(
                entry, problem, state, candidate, selected_model, predictions, comparison
            )
        entries.append(entry)
    return entries


def _with_test_scores(
    entry: CandidateResults,
    problem: Problem,
    state: RunState,
    candidate: Candidate,
    selected_model: SelectedModel,
    predictions: ComparedPredictions,
    comparison: ComparisonContext,
) -> CandidateResults:
    dataset = problem.dataset
    try:
        X, y = problem.test_data
        pipeline = _fit_candidate(problem, state, candidate, selected_model)
        candidate_predictions = predict_all(pipeline, X, dataset.classes, task=dataset.task, y=y)
    except Exception as error:  # one that cannot be fitted is no candidate any more
        return replace(entry, failure=one_line_error(error))
    candidate_comparison = replace(
        comparison, setting=candidate.setting, validation={}, is_average=candidate.kind == AVERAGE
    )
    results = results_of(replace(predictions, tuned=candidate_predictions), candidate_comparison)
    return replace(
        entry,
        test=results.test,
        test_interval=results.test_interval,
        gain=results.gain,
        gain_over_baseline=results.gain_over_baseline,
    )


def _fit_candidate(
    problem: Problem, state: RunState, candidate: Candidate, selected_model: SelectedModel
) -> Pipeline:
    """The pipeline of a candidate, fitted on the training rows; by the average where it has it."""
    if candidate.kind == AVERAGE:
        from core.tuning.averaging.averaged_model import fit_averaged_model

        return fit_averaged_model(problem, state, {}).pipeline
    if (member := selected_model.member_pipeline(candidate.number)) is not None:
        return member
    pipeline = problem.pipeline(candidate.setting)
    fit_with_remarks(pipeline, *problem.training_data)
    return pipeline
