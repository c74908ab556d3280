"""The workers of a cluster as they are now: threads, load, and which trial each does."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from core.tuning.cluster.background_call import BackgroundCall
from core.tuning.cluster.worker_versions import installed_versions, sent_whole, version_difference
from core.tuning.events import Event, RemarkMade, WorkersSeen
from core.tuning.payloads import ClusterWorker

BETWEEN = 1.0  # seconds between two looks
CALM = 0.8  # of these: after which time a calm moment is taken for the next look
AT_ONCE = 0.3  # seconds that a look waits for what new workers have installed; else the next tells


class _WorkerInfo(NamedTuple):
    """What the scheduler says of a worker."""

    name: str
    host: str
    threads: int


class ClusterMonitor:
    """Looks at a cluster, at most once a second.

    Attributes:
        trials: {key of a future: number of its trial} of what is under way.
        prefix: what the keys of this run begin with, and no other's.
        allowed: the addresses of workers that may run trials; None for all.
        usable: the addresses of those of them that are there now.
        remarks: sentences about workers that have not been given out yet.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.trials: dict[str, int] = {}
        self.prefix = ""
        self.allowed: list[str] | None = None
        self.remarks: list[str] = []
        self.usable: frozenset[str] = frozenset()
        self._needed: tuple[str, ...] = ()
        self._versions_by_address: dict[str, Mapping[str, str]] = {}  # what is installed there
        self._checked: dict[str, bool] = {}  # {address: whether it may be used}
        self._question: tuple[list[str], BackgroundCall] | None = None
        self._workers: dict[str, _WorkerInfo] = {}
        self._processing: dict[str, tuple[str, ...]] = {}
        self._numbers: dict[str, list[int]] = {}  # of the trials that each was at, at the last look
        self._looked, self._shown = -BETWEEN, WorkersSeen()

    def require_packages(self, packages: Sequence[str]) -> None:
        """Use no worker that lacks packages which this run needs besides those of every run."""
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
        """Whether a worker has not told yet what it has installed."""
        return self._question is not None

    def processing(self) -> dict[str, str]:
        """{key of a future: address of the worker that has it}, as it is now."""
        self.refresh_now()
        return {key: address for address, keys in self._processing.items() for key in keys}

    def refresh_when_calm(self) -> None:
        """See how the workers are while every one has its trial, a little before others ask.

        Whoever asks when a trial has just ended sees its worker idle.
        """
        if time.monotonic() - self._looked >= CALM * BETWEEN:
            self.refresh_now()

    def refresh_now(self) -> None:
        """See how the workers are now, however short the last look is ago."""
        self._looked = -BETWEEN
        self._refresh_workers()

    def worker_updates(self) -> list[Event]:
        """What the workers do, where that changed, and what was found of new ones."""
        self._refresh_workers()
        remarks, self.remarks = [RemarkMade(sentence=sentence) for sentence in self.remarks], []
        addresses = sorted(self._workers, key=lambda address: self._workers[address].name)
        workers_seen = WorkersSeen(workers=[self._worker_summary(address) for address in addresses])
        if workers_seen.workers == self._shown.workers:
            return list(remarks)
        self._shown = workers_seen
        return [*remarks, workers_seen]

    def _worker_summary(self, address: str) -> ClusterWorker:
        worker = self._workers[address]
        numbers = self._numbers.get(address, [])
        other_keys = self._processing.get(address, ())
        if self.prefix:
            other_keys = tuple(key for key in other_keys if not key.startswith(self.prefix))
        at_work = len(numbers) + len(other_keys)
        return ClusterWorker(
            name=worker.name,
            host=worker.host,
            threads=worker.threads,
            load=round(min(1.0, at_work / worker.threads), 2),
            trials=sorted(numbers),
            usable=self._checked.get(address, False),
        )

    def _refresh_workers(self) -> None:
        if time.monotonic() - self._looked < BETWEEN or self._client.status != "running":
            return
        self._looked = time.monotonic()
        try:
            self._workers = _known_workers(self._client)
            self._processing = {
                address: tuple(map(str, keys))
                for address, keys in self._client.processing().items()
            }
        except (OSError, TimeoutError):
            return  # the next look will tell
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
        """Ask workers that are new what they have installed, and take what was answered."""
        new = sorted(set(self._workers) - set(self._versions_by_address))
        if self._question is None and new:
            self._question = (
                new,
                BackgroundCall(
                    lambda: self._client.run(sent_whole(), workers=new, on_error="return")
                ),
            )
        if self._question is None:
            return
        addresses, question = self._question
        if (answer := question.answer_within(AT_ONCE)) is None:
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
        """Which workers may be used; those that differ get no trial."""
        local_versions = installed_versions()
        for address in sorted(
            set(self._versions_by_address) & set(self._workers) - set(self._checked)
        ):
            sentence, usable = version_difference(
                self._workers[address].name,
                self._versions_by_address[address],
                local_versions,
                self._needed,
            )
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
