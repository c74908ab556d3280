"""The window always ends, with all its processes: closed during a run, told to, or by a fault."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox, QWidget

from app.window.window_end import may_close

ROOT = Path(__file__).parents[3]
LIMIT = 60  # seconds; a hang is what these tests look for

BEGIN = """
import multiprocessing, sys
from pathlib import Path
sys.path.insert(0, {worker_tests!r})
import app.worker.worker_thread as thread
thread.WorkerThread.__init__.__defaults__ = ("fake_engine",)
from app.preferences import preferences as settings
from app.window import open_window
settings.use_file(Path({folder!r}) / "settings.ini")

def say(*words):
    print(*words, flush=True)
"""

RUNS = """
def after_first_paint(made, faults, crashes, file):
    session = made.session
    session.data_changed.connect(begin)
    session.events_arrived.connect(told)
    session.open_file("some.csv")

def begin():
    session = whole[0].session
    session.set_plan(trials=1000, options={options})
    session.start()

def told(events):
    if any(type(event).__name__ == "TrialStarted" and event.number == 1 for event in events):
        {then}
        say("running", whole[0].session._worker.process_id)

whole = []
def painted(made, *rest):
    whole.append(made)
    after_first_paint(made, *rest)

open_window._after_first_paint = painted
sys.exit(open_window.run_window(""))
"""

SPOILT_WINDOW = """
def spoilt(self, session):
    for _ in range(200):
        if session._worker.process_id:
            break
        session._worker.msleep(50)
    say("process", session._worker.process_id)
    raise RuntimeError("no window today")
open_window.Window.__init__ = spoilt
sys.exit(open_window.run_window(""))
"""

SPOILT_SESSION = """
import app.session.session_state as knowledge
def spoilt():
    raise RuntimeError("no session today")
knowledge.SurrogateEvaluator = spoilt
sys.exit(open_window.run_window(""))
"""


@pytest.fixture
def bare_window(opened, qtbot):
    made = QWidget()
    made.session = opened
    qtbot.addWidget(made)
    return made


@pytest.fixture
def running_session(opened, qtbot):
    opened.set_plan(trials=10_000, options={"trial_seconds": 0.02})
    opened.start()
    qtbot.waitUntil(lambda: len(opened.events) > 4, timeout=30_000)
    return opened


def answer(monkeypatch, words):
    """Answer the question by pressing the button with these words."""
    asked = []

    def execute(box):
        asked.append(box)
        chosen = next((b for b in box.buttons() if b.text() == words), box.escapeButton())
        monkeypatch.setattr(QMessageBox, "clickedButton", lambda _box: chosen)

    monkeypatch.setattr(QMessageBox, "exec", execute)
    return asked


def test_without_a_run_nothing_is_asked(bare_window, monkeypatch):
    asked = answer(monkeypatch, "Keep tuning")
    assert may_close(bare_window, bare_window.session)
    assert asked == []


def test_esc_and_keep_tuning_leave_the_run_alone(bare_window, running_session, monkeypatch):
    for words in ("Keep tuning", "no such button, as with Esc"):
        asked = answer(monkeypatch, words)
        assert not may_close(bare_window, bare_window.session)
        assert asked[0].escapeButton().text() == "Keep tuning"
    assert running_session.state == "running"


def test_stop_and_keep_best_waits_for_the_results(bare_window, running_session, monkeypatch):
    answer(monkeypatch, "Stop and keep best")
    assert may_close(bare_window, bare_window.session)
    assert running_session.state == "finished"
    assert running_session.results is not None


def test_close_now_keeps_the_run_for_later(bare_window, running_session, monkeypatch):
    answer(monkeypatch, "Close, continue later")
    assert may_close(bare_window, bare_window.session)
    assert running_session.state == "running"
    folder = running_session.run_folder
    running_session.shutdown()
    assert (folder / "events.jsonl").stat().st_size > 0


@pytest.fixture
def program(tmp_path):
    """Starts the window on a fake engine, and ends it if the test does not."""
    started = []

    def start(code, **variables):
        worker_tests = str(ROOT / "tests" / "app" / "worker")
        whole = BEGIN.format(folder=str(tmp_path), worker_tests=worker_tests) + code
        path = tmp_path / "program.py"
        path.write_text(
            'if __name__ == "__main__":\n' + "".join(f"    {line}\n" for line in whole.splitlines())
        )
        env = {**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"}
        env |= variables
        process = subprocess.Popen(
            [sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=env, cwd=tmp_path,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def gone(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    with open(f"/proc/{number}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"


def all_gone(numbers):
    until = time.monotonic() + 10
    while not all(map(gone, numbers)) and time.monotonic() < until:
        time.sleep(0.02)
    return all(map(gone, numbers))


def running(program, then="pass", variables=(), **options):
    process = program(RUNS.format(then=then, options=options), **dict(variables))
    words = process.stdout.readline().split()
    assert words[:1] == ["running"], process.communicate()[1]
    return process, int(words[1])


SLOW = {"trial_seconds": 0.05}
DIALOG = (
    "from PySide6.QtCore import QTimer; from PySide6.QtWidgets import QMessageBox;"
    " QTimer.singleShot(0, QMessageBox(whole[0]).exec)"
)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])  # SIGINT: with a dialog, below
def test_the_terminal_ends_the_window_in_order(program, number):
    if signal.getsignal(number) is signal.SIG_IGN:  # as under nohup, and the window's as well
        pytest.skip("these tests were started so that the signal does not reach them")
    process, worker = running(program, **SLOW)
    process.send_signal(number)
    _, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 128 + number
    assert said == ""
    assert all_gone([worker])


def test_an_open_dialog_does_not_keep_the_window_from_ending(program):
    process, worker = running(program, then=DIALOG, **SLOW)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert all_gone([worker])


def test_a_halted_worker_does_not_keep_the_window_from_ending(program):
    process, worker = running(program, **SLOW)
    os.kill(worker, signal.SIGSTOP)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT)
    assert all_gone([worker])


def test_the_worker_ends_with_a_window_that_was_killed(program):
    process, worker = running(program, **SLOW)
    process.kill()
    process.communicate(timeout=LIMIT)
    assert all_gone([worker])


def test_a_window_that_cannot_be_made_ends_the_program_and_its_worker(program):
    process = program(SPOILT_WINDOW)
    said, error = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    assert "no window today" in error
    assert all_gone([int(said.split()[1])])


def test_a_session_that_cannot_be_made_ends_the_program(program):
    process = program(SPOILT_SESSION)
    _, error = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    assert "no session today" in error


XLIB_SEES_IT = (
    "import ctypes, time; from PySide6.QtWidgets import QApplication;"
    " shown = ctypes.c_void_p(QApplication.instance().nativeInterface().display());"
    " look = lambda: [time.sleep(1), ctypes.CDLL('libX11.so.6').XSync(shown, 0)];"
    " from PySide6.QtCore import QTimer; QTimer.singleShot(0, look)"
)


@pytest.mark.xvfb
@pytest.mark.skipif(shutil.which("Xvfb") is None, reason="there is no virtual display (Xvfb)")
@pytest.mark.parametrize("then", ["pass", XLIB_SEES_IT], ids=["Qt or Xlib", "Xlib"])
def test_a_display_that_dies_leaves_a_run_that_can_go_on(program, then):
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        display = f":{server.stdout.readline().strip()}"
        there = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
        process, worker = running(program, then=then, variables=there, **SLOW)
    finally:
        server.kill()
        server.communicate()
    _, said = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    assert "tunescope: the display has gone. The run is kept: tunescope resume " in said
    assert all_gone([worker])
