"""What the results say of an average: what it is made of, and what it gains over one model."""

from __future__ import annotations

from typing import Any

from app.text.numbers import percent
from app.text.scores import difference_in_words, metric_as_noun, score_in_words
from core.tuning.scores.metrics import METRICS

TWO = 20  # trials from which on the average has two members
ALIKE = 1e-6  # difference of weights that are the same


def members_of(results: dict[str, Any]) -> int:
    """How many models the average has; 0 where the run did not average."""
    return len((results.get("ensemble") or {}).get("members", ()))


def tuned_in_words(results: dict[str, Any]) -> str:
    """The tuned model in a sentence: "the tuned model", "the average of 4 models"."""
    count = members_of(results)
    if count < 2:
        return "the tuned model"
    return f"the average of {count} models"


def averaged_in_words(results: dict[str, Any]) -> tuple[str, ...]:
    """What the average is made of, what it gains over the best of its members, who is left out."""
    ensemble = results.get("ensemble")
    if not ensemble:
        return ()
    left_out = tuple(one["reason"] for one in ensemble.get("left_out", ()))
    if members_of(results) < 2:
        return (_one_member(results, ensemble), *left_out)
    return (_weights(ensemble), _against_single(results, ensemble), *left_out)


def _one_member(results: dict[str, Any], ensemble: dict[str, Any]) -> str:
    finished = int(ensemble.get("finished", results["trials"]))
    if finished >= TWO:
        return "The average has one member: it is the single best model."
    words = (
        "The average has one member so far, the single best model: one model in ten is averaged, "
        "so that from {two} trials on there are two."
    )
    return words.format(two=TWO)


def _weights(ensemble: dict[str, Any]) -> str:
    weights = ensemble["weights"]
    if max(weights) - min(weights) <= ALIKE:
        words = "The model is the average of {count} models, each of which counts {share}."
        return words.format(count=len(weights), share=percent(weights[0]))
    words = "The model is the average of {count} models, which count between {low} and {high}."
    return words.format(count=len(weights), low=percent(min(weights)), high=percent(max(weights)))


def _against_single(results: dict[str, Any], ensemble: dict[str, Any]) -> str:
    metric = results["metric"]
    single, average = ((ensemble.get(k) or {}).get(metric) for k in ("single_held_out", "held_out"))
    if single is None or average is None:
        return ""
    better = average - single if METRICS[metric].maximize else single - average
    values = {
        "metric": metric_as_noun(metric),
        "single": score_in_words(single, metric),
        "size": difference_in_words(metric, abs(better)),
    }
    does = "changes nothing here"
    if better:
        does = f"gains {values['size']}" if better > 0 else f"costs {values['size']} here"
    words = "In validation its best member alone has {metric} {single}: averaging {does}."
    if better < 0 and results.get("taken") == "average":
        words = (
            "In validation its best member alone has {metric} {single}, {size} better. That is "
            "within chance, and the best of many owes more to chance than an average."
        )
    return words.format(**values, does=does)
