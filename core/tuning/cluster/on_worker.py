"""What runs on a worker of a cluster: one trial, in a process of its own that can be ended.

A thread of a worker cannot be ended; so it only waits, with a time limit, for a process that
scores the setting, as on the person's machine. The process stays for the next trial of the run.
"""

from __future__ import annotations

import multiprocessing
import pickle
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.tuning.scores.scoring import TrialRequest, TrialResult
from core.tuning.trials.executors import ProcessExecutor

LOOK = 0.25  # seconds between two looks at whether a trial is still wanted
KEPT = 300.0  # seconds that a process waits for another trial of its run


@dataclass
class _IdleExecutor:
    run: str
    executor: ProcessExecutor
    since: float


_idle_executors: list[_IdleExecutor] = []
_executor_by_trial: dict[str, ProcessExecutor] = {}  # by the key of a trial: what runs it
_lock = threading.Lock()


def run_trial(work: bytes, run: str, task: TrialRequest, limit: float | None) -> TrialResult:
    """Score what a task asks for; whatever goes wrong becomes the reason.

    Args:
        work: what to score on, pickled: a worker without the program can hold and pass it on.
        run: which run it belongs to; its process serves other trials of the same run.
        task: what is asked for.
        limit: seconds that it may take; None for no limit.
    """
    worker, key = _worker_and_key()
    executor = _take_executor(run, work)
    executor.limit = limit
    try:
        _executor_by_trial[key] = executor
        executor.submit_request(task)
        while not (ended := executor.wait_for_results(LOOK)):
            if not _is_wanted(worker, key):
                executor.close()
                return TrialResult(task.number, task.setting, failure="It was no longer wanted.")
    except BaseException:
        executor.close()
        raise
    finally:
        _executor_by_trial.pop(key, None)
    _keep_executor(run, executor)
    return ended[0]


def shorten_limits(limits: Mapping[str, float]) -> list[str]:
    """Give trials that are under way here another time limit, from their begin.

    Args:
        limits: {key of a trial: seconds}.

    Returns:
        the keys of those that are under way here.
    """
    running_keys = [key for key in limits if key in _executor_by_trial]
    for key in running_keys:
        _executor_by_trial[key].limit = limits[key]
    return running_keys


def close_idle(run: str) -> None:
    """End the processes that wait for another trial of a run, and those nobody came back to."""
    now = time.monotonic()
    with _lock:
        gone = [idle for idle in _idle_executors if idle.run == run or now - idle.since > KEPT]
        for idle in gone:
            _idle_executors.remove(idle)
    for idle in gone:
        idle.executor.close()


def _take_executor(run: str, work: bytes) -> ProcessExecutor:
    close_idle("")
    with _lock:
        for idle in _idle_executors:
            if idle.run == run:
                _idle_executors.remove(idle)
                return idle.executor
    # The worker is itself a daemonic process where a nanny watches it, and such may have none of
    # their own; ours leave with it all the same.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    return ProcessExecutor(pickle.loads(work))


def _keep_executor(run: str, executor: ProcessExecutor) -> None:
    with _lock:
        _idle_executors.append(_IdleExecutor(run, executor, time.monotonic()))
    # Nobody tells a worker that a run was killed; its process must not stay for ever.
    sweep = threading.Timer(KEPT + 1, close_idle, ("",))
    sweep.daemon = True
    sweep.start()


def _worker_and_key() -> tuple[Any, str]:
    """The worker whose thread this is, and the key of what it is at; None and "" elsewhere."""
    from distributed import get_worker

    try:
        worker = get_worker()
        return worker, str(worker.get_current_task())
    except ValueError:
        return None, ""


def _is_wanted(worker: Any, key: str) -> bool:
    """Whether a trial is still asked for by anyone."""
    if worker is None:
        return True
    state = worker.state.tasks.get(key)
    return state is not None and state.state != "cancelled"
