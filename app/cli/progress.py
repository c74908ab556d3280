"""One line on standard error that says how the run stands: a bar on a terminal, else milestones."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO

from app.cli.words import duration, number, setting_in_words
from core.estimators.several import MODEL
from core.tuning.events import (
    EnsembleUpdated,
    Event,
    FoldTested,
    HistoryRead,
    HyperGradientStep,
    ModelLooked,
    ModelsCompared,
    Noticed,
    PenaltyStep,
    Progress,
    RunResumed,
    RunStarted,
    TrialFailed,
    TrialFinished,
    WorkersSeen,
)

if TYPE_CHECKING:
    from core.tuning.runs.competition import Trial
    from core.tuning.runs.state import RunState

BAR = 24
PAUSE = 30.0  # seconds between lines that stay


class ProgressLine:
    """Consumes a run's events; on a terminal the line is drawn over itself."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._drawn = False
        self._told: float | None = None
        self._compared = False
        self._cluster = (0, 0)  # workers and their threads
        from core.tuning.runs.state import RunState  # brings numpy, which no --help should wait for

        self._run = RunState()

    @property
    def run(self) -> RunState:
        """What was told so far adds up to."""
        return self._run

    def replay(self, past: Iterable[Event]) -> None:
        """Take note of an earlier part of the run without telling it again."""
        for event in past:
            self._run.consume(event)
            self._compared = self._compared or isinstance(event, ModelsCompared)

    def consume(self, event: Event) -> None:
        """Show what the event changes."""
        run, best, averaged = self._run, self._run.best, self._run.ensemble
        run.consume(event)
        match event:
            case RunStarted():
                self.say(
                    f"{_tuned(event)} on {event.dataset['name']} "
                    f"({_size(event.dataset)}), strategy {event.plan['strategy']}"
                )
            case ModelLooked():
                self._looked(event)
            case ModelsCompared() if not self._compared:
                self._compared = True
                self._all_looked()
            case RunResumed():
                self.say(f"Going on after {event.done} trials.")
            case HistoryRead() if event.datasets and not event.model:
                count = len(event.datasets)
                self.say(f"{count} earlier dataset{'' if count == 1 else 's'} can help.")
            case Noticed():
                self.say(event.sentence)
            case TrialFinished():
                if run.best is not None and run.best is not best:
                    self._say_best(run.best)
            case TrialFailed():
                self.say(f"Trial {event.number} failed: {event.reason}")
            case EnsembleUpdated():
                count = len(event.members)
                if count not in (1, len(averaged.members) if averaged else 1):
                    self.say(f"{count} models are averaged after {event.finished} trials.")
            case FoldTested():
                self._fold(event)
            case PenaltyStep():
                words = f"step {event.step} · objective {number(event.objective)}"
                self._draw(words, self._share(event.step))
            case HyperGradientStep():
                loss = number(event.holdout_loss)
                self._draw(f"step {event.step} · held-out loss {loss}", self._share(event.step))
            case WorkersSeen():
                self._workers(event)
            case Progress():
                self._progress()

    def _workers(self, event: WorkersSeen) -> None:
        """How many workers the cluster has, where that changed."""
        usable = [worker for worker in event.workers if worker.get("usable")]
        threads = sum(int(worker.get("threads", 1)) for worker in usable)
        if (len(usable), threads) != self._cluster:
            self._cluster = (len(usable), threads)
            many = "1 worker" if len(usable) == 1 else f"{len(usable)} workers"
            at_once = "1 trial" if threads == 1 else f"{threads} trials"
            self.say(f"The cluster has {many}: {at_once} at a time.")

    def _say_best(self, best: Trial) -> None:
        what = setting_in_words(best.setting)
        if self._run.several and best.reason == "default":
            what = f"{best.setting[MODEL]}: default setting"
        elif best is self._run.default:
            what = "default setting"
        metric = self._run.started.metric
        self.say(f"Trial {best.number}: {metric} {number(best.score)} · {what}")

    def _looked(self, event: ModelLooked) -> None:
        """What the first look at a model failed by."""
        from core.tuning.runs.one_model import models_of

        looks, run = self._run.looks, self._run
        if event.failure and event.reason == "default":
            self.say(f"The first look at {event.model} failed: {event.failure}")
        many = len(models_of(run.started)) if run.several else 0
        self._draw(f"first look at {len(looks)} of {many} models", len(looks) / max(1, many))

    def _all_looked(self) -> None:
        """What the first looks gave, and which models begin with what an earlier dataset taught."""
        started, looks = self._run.started, self._run.looks.values()
        scores = [(look.score, look.model) for look in looks if look.score is not None]
        scores.sort(key=lambda pair: -pair[0] if started.maximize else pair[0])
        if scores:
            said = ", ".join(f"{model} {number(score)}" for score, model in scores)
            self.say(f"First look, {started.metric}: {said}")
        past = [look.model for look in looks if look.reason == "past"]
        if past:
            words = "A setting of an earlier dataset looked better than the default one of"
            self.say(f"{words}: {', '.join(past)}.")

    def _fold(self, event: FoldTested) -> None:
        if event.fold == 0:
            self.say(
                f"Now every row is tested once: the tuning is repeated {event.folds} times, each "
                "time without the rows that test it."
            )
        self._draw(f"fold {event.fold} of {event.folds} tested", event.fold / event.folds)

    def _progress(self) -> None:
        run = self._run
        if run.fold is not None or (run.several and not run.begun and not run.trials):
            return
        left = f" · {duration(run.seconds_left)} left" if run.seconds_left else ""
        best = f" · best {number(run.best.score)}" if run.best is not None else ""
        if run.several and run.best is not None:
            best += f" by {run.best.setting[MODEL]}"
        still = run.without_improvement
        none = f" · no improvement for {still} trials" if still > 4 else ""
        of = f" of {run.total}" if run.total else ""
        self._draw(f"trial {run.done}{of}{best}{left}{none}", self._share(run.done))

    def _share(self, done: int) -> float:
        return min(1.0, done / self._run.total) if self._run.total else 0.0

    def _draw(self, text: str, share: float) -> None:
        full = round(BAR * share)
        self.show(f"[{'#' * full}{'.' * (BAR - full)}] {text}")

    def tell(self, text: str) -> None:
        """How far long work is: a line that the next one takes the place of.

        Where there is no terminal it stays, and others follow it once in half a minute.
        """
        if self._live:
            self.show(text)
        elif self._told is None or time.monotonic() - self._told >= PAUSE:
            self._told = time.monotonic()
            self.say(text)

    def show(self, text: str) -> None:
        """A line that the next one takes the place of; nothing where there is no terminal."""
        if not self._live:
            return
        width = shutil.get_terminal_size().columns - 1
        self._stream.write("\r" + text[:width].ljust(width))
        self._stream.flush()
        self._drawn = True

    def say(self, text: str) -> None:
        """A line that stays."""
        self._wipe()
        self._stream.write(text + "\n")
        self._stream.flush()

    def _wipe(self) -> None:
        if self._drawn:
            self._stream.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
            self._drawn = False

    def close(self) -> None:
        """Leave the terminal tidy."""
        self._wipe()
        self._stream.flush()


def _tuned(started: RunStarted) -> str:
    """The model, or how many there are and which."""
    from core.tuning.runs.competition import tunes_several
    from core.tuning.runs.one_model import models_of  # brings numpy

    if not tunes_several(started):
        return str(started.plan["model"])
    names = models_of(started)
    return f"{len(names)} models ({', '.join(names)})"


def _size(dataset: dict[str, Any]) -> str:
    """How much data there is, in the words of its task."""
    if dataset.get("task") == "sequence":
        sequences = dataset["train_sequences"] + dataset["test_sequences"]
        return f"{dataset['rows']} tokens in {sequences} sequences"
    if dataset.get("task") == "structure":
        return f"{dataset['rows']} molecules"
    if dataset.get("task") == "topics":
        return f"{dataset['rows']} texts"
    return f"{dataset['rows']} rows, {dataset['features']} columns"
