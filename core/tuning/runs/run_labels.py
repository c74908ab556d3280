"""A name and a note that a person gives to a run, in a file of its own in the run's folder.

A folder may come from a stranger: the file holds text that can be shown, or counts as empty.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.errors import UnusableError, write_error
from core.writing import write_whole

LABEL = "label.json"
LONGEST_NAME, LONGEST_NOTE = 120, 10_000  # characters
MAX_BYTES = 1 << 17  # of the file: 10,000 characters, each written as \uXXXX, fit


@dataclass(frozen=True)
class RunLabel:
    """A run's name ("" for that of its folder) and the note about it."""

    name: str = ""
    note: str = ""


def read_label(folder: Path) -> RunLabel:
    """The label in a folder; empty where there is none, or no valid one."""
    try:
        plain = json.loads(_content(folder / LABEL))
    except (OSError, ValueError, RecursionError):
        return RunLabel()
    if not isinstance(plain, dict):
        return RunLabel()
    return RunLabel(_clean_line(plain.get("name")), _clean_lines(plain.get("note")))


def write_label(folder: Path, label: RunLabel) -> RunLabel:
    """Write the label whole; what was written, without unprintable characters.

    Raises:
        UnusableError: a text is too long, the folder is gone, or it cannot be written.
    """
    name, note = label.name.strip(), label.note.rstrip()
    for field, text, limit in (("name", name, LONGEST_NAME), ("note", note, LONGEST_NOTE)):
        if len(text) > limit:
            problem = f"the {field} has {len(text):,} characters"
            raise UnusableError(problem, cure=f"write at most {limit:,}")
    clean_label = RunLabel(_clean_line(name), _clean_lines(note))
    if not folder.is_dir():
        raise UnusableError("this run is not there any more", where=str(folder), cure="look again")
    try:
        write_whole(folder / LABEL, json.dumps(asdict(clean_label), ensure_ascii=False, indent=1))
    except OSError as error:
        raise write_error("the name and the note", folder, error) from error
    return clean_label


def _content(path: Path) -> bytes:
    """The file's bytes; OSError or ValueError where it is unreadable, a pipe, or too long."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("no ordinary file")
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError("too long")
    return content


def _clean_line(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    return printable_text(" ".join(value.split())[:LONGEST_NAME])


def _clean_lines(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    text = value.replace("\r\n", "\n").replace("\r", "\n")[:LONGEST_NOTE].replace("\t", " ")
    return "\n".join(map(printable_text, text.split("\n")))


def printable_text(text: str) -> str:
    """The text with U+FFFD for each unprintable character."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
