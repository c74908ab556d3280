"""A run with another of its models in place of the tuned one, fitted now and not stored."""

from __future__ import annotations

from dataclasses import replace

from sklearn.pipeline import Pipeline

from core.datasets.dataset import Dataset
from core.datasets.prepared_columns import output_names
from core.errors import UnusableError
from core.estimators.baseline import baseline_pipeline
from core.estimators.fitting import fit_with_remarks
from core.export.exportable_models import BASELINE, TUNED, ExportableModel, exportable_model
from core.export.finished_run import FinishedRun
from core.export.redaction import without_examples
from core.tuning.problem import Problem, build_problem, read_data, take_rows
from core.tuning.results.training_rows import training_rows_of
from core.tuning.run_results import Results


def with_selected_model(
    run: FinishedRun, which: str, dataset: Dataset | None = None
) -> FinishedRun:
    """The run with another model in place of the tuned one, fitted on the same rows.

    Args:
        which: tuned, default, baseline, or the number of a trial.
        dataset: the run's data, read if None.

    Raises:
        UnusableError: the run has no such model, or its data cannot be read or have changed.
    """
    choice = exportable_model(run.state, which)
    if choice.name == TUNED:
        return run
    dataset = dataset or read_data(run.plan.data)
    _check_same(run, dataset)
    problem = build_problem(run.plan, dataset)
    pipeline = _unfitted_pipeline(problem, choice)
    rows = problem.fitted_rows
    remarks = fit_with_remarks(pipeline, take_rows(dataset.features, rows), dataset.target[rows])
    training = training_rows_of(dataset, rows)
    selected_run = replace(
        run,
        selected_name=choice.name,
        selected_pipeline=pipeline,
        results=_model_results(run.results, choice, remarks),
        takeaway=replace(
            run.takeaway,
            refitted=len(rows) > len(problem.train_rows),
            judged=None,
            fitted_rows=[],
            penalties={},
            group_names=[],
            group_of_output=[],
            noise_variance=None,
            threshold=None,
            output_names=_prepared_names(problem, pipeline),
            training=training,
        ),
    )
    return selected_run if run.allows_examples else without_examples(selected_run)


def _unfitted_pipeline(problem: Problem, choice: ExportableModel) -> Pipeline:
    if choice.name == BASELINE:
        return baseline_pipeline(problem.dataset.task, problem.preparation())
    return problem.pipeline(choice.setting)


def _prepared_names(problem: Problem, pipeline: Pipeline) -> list[str]:
    if problem.dataset.task.is_structured:
        return []
    return output_names(pipeline.named_steps["prepare"])


def _model_results(results: Results, choice: ExportableModel, remarks: tuple[str, ...]) -> Results:
    return Results(
        setting=choice.setting,
        default_setting=results.default_setting,
        metric=results.metric,
        maximize=results.maximize,
        validation={} if choice.validation is None else {choice.judged_by: choice.validation},
        test=choice.test,
        default_test=results.default_test,
        baseline_test=results.baseline_test,
        remarks=[choice.sentence, *remarks],
        evaluation=results.evaluation,
        fits=results.fits,
        trials=results.trials,
        failed=results.failed,
        seconds=results.seconds,
        stopped_because=results.stopped_because,
        seed=results.seed,
    )


def _check_same(run: FinishedRun, dataset: Dataset) -> None:
    if run.takeaway.source.fingerprint not in ("", dataset.source.fingerprint):
        fault = "the data has changed since this run"
        cure = "put the old file back, or export the tuned model"
        raise UnusableError(fault, where=dataset.source.path or dataset.name, cure=cure)
