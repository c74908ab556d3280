"""A trial on a worker of a cluster, in a process of its own that can be ended.

A worker's thread cannot be ended: it waits for a process, which stays for the run's next trial.
"""

import contextlib
import multiprocessing
import pickle
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from core.tuning.scores.scoring import TrialRequest, TrialResult
from core.tuning.trials.executors import ProcessExecutor

POLL_SECONDS = 0.25  # between two checks whether a trial is still wanted
IDLE_SECONDS = 300.0  # that a process waits for another trial of its run


@dataclass
class _IdleExecutor:
    run: str
    executor: ProcessExecutor
    since: float


_idle_executors: list[_IdleExecutor] = []
_executor_by_trial: dict[str, ProcessExecutor] = {}  # by the key of its future
_lock = threading.Lock()


def run_trial(work: bytes, run: str, task: TrialRequest, limit: float) -> bytes:
    """Score a request of a run in its process; the run and the result, or why there is none."""
    # Pickled, so that the scheduler knows its size.
    return pickle.dumps((run, _score_trial(work, run, task, limit)), protocol=5)


def _score_trial(work: bytes, run: str, task: TrialRequest, limit: float) -> TrialResult:
    from distributed import get_worker

    worker, key = cast(Any, None), ""
    with contextlib.suppress(ValueError):  # of no worker's thread
        worker = get_worker()
        key = str(worker.get_current_task())
    # Pickled work: a worker without the program can hold and pass it on.
    executor = _take_executor(run, work)
    executor.limit = limit
    try:
        _executor_by_trial[key] = executor
        executor.submit_request(task)
        while not (results := executor.wait_for_results(POLL_SECONDS)):
            if not _is_wanted(worker, key):
                executor.close()
                return TrialResult(task.number, task.setting, failure="It was no longer wanted.")
    except BaseException:
        executor.close()
        raise
    finally:
        _executor_by_trial.pop(key, None)
    _keep_executor(run, executor)
    return results[0]


def shorten_limits(limits: Mapping[str, float]) -> list[str]:
    """Set the limits ({key: seconds}) of trials that run here; returns the keys of these."""
    running_keys = [key for key in limits if key in _executor_by_trial]
    for key in running_keys:
        _executor_by_trial[key].limit = limits[key]
    return running_keys


def close_idle(run: str) -> None:
    """End the processes that wait for another trial of a run, and those idle for too long."""
    now = time.monotonic()
    with _lock:
        ended = [e for e in _idle_executors if e.run == run or now - e.since > IDLE_SECONDS]
        for idle in ended:
            _idle_executors.remove(idle)
    for idle in ended:
        idle.executor.close()


def _take_executor(run: str, work: bytes) -> ProcessExecutor:
    close_idle("")
    with _lock:
        for idle in _idle_executors:
            if idle.run == run:
                _idle_executors.remove(idle)
                return idle.executor
    # Under a nanny the worker is itself a daemonic process, which may not start others; ours end
    # with it all the same.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    return ProcessExecutor(pickle.loads(work))


def _keep_executor(run: str, executor: ProcessExecutor) -> None:
    with _lock:
        _idle_executors.append(_IdleExecutor(run, executor, time.monotonic()))
    # A worker does not learn that a run was killed; its process must not stay for ever.
    sweep = threading.Timer(IDLE_SECONDS + 1, close_idle, ("",))
    sweep.daemon = True
    sweep.start()


def _is_wanted(worker: Any, key: str) -> bool:
    if worker is None:
        return True
    # dask cannot interrupt a thread: a trial that was cancelled has to notice it by itself.
    state = worker.state.tasks.get(key)
    return state is not None and state.state != "cancelled"
