"""The list of past runs: a summary of each, read without all its events."""

from __future__ import annotations

import json
import math
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import UnusableError
from core.tuning.event_lines import from_json
from core.tuning.events import Event, RunFailed, RunFinished, RunStarted, RunStopped
from core.tuning.plan import Plan
from core.tuning.run_results import Interval, Results
from core.tuning.runs.run_folder import EVENTS, PLAN, RunFolder, runs_root
from core.tuning.runs.run_labels import printable_text, read_label

TAIL = 1 << 18  # bytes that are read of a run's end at first, where its last results are
LONGEST = 1 << 28  # bytes of one line; a result of thousands of classes has some millions
MAX_NUMBER = 1e15  # trials, fits or seconds


@dataclass(frozen=True)
class RunSummary:
    """One past run in a line."""

    path: str
    name: str
    dataset: str
    fingerprint: str
    model: str
    strategy: str
    state: str  # finished, stopped, failed, running, or interrupted (it can be resumed)
    started_at: str
    metric: str
    maximize: bool
    test: float | None = None  # the tuned model's test score in `metric`; None without results
    gain: float | None = None  # its difference to the default setting's, in the metric's units
    interval: list[float] | None = None  # of the test score, low and high; None where unknown
    trials: int = 0
    fits: int = 0
    seconds: float = 0.0
    title: str = ""  # a person's, as is the note
    note: str = ""
    target: str = ""  # the column that is predicted; "" for the usual one
    default: float | None = None  # test score of the default setting
    baseline: float | None = None
    split: str = ""  # equal where the same rows of a file test

    @property
    def display_name(self) -> str:
        """The label's name, or the folder's."""
        return self.title or self.name


class PastRuns(NamedTuple):
    """The runs, newest first, and {folder's name: why it is left out}."""

    runs: list[RunSummary]
    left_out: dict[str, str]


def list_runs(root: Path | None = None) -> PastRuns:
    """The runs below a folder (the usual one by default)."""
    root = root or runs_root()
    runs, left_out = [], {}
    for folder in _with_plans(root):
        try:
            runs.append(summarize_run(RunFolder(folder)))
        except UnusableError as error:
            left_out[_printable_name(folder.name)] = error.sentence
        except (OSError, ValueError, TypeError, AttributeError, OverflowError) as error:
            left_out[_printable_name(folder.name)] = _unreadable_error(folder, error).sentence
    newest = sorted(runs, key=lambda summary: (summary.started_at, summary.name), reverse=True)
    return PastRuns(newest, dict(sorted(left_out.items())))


def _with_plans(root: Path) -> list[Path]:
    """The folders that hold a plan, or something of that name."""
    try:
        return [folder for folder in root.iterdir() if _file_mode(folder / PLAN) is not None]
    except OSError:  # there is none yet, or it cannot be read
        return []


def _file_mode(path: Path) -> int | None:
    """The mode of a path, of a dangling link itself; None for nothing."""
    for look in (path.stat, path.lstat):
        try:
            return look().st_mode
        except OSError:
            continue
    return None


def summarize_run(folder: RunFolder) -> RunSummary:
    """One run's summary.

    Raises:
        UnusableError: its plan or its events cannot be read.
        ValueError, TypeError, AttributeError, OverflowError: its results are of other types.
    """
    for name in (PLAN, EVENTS):
        mode = _file_mode(folder.path / name)
        if mode is not None and not stat.S_ISREG(mode):
            raise _unreadable_error(folder.path, ValueError(f"{name} is no ordinary file"))
    plan = folder.plan
    if _file_mode(folder.path / EVENTS) is None:
        return _just_begun(folder, plan)
    first, last = _first_and_last(folder.path / EVENTS)
    if first is None:
        return _just_begun(folder, plan)
    if not isinstance(first, RunStarted):
        raise ValueError("it begins otherwise than a run")
    results = last.results if isinstance(last, (RunFinished, RunStopped)) else None
    if results is None:
        seconds = last.seconds if last else 0.0
        results = Results(metric=first.metric, maximize=first.maximize, seconds=seconds)
    metric = _printable_name(results.metric or first.metric)  # the test's; trials may have another
    label = read_label(folder.path)
    return RunSummary(
        path=str(folder.path),
        name=_printable_name(folder.name),
        dataset=_printable_name(first.dataset.name),
        fingerprint=_printable_name(first.dataset.fingerprint),
        model=_printable_name(plan.model),
        strategy=_printable_name(plan.strategy),
        state=_run_state(folder, last),
        started_at=_printable_name(first.started_at),
        metric=metric,
        maximize=results.maximize,
        test=_optional_number(results.test.get(metric)),
        gain=_optional_number(results.gain.difference),
        interval=_checked_interval(results.test_interval),
        trials=int(_checked_number(results.trials)),
        fits=int(_checked_number(results.fits)),
        seconds=_checked_number(results.seconds),
        title=label.name,
        note=label.note,
        target=_printable_name(
            plan.data.target if first.dataset.target is None else first.dataset.target
        ),
        default=_optional_number(results.default_test.get(metric)),
        baseline=_optional_number(results.baseline_test.get(metric)),
        split=_split_key(plan, first),
    )


def _split_key(plan: Plan, first: RunStarted) -> str:
    """Equal for runs that are tested on the same rows."""
    data = plan.data
    drawn = (plan.seed, data.test_size, data.together, data.latest, data.test_file)
    counted = (first.dataset.test_rows, first.dataset.outer_folds)
    return _printable_name(json.dumps([*drawn, *counted]))


def _just_begun(folder: RunFolder, plan: Plan) -> RunSummary:
    """A run without an event: new, or killed as it began."""
    created_at = datetime.fromtimestamp((folder.path / PLAN).stat().st_mtime, UTC)
    label = read_label(folder.path)
    return RunSummary(
        path=str(folder.path),
        name=_printable_name(folder.name),
        dataset=_printable_name(Path(plan.data.file.removeprefix("sample:")).name),
        fingerprint="",
        model=_printable_name(plan.model),
        strategy=_printable_name(plan.strategy),
        state=_run_state(folder, None),
        started_at=created_at.isoformat(timespec="seconds"),
        metric=plan.metric,
        maximize=True,
        title=label.name,
        note=label.note,
        target=_printable_name(plan.data.target),
    )


def _unreadable_error(path: Path, error: Exception) -> UnusableError:
    return UnusableError(
        f"this folder is no run that can be read ({error})",
        where=str(path),
        cure="move it elsewhere, or delete it",
    )


def _printable_name(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a name is no text")
    return printable_text(value)


def _optional_number(value: float | None) -> float | None:
    return None if value is None else _checked_number(value, -math.inf, math.inf)


def _checked_interval(interval: Interval | None) -> list[float] | None:
    ends = [_checked_number(end, -MAX_NUMBER) for end in interval or () if end is not None]
    return ends if len(ends) == 2 else None


def _checked_number(value: float, low: float = 0.0, high: float = MAX_NUMBER) -> float:
    if not low <= value <= high or math.isinf(value):
        raise ValueError("a result is out of range")
    return float(value)


def _run_state(folder: RunFolder, last: Event | None) -> str:
    if folder.is_running:
        return "running"
    ends = {RunFinished: "finished", RunStopped: "stopped", RunFailed: "failed"}
    return ends.get(type(last), "interrupted")


def _first_and_last(path: Path) -> tuple[Event | None, Event | None]:
    """The first event and the last readable one; None where there is none yet."""
    with path.open("rb") as file:
        line = file.readline(LONGEST)
        if not line.endswith(b"\n"):
            return None, None
        first = from_json(line)
        size, length = file.seek(0, 2), TAIL
        while True:
            file.seek(max(0, size - length))
            lines = file.read(min(length, size)).split(b"\n")[:-1]
            whole_lines = lines if length >= size else lines[1:]
            if whole_lines or length >= min(size, LONGEST):
                return first, _last_whole(whole_lines) or first
            length *= 4


def _last_whole(lines: list[bytes]) -> Event | None:
    for line in reversed(lines):
        try:
            return from_json(line)
        except ValueError:
            continue
    return None
