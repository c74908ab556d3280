"""Scores as the standardized responses that a Gaussian process is fitted to, and back.

Notation:
    s       scores of one dataset, shape (n,)
    c, b    their median, and the best of them
    r       (s − c)/(b − c), so that larger is better, the median 0 and the best 1
    u       r where r ≥ 0, −log(1 − r) below: increasing, with slope 1 on both sides of 0
    m, d    mean and standard deviation of u (population figures)
    z       (u − m)/d, the responses

At r ≥ 0 a score is mean ± scale · z with mean = c ± (b − c) m and scale = |b − c| d; below it is
c ± (b − c)(1 − exp(−u)), u = m + d z.

`scale_of` compresses nothing: scores of different datasets are deviations from each one's own mean,
±(f − μ)/σ (Yogatama & Mann 2014, §3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from core.gp.kernels import Array

Limits = tuple[float, float]
UNLIMITED: Limits = (-np.inf, np.inf)
ROUNDING = 1e-12  # of the largest score: below it a difference is rounding
DEEPEST = 700.0  # −u at most: what is worse is beyond the largest numbers


@dataclass(frozen=True)
class ScoreWarp:
    """How scores and standardized responses translate."""

    mean: float = 0.0  # scores at least as good as the median are mean ± scale × response
    scale: float = 1.0
    maximize: bool = True  # whether larger scores are better
    median: float = 0.0  # c
    spread: float = 0.0  # |b − c|; 0: not compressed, all scores are mean ± scale × response
    settled: bool = True  # False: the dataset has no mean and scale yet, and responses are zeros

    @property
    def sign(self) -> float:
        """+1 where larger scores are better, −1 where smaller ones are."""
        return 1.0 if self.maximize else -1.0

    @property
    def _median_response(self) -> float:
        return self.sign * (self.median - self.mean) / self.scale

    def to_responses(self, scores: Sequence[float] | Array) -> Array:
        """The responses z of scores, shape (n,)."""
        s = np.asarray(scores, dtype=float)
        if not self.settled:
            return np.zeros(s.shape)
        if self.spread == 0.0:
            return np.asarray(self.sign * (s - self.mean) / self.scale)
        r = self.sign * (s - self.median) / self.spread
        return np.asarray(compressed(r) * (self.spread / self.scale) + self._median_response)

    def to_scores(self, responses: Array) -> Array:
        """The scores of responses, of any shape: the inverse of `to_responses`."""
        z = np.asarray(responses, dtype=float)
        if self.spread == 0.0:
            return np.asarray(self.mean + self.sign * self.scale * z)
        u = (z - self._median_response) * (self.scale / self.spread)
        r = np.where(u < 0.0, -np.expm1(np.minimum(-u, DEEPEST)), u)
        return np.asarray(self.median + self.sign * self.spread * r)


@dataclass(frozen=True)
class PredictedScores:
    """What is told and drawn of predictions: quantiles, none beyond what a score can be."""

    median: Array
    deviation: Array  # half the band
    band: tuple[Array, Array]  # lows and highs, one standard deviation around the median
    wide_band: tuple[Array, Array]  # two: 95 of 100 scores lie in it


def predicted_scores(
    warp: ScoreWarp, mean: Array, sd: Array, limits: Limits = UNLIMITED
) -> PredictedScores:
    """The scores of normal responses, of any shape, within the limits of the score."""
    ends = [np.clip(warp.to_scores(mean + width * sd), *limits) for width in (-2, -1, 0, 1, 2)]
    lowest, low, median, high, highest = ends if warp.maximize else ends[::-1]
    return PredictedScores(median, (high - low) / 2.0, (low, high), (lowest, highest))


def t_widening(freedom: float) -> float:
    """How much wider 95 % of Student's t lie than of a normal; 1 without degrees of freedom.

    A deviation that few scores tell is uncertain itself. Below one degree it stays at that of one.
    """
    if freedom <= 0.0:
        return 1.0
    return float(stdtrit(max(freedom, 1.0), 0.975) / ndtri(0.975))


def compressed(r: Array) -> Array:
    """The compressed u of r: r itself where r ≥ 0, −log(1 − r) below."""
    r = np.asarray(r, dtype=float)
    return np.where(r < 0.0, -np.log1p(-np.minimum(r, 0.0)), r)


def warp_of(scores: Sequence[float] | Array, maximize: bool) -> ScoreWarp:
    """The warp of finite scores, at least one; equal scores have the response 0."""
    s = np.asarray(scores, dtype=float)
    largest = float(np.abs(s).max()) or 1.0
    t = s / largest  # differences of the largest numbers would overflow
    centre, sign = float(np.median(t)), 1.0 if maximize else -1.0
    best = float(t.max() if maximize else t.min())
    spread = abs(best - centre)
    if spread <= ROUNDING:
        # More than half are the best score: the others' median distance from it stands in.
        away = np.abs(best - t)
        away = away[away > ROUNDING]
        if len(away) == 0:
            return ScoreWarp(largest * centre, 1.0, maximize)
        spread = float(np.median(away))
    # A few disastrous scores must not set the scale of all.
    u = compressed(sign * (t - centre) / spread)
    m, d = float(u.mean()), float(u.std())
    mean, scale = centre + sign * spread * m, spread * d
    return ScoreWarp(largest * mean, largest * scale, maximize, largest * centre, largest * spread)


def scale_of(scores: Sequence[float] | Array, maximize: bool, usual: float = 1.0) -> ScoreWarp:
    """μ and σ of finite scores, not compressed; `usual` stands in for σ that is unknown or 0."""
    f = np.asarray(scores, dtype=float)
    if len(f) == 0:
        return ScoreWarp(0.0, usual, maximize, settled=False)
    largest = float(np.abs(f).max()) or 1.0
    shares = f / largest  # squares of the largest numbers would overflow
    mean, deviation = largest * float(shares.mean()), float(shares.std())
    settled = len(f) > 1 and deviation > ROUNDING
    scale = largest * deviation if settled else usual
    return ScoreWarp(mean, scale, maximize, settled=settled)
