"""Dataclasses read from JSON by the types of their fields.

Null is NaN where a float is required. A whole number in place of a float stays one. Unknown fields
are ignored, so that files of newer versions open.
"""

from __future__ import annotations

import math
import types
from dataclasses import MISSING, fields, is_dataclass
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

T = TypeVar("T")
_INTEGER = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]  # what numpy counts to
_NUMBER = Union[_INTEGER, float]  # noqa: UP007 - the form in which it is compared
_PREPARED: set[type] = set()


def read_as(kind: type[T], plain: Any) -> T:
    """A dataclass from its fields in JSON; a ValueError names one that lacks or is no such type."""
    _field_types(kind)
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError:
        # Null for NaN is rare, so that the walk is taken by these files alone.
        plain = _with_not_a_number(plain, kind)
    except AttributeError:  # msgspec asks a NumPy number for its fields
        raise ValueError(f"{kind.__name__}: a number where fields should be") from None
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        problem, _, path = str(error).replace("`", "").partition(" - at $")
        raise ValueError(f"{kind.__name__}{path}: {problem.lower()}") from None


def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """A decoder of a dataclass or structure from JSON, several times as fast as `read_as`.

    It raises a ValueError also where null is NaN.
    """
    return msgspec.json.Decoder(_json_type(kind))


def structure_of(kind: Any, **options: Any) -> type[msgspec.Struct]:
    """A structure with the fields of a dataclass, each with a default; `options` of `defstruct`."""
    types, structure_fields = _field_types(kind), list[Any]()
    for field in fields(kind):
        make: Any = field.default_factory
        default = field.default if make is MISSING else msgspec.field(default_factory=make)
        structure_fields.append((field.name, types[field.name], default))
    return msgspec.defstruct(kind.__name__, structure_fields, **options)


def _is_record(hint: Any) -> bool:
    return is_dataclass(hint) or isinstance(hint, type(msgspec.Struct))


def _field_types(kind: Any) -> dict[str, Any]:
    if kind not in _PREPARED:
        _PREPARED.add(kind)
        hints = get_type_hints(kind, include_extras=True)
        own = fields(kind) if is_dataclass(kind) else msgspec.structs.fields(kind)
        # msgspec takes the types from there, and with ours their limits.
        kind.__annotations__ = {each.name: _json_type(hints[each.name]) for each in own}
    annotations: dict[str, Any] = kind.__annotations__
    return annotations


def _json_type(hint: Any) -> Any:
    if _is_record(hint):
        _field_types(hint)
    # Without `_NUMBER` msgspec makes floats of whole numbers.
    origin, inner = get_origin(hint), tuple(map(_json_type, get_args(hint)))
    if origin in (Union, types.UnionType):
        return Union[inner]  # noqa: UP007
    if origin in (list, tuple, dict):
        return origin[inner]
    return {int: _INTEGER, float: _NUMBER}.get(hint, hint)


def _with_not_a_number(plain: Any, hint: Any) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if plain is None:
        return math.nan if hint == _NUMBER else None
    if origin is Union:
        for member in inner:
            plain = _with_not_a_number(plain, member)
    elif origin in (list, tuple) and isinstance(plain, list):
        return [_with_not_a_number(element, inner[0]) for element in plain]
    elif origin is dict and isinstance(plain, dict):
        return {name: _with_not_a_number(value, inner[1]) for name, value in plain.items()}
    elif _is_record(hint) and isinstance(plain, dict):
        hints = _field_types(hint)
        return {name: _with_not_a_number(value, hints.get(name)) for name, value in plain.items()}
    return plain
