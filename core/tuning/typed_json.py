"""Plain data as strict JSON, and read back by the type that it must have.

JSON lacks not-a-number: null stands for it wherever a number must be. Fields that a dataclass does
not have are passed over, so that files of newer versions open.
"""

from __future__ import annotations

import contextlib
import math
import types
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Reader = Callable[[Any], Any]
NUMBERS = {int, float}


def read_as(kind: type[T], plain: dict[str, Any]) -> T:
    """A dataclass from its fields in JSON.

    Raises:
        ValueError: a field is missing or has another type; the message names it.
    """
    readers, values, factories = _shape(kind)  # type: ignore[arg-type]
    given = values.copy()
    for name, reader in readers.items():
        if name in plain:
            try:
                given[name] = reader(plain[name])
            except ValueError as error:
                raise ValueError(f"{kind.__name__}.{name}: {error}") from None
        elif name in factories:
            given[name] = factories[name]()
        elif name not in values:
            raise ValueError(f"{kind.__name__}.{name}: missing")
    made = object.__new__(kind)
    made.__dict__.update(given)  # __init__ of a frozen dataclass sets field by field
    return made


@cache
def _shape(
    kind: Any,
) -> tuple[dict[str, Reader], dict[str, Any], dict[str, Callable[[], Any]]]:
    """The readers of a dataclass's fields, the usual values, and what makes those that change.

    Raises:
        TypeError: making one takes more than setting its fields.
    """
    if hasattr(kind, "__post_init__") or hasattr(kind, "__slots__"):
        raise TypeError(f"{kind.__name__} is more than its fields")
    hints, own = get_type_hints(kind), fields(kind)
    return (
        {f.name: _reader(hints[f.name]) for f in own},
        {f.name: f.default for f in own if f.default is not MISSING},
        {f.name: f.default_factory for f in own if f.default_factory is not MISSING},
    )


def _reader(hint: Any) -> Reader:
    """What reads a value of a type.

    Raises:
        TypeError: fields of such a type cannot be read.
    """
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: value
    if hint is float:
        return _number
    if hint in (int, str, bool):
        return lambda value: value if type(value) is hint else _refuse(value)
    if origin in (Union, types.UnionType) and inner[1:] == (types.NoneType,):
        read = _reader(inner[0])
        return lambda value: None if value is None else read(value)
    if origin in (Union, types.UnionType):
        return _either([_reader(one) for one in inner])
    if origin is list:
        return _list_reader(inner[0])
    if origin is dict and inner[0] is str:
        read_item = _reader(inner[1])
        return lambda value: {name: read_item(v) for name, v in _a(dict, value).items()}
    if is_dataclass(hint):
        return lambda value: read_as(hint, _a(dict, value))  # type: ignore[arg-type]
    raise TypeError(f"no reader of {hint}")


def _either(readers: list[Reader]) -> Reader:
    def read(value: Any) -> Any:
        for one in readers[:-1]:
            with contextlib.suppress(ValueError):
                return one(value)
        return readers[-1](value)

    return read


def _list_reader(item: Any) -> Reader:
    if item is float:  # thousands of numbers in one line: looked at together
        return lambda value: (
            value if set(map(type, _a(list, value))) <= NUMBERS else [_number(v) for v in value]
        )
    read = _reader(item)
    return lambda value: [read(v) for v in _a(list, value)]


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    return value if type(value) in NUMBERS else _refuse(value)


def _a(kind: type, value: Any) -> Any:
    return value if type(value) is kind else _refuse(value)


def _refuse(value: Any) -> Any:
    raise ValueError(f"a {type(value).__name__} is in its place")


def finite(value: Any) -> Any:
    """The same data without what JSON lacks: no not-a-number, no infinity, no numpy."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if hasattr(value, "item"):
        return finite(value.item())
    return value
