"""The list of past runs: what each was and what came of it, read without its whole history."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.tuning.events import Event, RunFailed, RunFinished, RunStarted, RunStopped, from_json
from core.tuning.runs.run_folder import EVENTS, PLAN, RunFolder, runs_root

TAIL = 1 << 18  # bytes: the end of a run holds its last results


@dataclass(frozen=True)
class RunSummary:
    """One past run in a line.

    Attributes:
        state: finished, stopped, failed, running, or interrupted (it can be resumed).
        test: the tuned model's test score in `metric`; None without results.
        gain: its difference to the default setting's, in the metric's own units.
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
    trials: int = 0
    fits: int = 0
    seconds: float = 0.0
    results: dict[str, Any] = field(default_factory=dict)


def list_runs(root: Path | None = None) -> list[RunSummary]:
    """The runs below a folder (the usual one by default), newest first; damaged ones left out."""
    root = root or runs_root()
    if not root.is_dir():
        return []
    summaries = [
        summary
        for folder in root.iterdir()
        if (folder / PLAN).is_file() and (summary := summarize_run(RunFolder(folder)))
    ]
    return sorted(summaries, key=lambda summary: (summary.started_at, summary.name), reverse=True)


def summarize_run(folder: RunFolder) -> RunSummary | None:
    """One run's summary, or None where its plan or its first event cannot be read."""
    try:
        first, last = _ends(folder.path / EVENTS)
        plan = folder.plan
    except (OSError, ValueError, UnusableError):
        return None
    if not isinstance(first, RunStarted):
        return None
    results = last.results if isinstance(last, (RunFinished, RunStopped)) else {}
    metric = results.get("metric", first.metric)  # the test's; trials may be judged by another
    return RunSummary(
        path=str(folder.path),
        name=folder.name,
        dataset=str(first.dataset.get("name", "")),
        fingerprint=str(first.dataset.get("fingerprint", "")),
        model=plan.model,
        strategy=plan.strategy,
        state=_state(folder, last),
        started_at=first.started_at,
        metric=metric,
        maximize=results.get("maximize", first.maximize),
        test=results.get("test", {}).get(metric),
        gain=results.get("gain", {}).get("difference"),
        trials=int(results.get("trials", 0)),
        fits=int(results.get("fits", 0)),
        seconds=float(results.get("seconds", last.seconds)),
        results=results,
    )


def _state(folder: RunFolder, last: Event) -> str:
    if folder.is_running:
        return "running"
    ends = {RunFinished: "finished", RunStopped: "stopped", RunFailed: "failed"}
    return ends.get(type(last), "interrupted")


def _ends(path: Path) -> tuple[Event, Event]:
    with path.open("rb") as file:
        first = file.readline()
        size = file.seek(0, 2)
        file.seek(max(0, size - TAIL))
        tail = file.read()
    lines = tail.split(b"\n")[:-1]
    return from_json(first), _last_whole(lines) or from_json(first)


def _last_whole(lines: list[bytes]) -> Event | None:
    for line in reversed(lines):
        try:
            return from_json(line)
        except ValueError:
            continue
    return None
