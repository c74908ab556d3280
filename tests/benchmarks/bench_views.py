"""How long a frame of the board takes while 10,000 trials, or structured steps, stream in.

    python tests/benchmarks/bench_views.py

A frame is one turn of the event loop: timers, drawing and painting together. The wish is that none
takes more than 50 ms. Counted is the time that the thread computes, so that other work on the
machine does not count. Bare frames, of a window with one pyqtgraph plot that repaints a line of 500
points, stand beside ours as the measure of the machine.

A move of the replay's slider over 91,000 trials is not to take more than 50 ms either: it took
3.4 s where all events were folded again, and takes some 10 ms (at most 23 ms) from kept states.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.look import appearance
from app.session.shown_run import ShownRun
from app.views.board import Board
from core.space import Axis
from core.tuning.events import Event, Progress, RunStarted, TrialFailed, TrialFinished, TrialStarted

STREAMS = Path(__file__).parents[1] / "app" / "views"  # made-up runs, beside the tests
STEPS = 60
TRIALS = 10_000
LONG = 91_000  # trials of the run that is replayed
MOVES = 40
AT_ONCE = 25  # events handed over between two turns of the loop
SIZE = (1060, 700)


def stream(trials: int) -> Iterator[Event]:
    """A run with three settings; every hundredth trial fails."""
    rng = np.random.default_rng(0)
    space = [
        Axis("C", "penalty", "float", 1e-3, 1e3, log=True, default=1.0),
        Axis("depth", "depth", "int", 1, 20, default=6),
        Axis("kernel", "kernel", "choice", choices=("linear", "rbf", "poly"), default="rbf"),
    ]
    yield RunStarted(
        run="bench", kind="trials", plan={"strategy": "random"}, space=list(space), total=trials
    )
    for number in range(trials):
        setting = {
            "C": float(10 ** rng.uniform(-3, 3)),
            "depth": int(rng.integers(1, 21)),
            "kernel": str(rng.choice(["linear", "rbf", "poly"])),
        }
        yield TrialStarted(number=number, setting=setting, reason="random" if number else "default")
        if number % 100 == 99:
            yield TrialFailed(number=number, setting=setting, reason="it took too long", took=1.0)
        else:
            score = 0.9 - 0.02 * float(rng.exponential())
            yield TrialFinished(number=number, setting=setting, score=score, took=0.1, fits=5)
        yield Progress(done=number + 1, total=trials)


def frames(app: QApplication, feed: Callable[[], bool]) -> list[float]:
    """Milliseconds of every turn of the loop until `feed` says that it has no more."""
    found = []
    while feed():
        begun = time.thread_time()
        app.processEvents()
        found.append(1000 * (time.thread_time() - begun))
        time.sleep(0.002)
    return found


def board_frames(app: QApplication, prepare: Callable[[Board], object]) -> list[float]:
    """Frames of a board that the whole stream goes through; `prepare` chooses how it shows it."""
    board = Board()
    board.resize(*SIZE)
    board.show()
    events = list(stream(TRIALS))
    board.consume(events[0])
    prepare(board)
    return _streamed(app, board, events, AT_ONCE)


def _streamed(
    app: QApplication, board: Board, events: Sequence[Event], at_once: int
) -> list[float]:
    at = 1

    def feed() -> bool:
        nonlocal at
        for event in events[at : at + at_once]:
            board.consume(event)
        at += at_once
        return at < len(events)

    found = frames(app, feed)
    board.close()
    board.deleteLater()
    app.processEvents()
    return found


def structured_frames(app: QApplication, task: str, groups: int) -> list[float]:
    """Frames while every turn brings a step with its sequences or molecules."""
    sys.path.insert(0, str(STREAMS))
    from structured_streams import structured_run

    board = Board()
    board.resize(SIZE[0], 2 * SIZE[1])  # everything is seen, everything is drawn
    board.show()
    names = [f"group {number}" for number in range(groups)]
    events = list(structured_run(task, names, STEPS))
    board.consume(events[0])
    return _streamed(app, board, events, 2)


def bare_frames(app: QApplication) -> list[float]:
    """Frames of a bare plot that repaints 500 points."""
    plot = pg.PlotWidget()
    plot.resize(*SIZE)
    curve = plot.plot()
    plot.show()
    x, turn = np.linspace(0, 6, 500), 0

    def feed() -> bool:
        nonlocal turn
        turn += 1
        curve.setData(x, np.sin(x + turn / 10))
        return turn < 300

    found = frames(app, feed)
    plot.close()
    return found


def replay_times(app: QApplication) -> tuple[list[float], list[float]]:
    """Milliseconds of every move of the replay's slider over a long run, and of frames after it.

    Half of the moves go back, half of them onward.
    """
    run = ShownRun(stream(LONG), None)
    board = Board()
    board.resize(*SIZE)
    board.show()
    board.show_run(run.state)
    app.processEvents()
    moves, drawn, shown = [], [], len(run.events)
    for stop in np.random.default_rng(0).permutation(len(run.stops))[:MOVES]:
        count = run.stops[stop]
        begun = time.thread_time()
        board.show_run(run.state_after(count), onward=count >= shown)
        moves.append(1000 * (time.thread_time() - begun))
        shown, left = count, iter(range(10))
        drawn += frames(app, lambda left=left: next(left, None) is not None)
    board.close()
    return moves, drawn


def main() -> None:
    """Print the table."""
    app = QApplication.instance() or QApplication([])
    appearance.start(app)
    bare = bare_frames(app)
    measured = {
        "bare plot, 500 points": bare,
        "10,000 trials, newest first": board_frames(app, lambda board: None),
        "10,000 trials, sorted by score": board_frames(
            app,
            lambda board: board.views["trials"].table.sortByColumn(1, Qt.SortOrder.AscendingOrder),
        ),
        "10,000 trials, best 25": board_frames(app, lambda board: board.set_best_k(25)),
        "10,000 trials, one selected": board_frames(app, lambda board: board.select_trial(3)),
    }
    for task, what in (("sequence", "sequences"), ("structure", "molecules")):
        for groups in (15, 708):
            words = f"{STEPS} steps on {what}, {groups} groups"
            measured[words] = structured_frames(app, task, groups)
    print(f"{'frames':34}{'p50':>8}{'p95':>8}{'p99':>8}{'max':>8} ms   p95 against bare")
    for name, found in measured.items():
        p50, p95, p99 = np.percentile(found, (50, 95, 99))
        ratio = p95 / np.percentile(bare, 95)
        print(f"{name:34}{p50:8.1f}{p95:8.1f}{p99:8.1f}{max(found):8.1f}      {ratio:6.1f}")
    for name, found in zip(("moves", "frames"), replay_times(app), strict=True):
        words, (p50, p95) = f"{name} in a replay of {LONG:,} trials", np.percentile(found, (50, 95))
        print(f"{words:40}: p50 {p50:.1f}, p95 {p95:.1f}, max {max(found):.1f} ms")


if __name__ == "__main__":
    main()
