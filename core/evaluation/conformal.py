"""Prediction intervals of numbers from the errors on rows that a model was not fitted to.

Split conformal prediction (Lei, G'Sell, Rinaldo, Tibshirani and Wasserman 2018, Theorem 2.2): with
the n absolute errors of exchangeable rows, ŷ ± q holds the next one with probability of at least
1 − α, where q is the ⌈(n + 1)(1 − α)⌉-th smallest error.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.records import Record

COVERAGE = 0.9
MIN_ERRORS = 20  # errors; of fewer the width is little more than the largest of them


@dataclass(frozen=True)
class PredictionInterval(Record):
    """An interval around a predicted number that holds the true one with some probability."""

    half: float  # half its width, in the target's unit
    coverage: float  # the share of rows whose true number it is to hold
    rows: int  # how many errors it comes from


def interval_of(
    actual: np.ndarray, predicted: np.ndarray, coverage: float = COVERAGE
) -> PredictionInterval | None:
    """The interval from errors (n,) of a model, 1 − α the coverage; None if they are few."""
    errors = np.abs(np.asarray(actual, float) - np.asarray(predicted, float))
    errors = np.sort(errors[np.isfinite(errors)])
    rank = math.ceil((len(errors) + 1) * coverage - 1e-9)
    if len(errors) < MIN_ERRORS or rank > len(errors):
        return None
    return PredictionInterval(float(errors[rank - 1]), coverage, len(errors))
