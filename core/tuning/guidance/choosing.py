"""Model, strategy and groups of a run that leaves some of them open."""

from __future__ import annotations

from core.datasets.dataset import Dataset
from core.datasets.summary import summarize
from core.tuning.guidance.advice import advise


def chosen_or_recommended(dataset: Dataset, model: str, strategy: str) -> tuple[str, str, str]:
    """Model, strategy and groups, recommended where a name is ""."""
    structured = dataset.task.is_structured
    if model and strategy and not structured:
        return model, strategy, "single"
    advice = advise(summarize(dataset))
    # Where none fits, the best one is refused with its reason.
    fitting = advice.fitting_models or advice.models[:1]
    fitting.sort(key=lambda entry: not entry.recommended)
    for name in [model] if model else [entry.name for entry in fitting]:
        offers = advice.strategies.get(name, [])  # the recommended one first
        groups = {offer.name: offer.groups for offer in offers}
        if not strategy and offers:
            return name, offers[0].name, offers[0].groups
        if strategy in groups:
            # Every parameter of a structured model has a kind; columns of a table may have none.
            return name, strategy, groups[strategy] if structured else "single"
    return model or fitting[0].name, strategy or "random", "single"
