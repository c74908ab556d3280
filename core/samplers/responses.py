"""Scores of different datasets on one scale: deviations from each dataset's own mean.

Notation (Yogatama & Mann 2014, §3.2):
    f       scores of one dataset, shape (t,)
    μ, σ    their mean and standard deviation over t (population figures)
    z       ±(f − μ)/σ, so that larger is better, shape (t,)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.gp.kernels import Array

ROUNDING = 1e-12  # of the largest score: below it a deviation is rounding


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
