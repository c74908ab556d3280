"""How well called base pairs agree with true ones, at every γ, and the area under the curve.

| word | meaning |
| --- | --- |
| sensitivity | the share of true pairs that are called |
| specificity | the share of called pairs that are true (the positive predictive value) |

Counts of all molecules are summed before they are divided (Do, Woods & Batzoglou 2006, section 3).
"""

from __future__ import annotations

import numpy as np

from core.datasets.molecules import bracket_pairs
from core.losses.rna.decode import GAMMAS, best_partners


def pair_counts(probabilities: np.ndarray, truth: str, model_gamma: float) -> np.ndarray:
    """Right, called and true pairs at every γ of `GAMMAS`, then the model's, shape (17, 3)."""
    true = bracket_pairs(truth)
    first = np.array([i for i, _ in true], dtype=np.int64)
    second = np.array([j for _, j in true], dtype=np.int64)
    gammas = [*GAMMAS, model_gamma]
    counts = np.zeros((len(gammas), 3), dtype=np.int64)
    for row, gamma in enumerate(gammas):
        partners = best_partners(probabilities, gamma)
        right = np.count_nonzero(partners[first] == second)
        counts[row] = right, np.count_nonzero(partners >= 0) // 2, len(true)
    return counts


def accuracy_curve(pairs: np.ndarray) -> list[tuple[float, float, float]]:
    """γ, sensitivity and specificity, from `pair_counts` (16, 3), where a pair is called."""
    return [
        (float(gamma), float(right / true) if true else 0.0, float(right / called))
        for gamma, (right, called, true) in zip(GAMMAS, pairs, strict=True)
        if called
    ]


def roc_area(pairs: np.ndarray) -> float:
    """The area under sensitivity as a function of specificity, from `pair_counts` (16, 3).

    Trapezoids join the points, the more sensitive of two with the same specificity first. The curve
    ends in sensitivity 1 at specificity 0 (to call every pair) and in 0 at 1 (to call none). Points
    at which nothing is called are left out.
    """
    points = sorted(((x, y) for _, y, x in accuracy_curve(pairs)), key=lambda xy: (xy[0], -xy[1]))
    if not points:
        return 0.0
    # The papers do not say how they treat the ends.
    path = [(0.0, 1.0), *points, (1.0, 0.0)]
    x, y = np.array(path).T
    return float(np.sum(np.diff(x) * (y[1:] + y[:-1])) / 2.0)
