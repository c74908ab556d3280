"""Numbers, durations, settings and results for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.text.unit_names import task_of
from core.estimators.multi_model import MODEL
from core.tuning.evaluation import evaluation_text

if TYPE_CHECKING:
    from app.cli.leaderboard_output import ModelResult
    from core.tuning.plan import Plan
    from core.tuning.run_results import EnsembleResults, Gain, Results


def terminal_number(value: Any) -> str:
    """Four significant digits of a float; others by str."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def terminal_duration(seconds: float) -> str:
    """Such as "40 s", "3 min", "2 h 5 min"."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def setting_text(setting: Mapping[str, Any]) -> str:
    """Such as "C = 0.27, gamma = 0.035", after the model's name if several."""
    values = {name: value for name, value in setting.items() if name != MODEL}
    values_text = ", ".join(f"{name} = {terminal_number(value)}" for name, value in values.items())
    return values_text if len(values) == len(setting) else f"{setting[MODEL]}: {values_text}"


def result_text(results: Results, plan: Plan, leaderboard: Sequence[ModelResult] = ()) -> str:
    """The result as lines of text."""
    metric = results.metric
    lines = [
        f"Tuned:   {metric} {_score_text(results.test[metric])} on {tested_rows_text(results)}",
        f"Default: {metric} {_score_text(results.default_test[metric])}",
    ]
    if results.validation_interval:
        ends = " to ".join(map(_score_text, results.validation_interval))
        expected = f"{metric} {_score_text(results.validation.get(metric))} on new rows"
        reason = f"95 % confidence interval {ends}, corrected for the choice"
        lines.insert(1, f"Expected: {expected} ({reason})")
    baseline = results.baseline_test.get(metric)
    if baseline is not None:
        lines.append(f"Baseline: {metric} {terminal_number(baseline)} by {results.baseline}")
    lines.append(f"Gain:    {gain_text(results.gain)}")
    untried = results.untried or {}
    tried = [row for row in leaderboard if row.model not in untried]
    lines += [f"Model:   {row.model}, {_standing_text(row, metric)}" for row in tried]
    if untried:
        from app.text.tuning.model_progress_text import untried_text  # brings numpy

        lines.append(f"Untried: {untried_text(untried, len(leaderboard))}")
    if results.ensemble is not None:
        lines += average_lines(results.ensemble, metric)
    elif results.setting:
        lines.append(f"Setting: {setting_text(results.setting)}")
    if results.costs is not None:
        from core.tuning.scores.cost_words import costs_text

        lines += [f"Costs:   {sentence}" for sentence in costs_text(results.costs)]
    for group, penalty in list(results.groups.items())[:30]:
        off = "  (switched off)" if group in results.switched_off else ""
        lines.append(f"Penalty: λ = {penalty:.4g} for {group}{off}")
    if results.metric_reason:
        lines.append(f"Score:   {results.metric_reason}")
    if evaluation_sentence := evaluation_text(results):
        lines.append(f"Tested:  {evaluation_sentence}")
    lines += [f"Note:    {remark}" for remark in results.remarks]
    trials = f"{results.trials} trials, " if results.trials else ""
    lines.append(
        f"Cost:    {trials}{results.fits} fits, {terminal_duration(results.seconds)}; "
        f"ended because {results.stopped_because}"
    )
    return "\n".join(lines)


def _standing_text(row: ModelResult, metric: str) -> str:
    score, estimate = row.validation.get(metric), row.estimate.get(metric)
    summary = "no score"
    if row.why:
        summary = row.why
    elif score is not None:
        summary = f"{metric} {_score_text(score)} in validation"
    elif estimate is not None:
        summary = f"{metric} about {terminal_number(estimate)} in validation, ended early"
    return f"{summary} ({terminal_duration(row.seconds)})"


def tested_rows_text(results: Results) -> str:
    """Such as "60 rows of the test set", "the 300 rows, each tested once"."""
    unit = task_of(results).units
    if results.folds:
        return f"all {results.rows:,} {unit}, each tested once ({results.folds} folds)"
    row_count = f"{results.rows:,} {unit} of " if results.rows else ""
    return f"{row_count}the test {'file' if results.second_file else 'set'}"


def gain_text(gain: Gain) -> str:
    """The gain over the default with its confidence interval."""
    from core.tuning.scores.metrics import METRICS

    share = METRICS[gain.metric].share
    unit = " points" if share else ""
    difference = f"{_signed_text(gain.difference, share)}{unit} over the default"
    if gain.low is None or gain.high is None or gain.low == gain.high:
        return difference
    ends = " to ".join(_signed_text(end, share) for end in (gain.low, gain.high))
    sure = "likely real" if gain.real else "may be chance"
    return f"{difference} (95 % confidence interval of the gain: {ends}{unit}; {sure})"


def _signed_text(value: float | None, share: bool) -> str:
    if value is None:
        return "–"
    text = f"{100 * value:+.1f}" if share else f"{value:+.4g}"
    return text.replace("-", "\N{MINUS SIGN}")


def _score_text(value: float | None) -> str:
    # Undefined is, for example, the area under a curve of rows of one class.
    return "undefined" if value is None else terminal_number(value)


def average_lines(ensemble: EnsembleResults, metric: str) -> list[str]:
    """The members of the average, and its best member's score."""
    lines = []
    if metric in ensemble.single_held_out:
        single = terminal_number(ensemble.single_held_out[metric])
        average = terminal_number(ensemble.held_out[metric])
        lines.append(f"Single:  {metric} {single} by its best member alone, in validation, where")
        lines.append(f"         the average has {average}")
    members = zip(ensemble.members, ensemble.weights, ensemble.settings, strict=True)
    for trial, weight, setting in members:
        lines.append(f"Member:  {100 * weight:.3g} % trial {trial}: {setting_text(setting)}")
    return lines
