"""Preferences on disk."""

import os
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QSettings

from core.errors import UnusableError
from core.ordinary_files import open_ordinary

TELLS_ENDS = "window/tells_ends"  # a desktop notice when a run ends
GEOMETRY, SCHEME, TEXT_PERCENT = "window/geometry", "look/scheme", "look/text_percent"
HERE, LOCAL, SCHEDULER = PLACES = ("here", "local", "scheduler")  # where trials run
CLUSTER_FIELDS = ("address", "ca", "certificate", "key")  # of a scheduler
SCHEMES = ("system", "light", "dark")
MAX_BYTES = 1_000_000
LONGEST_PATH = 4096  # letters


class _Where:
    file: Path | None = None
    store: QSettings | None = None
    fault = ""


def use_file(path: Path | None = None) -> None:
    """Write what Qt has not, and store in this file from now on; None for the default location."""
    if _Where.store is not None:
        # Qt writes late, and the next store may read the same file.
        _Where.store.sync()
    _Where.file, _Where.store, _Where.fault = path, None, ""


def settings_file() -> Path:
    """The file on disk."""
    # A file on every system, where Qt would take the registry or a property list.
    folder = os.environ.get("APPDATA" if os.name == "nt" else "XDG_CONFIG_HOME") or ".config"
    home = Path(os.path.expanduser("~"))
    return _Where.file or home / folder / "Tunescope" / "tunescope.ini"


def settings_store() -> QSettings:
    """The settings on disk; what is no file of settings is not touched, see `settings_fault`."""
    if _Where.store is None:
        file = settings_file()
        try:
            # Before Qt does, which waits at a pipe and reads a file of any length.
            for path in (file, file.with_name(f"{file.name}.lock")):
                if os.path.lexists(path):
                    open_ordinary(path, MAX_BYTES).close()
        except OSError as error:
            cure = "move it elsewhere; until then the window begins with the defaults"
            fault = f"these settings cannot be read ({error.strerror})"
            _Where.fault = UnusableError(fault, where=str(path), cure=cure).sentence
            file = Path(os.devnull, file.name)  # there Qt finds and writes nothing
        _Where.store = QSettings(str(file), QSettings.Format.IniFormat)
    return _Where.store


def settings_fault() -> str:
    """Why the file of settings is not used, a sentence; or ""."""
    settings_store()
    return _Where.fault


def settings_folder() -> Path:
    """The folder of the settings file; it is created."""
    folder = settings_file().parent
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
    chosen = stored_text(SCHEME, "system")
    return chosen if chosen in SCHEMES else "system"


def text_percent() -> int:
    """The text size in percent, 100 to 200."""
    return int(min(200, max(100, stored_number(TEXT_PERCENT, 100))))


def geometry() -> QByteArray | None:
    """The stored geometry of the window."""
    value = settings_store().value(GEOMETRY)
    return value if isinstance(value, QByteArray) and not value.isEmpty() else None


def recent_files() -> list[str]:
    """The recently opened files, newest first."""
    value = settings_store().value("data/recent", [])
    # Qt gives a list of one back as a text.
    if isinstance(value, str):
        return [value]
    names = map(str, value) if isinstance(value, list) else []
    return [name for name in names if len(name) <= LONGEST_PATH]


def remember_file(file: str) -> None:
    """Put a file at the head of six recent files."""
    other_files = [name for name in recent_files() if name != file]
    remember("data/recent", [file, *other_files][:6])


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
