"""The workers of a cluster now: their versions, threads, load, and the trials each runs.

The function that asks versions is sent with its code, for workers without the program.
"""

import queue
import threading
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from core.awake_timer import AWAKE
from core.errors import UnusableError
from core.estimators.multi_model import SEVERAL, selectable_models
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES
from core.estimators.registry import MODELS
from core.tuning.events import ClusterWorker, Event, RemarkMade, WorkersSeen

# Scores depend on these: where they differ, the same setting may have another score.
DECISIVE = ("tunescope", "scikit-learn", "numpy", "scipy")
SECONDARY = ("pandas", "numba")  # these only make it slower or faster


def installed_versions() -> dict[str, str]:
    """{package: version} of this process, with Python's; "" for what is missing.

    "fault" says why the program cannot be imported, where it cannot.
    """
    import importlib.metadata
    import platform

    versions = {"python": ".".join(platform.python_version_tuple()[:2])}
    packages = ("tunescope", "scikit-learn", "numpy", "scipy", "pandas", "numba")
    for package in (*packages, "lightgbm", "xgboost", "catboost", "jax"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = ""
    try:
        import core.tuning.cluster.on_worker  # noqa: F401
    except Exception as error:
        versions["fault"] = f"{type(error).__name__}: {error}"
    return versions


def sent_whole() -> Callable[[], dict[str, str]]:
    """`installed_versions` as a function of no module, pickled with its code and not by name."""
    # Pickled by value: an old worker has no such module, or another version of it.
    alone = types.FunctionType(installed_versions.__code__, {"__builtins__": __builtins__})
    alone.__module__ = "__main__"
    return alone


def needed_by(model: str, task: str) -> tuple[str, ...]:
    """The packages of optional parts that every worker needs for a model."""
    names = selectable_models(MODELS, task) if model == SEVERAL else (model,)
    extras = sorted({MODELS[name].extra for name in names} - {""})
    return tuple(module for extra in extras for module in OPTIONAL_DEPENDENCIES[extra].modules)


def version_difference(
    name: str,
    worker_versions: Mapping[str, str],
    local_versions: Mapping[str, str],
    needed: Sequence[str] = (),
    local: str = "this computer",
) -> tuple[str, bool]:
    """How a worker's versions differ, a sentence or "", and whether it may be used."""
    if worker_versions.get("fault"):
        return f"Worker {name} cannot run Tunescope ({worker_versions['fault']}).", False
    # Scores depend on Python and the decisive packages, so that another version of them excludes a
    # worker; secondary ones only make it slower or faster.
    for package in ("python", *DECISIVE, *needed, *SECONDARY):
        worker_version = worker_versions.get(package, "")
        local_version = local_versions.get(package, "")
        if worker_version != local_version:
            has = f"has {package} {worker_version}" if worker_version else f"has no {package}"
            usable = package in SECONDARY
            return f"Worker {name} {has}, and {local} {local_version or 'none'}.", usable
    return "", True


def raise_no_worker(sentences: list[str]) -> None:
    """Raise UnusableError: no worker can be used, with the first reason."""
    more = f" (and {len(sentences) - 1} more)" if len(sentences) > 1 else ""
    raise UnusableError(
        f"no worker of the cluster can be used: {sentences[0].rstrip('.')}{more}",
        where="option cluster",
        cure="install the same versions on every worker, as the page “Many machines” of the help"
        " says",
    )


class BackgroundCall:
    """A call in a thread of its own, so that a silent worker blocks nothing."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def run_call() -> None:
            try:
                self._answers.put(ask())
            except Exception as error:
                self._answers.put(error)

        # A daemon: the program's end does not wait for who never answers.
        threading.Thread(target=run_call, daemon=True).start()

    def answer_within(self, seconds: float) -> Any:
        """The result or the exception raised; None where there is none yet."""
        try:
            return self._answers.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return None


ANSWER_SECONDS = 5.0  # of the scheduler or a worker
SILENT_SECONDS = 0.5  # that a call waits for the answer to an earlier one
REFRESH_SECONDS = 1.0  # between two refreshes
CALM_SHARE = 0.8  # of these, after which a calm moment is taken for the next refresh
VERSION_SECONDS = 0.3  # that a refresh waits for the versions of new workers


class ClusterMonitor:
    """Watches the workers of a cluster, refreshing at most once a second.

    Attributes:
        trials: {key of a future: number of its trial} of those running.
        prefix: the start of the keys of this run's futures.
        allowed: the addresses of workers that may run trials; None for all.
        usable: the addresses of those that are connected now.
        remarks: sentences about workers that were not reported yet.
        question: addresses of workers whose versions were asked for, and the open call.
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
        self.question: tuple[list[str], BackgroundCall] | None = None
        self._workers: dict[str, ClusterWorker] = {}
        self._processing: dict[str, tuple[str, ...]] = {}
        self._numbers: dict[str, list[int]] = {}  # of the trials that each was running
        self._refresh_time, self._last_seen = -REFRESH_SECONDS, WorkersSeen()
        self._unanswered: BackgroundCall | None = None
        self._silent_since = 0.0

    def ask_scheduler(self, ask: Callable[[], Any], seconds: float = ANSWER_SECONDS) -> Any:
        """The answer, never None; raises TimeoutError where this or an earlier one has not come."""
        if self._unanswered is None or self._unanswered.answer_within(SILENT_SECONDS) is not None:
            self._unanswered, self._silent_since = BackgroundCall(ask), AWAKE.seconds
            answer = self._unanswered.answer_within(seconds)
            if isinstance(answer, Exception):
                self._unanswered = None
                raise answer
            if answer is not None:
                self._unanswered = None
                return answer
        raise TimeoutError("the scheduler does not answer")

    @property
    def silent_seconds(self) -> float:
        """For how long the scheduler has not answered; 0 where it has."""
        if self._unanswered is None or self._unanswered.answer_within(0.0) is not None:
            self._unanswered = None
            return 0.0
        return AWAKE.seconds - self._silent_since

    def require_packages(self, packages: Sequence[str]) -> None:
        """Use no worker that lacks these packages of optional parts."""
        # Those that were checked for another model are checked anew.
        if tuple(packages) != self._needed:
            self._needed = tuple(packages)
            self._checked, self.remarks = {}, []
            self._check_workers()

    @property
    def threads(self) -> int:
        self._refresh_workers()
        return sum(self._workers[address].threads for address in self.usable)

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
        keys = self._processing.get(address, ())
        other_keys = [key for key in keys if not (self.prefix and key.startswith(self.prefix))]
        load = round(min(1.0, (len(numbers) + len(other_keys)) / worker.threads), 2)
        usable = self._checked.get(address, False)
        return replace(worker, load=load, trials=sorted(numbers), usable=usable)

    def _refresh_workers(self) -> None:
        seconds = time.monotonic() - self._refresh_time
        if seconds < REFRESH_SECONDS or self._client.status != "running":
            return
        self._refresh_time = time.monotonic()
        try:
            self._workers = self.ask_scheduler(partial(_known_workers, self._client))
            processing = self.ask_scheduler(self._client.processing).items()
            self._processing = {address: tuple(map(str, keys)) for address, keys in processing}
        except (OSError, TimeoutError):
            return  # the next refresh may succeed
        self._numbers = {
            address: [self.trials[key] for key in keys[: worker.threads] if key in self.trials]
            for address, keys in self._processing.items()
            if (worker := self._workers.get(address))
        }
        self._ask_versions()
        self._check_workers()

    def _ask_versions(self) -> None:
        new = sorted(set(self._workers) - set(self._versions_by_address))
        # One question at a time: a silent worker holds up the newcomers, never the trials.
        if self.question is None and new:
            call = BackgroundCall(
                lambda: self._client.run(sent_whole(), workers=new, on_error="return")
            )
            self.question = new, call
        if self.question is None:
            return
        addresses, question = self.question
        if (answer := question.answer_within(VERSION_SECONDS)) is None:
            return
        self.question = None
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


def _known_workers(client: Any) -> dict[str, ClusterWorker]:
    try:
        # Newer versions tell of five workers only, unless all are asked for.
        scheduler = client.scheduler_info(n_workers=-1)
    except TypeError:  # earlier versions give all of them
        scheduler = client.scheduler_info()
    return {
        address: ClusterWorker(
            str(worker.get("name", address)),
            str(worker.get("host", "")),
            int(worker.get("nthreads", 1)),
        )
        for address, worker in scheduler.get("workers", {}).items()
    }
