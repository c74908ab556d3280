"""Settings of several datasets for a joint kernel: coordinates, and which are usable.

Notation:
    η       a setting; x its unit vector (core.space), shape (width,)
    φ(x)    its coordinates, shape (width,): the entries of a choice are divided by √2, so that two
            different choices are at distance 1; the numbers of a simplex are divided by their sum
    p       the number of axes: √p is then the diameter of all coordinates, as the unit cube's is
    s       dataset statistics, standardized over all datasets with the present one at 0
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.gp.kernels import Array, Indices
from core.space import Axis, Setting


class Coordinates:
    """φ, and gradients by φ as gradients by the points, over one axis or more.

    `simplex`: names of number axes whose values count only as shares of their sum (all zero: equal
    shares); other names are passed over. `axis_of`: for every entry its axis; `axes`: p.
    """

    def __init__(self, space: Sequence[Axis], simplex: Sequence[str] = ()) -> None:
        widths = [axis.width for axis in space]
        self.axis_of: Indices = np.repeat(np.arange(len(widths)), widths)
        self.axes = len(widths)
        self.width = len(self.axis_of)
        of_choice = np.array([axis.kind == "choice" for axis in space])[self.axis_of]
        self._scale = np.where(of_choice, math.sqrt(0.5), 1.0)
        self._shared = [axis for axis in space if axis.name in simplex and axis.kind != "choice"]
        names = [axis.name for axis in space]
        entries = [names.index(axis.name) for axis in self._shared]
        self._entries: Indices = np.flatnonzero(np.isin(self.axis_of, entries))

    def transform(self, points: Array) -> Array:
        """φ of points of shape (m, width), the same shape."""
        scaled = points * self._scale
        if self._shared:
            scaled[:, self._entries] = self._simplex_shares(points)[0]
        return scaled

    def pulled_back(self, points: Array, gradient: Array) -> Array:
        """Gradients by φ as gradients by the points, all of shape (m, width).

        With shares h_k = v_k/Σv: ∂/∂u_j = v_j′ (g_j − Σ_k h_k g_k)/Σv.
        """
        pulled = gradient * self._scale
        if self._shared:
            shares, slopes, total = self._simplex_shares(points)
            g = gradient[:, self._entries]
            along = np.einsum("ij,ij->i", shares, g)[:, None]
            safe = np.where(total > 0, total, 1.0)
            pulled[:, self._entries] = np.where(total > 0, slopes * (g - along) / safe, 0.0)
        return pulled

    def _simplex_shares(self, points: Array) -> tuple[Array, Array, Array]:
        """Shares h, slopes v′ by the unit value, and the sums Σv, of the simplex' numbers."""
        values, slopes = np.empty((2, len(points), len(self._shared)))
        for k, axis in enumerate(self._shared):
            values[:, k], slopes[:, k] = _values_and_slopes(axis, points[:, self._entries[k]])
        total = values.sum(axis=1, keepdims=True)
        equal = 1.0 / len(self._shared)
        shares = np.where(total > 0, values / np.where(total > 0, total, 1.0), equal)
        return shares, slopes, total


def _values_and_slopes(axis: Axis, units: Array) -> tuple[Array, Array]:
    """The value of an axis at unit values, not rounded and never negative, and its slope."""
    if axis.high <= axis.low:
        return np.full(len(units), max(axis.low, 0.0)), np.zeros(len(units))
    first, last = axis.to_unit(axis.low)[0], axis.to_unit(axis.high)[0]
    ends = axis.low, axis.high
    low, high = map(math.log, ends) if axis.log else ends
    rate = (high - low) / (last - first)
    position = low + (np.clip(units, first, last) - first) * rate
    values = np.exp(position) if axis.log else position
    slopes = rate * values if axis.log else np.full(len(units), rate)
    return np.maximum(values, 0.0), np.where(values > 0.0, slopes, 0.0)


def convert_setting(space: Sequence[Axis], setting: Mapping[str, Any]) -> Setting | None:
    """The setting of an earlier dataset as this space has it; None where it is unusable.

    Numbers out of range are moved to the nearest end. A missing axis, an unknown choice, and
    anything but a finite number where a number is due make it unusable.
    """
    usable_setting: Setting = {}
    for axis in space:
        value = setting.get(axis.name, _MISSING)
        if axis.kind == "choice":
            if not any(value is choice or value == choice for choice in axis.choices):
                return None
            usable_setting[axis.name] = value
        elif _is_finite_number(value):
            usable_setting[axis.name] = min(axis.high, max(axis.low, value))
        else:
            return None
    return usable_setting


def _is_finite_number(value: Any) -> bool:
    number = type(value) in (float, int) or isinstance(value, np.number)
    return number and math.isfinite(value)


_MISSING = object()


def standardized_statistics(table: Array) -> Array:
    """Statistics (datasets, 3) in standard deviations, the last row (the present dataset) at 0.

    The distances of the rows to it are those of Yogatama & Mann (2014), §3.4.
    """
    deviation = table.std(axis=0)
    return (table - table[-1]) / np.where(deviation > 0, deviation, 1.0)
