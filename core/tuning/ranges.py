"""The ranges that are searched, and whether the best of a run lies at the edge of one.

A model's axes are narrowed, widened or fixed; every error is one sentence that names the setting,
for a field of the window too. At the edge means the first or last integer, or within 2 % of the
range's length from an end (in logarithms on a log axis), unless the model takes no value beyond it.
"""

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.errors import UnusableError, nearest_names_cure
from core.estimators.multi_model import MODEL
from core.space import Axis, Setting
from core.tuning.plan import Plan
from core.tuning.runs.state import RunState
from core.tuning.strategies.strategy import Strategy
from core.wording import shortened_text

MAX_MAGNITUDE = 1e100  # squares and quotients of larger numbers overflow
NEAR = 0.02  # of the range
WIDER = 1 / 3  # of the range's length is added
MIN_TRIALS = 5  # trials with a score: of fewer the best says nothing


def as_plain(ranges: Any, fixed: Any) -> tuple[dict[str, list[float]], Setting]:
    """Ranges {setting: (from, to)} and fixed values {setting: value} as a plan holds them."""
    range_cure = "give {setting: (from, to)}, for example {'C': (0.01, 100)}"
    value_cure = "give {setting: value}, for example {'gamma': 0.1}"
    for given, where, cure in ((ranges, "ranges", range_cure), (fixed, "fixed", value_cure)):
        if not isinstance(given, Mapping):
            problem = f"“{shortened_text(given)}” names no settings"
            raise UnusableError(problem, where=where, cure=cure)
    plain = {}
    for name, ends in ranges.items():
        where = f"range of {shortened_text(name)}"
        plain[str(name)] = [_parse_finite(end, where) for end in _range_ends(ends, where)]
    return plain, {str(name): _plain_value(value) for name, value in fixed.items()}


def searched_axes(
    axes: Sequence[Axis], ranges: Mapping[str, Sequence[Any]], fixed: Mapping[str, Any]
) -> tuple[Axis, ...]:
    """The axes with the given ranges; a fixed one has a single value.

    A default outside of its range moves to the nearer end.
    """
    axis_by_name = {axis.name: axis for axis in axes}
    for name in (*ranges, *fixed):
        if name not in axis_by_name:
            fault = f"the model has no setting “{shortened_text(name)}” that is searched"
            cure = nearest_names_cure(axis_by_name, shortened_text(name))
            raise UnusableError(fault, where=f"range of {shortened_text(name)}", cure=cure)
        if name in ranges and name in fixed:
            problem, where = "it has both a range and a fixed value", f"range of {name}"
            raise UnusableError(problem, where=where, cure="give one of them")
    changed = {name: fixed_to(axis_by_name[name], value) for name, value in fixed.items()}
    changed |= {name: with_range(axis_by_name[name], ends) for name, ends in ranges.items()}
    return tuple(changed.get(axis.name, axis) for axis in axes)


def with_range(axis: Axis, ends: Sequence[Any]) -> Axis:
    """A numeric axis over another range; ends may be text. Raises UnusableError."""
    where = f"range of {axis.name}"
    if axis.kind == "choice":
        values = ", ".join(map(str, axis.choices))
        problem = f"it has no range, but is one of {values}"
        raise UnusableError(problem, where=where, cure="fix it to one of them")
    low, high = (_parse_number(axis, end, where) for end in _range_ends(ends, where))
    if low > high:
        problem = f"it begins at {shortest_number(low)}, above its end at {shortest_number(high)}"
        raise UnusableError(problem, where=where, cure="give the smaller number first")
    if low == high:
        problem = f"from {shortest_number(low)} to {shortest_number(high)} is one value"
        raise UnusableError(problem, where=where, cure="fix it to that")
    for end in (low, high):
        _check_accepted(axis, end, where)
    return axis.within(low, high)


def fixed_to(axis: Axis, value: Any) -> Axis:
    """An axis with a single value, which is also its default; raises UnusableError."""
    where = f"fixed value of {axis.name}"
    if axis.kind == "choice":
        choice = _parse_choice(axis, value, where)
        return replace(axis, choices=(choice,), default=choice)
    number = _parse_number(axis, value, where)
    _check_accepted(axis, number, where)
    return axis.within(number, number)


def check_searched(plan: Plan, strategy: Strategy, model: str, space: Sequence[Axis]) -> None:
    """Raise UnusableError unless a plan of trials has something to search."""
    changed_names = [*plan.ranges, *plan.fixed]
    if strategy.several and changed_names:
        where = f"range of {shortened_text(changed_names[0])}"
        cure = "choose one model to change its ranges"
        raise UnusableError(f"{model} tunes each model over its own ranges", where=where, cure=cure)
    if not strategy.several:
        check_free(space, 2 if strategy.numbers_only else 1, strategy.name)


def check_free(axes: Sequence[Axis], min_free: int, strategy: str) -> None:
    """Raise UnusableError unless `min_free` axes, as far as the model has so many, are free."""
    free_names = [axis.name for axis in axes if axis.is_free]
    # A model without any setting still has its default to be scored.
    if axes and not free_names:
        problem = "every setting is fixed, so that nothing is left to search"
        raise UnusableError(problem, where="ranges", cure="leave at least one of them free")
    if len(free_names) < min(min_free, len(axes)):
        raise UnusableError(
            f"{strategy} searches {min_free} settings or more, and only {free_names[0]} is left",
            where="ranges",
            cure="leave another one free, or choose another strategy",
        )


def setting_of(axes: Sequence[Axis], values: Mapping[str, Any]) -> Setting:
    """A complete setting that a person entered; values may be text."""
    names = [axis.name for axis in axes]
    for name in values:
        if name not in names:
            text = shortened_text(name)
            cure = nearest_names_cure(names, text)
            raise UnusableError("the run has no such setting", where=text, cure=cure)
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
        problem = f"{shortest_number(number)} lies outside of what this run searches, {ends}"
        cure = "give a value inside, or start a run with another range"
        raise UnusableError(problem, where=axis.name, cure=cure)
    return number


def shortest_number(number: float) -> str:
    """The shortest text of the same number."""
    with contextlib.suppress(OverflowError):
        # An integer of hundreds of digits has no float.
        short = f"{number:g}"
        return short if float(short) == number else repr(number)
    return shortened_text(number)


def setting_value_text(value: Any) -> str:
    """A value of a setting in a sentence: a number to four digits, a choice as it is."""
    if _is_number(value):
        with contextlib.suppress(OverflowError):
            return f"{value:.4g}"
    return shortened_text(value)


def setting_text(setting: Mapping[str, Any]) -> str:
    """Such as "C = 0.27, gamma = 0.035" as it may be typed; after the model's name if several."""
    values = {name: value for name, value in setting.items() if name != MODEL}
    pairs = (f"{name} = {setting_value_text(value)}" for name, value in values.items())
    values_text = ", ".join(pairs)
    return values_text if len(values) == len(setting) else f"{setting[MODEL]}: {values_text}"


def _parse_number(axis: Axis, value: Any, where: str) -> float:
    number = _parse_finite(value, where)
    if axis.kind != "int":
        return number
    if number != round(number):
        problem = f"{shortest_number(number)} is not a whole number"
        raise UnusableError(problem, where=where, cure="give a whole number")
    return round(number)


def _parse_finite(value: Any, where: str) -> float:
    try:
        # True is the number 1 in Python, and a slip of a person.
        if isinstance(value, bool):
            raise ValueError
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        text = shortened_text(value)
        problem = f"“{text}” is not a number" if text else "a number is missing"
        raise UnusableError(problem, where=where, cure="give a number") from None
    if not math.isfinite(number):
        problem = f"{shortest_number(number)} has no end"
        raise UnusableError(problem, where=where, cure="give a finite number")
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
    plain = value.item() if hasattr(value, "item") else value
    is_plain = isinstance(plain, str | int | float | bool)
    return plain if is_plain else shortened_text(plain)


def _check_accepted(axis: Axis, number: float, where: str) -> None:
    minimum, maximum = axis.bounds
    if axis.log and number < 1 / MAX_MAGNITUDE:
        bound_text = "above 0" if number <= 0 else f"{shortest_number(1 / MAX_MAGNITUDE)} or more"
        raise UnusableError(
            f"{shortest_number(number)} is not {bound_text}, and it is searched by factors (on a "
            "log scale)",
            where=where,
            cure=f"give a number that is {bound_text}",
        )
    if not minimum <= number <= maximum:
        less, more = f"{shortest_number(maximum)} or less", f"{shortest_number(minimum)} or more"
        problem = f"the model does not take {shortest_number(number)}"
        raise UnusableError(problem, where=where, cure=f"give {more if number < minimum else less}")


def _parse_choice(axis: Axis, value: Any, where: str) -> Any:
    for choice in axis.choices:
        # By type first: 1 and True are equal, and both may be choices.
        if type(choice) is type(value) and choice == value:
            return choice
    for choice in axis.choices:
        if str(choice) == str(value) or (_is_number(choice) and _same_number(choice, value)):
            return choice
    text = shortened_text(value)
    cure = nearest_names_cure(map(str, axis.choices), text)
    raise UnusableError(f"“{text}” is none of its values", where=where, cure=cure)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(choice: float, value: Any) -> bool:
    try:
        return not isinstance(value, bool) and float(value) == choice
    except (TypeError, ValueError, OverflowError):
        return False


@dataclass(frozen=True)
class RangeEdge:
    """A setting whose best value lies at the edge of its range."""

    name: str
    label: str
    value: float
    low: float  # the searched range
    high: float
    wider: tuple[float, float]  # a range that goes on beyond that edge

    @property
    def sentence(self) -> str:
        low, high = (shortest_number(end) for end in self.wider)
        return (
            f"The best {self.name} ({setting_value_text(self.value)}) lies at the edge of its "
            f"range, {shortest_number(self.low)} to {shortest_number(self.high)}: a wider one, "
            f"such as {low} to {high}, may hold a better one."
        )


def edges_of(run: RunState) -> list[RangeEdge]:
    """The edges at which the best of a run of trials lies; none where several models are tuned."""
    axes, best = run.started.space, run.best_trial
    has_edges = not run.learns_penalties and not run.tunes_several_models
    if not has_edges or best is None or run.finished < MIN_TRIALS:
        return []
    edges = edges_at(axes, best.setting)
    # An edge does not count where a trial inside the range is as good.
    for trial in run.trials:
        if not edges:
            break
        if trial.score == best.score and trial.number not in run.excluded:
            as_good = {edge.name for edge in edges_at(axes, trial.setting)}
            edges = [edge for edge in edges if edge.name in as_good]
    return edges


def edges_at(axes: Sequence[Axis], setting: Mapping[str, Any]) -> list[RangeEdge]:
    """The edges of searched axes at which a setting lies."""
    edges = []
    for axis in axes:
        if axis.kind != "choice" and axis.is_free and axis.name in setting:
            value = setting[axis.name]
            if (wider := _wider_range(axis, value)) is not None:
                edges.append(RangeEdge(axis.name, axis.label, value, axis.low, axis.high, wider))
    return edges


def _wider_range(axis: Axis, value: float) -> tuple[float, float] | None:
    scale, inverse = (math.log, math.exp) if axis.log else (float, float)
    low, high, position = scale(axis.low), scale(axis.high), scale(value)
    # Of integers the end itself counts: 2 % of a short range is less than a step.
    near = 0.0 if axis.kind == "int" else NEAR * (high - low)
    least, most = axis.bounds
    step = WIDER * (high - low)
    # A gap in the last digits is none: values are rounded on their way through the unit cube.
    slack = near + 1e-9 * (high - low)
    if position >= high - slack and axis.high < most:
        end = min(most, _rounded(axis, inverse(high + step), math.ceil))
        return (axis.low, end) if end > axis.high else None
    if position <= low + slack and axis.low > least:
        end = max(least, _rounded(axis, inverse(low - step), math.floor))
        if axis.log and end <= 0:
            return None
        return (end, axis.high) if end < axis.low else None
    return None


def _rounded(axis: Axis, number: float, round_digit: Any) -> float:
    """One digit, rounded outwards; integers stay integers."""
    if number == 0:
        return 0
    size = 10.0 ** math.floor(math.log10(abs(number)))
    if axis.kind == "int":
        return int(round_digit(number / max(1.0, size)) * max(1.0, size))
    slack = 1e-9 if round_digit is math.ceil else 0.0
    return float(f"{round_digit(number / size - slack) * size:.1g}")
