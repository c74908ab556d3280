"""Another model of a run in the place of the tuned one: fitted now, and kept nowhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.datasets.preparation import output_names
from core.errors import UnusableError
from core.estimators.baseline import baseline_pipeline
from core.estimators.fitting import fit
from core.export.choices import BASELINE, TUNED, Choice, choice_named
from core.export.finished_run import FinishedRun
from core.export.without_examples import quieted
from core.tuning.problem import Problem, build_problem, read_data, take
from core.tuning.results.training_rows import training_rows_of
from core.tuning.scores.structured_metrics import STRUCTURED_TASKS

_OF_RUN = ("metric", "maximize", "default_setting", "default_test", "baseline_test", "evaluation")
_COST = ("fits", "trials", "failed", "seconds", "stopped_because", "seed")


def chosen_run(run: FinishedRun, which: str, dataset: Dataset | None = None) -> FinishedRun:
    """The run as exporters see it, with the chosen model for the tuned one.

    The model is fitted on the rows that the tuned one was fitted on. The run's folder stays as it
    is.

    Args:
        run: as it ended.
        which: tuned, default, baseline, or the number of a trial.
        dataset: the run's data, where they are at hand; otherwise they are read.

    Raises:
        UnusableError: the run has no such model, or its data cannot be read or have changed.
    """
    choice = choice_named(run.state, which)
    if choice.name == TUNED:
        return run
    dataset = dataset or read_data(run.plan.data)
    _check_same(run, dataset)
    problem = build_problem(run.plan, dataset)
    pipeline = _pipeline(problem, choice)
    rows = problem.fitted_rows
    remarks = fit(pipeline, take(dataset.features, rows), dataset.target[rows])
    training = training_rows_of(dataset, rows)
    made = replace(
        run,
        which=choice.name,
        fitted=pipeline,
        results=_results(run.results, choice, remarks),
        takeaway=replace(
            run.takeaway,
            refitted=len(rows) > len(problem.train_rows),
            judged={},
            fitted_rows=[],
            penalties={},
            group_names=[],
            group_of_output=[],
            noise_variance=None,
            threshold=None,
            output_names=_prepared_names(problem, pipeline),
            training=training.as_dict() if training else {},
        ),
    )
    return made if run.examples else quieted(made)


def _pipeline(problem: Problem, choice: Choice) -> Pipeline:
    if choice.name == BASELINE:
        return baseline_pipeline(problem.dataset.task, problem.preparation())
    return problem.pipeline(choice.setting)


def _prepared_names(problem: Problem, pipeline: Pipeline) -> list[str]:
    if problem.dataset.task in STRUCTURED_TASKS:
        return []
    return output_names(pipeline.named_steps["prepare"])


def _results(results: dict[str, Any], choice: Choice, remarks: tuple[str, ...]) -> dict[str, Any]:
    """What is known of the chosen model; comparisons of the tuned one are no part of it."""
    kept = {name: results[name] for name in (*_OF_RUN, *_COST) if name in results}
    validation = {} if choice.validation is None else {choice.judged_by: choice.validation}
    return {
        **kept,
        "setting": choice.setting,
        "validation": validation,
        "test": choice.test,
        "groups": {},
        "switched_off": [],
        "remarks": [choice.sentence, *remarks],
    }


def _check_same(run: FinishedRun, dataset: Dataset) -> None:
    if run.takeaway.source["fingerprint"] not in ("", dataset.source.fingerprint):
        raise UnusableError(
            "the data has changed since this run",
            where=dataset.source.path or dataset.name,
            cure="put the old file back, or export the tuned model",
        )
