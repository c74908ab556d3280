"""The coordinates where a single penalty is easiest: the eigenbasis of a linear model's XᵀX."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.losses.linear.linear import LinearLoss
from core.losses.linear.rotated import rotated
from core.optimize.loss import Loss
from core.penalties.group_penalty import Grouping

# Beyond so many rows and columns both, the decomposition would cost more than it saves.
_LARGEST = 2000


def easiest(
    loss: Loss, grouped: Grouping
) -> tuple[Loss, Grouping, Callable[[np.ndarray], np.ndarray]]:
    """The loss and grouping in their easiest coordinates, and the way back for parameters.

    A linear model with one group is turned into the eigenbasis of XᵀX: one decomposition then
    serves every step. n_j still counts all coefficients.
    """
    if not isinstance(loss, LinearLoss) or grouped.count > 1:
        return loss, grouped, lambda w: w
    design = loss.design
    if min(design.columns, design.columns if design.is_sparse else design.rows) > _LARGEST:
        return loss, grouped, lambda w: w
    turned = rotated(loss)
    within = Grouping(np.zeros(turned.size, dtype=np.intp), grouped.sizes)
    return turned, within, turned.turned_back
