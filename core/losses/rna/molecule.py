"""Molecules as the grammar takes them: what reading a file understands of letters and brackets."""

from core.datasets.molecules import (
    KINDS,
    SHORTEST,
    Pair,
    Understood,
    bracket_pairs,
    neighbours,
    understood,
)

__all__ = ["KINDS", "SHORTEST", "Pair", "Understood", "bracket_pairs", "neighbours", "understood"]
