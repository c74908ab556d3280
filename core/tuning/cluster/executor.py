"""Trials as futures of a dask.distributed scheduler: workers may come, go and die meanwhile.

The interface is that of the processes on one machine (`core.tuning.trials.executors`), so that no
strategy knows where its trials run: as many are under way as there are threads to run them.
"""

from __future__ import annotations

import math
import queue
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import UnusableError
from core.space import Setting
from core.tuning.cluster.on_worker import forget, run_trial
from core.tuning.cluster.watching import Watching
from core.tuning.events import Event
from core.tuning.runs.clock import AWAKE
from core.tuning.scores.scoring import Outcome, Task, Work, in_a_sentence

MOST_LOST = 3  # how often a trial is begun anew after the worker with it, or its data, was lost
GRACE = 5.0  # seconds for the way there and back, above a limit that changed meanwhile
PATIENCE = 20.0  # seconds without the scheduler, after which the run stops


@dataclass
class _Busy:
    task: Task
    future: Any
    since: float
    limit: float | None = None  # of its own, in place of the executor's
    lost: int = 0


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
    """

    def __init__(
        self,
        client: Any,
        work: Work,
        most: int | None = None,
        limit: float | None = None,
        watching: Watching | None = None,
    ) -> None:
        self._client, self._plain, self._most, self.limit = client, work, most, limit
        self._run = uuid.uuid4().hex[:12]
        self._watching = watching or Watching(client)
        self._busy: dict[str, _Busy] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._gone_since: float | None = None
        self._begun = 0
        self._work = self._sent()

    def _sent(self) -> Any:
        return self._client.scatter(self._plain, broadcast=True, hash=False)

    @property
    def workers(self) -> int:
        """How many trials run at the same time, as the cluster is now."""
        threads = max(1, self._watching.threads)  # without any, one trial waits for the first
        return threads if self._most is None else min(threads, self._most)

    @property
    def free(self) -> int:
        """How many more trials may be submitted now."""
        return self.workers - self.running

    @property
    def running(self) -> int:
        """How many trials are under way."""
        return len(self._busy)

    def submit(self, number: int, setting: Setting) -> None:
        """Begin a trial; `free` must be above 0."""
        self.begin(Task(number, setting))

    def begin(self, task: Task, limit: float | None = None) -> None:
        """Begin what a task asks for, as `submit` does.

        Args:
            task: what is asked for.
            limit: seconds that it may take; None for what all may take.
        """
        self._begin(_Busy(task, None, AWAKE.seconds, limit))

    def _begin(self, busy: _Busy) -> None:
        self._begun += 1
        key = f"tunescope-{self._run}-{self._begun}"
        limit = self.limit if busy.limit is None else busy.limit
        busy.future = self._client.submit(
            run_trial,
            self._work,
            self._run,
            busy.task,
            limit,
            key=key,
            pure=False,
            workers=self._watching.allowed,
        )
        self._busy[key] = busy
        self._watching.trials[key] = busy.task.number
        busy.future.add_done_callback(lambda future: self._ended.put(future.key))

    def wait(self, seconds: float) -> list[Outcome]:
        """The trials that ended, waiting at most so long for the first of them.

        Raises:
            UnusableError: the scheduler has gone and does not come back.
        """
        self._check_scheduler()
        outcomes = []
        for key in self._keys_of_ended(min(seconds, self._until_overdue())):
            if (outcome := self._received(key)) is not None:
                outcomes.append(outcome)
        return outcomes or self._overdue()

    def news(self) -> Sequence[Event]:
        """What the workers do now, where it changed since it was last asked."""
        return self._watching.news()

    def _keys_of_ended(self, seconds: float) -> list[str]:
        keys = []
        try:
            keys.append(self._ended.get(timeout=max(0.0, seconds)))
            while True:
                keys.append(self._ended.get_nowait())
        except queue.Empty:
            return keys

    def _received(self, key: str) -> Outcome | None:
        busy = self._busy.get(key)
        if busy is None:
            return None  # of one that was given up
        if busy.future.status not in ("finished", "error"):
            return self._lost(key, "the data was lost with a worker")
        self._over(key)
        took = AWAKE.seconds - busy.since
        task = busy.task
        try:
            outcome: Outcome = busy.future.result(timeout=60)
        except Exception as error:  # whatever a worker met
            return Outcome(task.number, task.setting, (), took, _failure(error))
        finally:
            busy.future.release()
        return outcome

    def _lost(self, key: str, why: str) -> Outcome | None:
        """Begin it anew, where the scheduler is there and it was not lost too often."""
        busy = self._over(key)
        if self._client.status != "running":
            self._busy[key] = busy  # begun anew once the scheduler is there again
            return None
        if busy.lost >= MOST_LOST:
            task, took = busy.task, AWAKE.seconds - busy.since
            return Outcome(task.number, task.setting, (), took, f"It was given up: {why}.")
        if self._work.status != "finished":
            self._work = self._sent()
        self._begin(replace(busy, lost=busy.lost + 1, since=AWAKE.seconds))
        return None

    def _over(self, key: str) -> _Busy:
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
                cure="start it again, then go on with the run: what has ended is kept",
            )

    def _begin_all_anew(self) -> None:
        # A scheduler that was started again knows nothing of what it was asked before.
        self._work = self._sent()
        for key in list(self._busy):
            self._begin(replace(self._over(key), since=AWAKE.seconds))

    def _limit_of(self, busy: _Busy) -> float:
        limit = self.limit if busy.limit is None else busy.limit
        return math.inf if limit is None else limit + GRACE

    def _until_overdue(self) -> float:
        ends = [busy.since + self._limit_of(busy) for busy in self._busy.values()]
        return max(0.0, min(ends, default=math.inf) - AWAKE.seconds)

    def _overdue(self) -> list[Outcome]:
        # The worker keeps the limit that a trial began with; a shorter one of later is kept here.
        late = []
        for key, busy in list(self._busy.items()):
            took, limit = AWAKE.seconds - busy.since, self._limit_of(busy)
            if took >= limit and self._is_running(key):
                self._over(key)
                busy.future.cancel(force=True)
                why = f"It took longer than the time limit of {limit - GRACE:g} s."
                late.append(Outcome(busy.task.number, busy.task.setting, (), took, why))
            elif took >= limit:
                busy.since = AWAKE.seconds  # it waits for a worker
        return late

    def _is_running(self, key: str) -> bool:
        return key in self._watching.processing()

    def close(self) -> None:
        """Give up what is under way, and end the processes of this run on every worker."""
        futures: Sequence[Any] = [busy.future for busy in self._busy.values()]
        self._busy = {}
        if self._client.status != "running":
            return
        try:
            if futures:
                self._client.cancel(list(futures), force=True)
            self._client.run(forget, self._run, on_error="ignore")
            self._work.release()
        except Exception:  # a cluster that is gone has nothing to be ended
            return


def _failure(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return "Every worker that ran it was lost: it may be what ends them."
    return in_a_sentence(error)
