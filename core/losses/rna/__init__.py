"""RNA secondary structure as a conditional log-linear model: molecules, the loss, decoding."""

from __future__ import annotations

from core.losses.rna.fold import log_partition, pair_probabilities
from core.losses.rna.rna_loss import RnaLoss, build_rna

# Modules that prediction needs, each after those it imports; beside each other they import only
# numpy and the decorator of compiled functions.
PREDICTION_MODULES: tuple[str, ...] = tuple(
    f"core.losses.rna.{name}"
    for name in (
        "parameters",
        "terms",
        "loops",
        "inside",
        "outside",
        "logspace",
        "logspace_outside",
        "fold",
        "decode",
    )
)

__all__ = ["PREDICTION_MODULES", "RnaLoss", "build_rna", "log_partition", "pair_probabilities"]
