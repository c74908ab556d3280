"""The ranges that are searched: a model's axes, narrowed, widened or fixed as a person wants them.

Every fault is one sentence that names the setting; the window shows it at the field, the command
line as it is.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.errors import UnusableError, one_of
from core.space import Axis, Setting
from core.tuning.plan import Plan
from core.tuning.strategies.strategy import Strategy

FURTHEST = 1e100  # beyond it the squares and quotients of numbers have no floating-point number
LONGEST = 40  # characters of what a person gave that a sentence repeats


def as_plain(ranges: Any, fixed: Any) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Ranges and fixed values as a plan holds them, from what stands in a person's Python.

    Args:
        ranges: {setting: (from, to)}; numbers, those of numpy too, or text that says them.
        fixed: {setting: value}.

    Raises:
        UnusableError: no such mapping, or ends that are no numbers.
    """
    if not isinstance(ranges, Mapping):
        cure = "give {setting: (from, to)}, for example {'C': (0.01, 100)}"
        raise UnusableError(f"“{_short(ranges)}” names no settings", where="ranges", cure=cure)
    if not isinstance(fixed, Mapping):
        cure = "give {setting: value}, for example {'gamma': 0.1}"
        raise UnusableError(f"“{_short(fixed)}” names no settings", where="fixed", cure=cure)
    plain = {}
    for name, ends in ranges.items():
        where = f"range of {_short(name)}"
        plain[str(name)] = [_finite(end, where) for end in _ends(ends, where)]
    return plain, {str(name): _item(value) for name, value in fixed.items()}


def searched(
    axes: Sequence[Axis], ranges: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any]
) -> tuple[Axis, ...]:
    """The axes with the ranges that were given; a fixed one has a single value.

    The default of an axis goes to the nearer end where its range does not hold it.

    Args:
        axes: the model's own.
        ranges: {name: (from, to)} of numbers.
        fixed: {name: value}; choices may be given as text.

    Raises:
        UnusableError: a name that the model does not have, a range that is upside down, empty, no
            numbers, or outside of what the model takes.
    """
    named = {axis.name: axis for axis in axes}
    for name in (*ranges, *fixed):
        if name not in named:
            raise UnusableError(
                f"the model has no setting “{_short(name)}” that is searched",
                where=f"range of {_short(name)}",
                cure=one_of(named, _short(name)),
            )
        if name in ranges and name in fixed:
            raise UnusableError(
                "it has both a range and a fixed value",
                where=f"range of {name}",
                cure="give one of them",
            )
    return tuple(
        fixed_to(axis, fixed[axis.name])
        if axis.name in fixed
        else ranged(axis, ranges[axis.name])
        if axis.name in ranges
        else axis
        for axis in axes
    )


def ranged(axis: Axis, given: Sequence[Any]) -> Axis:
    """An axis over another range.

    Args:
        axis: of a number.
        given: from and to; numbers, or text that says them.

    Raises:
        UnusableError: it cannot be searched.
    """
    where = f"range of {axis.name}"
    if axis.kind == "choice":
        values = ", ".join(map(str, axis.choices))
        raise UnusableError(
            f"it has no range, but is one of {values}", where=where, cure="fix it to one of them"
        )
    low, high = (_number(axis, end, where) for end in _ends(given, where))
    if low > high:
        raise UnusableError(
            f"it begins at {said(low)}, above its end at {said(high)}",
            where=where,
            cure="give the smaller number first",
        )
    if low == high:
        raise UnusableError(
            f"from {said(low)} to {said(high)} is one value", where=where, cure="fix it to that"
        )
    for end in (low, high):
        _check_taken(axis, end, where)
    return axis.within(low, high)


def fixed_to(axis: Axis, value: Any) -> Axis:
    """An axis with a single value, which also is its default.

    Raises:
        UnusableError: the model does not take it.
    """
    where = f"fixed value of {axis.name}"
    if axis.kind == "choice":
        choice = _choice(axis, value, where)
        return replace(axis, choices=(choice,), default=choice)
    number = _number(axis, value, where)
    _check_taken(axis, number, where)
    return axis.within(number, number)


def check_searched(plan: Plan, strategy: Strategy, model: str, space: Sequence[Axis]) -> None:
    """See that a plan of trials searches something over its ranges; raises UnusableError."""
    named = [*plan.ranges, *plan.fixed]
    if strategy.several and named:
        raise UnusableError(
            f"{model} tunes each model over its own ranges",
            where=f"range of {_short(named[0])}",
            cure="choose one model to change its ranges",
        )
    if not strategy.several:
        check_free(space, 2 if strategy.numbers_only else 1, strategy.name)


def check_free(axes: Sequence[Axis], needed: int, strategy: str) -> None:
    """See that enough is left to search; raises UnusableError.

    Args:
        axes: with their ranges.
        needed: how many must have more than one value, as far as the model has so many.
        strategy: its name.
    """
    free = [axis.name for axis in axes if axis.is_free]
    if axes and not free:
        raise UnusableError(
            "every setting is fixed, so that nothing is left to search",
            where="ranges",
            cure="leave at least one of them free",
        )
    if len(free) < min(needed, len(axes)):
        raise UnusableError(
            f"{strategy} searches {needed} settings or more, and only {free[0]} is left",
            where="ranges",
            cure="leave another one free, or choose another strategy",
        )


def setting_of(axes: Sequence[Axis], given: Mapping[str, Any]) -> Setting:
    """A whole setting that a person entered, within the ranges that are searched.

    Args:
        axes: with their ranges.
        given: {name: value}; numbers and choices may be text.

    Raises:
        UnusableError: a value is missing, no number, or outside of its range.
    """
    for name in given:
        if name not in {axis.name for axis in axes}:
            cure = one_of([axis.name for axis in axes], _short(name))
            raise UnusableError("the run has no such setting", where=_short(name), cure=cure)
    return {axis.name: value_of(axis, given.get(axis.name, "")) for axis in axes}


def value_of(axis: Axis, given: Any) -> Any:
    """A value that a person entered for an axis, within its range; raises UnusableError."""
    if axis.kind == "choice":
        return _choice(axis, given, axis.name)
    number = _number(axis, given, axis.name)
    if not axis.low <= number <= axis.high:
        ends = f"from {said(axis.low)} to {said(axis.high)}"
        if not axis.is_free:
            ends = f"at {said(axis.low)} alone"
        raise UnusableError(
            f"{said(number)} lies outside of what this run searches, {ends}",
            where=axis.name,
            cure="give a value inside, or start a run with another range",
        )
    return number


def said(number: float) -> str:
    """A number as short as it can be written without another meaning."""
    with contextlib.suppress(OverflowError):
        short = f"{number:g}"
        return short if float(short) == number else repr(number)
    return _short(number)


def told(value: Any) -> str:
    """A value of a setting in a sentence: a number to four digits, a choice as it is."""
    if _is_number(value):
        with contextlib.suppress(OverflowError):
            return f"{value:.4g}"
    return _short(value)


def _number(axis: Axis, given: Any, where: str) -> float:
    number = _finite(given, where)
    if axis.kind == "int":
        if number != round(number):
            cure = "give a whole number"
            raise UnusableError(f"{said(number)} is not a whole number", where=where, cure=cure)
        return round(number)
    return number


def _finite(given: Any, where: str) -> float:
    """The number that was given; raises UnusableError where it is none or has no end."""
    try:
        if isinstance(given, bool):
            raise ValueError
        number = float(given)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        text = _short(given)
        what = f"“{text}” is not a number" if text else "a number is missing"
        raise UnusableError(what, where=where, cure="give a number") from None
    if not math.isfinite(number):
        raise UnusableError(f"{said(number)} has no end", where=where, cure="give a finite number")
    if abs(number) > FURTHEST:
        cure = f"give a number from {said(-FURTHEST)} to {said(FURTHEST)}"
        raise UnusableError(f"{said(number)} is too far from 0", where=where, cure=cure)
    return number


def _ends(given: Any, where: str) -> Sequence[Any]:
    if isinstance(given, str | bytes | Mapping) or not hasattr(given, "__len__") or len(given) != 2:
        raise UnusableError("a range has two ends", where=where, cure="give from and to")
    return tuple(given)


def _item(value: Any) -> Any:
    """A value as JSON takes it: a number of numpy becomes one of Python's."""
    plain = value.item() if hasattr(value, "item") else value
    return plain if isinstance(plain, str | int | float | bool) else _short(plain)


def _short(given: Any) -> str:
    """What a person gave, as much of it as fits into a sentence."""
    text = str(given).strip()
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _check_taken(axis: Axis, number: float, where: str) -> None:
    """See that the model takes a number."""
    least, most = axis.bounds
    if axis.log and number < 1 / FURTHEST:
        above = "above 0" if number <= 0 else f"{said(1 / FURTHEST)} or more"
        raise UnusableError(
            f"{said(number)} is not {above}, and it is searched by factors (on a log scale)",
            where=where,
            cure=f"give a number that is {above}",
        )
    if number < least:
        cure = f"give {said(least)} or more"
        raise UnusableError(f"the model does not take {said(number)}", where=where, cure=cure)
    if number > most:
        cure = f"give {said(most)} or less"
        raise UnusableError(f"the model does not take {said(number)}", where=where, cure=cure)


def _choice(axis: Axis, given: Any, where: str) -> Any:
    for choice in axis.choices:
        if type(choice) is type(given) and choice == given:
            return choice
    for choice in axis.choices:
        if str(choice) == str(given) or (_is_number(choice) and _same_number(choice, given)):
            return choice
    cure = one_of(map(str, axis.choices), _short(given))
    raise UnusableError(f"“{_short(given)}” is none of its values", where=where, cure=cure)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(choice: float, given: Any) -> bool:
    try:
        return not isinstance(given, bool) and float(given) == choice
    except (TypeError, ValueError, OverflowError):
        return False
