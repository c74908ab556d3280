"""Registries: the program's own entries by name, and those of installed packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_faults: dict[tuple[str, str], str] = {}  # by group and entry point


def extension_errors() -> list[str]:
    """A sentence for each omitted extension of the registries read so far."""
    return list(_faults.values())


class Registry(Mapping[str, T], Generic[T]):
    """The program's own entries by name, then those of entry points, read when first needed.

    An entry that cannot be imported, fails its check or has a used name is omitted, see
    `extension_errors`.

    Args:
        group: of the entry points ("tunescope.models").
        own_entries: the program's entries; each has a `name`.
        check: raises an exception for an unusable entry.
    """

    def __init__(self, group: str, own_entries: Iterable[T], check: Callable[[Any], None]) -> None:
        self.group = group
        self.own_entries = {_name_of(entry): entry for entry in own_entries}
        self._check = check
        self._points: dict[str, Any] = {}  # by the names of the entries that they gave

    @cached_property
    def _all_entries(self) -> dict[str, T]:
        # Its import takes longer than reading the entry points.
        from importlib.metadata import entry_points

        entries = dict(self.own_entries)
        try:
            # By name, for the order of the installed packages differs between machines.
            points = sorted(entry_points(group=self.group), key=lambda point: point.name)
        except Exception as error:  # one damaged package spoils the reading of all
            _faults[self.group, ""] = f"No extension can be read: {_error_text(error)}."
            return entries
        for point in points:
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


def check_kind(entry: Any, kind: type) -> None:
    """Raise a TypeError where an extension's object is not of its group's kind."""
    if not isinstance(entry, kind):
        raise TypeError(f"it is no {kind.__name__} but {_article(type(entry).__name__)}")


def _error_text(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__


def _article(word: str) -> str:
    return f"{'an' if word[:1].lower() in 'aeiou' else 'a'} {word}"


def _name_of(entry: Any) -> str:
    return str(entry.name)
