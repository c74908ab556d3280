"""How much memory this process may still take, and a file's share of it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from pathlib import Path

# A run holds its rows raw, divided, and prepared for every fold: some eight copies.
SHARE = 1 / 8
VARIABLE = "TUNESCOPE_MEMORY"
_USUAL = 2**32  # bytes, where the system reports nothing
_PROC, _GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
_GROUP_FILES = {  # limit and use; version 2 names no controller
    "": ("memory.max", "memory.current"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes"),
}


def max_data_bytes() -> float:
    """The bytes that the rows of a file may take; beyond that rows are sampled."""
    return available_memory() * SHARE


def available_memory() -> int:
    """Free bytes within this process's control group; TUNESCOPE_MEMORY takes precedence."""
    with contextlib.suppress(ValueError):
        return max(0, int(os.environ.get(VARIABLE, "")))
    limits = [_free_memory(), *_group_limits()]
    return min(limit for limit in limits if limit is not None)


def _free_memory() -> int:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (_PROC / "meminfo").read_text(encoding="ascii").splitlines():
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


def _group_limits() -> list[int | None]:
    try:
        lines = (_PROC / "self/cgroup").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
    limits: list[int | None] = []
    for line in lines:
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        for controller in _GROUP_FILES.keys() & controllers.split(","):
            root, folder = _GROUPS / controller, _GROUPS / controller / group.lstrip("/")
            folders = [f for f in (folder, *folder.parents) if f.is_relative_to(root)]
            limits += [_group_allowance(f, *_GROUP_FILES[controller]) for f in folders]
    return limits


def _group_allowance(folder: Path, limit: str, used: str) -> int | None:
    try:
        max_bytes = int((folder / limit).read_text(encoding="ascii"))
        used_bytes = int((folder / used).read_text(encoding="ascii"))
        statistics = (folder / "memory.stat").read_text(encoding="ascii").split()
    except (OSError, ValueError):  # "max" is no limit
        return None
    counts = dict(zip(statistics[::2], statistics[1::2], strict=False))
    dropped = int(counts.get("inactive_file", counts.get("total_inactive_file", "0")))
    return max(0, max_bytes - max(0, used_bytes - dropped))
