"""The file of the history: an SQLite database, opened whatever its version or damage.

In write-ahead mode with ``synchronous=NORMAL`` a kill loses no committed trial; a power failure may
lose the last seconds, but does not damage the file. Several programs write in turn. One may replace
a damaged or emptied file, so its identity is checked before every transaction.
"""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core.errors import UnusableError
from core.ordinary_files import open_ordinary
from core.tuning.history.dataset_records import is_plain
from core.tuning.runs.run_lock import RunLockedError, hold_run_lock
from core.writing import private_opener

OURS = 0x54756E65  # "Tune", SQLite's application_id


def _bring_up_to_date(database: sqlite3.Connection, path: Path) -> None:
    database.execute("BEGIN IMMEDIATE")
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise UnusableError(
            f"the history is of a newer version ({version}) than this program knows "
            f"({len(MIGRATIONS)})",
            where=str(path),
            cure="update Tunescope, or name another file in TUNESCOPE_HISTORY",
        )
    if version < len(MIGRATIONS):
        for migration in MIGRATIONS[version:]:
            migration(database)
        database.execute(f"PRAGMA application_id = {OURS}")
        database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    database.execute("DELETE FROM switches WHERE 0")  # fails where nothing can be written
    database.execute("COMMIT")
    _check_integrity(database)


def _create_tables(database: sqlite3.Connection) -> None:
    database.execute(
        "CREATE TABLE datasets (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
        "began TEXT NOT NULL, model TEXT NOT NULL, task TEXT NOT NULL, metric TEXT NOT NULL, "
        "maximize INTEGER NOT NULL, strategy TEXT NOT NULL, log_rows REAL NOT NULL, "
        "log_features REAL NOT NULL, classes REAL NOT NULL)"
    )
    database.execute(
        "CREATE TABLE trials (dataset INTEGER NOT NULL, number INTEGER NOT NULL, "
        "setting TEXT NOT NULL, score REAL NOT NULL, PRIMARY KEY (dataset, number)) WITHOUT ROWID"
    )


def _add_axes(database: sqlite3.Connection) -> None:
    """Axes move to the dataset, settings become lists of values; origins and switches."""
    database.execute("ALTER TABLE datasets ADD COLUMN axes TEXT NOT NULL DEFAULT '[]'")
    database.execute("ALTER TABLE datasets ADD COLUMN origin TEXT NOT NULL DEFAULT 'run'")
    database.execute("CREATE INDEX datasets_of ON datasets (model, metric)")
    database.execute("CREATE TABLE switches (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    settings: dict[int, dict[int, dict[str, Any]]] = {}
    trials = database.execute("SELECT dataset, number, setting FROM trials").fetchall()
    for dataset, number, text in trials:
        if (setting := _setting(text)) is not None:
            settings.setdefault(dataset, {})[number] = setting
        else:  # an object in place of a list: readers ignore it
            _set_values(database, dataset, number, json.dumps({"damaged": str(text)}))
    for dataset, of_dataset in settings.items():
        ((names, _),) = Counter(map(tuple, of_dataset.values())).most_common(1)
        for number, setting in of_dataset.items():
            values = json.dumps([setting.get(name) for name in names])
            _set_values(database, dataset, number, values)
        axes = json.dumps(names)
        database.execute("UPDATE datasets SET axes = ? WHERE number = ?", (axes, dataset))


def _setting(text: Any) -> dict[str, Any] | None:
    try:
        content = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    is_sound = isinstance(content, dict) and all(map(is_plain, content.values()))
    return content if is_sound else None


def _set_values(database: sqlite3.Connection, dataset: int, number: int, text: str) -> None:
    change = "UPDATE trials SET setting = ? WHERE dataset = ? AND number = ?"
    database.execute(change, (text, dataset, number))


# From version k of the schema to k + 1; a new file runs all of them.
MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create_tables, _add_axes)

TABLES = {
    "datasets": "number, id, began, model, task, metric, maximize, strategy, log_rows, "
    "log_features, classes, axes, origin",
    "trials": "dataset, number, setting, score",
    "switches": "name, value",
}


MOST_HISTORY_BYTES = 1 << 36
PATIENCE = 30.0  # seconds that one program waits for another
DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
UNWRITABLE = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
)
STARTER_EDITION = "generated"  # of the starter history; the first one was "there"
SWITCHES = {("enabled", "yes"), ("enabled", "no"), ("starter", "removed")}  # that a person sets
COMPANIONS = ("", "-wal", "-shm")  # what SQLite may keep beside the file, and the file itself


@dataclass(frozen=True)
class OpenFile:
    """An open history."""

    database: sqlite3.Connection  # statements outside of BEGIN … COMMIT commit themselves
    writable: bool = True  # otherwise `database` is a copy in memory
    notice: str = ""  # a sentence about trouble while opening; "" for none


def open_file(path: Path, patience: float = PATIENCE) -> OpenFile:
    """Open or create a history; bring one of an older version up to date."""
    identity = file_identity(path)
    try:
        if path.is_dir():
            raise _unusable_error("there is a folder where the history should be", path)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists():
            open_ordinary(path, MOST_HISTORY_BYTES).close()
        else:  # it will hold what runs tell of a person's data; SQLite would let the umask decide
            open(path, "ab", opener=private_opener).close()
    except OSError as error:
        problem = f"the history cannot be kept here ({error.strerror})"
        raise _unusable_error(problem, path) from error
    with hold_file_lock(path, patience):
        try:
            return OpenFile(_writable(path, patience))
        except sqlite3.DatabaseError as error:
            failure = error
        # A damaged file is renamed and a new one begun; an unwritable one is read.
        if _error_code(failure) in DAMAGED:
            return _start_new_file(path, patience)
        # A file that was there can be read, whether or not it can be written.
        if _error_code(failure) in UNWRITABLE and identity is not None:
            return _read_only(path)
    raise history_error(failure, path) from failure


@contextmanager
def hold_file_lock(path: Path, patience: float = PATIENCE) -> Iterator[None]:
    """Keep other programs of ours from opening, renaming or replacing the file."""
    with ExitStack() as stack:
        try:
            stack.enter_context(hold_run_lock(path.with_name(path.name + "-lock"), patience))
        except RunLockedError:
            raise _locked_error(path) from None
        except OSError:
            # In a folder that cannot be written nothing is renamed or replaced either.
            pass
        yield


def file_identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of the file that has this name now; None for none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def history_error(error: sqlite3.Error, path: Path) -> UnusableError:
    """A sentence for a failure of SQLite."""
    code = _error_code(error)
    if code == sqlite3.SQLITE_FULL:
        cure = "free some space; what the history holds is kept"
        return UnusableError("the disk is full", where=str(path), cure=cure)
    if code in DAMAGED:
        cure = "start the program again, which renames it and begins a new one"
        return UnusableError("the history is damaged", where=str(path), cure=cure)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return _locked_error(path)
    return _unusable_error(f"the history cannot be read or written ({error})", path)


def is_ours(path: Path) -> bool:
    """Whether a file is a history, or cannot be another program's database."""
    try:
        with open_ordinary(path, MOST_HISTORY_BYTES) as file:
            head = file.read(100)
    except OSError:
        return False
    application = int.from_bytes(head[68:72], "big")
    return not head.startswith(b"SQLite format 3") or application in (0, OURS)


def _locked_error(path: Path) -> UnusableError:
    cure = "close the other program that uses it"
    return UnusableError("the history is locked", where=str(path), cure=cure)


def _unusable_error(problem: str, path: Path) -> UnusableError:
    cure = "name a file that you may write to in TUNESCOPE_HISTORY"
    return UnusableError(problem, where=str(path), cure=cure)


def _error_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _writable(path: Path, patience: float) -> sqlite3.Connection:
    # One thread at a time uses it, but not always the one that opened it.
    database = sqlite3.connect(
        path, timeout=patience, isolation_level=None, check_same_thread=False
    )
    database.text_factory = _decode_text
    try:
        _refuse_strangers(database, path)
        # What is deleted is overwritten, not merely unlinked.
        database.execute("PRAGMA secure_delete = ON")
        database.execute("PRAGMA temp_store = MEMORY")  # no copies in folders of others
        wal = _write_ahead(database, patience)
        database.execute(f"PRAGMA synchronous = {'NORMAL' if wal else 'FULL'}")
        _bring_up_to_date(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _decode_text(content: bytes) -> str:
    return content.decode("utf-8", errors="replace")


def _write_ahead(database: sqlite3.Connection, patience: float) -> bool:
    """Turn the write-ahead log on, if the drive allows it; SQLite does not wait for this step."""
    # SQLite's own waiting does not cover the change of the journal.
    give_up = time.monotonic() + patience
    while True:
        try:
            return bool(database.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal")
        except sqlite3.OperationalError as error:
            if _error_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.005)


def _refuse_strangers(database: sqlite3.Connection, path: Path) -> None:
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    (mark,) = database.execute("PRAGMA application_id").fetchone()
    if tables and mark != OURS:
        raise _unusable_error("this database is not a history of Tunescope", path)


def _check_integrity(database: sqlite3.Connection) -> None:
    report = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    try:
        for table, columns in TABLES.items():
            database.execute(f"SELECT {columns} FROM {table} LIMIT 0")
    except sqlite3.OperationalError as error:
        report = str(error)
    if report != "ok":
        damaged = sqlite3.DatabaseError(report)
        damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damaged


def _start_new_file(path: Path, patience: float) -> OpenFile:
    switches = read_switches(path)
    name = _put_aside(path)
    open(path, "ab", opener=private_opener).close()
    notice = f"The history was damaged. It was renamed to {name}, and a new one begun."
    try:
        database = _writable(path, patience)
        database.executemany("INSERT OR REPLACE INTO switches VALUES (?, ?)", switches)
        return OpenFile(database, notice=notice)
    except sqlite3.DatabaseError as error:
        raise history_error(error, path) from error


def read_switches(path: Path) -> list[tuple[str, str]]:
    """The person's switches, as far as a possibly damaged file can be read."""
    try:
        with connection_to(path, "mode=ro", patience=1.0) as database:
            rows = database.execute("SELECT name, value FROM switches").fetchall()
    except (sqlite3.Error, OSError):
        return []
    return [(name, value) for name, value in rows if (name, value) in SWITCHES]


def _put_aside(path: Path) -> str:
    new_path = _free_name(path)
    try:
        # The file itself goes last: until then its log belongs to it.
        for companion in reversed(COMPANIONS):
            file = path.with_name(path.name + companion)
            if file.exists():
                file.rename(new_path.with_name(new_path.name + companion))
    except OSError as error:
        raise _unusable_error("the history is damaged and cannot be renamed", path) from error
    return new_path.name


def _free_name(path: Path) -> Path:
    moment = datetime.now().astimezone().strftime("%Y-%m-%d_%H%M%S")
    new_path, count = path.with_name(f"{path.stem}.damaged-{moment}{path.suffix}"), 1
    while new_path.exists():
        count += 1
        new_path = path.with_name(f"{path.stem}.damaged-{moment}_{count}{path.suffix}")
    return new_path


def _read_only(path: Path) -> OpenFile:
    database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    database.text_factory = _decode_text
    try:
        try:
            with connection_to(path, "mode=ro") as source:
                source.backup(database)
        except sqlite3.OperationalError:
            # Reading in write-ahead mode needs companion files; where they cannot be made, nobody
            # writes the file, and it is opened as immutable.
            with connection_to(path, "mode=ro&immutable=1") as source:
                source.backup(database)
        _refuse_strangers(database, path)
        _bring_up_to_date(database, path)
    except sqlite3.DatabaseError as error:
        database.close()
        raise history_error(error, path) from error
    except UnusableError:
        database.close()
        raise
    notice = "The history cannot be written. What it holds is used; nothing is added."
    return OpenFile(database, False, notice)


def connection_to(path: Path, mode: str, patience: float = PATIENCE) -> closing[sqlite3.Connection]:
    """A connection that does not write, closed after its block."""
    address = f"file:{quote(str(path.resolve()))}?{mode}"
    return closing(sqlite3.connect(address, timeout=patience, uri=True))


REPLACED = 3  # times that the file may be replaced while it is opened


class HistoryFile:
    """An open history; used from one thread at a time. `replaced` is called for a new file."""

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
        # A copy in memory has no file that could be replaced.
        if not self.writable or file_identity(self.path) == self._identity:
            return False
        self.database.close()
        self._replaced()
        self._open_file()
        return True

    def close(self) -> None:
        self.database.close()

    def switch_value(self, name: str) -> str:
        """The value, "" where never set."""
        cursor = self.database.execute("SELECT value FROM switches WHERE name = ?", (name,))
        row = cursor.fetchone()
        return str(row[0]) if row else ""

    @contextmanager
    def translated_errors(self) -> Iterator[None]:
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
