"""The folder in which processes of any machines share the trials of a run.

| file in RUN/work | who writes it | content |
| --- | --- | --- |
| coordinator-TURN | the coordinator of this turn, who alone could make it | `Beat` |
| worker-ID | a worker, until it leaves | `Beat` |
| task-TOKEN | the coordinator | `SharedTask` |
| claim-TOKEN-ID | the task, renamed by the worker that takes it | |
| result-TOKEN-ID | this worker | `SharedResult` |

All is JSON. Renames, removals and exclusive creations succeed for one process alone, unlike locks
also on network drives. These try again where an answer was lost, which fails: then what is there
counts. Beats are counted: clocks need not agree.
"""

import contextlib
import itertools
import os
import platform
import re
import secrets
import stat
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from core.awake_timer import AWAKE
from core.datasets.memory_limit import max_data_bytes
from core.errors import UnusableError
from core.ordinary_files import read_ordinary
from core.tuning.cluster.cluster_monitor import installed_versions
from core.tuning.cluster.executor import GONE_SECONDS
from core.tuning.event_lines import from_json, to_json
from core.tuning.events import ClusterWorker
from core.tuning.scores.scoring import TrialRequest, TrialResult

BEAT_SECONDS = 1.0  # between two beats, and two looks at those of others
LOOK_SECONDS = 2.5  # in which a process that lives has given two beats
POLL_SECONDS = 0.05  # between two looks for what others have written
MAX_BYTES = 1 << 20  # of a beat or a task
MAX_FILES = 20_000  # of the folder, that are looked at
WORK, WORKER, DRAFT = "work", "worker-", ".draft-"
COORDINATOR = "coordinator"
_NAME = re.compile(r"(coordinator|worker|task|claim|result)-([\w.]{1,40})(?:-(\w{1,40}))?")
_NUMBERS = re.compile(r"[<|][biuf][1248]")  # the types of arrays that are read
_NEW = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
Content = TypeVar("Content")


@dataclass(frozen=True)
class Beat:
    """What a process tells of itself while it lives."""

    count: int = 0  # of its beats so far
    name: str = ""
    host: str = ""  # its computer
    threads: int = 0  # how many trials it runs at a time; 0 until it has read the data
    limit: float | None = None  # of the coordinator: seconds that a trial may take
    versions: dict[str, str] = field(default_factory=dict)
    trials: list[int] = field(default_factory=list)  # that it runs now

    @classmethod
    def of_this_process(cls) -> "Beat":
        return cls(0, f"process {os.getpid()}", platform.node(), versions=installed_versions())

    def summary(self, name: str = "", is_alive: bool = True) -> ClusterWorker:
        trials, threads = sorted(self.trials), self.threads
        load = round(min(1.0, len(trials) / max(1, threads)), 2)
        return ClusterWorker(name or self.name, self.host, threads, load, trials, is_alive)


@dataclass(frozen=True)
class SharedTask:
    """A trial that is handed out, with the limit of its own."""

    request: TrialRequest
    limit: float | None = None


@dataclass(frozen=True)
class SharedResult:
    """The result of a trial without its fitted model, and its display event as JSON or ""."""

    result: TrialResult
    event: str = ""

    @classmethod
    def of(cls, result: TrialResult) -> "SharedResult":
        event = "" if result.display_event is None else to_json(result.display_event)
        return cls(replace(result, fitted=None, display_event=None), event)

    def to_result(self) -> TrialResult:
        event = from_json(self.event) if self.event else None
        return replace(self.result, fitted=None, display_event=event)


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return value.item()


def _array(_kind: type, plain: Any) -> np.ndarray:
    kind, shape, content = msgspec.convert(plain, tuple[str, tuple[int, ...], bytes])
    if not _NUMBERS.fullmatch(kind):
        raise ValueError("an array of no numbers")
    return np.frombuffer(content, kind).reshape(shape).copy()


class Heartbeat:
    """Counts a file up every second until it is removed; `content` may be replaced."""

    def __init__(self, path: Path, content: Beat) -> None:
        self.path, self.content, self._ended = path, content, threading.Event()
        threading.Thread(target=self._beat_until_removed, name="heartbeat", daemon=True).start()

    def _beat_until_removed(self) -> None:
        for count in itertools.count(1):
            try:
                with self.path.open("r+b") as file:  # never made again
                    file.write(msgspec.json.encode(replace(self.content, count=count)))
                    file.truncate()
            except FileNotFoundError:
                return
            except OSError:  # a drive that is away may come back
                pass
            if self._ended.wait(BEAT_SECONDS):
                return

    def close(self) -> None:
        """End it and remove the file."""
        self._ended.set()
        with contextlib.suppress(OSError):
            self.path.unlink()


@dataclass
class Watch:
    """Another process as its beats show it; alive only once they were seen to change."""

    beat: Beat = field(default_factory=Beat)
    changed: float = field(default_factory=lambda: AWAKE.seconds)
    has_changed: bool = False

    def add_beat(self, beat: Beat) -> None:
        if self.beat.count not in (0, beat.count):
            self.changed, self.has_changed = AWAKE.seconds, True
        self.beat = beat

    @property
    def is_gone(self) -> bool:
        return AWAKE.seconds - self.changed > GONE_SECONDS

    @property
    def is_alive(self) -> bool:
        return self.has_changed and not self.is_gone


@dataclass
class Listing:
    """The files of each kind, {its turn, ID or token: the worker that has the token, or ""}."""

    coordinator: dict[str, str] = field(default_factory=dict)
    worker: dict[str, str] = field(default_factory=dict)
    task: dict[str, str] = field(default_factory=dict)
    claim: dict[str, str] = field(default_factory=dict)
    result: dict[str, str] = field(default_factory=dict)

    @property
    def last_turn(self) -> int:
        """The turn of the coordinator that counts; 0 before the first."""
        return max((int(turn) for turn in self.coordinator if turn.isdecimal()), default=0)


class SharedFolder:
    """The folder of a run in which its workers meet; it is there once one has joined."""

    def __init__(self, run: Path) -> None:
        self.run, self.path = run, run / WORK
        self._watches: dict[str, Watch] = {}
        self._next_seconds = 0.0  # when beats are read again

    @property
    def is_there(self) -> bool:
        with contextlib.suppress(OSError):
            # Opened first: only then a network drive asks its server what is new in it.
            os.scandir(self.run).close()
            return stat.S_ISDIR(os.lstat(self.path).st_mode)
        return False

    def check_folder(self) -> None:
        """Raise UnusableError where something else, or a link, is in its place."""
        with contextlib.suppress(OSError):
            if not stat.S_ISDIR(os.lstat(self.path).st_mode):
                fault = "this is no folder, so that no worker can join the run"
                raise UnusableError(fault, where=str(self.path), cure="move it away")

    def join_run(self, content: Beat) -> Heartbeat:
        """A worker's heartbeat, in a folder that is made where it is missing."""
        with contextlib.suppress(FileExistsError):
            self.path.mkdir(mode=0o700)
        return Heartbeat(self._new_file(WORKER), content)

    def take_turn(self, turn: int, content: Beat) -> Heartbeat:
        """A coordinator's heartbeat; FileExistsError where another one has the turn."""
        path = self.path / f"{COORDINATOR}-{turn}"
        os.close(os.open(path, _NEW, 0o600))
        return Heartbeat(path, content)

    def _new_file(self, prefix: str) -> Path:
        while True:
            path = self.path / f"{prefix}{secrets.token_hex(6)}"
            with contextlib.suppress(FileExistsError):  # made by an attempt whose answer was lost
                os.close(os.open(path, _NEW, 0o600))
                return path

    def listing(self) -> Listing | None:
        """Its files; None where a drive does not answer."""
        listing = Listing()
        try:
            with os.scandir(self.path) as entries:
                for entry in itertools.islice(entries, MAX_FILES):
                    if match := _NAME.fullmatch(entry.name):
                        getattr(listing, match[1])[match[2]] = match[3] or ""
        except FileNotFoundError:
            return listing
        except OSError:
            return None
        return listing

    def beat_names(self) -> list[str]:
        """The files of the beats that count, the coordinator's first."""
        listing = self.listing() or Listing()
        names = [f"{COORDINATOR}-{listing.last_turn}"] if listing.last_turn else []
        return names + [f"{WORKER}{worker}" for worker in sorted(listing.worker)]

    def watches(self, names: Iterable[str]) -> dict[str, Watch]:
        """{name: what its beats show} of these files, which are read once a second."""
        is_time = AWAKE.seconds >= self._next_seconds
        if is_time:
            self._next_seconds = AWAKE.seconds + BEAT_SECONDS
        self._watches = {name: self._watches.get(name) or Watch() for name in names}
        for name, watch in self._watches.items() if is_time else ():
            with contextlib.suppress(OSError, ValueError):  # while it is being written
                watch.add_beat(self.read(name, Beat, MAX_BYTES))
        return self._watches

    def read(self, name: str, kind: type[Content], max_bytes: int | None = None) -> Content:
        """The content of a file; OSError, or ValueError where it is something else."""
        data = read_ordinary(self.path / name, max_bytes or int(max_data_bytes()))
        return msgspec.json.decode(data, type=kind, dec_hook=_array)

    def write(self, name: str, content: Any) -> None:
        """Write a file that others see whole; raises OSError."""
        draft = self._new_file(DRAFT)
        draft.write_bytes(msgspec.json.encode(content, enc_hook=_plain_numbers))
        # Missing where an attempt whose answer was lost has renamed it, or the run has ended.
        with contextlib.suppress(FileNotFoundError):
            draft.replace(self.path / name)

    def claim_task(self, token: str, worker: str) -> bool:
        """Take a task, which one worker alone can."""
        name = f"claim-{token}-{worker}"
        try:
            (self.path / f"task-{token}").rename(self.path / name)
        except OSError:
            return (self.path / name).exists()
        return True

    def remove_file(self, name: str) -> bool:
        """Remove a file; whether it was there."""
        try:
            (self.path / name).unlink()
        except OSError:
            return False
        return True

    def remove_all(self) -> None:
        """Remove what processes write here, and the folder where nothing else is in it."""
        with contextlib.suppress(OSError):
            for path in itertools.islice(self.path.iterdir(), MAX_FILES):
                if _NAME.fullmatch(path.name) or path.name.startswith(DRAFT):
                    self.remove_file(path.name)
            self.path.rmdir()


def workers_of(runs: Iterable[Path]) -> dict[Path, list[ClusterWorker]]:
    """{run: its coordinator and workers, usable where they live}, after a look of some seconds."""
    folders = {run: folder for run in runs if (folder := SharedFolder(run)).is_there}
    end = AWAKE.seconds + LOOK_SECONDS
    while True:
        watches = {run: folder.watches(folder.beat_names()) for run, folder in folders.items()}
        is_each_alive = all(w.is_alive for seen in watches.values() for w in seen.values())
        if is_each_alive or AWAKE.seconds > end:
            break
        time.sleep(POLL_SECONDS)
    return {
        run: [
            watch.beat.summary("" if WORKER in name else COORDINATOR, watch.is_alive)
            for name, watch in seen.items()
        ]
        for run, seen in watches.items()
        if seen
    }
