"""The timer gate: does the window stay awake while the worker factors kernels?

A view repaints at 30 Hz and a 5 ms timer ticks in the window's thread. Its lateness is measured
alone, with the work in a process of its own (as the worker does it: one BLAS thread, nice 10), and
with the same work in a thread of the window's process. The gate: the second one's 95th percentile
stays under 25 ms.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import threading
import time

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QElapsedTimer, Qt, QTimer
from PySide6.QtWidgets import QApplication

from app.views.board import TICK
from app.views.plot.canvas import Canvas
from app.views.plot.items import Lines
from app.worker.worker_process import give_way, settle_down

SIZE = 1000  # rows of the kernel
SECONDS = 8.0
PERIOD = 5  # milliseconds of the timer
GATE = 25.0  # milliseconds


def factor(stop) -> None:
    """Factor a SIZE × SIZE kernel with SciPy until told to stop."""
    from scipy.linalg import cholesky

    points = np.random.default_rng(0).random((SIZE, 4))
    squares = (points**2).sum(axis=1)
    kernel = np.exp(-(squares[:, None] + squares - 2 * points @ points.T)) + np.eye(SIZE)
    while not stop.is_set():
        cholesky(kernel, lower=True)


def factor_politely(stop, scratch: str) -> None:
    """The same in a process that has settled down as the worker does."""
    settle_down(scratch)
    give_way()
    factor(stop)


class View:
    """A plot of 500 points that is drawn again at 30 Hz."""

    def __init__(self) -> None:
        self.canvas = Canvas()
        plot = self.canvas.add_plot()
        self.line = Lines()
        plot.addItem(self.line)
        plot.hold_x(0, 1)
        plot.hold_y(-1, 1)
        self.canvas.resize(700, 400)
        self.canvas.show()
        self.frames = 0
        self.timer = QTimer()
        self.timer.setInterval(TICK)
        self.timer.timeout.connect(self.draw)
        self.timer.start()

    def draw(self) -> None:
        """The next frame."""
        x = np.linspace(0, 1, 500)
        self.line.set_data(x, np.sin(9 * x + self.frames / 5))
        self.frames += 1


class Ticks:
    """By how many milliseconds each tick of a timer of PERIOD comes late, from now on."""

    def __init__(self) -> None:
        self._late: list[float] = []
        self._since = QElapsedTimer()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(PERIOD)
        self._timer.timeout.connect(self._tick)
        self._since.start()
        self._timer.start()

    def _tick(self) -> None:
        self._late.append(max(0.0, self._since.nsecsElapsed() / 1e6 - PERIOD))
        self._since.restart()

    def stop(self) -> np.ndarray:
        """Measure no more; what was found, shape (ticks,)."""
        self._timer.stop()
        return np.array(self._late)


def lateness(app: QApplication, seconds: float) -> np.ndarray:
    """By how many milliseconds each tick of the timer came late."""
    ticks = Ticks()
    QTimer.singleShot(round(1000 * seconds), app.quit)
    app.exec()
    return ticks.stop()


def main() -> int:
    """Measure and print; 0 if the gate holds."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    view = View()
    rows = {}
    for name, begin in (("nothing", nothing), ("own process", in_process), ("thread", in_thread)):
        end = begin()
        time.sleep(2.0 if begin is not nothing else 0.0)  # imports do not count
        before = view.frames
        late = lateness(app, SECONDS)
        rows[name] = np.percentile(late, [50, 95, 99]), (view.frames - before) / SECONDS
        end()
    print(f"{'work beside the plot':<22}{'p50 ms':>8}{'p95 ms':>8}{'p99 ms':>8}{'frames/s':>10}")
    for name, ((p50, p95, p99), frames) in rows.items():
        print(f"{name:<22}{p50:>8.1f}{p95:>8.1f}{p99:>8.1f}{frames:>10.0f}")
    held = rows["own process"][0][1] < GATE
    print(f"gate: p95 under {GATE:g} ms beside the worker: {'held' if held else 'BROKEN'}")
    return 0 if held else 1


def nothing():
    """No work at all."""
    return lambda: None


def in_process():
    """The work as the worker does it."""
    context = multiprocessing.get_context("spawn")
    stop, scratch = context.Event(), tempfile.TemporaryDirectory()
    process = context.Process(target=factor_politely, args=(stop, scratch.name))
    process.start()

    def end() -> None:
        stop.set()
        process.join()
        scratch.cleanup()

    return end


def in_thread():
    """The work in the window's own process."""
    stop = threading.Event()
    thread = threading.Thread(target=factor, args=(stop,))
    thread.start()

    def end() -> None:
        stop.set()
        thread.join()

    return end


if __name__ == "__main__":
    sys.exit(main())
