"""Between the program's axes and Optuna's distributions.

A stepped number of Optuna (value = low + k · step) is a whole-number axis over k; every other
distribution has an axis of the same values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.study import Study
from optuna.trial import TrialState

from core.gp.domain import Condition, SearchDomain
from core.gp.kernels import Array
from core.space import Axis, Setting, setting_at


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

    `described`: {name: distribution}, at least one, whose order the axes keep; `conditions`: of all
    parameters that a setting may lack.
    """

    def __init__(
        self, described: Mapping[str, BaseDistribution], conditions: Sequence[Condition] = ()
    ) -> None:
        self.described, self.conditions = dict(described), tuple(conditions)
        self.axes = tuple(_distribution_axis(name, kind) for name, kind in described.items())
        self.domain = SearchDomain(self.axes, self.conditions)
        self._needed_names = self.described.keys() - {condition.axis for condition in conditions}

    def is_same(self, space: SearchSpace) -> bool:
        return self.described == space.described and self.conditions == space.conditions

    def setting(self, unit: Array) -> Setting:
        """The setting at a unit vector, shape (width,)."""
        axis_values = setting_at(self.axes, unit)
        return {name: self._distribution_value(name, value) for name, value in axis_values.items()}

    def to_unit_vector(self, setting: Mapping[str, Any]) -> Array:
        """The unit vector of a setting, shape (width,)."""
        unit = self.domain.hidden_point.copy()
        for start, axis in zip(self.domain.first, self.axes, strict=False):
            if axis.name in setting or axis.name in self._needed_names:
                value = self.counted(axis.name, setting[axis.name])
                unit[start : start + axis.width] = axis.to_unit(value)
        return unit

    def contains(self, setting: Mapping[str, Any]) -> bool:
        return self._needed_names <= setting.keys()

    def _distribution_value(self, name: str, value: Any) -> Any:
        kind = self.described[name]
        step = _step_size(kind)
        if step is None:
            return value
        assert isinstance(kind, IntDistribution | FloatDistribution)
        number = kind.low + value * step
        return int(number) if isinstance(kind, IntDistribution) else min(kind.high, float(number))

    def counted(self, name: str, value: Any) -> Any:
        """The value of a parameter, or an array of them, as its axis counts it."""
        kind = self.described[name]
        step = _step_size(kind)
        if step is None:
            return value
        assert isinstance(kind, IntDistribution | FloatDistribution)
        return np.rint((value - kind.low) / step)


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


class SeenParameters:
    """The parameters that the finished trials of a study had, and what hides some of them."""

    def __init__(self, study_name: str) -> None:
        self.study_name = study_name
        self._numbers = set[int]()  # of the trials that were read
        self._distributions: dict[str, BaseDistribution] = {}
        self._changing_names = set[str]()  # with another range in another trial
        # For the names that a trial had, the values of its choices and whole numbers.
        self._branches: dict[frozenset[str], dict[str, set[float]]] = {}

    def read(self, study: Study) -> None:
        """Add the trials that have finished since."""
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            if trial.number in self._numbers:
                continue
            self._numbers.add(trial.number)
            values = self._branches.setdefault(frozenset(trial.params), {})
            for name, kind in trial.distributions.items():
                first = self._distributions.setdefault(name, kind)
                if first is not kind and first != kind:
                    self._changing_names.add(name)
                if not isinstance(kind, FloatDistribution) and _step_size(kind) is None:
                    code = kind.to_internal_repr(trial.params[name])
                    values.setdefault(name, set()).add(code)

    def space(self, *, with_conditions: bool) -> SearchSpace | None:
        """All parameters whose range never changed; only those that every trial had without."""
        common = frozenset[str]().union(*self._branches).intersection(*self._branches)
        names = self._distributions.keys() - self._changing_names
        names = names if with_conditions else names & common
        described = {name: self._distributions[name] for name in sorted(names)}
        conditions = [self._condition(name, common & names) for name in sorted(names - common)]
        return SearchSpace(described, conditions) if names else None

    def _condition(self, name: str, parents: Set[str]) -> Condition:
        """The parent whose values tell whether a trial has a parameter, of the fewest values."""
        # With more values it is likelier that they tell by chance.
        conditions = [(math.inf, Condition(name))]
        for parent in sorted(parents):
            having, lacking = set[float](), set[float]()
            for names, values in self._branches.items():
                (having if name in names else lacking).update(values.get(parent, ()))
            if having and not having & lacking:
                condition = Condition(name, parent, frozenset(lacking))
                conditions.append((len(having | lacking), condition))
        return min(conditions, key=lambda pair: pair[0])[1]
