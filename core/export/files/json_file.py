"""The JSON export: every number of a run as text that any program reads.

Penalties: C of ½ C_j ‖w_j‖² beside the summed loss, and C_sklearn = 1/C_j of scikit-learn's
LogisticRegression; of linear models λ_j = σ² C_j of ``Ridge(alpha=λ)``.
"""

import json
from pathlib import Path

import numpy as np

from core.estimators.multi_model import without_own_columns
from core.estimators.stored.plain_model import on_own_scale, without_threshold
from core.export.bundle.column_transforms import to_dense
from core.export.bundle.parameter_arrays import model_document
from core.export.exportable_models import TUNED
from core.export.finished_run import FinishedRun, file_name_of, members_of
from core.records import JsonObject, strict_json, to_plain
from core.tuning.run_results import EnsembleResults
from core.tuning.runs.model_runs import model_leaderboard

_SCORES = (
    *("metric", "metric_reason", "evaluation", "maximize"),
    *("validation", "validation_interval", "test", "default_test", "baseline_test"),
)
_TUNED_SCORES = (
    *(*_SCORES, "test_interval", "default_interval", "baseline_interval", "gain"),
    *("gain_over_baseline", "rows", "folds", "optimism", "optimism_error"),
    *("right", "sequences", "pairs", "curve"),
)


def write(run: FinishedRun, path: Path) -> None:
    """Write the run's numbers."""
    document = strict_json(as_document(run))
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def as_document(run: FinishedRun) -> JsonObject:
    """The run's numbers as plain data."""
    results = run.results
    scores = _TUNED_SCORES if run.selected_name == TUNED else _SCORES
    document: JsonObject = {
        "run": run.name,
        "started_at": run.started.started_at,
        "data": _data_document(run),
        "model": run.plan.model,
        "exported": run.selected_name,
        "strategy": run.plan.strategy,
        "options": run.plan.options,
        "parameters": results.setting,
        "default_parameters": results.default_setting,
        "scores": {name: to_plain(results[name]) for name in scores if name in results},
        "trials": _trial_documents(run),
    }
    if average := _average_document(run):
        document["parameters_of"] = "the best member of the average"
        document["average"] = average
    if run.tunes_several_models:
        document["models"] = _model_documents(run)
    structured = run.takeaway.task.is_structured
    if run.has_learned_penalties and not structured:
        document["penalties"] = _penalties_document(run)
    if results.costs is not None:
        document["threshold"] = to_plain(results.costs)
    if results.threshold is not None:
        document["chosen_threshold"] = results.threshold
    if coefficients := linear_coefficients(run):
        document["coefficients"] = coefficients
    document |= {
        "fits": results.fits,
        "failed": results.failed,
        "seconds": results.seconds,
        "stopped_because": results.stopped_because,
        "remarks": results.remarks,
        "seed": run.plan.seed,
        "versions": run.takeaway.versions,
    }
    return document | (model_document(run) if structured else {})


def linear_coefficients(run: FinishedRun) -> JsonObject:
    """Intercept and weights of a linear model, {class: number} of classes; empty for others."""
    names = run.takeaway.output_names
    inner, columns = without_own_columns(without_threshold(run.pipeline[-1]))
    names = names[columns]
    # A model of a standardized target: its numbers are brought back to the target's unit.
    model, mu, sigma = on_own_scale(inner)
    if not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        return {}
    weights = sigma * np.atleast_2d(to_dense(model.coef_))
    if weights.shape[1] != len(names):
        return {}  # a kernel's dual weights, not one number a column
    intercepts = mu + sigma * np.broadcast_to(np.atleast_1d(model.intercept_), (len(weights),))
    # Two classes share one vector, in favour of the second.
    if len(weights) == 1:
        of_class = [str(label) for label in run.takeaway.classes[1:]]
        return {
            **({"in_favour_of": of_class[0]} if of_class else {}),
            "intercept": float(intercepts[0]),
            "weights": {name: float(w) for name, w in zip(names, weights[0], strict=True)},
        }
    labels = [str(label) for label in run.takeaway.classes]
    if len(labels) != len(weights):
        return {}  # one vector a pair of classes
    return {
        "intercept": _by_class(labels, intercepts),
        "weights": {name: _by_class(labels, weights[:, i]) for i, name in enumerate(names)},
    }


def _by_class(labels: list[str], numbers: np.ndarray) -> dict[str, float]:
    return {label: float(number) for label, number in zip(labels, numbers, strict=True)}


def _data_document(run: FinishedRun) -> JsonObject:
    takeaway = run.takeaway
    data = {
        "name": takeaway.dataset,
        "file": file_name_of(takeaway.source),
        "fingerprint_sha256": takeaway.source.fingerprint,
        "rows": takeaway.rows,
        "train_rows": len(takeaway.train_rows),
        "test_rows": len(takeaway.test_rows),
        "fitted_rows": takeaway.kept_rows,
        "set_aside": takeaway.set_aside,
        "features": takeaway.feature_names,
        "target": takeaway.target,
        "task": takeaway.task,
        "classes": takeaway.classes,
    }
    if takeaway.test_source:
        data["test_file"] = file_name_of(takeaway.test_source)
        data["test_fingerprint_sha256"] = takeaway.test_source.fingerprint
    return data


def _average_document(run: FinishedRun) -> JsonObject:
    members = members_of(run)
    if not members:
        return {}
    ensemble = run.results.ensemble or EnsembleResults()
    return {
        "weights": ensemble.kind,
        "effective_members": ensemble.effective,
        "members": [
            {"trial": m.number, "weight": m.weight, "score": m.score, "parameters": m.setting}
            for m in members
        ],
        "held_out": ensemble.held_out,
        "single_best_held_out": ensemble.single_held_out,
        "left_out": [{"trial": o.number, "reason": o.reason} for o in ensemble.left_out],
    }


def _model_documents(run: FinishedRun) -> list[JsonObject]:
    return [
        {
            "model": row.model,
            "validation": row.best,
            "standard_error": row.error,
            "estimate": row.estimate,
            "trials": row.trials,
            "ended_early": row.early,
            "seconds": row.seconds,
            "state": row.state,
        }
        for row in model_leaderboard(run.state)
    ]


def _penalties_document(run: FinishedRun) -> JsonObject:
    takeaway = run.takeaway
    switched_off, ranges = set(run.results.switched_off), run.results.group_ranges or {}
    groups: dict[str, JsonObject] = {}
    for index, name in enumerate(takeaway.group_names):
        C = takeaway.penalties[name]
        columns = zip(takeaway.output_names, takeaway.group_of_output, strict=False)
        groups[name] = {
            "C": C,
            "C_sklearn": 1 / C if C > 0 else None,
            "switched_off": name in switched_off,
            "columns": [column for column, group in columns if group == index],
            **({"C_of_folds": list(ranges[name])} if name in ranges else {}),
        }
        if takeaway.noise_variance is not None:
            groups[name]["ridge_alpha"] = takeaway.noise_variance * C
    scale = "the penalty is C/2 times the squared weights, beside the summed loss"
    document: JsonObject = {"scale": scale, "groups": groups}
    if takeaway.noise_variance is not None:
        document["noise_variance"] = takeaway.noise_variance
        document["scale"] += "; ridge_alpha = noise_variance * C holds whatever the target's unit"
    return document


def _trial_documents(run: FinishedRun) -> list[JsonObject]:
    state = run.state
    finished = [
        {"number": trial.number, "parameters": trial.setting, "score": trial.score}
        | ({"ended_early": True} if trial.behind else {})
        for trial in state.scored_trials()
    ]
    failed = [
        {"number": trial.number, "parameters": trial.setting, "failed": trial.failure}
        for trial in state.trials
        if trial.failure
    ]
    return sorted(finished + failed, key=lambda trial: trial["number"])
