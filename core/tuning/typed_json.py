"""Plain data as strict JSON, and read back by the type that it must have.

JSON lacks not-a-number: null stands for it wherever a number must be. Fields that a dataclass does
not have are passed over, so that files of newer versions open.
"""

from __future__ import annotations

import contextlib
import math
import types
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from itertools import chain
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Reader = Callable[[Any], Any]
Check = Callable[[Sequence[Any]], bool]
LARGEST = 2**63  # what numpy counts to
NOTHING: frozenset[type] = frozenset()
FLOAT = frozenset({float})
AS_IS: dict[Any, frozenset[type]] = {  # what the readers of these give back unchanged
    str: frozenset({str}),
    bool: frozenset({bool}),
    float: FLOAT,
    float | None: FLOAT | {types.NoneType},
    dict[str, Any]: frozenset({dict}),
}


@dataclass(frozen=True)
class Shape:
    """What it takes to read a dataclass, for each of its fields by name, in their order.

    Attributes:
        readers: what reads a value.
        values, factories: the usual value, or what makes it where it can change.
        as_is: the types of which a value is taken as it is.
        checks: whether each of many values is what its reader would give back.
    """

    readers: dict[str, Reader]
    values: dict[str, Any]
    factories: dict[str, Callable[[], Any]]
    as_is: dict[str, frozenset[type]]
    checks: dict[str, Check]


def read_as(kind: type[T], plain: dict[str, Any]) -> T:
    """A dataclass from its fields in JSON.

    Raises:
        ValueError: a field is missing or has another type; the message names it.
    """
    shape = _shape(kind)  # type: ignore[arg-type]
    readers, as_is, factories = shape.readers, shape.as_is, shape.factories
    given, name = shape.values.copy(), ""
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
    return kind(**given)


def read_all_as(
    kind: type[T], plains: Sequence[dict[str, Any]], before: tuple[str, ...] = ()
) -> list[T]:
    """The same of many: in half the time where each has all fields, in order and as they are.

    Args:
        kind: the dataclass.
        plains: the fields of each.
        before: names that may come before the fields and are passed over.

    Raises:
        ValueError: as `read_as`, of the first that cannot be read.
    """
    checks = _shape(kind).checks  # type: ignore[arg-type]
    if set(map(tuple, plains)) == {(*before, *checks)}:
        columns = list(zip(*map(dict.values, plains), strict=True))[len(before) :]
        if all(check(column) for check, column in zip(checks.values(), columns, strict=True)):
            return list(map(kind, *columns))
    return [read_as(kind, plain) for plain in plains]


@cache
def _shape(kind: Any) -> Shape:
    """What it takes to read a dataclass.

    Raises:
        TypeError: making one takes more than setting its fields.
    """
    if hasattr(kind, "__post_init__") or hasattr(kind, "__slots__"):
        raise TypeError(f"{kind.__name__} is more than its fields")
    hints, own = get_type_hints(kind), fields(kind)
    return Shape(
        readers={f.name: _reader(hints[f.name]) for f in own},
        values={f.name: f.default for f in own if f.default is not MISSING},
        factories={f.name: f.default_factory for f in own if f.default_factory is not MISSING},
        as_is={f.name: AS_IS[hints[f.name]] for f in own if hints[f.name] in AS_IS},
        checks={f.name: _check(hints[f.name]) for f in own},
    )


def _check(hint: Any) -> Check:
    """What tells whether the reader of a type gives each of many values back unchanged."""
    if hint in AS_IS:
        kinds = AS_IS[hint]
        return lambda column: kinds.issuperset(map(type, column))
    if hint is int:
        return lambda column: (
            set(map(type, column)) == {int} and min(column) >= -LARGEST and max(column) < LARGEST
        )
    if hint == list[float]:
        return lambda column: (
            set(map(type, column)) == {list}
            and FLOAT.issuperset(map(type, chain.from_iterable(column)))
        )
    return lambda column: False


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
            value if FLOAT.issuperset(map(type, _a(list, value))) else [_number(v) for v in value]
        )
    read = _reader(item)
    return lambda value: [read(v) for v in _a(list, value)]


def _whole(value: Any) -> int:
    fits = type(value) is int and -LARGEST <= value < LARGEST
    return value if fits else _refuse(value)


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    return value if type(value) is float else _whole(value)


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
