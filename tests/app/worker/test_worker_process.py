from __future__ import annotations

import json
import multiprocessing
import os
import sys
import time
from pathlib import Path

import pytest

from app.worker import messages as m
from app.worker import worker_process
from app.worker.worker_process import THREAD_LIMITS, details_of, run_worker
from app.worker.worker_thread import WorkerThread, coalesce_messages
from core.errors import UnusableError
from core.tuning.events import Progress, RunStarted, RunStopped, SurrogateFitted, TrialFinished
from core.tuning.plan import DataPlan


def happened(id, *events):
    return [m.Message(id, event) for event in events]


def test_the_latest_surrogate_wins_and_no_trial_is_lost():
    first, last = SurrogateFitted(trials=1), SurrogateFitted(trials=2)
    trials = [TrialFinished(number=n) for n in range(3)]
    waiting = happened(1, first, trials[0], Progress(done=1), trials[1], last, trials[2])
    kept = [message.answer for message in coalesce_messages(waiting)]
    assert kept == [trials[0], Progress(done=1), trials[1], last, trials[2]]


def test_surrogates_of_different_runs_do_not_displace_each_other():
    waiting = happened(1, SurrogateFitted(trials=1)) + happened(2, SurrogateFitted(trials=2))
    assert coalesce_messages(waiting) == waiting


def test_details_name_places_but_not_values():
    try:
        float("blood pressure 184")
    except ValueError as error:
        details = details_of(error)
    assert "test_worker_process.py" in details
    assert "184" not in details


@pytest.fixture
def child(monkeypatch, tmp_path):
    """A worker process and our end of its pipe."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = context.Process(target=run_worker, args=(theirs, "fake_engine", str(scratch)))
    process.start()
    theirs.close()
    yield ours, process, scratch
    ours.close()
    process.kill()
    process.join()


def answer(pipe):
    assert pipe.poll(30)
    return pipe.recv()


def test_the_worker_is_another_process_capped_and_polite(child):
    pipe, process, _ = child
    assert isinstance(answer(pipe).answer, m.Ready)
    assert process.pid != os.getpid()
    pipe.send(m.Request(1, m.OpenData(DataPlan("some.csv"))))
    summary = json.loads(answer(pipe).answer.summary.described)
    assert summary["pid"] == process.pid
    assert summary["threads"] == "1"
    if sys.platform != "win32":
        assert summary["niceness"] == min(19, os.nice(0) + 10)
        assert summary["niceness while it started"] == os.nice(0)  # somebody waits for that
        assert os.getpgid(process.pid) == process.pid


def test_a_file_that_the_program_starts_with_is_read_before_the_worker_is_warm(monkeypatch):
    for change_of_the_process in ("give_way", "limit_own_memory", "restore_collection"):
        monkeypatch.setattr(worker_process, change_of_the_process, lambda: None)
    ours, theirs = multiprocessing.Pipe()
    worker = worker_process._Worker(theirs, "")
    worker._work.extend([m.Request(1, m.OpenData(DataPlan("a.csv"))), m.Request(2, m.Conclude(""))])

    class Engine:
        def warm_up(self):
            return []

        def answers(self, work, _stop_reason):
            if isinstance(work, m.Conclude):
                raise SystemExit  # ends the loop
            raise UnusableError("there is no such file")

    with pytest.raises(SystemExit):
        worker.work_forever(Engine())
    assert [type(ours.recv().answer) for _ in range(2)] == [m.InputRefused, m.Ready]
    assert not ours.poll()


def test_a_defect_of_a_file_is_told_before_the_worker_is_ready():
    thread = WorkerThread()
    of_start, of_file = (m.Message(id, m.WorkerDefect("It failed.", "")) for id in (0, 3))
    ready = m.Message(0, m.Ready())
    for message, told in (
        (of_start, []),
        (of_file, [of_file]),
        (ready, [of_file, of_start, ready]),
    ):
        thread._receive(None, message)
        assert thread._waiting == told


def test_the_limits_cover_every_usual_numerical_library():
    assert {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"} <= set(THREAD_LIMITS)


def test_the_worker_leaves_with_its_scratch_when_the_window_is_gone(child):
    pipe, process, scratch = child
    answer(pipe)
    pipe.send(m.Request(1, m.OpenData(DataPlan("slow.csv"))))
    pipe.close()
    process.join(5)
    assert process.exitcode is not None
    assert not scratch.exists()


def test_answers_carry_the_id_of_their_request(child):
    pipe, _, _ = child
    answer(pipe)
    pipe.send(m.Request(7, m.OpenData(DataPlan("missing.csv"))))
    refused = answer(pipe)
    assert refused.id == 7
    assert "no such file" in refused.answer.sentence


def test_only_the_newest_estimate_counts_and_none_delays_a_start(child, tmp_path):
    from core.tuning.plan import Plan

    pipe, _, _ = child
    answer(pipe)
    slow = Plan(DataPlan("some.csv"), "svm", "gp", options={"estimate_seconds": 0.5}, trials=1)
    pipe.send(m.Request(1, m.OpenData(DataPlan("slow.csv"))))
    for id in range(2, 12):
        pipe.send(m.Request(id, m.Estimate(slow)))
        pipe.send(m.Request(100 + id, m.SummarizeHistory(slow)))
    assert isinstance(answer(pipe).answer, m.Opened)
    said = [answer(pipe), answer(pipe)]
    assert [(one.id, type(one.answer)) for one in said] == [
        (11, m.Estimated),
        (111, m.HistorySummary),
    ]
    pipe.send(m.Request(200, m.OpenData(DataPlan("slow.csv"))))
    for id in range(201, 211):
        pipe.send(m.Request(id, m.Estimate(slow)))
    pipe.send(m.Request(300, m.Tune(slow, root=str(tmp_path))))
    assert isinstance(answer(pipe).answer, m.Opened)
    assert (said := answer(pipe)).id == 300
    assert isinstance(said.answer, m.FolderMade)


def test_a_stop_before_the_run_began_is_heard_when_it_does(child, tmp_path):
    from core.tuning.plan import Plan

    pipe, _, _ = child
    answer(pipe)
    plan = Plan(DataPlan("some.csv"), "svm", "gp", options={"trial_seconds": 0.05}, trials=1000)
    pipe.send(m.Request(1, m.OpenData(DataPlan("slow.csv"))))
    pipe.send(m.Request(2, m.Tune(plan, root=str(tmp_path))))
    pipe.send(m.Request(2, m.StopRun()))
    answers = [answer(pipe).answer for _ in range(6)]
    assert [type(one) for one in answers][2:] == [RunStarted, m.Concluding, RunStopped, m.RunEnded]


def test_a_control_for_another_run_is_not_heard(child, tmp_path):
    from core.tuning.plan import Plan

    pipe, _, _ = child
    answer(pipe)
    plan = Plan(DataPlan("some.csv"), "svm", "gp", options={"trial_seconds": 0.05}, trials=10)
    pipe.send(m.Request(3, m.Tune(plan, root=str(tmp_path))))
    pipe.send(m.Request(2, m.Pause()))
    pipe.send(m.Request(2, m.StopRun()))
    until, answers = time.monotonic() + 30, []
    while not any(isinstance(a, m.RunEnded) for a in answers) and time.monotonic() < until:
        answers.append(answer(pipe).answer)
    assert not any(isinstance(a, (m.Paused, m.Concluding)) for a in answers)
    assert sum(isinstance(a, TrialFinished) for a in answers) == 10
