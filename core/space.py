"""The hyperparameter space: axes, their unit cube, and settings in both.

Notation: a *setting* is a dict {axis name: value}; its *unit vector* has one entry for every number
(in [0, 1], logarithmic ranges mapped by log) and one entry for every choice (one-hot).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

import numpy as np

Setting = dict[str, Any]
LARGEST_NUMBER = 1e300  # of a range in a file
LARGEST_WHOLE = 2**31 - 1  # that every library takes


@dataclass(frozen=True)
class Axis:
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
        low, high, at = self._bounds(), self._bounds(upper=True), float(value)
        at = math.log(at) if self.log else at
        return [min(1.0, max(0.0, (at - low) / (high - low) if high > low else 0.5))]

    def from_unit(self, entries: Sequence[float] | np.ndarray) -> Any:
        """The value at entries of the unit vector; whole numbers are rounded."""
        if self.kind == "choice":
            return self.choices[int(np.argmax(entries))]
        low, high = self._bounds(), self._bounds(upper=True)
        at = low + min(1.0, max(0.0, float(entries[0]))) * (high - low)
        at = math.exp(at) if self.log else at
        if self.kind == "int":
            return int(min(self.high, max(self.low, round(at))))
        return min(self.high, max(self.low, at))

    def _bounds(self, upper: bool = False) -> float:
        # Half a step beyond the ends gives the first and last whole number their fair share.
        half = 0.5 if self.kind == "int" else 0.0
        edge = self.high + half if upper else self.low - half
        if not self.log:
            return edge
        return math.log(max(edge, self.low / 2 if self.low > 0 else 0.5))

    def as_dict(self) -> dict[str, Any]:
        """A plain dict that JSON takes; `axis_from_dict` reverses it."""
        return {**asdict(self), "choices": list(self.choices)}


def titled(label: str, name: str) -> str:
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
    known = label.endswith("(λ)") or f"({name.lower()})" in label.lower()
    return label if known else f"{label} ({name})"


def axis_from_dict(plain: Mapping[str, Any]) -> Axis:
    """The axis that `Axis.as_dict` gave. Fields of newer versions are passed over."""
    own = {one.name: plain[one.name] for one in fields(Axis) if one.name in plain}
    return Axis(**{**own, "choices": tuple(plain["choices"])})


def varies(plain: Mapping[str, Any]) -> bool:
    """Whether an axis as `Axis.as_dict` gives it has more than one value."""
    if plain.get("kind") == "choice":
        return len(plain["choices"]) > 1
    return plain.get("low") is None or plain["low"] != plain.get("high")


def check_axes(plains: Sequence[Mapping[str, Any]]) -> None:
    """See that axes from a file are such as `Axis.as_dict` gives, before anything counts on it.

    Raises:
        ValueError: which one is not.
    """
    for plain in plains:
        name, kind, choices = (plain.get(key) for key in ("name", "kind", "choices"))
        words = isinstance(name, str) and isinstance(plain.get("label"), str)
        if not words or kind not in ("float", "int", "choice"):
            raise ValueError("space: an axis without name or kind")
        if kind == "choice":
            fits = isinstance(choices, list) and all(map(_is_plain, choices)) and choices != []
        else:
            ends = plain.get("low"), plain.get("high")
            fits = all(map(_is_finite, ends)) and ends[0] <= ends[1]  # type: ignore[operator]
            fits = fits and (not plain.get("log") or ends[0] > 0)  # type: ignore[operator]
            fits = fits and all(
                plain.get(key) is None or _is_finite(plain[key])
                for key in ("default", "least", "most")
            )
        if not fits:
            raise ValueError(f"space: the axis {name!r:.40} has no range")


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
    return np.array([entry for axis in space for entry in axis.to_unit(setting[axis.name])])


def setting_at(space: Sequence[Axis], unit: np.ndarray) -> Setting:
    """The setting at a unit vector, numbers rounded and choices taken where an axis needs it."""
    setting, at = {}, 0
    for axis in space:
        setting[axis.name] = axis.from_unit(unit[at : at + axis.width])
        at += axis.width
    return setting
