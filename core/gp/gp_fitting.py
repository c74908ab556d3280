"""Fitting a Gaussian process to a growing set of points: the marginal likelihood and its maximum.

Notation:
    θ       (log ℓ_1 … log ℓ_D, log a, log σ²), one length for every axis: the one-hot entries of a
            choice share theirs, shape (D + 2,)
    K       a R + σ² I, shape (n, n)
    G       ααᵀ − K⁻¹
    f(θ)    −½ zᵀα − ½ log|K| + log prior(θ), without constants

∂f/∂θ = ½ tr(G ∂K/∂θ) + ∂ log prior (Rasmussen & Williams 2006, eq. 5.9).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from core.gp.kernels import (
    BLOCK,
    Array,
    Hyperparameters,
    Indices,
    Stationary,
    correlation_and_slope,
    squared_distances,
)
from core.gp.regression import ExactPosterior, GpPosterior

LENGTHS = (0.01, 30.0)
AMPLITUDES = (0.05, 50.0)
NOISES = (1e-8, 1.0)

# Weak normal priors on the logarithms: (mean, standard deviation). Without them three points give
# infinite lengths and no noise. The mean length grows with √D, as distances in the cube do.
LENGTH_PRIOR = (np.log(0.35), 0.7)
AMPLITUDE_PRIOR = (0.0, 1.0)
NOISE_PRIOR = (np.log(1e-4), 2.0)


class Likelihood:
    """f(θ) and its gradient for points X (n, width) and standardized responses z (n,).

    `axis_of`: for every entry of the unit vector its axis, 0 … D − 1, shape (width,); `amplitudes`:
    the smallest and the largest.
    """

    def __init__(
        self,
        kernel: str,
        X: Array,
        z: Array,
        axis_of: Indices,
        amplitudes: tuple[float, float] = AMPLITUDES,
    ) -> None:
        self.kernel, self.X, self.z, self.axis_of = kernel, X, z, np.asarray(axis_of, dtype=int)
        self.amplitudes = amplitudes
        self.axes = int(self.axis_of.max()) + 1
        self._K, self._slope = np.empty((len(X), len(X))), np.empty((len(X), len(X)))
        length_mean = LENGTH_PRIOR[0] + 0.5 * np.log(self.axes)
        self.prior_mean = np.array([length_mean] * self.axes + [AMPLITUDE_PRIOR[0], NOISE_PRIOR[0]])
        deviations = [LENGTH_PRIOR[1]] * self.axes + [AMPLITUDE_PRIOR[1], NOISE_PRIOR[1]]
        self.prior_sd = np.array(deviations)

    @property
    def theta_bounds(self) -> list[tuple[float, float]]:
        box = [LENGTHS] * self.axes + [self.amplitudes, NOISES]
        return [(float(np.log(low)), float(np.log(high))) for low, high in box]

    def hyperparameters(self, theta: Array) -> Hyperparameters:
        """θ in natural units, one length for every entry of the unit vector."""
        lengths = np.exp(theta[: self.axes])[self.axis_of]
        return Hyperparameters(lengths, float(np.exp(theta[-2])), float(np.exp(theta[-1])))

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """f(θ) and ∂f/∂θ; −∞ and zeros where K is not positive definite. About n³ flops."""
        hyper = self.hyperparameters(theta)
        n = len(self.X)
        self._fill_matrices(hyper)
        # What is the lower half here is the upper one in LAPACK's memory order.
        _, status = lapack.dpotrf(self._K.T, lower=0, clean=0, overwrite_a=1)
        if status != 0:
            return -np.inf, np.zeros_like(theta)
        value = -float(np.log(np.diagonal(self._K)).sum())
        inner, _ = lapack.dtrtrs(self._K.T, self.z, lower=0, trans=1)
        alpha, _ = lapack.dtrtrs(self._K.T, inner, lower=0, trans=0)
        fit = float(inner @ inner)
        lapack.dpotri(self._K.T, lower=0, overwrite_c=1)  # now _K holds K⁻¹
        trace = float(alpha @ alpha - np.trace(self._K))
        gradient = np.empty_like(theta)
        gradient[: self.axes] = self._by_lengths(alpha, hyper)
        gradient[-2] = 0.5 * (fit - n - hyper.noise * trace)
        gradient[-1] = 0.5 * hyper.noise * trace
        off = (theta - self.prior_mean) / self.prior_sd
        return value - 0.5 * fit - 0.5 * float(off @ off), gradient - off / self.prior_sd

    def _row_blocks(self) -> list[tuple[slice, slice]]:
        # Lower halves only, in buffers that are kept: half the work, and nothing is allocated.
        starts = range(0, len(self.X), BLOCK)
        return [(slice(k, k + BLOCK), slice(0, k + BLOCK)) for k in starts]

    def _fill_matrices(self, hyper: Hyperparameters) -> None:
        """K and R′, lower halves, R′ with zeros on and above the diagonal (where Δ = 0)."""
        for rows, columns in self._row_blocks():
            s = squared_distances(self.X[rows], self.X[columns], hyper.lengths)
            R, slope = correlation_and_slope(self.kernel, s)
            np.multiply(R, hyper.amplitude, out=self._K[rows, columns])
            first = rows.start
            slope[:, first:] = np.tril(slope[:, first:], -1)
            self._slope[rows, columns] = slope
        np.fill_diagonal(self._K, hyper.amplitude + hyper.noise)

    def _by_lengths(self, alpha: Array, hyper: Hyperparameters) -> Array:
        """½ tr(G ∂K/∂log ℓ) for every axis, shape (D,).

        With W = G ∘ R′ below the diagonal, ½ tr(G ∂K/∂log ℓ) = −(2a/ℓ²) Σ_i>j W_ij (x_i − x_j)²,
        and the sum is Σ_i x_i² (W1)_i + Σ_j x_j² (Wᵀ1)_j − 2 xᵀWx, without a matrix of differences.
        """
        X = self.X - 0.5
        squares = X**2
        total = np.zeros(X.shape[1])
        for rows, columns in self._row_blocks():
            W = np.multiply.outer(alpha[rows], alpha[columns])
            W -= self._K[rows, columns]
            W *= self._slope[rows, columns]
            total += W.sum(axis=1) @ squares[rows] + W.sum(axis=0) @ squares[columns]
            total -= 2.0 * np.einsum("ij,ij->j", X[rows], W @ X[columns])
        return self._by_axis(-2.0 * hyper.amplitude * total / hyper.lengths**2)

    def _by_axis(self, by_entry: Array) -> Array:
        return np.bincount(self.axis_of, weights=by_entry, minlength=self.axes).astype(float)


def maximize_likelihood(likelihood: Likelihood, starts: list[Array], *, rounds: int = 50) -> Array:
    """θ* = argmax f(θ) within its bounds, (D + 2,): L-BFGS-B from every start, the best kept."""
    # Loose: θ is rounded afterwards, and predictions hardly hang on its further digits.
    box, options = likelihood.theta_bounds, {"maxiter": rounds, "ftol": 1e-5, "gtol": 1e-2}
    low, high = np.array(box).T
    best_value, best = -np.inf, np.clip(starts[0], low, high)

    def negative(theta: Array) -> tuple[float, Array]:
        value, gradient = likelihood.value_and_gradient(theta)
        # Where K is not positive definite a large finite number lets the line search back off.
        return (-value, -gradient) if np.isfinite(value) else (1e25, gradient)

    for start in starts:
        x0 = np.clip(start, low, high)
        optimum = minimize(negative, x0, jac=True, method="L-BFGS-B", bounds=box, options=options)
        if -optimum.fun > best_value:
            best_value, best = -float(optimum.fun), optimum.x
    return best


SEVERAL_STARTS_BELOW = 61  # observations; a search from several starts costs milliseconds there
MUCH_NOISE = 0.1  # the variance from which one of them begins
FEW = 100  # observations; more are searched by a draw of so many first
MANY = 3 * FEW  # observations; of more hyperparameters are learned by a draw of so many
ROUNDS = 5  # of a search with more than few
PENDING_A_SCORE = 16  # running trials for each further score until hyperparameters are learned anew


class GpFitter:
    """Keeps hyperparameters and the Cholesky factor from one fit to the next.

    `axis_of`: for every entry of a point its axis, shape (width,); `always_learn`: hyperparameters
    at every fit.
    """

    def __init__(self, kernel: str, axis_of: Indices, *, always_learn: bool = False) -> None:
        self.kernel, self.axis_of, self.always_learn = kernel, axis_of, always_learn
        self.theta: Array | None = None
        self.learned_at = self.searched_at = 0
        self.last: GpPosterior | None = None

    def fit(self, X: Array, z: Array, random: np.random.Generator, pending: int = 0) -> GpPosterior:
        """The posterior given points (n, width) and standardized responses (n,).

        `pending`: how many trials are running.
        """
        n = len(X)
        # Learned anew at every point while they are few, later with four percent more of them; in
        # between the Cholesky factor is extended, which costs n² flops in place of n³. Many workers
        # chose their trials by fewer scores anyway.
        due = max(1, n // 25, pending // PENDING_A_SCORE)
        if self.theta is None or self.always_learn or n - self.learned_at >= due:
            self.last = self._learn_posterior(X, z, random)
        else:
            self.last = self._extend_posterior(X, z) or self._posterior(X, z, self.theta)
        return self.last

    def _extend_posterior(self, X: Array, z: Array) -> GpPosterior | None:
        if self.last is None:
            return None
        old = len(self.last.X)
        if old > len(X) or not np.array_equal(X[:old], self.last.X):
            return None
        return self.last.extended(X[old:], z)

    def _learn_posterior(self, X: Array, z: Array, random: np.random.Generator) -> GpPosterior:
        n = len(X)
        # More than some hundred points hardly move θ, and each round costs n³ flops.
        rows = random.permutation(n)[:MANY] if n > MANY else np.arange(n)
        likelihood = Likelihood(self.kernel, X[rows], z[rows], self.axis_of)
        start = self.theta
        # The last θ is a start; from several others only where that is cheap, or the points are
        # half as many again as at the last such search.
        if start is None or n < SEVERAL_STARTS_BELOW or n >= 1.5 * self.searched_at:
            start = self._search_theta(X[rows], z[rows], random)
            self.searched_at = n
        # With many points the start is near the maximum.
        theta = maximize_likelihood(likelihood, [start], rounds=50 if n <= FEW else ROUNDS)
        # Coarser than the last bits, which depend on where arrays lie in memory: a resumed run
        # must not drift away from the run that was interrupted.
        self.theta = np.round(theta, 3)
        self.learned_at = n
        return self._posterior(X, z, self.theta)

    def _search_theta(self, X: Array, z: Array, random: np.random.Generator) -> Array:
        # A hundred points find the basin that the likelihood of more then refines.
        rows = random.permutation(len(X))[:FEW]
        likelihood = Likelihood(self.kernel, X[rows], z[rows], self.axis_of)
        # The likelihood often has two maxima: short lengths that explain every score, and noise
        # about a smooth function (Rasmussen & Williams 2006, fig. 5.5), as where scores jump with
        # a whole number or tie. From the prior's little noise the second is not reached.
        noisy = likelihood.prior_mean.copy()
        noisy[-1] = np.log(MUCH_NOISE)
        last = [] if self.theta is None else [self.theta]
        return maximize_likelihood(likelihood, [*last, likelihood.prior_mean, noisy])

    def _posterior(self, X: Array, z: Array, theta: Array) -> GpPosterior:
        hyper = Likelihood(self.kernel, X, z, self.axis_of).hyperparameters(theta)
        return ExactPosterior(Stationary(self.kernel, hyper), X, z)
