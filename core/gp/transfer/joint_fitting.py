"""Fitting a joint response surface: earlier trials cost once, the present are added.

Notation of the likelihoods:
    θ, G, f as in core.gp.gp_fitting; the amplitude a is held at 1
    K       a (0.3 S + 0.7 (c − D)) + σ² I (core.gp.transfer.kernel), S zero across datasets

`SparseRegression` takes blocks of earlier trials to be independent given the values at the inducing
points (the partially independent conditional, PIC: Snelson & Ghahramani 2007); the trials of the
present dataset and every point that is asked are a block too, conditioned on each other exactly. A
further present trial costs O(m²) for m inducing points. Of the neighbours' kernel the inducing
values are those of its second term, which all datasets share.

Notation of `SparseRegression` (row vectors k over the rows U, then Y):
    U       inducing points, shape (m, width)
    X       earlier trials, shape (n, width);  Y  present ones, shape (T, width)
    C       chol k(U, U);  V = C⁻¹k(U, X);  Λ = k(X, X) − VᵀV + σ² I within the blocks, 0 elsewhere
    A       I + V Λ⁻¹ Vᵀ = E diag(λ) Eᵀ
    G, M    V Λ⁻¹, (m, n), and C⁻ᵀ A⁻¹: k(x, U) M G z is the mean given the earlier trials
    W       diag(√(1 − 1/λ)) Eᵀ C⁻¹, so that ‖W k(U, x)‖² is the variance that they remove
    F       the rows that whiten [k(U, x); k(Y, x)]: sd² = k(x, x) − ‖F k‖²
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.linalg import blas

from core.gp.gp_fitting import Likelihood, maximize_likelihood
from core.gp.kernels import Array, Hyperparameters, Indices, Kernel, Stationary
from core.gp.regression import (
    MIN_JITTER,
    ApproximatePosterior,
    ExactPosterior,
    FittedSurface,
    Posterior,
)
from core.gp.transfer.earlier_trials import NEIGHBOURS, Coordinates, DatasetTrials, EarlierTrials
from core.gp.transfer.kernel import (
    ACROSS,
    WITHIN,
    NeighbourKernel,
    PrintedKernel,
    PrintedRegression,
    extend_anchor,
    point_distances,
    printed_mask,
)
from core.gp.warping import ScoreWarp, t_widening
from core.optimize.cholesky import cholesky, jittered_cholesky, solve_factored, solve_lower


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
        return self.inner.lengths[: self.coordinates.width]

    def inner_rows(self, points: Array) -> Array:
        """What the inner posterior sees of unit vectors, shape (m, width + further)."""
        return present_rows(self.coordinates, points, self.further)

    def extended(self, X_new: Array, z: Array) -> JointPosterior:
        inner = self.inner.extended(self.inner_rows(X_new), z)
        return JointPosterior(inner, self.coordinates, self.further)

    def posterior(self, points: Array) -> tuple[Array, Array]:
        return self.inner.posterior(self.inner_rows(points))

    def posterior_gradients(self, points: Array) -> tuple[Array, Array, Array, Array]:
        mean, sd, *gradients = self.inner.posterior_gradients(self.inner_rows(points))
        width = self.coordinates.width
        pull = self.coordinates.pulled_back
        mean_slope, sd_slope = (pull(points, gradient[:, :width]) for gradient in gradients)
        return mean, sd, mean_slope, sd_slope


def present_rows(coordinates: Coordinates, points: Array, further: int) -> Array:
    """Coordinates of unit vectors of the present dataset and zeros, shape (m, width + further)."""
    return np.pad(coordinates.transform(points), ((0, 0), (0, further)))


ONE = (1.0, 1.0)  # the amplitude
_NUGGET = 1e-10  # on k(U, U), whose points may lie close together
BLOCK = 64  # earlier trials that are conditioned on each other


@dataclass(frozen=True)
class SparseEarlier:
    """The earlier trials X condensed: U, G, M and W of the notation, and the kernel."""

    kernel: Kernel
    U: Array
    X: Array
    G: Array
    M: Array
    W: Array


def sparse_earlier(kernel: Kernel, U: Array, X: Array, block: int = BLOCK) -> SparseEarlier:
    """The earlier trials X (n, any) seen through U (m, any); n m (m + block) flops, once."""
    kernel = kernel.reaching(U)
    C = cholesky(kernel.cross_covariance(U, U) + _NUGGET * np.eye(len(U)))
    G, A = np.empty((len(U), len(X)), order="F"), np.asfortranarray(np.eye(len(U)))
    lower_half = {"beta": 1.0, "trans": 1, "lower": 1, "overwrite_c": 1}
    # V block by block: whole, its making would go through the memory five times.
    for start in range(0, len(X), block):
        rows = slice(start, start + block)
        V = solve_lower(C, np.asfortranarray(kernel.cross_covariance(U, X[rows])))
        remaining = blas.dsyrk(-1.0, V, c=kernel.covariance(X[rows]), **lower_half)
        L, _ = jittered_cholesky(remaining, MIN_JITTER)
        white = solve_lower(L, V.T)
        A = blas.dsyrk(1.0, white, c=A, **lower_half)
        G[:, rows] = solve_lower(L, white, transposed=True).T
    eigenvalues, E = np.linalg.eigh(A)
    eigenvalues = np.maximum(eigenvalues, 1.0)
    rotated = solve_lower(C, np.asfortranarray(E), transposed=True)  # C⁻ᵀ E
    W = np.sqrt(1.0 - 1.0 / eigenvalues)[:, None] * rotated.T
    return SparseEarlier(kernel, U, X, G, (rotated / eigenvalues) @ E.T, W)


class SparseRegression(ApproximatePosterior[Kernel]):
    """The posterior given earlier trials through inducing points, and present Y (T, any) exactly.

    X are the rows U and Y, shape (m + T, any); z (n + T,): earlier responses first.
    """

    def __init__(self, earlier: SparseEarlier, Y: Array, z: Array) -> None:
        X = np.vstack([earlier.U, Y])
        kernel = earlier.kernel.reaching(X)
        # The new points changed a constant in every covariance.
        if kernel.prior_variance != earlier.kernel.prior_variance:
            earlier = sparse_earlier(kernel, earlier.U, earlier.X)
        self.earlier, self.Y = replace(earlier, kernel=kernel), Y
        n, W = len(earlier.X), earlier.W
        by_earlier = earlier.M @ (earlier.G @ z[:n])
        k = kernel.cross_covariance(earlier.U, Y)
        WY = W @ k
        gamma, inverse = np.zeros(0), np.zeros((0, 0))
        if len(Y):
            L, _ = jittered_cholesky(kernel.covariance(Y) - WY.T @ WY, MIN_JITTER)
            gamma = solve_factored(L, z[n:] - k.T @ by_earlier)
            inverse = solve_lower(L, np.eye(len(Y)))
        corner = np.zeros((len(W), len(Y)))
        F = np.block([[W, corner], [-inverse @ (WY.T @ W), inverse]])
        alpha = np.concatenate([by_earlier - W.T @ (WY @ gamma), gamma])
        super().__init__(kernel, X, z, alpha, F)

    def extended(self, X_new: Array, z: Array) -> SparseRegression:
        return SparseRegression(self.earlier, np.vstack([self.Y, X_new]), z)


class NeighbourLikelihood(Likelihood):
    """f(θ) and its gradient under the kernel of neighbouring datasets.

    X: coordinates and the dataset of every point, (n, width + 1); z: responses (n,); `axis_of`:
    every coordinate's axis (width,).
    """

    def __init__(self, X: Array, z: Array, axis_of: Indices) -> None:
        super().__init__("se", X[:, :-1], z, axis_of, ONE)
        self.constant = max(1.0, extend_anchor(None, X, self.axes).constant)
        self._fixed = ACROSS * (self.constant - point_distances(X, X, self.axes))
        self._fixed[np.diag_indices_from(self._fixed)] += WITHIN
        # Only pairs within a dataset depend on the lengths: the rest of K is made once.
        self._i, self._j = np.nonzero(np.tril(X[:, -1:] == X[None, :, -1], -1))
        self._squares = (self.X[self._i] - self.X[self._j]) ** 2
        self._S = np.zeros(0)  # a 0.3 S of these pairs

    def _fill_matrices(self, hyper: Hyperparameters) -> None:
        self._S = hyper.amplitude * WITHIN * np.exp(-0.5 * (self._squares @ hyper.lengths**-2.0))
        np.multiply(self._fixed, hyper.amplitude, out=self._K)
        self._K[self._i, self._j] += self._S
        self._K[np.diag_indices_from(self._K)] += hyper.noise

    def _by_lengths(self, alpha: Array, hyper: Hyperparameters) -> Array:
        """∂f/∂log ℓ = Σ_{i<j in one dataset} G_ij a 0.3 S_ij Δ²/ℓ² for every axis, shape (D,)."""
        pairs = (alpha[self._i] * alpha[self._j] - self._K[self._i, self._j]) * self._S
        return self._by_axis(pairs @ self._squares / hyper.lengths**2)


KERNELS = ("mkl", "sqe", "printed")
EXACT = 300  # earlier trials on which θ is learned at most
# Earlier trials up to which nothing is approximated.
MAX_EXACT = {"mkl": 1000, "sqe": EXACT}
INDUCING = 192  # points through which more are seen
SEVERAL_STARTS_BELOW = 40

Inner = Posterior[Any]


class JointFitter:
    """Keeps hyperparameters and factors from one trial to the next.

    The kernel's (mkl, sqe or printed) row of a trial holds its coordinates and the statistics of
    its dataset (sqe) or the number of its dataset, 0 for the present one. `support`: the earlier
    trials that the posterior stands on, all of them or the inducing points; `lengths`: of every
    coordinate, and for sqe of the statistics, empty until the first fit; `noise`: σ²; `constant`:
    c of the neighbours' kernel.
    """

    def __init__(self, kernel: str, coordinates: Coordinates, earlier: EarlierTrials) -> None:
        if kernel not in KERNELS:
            raise ValueError(f"no common kernel called {kernel}")
        self.kernel, self.coordinates, self.earlier = kernel, coordinates, earlier
        dataset_columns = earlier.statistics[earlier.d] if kernel == "sqe" else earlier.d[:, None]
        self.further = dataset_columns.shape[1]
        self._approximate = len(earlier.points) > MAX_EXACT.get(kernel, np.inf)
        self.support = (
            self._inducing_rows() if self._approximate else np.arange(len(earlier.points))
        )
        self.theta: Array | None = None
        self.lengths: Array = np.zeros(0)
        self.noise, self.constant = 0.0, 1.0
        self._learned_at = 0
        self._base: Inner | None = None
        self._last: tuple[Array, Inner] | None = None
        self._rows: Array = np.hstack([coordinates.transform(earlier.points), dataset_columns])
        self._mask: Array = np.zeros((0, 0))
        if kernel == "printed":
            self._mask = printed_mask(earlier.all_statistics, earlier.members, NEIGHBOURS)

    def fit(self, points: Array, z: Array, random: np.random.Generator) -> JointPosterior:
        """The posterior given the present dataset's points (T, width) and all responses z (n + T,).

        `random` draws the trials that hyperparameters are learned on, where there are very many.
        """
        present = present_rows(self.coordinates, points, self.further)
        learned_on = min(len(self._rows), EXACT) + len(present)
        growth = len(present) - self._learned_at
        # Lengths and noise are learned at first, and again, from the last ones on, when the present
        # dataset has grown by four percent of what they are learned on.
        if self.theta is None or growth >= max(1, learned_on // 25):
            self._learn_hyperparameters(present, z, random)
        inner = self._extended(present, z) or self._factored(present, z)
        self._last = (present, inner)
        return self._joint_posterior(inner)

    def expected_responses(
        self, points: Array, z: Array, random: np.random.Generator
    ) -> tuple[Array, Array]:
        """What the earlier trials' responses z (n,) say of the present points' (T, width).

        Mean (T,) and covariance (T, T), noise included.
        """
        present = present_rows(self.coordinates, points, self.further)
        if self.theta is None:
            self._learn_hyperparameters(present[:0], z, random)
        earlier = self._factored(present[:0], z)
        k = earlier.kernel.cross_covariance(earlier.X, present)
        whitened = earlier.whitened(k)
        return k.T @ earlier.alpha, earlier.kernel.covariance(present) - whitened.T @ whitened

    def restored(
        self, hyper: Hyperparameters, constant: float, points: Array, z: Array
    ) -> JointPosterior:
        """The posterior at known hyperparameters; arguments of `fit`."""
        self.lengths, self.noise, self.constant = hyper.lengths, hyper.noise, constant
        present = present_rows(self.coordinates, points, self.further)
        return self._joint_posterior(self._factored(present, z))

    def _joint_posterior(self, inner: Inner) -> JointPosterior:
        if isinstance(inner.kernel, NeighbourKernel):
            self.constant = inner.kernel.constant
        return JointPosterior(inner, self.coordinates, self.further)

    def _learn_hyperparameters(self, present: Array, z: Array, random: np.random.Generator) -> None:
        rows = self._learning_rows(len(present), random)
        likelihood = self._likelihood(np.vstack([self._rows, present])[rows], z[rows])
        starts = [likelihood.prior_mean if self.theta is None else self.theta]
        if len(rows) < SEVERAL_STARTS_BELOW and self.theta is None:
            starts.append(starts[0] + random.standard_normal(len(starts[0])))
        # Coarser than the last bits, which depend on where arrays lie in memory: a resumed run
        # must not drift away from the run that was interrupted.
        theta: Array = np.round(maximize_likelihood(likelihood, starts), 3)
        self.theta, hyper = theta, likelihood.hyperparameters(theta)
        # c starts anew: as the points of the factor need it.
        self.lengths, self.noise, self.constant = hyper.lengths, hyper.noise, 1.0
        self._learned_at, self._base, self._last = len(present), None, None

    def _likelihood(self, X: Array, z: Array) -> Likelihood:
        axis_of = self.coordinates.axis_of
        if self.kernel != "sqe":
            return NeighbourLikelihood(X, z, axis_of)
        further = self.coordinates.axes + np.arange(self.further)
        return Likelihood("se", X, z, np.concatenate([axis_of, further]), ONE)

    def _learning_rows(self, present: int, random: np.random.Generator) -> Indices:
        """Rows of whole datasets up to `EXACT`, drawn evenly where there are more; the present."""
        n = len(self._rows)
        rows = n + np.arange(present)
        if present > EXACT:
            rows = np.sort(random.permutation(rows)[:EXACT])
        if n <= EXACT:
            return np.concatenate([np.arange(n), rows])
        order = random.permutation(len(self.earlier.datasets)) + 1
        sizes = np.bincount(self.earlier.d)[order]
        datasets = order[: max(1, int(np.searchsorted(np.cumsum(sizes), EXACT, side="right")))]
        return np.concatenate([np.flatnonzero(np.isin(self.earlier.d, datasets))[:EXACT], rows])

    def _extended(self, present: Array, z: Array) -> Inner | None:
        if self._last is None:
            return None
        rows, last = self._last
        # A resumed run may have its trials in another order.
        if len(rows) > len(present) or not np.array_equal(rows, present[: len(rows)]):
            return None
        return last.extended(present[len(rows) :], z)

    def _factored(self, present: Array, z: Array) -> Inner:
        # The earlier trials' block is factored once for each θ.
        if len(self._rows) == 0:
            return self._posterior(present, z)
        past_z = z[: len(self._rows)]
        if self._base is None and self._approximate:
            earlier = sparse_earlier(self._kernel(), self._rows[self.support], self._rows)
            self._base = SparseRegression(earlier, self._rows[:0], past_z)
        self._base = self._base or self._posterior(self._rows, past_z)
        return self._base.extended(present, z)

    def _posterior(self, rows: Array, z: Array) -> Inner:
        kernel = self._kernel()
        if isinstance(kernel, PrintedKernel):
            return PrintedRegression(kernel, rows, z)
        return ExactPosterior(kernel, rows, z)

    def _kernel(self) -> Kernel:
        axes = self.coordinates.axes
        if self.kernel == "printed":
            return PrintedKernel(self.lengths, self.noise, axes, self._mask)
        if self.kernel == "sqe":
            return Stationary("se", Hyperparameters(self.lengths, 1.0, self.noise))
        return NeighbourKernel(self.lengths, self.noise, axes, self.constant)

    def _inducing_rows(self) -> Indices:
        """Rows spread evenly, for sqe half of them over the nearest datasets' alone."""
        count, last = INDUCING, len(self.earlier.points) - 1
        near = count // 2 if self.kernel == "sqe" else 0
        spread_rows = np.linspace(near, last, count - near).astype(int)
        return np.concatenate([np.arange(near), spread_rows])


@dataclass(frozen=True)
class JointSurface(FittedSurface):
    """The data that redraws the joint response surface, rounded to six digits.

    The fields of `core.tuning.events.JointSurfaceFitted`.
    """

    method: str = "transfer"
    kernel: str = "mkl"
    neighbours: list[int] = field(default_factory=list)
    past_responses: list[list[float]] = field(default_factory=list)
    constant: float = 1.0
    settled: bool = False
    expected: float = 0.0
    deviation: float = 0.0
    freedom: float | None = None
    residual: float | None = None

    @property
    def score_warp(self) -> ScoreWarp:
        """Between scores of the present dataset and responses."""
        return ScoreWarp(self.mean, self.scale, self.maximize)

    def observed_deviation(self, sd: Array) -> Array:
        """Deviations of responses that would be observed, the error of their scale included."""
        variance = sd**2 + self.noise + (self.residual or 0.0)
        return np.asarray(t_widening(self.freedom or 0.0) * np.sqrt(variance))


@dataclass(frozen=True)
class JointHistory:
    """The history that a joint surface was fitted to."""

    datasets: Sequence[DatasetTrials]  # earlier ones, in the order they came in
    statistics: Sequence[float]  # of the present dataset
    simplex: Sequence[str] = ()  # axes whose values count only as shares of their sum
