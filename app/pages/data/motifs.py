"""The kinds of parameters of a model of molecules; a test holds this list to the model's own.

The model itself needs compiled loops, which the window does without.
"""

from __future__ import annotations

MOTIFS: tuple[str, ...] = (
    "base pairings",
    "terminal mismatch interactions",
    "hairpin loop lengths",
    "explicit internal loop sizes",
    "bulge loop lengths",
    "internal loop lengths",
    "symmetric internal loop lengths",
    "internal loop asymmetry",
    "single base bulge nucleotides",
    "1x1 internal loop nucleotides",
    "helix stacking interactions",
    "helix closing interactions",
    "multi-branch loop lengths",
    "single base pair stacking interactions",
    "external loop lengths",
)
