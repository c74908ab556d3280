"""Registries: the program's own entries by name, and those of installed packages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from core.ordinary_files import read_ordinary
from core.wording import printable_text, shortened_text

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
R = TypeVar("R")

MAX_RECORD_BYTES = 1_000_000  # of a package's entry points

_faults: dict[tuple[str, str], str] = {}  # by group and entry point


def extension_errors() -> list[str]:
    """A sentence for each omitted extension of the registries read so far."""
    # One record may spoil several registries.
    return [printable_text(shortened_text(fault, 400)) for fault in dict.fromkeys(_faults.values())]


class Registry(Mapping[str, T], Generic[T]):
    """The program's own entries by name, then those of entry points, read when first needed.

    `group` is that of the entry points ("tunescope.models"). An entry that cannot be imported, has
    a used name, or for which `check` raises an exception is omitted, see `extension_errors`.
    """

    def __init__(self, group: str, own_entries: Iterable[T], check: Callable[[Any], None]) -> None:
        self.group = group
        self.own_entries = {_name_of(entry): entry for entry in own_entries}
        self._check = check
        self._points: dict[str, Any] = {}  # by the names of the entries that they gave

    @cached_property
    def _all_entries(self) -> dict[str, T]:
        entries = dict(self.own_entries)
        # By name, for the order of the installed packages differs between machines.
        for point in sorted(_entry_points(self.group), key=lambda point: point.name):
            try:
                entry = point.load()
                self._check(entry)
                name = _name_of(entry)
                if name in entries:
                    raise ValueError(f"the name “{name}” is taken")
                entries[name], self._points[name] = entry, point
            except (Exception, SystemExit) as error:  # whatever fails, the program goes on
                self._name_fault(point, error)
        return entries

    def _name_fault(self, point: Any, error: BaseException) -> None:
        problem = f"The extension “{point.name}” ({point.value}) is left out"
        _faults[self.group, point.name] = f"{problem}: {_error_text(error)}."

    def answers(self, ask: Callable[[T], R]) -> dict[str, R]:
        """{name: `ask(entry)`}; an extension for which it raises is omitted from then on."""
        answers = {}
        # A copy, as what raises is removed on the way.
        for name, entry in list(self.items()):
            try:
                answers[name] = ask(entry)
            except Exception as error:
                # A defect of the program's own entries is to be seen.
                if name in self.own_entries:
                    raise
                del self._all_entries[name]
                self._name_fault(self._points[name], error)
        return answers

    def __getitem__(self, name: str) -> T:
        # An own entry is given without looking for packages, which takes a command's start.
        return self.own_entries[name] if name in self.own_entries else self._all_entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self.own_entries or name in self._all_entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._all_entries)

    def __len__(self) -> int:
        return len(self._all_entries)


def _entry_points(group: str) -> Iterator[EntryPoint]:
    """Those of the packages on the path of modules; a package without a usable record is named."""
    # Not importlib.metadata.entry_points, which waits for ever where a pipe lies in a package, and
    # which one damaged record ends.
    from configparser import ConfigParser, Error
    from importlib.metadata import EntryPoint

    for name, record in _package_records().items():
        try:
            text = read_ordinary(record, MAX_RECORD_BYTES).decode()
            if f"[{group}]" not in text:
                continue
            points = ConfigParser(delimiters="=", strict=False, interpolation=None)
            points.optionxform = str  # type: ignore[assignment, method-assign]
            points.read_string(text)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, Error) as error:
            reason = error.strerror if isinstance(error, OSError) else _error_text(error)
            _faults[group, name] = f"Extensions of the package “{name}” are left out: {reason}."
            continue
        if points.has_section(group):
            for key, value in points.items(group):
                yield EntryPoint(key, value, group)


def _package_records() -> dict[str, Path]:
    """{package: the file of its entry points}; of two of a name the first on the path counts.

    Packages inside of archives (.zip, .egg) bring none: nothing is unpacked to look for them.
    """
    records: dict[str, Path] = {}
    for folder in sys.path:
        try:
            names = os.listdir(folder or os.curdir)
        except OSError:
            continue
        for name in names:
            stem, ending = os.path.splitext(name)
            if ending.lower() in (".dist-info", ".egg-info"):
                package = stem.partition("-")[0].lower().replace("_", "-").replace(".", "-")
                records.setdefault(package, Path(folder, name, "entry_points.txt"))
    return records


def check_kind(entry: Any, kind: type) -> None:
    """Raise a TypeError where an extension's object is not of its group's kind."""
    if not isinstance(entry, kind):
        name = type(entry).__name__
        article = "an" if name[:1].lower() in "aeiou" else "a"
        raise TypeError(f"it is no {kind.__name__} but {article} {name}")


def _error_text(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def _name_of(entry: Any) -> str:
    return str(entry.name)
