"""Fitting a common response surface: what the past costs is paid once, the present is added to it.

Lengths and noise are learned on the past and the present together when the first trial is asked
for, and again, starting from the last ones, each time the present dataset has grown by four percent
of what they are learned on. For each of them the past's block is factored once and extended by the
present dataset's trials.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.gp.kernels import Array, Indices
from core.gp.likelihood import Likelihood, learn
from core.gp.regression import Hyperparameters, Regression
from core.gp.transfer.kernel import Neighbourhood
from core.gp.transfer.likelihood import NeighbourLikelihood, WholeLikelihood
from core.gp.transfer.past import NEIGHBOURS, PastTrials
from core.gp.transfer.points import Coordinates
from core.gp.transfer.posterior import CommonRegression, NeighbourRegression
from core.gp.transfer.printed import PrintedRegression, printed_mask
from core.gp.transfer.sparse import SparseRegression, sparse_past

KERNELS = ("mkl", "sqe", "printed")
EXACT = 300  # past trials up to which nothing is approximated, and on which θ is learned at most
INDUCING = 256  # points through which more are seen
SEVERAL_STARTS_BELOW = 40
JITTERS = (0.0, 1e-8, 1e-6, 1e-4)

Inner = Regression | NeighbourRegression | PrintedRegression | SparseRegression


class CommonFitter:
    """Keeps hyperparameters and factors from one trial to the next.

    Args:
        kernel: mkl, sqe or printed.
        coordinates: of the space.
        past: the earlier trials; may be empty.
        most_exact: past trials up to which sqe is not approximated; None for any number.

    Attributes:
        lengths: of every coordinate, and for sqe of the statistics; empty until the first fit.
        noise: σ².
        constant: c of the neighbours' kernel.
    """

    def __init__(
        self,
        kernel: str,
        coordinates: Coordinates,
        past: PastTrials,
        most_exact: int | None = EXACT,
    ) -> None:
        if kernel not in KERNELS:
            raise ValueError(f"no common kernel called {kernel}")
        self.kernel, self.coordinates, self.past = kernel, coordinates, past
        self.further = past.statistics.shape[1] if kernel == "sqe" else 0
        self._approximate = kernel == "sqe" and most_exact is not None
        self._approximate &= len(past.points) > (most_exact or 0)
        self.theta: Array | None = None
        self.lengths: Array = np.zeros(0)
        self.noise, self.constant = 0.0, 1.0
        self._learned_at = 0
        self._hyper: Neighbourhood | Hyperparameters = Hyperparameters(np.zeros(0), 1.0, 0.0)
        self._base: Inner | None = None
        self._last: tuple[Array, Inner] | None = None
        rows = coordinates.of(past.points)
        self._rows = np.hstack([rows, past.statistics[past.d]]) if self.further else rows
        self._mask = (
            printed_mask(past.everyone, past.members, NEIGHBOURS) if kernel == "printed" else None
        )

    def fit(self, points: Array, z: Array, random: np.random.Generator) -> CommonRegression:
        """The posterior given the present dataset's points (T, width) and all responses.

        Args:
            points: unit vectors; with an empty past at least one.
            z: responses of the past and the present trials, shape (n + T,).
            random: which trials hyperparameters are learned on, where there are very many.
        """
        present = np.pad(self.coordinates.of(points), ((0, 0), (0, self.further)))
        learned_on = min(len(self._rows), EXACT) + len(present)
        grown = len(present) - self._learned_at
        if self.theta is None or grown >= max(1, learned_on // 25):
            self._learn(present, z, random)
        inner = self._extended(present, z) or self._factored(present, z)
        self._last = (present, inner)
        return self._common(inner)

    def restored(
        self, hyper: Neighbourhood | Hyperparameters, points: Array, z: Array
    ) -> CommonRegression:
        """The posterior at hyperparameters that are known already; arguments of `fit`."""
        present = np.pad(self.coordinates.of(points), ((0, 0), (0, self.further)))
        self._hyper = hyper
        return self._common(self._factored(present, z))

    def _common(self, inner: Inner) -> CommonRegression:
        """A posterior over coordinates as one over unit vectors."""
        lengths = self._hyper.lengths
        self.lengths, self.noise = lengths, self._hyper.noise
        self.constant = inner.hyper.constant if isinstance(inner, NeighbourRegression) else 1.0
        return CommonRegression(
            inner, self.coordinates, self.further, lengths[: self.coordinates.width]
        )

    def _learn(self, present: Array, z: Array, random: np.random.Generator) -> None:
        chosen = self._learning_rows(len(present), random)
        X, d = np.vstack([self._rows, present])[chosen], self._datasets(len(present))[chosen]
        likelihood = self._likelihood(X, d, z[chosen])
        starts = [likelihood.prior_mean if self.theta is None else self.theta]
        if len(X) < SEVERAL_STARTS_BELOW and self.theta is None:
            starts.append(starts[0] + random.standard_normal(len(starts[0])))
        # Coarser than the last bits, which depend on where arrays lie in memory: a resumed run
        # must not drift away from the run that was interrupted.
        theta: Array = np.round(learn(likelihood, starts), 3)
        self.theta, self._hyper = theta, likelihood.hyperparameters(theta)
        if isinstance(self._hyper, Neighbourhood):
            self._hyper = replace(self._hyper, constant=1.0)  # as the points of the factor need it
        self._learned_at, self._base, self._last = len(present), None, None

    def _likelihood(self, X: Array, d: Indices, z: Array) -> NeighbourLikelihood | Likelihood:
        axis_of = self.coordinates.axis_of
        if self.kernel == "sqe":
            further = self.coordinates.axes + np.arange(self.further)
            return WholeLikelihood(X, z, np.concatenate([axis_of, further]))
        return NeighbourLikelihood(X, d, z, axis_of)

    def _learning_rows(self, present: int, random: np.random.Generator) -> Indices:
        """Rows of whole datasets up to `EXACT`, drawn evenly where there are more; the present."""
        n = len(self._rows)
        now = n + np.arange(present)
        if present > EXACT:
            now = np.sort(random.permutation(now)[:EXACT])
        if n <= EXACT:
            return np.concatenate([np.arange(n), now])
        order = random.permutation(len(self.past.datasets)) + 1
        sizes = np.bincount(self.past.d)[order]
        drawn = order[: max(1, int(np.searchsorted(np.cumsum(sizes), EXACT, side="right")))]
        return np.concatenate([np.flatnonzero(np.isin(self.past.d, drawn))[:EXACT], now])

    def _datasets(self, present: int) -> Indices:
        return np.concatenate([self.past.d, np.zeros(present, dtype=int)]).astype(int)

    def _extended(self, present: Array, z: Array) -> Inner | None:
        """The last posterior with the new trials; None where its trials are not the first ones."""
        if self._last is None:
            return None
        rows, last = self._last
        if len(rows) > len(present) or not np.array_equal(rows, present[: len(rows)]):
            return None
        try:
            return grown(last, present[len(rows) :], z)
        except np.linalg.LinAlgError:
            return None

    def _factored(self, present: Array, z: Array) -> Inner:
        """The posterior from the past's block, factored once; with more noise where it has to."""
        for jitter in JITTERS:
            try:
                if self._base is None or jitter:
                    self._base = self._past_block(self._hyper.noise + jitter, z[: len(self._rows)])
                if self._base is not None:
                    return grown(self._base, present, z)
                return self._whole(self._hyper.noise + jitter, present, z)
            except np.linalg.LinAlgError:
                continue
        raise np.linalg.LinAlgError("the kernel matrix is not positive definite at any jitter")

    def _past_block(self, noise: float, z: Array) -> Inner | None:
        """The posterior of the past alone; None where there is none."""
        if len(self._rows) == 0:
            return None
        if self._approximate:
            hyper = Hyperparameters(self._hyper.lengths, 1.0, noise)
            sparse = sparse_past(hyper, self._rows[self._inducing()], self._rows)
            return SparseRegression(sparse, np.zeros((0, self._rows.shape[1])), z)
        return self._whole(noise, np.zeros((0, self._rows.shape[1])), z)

    def _whole(self, noise: float, present: Array, z: Array) -> Inner:
        X, d = np.vstack([self._rows, present]), self._datasets(len(present))
        if self.kernel == "sqe":
            return Regression("se", Hyperparameters(self._hyper.lengths, 1.0, noise), X, z)
        hyper = Neighbourhood(self._hyper.lengths, noise, self.coordinates.axes)
        if self._mask is not None:
            return PrintedRegression(hyper, self._mask, X, d, z)
        return NeighbourRegression(hyper, X, d, z)

    def _inducing(self) -> Indices:
        """Half of them from the nearest datasets, half spread evenly over the rest."""
        half = INDUCING // 2
        rest = np.linspace(half, len(self._rows) - 1, INDUCING - half).astype(int)
        return np.concatenate([np.arange(half), rest])


def grown(inner: Inner, rows: Array, z: Array) -> Inner:
    """A posterior with further trials of the present dataset (perhaps none), and new responses."""
    if len(rows):
        return inner.extended(rows, z)
    if isinstance(inner, Regression):
        return Regression(inner.kernel, inner.hyper, inner.X, z, inner.L)
    return inner.retold(z)
