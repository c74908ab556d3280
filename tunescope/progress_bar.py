"""How far a run is, in a notebook or a terminal: a bar of tqdm or rich, else lines."""

import sys
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from importlib.util import find_spec

from core.tuning.events import Event, Progress, TuningEnded
from core.tuning.runs.state import RunState
from core.tuning.scores.score import measured_text
from core.wording import rough_duration_text

LINE_SECONDS = 2.0  # between two lines
Draw = Callable[[float, str], object]  # shows a percentage and a text


def progress_bar(stack: ExitStack) -> Callable[[Event], None]:
    """What shows the events of a run that it is called with, until the stack closes."""
    run, draw = RunState(), _drawing(stack)

    def show(event: Event) -> None:
        run.consume(event)
        if not (isinstance(event, Progress | TuningEnded) or run.ended):
            return
        stage = f"{'step' if run.learns_penalties else 'trial'} {run.done_count}"
        stage += f" of {run.total}" if run.total else ""
        if run.ended or run.tuning_ended:
            stage = "done" if run.ended else "testing"
        if (best := run.best_trial) is not None:
            stage += f", best {measured_text(best.score, run.started.metric)}"
        if run.seconds_left and not run.tuning_ended:
            stage += f", {rough_duration_text(run.seconds_left)} left"
        draw(100.0 if run.ended or run.tuning_ended else 100 * run.done_share, stage)

    return show


def _drawing(stack: ExitStack) -> Draw:
    if find_spec("tqdm"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there are no widgets
            from tqdm.auto import tqdm
        form = "{percentage:3.0f} %|{bar}| {elapsed} {desc}"
        bar = stack.enter_context(tqdm(total=100, bar_format=form))

        def move(percentage: float, text: str) -> None:
            bar.n = percentage
            bar.set_description_str(text)

        return move
    if find_spec("rich"):
        from rich.markup import escape
        from rich.progress import Progress as Bars

        bars = stack.enter_context(Bars())
        task = bars.add_task("starting", total=100)
        return lambda done, text: bars.update(task, completed=done, description=escape(text))
    last = [time.monotonic()]

    def write(percentage: float, text: str) -> None:
        if percentage == 100 or time.monotonic() - last[0] >= LINE_SECONDS:
            sys.stderr.write(f"{percentage:3.0f} % {text}\n")
            last[0] = time.monotonic()

    return write
