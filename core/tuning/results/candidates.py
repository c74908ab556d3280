"""Candidates of a run: the best, a simpler one, an average, the default, any trial.

The simplest is the trial of the simplest model whose score is within one standard error of the
best's (the one-standard-error rule; Breiman and others 1984, §3.4.3).
"""

from dataclasses import dataclass, replace

from sklearn.pipeline import Pipeline

from core.errors import UnusableError
from core.estimators.fitting import fit_with_remarks
from core.estimators.multi_model import split_model_setting
from core.estimators.registry import MODELS
from core.space import Setting
from core.tuning.averaging.averaged_model import fit_averaged_model
from core.tuning.events import ModelSelected
from core.tuning.learning.learning_run import recorded_fit
from core.tuning.problem import Problem
from core.tuning.results.comparison import ComparisonContext, results_of
from core.tuning.run_results import CandidateResults, Interval
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial
from core.tuning.scores.predictions import ComparedPredictions, timed_predictions
from core.tuning.scores.scoring import one_line_error

BEST, SIMPLEST, AVERAGE, DEFAULT, TRIAL = "best", "simplest", "average", "default", "trial"


@dataclass(frozen=True)
class Candidate:
    """A model that a person may choose."""

    kind: str  # best, simplest, average, default or trial
    number: int | None  # of its trial; None for an average, and for a default that was not tried
    setting: Setting  # empty for an average
    score: float | None  # in validation; None where it had none
    interval: Interval | None = None  # where the score is corrected for the choice of trials


def find_candidate(problem: Problem, state: RunState, selection: ModelSelected) -> Candidate:
    """The selected candidate; UnusableError where there is none."""
    if selection.kind == DEFAULT:
        return _default_candidate(problem, state)
    if selection.kind == TRIAL:
        trial = None if selection.number is None else state.find_trial(selection.number)
        if trial is None or trial.failure:
            fault = f"there is no trial {selection.number} with a score"
            raise UnusableError(fault, where="run", cure="choose one from the table of trials")
        return _trial_candidate(TRIAL, trial)
    by_kind = {candidate.kind: candidate for candidate in candidates_of(problem, state)}
    if selection.kind == SIMPLEST and BEST in by_kind:  # the best may be the simplest
        return replace(by_kind.get(SIMPLEST, by_kind[BEST]), kind=SIMPLEST)
    if selection.kind not in by_kind:
        fault = f"this run has nothing to select called “{selection.kind}”"
        cure = "choose one of " + ", ".join([*by_kind, TRIAL])
        raise UnusableError(fault, where="run", cure=cure)
    return by_kind[selection.kind]


def candidates_of(problem: Problem, state: RunState) -> list[Candidate]:
    """The best, a simpler one of several models, average, default."""
    candidates = []
    best, update = best_of_run(problem, state), state.ensemble
    if best is not None:
        winner = best_candidate(state, best)
        candidates.append(winner)
        simplest = _simplest_trial(state, best) if problem.strategy.several else best
        if simplest.number != best.number:
            candidate = _trial_candidate(SIMPLEST, simplest)
            optimism = 0.0 if winner.score is None else best.score - winner.score
            # One of the same trials: its score is as optimistic as the winner's.
            candidates.append(replace(candidate, score=simplest.score - optimism))
    elif problem.strategy.kind == "penalties":
        candidates.append(Candidate(BEST, None, {}, None))
    if update is not None and len(update.members) > 1:
        candidates.append(Candidate(AVERAGE, None, {}, update.average, update.average_interval))
    elif update is None and problem.averages and not problem.strategy.several:
        candidates.append(Candidate(AVERAGE, None, {}, None))
    return [*candidates, _default_candidate(problem, state)]


def is_learned(problem: Problem, candidate: Candidate) -> bool:
    """Whether it is the model of a penalty learner."""
    return problem.strategy.kind == "penalties" and candidate.kind == BEST


def best_of_run(problem: Problem, state: RunState) -> Trial | None:
    """The best trial; of several models the best that was scored on all folds."""
    return best_full_trial(state) if problem.strategy.several else state.best_trial


def best_candidate(state: RunState, best: Trial) -> Candidate:
    """The best trial, its score corrected for the choice where the run has done so."""
    candidate, update = _trial_candidate(BEST, best), state.ensemble
    if update is None or update.single is None or update.single_interval is None:
        return candidate
    return replace(candidate, score=update.single, interval=update.single_interval)


def best_full_trial(state: RunState) -> Trial | None:
    """The best trial that was scored on all folds; the best of all where none was."""
    trials = [trial for trial in state.scored_trials() if not trial.behind]
    sign = 1.0 if state.maximize else -1.0
    # Where a person took all of them out, one of these is still better than none.
    trials = [trial for trial in trials if trial.number not in state.excluded] or trials
    return max(trials, key=lambda t: (sign * t.score, -t.number), default=state.best_trial)


def _simplest_trial(state: RunState, best: Trial) -> Trial:
    sign = 1.0 if state.maximize else -1.0

    def sort_key(trial: Trial) -> tuple[int, float, int]:
        name, _ = split_model_setting(trial.setting)
        # A model that is not installed any more counts as the least simple.
        complexity = MODELS[name].complexity if name in MODELS else 9
        return complexity, -sign * trial.score, trial.number

    trials = [t for t in state.scored_trials() if not t.behind and t.number not in state.excluded]
    near = [trial for trial in trials if sign * trial.score >= sign * best.score - best.error]
    return min(near or [best], key=sort_key)


def _trial_candidate(kind: str, trial: Trial) -> Candidate:
    return Candidate(kind, trial.number, dict(trial.setting), trial.score)


def _default_candidate(problem: Problem, state: RunState) -> Candidate:
    setting = problem.default
    for trial in state.scored_trials():
        if dict(trial.setting) == setting and not trial.behind:
            return _trial_candidate(DEFAULT, trial)
    return Candidate(DEFAULT, None, setting, None)


def untried_models(state: RunState) -> dict[str, float]:
    """{model: expected seconds of its first trial} of the usable models without a trial."""
    if state.compared is None:
        return {}
    tried_models = {split_model_setting(trial.setting)[0] for trial in state.trials}
    return {
        entry.model: entry.takes
        for entry in state.compared.models
        if entry.state != "failed" and entry.model not in tried_models
    }


@dataclass(frozen=True)
class SelectedModel:
    """The chosen candidate, fitted on the training rows."""

    kind: str
    pipeline: Pipeline
    members: tuple[int, ...] = ()  # trials of an average, in the order of its fitted models

    def member_pipeline(self, number: int | None) -> Pipeline | None:
        """As a pipeline; None where the trial is no member."""
        fitted_models = getattr(self.pipeline.named_steps["model"], "estimators_", ())
        if number not in self.members or len(fitted_models) != len(self.members):
            return None
        estimator = fitted_models[self.members.index(number)]
        return Pipeline([("prepare", self.pipeline.named_steps["prepare"]), ("model", estimator)])


def candidate_results(
    problem: Problem,
    state: RunState,
    selected_model: SelectedModel,
    predictions: ComparedPredictions,
    comparison: ComparisonContext,
    *,
    tests_all: bool,
) -> list[CandidateResults]:
    """Those beside the selected model and the default one are tested only where it `tests_all`."""
    dataset = problem.dataset
    row_seconds = {
        selected_model.kind: predictions.tuned_seconds,
        DEFAULT: predictions.default_seconds,
    }

    def with_test_scores(entry: CandidateResults, candidate: Candidate) -> CandidateResults:
        try:
            pipeline = _fit_candidate(problem, state, candidate, selected_model)
            test = (*problem.test_data, dataset.task, dataset.classes)
            tuned, seconds = timed_predictions(pipeline, *test)
        except Exception as error:  # one that cannot be fitted is no candidate any more
            return replace(entry, failure=one_line_error(error))
        is_average, setting = candidate.kind == AVERAGE, candidate.setting
        context = replace(comparison, setting=setting, validation={}, is_average=is_average)
        results = results_of(replace(predictions, tuned=tuned), context)
        return replace(
            entry,
            test=results.test,
            test_interval=results.test_interval,
            gain=results.gain,
            gain_over_baseline=results.gain_over_baseline,
            row_seconds=seconds,
        )

    entries, update = [], state.ensemble
    members = len(selected_model.members) or (len(update.members) if update else None)
    for candidate in candidates_of(problem, state):
        entry = CandidateResults(
            kind=candidate.kind,
            trial=candidate.number,
            setting=candidate.setting,
            validation=candidate.score,
            validation_interval=candidate.interval,
            taken=candidate.kind == selected_model.kind,
            members=members if candidate.kind == AVERAGE else None,
            row_seconds=row_seconds.get(candidate.kind),
        )
        # The results themselves hold the scores of these two.
        if tests_all and candidate.kind not in row_seconds:
            entry = with_test_scores(entry, candidate)
        entries.append(entry)
    return entries


def _fit_candidate(
    problem: Problem, state: RunState, candidate: Candidate, selected_model: SelectedModel
) -> Pipeline:
    if candidate.kind == AVERAGE:
        return fit_averaged_model(problem, state, {}).pipeline
    if is_learned(problem, candidate):
        return recorded_fit(problem, state).pipeline()
    if (member := selected_model.member_pipeline(candidate.number)) is not None:
        return member
    pipeline = problem.pipeline(candidate.setting)
    fit_with_remarks(pipeline, *problem.training_data)
    return pipeline
