"""The end of a run: the best setting fitted on all training rows and tested on unseen ones."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.datasets.preparation import output_names
from core.errors import UnusableError
from core.estimators.baseline import baseline_pipeline
from core.estimators.fitting import fit
from core.space import Setting
from core.tuning.averaged_model import averaged_model
from core.tuning.clock import Clock
from core.tuning.events import Event, RunFailed, RunStopped
from core.tuning.learning import Learned, refit
from core.tuning.plan import Plan
from core.tuning.problem import Problem, as_begun, build_problem
from core.tuning.results import Comparison, results_of
from core.tuning.run_folder import RunFolder, write_whole
from core.tuning.standing import Standing
from core.tuning.structured_metrics import STRUCTURED_TASKS
from core.tuning.takeaway import takeaway_of
from core.tuning.threshold import Threshold, choose_threshold, of_costs, with_threshold
from core.tuning.told import told_by


@dataclass(frozen=True)
class Winner:
    """The tuned model: a pipeline fitted on the training rows, and how it came about."""

    pipeline: Pipeline
    setting: Setting
    validation: dict[str, float]
    remarks: tuple[str, ...] = ()
    learned: Learned | None = None
    ensemble: dict[str, Any] | None = None
    threshold: Threshold | None = None


def conclude(
    plan: Plan,
    dataset: Dataset,
    events: Sequence[Event],
    *,
    folder: RunFolder | None = None,
    because: str = "it was stopped",
) -> Event:
    """The last event of a run that was stopped or killed: what was best until then is kept.

    Args:
        plan: the run's plan.
        dataset: its data.
        events: everything the run reported so far.
        folder: where the event is recorded and the fitted best is kept.
        because: why the run ends here, a clause.

    Returns:
        RunStopped with results, or RunFailed where no trial or step had ended.
    """
    standing = Standing()
    for event in events:
        standing.consume(event)
    clock = Clock(standing.seconds)
    problem = as_begun(build_problem(plan, dataset), standing.started)
    if standing.best is None and not standing.steps:
        first = "trial" if problem.strategy.kind == "trials" else "step"
        sentence = f"The run was stopped before its first {first} ended; there is nothing to keep."
        last: Event = RunFailed(sentence=sentence)
    else:
        results = conclusion(problem, standing, clock.seconds, because, folder, None)
        last = RunStopped(because=because, results=results)
    last = replace(last, seconds=round(clock.seconds, 4))
    if folder is not None:
        with folder.owned():
            folder.append(last)
    return last


def conclusion(
    problem: Problem,
    standing: Standing,
    seconds: float,
    because: str,
    folder: RunFolder | None,
    learned: Learned | None,
    kept: Mapping[int, Any] | None = None,
) -> dict[str, Any]:
    """Fit the winner and the default on all training rows, test both, keep the winner.

    Args:
        problem: the run's problem.
        standing: how the run stands.
        seconds: of work until now.
        because: why the run ends.
        folder: where the fitted best goes; None for nowhere.
        learned: the penalty learner's own state, where it is at hand (saves a fit).
        kept: {trial: fitted estimator} of the members of an average, likewise.

    Returns:
        The results as described in core.tuning.results.
    """
    if problem.averages:
        winner = _average(problem, standing, kept or {})
    elif problem.strategy.kind == "trials":
        winner = _best_trial(problem, standing)
    else:
        winner = _learned(problem, standing, learned)
    threshold = choose_threshold(problem, winner.pipeline, winner.learned)
    if threshold is not None:
        decided = with_threshold(winner.pipeline, threshold, problem.dataset.classes)
        winner = replace(winner, pipeline=decided, threshold=threshold)
    X, y = problem.train
    default = problem.pipeline(problem.default)
    baseline = baseline_pipeline(problem.dataset.task, problem.preparation())
    for other in (default, baseline):
        fit(other, X, y)
    dataset = problem.dataset
    models = (winner.pipeline, default, baseline)
    told = told_by(models, *problem.test, dataset.task, dataset.classes, _test_groups(problem))
    results = results_of(told, _comparison(problem, winner))
    results["remarks"] = [*winner.remarks, *results["remarks"]]
    if problem.metric_reason:
        results["metric_reason"] = problem.metric_reason
    if threshold is not None:
        results["costs"] = of_costs(problem, threshold, told)
    results |= _record(standing, winner, seconds, because, problem)
    if folder is not None:
        _keep(problem, folder, winner)
    return results


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
        validation_rows=sum(len(rows) for _, rows in problem.splits) if validated else 0,
        seed=problem.plan.seed,
        averaged=problem.averages,
        second_file=dataset.test is not None,
    )


def _test_groups(problem: Problem) -> np.ndarray | None:
    dataset = problem.dataset
    if dataset.test is not None:
        # The groups of another file are only known where they are part of the task.
        return dataset.test.row_groups if dataset.task == "sequence" else None
    return None if dataset.row_groups is None else dataset.row_groups[problem.test_rows]


def _best_trial(problem: Problem, standing: Standing) -> Winner:
    best = standing.best
    assert best is not None  # callers have checked that a trial has ended
    pipeline = problem.pipeline(best.setting)
    remarks = fit(pipeline, *problem.train)
    return Winner(pipeline, best.setting, {problem.metric.name: best.score}, remarks)


def _average(problem: Problem, standing: Standing, kept: Mapping[int, Any]) -> Winner:
    average = averaged_model(problem, standing, kept)
    best = standing.trials[average.best]
    # What rows say that had a part in the choice would flatter.
    validation = average.told["held_out"]
    if not validation and problem.judged != "training":
        validation = {problem.metric.name: best.score}
    return Winner(
        average.pipeline,
        best.setting,
        validation,
        tuple(average.remarks),
        ensemble=average.told,
    )


def _learned(problem: Problem, standing: Standing, learned: Learned | None) -> Winner:
    if learned is None:
        learned = refit(problem, standing)
    validation = {} if learned.holdout_loss is None else {"holdout_loss": learned.holdout_loss}
    return Winner(learned.pipeline(), {}, validation, learned.remarks, learned)


def _record(
    standing: Standing, winner: Winner, seconds: float, because: str, problem: Problem
) -> dict[str, Any]:
    learned = winner.learned
    ensemble = {"ensemble": winner.ensemble} if winner.ensemble else {}
    return {
        **ensemble,
        "groups": learned.penalties if learned else {},
        "switched_off": learned.switched_off if learned else [],
        "fits": standing.fits,
        "trials": len(standing.trials),
        "failed": len(standing.failed),
        "seconds": round(seconds, 4),
        "stopped_because": because,
        "seed": problem.plan.seed,
    }


def _keep(problem: Problem, folder: RunFolder, winner: Winner) -> None:
    dataset, learned = problem.dataset, winner.learned
    test_rows = np.arange(dataset.test.rows) if dataset.test else problem.test_rows
    once = problem.averages and problem.judged == "validation"
    takeaway = takeaway_of(
        dataset,
        problem.train_rows,
        test_rows,
        fitted_rows=problem.splits[0][0] if once else (),
        output_names=_prepared_names(problem, winner),
        penalties=learned.penalties if learned else None,
        group_of_output=learned.group_of_output if learned else (),
        noise_variance=learned.noise_variance if learned else None,
        standardize=problem.plan.standardize,
        threshold=winner.threshold.value if winner.threshold else None,
    )
    draft = folder.model_path.with_name(folder.model_path.name + ".part")
    try:
        joblib.dump(winner.pipeline, draft)
        draft.replace(folder.model_path)
        write_whole(folder.takeaway_path, takeaway.as_json())
    except OSError as error:
        raise _not_kept(folder.path, error) from error
    finally:
        draft.unlink(missing_ok=True)


def _prepared_names(problem: Problem, winner: Winner) -> list[str]:
    """The columns of the prepared matrix; none where the model takes raw rows."""
    if problem.dataset.task in STRUCTURED_TASKS:
        return []
    return output_names(winner.pipeline.named_steps["prepare"])


def _not_kept(path: Path, error: OSError) -> UnusableError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return UnusableError(
        "the disk is full" if full else f"the model cannot be kept here ({error.strerror})",
        where=str(path),
        cure="make room and resume the run; no trial is lost",
    )
