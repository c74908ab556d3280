"""What runs on a worker of a cluster: one trial, in a process of its own that can be ended.

A thread of a worker cannot be ended; so it only waits, with a time limit, for a process that
scores the setting, as on the person's machine. The process stays for the next trial of the run.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from core.tuning.scores.scoring import Outcome, Task, Work
from core.tuning.trials.executors import Executor

LOOK = 0.25  # seconds between two looks at whether a trial is still wanted
KEPT = 300.0  # seconds that a process waits for another trial of its run


@dataclass
class _Parked:
    run: str
    executor: Executor
    since: float


_parked: list[_Parked] = []
_lock = threading.Lock()


def run_trial(work: Work, run: str, task: Task, limit: float | None) -> Outcome:
    """Score what a task asks for; whatever goes wrong becomes the reason.

    Args:
        work: what to score on.
        run: which run it belongs to; its process serves other trials of the same run.
        task: what is asked for.
        limit: seconds that it may take; None for no limit.
    """
    wanted = _wanted()
    executor = _taken(run, work)
    try:
        executor.begin(task, limit)
        while not (ended := executor.wait(LOOK)):
            if not wanted():
                executor.close()
                return Outcome(task.number, task.setting, failure="It was no longer wanted.")
    except BaseException:
        executor.close()
        raise
    _park(run, executor)
    return ended[0]


def forget(run: str) -> None:
    """End the processes that wait for another trial of a run, and those nobody came back to."""
    now = time.monotonic()
    with _lock:
        gone = [one for one in _parked if one.run == run or now - one.since > KEPT]
        for one in gone:
            _parked.remove(one)
    for one in gone:
        one.executor.close()


def _taken(run: str, work: Work) -> Executor:
    forget("")
    with _lock:
        for one in _parked:
            if one.run == run:
                _parked.remove(one)
                return one.executor
    # The worker is itself a daemonic process where a nanny watches it, and such may have none of
    # their own; ours leave with it all the same.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    return Executor(work)


def _park(run: str, executor: Executor) -> None:
    with _lock:
        _parked.append(_Parked(run, executor, time.monotonic()))


def _wanted() -> Callable[[], bool]:
    """Tells whether the trial that this thread is at is still asked for by anyone."""
    from distributed import get_worker

    try:
        worker = get_worker()
        key = worker.get_current_task()
    except ValueError:  # not a thread of a worker
        return lambda: True

    def wanted() -> bool:
        state = worker.state.tasks.get(key)
        return state is not None and state.state != "cancelled"

    return wanted
