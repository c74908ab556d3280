"""Past runs: a summary of each, a person's name and note for it, and the bin of deleted ones.

Labels without showable text count as empty. A run moves to the bin by one rename, and is removed at
the first look after `KEPT_DAYS` days.
"""

import contextlib
import json
import math
import os
import secrets
import shutil
import sys
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from core.errors import UnusableError, write_error
from core.ordinary_files import open_ordinary, read_ordinary
from core.tuning.event_lines import from_json
from core.tuning.events import Event, RunFailed, RunFinished, RunStarted, RunStopped
from core.tuning.plan import Plan
from core.tuning.run_results import Interval, Results
from core.tuning.runs.run_folder import (
    EVENTS,
    LONGEST,
    MOST_EVENT_BYTES,
    OWNER,
    PLAN,
    RunFolder,
    runs_root,
)
from core.tuning.runs.run_lock import RunLockedError, hold_run_lock, lock_holder
from core.wording import printable_text
from core.writing import sync_folder, write_whole

LABEL = "label.json"
LONGEST_NAME, LONGEST_NOTE = 120, 10_000  # characters
MAX_BYTES = 1 << 17  # of the file: 10,000 characters, each written as \uXXXX, fit
TAIL = 1 << 18  # bytes that are read of a run's end at first, where its last results are
MAX_NUMBER = 1e15  # trials, fits or seconds
MAX_ENTRIES = 200_000  # of a folder of runs
BEYOND = f"entries beyond {MAX_ENTRIES:,}"  # among what is left out
BIN = "bin"
MARK = "deleted.json"  # when, in the run's folder
KEPT_DAYS = 30
_ELSEWHERE = "move it elsewhere, or delete it"
_GOING = ".removing-"  # so begins the name of a folder that is being removed


# ---------------------------------------------------------------------- a person's name and note


@dataclass(frozen=True)
class RunLabel:
    """A run's name ("" for that of its folder) and the note about it."""

    name: str = ""
    note: str = ""


def read_label(folder: Path) -> RunLabel:
    """The label of a run; empty where there is no valid one."""
    try:
        plain = json.loads(read_ordinary(folder / LABEL, MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return RunLabel()
    if not isinstance(plain, dict):
        return RunLabel()
    return RunLabel(_clean_line(plain.get("name")), _clean_lines(plain.get("note")))


def write_label(folder: Path, label: RunLabel) -> RunLabel:
    """Write the label whole; what was written, without unprintable characters."""
    name, note = label.name.strip(), label.note.rstrip()
    for field, text, limit in (("name", name, LONGEST_NAME), ("note", note, LONGEST_NOTE)):
        if len(text) > limit:
            problem = f"the {field} has {len(text):,} characters"
            raise UnusableError(problem, cure=f"write at most {limit:,}")
    clean_label = RunLabel(_clean_line(name), _clean_lines(note))
    if not os.path.isdir(folder):  # Path.is_dir raises in a folder that keeps us out
        raise UnusableError("this run is not there any more", where=str(folder), cure="look again")
    try:
        text = json.dumps(asdict(clean_label), ensure_ascii=False, indent=1)
        write_whole(folder / LABEL, text, is_private=True)
    except OSError as error:
        raise write_error("the name and the note", folder, error) from error
    return clean_label


def _clean_line(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    return printable_text(" ".join(value.split())[:LONGEST_NAME])


def _clean_lines(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    text = value.replace("\r\n", "\n").replace("\r", "\n")[:LONGEST_NOTE].replace("\t", " ")
    return "\n".join(map(printable_text, text.split("\n")))


# ------------------------------------------------------------------------------------- summaries


@dataclass(frozen=True)
class RunSummary:
    """One past run in a line."""

    path: str
    name: str
    dataset: str = ""
    fingerprint: str = ""
    model: str = ""
    strategy: str = ""
    # finished, stopped, failed, running, unreadable or interrupted (which can be resumed)
    state: str = ""
    started_at: str = ""
    metric: str = ""
    maximize: bool = True
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


class PastRuns(NamedTuple):
    """The runs, newest first, and {folder's name, or BEYOND: why it is left out}."""

    runs: list[RunSummary]
    left_out: dict[str, str]


def list_runs(root: Path | None = None) -> PastRuns:
    """The runs below a folder (the usual one by default)."""
    root = root or runs_root()
    runs, left_out = [], {}
    folders, is_whole = _folders_in(root)
    if not is_whole:
        fault = "the folder of runs has too many entries, and runs among the last are not seen"
        cure = "move elsewhere what is no run"
        left_out[BEYOND] = UnusableError(fault, where=str(root), cure=cure).sentence
    for folder in folders:
        if _file_mode(folder / PLAN) is None:
            continue
        try:
            runs.append(summarize_run(RunFolder(folder)))
        except UnusableError as error:
            left_out[_printable_name(folder.name)] = error.sentence
        # Whatever a stranger's JSON holds: one odd folder must not hide the others.
        except (OSError, ValueError, TypeError, AttributeError, OverflowError) as error:
            fault = f"this folder is no run that can be read ({error})"
            unreadable = UnusableError(fault, where=str(folder), cure=_ELSEWHERE)
            left_out[_printable_name(folder.name)] = unreadable.sentence
    newest = sorted(runs, key=lambda summary: (summary.started_at, summary.name), reverse=True)
    return PastRuns(newest, dict(sorted(left_out.items())))


def _folders_in(root: Path) -> tuple[list[Path], bool]:
    try:
        # The entries say what they are: of very many files none is looked for in the folder.
        with os.scandir(root) as entries:
            first_entries = islice(entries, MAX_ENTRIES)
            folders = [Path(entry.path) for entry in first_entries if entry.is_dir()]
            return folders, next(entries, None) is None
    except OSError:  # there is none yet, or it cannot be read
        return [], True


def _file_mode(path: Path) -> int | None:
    """Of a dangling link itself; None for nothing."""
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
    target = plan.data.target if first.dataset.target is None else first.dataset.target
    return replace(
        _planned_run(folder, plan, last),
        dataset=_printable_name(first.dataset.name),
        fingerprint=_printable_name(first.dataset.fingerprint),
        started_at=_printable_name(first.started_at),
        metric=metric,
        maximize=results.maximize,
        test=_optional_number(results.test.get(metric)),
        gain=_optional_number(results.gain.difference),
        interval=_checked_interval(results.test_interval),
        trials=int(_checked_number(results.trials)),
        fits=int(_checked_number(results.fits)),
        seconds=_checked_number(results.seconds),
        target=_printable_name(target),
        default=_optional_number(results.default_test.get(metric)),
        baseline=_optional_number(results.baseline_scores.get(metric)),
        split=_split_key(plan, first),
    )


def _split_key(plan: Plan, first: RunStarted) -> str:
    data = plan.data
    drawn = (plan.seed, data.test_size, data.together, data.latest, data.test_file)
    counted = (first.dataset.test_rows, first.dataset.outer_folds)
    return _printable_name(json.dumps([*drawn, *counted]))


def _just_begun(folder: RunFolder, plan: Plan) -> RunSummary:
    created_at = datetime.fromtimestamp((folder.path / PLAN).stat().st_mtime, UTC)
    return replace(
        _planned_run(folder, plan, None),
        dataset=_printable_name(Path(plan.data.file.removeprefix("sample:")).name),
        started_at=created_at.isoformat(timespec="seconds"),
        metric=plan.metric,
        target=_printable_name(plan.data.target),
    )


def _planned_run(folder: RunFolder, plan: Plan, last: Event | None) -> RunSummary:
    label = read_label(folder.path)
    return RunSummary(
        path=str(folder.path),
        name=_printable_name(folder.name),
        model=_printable_name(plan.model),
        strategy=_printable_name(plan.strategy),
        state=_run_state(folder, last),
        title=label.name,
        note=label.note,
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
    # The lock first: a run that goes on may hold an end from before it was resumed.
    if folder.is_running:
        return "running"
    ends = {RunFinished: "finished", RunStopped: "stopped", RunFailed: "failed"}
    return ends.get(type(last), "interrupted")


def _first_and_last(path: Path) -> tuple[Event | None, Event | None]:
    with open_ordinary(path, MOST_EVENT_BYTES) as file:
        line = file.readline(LONGEST)
        if not line.endswith(b"\n"):
            return None, None
        first = from_json(line)
        size, length = file.seek(0, 2), TAIL
        while True:
            file.seek(max(0, size - length))
            lines = file.read(min(length, size)).split(b"\n")[:-1]
            # The first line of a part is torn; results may be longer than the part, which grows
            # then.
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


# ------------------------------------------------------------------------------------- the bin


@dataclass(frozen=True)
class DeletedRun:
    """A run in the bin, and when it will be removed for good."""

    run: RunSummary
    deleted_at: datetime
    removed_at: datetime


def delete_run(folder: Path, root: Path | None = None) -> Path:
    """Put a run into the bin below `root` (by default the usual one); its new path."""
    root = root or runs_root()
    _check_ours(folder, root, "deleted")
    try:
        (root / BIN).mkdir(mode=0o700, exist_ok=True)
        with contextlib.ExitStack() as stack:
            _lock_run(folder, stack)
            _write_mark(folder, datetime.now(UTC))
            if sys.platform == "win32":  # where no folder with an open file can be renamed
                stack.close()
            return _move_folder(folder, root / BIN)
    except OSError as error:
        cure = "see that you may write there"
        raise write_error("the bin", root / BIN, error, cure=cure) from error


def restore_run(folder: Path, root: Path | None = None) -> Path:
    """Bring a run back from the bin; its new path."""
    root = root or runs_root()
    _check_ours(folder, root / BIN, "restored")
    try:
        target = _move_folder(folder, root)
    except OSError as error:
        raise write_error("the folder of runs", root, error) from error
    with contextlib.suppress(OSError):
        (target / MARK).unlink(missing_ok=True)
    return target


def remove_for_good(folder: Path, root: Path | None = None) -> None:
    """Remove a run from the bin irrevocably."""
    root = root or runs_root()
    _check_ours(folder, root / BIN, "removed")
    if lock_holder(folder / OWNER) is not None:
        raise _running_error(folder, "another process")
    target = folder.with_name(f"{_GOING}{secrets.token_hex(8)}")
    try:
        os.rename(folder, target)  # at once: what is half removed is no run any more
    except OSError as error:
        raise write_error("the bin", folder, error) from error
    shutil.rmtree(target, ignore_errors=True)


def deleted_runs(root: Path | None = None, now: datetime | None = None) -> list[DeletedRun]:
    """The last deleted first; those whose time is over are removed before."""
    root, now = root or runs_root(), now or datetime.now(UTC)
    for folder in _folders_in(root / BIN)[0]:
        if folder.name.startswith(_GOING):
            shutil.rmtree(folder, ignore_errors=True)
    entries = []
    for run in _list_bin(root / BIN).runs:
        folder = Path(run.path)
        deleted_at = _read_mark(folder, now)
        removed_at = deleted_at + timedelta(days=KEPT_DAYS)
        if removed_at <= now:
            with contextlib.suppress(UnusableError):
                remove_for_good(folder, root)
                continue
        entries.append(DeletedRun(run, deleted_at, removed_at))
    return sorted(entries, key=lambda entry: entry.deleted_at, reverse=True)


def _list_bin(parent: Path) -> PastRuns:
    past_runs = list_runs(parent)
    # What cannot be read as a run can still be restored as a folder.
    folders = [parent / name for name in past_runs.left_out]
    unreadable = [RunSummary(str(f), f.name, state="unreadable") for f in folders if f.is_dir()]
    runs = [*past_runs.runs, *unreadable]
    return PastRuns([run for run in runs if not run.name.startswith(_GOING)], {})


def _check_ours(folder: Path, parent: Path, action: str) -> None:
    # Not `resolve`, which raises for a link that leads to itself.
    if os.path.realpath(folder.parent) != os.path.realpath(parent):
        raise UnusableError(
            f"this run is not among those that can be {action} here",
            where=str(folder),
            cure=f"these lie in {parent}; move or remove its folder yourself",
        )
    if not os.path.lexists(folder / PLAN) or folder.name.startswith(_GOING):
        raise UnusableError(
            "there is no run here", where=str(folder), cure="tunescope runs lists those there are"
        )
    if folder.is_symlink():
        raise UnusableError(
            "this is a link to a run in another folder",
            where=str(folder),
            cure="remove the link yourself; the run stays where it is",
        )


def _lock_run(folder: Path, stack: contextlib.ExitStack) -> None:
    try:
        stack.enter_context(hold_run_lock(folder / OWNER, patience=0.1))
    except RunLockedError as error:
        raise _running_error(folder, str(error)) from None
    except OSError:  # such as a full disk: to look is enough then
        if lock_holder(folder / OWNER) is not None:
            raise


def _running_error(folder: Path, owner: str) -> UnusableError:
    return UnusableError(
        f"this run is running in {owner}, so it cannot be deleted",
        where=folder.name,
        cure="stop it first, or wait until it ends",
    )


def _move_folder(folder: Path, parent: Path) -> Path:
    target, count = parent / folder.name, 1
    while os.path.lexists(target):
        count += 1
        target = parent / f"{folder.name}_{count}"
    os.rename(folder, target)
    (target / OWNER).unlink(missing_ok=True)
    for changed in (folder.parent, parent):
        sync_folder(changed)
    return target


def _write_mark(folder: Path, now: datetime) -> None:
    with contextlib.suppress(OSError):  # on a full disk it counts as deleted at the next look
        # An old mark, from before the run was restored, must not shorten its time.
        (folder / MARK).unlink(missing_ok=True)
        write_whole(folder / MARK, json.dumps({"deleted_at": now.isoformat()}), is_private=True)


def _read_mark(folder: Path, now: datetime) -> datetime:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, RecursionError):
        content = read_ordinary(folder / MARK, MAX_BYTES)
        deleted_at = datetime.fromisoformat(json.loads(content)["deleted_at"])
        # A time to come, by a clock that was wrong, would keep the run for ever.
        if deleted_at.tzinfo is not None and deleted_at <= now + timedelta(days=1):
            return deleted_at
    _write_mark(folder, now)
    return now
