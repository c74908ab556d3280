"""Trial processes: results, failures with their reason, time limits, crashes, nothing left over."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from core.datasets.memory_limit import TrialMemory
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.tuning.runs.run_lock import hold_run_lock
from core.tuning.scores.scoring import (
    FoldData,
    ScoringJob,
    TrialRequest,
    one_line_error,
    score_setting,
)
from core.tuning.trials import executors
from core.tuning.trials.executors import ProcessExecutor, shorten_sockets

resource = pytest.importorskip("resource")


def folds(rows: int = 60) -> tuple[FoldData, ...]:
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 3))
    y = X @ [1.0, -2.0, 0.5] + 0.1 * random.normal(size=rows)
    half = rows // 2
    return (
        FoldData(X[:half], y[:half], X[half:], y[half:]),
        FoldData(X[half:], y[half:], X[:half], y[:half]),
    )


RIDGE = ScoringJob("linear", "regression", "mse", 0, (), folds())
FOREST = ScoringJob("forest", "regression", "mse", 0, (), folds())
SHORT = {axis.name: axis.default for axis in MODELS["forest"].space("regression")}
SHORT["n_estimators"] = 5
# Trees of one leaf, which take no memory.
ENDLESS = SHORT | {"n_estimators": 10_000_000, "min_samples_leaf": 10_000}


@pytest.fixture
def executor(request):
    work, workers, limit = request.param
    made = ProcessExecutor(work, workers, limit)
    yield made
    made.close()
    assert not [child for child in multiprocessing.active_children() if child.name == "trial"]


def ended(executor: ProcessExecutor):
    deadline = time.monotonic() + 60.0
    while time.monotonic() < deadline:
        if outcomes := executor.wait_for_results(0.2):
            return outcomes
    raise AssertionError("no trial ended")


@pytest.mark.parametrize("executor", [(RIDGE, 1, None)], indirect=True)
def test_a_process_gives_the_score_or_the_reason_that_there_would_be_here(executor):
    executor.submit(4, {"alpha": 2.0})
    (outcome,) = ended(executor)
    expected = [
        np.mean((Ridge(2.0).fit(f.fit_X, f.fit_y).predict(f.score_X) - f.score_y) ** 2)
        for f in RIDGE.folds
    ]
    assert outcome.number == 4
    assert outcome.fold_scores == pytest.approx(expected)
    assert outcome.score == pytest.approx(np.mean(expected))
    for alpha, reason in ((-1.0, "alpha"), (1.0, "")):  # the next one runs
        executor.submit(0, {"alpha": alpha})
        (outcome,) = ended(executor)
        assert (reason in outcome.failure, bool(reason)) == (True, bool(outcome.failure))


@pytest.mark.parametrize("executor", [(FOREST, 2, 1.5)], indirect=True)
def test_a_trial_that_never_ends_is_ended_at_its_limit_or_the_executors(executor):
    executor.submit_request(TrialRequest(0, ENDLESS), limit=0.7)
    executor.submit_request(TrialRequest(1, ENDLESS))
    for number, limit in ((0, "0.7"), (1, "1.5")):
        (outcome,) = ended(executor)
        assert (outcome.number, executor.running) == (number, 1 - number)
        assert outcome.failure == f"It took longer than the time limit of {limit} s."


@pytest.mark.parametrize("executor", [(FOREST, 2, None)], indirect=True)
def test_a_crash_costs_one_trial(executor):
    executor.submit(0, ENDLESS)
    (endless,) = executor._busy
    executor.submit(1, SHORT)
    (outcome,) = ended(executor)  # the second passes the first, which never ends
    assert outcome.number == 1
    assert (executor.running, executor.free_slots) == (1, 1)
    os.kill(endless.pid, signal.SIGKILL)
    (lost,) = ended(executor)
    assert lost.failure == "The process of this trial was killed (signal 9)."
    executor.submit(2, SHORT)
    assert not ended(executor)[0].failure


@pytest.mark.parametrize("executor", [(RIDGE, 2, None)], indirect=True)
def test_processes_that_died_while_they_waited_cost_no_trial(executor):
    for number in (0, 1):
        executor.submit(number, {"alpha": 1.0})
    while executor.running:
        ended(executor)
    for worker in executor._idle:
        os.kill(worker.pid, signal.SIGKILL)
        assert worker.pipe.poll(30)  # our end sees that it is gone
    executor.submit(2, {"alpha": 1.0})
    (outcome,) = ended(executor)
    assert (outcome.number, outcome.failure) == (2, "")


@pytest.mark.parametrize("executor", [(RIDGE, 2, None)], indirect=True)
def test_a_process_that_dies_before_its_trial_reaches_it_costs_that_trial_only(
    executor, monkeypatch
):
    start = executor._started

    def started():
        worker = start()
        os.kill(worker.pid, signal.SIGKILL)
        assert worker.pipe.poll(30)  # our end sees that it is gone
        return worker

    monkeypatch.setattr(executor, "_started", started)
    executor.submit(0, {"alpha": 1.0})
    assert (executor.running, executor.free_slots) == (1, 1)
    (lost,) = executor.wait_for_results(30.0)
    assert (lost.number, lost.failure) == (0, "The process of this trial was killed (signal 9).")
    assert executor.running == 0
    monkeypatch.undo()
    executor.submit(1, {"alpha": 1.0})
    assert not ended(executor)[0].failure


@pytest.mark.parametrize("executor", [(RIDGE, 1, None)], indirect=True)
def test_a_trial_that_no_process_can_be_started_for_fails(executor, monkeypatch):
    def exhausted():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(executor, "_started", exhausted)
    executor.submit(0, {"alpha": 1.0})
    (lost,) = executor.wait_for_results(30.0)
    assert "No process could be started for it (BlockingIOError" in lost.failure


def test_folds_that_find_no_room_are_a_sentence(tmp_path, monkeypatch):
    import joblib

    def full(work, file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(joblib, "dump", full)
    with pytest.raises(UnusableError, match="the disk is full; make room"):
        ProcessExecutor(RIDGE)
    assert list(tmp_path.iterdir()) == []


def test_a_score_that_is_no_number_is_a_failure(monkeypatch):
    class Lost(Ridge):
        def predict(self, X):
            return np.full(len(X), np.nan)

    nowhere = replace(MODELS["linear"], build=lambda task, setting, seed: Lost())
    monkeypatch.setitem(MODELS.own_entries, "linear", nowhere)
    outcome = score_setting(RIDGE, 0, {})
    assert outcome.failure == "The score was not a number."
    assert np.isnan(outcome.score)


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="the system cannot halt a process")
@pytest.mark.parametrize("executor", [(RIDGE, 1, 1.5)], indirect=True)
def test_the_start_of_its_process_does_not_count_against_a_trial(executor):
    executor.submit(0, {"alpha": 1.0})
    (worker,) = executor._busy
    os.kill(worker.pid, signal.SIGSTOP)
    assert executor.wait_for_results(2.0) == []
    os.kill(worker.pid, signal.SIGCONT)
    assert not ended(executor)[0].failure


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("first line\nsecond"), "ValueError: first line"),
        (KeyError(), "KeyError."),
        (MemoryError("x"), "There was not enough memory."),
    ],
)
def test_a_reason_is_one_line(error, sentence):
    assert one_line_error(error) == sentence


def test_folds_that_a_killed_run_left_are_removed_and_those_of_others_are_not(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    dead, alive, young = (tmp_path / f"tunescope-folds-{name}" for name in "abc")
    for folder in (dead, alive, young):
        folder.mkdir()
    for folder in (dead, alive):
        (folder / "owner").write_text(str(os.getpid()))
    with hold_run_lock(alive / "owner"):
        ProcessExecutor(RIDGE).close()
        # One without an owner is still being made.
        assert sorted(tmp_path.iterdir()) == [alive, young]


class Greedy(Ridge):
    """Takes 4 GB."""

    def fit(self, X, y):
        np.ones(2**29)
        return super().fit(X, y)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux alone")
def test_a_fit_that_exceeds_the_bound_on_memory_fails_with_the_bound_and_the_cure():
    code = (
        "from dataclasses import replace\n"
        "from core.estimators.registry import MODELS\n"
        "from core.processes import limit_memory\n"
        "from core.tuning.scores.scoring import score_setting\n"
        "from tests.core.tuning.trials.test_executors import RIDGE, Greedy\n"
        "limit_memory(10**9)\n"
        "job = replace(RIDGE, memory=10**9)\n"
        "print(score_setting(job, 0, {'alpha': 1.0}).failure or 'fine')\n"
        "greedy = replace(MODELS['linear'], build=lambda task, setting, seed: Greedy())\n"
        "MODELS.own_entries['linear'] = greedy\n"
        "print(score_setting(job, 0, {}).failure)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.splitlines() == [
        "fine",
        "It needed more memory than the 1 GB that its process may take: allow more (--memory), or "
        "tune on fewer rows (--rows).",
    ], run.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux alone")
@pytest.mark.parametrize("executor", [(replace(RIDGE, memory=7 * 10**8), 1, None)], indirect=True)
def test_the_bound_of_the_job_is_that_of_its_processes(executor):
    executor.submit(0, {"alpha": 1.0})
    (worker,) = executor._busy
    assert not ended(executor)[0].failure
    assert resource.prlimit(worker.pid, resource.RLIMIT_DATA)[0] == 7 * 10**8


@pytest.mark.parametrize("executor", [(FOREST, 1, None)], indirect=True)
def test_a_fit_that_is_known_to_need_too_much_is_not_begun(executor):
    executor.submit(0, SHORT | {"n_estimators": 10**12})
    failure = ended(executor)[0].failure
    assert failure.startswith("It needs about")
    assert "(--memory)" in failure
    executor.submit(1, SHORT)
    assert not ended(executor)[0].failure  # by the same process


@pytest.mark.parametrize("executor", [(FOREST, 2, None)], indirect=True)
def test_where_memory_runs_short_the_largest_trial_is_ended_and_the_others_go_on(
    executor, monkeypatch
):
    executor.submit(0, ENDLESS)
    executor.submit(1, ENDLESS)
    first, second = executor._busy
    sizes = {first.pid: 7 * 10**8}
    monkeypatch.setattr(executors, "memory_in_use", lambda pids: sizes.get(pids[0], 10**8))
    monkeypatch.setattr(TrialMemory, "is_short", lambda self, used: used > 5 * 10**8)
    (outcome,) = ended(executor)
    assert (outcome.number, executor.running, second.is_alive) == (0, 1, True)
    assert outcome.failure.startswith("It needed more memory than the 700 MB")
    assert not executor.wait_for_results(0.0)


ROOT = Path(__file__).parents[4]
TRIAL = """
import os, signal, sys
import numpy as np
from core.tuning.scores.scoring import FoldData, ScoringJob
from core.tuning.trials.executors import ProcessExecutor

if __name__ == "__main__":
    X = np.arange(40.0)[:, None]
    fold = FoldData(X[:20], X[:20, 0], X[20:], X[20:, 0])
    job = ScoringJob("linear", "regression", "mse", 0, (), (fold, fold), memory=7 * 10**8)
    executor = ProcessExecutor(job)
    executor.submit(0, {"alpha": 1.0})
    (outcome,) = executor.wait_for_results(100.0) or executor.wait_for_results(100.0)
    print(outcome.failure or "fine", flush=True)
    if "killed" in sys.argv:
        os.kill(os.getpid(), signal.SIGKILL)
    executor.close()
"""
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no sockets with names there")


@pytest.mark.slow
@POSIX
def test_a_long_temporary_folder_needs_sockets_elsewhere_and_a_killed_programs_are_removed(
    tmp_path,
):
    program, long = tmp_path / "program.py", tmp_path.joinpath("long" * 15, "name" * 15)
    program.write_text(TRIAL)
    long.mkdir(parents=True)
    with tempfile.TemporaryDirectory(dir="/tmp") as runtime:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(long)}
        env["XDG_RUNTIME_DIR"] = runtime

        def tried(*given):
            command = [sys.executable, program, *given]
            ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
            assert (ran.returncode, ran.stderr) == (-signal.SIGKILL if given else 0, "")
            assert ran.stdout.strip() == "fine"
            return list(Path(runtime).iterdir())

        (left,) = tried("killed")
        assert left.stat().st_mode & 0o777 == 0o700
        assert tried() == []


@POSIX
def test_where_no_place_has_a_short_name_that_is_said(tmp_path, monkeypatch):
    long = tmp_path / ("long" * 20)
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    monkeypatch.setattr(executors, "_short_folders", list)
    with pytest.raises(UnusableError, match="too long for the sockets of trials; name a shorter"):
        shorten_sockets.__wrapped__()


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")
def test_a_process_is_copied_unless_threads_may_hold_locks(monkeypatch):
    main_thread = threading.main_thread()
    monkeypatch.setattr(threading, "enumerate", lambda: [main_thread])
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    assert executors._context(None).get_start_method() == "fork"
    assert executors._context(10**9).get_start_method() == "forkserver"
    monkeypatch.setattr(threading, "enumerate", lambda: [main_thread, threading.Thread(name="x")])
    assert executors._context(None).get_start_method() == "forkserver"
    monkeypatch.setattr(threading, "enumerate", lambda: [main_thread])
    monkeypatch.setitem(sys.modules, "jax", executors)
    assert executors._context(None).get_start_method() == "forkserver"
