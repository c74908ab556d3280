"""The fit at learned penalties: the weights of the final model."""

from __future__ import annotations

import numpy as np

from core.optimize.descent import solve_penalized
from core.optimize.loss import Loss

TIGHT = 1e-12  # how near its minimum the final model must be, as a share of the loss


def per_weight(C: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """c_i = C_π(i), shape (n,), 0 for intercepts; π (n,) is −1 there, C of shape (k,)."""
    return np.concatenate(([0.0], C))[groups + 1]


def final_fit(loss: Loss, groups: np.ndarray, C: np.ndarray, start: np.ndarray) -> np.ndarray:
    """The minimizer of loss(w) + ½ Σ_j C_j ‖w_j‖², shape (n,), from the weights `start`."""
    return solve_penalized(loss, per_weight(C, groups), start, tolerance=TIGHT).point.w
