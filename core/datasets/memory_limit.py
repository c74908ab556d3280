"""How much memory this process may still take, a file's share of it, and bounds in words."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from core import processes
from core.errors import UnusableError

# A run holds its rows raw, divided, and prepared for every fold: some eight copies.
SHARE = 1 / 8
VARIABLE = "TUNESCOPE_MEMORY"
MIN_BOUND = 300 * 10**6  # bytes, some half of them for the libraries
_USUAL = 2**32  # bytes, where the system reports nothing
_GROUP_FILES = {  # limit and use; version 2 names no controller
    "": ("memory.max", "memory.current"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes"),
}


def max_data_bytes() -> float:
    """The bytes that the rows of a file may take; beyond that rows are sampled."""
    return available_memory() * SHARE


def size_in_bytes(text: str) -> int:
    """The bytes of a size such as 500MB, 2GB or 1.5 GiB."""
    match = re.fullmatch(r"(\d+\.?\d*)\s*([kmgt]?)(i?)b?", str(text).strip().lower())
    if match is None:
        cure = "write for example 500MB or 2GB"
        raise UnusableError(f"“{text}” is no size of memory", where="memory", cure=cure)
    number, prefix, binary = match.groups()
    size = int(float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " "))
    if size < MIN_BOUND:
        cure = f"give at least {_size_text(MIN_BOUND)}"
        raise UnusableError(f"“{text}” is out of range", where="memory", cure=cure)
    return size


def _size_text(size: int) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


def memory_failure(bound: int) -> str:
    """Why a fit failed in a process that may take so many bytes, and the cure."""
    return (
        f"It needed more memory than the {_size_text(bound)} that its process may take: allow "
        "more (--memory), or tune on fewer rows (--rows)."
    )


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
