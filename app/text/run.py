"""The Tune page's head: what is being tuned, how far it is, and how good it is so far."""

from __future__ import annotations

from typing import Any

from app.text.numbers import plain
from app.text.scores import duration_in_words, metric_in_short
from core.estimators.registry import MODELS
from core.tuning.events import (
    EnsembleUpdated,
    Event,
    FoldTested,
    HyperGradientStep,
    PenaltyStep,
    Progress,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    TrialFailed,
    TrialFinished,
)

STALE = 5  # trials without improvement that are worth a word
STILL = 1e-4  # relative change of the objective that counts as none


def model_in_words(model: str) -> str:
    """A model inside a sentence."""
    there = MODELS.get(model)
    return (there.noun or there.title) if there is not None else model


class Standing:
    """How the run stands, kept up event by event, for the head and the progress bar."""

    def __init__(self) -> None:
        self.started: RunStarted | None = None
        self.total = 0
        self.trials: set[int] = set()
        self.step: PenaltyStep | HyperGradientStep | None = None
        self._before: float | None = None
        self.progress = Progress()
        self.ensemble: EnsembleUpdated | None = None
        self.seconds = 0.0
        self.ended: RunFinished | RunStopped | RunFailed | None = None
        self.fold: FoldTested | None = None

    def consume(self, event: Event) -> None:
        """Take one event in."""
        self.seconds = max(self.seconds, event.seconds)
        match event:
            case RunStarted():
                self.started, self.total = event, event.total
            case RunResumed():
                self.total, self.ended, self.fold = event.total or self.total, None, None
            case TrialFinished() | TrialFailed():
                self.trials.add(event.number)
            case PenaltyStep() | HyperGradientStep():
                self._before = objective_of(self.step) if self.step is not None else None
                self.step = event
            case Progress():
                self.progress = event
            case EnsembleUpdated():
                self.ensemble = event
            case FoldTested():
                self.fold = event
            case RunFinished() | RunStopped() | RunFailed():
                self.ended = event

    @property
    def learns_penalties(self) -> bool:
        """Whether the run has steps instead of trials."""
        return self.started is not None and self.started.kind == "penalties"

    @property
    def done(self) -> int:
        """Trials or steps that ended."""
        if self.learns_penalties:
            return self.step.step if self.step is not None else 0
        return len(self.trials)

    def share(self, state: str) -> float | None:
        """How much of the run is done, 0 to 1; None where nobody can say."""
        if state == "finished":
            return 1.0
        if self.fold is not None:
            return self.fold.fold / self.fold.folds
        left = self.progress.seconds_left
        if self.learns_penalties or not self.total:
            if left is None or self.seconds + left <= 0:
                return None
            return self.seconds / (self.seconds + left)
        return min(1.0, self.done / self.total)

    def title(self) -> str:
        """What is being tuned."""
        if self.started is None:
            return "Tuning"
        model = model_in_words(str(self.started.plan.get("model", "")))
        if self.learns_penalties:
            if len(self.started.groups) > 1:
                if self.started.dataset.get("task") in ("sequence", "structure"):
                    return "Learning one penalty for each group of weights"
                return "Learning one penalty for each group of columns"
            return f"Learning the penalty of {model}"
        if self.started.averages:
            return "Averaging over good settings"
        return f"Tuning {model}"

    def line(self, state: str) -> str:
        """How far, how good, how long, in one line."""
        parts = self._of_steps() if self.learns_penalties else self._of_trials()
        if self.fold is not None and self.ended is None:
            parts.insert(0, f"Testing every row, part {self.fold.fold} of {self.fold.folds} done")
        elif state == "running":
            parts += self._time_left()
        elif state in ("paused", "stopping", "interrupted"):
            parts.insert(0, _state_in_words(state))
        elif state == "finished":
            took = f"took {duration_in_words(self.seconds)}"
            parts.append(took)
        return " · ".join(parts)

    def _of_trials(self) -> list[str]:
        progress = self.progress
        words = "Trial {done} of {total}" if self.total else "Trial {done}"
        parts = [words.format(done=self.done, total=self.total)]
        metric = metric_in_short(self.started.metric) if self.started is not None else ""
        if self.ensemble is not None:
            return parts + self._of_average(self.ensemble, metric)
        if progress.best is not None:
            words = "best {metric} {score}"
            parts.append(words.format(metric=metric, score=plain(progress.best)))
        if progress.default is not None:
            parts.append(f"default setting {plain(progress.default)}")
        if progress.without_improvement >= STALE:
            words = "no improvement for {count} trials"
            parts.append(words.format(count=progress.without_improvement))
        return parts

    def _of_average(self, ensemble: EnsembleUpdated, metric: str) -> list[str]:
        """How many models, and how good they are together on rows that did not choose them."""
        count = sum(weight > 0 for weight in ensemble.weights)
        words = "{count} models in the average"
        if count == 1:
            words = "one model in the average"
        parts = [words.format(count=count)]
        if ensemble.average is not None:
            parts.append(f"{metric} {plain(ensemble.average)}")
        elif self.progress.best is not None:
            words = "best {metric} {score}"
            parts.append(words.format(metric=metric, score=plain(self.progress.best)))
        return parts

    def _of_steps(self) -> list[str]:
        if self.step is None:
            return ["Step 0"]
        value, before = objective_of(self.step), self._before
        named = "held-out error" if isinstance(self.step, HyperGradientStep) else "objective"
        words = f"{named} {plain(value, 4)}"
        if before is not None and self.ended is None:
            still = abs(before - value) <= STILL * abs(before)
            moving = "falling" if value < before else "rising"
            words = f"{words}, {'hardly moving' if still else moving}"
        parts = [f"Step {self.step.step}", words]
        if isinstance(self.step, PenaltyStep):
            parts.append("no validation data needed")
        return parts

    def _time_left(self) -> list[str]:
        left = self.progress.seconds_left
        if left is None:
            return []
        if left < 1:
            return ["nearly done"]
        return [f"about {duration_in_words(left)} left"]


def objective_of(step: Any) -> float:
    """What a step minimizes."""
    return step.holdout_loss if isinstance(step, HyperGradientStep) else step.objective


def _state_in_words(state: str) -> str:
    return {
        "paused": "Paused",
        "stopping": "Working out the results",
        "interrupted": "Interrupted",
    }[state]
