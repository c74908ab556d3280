"""The workers of a cluster now: threads, load, and the trials each runs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from core.tuning.cluster.background_call import BackgroundCall
from core.tuning.cluster.worker_versions import installed_versions, sent_whole, version_difference
from core.tuning.events import Event, RemarkMade, WorkersSeen
from core.tuning.payloads import ClusterWorker

REFRESH_SECONDS = 1.0  # between two refreshes
CALM_SHARE = 0.8  # of these, after which a calm moment is taken for the next refresh
VERSION_SECONDS = 0.3  # that a refresh waits for the versions of new workers


class _WorkerInfo(NamedTuple):
    name: str
    host: str
    threads: int


class ClusterMonitor:
    """Watches the workers of a cluster, refreshing at most once a second.

    Attributes:
        trials: {key of a future: number of its trial} of those running.
        prefix: the start of the keys of this run's futures.
        allowed: the addresses of workers that may run trials; None for all.
        usable: the addresses of those that are connected now.
        remarks: sentences about workers that were not reported yet.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.trials: dict[str, int] = {}
        self.prefix = ""
        self.allowed: list[str] | None = None
        self.remarks: list[str] = []
        self.usable: frozenset[str] = frozenset()
        self._needed: tuple[str, ...] = ()
        self._versions_by_address: dict[str, Mapping[str, str]] = {}
        self._checked: dict[str, bool] = {}  # {address: whether it may be used}
        self._question: tuple[list[str], BackgroundCall] | None = None
        self._workers: dict[str, _WorkerInfo] = {}
        self._processing: dict[str, tuple[str, ...]] = {}
        self._numbers: dict[str, list[int]] = {}  # of the trials that each was running
        self._refresh_time, self._last_seen = -REFRESH_SECONDS, WorkersSeen()

    def require_packages(self, packages: Sequence[str]) -> None:
        """Use no worker that lacks these packages of optional parts."""
        if tuple(packages) != self._needed:
            self._needed = tuple(packages)
            self._checked, self.remarks = {}, []
            self._check_workers()

    @property
    def threads(self) -> int:
        """How many trials the workers can run at the same time."""
        self._refresh_workers()
        return sum(self._workers[address].threads for address in self.usable)

    @property
    def has_open_question(self) -> bool:
        """Whether the versions of a worker are still unknown."""
        return self._question is not None

    def processing(self) -> dict[str, str]:
        """{key of a future: address of its worker} now."""
        self.refresh_now()
        return {key: address for address, keys in self._processing.items() for key in keys}

    def refresh_when_calm(self) -> None:
        """Refresh a little early, while every worker has its trial: later, one looks idle."""
        if time.monotonic() - self._refresh_time >= CALM_SHARE * REFRESH_SECONDS:
            self.refresh_now()

    def refresh_now(self) -> None:
        """Refresh, however recent the last refresh is."""
        self._refresh_time = -REFRESH_SECONDS
        self._refresh_workers()

    def worker_updates(self) -> list[Event]:
        """The state of the workers, where it changed, and remarks about new ones."""
        self._refresh_workers()
        remarks, self.remarks = [RemarkMade(sentence=sentence) for sentence in self.remarks], []
        addresses = sorted(self._workers, key=lambda address: self._workers[address].name)
        workers_seen = WorkersSeen(workers=[self._worker_summary(address) for address in addresses])
        if workers_seen.workers == self._last_seen.workers:
            return list(remarks)
        self._last_seen = workers_seen
        return [*remarks, workers_seen]

    def _worker_summary(self, address: str) -> ClusterWorker:
        worker = self._workers[address]
        numbers = self._numbers.get(address, [])
        other_keys = self._processing.get(address, ())
        if self.prefix:
            other_keys = tuple(key for key in other_keys if not key.startswith(self.prefix))
        trial_count = len(numbers) + len(other_keys)
        return ClusterWorker(
            name=worker.name,
            host=worker.host,
            threads=worker.threads,
            load=round(min(1.0, trial_count / worker.threads), 2),
            trials=sorted(numbers),
            usable=self._checked.get(address, False),
        )

    def _refresh_workers(self) -> None:
        seconds = time.monotonic() - self._refresh_time
        if seconds < REFRESH_SECONDS or self._client.status != "running":
            return
        self._refresh_time = time.monotonic()
        try:
            self._workers = _known_workers(self._client)
            processing = self._client.processing().items()
            self._processing = {address: tuple(map(str, keys)) for address, keys in processing}
        except (OSError, TimeoutError):
            return  # the next refresh may succeed
        self._numbers = {
            address: self._running_numbers(keys, self._workers[address].threads)
            for address, keys in self._processing.items()
            if address in self._workers
        }
        self._ask_versions()
        self._check_workers()

    def _running_numbers(self, keys: Sequence[str], threads: int) -> list[int]:
        """The numbers of this run's trials among the first keys; later ones wait for a thread."""
        return [self.trials[key] for key in keys[:threads] if key in self.trials]

    def _ask_versions(self) -> None:
        """Ask new workers for their versions, and take the answers."""
        new = sorted(set(self._workers) - set(self._versions_by_address))
        if self._question is None and new:
            call = BackgroundCall(
                lambda: self._client.run(sent_whole(), workers=new, on_error="return")
            )
            self._question = new, call
        if self._question is None:
            return
        addresses, question = self._question
        if (answer := question.answer_within(VERSION_SECONDS)) is None:
            return
        self._question = None
        for address in addresses:
            reply = answer.get(address) if isinstance(answer, dict) else answer
            if isinstance(reply, dict):
                self._versions_by_address[address] = reply
            elif not isinstance(reply, OSError | TimeoutError):  # those have gone, or are slow
                why = f"{type(reply).__name__}: {reply}" if reply else "no answer"
                self._versions_by_address[address] = {"fault": why}

    def _check_workers(self) -> None:
        local_versions = installed_versions()
        new_addresses = set(self._versions_by_address) & set(self._workers) - set(self._checked)
        for address in sorted(new_addresses):
            name, versions = self._workers[address].name, self._versions_by_address[address]
            sentence, usable = version_difference(name, versions, local_versions, self._needed)
            self._checked[address] = usable
            if sentence:
                self.remarks.append(sentence)
        usable_workers = [address for address in self._workers if self._checked.get(address)]
        self.usable = frozenset(usable_workers)
        self.allowed = None if len(usable_workers) == len(self._workers) else sorted(usable_workers)


def _known_workers(client: Any) -> dict[str, _WorkerInfo]:
    try:
        scheduler = client.scheduler_info(n_workers=-1)
    except TypeError:  # earlier versions give all of them
        scheduler = client.scheduler_info()
    return {
        address: _WorkerInfo(
            str(worker.get("name", address)),
            str(worker.get("host", "")),
            int(worker.get("nthreads", 1)),
        )
        for address, worker in scheduler.get("workers", {}).items()
    }
