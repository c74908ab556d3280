"""The folder in which processes of any machines share the trials of a run.

| file in RUN/work | who writes it | content |
| --- | --- | --- |
| coordinator-TURN | the coordinator of this turn, who alone could make it | `Beat` |
| worker-ID | a worker, until it leaves | `Beat` |
| task-TOKEN | the coordinator | `SharedTask` |
| claim-TOKEN-ID | the task, renamed by the worker that takes it | |
| result-TOKEN-ID | this worker | `SharedResult` |

All of it is JSON. A rename, a removal and an exclusive creation succeed for one process alone, also
on network drives, whose locks other machines may not see. Beats are counted: no clocks must agree.
"""

from __future__ import annotations

import contextlib
import math
import os
import platform
import re
import secrets
import stat
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from core.awake_timer import AWAKE
from core.datasets.memory_limit import max_data_bytes
from core.json_reading import line_reader
from core.ordinary_files import read_ordinary
from core.records import strict_json
from core.space import Setting
from core.tuning.cluster.cluster_monitor import installed_versions
from core.tuning.cluster.executor import GONE_SECONDS
from core.tuning.events import from_json, to_json
from core.tuning.runs.run_folder import MAX_WORK_FILES, WORK, WORKER
from core.tuning.scores.metric import Predictions
from core.tuning.scores.scoring import TrialRequest, TrialResult

BEAT_SECONDS = 1.0  # between two beats, and two looks at those of others
POLL_SECONDS = 0.05  # between two looks for what others have written
MAX_BYTES = 1 << 20  # of a beat or a task
DRAFT = ".draft-"
_NUMBERS = re.compile(r"[<|][biuf][1248]")  # the types of arrays that are read
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
Content = TypeVar("Content")


@dataclass(frozen=True)
class Beat:
    """What a process tells of itself while it lives."""

    count: int = 0  # of its beats so far
    name: str = ""
    host: str = ""  # its computer
    threads: int = 0  # how many trials it runs at a time; 0 until it has read the data
    limit: float | None = None  # of the coordinator: seconds that a trial may take
    versions: dict[str, str] = field(default_factory=dict)  # of the coordinator's packages

    @classmethod
    def of_this_process(cls, *, with_versions: bool = False) -> Beat:
        versions = installed_versions() if with_versions else {}
        return cls(name=f"process {os.getpid()}", host=platform.node(), versions=versions)


@dataclass(frozen=True)
class SharedTask:
    """A trial that is handed out, with the limit of its own."""

    request: TrialRequest
    limit: float | None = None


@dataclass(frozen=True)
class StoredArray:
    """An array of numbers."""

    kind: str  # such as <f8
    shape: list[int]
    content: bytes

    def to_array(self) -> np.ndarray:
        """It as an array; ValueError where the fields contradict each other."""
        if not _NUMBERS.fullmatch(self.kind) or min(self.shape, default=0) < 0:
            raise ValueError("an array of no numbers")
        kind = np.dtype(self.kind)
        if math.prod(self.shape) * kind.itemsize != len(self.content):
            raise ValueError("an array of another size")
        return np.frombuffer(self.content, kind).reshape(self.shape).copy()


@dataclass(frozen=True)
class SharedResult:
    """A TrialResult as plain data, without the fitted model."""

    number: int
    setting: Setting
    fold_scores: list[float]
    took: float
    failure: str
    estimate: float | None
    cpu: float
    predictions: list[dict[str, StoredArray]]  # of every fold, by the fields of `Predictions`
    event: str  # the display event in JSON, or ""

    @classmethod
    def from_result(cls, result: TrialResult) -> SharedResult:
        event = "" if result.display_event is None else to_json(result.display_event)
        return cls(
            *(result.number, strict_json(result.setting), list(map(float, result.fold_scores))),
            *(float(result.took), result.failure, result.estimate, float(result.cpu)),
            list(map(_stored_arrays, result.predictions)),
            event,
        )

    def trial_result(self) -> TrialResult:
        """It as a result; ValueError where it is none."""
        fold_arrays = ({k: v.to_array() for k, v in fold.items()} for fold in self.predictions)
        try:
            predictions = tuple(Predictions(**arrays) for arrays in fold_arrays)
        except TypeError:
            raise ValueError("predictions of other names") from None
        return TrialResult(
            *(self.number, self.setting, tuple(self.fold_scores), self.took, self.failure),
            predictions=predictions,
            display_event=from_json(self.event.encode()) if self.event else None,
            estimate=self.estimate,
            cpu=self.cpu,
        )


def _stored_arrays(predictions: Predictions) -> dict[str, StoredArray]:
    arrays = {each.name: getattr(predictions, each.name) for each in fields(predictions)}
    return {
        name: StoredArray(array.dtype.str, list(array.shape), array.tobytes())
        for name, array in arrays.items()
        if array is not None
    }


class Heartbeat:
    """A new file that a thread counts up every second, until someone removes it.

    Args:
        path: where there is no file; else raises FileExistsError.
        content: of the beats; it may be replaced.
    """

    def __init__(self, path: Path, content: Beat) -> None:
        self.path, self.content = path, content
        self._count = 0
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        self._write_beat()
        self._ended = threading.Event()
        threading.Thread(target=self._beat_until_removed, name="heartbeat", daemon=True).start()

    def _beat_until_removed(self) -> None:
        while not self._ended.wait(BEAT_SECONDS):
            try:
                self._write_beat()
            except FileNotFoundError:
                return
            except OSError:  # a drive that is away may come back
                continue

    def _write_beat(self) -> None:
        self._count += 1
        handle = os.open(self.path, os.O_WRONLY | _NO_FOLLOW)  # never made again
        try:
            data = msgspec.json.encode(replace(self.content, count=self._count))
            os.ftruncate(handle, os.write(handle, data))
        finally:
            os.close(handle)

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
    def is_alive(self) -> bool:
        return self.has_changed and not self.is_gone

    @property
    def is_gone(self) -> bool:
        return AWAKE.seconds - self.changed > GONE_SECONDS


@dataclass
class Listing:
    """The names of the files, taken apart."""

    turns: list[int] = field(default_factory=list)
    workers: set[str] = field(default_factory=set)
    tasks: set[str] = field(default_factory=set)  # tokens
    claims: dict[str, str] = field(default_factory=dict)  # {token: worker}
    results: dict[str, str] = field(default_factory=dict)

    @property
    def last_turn(self) -> int:
        """The last one, of the coordinator that counts; 0 before the first."""
        return max(self.turns, default=0)

    def add_name(self, name: str) -> None:
        match name.split("-"):
            case ["coordinator", turn] if turn.isdecimal() and len(turn) < 16:
                self.turns.append(int(turn))
            case ["worker", worker]:
                self.workers.add(worker)
            case ["task", token]:
                self.tasks.add(token)
            case ["claim", token, worker]:
                self.claims[token] = worker
            case ["result", token, worker]:
                self.results[token] = worker


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

    def join_run(self, content: Beat) -> Heartbeat:
        """A worker's heartbeat, in a folder that is made where it is missing."""
        with contextlib.suppress(FileExistsError):
            self.path.mkdir(mode=0o700)
        return Heartbeat(self.path / f"{WORKER}{secrets.token_hex(6)}", content)

    def take_turn(self, turn: int, content: Beat) -> Heartbeat:
        """A coordinator's heartbeat; FileExistsError where another one has the turn."""
        return Heartbeat(self.path / f"coordinator-{turn}", content)

    def listing(self) -> Listing | None:
        """Its files; None where a drive does not answer."""
        listing = Listing()
        try:
            with os.scandir(self.path) as entries:
                for entry in islice(entries, MAX_WORK_FILES):
                    listing.add_name(entry.name)
        except FileNotFoundError:
            pass
        except OSError:
            return None
        return listing

    def watches(self, names: Iterable[str]) -> dict[str, Watch]:
        """{name: what its beats show} of these files, which are read once a second."""
        kept_watches = {name: self._watches.get(name) or Watch() for name in names}
        is_time = AWAKE.seconds >= self._next_seconds
        for name, watch in kept_watches.items():
            if is_time or name not in self._watches:
                with contextlib.suppress(OSError, ValueError):  # while it is being written
                    watch.add_beat(self.read(name, Beat))
        if is_time:
            self._next_seconds = AWAKE.seconds + BEAT_SECONDS
        self._watches = kept_watches
        return kept_watches

    def read(self, name: str, kind: type[Content], max_bytes: int = MAX_BYTES) -> Content:
        """The content of a file; OSError, or ValueError where it is something else."""
        return line_reader(kind)(read_ordinary(self.path / name, max_bytes))

    def read_result(self, name: str) -> TrialResult:
        """A result; errors as of `read`."""
        return self.read(name, SharedResult, max_data_bytes()).trial_result()

    def write(self, name: str, content: Any) -> None:
        """Write a file that others see whole; raises OSError."""
        draft = self.path / f"{DRAFT}{secrets.token_hex(6)}"
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | _NO_FOLLOW
        try:
            with open(os.open(draft, flags, 0o600), "wb") as file:
                file.write(msgspec.json.encode(content))
            draft.replace(self.path / name)
        except OSError:
            draft.unlink(missing_ok=True)
            raise

    def claim_task(self, token: str, worker: str) -> bool:
        """Take a task, which one worker alone can."""
        target = self.path / f"claim-{token}-{worker}"
        with contextlib.suppress(OSError):
            (self.path / f"task-{token}").rename(target)
        # Not by the error: where an answer is lost, a network drive's second attempt fails.
        return target.exists()

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
            with os.scandir(self.path) as entries:
                names = [entry.name for entry in islice(entries, MAX_WORK_FILES)]
            for name in names:
                is_ours = name.startswith(
                    ("coordinator-", WORKER, "task-", "claim-", "result-", DRAFT)
                )
                if is_ours:
                    self.remove_file(name)
            self.path.rmdir()
