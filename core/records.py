"""Records: frozen dataclasses that are read and written as JSON by the names of their fields.

`record["name"]` and `record.get("name")` read a record like its JSON, for extensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import msgspec

JsonObject = dict[str, Any]  # what JSON holds between braces


def optional() -> Any:
    """A field that is absent from the JSON while it is None."""
    return field(default=None, metadata={"optional": True})


@dataclass(frozen=True)
class Record:
    """Data that travels: typed fields, which are the keys of its JSON."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        if key not in self:
            raise KeyError(key)
        return getattr(self, key)

    def __contains__(self, key: object) -> bool:
        return any(name == key for name in self)

    def __iter__(self) -> Iterator[str]:
        for each in fields(self):
            if getattr(self, each.name) is not None or "optional" not in each.metadata:
                yield each.name

    def get(self, key: str, default: Any = None) -> Any:
        """The field of this name, or the default where its JSON has no such key."""
        return getattr(self, key) if key in self else default


def to_plain(value: Any) -> Any:
    """Records, also in lists and dictionaries, and numbers of numpy, as JSON holds them."""
    if isinstance(value, Record):
        return {key: to_plain(getattr(value, key)) for key in value}
    if isinstance(value, msgspec.Struct):
        return {key: to_plain(getattr(value, key)) for key in value.__struct_fields__}
    if is_dataclass(value) and not isinstance(value, type):
        return {
            each.name: to_plain(getattr(value, each.name))
            for each in fields(value)
            if getattr(value, each.name) is not None or "optional" not in each.metadata
        }
    if isinstance(value, dict):
        return {key: to_plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(inner) for inner in value]
    # Of numpy's numbers; a text may have an attribute of that name.
    return value.item() if hasattr(value, "item") and not isinstance(value, str) else value


def strict_json(value: Any) -> Any:
    """The same data without NaN, infinities and numpy types, which JSON lacks."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): strict_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict_json(inner) for inner in value]
    # A number of numpy that is none of Python's, such as int64 and float32.
    if hasattr(value, "item"):
        return strict_json(value.item())
    return value
