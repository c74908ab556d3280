"""Owned processes: each leaves when its pipe closes, and is ended where it does not."""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path

import pytest

from core import processes
from core.errors import UnusableError
from core.processes import (
    OwnedProcess,
    ProcessLostError,
    exit_text,
    memory_kills,
    reserve_stack,
    stream_from_fork,
)

SPAWN = multiprocessing.get_context("spawn")
ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no signals there")


def echo(pipe, *given):
    """Answers until its pipe closes."""
    try:
        while True:
            pipe.send((*given, pipe.recv()))
    except EOFError:
        return


def stubborn(pipe, group):
    """Heeds neither its pipe nor SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = 0
    if group:
        os.setpgid(0, 0)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]).pid
    pipe.send(child)
    time.sleep(60)


def dies(pipe, number):
    pipe.recv()
    os.kill(os.getpid(), number)


def half(pipe):
    """Stops in mid-message."""
    os.write(pipe.fileno(), struct.pack("!i", 100) + b"abc")
    time.sleep(60)


def heard(process):
    assert process.pipe.poll(60)
    return process.pipe.recv()


def all_gone(*numbers):
    """Whether processes end within seconds; one that nobody has waited for is gone too."""

    def is_gone(number):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        return state == "Z"

    until = time.monotonic() + 10
    while not all(map(is_gone, numbers)) and time.monotonic() < until:
        time.sleep(0.01)
    return all(map(is_gone, numbers))


def test_a_process_answers_and_leaves_when_its_pipe_closes():
    process = OwnedProcess(SPAWN, echo, "said", name="echo")
    process.pipe.send(7)
    assert heard(process) == ("said", 7)
    assert process.is_alive
    assert process.pid != os.getpid()
    assert process.end_process(patience=30) == "The echo ended unexpectedly (exit status 0)."
    assert process.pipe.closed


@POSIX
@pytest.mark.parametrize(("number", "why"), [(9, "signal 9"), (11, "crashed"), (15, "ended by")])
def test_its_own_exit_is_told_and_not_that_it_was_killed_afterwards(number, why):
    process = OwnedProcess(SPAWN, dies, number, name="worker")
    process.pipe.send("go")
    with pytest.raises((EOFError, OSError)):
        heard(process)
    assert why in process.end_process(patience=30)


@POSIX
def test_one_that_does_not_leave_is_killed_with_its_group():
    process = OwnedProcess(SPAWN, stubborn, True, name="stubborn", group=True)
    numbers = process.pid, heard(process)
    began = time.monotonic()
    assert process.end_process(patience=0.1) == "The stubborn did not react and was ended."
    assert time.monotonic() - began < 10
    assert all_gone(*numbers)


@POSIX
def test_escalation_asks_first_and_kills_then():
    process = OwnedProcess(SPAWN, stubborn, False, name="stubborn")
    heard(process)
    process.escalate()  # nothing is expected of it
    process.expect_reaction(0.0)
    process.expect_reaction(None)
    process.escalate()  # it reacted
    assert not process.forced
    process.expect_reaction(0.0)
    process.escalate()
    assert process.forced
    assert process.is_alive  # it does not heed SIGTERM
    until = time.monotonic() + 30
    while process.is_alive and time.monotonic() < until:
        process.escalate()
        time.sleep(0.01)
    assert not process.is_alive
    assert process.deadline is None
    process.end_process()


@pytest.mark.parametrize(
    ("code", "word"),
    [(-9, "killed (signal 9)"), (137, "killed"), (0xC0000017, "memory"),
     (-11, "crashed"), (-15, "ended by"), (1, "exit status 1"),
     (0xC0000005 - 2**32, "crashed")],
)  # fmt: skip
def test_an_exit_code_is_a_sentence(code, word):
    said = exit_text(code, "worker")
    assert said.startswith("The worker ")
    assert word in said
    # A kill is for want of memory only where the system says so.
    told = exit_text(code, "worker", out_of_memory=True)
    assert ("out of memory" in told) == (code in (-9, 137)) or word == "memory"


def test_the_kills_of_the_system_are_counted_in_both_versions_of_control_groups(
    tmp_path, monkeypatch
):
    (tmp_path / "memory.events").write_text("low 0\noom 5\noom_kill 2\noom_group_kill 7\n")
    (tmp_path / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
    monkeypatch.setattr(processes, "memory_groups", list)
    without = memory_kills()
    groups = [("", tmp_path), ("memory", tmp_path), ("", tmp_path / "none")]
    monkeypatch.setattr(processes, "memory_groups", lambda: groups)
    assert memory_kills() - without == 3


@POSIX
def test_a_message_that_stops_half_way_and_one_that_nobody_takes_are_given_up(monkeypatch):
    monkeypatch.setattr(processes, "STALLED", limit := 0.5)
    process = OwnedProcess(SPAWN, half, name="half")
    assert process.pipe.poll(60)
    began = time.monotonic()
    with pytest.raises(OSError, match="unavailable"):
        process.pipe.recv()
    assert limit / 2 < time.monotonic() - began < 20 * limit
    with pytest.raises(OSError, match="unavailable"):
        process.pipe.send(bytes(10_000_000))
    assert process.end_process(patience=0.1) == "The half did not react and was ended."


@POSIX
def test_a_process_that_is_halted_is_killed_from_another_thread():
    process = OwnedProcess(SPAWN, stubborn, True, name="stubborn", group=True)
    numbers = process.pid, heard(process)
    os.kill(process.pid, signal.SIGSTOP)
    killer = threading.Thread(target=process.kill)
    killer.start()
    killer.join()
    process.end_process(patience=30)
    process.kill()  # of one that has ended nothing comes
    assert all_gone(*numbers)


LEAVES_ONE = """
import multiprocessing, sys
sys.path.insert(0, {folder!r})
from core.processes import OwnedProcess
from test_processes import stubborn
if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    process = OwnedProcess(spawn, stubborn, True, name="x", group=True)
    process.pipe.poll(60)
    print(process.pid, process.pipe.recv(), flush=True)
    raise SystemExit(3)
"""


@POSIX
def test_a_program_that_ends_without_a_word_leaves_no_process(tmp_path):
    program = tmp_path / "leaves_one.py"
    program.write_text(LEAVES_ONE.format(folder=os.path.dirname(__file__)))
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, timeout=60, env=ENVIRONMENT
    )
    assert done.returncode == 3
    assert all_gone(*done.stdout.split())


def test_a_process_that_cannot_be_started_leaves_no_pipe():
    class Exhausted:
        made = ()

        def Pipe(self):
            self.made = SPAWN.Pipe()
            return self.made

        def Process(self, **_given):
            raise BlockingIOError(11, "Resource temporarily unavailable")

    context = Exhausted()
    with pytest.raises(OSError, match="unavailable"):
        OwnedProcess(context, echo, name="echo")
    assert all(end.closed for end in context.made)


FORKS = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")


def forked(stream, inbox=None, beat=lambda: "beat", **more):
    inbox = deque() if inbox is None else inbox
    return stream_from_fork(stream, inbox, name="process", beat=beat, **more)


def taken(stream):
    """The items of a stream without beats, and its result."""
    items = []
    while True:
        try:
            item = next(stream)
        except StopIteration as end:
            return items, end.value
        items += [item] if item != "beat" else []


def counting(inbox=()):
    yield from range(3)
    yield os.getpid()
    return tuple(inbox)


def test_a_stream_from_a_copy_has_the_same_items_and_result():
    (*items, pid), result = taken(forked(counting()))
    assert (items, result) == ([0, 1, 2], ())
    assert (pid != os.getpid()) == (sys.platform == "linux")
    assert all_gone(pid) or sys.platform != "linux"


@FORKS
def test_what_comes_into_the_inbox_reaches_the_copy_and_is_taken_out():
    inbox = deque(["before"])
    stream = forked(counting(inbox), inbox)
    assert next(stream) == 0
    inbox.append("meanwhile")
    assert taken(stream)[1] == ("before", "meanwhile")
    assert not inbox


@FORKS
def test_a_copy_goes_on_only_as_items_are_asked_for(tmp_path):
    def writing():
        yield 0
        (tmp_path / "on").touch()
        yield 1

    stream = forked(writing())
    next(stream)
    time.sleep(0.5)
    assert not (tmp_path / "on").exists()
    assert taken(stream)[0] == [1]
    assert (tmp_path / "on").exists()


def fault(kind):
    yield os.getpid()
    match kind:
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "crash":
            faulthandler.disable()
            signal.raise_signal(signal.SIGSEGV)  # of this very thread
        case "memory":
            bytearray(2**32)
        case "usable":
            raise UnusableError("it is empty", where="x.csv", cure="fill it")
        case "defect":
            raise KeyError("a")
    yield from ()


@FORKS
@pytest.mark.parametrize(
    ("kind", "error", "words"),
    [
        ("kill", ProcessLostError, r"The process was killed \(signal 9\)."),
        ("crash", ProcessLostError, "The process crashed inside a numerical library."),
        ("memory", ProcessLostError, "not enough memory for the result: allow more"),
        ("usable", UnusableError, "x.csv: it is empty; fill it."),
        ("defect", KeyError, "a"),
    ],
)
def test_a_fault_of_a_copy_is_an_error_here(kind, error, words):
    stream = forked(fault(kind), memory=2**28)
    pid = next(stream)
    with pytest.raises(error, match=words):
        taken(stream)
    assert all_gone(pid)


def endless():
    yield os.getpid()
    while True:
        time.sleep(0.1)


@FORKS
def test_a_copy_is_ended_by_a_beat_that_raises_and_by_closing():
    def beat():
        raise ProcessLostError("It took too long.")

    stream = forked(endless(), beat=beat)
    pid = next(stream)
    with pytest.raises(ProcessLostError, match="too long"):
        next(stream)
    assert all_gone(pid)
    stream = forked(endless())
    pid = next(stream)
    assert next(stream) == "beat"
    stream.close()
    assert all_gone(pid)


@FORKS
def test_a_copy_ends_with_a_parent_that_is_killed_and_so_does_a_copy_of_the_copy():
    code = (
        "import os, time\n"
        "from collections import deque\n"
        "from core.processes import stream_from_fork\n"
        "def inner():\n    yield os.getpid()\n    time.sleep(60)\n"
        "def copy(stream): return stream_from_fork(stream, deque(), name='p', beat=lambda: 0)\n"
        "def outer():\n    yield os.getpid()\n    yield from copy(inner())\n"
        "for pid in copy(outer()):\n    print(pid, flush=True)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    )
    pids = [int(running.stdout.readline()) for _ in range(2)]
    running.kill()
    running.communicate()
    assert all_gone(*pids)


@FORKS
def test_a_copy_may_use_openmp_after_its_parent_did_and_start_processes():
    code = (
        "import numpy as np\n"
        "from collections import deque\n"
        "from core.processes import stream_from_fork\n"
        "from core.tuning.scores.scoring import FoldData, ScoringJob\n"
        "from core.tuning.trials.executors import ProcessExecutor\n"
        "from sklearn.ensemble import HistGradientBoostingRegressor as Boosting\n"
        "X = np.random.default_rng(0).normal(size=(3000, 5)); y = X[:, 0]\n"
        "job = ScoringJob('linear', 'regression', 'mse', 0, (), (FoldData(X, y, X, y),))\n"
        "def scores():\n"
        "    executor = ProcessExecutor(job); executor.submit(0, {'alpha': 1.0})\n"
        "    while not (results := executor.wait_for_results(1.0)): pass\n"
        "    executor.close()\n    return results[0].failure\n"
        "def fit():\n    yield Boosting(max_iter=5).fit(X, y).score(X, y)\n    yield scores()\n"
        "if __name__ == '__main__':\n"
        "    print(*fit())\n"
        "    stream = stream_from_fork(fit(), deque(), name='p', beat=lambda: None)\n"
        "    print(*[item for item in stream if item is not None])\n"
    )
    many = {**ENVIRONMENT, "OMP_NUM_THREADS": "4"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=many, timeout=120
    )
    first, second = run.stdout.splitlines()
    assert first == second, run.stderr


def hold_bytes(pipe, size):
    data = bytearray(os.urandom(1)) * size
    pipe.send(len(data))
    pipe.recv()


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="not told here")
def test_the_memory_of_processes_together_counts_shared_pages_once():
    before, size = processes.memory_in_use([os.getpid()]), 200_000_000
    data = bytearray(b"x") * size  # which both copies share with this process
    context = multiprocessing.get_context("fork")
    owned = [OwnedProcess(context, hold_bytes, own, name="holder") for own in (0, size)]
    try:
        sizes = [heard(process) for process in owned]
        total = processes.memory_in_use([os.getpid(), *(process.pid for process in owned)])
    finally:
        for process in owned:
            process.end_process()
    assert (len(data), *sizes) == (size, 0, size)
    assert 2 * size <= total - before + 20e6 < 2.5 * size
    assert processes.memory_in_use([2**22 + 1]) is None


@FORKS
def test_a_thread_bounds_memory_where_the_system_does_not():
    code = (
        "import os, threading, time\n"
        "from core import processes\n"
        "processes.MEMORY_SECONDS = 0.01\n"
        "processes._Bound.size = processes.memory_in_use([os.getpid()]) + 50_000_000\n"
        "threading.Thread(target=processes._watch_memory, daemon=True).start()\n"
        "data = []\n"
        "try:\n"
        "    while len(data) < 4000:\n"
        "        data.append(bytearray(b'x') * 1_000_000); time.sleep(0.001)\n"
        "except MemoryError:\n"
        "    print('refused')\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert run.stdout == "refused\n", run.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="pages are counted there")
def test_calls_ask_for_no_memory_again_and_again_at_any_depth():
    import resource

    def leaf():
        return None

    def pages_at(depth):
        if depth:
            return pages_at(depth - 1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(1000):
            leaf()
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    most_pages = reserve_stack(lambda: max(map(pages_at, range(300))))()
    assert most_pages < 100  # 1000 without
