"""Grid search from coarse to fine: the picture means something after a dozen trials.

As LIBSVM's grid.py: each axis is visited middle first, then the middles of the halves, and so on;
settings with all coordinates of coarse levels come first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.study import Study
from optuna.trial import FrozenTrial

from core.errors import UnusableError
from core.gp.domain import SearchDomain
from core.samplers.proposing_sampler import ProposingSampler, note_reason, refuse_several_objectives
from core.samplers.search_space import SearchSpace, distributions
from core.space import Axis, Setting

AUTOMATIC_SIZE = 512  # settings in a grid that chooses its own fineness, where the axes allow it
FINEST = 31  # values of one number at most, then
LARGEST = 1_000_000  # settings; beyond it nobody would wait

Values = dict[str, list[Any]]


def grid_values(
    space: Sequence[Axis],
    *,
    points: int = 0,
    powers_of_two: bool = False,
    values: Mapping[str, Sequence[Any]] | None = None,
) -> Values:
    """The values of every axis that a grid will try, {name: values}, ascending.

    `points`: values of every number, 0 for as many as make a grid of some 500 settings;
    `powers_of_two`: on logarithmic axes, those within the range instead; `values`: {name: values}
    of axes whose values a person chose. A choice gives all its values.
    """
    return _grid_values(SearchSpace(distributions(space)), points, powers_of_two, values or {})


def check_grid(values: Values) -> None:
    """Raise UnusableError for a grid of more than a million settings."""
    size = math.prod(len(axis_values) for axis_values in values.values())
    if size > LARGEST:
        raise UnusableError(
            f"a grid over {len(values)} hyperparameters would have {size:,} settings",
            where="strategy grid",
            cure="give fewer points, or choose another strategy",
        )


def _grid_values(
    space: SearchSpace, points: int, powers_of_two: bool, axis_values: Mapping[str, Sequence[Any]]
) -> Values:
    fixed: Values = {}
    for axis in space.axes:
        if axis.name in axis_values:
            fixed[axis.name] = list(axis_values[axis.name])
        elif axis.kind == "choice":
            fixed[axis.name] = list(axis.choices)
        elif powers_of_two and axis.log:
            fixed[axis.name] = _powers_of_two(axis)
    points = points or _automatic_points(space.axes, fixed)
    numbers = [axis for axis in space.axes if axis.name not in fixed]
    number_values = {axis.name: _spread_values(space, axis, points) for axis in numbers}
    return {axis.name: (fixed | number_values)[axis.name] for axis in space.axes}


def _powers_of_two(axis: Axis) -> list[Any]:
    # Where the range ends at a power of two, rounding must not leave it out.
    first, last = math.ceil(math.log2(axis.low) - 1e-9), math.floor(math.log2(axis.high) + 1e-9)
    powers = [2**k if axis.kind == "int" else 2.0**k for k in range(first, last + 1)]
    return powers or [axis.from_unit([0.5])]


def _automatic_points(axes: Sequence[Axis], fixed: Values) -> int:
    """The largest 2ᵏ − 1 for which the grid stays under the automatic size; at least 3."""
    points = FINEST
    fixed_size = math.prod(len(values) for values in fixed.values())
    counts = [SearchDomain.value_count(axis) for axis in axes if axis.name not in fixed]
    while points > 3:
        if fixed_size * math.prod(min(points, count) for count in counts) <= AUTOMATIC_SIZE:
            break
        points = (points - 1) // 2
    return points


def _spread_values(space: SearchSpace, axis: Axis, points: int) -> list[Any]:
    """Values at the middles of equal parts of the axis's unit interval; each whole number once."""
    if axis.low == axis.high:
        middles = [0.5]
    elif points >= SearchDomain.value_count(axis):
        middles = [axis.to_unit(value)[0] for value in range(round(axis.low), round(axis.high) + 1)]
    else:
        middles = [(k + 0.5) / points for k in range(points)]
    axis_space = SearchSpace({axis.name: space.described[axis.name]})
    values = [axis_space.setting(np.array([middle]))[axis.name] for middle in middles]
    return list(dict.fromkeys(values))


def _coarse_to_fine(values: Values, ordered: set[str]) -> list[Setting]:
    """All combinations, coarse levels of the `ordered` axes first, within a level bit-reversed."""
    size = math.prod(len(axis_values) for axis_values in values.values())
    if size > LARGEST:
        raise ValueError(f"a grid of {size} settings is too large")
    levels = [
        _bisection_levels(len(axis_values)) if name in ordered else [0] * len(axis_values)
        for name, axis_values in values.items()
    ]
    cells = list(itertools.product(*(range(len(axis_values)) for axis_values in values.values())))
    bits = max(1, (size - 1).bit_length())
    keys = [
        (max(level[k] for level, k in zip(levels, cell, strict=True)), _reversed(index, bits))
        for index, cell in enumerate(cells)
    ]
    order = sorted(range(size), key=keys.__getitem__)
    names = list(values)
    return [{n: values[n][k] for n, k in zip(names, cells[index], strict=True)} for index in order]


def _bisection_levels(count: int) -> list[int]:
    """The bisection level of each of `count` values in a row: 0 the middle, then quarters."""
    levels = [0] * count
    intervals = [(0, count, 0)]
    while intervals:
        start, end, level = intervals.pop()
        if start >= end:
            continue
        middle = (start + end - 1) // 2
        levels[middle] = level
        intervals += [(start, middle, level + 1), (middle + 1, end, level + 1)]
    return levels


def _reversed(number: int, bits: int) -> int:
    return int(f"{number:0{bits}b}"[::-1], 2)


def _setting_key(setting: Mapping[str, Any], names: Sequence[str]) -> tuple[Any, ...]:
    # The default and a point of the grid may differ by the rounding of a logarithm.
    values = [setting[name] for name in names]
    return tuple(float(f"{v:.9g}") if isinstance(v, float) else v for v in values)


class GridSampler(ProposingSampler):
    """Tries every setting of a grid once, coarse to fine, and says when it is done.

    `space`: the axes, None to learn them from the study's trials; others as for `grid_values`.
    """

    def __init__(
        self,
        space: Sequence[Axis] | None = None,
        *,
        seed: int = 0,
        points: int = 0,
        powers_of_two: bool = False,
        values: Mapping[str, Sequence[Any]] | None = None,
    ) -> None:
        super().__init__(space, seed=seed)
        self.points, self.powers_of_two, self.values = points, powers_of_two, dict(values or {})
        self._order: list[Setting] = []

    def prepare_space(self, space: SearchSpace) -> None:
        self._order = self.settings(space)

    def settings(self, space: SearchSpace) -> list[Setting]:
        """All settings in the order in which they are tried; ValueError: more than a million."""
        values = _grid_values(space, self.points, self.powers_of_two, self.values)
        return _coarse_to_fine(values, {axis.name for axis in space.axes if axis.kind != "choice"})

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        # Of all trials, running and failed ones too: a grid visits every point once.
        names = list(space.described)
        tried_keys = {
            _setting_key(other_trial.params, names)
            for other_trial in study.get_trials(deepcopy=False)
            if other_trial.number != trial.number and space.contains(other_trial.params)
        }
        untried_settings = [s for s in self._order if _setting_key(s, names) not in tried_keys]
        if len(untried_settings) <= 1:
            self.mark_exhausted("every setting of the grid has been tried")
        note_reason(study, trial, "grid")
        if untried_settings:
            return untried_settings[0]
        return self._order[trial.number % len(self._order)]

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        # The middle of the axis: where a grid starts.
        refuse_several_objectives(study)
        return self.settings(SearchSpace({param_name: param_distribution}))[0][param_name]
