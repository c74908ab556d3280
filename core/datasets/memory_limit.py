"""The ledger of a run's memory: what is free, who may take which share of it, and bounds in words.

| who | bytes at most, beyond those of the process so far |
| --- | --- |
| the rows of a file | ``ROWS_SHARE`` of what is free |
| the process of the run, and copies of it | ``RUN_SHARE`` |
| a process of trials | ``TRIAL_SHARE``, of several together ``ALL_TRIALS_SHARE`` |
| other programs | ``RESERVE_SHARE``: with less left, the largest trial is ended |
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core import processes
from core.errors import UnusableError

# A run holds its rows raw, divided, and prepared for every fold: some eight copies.
ROWS_SHARE, RUN_SHARE = 1 / 8, 0.8
TRIAL_SHARE, ALL_TRIALS_SHARE, RESERVE_SHARE = 0.4, 0.6, 0.05
MIN_TRIAL_BYTES = 3 * 10**8  # with less for each, fewer trials run at a time
VARIABLE = "TUNESCOPE_MEMORY"
MORE_MEMORY = "allow more (--memory), or tune on fewer rows (--rows)"
MIN_BOUND = 300 * 10**6  # bytes, some half of them for the libraries
_USUAL = 2**32  # bytes, where the system reports nothing
_GROUP_FILES = {  # limit and use; version 2 names no controller
    "": ("memory.max", "memory.current"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes"),
}


def max_data_bytes() -> float:
    """The bytes that the rows of a file may take; beyond that rows are sampled."""
    return available_memory() * ROWS_SHARE


def run_bytes() -> int:
    """The bytes that this process and copies of it may take beyond those of now."""
    return int(RUN_SHARE * _free_bytes())


def limit_own_memory() -> None:
    """Bound what this process may take; beyond that its work ends with a MemoryError."""
    # Arrow's usual allocator reserves a gigabyte, which the bound would count, at its first array.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    processes.limit_memory(processes.data_size() + run_bytes())


def _free_bytes() -> int:
    # The variable says what was free before this process took any.
    own_bytes = processes.memory_in_use([os.getpid()]) if VARIABLE in os.environ else 0
    return max(0, available_memory() - (own_bytes or 0))


@dataclass(frozen=True)
class TrialMemory:
    """What the processes of trials may take, by what is free as the first of them starts."""

    free: int
    workers: int  # at a time, of those planned
    planned: int | None = None  # bytes of a process, where a person chose them

    @classmethod
    def allot(cls, workers: int, planned: int | None) -> TrialMemory:
        """The allotment for at most so many workers."""
        free = _free_bytes()
        max_workers = int(ALL_TRIALS_SHARE * free / (planned or MIN_TRIAL_BYTES))
        return cls(free, max(1, min(workers, max_workers)), planned)

    @property
    def share(self) -> int:
        """Bytes for the folds and fits of a process, beyond what the program itself takes."""
        share = min(TRIAL_SHARE, ALL_TRIALS_SHARE / self.workers)
        return max(MIN_TRIAL_BYTES, int(self.free * share))

    def limit_process(self) -> int:
        """Bound this process of trials; the bytes that it may take in all."""
        size = self.planned or processes.data_size() + self.share
        processes.limit_memory(size)
        return size

    def is_short(self, used: int) -> bool:
        """Whether trials that have so many bytes leave too few to the run and other programs."""
        if VARIABLE in os.environ:
            return used > (1 - RESERVE_SHARE) * self.free
        return available_memory() < RESERVE_SHARE * self.free


def size_in_bytes(text: str) -> int:
    """The bytes of a size such as 500MB, 2GB or 1.5 GiB."""
    match = re.fullmatch(r"(\d+\.?\d*)\s*([kmgt]?)(i?)b?", str(text).strip().lower())
    if match is None:
        cure = "write for example 500MB or 2GB"
        raise UnusableError(f"“{text}” is no size of memory", where="memory", cure=cure)
    number, prefix, binary = match.groups()
    size = int(float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " "))
    if size < MIN_BOUND:
        cure = f"give at least {size_text(MIN_BOUND)}"
        raise UnusableError(f"“{text}” is out of range", where="memory", cure=cure)
    return size


def size_text(size: float) -> str:
    """A number of bytes in megabytes or gigabytes."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


def memory_failure(bound: int, need: float = 0.0) -> str:
    """Why a fit failed in a process that may take so many bytes, and the cure.

    `need` is about what it would take, where that was known before.
    """
    if need:
        why = f"It needs about {size_text(need)} of memory, and its process may take"
        return f"{why} {size_text(bound)}: {MORE_MEMORY}."
    why = f"It needed more memory than the {size_text(bound)} that its process may take"
    return f"{why}: {MORE_MEMORY}."


def is_memory_error(error: BaseException) -> bool:
    """Whether an exception, also one of a library in C++, says that memory was refused."""
    texts = ("bad_alloc", "bad allocation", "Cannot allocate memory", "start new thread")
    return isinstance(error, MemoryError) or any(text in str(error) for text in texts)


def available_memory() -> int:
    """Free bytes within this process's control group; TUNESCOPE_MEMORY takes precedence."""
    with contextlib.suppress(ValueError):
        return max(0, int(os.environ.get(VARIABLE, "")))
    # In a container the machine's free memory says nothing: the group's limit holds.
    limits = [_free_memory(), *_group_limits()]
    return min(limit for limit in limits if limit is not None)


def _free_memory() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (processes.PROC / "meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return _free_of_windows()
    with contextlib.suppress(OSError, ValueError, AttributeError):
        # Half of the total: macOS does not report free memory.
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return _USUAL


def _free_of_windows() -> int:
    class Status(ctypes.Structure):
        _fields_ = [
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", "c", "d", "e", "f", "g")),
        ]

    status = Status(length=ctypes.sizeof(Status))
    has_status = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined,unused-ignore]
    return int(status.free) if has_status else _USUAL


def _group_limits() -> Iterator[int | None]:
    for controller, folder in processes.memory_groups():
        # Every group above may have a limit of its own, and the smallest one counts.
        for group in (folder, *folder.parents):
            if group.is_relative_to(processes.GROUPS / controller):
                yield _group_allowance(group, *_GROUP_FILES[controller])


def _group_allowance(folder: Path, limit: str, used: str) -> int | None:
    try:
        max_bytes = int((folder / limit).read_text(encoding="ascii"))
        used_bytes = int((folder / used).read_text(encoding="ascii"))
        statistics = (folder / "memory.stat").read_text(encoding="ascii").split()
    except (OSError, ValueError):  # "max" is no limit
        return None
    counts = dict(zip(statistics[::2], statistics[1::2], strict=False))
    # The system gives up what it merely caches of files before it kills a process.
    dropped = int(counts.get("inactive_file", counts.get("total_inactive_file", "0")))
    return max(0, max_bytes - max(0, used_bytes - dropped))
