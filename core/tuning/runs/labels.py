"""What a person wrote to a run: a name and a note, in a file of their own in its folder.

The run's plan and events stay as they were. A folder may come from a stranger: whatever its file
holds is either text that can be shown, or counts as nothing.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import UnusableError, cannot_write
from core.writing import write_whole

LABEL = "label.json"
LONGEST_NAME, LONGEST_NOTE = 120, 10_000  # characters
MOST = 1 << 17  # bytes of the file that are read: 10,000 characters, each written as \uXXXX, fit


@dataclass(frozen=True)
class Label:
    """A run's name ("" for that of its folder) and the note about it."""

    name: str = ""
    note: str = ""


def read_label(folder: Path) -> Label:
    """The name and the note of the run in a folder; empty where there are none, or odd ones."""
    try:
        plain = json.loads(_content(folder / LABEL))
    except (OSError, ValueError, RecursionError):
        return Label()
    if not isinstance(plain, dict):
        return Label()
    return Label(_line(plain.get("name")), _lines(plain.get("note")))


def write_label(folder: Path, label: Label) -> Label:
    """Write name and note of the run in a folder, whole; what was written, without odd characters.

    Raises:
        UnusableError: one of them is too long, the folder is gone, or it cannot be written.
    """
    kept = Label(_line(label.name.strip()[: LONGEST_NAME + 1]), _lines(label.note.rstrip()))
    for what, text, most in (
        ("name", label.name.strip(), LONGEST_NAME),
        ("note", label.note.rstrip(), LONGEST_NOTE),
    ):
        if len(text) > most:
            raise UnusableError(
                f"the {what} has {len(text):,} characters", cure=f"write at most {most:,}"
            )
    if not folder.is_dir():
        raise UnusableError("this run is not there any more", where=str(folder), cure="look again")
    try:
        write_whole(folder / LABEL, json.dumps(asdict(kept), ensure_ascii=False, indent=1))
    except OSError as error:
        raise cannot_write("the name and the note", folder, error) from error
    return kept


def _content(path: Path) -> bytes:
    """The file's bytes; nothing waits where a pipe lies in its place.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no ordinary file, or far too long.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("no ordinary file")
        found = file.read(MOST + 1)
    if len(found) > MOST:
        raise ValueError("too long")
    return found


def _line(value: Any) -> str:
    """A text of one line as it can be shown; "" for anything else."""
    if not isinstance(value, str):
        return ""
    return "".join(_shown(one) for one in " ".join(value.split())[:LONGEST_NAME])


def _lines(value: Any) -> str:
    """A text of several lines likewise."""
    if not isinstance(value, str):
        return ""
    ends = value.replace("\r\n", "\n").replace("\r", "\n")[:LONGEST_NOTE]
    return "".join(one if one == "\n" else " " if one == "\t" else _shown(one) for one in ends)


def _shown(one: str) -> str:
    return one if one.isprintable() else "\N{REPLACEMENT CHARACTER}"
