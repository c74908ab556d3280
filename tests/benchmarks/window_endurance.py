"""The window used for hours, some thousand times faster than by a person: nothing may grow.

    QT_QPA_PLATFORM=offscreen python tests/benchmarks/window_endurance.py [--cycles 48]

A cycle opens a table, plays a run of 10,000 trials into the session as its worker would, moves the
replay forth and back, looks at the results and their tabs, closes the run, opens it from its folder
and deletes it. A person needs ten minutes for that, so that 48 cycles are eight hours. After each,
memory, open files, processes, QObjects, widgets and running timers are counted; from the third on
each stays within 5 % (and a few), or the exit status is 1.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer
from PySide6.QtTest import QTest

from app.look import appearance
from app.pages.results_page import TABS
from app.preferences import preferences
from app.session.session import Session
from app.window.window import Window
from core.tuning.runs.run_folder import RunFolder

TRIALS = 10_000
EVENTS_AT_ONCE = 400
REPLAY_STEPS = 20
PATIENCE = 120.0  # seconds
FIRST_STEADY = 3  # cycles, until everything was made once
GROWTH = 0.05
SLACK = {"handles": 3, "processes": 0, "timers": 2, "objects": 50, "widgets": 20, "megabytes": 10}


@dataclass(frozen=True)
class Usage:
    """What the window holds after a cycle."""

    megabytes: float
    handles: int
    processes: int
    objects: int
    widgets: int
    timers: int


def usage_of(window: Window, session: Session) -> Usage:
    """Count, after what waits to be deleted is gone."""
    for _ in range(3):
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QTest.qWait(20)
        gc.collect()
    # What the allocator merely keeps is no leak.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    objects = [*window.findChildren(QObject), *session.findChildren(QObject)]
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    children = Path("/proc/self/task").glob("*/children")
    return Usage(
        pages * os.sysconf("SC_PAGESIZE") / 1e6,
        len(os.listdir("/proc/self/fd")),
        sum(len(path.read_text().split()) for path in children),
        len(objects),
        len(appearance.application().allWidgets()),
        sum(isinstance(entry, QTimer) and entry.isActive() for entry in objects),
    )


def write_long_run(folder: Path, trials: int) -> None:
    """A real run of a few trials, whose trials are repeated with scores of their own."""
    words = "tune sample:iris --model svm --strategy random --trials 4 --seed 1 --run-dir"
    command = [sys.executable, "-P", "-m", "app", *words.split(), str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    path = folder / "events.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    is_trial = [line["event"] in ("TrialStarted", "TrialFinished", "Progress") for line in lines]
    first, last = is_trial.index(True), len(lines) - is_trial[::-1].index(True)
    pairs = [line for line in lines[first:last] if line["event"] != "Progress"]
    with path.open("w", encoding="utf-8") as file:
        for line in lines[:first]:
            file.write(json.dumps(line) + "\n")
        for number in range(trials):
            for line in pairs[2 * (number % 4) : 2 * (number % 4) + 2]:
                copy = line | {"number": number, "seconds": 3.0 + number / 1000}
                if "score" in copy:
                    copy["score"] = 0.5 + 0.48 * (number * 7919 % trials) / trials
                file.write(json.dumps(copy) + "\n")
        for line in lines[last:]:
            file.write(json.dumps(line | {"seconds": 4.0 + trials / 1000}) + "\n")


class Person:
    """Who uses the window."""

    def __init__(self, folder: Path, long_run: Path) -> None:
        preferences.use_file(folder / "settings.ini")
        self.application = appearance.application()
        appearance.start(self.application)
        self.session = Session(runs_root=folder / "runs")
        self.window = Window(self.session)
        self.window.resize(1280, 800)
        self.window.show()
        self.problems: list[str] = []
        self.session.problem.connect(self.problems.append)
        self.opened = 0  # tables
        self.session.data_changed.connect(self._count_table)
        self.runs = folder / "runs"
        self.runs.mkdir()
        self.long_run = long_run
        self.events = RunFolder.open(long_run).all_events()

    def _count_table(self) -> None:
        self.opened += 1

    def wait_until(self, is_true: Callable[[], object], action: str) -> None:
        """Wait for it, or end."""
        end = time.monotonic() + PATIENCE
        while not is_true():
            if time.monotonic() > end:
                raise SystemExit(f"{action}: nothing happened. {self.problems}")
            QTest.qWait(10)

    def live_through(self, number: int) -> None:
        """One cycle."""
        session, window, count = self.session, self.window, self.opened
        session.open_sample("wine")
        self.wait_until(lambda: self.opened > count, "open a table")
        for key in ("data", "model", "strategy"):
            self.look_at(key)
        count = self.opened
        session.open_sample("iris")
        self.wait_until(lambda: self.opened > count, "open the run's table")
        self.play_run()
        self.move_replay()
        self.look_at_results()
        session.discard_run()  # what is shown is closed; it has no folder yet
        assert not session.events
        folder = self.runs / f"run-{number}"
        shutil.copytree(self.long_run, folder)
        session.runs.reload()
        self.look_at("runs")
        count = self.opened
        window.open_run(folder)
        self.wait_until(lambda: self.opened > count and session.results, "open the run")
        self.look_at_results()
        session.runs.delete_runs([str(folder)])
        self.look_at("runs")
        [deleted] = [path for path in self.runs.rglob(f"*run-{number}*") if path.is_dir()]
        session.runs.remove_for_good([str(deleted)])
        self.look_at("runs")
        assert not session.events
        assert not [path for path in self.runs.rglob(f"*run-{number}*") if path.is_dir()]

    def look_at(self, key: str) -> None:
        """A page, until it is drawn."""
        self.window.show_page(key)
        QTest.qWait(30)

    def play_run(self) -> None:
        """The events of the run come as from the worker, faster."""
        session = self.session
        self.look_at("tune")
        session._show_run([], None)
        session._set_state("running")
        for first in range(0, len(self.events), EVENTS_AT_ONCE):
            events = self.events[first : first + EVENTS_AT_ONCE]
            for event in events:
                session.shown.add_events([event])
            session._emit_events(events)
            QTest.qWait(5)
        session._take_end()
        assert session.state == "finished"

    def move_replay(self) -> None:
        """Back to the beginning, and forth again."""
        slider = self.window.pages["tune"].replay.slider
        stops = [slider.maximum() * step // REPLAY_STEPS for step in range(REPLAY_STEPS + 1)]
        for stop in (*reversed(stops), *stops):
            slider.setValue(stop)
            QTest.qWait(5)

    def look_at_results(self) -> None:
        """All tabs."""
        self.look_at("results")
        for title in TABS:
            self.window.pages["results"].show_tab(title)
            QTest.qWait(20)

    def leave(self) -> None:
        """Close the window."""
        self.window.close()
        self.session.shutdown()


def grown(usages: Sequence[Usage]) -> list[str]:
    """What a cycle after the third holds more than the third, beyond the allowance."""
    findings: list[str] = []
    if len(usages) < FIRST_STEADY:
        return findings
    steady = usages[FIRST_STEADY - 1]
    for entry in fields(Usage):
        first = getattr(steady, entry.name)
        for number, usage in enumerate(usages[FIRST_STEADY:], FIRST_STEADY + 1):
            value = getattr(usage, entry.name)
            if value > first * (1 + GROWTH) + SLACK[entry.name]:
                findings.append(f"{entry.name}: {value:g} after cycle {number}, {first:g} before")
                break
    return findings


def main() -> int:
    """Live through the cycles; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=48)
    parser.add_argument("--trials", type=int, default=TRIALS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="window-") as scratch:
        folder = Path(scratch)
        os.environ["TUNESCOPE_RUNS"] = str(folder / "runs")
        os.environ["TUNESCOPE_HISTORY"] = str(folder / "history.sqlite3")
        write_long_run(folder / "long", arguments.trials)
        person = Person(folder, folder / "long")
        usages: list[Usage] = []
        print("cycle seconds", *(entry.name for entry in fields(Usage)), flush=True)
        for number in range(1, arguments.cycles + 1):
            began = time.monotonic()
            person.live_through(number)
            seconds = time.monotonic() - began
            usages.append(usage_of(person.window, person.session))
            values = (f"{getattr(usages[-1], entry.name):g}" for entry in fields(Usage))
            print(f"{number:5} {seconds:7.1f}", *values, flush=True)
        person.leave()
    findings = grown(usages)
    print(*findings, sep="\n")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
