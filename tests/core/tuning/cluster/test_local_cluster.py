"""A real cluster on this machine: the same scores, workers that die and come, nothing left over."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

pytest.importorskip("distributed", reason="dask.distributed is not installed (the extra cluster)")

from core.errors import UnusableError
from core.tuning.cluster import connection
from core.tuning.cluster.connection import ClusterConnection, parse_cluster_address
from core.tuning.events import RunFinished, TrialFailed, TrialFinished, TrialStarted, WorkersSeen
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.scoring import FoldData, ScoringJob, TrialResult
from core.tuning.tune import tune

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of the versions of dask that are installed
]
PLAN = Plan(DataPlan("sample:iris"), "svm", "random", trials=8, seed=3)


@pytest.fixture(scope="module", autouse=True)
def patience():
    """On a busy computer workers take long to come and to tell their versions."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("WORKER_SECONDS", "VERSION_SECONDS"):
            patch.setattr(connection, name, 200.0)
        yield


@pytest.fixture(scope="module")
def cluster():
    with ClusterConnection(parse_cluster_address("local"), 2) as opened:
        yield opened


def scores(events):
    return {e.number: (e.setting, e.fold_scores) for e in events if isinstance(e, TrialFinished)}


def test_the_scores_are_those_of_this_machine(cluster, tmp_path):
    data = read_data(PLAN.data)
    here = list(tune(PLAN, data))
    folder = RunFolder.create(PLAN, path=tmp_path / "run")
    there = list(tune(PLAN, data, folder=folder, executor=cluster.executor))
    assert scores(here) == scores(there)
    assert len(scores(there)) == 8
    seen = [event for event in there if isinstance(event, WorkersSeen)]
    assert {worker["host"] for event in seen for worker in event.workers} == {"127.0.0.1"}
    assert not any(isinstance(event, WorkersSeen) for event in folder.all_events())
    assert isinstance(there[-1], RunFinished)
    pending, most = set(), 0
    for event in there:
        if isinstance(event, TrialStarted):
            pending.add(event.number)
        elif isinstance(event, (TrialFinished, TrialFailed)):
            pending.discard(event.number)
        most = max(most, len(pending))
    assert most == 2


def test_the_python_interface_uses_it(tmp_path):
    import tunescope

    asked = {"model": "svm", "strategy": "random", "trials": 3, "history": False}
    here = tunescope.tune("sample:iris", run=tmp_path / "a", **asked)
    there = tunescope.tune("sample:iris", run=tmp_path / "b", cluster="local", workers=2, **asked)
    assert set(here.trials["score"]) == set(there.trials["score"])  # in the order of their ends


def children():
    """The processes that this one owns, as its worker is asked for them."""
    import psutil

    return [process.pid for process in psutil.Process().children(recursive=True)]


def lives(pid):
    return os.path.exists(f"/proc/{pid}")


def held(work, run, task, limit):
    """In place of a trial: tell the process, and take a while the first time."""
    import pickle

    with open(pickle.loads(work).metric, "a+", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
        file.seek(0)
        first = len(file.readlines()) == 1
    if first:
        time.sleep(60)
    return pickle.dumps((run, TrialResult(task.number, task.setting, (1.0,), 0.0)))


def test_a_trial_whose_worker_dies_is_tried_elsewhere(cluster, tmp_path, monkeypatch):
    import sys

    import cloudpickle

    from core.tuning.cluster import executor as room

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    held.__module__ = "__main__"
    monkeypatch.setattr(room, "run_trial", held)
    place = tmp_path / "told"
    fold = FoldData(np.zeros((3, 1)), np.zeros(3), np.zeros((2, 1)), np.zeros(2))
    executor = cluster.executor(ScoringJob("svm", "binary", str(place), 0, (), (fold,)))
    try:
        executor.submit(0, {"C": 1.0})
        end = time.monotonic() + 120
        while not place.exists() and time.monotonic() < end:
            executor.wait_for_results(0.1)
        os.kill(int(place.read_text().split()[0]), signal.SIGKILL)
        ended: list[TrialResult] = []
        while not ended and time.monotonic() < end:
            ended = executor.wait_for_results(0.2)
        assert [outcome.score for outcome in ended] == [1.0]
        assert len(set(place.read_text().split())) == 2
    finally:
        executor.close()


def test_a_worker_that_comes_late_gets_trials(cluster):
    before = cluster.threads
    local = cluster.client.cluster
    local.scale(3)
    try:
        end = time.monotonic() + 120
        while cluster.threads < 3 and time.monotonic() < end:
            time.sleep(0.2)
        assert cluster.threads == 3 >= before
        events = list(tune(PLAN, read_data(PLAN.data), executor=cluster.executor))
        busy = {
            worker["name"]
            for event in events
            if isinstance(event, WorkersSeen)
            for worker in event.workers
            if worker["trials"]
        }
        assert len(scores(events)) == 8
        assert busy
    finally:
        local.scale(2)


def test_a_trial_that_takes_too_long_is_ended_on_its_worker(cluster):
    plan = PLAN.changed(
        data=DataPlan("sample:digits"), model="mlp", trials=2, time_limit=0.05, workers=2
    )
    events = list(tune(plan, read_data(plan.data), executor=cluster.executor))
    failed = [event for event in events if isinstance(event, TrialFailed)]
    assert failed
    assert all("longer than the time limit of 0.05 s" in event.reason for event in failed)


def test_nothing_is_left_of_a_cluster_of_this_machine(tmp_path):
    with ClusterConnection(parse_cluster_address("local"), 1) as opened:
        list(tune(PLAN.changed(trials=1), read_data(PLAN.data), executor=opened.executor))
        pids = set(opened.client.run(os.getpid).values())
        pids |= set(opened.client.run(children).popitem()[1])
    assert len(pids) >= 2  # the worker, and the process of the trial
    end = time.monotonic() + 10
    while any(map(lives, pids)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(lives, pids))


def test_an_address_that_nobody_answers_and_certificates_that_do_not_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(connection, "ANSWER_SECONDS", 0.5)
    with pytest.raises(UnusableError, match=r"tcp://127\.0\.0\.1:9: no scheduler answers"):
        ClusterConnection(parse_cluster_address("tcp://127.0.0.1:9"))
    file = tmp_path / "c.pem"
    file.write_text("no certificate")
    for files, words in (
        ((), "needs certificates, and none are named"),
        ((str(file),) * 3, "certificates do not fit"),
    ):
        with pytest.raises(UnusableError, match=words):
            ClusterConnection(parse_cluster_address("tls://127.0.0.1:9", *files))
