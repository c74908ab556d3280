"""Trials in processes of this machine and, once some have joined, in those of other workers."""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.awake_timer import AWAKE
from core.errors import UnusableError
from core.tuning.cluster.executor import (
    GONE_SECONDS,
    KILLER_TEXT,
    MAX_RESTARTS,
    ResultForm,
    given_up_text,
)
from core.tuning.cluster.shared_folder import (
    BEAT_SECONDS,
    COORDINATOR,
    POLL_SECONDS,
    WORKER,
    Beat,
    Heartbeat,
    Listing,
    SharedFolder,
    SharedResult,
    SharedTask,
    Watch,
)
from core.tuning.events import Event, WorkersSeen
from core.tuning.scores.scoring import ScoringJob, TrialRequest, TrialResult, one_line_error
from core.tuning.trials.executors import ProcessExecutor


@dataclass
class _SharedTrial:
    task: SharedTask
    since: float = field(default_factory=lambda: AWAKE.seconds)
    seen: float = field(default_factory=lambda: AWAKE.seconds)  # when a file of it was there
    restart_count: int = 0
    worker: str = ""  # that has claimed it


class SharedExecutor(ProcessExecutor):
    """The executor of a run's coordinator; each trial counts once, whoever dies.

    Args:
        run: the run's folder; the other arguments as of ProcessExecutor.
    """

    def __init__(
        self, run: Path, work: ScoringJob, workers: int = 1, time_limit: float | None = None
    ) -> None:
        super().__init__(work, workers, time_limit)
        self._shared, self._form = SharedFolder(run), ResultForm.of(work)
        self._heartbeat: Heartbeat | None = None
        self._turn = self._token_count = 0
        self._trials: dict[str, _SharedTrial] = {}  # handed out, by token
        self._joined: dict[str, Watch] = {}  # the living workers
        self._results: list[TrialResult] = []
        self._next_look, self._last_seen = 0.0, WorkersSeen()

    @property
    def workers(self) -> int:
        return super().workers + sum(watch.beat.threads for watch in self._joined.values())

    @property
    def running(self) -> int:
        return super().running + len(self._trials) + len(self._results)

    def submit_request(self, task: TrialRequest, limit: float | None = None) -> None:
        if self._joined and super().running >= super().workers:
            self._hand_out(_SharedTrial(SharedTask(task, limit)))
        else:
            super().submit_request(task, limit)

    def _hand_out(self, trial: _SharedTrial) -> None:
        self._token_count += 1
        token = f"{self._turn}.{self._token_count}"
        try:
            self._shared.write(f"task-{token}", trial.task)
            self._trials[token] = replace(trial, worker="", seen=AWAKE.seconds)
        except OSError:  # the folder was removed, or its disk is full
            super().submit_request(trial.task.request, trial.task.limit)

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        end = AWAKE.seconds + seconds
        while True:
            self._look_around()
            wait = 0.0 if self._results else max(0.0, end - AWAKE.seconds)
            wait = min(wait, POLL_SECONDS) if self._trials else wait
            if super().running:
                self._results += super().wait_for_results(wait)
            else:
                time.sleep(wait)
            if self._results or AWAKE.seconds >= end:
                results, self._results = self._results, []
                return results

    def _look_around(self) -> None:
        if AWAKE.seconds < self._next_look and not self._trials:
            return
        self._next_look = AWAKE.seconds + BEAT_SECONDS
        if self._heartbeat is None and self._shared.is_there:
            self._turn = max(self._turn, (self._shared.listing() or Listing()).last_turn) + 1
            with contextlib.suppress(OSError):  # another process came first
                self._heartbeat = self._shared.take_turn(self._turn, Beat.of_this_process())
        if self._heartbeat is None or (listing := self._shared.listing()) is None:
            return
        self._heartbeat.content = replace(
            self._heartbeat.content,
            limit=self.limit,
            threads=super().workers,
            trials=[busy.number for busy in self._busy.values()],
        )
        if listing.last_turn > self._turn:
            raise UnusableError(
                "another process coordinates this run now",
                where=str(self._shared.run),
                cure="join it with tunescope work",
            )
        for turn in set(listing.coordinator) - {str(self._turn)}:
            self._shared.remove_file(f"coordinator-{turn}")
        if listing.last_turn < self._turn:  # the folder was removed
            self._heartbeat = None
        self._watch_workers(listing)
        self._collect_results(listing)
        self._take_back(listing)

    def _watch_workers(self, listing: Listing) -> None:
        names = {f"{WORKER}{worker}": worker for worker in listing.worker}
        watches = {names[name]: w for name, w in self._shared.watches(names).items()}
        self._joined = {worker: watch for worker, watch in watches.items() if watch.is_alive}
        for token, trial in list(self._trials.items()):
            trial.worker = listing.claim.get(token, "")
            if trial.worker or token in listing.task or token in listing.result:
                trial.seen = AWAKE.seconds
            if token in listing.result:
                continue
            watch = watches.get(trial.worker)
            has_left = trial.worker and watch is None
            if watch is not None and watch.is_gone:
                self._restart(token, KILLER_TEXT)
            elif has_left or AWAKE.seconds - trial.seen > GONE_SECONDS:
                self._restart(token)
        for worker, watch in watches.items():
            if watch.is_gone:
                self._shared.remove_file(f"{WORKER}{worker}")  # it sees that, if it lives

    def _collect_results(self, listing: Listing) -> None:
        for token, worker in listing.result.items():
            name = f"result-{token}-{worker}"
            if (trial := self._trials.get(token)) is not None:
                try:
                    result = self._shared.read(name, SharedResult).to_result()
                    fault = self._form.fault(result, trial.task.request)
                except (OSError, ValueError, TypeError, RecursionError) as error:
                    fault = f"what cannot be read ({one_line_error(error)})"
                if fault:
                    self._restart(token, given_up_text(f"a worker returned {fault}"))
                else:
                    self._results.append(result)
                    del self._trials[token]
            self._shared.remove_file(name)
        for token, worker in listing.claim.items():
            if token not in self._trials:
                self._shared.remove_file(f"claim-{token}-{worker}")

    def _take_back(self, listing: Listing) -> None:
        for token in listing.task:
            has_room = super().running < super().workers
            if token not in self._trials:
                self._shared.remove_file(f"task-{token}")
            # Removed by this process: no worker has it, nor will.
            elif has_room and self._shared.remove_file(f"task-{token}"):
                task = self._trials.pop(token).task
                super().submit_request(task.request, task.limit)

    def _restart(self, token: str, why: str = "") -> None:
        trial = self._trials.pop(token)
        trial.restart_count += bool(why)
        request = trial.task.request
        if trial.restart_count > MAX_RESTARTS:
            seconds = AWAKE.seconds - trial.since
            self._results.append(TrialResult(request.number, request.setting, (), seconds, why))
        else:
            self._hand_out(trial)

    def worker_updates(self) -> Sequence[Event]:
        if self._heartbeat is None:
            return ()
        workers = [self._heartbeat.content.summary(COORDINATOR)]
        for worker, watch in sorted(self._joined.items()):
            trials = [trial for trial in self._trials.values() if trial.worker == worker]
            numbers = [trial.task.request.number for trial in trials]
            workers.append(replace(watch.beat, trials=numbers).summary())
        before, self._last_seen = self._last_seen, WorkersSeen(workers=workers)
        return () if workers == before.workers else (self._last_seen,)

    def close(self) -> None:
        super().close()
        if self._heartbeat is None:
            return
        self._heartbeat.close()
        # Of a coordinator that has come after this one, nothing is removed.
        if (self._shared.listing() or Listing()).last_turn <= self._turn:
            self._shared.remove_all()
