"""Trials on a cluster that a test plays: what is sent, what comes back, and what is lost."""

from __future__ import annotations

import math
import pickle
import threading

import numpy as np
import pytest

from core.errors import UnusableError
from core.tuning.cluster import cluster_monitor
from core.tuning.cluster import executor as executor_module
from core.tuning.cluster.cluster_monitor import installed_versions
from core.tuning.cluster.executor import MAX_RESTARTS, ClusterExecutor
from core.tuning.events import RemarkMade, WorkersSeen
from core.tuning.scores.metric import Predictions
from core.tuning.scores.scoring import FoldData, ScoringJob, TrialRequest, TrialResult

VERSIONS = installed_versions()


class FakeFuture:
    def __init__(self, key, given=(), status="pending", run=""):
        self.key, self.given, self.status, self.outcome = key, given, status, None
        self.run = run
        self.callback, self.cancelled, self.released = None, False, False

    def add_done_callback(self, callback):
        self.callback = callback

    def end(self, status, outcome=None):
        self.status, self.outcome = status, outcome
        self.callback(self)

    def result(self, timeout=None):
        if self.status == "error":
            raise self.outcome
        is_result = isinstance(self.outcome, TrialResult)
        return pickle.dumps((self.run, self.outcome)) if is_result else self.outcome

    def cancel(self, force=False):
        self.cancelled = True

    def release(self):
        self.released = True


class FakeClient:
    """Workers, and futures that end when the test says so."""

    def __init__(self, threads=(1, 1)):
        self.status = "running"
        self.workers = {
            f"tcp://10.0.0.{i}:1": {"name": f"w{i}", "host": f"10.0.0.{i}", "nthreads": n}
            for i, n in enumerate(threads)
        }
        self.futures, self.scattered, self.at = [], [], {}
        self.ran, self.there, self.told = [], None, []
        self.sizes, self.unknown_keys, self.is_silent = {}, set(), threading.Event()

    def scatter(self, given, workers, broadcast, hash):
        assert (broadcast, hash) == (True, False)
        assert workers
        assert set(workers) <= set(self.workers)
        self.scattered.append(FakeFuture(f"data-{len(self.scattered)}", status="finished"))
        return self.scattered[-1]

    def submit(self, function, work, run, task, limit, key, pure, workers):
        assert not pure
        self.futures.append(FakeFuture(key, (work, task, limit, workers), run=run))
        return self.futures[-1]

    def cancel(self, futures, force=False):
        for future in futures:
            future.cancel(force=force)

    def run(self, function, *given, workers=None, on_error="raise"):
        self.ran.append(function)
        if given and function.__name__ == "shorten_limits":
            self.told.append((tuple(workers), dict(given[0])))
            return {address: list(given[0]) for address in workers}
        if given or workers is None:
            return {}
        return {address: (self.there or {}).get(address, VERSIONS) for address in workers}

    def scheduler_info(self, n_workers=5):
        assert n_workers == -1  # five is what newer versions tell by default
        return {"workers": self.workers}

    def processing(self):
        return self.at

    def nbytes(self, keys, summary):
        assert not summary
        if self.is_silent.is_set():
            threading.Event().wait()
        if not self.unknown_keys.isdisjoint(keys):
            raise KeyError(keys[0])  # as dask's scheduler does
        return {key: self.sizes[key] for key in keys if key in self.sizes}

    def end(self, number, score):
        """The trial of that number has ended."""
        future = next(f for f in reversed(self.futures) if f.given[1].number == number)
        future.end("finished", TrialResult(number, future.given[1].setting, (score,), 0.1))


FOLD = FoldData(np.zeros((3, 1)), np.zeros(3), np.zeros((2, 1)), np.zeros(2))
WORK = ScoringJob("svm", "binary", "accuracy", 0, (), (FOLD,))

ROWS = Predictions(np.zeros(2))  # which are not asked for


W0, W1 = "tcp://10.0.0.0:1", "tcp://10.0.0.1:1"


def start_executor(trials=1, threads=(1, 1), there=None, work=WORK, **given):
    """A played cluster, whose workers have some versions, and the executor with some trials."""
    client = FakeClient(threads)
    client.there = there
    executor = ClusterExecutor(client, work, **given)
    for number in range(trials):
        executor.submit(number, {"C": float(number + 1)})
    return client, executor


def assert_ends(client, executor):
    """Trial 0, which was not given up, ends with its score."""
    assert executor.wait_for_results(0.0) == []
    client.end(0, 0.5)
    assert [ended.score for ended in executor.wait_for_results(0.0)] == [0.5]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Every look is a fresh one, and has the versions however busy this computer is."""
    monkeypatch.setattr(cluster_monitor, "REFRESH_SECONDS", 0.0)
    monkeypatch.setattr(cluster_monitor, "VERSION_SECONDS", 60.0)
    monkeypatch.setattr(executor_module, "ARRIVAL_SECONDS", 60.0)


def test_as_many_trials_as_threads_and_no_more_than_asked():
    assert start_executor(0, threads=(2, 3))[1].free_slots == 5
    _, executor = start_executor(3, threads=(2, 3), max_running=4)
    assert (executor.free_slots, executor.running) == (1, 3)


def test_workers_that_come_and_go_change_how_many_are_free():
    client, executor = start_executor(0, threads=(1,))
    client.workers["tcp://10.0.0.9:1"] = {"name": "late", "host": "10.0.0.9", "nthreads": 2}
    assert executor.free_slots == 3
    client.workers.clear()
    assert executor.free_slots == 1  # one waits for the next worker, so that the run does not end


def test_nothing_more_is_asked_for_while_more_trials_are_under_way_than_threads():
    client, executor = start_executor(3, threads=(1, 1, 1))
    client.workers.popitem()
    assert (executor.workers, executor.running, executor.free_slots) == (2, 3, 0)
    for number, free in ((0, 0), (1, 1)):
        client.end(number, 0.5)
        executor.wait_for_results(0.0)
        assert executor.free_slots == free


def test_the_work_is_sent_once_and_outcomes_come_as_they_end():
    client, executor = start_executor(2)
    assert [future.given[0] for future in client.futures] == client.scattered * 2
    assert len({future.key for future in client.futures}) == 2
    assert executor.wait_for_results(0.0) == []
    client.end(1, 0.8)
    (ended,) = executor.wait_for_results(1.0)
    assert (ended.number, ended.setting, ended.score) == (1, {"C": 2.0}, 0.8)
    assert executor.running == 1
    assert client.futures[1].released


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        ("lost", None, "It was given up: the data was lost with a worker."),
        ("error", OSError(28, "No space left on device"), "No space left on device"),
    ],
)
def test_a_trial_whose_worker_was_lost_is_begun_anew_and_given_up_in_the_end(status, error, words):
    client, executor = start_executor()
    for times in range(MAX_RESTARTS):
        client.futures[-1].end(status, error)
        assert executor.wait_for_results(0.0) == []
        assert len(client.futures) == times + 2
    client.futures[-1].end(status, error)
    (ended,) = executor.wait_for_results(0.0)
    assert (ended.number, executor.running) == (0, 0)
    assert words in ended.failure


def test_a_trial_whose_result_the_scheduler_does_not_know_is_begun_anew():
    client, executor = start_executor()
    client.unknown_keys.add(client.futures[0].key)
    client.end(0, 0.5)
    assert executor.wait_for_results(0.0) == []
    client.end(0, 0.5)
    (ended,) = executor.wait_for_results(0.0)
    assert (ended.number, ended.score, len(client.futures)) == (0, 0.5, 2)


def test_an_error_that_the_scheduler_has_never_heard_of_is_told():
    client, executor = start_executor()
    for _ in range(MAX_RESTARTS + 1):
        future = client.futures[-1]
        client.unknown_keys.add(future.key)
        future.end("error", RuntimeError("this graph cannot be read"))
        ended = executor.wait_for_results(0.0)
    assert "this graph cannot be read" in ended[0].failure


@pytest.mark.parametrize(
    ("result", "words"),
    [
        ({"score": 1.0}, "no result but an object of type dict"),
        (b"no pickle", "what cannot be read"),
        (pickle.dumps(("", {"score": 1.0})), "the result of another run"),
        (TrialResult(0, {"C": 1.0}, ("a",)), "what cannot be read"),
        (TrialResult(0, {"C": 1.0}, (0.5, 0.5), took=math.inf), "a score that is no number"),
        (TrialResult(0, {"C": 1.0}, (0.5,), display_event=3), "a result of other types"),
        (TrialResult(0, {"C": 1.0}, (0.5,), predictions=(3,)), "a result of other types"),
        (TrialResult(0, {"C": 1.0}, failure=["a"]), "a result of other types"),
        (TrialResult(7, {"C": 1.0}, (0.5,)), "the result of another trial, number 7"),
        (TrialResult(0, {"C": 9.0}, (0.5,)), "the result of another trial"),
        (TrialResult(0, {"C": 1.0}, (math.nan,)), "a score that is no number"),
        (TrialResult(0, {"C": 1.0}, ()), "a score that is no number"),
        (TrialResult(0, {"C": 1.0}, (0.5, 0.5)), "scores of 2 folds"),
        (TrialResult(0, {"C": 1.0}, (0.5,), estimate=0.5, predictions=(ROWS,)), "of other rows"),
    ],
)
def test_a_result_that_is_none_of_its_trial_does_not_count(result, words):
    client, executor = start_executor()
    client.futures[0].end("finished", result)
    assert executor.wait_for_results(0.0) == []
    client.futures[0].end("finished", result)  # late, after its trial was begun anew
    assert_ends(client, executor)
    client, executor = start_executor()
    for _ in range(MAX_RESTARTS):
        client.futures[-1].end("finished", result)
        assert executor.wait_for_results(0.0) == []
    client.futures[-1].end("finished", result)
    (ended,) = executor.wait_for_results(0.0)
    assert ended.number == 0
    assert executor.running == 0
    assert words in ended.failure


def test_a_giant_result_is_not_fetched(monkeypatch):
    monkeypatch.setenv("TUNESCOPE_MEMORY", "2000000000")
    client, executor = start_executor()
    monkeypatch.setattr(FakeFuture, "result", lambda *_: pytest.fail("it is fetched"))
    for _ in range(MAX_RESTARTS + 1):
        future = client.futures[-1]
        client.sizes[future.key] = 10**9
        future.end("finished")
        results = executor.wait_for_results(0.0)
    [result] = results
    assert result.failure == (
        "It was given up: a worker returned 1 GB, and 250 MB are free for it."
    )


def test_a_run_does_not_wait_for_a_result_that_travels_slowly(monkeypatch):
    has_arrived, result = threading.Event(), FakeFuture.result
    monkeypatch.setattr(
        FakeFuture, "result", lambda self, timeout: has_arrived.wait(5) and result(self, timeout)
    )
    client, executor = start_executor(2)
    with monkeypatch.context() as patch:
        patch.setattr(executor_module, "ARRIVAL_SECONDS", 0.0)
        client.end(0, 0.5)
        assert executor.wait_for_results(0.0) == executor.wait_for_results(0.0) == []
    assert (executor.running, len(client.futures)) == (2, 2)
    has_arrived.set()
    assert [ended.score for ended in executor.wait_for_results(0.0)] == [0.5]
    has_arrived.clear()
    monkeypatch.setattr(executor_module, "ARRIVAL_SECONDS", 0.0)
    client.end(1, 0.5)
    assert executor.wait_for_results(0.0) == []
    executor.close()  # as an interrupt does
    assert (client.futures[1].cancelled, has_arrived.is_set()) == (True, False)


def test_a_result_waits_while_the_scheduler_is_silent_and_a_long_silence_ends_the_run(monkeypatch):
    monkeypatch.setattr(cluster_monitor, "SILENT_SECONDS", 0.0)
    client, executor = start_executor()
    client.is_silent.set()
    monkeypatch.setattr(cluster_monitor, "ANSWER_SECONDS", 0.0)
    ask = executor._monitor.ask_scheduler
    monkeypatch.setattr(executor._monitor, "ask_scheduler", lambda call: ask(call, 0.01))
    client.end(0, 0.5)
    assert executor.wait_for_results(0.0) == executor.wait_for_results(0.0) == []
    assert (executor.running, len(client.futures)) == (1, 1)
    monkeypatch.setattr(executor_module, "GONE_SECONDS", 0.0)
    with pytest.raises(UnusableError, match="scheduler of the cluster or a worker does not answer"):
        executor.wait_for_results(0.0)
    executor.close()


def test_data_that_was_lost_is_sent_again():
    client, executor = start_executor()
    client.scattered[0].status = "lost"
    client.futures[0].end("lost")
    executor.wait_for_results(0.0)
    assert len(client.scattered) == 2
    assert client.futures[1].given[0] is client.scattered[1]


def test_what_ends_its_workers_fails_alone():
    class KilledWorker(Exception):  # noqa: N818 - as distributed calls it
        pass

    client, executor = start_executor()
    client.futures[0].end("error", KilledWorker("task", "worker"))
    (ended,) = executor.wait_for_results(0.0)
    assert ended.failure == "Every worker that ran it was lost: it may be what ends them."


def test_a_worker_gets_the_limit_of_its_trial():
    client, executor = start_executor(limit=30.0)
    executor.submit_request(TrialRequest(1, {}), limit=2.0)
    assert [future.given[2] for future in client.futures] == [30.0, 2.0]


def test_a_limit_that_was_shortened_meanwhile_is_told_to_the_worker_that_has_the_trial():
    client, executor = start_executor(limit=None)
    executor.limit = 1e-6
    assert executor.wait_for_results(0.0) == []
    assert client.told == []  # it waits for a worker, and has not begun
    key = client.futures[0].key
    client.at = {W1: (key,)}
    for _ in range(2):  # told once: then it knows
        executor._next_report_seconds = 0.0  # a second later
        assert executor.wait_for_results(0.0) == []
        assert client.told == [((W1,), {key: 1e-6})]
    assert not client.futures[0].cancelled  # and it ends the trial, whose begin it knows


def test_a_trial_that_was_begun_anew_has_all_of_its_time():
    """One that waited, or whose worker died, is not ended by the time since it was asked for."""
    client, executor = start_executor(limit=1e-6)
    client.at = {W1: (client.futures[0].key,)}
    assert executor.wait_for_results(0.01) == []
    assert (client.told, executor.running) == ([], 1)


def test_trials_wait_for_a_worker_where_the_last_one_went():
    client, executor = start_executor(threads=(1,))
    workers = dict(client.workers)
    client.workers.clear()
    client.scattered[0].status = "lost"
    client.futures[0].end("lost")
    assert executor.wait_for_results(0.0) == []
    assert (executor.running, executor.free_slots, len(client.futures)) == (1, 0, 1)
    client.workers.update(workers)
    assert executor.wait_for_results(0.0) == []
    assert len(client.scattered) == 2
    assert_ends(client, executor)


def test_a_trial_that_only_a_worker_that_went_may_do_goes_to_the_next():
    """A worker that its nanny starts again has another address."""
    client, executor = start_executor(there={W1: {"python": "3.9"}})
    assert client.futures[0].given[3] == [W0]
    client.workers["tcp://10.0.0.0:2"] = client.workers.pop(W0)
    assert executor.wait_for_results(0.0) == []
    assert client.futures[0].cancelled
    assert client.futures[1].given[3] == ["tcp://10.0.0.0:2"]
    assert_ends(client, executor)


def test_workers_need_what_the_model_needs():
    work = ScoringJob("lightgbm", "binary", "accuracy", 0, (), ())
    lacks = {**VERSIONS, "lightgbm": "0.1"}
    assert start_executor(0, there={W1: lacks})[1].free_slots == 2
    assert start_executor(0, there={W1: lacks}, work=work)[1].free_slots == 1
    with pytest.raises(UnusableError, match="no worker of the cluster can be used: Worker w0 has"):
        start_executor(0, there={W0: lacks, W1: lacks}, work=work)


def test_a_scheduler_that_comes_back_is_asked_everything_again():
    client, executor = start_executor()
    client.status = "connecting"
    client.futures[0].end("cancelled")
    assert executor.wait_for_results(0.0) == []
    assert len(client.futures) == 1
    client.status = "running"
    assert executor.wait_for_results(0.0) == []
    assert len(client.scattered) == 2
    assert_ends(client, executor)


def test_a_scheduler_that_is_gone_stops_the_run_with_a_sentence():
    client, executor = start_executor()
    client.status = "closed"
    executor.wait_for_results(0.0)
    with pytest.raises(UnusableError, match="scheduler of the cluster has gone"):
        executor.wait_for_results(0.0)
    executor.close()  # nothing is asked of it any more


def test_the_end_gives_up_what_is_under_way():
    client, executor = start_executor()
    executor.close()
    assert (client.futures[0].cancelled, client.scattered[0].released) == (True, True)
    assert client.ran[-1].__name__ == "close_idle"


@pytest.mark.parametrize(
    ("threads", "there", "numbers", "loads"),
    [
        ((2, 1), {W0: ("trial 0", "of-somebody-else")}, [[0], []], [1.0, 0.0]),
        # One whose trial has just ended works for nobody else.
        ((1, 1), {W0: ("trial 1",), W1: ("other-1",)}, [[], []], [0.0, 1.0]),
        # A trial that waits for a thread is not told as done there.
        ((1,), {W0: ("trial 0", "trial 2")}, [[0]], [1.0]),
    ],
)
def test_what_workers_do_is_told_when_it_changes(threads, there, numbers, loads):
    client, executor = start_executor(3, threads=threads)
    keys = {f"trial {number}": future.key for number, future in enumerate(client.futures)}
    client.at = {at: tuple(keys.get(key, key) for key in given) for at, given in there.items()}
    client.end(1, 0.5)
    executor.wait_for_results(0.0)
    (seen,) = executor.worker_updates()
    assert isinstance(seen, WorkersSeen)
    assert [worker["trials"] for worker in seen.workers] == numbers
    assert [worker["load"] for worker in seen.workers] == loads
    assert [worker["name"] for worker in seen.workers] == ["w0", "w1"][: len(threads)]
    assert list(executor.worker_updates()) == []


def test_a_worker_with_other_versions_gets_no_trial():
    client, executor = start_executor(there={W1: {"python": "3.9", "tunescope": "0"}})
    assert (executor.workers, client.futures[0].given[3]) == (1, [W0])
    remark, seen = executor.worker_updates()
    assert isinstance(remark, RemarkMade)
    assert remark.sentence.startswith("Worker w1 has python 3.9, and this computer 3.")
    assert [worker["usable"] for worker in seen.workers] == [True, False]


def test_what_a_worker_could_not_even_begin_is_tried_elsewhere():
    client, executor = start_executor()
    client.futures[0].end("error", ModuleNotFoundError("No module named 'core'"))
    assert_ends(client, executor)
