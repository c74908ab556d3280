"""Between the program's axes and Optuna's distributions.

A stepped number of Optuna (value = low + k · step) is a whole-number axis over k; every other
distribution has an axis of the same values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from core.gp.kernels import Array
from core.space import Axis, Setting, setting_at, unit_vector


def distributions(space: Sequence[Axis]) -> dict[str, BaseDistribution]:
    """Optuna's distribution of every axis, in order; choices must be plain values."""
    return {axis.name: _distribution(axis) for axis in space}


def _distribution(axis: Axis) -> BaseDistribution:
    if axis.kind == "choice":
        return CategoricalDistribution(axis.choices)
    if axis.kind == "int":
        return IntDistribution(round(axis.low), round(axis.high), log=axis.log)
    return FloatDistribution(axis.low, axis.high, log=axis.log)


class SearchSpace:
    """The axes of Optuna's distributions, and settings to and from unit vectors.

    `described`: {name: distribution}, at least one, whose order the axes keep.
    """

    def __init__(self, described: Mapping[str, BaseDistribution]) -> None:
        self.described = dict(described)
        self.axes = tuple(_distribution_axis(name, kind) for name, kind in described.items())

    def setting(self, unit: Array) -> Setting:
        """The setting at a unit vector, shape (width,)."""
        axis_values = setting_at(self.axes, unit)
        return {name: self._distribution_value(name, value) for name, value in axis_values.items()}

    def to_unit_vector(self, setting: Mapping[str, Any]) -> Array:
        """The unit vector of a setting, shape (width,)."""
        counted = {name: self._counted(name, setting[name]) for name in self.described}
        return unit_vector(self.axes, counted)

    def contains(self, setting: Mapping[str, Any]) -> bool:
        return self.described.keys() <= setting.keys()

    def _distribution_value(self, name: str, value: Any) -> Any:
        kind = self.described[name]
        step = _step_size(kind)
        if step is None:
            return value
        assert isinstance(kind, IntDistribution | FloatDistribution)
        number = kind.low + value * step
        return int(number) if isinstance(kind, IntDistribution) else min(kind.high, float(number))

    def _counted(self, name: str, value: Any) -> Any:
        kind = self.described[name]
        step = _step_size(kind)
        if step is None:
            return value
        assert isinstance(kind, IntDistribution | FloatDistribution)
        return round((value - kind.low) / step)


def _step_size(kind: BaseDistribution) -> float | None:
    """The step of a stepped number; None for everything that an axis describes by itself."""
    if isinstance(kind, FloatDistribution):
        return kind.step
    # A float's step is None where it has none, a whole number's is 1.
    if isinstance(kind, IntDistribution) and kind.step != 1:
        return kind.step
    return None


def _distribution_axis(name: str, kind: BaseDistribution) -> Axis:
    if isinstance(kind, CategoricalDistribution):
        return Axis(name, name, "choice", choices=tuple(kind.choices))
    assert isinstance(kind, IntDistribution | FloatDistribution)
    step = _step_size(kind)
    if step is not None:
        # The quotient may come out a rounding below the last step.
        return Axis(name, name, "int", 0, math.floor((kind.high - kind.low) / step + 1e-9))
    is_integer = isinstance(kind, IntDistribution)
    return Axis(name, name, "int" if is_integer else "float", kind.low, kind.high, kind.log)
