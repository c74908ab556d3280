"""The one error that is meant for people: what is wrong, where, and the cure."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable
from pathlib import Path

from core.wording import printable_text, shortened_text, with_short_names

MAX_LOCATION, MAX_LETTERS = 400, 1500  # of a clause, which may quote a name of any length
MAX_COMPARED = 100  # letters of a word whose nearest name is sought


class UnusableError(Exception):
    """Unusable input or circumstances; every other exception is a defect.

    Args:
        what: a clause without a full stop ("the file is empty").
        where: file, line, column or option ("heart.csv, line 3"); may be empty.
        cure: what the person can do, a clause ("give every row 14 values").
    """

    def __init__(self, what: str, *, where: str = "", cure: str = "") -> None:
        self.what = what
        self.where = where
        self.cure = cure
        super().__init__(self.sentence)

    @property
    def sentence(self) -> str:
        """One line: "where: what; cure.", with a question mark where the cure is a question."""
        # Clauses may quote other libraries, whose messages have line breaks.
        location = shortened_text(self.where, MAX_LOCATION)
        clauses = (with_short_names(clause) for clause in (self.what, self.cure))
        what, cure = (shortened_text(clause, MAX_LETTERS) for clause in clauses)
        end = "?" if self.cure.startswith("did you mean") else "."
        words = f"{location and f'{location}: '}{what}{cure and f'; {cure}'}{end}"
        # Nor does a terminal obey what a file is called.
        return printable_text(words)

    def __reduce__(self) -> tuple[object, ...]:
        # Pickle would call the class with `args`, and subclasses take other arguments.
        return (_rebuild, (type(self), vars(self)))


def nearest_names_cure(named: Iterable[str], word: str) -> str:
    """The cure for an unknown name: the nearest known one, or all of them."""
    names = list(named)
    near = difflib.get_close_matches(word, names, n=1) if len(word) <= MAX_COMPARED else []
    return f"did you mean {near[0]}" if near else f"choose one of {', '.join(names)}"


def write_error(
    subject: str,
    where: Path | str,
    error: OSError,
    cure: str = "choose another folder or name",
    room: str = "free some space",
) -> UnusableError:
    """The error for a `subject` ("the file") that cannot be written; `room` cures a full disk."""
    # A quota that is used up looks like a full disk to a person.
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return UnusableError("the disk is full", where=str(where), cure=room)
    why = f" ({error.strerror or error})" if error.args else ""
    return UnusableError(f"{subject} cannot be written{why}", where=str(where), cure=cure)


def _rebuild(kind: type[UnusableError], fields: dict[str, object]) -> UnusableError:
    error = kind.__new__(kind)
    vars(error).update(fields)
    error.args = (error.sentence,)
    return error
