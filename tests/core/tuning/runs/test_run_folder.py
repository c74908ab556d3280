"""The run folder: appended events survive torn lines, full disks and second writers."""

import contextlib
import math
import os
import signal
import subprocess
import sys
import tempfile
from io import FileIO
from pathlib import Path

import pytest

from core.errors import UnusableError
from core.tuning.events import (
    DatasetFacts,
    Event,
    Progress,
    RunStarted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    from_json,
)
from core.tuning.plan import DataPlan, Plan
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
    names = {RunFolder.create(PLAN, root=tmp_path).name for _ in range(3)}
    assert len(names) == 3


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
    assert [e for e in fewer if type(e) is not Progress] == [
        e for e in one_by_one if type(e) is not Progress
    ]
    assert 0 < sum(type(e) is Progress for e in fewer) < 20
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


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UnusableError, match="choose a folder that you may write to"):
        RunFolder.create(PLAN, root=tmp_path / "file")


def test_no_run_is_overwritten(tmp_path):
    RunFolder.create(PLAN, path=tmp_path / "run")
    with pytest.raises(UnusableError, match="holds a run already"):
        RunFolder.create(PLAN, path=tmp_path / "run")


OWNS = """
import sys
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


def test_a_second_process_is_kept_out_until_the_first_is_killed(tmp_path):
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    with another_owner(folder) as other:
        assert folder.is_running
        with refused(folder, other), folder.hold_lock():
            pass
        os.kill(other.pid, signal.SIGSTOP)  # one that stands still is alive
        with refused(folder, other), folder.hold_lock():
            pass
    assert not folder.is_running
    with folder.hold_lock():
        assert folder.is_running
    assert not folder.is_running


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
    for above in (tmp_path, *tmp_path.parents):
        if above == Path(tempfile.gettempdir()):
            break
        above.chmod(0o755)  # as deep as the folders of the tests are
    with another_owner(folder) as other:
        (folder.path / "running").chmod(0o600)  # which the other user cannot even read
        look = (
            "import os, sys\n"
            "from pathlib import Path\n"
            "from core.tuning.runs.run_lock import lock_holder\n"
            "os.setuid(65534)\n"
            "print(lock_holder(Path(sys.argv[1])))"
        )
        given = [sys.executable, "-c", look, str(folder.path / "running")]
        assert subprocess.run(given, capture_output=True, text=True).stdout == "0\n"
        (folder.path / "running").chmod(0o644)
        assert subprocess.run(given, capture_output=True, text=True).stdout == f"{other.pid}\n"


def test_the_refused_program_deletes_nothing(tmp_path):
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    record(folder, started())
    kept = {path.name: path.read_bytes() for path in folder.path.iterdir()}
    with another_owner(folder) as other:
        with refused(folder, other), folder.hold_lock():
            pass
        folder.forget_if_idle()
        with refused(folder, other):
            folder.remove_run()
        assert {name: (folder.path / name).read_bytes() for name in kept} == kept
    folder.forget_if_idle()  # nor once the owner is gone: it was never this program's run
    assert {name: (folder.path / name).read_bytes() for name in kept} == kept
    with folder.hold_lock():
        pass
    folder.forget_if_idle()
    assert not folder.path.exists()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system has no /proc")
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "few"),
    [
        ("bench_run_folders", "--new 4 --same 6 --programs 3"),  # none shares a folder
        ("bench_kills", "--rounds 1 --strategy random --strategy evidence --seed 1"),
    ],
)
def test_a_few_rounds_of_the_benchmarks_that_lose_and_double_nothing(name, few):
    script = Path(__file__).parents[3] / "benchmarks" / f"{name}.py"
    ran = subprocess.run([sys.executable, script, *few.split()], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
