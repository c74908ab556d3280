"""A posterior over the trials of several datasets, asked at unit vectors of the present one."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.gp.kernels import Array
from core.gp.regression import Posterior
from core.gp.transfer.points import Coordinates


class CommonRegression:
    """A posterior over coordinates, asked at unit vectors of the present dataset.

    Args:
        inner: the posterior over rows, which are coordinates and what tells the datasets apart.
        coordinates: from unit vectors to coordinates.
        further: how many entries follow the coordinates, zero in the present dataset: its number,
            or the standardized statistics.

    Attributes:
        X: what the inner posterior stands on, shape (n, any).
        z: responses, the earlier trials' first.
    """

    def __init__(self, inner: Posterior[Any], coordinates: Coordinates, further: int) -> None:
        self.inner, self.coordinates, self.further = inner, coordinates, further
        self.X, self.z = inner.X, inner.z

    @property
    def lengths(self) -> Array:
        """Of every entry of the unit vector, shape (width,)."""
        return self.inner.lengths[: self.coordinates.width]

    def rows(self, points: Array) -> Array:
        """What the inner posterior sees of unit vectors, shape (m, width + further)."""
        return present_rows(self.coordinates, points, self.further)

    def extended(self, X_new: Array, z: Array) -> CommonRegression:
        """With m more points of the present dataset; z is of all, shape (n + m,)."""
        inner = self.inner.extended(self.rows(X_new), z)
        return CommonRegression(inner, self.coordinates, self.further)

    def posterior(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at unit vectors (m, width), each of shape (m,)."""
        return self.inner.posterior(self.rows(points))

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, deviation and their gradients by the unit vector."""
        mean, sd, *gradients = self.inner.posterior_gradients(self.rows(points))
        width = self.coordinates.width
        rising, widening = (
            self.coordinates.pulled_back(points, gradient[:, :width]) for gradient in gradients
        )
        return mean, sd, rising, widening


def present_rows(coordinates: Coordinates, points: Array, further: int) -> Array:
    """Coordinates of unit vectors of the present dataset and zeros, shape (m, width + further)."""
    return np.pad(coordinates.of(points), ((0, 0), (0, further)))
