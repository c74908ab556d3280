"""Fitting a Gaussian process to a growing set of points, with little work a point."""

from __future__ import annotations

import numpy as np

from core.gp.kernels import Array, Indices, Stationary
from core.gp.marginal_likelihood import Likelihood, maximize_likelihood
from core.gp.regression import ExactPosterior, GpPosterior

SEVERAL_STARTS_BELOW = 40  # observations; a search from several starts costs milliseconds there
FEW = 100  # observations; more are searched by a draw of so many first


class GpFitter:
    """Keeps hyperparameters and the Cholesky factor from one fit to the next.

    Hyperparameters are learned anew while points are few (or with `always_learn`), and later each
    time their number has grown by four percent, starting from the last ones; from several starts
    while that is cheap and each time the number has grown by half. In between the Cholesky factor
    is extended. `axis_of`: for every entry of a point its axis, shape (width,).
    """

    def __init__(self, kernel: str, axis_of: Indices, *, always_learn: bool = False) -> None:
        self.kernel, self.axis_of, self.always_learn = kernel, axis_of, always_learn
        self.theta: Array | None = None
        self.learned_at = self.searched_at = 0
        self.last: GpPosterior | None = None

    def fit(self, X: Array, z: Array, random: np.random.Generator) -> GpPosterior:
        """The posterior given points (n, width) and standardized responses (n,)."""
        n = len(X)
        if self.theta is None or self.always_learn or n - self.learned_at >= max(1, n // 25):
            self.last = self._learn_posterior(X, z, random)
        else:
            self.last = self._extend_posterior(X, z) or self._posterior(X, z, self.theta)
        return self.last

    def _extend_posterior(self, X: Array, z: Array) -> GpPosterior | None:
        """The last posterior with the new points; None unless X is its points and new ones."""
        if self.last is None:
            return None
        old = len(self.last.X)
        if old >= len(X) or not np.array_equal(X[:old], self.last.X):
            return None
        return self.last.extended(X[old:], z)

    def _learn_posterior(self, X: Array, z: Array, random: np.random.Generator) -> GpPosterior:
        n = len(X)
        start = self.theta
        if start is None or n < SEVERAL_STARTS_BELOW or n >= 1.5 * self.searched_at:
            start = self._search_theta(X, z, random)
            self.searched_at = n
        likelihood = Likelihood(self.kernel, X, z, self.axis_of)
        theta = maximize_likelihood(likelihood, [start], rounds=50 if n <= FEW else 3)
        # Coarser than the last bits, which depend on where arrays lie in memory: a resumed run
        # must not drift away from the run that was interrupted.
        self.theta = np.round(theta, 3)
        self.learned_at = n
        return self._posterior(X, z, self.theta)

    def _search_theta(self, X: Array, z: Array, random: np.random.Generator) -> Array:
        """θ from several starts, on a draw of the points where there are many; then on more."""
        # The likelihood of a hundred points finds the basin that the likelihood of all then
        # refines, at a thousandth of the cost of searching with a thousand.
        starts: list[Array] = [] if self.theta is None else [self.theta]
        for share in (FEW, 3 * FEW):
            rows = random.permutation(len(X))[:share]
            likelihood = Likelihood(self.kernel, X[rows], z[rows], self.axis_of)
            if share == FEW:
                scattered = random.standard_normal(len(likelihood.prior_mean))
                starts += [likelihood.prior_mean, likelihood.prior_mean + scattered]
            starts = [maximize_likelihood(likelihood, starts)]
            if len(X) <= 2 * share:
                break
        return starts[0]

    def _posterior(self, X: Array, z: Array, theta: Array) -> GpPosterior:
        hyper = Likelihood(self.kernel, X, z, self.axis_of).hyperparameters(theta)
        return ExactPosterior(Stationary(self.kernel, hyper), X, z)
