"""Marginal likelihoods of the joint kernels: lengths and noise, the amplitude being 1.

Notation:
    θ       (log ℓ_1 … log ℓ_D, log σ²), one length for every axis, shape (D + 1,)
    K       0.3 S + 0.7 (c − D) + σ² I (core.gp.transfer.kernel), S zero across datasets
    G       ααᵀ − K⁻¹
    f(θ)    −½ zᵀα − ½ log|K| + log prior(θ), with the priors of core.gp.marginal_likelihood
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from core.gp.kernels import Array, Hyperparameters, Indices
from core.gp.marginal_likelihood import LENGTH_PRIOR, LENGTHS, NOISE_PRIOR, NOISES, Likelihood
from core.gp.transfer.kernel import ACROSS, WITHIN, extend_anchor, point_distances


class NeighbourLikelihood:
    """f(θ) and its gradient under the kernel of neighbouring datasets.

    X: coordinates and the dataset of every point, (n, width + 1); z: responses (n,); `axis_of`:
    every coordinate's axis (width,); `constant`: the least c of the kernel.
    """

    def __init__(self, X: Array, z: Array, axis_of: Indices, constant: float = 1.0) -> None:
        self.z, self.axis_of = z, np.asarray(axis_of, dtype=int)
        self.axes = int(self.axis_of.max()) + 1
        self.constant = max(constant, extend_anchor(None, X, self.axes).constant)
        self._fixed = ACROSS * (self.constant - point_distances(X, X, self.axes))
        x, d = X[:, :-1], X[:, -1]
        self._i, self._j = np.nonzero(np.tril(d[:, None] == d[None, :], -1))
        squares = (x[self._i] - x[self._j]) ** 2
        membership = np.eye(self.axes)[self.axis_of]
        self._squares = squares @ membership  # (pairs within a dataset, D)
        length_mean = LENGTH_PRIOR[0] + 0.5 * np.log(self.axes)
        self.prior_mean = np.array([length_mean] * self.axes + [NOISE_PRIOR[0]])
        self.prior_sd = np.array([LENGTH_PRIOR[1]] * self.axes + [NOISE_PRIOR[1]])

    @property
    def theta_bounds(self) -> list[tuple[float, float]]:
        """The box in which θ is searched."""
        return [(float(np.log(a)), float(np.log(b))) for a, b in [LENGTHS] * self.axes + [NOISES]]

    def hyperparameters(self, theta: Array) -> Hyperparameters:
        """θ in natural units, one length for every coordinate."""
        lengths = np.exp(theta[: self.axes])[self.axis_of]
        return Hyperparameters(lengths, 1.0, float(np.exp(theta[-1])))

    def value_and_gradient(self, theta: Array) -> tuple[float, Array]:
        """f(θ) and ∂f/∂θ; −∞ and zeros where K is not positive definite. About n³ flops.

        ∂f/∂log ℓ_a = Σ_{i<j in one dataset} G_ij 0.3 S_ij Δ_a²/ℓ_a²; ∂f/∂log σ² = ½ σ² tr G.
        """
        inverse_squares = np.exp(-2.0 * theta[: self.axes])
        noise = float(np.exp(theta[-1]))
        S = WITHIN * np.exp(-0.5 * (self._squares @ inverse_squares))
        K = np.array(self._fixed, order="F")
        K[self._i, self._j] += S
        K[np.diag_indices_from(K)] += WITHIN + noise
        L, status = lapack.dpotrf(K, lower=1, clean=0, overwrite_a=1)
        if status != 0:
            return -np.inf, np.zeros_like(theta)
        value = -float(np.log(np.diagonal(L)).sum())
        inner, _ = lapack.dtrtrs(L, self.z, lower=1)
        alpha, _ = lapack.dtrtrs(L, inner, lower=1, trans=1)
        inverse, _ = lapack.dpotri(L, lower=1, overwrite_c=1)  # its lower half
        pairs = (alpha[self._i] * alpha[self._j] - inverse[self._i, self._j]) * S
        trace = float(alpha @ alpha - np.trace(inverse))
        gradient = np.append(inverse_squares * (pairs @ self._squares), 0.5 * noise * trace)
        off = (theta - self.prior_mean) / self.prior_sd
        value += -0.5 * float(inner @ inner) - 0.5 * float(off @ off)
        return value, np.asarray(gradient - off / self.prior_sd)


class JointLikelihood(Likelihood):
    """f(θ) of the squared exponential over coordinates and statistics X (n, width), amplitude 1.

    θ is that of `core.gp.marginal_likelihood.Likelihood`, its amplitude held at 1.
    """

    def __init__(self, X: Array, z: Array, axis_of: Indices) -> None:
        super().__init__("se", X, z, axis_of)

    @property
    def theta_bounds(self) -> list[tuple[float, float]]:
        """The box in which θ is searched, without extent for the amplitude."""
        box = super().theta_bounds
        box[-2] = (0.0, 0.0)
        return box
