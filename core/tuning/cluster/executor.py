"""Trials as futures of a dask.distributed scheduler: workers may come, go and die meanwhile.

The interface is that of the processes on one machine (`core.tuning.trials.executors`), so that no
strategy knows where its trials run: as many are under way as there are threads to run them.
"""

from __future__ import annotations

import math
import pickle
import queue
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import UnusableError
from core.space import Setting
from core.tuning.cluster import worker_versions
from core.tuning.cluster.background_call import BackgroundCall
from core.tuning.cluster.cluster_monitor import ClusterMonitor
from core.tuning.cluster.on_worker import close_idle, run_trial, shorten_limits
from core.tuning.events import Event
from core.tuning.runs.run_clock import AWAKE
from core.tuning.scores.scoring import ScoringJob, TrialRequest, TrialResult, one_line_error

MAX_RESTARTS = 3  # how often a trial is begun anew after the worker with it, or its data, was lost
AGAIN = 1.0  # seconds until a worker that did not answer is told a shorter limit again
ANSWERS = 5.0  # seconds within which a worker answers
PATIENCE = 20.0  # seconds without the scheduler, after which the run stops
CALM = 0.05  # seconds in which no trial ends, after which every worker has one
KILLS = "Every worker that ran it was lost: it may be what ends them."


@dataclass
class _RunningClusterTrial:
    task: TrialRequest
    future: Any
    since: float
    limit: float | None = None  # of its own, in place of the executor's
    restart_count: int = 0
    worker_limit: float = math.inf  # the limit that its worker keeps
    allowed: frozenset[str] | None = None  # the only workers that it may go to


class ClusterExecutor:
    """Workers of a cluster that score settings.

    Args:
        client: of distributed, connected.
        work: what to score on; sent to the workers once.
        most: how many trials run at the same time at most; None for as many as have a thread.
        limit: seconds after which a trial is ended and counts as failed; None for never.
        watching: knows the workers; None for one of its own.

    Attributes:
        limit: the same; it may be changed while trials run.

    Raises:
        UnusableError: no worker has what this run needs.
    """

    def __init__(
        self,
        client: Any,
        work: ScoringJob,
        max_running: int | None = None,
        limit: float | None = None,
        watching: ClusterMonitor | None = None,
    ) -> None:
        self._client, self._max_running, self.limit = client, max_running, limit
        self._packed = pickle.dumps(work, protocol=5)
        self._run = uuid.uuid4().hex[:12]
        self._watching = watching or ClusterMonitor(client)
        self._busy: dict[str, _RunningClusterTrial] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._gone_since: float | None = None
        self._begun, self._next_report_seconds = 0, 0.0
        self._watching.prefix = f"tunescope-{self._run}-"
        self._homeless: list[_RunningClusterTrial] = []  # they wait for a worker
        self._watching.require_packages(worker_versions.needed_by(work.model, work.task))
        if not self._watching.threads and self._watching.remarks:
            worker_versions.raise_no_worker(self._watching.remarks)
        self._work: Any = None

    def _scattered_work(self) -> Any:
        """The data on the workers, sent there where it is not.

        Raises:
            OSError, TimeoutError: nobody takes it now.
        """
        if self._work is None or self._work.status != "finished":
            workers = sorted(self._watching.usable)
            try:
                self._work = self._client.scatter(
                    self._packed, workers=workers, broadcast=True, hash=False
                )
            except (OSError, TimeoutError, KeyError, ValueError):  # one of them has just gone
                self._work = self._client.scatter(self._packed, broadcast=False, hash=False)
        return self._work

    @property
    def workers(self) -> int:
        """How many trials run at the same time, as the cluster is now."""
        threads = max(1, self._watching.threads)  # without any, one trial waits for the first
        return threads if self._max_running is None else min(threads, self._max_running)

    @property
    def free_slots(self) -> int:
        """How many more trials may be submitted now."""
        return max(0, self.workers - self.running)  # workers may go with trials under way

    @property
    def running(self) -> int:
        """How many trials are under way."""
        return len(self._busy) + len(self._homeless)

    def submit(self, number: int, setting: Setting) -> None:
        """Begin a trial; `free_slots` must be above 0."""
        self.submit_request(TrialRequest(number, setting))

    def submit_request(self, task: TrialRequest, limit: float | None = None) -> None:
        """Begin what a task asks for, as `submit` does.

        Args:
            task: what is asked for.
            limit: seconds that it may take; None for what all may take.
        """
        self._start_trial(_RunningClusterTrial(task, None, AWAKE.seconds, limit))

    def _start_trial(self, busy: _RunningClusterTrial) -> None:
        """Send it to a worker; where there is none it waits for the next one to come."""
        limit = self.limit if busy.limit is None else busy.limit
        allowed = self._watching.allowed
        try:
            if not self._watching.usable:
                raise TimeoutError
            work = self._scattered_work()
        except (OSError, TimeoutError):
            self._homeless.append(busy)
            return
        self._begun += 1
        key = f"{self._watching.prefix}{self._begun}"
        busy.future = self._client.submit(
            run_trial, work, self._run, busy.task, limit, key=key, pure=False, workers=allowed
        )
        busy.worker_limit = math.inf if limit is None else limit
        busy.allowed = None if allowed is None else frozenset(allowed)
        self._busy[key] = busy
        self._watching.trials[key] = busy.task.number
        busy.future.add_done_callback(lambda future: self._ended.put(future.key))

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        """The trials that ended, waiting at most so long for the first of them.

        Raises:
            UnusableError: the scheduler has gone and does not come back.
        """
        self._check_scheduler()
        self._reassign_trials()
        results = []
        keys = self._keys_of_ended(min(seconds, CALM))
        if not keys:
            self._watching.refresh_when_calm()
            keys = self._keys_of_ended(min(seconds - CALM, self._until_overdue()))
        for key in keys:
            if (result := self._result_of(key)) is not None:
                results.append(result)
        self._tell_limits()
        return results

    def _reassign_trials(self) -> None:
        """Begin what waits for a worker, and anew what may only go to workers that have gone."""
        if self._client.status != "running" or not self._watching.threads:
            return
        usable = self._watching.usable
        for key, busy in list(self._busy.items()):
            if busy.allowed is not None and busy.allowed.isdisjoint(usable):
                self._remove_trial(key).future.cancel(force=True)
                self._homeless.append(busy)
        waiting, self._homeless = self._homeless, []
        for busy in waiting:
            self._start_trial(replace(busy, since=AWAKE.seconds))

    def worker_updates(self) -> Sequence[Event]:
        """What the workers do now, where it changed since it was last asked."""
        return self._watching.worker_updates()

    def _keys_of_ended(self, seconds: float) -> list[str]:
        keys = []
        try:
            keys.append(self._ended.get(timeout=max(0.0, seconds)))
            while True:
                keys.append(self._ended.get_nowait())
        except queue.Empty:
            return keys

    def _result_of(self, key: str) -> TrialResult | None:
        busy = self._busy.get(key)
        if busy is None:
            return None  # of one that was given up
        if busy.future.status not in ("finished", "error"):
            return self._restart_lost(key, "the data was lost with a worker")
        self._remove_trial(key)
        seconds = AWAKE.seconds - busy.since
        task = busy.task
        try:
            result: TrialResult = busy.future.result(timeout=60)
        except (
            Exception
        ) as error:  # what a trial meets is told in its outcome: this is the worker's
            busy.future.release()
            if type(error).__name__ == "KilledWorker":
                return TrialResult(task.number, task.setting, (), seconds, KILLS)
            self._watching.refresh_now()  # it may be one that was not asked yet what it has
            return self._restart_trial(busy, key, one_line_error(error))
        busy.future.release()
        return result

    def _restart_lost(self, key: str, why: str) -> TrialResult | None:
        return self._restart_trial(self._remove_trial(key), key, why)

    def _restart_trial(self, busy: _RunningClusterTrial, key: str, why: str) -> TrialResult | None:
        """Begin it anew, where the scheduler is there and it was not lost too often."""
        if self._client.status != "running":
            self._busy[key] = busy  # begun anew once the scheduler is there again
            return None
        if busy.restart_count >= MAX_RESTARTS:
            task, took = busy.task, AWAKE.seconds - busy.since
            why = why.removesuffix(".")
            return TrialResult(task.number, task.setting, (), took, f"It was given up: {why}.")
        self._start_trial(replace(busy, restart_count=busy.restart_count + 1, since=AWAKE.seconds))
        return None

    def _remove_trial(self, key: str) -> _RunningClusterTrial:
        self._watching.trials.pop(key, None)
        return self._busy.pop(key)

    def _check_scheduler(self) -> None:
        if self._client.status == "running":
            if self._gone_since is not None:
                self._gone_since = None
                self._begin_all_anew()
            return
        if self._gone_since is None:
            self._gone_since = time.monotonic()
        elif time.monotonic() - self._gone_since > PATIENCE or self._client.status == "closed":
            raise UnusableError(
                "the scheduler of the cluster has gone",
                where=str(getattr(self._client, "_start_arg", "") or "option cluster"),
                cure="start it again, then continue the run: what has ended is kept",
            )

    def _begin_all_anew(self) -> None:
        # A scheduler that was started again knows nothing of what it was asked before.
        self._work = None
        for key in list(self._busy):
            self._start_trial(replace(self._remove_trial(key), since=AWAKE.seconds))

    def _limit_of(self, busy: _RunningClusterTrial) -> float:
        limit = self.limit if busy.limit is None else busy.limit
        return math.inf if limit is None else limit

    def _until_overdue(self) -> float:
        ends = [
            busy.since + self._limit_of(busy)
            for busy in self._busy.values()
            if self._limit_of(busy) < busy.worker_limit
        ]
        return max(
            0.0,
            min(ends, default=math.inf) - AWAKE.seconds,
            self._next_report_seconds - AWAKE.seconds,
        )

    def _tell_limits(self) -> None:
        """Tell workers the limits that were shortened since their trials began.

        Only they know when a trial began: it may have waited, or have been begun anew elsewhere.
        """
        limits = {
            key: self._limit_of(busy)
            for key, busy in self._busy.items()
            if self._limit_of(busy) < busy.worker_limit
            and AWAKE.seconds - busy.since >= self._limit_of(busy)
        }
        if (
            not limits
            or AWAKE.seconds < self._next_report_seconds
            or self._client.status != "running"
        ):
            return
        self._next_report_seconds = AWAKE.seconds + AGAIN
        worker_of = self._watching.processing()
        workers = sorted({worker_of[key] for key in limits if key in worker_of})
        if workers:
            for key in _answered_keys(self._ask_workers(shorten_limits, limits, workers=workers)):
                if key in self._busy:
                    self._busy[key].worker_limit = limits[key]

    def _ask_workers(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """What workers answer; None where they do not within some seconds."""
        call = BackgroundCall(
            lambda: self._client.run(function, *arguments, on_error="ignore", **options)
        )
        return call.answer_within(ANSWERS)

    def close(self) -> None:
        """Give up what is under way, and end the processes of this run on every worker."""
        futures: Sequence[Any] = [busy.future for busy in self._busy.values()]
        self._busy, self._homeless = {}, []
        if self._client.status != "running":
            return
        try:
            if futures:
                self._client.cancel(list(futures), force=True)
            self._ask_workers(close_idle, self._run, workers=sorted(self._watching.usable))
            if self._work is not None:
                self._work.release()
        except Exception:  # a cluster that is gone has nothing to be ended
            return


def _answered_keys(answers: Any) -> list[str]:
    return [key for keys in answers.values() for key in keys] if isinstance(answers, dict) else []
