"""The name of the penalty, and the order of groups."""

from __future__ import annotations

import math
from collections.abc import Iterable

PENALTY = "penalty (λ)"  # larger holds the weights back more; scikit-learn's C runs against it


def by_importance(groups: Iterable[tuple[str, float, bool]]) -> list[str]:
    """Names of (name, λ, switched off): by λ, then NaN, then switched off."""

    def sort_key(row: tuple[str, float, bool]) -> tuple[bool, bool, float]:
        _, penalty, off = row
        unknown = math.isnan(penalty)
        return off, unknown, 0.0 if unknown else penalty

    return [name for name, _, _ in sorted(groups, key=sort_key)]
