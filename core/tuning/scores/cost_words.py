"""The costs of mistakes in sentences."""

from __future__ import annotations

from core.tuning.run_results import CostResults


def costs_text(costs: CostResults) -> list[str]:
    """The threshold and its savings."""
    first, second = costs.costs
    value, ideal = costs.threshold, costs.theoretical
    ideal_text = "" if value == ideal else f" ({ideal:.2g} would be best were they exact)"
    threshold_text = (
        f"A row is called “{second}” from a probability of {value:.2g} on{ideal_text}. The costs "
        f"chose this threshold on {costs.out_of_fold.rows:,} training rows, each predicted by a "
        "model that had not seen it."
    )
    tuned, at_half, baseline = costs.tuned, costs.half, costs.baseline
    cost_text = (
        f"Of {costs.rows:,} test rows, {tuned.mistakes[second]:,} “{second}” are called “{first}” "
        f"and {tuned.mistakes[first]:,} “{first}” are called “{second}”, which costs "
        f"{tuned.cost:.3g} a row. At a threshold of one half it would be "
        f"{at_half.mistakes[second]:,} and {at_half.mistakes[first]:,}, which costs "
        f"{at_half.cost:.3g}; always predicting “{baseline.says}” costs {baseline.cost:.3g}."
    )
    return [threshold_text, cost_text]
