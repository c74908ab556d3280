"""Grid search from coarse to fine: the picture means something after a dozen trials.

The idea is that of LIBSVM's grid.py: each axis is visited middle first, then the middles of the
halves, and so on; settings whose coordinates all belong to coarse levels come first.
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
from core.gp.domain import Domain
from core.samplers.proposing import ProposingSampler, note, refuse_several_objectives
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
    """The values of every axis that a grid will try, ascending: what is shown before the start.

    Args:
        space: the axes.
        points: values of every number; 0 for as many as make a grid of some 500 settings.
        powers_of_two: on logarithmic axes, the powers of two within the range instead.
        values: {name: values} for axes whose values are given.

    Returns:
        {axis name: values}; a choice gives all its values, a whole number never more than it has.
    """
    return _grid_values(SearchSpace(distributions(space)), points, powers_of_two, values or {})


def check_grid(space: Sequence[Axis], options: Mapping[str, Any]) -> None:
    """Refuse a grid that nobody would wait for, before anything is fitted.

    Raises:
        UnusableError: it has more than a million settings.
    """
    size = math.prod(len(values) for values in grid_values(space, **options).values())
    if size > LARGEST:
        raise UnusableError(
            f"a grid over {len(space)} hyperparameters would have {size:,} settings",
            where="strategy grid",
            cure="give fewer points, or choose another strategy",
        )


def _grid_values(
    space: SearchSpace, points: int, powers_of_two: bool, given: Mapping[str, Sequence[Any]]
) -> Values:
    fixed: Values = {}
    for axis in space.axes:
        if axis.name in given:
            fixed[axis.name] = list(given[axis.name])
        elif axis.kind == "choice":
            fixed[axis.name] = list(axis.choices)
        elif powers_of_two and axis.log:
            fixed[axis.name] = _powers_of_two(axis)
    points = points or _automatic_points(space.axes, fixed)
    spread = {
        axis.name: _spread(space, axis, points) for axis in space.axes if axis.name not in fixed
    }
    return {axis.name: (fixed | spread)[axis.name] for axis in space.axes}


def _powers_of_two(axis: Axis) -> list[Any]:
    first, last = math.ceil(math.log2(axis.low) - 1e-9), math.floor(math.log2(axis.high) + 1e-9)
    powers = [2**k if axis.kind == "int" else 2.0**k for k in range(first, last + 1)]
    return powers or [axis.from_unit([0.5])]


def _automatic_points(axes: Sequence[Axis], fixed: Values) -> int:
    """The largest 2ᵏ − 1 for which the grid stays under the automatic size; at least 3."""
    points = FINEST
    others = math.prod(len(values) for values in fixed.values())
    while points > 3:
        numbers = [min(points, Domain.count(axis)) for axis in axes if axis.name not in fixed]
        if others * math.prod(numbers) <= AUTOMATIC_SIZE:
            break
        points = (points - 1) // 2
    return points


def _spread(space: SearchSpace, axis: Axis, points: int) -> list[Any]:
    """Values at the middles of equal parts of the axis's unit interval; each whole number once."""
    if axis.low == axis.high:
        middles = [0.5]
    elif points >= Domain.count(axis):
        middles = [axis.to_unit(value)[0] for value in range(round(axis.low), round(axis.high) + 1)]
    else:
        middles = [(k + 0.5) / points for k in range(points)]
    one = SearchSpace({axis.name: space.described[axis.name]})
    values = [one.setting(np.array([middle]))[axis.name] for middle in middles]
    return list(dict.fromkeys(values))


def _coarse_to_fine(values: Values, ordered: set[str]) -> list[Setting]:
    """All combinations, coarse levels first; within a level spread by bit reversal.

    Only the `ordered` axes, the numbers, have levels: no choice is coarser than another.
    """
    size = math.prod(len(each) for each in values.values())
    if size > LARGEST:
        raise ValueError(f"a grid of {size} settings is too large")
    levels = [
        _levels(len(each)) if name in ordered else [0] * len(each) for name, each in values.items()
    ]
    cells = list(itertools.product(*(range(len(each)) for each in values.values())))
    bits = max(1, (size - 1).bit_length())
    keys = [
        (max(level[k] for level, k in zip(levels, cell, strict=True)), _reversed(at, bits))
        for at, cell in enumerate(cells)
    ]
    order = sorted(range(size), key=keys.__getitem__)
    names = list(values)
    return [{n: values[n][k] for n, k in zip(names, cells[at], strict=True)} for at in order]


def _levels(count: int) -> list[int]:
    """The bisection level of each of `count` values in a row: 0 the middle, then quarters."""
    levels = [0] * count
    parts = [(0, count, 0)]
    while parts:
        start, end, level = parts.pop()
        if start >= end:
            continue
        middle = (start + end - 1) // 2
        levels[middle] = level
        parts += [(start, middle, level + 1), (middle + 1, end, level + 1)]
    return levels


def _reversed(number: int, bits: int) -> int:
    return int(f"{number:0{bits}b}"[::-1], 2)


class GridSampler(ProposingSampler):
    """Tries every setting of a grid once, coarse to fine, and says when it is done.

    Args:
        space: the axes; None to learn them from the study's trials.
        seed: kept for the common form; a grid draws nothing.
        points, powers_of_two, values: as for `grid_values`.
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
        self._order_of: SearchSpace | None = None

    def settings(self, space: SearchSpace) -> list[Setting]:
        """All settings of the grid over a space, in the order in which they are tried.

        Raises:
            ValueError: there are more than a million.
        """
        chosen = _grid_values(space, self.points, self.powers_of_two, self.values)
        return _coarse_to_fine(chosen, {axis.name for axis in space.axes if axis.kind != "choice"})

    def propose(self, study: Study, trial: FrozenTrial, space: SearchSpace) -> Setting:
        """The first setting of the order that no other trial has had; then from the start."""
        if self._order_of is not space:
            self._order, self._order_of = self.settings(space), space
        tried = {
            tuple(other.params[name] for name in space.described)
            for other in study.get_trials(deepcopy=False)
            if other.number != trial.number and space.contains(other.params)
        }
        left = [s for s in self._order if tuple(s[name] for name in space.described) not in tried]
        if len(left) <= 1:
            self.finish("every setting of the grid has been tried")
        note(study, trial, "grid")
        return left[0] if left else self._order[trial.number % len(self._order)]

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """The middle of the axis: where a grid starts.

        Raises:
            ValueError: the study has several objectives.
        """
        refuse_several_objectives(study)
        return self.settings(SearchSpace({param_name: param_distribution}))[0][param_name]
