"""Molecules as the grammar takes them: what reading a file understands of letters and brackets."""

from core.datasets.molecules import KINDS, Pair, Understood, bracket_pairs, neighbours, understood

__all__ = ["KINDS", "Pair", "Understood", "bracket_pairs", "neighbours", "understood"]
