"""A linear model with one penalty in the eigenbasis of XᵀX, where every step is diagonal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.losses.linear.eigenbasis import in_eigenbasis
from core.losses.linear.linear import LinearLoss
from core.optimize.loss import Loss
from core.penalties.group_penalty import Grouping

# Beyond so many rows and columns both, the decomposition would cost more than it saves.
_LARGEST = 2000


def diagonalized(
    loss: Loss, grouped: Grouping
) -> tuple[Loss, Grouping, Callable[[np.ndarray], np.ndarray]]:
    """The loss and grouping in the eigenbasis, and the way back for parameters.

    Of a linear model with one group; every other loss stays as it is. One decomposition then
    serves every step. n_j still counts all coefficients.
    """
    if not isinstance(loss, LinearLoss) or grouped.count > 1:
        return loss, grouped, lambda w: w
    design = loss.design
    if min(design.columns, design.columns if design.is_sparse else design.rows) > _LARGEST:
        return loss, grouped, lambda w: w
    inner = in_eigenbasis(loss)
    within = Grouping(np.zeros(inner.size, dtype=np.intp), grouped.sizes)
    return inner, within, inner.coefficients_of
