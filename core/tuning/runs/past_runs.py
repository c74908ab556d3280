"""The list of past runs: what each was and what came of it, read without its whole history."""

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
from core.tuning.runs.labels import read_label
from core.tuning.runs.run_folder import EVENTS, PLAN, RunFolder, runs_root

TAIL = 1 << 18  # bytes that are read of a run's end at first, where its last results are
LONGEST = 1 << 28  # bytes of one line; a result of thousands of classes has some millions
MOST = 1e15  # trials, fits or seconds


@dataclass(frozen=True)
class RunSummary:
    """One past run in a line.

    Attributes:
        state: finished, stopped, failed, running, or interrupted (it can be resumed).
        test: the tuned model's test score in `metric`; None without results.
        gain: its difference to the default setting's, in the metric's own units.
        interval: of the test score, low and high; None where it is not known.
        title, note: what a person wrote to it; "" for nothing.
        target: the column that is predicted; "" for the usual one.
        default, baseline: the test scores of the default setting and of knowing nothing.
        split: what decides which rows test; equal texts mean the same rows of the same file.
    """

    path: str
    name: str
    dataset: str
    fingerprint: str
    model: str
    strategy: str
    state: str
    started_at: str
    metric: str
    maximize: bool
    test: float | None = None
    gain: float | None = None
    interval: list[float] | None = None
    trials: int = 0
    fits: int = 0
    seconds: float = 0.0
    title: str = ""
    note: str = ""
    target: str = ""
    default: float | None = None
    baseline: float | None = None
    split: str = ""

    @property
    def called(self) -> str:
        """The name that a person gave it, or that of its folder."""
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
            left_out[_text(folder.name)] = error.sentence
        except (OSError, ValueError, TypeError, AttributeError, OverflowError) as error:
            left_out[_text(folder.name)] = _odd(folder, error).sentence
    newest = sorted(runs, key=lambda summary: (summary.started_at, summary.name), reverse=True)
    return PastRuns(newest, dict(sorted(left_out.items())))


def _with_plans(root: Path) -> list[Path]:
    """The folders that hold a plan, or something in its place."""
    try:
        return [folder for folder in root.iterdir() if _kind(folder / PLAN) is not None]
    except OSError:  # there is none yet, or it cannot be read
        return []


def _kind(path: Path) -> int | None:
    """The mode of what lies there, a link followed where it leads anywhere; None for nothing."""
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
        mode = _kind(folder.path / name)
        if mode is not None and not stat.S_ISREG(mode):
            raise _odd(folder.path, ValueError(f"{name} is no ordinary file"))
    plan = folder.plan
    if _kind(folder.path / EVENTS) is None:
        return _just_begun(folder, plan)
    first, last = _ends(folder.path / EVENTS)
    if first is None:
        return _just_begun(folder, plan)
    if not isinstance(first, RunStarted):
        raise ValueError("it begins otherwise than a run")
    results = last.results if isinstance(last, (RunFinished, RunStopped)) else {}
    metric = _text(results.get("metric", first.metric))  # the test's; trials may have another
    interval = results.get("test_interval")
    label = read_label(folder.path)
    return RunSummary(
        path=str(folder.path),
        name=_text(folder.name),
        dataset=_text(first.dataset.get("name", "")),
        fingerprint=_text(first.dataset.get("fingerprint", "")),
        model=_text(plan.model),
        strategy=_text(plan.strategy),
        state=_state(folder, last),
        started_at=_text(first.started_at),
        metric=metric,
        maximize=bool(results.get("maximize", first.maximize)),
        test=_number(results.get("test", {}).get(metric)),
        gain=_number(results.get("gain", {}).get("difference")),
        interval=None if interval is None else [_amount(end, -MOST) for end in interval],
        trials=int(_amount(results.get("trials", 0))),
        fits=int(_amount(results.get("fits", 0))),
        seconds=float(_amount(results.get("seconds", last.seconds if last else 0.0))),
        title=label.name,
        note=label.note,
        target=_text(first.dataset.get("target", plan.data.target)),
        default=_number(results.get("default_test", {}).get(metric)),
        baseline=_number((results.get("baseline_test") or {}).get(metric)),
        split=_split(plan, first),
    )


def _split(plan: Plan, first: RunStarted) -> str:
    """What decides which rows test: equal for runs that are tested on the same rows."""
    data = plan.data
    drawn = (plan.seed, data.test_size, data.together, data.latest, data.test_file)
    counted = (first.dataset.get("test_rows"), first.dataset.get("outer_folds"))
    return _text(json.dumps([*drawn, *counted]))


def _just_begun(folder: RunFolder, plan: Plan) -> RunSummary:
    """A run without an event: it begins now, or was killed as it began."""
    made = datetime.fromtimestamp((folder.path / PLAN).stat().st_mtime, UTC)
    label = read_label(folder.path)
    return RunSummary(
        path=str(folder.path),
        name=_text(folder.name),
        dataset=_text(Path(plan.data.file.removeprefix("sample:")).name),
        fingerprint="",
        model=_text(plan.model),
        strategy=_text(plan.strategy),
        state=_state(folder, None),
        started_at=made.isoformat(timespec="seconds"),
        metric=plan.metric,
        maximize=True,
        title=label.name,
        note=label.note,
        target=_text(plan.data.target),
    )


def _odd(path: Path, error: Exception) -> UnusableError:
    return UnusableError(
        f"this folder is no run that can be read ({error})",
        where=str(path),
        cure="move it elsewhere, or delete it",
    )


def _text(value: Any) -> str:
    """A name as it can be shown and printed."""
    if not isinstance(value, str):
        raise ValueError("a name is no text")
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in value)


def _number(value: Any) -> float | None:
    return None if value is None else _amount(value, -math.inf, math.inf)


def _amount(value: Any, low: float = 0.0, high: float = MOST) -> float:
    if type(value) not in (int, float) or not low <= value <= high or math.isinf(value):
        raise ValueError("a result is out of range")
    return float(value)


def _state(folder: RunFolder, last: Event | None) -> str:
    if folder.is_running:
        return "running"
    ends = {RunFinished: "finished", RunStopped: "stopped", RunFailed: "failed"}
    return ends.get(type(last), "interrupted")


def _ends(path: Path) -> tuple[Event | None, Event | None]:
    """The first event and the last one that can be read; None where there is none yet."""
    with path.open("rb") as file:
        line = file.readline(LONGEST)
        if not line.endswith(b"\n"):
            return None, None
        first = from_json(line)
        size, length = file.seek(0, 2), TAIL
        while True:
            file.seek(max(0, size - length))
            lines = file.read(min(length, size)).split(b"\n")[:-1]
            whole = lines if length >= size else lines[1:]
            if whole or length >= min(size, LONGEST):
                return first, _last_whole(whole) or first
            length *= 4


def _last_whole(lines: list[bytes]) -> Event | None:
    for line in reversed(lines):
        try:
            return from_json(line)
        except ValueError:
            continue
    return None
