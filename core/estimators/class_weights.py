"""Class weights: the axis that some models have where a class is rare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.space import Axis

EVEN, BALANCED = "none", "balanced"

# Offered where a class is rare only: elsewhere it would make every search longer for nothing.
CLASS_WEIGHT = Axis(
    "class_weight",
    "Weight of the classes (balanced: rare ones count more)",
    "choice",
    choices=(EVEN, BALANCED),
    default=EVEN,
)


def weights_of(setting: Mapping[str, Any]) -> dict[str, Any]:
    """The `class_weight` argument of a scikit-learn classifier; empty without weights."""
    weighs = setting.get(CLASS_WEIGHT.name, EVEN) == BALANCED
    return {CLASS_WEIGHT.name: BALANCED} if weighs else {}
