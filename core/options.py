"""Options of strategies and models: one description for validation, help text and form."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

from core.errors import UnusableError
from core.records import Record

Kind = Literal["float", "int", "choice", "bool"]


@dataclass(frozen=True)
class Option:
    """An option's name on the command line, its label in the window, and its range."""

    name: str  # the KEY of --option KEY=VALUE
    label: str  # in the form, plain words
    kind: Kind
    default: Any  # the paper's, where it has one
    help: str  # one or two sentences: what it does and when to change it
    low: float = -math.inf  # inclusive
    high: float = math.inf
    low_open: bool = False  # excludes `low` itself
    choices: tuple[str, ...] = ()
    choice_labels: tuple[str, ...] = ()  # empty where the choices are plain words
    lowest_label: str = ""  # of a lowest value that is no amount ("automatic")

    def parse_value(self, value: Any) -> Any:
        """The value in its own type; text is parsed."""
        if self.kind == "choice":
            if str(value) not in self.choices:
                raise self._value_error(value, "choose one of " + ", ".join(self.choices))
            return str(value)
        if self.kind == "bool":
            words = {"true": True, "yes": True, "on": True, "1": True}
            words |= {"false": False, "no": False, "off": False, "0": False}
            if str(value).lower() not in words:
                raise self._value_error(value, "give yes or no")
            return words[str(value).lower()]
        return self._parse_number(value)

    def _parse_number(self, value: Any) -> float | int:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise self._value_error(value, f"give a number {self.range_text()}") from None
        # int() raises for infinities and NaN, which are no whole numbers either.
        if self.kind == "int" and number != int(number if math.isfinite(number) else 0):
            raise self._value_error(value, f"give a whole number {self.range_text()}")
        too_low = number < self.low or (self.low_open and number == self.low)
        # NaN is neither below nor above an end.
        if not math.isfinite(number) or too_low or number > self.high:
            raise self._value_error(value, f"give a number {self.range_text()}")
        return int(number) if self.kind == "int" else number

    def range_text(self) -> str:
        """The allowed range: "between 0 and 1", "above 0", "of any size"."""
        if math.isinf(self.low) and math.isinf(self.high):
            return "of any size"
        if math.isinf(self.high):
            return f"{'above' if self.low_open else 'of at least'} {self.low:g}"
        if math.isinf(self.low):
            return f"of at most {self.high:g}"
        return f"{'above' if self.low_open else 'from'} {self.low:g} to {self.high:g}"

    def _value_error(self, value: Any, cure: str) -> UnusableError:
        return UnusableError(f"“{value}” is out of range", where=f"option {self.name}", cure=cure)


def choice_option(
    name: str, label: str, default: str, help: str, choices: Mapping[str, str]
) -> Option:
    """An option that is one of the choices, {choice: its label}."""
    labels = tuple(choices.values())
    return Option(name, label, "choice", default, help, choices=(*choices,), choice_labels=labels)


def with_defaults(options: Iterable[Option], values: Mapping[str, Any]) -> dict[str, Any]:
    """Every option's value: the given ones checked, the others at their defaults."""
    by_name = {option.name: option for option in options}
    for name in values:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1)
            cure = f"did you mean {near[0]}" if near else _options_text(by_name)
            raise UnusableError("there is no such option here", where=f"option {name}", cure=cure)
    return {
        name: option.parse_value(values[name]) if name in values else option.default
        for name, option in by_name.items()
    }


def _options_text(by_name: Mapping[str, Option]) -> str:
    return "the options are " + ", ".join(by_name) if by_name else "leave it out"


@dataclass(frozen=True)
class StrategyOptions(Record):
    """The values of a strategy's options: its subclass has a field for each.

    The class attributes are the values for strategies without such an option.
    """

    search = ""  # the strategy that tunes each of several models
    average = True  # the best of them
    weights = ""  # of the average's members
    judged = "cv"  # how the average's members are evaluated
    repeats = 1
    as_published = False
    earlier = 0  # datasets whose best settings are tried first
    max_steps = 0
    steps = 0
    validation = "holdout"
    folds = 5
    prior = "none"
    # Standard deviation of a scaled numeric target: the learners' start at C = 1 and β = 1 has a
    # meaning in one unit only, that of the papers' targets.
    target_spread = 10.0

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Self:
        """The values that are fields, unchecked; the others at their defaults."""
        names = [each.name for each in fields(cls) if each.name in values]
        return cls(**{name: values[name] for name in names})

    def changed(self, **values: Any) -> Self:
        """The same options with other values of some."""
        return replace(self, **values)
