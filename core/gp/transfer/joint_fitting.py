"""Fitting a joint response surface: earlier trials cost once, the present are added.

Lengths and noise are learned when the first trial is asked for, and again, starting from the last
ones, each time the present dataset has grown by four percent of what they are learned on. The
earlier trials' block is factored once for each of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.gp.kernels import Array, Hyperparameters, Indices, Stationary
from core.gp.marginal_likelihood import Likelihood, maximize_likelihood
from core.gp.regression import ExactPosterior, Posterior
from core.gp.transfer.coordinates import Coordinates
from core.gp.transfer.earlier_trials import NEIGHBOURS, EarlierTrials
from core.gp.transfer.joint_likelihood import JointLikelihood, NeighbourLikelihood
from core.gp.transfer.joint_posterior import JointPosterior, present_rows
from core.gp.transfer.kernel import NeighbourKernel
from core.gp.transfer.printed_kernel import PrintedKernel, PrintedRegression, printed_mask
from core.gp.transfer.sparse import SparseRegression, sparse_earlier

KERNELS = ("mkl", "sqe", "printed")
EXACT = 300  # earlier trials up to which nothing is approximated, and on which θ is learned at most
INDUCING = 256  # points through which more are seen
SEVERAL_STARTS_BELOW = 40

Inner = Posterior[Any]


class JointFitter:
    """Keeps hyperparameters and factors from one trial to the next.

    The kernel's (mkl, sqe or printed) row of a trial holds its coordinates and the statistics of
    its dataset (sqe) or the number of its dataset, 0 for the present one. `max_exact`: earlier
    trials up to which sqe is not approximated, None for any number; `lengths`: of every coordinate,
    and for sqe of the statistics, empty until the first fit; `noise`: σ²; `constant`: c of the
    neighbours' kernel.
    """

    def __init__(
        self,
        kernel: str,
        coordinates: Coordinates,
        earlier: EarlierTrials,
        max_exact: int | None = EXACT,
    ) -> None:
        if kernel not in KERNELS:
            raise ValueError(f"no common kernel called {kernel}")
        self.kernel, self.coordinates, self.earlier = kernel, coordinates, earlier
        dataset_columns = earlier.statistics[earlier.d] if kernel == "sqe" else earlier.d[:, None]
        self.further = dataset_columns.shape[1]
        self._approximate = kernel == "sqe" and max_exact is not None
        self._approximate &= len(earlier.points) > (max_exact or 0)
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
        if self.theta is None or growth >= max(1, learned_on // 25):
            self._learn_hyperparameters(present, z, random)
        inner = self._extended(present, z) or self._factored(present, z)
        self._last = (present, inner)
        return self._joint_posterior(inner)

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

    def _likelihood(self, X: Array, z: Array) -> NeighbourLikelihood | Likelihood:
        axis_of = self.coordinates.axis_of
        if self.kernel == "sqe":
            further = self.coordinates.axes + np.arange(self.further)
            return JointLikelihood(X, z, np.concatenate([axis_of, further]))
        return NeighbourLikelihood(X, z, axis_of)

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
        """The last posterior with the new trials; None where its trials are not the first ones."""
        if self._last is None:
            return None
        rows, last = self._last
        if len(rows) > len(present) or not np.array_equal(rows, present[: len(rows)]):
            return None
        return last.extended(present[len(rows) :], z)

    def _factored(self, present: Array, z: Array) -> Inner:
        """The posterior from the earlier trials' block, which is factored once."""
        if len(self._rows) == 0:
            return self._posterior(present, z)
        if self._base is None:
            self._base = self._past_block(z[: len(self._rows)])
        return self._base.extended(present, z)

    def _past_block(self, z: Array) -> Inner:
        if self._approximate:
            earlier = sparse_earlier(self._stationary(), self._rows[self._inducing()], self._rows)
            return SparseRegression(earlier, self._rows[:0], z)
        return self._posterior(self._rows, z)

    def _posterior(self, rows: Array, z: Array) -> Inner:
        axes = self.coordinates.axes
        if self.kernel == "printed":
            printed = PrintedKernel(self.lengths, self.noise, axes, self._mask)
            return PrintedRegression(printed, rows, z)
        if self.kernel == "sqe":
            return ExactPosterior(self._stationary(), rows, z)
        neighbours = NeighbourKernel(self.lengths, self.noise, axes, self.constant)
        return ExactPosterior(neighbours, rows, z)

    def _stationary(self) -> Stationary:
        return Stationary("se", Hyperparameters(self.lengths, 1.0, self.noise))

    def _inducing(self) -> Indices:
        """Half of them from the nearest datasets, half spread evenly over the others."""
        count, last = INDUCING // 2, len(self._rows) - 1
        distant_rows = np.linspace(count, last, INDUCING - count).astype(int)
        return np.concatenate([np.arange(count), distant_rows])
