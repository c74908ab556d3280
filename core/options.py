"""Options of strategies and models: one description serves validation, help text and the form."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.errors import UnusableError

Kind = Literal["float", "int", "choice", "bool"]


@dataclass(frozen=True)
class Option:
    """One option: its name on the command line, its label in the window, and what it may be.

    Attributes:
        name: the KEY of ``--option KEY=VALUE``.
        label: what the form shows, a lay person's words.
        kind: the type of its value.
        default: the value when nothing is given (the papers' where they have one).
        help: one or two sentences: what it does and when to change it.
        low, high: inclusive bounds of a number; ``low_open`` excludes ``low`` itself.
        choices: what a choice may be.
        choice_labels: the same in a lay person's words, one for each; empty where the choices
            speak for themselves.
        lowest_label: what the lowest value means where it is no amount ("automatic").
    """

    name: str
    label: str
    kind: Kind
    default: Any
    help: str
    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    choices: tuple[str, ...] = ()
    choice_labels: tuple[str, ...] = ()
    lowest_label: str = ""

    def read(self, value: Any) -> Any:
        """The value as its own type; text is parsed. Raises UnusableError with the range."""
        if self.kind == "choice":
            if str(value) not in self.choices:
                raise self._refuse(value, "choose one of " + ", ".join(self.choices))
            return str(value)
        if self.kind == "bool":
            words = {"true": True, "yes": True, "on": True, "1": True}
            words |= {"false": False, "no": False, "off": False, "0": False}
            if str(value).lower() not in words:
                raise self._refuse(value, "give yes or no")
            return words[str(value).lower()]
        return self._number(value)

    def _number(self, value: Any) -> float | int:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise self._refuse(value, f"give a number {self.range_in_words()}") from None
        if self.kind == "int" and number != int(number if math.isfinite(number) else 0):
            raise self._refuse(value, f"give a whole number {self.range_in_words()}")
        too_low = number < self.low or (self.low_open and number == self.low)
        if not math.isfinite(number) or too_low or number > self.high:
            raise self._refuse(value, f"give a number {self.range_in_words()}")
        return int(number) if self.kind == "int" else number

    def range_in_words(self) -> str:
        """The allowed range: "between 0 and 1", "above 0", "of any size"."""
        if math.isinf(self.low) and math.isinf(self.high):
            return "of any size"
        if math.isinf(self.high):
            return f"{'above' if self.low_open else 'of at least'} {self.low:g}"
        if math.isinf(self.low):
            return f"of at most {self.high:g}"
        return f"{'above' if self.low_open else 'from'} {self.low:g} to {self.high:g}"

    def _refuse(self, value: Any, cure: str) -> UnusableError:
        return UnusableError(f"“{value}” is out of range", where=f"option {self.name}", cure=cure)


def option_from_dict(plain: Mapping[str, Any]) -> Option:
    """The option that `dataclasses.asdict` gave, perhaps by way of JSON."""
    lists = {name: tuple(plain.get(name, ())) for name in ("choices", "choice_labels")}
    return Option(**{**plain, **lists})


def complete(described: Iterable[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Every option's value: the given ones checked, the others at their defaults.

    Raises:
        UnusableError: an option that does not exist (with the nearest name), or is out of range.
    """
    by_name = {option.name: option for option in described}
    for name in given:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1)
            cure = f"did you mean {near[0]}" if near else _names(by_name)
            raise UnusableError("there is no such option here", where=f"option {name}", cure=cure)
    return {
        name: option.read(given[name]) if name in given else option.default
        for name, option in by_name.items()
    }


def _names(by_name: Mapping[str, Option]) -> str:
    return "the options are " + ", ".join(by_name) if by_name else "leave it out"
