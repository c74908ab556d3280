"""The learned penalty by its name, and the order of the groups: the most important first."""

from __future__ import annotations

import math
from collections.abc import Iterable

PENALTY = "penalty (λ)"  # larger holds the weights back more; scikit-learn's C runs against it


def by_importance(groups: Iterable[tuple[str, float, bool]]) -> list[str]:
    """The names of groups, those first that the data trust most.

    Args:
        groups: (name, λ, whether it is switched off): small penalties come first, then those
            that are not known, then the groups that are switched off.
    """

    def sort_key(row: tuple[str, float, bool]) -> tuple[bool, bool, float]:
        _, penalty, off = row
        unknown = math.isnan(penalty)
        return off, unknown, 0.0 if unknown else penalty

    return [name for name, _, _ in sorted(groups, key=sort_key)]
