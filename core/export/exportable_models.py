"""The models of a run that can be exported: tuned, default, baseline, or of a trial."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from core.datasets.task import TASKS, Task
from core.errors import UnusableError
from core.estimators.model_settings import model_and_values, noun_of
from core.estimators.multi_model import SEVERAL
from core.estimators.registry import MODELS
from core.space import Setting
from core.tuning.run_results import Results
from core.tuning.runs.state import RunState

_EARLY_SENTENCE = (
    "Its trial was ended early, clearly behind the best: the score is an estimate. The test set "
    "has not judged it."
)
_HONEST_SENTENCE = "Rows that it had not seen judged it: believe that score."
_OPTIMISTIC_SENTENCE = "The rows that judged it helped to choose it: its score is optimistic."
TUNED, DEFAULT, BASELINE = "tuned", "default", "baseline"
STRUCTURED = tuple(task for task in TASKS if task.is_structured)
MODEL_ENDINGS = (".skops", ".joblib", ".onnx", ".npz")  # of files that hold a model and no table


def export_variants_of(task: str = "", model: str = "") -> tuple[str, ...]:
    """The forms (table, topics, classes, sequence, structure) of a task's runs; for "" all."""
    registered_model = MODELS.get(model) if model else None
    if registered_model is not None and registered_model.folder:
        return (registered_model.folder,)
    # Before the data are read, runs of any form may come.
    if not task:
        return ("table", Task.TOPICS, "classes", *STRUCTURED)
    if not Task(task).is_table:
        return (task,)
    return ("table",) if model else ("table", "classes")


def can_run_code(model: Path | str) -> bool:
    """Whether opening a model file of this kind can run code inside it."""
    return Path(model).suffix.lower() == ".joblib"


@dataclass(frozen=True)
class ExportableModel:
    """One model that can be exported, with its scores."""

    name: str  # tuned, default, baseline, or the number of a trial
    title: str
    sentence: str  # what to know before selecting it
    setting: Setting = field(default_factory=dict)  # of an average the best member's
    metric: str = ""  # the run's
    judged_by: str = ""  # the metric of `validation`, which may be another
    validation: float | None = None
    test: dict[str, float | None] = field(default_factory=dict)  # empty for untested models
    averages: bool = False  # whether it is an average of models


def exportable_models(state: RunState, max_trials: int | None = None) -> list[ExportableModel]:
    """The models of a run that has ended: tuned, default, baseline (of tables), the best trials."""
    started, results = state.started, state.results
    if results is None:
        return []
    models = [_tuned_model(results, state), _default_model(results, state)]
    if results.taken == DEFAULT:
        sentence = f"What a person gets without tuning, as you selected. {_HONEST_SENTENCE}"
        models = [replace(models[1], name=TUNED, sentence=sentence)]
    # A baseline is written as models of tables are: only their runs have one.
    task = started.dataset.task
    if task and "table" in export_variants_of(task, started.run_plan.model):
        models.append(_baseline_model(results))
    return [*models, *_trial_models(state, results.metric, max_trials)]


def exportable_model(state: RunState, name: str) -> ExportableModel:
    """The model of this name, or UnusableError."""
    models_by_name = {model.name: model for model in exportable_models(state)}
    if TUNED in models_by_name:
        models_by_name.setdefault(DEFAULT, models_by_name[TUNED])
    if name in models_by_name:
        return models_by_name[name]
    kinds = [kind for kind in (TUNED, DEFAULT, BASELINE) if kind in models_by_name]
    cure = f"choose {', '.join(kinds)}" if models_by_name else "let the run end first"
    if len(models_by_name) > len(kinds):
        cure += ", or the number of a trial that gave a score"
    raise UnusableError(f"this run has no model “{name}”", where="option which", cure=cure)


def _model_noun(state: RunState, setting: Setting) -> str:
    if not state.tunes_several_models or not setting:
        return ""
    return noun_of(model_and_values(SEVERAL, setting)[0])


def _tuned_model(results: Results, state: RunState) -> ExportableModel:
    metric, setting = results.metric, dict(results.setting)
    members = 0 if results.ensemble is None else len(results.ensemble.members)
    noun = f"an average of {members} models" if members > 1 else _model_noun(state, setting)
    return ExportableModel(
        TUNED,
        f"The tuned model: {noun}" if noun else "The tuned model",
        f"What tuning found. {_OPTIMISTIC_SENTENCE if results.is_optimistic else _HONEST_SENTENCE}",
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


def _trial_models(state: RunState, metric: str, max_trials: int | None) -> list[ExportableModel]:
    # Of equal scores the earlier trial comes first.
    losses = -state.scores if state.started.maximize else state.scores
    order = np.lexsort((state.numbers, losses))[: state.finished]  # the failed ones come last
    sentence = (
        f"One of {state.finished} settings that competed in validation: its score is optimistic. "
        "The test set has not judged it."
    )
    models = []
    for trial in (state.trials[row] for row in order[:max_trials]):
        noun = _model_noun(state, trial.setting)
        title = f"Trial {trial.number}, {noun}" if noun else f"Trial {trial.number}"
        remark = _EARLY_SENTENCE if trial.behind else sentence
        facts = (dict(trial.setting), metric, state.started.metric, trial.score)
        models.append(ExportableModel(str(trial.number), title, remark, *facts))
    return models
