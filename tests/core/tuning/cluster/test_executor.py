"""Trials on a cluster: as many as there are threads, begun anew when lost, ended when late."""

from __future__ import annotations

import pytest

from core.errors import UnusableError
from core.tuning.cluster import executor as room
from core.tuning.cluster import watching
from core.tuning.cluster.executor import MOST_LOST, ClusterExecutor
from core.tuning.events import Noticed, WorkersSeen
from core.tuning.scores.scoring import Task
from tests.core.tuning.cluster.fake_cluster import FakeClient


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Every look is a fresh one."""
    monkeypatch.setattr(watching, "BETWEEN", 0.0)


def test_as_many_trials_as_threads_and_no_more_than_asked():
    client = FakeClient(threads=(2, 3))
    assert ClusterExecutor(client, "work").free == 5
    executor = ClusterExecutor(client, "work", most=4)
    assert executor.free == 4
    for number in range(3):
        executor.submit(number, {"C": number})
    assert (executor.free, executor.running) == (1, 3)


def test_the_work_is_sent_once_and_every_trial_names_it():
    client = FakeClient()
    executor = ClusterExecutor(client, "work")
    for number in range(5):
        executor.submit(number, {})
    assert len(client.scattered) == 1
    assert {future.given[0] for future in client.futures} == {client.scattered[0]}
    assert len({future.key for future in client.futures}) == 5


def test_workers_that_come_and_go_change_how_many_are_free():
    client = FakeClient(threads=(1,))
    executor = ClusterExecutor(client, "work")
    assert executor.free == 1
    client.workers["tcp://10.0.0.9:1"] = {"name": "late", "host": "10.0.0.9", "nthreads": 2}
    assert executor.free == 3
    client.workers.clear()
    assert executor.free == 1  # one waits for the next worker, so that the run does not end


def test_outcomes_come_as_they_end():
    client = FakeClient()
    executor = ClusterExecutor(client, "work")
    executor.submit(0, {"C": 1.0})
    executor.submit(1, {"C": 2.0})
    assert executor.wait(0.0) == []
    client.end(1, 0.8)
    (ended,) = executor.wait(1.0)
    assert (ended.number, ended.setting, ended.score) == (1, {"C": 2.0}, 0.8)
    assert executor.running == 1
    assert client.futures[1].released


def test_a_trial_whose_worker_was_lost_is_begun_anew_and_given_up_in_the_end():
    client = FakeClient()
    executor = ClusterExecutor(client, "work")
    executor.submit(7, {"C": 1.0})
    for times in range(MOST_LOST):
        client.futures[-1].end("lost")
        assert executor.wait(0.0) == []
        assert len(client.futures) == times + 2
    client.futures[-1].end("cancelled")
    (ended,) = executor.wait(0.0)
    assert ended.number == 7
    assert ended.failure == "It was given up: the data was lost with a worker."
    assert executor.running == 0


def test_data_that_was_lost_is_sent_again():
    client = FakeClient()
    executor = ClusterExecutor(client, "work")
    executor.submit(0, {})
    client.scattered[0].status = "lost"
    client.futures[0].end("lost")
    executor.wait(0.0)
    assert len(client.scattered) == 2
    assert client.futures[1].given[0] is client.scattered[1]


def test_what_ends_its_workers_fails_alone():
    class KilledWorker(Exception):  # noqa: N818 - as distributed calls it
        pass

    client = FakeClient()
    executor = ClusterExecutor(client, "work")
    executor.submit(0, {})
    client.futures[0].end("error", KilledWorker("task", "worker"))
    (ended,) = executor.wait(0.0)
    assert ended.failure == "Every worker that ran it was lost: it may be what ends them."


def test_a_worker_gets_the_limit_of_its_trial():
    client = FakeClient()
    executor = ClusterExecutor(client, "work", limit=30.0)
    executor.begin(Task(0, {}))
    executor.begin(Task(1, {}), limit=2.0)
    assert [future.given[2] for future in client.futures] == [30.0, 2.0]


def test_a_limit_that_was_shortened_meanwhile_ends_a_trial_that_runs(monkeypatch):
    monkeypatch.setattr(room, "GRACE", 0.0)
    client = FakeClient()
    executor = ClusterExecutor(client, "work", limit=None)
    executor.submit(0, {})
    executor.limit = 1e-6
    assert executor.wait(0.0) == []  # it waits for a worker: nothing has run too long
    client.at = {"tcp://10.0.0.0:1": (client.futures[0].key,)}
    (ended,) = executor.wait(0.0)
    assert ended.failure.startswith("It took longer than the time limit of")
    assert client.futures[0].cancelled


def test_a_scheduler_that_comes_back_is_asked_everything_again():
    client = FakeClient()
    executor = ClusterExecutor(client, "work")
    executor.submit(0, {})
    client.status = "connecting"
    client.futures[0].end("cancelled")
    assert executor.wait(0.0) == []
    assert len(client.futures) == 1
    client.status = "running"
    assert executor.wait(0.0) == []
    assert len(client.scattered) == 2
    client.end(0, 0.5)
    assert [ended.score for ended in executor.wait(0.0)] == [0.5]


def test_a_scheduler_that_is_gone_stops_the_run_with_a_sentence():
    client = FakeClient()
    executor = ClusterExecutor(client, "work")
    executor.submit(0, {})
    client.status = "closed"
    executor.wait(0.0)
    with pytest.raises(UnusableError, match="scheduler of the cluster has gone"):
        executor.wait(0.0)
    executor.close()  # nothing is asked of it any more


def test_the_end_gives_up_what_is_under_way():
    client = FakeClient()
    executor = ClusterExecutor(client, "work")
    executor.submit(0, {})
    executor.close()
    assert client.futures[0].cancelled
    assert client.scattered[0].released
    assert client.ran[-1].__name__ == "forget"


def test_what_workers_do_is_told_when_it_changes():
    client = FakeClient(threads=(2, 1))
    executor = ClusterExecutor(client, "work")
    executor.submit(4, {})
    client.at = {"tcp://10.0.0.0:1": (client.futures[0].key, "of-somebody-else")}
    (seen,) = executor.news()
    assert isinstance(seen, WorkersSeen)
    assert [worker["trials"] for worker in seen.workers] == [[4], []]
    assert [worker["load"] for worker in seen.workers] == [1.0, 0.0]
    assert [worker["name"] for worker in seen.workers] == ["w0", "w1"]
    assert list(executor.news()) == []


def test_a_worker_with_other_versions_gets_no_trial():
    client = FakeClient()
    other = {"python": "3.9", "tunescope": "0"}
    client.there = {"tcp://10.0.0.1:1": other}
    executor = ClusterExecutor(client, "work")
    assert executor.free == 1
    executor.submit(0, {})
    assert client.futures[0].given[3] == ["tcp://10.0.0.0:1"]
    said, seen = executor.news()
    assert isinstance(said, Noticed)
    assert said.sentence.startswith("Worker w1 has python 3.9, and this computer 3.")
    assert [worker["usable"] for worker in seen.workers] == [True, False]
