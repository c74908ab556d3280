"""What mistakes cost in sentences, for the window, the command line and the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def costs_in_words(told: Mapping[str, Any]) -> list[str]:
    """The threshold and what it saves, from `results["costs"]`."""
    first, second = told["costs"]
    value, ideal = told["threshold"], told["theoretical"]
    beside = "" if value == ideal else f" ({ideal:.2g} would be best were they exact)"
    chosen = (
        f"A row is called “{second}” from a probability of {value:.2g} on{beside}. The costs chose "
        f"this threshold on {told['out_of_fold']['rows']:,} training rows, each predicted by a "
        "model that had not seen it."
    )
    tuned, half, baseline = told["tuned"], told["half"], told["baseline"]
    of_each = tuned["mistakes"]
    made = (
        f"Of {told['rows']:,} test rows, {of_each[second]:,} “{second}” are called “{first}” and "
        f"{of_each[first]:,} “{first}” are called “{second}”, which costs {tuned['cost']:.3g} a "
        f"row. At a threshold of one half it would be {half['mistakes'][second]:,} and "
        f"{half['mistakes'][first]:,}, which costs {half['cost']:.3g}; always saying "
        f"“{baseline['says']}” costs {baseline['cost']:.3g}."
    )
    return [chosen, made]
