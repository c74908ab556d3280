"""The hyperparameter space: axes, their unit cube, and settings in both.

Notation: a *setting* is a dict {axis name: value}; its *unit vector* has one entry for every number
(in [0, 1], logarithmic ranges mapped by log) and one entry for every choice (one-hot).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from core.records import Record, to_plain

if TYPE_CHECKING:  # events carry settings, and a worker limits numpy's threads before it comes
    import numpy as np

Setting = dict[str, Any]
LARGEST_NUMBER = 1e300  # of a range in a file
LARGEST_WHOLE = 2**31 - 1  # that every library takes


@dataclass(frozen=True)
class Axis(Record):
    """One hyperparameter: its names, its range and its default."""

    name: str  # the estimator's own parameter name
    label: str  # plain words
    kind: Literal["float", "int", "choice"]
    low: float = 0.0  # of a number, inclusive
    high: float = 1.0
    log: bool = False  # whether equal factors, not equal differences, count the same
    choices: tuple[Any, ...] = ()  # of a choice
    default: Any = None  # of the default setting
    least: float | None = None  # limits of the model itself; None for those of `bounds`
    most: float | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and largest number that the model takes, ±infinity for none."""
        least, most = self.least, self.most
        # Whole numbers are counts: above 0, or at 0 where the range itself begins there.
        if self.kind == "int":
            least = min(self.low, 1) if least is None else least
            most = max(self.high, LARGEST_WHOLE) if most is None else most
        # On a logarithmic scale all numbers are above 0, which the bound 0 says.
        if self.log:
            least = max(0.0, least or 0.0)
        return -math.inf if least is None else least, math.inf if most is None else most

    @property
    def is_free(self) -> bool:
        """Whether it has more than one value."""
        return len(self.choices) > 1 if self.kind == "choice" else self.high > self.low

    def within(self, low: float, high: float) -> Axis:
        """This number axis over another range, with its default clipped; equal ends fix it."""
        if self.kind == "int":
            low, high = round(low), round(high)
        return replace(self, low=low, high=high, default=min(high, max(low, self.default)))

    @property
    def width(self) -> int:
        """The number of its entries in the unit vector."""
        return len(self.choices) if self.kind == "choice" else 1

    def up_to(self, most: float) -> Axis:
        """This number axis without the values above `most`; its lowest value stays."""
        if self.kind == "choice" or most >= self.high:
            return self
        high = max(self.low, most)
        return replace(self, high=high, default=min(self.default, high))

    def to_unit(self, value: Any) -> list[float]:
        """The entries of the unit vector for a value."""
        if self.kind == "choice":
            return [1.0 if value == choice else 0.0 for choice in self.choices]
        low, high, number = self._scaled_end(), self._scaled_end(upper=True), float(value)
        number = math.log(number) if self.log else number
        return [min(1.0, max(0.0, (number - low) / (high - low) if high > low else 0.5))]

    def from_unit(self, entries: Sequence[float] | np.ndarray) -> Any:
        """The value at entries of the unit vector; whole numbers are rounded."""
        if self.kind == "choice":
            import numpy as np

            return self.choices[int(np.argmax(entries))]
        low, high = self._scaled_end(), self._scaled_end(upper=True)
        number = low + min(1.0, max(0.0, float(entries[0]))) * (high - low)
        number = math.exp(number) if self.log else number
        if self.kind == "int":
            return int(min(self.high, max(self.low, round(number))))
        return min(self.high, max(self.low, number))

    def _scaled_end(self, upper: bool = False) -> float:
        # Half a step beyond the ends gives the first and last whole number their fair share.
        half_step = 0.5 if self.kind == "int" else 0.0
        edge = self.high + half_step if upper else self.low - half_step
        if not self.log:
            return edge
        # Half a step below the first whole number may be 0, which has no logarithm.
        return math.log(max(edge, self.low / 2 if self.low > 0 else 0.5))

    def as_dict(self) -> dict[str, Any]:
        """A plain dict that JSON takes."""
        return dict(to_plain(self))


def axis_title(label: str, name: str) -> str:
    """The title of a setting: its label and the library's name in parentheses; either may be ""."""
    if not label or not name:
        return label or name
    if label.lower() == name.lower():
        return label
    # The penalty that Tunescope's own models call C runs against scikit-learn's: its label has λ.
    has_name = label.endswith("(λ)") or f"({name.lower()})" in label.lower()
    return label if has_name else f"{label} ({name})"


def check_axis(axis: Axis) -> None:
    """Check that an axis from a file can be searched and drawn.

    Raises:
        ValueError: it cannot.
    """
    if axis.kind == "choice":
        is_fine = axis.choices != () and all(map(_is_plain, axis.choices))
    else:
        bounds = (axis.default, axis.least, axis.most)
        is_fine = _is_finite(axis.low) and _is_finite(axis.high) and axis.low <= axis.high
        is_fine = is_fine and (not axis.log or axis.low > 0)
        is_fine = is_fine and all(bound is None or _is_finite(bound) for bound in bounds)
    if not is_fine:
        raise ValueError(f"space: the axis {axis.name!r:.40} has no range")


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | bool) or value is None or _is_finite(value)


def _is_finite(value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and -LARGEST_NUMBER <= value <= LARGEST_NUMBER


def default_setting(space: Sequence[Axis]) -> Setting:
    """The setting with every axis at its default."""
    return {axis.name: axis.default for axis in space}


def unit_vector(space: Sequence[Axis], setting: Mapping[str, Any]) -> np.ndarray:
    """The unit vector of a setting, shape (sum of widths,)."""
    import numpy as np

    return np.array([entry for axis in space for entry in axis.to_unit(setting[axis.name])])


def setting_at(space: Sequence[Axis], unit: np.ndarray) -> Setting:
    """The setting at a unit vector, numbers rounded where an axis needs it."""
    setting, start = {}, 0
    for axis in space:
        setting[axis.name] = axis.from_unit(unit[start : start + axis.width])
        start += axis.width
    return setting
