"""Numbers, durations, settings and results in words, for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from core.estimators.several import MODEL
from core.tuning.evaluation import evaluation_in_words

if TYPE_CHECKING:
    from core.tuning.plan import Plan


def number(value: Any) -> str:
    """Four significant digits; whole numbers and words as they are."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def duration(seconds: float) -> str:
    """Such as "40 s", "3 min", "2 h 5 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def setting_in_words(setting: Mapping[str, Any]) -> str:
    """Such as "C = 0.27, gamma = 0.035", behind the model's name where several are tuned."""
    own = {name: value for name, value in setting.items() if name != MODEL}
    said = ", ".join(f"{name} = {number(value)}" for name, value in own.items())
    return said if len(own) == len(setting) else f"{setting[MODEL]}: {said}"


def result_in_words(
    results: Mapping[str, Any], plan: Plan, leaderboard: Sequence[Mapping[str, Any]] = ()
) -> str:
    """The result as a few lines for a person.

    Args:
        results, plan: of the run.
        leaderboard: of a run of several models, the best first (app.cli.leaderboard).
    """
    metric = results["metric"]
    lines = [
        f"Tuned:   {metric} {_score(results['test'][metric])} on {tested_in_words(results)}",
        f"Default: {metric} {_score(results['default_test'][metric])}",
    ]
    baseline = results.get("baseline_test", {}).get(metric)
    if baseline is not None:
        lines.append(f"Nothing: {metric} {number(baseline)} by {results['baseline']}")
    lines.append(f"Gain:    {gain_in_words(results['gain'])}")
    for one in leaderboard:
        lines.append(f"Model:   {one['model']}, {_stands(one, metric)}")
    if "ensemble" in results:
        lines += average_in_words(results["ensemble"], metric)
    elif results["setting"]:
        lines.append(f"Setting: {setting_in_words(results['setting'])}")
    if "costs" in results:
        from core.tuning.scores.cost_words import costs_in_words

        lines += [f"Costs:   {sentence}" for sentence in costs_in_words(results["costs"])]
    for group, penalty in list(results["groups"].items())[:30]:
        off = "  (switched off)" if group in results["switched_off"] else ""
        lines.append(f"Penalty: λ = {penalty:.4g} for {group}{off}")
    if reason := results.get("metric_reason"):
        lines.append(f"Score:   {reason}")
    if said := evaluation_in_words(results):
        lines.append(f"Tested:  {said}")
    lines += [f"Note:    {remark}" for remark in results["remarks"]]
    trials = f"{results['trials']} trials, " if results["trials"] else ""
    lines.append(
        f"Cost:    {trials}{results['fits']} fits, {duration(results['seconds'])}; "
        f"ended because {results['stopped_because']}"
    )
    return "\n".join(lines)


def _stands(one: Mapping[str, Any], metric: str) -> str:
    """The best score of a model and what it cost; without a whole trial what is known instead."""
    score, estimate = one["validation"].get(metric), one["estimate"].get(metric)
    said = "no score"
    if one["why"]:
        said = str(one["why"])
    elif score is not None:
        said = f"{metric} {_score(score)} in validation"
    elif estimate is not None:
        said = f"{metric} about {number(estimate)} in validation, ended early"
    return f"{said} ({duration(one['seconds'])})"


def tested_in_words(results: Mapping[str, Any]) -> str:
    """Such as "60 rows of the test set", "the 300 rows, each tested once"."""
    kinds = {"pairs": "molecules", "sequences": "tokens", "documents": "texts"}
    unit = next((word for key, word in kinds.items() if key in results), "rows")
    if results.get("folds"):
        return f"all {results['rows']:,} {unit}, each tested once ({results['folds']} folds)"
    many = f"{results['rows']:,} {unit} of " if results.get("rows") else ""
    return f"{many}the test {'file' if results.get('second_file') else 'set'}"


def gain_in_words(gain: Mapping[str, Any]) -> str:
    """The gain over the default with its confidence interval, shares in points."""
    from core.tuning.scores.metrics import METRICS

    share = METRICS[gain["metric"]].share
    unit = " points" if share else ""
    said = f"{_signed(gain['difference'], share)}{unit} over the default"
    if gain.get("low") is None or gain.get("high") is None or gain["low"] == gain["high"]:
        return said
    ends = " to ".join(_signed(gain[end], share) for end in ("low", "high"))
    sure = "likely real" if gain["real"] else "may be chance"
    return f"{said} (95 % confidence interval of the gain: {ends}{unit}; {sure})"


def _signed(value: float | None, share: bool) -> str:
    if value is None:
        return "–"
    text = f"{100 * value:+.1f}" if share else f"{value:+.4g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _score(value: float | None) -> str:
    """A score; some are undefined, such as an area of rows of one class."""
    return "undefined" if value is None else number(value)


def average_in_words(ensemble: Mapping[str, Any], metric: str) -> list[str]:
    """Who is in the average, and what its best member does alone."""
    lines = []
    if metric in ensemble["single_held_out"]:
        single = number(ensemble["single_held_out"][metric])
        average = number(ensemble["held_out"][metric])
        lines.append(f"Single:  {metric} {single} by its best member alone, in validation, where")
        lines.append(f"         the average has {average}")
    members = zip(ensemble["members"], ensemble["weights"], ensemble["settings"], strict=True)
    lines += [
        f"Member:  {100 * weight:.3g} % trial {trial}: {setting_in_words(setting)}"
        for trial, weight, setting in members
    ]
    return lines
