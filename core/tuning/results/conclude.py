"""The end of a run: the winner is tested on rows it was not fitted to, and written.

It happens in a copy of the process, the fit on all rows in another; if that is lost, the tested
model is kept.
"""

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from core.datasets.dataset import Dataset, DataSource
from core.datasets.memory_limit import run_bytes
from core.datasets.preparation import output_names
from core.errors import UnusableError, write_error
from core.processes import ProcessLostError, stream_from_fork
from core.space import Setting
from core.tuning import events as run_events
from core.tuning.guidance.column_encodings import encoding_sentences
from core.tuning.history.run_history import read_before
from core.tuning.learning.learning_run import recorded_fit
from core.tuning.learning.training import PenaltyFit
from core.tuning.plan import Plan
from core.tuning.problem import Problem
from core.tuning.problem_setup import as_first_started, build_problem, check_same_data, read_data
from core.tuning.ranges import edges_of, setting_value_text
from core.tuning.results.candidates import (
    SelectedModel,
    candidate_results,
    find_candidate,
    untried_models,
)
from core.tuning.results.comparison import ComparisonContext, results_of
from core.tuning.results.model_metadata import (
    NO_PENALTIES,
    LearnedPenalties,
    model_metadata,
    read_metadata,
    versions,
)
from core.tuning.results.test_evaluation import (
    EvaluationContext,
    predictions_of_folds,
    predictions_of_test,
    repeats_tuning,
)
from core.tuning.results.threshold import check_threshold, cost_results
from core.tuning.results.training_rows import training_rows_of
from core.tuning.results.tuned_model import (
    KEPT_TESTED,
    TunedModel,
    fit_tuned_model,
    has_other_rows,
    refit_on_all_rows,
)
from core.tuning.run_results import EnsembleResults, EvaluationFacts, GammaValues, Results
from core.tuning.runs.best import has_best, keep_best, may_open_best
from core.tuning.runs.run_clock import ABANDONED, RunClock, time_is_up
from core.tuning.runs.run_folder import RunFolder, write_with_retry
from core.tuning.runs.state import state_from_events
from core.writing import write_whole

NAME = "process that makes the result"
ENDING_SHARE, ENDING_SECONDS = 0.1, 5.0  # of the run's minutes, for the last fit beyond them
MIN_ENDING_SECONDS = 60.0  # for all of the end
KEPT = "The trials and the best setting are kept: resume the run to fit, test and save it again."


def conclude(
    plan: Plan,
    dataset: Dataset,
    events: Sequence[run_events.Event],
    *,
    folder: RunFolder | None = None,
    because: str = "it was stopped",
) -> run_events.RunFinished | run_events.RunStopped | run_events.RunFailed:
    """The last event of a run that was stopped or killed, with its best so far as the result.

    It is RunFailed where no trial or step had ended. `because` is a clause, for a run that had not
    ended by itself.
    """
    state = state_from_events(events)
    clock = RunClock(state.seconds)
    problem = as_first_started(build_problem(plan, dataset), state.started if events else None)
    if state.best_trial is None and state.last_step is None:
        first = "trial" if problem.strategy.kind == "trials" else "step"
        sentence = f"The run was stopped before its first {first} ended; there is nothing to keep."
        last: run_events.RunFinished | run_events.RunStopped | run_events.RunFailed = (
            run_events.RunFailed(sentence=sentence)
        )
    else:
        before = read_before(events)
        context = EvaluationContext(problem, state, clock, folder, before, stopped=True)
        because = state.tuning_ended.because if state.tuning_ended else because
        # Tuning was over and only the test was cut off: that is the end it had come to.
        ended = run_events.RunFinished if state.tuning_ended else run_events.RunStopped
        try:
            results = _drain_events(evaluate_and_keep(context, because))
            last = ended(because=because, results=results)
        except ProcessLostError as error:
            last = run_events.RunFailed(sentence=f"{error} {KEPT}")
    last = replace(last, seconds=round(clock.seconds, 4))
    # A run that has not recorded its beginning begins when it is resumed.
    if folder is not None and events:
        with folder.hold_lock():
            folder.append(last)
    return last


def select_model(
    folder: RunFolder,
    selection: run_events.ModelSelected | run_events.ThresholdSelected,
    dataset: Dataset | None = None,
) -> run_events.RunFinished | run_events.RunStopped | run_events.RunFailed:
    """Fit, test and write what a person selected; the run's new last event."""
    plan, events = folder.plan, folder.all_events()
    state = state_from_events(events)
    if state.ended is None or state.results is None:
        cure = "wait, or stop it first"
        raise UnusableError("this run has not ended", where=str(folder.path), cure=cure)
    dataset = dataset or read_data(plan.data)
    problem = as_first_started(build_problem(plan, dataset), state.started)
    # Refused before anything is written.
    if isinstance(selection, run_events.ThresholdSelected):
        check_threshold(problem, selection.value)
    else:
        find_candidate(problem, state, selection)
    with folder.hold_lock():
        folder.append(selection)
    because = state.results.stopped_because
    return conclude(plan, dataset, [*events, selection], folder=folder, because=because)


def fit_best_again(folder: RunFolder, dataset: Dataset | None = None) -> str:
    """Where its file cannot be opened here; a sentence, or ""."""
    if may_open_best(folder) or not has_best(folder):
        return ""
    plan, state = folder.plan, state_from_events(folder.all_events())
    dataset = dataset or read_data(plan.data)
    changed = "the model must be fitted again, and the data has changed since this run"
    check_same_data(dataset, read_metadata(folder.path).source.fingerprint, changed)
    problem = as_first_started(build_problem(plan, dataset), state.started)
    learned = recorded_fit(problem, state) if problem.strategy.kind == "penalties" else None
    tuned_model = fit_tuned_model(problem, state, learned, {})
    final_model, _ = refit_on_all_rows(problem, tuned_model)
    with folder.hold_lock():
        _write_model(problem, folder, tuned_model, final_model)
    return (
        "The file that kept this run's model could run code, and does not come from this version "
        "of Tunescope on this computer: it stays closed, and the model was fitted again."
    )


def _drain_events(concluding: Generator[run_events.Event, None, Results]) -> Results:
    while True:
        try:
            next(concluding)
        except StopIteration as ended:
            return ended.value


def evaluate_and_keep(
    context: EvaluationContext,
    because: str,
    learned: PenaltyFit | None = None,
    fitted_models: Mapping[int, Any] | None = None,
) -> Generator[run_events.Event, None, Results]:
    """Test the winner against the default and the baseline; write it, fitted on all rows.

    `learned` and `fitted_models` are as of `fit_tuned_model`. Events are those of testing outer
    folds, of waiting for a disk, and Progress. A ProcessLostError says that the process that does
    so was lost, or took too long.
    """
    start, plan = context.clock.seconds, context.problem.plan
    # The end may take as long as the tuning; that of a run of seconds a minute.
    limit = math.inf if plan.minutes is None else max(MIN_ENDING_SECONDS, 60 * plan.minutes)
    stream = context.clock.stamped(_results_of(context, because, learned, fitted_models or {}))
    beat, memory = _beat(context, start + limit), plan.max_bytes or run_bytes()
    events = stream_from_fork(stream, context.requests, name=NAME, beat=beat, memory=memory)
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            return end.value
        if isinstance(event, (run_events.EvaluationShortened, run_events.TrialExcluded)):
            context.state.consume(event)  # the copy's own state has it
        yield event


def _beat(context: EvaluationContext, end_seconds: float) -> Callable[[], run_events.Progress]:
    """What makes a Progress event until a second of the run, then raises ProcessLostError."""

    def beat() -> run_events.Progress:
        if context.clock.seconds > end_seconds:
            raise ProcessLostError(f"The {NAME} took too long and was ended.")
        return context.state.progress(None)

    return beat


def _results_of(
    context: EvaluationContext,
    because: str,
    learned: PenaltyFit | None,
    fitted_models: Mapping[int, Any],
) -> Generator[run_events.Event, None, Results]:
    problem, state, clock = context.problem, context.state, context.clock
    end_seconds = _refit_end(problem, clock.seconds)
    if problem.strategy.kind == "penalties" and learned is None:
        learned = recorded_fit(problem, state)
    fit_start = clock.seconds
    if problem.is_nested:
        predictions = yield from predictions_of_folds(context, learned)
        fit_start = clock.seconds
        tuned_model = fit_tuned_model(problem, state, learned, fitted_models)
        fit_seconds = clock.seconds - fit_start
    else:
        # The learner's copy of the rows would stay in memory through the test and the last fit.
        tuned_model = fit_tuned_model(problem, state, learned, fitted_models).without_rows()
        learned, fit_seconds = None, clock.seconds - fit_start
        predictions = predictions_of_test(problem, tuned_model.pipeline)
    last_start = end_seconds - fit_seconds  # of another fit as long
    comparison = replace(_comparison(problem, tuned_model), is_selected=state.picked is not None)
    results = results_of(predictions, comparison)
    has_time = clock.seconds < last_start and not context.stopped
    candidates = candidate_results(
        problem,
        state,
        SelectedModel(tuned_model.kind, tuned_model.pipeline, tuned_model.members),
        predictions,
        comparison,
        tests_all=has_time and not problem.is_nested,
    )
    results = replace(
        results,
        taken=tuned_model.kind,
        candidates=candidates,
        untried=untried_models(state) or None,
        validation_interval=tuned_model.validation_interval,
    )
    final_fit = yield from _refit_and_write(context, tuned_model, last_start, end_seconds)
    repeated = repeats_tuning(context)
    facts = _evaluation_facts(problem, refitted=final_fit.is_refitted, repeated=repeated)
    results = replace(results, evaluation=facts)
    if results.is_optimistic:
        gain, over_baseline = results.gain, results.gain_over_baseline
        gain, over_baseline = replace(gain, real=False), replace(over_baseline, real=False)
        results = replace(results, gain=gain, gain_over_baseline=over_baseline)
    plan, threshold, learned = problem.plan, tuned_model.threshold, tuned_model.learned
    gamma = plan.gamma if tuned_model.gamma is None else tuned_model.gamma
    return replace(
        results,
        remarks=[
            *tuned_model.remarks,
            *results.remarks,
            *final_fit.remarks,
            *moved_default_remarks(problem),
            *divided_group_remarks(problem.dataset),
            *(edge.sentence for edge in edges_of(state)),
        ],
        metric_reason=problem.metric_reason or None,
        target_unit=problem.dataset.units_of_columns.get(problem.dataset.target_name),
        gamma=GammaValues(gamma, plan.gamma) if problem.dataset.task.has_pairs else None,
        costs=cost_results(problem, threshold, predictions) if threshold and plan.costs else None,
        threshold=state.threshold,
        ensemble=final_fit.ensemble,
        groups=learned.penalties if learned else {},
        switched_off=learned.switched_off if learned else [],
        group_ranges=learned.ranges if learned else None,
        fits=state.fit_count,
        trials=len(state.trials),
        # A trial that the end of the time cut off is no failure.
        failed=sum(trial.failure not in ("", ABANDONED) for trial in state.trials),
        seconds=round(clock.seconds, 4),
        stopped_because=because,
        seed=plan.seed,
    )


def moved_defaults(problem: Problem) -> Setting:
    """{setting: the model's default} of those that the plan's ranges leave out."""
    plan = problem.plan
    if not (plan.ranges or plan.fixed) or problem.strategy.several:
        return {}
    # The axes of a resumed run are those that were searched, narrowed already.
    model_axes = replace(problem, axes=()).own_axes if problem.axes else problem.own_axes
    setting = problem.default
    return {a.name: a.default for a in model_axes if a.default != setting.get(a.name, a.default)}


def divided_group_remarks(dataset: Dataset) -> list[str]:
    """A warning where one patient or customer may be trained on and tested."""
    findings = dataset.findings if dataset.test is None else ()
    return [f.sentence for f in findings if f.proposal and "group" in f.proposal.roles.values()]


def moved_default_remarks(problem: Problem) -> list[str]:
    """A sentence that names each such setting with both values."""
    usual_values, setting = moved_defaults(problem), problem.default
    if not usual_values:
        return []
    changes = ", ".join(
        f"{name} {setting_value_text(setting[name])} instead of {setting_value_text(value)}"
        for name, value in usual_values.items()
    )
    return [
        "The ranges leave the model's default setting out; what is compared as the default setting "
        f"is the nearest one inside: {changes}."
    ]


def _refit_end(problem: Problem, start: float) -> float:
    limit = 60 * (problem.plan.minutes or math.inf)  # a busy machine's run started its end later
    return (1 + ENDING_SHARE) * max(start, limit) + ENDING_SECONDS


@dataclass(frozen=True)
class _FinalFit:
    """What became of the fit on all rows."""

    is_refitted: bool
    remarks: tuple[str, ...]
    ensemble: EnsembleResults | None  # of the model that is kept


def _refit_and_write(
    context: EvaluationContext, tested_model: TunedModel, last_start: float, end_seconds: float
) -> Generator[run_events.Event, None, _FinalFit]:
    """Write the final model: fitted on all rows in its process, or the tested one, if that is lost.

    The fit begins by the run's second `last_start` and ends by `end_seconds`, or not at all.
    """

    def refit() -> Generator[run_events.Event, None, _FinalFit]:
        final_model, remarks = refit_on_all_rows(context.problem, tested_model)
        yield from _write_patiently(context, tested_model, final_model)
        return _FinalFit(final_model is not tested_model, remarks, final_model.ensemble)

    if not has_other_rows(context.problem):
        return (yield from refit())
    plan = context.problem.plan
    beat, memory = _beat(context, end_seconds), plan.max_bytes or run_bytes()
    try:
        if context.clock.seconds > last_start:
            raise ProcessLostError(f"{time_is_up(plan.minutes or 0.0).capitalize()}.")
        events = stream_from_fork(refit(), context.requests, name=NAME, beat=beat, memory=memory)
        return (yield from events)
    except ProcessLostError as error:
        yield from _write_patiently(context, tested_model, tested_model)
        return _FinalFit(False, (f"{KEPT_TESTED} {error}",), tested_model.ensemble)


def _write_patiently(
    context: EvaluationContext, tested_model: TunedModel, final_model: TunedModel
) -> Generator[run_events.Event, None, None]:
    if context.folder is None:
        return
    problem, folder = context.problem, context.folder
    write_model = partial(_write_model, problem, folder, tested_model, final_model)
    if context.stopped:
        write_model()
    else:
        yield from write_with_retry(write_model, partial(context.state.progress, None))


def _evaluation_facts(problem: Problem, *, refitted: bool, repeated: bool) -> EvaluationFacts:
    dataset = problem.dataset
    has_all_rows = len(problem.train_rows) == dataset.rows and not problem.has_holdout
    return EvaluationFacts(
        kind="nested" if problem.is_nested else "test",
        folds=len(problem.outer),
        repeated=repeated or not problem.is_nested,
        second_file=dataset.test is not None,
        fitted="all" if refitted or has_all_rows else "train",
        rows=dataset.rows,
        units=dataset.task.units,
        drawn=dataset.sampled is not None,
    )


def _comparison(problem: Problem, tuned_model: TunedModel) -> ComparisonContext:
    dataset = problem.dataset
    # Learners and scores on the training rows themselves have no validation score of this metric.
    has_validation = problem.strategy.kind == "trials" and problem.validation_scheme != "training"
    return ComparisonContext(
        task=dataset.task,
        classes=dataset.classes,
        metric=problem.metric,
        setting=tuned_model.setting,
        default_setting=problem.default,
        validation=tuned_model.validation,
        validation_rows=problem.validated_rows if has_validation else 0,
        seed=problem.plan.seed,
        is_average=tuned_model.ensemble is not None,
        second_file=dataset.test is not None,
    )


def _write_model(
    problem: Problem, folder: RunFolder, tested_model: TunedModel, final_model: TunedModel
) -> None:
    dataset = problem.dataset
    test_rows = np.arange(dataset.test.rows) if dataset.test else problem.test_rows
    steps = final_model.pipeline.named_steps  # of structured tasks the model takes raw rows
    names = [] if dataset.task.is_structured else output_names(steps["prepare"])
    metadata = model_metadata(
        dataset,
        problem.train_rows,
        test_rows,
        fitted_rows=problem.splits[0][0] if problem.has_holdout else (),
        output_names=names,
        encodings=_encodings(problem, final_model),
        penalties=_learned_penalties(final_model.learned),
    )
    refitted = final_model is not tested_model
    tested_fit = tested_model.learned if refitted else None
    fitted = None if refitted else np.array(metadata.fitted_rows or metadata.train_rows, dtype=int)
    metadata = replace(
        metadata,
        training=training_rows_of(dataset, fitted),
        source=_with_sample(dataset),
        test_source=_with_sample(dataset.test) if dataset.test else None,
        standardize=problem.plan.standardize,
        threshold=tested_model.threshold.value if tested_model.threshold else None,
        judged=_learned_penalties(tested_fit) if tested_fit else None,
        refitted=refitted,
        sampled=dataset.sampled.facts if dataset.sampled else None,
        taught=final_model.extra_rows,
        versions=versions(problem.model.extra),
    )
    keep_best(folder, final_model.pipeline)
    try:
        write_whole(folder.takeaway_path, metadata.as_json(), is_private=True)
    except OSError as error:
        cure = "make room and resume the run; no trial is lost"
        raise write_error("the model", folder.path, error, cure, room=cure) from error


def _with_sample(dataset: Dataset) -> DataSource:
    sampled = dataset.sampled
    return replace(dataset.source, sampled=sampled.facts if sampled else None)


def _learned_penalties(learned: PenaltyFit | None) -> LearnedPenalties:
    if learned is None:
        return NO_PENALTIES
    groups = list(learned.training.group_of_output)
    return LearnedPenalties(learned.penalties, groups, learned.noise_variance)


def _encodings(problem: Problem, tuned_model: TunedModel) -> list[str]:
    dataset = problem.dataset
    if dataset.table is None or not dataset.task.is_table:
        return []
    prepare, rows = tuned_model.pipeline.named_steps["prepare"], dataset.rows + dataset.set_aside
    return [f"{words}." for words in encoding_sentences(prepare, dataset.columns, rows).values()]
