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
from core.tuning.cluster import versions
from core.tuning.cluster.asking import Question
from core.tuning.cluster.on_worker import forget, run_trial, shorten
from core.tuning.cluster.watching import Watching
from core.tuning.events import Event
from core.tuning.runs.clock import AWAKE
from core.tuning.scores.scoring import Outcome, Task, Work, in_a_sentence

MOST_LOST = 3  # how often a trial is begun anew after the worker with it, or its data, was lost
AGAIN = 1.0  # seconds until a worker that did not answer is told a shorter limit again
ANSWERS = 5.0  # seconds within which a worker answers
PATIENCE = 20.0  # seconds without the scheduler, after which the run stops
CALM = 0.05  # seconds in which no trial ends, after which every worker has one
KILLS = "Every worker that ran it was lost: it may be what ends them."


@dataclass
class _Busy:
    task: Task
    future: Any
    since: float
    limit: float | None = None  # of its own, in place of the executor's
    lost: int = 0
    told: float = math.inf  # the limit that its worker keeps
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
        work: Work,
        most: int | None = None,
        limit: float | None = None,
        watching: Watching | None = None,
    ) -> None:
        self._client, self._most, self.limit = client, most, limit
        self._packed = pickle.dumps(work, protocol=5)
        self._run = uuid.uuid4().hex[:12]
        self._watching = watching or Watching(client)
        self._busy: dict[str, _Busy] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._gone_since: float | None = None
        self._begun, self._tells = 0, 0.0
        self._watching.prefix = f"tunescope-{self._run}-"
        self._homeless: list[_Busy] = []  # they wait for a worker
        self._watching.need(versions.needed_by(work.model, work.task))
        if not self._watching.threads and self._watching.said:
            versions.refuse(self._watching.said)
        self._work: Any = None

    def _sent(self) -> Any:
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
        return threads if self._most is None else min(threads, self._most)

    @property
    def free(self) -> int:
        """How many more trials may be submitted now."""
        return max(0, self.workers - self.running)  # workers may go with trials under way

    @property
    def running(self) -> int:
        """How many trials are under way."""
        return len(self._busy) + len(self._homeless)

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
        """Send it to a worker; where there is none it waits for the next one to come."""
        limit = self.limit if busy.limit is None else busy.limit
        allowed = self._watching.allowed
        try:
            if not self._watching.usable:
                raise TimeoutError
            work = self._sent()
        except (OSError, TimeoutError):
            self._homeless.append(busy)
            return
        self._begun += 1
        key = f"{self._watching.prefix}{self._begun}"
        busy.future = self._client.submit(
            run_trial, work, self._run, busy.task, limit, key=key, pure=False, workers=allowed
        )
        busy.told = math.inf if limit is None else limit
        busy.allowed = None if allowed is None else frozenset(allowed)
        self._busy[key] = busy
        self._watching.trials[key] = busy.task.number
        busy.future.add_done_callback(lambda future: self._ended.put(future.key))

    def wait(self, seconds: float) -> list[Outcome]:
        """The trials that ended, waiting at most so long for the first of them.

        Raises:
            UnusableError: the scheduler has gone and does not come back.
        """
        self._check_scheduler()
        self._move()
        outcomes = []
        keys = self._keys_of_ended(min(seconds, CALM))
        if not keys:
            self._watching.look_in_calm()
            keys = self._keys_of_ended(min(seconds - CALM, self._until_overdue()))
        for key in keys:
            if (outcome := self._received(key)) is not None:
                outcomes.append(outcome)
        self._tell_limits()
        return outcomes

    def _move(self) -> None:
        """Begin what waits for a worker, and anew what may only go to workers that have gone."""
        if self._client.status != "running" or not self._watching.threads:
            return
        usable = self._watching.usable
        for key, busy in list(self._busy.items()):
            if busy.allowed is not None and busy.allowed.isdisjoint(usable):
                self._over(key).future.cancel(force=True)
                self._homeless.append(busy)
        waiting, self._homeless = self._homeless, []
        for busy in waiting:
            self._begin(replace(busy, since=AWAKE.seconds))

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
        except (
            Exception
        ) as error:  # what a trial meets is told in its outcome: this is the worker's
            busy.future.release()
            if type(error).__name__ == "KilledWorker":
                return Outcome(task.number, task.setting, (), took, KILLS)
            self._watching.look_again()  # it may be one that was not asked yet what it has
            return self._anew(busy, key, in_a_sentence(error))
        busy.future.release()
        return outcome

    def _lost(self, key: str, why: str) -> Outcome | None:
        return self._anew(self._over(key), key, why)

    def _anew(self, busy: _Busy, key: str, why: str) -> Outcome | None:
        """Begin it anew, where the scheduler is there and it was not lost too often."""
        if self._client.status != "running":
            self._busy[key] = busy  # begun anew once the scheduler is there again
            return None
        if busy.lost >= MOST_LOST:
            task, took = busy.task, AWAKE.seconds - busy.since
            why = why.removesuffix(".")
            return Outcome(task.number, task.setting, (), took, f"It was given up: {why}.")
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
        self._work = None
        for key in list(self._busy):
            self._begin(replace(self._over(key), since=AWAKE.seconds))

    def _limit_of(self, busy: _Busy) -> float:
        limit = self.limit if busy.limit is None else busy.limit
        return math.inf if limit is None else limit

    def _until_overdue(self) -> float:
        ends = [
            busy.since + self._limit_of(busy)
            for busy in self._busy.values()
            if self._limit_of(busy) < busy.told
        ]
        return max(0.0, min(ends, default=math.inf) - AWAKE.seconds, self._tells - AWAKE.seconds)

    def _tell_limits(self) -> None:
        """Tell workers the limits that were shortened since their trials began.

        Only they know when a trial began: it may have waited, or have been begun anew elsewhere.
        """
        limits = {
            key: self._limit_of(busy)
            for key, busy in self._busy.items()
            if self._limit_of(busy) < busy.told
            and AWAKE.seconds - busy.since >= self._limit_of(busy)
        }
        if not limits or AWAKE.seconds < self._tells or self._client.status != "running":
            return
        self._tells = AWAKE.seconds + AGAIN
        at = self._watching.processing()
        workers = sorted({at[key] for key in limits if key in at})
        if workers:
            for key in _keys(self._asked(shorten, limits, workers=workers)):
                if key in self._busy:
                    self._busy[key].told = limits[key]

    def _asked(self, function: Callable[..., Any], *given: Any, **where: Any) -> Any:
        """What workers answer; None where they do not within some seconds."""
        asked = Question(lambda: self._client.run(function, *given, on_error="ignore", **where))
        return asked.answer(ANSWERS)

    def close(self) -> None:
        """Give up what is under way, and end the processes of this run on every worker."""
        futures: Sequence[Any] = [busy.future for busy in self._busy.values()]
        self._busy, self._homeless = {}, []
        if self._client.status != "running":
            return
        try:
            if futures:
                self._client.cancel(list(futures), force=True)
            self._asked(forget, self._run, workers=sorted(self._watching.usable))
            if self._work is not None:
                self._work.release()
        except Exception:  # a cluster that is gone has nothing to be ended
            return


def _keys(answers: Any) -> list[str]:
    return [key for keys in answers.values() for key in keys] if isinstance(answers, dict) else []
