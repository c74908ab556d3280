"""The difference of two methods that were run with the same seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def paired_difference(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """Mean of first − second over seeds and its standard error s/√n, s with n − 1.

    Pairs of which a value is not finite are left out. The error is nan below two pairs, the mean
    below one. Raises ValueError: the numbers of seeds differ.
    """
    if len(first) != len(second):
        raise ValueError("the two methods were run with different seeds")
    difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    difference = difference[np.isfinite(difference)]
    n = len(difference)
    mean = float(difference.mean()) if n else math.nan
    return mean, float(difference.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
