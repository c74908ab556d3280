"""The run folder: torn lines, full disks, second writers and other faults lose nothing; a clock."""

import contextlib
import errno
import itertools
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

import pytest
from run_events import of
from run_events import tune_here as tune

from core.errors import UnusableError
from core.tuning.event_lines import from_json
from core.tuning.events import (
    DatasetFacts,
    Event,
    Progress,
    RemarkMade,
    RunFinished,
    RunStarted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from core.tuning.plan import DataPlan, Plan
from core.tuning.results import conclude
from core.tuning.runs import run_folder
from core.tuning.runs.best import has_best
from core.tuning.runs.run_clock import RunClock, time_is_up
from core.tuning.runs.run_folder import READ_AT_ONCE, RunFolder
from core.tuning.runs.state import state_from_events

PLAN = Plan(DataPlan("sample:iris", roles={"x": "ignore"}), "svm", "gp", {"tau": 0.5}, seed=3)


def started() -> RunStarted:
    data = DatasetFacts(name="iris", fingerprint="abc")
    return RunStarted(run="r", dataset=data, metric="accuracy", total=5, started_at="2026-01-02")


def record(folder: RunFolder, *events: Event) -> RunFolder:
    with contextlib.closing(folder):
        for event in events:
            folder.append(event)
    return folder


def test_a_plan_and_its_events_come_back(tmp_path):
    events = [started(), TrialFinished(number=0, score=0.75), TrialFinished(number=1, score=0.8)]
    folder = record(RunFolder.create(PLAN, root=tmp_path), *events)
    again = RunFolder.open(folder.path)
    assert again.plan == PLAN
    assert again.all_events() == events


def test_two_runs_of_one_second_have_two_folders(tmp_path):
    assert len({RunFolder.create(PLAN, root=tmp_path).name for _ in range(3)}) == 3


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_torn_last_line_is_ignored_and_then_cut_off(tmp_path, cut):
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    record(folder, started(), TrialFinished(number=0, score=0.75))
    file = folder.path / "events.jsonl"
    file.write_bytes(file.read_bytes()[:-cut])
    assert RunFolder.open(folder.path).all_events() == [started()]
    record(folder, TrialFinished(number=0, score=0.5))
    assert folder.all_events() == [started(), TrialFinished(number=0, score=0.5)]


def long_run(trials):
    """Events of a run of which several parts are read at once."""
    yield RunStarted(plan=PLAN.as_dict(), total=trials)
    for n in range(trials):
        setting = {"C": 1.5 * n, "kernel": "rbf"}
        yield TrialStarted(n + 0.25, number=n, setting=setting, reason="random")
        if n % 7 == 6:
            yield TrialFailed(n + 0.5, number=n, setting=setting, reason="no “end”\nin sight")
        else:
            yield TrialFinished(n + 0.5, n, setting, score=math.sin(n), fold_scores=[0.1, n / 3])
        yield Progress(n + 0.5, done=n + 1, total=trials, seconds_left=float(trials - n))


def test_a_run_of_several_blocks_is_read_line_by_line(tmp_path):
    folder = record(RunFolder.create(PLAN, root=tmp_path), *long_run(900))
    file = folder.path / "events.jsonl"
    assert file.stat().st_size > 3 * READ_AT_ONCE
    one_by_one = [from_json(line) for line in file.read_bytes().splitlines()]
    assert folder.all_events() == one_by_one == list(long_run(900))
    fewer = list(folder.read_events(beats=False))
    few_beats = [event for event in fewer if type(event) is Progress]
    beats = [event for event in one_by_one if type(event) is Progress]
    assert 0 < len(few_beats) < 20
    assert [e for e in fewer if e not in few_beats] == [e for e in one_by_one if e not in beats]
    few, whole = state_from_events(fewer), state_from_events(one_by_one)
    for name in ("trials", "seconds", "seconds_left", "best_trial", "pending", "done_count"):
        assert getattr(few, name) == getattr(whole, name)


@pytest.fixture(scope="module")
def long_lines(tmp_path_factory):
    """The lines of a long run, the last one empty."""
    folder = record(RunFolder.create(PLAN, root=tmp_path_factory.mktemp("long")), *long_run(900))
    return (folder.path / "events.jsonl").read_bytes().split(b"\n")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"event": "Progress", "done": 3', "not JSON"),
        (b'{"event": "RunStarted"}, {"event": "RunStarted"}', "not JSON"),
        (b'{"event": "\xff"}', "not JSON"),
        (b"", "not JSON"),
        (b"{}", "not an event"),
        (b'{"event": "TrialFinished", "number": "three"}', "TrialFinished.number: expected int"),
        (b'{"event": "TopicsFound", "topics": [{}]}', "TopicsFound.topics[0]: object missing"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_a_damaged_line_is_refused_by_its_number(tmp_path, long_lines, line, why):
    folder = RunFolder.create(PLAN, root=tmp_path)
    for at in (0, 1500):
        lines = [*long_lines[:at], line, *long_lines[at + 1 :]]
        (folder.path / "events.jsonl").write_bytes(b"\n".join(lines))
        for beats in (True, False):
            with pytest.raises(UnusableError) as refusal:
                list(folder.read_events(beats))
            where = f"{folder.path / 'events.jsonl'}, line {at + 1}"
            sentence = f"{where}: this line of the run is damaged ({why}"
            assert refusal.value.sentence.startswith(sentence)


def test_a_beat_without_news_is_not_recorded(tmp_path):
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    record(folder, *(Progress(done=done) for done in (1, 1, 1, 2)))
    assert [event.done for event in folder.all_events()] == [1, 2]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_one_sentence_and_keeps_what_was_recorded(tmp_path):
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    record(folder, started())
    kept = (folder.path / "events.jsonl").read_bytes()
    full = RunFolder(folder.path)
    full._file = FileIO("/dev/full", "wb")
    full_disk = pytest.raises(UnusableError, match="the disk is full; free some space")
    with contextlib.closing(full), full_disk:
        full.append(TrialFinished(number=0, score=0.5))
    assert (folder.path / "events.jsonl").read_bytes() == kept


def test_a_folder_that_cannot_be_made_is_one_sentence_and_no_run_is_overwritten(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableError, match="choose a folder that you may write to"):
        RunFolder.create(PLAN, root=tmp_path / "file")
    RunFolder.create(PLAN, path=tmp_path / "run")
    with pytest.raises(UnusableError, match="holds a run already"):
        RunFolder.create(PLAN, path=tmp_path / "run")


OWNS = """
import sys
from core.tuning.runs import run_folder
from core.tuning.runs.run_folder import RunFolder
with RunFolder(sys.argv[1]).hold_lock():
    print("inside", flush=True)
    input()
"""


@contextlib.contextmanager
def another_owner(folder):
    """A second process that writes the run until it is killed at the end."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", OWNS, str(folder.path)], **pipes) as other:
        assert other.stdout.readline() == "inside\n"
        try:
            yield other
        finally:
            other.kill()


def refused(folder, other):
    return pytest.raises(UnusableError, match=f"this run is being written by process {other.pid}")


def test_a_second_process_is_kept_out_and_deletes_nothing_until_the_first_is_killed(tmp_path):
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    record(folder, started())
    kept = {path: path.read_bytes() for path in folder.path.iterdir()}
    with another_owner(folder) as other:
        assert folder.is_running
        for _ in range(2):
            with refused(folder, other), folder.hold_lock():
                pass
            os.kill(other.pid, signal.SIGSTOP)  # one that stands still is alive
        folder.forget_if_idle()
        with refused(folder, other):
            folder.remove_run()
        assert {path: path.read_bytes() for path in kept} == kept
    assert not folder.is_running
    folder.forget_if_idle()  # nor once the owner is gone: it was never this program's run
    assert {path: path.read_bytes() for path in kept} == kept
    with folder.hold_lock():
        assert folder.is_running
    assert not folder.is_running
    folder.forget_if_idle()
    assert not folder.path.exists()


def test_what_a_process_of_before_left_owns_nothing(tmp_path):
    """Not even where its number is now that of another process."""
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    (folder.path / "running").write_text("1")
    assert not folder.is_running
    with folder.hold_lock():
        pass


@pytest.mark.skipif(os.getuid() != 0, reason="only the administrator can become another user")
def test_another_users_living_process_owns_its_run(tmp_path):
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    mark = folder.path / "running"
    for above in (folder.path, tmp_path, *tmp_path.parents):
        if above == Path(tempfile.gettempdir()):
            break
        above.chmod(0o755)  # as deep as the folders of the tests are
    look = (
        "import os; from pathlib import Path; from core.tuning.runs.run_lock import lock_holder\n"
        f"os.setuid(65534); print(lock_holder(Path({str(mark)!r})))"
    )
    with another_owner(folder) as other:
        for mode, owner in ((0o600, 0), (0o644, other.pid)):  # the first cannot even be read
            mark.chmod(mode)
            assert subprocess.check_output([sys.executable, "-c", look], text=True) == f"{owner}\n"


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "few"),
    [
        ("shared_programs", "--runs 3"),
        ("bench_kills", "--rounds 1 --case random --case evidence --seed 1"),
    ],
)
def test_a_few_rounds_of_the_benchmarks_that_lose_and_double_nothing(name, few):
    script = Path(__file__).parents[3] / "benchmarks" / f"{name}.py"
    ran = subprocess.run([sys.executable, script, *few.split()], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


IRIS = Plan(DataPlan("sample:iris"), "logistic", "random", trials=4, folds=3, seed=5)


@pytest.fixture(scope="module")
def whole(iris):
    """The finished trials of the run when nothing befalls it."""
    return finished(tune(IRIS, iris))


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(run_folder, "PAUSE", 0.02)


def finished(events):
    return [(e.number, e.setting, e.score) for e in of(TrialFinished, events)]


def followed(stream, befall):
    """The events of a run; `befall` is {after so many trials: what happens then}."""
    events = []
    with contextlib.closing(stream):
        for event in stream:
            events.append(event)
            if isinstance(event, TrialFinished):
                befall.get(len(of(TrialFinished, events)), lambda: None)()
    return events


def sentences(events):
    return [event.sentence for event in of(RemarkMade, events)]


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
    folder, fails = RunFolder.create(IRIS, path=tmp_path / "run"), []

    class Disk(FileIO):
        def write(self, data):
            if not fails:
                return super().write(data)
            fails.pop()
            if len(fails) % 2:  # half a line is taken before the disk is full
                return super().write(bytes(data)[: len(data) // 2])
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(run_folder, "FileIO", Disk)
    events = followed(tune(IRIS, iris, folder=folder), {2: lambda: fails.extend(range(6))})
    first, last = sentences(events)
    assert words in first
    assert "The run waits" in first
    assert "continues" in last
    assert finished(events) == whole == finished(folder.all_events())
    assert isinstance(folder.all_events()[-1], RunFinished)


def test_a_model_that_does_not_fit_on_the_disk_is_waited_for(iris, tmp_path, monkeypatch):
    folder, left, keep = RunFolder.create(IRIS, path=tmp_path / "run"), [3], conclude.write_whole

    def full(path, text, **how):
        left[0] -= 1
        if left[0] > 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        keep(path, text)

    monkeypatch.setattr(conclude, "write_whole", full)
    events = list(tune(IRIS, iris, folder=folder))
    assert "the disk is full" in sentences(events)[0]
    assert isinstance(events[-1], RunFinished)
    assert json.loads(folder.takeaway_path.read_text())["target"]


@pytest.mark.parametrize(("what", "after"), [("run", 2), (".", 4), ("run/events.jsonl", 2)])
def test_a_folder_that_vanishes_is_made_again_with_all_that_it_held(
    iris, whole, tmp_path, what, after
):
    folder = RunFolder.create(IRIS, path=tmp_path / "runs" / "run")
    gone = tmp_path / "runs" / what

    def vanish():
        gone.unlink() if gone.is_file() else shutil.rmtree(gone)

    events = followed(tune(IRIS, iris, folder=folder), {after: vanish})
    assert [said for said in sentences(events) if "was removed. It was made again" in said]
    assert finished(events) == whole == finished(RunFolder(folder.path).all_events())
    assert isinstance(RunFolder(folder.path).all_events()[0], RunStarted)
    assert folder.plan == IRIS
    assert has_best(folder)
    assert not folder.is_running


def test_a_folder_that_is_renamed_is_written_where_it_is(iris, whole, tmp_path):
    folder = RunFolder.create(IRIS, path=tmp_path / "run")

    def rename():
        folder.path.rename(tmp_path / "elsewhere").rename(folder.path)

    events = followed(tune(IRIS, iris, folder=folder), {2: rename})
    assert finished(events) == whole == finished(folder.all_events())


def test_a_clock_that_jumps_changes_nothing(iris, whole, tmp_path, monkeypatch):
    plan = IRIS.changed(minutes=5.0, time_limit=60.0)
    usual, jumps = time.time, itertools.cycle([0.0, -4e8, 4e8])
    monkeypatch.setattr(time, "time", lambda: usual() + next(jumps))
    folder = RunFolder.create(plan, path=tmp_path / "run")
    events = list(tune(plan, iris, folder=folder))
    assert finished(events) == whole
    assert 0 < events[-1].seconds < 300
    seconds = [event.seconds for event in folder.all_events()]
    assert seconds == sorted(seconds)


def test_runs_of_one_second_and_of_a_clock_set_back_are_all_kept(tmp_path, monkeypatch):
    """ "last" is the latest by the clock of the runs, whatever the clock says now."""
    hours = itertools.cycle([12, 12, 12, 12, 11, 11])  # for the folder's name and the event

    class SetClock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime(2026, 11, 27, next(hours), tzinfo=tz or UTC)

    monkeypatch.setattr(run_folder, "datetime", SetClock)
    monkeypatch.setenv("TUNESCOPE_RUNS", str(tmp_path))
    folders = []
    for number in range(3):
        folders.append(RunFolder.create(IRIS))
        started = RunStarted(run=str(number), plan=IRIS.as_dict(), started_at=run_folder.utc_now())
        folders[-1].append(started)
        folders[-1].close()
    assert [folder.all_events()[0].run for folder in folders] == ["0", "1", "2"]
    assert len(list(tmp_path.iterdir())) == 3
    assert RunFolder.find_run("last").name == folders[1].name


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows stops no processes")
def test_a_run_that_was_halted_goes_on(tmp_path, whole):
    """SIGSTOP for some seconds, to the program and the processes of its trials."""
    events = tmp_path / "run" / "events.jsonl"
    given = "sample:iris --model logistic --strategy random --trials 4 --seed 5 --option folds=3"
    given += f" --option time_limit=60 --run-dir {events.parent}"
    program = [sys.executable, "-m", "app", "tune", *given.split()]
    running = subprocess.Popen(program, start_new_session=True, stderr=subprocess.DEVNULL)
    give_up = time.monotonic() + 120
    while not events.exists() or b"TrialFin" not in events.read_bytes():
        assert time.monotonic() < give_up
        time.sleep(0.01)
    os.killpg(running.pid, signal.SIGSTOP)
    time.sleep(float(os.environ.get("TUNESCOPE_HALTED", "1")))
    os.killpg(running.pid, signal.SIGCONT)
    assert running.wait(120) == 0
    assert finished(RunFolder(events.parent).all_events()) == whole


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
    folder = RunFolder.create(IRIS, path=tmp_path / "run")
    list(tune(IRIS, iris, folder=folder))
    done = log.read_text().split("\n")
    start, end = done.index("RunStarted"), done.index("RunFinished")
    for name, event in (("plan.json", start), ("best.json", end), ("best.skops", end)):
        at = done.index(name)
        assert done[at : at + 3] == [name, name, "run"]  # content, name, and its folder
        assert at + 2 < event
    assert done[end - 1] == "events.jsonl"


def test_a_pause_between_events_is_no_time():
    passing = RunClock(5.0)
    events = passing.stamped(iter([Progress(done=1), Progress(done=2)]))
    first = next(events)
    time.sleep(0.3)
    second = next(events)
    assert 5.0 <= first.seconds <= second.seconds < first.seconds + 0.25


def test_one_minute_is_one():
    assert time_is_up(1.0) == "the time of 1 minute was up"
    assert time_is_up(0.5) == "the time of 0.5 minutes was up"
