"""The folder of a run: its plan, its events as JSON lines, and the fitted best."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime
from io import FileIO
from itertools import chain
from pathlib import Path

from core.errors import UnusableError, write_error
from core.ordinary_files import MOST_BYTES, open_ordinary, read_ordinary
from core.tuning.event_lines import events_of_lines, from_json, to_json
from core.tuning.events import (
    Event,
    HyperGradientStep,
    PenaltyStep,
    Progress,
    RemarkMade,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    TrialFinished,
    TuningEnded,
)
from core.tuning.plan import Plan, plan_from_dict
from core.tuning.runs.run_lock import RunLockedError, hold_run_lock, lock_holder
from core.writing import private_opener, sync_folder, whole_file, write_whole

PLAN, EVENTS, TAKEAWAY, OWNER = "plan.json", "events.jsonl", "best.json", "running"
FILES = (PLAN, EVENTS, TAKEAWAY, "best.skops", "best.signed", "label.json")

READ_AT_ONCE = 1 << 16  # bytes, and the rest of the last line
LONGEST = 1 << 26  # bytes of a line or a plan; a result of thousands of classes has some millions
MOST_EVENT_BYTES = 1 << 34
BEAT = b'\n{"event": "Progress"'  # so begins its line
OUTDATED = re.compile(re.escape(BEAT) + rb".*\}(?=\n|\Z)")
PAUSE = 1.0  # seconds between two attempts, in which a stop is heard
WORTH_KEEPING = (TrialFinished, PenaltyStep, HyperGradientStep)


def runs_root() -> Path:
    """The folder of all runs: TUNESCOPE_RUNS, or the user's data folder."""
    if path_text := os.environ.get("TUNESCOPE_RUNS"):
        return Path(path_text)
    from platformdirs import user_data_path

    return user_data_path("tunescope", appauthor=False) / "runs"


class RunFolder:
    """One run on disk. Events are only appended: a kill costs at most the line being written."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._file: FileIO | None = None
        self._recorded_done = -1
        self._was_owned = False
        self._owning: contextlib.ExitStack | None = None
        self._plan = b""
        self.notices: list[str] = []  # sentences for the person
        self.is_writable = True  # as far as the last attempt says

    @classmethod
    def create(cls, plan: Plan, root: Path | None = None, path: Path | None = None) -> RunFolder:
        """Below `root`, named after date, data, model and strategy; or at `path`."""
        is_new = path is None
        try:
            if path is None:
                path = new_folder(root or runs_root(), plan)
            else:
                is_new = _make_folder(path)
            folder = cls(path)
            with folder.hold_lock():
                folder._write_plan(plan)
            sync_folder(path.parent)
        except OSError as error:
            # Nothing is left of a folder that could not be filled.
            if is_new and path is not None:
                with contextlib.suppress(OSError):
                    path.rmdir()
            raise _cannot_write(path or root or runs_root(), error) from error
        return folder

    def _write_plan(self, plan: Plan) -> None:
        if (self.path / PLAN).exists():
            raise UnusableError(
                "this folder holds a run already",
                where=str(self.path),
                cure="give another folder, or use tunescope resume",
            )
        text = json.dumps(plan.as_dict(), indent=1, ensure_ascii=False)
        write_whole(self.path / PLAN, text, is_private=True)

    @classmethod
    def open(cls, path: Path | str) -> RunFolder:
        """By its path, or its name below the usual root; UnusableError without one."""
        for folder in (Path(path), runs_root() / path):
            if os.path.lexists(folder / PLAN):
                for name in FILES:
                    _check_ordinary(folder / name)
                return cls(folder)
        cure = "tunescope runs lists those there are"
        raise UnusableError("there is no run here", where=str(path), cure=cure)

    @classmethod
    def find_run(cls, text: str) -> RunFolder:
        """By its path, a name, a part that only its names have, or "last"."""
        from core.tuning.runs.past_runs import BEYOND, list_runs, read_label  # which reads this

        with contextlib.suppress(UnusableError):
            return cls.open(text)
        root = runs_root()
        names = sorted(path.parent.name for path in root.glob(f"*/{PLAN}"))
        titles = {name: read_label(root / name).name for name in names}
        named = [name for name in names if titles[name] == text]
        if text == "last" and not named:
            past_runs = list_runs(root)
            if BEYOND in past_runs.left_out:
                fault = "the last run is not known, for the folder of runs has too many entries"
                raise UnusableError(fault, where=str(root), cure="give the name of the run")
            named = [run.path for run in past_runs.runs[:1]]
        names = named or [name for name in names if text in name or text in titles[name]]
        if len(names) > 1:
            fault, cure = f"{len(names)} runs have this in their names", f"such as {names[-1]}"
            raise UnusableError(fault, where=text, cure=f"write more of one, {cure}")
        return cls.open(names[0] if names else text)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def address(self) -> str:
        """Its name, or its path where it is not below the usual root."""
        return self.name if self.path.parent == runs_root() else str(self.path)

    @property
    def plan(self) -> Plan:
        try:
            plain = json.loads(read_ordinary(self.path / PLAN, LONGEST))
            if not isinstance(plain, dict):
                raise ValueError("it is no object")
            return plan_from_dict(plain)
        except (OSError, ValueError, RecursionError) as error:
            raise UnusableError(
                "the plan of this run cannot be read",
                where=str(self.path / PLAN),
                cure="start a new run",
            ) from error

    @property
    def takeaway_path(self) -> Path:
        """The JSON file that exporters read beside the fitted pipeline."""
        return self.path / TAKEAWAY

    def all_events(self) -> list[Event]:
        """In order, without the torn last line of a killed run."""
        return list(self.read_events())

    def read_events(self, beats: bool = True) -> Iterator[Event]:
        """One by one, all Progress among them only if `beats`."""
        return chain.from_iterable(self.read_blocks(beats))

    def read_blocks(self, beats: bool = True) -> Iterator[list[Event]]:
        """Likewise, some hundred at a time."""
        if not (self.path / EVENTS).exists():
            return
        number = 1
        with open_ordinary(self.path / EVENTS, MOST_EVENT_BYTES) as file:
            while block := file.read(READ_AT_ONCE):
                block = block if block.endswith(b"\n") else block + file.readline(LONGEST)
                if len(block) >= LONGEST:
                    raise self._damaged_line(number + block.count(b"\n"), "it never ends")
                whole_lines = block[: block.rfind(b"\n") + 1]
                last_beat = -1 if beats else whole_lines.rfind(BEAT)
                earlier_lines, outdated = OUTDATED.subn(b"", whole_lines[: max(0, last_beat)])
                try:
                    events = events_of_lines(earlier_lines + whole_lines[max(0, last_beat) :])
                except (ValueError, RecursionError):
                    lines = enumerate(whole_lines.split(b"\n")[:-1], start=number)
                    events, outdated = [self._parse_event(*line) for line in lines], 0
                number += len(events) + outdated
                yield events

    def _parse_event(self, number: int, line: bytes) -> Event:
        try:
            return from_json(line)
        except ValueError as error:
            raise self._damaged_line(number, str(error)) from error

    def _damaged_line(self, number: int, fault: str) -> UnusableError:
        where = f"{self.path / EVENTS}, line {number}"
        cure = "delete the lines from here on to continue from before it"
        return UnusableError(f"this line of the run is damaged ({fault})", where=where, cure=cure)

    def append(self, event: Event) -> None:
        """A Progress with no more trials than the last is skipped."""
        if isinstance(event, Progress) and event.done == self._recorded_done:
            return
        try:
            self.restore()
            file = self._file = self._file or self._open_events()
            _append_line(file, to_json(event).encode() + b"\n")
            # The end is what a person waited for: it survives a power failure too.
            if isinstance(event, (RunFinished, RunStopped)):
                os.fsync(file.fileno())
            if isinstance(event, Progress):
                self._recorded_done = event.done
            self.is_writable = True
        except OSError as error:
            self.is_writable = False
            raise _cannot_write(self.path, error) from error

    def restore(self) -> None:
        """Make again what was removed (or raise OSError)."""
        # Without a name that leads to the open file, the folder was removed.
        if self._file is None or os.fstat(self._file.fileno()).st_nlink:
            return
        self._file.seek(0)
        content = self._file.read()
        _make_folder(self.path)
        if self._owning is not None and not (self.path / OWNER).exists():
            self._owning.enter_context(hold_run_lock(self.path / OWNER))
        for name, data in ((PLAN, self._plan), (EVENTS, content)):
            with whole_file(self.path / name, is_private=True) as draft:
                draft.write_bytes(data)
        self.close()
        self._file = self._open_events()
        self.notices.append(f"{self.path}: the folder of the run was removed. It was made again.")

    def _open_events(self) -> FileIO:
        with contextlib.suppress(FileNotFoundError):
            self._plan = read_ordinary(self.path / PLAN)
        path = self.path / EVENTS
        file = FileIO(path, "a+", opener=private_opener)
        file.seek(0)
        content = file.read()
        # A kill may have torn the last line.
        file.truncate(content.rfind(b"\n") + 1)
        file.seek(0, os.SEEK_END)
        return file

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @contextlib.contextmanager
    def hold_lock(self) -> Iterator[None]:
        """No other process writes this run meanwhile."""
        with contextlib.ExitStack() as owned:
            try:
                owned.enter_context(hold_run_lock(self.path / OWNER))
            except RunLockedError as lock_error:
                self._was_owned = False
                raise UnusableError(
                    f"this run is being written by {lock_error}",
                    where=str(self.path),
                    cure="wait until it ends, or stop it first",
                ) from None
            except OSError as error:
                raise _cannot_write(self.path, error) from error
            self._was_owned, self._owning = True, owned
            # Called before the lock goes: no other program meets an open file.
            owned.callback(self.close)
            yield

    def forget_if_idle(self) -> None:
        """Remove a run that was refused before its first trial or step ended."""
        if not self._was_owned:
            return
        with contextlib.suppress(UnusableError), self.hold_lock():
            if any(isinstance(event, WORTH_KEEPING) for event in self.read_events()):
                return
            for name in (PLAN, EVENTS):
                (self.path / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # a folder that holds a person's other files stays
            self.path.rmdir()

    def remove_run(self) -> None:
        if self.path.exists():
            with self.hold_lock():
                shutil.rmtree(self.path, ignore_errors=True)

    @property
    def is_running(self) -> bool:
        return lock_holder(self.path / OWNER) is not None

    @property
    def trials_ended(self) -> bool:
        """Whether its recorded trials have come to their end."""
        is_ended = False
        for event in self.read_events(beats=False):
            if isinstance(event, (RunStarted, RunResumed)):
                is_ended = False
            elif isinstance(event, (TuningEnded, RunFinished, RunStopped, RunFailed)):
                is_ended = True
        return is_ended


def _check_ordinary(path: Path) -> None:
    try:
        if os.path.lexists(path):
            open_ordinary(path, MOST_EVENT_BYTES if path.name == EVENTS else MOST_BYTES).close()
    except OSError as error:
        fault = f"this file of the run cannot be read ({error.strerror})"
        cure = "start a new run"
        raise UnusableError(fault, where=str(path), cure=cure) from error


def _append_line(file: FileIO, line: bytes) -> None:
    start, unwritten = file.seek(0, os.SEEK_END), memoryview(line)
    try:
        while unwritten:  # unbuffered: what the system took is safe from a kill
            unwritten = unwritten[file.write(unwritten) :]
    except OSError:
        with contextlib.suppress(OSError):
            file.truncate(start)
        raise


def new_folder(root: Path, plan: Plan) -> Path:
    """Make a new folder, named after date, data, model and strategy."""
    data = re.sub(r"[^\w.-]+", "-", Path(plan.data.file.removeprefix("sample:")).name)[:40]
    moment = datetime.now().astimezone().strftime("%Y-%m-%d_%H%M%S")
    name = f"{moment}_{data}_{plan.model}_{plan.strategy}"
    path, count = root / name, 1
    # Runs of one second differ by a number: each program makes a folder that is new.
    while not _make_folder(path):
        count += 1
        path = root / f"{name}_{count}"
    return path


def _make_folder(path: Path) -> bool:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        path.mkdir(mode=0o700)  # it holds a person's rows
    except FileExistsError:
        if path.is_dir():
            return False
        raise
    return True


def _cannot_write(path: Path, error: OSError) -> UnusableError:
    return write_error(
        "the run",
        path,
        error,
        cure="choose a folder that you may write to (--run-dir, or TUNESCOPE_RUNS for all runs)",
        room="free some space and resume the run; what was recorded before is kept",
    )


def utc_now() -> str:
    """The present time, ISO 8601, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_with_retry(
    attempt: Callable[[], None], progress: Callable[[], Progress]
) -> Generator[Event, None, None]:
    """Repeat `attempt` while it raises an UnusableError; yields what a person is told."""
    waits = False
    while True:
        try:
            attempt()
            break
        except UnusableError as error:
            if not waits:
                why = f"{error.where}: {error.what}"
                why += ". The run waits, and continues once it can be written."
                yield RemarkMade(sentence=why)
            waits = True
            yield progress()
            time.sleep(PAUSE)
    if waits:
        yield RemarkMade(sentence="The run can be written again and continues.")
