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
NUMBERS = frozenset({int, float})
LARGEST = 2**63  # what numpy counts to
NOTHING: frozenset[type] = frozenset()
AS_IS: dict[Any, frozenset[type]] = {  # what the readers of these give back unchanged
    str: frozenset({str}),
    bool: frozenset({bool}),
    float: NUMBERS,
    float | None: NUMBERS | {types.NoneType},
    dict[str, Any]: frozenset({dict}),
}


def read_as(kind: type[T], plain: dict[str, Any]) -> T:
    """A dataclass from its fields in JSON.

    Raises:
        ValueError: a field is missing or has another type; the message names it.
    """
    readers, values, factories, as_is = _shape(kind)  # type: ignore[arg-type]
    given, name = values.copy(), ""
    try:
        for name, value in plain.items():
            if type(value) in as_is.get(name, NOTHING):
                given[name] = value
            elif (reader := readers.get(name)) is not None:
                given[name] = reader(value)
    except ValueError as error:
        raise ValueError(f"{kind.__name__}.{name}: {error}") from None
    if len(given) < len(readers):
        for name in readers:
            if name in factories and name not in given:
                given[name] = factories[name]()
            elif name not in given:
                raise ValueError(f"{kind.__name__}.{name}: missing")
    return made_of(kind, given)


def made_of(kind: type[T], given: dict[str, Any]) -> T:
    """An object of a dataclass from all of its fields; a frozen one's __init__ takes four times."""
    made = object.__new__(kind)
    held = made.__dict__  # where filled one by one, all objects of the kind share its keys
    for name, value in given.items():
        held[name] = value
    return made


@cache
def _shape(
    kind: Any,
) -> tuple[
    dict[str, Reader], dict[str, Any], dict[str, Callable[[], Any]], dict[str, frozenset[type]]
]:
    """What it takes to read a dataclass.

    The readers of its fields, the usual values, what makes those that change, and of which types a
    field's value is taken as it is.

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
        {f.name: AS_IS[hints[f.name]] for f in own if hints[f.name] in AS_IS},
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
    if hint is int:
        return _whole
    if hint in (str, bool):
        return lambda value: value if type(value) is hint else _refuse(value)
    if origin in (Union, types.UnionType) and inner[1:] == (types.NoneType,):
        read = _reader(inner[0])
        return lambda value: None if value is None else read(value)
    if origin in (Union, types.UnionType):
        return _either([_reader(one) for one in inner])
    if origin is list:
        return _list_reader(inner[0])
    if origin is dict and inner == (str, Any):
        return lambda value: _a(dict, value)
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


def _whole(value: Any) -> int:
    fits = type(value) is int and -LARGEST <= value < LARGEST
    return value if fits else _refuse(value)


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
