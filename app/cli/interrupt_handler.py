"""Ctrl-C or SIGTERM: the first ends a run in order, a second at once; a thread listens to both."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from app.diagnostics.interrupts import COMMAND, InterruptSignals
from core.records import Record, optional
from core.space import Setting
from core.wording import count_text, format_number

if TYPE_CHECKING:
    from app.cli.progress_line import ProgressLine
    from core.tuning.events import Event
    from core.tuning.runs.state import RunState

ANSWERS = 4.0  # seconds from Ctrl-C until the best so far is printed
WAITS = 20.0  # seconds that fit and test of an interrupted run may take
INTERRUPTED = 130
NOTHING_KEPT = "interrupted before there was anything to keep."


class InterruptHandler:
    """Handles interrupts inside `with`; the first raises KeyboardInterrupt or shortens the test."""

    def __init__(
        self, line: ProgressLine, requests: deque[Event], leave: Callable[[], None]
    ) -> None:
        self._line, self._requests, self._leave = line, requests, leave
        self._until: float | None = None  # when the best so far is printed, then when this ends
        self._reported = False
        self._heard = self._answered = False
        self.interrupted = False

    def __enter__(self) -> InterruptHandler:
        self._interrupts = InterruptSignals(COMMAND, self._handle_signal)
        self._listener = threading.Thread(target=self._listen, name="interrupts", daemon=True)
        self._listener.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._interrupts.close()
        self._listener.join()
        self._interrupts.socket.close()

    def answered(self) -> None:
        self._answered = True

    def _handle_signal(self, _number: int, _frame: FrameType | None) -> None:
        # A second one: the listening thread ends the process.
        if self.interrupted or self._answered:
            return
        self.interrupted = True
        # While trials run the stream is left at once; afterwards only the test is shortened.
        if self._line.run_state.tuning_ended is None:
            raise KeyboardInterrupt
        from core.tuning.events import EvaluationShortened  # with the run, if there is one

        self._requests.append(EvaluationShortened())

    def _listen(self) -> None:
        while True:
            wait = None if self._until is None else max(0.01, self._until - time.monotonic())
            self._interrupts.socket.settimeout(wait)
            try:
                heard = self._interrupts.read_signal()
            except TimeoutError:
                self._report_best()
                continue
            if heard is None:
                return
            if heard:
                self._handle_interrupt()

    def _handle_interrupt(self) -> None:
        if self._heard or self._answered:
            self._end_process()
        self._heard, self._until = True, time.monotonic() + ANSWERS
        self._line.print_line(
            "Interrupted; working out the best so far. Interrupt again to leave at once."
        )

    def _report_best(self) -> None:
        self._until = None
        if self._answered:
            return
        run = self._line.run_state
        # Nothing to wait for, or too long: what is recorded is tested by `resume --stop`.
        if self._reported or not run.done_count or result_seconds(run) > WAITS:
            self._end_process()
        self._reported, self._until = True, time.monotonic() + WAITS
        self._line.print_line(untested_best_text(run))
        self._line.print_line(
            f"It is being fitted and tested, for {WAITS:.0f} seconds at most. Interrupt again to "
            "leave it for later."
        )

    def _end_process(self) -> NoReturn:
        self._line.close()
        # The output may have no reader any more.
        with contextlib.suppress(OSError, ValueError):
            self._leave()
        _kill_children_and_exit()


@contextlib.contextmanager
def heard_interrupts() -> Iterator[None]:
    """Outside of a run, an interrupt that Python does not hear in time ends the block."""
    signals = InterruptSignals(COMMAND, signal.default_int_handler)

    def listen() -> None:
        is_interrupted = False
        with contextlib.suppress(OSError):
            while True:
                try:
                    signal_number = signals.read_signal()
                except TimeoutError:
                    print(f"tunescope: {NOTHING_KEPT}", file=sys.stderr, flush=True)
                    _kill_children_and_exit()
                if signal_number is None:
                    return
                if signal_number and not is_interrupted:
                    is_interrupted = True
                    signals.socket.settimeout(ANSWERS)

    listener = threading.Thread(target=listen, name="interrupts", daemon=True)
    listener.start()
    try:
        yield
    finally:
        signals.close()
        listener.join()
        signals.socket.close()


def _kill_children_and_exit() -> NoReturn:
    # From a thread, where sys.exit would end that alone; the main one may be busy for minutes.
    for child in multiprocessing.active_children():
        child.kill()
    os._exit(INTERRUPTED)


def result_seconds(run: RunState) -> float:
    """Estimated seconds until the results of an interrupted run."""
    if run.learns_penalties or not run.trial_fits:
        return run.seconds
    folds = run.started.dataset.outer_folds
    return 4 * (1 + folds) * run.took / run.trial_fits


@dataclass(frozen=True)
class UntestedBest(Record):
    """The best so far: fields of the result that exist before its test."""

    params: Setting
    groups: dict[str, float] | None = optional()
    metric: str = ""
    validation: dict[str, float] = field(default_factory=dict)
    test: dict[str, float] = field(default_factory=dict)
    default_test: dict[str, float] = field(default_factory=dict)


def untested_best(run: RunState) -> UntestedBest:
    """The best so far of a run."""
    from core.tuning.events import HyperGradientStep, PenaltyStep

    setting: Setting = {}
    groups: dict[str, float] = {}
    validation: dict[str, float] = {}
    if run.best_trial is not None:
        setting = dict(run.best_trial.setting)
        validation = {run.started.metric: run.best_trial.score}
    match run.last_step:
        case PenaltyStep(penalties=groups):
            pass
        case HyperGradientStep(penalties=groups, holdout_loss=loss):
            validation = {"holdout_loss": loss}
    return UntestedBest(setting, groups or None, run.started.metric, validation)


def untested_best_text(run: RunState) -> str:
    """The best so far as lines of text, or ""."""
    from core.tuning.ranges import setting_text
    from core.tuning.scores.score import measured_text

    best = untested_best(run)
    scores = ", ".join(measured_text(score, name) for name, score in best.validation.items())
    lines = [f"Best:    {scores} in validation, not tested" if scores else ""]
    if best.params:
        lines.append(f"Setting: {setting_text(best.params)}")
    groups = list((best.groups or {}).items())[:30]
    lines += [f"Penalty: λ = {format_number(penalty, 4)} for {group}" for group, penalty in groups]
    return "\n".join(line for line in lines if line)


def kept_run_text(run: RunState, name: str) -> str:
    """What is kept of an interrupted run, and how to continue."""
    if run.results is not None:
        return f"The run {name} is complete; tunescope export {name} PATH saves its model."
    kind = "step" if run.learns_penalties else "trial"
    if not run.done_count:
        return f"Interrupted before the first {kind} ended; tunescope resume {name} begins again."
    kept = f"{count_text(run.done_count, kind)} {'are' if run.done_count > 1 else 'is'} kept"
    return (
        f"{kept} in the run {name}. tunescope resume {name} continues it; with --stop it tries "
        "nothing more, but fits, tests and saves the best so far."
    )
