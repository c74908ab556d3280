"""What can be exported of a run: the tuned model, the default, the baseline, or a trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from core.datasets.task import TASKS, Task
from core.errors import UnusableError
from core.estimators.model_settings import model_and_values, noun_of
from core.estimators.multi_model import SEVERAL
from core.estimators.registry import MODELS
from core.space import Setting
from core.tuning.run_results import Results
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial

_EARLY_SENTENCE = (
    "Its trial was ended early, clearly behind the best: the score is an estimate. The test set "
    "has not judged it."
)
TUNED, DEFAULT, BASELINE = "tuned", "default", "baseline"
STRUCTURED = tuple(task for task in TASKS if task.is_structured)
MODEL_ENDINGS = (".skops", ".joblib", ".onnx", ".npz")  # of files that hold a model and no table


def export_variants_of(task: str = "", model: str = "") -> tuple[str, ...]:
    """The form that the files of a task's and a model's runs have; all that they may have for "".

    One of table, topics, classes (a deep latent Gaussian model's), sequence and structure.
    """
    registered_model = MODELS.get(model) if model else None
    if registered_model is not None and registered_model.folder:
        return (registered_model.folder,)
    if not task:
        return ("table", Task.TOPICS, "classes", *STRUCTURED)
    if not Task(task).is_table:
        return (task,)
    return ("table",) if model else ("table", "classes")


def can_run_code(model: Path | str) -> bool:
    """Whether opening a model file of this kind can run any code that is in it."""
    return Path(model).suffix.lower() == ".joblib"


@dataclass(frozen=True)
class ExportableModel:
    """One model that can be exported, and what is known of it.

    Attributes:
        name: tuned, default, baseline, or the number of a trial.
        title: in a list.
        sentence: what to know before taking it.
        setting: its hyperparameters; empty where it has none.
        metric: what the run tuned for.
        judged_by: the metric of the validation score, which may be another.
        validation: its score in validation; None where it has none.
        test: {metric: score} on the test set; empty where that has not judged it.
        averages: whether it is an average of models; `setting` then is of the best of them.
    """

    name: str
    title: str
    sentence: str
    setting: Setting = field(default_factory=dict)
    metric: str = ""
    judged_by: str = ""
    validation: float | None = None
    test: dict[str, float | None] = field(default_factory=dict)
    averages: bool = False


def exportable_models(state: RunState, max_trials: int | None = None) -> list[ExportableModel]:
    """The models of a run that has ended: tuned, default, baseline, then trials, the best first.

    Sequences, molecules, topics and models that leave as folders have no baseline to export.

    Args:
        state: the run.
        max_trials: so many of its trials at most.
    """
    started, results = state.started, state.results
    if results is None:
        return []
    models = [_tuned_model(results, state), _default_model(results, state)]
    task = started.dataset.task
    if task and "table" in export_variants_of(task, started.run_plan.model):
        models.append(_baseline_model(results))
    return [*models, *_trial_models(state, results.metric, max_trials)]


def exportable_model(state: RunState, name: str) -> ExportableModel:
    """One of the choices of a run.

    Raises:
        UnusableError: the run has no such model.
    """
    models_by_name = {model.name: model for model in exportable_models(state)}
    if name in models_by_name:
        return models_by_name[name]
    kinds = [kind for kind in (TUNED, DEFAULT, BASELINE) if kind in models_by_name]
    numbers = (
        ", or the number of a trial that gave a score" if len(models_by_name) > len(kinds) else ""
    )
    raise UnusableError(
        f"this run has no model “{name}”",
        where="option which",
        cure=f"choose {', '.join(kinds)}{numbers}" if models_by_name else "let the run end first",
    )


def _model_noun(state: RunState, setting: Setting) -> str:
    """The model that a setting is of, where several were tuned; otherwise ""."""
    return (
        noun_of(model_and_values(SEVERAL, setting)[0])
        if state.tunes_several_models and setting
        else ""
    )


def _tuned_model(results: Results, state: RunState) -> ExportableModel:
    metric, setting = results.metric, dict(results.setting)
    members = 0 if results.ensemble is None else len(results.ensemble.members)
    noun = f"an average of {members} models" if members > 1 else _model_noun(state, setting)
    return ExportableModel(
        TUNED,
        f"The tuned model: {noun}" if noun else "The tuned model",
        "What tuning found. Rows that it had not seen judged it: believe that score.",
        setting,
        metric,
        metric,
        results.validation.get(metric),
        dict(results.test),
        averages=members > 1,
    )


def _default_model(results: Results, state: RunState) -> ExportableModel:
    trial, setting = state.default_trial, dict(results.default_setting)
    noun = _model_noun(state, setting)
    return ExportableModel(
        DEFAULT,
        f"The default setting of {noun}" if noun else "The default setting",
        "What a person gets without tuning. The same rows judged it as the tuned model.",
        setting,
        results.metric,
        state.started.metric,
        trial.score if trial else None,
        dict(results.default_test),
    )


def _baseline_model(results: Results) -> ExportableModel:
    return ExportableModel(
        BASELINE,
        "The baseline",
        "Always the most frequent class, or the mean: a model that is not clearly better than this "
        "is of no use.",
        metric=results.metric,
        test=dict(results.baseline_test),
    )


def _trial_title(state: RunState, trial: Trial) -> str:
    noun = _model_noun(state, trial.setting)
    return f"Trial {trial.number}, {noun}" if noun else f"Trial {trial.number}"


def _trial_models(state: RunState, metric: str, max_trials: int | None) -> list[ExportableModel]:
    started = state.started
    sign = -1 if started.maximize else 1
    trials = sorted(state.scored_trials(), key=lambda trial: (sign * trial.score, trial.number))
    sentence = (
        f"One of {len(trials)} settings that competed in validation: its score is optimistic. "
        "The test set has not judged it."
    )
    return [
        ExportableModel(
            str(trial.number),
            _trial_title(state, trial),
            _EARLY_SENTENCE if trial.behind else sentence,
            dict(trial.setting),
            metric,
            started.metric,
            trial.score,
        )
        for trial in trials[:max_trials]
    ]
