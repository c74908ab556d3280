"""Workers that join a run by its folder, leave, die, lie and come late: each trial counts once."""

from __future__ import annotations

import contextlib
import itertools
import math
import multiprocessing
import os
import queue
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pytest

from core.errors import UnusableError
from core.tuning.cluster import shared_executor, shared_folder, shared_worker
from core.tuning.cluster.cluster_monitor import installed_versions
from core.tuning.cluster.executor import KILLER_TEXT, MAX_RESTARTS
from core.tuning.cluster.shared_executor import SharedExecutor
from core.tuning.cluster.shared_folder import WORKER, Beat, SharedFolder, SharedResult, SharedTask
from core.tuning.cluster.shared_worker import SharedWorker
from core.tuning.events import RemarkMade, TrialFinished, TuningEnded, WorkersSeen
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.metric import Predictions
from core.tuning.scores.scoring import Incumbent, TrialRequest, TrialResult, score_trial
from core.tuning.trials.executors import ProcessExecutor, _RunningTrial
from core.tuning.tune import tune

PLAN = Plan(DataPlan("sample:iris"), "svm", "random", trials=8, folds=2, seed=1)
GONE_SECONDS = 1.0  # without a beat, after which a killed worker counts as dead


WAIT = ProcessExecutor.wait_for_results


def score_here(executor, task, limit=None):
    executor._lost.append(score_trial(joblib.load(executor._file), task))


@pytest.fixture(autouse=True)
def quick_beats(monkeypatch):
    """Beats come often, and trials are scored without a process of their own."""
    monkeypatch.setattr(ProcessExecutor, "submit_request", score_here)
    for module in (shared_folder, shared_executor, shared_worker):
        monkeypatch.setattr(module, "GONE_SECONDS", GONE_SECONDS)
        monkeypatch.setattr(module, "BEAT_SECONDS", 0.02)
        monkeypatch.setattr(module, "POLL_SECONDS", 0.002)
    monkeypatch.setattr(shared_folder, "LOOK_SECONDS", 0.3)


@pytest.fixture
def run(tmp_path):
    return RunFolder.create(PLAN, path=tmp_path / "run")


def until_tuned(stream):
    """The events of the trials, without the end that fits and tests the model."""
    with contextlib.closing(stream):
        yield from itertools.takewhile(lambda event: not isinstance(event, TuningEnded), stream)


def scores(events):
    return [(e.number, e.setting, e.fold_scores) for e in events if isinstance(e, TrialFinished)]


def work_on(run, submit=score_here):
    ProcessExecutor.submit_request, ProcessExecutor.wait_for_results = submit, WAIT
    SharedWorker(run, 1, 60.0, lambda _: None).take_trials()


def die_with_a_claim(run):
    # Killed by itself, in place of the first trial that it has taken.
    work_on(run, lambda *_: os.kill(os.getpid(), signal.SIGKILL))


class SlowProcess:
    """The coordinator's own process, in which the first trial is the last to end."""

    def __init__(self):
        self.task, self.pid = None, os.getpid()

    def end_process(self, patience=0.0):
        return ""

    def submit_request(self, executor, task, limit=None):
        self.task = task
        executor._busy[self] = _RunningTrial(task.number, task.setting, 0.0)

    def wait_for_results(self, executor, seconds):
        if executor._trials or executor._token_count < PLAN.trials - 1:
            time.sleep(min(seconds, 0.002))
            return []
        executor._busy.clear()
        return [score_trial(joblib.load(executor._file), self.task)]


@pytest.mark.skipif(os.name == "nt", reason="processes cannot be copied")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_each_trial_ends_once_though_a_worker_is_killed(run, iris, monkeypatch):
    here = scores(until_tuned(tune(PLAN, iris)))
    stream = tune(PLAN, iris, folder=run, executor=ProcessExecutor)
    next(stream)
    slow = SlowProcess()
    for name in ("submit_request", "wait_for_results"):
        act = getattr(slow, name)
        monkeypatch.setattr(ProcessExecutor, name, lambda *words, act=act: act(*words))
    fork = multiprocessing.get_context("fork")
    killed = fork.Process(target=die_with_a_claim, args=(run,))
    workers = [fork.Process(target=work_on, args=(run,)) for _ in range(3)]
    killed.start()
    events = []
    for event in until_tuned(stream):
        events.append(event)
        if workers[0].pid is None and killed.exitcode is not None:
            for worker in workers:
                worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in (killed, *workers)] == [-signal.SIGKILL, 0, 0, 0]
    assert sorted(scores(events)) == sorted(here)
    assert not (run.path / "work").exists()


# -------------------------------------------------- a worker that a test plays, step by step


class PlayedWorker:
    """Joins the executor of a run, and does what a test wants."""

    def __init__(self, executor):
        self.shared, self.executor = executor._shared, executor
        self.heartbeat = self.shared.join_run(Beat(name="w", threads=1))
        self.name = self.heartbeat.path.name.removeprefix(WORKER)
        self.wait_until(lambda: self.name in executor._joined)

    def wait_until(self, condition):
        end = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < end
            results = self.executor.wait_for_results(0.001)
            assert not results, results[0].failure

    def claim(self):
        tokens = [t for t in self.shared.listing().task if self.shared.claim_task(t, self.name)]
        assert len(tokens) == 1
        return tokens[0], self.shared.read(f"claim-{tokens[0]}-{self.name}", SharedTask).request

    def die(self, token):
        """Give no beat any more, for so long that it counts as dead."""
        self.heartbeat._ended.set()
        path, watches = self.heartbeat.path.name, self.shared._watches

        def is_dead():
            if path in watches:
                watches[path].changed = -math.inf
            return token not in self.executor._trials

        self.wait_until(is_dead)

    def give(self, token, content):
        self.shared.write(f"result-{token}-{self.name}", content)


@pytest.fixture
def executor(run, iris, monkeypatch):
    """Of a coordinator whose own process is busy for ever."""
    monkeypatch.setattr(ProcessExecutor, "wait_for_results", lambda *_: [])
    for module in (shared_folder, shared_executor):
        monkeypatch.setattr(module, "GONE_SECONDS", 600.0)
    made = SharedExecutor(run.path, build_problem(PLAN, iris).scoring_job())
    made._busy[SlowProcess()] = _RunningTrial(0, {}, 0.0)
    yield made
    made._busy.clear()
    made.close()
    assert not made._shared.is_there


def result_of(executor):
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if results := executor.wait_for_results(0.01):
            return results
    raise AssertionError("no result came")


TASK = TrialRequest(3, {"C": 0.1, "gamma": 2.0, "kernel": "rbf"}, Incumbent((0.5, 1 / 3), 0.1, 1.0))


def predictions_of(labels, odds=None):
    return Predictions(labels, probabilities=odds)


def test_a_task_and_its_result_travel_as_they_are(executor):
    executor._form = replace(executor._form, has_predictions=True)
    worker = PlayedWorker(executor)
    executor.submit_request(TASK, limit=7.0)
    token, task = worker.claim()
    assert task == TASK
    odds = [np.random.default_rng(rows).random((rows, 3)) for rows in executor._form.fold_rows]
    labels = [fold_odds.argmax(axis=1) for fold_odds in odds]
    result = TrialResult(
        *(3, TASK.setting, (0.25, 1 / 3), 1.5),
        predictions=tuple(map(predictions_of, labels, odds)),
        display_event=RemarkMade(sentence="ä"),
        estimate=0.3,
        cpu=0.5,
    )
    executor.wait_for_results(0.0)
    (seen,) = [e for e in executor.worker_updates() if isinstance(e, WorkersSeen)]
    assert [(entry.name, entry.trials) for entry in seen.workers] == [
        ("coordinator", [0]),
        ("w", [3]),
    ]
    worker.give(token, SharedResult.of(result))
    (received,) = result_of(executor)
    for predictions, fold_labels, fold_odds in zip(received.predictions, labels, odds, strict=True):
        np.testing.assert_array_equal(predictions.labels, fold_labels)
        np.testing.assert_array_equal(predictions.probabilities, fold_odds)
    assert replace(received, predictions=()) == replace(result, predictions=())
    assert executor._shared.listing().claim == {}


def test_who_works_for_a_run_is_seen_and_who_has_died(executor, run):
    worker, dead = PlayedWorker(executor), PlayedWorker(executor)
    dead.heartbeat._ended.set()
    worker.heartbeat.content = replace(worker.heartbeat.content, trials=[3], threads=2)
    executor.wait_for_results(0.0)
    elsewhere = run.path.parent / "no run"
    seen = shared_folder.workers_of([run.path, elsewhere])
    assert list(seen) == [run.path]
    here, *others = seen[run.path]
    assert (here.name, here.trials, here.usable) == ("coordinator", [0], True)
    facts = {(entry.name, entry.threads, tuple(entry.trials), entry.load) for entry in others}
    assert facts == {("w", 2, (3,), 0.5), ("w", 1, (), 0.0)}
    assert [entry.usable for entry in others if not entry.trials] == [False]
    assert [entry.usable for entry in others if entry.trials] == [True]


def test_what_is_given_back_late_or_twice_counts_once(executor):
    first = PlayedWorker(executor)
    executor.submit_request(TASK)
    token, _ = first.claim()
    second = PlayedWorker(executor)
    first.die(token)
    assert first.name not in executor._joined
    new_token, task = second.claim()
    assert task == TASK
    content = SharedResult.of(TrialResult(3, TASK.setting, (0.5, 0.5)))
    for worker, given in ((first, token), (second, new_token), (first, token)):
        worker.give(given, content)
    assert [result.number for result in result_of(executor)] == [3]
    second.give(new_token, content)
    second.wait_until(lambda: not second.shared.listing().result)
    assert executor.running == 1  # that of this process


LIES = [
    *("another trial", "nan", "no JSON", "an array of objects", "one fold", "too few predictions"),
    "too few classes",
]


@pytest.mark.parametrize("lie", LIES)
def test_false_results_are_tried_again_and_then_given_up(executor, lie):
    worker = PlayedWorker(executor)
    executor.submit_request(TASK)
    executor._form = replace(executor._form, has_predictions=True)
    rows = [np.zeros(count) for count in executor._form.fold_rows]
    all_predictions = tuple(map(predictions_of, rows))
    fine = SharedResult.of(TrialResult(3, TASK.setting, (0.5, 0.5), predictions=all_predictions))
    few_predictions = (all_predictions[0], predictions_of(rows[1][:-1]))
    executor._form = replace(executor._form, class_count=3)
    few_classes = tuple(
        replace(predictions, probabilities=np.full((len(predictions.labels), 2), 0.5))
        for predictions in all_predictions
    )
    odd = Predictions(np.array([None]))
    lies = {
        "another trial": replace(fine, result=replace(fine.result, number=4)),
        "nan": replace(fine, result=replace(fine.result, fold_scores=(0.5, math.nan))),
        "no JSON": "x",
        "an array of objects": replace(fine, result=replace(fine.result, predictions=(odd,))),
        "one fold": replace(fine, result=replace(fine.result, fold_scores=(0.5,))),
        "too few predictions": replace(
            fine, result=replace(fine.result, predictions=few_predictions)
        ),
        "too few classes": replace(fine, result=replace(fine.result, predictions=few_classes)),
    }
    for _ in range(MAX_RESTARTS):
        token, _ = worker.claim()
        worker.give(token, lies[lie])
        worker.wait_until(lambda token=token: token not in executor._trials)
    token, _ = worker.claim()
    worker.give(token, lies[lie])
    (result,) = result_of(executor)
    assert result.failure.startswith("It was given up: a worker returned ")


def test_a_trial_that_ends_its_workers_is_given_up_but_not_one_whose_workers_leave(executor):
    worker = PlayedWorker(executor)
    executor.submit_request(TASK)
    for _ in range(MAX_RESTARTS + 2):  # each of these leaves in order
        token, _ = worker.claim()
        next_worker = PlayedWorker(executor)
        worker.heartbeat.close()
        worker.wait_until(lambda token=token: token not in executor._trials)
        worker = next_worker
    for _ in range(MAX_RESTARTS):
        token, _ = worker.claim()
        next_worker = PlayedWorker(executor)
        worker.die(token)
        worker = next_worker
    token, _ = worker.claim()
    with pytest.raises(AssertionError, match=KILLER_TEXT):  # its result comes
        worker.die(token)


@pytest.fixture
def lost_answers(monkeypatch):
    """A network drive does what it is asked, loses the answer, and fails at the second attempt."""
    create = os.open
    lost = []

    def rename(path, target):
        os.replace(path, target)
        lost.append("rename")
        raise FileNotFoundError(path)

    def unlink(path):
        os.unlink(path)
        lost.append("unlink")
        raise FileNotFoundError(path)

    def open_file(path, flags, *mode, **options):
        number = create(path, flags, *mode, **options)
        if flags & os.O_EXCL and lost.count("create") < lost.count("rename"):
            lost.append("create")
            os.close(number)
            raise FileExistsError(path)
        return number

    for name, act in (("rename", rename), ("replace", rename), ("unlink", unlink)):
        monkeypatch.setattr(Path, name, act)
    monkeypatch.setattr(os, "open", open_file)
    yield lost
    monkeypatch.undo()


def test_where_answers_are_lost_each_trial_is_given_once_and_counts_once(executor, lost_answers):
    worker = PlayedWorker(executor)
    executor.submit_request(TASK)
    token, task = worker.claim()
    assert task == TASK
    late = PlayedWorker(executor)
    assert not late.shared.claim_task(token, late.name)
    worker.give(token, SharedResult.of(TrialResult(3, TASK.setting, (0.5, 0.5))))
    assert [result.number for result in result_of(executor)] == [3]
    executor.wait_for_results(0.0)
    assert executor._shared.listing().result == {}
    assert executor._trials == {}
    assert set(lost_answers) == {"rename", "unlink", "create"}


def test_a_result_that_was_collected_before_its_writer_knew_is_no_error(run, monkeypatch):
    def rename(path, target):
        path.unlink()
        raise FileNotFoundError(path)

    (run.path / "work").mkdir()
    monkeypatch.setattr(Path, "replace", rename)
    SharedFolder(run.path).write("result-1.1-a", Beat())
    assert list((run.path / "work").iterdir()) == []


def test_a_result_after_the_end_of_the_run_is_no_error(run):
    worker = SharedWorker(run, 1, 60.0, lambda _: None)
    worker._tokens = {"1.1": 3}
    result = TrialResult(3, TASK.setting, (0.5, 0.5))
    worker._executor = SimpleNamespace(wait_for_results=lambda _: [result])
    worker._return_results()
    assert (worker._tokens, worker.trial_count) == ({}, 0)


# ------------------------------------------------------------- who coordinates, and who may join


def test_without_a_coordinator_one_worker_takes_over_and_after_its_end_another(run, monkeypatch):
    for module in (shared_folder, shared_worker):
        monkeypatch.setattr(module, "GONE_SECONDS", 0.2)
    turns = queue.SimpleQueue()
    workers = [SharedWorker(run, 1, 60.0, lambda _: None) for _ in range(2)]
    threads = [
        threading.Thread(target=lambda worker=worker: turns.put(worker.take_trials()))
        for worker in workers
    ]
    for thread in threads:
        thread.start()
    first = turns.get(timeout=60)
    with pytest.raises(FileExistsError):  # a turn is one process's alone
        SharedFolder(run.path).take_turn(int(first.path.name.partition("-")[2]), Beat())
    first.close()
    turns.get(timeout=60).close()
    for thread in threads:
        thread.join()


def test_a_coordinator_ends_where_another_one_has_come(executor):
    worker = PlayedWorker(executor)
    later = worker.shared.take_turn(executor._turn + 1, Beat())
    with pytest.raises(UnusableError, match="another process coordinates this run now"):
        executor.wait_for_results(5.0)
    executor.close()
    assert later.path.exists()
    worker.heartbeat.close()
    later.close()
    worker.shared.remove_all()


@pytest.fixture
def coordinated(run, iris):
    """A run whose coordinator lives, and tells these versions."""
    with (
        contextlib.closing(tune(PLAN, iris, folder=run)) as stream,
        contextlib.ExitStack() as stack,
    ):
        next(stream)

        def coordinate(**changes):
            (run.path / "work").mkdir(0o700)
            beat = replace(Beat.of_this_process(), **changes)
            stack.callback(SharedFolder(run.path).take_turn(1, beat).close)

        yield coordinate


def test_a_worker_with_other_packages_is_refused(run, coordinated):
    coordinated(versions=installed_versions() | {"numpy": "0.1"})
    with pytest.raises(UnusableError, match=r"has numpy .*, and the coordinator 0\.1"):
        SharedWorker(run, 1, 60.0, lambda _: None).take_trials()
    assert SharedFolder(run.path).listing().worker == {}


def test_a_worker_with_other_data_is_refused(run, coordinated, wine, monkeypatch):
    coordinated()
    monkeypatch.setattr(shared_worker, "read_data", lambda _: wine)
    with pytest.raises(UnusableError, match="the data are not those of the run"):
        SharedWorker(run, 1, 60.0, lambda _: None).take_trials()


def test_one_fit_takes_no_workers(tmp_path):
    plan = Plan(DataPlan("sample:iris"), "logistic", "mm")
    folder = RunFolder.create(plan, path=tmp_path / "mm")
    with pytest.raises(UnusableError, match="mm is one fit"):
        SharedWorker(folder, 1, 60.0, lambda _: None).take_trials()


@pytest.mark.parametrize("make", [Path.touch, lambda path: path.symlink_to(path.parent)])
def test_a_worker_says_where_something_else_is_in_place_of_its_folder(run, make):
    make(run.path / "work")
    with pytest.raises(UnusableError, match="this is no folder"):
        SharedWorker(run, 1, 60.0, lambda _: None).take_trials()


def test_a_worker_that_cannot_read_the_folder_waits_no_longer_than_asked(run, monkeypatch):
    for module in (shared_folder, shared_worker):
        monkeypatch.setattr(module, "GONE_SECONDS", 0.2)
    monkeypatch.setattr(SharedFolder, "listing", lambda self: None)
    with pytest.raises(UnusableError, match="the folder of this run cannot be read"):
        SharedWorker(run, 1, 0.0, lambda _: None).take_trials()


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_the_folder_is_its_owners_alone_and_no_link_is_followed(executor, run, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "task-1.1").write_text("mine")
    (run.path / "work").symlink_to(elsewhere)
    executor.wait_for_results(0.0)
    assert not executor._shared.is_there
    assert executor.worker_updates() == ()
    (run.path / "work").unlink()
    PlayedWorker(executor)
    executor.submit_request(TASK)
    modes = {path.stat().st_mode & 0o777 for path in (run.path / "work").iterdir()}
    assert modes == {0o600}
    assert (run.path / "work").stat().st_mode & 0o777 == 0o700
    assert (elsewhere / "task-1.1").read_text() == "mine"
