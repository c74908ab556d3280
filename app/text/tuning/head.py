"""The Tune page's head: what is being tuned, how far it is, and how good it is so far."""

from __future__ import annotations

from app.text.numbers import plain
from app.text.scores import duration_in_words, metric_in_short
from core.estimators.settings import noun_of, own_setting
from core.tuning.events import EnsembleUpdated, HyperGradientStep, RunStarted
from core.tuning.plan import Plan
from core.tuning.runs.one_model import models_of
from core.tuning.runs.state import RunState, folded
from core.tuning.strategies.registry import STRATEGIES

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


def how_far(run: RunState, elapsed: float) -> str:
    """How much of the budget is spent: "3 of 40, 12 s", "Step 3, 12 s", "3 trials, 12 s of 1 min".

    Args:
        run: what has happened so far.
        elapsed: seconds since it began, pauses left out.
    """
    minutes = run.started.plan.get("minutes") if run.started.plan else None
    time = clock(elapsed)
    if minutes:
        time = f"{time} of {clock(60 * float(minutes))}"
    return f"{_done(run)}, {time}"


def _done(run: RunState) -> str:
    if run.learns_penalties:
        return f"Step {run.step.step if run.step is not None else 0}"
    done = len(run.trials)
    if run.total:
        return f"{done} of {run.total}"
    return "1 trial" if done == 1 else f"{done} trials"


def before_the_start(plan: Plan | None, elapsed: float) -> str:
    """How far a run is of which nothing is known yet: "0 of 40, 2 s"."""
    if plan is None:
        return clock(elapsed)
    learns = plan.strategy in STRATEGIES and STRATEGIES[plan.strategy].kind != "trials"
    total = plan.trials
    if total is None and plan.minutes is None and plan.strategy in STRATEGIES:
        total = STRATEGIES[plan.strategy].default_trials
    started = RunStarted(
        plan={"minutes": plan.minutes},
        kind="penalties" if learns else "trials",
        total=0 if learns else total or 0,
    )
    return how_far(folded([started]), elapsed)


def clock(seconds: float) -> str:
    """A time that runs, in whole seconds: "12 s", "1 min", "1 min 5 s", "2 h 3 min"."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def window_title(run: RunState, elapsed: float) -> str:
    """The progress and the dataset: "12 of 40 – iris"."""
    name = str(run.started.dataset.get("name", "")).removesuffix(".csv")
    far = how_far(run, elapsed)
    if not run.learns_penalties and run.total:
        far = far.split(",")[0]
    return " – ".join(filter(None, (far, name)))


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


def line(run: RunState, state: str, elapsed: float | None = None) -> str:
    """How far, how good, how long, in one line.

    Args:
        run: what has happened so far.
        state: of the session.
        elapsed: seconds that it has taken by now; None for those until the last event.
    """
    over = state == "finished" and run.ended is not None
    far = _done(run) if over else how_far(run, run.seconds if elapsed is None else elapsed)
    parts = [far, *(_of_steps(run) if run.learns_penalties else _of_trials(run))]
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
    elif over:
        parts.append(f"took {duration_in_words(run.seconds)}")
    return " · ".join(parts)


def _of_trials(run: RunState) -> list[str]:
    if run.several:
        return [*_of_several(run), *_of_nothing(run)]
    if run.ensemble is not None:
        return [*_of_average(run, run.ensemble), *_of_nothing(run)]
    parts = _of_best(run)
    if run.default is not None:
        parts.append(f"default setting {plain(run.default.score)}")
    parts += _of_nothing(run)
    if run.without_improvement >= STALE:
        parts.append(f"no improvement for {run.without_improvement} trials")
    return parts


def _of_nothing(run: RunState) -> list[str]:
    """The score of knowing nothing of the columns, beside other scores."""
    baseline = run.started.baseline
    return [] if baseline is None or run.best is None else [f"knowing nothing {plain(baseline)}"]


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
        return []
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
    parts = [words]
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
