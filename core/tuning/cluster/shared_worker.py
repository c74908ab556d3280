"""A worker of a run: takes trials from its folder, and coordinates it where nobody else does."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable
from dataclasses import replace

from core.awake_timer import AWAKE
from core.errors import UnusableError, write_error
from core.tuning.cluster.cluster_monitor import installed_versions, needed_by, version_difference
from core.tuning.cluster.executor import GONE_SECONDS
from core.tuning.cluster.shared_folder import (
    BEAT_SECONDS,
    POLL_SECONDS,
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
from core.tuning.runs.run_folder import WORKER, RunFolder
from core.tuning.scores.scoring import ScoringJob
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.trials.executors import ProcessExecutor
from core.wording import count_text

MAX_POLL_SECONDS = 0.5  # between two looks of a worker that has nothing to do


class SharedWorker:
    """One membership of a run.

    Args:
        folder: of the run.
        threads: how many trials run here at a time.
        wait_seconds: how long a run without a coordinator is waited for.
        show: is given what this process does now.
    """

    def __init__(
        self, folder: RunFolder, threads: int, wait_seconds: float, show: Callable[[str], None]
    ) -> None:
        self._folder, self._threads = folder, threads
        self._wait_seconds, self._show = wait_seconds, show
        self._shared = SharedFolder(folder.path)
        self._heartbeat: Heartbeat | None = None
        self._job: ScoringJob | None = None
        self._executor: ProcessExecutor | None = None
        self._worker = ""  # its ID in the folder
        self._tokens: dict[str, int] = {}  # {token of a claim: number of its trial}
        self._heard = AWAKE.seconds  # when a coordinator's last beat came
        self._next_check, self._poll_seconds = 0.0, POLL_SECONDS
        self.trial_count = 0  # of trials whose results were given back

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
            listing = self._shared.listing()
            if listing is None:  # a drive is away
                self._return_results()
                continue
            if not self._tokens.keys() <= listing.claims.keys():
                self._drop_trials()  # they were given to others, or the run goes on elsewhere
            if self._worker not in listing.workers:
                # Not yet a member, or taken for dead, or the coordinator has closed the folder.
                self._drop_trials()
                if self._folder.trials_ended:
                    return None
                self._become_member()
            elif (beat := self._coordinator_beat(listing)) is not None:
                self._prepare_job(plan, beat)
                self._claim_tasks(listing, beat)
            elif AWAKE.seconds > self._next_check:
                self._next_check = AWAKE.seconds + BEAT_SECONDS
                if self._folder.trials_ended:
                    return None
                if (turn := self._take_over(listing)) is not None:
                    return turn
            self._return_results()

    def _become_member(self) -> None:
        threads = 0 if self._job is None else self._threads
        self._heartbeat = self._shared.join_run(replace(Beat.of_this_process(), threads=threads))
        self._worker = self._heartbeat.path.name.removeprefix(WORKER)

    def _coordinator_beat(self, listing: Listing) -> Beat | None:
        """The last beat of a living coordinator."""
        names = [f"coordinator-{listing.last_turn}"] if listing.last_turn else []
        for watch in self._shared.watches(names).values():
            if watch.is_alive:
                self._heard = watch.changed
                return watch.beat
            if not watch.is_gone:  # it has only just come
                self._heard = max(self._heard, watch.changed)
        return None

    def _take_over(self, listing: Listing) -> Heartbeat | None:
        """The turn of a coordinator, once none was heard of for long and the run is not locked."""
        silent_seconds = AWAKE.seconds - self._heard
        if silent_seconds > GONE_SECONDS and not self._folder.is_running:
            with contextlib.suppress(FileExistsError):  # another worker came first
                content = Beat.of_this_process(with_versions=True)
                return self._shared.take_turn(listing.last_turn + 1, content)
        if silent_seconds > max(GONE_SECONDS, self._wait_seconds):
            raise UnusableError(
                "the process that writes this run hands out no trials",
                where=str(self._folder.path),
                cure="wait until it ends, then continue it with tunescope resume",
            )
        self._show("waiting for the process that coordinates the run")
        return None

    def _prepare_job(self, plan: Plan, beat: Beat) -> None:
        """Read the data, which have to be those of the run, and prepare the folds."""
        if self._job is not None or self._heartbeat is None:
            return
        started = next(self._folder.read_events())
        assert isinstance(started, RunStarted)  # recorded before anything is handed out
        needed = needed_by(plan.model, started.dataset.task)
        name, versions = self._heartbeat.content.name, installed_versions()
        remark, is_usable = version_difference(
            name, versions, beat.versions, needed, "the coordinator"
        )
        if not is_usable:
            raise UnusableError(remark, cure="install the same versions on every computer")
        self._show("reading the data")
        dataset = read_data(plan.data)
        fault = "the data are not those of the run"
        cure = "give this computer the same file at this path"
        check_same_data(dataset, started.dataset.fingerprint, fault, cure)
        self._job = as_first_started(build_problem(plan, dataset), started).scoring_job()
        self._heartbeat.content = replace(self._heartbeat.content, threads=self._threads)

    def _claim_tasks(self, listing: Listing, beat: Beat) -> None:
        if self._executor is None:
            assert self._job is not None
            self._executor = ProcessExecutor(self._job, self._threads)
        self._executor.limit = beat.limit
        # In any order, so that workers do not all try the same one.
        for token in random.sample(sorted(listing.tasks), len(listing.tasks)):
            if not self._executor.free_slots:
                break
            if not self._shared.claim_task(token, self._worker):
                continue
            name = f"claim-{token}-{self._worker}"
            try:
                task = self._shared.read(name, SharedTask)
            except (OSError, ValueError, RecursionError):
                self._shared.remove_file(name)  # the coordinator hands it out again
                continue
            self._tokens[token] = task.request.number
            self._executor.submit_request(task.request, task.limit)
            self._poll_seconds = POLL_SECONDS

    def _return_results(self) -> None:
        """Wait a moment for results, and write them for the coordinator."""
        if self._executor is None or not self._tokens:
            time.sleep(self._poll_seconds)
            self._poll_seconds = min(MAX_POLL_SECONDS, 1.5 * self._poll_seconds)
            return
        for result in self._executor.wait_for_results(MAX_POLL_SECONDS):
            token = next(t for t, number in self._tokens.items() if number == result.number)
            content = SharedResult.from_result(result)
            self._shared.write(f"result-{token}-{self._worker}", content)
            del self._tokens[token]
            self.trial_count += 1
            self._poll_seconds = POLL_SECONDS
        now = f" · at work on {count_text(len(self._tokens), 'trial')}" if self._tokens else ""
        self._show(f"{count_text(self.trial_count, 'trial')} given back{now}")

    def _drop_trials(self) -> None:
        if self._executor is not None:
            self._executor.close()
        self._executor, self._tokens = None, {}
