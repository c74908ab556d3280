"""Surrogate-based collaborative tuning (SCoT): earlier datasets count through a ranking.

Bardenet et al. 2013: a ranker learns from the pairs within every dataset which of two settings is
better; its latent scores, standardized over all trials, are the responses of a Gaussian process
over all of them. Yogatama & Mann (2014, §4.2) rank by a linear support vector machine, C = 1,
tolerance 1e-3; Bardenet's own kernel is Gaussian, which random Fourier features (Rahimi & Recht
2007) stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from core.gp.kernels import Array, Indices
from core.gp.transfer.dataset_scale import deviation_prior, fitted_scale
from core.gp.transfer.earlier_trials import NEIGHBOURS, EarlierTrials
from core.gp.warping import ScoreWarp, scale_of
from core.samplers.proposing_sampler import Observations
from core.samplers.search_space import SearchSpace
from core.samplers.transfer.history import TuningHistory
from core.samplers.transfer.joint_surrogate import JointSurrogateSampler, Responses, usable_trials
from core.space import Axis

FEATURES = 5  # purpose of the random numbers that features are drawn with
WAVES = 128  # random Fourier features
LEAST_SPREAD = 0.05  # of a dataset's latent scores, whose deviation over all datasets is 1
RANK_ERROR = 0.03  # variance of a score about its latent one, in units of the latter


class ScotSampler(JointSurrogateSampler):
    """Maximizes expected improvement on the latent scores of a ranker over all datasets.

    `kernel`: of the Gaussian process, mkl or sqe, as for `TransferSampler`; `features`: of the
    ranker, rbf for a Gaussian kernel's random features, or linear; C: weight of the ranker's pairs.
    """

    method = "scot"

    def __init__(
        self,
        space: Sequence[Axis] | None = None,
        *,
        seed: int = 0,
        history: TuningHistory | None = None,
        kernel: str = "mkl",
        features: Literal["linear", "rbf"] = "rbf",
        C: float = 1.0,
    ) -> None:
        super().__init__(space, seed=seed, history=history, kernel=kernel, replacement=0.0)
        self.features, self.C = features, C
        self._w: Array | None = None
        self._ranked_earlier = self._earlier_scores = np.zeros(0)
        self._starts: Indices = np.zeros(1, dtype=int)

    def trials_of(self, space: SearchSpace) -> EarlierTrials:
        # The ranker learns from more datasets than the kernel.
        self._all_trials = usable_trials(self.history, space)
        return self._all_trials if self.kernel == "sqe" else self._all_trials.nearest(NEIGHBOURS)

    def respond(self, observed: Observations) -> Responses:
        # It imports numba, which takes a second and which no other strategy needs.
        from core.samplers.transfer.ranking import ranked_trials, solve_ranking

        all_trials = self._all_trials
        sign = 1.0 if observed.maximize else -1.0
        X = np.vstack([self._ranked_earlier, self._featured(observed.points, 0)])
        y = np.concatenate([self._earlier_scores, sign * observed.scores])
        starts = np.append(self._starts, len(y)) if len(observed.points) else self._starts
        data = ranked_trials(X, y, starts)
        # From the last solution: one trial more moves it little.
        self._w = solve_ranking(data, C=self.C, start=self._w)
        z = standardized(X @ self._w)
        earlier, present = z[: len(self.earlier.points)], z[len(all_trials.points) :]
        return Responses(earlier, present, *self._matched_scale(observed, z), RANK_ERROR)

    def _matched_scale(self, observed: Observations, z: Array) -> tuple[ScoreWarp, float]:
        """How scores follow the latent ones z (n + T,), as on earlier datasets, and its freedom."""
        scale, d = scale_of(observed.scores, observed.maximize), self._all_trials.d
        present = z[len(d) :]
        if not scale.settled:
            return scale, 0.0
        pairs = [(s, z[: len(d)][d == k]) for k, s in enumerate(self._earlier_scales, start=1)]
        # Without any the dataset's scale deviations are the prior's middle.
        pairs = [pair for pair in pairs if pair[0].settled] or [(scale, present)]
        prior = deviation_prior([s.scale / max(LEAST_SPREAD, latent.std()) for s, latent in pairs])
        covariance = RANK_ERROR * np.eye(len(present))
        return fitted_scale(scale, observed.scores, present, covariance, prior)

    def prepare_space(self, space: SearchSpace) -> None:
        super().prepare_space(space)
        trials = self._all_trials
        self._w = None
        self._draw_waves()
        features = [self._featured(np.zeros((0, self.coordinates.width)), 0)]
        dataset_scores = []
        for k, index in enumerate(trials.datasets, start=1):
            features.append(self._featured(trials.points[trials.d == k], k))
            dataset = self.history.datasets[index]
            scores = np.array(dataset.scores)[list(trials.used_trials[k - 1])]
            dataset_scores.append(scores if dataset.maximize else -scores)
        self._ranked_earlier = np.vstack(features)
        self._earlier_scores = np.concatenate([*dataset_scores, np.zeros(0)])
        self._earlier_scales = [scale_of(scores, True) for scores in dataset_scores]
        self._starts = np.cumsum([0, *(len(scores) for scores in dataset_scores)])

    def _draw_waves(self) -> None:
        """Frequencies of a Gaussian kernel as wide as trials are typically apart, and phases."""
        random = np.random.default_rng([self.seed, 0, FEATURES])
        trials = self._all_trials
        rows = self._ranker_rows(trials.points, trials.statistics[trials.d])
        some = rows[random.permutation(len(rows))[:200]]
        far = np.sqrt(((some[:, None, :] - some[None, :, :]) ** 2).sum(axis=2))
        width = float(np.median(far[far > 0])) if np.any(far > 0) else 1.0
        self._frequencies = random.standard_normal((WAVES, rows.shape[1])) / width
        self._phases = random.uniform(0.0, 2.0 * np.pi, WAVES)

    def _ranker_rows(self, points: Array, statistics: Array) -> Array:
        return np.hstack([self.coordinates.transform(points), statistics])

    def _featured(self, points: Array, k: int) -> Array:
        """The ranker's features of points in dataset k (0 the present one), shape (m, q)."""
        statistics = np.tile(self._all_trials.statistics[k], (len(points), 1))
        rows = self._ranker_rows(points, statistics)
        # What is linear in the statistics of a dataset is the same on both sides of every pair: a
        # linear ranker cannot tell datasets apart.
        if self.features == "linear":
            return rows
        waves = np.cos(rows @ self._frequencies.T + self._phases)
        return np.asarray(np.sqrt(2.0 / WAVES) * waves)


def standardized(latent: Array) -> Array:
    """Latent scores with mean 0 and deviation 1; zeros where all are equal."""
    centred = latent - latent.mean()
    deviation = float(centred.std())
    return centred / deviation if deviation > 1e-12 else np.zeros_like(centred)
