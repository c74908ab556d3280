"""The versions of the history's schema, and the migration from each to the next."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.errors import UnusableError
from core.tuning.history.record_checks import is_plain

OURS = 0x54756E65  # "Tune", SQLite's application_id


def migrate(database: sqlite3.Connection, path: Path) -> None:
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


def _create_tables(database: sqlite3.Connection) -> None:
    """Datasets and their trials, settings as JSON objects."""
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
    """The setting of a row of version 1; None where it is damaged."""
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
