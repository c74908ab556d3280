"""A worker of a run: takes trials from its folder, and coordinates it where nobody else does."""

import contextlib
import random
import time
from collections.abc import Callable
from dataclasses import replace

from core.awake_timer import AWAKE
from core.errors import UnusableError, write_error
from core.tuning.cluster.cluster_monitor import needed_by, version_difference
from core.tuning.cluster.executor import GONE_SECONDS
from core.tuning.cluster.shared_folder import (
    BEAT_SECONDS,
    MAX_BYTES,
    POLL_SECONDS,
    WORKER,
    Beat,
    Heartbeat,
    Listing,
    SharedFolder,
    SharedResult,
    SharedTask,
)
from core.tuning.events import RunStarted
from core.tuning.plan import Plan
from core.tuning.problem_setup import as_first_started, build_problem, check_same_data, read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.scoring import ScoringJob
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.trials.executors import ProcessExecutor
from core.wording import count_text

MAX_POLL_SECONDS = 0.5  # between two looks of a worker that has nothing to do


class SharedWorker:
    """A process that works for a run.

    Args:
        folder: the run's.
        threads: trials at a time.
        wait_seconds: the wait without trials.
        show: takes what this process does.
    """

    def __init__(
        self, folder: RunFolder, threads: int, wait_seconds: float, show: Callable[[str], None]
    ) -> None:
        self._folder, self._threads = folder, threads
        self._wait_seconds, self._show = wait_seconds, show
        self._shared = SharedFolder(folder.path)
        self._heartbeat: Heartbeat | None = None
        self._worker = ""  # its ID in the folder
        self._job: ScoringJob | None = None
        self._executor: ProcessExecutor | None = None
        self._tokens: dict[str, int] = {}  # {token of a claim: number of its trial}
        self._heard = AWAKE.seconds  # when a coordinator's last beat came
        self._next_check, self._poll_seconds = 0.0, POLL_SECONDS
        self.trial_count = 0  # whose results were given back

    def take_trials(self) -> Heartbeat | None:
        """Work until the trials have ended; the heartbeat where this is now the coordinator.

        Raises:
            UnusableError: the data cannot be read here or are others, packages differ, no
                coordinator came, or the folder cannot be written.
        """
        plan = self._folder.plan
        if STRATEGIES[plan.strategy].kind != "trials":
            fault = f"{plan.strategy} is one fit, which is made on one computer"
            raise UnusableError(fault, where=str(self._folder.path), cure="start no workers for it")
        try:
            return self._follow_run(plan)
        except OSError as error:
            raise write_error("the work", self._shared.path, error, "see who may write") from error
        finally:
            self._drop_trials()
            if self._heartbeat is not None:
                self._heartbeat.close()

    def _follow_run(self, plan: Plan) -> Heartbeat | None:
        while True:
            self._return_results()
            if self._heartbeat is not None:
                trials = list(self._tokens.values())
                self._heartbeat.content = replace(self._heartbeat.content, trials=trials)
            self._shared.check_folder()
            if (listing := self._shared.listing()) is None:  # a drive is away
                self._check_patience("the folder of this run cannot be read")
                continue
            is_member = self._worker in listing.worker
            if not is_member or not self._tokens.keys() <= listing.claim.keys():
                # Taken for dead, given to others, or the coordinator has closed the folder.
                self._drop_trials()
            beat = self._coordinator_beat(listing)
            if is_member and beat is not None:
                self._prepare_job(plan, beat)
                self._claim_tasks(listing, beat)
            elif not is_member or AWAKE.seconds > self._next_check:
                self._next_check = AWAKE.seconds + BEAT_SECONDS
                if self._folder.trials_ended:
                    return None
                if not is_member:
                    threads = 0 if self._job is None else self._threads
                    content = replace(Beat.of_this_process(), threads=threads)
                    self._heartbeat = self._shared.join_run(content)
                    self._worker = self._heartbeat.path.name.removeprefix(WORKER)
                elif (turn := self._take_over(listing)) is not None:
                    return turn

    def _coordinator_beat(self, listing: Listing) -> Beat | None:
        (watch,) = self._shared.watches([f"coordinator-{listing.last_turn}"]).values()
        if listing.last_turn:  # one that has only just come is waited for as well
            self._heard = max(self._heard, watch.changed)
        return watch.beat if watch.is_alive else None

    def _take_over(self, listing: Listing) -> Heartbeat | None:
        if AWAKE.seconds - self._heard > GONE_SECONDS and not self._folder.is_running:
            with contextlib.suppress(FileExistsError):  # another worker came first
                return self._shared.take_turn(listing.last_turn + 1, Beat.of_this_process())
        self._check_patience("the process that writes this run hands out no trials")
        self._show("no process coordinates this run; waiting")
        return None

    def _check_patience(self, fault: str) -> None:
        if AWAKE.seconds - self._heard > max(GONE_SECONDS, self._wait_seconds):
            cure = "wait until that ends, then continue it with tunescope resume"
            raise UnusableError(fault, where=str(self._folder.path), cure=cure)

    def _prepare_job(self, plan: Plan, beat: Beat) -> None:
        started = None if self._job else next(self._folder.read_events(), None)
        if not isinstance(started, RunStarted) or self._heartbeat is None:
            return  # of a run that has not begun
        content = self._heartbeat.content
        needed = needed_by(plan.model, started.dataset.task)
        versions = content.versions, beat.versions
        remark, is_usable = version_difference(content.name, *versions, needed, "the coordinator")
        if not is_usable:
            raise UnusableError(remark, cure="install the same versions on every computer")
        self._show("reading the data")
        dataset = read_data(plan.data)
        fault, cure = "the data are not those of the run", "give this computer the same file"
        check_same_data(dataset, started.dataset.fingerprint, fault, cure)
        self._job = as_first_started(build_problem(plan, dataset), started).scoring_job()
        self._heartbeat.content = replace(content, threads=self._threads)

    def _claim_tasks(self, listing: Listing, beat: Beat) -> None:
        if self._job is None:
            return
        if self._executor is None:
            self._executor = ProcessExecutor(self._job, self._threads)
        self._executor.limit = beat.limit
        # In any order, so that workers do not all try the same one.
        for token in random.sample(sorted(listing.task), len(listing.task)):
            if self._executor.free_slots and self._shared.claim_task(token, self._worker):
                name = f"claim-{token}-{self._worker}"
                try:
                    task = self._shared.read(name, SharedTask, MAX_BYTES)
                except (ValueError, RecursionError):  # no coordinator wrote it
                    self._shared.remove_file(name)
                    continue
                self._tokens[token] = task.request.number
                self._executor.submit_request(task.request, task.limit)
                self._poll_seconds = POLL_SECONDS

    def _return_results(self) -> None:
        if self._executor is None or not self._tokens:
            time.sleep(self._poll_seconds)
            self._poll_seconds = min(MAX_POLL_SECONDS, 1.5 * self._poll_seconds)
            return
        for result in self._executor.wait_for_results(MAX_POLL_SECONDS):
            token = next(t for t, number in self._tokens.items() if number == result.number)
            with contextlib.suppress(FileNotFoundError):  # the run has ended
                self._shared.write(f"result-{token}-{self._worker}", SharedResult.of(result))
                self.trial_count += 1
            del self._tokens[token]
            self._poll_seconds = POLL_SECONDS
        count = count_text(self.trial_count, "trial")
        self._show(f"{count} given back, at work on {len(self._tokens)}")

    def _drop_trials(self) -> None:
        if self._executor is not None:
            self._executor.close()
        self._executor, self._tokens = None, {}
