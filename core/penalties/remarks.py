"""Sentences that a result must carry: collapse, the noise floor, groups that are not pruned."""

from __future__ import annotations

import numpy as np

from core.optimize.loss import Loss
from core.penalties.group_penalty import LogPenalty


def collapse_remark(loss: Loss, w: np.ndarray, switched_off: np.ndarray) -> tuple[str, ...]:
    """Where every group is at its cap, a remark.

    The weights of a linear model have the target's unit: they can be small and explain everything.
    """
    if not switched_off.all():
        return ()
    share = loss.explained_share(w)
    if share is not None and share > 0.05:
        return (
            "Every penalty is at its upper limit (n/2 + α)/β, because the weights are small numbers"
            " in the target's unit. The fit is sound; a smaller β, a larger unit of the target or"
            " the strategy evidence would tune the penalty more finely.",
        )
    return (
        "Every penalty ran to its upper limit and all weights are near zero: the method found"
        " nothing to learn from. The strategy evidence counts parameters more carefully and often"
        " helps here.",
    )


def mostly_off(penalty: LogPenalty, switched_off: np.ndarray) -> tuple[str, ...]:
    """Where most parameters, but not all of their groups, are held at zero, a remark."""
    sizes = penalty.grouping.sizes
    count = int(sizes[switched_off].sum())
    if switched_off.all() or count <= sizes.sum() / 2:
        return ()
    return (
        f"{count:,} of {int(sizes.sum()):,} weights are switched off: the method counts every"
        " weight as free, which holds large groups back too far where there are many more weights"
        " than data. The strategies evidence and gradient do not count so, and are worth a run.",
    )


def noise_floor_remark(loss: Loss, w: np.ndarray) -> tuple[str, ...]:
    """Where a linear model would explain its data without any error, a remark."""
    return without_error(loss) if loss.is_at_floor(w) else ()


def without_error(loss: Loss) -> tuple[str, ...]:
    """The remark where the noise variance of a linear model is held up by its floor."""
    return (
        "The model can explain the training rows without any error. The noise was therefore held"
        f" at {loss.floor_share:g} of the target's variance; judge it by a score on other rows.",
    )


def nothing_to_prune(penalty: LogPenalty) -> tuple[str, ...]:
    """Where each coefficient has its own group and β is too large to switch any off, a remark."""
    if penalty.can_prune:
        return ()
    return (
        f"With one coefficient in a group and β = {penalty.beta.max():g} no penalty can exceed"
        f" {penalty.penalty_caps.max():g}, so nothing is switched off. The preset sparse uses a"
        " small β for this.",
    )


def rare_group_remark(penalty: LogPenalty) -> tuple[str, ...]:
    """Where groups of weights that hardly occur have a prior of their own, a remark."""
    count, groups = int(penalty.rare.sum()), penalty.grouping.group_count
    if not count:
        return ()
    whose = "The weights are" if groups == 1 else f"The weights of {count} of {groups} groups are"
    return (
        f"{whose} mostly of features that occur a few times. Counted as free they would be held"
        " back far too much: no such penalty exceeds 1 (preset automatic; paper counts them all).",
    )
