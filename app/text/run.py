"""The Tune page's head: what is being tuned, how far it is, and how good it is so far."""

from __future__ import annotations

from app.text.numbers import plain
from app.text.scores import duration_in_words, metric_in_short
from core.estimators.settings import noun_of, own_setting
from core.tuning.events import EnsembleUpdated, HyperGradientStep
from core.tuning.runs.one_model import models_of
from core.tuning.runs.state import RunState

STALE = 5  # trials without improvement that are worth a word
STILL = 1e-4  # relative change of the objective that counts as none


def model_in_words(model: str) -> str:
    """A model inside a sentence."""
    return noun_of(model)


def title(run: RunState) -> str:
    """What is being tuned."""
    if not run.started.plan:
        return "Tuning"
    model = model_in_words(str(run.started.plan.get("model", "")))
    if run.several:
        return f"Finding the best of {len(models_of(run.started))} models"
    if run.learns_penalties:
        if len(run.started.groups) > 1:
            if run.started.dataset.get("task") in ("sequence", "structure"):
                return "Learning one penalty for each group of weights"
            return "Learning one penalty for each group of columns"
        return f"Learning the penalty of {model}"
    if run.started.averages:
        return "Averaging over good settings"
    return f"Tuning {model}"


def share(run: RunState, state: str) -> float | None:
    """How much of the run is done, 0 to 1; None where nobody can say."""
    if state == "finished":
        return 1.0
    if run.fold is not None:
        return run.fold.fold / run.fold.folds
    left = run.seconds_left
    if run.learns_penalties or not run.total:
        if left is None or run.seconds + left <= 0:
            return None
        return run.seconds / (run.seconds + left)
    return min(1.0, len(run.trials) / run.total)


def line(run: RunState, state: str) -> str:
    """How far, how good, how long, in one line.

    Args:
        run: what has happened so far.
        state: of the session.
    """
    parts = _of_steps(run) if run.learns_penalties else _of_trials(run)
    if run.fold is not None and run.ended is None:
        parts.insert(0, f"Testing every row, part {run.fold.fold} of {run.fold.folds} done")
    elif state == "running" and run.tuning_ended is not None and run.ended is None:
        parts.insert(0, _state_in_words("stopping"))
    elif state == "running":
        parts += _time_left(run)
    elif state == "stopping" and not run.done:
        parts.insert(0, "Stopping")
    elif state in ("paused", "stopping", "interrupted"):
        parts.insert(0, _state_in_words(state))
    elif state == "finished":
        parts.append(f"took {duration_in_words(run.seconds)}")
    return " · ".join(parts)


def _of_trials(run: RunState) -> list[str]:
    words = "Trial {done} of {total}" if run.total else "Trial {done}"
    parts = [words.format(done=len(run.trials), total=run.total)]
    if run.several:
        return parts + _of_several(run)
    if run.ensemble is not None:
        return parts + _of_average(run, run.ensemble)
    parts += _of_best(run)
    if run.default is not None:
        parts.append(f"default setting {plain(run.default.score)}")
    if run.without_improvement >= STALE:
        parts.append(f"no improvement for {run.without_improvement} trials")
    return parts


def _of_best(run: RunState) -> list[str]:
    metric = metric_in_short(run.started.metric)
    return [] if run.best is None else [f"best {metric} {plain(run.best.score)}"]


def _of_several(run: RunState) -> list[str]:
    """Which model leads and with what, and how good the average is on rows that did not choose."""
    if run.best is None:
        looked = len(run.looks)
        return [f"first look at {looked} of {len(models_of(run.started))} models"] if looked else []
    of, _ = own_setting(str(run.started.plan["model"]), run.best.setting)
    metric = metric_in_short(run.started.metric)
    parts = [f"best {metric} {plain(run.best.score)} by {noun_of(of)}"]
    many = len(run.ensemble.members) if run.ensemble is not None else 0
    if many > 1 and run.ensemble is not None and run.ensemble.average is not None:
        parts.append(f"average of {many} models {plain(run.ensemble.average)}")
    if run.without_improvement >= STALE:
        parts.append(f"no improvement for {run.without_improvement} trials")
    return parts


def _of_average(run: RunState, ensemble: EnsembleUpdated) -> list[str]:
    """How many models, and how good they are together on rows that did not choose them."""
    count = sum(weight > 0 for weight in ensemble.weights)
    words = "one model in the average" if count == 1 else f"{count} models in the average"
    if ensemble.average is None:
        return [words, *_of_best(run)]
    return [words, f"{metric_in_short(run.started.metric)} {plain(ensemble.average)}"]


def _of_steps(run: RunState) -> list[str]:
    last = run.step
    if last is None:
        return ["Step 0"]
    by_gradient = isinstance(last, HyperGradientStep)
    values = [step.holdout_loss for step in run.gradients[-2:]]
    if not by_gradient:
        values = [step.objective for step in run.steps[-2:]]
    words = f"{'held-out error' if by_gradient else 'objective'} {plain(values[-1], 4)}"
    if len(values) > 1 and run.ended is None:
        before, value = values
        still = abs(before - value) <= STILL * abs(before)
        moving = "falling" if value < before else "rising"
        words = f"{words}, {'hardly moving' if still else moving}"
    parts = [f"Step {last.step}", words]
    if not by_gradient:
        parts.append("no validation data needed")
    return parts


def _time_left(run: RunState) -> list[str]:
    left = run.seconds_left
    if left is None:
        return []
    if left < 1:
        return ["nearly done"]
    return [f"about {duration_in_words(left)} left"]


def _state_in_words(state: str) -> str:
    return {
        "paused": "Paused",
        "stopping": "Working out the results",
        "interrupted": "Interrupted",
    }[state]
