"""The workers of a cluster as they are now: threads, load, and which trial each does."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from core.tuning.cluster.asking import Question
from core.tuning.cluster.versions import difference, sent_whole, versions_here
from core.tuning.events import Event, Noticed, WorkersSeen

BETWEEN = 1.0  # seconds between two looks
CALM = 0.8  # of these: after which time a calm moment is taken for the next look
AT_ONCE = 0.3  # seconds that a look waits for what new workers have installed; else the next tells


class Watching:
    """Looks at a cluster, at most once a second.

    Attributes:
        trials: {key of a future: number of its trial} of what is under way.
        prefix: what the keys of this run begin with, and no other's.
        allowed: the addresses of workers that may run trials; None for all.
        usable: the addresses of those of them that are there now.
        said: sentences about workers that have not been given out yet.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self.trials: dict[str, int] = {}
        self.prefix = ""
        self.allowed: list[str] | None = None
        self.said: list[str] = []
        self.usable: frozenset[str] = frozenset()
        self._needed: tuple[str, ...] = ()
        self._found: dict[str, Mapping[str, str]] = {}  # {address: what is installed there}
        self._checked: dict[str, bool] = {}  # {address: whether it may be used}
        self._question: tuple[list[str], Question] | None = None
        self._workers: dict[str, dict[str, Any]] = {}
        self._processing: dict[str, tuple[str, ...]] = {}
        self._numbers: dict[str, list[int]] = {}  # of the trials that each was at, at the last look
        self._looked, self._shown = -BETWEEN, WorkersSeen()

    def need(self, packages: Sequence[str]) -> None:
        """Use no worker that lacks packages which this run needs besides those of every run."""
        if tuple(packages) != self._needed:
            self._needed = tuple(packages)
            self._checked, self.said = {}, []
            self._judge()

    @property
    def threads(self) -> int:
        """How many trials the workers can run at the same time."""
        self._look()
        return sum(_threads(self._workers[address]) for address in self.usable)

    @property
    def asks(self) -> bool:
        """Whether a worker has not told yet what it has installed."""
        return self._question is not None

    def processing(self) -> dict[str, str]:
        """{key of a future: address of the worker that has it}, as it is now."""
        self.look_again()
        return {key: address for address, keys in self._processing.items() for key in keys}

    def look_in_calm(self) -> None:
        """See how the workers are while every one has its trial, a little before others ask.

        Whoever asks when a trial has just ended sees its worker idle.
        """
        if time.monotonic() - self._looked >= CALM * BETWEEN:
            self.look_again()

    def look_again(self) -> None:
        """See how the workers are now, however short the last look is ago."""
        self._looked = -BETWEEN
        self._look()

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
        threads, numbers = _threads(worker), self._numbers.get(address, [])
        others = self._processing.get(address, ())
        if self.prefix:
            others = tuple(key for key in others if not key.startswith(self.prefix))
        at_work = len(numbers) + len(others)
        return {
            "name": self._name(address),
            "host": str(worker.get("host", "")),
            "threads": threads,
            "load": round(min(1.0, at_work / threads), 2),
            "trials": sorted(numbers),
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
        except (OSError, TimeoutError):
            return  # the next look will tell
        self._numbers = {
            address: self._begun(keys, _threads(self._workers.get(address, {})))
            for address, keys in self._processing.items()
        }
        self._ask()
        self._judge()

    def _begun(self, keys: Sequence[str], threads: int) -> list[int]:
        """The numbers of this run's trials among the first keys; later ones wait for a thread."""
        return [self.trials[key] for key in keys[:threads] if key in self.trials]

    def _ask(self) -> None:
        """Ask workers that are new what they have installed, and take what was answered."""
        new = sorted(set(self._workers) - set(self._found))
        if self._question is None and new:
            self._question = (
                new,
                Question(lambda: self._client.run(sent_whole(), workers=new, on_error="return")),
            )
        if self._question is None:
            return
        addresses, question = self._question
        if (answer := question.answer(AT_ONCE)) is None:
            return
        self._question = None
        for address in addresses:
            found = answer.get(address) if isinstance(answer, dict) else answer
            if isinstance(found, dict):
                self._found[address] = found
            elif not isinstance(found, OSError | TimeoutError):  # those have gone, or are slow
                why = f"{type(found).__name__}: {found}" if found else "no answer"
                self._found[address] = {"fault": why}

    def _judge(self) -> None:
        """Which workers may be used; those that differ get no trial."""
        here = versions_here()
        for address in sorted(set(self._found) & set(self._workers) - set(self._checked)):
            sentence, usable = difference(
                self._name(address), self._found[address], here, self._needed
            )
            self._checked[address] = usable
            if sentence:
                self.said.append(sentence)
        there = [address for address in self._workers if self._checked.get(address)]
        self.usable = frozenset(there)
        self.allowed = None if len(there) == len(self._workers) else sorted(there)


def _threads(worker: Mapping[str, Any]) -> int:
    return int(worker.get("nthreads", 1))


def _info(client: Any) -> dict[str, Any]:
    try:
        return dict(client.scheduler_info(n_workers=-1))
    except TypeError:  # earlier versions give all of them
        return dict(client.scheduler_info())
