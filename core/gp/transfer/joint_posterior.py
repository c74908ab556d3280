"""A posterior over the trials of several datasets, evaluated at unit vectors of the present one."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.gp.kernels import Array
from core.gp.regression import Posterior
from core.gp.transfer.coordinates import Coordinates


class JointPosterior:
    """A posterior over coordinates, evaluated at unit vectors of the present dataset.

    `inner` is over rows X (n, any): coordinates, then the dataset or its statistics, `further`
    entries that are zero in the present dataset. z: responses, the earlier trials' first.
    """

    def __init__(self, inner: Posterior[Any], coordinates: Coordinates, further: int) -> None:
        self.inner, self.coordinates, self.further = inner, coordinates, further
        self.X, self.z = inner.X, inner.z

    @property
    def lengths(self) -> Array:
        """Of every entry of the unit vector, shape (width,)."""
        return self.inner.lengths[: self.coordinates.width]

    def inner_rows(self, points: Array) -> Array:
        """What the inner posterior sees of unit vectors, shape (m, width + further)."""
        return present_rows(self.coordinates, points, self.further)

    def extended(self, X_new: Array, z: Array) -> JointPosterior:
        """With m more points of the present dataset; z is of all, shape (n + m,)."""
        inner = self.inner.extended(self.inner_rows(X_new), z)
        return JointPosterior(inner, self.coordinates, self.further)

    def posterior(self, points: Array) -> tuple[Array, Array]:
        """Mean and standard deviation at unit vectors (m, width), each of shape (m,)."""
        return self.inner.posterior(self.inner_rows(points))

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, deviation and their gradients by the unit vector."""
        mean, sd, *gradients = self.inner.posterior_gradients(self.inner_rows(points))
        width = self.coordinates.width
        pull = self.coordinates.pulled_back
        mean_slope, sd_slope = (pull(points, gradient[:, :width]) for gradient in gradients)
        return mean, sd, mean_slope, sd_slope


def present_rows(coordinates: Coordinates, points: Array, further: int) -> Array:
    """Coordinates of unit vectors of the present dataset and zeros, shape (m, width + further)."""
    return np.pad(coordinates.transform(points), ((0, 0), (0, further)))
