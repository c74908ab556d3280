"""Functions drawn from a Gaussian process's posterior, which can be evaluated anywhere.

Notation (Wilson et al. 2020, "Efficiently sampling functions from Gaussian process posteriors"):
    ω_j     frequency: a draw from the spectral density of the kernel, j = 1 … m
    f       a draw from the prior, √(a/m) Σ_j r_j cos(ω_jᵀx + b_j)  (random Fourier features, eq. 5)
    v       K⁻¹(z − f(X) − ε), ε ~ N(0, σ² I)
    f | z   f(x) + k(x, X) v  (pathwise conditioning, eq. 13)

With r_j of the Rayleigh and b_j of the uniform distribution, r_j cos(φ + b_j) is w cos φ + w′ sin φ
with normal w and w′.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaincinv, ndtri
from scipy.stats import qmc

from core.gp.kernels import Array
from core.gp.regression import GpPosterior
from core.optimize.cholesky import solve_factored

FREQUENCIES = 512  # twice as many features
BLOCK = 256  # points evaluated at once: their cosines and kernel values stay in the cache
# The spectral density of a Matérn kernel of smoothness ν is a multivariate t with 2ν degrees of
# freedom and scales 1/ℓ; that of the squared exponential is normal.
FREEDOM = {"matern32": 3.0, "matern52": 5.0, "se": np.inf}
EDGE = 2.0**-31  # half of the finest step of a Sobol sequence: quantiles there are finite


def frequencies(kernel: str, lengths: Array, count: int, random: np.random.Generator) -> Array:
    """ω_1 … ω_m from the kernel's spectral density, shape (count, width); count a power of two."""
    freedom = FREEDOM[kernel]
    # Quantiles of a Sobol sequence: their mean cosine is nearer the kernel than that of draws.
    sobol = qmc.Sobol(len(lengths) + 1, scramble=True, rng=random)
    uniform = np.clip(sobol.random_base2(count.bit_length() - 1), EDGE, 1.0 - EDGE)
    normal = ndtri(uniform[:, 1:]) / lengths
    if np.isinf(freedom):
        return normal
    chi_squared = 2.0 * gammaincinv(freedom / 2.0, uniform[:, :1])
    return normal * np.sqrt(freedom / chi_squared)


class PosteriorDraws:
    """Independent functions drawn from a posterior, each by `count` frequencies, a power of two.

    Over all draws their mean and covariance are those of the posterior exactly. Cost of a draw: m n
    + n² flops and m n cosines at once, then m cosines and n kernel values for every point.
    """

    def __init__(
        self,
        regression: GpPosterior,
        random: np.random.Generator,
        *,
        draws: int = 1,
        count: int = FREQUENCIES,
    ) -> None:
        kernel, hyper = regression.kernel, regression.kernel.hyper
        self.regression = regression
        omega = [frequencies(kernel.name, hyper.lengths, count, random) for _ in range(draws)]
        # One cosine then stands for two features (see above).
        phase = random.uniform(0.0, 2.0 * np.pi, (draws, count))
        height = np.sqrt(hyper.amplitude / count) * random.rayleigh(size=(draws, count))
        # Single precision sums waves ten times faster: off by some 1e-6 of the standard deviation,
        # by 1e-5 where lengths are a hundredth of the range.
        self._omega = [frequency.T.astype(np.float32) for frequency in omega]
        self._phase, self._height = phase.astype(np.float32), height.astype(np.float32)
        noise = np.sqrt(hyper.noise) * random.standard_normal((draws, len(regression.X)))
        residual = (regression.z - self._prior_values(regression.X) - noise).T
        self._update = solve_factored(regression.L, residual).T

    def __call__(self, points: Array) -> Array:
        """The draws' values at points of shape (m, width), shape (draws, m)."""
        values = self._prior_values(points)
        for start in range(0, len(points), BLOCK):
            block = slice(start, start + BLOCK)
            k = self.regression.kernel.cross_covariance(self.regression.X, points[block])
            values[:, block] += self._update @ k
        return values

    def _prior_values(self, points: Array) -> Array:
        values = np.empty((len(self._omega), len(points)))
        centred = (points - 0.5).astype(np.float32)
        for start in range(0, len(points), BLOCK):
            block = slice(start, start + BLOCK)
            for k, omega in enumerate(self._omega):
                waves = centred[block] @ omega
                waves += self._phase[k]
                values[k, block] = np.cos(waves, out=waves) @ self._height[k]
        return values
