"""Faults while a run goes on: a sentence each, and the run goes on or waits."""

import contextlib
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from io import FileIO

import pytest

from core.tuning.events import RemarkMade, RunFinished, RunStarted, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.results import conclude
from core.tuning.runs import run_folder
from core.tuning.runs.best import has_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.tune import tune

PLAN = Plan(DataPlan("sample:iris"), "logistic", "random", trials=4, folds=3, seed=5)


@pytest.fixture(scope="module")
def whole(iris):
    """The finished trials of the run when nothing befalls it."""
    return finished(tune(PLAN, iris))


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(run_folder, "PAUSE", 0.02)


def finished(events):
    return [(e.number, e.setting, e.score) for e in events if isinstance(e, TrialFinished)]


def followed(stream, befall):
    """The events of a run, told one by one to `befall`."""
    events = []
    with contextlib.closing(stream):
        for event in stream:
            events.append(event)
            befall(events)
    return events


def sentences(events):
    return [event.sentence for event in events if isinstance(event, RemarkMade)]


def trials_in(events):
    return sum(isinstance(event, TrialFinished) for event in events)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EDQUOT, "the disk is full"),
        (errno.EROFS, "the run cannot be written (Read-only file system)"),
    ],
)
def test_a_disk_that_cannot_be_written_is_waited_for(
    iris, whole, tmp_path, monkeypatch, number, words
):
    folder, fails = RunFolder.create(PLAN, path=tmp_path / "run"), [0]

    class Disk(FileIO):
        def write(self, data):
            if fails[0] <= 0:
                return super().write(data)
            fails[0] -= 1
            if fails[0] % 2:  # half a line is taken before the disk is full
                return super().write(bytes(data)[: len(data) // 2])
            raise OSError(number, os.strerror(number))

    def opened(path, mode, buffering):
        return Disk(path, mode.replace("b", ""))

    usual = run_folder.Path.open
    monkeypatch.setattr(
        run_folder.Path,
        "open",
        lambda path, mode="r", buffering=-1, **more: (
            opened(path, mode, 0)
            if path.name == "events.jsonl" and "+" in mode
            else usual(path, mode, buffering, **more)
        ),
    )

    def befall(events):
        if trials_in(events) == 2 and not sentences(events):
            fails[0] = 6

    events = followed(tune(PLAN, iris, folder=folder), befall)
    first, last = sentences(events)
    assert words in first
    assert "The run waits" in first
    assert "continues" in last
    assert finished(events) == whole == finished(folder.all_events())
    assert isinstance(folder.all_events()[-1], RunFinished)


def test_a_model_that_does_not_fit_on_the_disk_is_waited_for(iris, tmp_path, monkeypatch):
    folder, left, keep = RunFolder.create(PLAN, path=tmp_path / "run"), [3], conclude.write_whole

    def full(path, text):
        left[0] -= 1
        if left[0] > 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        keep(path, text)

    monkeypatch.setattr(conclude, "write_whole", full)
    events = list(tune(PLAN, iris, folder=folder))
    assert "the disk is full" in sentences(events)[0]
    assert isinstance(events[-1], RunFinished)
    assert json.loads(folder.takeaway_path.read_text())["target"]


@pytest.mark.parametrize(("what", "late"), [("folder", False), ("root", True), ("events", False)])
def test_a_folder_that_vanishes_is_made_again_with_all_that_it_held(
    iris, whole, tmp_path, what, late
):
    folder = RunFolder.create(PLAN, root=tmp_path / "runs")
    gone = {
        "folder": folder.path,
        "root": folder.path.parent,
        "events": folder.path / "events.jsonl",
    }[what]
    done = []

    def befall(events):
        if trials_in(events) == (4 if late else 2) and not done:
            done.append(True)
            gone.unlink() if gone.is_file() else shutil.rmtree(gone)

    events = followed(tune(PLAN, iris, folder=folder), befall)
    assert [said for said in sentences(events) if "was removed. It was made again" in said]
    assert finished(events) == whole == finished(RunFolder(folder.path).all_events())
    assert isinstance(RunFolder(folder.path).all_events()[0], RunStarted)
    assert folder.plan == PLAN
    assert has_best(folder)
    assert not folder.is_running


def test_a_folder_that_is_renamed_is_written_where_it_is(iris, whole, tmp_path):
    folder = RunFolder.create(PLAN, path=tmp_path / "run")

    def befall(events):
        if trials_in(events) == 2 and folder.path.exists() and len(events) < 12:
            folder.path.rename(tmp_path / "elsewhere")
            (tmp_path / "elsewhere").rename(folder.path)

    events = followed(tune(PLAN, iris, folder=folder), befall)
    assert finished(events) == whole == finished(folder.all_events())


def test_a_clock_that_jumps_changes_nothing(iris, whole, tmp_path, monkeypatch):
    plan = PLAN.changed(minutes=5.0, time_limit=60.0)
    usual, jump = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: usual() + jump[0])
    folder = RunFolder.create(plan, path=tmp_path / "run")

    def befall(events):
        jump[0] = [0.0, -4e8, 4e8][len(events) % 3]

    events = followed(tune(plan, iris, folder=folder), befall)
    assert finished(events) == whole
    assert 0 < events[-1].seconds < 300
    seconds = [event.seconds for event in folder.all_events()]
    assert seconds == sorted(seconds)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows stops no processes")
def test_a_run_that_was_halted_goes_on(tmp_path, whole):
    """SIGSTOP for some seconds, to the program and the processes of its trials."""
    path = tmp_path / "run"
    given = ["sample:iris", "--model", "logistic", "--strategy", "random", "--trials", "4",
             "--option", "folds=3", "--option", "time_limit=60", "--seed", "5"]  # fmt: skip
    program = [sys.executable, "-m", "app", "tune", *given, "--run-dir", str(path)]
    running = subprocess.Popen(program, start_new_session=True, stderr=subprocess.DEVNULL)
    give_up = time.monotonic() + 120
    while (
        not (path / "events.jsonl").exists()
        or b"TrialFin" not in (path / "events.jsonl").read_bytes()
    ):
        assert time.monotonic() < give_up
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGSTOP)
    time.sleep(float(os.environ.get("TUNESCOPE_HALTED", "1")))
    os.killpg(running.pid, signal.SIGCONT)
    assert running.wait(120) == 0
    assert finished(RunFolder(path).all_events()) == whole


def test_what_an_event_speaks_of_is_on_the_disk_before_it(iris, tmp_path, monkeypatch):
    """Plan before the start, model and description before the end, and the end itself at once."""
    log, sync, append, replace = tmp_path / "log", os.fsync, RunFolder.append, os.replace

    def note(name):  # in a file: the model is written by another process
        with log.open("a") as file:
            file.write(f"{name}\n")

    def synced(handle):
        note(os.path.basename(os.readlink(f"/proc/self/fd/{handle}")))
        sync(handle)

    def appended(folder, event):
        append(folder, event)
        note(type(event).__name__)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", lambda draft, to: (note(to.name), replace(draft, to)))
    monkeypatch.setattr(RunFolder, "append", appended)
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    list(tune(PLAN, iris, folder=folder))
    done = log.read_text().split("\n")
    start, end = done.index("RunStarted"), done.index("RunFinished")
    for name, event in (("plan.json", start), ("best.json", end), ("best.skops", end)):
        at = done.index(name)
        assert done[at - 1].startswith(".tunescope-")  # its content
        assert done[at + 1] == "run"  # its name in the folder
        assert at + 1 < event
    assert done[end - 1] == "events.jsonl"
