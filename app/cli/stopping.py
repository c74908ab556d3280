"""Ctrl-C while a run is followed: the first stops in order, a second leaves at once.

Within five seconds of the first the best so far is told, tested or not. Where its fit and test will
take long, the process ends with that: whoever stops does not wait for minutes. A thread listens,
for compiled code may keep Python busy that long.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from app.cli.words import number, setting_in_words
from app.diagnostics.interrupts import COMMAND, Interrupts

if TYPE_CHECKING:
    from app.cli.progress import ProgressLine
    from core.tuning.events import Event
    from core.tuning.runs.state import RunState

ANSWERS = 4.0  # seconds from Ctrl-C until the best so far is told as it is
WAITS = 20.0  # seconds that the results of an interrupted run may take by the look of it
INTERRUPTED = 130


class Stopping:
    """Takes interrupts inside `with`; the first raises KeyboardInterrupt while the run goes on.

    Once the winner is being tested the first one only shortens that.

    Args:
        line: shows the run, and knows how it stands.
        requests: of the run (core.tuning.tune.tune).
        leave: tells what is kept; the process ends after it.

    Attributes:
        interrupted: whether one came.
    """

    def __init__(
        self, line: ProgressLine, requests: deque[Event], leave: Callable[[], None]
    ) -> None:
        self._line, self._requests, self._leave = line, requests, leave
        self._until: float | None = None  # when the best so far is to be told
        self._heard = self._answered = False
        self.interrupted = False

    def __enter__(self) -> Stopping:
        self._interrupts = Interrupts(COMMAND, self._handle)
        self._listener = threading.Thread(target=self._listen, name="interrupts", daemon=True)
        self._listener.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._interrupts.close()
        self._listener.join()
        self._interrupts.socket.close()

    def answered(self) -> None:
        """The results are there: what is left to do has no limit."""
        self._answered = True

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        from core.tuning.events import EvaluationShortened

        if self.interrupted or self._answered:
            return  # the listening thread ends the process
        self.interrupted = True
        if self._line.run.tuning_ended is None:
            raise KeyboardInterrupt
        self._requests.append(EvaluationShortened())

    def _listen(self) -> None:
        while True:
            left = None if self._until is None else max(0.01, self._until - time.monotonic())
            self._interrupts.socket.settimeout(left)
            try:
                heard = self._interrupts.heard()
            except TimeoutError:
                self._tell()
                continue
            if heard is None:
                return
            if heard:
                self._take()

    def _take(self) -> None:
        """An interrupt."""
        if self._heard or self._answered:
            self._end()
        self._heard, self._until = True, time.monotonic() + ANSWERS
        self._line.say(
            "Interrupted; working out the best so far. Interrupt again to leave at once."
        )

    def _tell(self) -> None:
        """The best so far, now that its test takes its time."""
        self._until = None
        if self._answered:
            return
        run = self._line.run
        if results_take(run) > WAITS:
            self._end()
        self._line.say(untested_in_words(run) or "Nothing has ended so far.")
        self._line.say("It is being fitted and tested. Interrupt again to leave it for later.")

    def _end(self) -> NoReturn:
        self._line.close()
        with contextlib.suppress(OSError, ValueError):  # nobody may read what we say
            self._leave()
        for child in multiprocessing.active_children():
            child.kill()
        os._exit(INTERRUPTED)


def results_take(run: RunState) -> float:
    """About how many seconds the results of an interrupted run will take.

    The winner, the default and the model that is kept are fitted, in every outer fold anew. The
    penalties of a learner are compared and fitted once more, which takes about as long as it did.
    """
    if run.learns_penalties or not run.trial_fits:
        return run.seconds
    folds = run.started.dataset.get("outer_folds", 0)
    return 4 * (1 + folds) * run.took / run.trial_fits


def untested(run: RunState) -> dict[str, Any]:
    """The best so far, as the fields of the result that are known before it is tested."""
    from core.tuning.events import HyperGradientStep, PenaltyStep

    params, groups, validation = {}, {}, {}
    if run.best is not None:
        params, validation = dict(run.best.setting), {run.started.metric: run.best.score}
    match run.step:
        case PenaltyStep(penalties=penalties):
            groups = penalties
        case HyperGradientStep(d=d, holdout_loss=loss):
            groups = {name: math.exp(value) for name, value in d.items()}
            validation = {"holdout_loss": loss}
    return {
        "params": params,
        **({"groups": groups} if groups else {}),
        "metric": run.started.metric,
        "validation": validation,
        "test": {},
        "default_test": {},
    }


def untested_in_words(run: RunState) -> str:
    """The best so far as a few lines for a person; "" where nothing has ended."""
    found = untested(run)
    scores = ", ".join(f"{name} {number(value)}" for name, value in found["validation"].items())
    lines = [f"Best:    {scores} in validation, not tested" if scores else ""]
    if found["params"]:
        lines.append(f"Setting: {setting_in_words(found['params'])}")
    groups = list(found.get("groups", {}).items())[:30]
    lines += [f"Penalty: λ = {penalty:.4g} for {group}" for group, penalty in groups]
    return "\n".join(line for line in lines if line)


def kept_in_words(run: RunState, name: str) -> str:
    """What is kept of a run that was left, and how it goes on."""
    if run.results is not None:
        return f"The run {name} is complete; tunescope export {name} PATH saves its model."
    kind = "step" if run.learns_penalties else "trial"
    if not run.done:
        return f"Interrupted before the first {kind} ended; tunescope resume {name} begins again."
    count = f"{run.done} {kind}s are" if run.done > 1 else f"1 {kind} is"
    return (
        f"{count} kept in the run {name}. tunescope resume {name} goes on; with --stop it tries "
        "nothing more, but fits, tests and saves the best so far."
    )
