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

pytestmark = pytest.mark.slow  # whole programs and their processes
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
def after_first_paint(made, *rest):
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
def closing(opened, qtbot, monkeypatch):
    """Closes a window by a button of the question; whether it may, and the question."""
    window = QWidget()
    qtbot.addWidget(window)

    def close(words):
        asked = []

        def execute(box):
            asked.append(box)
            chosen = next((b for b in box.buttons() if b.text() == words), box.escapeButton())
            monkeypatch.setattr(QMessageBox, "clickedButton", lambda _box: chosen)

        monkeypatch.setattr(QMessageBox, "exec", execute)
        return may_close(window, opened), asked

    return close


@pytest.fixture
def running_session(opened, qtbot):
    opened.set_plan(trials=10_000, options={"trial_seconds": 0.02})
    opened.start()
    qtbot.waitUntil(lambda: len(opened.events) > 4, timeout=30_000)
    return opened


def test_a_person_is_asked_during_a_run_and_may_keep_it_or_its_best(closing, running_session):
    for words in ("Keep tuning", "no such button, as with Esc"):
        may, asked = closing(words)
        assert not may
        assert asked[0].escapeButton().text() == "Keep tuning"
    assert running_session.state == "running"
    assert closing("Stop and keep best")[0]
    assert running_session.state == "finished"
    assert running_session.results is not None
    assert closing("Keep tuning") == (True, [])  # without a run nothing is asked


def test_close_now_keeps_the_run_for_later(closing, running_session):
    assert closing("Close, continue later")[0]
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
    " QTimer.singleShot(0, lambda: (QTimer.singleShot(0, lambda: say('open')),"
    " QMessageBox(whole[0]).exec()))"
)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])  # SIGINT: with a dialog, below
def test_the_terminal_ends_the_window_in_order(program, number):
    if signal.getsignal(number) is signal.SIG_IGN:  # as under nohup, and the window's as well
        pytest.skip("these tests were started so that the signal does not reach them")
    process, worker = running(program, **SLOW)
    process.send_signal(number)
    _, said = process.communicate(timeout=LIMIT)
    assert (process.returncode, said) == (128 + number, "")
    assert all_gone([worker])


@pytest.mark.parametrize(
    ("then", "worker_signal", "window_signal", "status"),
    [
        (DIALOG, 0, signal.SIGINT, 130),  # an open dialog does not keep the window from ending
        ("pass", signal.SIGSTOP, signal.SIGINT, 130),  # nor does a halted worker
        ("pass", 0, signal.SIGKILL, -signal.SIGKILL),  # and a killed one takes its worker along
    ],
)
def test_the_window_and_its_worker_end_whatever_is_in_the_way(
    program, then, worker_signal, window_signal, status
):
    process, worker = running(program, then=then, **SLOW)
    if then == DIALOG:
        assert process.stdout.readline() == "open\n"
    if worker_signal:
        os.kill(worker, worker_signal)
    process.send_signal(window_signal)
    process.communicate(timeout=LIMIT)
    assert process.returncode == status
    assert all_gone([worker])


@pytest.mark.parametrize(
    ("code", "why"), [(SPOILT_WINDOW, "no window today"), (SPOILT_SESSION, "no session today")]
)
def test_a_window_or_session_that_cannot_be_made_ends_the_program(program, code, why):
    process = program(code)
    said, error = process.communicate(timeout=LIMIT)
    assert process.returncode == 1
    assert why in error
    assert all_gone([int(number) for number in said.split()[1:]])


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
