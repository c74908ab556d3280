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

from core.tuning.scores.scoring import Outcome, Task
from core.tuning.trials.executors import Executor

LOOK = 0.25  # seconds between two looks at whether a trial is still wanted
KEPT = 300.0  # seconds that a process waits for another trial of its run


@dataclass
class _Parked:
    run: str
    executor: Executor
    since: float


_parked: list[_Parked] = []
_at: dict[str, Executor] = {}  # by the key of a trial: what runs it
_lock = threading.Lock()


def run_trial(work: bytes, run: str, task: Task, limit: float | None) -> Outcome:
    """Score what a task asks for; whatever goes wrong becomes the reason.

    Args:
        work: what to score on, pickled: a worker without the program can hold and pass it on.
        run: which run it belongs to; its process serves other trials of the same run.
        task: what is asked for.
        limit: seconds that it may take; None for no limit.
    """
    worker, key = _asked()
    executor = _taken(run, work)
    executor.limit = limit
    try:
        _at[key] = executor
        executor.begin(task)
        while not (ended := executor.wait(LOOK)):
            if not _wanted(worker, key):
                executor.close()
                return Outcome(task.number, task.setting, failure="It was no longer wanted.")
    except BaseException:
        executor.close()
        raise
    finally:
        _at.pop(key, None)
    _park(run, executor)
    return ended[0]


def shorten(limits: Mapping[str, float]) -> list[str]:
    """Give trials that are under way here another time limit, from their begin.

    Args:
        limits: {key of a trial: seconds}.

    Returns:
        the keys of those that are under way here.
    """
    here = [key for key in limits if key in _at]
    for key in here:
        _at[key].limit = limits[key]
    return here


def forget(run: str) -> None:
    """End the processes that wait for another trial of a run, and those nobody came back to."""
    now = time.monotonic()
    with _lock:
        gone = [one for one in _parked if one.run == run or now - one.since > KEPT]
        for one in gone:
            _parked.remove(one)
    for one in gone:
        one.executor.close()


def _taken(run: str, work: bytes) -> Executor:
    forget("")
    with _lock:
        for one in _parked:
            if one.run == run:
                _parked.remove(one)
                return one.executor
    # The worker is itself a daemonic process where a nanny watches it, and such may have none of
    # their own; ours leave with it all the same.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    return Executor(pickle.loads(work))


def _park(run: str, executor: Executor) -> None:
    with _lock:
        _parked.append(_Parked(run, executor, time.monotonic()))
    # Nobody tells a worker that a run was killed; its process must not stay for ever.
    sweep = threading.Timer(KEPT + 1, forget, ("",))
    sweep.daemon = True
    sweep.start()


def _asked() -> tuple[Any, str]:
    """The worker whose thread this is, and the key of what it is at; None and "" elsewhere."""
    from distributed import get_worker

    try:
        worker = get_worker()
        return worker, str(worker.get_current_task())
    except ValueError:
        return None, ""


def _wanted(worker: Any, key: str) -> bool:
    """Whether a trial is still asked for by anyone."""
    if worker is None:
        return True
    state = worker.state.tasks.get(key)
    return state is not None and state.state != "cancelled"
