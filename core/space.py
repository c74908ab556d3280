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
    """One hyperparameter: what it is called, what it may be, and where it starts.

    Attributes:
        name: the estimator's own parameter name.
        label: a lay person's words for it.
        kind: a real number, a whole number, or a choice.
        low, high: inclusive range of a number (unused for a choice).
        log: whether equal factors, not equal differences, count the same.
        choices: the values of a choice.
        default: the value of the default setting.
        least, most: the numbers beyond which the model takes none, whatever the range; None for
            what the kind of number says (`bounds`).
    """

    name: str
    label: str
    kind: Literal["float", "int", "choice"]
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    choices: tuple[Any, ...] = ()
    default: Any = None
    least: float | None = None
    most: float | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest number that the model takes; ±infinity where it takes any.

        A whole number whose range begins at 1 or above stays at 1 or above, one that begins at 0 at
        0 or above; none is larger than libraries count to. On a logarithmic scale every number is
        above 0, which 0 as the least says.
        """
        least, most = self.least, self.most
        if self.kind == "int":
            least = min(self.low, 1) if least is None else least
            most = max(self.high, LARGEST_WHOLE) if most is None else most
        if self.log:
            least = max(0.0, least or 0.0)
        return -math.inf if least is None else least, math.inf if most is None else most

    @property
    def is_free(self) -> bool:
        """Whether it has more than one value."""
        return len(self.choices) > 1 if self.kind == "choice" else self.high > self.low

    def within(self, low: float, high: float) -> Axis:
        """The same axis of a number over another range; a default outside goes to its nearer end.

        Both ends the same fix it to one value.
        """
        if self.kind == "int":
            low, high = round(low), round(high)
        return replace(self, low=low, high=high, default=min(high, max(low, self.default)))

    @property
    def width(self) -> int:
        """How many entries of the unit vector it takes."""
        return len(self.choices) if self.kind == "choice" else 1

    def up_to(self, most: float) -> Axis:
        """The same axis of a number without the values above `most`; its least value stays."""
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
        return math.log(max(edge, self.low / 2 if self.low > 0 else 0.5))

    def as_dict(self) -> dict[str, Any]:
        """A plain dict that JSON takes."""
        return dict(to_plain(self))


def axis_title(label: str, name: str) -> str:
    """What a setting is called wherever it stands: its words, and behind them the library's name.

    Args:
        label: a lay person's words; "" for none.
        name: the estimator's own parameter name.
    """
    if not label or not name:
        return label or name
    if label.lower() == name.lower():
        return label
    # The penalty that Tunescope's own models call C runs against scikit-learn's: its label has λ.
    has_name = label.endswith("(λ)") or f"({name.lower()})" in label.lower()
    return label if has_name else f"{label} ({name})"


def check_axis(axis: Axis) -> None:
    """See that an axis from a file is one that can be searched and drawn.

    Raises:
        ValueError: it is not.
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
    """The setting at a unit vector, numbers rounded and choices taken where an axis needs it."""
    setting, start = {}, 0
    for axis in space:
        setting[axis.name] = axis.from_unit(unit[start : start + axis.width])
        start += axis.width
    return setting
