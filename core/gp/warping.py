"""Scores as the standardized responses that a Gaussian process is fitted to, and back.

A few disastrous scores must not set the scale of all: the worse half is compressed, the better half
only shifted and scaled.

Notation:
    s       scores of one dataset, shape (n,)
    c, b    their median, and the best of them
    r       (s − c)/(b − c), so that larger is better, the median 0 and the best 1
    u       r where r ≥ 0, −log(1 − r) below: increasing, with slope 1 on both sides of 0
    m, d    mean and standard deviation of u (population figures)
    z       (u − m)/d, the responses

At r ≥ 0 a score is mean ± scale · z with mean = c ± (b − c) m and scale = |b − c| d; below it is
c ± (b − c)(1 − exp(−u)), u = m + d z.

`ResponseScale` compresses nothing: scores of different datasets are deviations from each one's own
mean, ±(f − μ)/σ (Yogatama & Mann 2014, §3.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.gp.kernels import Array

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

    def interval(self, mean: Array, sd: Array, width: float = 1.0) -> tuple[Array, Array]:
        """The lower and the upper score `width` standard deviations from a normal z: quantiles."""
        ends = self.to_scores(mean - width * sd), self.to_scores(mean + width * sd)
        return ends if self.maximize else ends[::-1]

    def deviation(self, mean: Array, sd: Array) -> Array:
        """Half the interval of one standard deviation: scale × sd where nothing is compressed."""
        low, high = self.interval(mean, sd)
        return np.asarray((high - low) / 2.0)


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
    u = compressed(sign * (t - centre) / spread)
    m, d = float(u.mean()), float(u.std())
    mean, scale = centre + sign * spread * m, spread * d
    return ScoreWarp(largest * mean, largest * scale, maximize, largest * centre, largest * spread)


@dataclass(frozen=True)
class ResponseScale:
    """How scores and responses of one dataset translate: score = mean ± deviation × response."""

    mean: float  # μ; 0 while there is no score
    deviation: float  # σ, or what stands in for it
    settled: bool  # whether both are the dataset's own: two scores or more that differ
    maximize: bool  # whether larger scores are better

    @property
    def sign(self) -> float:
        """+1 where larger scores are better, −1 where smaller ones are."""
        return 1.0 if self.maximize else -1.0

    def to_response(self, scores: Array) -> Array:
        """The responses of scores; zeros while μ and σ are not settled."""
        if not self.settled:
            return np.zeros(len(scores))
        return np.asarray(self.sign * (scores - self.mean) / self.deviation)

    def to_score(self, response: float) -> float:
        """The score of a response."""
        return self.mean + self.sign * self.deviation * response


def scale_of(scores: Sequence[float] | Array, maximize: bool, pooled: float = 1.0) -> ResponseScale:
    """μ and σ of finite scores; `pooled` stands in for σ where it is not known or zero."""
    f = np.asarray(scores, dtype=float)
    if len(f) == 0:
        return ResponseScale(0.0, pooled, False, maximize)
    largest = float(np.abs(f).max()) or 1.0
    shares = f / largest  # squares of the largest numbers would overflow
    mean, deviation = largest * float(shares.mean()), float(shares.std())
    settled = len(f) > 1 and deviation > ROUNDING
    return ResponseScale(mean, largest * deviation if settled else pooled, settled, maximize)


def pooled_deviation(scales: Sequence[ResponseScale], counts: Sequence[int]) -> float:
    """√(Σ n_d σ_d² / Σ n_d) over the settled ones; 1 if there is none."""
    settled = [(s.deviation, n) for s, n in zip(scales, counts, strict=True) if s.settled]
    if not settled:
        return 1.0
    deviations, n = np.array(settled).T
    largest = float(deviations.max())
    return largest * float(np.sqrt(n @ (deviations / largest) ** 2 / n.sum()))
