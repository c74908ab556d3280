"""Results of an average."""

from __future__ import annotations

from app.text.number_format import percent
from app.text.score_text import difference_text, metric_as_noun, score_text
from core.tuning.run_results import EnsembleResults, Results
from core.tuning.scores.metrics import METRICS

TWO = 20  # trials for an average of two members
ALIKE = 1e-6  # difference of equal weights


def members_of(results: Results) -> int:
    """The number of models in the average, or 0."""
    return len(results.ensemble.members) if results.ensemble is not None else 0


def tuned_model_text(results: Results) -> str:
    """Such as "the average of 4 models"."""
    count = members_of(results)
    if count < 2:
        return "the tuned model"
    return f"the average of {count} models"


def average_sentences(results: Results) -> tuple[str, ...]:
    """The members of the average, and its gain over the best."""
    ensemble = results.ensemble
    if ensemble is None:
        return ()
    left_out = tuple(omitted_trial.reason for omitted_trial in ensemble.left_out)
    if members_of(results) < 2:
        return (_one_member(ensemble.finished or results.trials), *left_out)
    return (_weights(ensemble.weights), _against_single(results, ensemble), *left_out)


def _one_member(finished: int) -> str:
    if finished >= TWO:
        return "The average has one member: it is the single best model."
    return (
        "The average has one member so far, the single best model: one model in ten is averaged, "
        f"so that from {TWO} trials on there are two."
    )


def _weights(weights: list[float]) -> str:
    average = f"The model is the average of {len(weights)} models"
    if max(weights) - min(weights) <= ALIKE:
        return f"{average}, each of which counts {percent(weights[0])}."
    return f"{average}, which count between {percent(min(weights))} and {percent(max(weights))}."


def _against_single(results: Results, ensemble: EnsembleResults) -> str:
    metric = results.metric
    single, average = ensemble.single_held_out.get(metric), ensemble.held_out.get(metric)
    if single is None or average is None:
        return ""
    better = average - single if METRICS[metric].maximize else single - average
    size = difference_text(metric, abs(better))
    score = f"{metric_as_noun(metric)} {score_text(single, metric)}"
    alone = f"In validation its best member alone has {score}"
    if better < 0 and results.taken == "average":
        return (
            f"{alone}, {size} better. That is within chance, and the best of many owes more to "
            "chance than an average."
        )
    if better == 0:
        return f"{alone}: averaging changes nothing here."
    return f"{alone}: averaging {f'gains {size}' if better > 0 else f'costs {size} here'}."
