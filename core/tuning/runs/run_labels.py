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

from core.errors import UnusableError, write_error
from core.writing import write_whole

LABEL = "label.json"
LONGEST_NAME, LONGEST_NOTE = 120, 10_000  # characters
MAX_BYTES = (
    1 << 17
)  # bytes of the file that are read: 10,000 characters, each written as \uXXXX, fit


@dataclass(frozen=True)
class RunLabel:
    """A run's name ("" for that of its folder) and the note about it."""

    name: str = ""
    note: str = ""


def read_label(folder: Path) -> RunLabel:
    """The name and the note of the run in a folder; empty where there are none, or odd ones."""
    try:
        plain = json.loads(_content(folder / LABEL))
    except (OSError, ValueError, RecursionError):
        return RunLabel()
    if not isinstance(plain, dict):
        return RunLabel()
    return RunLabel(_clean_line(plain.get("name")), _clean_lines(plain.get("note")))


def write_label(folder: Path, label: RunLabel) -> RunLabel:
    """Write name and note of the run in a folder, whole; what was written, without odd characters.

    Raises:
        UnusableError: one of them is too long, the folder is gone, or it cannot be written.
    """
    clean_label = RunLabel(
        _clean_line(label.name.strip()[: LONGEST_NAME + 1]), _clean_lines(label.note.rstrip())
    )
    for field_name, text, max_length in (
        ("name", label.name.strip(), LONGEST_NAME),
        ("note", label.note.rstrip(), LONGEST_NOTE),
    ):
        if len(text) > max_length:
            raise UnusableError(
                f"the {field_name} has {len(text):,} characters",
                cure=f"write at most {max_length:,}",
            )
    if not folder.is_dir():
        raise UnusableError("this run is not there any more", where=str(folder), cure="look again")
    try:
        write_whole(folder / LABEL, json.dumps(asdict(clean_label), ensure_ascii=False, indent=1))
    except OSError as error:
        raise write_error("the name and the note", folder, error) from error
    return clean_label


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
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError("too long")
    return content


def _clean_line(value: Any) -> str:
    """A text of one line as it can be shown; "" for anything else."""
    if not isinstance(value, str):
        return ""
    return "".join(_printable(character) for character in " ".join(value.split())[:LONGEST_NAME])


def _clean_lines(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    ends = value.replace("\r\n", "\n").replace("\r", "\n")[:LONGEST_NOTE]
    return "".join(
        character if character == "\n" else " " if character == "\t" else _printable(character)
        for character in ends
    )


def _printable(character: str) -> str:
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"
