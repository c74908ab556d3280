"""What can be exported of a run: the tuned model, the default, the baseline, or a trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.tuning.runs.state import RunState

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
    """

    name: str
    title: str
    sentence: str
    setting: dict[str, Any] = field(default_factory=dict)
    metric: str = ""
    judged_by: str = ""
    validation: float | None = None
    test: dict[str, float | None] = field(default_factory=dict)


def choices(state: RunState) -> list[Choice]:
    """The models of a run that has ended: tuned, default, baseline, then trials, the best first.

    Sequences, molecules, topics and models that leave as folders have no baseline to export.
    """
    started, results = state.started, state.results
    if not results:
        return []
    found = [_tuned(results), _default(results, state)]
    model, task = started.plan.get("model"), started.dataset.get("task")
    if task and "table" in forms_of(task, model or ""):
        found.append(_baseline(results))
    return [*found, *_trials(state, results.get("metric", ""))]


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


def _tuned(results: dict[str, Any]) -> Choice:
    metric = results.get("metric", "")
    return Choice(
        TUNED,
        "The tuned model",
        "What tuning found. Rows that it had not seen judged it: believe that score.",
        dict(results.get("setting") or {}),
        metric,
        metric,
        results.get("validation", {}).get(metric),
        dict(results.get("test", {})),
    )


def _default(results: dict[str, Any], state: RunState) -> Choice:
    trial = state.default
    return Choice(
        DEFAULT,
        "The default setting",
        "What a person gets without tuning. The same rows judged it as the tuned model.",
        dict(results.get("default_setting") or {}),
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


def _trials(state: RunState, metric: str) -> list[Choice]:
    started = state.started
    sign = -1 if started.maximize else 1
    trials = sorted(state.scored(), key=lambda trial: (sign * trial.score, trial.number))
    return [
        Choice(
            str(trial.number),
            f"Trial {trial.number}",
            f"One of {len(trials)} settings that competed in validation: its score is optimistic. "
            "The test set has not judged it.",
            dict(trial.setting),
            metric,
            started.metric,
            trial.score,
        )
        for trial in trials
    ]
