"""Classes that a model never predicts although the test rows have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def never_predicted(results: Mapping[str, Any]) -> tuple[str, ...]:
    """The classes of which there are test rows, none of which or any other is called so.

    Args:
        results: of a run (core.tuning.results.comparison); without a confusion matrix, or before
            the run has ended, there is nothing to say.
    """
    confusion = results.get("confusion") or {}
    labels, counts = confusion.get("labels") or (), confusion.get("tuned") or ()
    return tuple(
        str(label)
        for at, label in enumerate(labels if counts else ())
        if sum(counts[at]) > 0 and sum(row[at] for row in counts) == 0
    )
