"""How long the window's thread computes at a time: all pages, many rows, a run of many trials.

    python tests/benchmarks/bench_window.py [FOLDER] [--rows 200000] [--trials 2000] [--model auto]
        [--profile MILLISECONDS]

The real worker reads a table and tunes; the run is then lengthened to --trials and opened as a past
one. Printed are the longest slices of processor time that the window's thread spends on one event:
milliseconds, what a person did, which event it was, and how many were sent inside it, each of which
costs some 5 microseconds of the measurement's own; with --profile also the functions of those above
a limit; and first the processor seconds until the long run is shown. tests/app/test_window_load.py
reads these lines, of a short run.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import os
import pstats
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT)]
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.look import appearance
from app.preferences import preferences as settings
from app.session.session import Session
from app.window.open_window import Preparation
from app.window.window import PAGES, Window
from core.tuning.events import Event, TrialFinished, TrialStarted
from core.tuning.runs.run_folder import EVENTS, RunFolder

PATIENCE = 240  # seconds
NOTED = 0.01  # seconds of a slice
STILL = 3  # turns of the event loop in which nothing is done, after which a page has settled
PRINTED = 40


class MeasuredApplication(QApplication):
    """An application that notes how long its thread computes for each event."""

    def __init__(self, limit: float) -> None:
        super().__init__([])
        self.slices: list[tuple[float, str, str]] = []
        self.profiles: list[tuple[float, str, cProfile.Profile]] = []
        self.phase, self.events = "start", 0
        self._limit, self._is_inside, self._inner = limit, False, 0

    def notify(self, receiver: QObject, event: QEvent) -> bool:
        if self._is_inside:
            self._inner += 1
            return super().notify(receiver, event)
        self.events += 1
        self._inner = 0
        profile = cProfile.Profile() if self._limit else None
        self._is_inside, begin = True, time.thread_time()
        if profile:
            profile.enable()
        try:
            return super().notify(receiver, event)
        finally:
            if profile:
                profile.disable()
            self._is_inside = False
            if (taken := time.thread_time() - begin) > NOTED:
                # The receiver may be deleted by now.
                words = f"{event.type().name}, {self._inner} inside"
                self.slices.append((taken, self.phase, words))
                if profile and taken > self._limit:
                    self.profiles.append((taken, self.phase, profile))


class Walk:
    """The window, and what a person does in it, each as an event of its own."""

    def __init__(self, folder: Path, limit: float) -> None:
        settings.use_file(folder / "settings.ini")
        self.app = MeasuredApplication(limit)
        appearance.start(self.app)
        self.session = Session(runs_root=folder / "runs")
        self.window = Window(self.session)
        self.window.resize(1280, 800)
        self.window.show()
        self.settle()
        self.app.slices.clear()  # until here it is the start

    def settle(self, seconds: float = 0.0) -> None:
        """Let the window work until nothing is left for it to do, and so many seconds more."""
        end, still = time.monotonic() + seconds, 0
        while still < STILL or time.monotonic() < end:
            count = self.app.events
            self.app.processEvents()
            still = 0 if self.app.events > count else still + 1
            time.sleep(0.005)

    def do(self, phase: str, action: Callable[[], Any], seconds: float = 0.0) -> None:
        self.app.phase = phase
        QTimer.singleShot(0, action)
        self.settle(seconds)

    def until(self, is_true: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_true():
            assert time.monotonic() < end, f"{self.app.phase}: nothing happened"
            self.app.processEvents()
            time.sleep(0.01)
        self.settle()

    def show_pages(self, phase: str, keys: list[str]) -> None:
        for key in keys:
            self.do(f"{phase} {key}", lambda key=key: self.window.show_page(key))
            bar = self.window.current_page.scroll_area.verticalScrollBar()
            self.do(f"{phase} {key}, scrolled", lambda bar=bar: bar.setValue(bar.maximum()))

    def show_tabs(self, phase: str) -> None:
        from app.pages.results_page import TABS

        for title in TABS:
            page: Any = self.window.pages["results"]
            self.do(f"{phase} {title}", lambda title=title, page=page: page.show_tab(title))

    def look_up(self, phase: str, show: Callable[[], None]) -> None:
        """A dialog: its own loop of events is inside one event of ours, so it is not measured."""

        def close() -> None:
            if dialog := self.app.activeModalWidget():
                dialog.close()

        self.app.phase = phase
        QTimer.singleShot(200, close)
        show()


def write_table(folder: Path, rows: int) -> None:
    """table.csv and rows.csv: six columns that repeat after 1,000 rows; the last is the target."""
    import random

    draw = random.Random(0)
    cities, lines = ("Basel", "Bern", "Chur", "Zug"), []
    for _ in range(min(rows, 1000)):
        numbers = [round(draw.gauss(0, 1), 2) for _ in range(4)]
        label = "yes" if numbers[0] + draw.gauss(0, 1) > 0.4 else "no"
        lines.append(",".join([*map(str, numbers), draw.choice(cities), label]))
    body = ("\n".join(lines) + "\n").encode()
    (folder / "table.csv").write_bytes(b"a,b,c,d,city,bought\n" + body * (rows // len(lines)))
    without_target = (line.rpartition(",")[0] for line in lines)
    (folder / "rows.csv").write_text("a,b,c,d,city\n" + "\n".join(without_target) + "\n")


def lengthen_run(source: Path, target: Path, trials: int) -> Path:
    """A copy of a run whose trials are repeated, a little changed, until there are so many."""
    shutil.copytree(source, target)
    events = list(RunFolder(source).read_events())
    first = next(i for i, event in enumerate(events) if isinstance(event, TrialStarted))
    last = max(i for i, event in enumerate(events) if isinstance(event, TrialFinished))
    (target / EVENTS).unlink()
    folder = RunFolder(target)
    for event in (*events[:first], *_repeated(events[first : last + 1], trials)):
        folder.append(event)
    for event in events[last + 1 :]:
        folder.append(event)
    folder.close()
    return target


def _repeated(events: list[Event], trials: int) -> Iterator[Event]:
    count = 1 + max(event.number for event in events if isinstance(event, TrialStarted))
    span = events[-1].seconds - events[0].seconds
    for turn in range(-(-trials // count)):
        for event in events:
            # One after the other: at the same time, each would have a worker of its own.
            event = event.with_fields(seconds=event.seconds + turn * span)
            match event:
                case TrialFinished(number=number, score=score):
                    changed = score - abs(score) * 1e-5 * (turn * 37 % 101)
                    yield event.with_fields(number=number + turn * count, score=changed)
                case TrialStarted(number=number):
                    yield event.with_fields(number=number + turn * count)
                case _:
                    yield event


def walk(visit: Walk, folder: Path, model: str, trials: int) -> None:
    """A file, all pages, a run, its results, its model, and the same run opened again, longer."""
    session, window = visit.session, visit.window
    preparation = Preparation(window)
    visit.do("preparation", preparation.start)
    visit.until(lambda: session.exporters and not preparation.goes_on)
    visit.do("open the file", lambda: session.open_file(folder / "table.csv"))
    visit.until(lambda: session.plan is not None)
    visit.show_pages("before", ["data", "model", "strategy", "tune", "history", "runs"])
    if model == "auto":
        visit.do("plan", lambda: session.set_plan(minutes=0.5))
    else:
        visit.do("choose", lambda: session.choose_model(model))
        visit.do("choose", lambda: session.choose_strategy("random"))
        visit.do("plan", lambda: session.set_plan(trials=2))
    visit.do("start", session.start)
    window.show_page("tune")
    visit.until(lambda: not session.is_going_on)
    assert session.results is not None
    every_page = ["results", *(key for key in PAGES if key != "results")]
    visit.show_pages("after", every_page)
    visit.show_tabs("after")
    run_folder = session.run_folder
    assert run_folder is not None
    visit.do("rows", lambda: session.predict_rows(folder / "rows.csv"))
    if trials:
        run_folder = lengthen_run(run_folder, folder / "long_run", trials)
    runs_opened: list[bool] = []
    session.run_opened.connect(lambda: runs_opened.append(True))
    begin = time.process_time()
    visit.do("open a past run", lambda: window.open_run(run_folder))
    visit.until(lambda: runs_opened)
    window.grab()
    print(f"opened {time.process_time() - begin:.2f} seconds")
    visit.show_pages("past run", every_page)
    visit.show_tabs("past run")
    if trials:
        visit.do("theme", lambda: appearance.change_look(scheme="dark"), 0.5)
    visit.look_up("help", lambda: window.show_help("start"))
    visit.look_up("settings", window.show_settings)
    preparation.shutdown()
    session.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--trials", type=int, default=2_000, help="0: the run as it was")
    parser.add_argument("--model", default="auto")
    parser.add_argument("--profile", type=float, default=0.0, metavar="MILLISECONDS")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = given.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        os.environ.setdefault("TUNESCOPE_HISTORY", str(folder / "history.sqlite3"))
        write_table(folder, given.rows)
        visit = Walk(folder, given.profile / 1000)
        walk(visit, folder, given.model, given.trials)
    for taken, phase, event in sorted(visit.app.slices, reverse=True)[:PRINTED]:
        print(f"slice {1000 * taken:.0f} {phase} ({event})")
    for taken, phase, profile in sorted(visit.app.profiles, key=lambda entry: -entry[0]):
        text = io.StringIO()
        pstats.Stats(profile, stream=text).sort_stats("cumulative").print_stats(28)
        print(f"== {1000 * taken:.0f} {phase}\n{text.getvalue()}")
    print(f"modules {' '.join(sys.modules)}")


if __name__ == "__main__":
    main()
