"""The workers of a cluster as they are now: threads, load, and which trial each does."""

from __future__ import annotations

import time
from typing import Any

from core.tuning.cluster.versions import difference, sent_whole, versions_here
from core.tuning.events import Event, Noticed, WorkersSeen

BETWEEN = 1.0  # seconds between two looks


class Watching:
    """Looks at a cluster, at most once a second.

    Attributes:
        trials: {key of a future: number of its trial} of what is under way.
        allowed: the addresses of workers that may run trials; None for all.
        said: sentences about workers that have not been given out yet.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.trials: dict[str, int] = {}
        self.allowed: list[str] | None = None
        self.said: list[str] = []
        self._checked: dict[str, bool] = {}  # {address: whether it may be used}
        self._workers: dict[str, dict[str, Any]] = {}
        self._processing: dict[str, tuple[str, ...]] = {}
        self._looked, self._shown = -BETWEEN, WorkersSeen()

    @property
    def threads(self) -> int:
        """How many trials the workers can run at the same time."""
        self._look()
        return sum(
            int(worker.get("nthreads", 1))
            for address, worker in self._workers.items()
            if self._checked.get(address)
        )

    def processing(self) -> set[str]:
        """The keys of futures that a worker is at, as of now."""
        self._looked = -BETWEEN
        self._look()
        return {key for keys in self._processing.values() for key in keys}

    def news(self) -> list[Event]:
        """What the workers do, where that changed, and what was found of new ones."""
        self._look()
        said, self.said = [Noticed(sentence=one) for one in self.said], []
        seen = WorkersSeen(
            workers=[self._plain(address) for address in sorted(self._workers, key=self._name)]
        )
        if seen.workers == self._shown.workers:
            return list(said)
        self._shown = seen
        return [*said, seen]

    def _name(self, address: str) -> str:
        return str(self._workers[address].get("name", address))

    def _plain(self, address: str) -> dict[str, Any]:
        worker = self._workers[address]
        threads, keys = int(worker.get("nthreads", 1)), self._processing.get(address, ())
        numbers = [self.trials.get(key) for key in keys]
        return {
            "name": self._name(address),
            "host": str(worker.get("host", "")),
            "threads": threads,
            "load": round(min(1.0, len(keys) / threads), 2),
            "trials": sorted(number for number in numbers if number is not None),
            "usable": self._checked.get(address, False),
        }

    def _look(self) -> None:
        if time.monotonic() - self._looked < BETWEEN or self._client.status != "running":
            return
        self._looked = time.monotonic()
        try:
            self._workers = dict(_info(self._client).get("workers", {}))
            self._processing = {
                address: tuple(map(str, keys))
                for address, keys in self._client.processing().items()
            }
            self._check(sorted(set(self._workers) - set(self._checked)))
        except (OSError, TimeoutError):
            return  # the next look will tell

    def _check(self, addresses: list[str]) -> None:
        """See what workers that are new have installed; those that differ get no trial."""
        if not addresses:
            return
        here = versions_here()
        there = self._client.run(sent_whole(), workers=addresses, on_error="return")
        for address in addresses:
            found = there.get(address)
            if not isinstance(found, dict):
                found = {"fault": f"{type(found).__name__}: {found}" if found else "no answer"}
            sentence, usable = difference(self._name(address), found, here)
            self._checked[address] = usable
            if sentence:
                self.said.append(sentence)
        good = [address for address, usable in self._checked.items() if usable]
        self.allowed = good if len(good) < len(self._checked) else None


def _info(client: Any) -> dict[str, Any]:
    try:
        return dict(client.scheduler_info(n_workers=-1))
    except TypeError:  # earlier versions give all of them
        return dict(client.scheduler_info())
