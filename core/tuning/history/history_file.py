"""The open file of the history: one connection, its transactions, and its switches.

Another program may replace the file (found damaged, or emptied), so its identity is checked before
every transaction, and it is reopened where it is another.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import UnusableError
from core.tuning.history.database import file_identity, history_error, open_file

REPLACED = 3  # times that the file may be replaced while it is opened


class HistoryFile:
    """An open history; used from one thread at a time.

    Args:
        path: created where there is none.
        patience: seconds to wait for another program.
        replaced: called where a new file was found and opened.

    Raises:
        UnusableError: from every method, where the file cannot be used any more.
    """

    def __init__(self, path: Path, patience: float, replaced: Callable[[], object]) -> None:
        self.path = path
        self._patience = patience
        self._replaced = replaced
        self.notices: list[str] = []  # sentences for the person
        self._open_file()

    def _open_file(self) -> None:
        file = open_file(self.path, self._patience)
        # Statements outside of `writing` commit themselves.
        self.database, self.writable = file.database, file.writable
        self._identity = file_identity(self.path)
        self.notices += [file.notice] if file.notice else []

    def reopen_if_replaced(self) -> bool:
        """Open the file again if another program replaced it; whether it did."""
        if not self.writable or file_identity(self.path) == self._identity:
            return False
        self.database.close()
        self._replaced()
        self._open_file()
        return True

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    def switch_value(self, name: str) -> str:
        """The value of a switch; "" where it was never set."""
        cursor = self.database.execute("SELECT value FROM switches WHERE name = ?", (name,))
        row = cursor.fetchone()
        return str(row[0]) if row else ""

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
        """Raise SQLite's errors as UnusableError."""
        try:
            yield
        except sqlite3.ProgrammingError:
            raise  # a defect, as is the use of a closed history
        except sqlite3.DatabaseError as error:
            raise history_error(error, self.path) from error

    @contextmanager
    def single_statement(self) -> Iterator[None]:
        """As `translated_errors`; after a failure nothing more is written."""
        try:
            with self.translated_errors():
                yield
        except UnusableError:
            self.writable = False
            raise

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction, all or nothing."""
        with self.translated_errors():
            self._begin_writing()
            try:
                yield self.database
                self.database.execute("COMMIT")
            except BaseException:
                if self.database.in_transaction:
                    self.database.execute("ROLLBACK")
                raise

    def _begin_writing(self) -> None:
        for _ in range(REPLACED):  # some network drives call one file by ever other numbers
            if not self.writable:
                cure = "give yourself the right to write it, or name another in TUNESCOPE_HISTORY"
                problem = "the history cannot be written"
                raise UnusableError(problem, where=str(self.path), cure=cure)
            self.database.execute("BEGIN IMMEDIATE")
            if file_identity(self.path) == self._identity:  # looked at while nobody else writes
                return
            self.database.execute("ROLLBACK")
            self.reopen_if_replaced()
        self.database.execute("BEGIN IMMEDIATE")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A transaction that sees one state of the file."""
        self.reopen_if_replaced()
        with self.translated_errors():
            self.database.execute("BEGIN")
            try:
                yield self.database
            finally:
                if self.database.in_transaction:
                    self.database.execute("COMMIT")


def set_switch(database: sqlite3.Connection, name: str, value: str) -> None:
    """Set a switch, inside `HistoryFile.writing`."""
    database.execute("INSERT OR REPLACE INTO switches VALUES (?, ?)", (name, value))
