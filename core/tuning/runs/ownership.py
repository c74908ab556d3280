"""Marks that say which living process a folder belongs to."""

from __future__ import annotations

import os
from pathlib import Path


def own(mark: Path) -> None:
    """Mark a folder as this process's."""
    mark.write_text(f"{os.getpid()} {_born(os.getpid())}", encoding="utf-8")


def owner_of(mark: Path) -> int | None:
    """The living process that the mark names; a number given anew to another one is none."""
    try:
        number, _, born = mark.read_text(encoding="utf-8").partition(" ")
        owner = int(number)
        os.kill(owner, 0)
    except (OSError, ValueError):
        return None
    return None if born and born != _born(owner) else owner


def _born(process: int) -> str:
    """When a process began, in ticks since the system did; "" where the system does not say."""
    try:
        about = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return about.rpartition(")")[2].split()[19]
