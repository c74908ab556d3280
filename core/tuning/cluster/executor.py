"""Trials as futures of a dask.distributed scheduler, whose workers may come, leave and die."""

import contextlib
import math
import pickle
import queue
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn, Self

from core.awake_timer import AWAKE
from core.datasets.memory_limit import max_data_bytes, size_text
from core.errors import UnusableError
from core.tuning.cluster.cluster_monitor import (
    ANSWER_SECONDS,
    BackgroundCall,
    ClusterMonitor,
    needed_by,
    raise_no_worker,
)
from core.tuning.cluster.on_worker import close_idle, run_trial, shorten_limits
from core.tuning.events import Event
from core.tuning.scores.metric import Predictions
from core.tuning.scores.scoring import ScoringJob, TrialRequest, TrialResult, one_line_error
from core.tuning.trials.executors import TrialExecutor
from core.wording import count_text

MAX_RESTARTS = 3  # of a trial, after its worker or its data was lost
RETRY_SECONDS = 1.0  # until a worker that did not answer is sent a shorter limit again
BYTES_PER_SECOND = 10**6  # that data travel to workers at least
FETCH_SECONDS = 60.0  # after which a result counts as lost
ARRIVAL_SECONDS = 0.1  # that a run waits for it at a time
GONE_SECONDS = 20.0  # without the scheduler, after which the run stops
CALM_SECONDS = 0.05  # without a result, after which every worker has a trial
KILLER_TEXT = "Every worker that ran it was lost: it may be what ends them."


@dataclass
class _RunningClusterTrial:
    task: TrialRequest
    future: Any
    since: float
    limit: float | None = None  # of its own, in place of the executor's
    fetch: BackgroundCall | None = None  # of its result
    restart_count: int = 0
    worker_limit: float = math.inf  # the limit that its worker keeps
    allowed: frozenset[str] | None = None  # the only workers that it may go to


class ClusterExecutor(TrialExecutor):
    """Workers of a cluster that score settings, one trial a thread or `max_running` at most."""

    def __init__(
        self,
        client: Any,
        work: ScoringJob,
        max_running: int | None = None,
        limit: float | None = None,
        monitor: ClusterMonitor | None = None,
    ) -> None:
        self._client, self._max_running, self.limit = client, max_running, limit
        self._packed, self._form = pickle.dumps(work, protocol=5), ResultForm.of(work)
        self._run = uuid.uuid4().hex[:12]
        self._monitor = monitor or ClusterMonitor(client)
        self._busy: dict[str, _RunningClusterTrial] = {}
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._gone_since: float | None = None
        self._begun, self._next_report_seconds = 0, 0.0
        self._monitor.prefix = f"tunescope-{self._run}-"
        self._unassigned_trials: list[_RunningClusterTrial] = []  # they wait for a worker
        self._monitor.require_packages(needed_by(work.model, work.task))
        if not self._monitor.threads and self._monitor.remarks:
            raise_no_worker(self._monitor.remarks)
        self._work: Any = None

    def _scattered_work(self) -> Any:
        if self._work is None or self._work.status != "finished":
            send = partial(self._client.scatter, self._packed, hash=False)
            send_to_all = partial(send, workers=sorted(self._monitor.usable), broadcast=True)
            ask, seconds = self._monitor.ask_scheduler, len(self._packed) / BYTES_PER_SECOND
            try:
                self._work = ask(send_to_all, ANSWER_SECONDS + seconds)
            except (OSError, TimeoutError, KeyError, ValueError):  # one of them has just gone
                self._work = ask(send, ANSWER_SECONDS + seconds)
        return self._work

    @property
    def workers(self) -> int:
        # Without any thread, one trial waits for the first, or the run would end.
        threads = max(1, self._monitor.threads)
        return threads if self._max_running is None else min(threads, self._max_running)

    @property
    def running(self) -> int:
        return len(self._busy) + len(self._unassigned_trials)

    def submit_request(self, task: TrialRequest, limit: float | None = None) -> None:
        self._start_trial(_RunningClusterTrial(task, None, AWAKE.seconds, limit))

    def _start_trial(self, busy: _RunningClusterTrial) -> None:
        limit = self.limit_of(busy.limit)
        allowed = self._monitor.allowed
        try:
            if not self._monitor.usable:
                raise TimeoutError
            work = self._scattered_work()
        except (OSError, TimeoutError):
            self._unassigned_trials.append(busy)
            return
        self._begun += 1
        key = f"{self._monitor.prefix}{self._begun}"
        # Not pure: dask would give the first result back where a setting is tried a second time.
        busy.future = self._client.submit(
            run_trial, work, self._run, busy.task, limit, key=key, pure=False, workers=allowed
        )
        busy.worker_limit, busy.fetch = limit, None
        busy.allowed = None if allowed is None else frozenset(allowed)
        self._busy[key] = busy
        self._monitor.trials[key] = busy.task.number
        busy.future.add_done_callback(lambda future: self._ended.put(future.key))

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        self._check_scheduler()
        self._reassign_trials()
        results = []
        keys = self._keys_of_ended(min(seconds, CALM_SECONDS))
        # Results that are there go first; only a calm moment is spent on asking the scheduler.
        if not keys:
            self._monitor.refresh_when_calm()
            keys = self._keys_of_ended(min(seconds - CALM_SECONDS, self._until_overdue()))
        for key in keys:
            if (result := self._result_of(key)) is not None:
                results.append(result)
        self._tell_limits()
        return results

    def _reassign_trials(self) -> None:
        if self._client.status != "running" or not self._monitor.threads:
            return
        usable = self._monitor.usable
        for key, busy in list(self._busy.items()):
            if busy.allowed is not None and busy.allowed.isdisjoint(usable):
                self._cancel_futures([self._remove_trial(key).future])
                self._unassigned_trials.append(busy)
        waiting, self._unassigned_trials = self._unassigned_trials, []
        for busy in waiting:
            self._start_trial(replace(busy, since=AWAKE.seconds))

    def worker_updates(self) -> Sequence[Event]:
        return self._monitor.worker_updates()

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
            return None  # it was abandoned
        is_there = busy.future.status in ("finished", "error")
        try:
            if is_there and busy.fetch is None:
                size = 0  # of an error, which the scheduler may never have heard of
                if busy.future.status == "finished":
                    ask = partial(self._client.nbytes, [key], summary=False)
                    size = self._monitor.ask_scheduler(ask).get(key, 0)
                busy.fetch = BackgroundCall(partial(_fetch_result, busy.future, size))
        except (OSError, TimeoutError):
            time.sleep(CALM_SECONDS)
            self._ended.put(key)  # until it answers again
            return None
        except KeyError:  # the scheduler has dropped it meanwhile
            is_there = False
        if busy.fetch is None or not is_there:
            lost, why = self._remove_trial(key), "the data was lost with a worker"
            return self._restart_trial(lost, key, why)
        # Large ones take their time: an interrupt is heard meanwhile.
        if (answer := busy.fetch.answer_within(ARRIVAL_SECONDS)) is None:
            self._ended.put(key)
            return None
        self._remove_trial(key)
        try:
            if isinstance(answer, Exception):
                raise answer
            return _checked_result(answer[0], self._run, busy.task, self._form)
        except Exception as error:  # of the worker: a trial's own becomes its failure
            # By name: distributed is not imported here.
            if type(error).__name__ == "KilledWorker":
                task, seconds = busy.task, AWAKE.seconds - busy.since
                return TrialResult(task.number, task.setting, (), seconds, KILLER_TEXT)
            self._monitor.refresh_now()  # it may be one with other versions
            is_false = isinstance(error, _FalseResultError)
            why = f"a worker returned {error}" if is_false else one_line_error(error)
            return self._restart_trial(busy, key, why)
        finally:
            busy.future.release()

    def _restart_trial(self, busy: _RunningClusterTrial, key: str, why: str) -> TrialResult | None:
        if self._client.status != "running":
            self._busy[key] = busy  # restarted once the scheduler is back
            return None
        if busy.restart_count >= MAX_RESTARTS:
            task, took = busy.task, AWAKE.seconds - busy.since
            return TrialResult(task.number, task.setting, (), took, given_up_text(why))
        self._start_trial(replace(busy, restart_count=busy.restart_count + 1, since=AWAKE.seconds))
        return None

    def _remove_trial(self, key: str) -> _RunningClusterTrial:
        self._monitor.trials.pop(key, None)
        return self._busy.pop(key)

    def _check_scheduler(self) -> None:
        if self._client.status == "running":
            if self._gone_since is not None:
                # A scheduler that was started again does not know the earlier tasks.
                self._gone_since = self._work = None
                for key in list(self._busy):
                    self._start_trial(replace(self._remove_trial(key), since=AWAKE.seconds))
            if self._monitor.silent_seconds > GONE_SECONDS:
                self._raise_gone("or a worker does not answer")
            return
        if self._gone_since is None:
            self._gone_since = AWAKE.seconds
        elif AWAKE.seconds - self._gone_since > GONE_SECONDS or self._client.status == "closed":
            self._raise_gone("has gone")

    def _raise_gone(self, fault: str) -> NoReturn:
        raise UnusableError(
            f"the scheduler of the cluster {fault}",
            where=str(getattr(self._client, "_start_arg", "") or "option cluster"),
            cure="start it again, then continue the run: what has ended is kept",
        )

    def _shorter_limits(self) -> dict[str, float]:
        limits = {key: self.limit_of(busy.limit) for key, busy in self._busy.items()}
        return {k: limit for k, limit in limits.items() if limit < self._busy[k].worker_limit}

    def _until_overdue(self) -> float:
        ends = [self._busy[key].since + limit for key, limit in self._shorter_limits().items()]
        end = max(min(ends, default=math.inf), self._next_report_seconds)
        return max(0.0, end - AWAKE.seconds)

    def _tell_limits(self) -> None:
        # Only workers know when a trial began: it may have waited, or been restarted elsewhere.
        limits = {
            key: limit
            for key, limit in self._shorter_limits().items()
            if AWAKE.seconds - self._busy[key].since >= limit
        }
        is_running = self._client.status == "running"
        if not limits or AWAKE.seconds < self._next_report_seconds or not is_running:
            return
        self._next_report_seconds = AWAKE.seconds + RETRY_SECONDS
        # Where a trial runs is asked only now: its worker may have changed.
        worker_of = self._monitor.processing()
        workers = sorted({worker_of[key] for key in limits if key in worker_of})
        ask = partial(self._client.run, shorten_limits, limits, workers=workers, on_error="ignore")
        answers = BackgroundCall(ask).answer_within(ANSWER_SECONDS) if workers else None
        for keys in answers.values() if isinstance(answers, dict) else ():
            for key in self._busy.keys() & set(keys):
                self._busy[key].worker_limit = limits[key]

    def close(self) -> None:
        # Cancelled trials end by themselves; idle processes of this run have to be told.
        futures = [busy.future for busy in self._busy.values()]
        self._busy, self._unassigned_trials = {}, []
        if self._client.status != "running":
            return
        workers = sorted(self._monitor.usable)

        def end_trials() -> bool:
            self._client.cancel(futures, force=True)
            self._client.run(close_idle, self._run, workers=workers, on_error="ignore")
            return True

        BackgroundCall(end_trials).answer_within(ANSWER_SECONDS)
        if self._work is not None:
            self._work.release()

    def _cancel_futures(self, futures: list[Any]) -> None:
        with contextlib.suppress(OSError, TimeoutError):  # a silent scheduler
            self._monitor.ask_scheduler(lambda: self._client.cancel(futures, force=True) or True)


class _FalseResultError(Exception):
    """What a worker returned is no result of its trial; the text says what it is instead."""


def _fetch_result(future: Any, size: int) -> tuple[Any]:
    if size > (max_bytes := max_data_bytes()):
        room = f"{size_text(max_bytes)} are free for it"
        raise _FalseResultError(f"{size_text(size)}, and {room}")
    return (future.result(timeout=FETCH_SECONDS),)


def _checked_result(content: Any, run: str, task: TrialRequest, form: "ResultForm") -> TrialResult:
    if not isinstance(content, bytes):
        raise _FalseResultError(f"no result but an object of type {type(content).__name__}")
    try:
        result_run, result = pickle.loads(content)
        fault = "the result of another run" if result_run != run else form.fault(result, task)
    except Exception as error:
        fault = f"what cannot be read ({one_line_error(error)})"
    if fault:
        raise _FalseResultError(fault)
    return result


def given_up_text(why: str) -> str:
    """The failure of a trial that was restarted too often."""
    return f"It was given up: {why.removesuffix('.')}."


@dataclass(frozen=True)
class ResultForm:
    """What the result of a trial looks like; what a worker returns is compared with it."""

    fold_rows: tuple[int, ...]  # held out, of every fold
    class_count: int  # 0 where numbers are predicted
    has_predictions: bool

    @classmethod
    def of(cls, job: ScoringJob) -> Self:
        has_predictions = job.returns_predictions and not job.fitted_rows
        rows = tuple(len(fold.score_y) for fold in job.folds)
        return cls(rows, len(job.classes), has_predictions)

    def fault(self, result: Any, task: TrialRequest) -> str:
        """Why an object is no result of a trial; "" where it is one."""
        if not isinstance(result, TrialResult):
            return f"no result but an object of type {type(result).__name__}"
        if (result.number, result.setting) != (task.number, task.setting):
            return f"the result of another trial, number {result.number}"
        scores = () if result.failure else (result.score, *result.fold_scores)
        if not all(map(math.isfinite, (result.took, result.cpu, *scores))):
            return "a score that is no number"
        is_event = isinstance(result.display_event, Event | None)
        is_predicted = all(isinstance(entry, Predictions) for entry in result.predictions)
        if not (is_event and is_predicted and isinstance(result.failure, str)):
            return "a result of other types"
        return "" if result.failure else self._size_fault(result, task)

    def _size_fault(self, result: TrialResult, task: TrialRequest) -> str:
        rows = self.fold_rows
        if task.screening_rows:
            rows = (min(rows[0], task.screening_rows),)
        elif result.estimate is not None and task.incumbent is not None:
            rows = rows[: len(result.fold_scores)]  # it was ended early
        if not rows or len(result.fold_scores) != len(rows):
            return f"scores of {count_text(len(result.fold_scores), 'fold')}"
        lengths = {
            (fold, len(array))
            for fold, predictions in enumerate(result.predictions)
            for array in vars(predictions).values()
            if array is not None
        }
        if lengths != set(enumerate(rows) if self.has_predictions else ()):
            return "predictions of other rows"
        outputs = [array for p in result.predictions for array in (p.scores, p.probabilities)]
        if any(array is not None and array.shape[1:] != (self.class_count,) for array in outputs):
            return "predictions of other classes"
        return ""
