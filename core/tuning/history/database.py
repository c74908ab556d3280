"""The file of the history: an SQLite database, its schema and versions, and what can befall it.

Written in write-ahead mode with ``synchronous=NORMAL``: a committed trial is in the hands of the
system, so that killing the program loses nothing; where the power fails, the last seconds may be
missing, but the file is whole. Several programs may write at once and wait for each other.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from core.errors import UnusableError

PATIENCE = 30.0  # seconds that one program waits for another
OURS = 0x54756E65  # "Tune", SQLite's application_id
DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
UNWRITABLE = (
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
)
COMPANIONS = ("", "-wal", "-shm")  # what SQLite may keep beside the file, and the file itself


@dataclass(frozen=True)
class OpenFile:
    """An open history.

    Attributes:
        database: the connection; every statement outside of BEGIN … COMMIT commits itself.
        writable: whether it can be written; otherwise `database` is a copy in memory.
        notice: a sentence for a person about what happened while opening; "" for nothing.
    """

    database: sqlite3.Connection
    writable: bool = True
    notice: str = ""


def open_file(path: Path) -> OpenFile:
    """Open or create a history; bring one of an older version up to date.

    A damaged file is renamed and a new one begun. One that cannot be written
    is read.

    Raises:
        UnusableError: it is of a newer version or another program's, or can be neither written nor
            read.
    """
    before = _identity(path)
    try:
        if path.is_dir():
            raise _unusable("there is a folder where the history should be", path)
        path.parent.mkdir(parents=True, exist_ok=True)
        return OpenFile(_writable(path))
    except OSError as error:
        raise _unusable(f"the history cannot be kept here ({error.strerror})", path) from error
    except sqlite3.DatabaseError as error:
        failure = error
    if _code(failure) in DAMAGED:
        return _begun_anew(path, before)
    if _code(failure) in UNWRITABLE and before is not None:
        return _read_only(path)
    raise in_words(failure, path) from failure


def in_words(error: sqlite3.Error, path: Path) -> UnusableError:
    """What a failure of SQLite means, as a sentence."""
    code = _code(error)
    if code == sqlite3.SQLITE_FULL:
        cure = "free some space; what the history holds is kept"
        return UnusableError("the disk is full", where=str(path), cure=cure)
    if code in DAMAGED:
        cure = "start the program again, which puts it aside and begins a new one"
        return UnusableError("the history is damaged", where=str(path), cure=cure)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        cure = "close the other program that uses it"
        return UnusableError("the history is locked", where=str(path), cure=cure)
    return _unusable(f"the history cannot be read or written ({error})", path)


def erase_traces(database: sqlite3.Connection) -> None:
    """Rewrite the file so that nothing of what was deleted can be read back from it."""
    database.execute("VACUUM")
    database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _unusable(what: str, path: Path) -> UnusableError:
    cure = "name a file that you may write to in TUNESCOPE_HISTORY"
    return UnusableError(what, where=str(path), cure=cure)


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_dev, about.st_ino


def _writable(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        _refuse_strangers(database, path)
        database.execute("PRAGMA secure_delete = ON")
        database.execute("PRAGMA temp_store = MEMORY")  # no copies in folders of others
        wal = _write_ahead(database)
        database.execute(f"PRAGMA synchronous = {'NORMAL' if wal else 'FULL'}")
        database.execute("BEGIN IMMEDIATE")
        _migrate(database, path)
        database.execute("DELETE FROM switches WHERE 0")  # fails where nothing can be written
        database.execute("COMMIT")
        _check(database)
    except BaseException:
        database.close()
        raise
    return database


def _write_ahead(database: sqlite3.Connection) -> bool:
    """Whether the write-ahead log is on; some network drives do not allow it.

    The change of mode is the one step that SQLite does not wait for by itself.
    """
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            return bool(database.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal")
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.005)


def _refuse_strangers(database: sqlite3.Connection, path: Path) -> None:
    tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    (mark,) = database.execute("PRAGMA application_id").fetchone()
    if tables and mark != OURS:
        raise _unusable("this database is not a history of Tunescope", path)


def _check(database: sqlite3.Connection) -> None:
    """Raises sqlite3.DatabaseError with SQLITE_CORRUPT where the file is damaged."""
    found = database.execute("PRAGMA quick_check(1)").fetchone()[0]
    try:
        for table, columns in TABLES.items():
            database.execute(f"SELECT {columns} FROM {table} LIMIT 0")
    except sqlite3.OperationalError as error:
        found = str(error)
    if found != "ok":
        damaged = sqlite3.DatabaseError(found)
        damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
        raise damaged


def _begun_anew(path: Path, before: tuple[int, int] | None) -> OpenFile:
    notice = ""
    if _identity(path) == before:  # otherwise another program has just done so
        name = _put_aside(path)
        notice = f"The history was damaged. It was renamed to {name}, and a new one begun."
    try:
        return OpenFile(_writable(path), notice=notice)
    except sqlite3.DatabaseError as error:
        raise in_words(error, path) from error


def _put_aside(path: Path) -> str:
    """The new name of a damaged file; what SQLite keeps beside it goes along."""
    aside = _free_name(path)
    try:
        for companion in reversed(COMPANIONS):
            beside = path.with_name(path.name + companion)
            if beside.exists():
                beside.rename(aside.with_name(aside.name + companion))
    except OSError as error:
        raise _unusable("the history is damaged and cannot be renamed", path) from error
    return aside.name


def _free_name(path: Path) -> Path:
    moment = datetime.now().astimezone().strftime("%Y-%m-%d_%H%M%S")
    aside, count = path.with_name(f"{path.stem}.damaged-{moment}{path.suffix}"), 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{path.stem}.damaged-{moment}_{count}{path.suffix}")
    return aside


def _read_only(path: Path) -> OpenFile:
    """A copy in memory, brought up to date there.

    A file in write-ahead mode wants companions beside it even for reading; where they cannot be
    made, nobody writes it, and it is read as one that does not change.
    """
    database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    try:
        try:
            _copy(path, "mode=ro", database)
        except sqlite3.OperationalError:
            _copy(path, "mode=ro&immutable=1", database)
        _refuse_strangers(database, path)
        database.execute("BEGIN")
        _migrate(database, path)
        database.execute("COMMIT")
        _check(database)
    except sqlite3.DatabaseError as error:
        database.close()
        raise in_words(error, path) from error
    except UnusableError:
        database.close()
        raise
    notice = "The history cannot be written. What it holds is used; nothing is added."
    return OpenFile(database, False, notice)


def _copy(path: Path, how: str, into: sqlite3.Connection) -> None:
    address = f"file:{quote(str(path.resolve()))}?{how}"
    with closing(sqlite3.connect(address, PATIENCE, uri=True)) as source:
        source.backup(into)


# ------------------------------------------------------------------------------------- versions


def _migrate(database: sqlite3.Connection, path: Path) -> None:
    """Bring the schema up to date, inside the caller's transaction."""
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise UnusableError(
            f"the history is of a newer version ({version}) than this program knows "
            f"({len(MIGRATIONS)})",
            where=str(path),
            cure="update Tunescope, or name another file in TUNESCOPE_HISTORY",
        )
    if version == len(MIGRATIONS):
        return
    for migration in MIGRATIONS[version:]:
        migration(database)
    database.execute(f"PRAGMA application_id = {OURS}")
    database.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")


def _first(database: sqlite3.Connection) -> None:
    """Datasets and their trials, every setting a JSON object."""
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


def _second(database: sqlite3.Connection) -> None:
    """The axes stand with the dataset, settings are their values alone; origins and switches."""
    database.execute("ALTER TABLE datasets ADD COLUMN axes TEXT NOT NULL DEFAULT '[]'")
    database.execute("ALTER TABLE datasets ADD COLUMN origin TEXT NOT NULL DEFAULT 'run'")
    database.execute("CREATE INDEX datasets_of ON datasets (model, metric)")
    database.execute("CREATE TABLE switches (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
    axes: dict[int, list[str]] = {}
    trials = database.execute("SELECT dataset, number, setting FROM trials").fetchall()
    for dataset, number, text in trials:
        setting = json.loads(text)
        values = [setting.get(name) for name in axes.setdefault(dataset, list(setting))]
        database.execute(
            "UPDATE trials SET setting = ? WHERE dataset = ? AND number = ?",
            (json.dumps(values), dataset, number),
        )
    for dataset, names in axes.items():
        database.execute(
            "UPDATE datasets SET axes = ? WHERE number = ?", (json.dumps(names), dataset)
        )


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_first, _second)
"""From version k of the schema to k + 1; a new file goes through all of them."""

TABLES = {
    "datasets": "number, id, began, model, task, metric, maximize, strategy, log_rows, "
    "log_features, classes, axes, origin",
    "trials": "dataset, number, setting, score",
    "switches": "name, value",
}
