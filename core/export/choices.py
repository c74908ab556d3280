"""What can be exported of a run: the tuned model, the default, the baseline, or a trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.estimators.settings import noun_of, own_setting
from core.estimators.several import SEVERAL
from core.tuning.runs.competition import Trial
from core.tuning.runs.state import RunState

_ABOUT_EARLY = (
    "Its trial was ended early, clearly behind the best: the score is an estimate. The test set "
    "has not judged it."
)
TUNED, DEFAULT, BASELINE = "tuned", "default", "baseline"
TABLES = ("regression", "binary", "multiclass")
STRUCTURED = ("sequence", "structure")
MODEL_ENDINGS = (".skops", ".joblib", ".onnx", ".npz")  # of files that hold a model and no table


def forms_of(task: str = "", model: str = "") -> tuple[str, ...]:
    """The form that the files of a task's and a model's runs have; all that they may have for "".

    One of table, topics, classes (a deep latent Gaussian model's), sequence and structure.
    """
    known = MODELS.get(model) if model else None
    if known is not None and known.folder:
        return (known.folder,)
    if task in STRUCTURED or task == "topics":
        return (task,)
    if task:
        return ("table",) if model else ("table", "classes")
    return ("table", "topics", "classes", *STRUCTURED)


def runs_code(model: Path | str) -> bool:
    """Whether opening a model file of this kind can run any code that is in it."""
    return Path(model).suffix.lower() == ".joblib"


@dataclass(frozen=True)
class Choice:
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
    setting: dict[str, Any] = field(default_factory=dict)
    metric: str = ""
    judged_by: str = ""
    validation: float | None = None
    test: dict[str, float | None] = field(default_factory=dict)
    averages: bool = False


def choices(state: RunState, most: int | None = None) -> list[Choice]:
    """The models of a run that has ended: tuned, default, baseline, then trials, the best first.

    Sequences, molecules, topics and models that leave as folders have no baseline to export.

    Args:
        state: the run.
        most: so many of its trials at most.
    """
    started, results = state.started, state.results
    if not results:
        return []
    found = [_tuned(results, state), _default(results, state)]
    model, task = started.plan.get("model"), started.dataset.get("task")
    if task and "table" in forms_of(task, model or ""):
        found.append(_baseline(results))
    return [*found, *_trials(state, results.get("metric", ""), most)]


def choice_named(state: RunState, name: str) -> Choice:
    """One of the choices of a run.

    Raises:
        UnusableError: the run has no such model.
    """
    found = {choice.name: choice for choice in choices(state)}
    if name in found:
        return found[name]
    named = [one for one in (TUNED, DEFAULT, BASELINE) if one in found]
    numbers = ", or the number of a trial that gave a score" if len(found) > len(named) else ""
    raise UnusableError(
        f"this run has no model “{name}”",
        where="option which",
        cure=f"choose {', '.join(named)}{numbers}" if found else "let the run end first",
    )


def _of_several(state: RunState, setting: dict[str, Any]) -> str:
    """The model that a setting is of, where several were tuned; otherwise ""."""
    return noun_of(own_setting(SEVERAL, setting)[0]) if state.several and setting else ""


def _tuned(results: dict[str, Any], state: RunState) -> Choice:
    metric = results.get("metric", "")
    members = len((results.get("ensemble") or {}).get("members", ()))
    setting = dict(results.get("setting") or {})
    of = f"an average of {members} models" if members > 1 else _of_several(state, setting)
    return Choice(
        TUNED,
        f"The tuned model: {of}" if of else "The tuned model",
        "What tuning found. Rows that it had not seen judged it: believe that score.",
        setting,
        metric,
        metric,
        results.get("validation", {}).get(metric),
        dict(results.get("test", {})),
        averages=members > 1,
    )


def _default(results: dict[str, Any], state: RunState) -> Choice:
    trial = state.default
    setting = dict(results.get("default_setting") or {})
    of = _of_several(state, setting)
    return Choice(
        DEFAULT,
        f"The default setting of {of}" if of else "The default setting",
        "What a person gets without tuning. The same rows judged it as the tuned model.",
        setting,
        results.get("metric", ""),
        state.started.metric,
        trial.score if trial else None,
        dict(results.get("default_test", {})),
    )


def _baseline(results: dict[str, Any]) -> Choice:
    return Choice(
        BASELINE,
        "The baseline",
        "Knows nothing of the columns and says the same of every row: a model that is not clearly "
        "better than this is worth nothing.",
        metric=results.get("metric", ""),
        test=dict(results.get("baseline_test", {})),
    )


def _title(state: RunState, trial: Trial) -> str:
    of = _of_several(state, trial.setting)
    return f"Trial {trial.number}, {of}" if of else f"Trial {trial.number}"


def _trials(state: RunState, metric: str, most: int | None) -> list[Choice]:
    started = state.started
    sign = -1 if started.maximize else 1
    trials = sorted(state.scored(), key=lambda trial: (sign * trial.score, trial.number))
    about = (
        f"One of {len(trials)} settings that competed in validation: its score is optimistic. "
        "The test set has not judged it."
    )
    return [
        Choice(
            str(trial.number),
            _title(state, trial),
            _ABOUT_EARLY if trial.behind else about,
            dict(trial.setting),
            metric,
            started.metric,
            trial.score,
        )
        for trial in trials[:most]
    ]
