"""The settings that a run has asked for: none is asked for again before the space is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from core.gp.domain import SearchDomain
from core.gp.proposal import EQUAL, SAME, scattered_around
from core.space import Axis, Setting, setting_at, unit_vector
from core.tuning.runs.trial_table import GrowingArray

MAX_LISTED = 100_000  # settings of a space whose untried ones are listed
DRAWS = 1000  # at random, where no untried setting is near


class AskedSettings:
    """Settings of a space, equal where no model could tell them apart.

    Whole numbers and choices are equal where they are the same, real numbers within a
    ten-thousandth of their range; of the axes `simplex` the shares of their sum count.
    """

    def __init__(self, space: Sequence[Axis], simplex: Sequence[str] = ()) -> None:
        self._simplex, self._domain = simplex, SearchDomain(space)
        self._points = GrowingArray(float, self._domain.width)
        self._tolerances = np.where(self._domain.free, EQUAL, SAME)
        self._distinct_count = 0

    @property
    def is_spent(self) -> bool:
        """Whether every setting of the space was asked for."""
        return self._distinct_count >= self._domain.size

    def add_setting(self, setting: Mapping[str, Any]) -> None:
        self._distinct_count += setting not in self
        self._points.append(self._shared_point(setting))

    def __contains__(self, setting: Mapping[str, Any]) -> bool:
        gaps = np.abs(self._points.rows - self._shared_point(setting))
        return bool((gaps <= self._tolerances).all(axis=1).any())

    def nearest_new(self, setting: Setting, random: np.random.Generator) -> Setting:
        """A setting near an asked one that is new; the same where none is left."""
        domain, point = self._domain, unit_vector(self._domain.space, setting)
        if domain.size <= MAX_LISTED:
            distances = np.abs(self._all_points - point).sum(axis=1)
            points = self._all_points[distances.argsort(kind="stable")]
        else:
            even = domain.points_from_uniforms(random.random((DRAWS, len(domain.space))))
            points = np.vstack([scattered_around(domain, point, random), even])
        for candidate in points:
            new_setting = setting_at(domain.space, candidate)
            if new_setting not in self:
                return new_setting
        return setting

    @cached_property
    def _all_points(self) -> np.ndarray:
        return self._domain.all_points()

    def _shared_point(self, setting: Mapping[str, Any]) -> np.ndarray:
        # Of weights that count by their shares, the largest is taken for 1.
        largest = max((setting[name] for name in self._simplex), default=0.0)
        shares = {name: setting[name] / largest for name in self._simplex if largest > 0.0}
        return unit_vector(self._domain.space, {**setting, **shares})
