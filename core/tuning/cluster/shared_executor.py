"""Trials in processes of this machine and, once some have joined, in those of other workers."""

from __future__ import annotations

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
    given_up_text,
    result_fault,
)
from core.tuning.cluster.shared_folder import (
    BEAT_SECONDS,
    POLL_SECONDS,
    Beat,
    Heartbeat,
    Listing,
    SharedFolder,
    SharedTask,
    Watch,
)
from core.tuning.events import ClusterWorker, Event, WorkersSeen
from core.tuning.runs.run_folder import WORKER
from core.tuning.scores.scoring import ScoringJob, TrialRequest, TrialResult, one_line_error
from core.tuning.trials.executors import ProcessExecutor


@dataclass
class _SharedTrial:
    task: SharedTask
    since: float = field(default_factory=lambda: AWAKE.seconds)
    seen: float = field(default_factory=lambda: AWAKE.seconds)  # when a file of it was there
    restart_count: int = 0
    worker: str = ""  # that has claimed it
    is_written: bool = True  # where workers can take it


class SharedExecutor(ProcessExecutor):
    """The executor of a run's coordinator; each trial counts once, whoever dies.

    Args:
        run: the run's folder; the other arguments as of ProcessExecutor.
    """

    def __init__(
        self, run: Path, work: ScoringJob, workers: int = 1, time_limit: float | None = None
    ) -> None:
        super().__init__(work, workers, time_limit)
        self._shared = SharedFolder(run)
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
        is_written = True
        try:
            self._shared.write(f"task-{token}", trial.task)
        except OSError:  # a full disk, or a drive that is away: it waits for room here
            is_written = False
        self._trials[token] = replace(trial, worker="", is_written=is_written, seen=AWAKE.seconds)

    def wait_for_results(self, seconds: float) -> list[TrialResult]:
        end = AWAKE.seconds + seconds
        while True:
            self._look_around()
            wait = max(0.0, end - AWAKE.seconds)
            if self._trials or self._results:
                wait = 0.0 if self._results else min(wait, POLL_SECONDS)
            if super().running:
                self._results += super().wait_for_results(wait)
            else:
                time.sleep(wait)
            if self._results or AWAKE.seconds >= end:
                results, self._results = self._results, []
                return results

    def _look_around(self) -> None:
        """See who has joined and what came; without workers one look a second at the folder."""
        if AWAKE.seconds < self._next_look and not self._trials:
            return
        self._next_look = AWAKE.seconds + BEAT_SECONDS
        if self._heartbeat is None and not self._take_turn():
            self._joined = {}
            for trial in self._trials.values():  # the folder was removed
                trial.is_written = False
        listing = self._shared.listing() if self._heartbeat is not None else Listing()
        if listing is None:  # a drive is away
            return
        if self._heartbeat is not None:
            self._check_turn(listing, self._heartbeat)
            self._watch_workers(listing)
            self._collect_results(listing)
        self._take_back(listing)

    def _take_turn(self) -> bool:
        while self._shared.is_there and (listing := self._shared.listing()) is not None:
            self._turn = max(self._turn, listing.last_turn) + 1
            content = Beat.of_this_process(with_versions=True)
            with contextlib.suppress(FileExistsError):  # another process came first
                self._heartbeat = self._shared.take_turn(self._turn, content)
                return True
        return False

    def _check_turn(self, listing: Listing, heartbeat: Heartbeat) -> None:
        heartbeat.content = replace(heartbeat.content, limit=self.limit)
        if listing.last_turn > self._turn:
            raise UnusableError(
                "another process coordinates this run now",
                where=str(self._shared.run),
                cure="join it with tunescope work",
            )
        if listing.last_turn < self._turn:  # a person has removed the file
            heartbeat.close()
            self._heartbeat = None
        for turn in listing.turns:
            if turn < self._turn:
                self._shared.remove_file(f"coordinator-{turn}")

    def _watch_workers(self, listing: Listing) -> None:
        watches = self._shared.watches(f"{WORKER}{worker}" for worker in listing.workers)
        workers = {name.removeprefix(WORKER): watch for name, watch in watches.items()}
        self._joined = {worker: watch for worker, watch in workers.items() if watch.is_alive}
        for token, trial in list(self._trials.items()):
            trial.worker = listing.claims.get(token, "")
            if trial.worker or token in listing.tasks or token in listing.results:
                trial.seen = AWAKE.seconds
            watch = workers.get(trial.worker)
            if token in listing.results or not trial.is_written:
                continue
            if trial.worker and watch is None:  # it has left
                self._restart(token)
            elif watch is not None and watch.is_gone:
                self._restart(token, KILLER_TEXT)
            elif AWAKE.seconds - trial.seen > GONE_SECONDS:  # a person has removed the file
                self._restart(token)
        for name, watch in watches.items():
            if watch.is_gone:
                self._shared.remove_file(name)  # if it lives, it sees that it was taken for dead

    def _collect_results(self, listing: Listing) -> None:
        """Take the results of trials; remove those that come late, and their claims."""
        for token, worker in listing.results.items():
            name = f"result-{token}-{worker}"
            if (trial := self._trials.get(token)) is not None:
                try:
                    result = self._shared.read_result(name)
                    fault = result_fault(result, trial.task.request)
                except (OSError, ValueError, RecursionError) as error:
                    fault = f"what cannot be read ({one_line_error(error)})"
                if fault:
                    self._restart(token, given_up_text(f"a worker returned {fault}"))
                else:
                    self._results.append(result)
                    del self._trials[token]
            self._shared.remove_file(name)
        for token, worker in listing.claims.items():
            if token not in self._trials:
                self._shared.remove_file(f"claim-{token}-{worker}")

    def _take_back(self, listing: Listing) -> None:
        """Run here, with room, what no worker has taken; remove the tasks of no trial."""
        for token in listing.tasks - set(self._trials):
            self._shared.remove_file(f"task-{token}")
        for token, trial in list(self._trials.items()):
            if super().running >= super().workers:
                return
            # Removed by this process: no worker has it, nor will.
            if not trial.is_written or self._shared.remove_file(f"task-{token}"):
                del self._trials[token]
                super().submit_request(trial.task.request, trial.task.limit)

    def _restart(self, token: str, why: str = "") -> None:
        """Hand a trial out again; one that has met a fault too often fails with the reason."""
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
        here = replace(self._heartbeat.content, name="coordinator", threads=super().workers)
        numbers = [busy.number for busy in self._busy.values()]
        workers = [_worker_summary(here, numbers)]
        for worker, watch in sorted(self._joined.items()):
            trials = [trial for trial in self._trials.values() if trial.worker == worker]
            numbers = [trial.task.request.number for trial in trials]
            workers.append(_worker_summary(watch.beat, numbers))
        workers_seen = WorkersSeen(workers=workers)
        if workers == self._last_seen.workers:
            return ()
        self._last_seen = workers_seen
        return (workers_seen,)

    def close(self) -> None:
        super().close()
        if self._heartbeat is None:
            return
        self._heartbeat.close()
        listing = self._shared.listing()
        # Of a coordinator that has come after this one, nothing is removed.
        if listing is not None and listing.last_turn <= self._turn:
            self._shared.remove_all()


def _worker_summary(beat: Beat, numbers: list[int]) -> ClusterWorker:
    load = round(min(1.0, len(numbers) / max(1, beat.threads)), 2)
    return ClusterWorker(beat.name, beat.host, beat.threads, load, sorted(numbers), usable=True)
