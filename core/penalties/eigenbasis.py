"""A linear model with one penalty in the eigenbasis of XᵀX, where every step is diagonal."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from core.losses.linear.eigenbasis_loss import in_eigenbasis
from core.losses.linear.linear_loss import LinearLoss
from core.optimize.loss import Loss
from core.penalties.group_penalty import Grouping

WeightMap = Callable[[np.ndarray], np.ndarray]  # from weights in the eigenbasis to parameters

# Beyond so many rows and columns both, the decomposition would cost more than it saves.
_LARGEST = 2000


def diagonalized(loss: Loss, grouped: Grouping) -> tuple[Loss, Grouping, WeightMap]:
    """The loss and grouping in the eigenbasis, and the way back for parameters.

    Of a linear model with one group, or as they are. n_j still counts all coefficients.
    """
    if not isinstance(loss, LinearLoss) or grouped.group_count > 1:
        return loss, grouped, lambda w: w
    columns = loss.design.column_count
    if min(columns, columns if loss.design.is_sparse else loss.design.row_count) > _LARGEST:
        return loss, grouped, lambda w: w
    inner = in_eigenbasis(loss)
    within = Grouping(np.zeros(inner.size, dtype=np.intp), grouped.sizes)
    return inner, within, inner.coefficients_of
