"""A run on an MLflow tracking server: parameters, scores, trials, the report and the model."""

import math
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.estimators.optional_parts import optional_module
from core.export.bundle.carrier import csv_bytes
from core.export.exportable_models import TUNED
from core.export.finished_run import FinishedRun, members_of, model_noun
from core.export.markup import plain_text
from core.export.mlflow import model_folder
from core.export.optuna_study import start_of_run
from core.export.report import report_page
from core.tuning.scores.scoring import one_line_error

MAX_METRICS, MAX_PARAMS = 1000, 100  # of one call
MAX_LETTERS = 500  # of a parameter
_PASSWORD = re.compile(r"//[^@/]*@")  # with the name before it, in addresses
# It would tell its makers of every call, refuse folders, ask a silent server for minutes, and print
# addresses behind signs that not every terminal writes.
_DEFAULTS = {
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
}
_STRANGE = re.compile(r"[^\w./ -]", re.ASCII)  # in names, of which MLflow refuses them


def log_run(run: FinishedRun, address: str) -> str:
    """Log a run, whole or not at all; returns the address of its model.

    Raises:
        UnusableError: MLflow is missing, or what is at the address refuses.
    """
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    mlflow = optional_module("mlflow", "mlflow")
    try:
        client = mlflow.MlflowClient(tracking_uri=address)
        began = round(1000 * start_of_run(run.state).timestamp())
        experiment = _experiment(client, run, address)
        logged_run = client.create_run(experiment, began, run_name=plain_text(run.name))
        run_id = logged_run.info.run_id
        try:
            _log_content(mlflow, client, run, run_id, began)
        except BaseException:
            client.delete_run(run_id)
            raise
        client.set_terminated(run_id, end_time=began + round(1000 * run.results.seconds))
    except UnusableError:
        raise
    except Exception as error:  # of servers, databases and the network
        reason = _PASSWORD.sub("//", one_line_error(error))
        fault, where = f"MLflow cannot log the run there ({reason})", _PASSWORD.sub("//", address)
        raise UnusableError(fault, where=where, cure="check the address") from error
    return f"{_PASSWORD.sub('//', address)}: runs:/{run_id}/model"


def _experiment(client: Any, run: FinishedRun, address: str) -> str:
    if experiment := os.environ.get("MLFLOW_EXPERIMENT_ID"):
        return experiment
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or plain_text(run.takeaway.dataset)
    if (existing := client.get_experiment_by_name(name)) is not None:
        return str(existing.experiment_id)
    # MLflow would put the artifacts of a database into the folder that is current just now.
    database = address.removeprefix("sqlite:///")
    folder = None if database == address else Path(database).absolute().with_name("mlruns").as_uri()
    return str(client.create_experiment(name, artifact_location=folder))


def _log_content(mlflow: Any, client: Any, run: FinishedRun, run_id: str, began: int) -> None:
    params = [mlflow.entities.Param(*pair) for pair in _parameters(run)]
    metrics = [mlflow.entities.Metric(*point) for point in _score_points(run, began)]
    for start in range(0, len(params), MAX_PARAMS):
        client.log_batch(run_id, params=params[start : start + MAX_PARAMS])
    for start in range(0, len(metrics), MAX_METRICS):
        client.log_batch(run_id, metrics=metrics[start : start + MAX_METRICS])
    with tempfile.TemporaryDirectory() as folder:
        model, report, trials = (
            Path(folder) / name for name in ("model", "report.html", "trials.csv")
        )
        model.mkdir()
        model_folder.write(run, model)
        client.log_artifacts(run_id, str(model), "model")
        trials.write_bytes(_trial_table(run))
        client.log_artifact(run_id, str(trials))
        if run.selected_name == TUNED:
            report_page.write(run, report)
            client.log_artifact(run_id, str(report))


def _parameters(run: FinishedRun) -> Iterator[tuple[str, str]]:
    plan, takeaway = run.plan, run.takeaway
    facts = {"model": plan.model, "strategy": plan.strategy, "seed": plan.seed, "folds": plan.folds}
    facts |= {"exported": run.selected_name, "exported model": model_noun(run)}
    facts |= {"dataset": takeaway.dataset, "rows": takeaway.rows}
    owner = "best member" if len(members_of(run)) > 1 else "tuned"
    facts |= {f"{owner} {name}": value for name, value in run.results.setting.items()}
    facts |= {f"penalty {group}": C for group, C in takeaway.penalties.items()}
    # Names that differ in strange signs alone are one parameter, which has one value.
    yield from {_plain_name(k): plain_text(v, MAX_LETTERS) for k, v in facts.items()}.items()


def _score_points(run: FinishedRun, began: int) -> Iterator[tuple[str, float, int, int]]:
    """(name, value, milliseconds, step) of every score."""
    results, metric = run.results, run.started.metric
    ended = began + round(1000 * results.seconds)
    scores = {"test": results.test, "default test": results.default_test}
    scores |= {"baseline test": results.baseline_scores, "validation": results.validation}
    named = {f"{rows} {name}": x for rows, values in scores.items() for name, x in values.items()}
    named |= {"gain": results.gain.difference, "gain low": results.gain.low}
    named |= {"gain high": results.gain.high, "seconds": results.seconds, "fits": results.fits}
    for name, value in named.items():
        if value is not None and math.isfinite(value):
            yield _plain_name(name), value, ended, 0
    for trial in run.state.scored_trials():
        name = f"{'estimate' if trial.behind else 'trial'} {metric}"
        if math.isfinite(trial.score):
            yield _plain_name(name), trial.score, began + round(1000 * trial.ended), trial.number


def _trial_table(run: FinishedRun) -> bytes:
    names = list(dict.fromkeys(name for trial in run.state.trials for name in trial.setting))
    rows = [
        [
            *(trial.number, "" if trial.failure else trial.score, trial.behind, trial.took),
            *(trial.failure, *(trial.setting.get(name, "") for name in names)),
        ]
        for trial in run.state.trials
    ]
    header = ["trial", run.started.metric, "ended early", "seconds", "failure", *names]
    return csv_bytes(header, [list(map(str, row)) for row in rows])


def _plain_name(name: str) -> str:
    return _STRANGE.sub("_", plain_text(name))[:MAX_LETTERS].strip() or "_"
