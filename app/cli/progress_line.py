"""Progress of a run on standard error: a bar that moves every second, or milestones."""

import contextlib
import os
import shutil
import threading
import time
from collections.abc import Iterable, Iterator
from typing import TextIO

from core.awake_timer import AWAKE
from core.estimators.multi_model import MODEL
from core.tuning import events
from core.tuning.ranges import setting_text
from core.tuning.runs.model_runs import models_of
from core.tuning.runs.run_clock import ABANDONED
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial, tunes_several
from core.tuning.scores.score import measured_text, metric_in_short, score_text
from core.wording import (
    count_text,
    duration_text,
    format_number,
    rough_duration_text,
    with_short_names,
)

BAR = 24
TICK_SECONDS = 0.8  # after which the bar is drawn anew, so that it moves every second
LOG_SECONDS = 10.0  # without a line in a file or pipe, after which the bar's text is one


class ProgressLine:
    """Consumes the events of a run."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._drawn = False
        self._text = ""  # of the bar
        self._began, self._printed = AWAKE.seconds, time.monotonic()
        self._lock = threading.RLock()
        self._ended: threading.Event | None = None  # of the thread that moves the bar
        self._compared = False
        self._cluster = (0, 0)  # workers and their threads
        self.run_state = RunState()

    def replay_events(self, past: Iterable[events.Event]) -> None:
        for event in past:
            self.run_state.consume(event)
            self._compared = self._compared or isinstance(event, events.ModelsCompared)

    def consume(self, event: events.Event) -> None:
        # What was there before, so that a line is printed for a change alone.
        run, best, averaged = self.run_state, self.run_state.best_trial, self.run_state.ensemble
        run.consume(event)
        match event:
            case events.RunStarted():
                plan, dataset = event.run_plan, event.dataset
                limit = f", {duration_text(60 * plan.minutes)} at most" if plan.minutes else ""
                target = f"predicting “{dataset.target}”, " if dataset.target else ""
                about = f"{_model_text(event)} on {dataset.name} ({_size_text(dataset)})"
                self.print_line(f"{about}, {target}strategy {plan.strategy}{limit}")
                self._draw_bar("starting", 0.0)
            case events.ModelScreened():
                if event.failure and event.reason == "default":
                    self.print_line(f"The screening of {event.model} failed: {event.failure}")
                self._progress()
            case events.ModelsCompared() if not self._compared:
                self._compared = True
                self._show_all_screenings()
            case events.RunResumed():
                self.print_line(f"Continuing after {event.done} trials.")
            case events.HistoryRead() if event.datasets and not event.model:
                datasets = count_text(len(event.datasets), "earlier dataset")
                self.print_line(f"{datasets} can help.")
            case events.RemarkMade():
                self.print_line(event.sentence)
            case events.TrialFinished():
                if run.best_trial is not None and run.best_trial is not best:
                    self._say_best(run.best_trial)
            # A trial that the end of the run cut off is no fault.
            case events.TrialFailed() if event.reason != ABANDONED:
                self.print_line(f"Trial {event.number} failed: {event.reason}")
            case events.EnsembleUpdated():
                count = len(event.members)
                # Every trial updates the average; one member is the best trial, which is told.
                if count not in (1, len(averaged.members) if averaged else 1):
                    self.print_line(f"{count} models are averaged after {event.finished} trials.")
            case events.FoldTested():
                self._show_fold(event)
            case events.PenaltyStep():
                words = f"step {event.step} · objective {format_number(event.objective, 4)}"
                self._draw_bar(words, run.done_share)
            case events.HyperGradientStep():
                words = f"step {event.step} · held-out loss {format_number(event.holdout_loss, 4)}"
                self._draw_bar(words, run.done_share)
            case events.WorkersSeen():
                self._workers(event)
            case events.Progress() | events.TuningEnded():
                self._progress()

    def _workers(self, event: events.WorkersSeen) -> None:
        usable = [worker for worker in event.workers if worker.usable]
        threads = sum(worker.threads for worker in usable)
        if (len(usable), threads) != self._cluster:
            self._cluster = (len(usable), threads)
            workers, trials = count_text(len(usable), "worker"), count_text(threads, "trial")
            self.print_line(f"Now {workers}: {trials} at a time.")

    def _say_best(self, best: Trial) -> None:
        words = setting_text(best.setting)
        if self.run_state.tunes_several_models and best.reason == "default":
            words = f"{best.setting[MODEL]}: default setting"
        elif best is self.run_state.default_trial:
            words = "default setting"
        score = measured_text(best.score, self.run_state.started.metric)
        self.print_line(f"Trial {best.number}: {score} · {words}")

    def _show_all_screenings(self) -> None:
        started, looks = self.run_state.started, self.run_state.looks.values()
        scores = [(look.score, look.model) for look in looks if look.score is not None]
        scores.sort(key=lambda pair: -pair[0] if started.maximize else pair[0])
        if scores:
            metric = started.metric
            score_list = ", ".join(f"{model} {score_text(s, metric)}" for s, model in scores)
            self.print_line(f"Screening, {metric_in_short(metric)}: {score_list}")
        past = [look.model for look in looks if look.reason == "past"]
        if past:
            words = "A setting of an earlier dataset looked better than the default one of"
            self.print_line(f"{words}: {', '.join(past)}.")

    def _show_fold(self, event: events.FoldTested) -> None:
        if event.fold == 0:
            self.print_line(
                f"Now every row is tested once: the tuning is repeated {event.folds} times, each "
                "time without the rows that test it."
            )
        self._draw_bar(f"fold {event.fold} of {event.folds} tested", event.fold / event.folds)

    def _progress(self) -> None:
        run = self.run_state
        # The bar shows the folds by then.
        if run.fold is not None:
            return
        time_left = f" · {rough_duration_text(run.seconds_left)} left" if run.seconds_left else ""
        time_left += f" · {format_number(run.memory / 1e9, 2)} GB" if run.memory else ""
        if run.tuning_ended is not None:
            self._draw_bar(f"finishing{time_left}", 1.0)
            return
        if run.tunes_several_models and not run.begun and not run.trials:
            models, done = len(run.started.space[0].choices), len(run.looks)
            self._draw_bar(f"screening: {done} of {models} models{time_left}", done / models)
            return
        best = ""
        if run.best_trial is not None:
            best = f" · best {score_text(run.best_trial.score, run.started.metric)}"
            best += f" by {run.best_trial.setting[MODEL]}" if run.tunes_several_models else ""
        still = run.without_improvement
        none = f" · no improvement for {still} trials" if still > 4 else ""
        total = f" of {run.total}" if run.total else ""
        self._draw_bar(f"trial {run.done_count}{total}{best}{time_left}{none}", run.done_share)

    def _draw_bar(self, text: str, share: float) -> None:
        full = round(BAR * share)
        self.show_line(f"[{'#' * full}{'.' * (BAR - full)}] {text}")

    @contextlib.contextmanager
    def show_during(self, text: str) -> Iterator[None]:
        try:
            self.show_line(text)
            yield
        finally:
            self.close()

    def show_line(self, text: str) -> None:
        """It is overwritten; without a terminal it is printed now and then."""
        with self._lock:
            self._text = text
            if self._live:
                self._stream.write(self._drawn_text())
                self._stream.flush()
                self._drawn = True
        if self._ended is None:
            self._ended = threading.Event()
            target, arguments = self._tick_until, (self._ended,)
            threading.Thread(target=target, args=arguments, name="progress", daemon=True).start()

    def _drawn_text(self) -> str:
        minutes, seconds = divmod(int(AWAKE.seconds - self._began), 60)
        # Asked each time, for windows change; a full last column would begin a new line.
        width = shutil.get_terminal_size().columns - 1
        return "\r" + f"{minutes}:{seconds:02} {self._text}"[:width].ljust(width)

    def _tick_until(self, ended: threading.Event) -> None:
        while not ended.wait(TICK_SECONDS):
            with self._lock:
                text = self._drawn_text() if self._drawn else ""
                if not self._live and time.monotonic() - self._printed >= LOG_SECONDS:
                    text, self._printed = f"{self._text}\n", time.monotonic()
                # Past Python's buffer, whose lock a process that is forked now would keep.
                with contextlib.suppress(OSError):
                    os.write(self._stream.fileno(), text.encode(errors="replace"))

    def print_line(self, text: str) -> None:
        with self._lock:
            self._clear_line()
            self._stream.write(with_short_names(text) + "\n")
            self._stream.flush()
            self._printed = time.monotonic()

    def _clear_line(self) -> None:
        if self._drawn:
            self._stream.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
            self._drawn = False

    def close(self) -> None:
        if self._ended is not None:
            self._ended.set()
            self._ended = None
        with self._lock:
            self._clear_line()
            self._stream.flush()


def _model_text(started: events.RunStarted) -> str:
    if not tunes_several(started):
        return started.run_plan.model
    names = models_of(started)
    return f"{len(names)} models ({', '.join(names)})"


def _size_text(dataset: events.DatasetFacts) -> str:
    size = f"{dataset.rows} {dataset.task.units}"
    if dataset.task.has_sequences:
        sequences = (dataset.train_sequences or 0) + (dataset.test_sequences or 0)
        return f"{size} in {sequences} sequences"
    return size if dataset.task.has_one_column else f"{size}, {dataset.features} columns"
