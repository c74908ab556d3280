"""Classes that a model never predicts although the test rows have them."""

from __future__ import annotations

from core.tuning.run_results import Results


def never_predicted(results: Results) -> tuple[str, ...]:
    """The classes with test rows that no test row is predicted to be."""
    if results.confusion is None or not results.confusion.tuned:
        return ()
    counts = results.confusion.tuned
    return tuple(
        label
        for code, label in enumerate(results.confusion.labels)
        if sum(counts[code]) > 0 and sum(row[code] for row in counts) == 0
    )
