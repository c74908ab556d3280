"""Preferences on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

TELLS_ENDS = "window/tells_ends"  # a desktop notice when a run ends
HERE, LOCAL, SCHEDULER = PLACES = ("here", "local", "scheduler")  # where trials run
CLUSTER_FIELDS = ("address", "ca", "certificate", "key")  # of a scheduler
_SCHEMES = ("system", "light", "dark")


class _Where:
    file: Path | None = None
    store: QSettings | None = None


def use_file(path: Path | None) -> None:
    """Store in this file; None for the default location."""
    if _Where.store is not None:
        # Qt writes late, and the next store may read the same file.
        _Where.store.sync()
    _Where.file, _Where.store = path, None


def settings_store() -> QSettings:
    """The settings on disk."""
    if _Where.store is None:
        if _Where.file is not None:
            _Where.store = QSettings(str(_Where.file), QSettings.Format.IniFormat)
        else:
            # A file on every system, where Qt would take the registry or a property list.
            ini, user = QSettings.Format.IniFormat, QSettings.Scope.UserScope
            _Where.store = QSettings(ini, user, "Tunescope", "tunescope")
    return _Where.store


def settings_folder() -> Path:
    """The folder of the settings file; it is created."""
    folder = Path(settings_store().fileName()).parent
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def stored_text(key: str, default: str = "") -> str:
    """A stored text."""
    value = settings_store().value(key, default)
    return default if value is None else str(value)


def stored_number(key: str, default: float) -> float:
    """A stored number; the default for an invalid entry."""
    value = settings_store().value(key, default)
    try:
        return float(value) if isinstance(value, (str, float, int)) else default
    except ValueError:
        return default


def stored_flag(key: str, default: bool = False) -> bool:
    """A stored yes or no."""
    # “true” is how Qt writes a flag that was given to it as one.
    return stored_text(key, "yes" if default else "no") in {"yes", "true"}


def remember(key: str, value: Any) -> None:
    """Store a value; yes and no as words."""
    settings_store().setValue(key, ("yes" if value else "no") if isinstance(value, bool) else value)


def forget_all() -> None:
    """Forget everything."""
    settings_store().clear()


def colour_scheme() -> str:
    """system, light or dark."""
    chosen = stored_text("look/scheme", "system")
    return chosen if chosen in _SCHEMES else "system"


def remember_scheme(chosen: str) -> None:
    """Store system, light or dark."""
    remember("look/scheme", chosen if chosen in _SCHEMES else "system")


def text_percent() -> int:
    """The text size in percent, 100 to 200."""
    return int(min(200, max(100, stored_number("look/text_percent", 100))))


def remember_text_percent(percent: int) -> None:
    """Store the text size in percent."""
    remember("look/text_percent", percent)


def geometry() -> QByteArray | None:
    """The stored geometry of the window."""
    value = settings_store().value("window/geometry")
    return value if isinstance(value, QByteArray) and not value.isEmpty() else None


def remember_geometry(value: QByteArray) -> None:
    """Store the geometry of the window."""
    settings_store().setValue("window/geometry", value)


def recent_files() -> list[str]:
    """The recently opened files, newest first."""
    value = settings_store().value("data/recent", [])
    # Qt gives a list of one back as a text.
    if isinstance(value, str):
        return [value]
    return [str(name) for name in value] if isinstance(value, list) else []


def remember_file(file: str) -> None:
    """Put a file at the head of six recent files."""
    other_files = [name for name in recent_files() if name != file]
    settings_store().setValue("data/recent", [file, *other_files][:6])


def execution_mode() -> str:
    """Where trials run: HERE, LOCAL (a cluster on this computer) or SCHEDULER."""
    chosen = stored_text("cluster/where", HERE)
    return chosen if chosen in PLACES else HERE


def cluster_field(name: str) -> str:
    """The scheduler's address, or the path of a certificate."""
    return stored_text(f"cluster/{name}", "")


def remember_mode(chosen: str, fields: dict[str, str]) -> None:
    """Store where trials run, and the scheduler's fields."""
    remember("cluster/where", chosen if chosen in PLACES else HERE)
    for name in CLUSTER_FIELDS:
        remember(f"cluster/{name}", fields.get(name, "").strip())
