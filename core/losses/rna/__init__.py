"""RNA secondary structure as a conditional log-linear model: molecules, the loss, decoding."""

from __future__ import annotations

from core.losses.rna.fold import log_partition, pair_probabilities
from core.losses.rna.rna_loss import RnaLoss, build_rna

# Modules that prediction needs, each after those it imports; beside each other they import only
# numpy and the decorator of compiled functions.
_NAMES = "parameters inside_outside logspace fold decode"
PREDICTION_MODULES: tuple[str, ...] = tuple(f"core.losses.rna.{name}" for name in _NAMES.split())

__all__ = ["PREDICTION_MODULES", "RnaLoss", "build_rna", "log_partition", "pair_probabilities"]
