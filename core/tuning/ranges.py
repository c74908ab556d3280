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

from core.errors import UnusableError, nearest_names_cure
from core.space import Axis, Setting
from core.tuning.plan import Plan
from core.tuning.strategies.strategy import Strategy

MAX_MAGNITUDE = (
    1e100  # beyond it the squares and quotients of numbers have no floating-point number
)
MAX_LETTERS = 40  # characters of what a person gave that a sentence repeats


def as_plain(ranges: Any, fixed: Any) -> tuple[dict[str, list[float]], Setting]:
    """Ranges and fixed values as a plan holds them, from what stands in a person's Python.

    Args:
        ranges: {setting: (from, to)}; numbers, those of numpy too, or text that says them.
        fixed: {setting: value}.

    Raises:
        UnusableError: no such mapping, or ends that are no numbers.
    """
    if not isinstance(ranges, Mapping):
        cure = "give {setting: (from, to)}, for example {'C': (0.01, 100)}"
        raise UnusableError(
            f"“{_shortened_text(ranges)}” names no settings", where="ranges", cure=cure
        )
    if not isinstance(fixed, Mapping):
        cure = "give {setting: value}, for example {'gamma': 0.1}"
        raise UnusableError(
            f"“{_shortened_text(fixed)}” names no settings", where="fixed", cure=cure
        )
    plain = {}
    for name, ends in ranges.items():
        where = f"range of {_shortened_text(name)}"
        plain[str(name)] = [_parse_finite(end, where) for end in _range_ends(ends, where)]
    return plain, {str(name): _plain_value(value) for name, value in fixed.items()}


def searched_axes(
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
    axis_by_name = {axis.name: axis for axis in axes}
    for name in (*ranges, *fixed):
        if name not in axis_by_name:
            raise UnusableError(
                f"the model has no setting “{_shortened_text(name)}” that is searched",
                where=f"range of {_shortened_text(name)}",
                cure=nearest_names_cure(axis_by_name, _shortened_text(name)),
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
        else with_range(axis, ranges[axis.name])
        if axis.name in ranges
        else axis
        for axis in axes
    )


def with_range(axis: Axis, ends: Sequence[Any]) -> Axis:
    """An axis over another range.

    Args:
        axis: of a number.
        ends: from and to; numbers, or text that says them.

    Raises:
        UnusableError: it cannot be searched.
    """
    where = f"range of {axis.name}"
    if axis.kind == "choice":
        values = ", ".join(map(str, axis.choices))
        raise UnusableError(
            f"it has no range, but is one of {values}", where=where, cure="fix it to one of them"
        )
    low, high = (_parse_number(axis, end, where) for end in _range_ends(ends, where))
    if low > high:
        raise UnusableError(
            f"it begins at {shortest_number(low)}, above its end at {shortest_number(high)}",
            where=where,
            cure="give the smaller number first",
        )
    if low == high:
        raise UnusableError(
            f"from {shortest_number(low)} to {shortest_number(high)} is one value",
            where=where,
            cure="fix it to that",
        )
    for end in (low, high):
        _check_accepted(axis, end, where)
    return axis.within(low, high)


def fixed_to(axis: Axis, value: Any) -> Axis:
    """An axis with a single value, which also is its default.

    Raises:
        UnusableError: the model does not take it.
    """
    where = f"fixed value of {axis.name}"
    if axis.kind == "choice":
        choice = _parse_choice(axis, value, where)
        return replace(axis, choices=(choice,), default=choice)
    number = _parse_number(axis, value, where)
    _check_accepted(axis, number, where)
    return axis.within(number, number)


def check_searched(plan: Plan, strategy: Strategy, model: str, space: Sequence[Axis]) -> None:
    """See that a plan of trials searches something over its ranges; raises UnusableError."""
    changed_names = [*plan.ranges, *plan.fixed]
    if strategy.several and changed_names:
        raise UnusableError(
            f"{model} tunes each model over its own ranges",
            where=f"range of {_shortened_text(changed_names[0])}",
            cure="choose one model to change its ranges",
        )
    if not strategy.several:
        check_free(space, 2 if strategy.numbers_only else 1, strategy.name)


def check_free(axes: Sequence[Axis], min_free: int, strategy: str) -> None:
    """See that enough is left to search; raises UnusableError.

    Args:
        axes: with their ranges.
        min_free: how many must have more than one value, as far as the model has so many.
        strategy: its name.
    """
    free_names = [axis.name for axis in axes if axis.is_free]
    if axes and not free_names:
        raise UnusableError(
            "every setting is fixed, so that nothing is left to search",
            where="ranges",
            cure="leave at least one of them free",
        )
    if len(free_names) < min(min_free, len(axes)):
        raise UnusableError(
            f"{strategy} searches {min_free} settings or more, and only {free_names[0]} is left",
            where="ranges",
            cure="leave another one free, or choose another strategy",
        )


def setting_of(axes: Sequence[Axis], values: Mapping[str, Any]) -> Setting:
    """A whole setting that a person entered, within the ranges that are searched.

    Args:
        axes: with their ranges.
        values: {name: value}; numbers and choices may be text.

    Raises:
        UnusableError: a value is missing, no number, or outside of its range.
    """
    for name in values:
        if name not in {axis.name for axis in axes}:
            cure = nearest_names_cure([axis.name for axis in axes], _shortened_text(name))
            raise UnusableError(
                "the run has no such setting", where=_shortened_text(name), cure=cure
            )
    return {axis.name: value_of(axis, values.get(axis.name, "")) for axis in axes}


def value_of(axis: Axis, value: Any) -> Any:
    """A value that a person entered for an axis, within its range; raises UnusableError."""
    if axis.kind == "choice":
        return _parse_choice(axis, value, axis.name)
    number = _parse_number(axis, value, axis.name)
    if not axis.low <= number <= axis.high:
        ends = f"from {shortest_number(axis.low)} to {shortest_number(axis.high)}"
        if not axis.is_free:
            ends = f"at {shortest_number(axis.low)} alone"
        raise UnusableError(
            f"{shortest_number(number)} lies outside of what this run searches, {ends}",
            where=axis.name,
            cure="give a value inside, or start a run with another range",
        )
    return number


def shortest_number(number: float) -> str:
    """A number as short as it can be written without another meaning."""
    with contextlib.suppress(OverflowError):
        short = f"{number:g}"
        return short if float(short) == number else repr(number)
    return _shortened_text(number)


def setting_value_text(value: Any) -> str:
    """A value of a setting in a sentence: a number to four digits, a choice as it is."""
    if _is_number(value):
        with contextlib.suppress(OverflowError):
            return f"{value:.4g}"
    return _shortened_text(value)


def _parse_number(axis: Axis, value: Any, where: str) -> float:
    number = _parse_finite(value, where)
    if axis.kind == "int":
        if number != round(number):
            cure = "give a whole number"
            raise UnusableError(
                f"{shortest_number(number)} is not a whole number", where=where, cure=cure
            )
        return round(number)
    return number


def _parse_finite(value: Any, where: str) -> float:
    """The number that was given; raises UnusableError where it is none or has no end."""
    try:
        if isinstance(value, bool):
            raise ValueError
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        text = _shortened_text(value)
        problem = f"“{text}” is not a number" if text else "a number is missing"
        raise UnusableError(problem, where=where, cure="give a number") from None
    if not math.isfinite(number):
        raise UnusableError(
            f"{shortest_number(number)} has no end", where=where, cure="give a finite number"
        )
    if abs(number) > MAX_MAGNITUDE:
        low, high = shortest_number(-MAX_MAGNITUDE), shortest_number(MAX_MAGNITUDE)
        cure = f"give a number from {low} to {high}"
        raise UnusableError(f"{shortest_number(number)} is too far from 0", where=where, cure=cure)
    return number


def _range_ends(ends: Any, where: str) -> Sequence[Any]:
    if isinstance(ends, str | bytes | Mapping) or not hasattr(ends, "__len__") or len(ends) != 2:
        raise UnusableError("a range has two ends", where=where, cure="give from and to")
    return tuple(ends)


def _plain_value(value: Any) -> Any:
    """A value as JSON takes it: a number of numpy becomes one of Python's."""
    plain = value.item() if hasattr(value, "item") else value
    return plain if isinstance(plain, str | int | float | bool) else _shortened_text(plain)


def _shortened_text(value: Any) -> str:
    """What a person gave, as much of it as fits into a sentence."""
    text = str(value).strip()
    return text if len(text) <= MAX_LETTERS else f"{text[:MAX_LETTERS]}…"


def _check_accepted(axis: Axis, number: float, where: str) -> None:
    """See that the model takes a number."""
    minimum, maximum = axis.bounds
    if axis.log and number < 1 / MAX_MAGNITUDE:
        bound_text = "above 0" if number <= 0 else f"{shortest_number(1 / MAX_MAGNITUDE)} or more"
        raise UnusableError(
            f"{shortest_number(number)} is not {bound_text}, and it is searched by factors (on a "
            "log scale)",
            where=where,
            cure=f"give a number that is {bound_text}",
        )
    if number < minimum:
        cure = f"give {shortest_number(minimum)} or more"
        raise UnusableError(
            f"the model does not take {shortest_number(number)}", where=where, cure=cure
        )
    if number > maximum:
        cure = f"give {shortest_number(maximum)} or less"
        raise UnusableError(
            f"the model does not take {shortest_number(number)}", where=where, cure=cure
        )


def _parse_choice(axis: Axis, value: Any, where: str) -> Any:
    for choice in axis.choices:
        if type(choice) is type(value) and choice == value:
            return choice
    for choice in axis.choices:
        if str(choice) == str(value) or (_is_number(choice) and _same_number(choice, value)):
            return choice
    cure = nearest_names_cure(map(str, axis.choices), _shortened_text(value))
    raise UnusableError(f"“{_shortened_text(value)}” is none of its values", where=where, cure=cure)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(choice: float, value: Any) -> bool:
    try:
        return not isinstance(value, bool) and float(value) == choice
    except (TypeError, ValueError, OverflowError):
        return False
