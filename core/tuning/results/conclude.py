"""The end of a run: the winner is judged by rows it was not fitted to, and kept."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from core.datasets.dataset import Dataset
from core.datasets.preparation import output_names
from core.errors import UnusableError, cannot_write
from core.tuning.begun import as_begun
from core.tuning.events import Event, ModelPicked, RunFailed, RunFinished, RunStopped
from core.tuning.history.run_history import read_before
from core.tuning.learning.run import Learned, recorded
from core.tuning.plan import Plan
from core.tuning.problem import Problem, build_problem, read_data
from core.tuning.results.candidates import Taken, candidate, judged_candidates
from core.tuning.results.comparison import Comparison, results_of
from core.tuning.results.judging import Course, predictions_of_folds, predictions_of_test, repeats
from core.tuning.results.moved_default import said_of_moved
from core.tuning.results.takeaway import (
    NO_PENALTIES,
    Penalties,
    read_takeaway,
    takeaway_of,
    versions,
)
from core.tuning.results.threshold import of_costs
from core.tuning.results.training_rows import training_rows_of
from core.tuning.results.winner import Winner, taken_away, winner_of
from core.tuning.runs.best import has_best, keep_best, may_open_best
from core.tuning.runs.clock import Clock
from core.tuning.runs.edges import edges_of
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import RunState, folded
from core.tuning.runs.waiting import written
from core.tuning.scores.structured_metrics import STRUCTURED_TASKS
from core.writing import write_whole

_UNITS = {"sequence": "tokens", "structure": "molecules", "topics": "texts"}


def conclude(
    plan: Plan,
    dataset: Dataset,
    events: Sequence[Event],
    *,
    folder: RunFolder | None = None,
    because: str = "it was stopped",
) -> Event:
    """The last event of a run that was stopped or killed: what was best until then is kept.

    One that was cut off while its winner was tested had come to its own end, and is called so.

    Args:
        plan: the run's plan.
        dataset: its data.
        events: everything the run reported so far.
        folder: where the event is recorded and the fitted best is kept.
        because: why the run ends here, a clause, unless it had ended by itself.

    Returns:
        RunStopped or RunFinished with results, or RunFailed where no trial or step had ended.
    """
    state = folded(events)
    clock = Clock(state.seconds)
    problem = as_begun(build_problem(plan, dataset), state.started if events else None)
    if state.best is None and state.step is None:
        first = "trial" if problem.strategy.kind == "trials" else "step"
        sentence = f"The run was stopped before its first {first} ended; there is nothing to keep."
        last: Event = RunFailed(sentence=sentence)
    else:
        course = Course(state, clock, read_before(events), stopped=True)
        because = state.tuning_ended.because if state.tuning_ended else because
        results = _drained(conclusion(problem, course, because, folder, None))
        ended = RunFinished if state.tuning_ended else RunStopped
        last = ended(because=because, results=results)
    last = replace(last, seconds=round(clock.seconds, 4))
    if folder is not None:
        with folder.owned():
            folder.append(last)
    return last


def pick(folder: RunFolder, given: ModelPicked, dataset: Dataset | None = None) -> Event:
    """Take another model away from a finished run than the one it kept: fit, judge and keep it.

    Args:
        folder: a run of trials that has ended.
        given: which one.
        dataset: its data, where they are at hand.

    Returns:
        The run's new last event, with the results of the one that was picked.

    Raises:
        UnusableError: the run goes on, has no such candidate, or its data cannot be read.
    """
    plan, events = folder.plan, folder.events()
    state = folded(events)
    if state.ended is None or state.results is None:
        raise UnusableError(
            "this run has not ended", where=str(folder.path), cure="wait, or stop it first"
        )
    dataset = dataset or read_data(plan.data)
    problem = as_begun(build_problem(plan, dataset), state.started)
    candidate(problem, state, given)  # refuses before anything is written
    with folder.owned():
        folder.append(given)
    because = state.results.get("stopped_because", "")
    return conclude(plan, dataset, [*events, given], folder=folder, because=because)


def fit_best_again(folder: RunFolder, dataset: Dataset | None = None) -> str:
    """Fit the best of a run again where the file that keeps it cannot be opened on this computer.

    Trials, scores and results stay as they are.

    Args:
        folder: a run that has ended.
        dataset: its data, where they are at hand.

    Returns:
        What was done, a sentence; "" where there was nothing to do.

    Raises:
        UnusableError: the data cannot be read, or have changed since the run.
    """
    if may_open_best(folder) or not has_best(folder):
        return ""
    plan, state = folder.plan, folded(folder.events())
    dataset = dataset or read_data(plan.data)
    if read_takeaway(folder.path).source["fingerprint"] not in ("", dataset.source.fingerprint):
        raise UnusableError(
            "the model must be fitted again, and the data has changed since this run",
            where=dataset.source.path or dataset.name,
            cure="put the old file back",
        )
    problem = as_begun(build_problem(plan, dataset), state.started)
    learned = recorded(problem, state) if problem.strategy.kind == "penalties" else None
    winner = winner_of(problem, state, learned, {})
    last, _ = taken_away(problem, winner)
    with folder.owned():
        _keep(problem, folder, winner, last)
    return (
        "The file that kept this run's model could run code, and does not come from this version "
        "of Tunescope on this computer: it stays closed, and the model was fitted again."
    )


def _drained(concluding: Generator[Event, None, dict[str, Any]]) -> dict[str, Any]:
    while True:
        try:
            next(concluding)
        except StopIteration as ended:
            return dict(ended.value)


def conclusion(
    problem: Problem,
    course: Course,
    because: str,
    folder: RunFolder | None,
    learned: Learned | None,
    kept: Mapping[int, Any] | None = None,
) -> Generator[Event, None, dict[str, Any]]:
    """Judge the winner beside the default and the baseline; keep it, fitted on all rows.

    Args:
        problem: the run's problem.
        course: how the run went.
        because: why it ends.
        folder: where the fitted best goes; None for nowhere.
        learned: the penalty learner's own state, where it is at hand (saves a fit).
        kept: {trial: fitted estimator} of the members of an average, likewise.

    Yields:
        What is said while outer folds are tested.

    Returns:
        The results as described in core.tuning.results.comparison.
    """
    state = course.state
    if problem.strategy.kind == "penalties" and learned is None:
        learned = recorded(problem, state)
    if problem.nested:
        predictions = yield from predictions_of_folds(problem, course, learned)
        winner = winner_of(problem, state, learned, kept or {})
    else:
        winner = winner_of(problem, state, learned, kept or {}).without_rows()
        learned = None
        predictions = predictions_of_test(problem, winner.pipeline)
    comparison = replace(_comparison(problem, winner), picked=state.picked is not None)
    results = results_of(predictions, comparison)
    if problem.strategy.several:
        shown = None if course.stopped or problem.nested else predictions
        results["taken"] = winner.kind
        taken = Taken(winner.kind, winner.pipeline, winner.members)
        results["candidates"] = judged_candidates(problem, state, taken, shown, comparison)
    seconds = course.clock.seconds
    last, said = taken_away(problem, winner)
    facts = _evaluation(problem, refitted=last is not winner, repeated=repeats(problem, course))
    if not facts["repeated"]:
        for gain in ("gain", "gain_over_baseline"):
            results[gain]["real"] = False
    results["evaluation"] = facts
    results["remarks"] = [*winner.remarks, *results["remarks"], *said]
    if problem.metric_reason:
        results["metric_reason"] = problem.metric_reason
    if problem.dataset.task == "structure":
        given = problem.plan.gamma
        tuned = given if winner.gamma is None else winner.gamma
        results["gamma"] = {"tuned": tuned, "default": given}
    if winner.threshold is not None:
        results["costs"] = of_costs(problem, winner.threshold, predictions)
    results["remarks"] += [*said_of_moved(problem), *(e.sentence for e in edges_of(state))]
    results |= _record(state, winner, seconds, because, problem)
    if folder is not None and course.stopped:
        _keep(problem, folder, winner, last)
    elif folder is not None:
        keep = partial(_keep, problem, folder, winner, last)
        yield from written(keep, partial(state.progress, None))
    return results


def _evaluation(problem: Problem, *, refitted: bool, repeated: bool) -> dict[str, Any]:
    """How the scores came about, and which rows the model that is kept was fitted on."""
    dataset = problem.dataset
    part = problem.keeps and problem.judged == "validation"
    every = len(problem.train_rows) == dataset.rows and not part
    return {
        "kind": "nested" if problem.nested else "test",
        "folds": len(problem.outer),
        "repeated": repeated or not problem.nested,
        "second_file": dataset.test is not None,
        "fitted": "all" if refitted or every else "train",
        "rows": dataset.rows,
        "units": _UNITS.get(dataset.task, "rows"),
        "drawn": dataset.sampled is not None,
    }


def _comparison(problem: Problem, winner: Winner) -> Comparison:
    dataset = problem.dataset
    # Learners and scores on the training rows themselves have no validation score of this metric.
    validated = problem.strategy.kind == "trials" and problem.judged != "training"
    return Comparison(
        task=dataset.task,
        classes=dataset.classes,
        metric=problem.metric,
        setting=winner.setting,
        default_setting=problem.default,
        validation=winner.validation,
        validation_rows=problem.validated_rows if validated else 0,
        seed=problem.plan.seed,
        averaged=winner.ensemble is not None,
        second_file=dataset.test is not None,
    )


def _record(
    state: RunState, winner: Winner, seconds: float, because: str, problem: Problem
) -> dict[str, Any]:
    learned = winner.learned
    ensemble = {"ensemble": winner.ensemble} if winner.ensemble else {}
    return {
        **ensemble,
        "groups": learned.penalties if learned else {},
        "switched_off": learned.switched_off if learned else [],
        "fits": state.fits,
        "trials": state.finished,
        "failed": state.failed,
        "seconds": round(seconds, 4),
        "stopped_because": because,
        "seed": problem.plan.seed,
    }


def _keep(problem: Problem, folder: RunFolder, judged: Winner, last: Winner) -> None:
    """Write the model that is kept, and what must be known of it and of the one that was judged."""
    dataset = problem.dataset
    test_rows = np.arange(dataset.test.rows) if dataset.test else problem.test_rows
    once = problem.keeps and problem.judged == "validation"
    takeaway = takeaway_of(
        dataset,
        problem.train_rows,
        test_rows,
        fitted_rows=problem.splits[0][0] if once else (),
        output_names=_prepared_names(problem, last),
        penalties=_penalties(last.learned),
    )
    other = judged.learned if last is not judged else None
    refitted = last is not judged
    fitted = None if refitted else np.array(takeaway.fitted_rows or takeaway.train_rows, dtype=int)
    training = training_rows_of(dataset, fitted)
    takeaway = replace(
        takeaway,
        training=training.as_dict() if training else {},
        source=_with_sample(takeaway.source, dataset),
        test_source=_with_sample(takeaway.test_source, dataset.test),
        standardize=problem.plan.standardize,
        threshold=judged.threshold.value if judged.threshold else None,
        judged=_penalties(other).as_dict() if other else {},
        refitted=refitted,
        sampled=dataset.sampled.as_dict() if dataset.sampled else {},
        taught=last.taught,
        versions=versions(problem.model.extra),
    )
    keep_best(folder, last.pipeline)
    try:
        write_whole(folder.takeaway_path, takeaway.as_json())
    except OSError as error:
        cure = "make room and resume the run; no trial is lost"
        raise cannot_write("the model", folder.path, error, cure, room=cure) from error


def _with_sample(source: dict[str, Any], dataset: Dataset | None) -> dict[str, Any]:
    """A file as the takeaway describes it, with how its rows were drawn."""
    sampled = dataset.sampled if dataset is not None else None
    return source if sampled is None else {**source, "sampled": sampled.as_dict()}


def _penalties(learned: Learned | None) -> Penalties:
    if learned is None:
        return NO_PENALTIES
    return Penalties(learned.penalties, learned.group_of_output, learned.noise_variance)


def _prepared_names(problem: Problem, winner: Winner) -> list[str]:
    """The columns of the prepared matrix; none where the model takes raw rows."""
    if problem.dataset.task in STRUCTURED_TASKS:
        return []
    return output_names(winner.pipeline.named_steps["prepare"])
