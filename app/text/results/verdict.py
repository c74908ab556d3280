"""The results as text."""

from __future__ import annotations

from app.text.number_format import format_decimals, format_number
from app.text.results.average_result_text import average_sentences, members_of, tuned_model_text
from app.text.results.model_result_text import which_models
from app.text.score_text import (
    SHARES,
    difference_text,
    duration_text,
    interval_phrase,
    metric_as_noun,
    metric_in_short,
    score_text,
)
from app.text.strategy_text import lists_values
from app.text.tuning.structured_progress_text import pairs_summary, pairs_text, sequences_text
from app.text.unit_names import size_of_test_set, task_of
from core.datasets.task import Task
from core.tuning.evaluation import evaluation_text
from core.tuning.events import RunStarted
from core.tuning.results.never_predicted import never_predicted
from core.tuning.run_results import Gain, Results
from core.tuning.runs.trial_table import tunes_several
from core.tuning.scores.cost_words import costs_text

SURE = 1.96  # standard errors that chance explains
WARNINGS = ("The validation score", "Validation flattered")  # beginnings of remarks
MAX_NAMED_CLASSES = 2  # in the headline
MAX_LISTED_GROUPS = 5
GRID = 10  # values of each hyperparameter in a usual grid search
PENALTY_GRID = 21  # C = 2⁻¹⁰ … 2¹⁰
MAX_GRID_FITS = 10**9  # of which the number is printed


def headline(results: Results, rows: int) -> str:
    """The outcome of tuning in one sentence."""
    outcome = _outcome(results, rows)
    never = never_predicted(results)
    if not never:
        return outcome
    return f"{outcome}; the model never predicts {class_list_text(never)}"


def _outcome(results: Results, rows: int) -> str:
    gain, metric = results.gain, results.metric
    if results.taken == "default":
        return "You selected the default setting"
    is_one_model = members_of(results) < 2
    if is_one_model and results.setting and results.setting == results.default_setting:
        return "The default setting is the best of those tried"
    if results.gain_over_baseline.is_missing:
        return f"The tuned model is not better than {results.baseline}"
    if not gain.real or gain.difference is None:
        return f"Tuning changed nothing that {task_of(results).count_text(rows)} could show"
    size = difference_text(metric, abs(gain.difference))
    if not gain.is_positive:
        return f"Tuning lost {size}: the default setting is better here"
    if metric == "accuracy":
        return f"Tuning gained {size}, likely real"
    return f"Tuning improved {metric_in_short(metric)} by {size}, likely real"


def class_list_text(classes: tuple[str, ...]) -> str:
    """Classes in a sentence: “a”, “b” and 3 others."""
    names = [f"“{name}”" for name in classes[:MAX_NAMED_CLASSES]]
    if n_unnamed := len(classes) - len(names):
        names.append("1 other" if n_unnamed == 1 else f"{n_unnamed} others")
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def scores_line(results: Results) -> str:
    """The scores, and the 95 % confidence interval of the gain."""
    metric, units = results.metric, task_of(results).units
    tuned = score_text(results.test[metric], metric)
    default = score_text(results.default_test[metric], metric)
    title = metric_in_short(metric)
    sentence = f"{title[:1].upper()}{title[1:]} on test {units} {tuned}"
    if metric == "accuracy":
        sentence = f"{tuned} of test {units} right"
    sentence += f", against {default} with the default setting"
    baseline = results.baseline_test.get(metric)
    if baseline is not None:
        sentence += f" and {score_text(baseline, metric)} for the baseline"
    if results.pairs is not None:
        sentence = f"{pairs_summary(results.pairs.tuned)} · {sentence}"
    interval = _interval(results.gain)
    return f"{sentence} · {interval}" if interval else sentence


def _interval(gain: Gain) -> str:
    if gain.low is None or gain.high is None or gain.low == gain.high:
        return ""
    unit = " points" if gain.metric in SHARES else ""
    low, high = (_signed_text(gain.metric, end) for end in (gain.low, gain.high))
    return f"95\u00a0% confidence interval of the gain: {low} to {high}{unit}"


def _signed_text(metric: str, value: float) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else ""
    size = format_decimals(100 * abs(value), 1) if metric in SHARES else format_number(abs(value))
    return f"{sign}{size}"


def result_sentences(results: Results, started: RunStarted) -> tuple[str, ...]:
    """Sentences for the panel."""
    sentences = (
        *which_models(results, started),
        *_on_which_rows(results, started),
        *average_sentences(results),
        *(costs_text(results.costs) if results.costs is not None else ()),
        results.metric_reason or "",
        _how_sure(results, results.rows or started.dataset.test_rows),
        _against_baseline(results),
        _validation(results),
        _switched_off(results),
        _what_it_took(results, started),
        _failures(results),
        evaluation_text(results),
        *results.remarks,
    )
    return tuple(sentence for sentence in sentences if sentence)


def _on_which_rows(results: Results, started: RunStarted) -> tuple[str, ...]:
    aside = size_of_test_set(started.dataset) or Task.UNKNOWN.count_text(0)
    if results.pairs is not None:
        return pairs_text(results.pairs)
    right, sequences, model = results.right, results.sequences, tuned_model_text(results)
    if right is not None:
        size = aside if sequences is not None else task_of(results).count_text(right.rows)
        sentence = (
            f"On {_test_set_text(results, size)}, {model} is right on {right.tuned}, the default "
            f"setting on {right.default}."
        )
        return (sentence,) if sequences is None else (sentence, sequences_text(sequences))
    metric = results.metric
    tuned = score_text(results.test[metric], metric)
    default = score_text(results.default_test[metric], metric)
    sentence = (
        f"On {_test_set_text(results, aside)}, {model} has {metric_as_noun(metric)} {tuned}, the "
        f"default setting {default}."
    )
    return (sentence,)


def _test_set_text(results: Results, row_count_text: str) -> str:
    if results.folds:
        return f"all {row_count_text}, each tested once by {results.folds}-fold cross-validation"
    return f"the test {'file' if results.second_file else 'set'} of {row_count_text}"


def _how_sure(results: Results, rows: int) -> str:
    gain, task = results.gain, task_of(results)
    if gain.low is None or gain.high is None:
        return ""
    if gain.low == gain.high == 0:
        return f"Both do equally well on these {task.units}: there is no gain."
    if gain.real and gain.is_positive:
        least = difference_text(results.metric, gain.low)
        conclusion = f"The gain is likely real. It could still be as small as {least}."
    elif gain.real and not results.validation:
        conclusion = "The loss is likely real."
    elif gain.real:
        conclusion = "The loss is likely real: what looked best in validation is worse here."
    elif gain.low > 0:
        conclusion = (
            "The tuned model likely beats the default setting, but not the baseline: the gain is "
            "of no use."
        )
    else:
        conclusion = f"With {task.count_text(rows)} chance alone makes such differences."
    return f"{_interval_explanation(gain)} {conclusion}"


def _interval_explanation(gain: Gain) -> str:
    test = ""
    if gain.p is not None:
        p_text = "p < 0.001" if gain.p < 0.001 else f"p = {format_number(gain.p, 2)}"
        test = f" ({gain.method} test: {p_text})"
    return f"{_interval(gain)}. Of 20 such intervals, 19 contain the true gain{test}."


def _against_baseline(results: Results) -> str:
    difference, metric = results.gain_over_baseline.difference, results.metric
    if difference is None:
        return ""
    score = score_text(results.baseline_test.get(metric), metric)
    sentence = f"The baseline ({results.baseline}) gives {score}"
    if difference <= 0:
        return f"{sentence}, which is no worse."
    size = difference_text(metric, difference)
    return f"{sentence}; {tuned_model_text(results)} is {size} better."


def _validation(results: Results) -> str:
    metric = results.metric
    difference, error = results.optimism, results.optimism_error
    if difference is None:
        difference, error = results.flattery, results.flattery_error  # as earlier versions had it
    score = results.validation.get(metric)
    if not results.validation:
        return "No validation data was used: the test score is the only one."
    if difference is None or score is None:  # held-out rows gave a loss, not this metric
        return ""
    if any(remark.startswith(WARNINGS) for remark in results.remarks):
        return ""  # said there
    reason = " for new rows, corrected for the choice"
    interval = interval_phrase(results.validation_interval, metric, reason)
    validation_score = score_text(score, metric) + interval
    if difference <= 0:
        return f"The validation score, {validation_score}, was no better than the test score."
    is_chance = error is not None and difference <= SURE * error
    return (
        f"The validation score, {validation_score}, was {difference_text(metric, difference)} "
        f"{'above' if results.maximize else 'below'} the test score"
        f"{', no more than chance explains' if is_chance else ''}."
    )


def _switched_off(results: Results) -> str:
    groups = results.switched_off
    if not groups:
        return ""
    names = ", ".join(f"“{group}”" for group in groups[:MAX_LISTED_GROUPS])
    if len(groups) > MAX_LISTED_GROUPS:
        names += f" and {len(groups) - MAX_LISTED_GROUPS} more"
    return f"Switched off, because they add nothing: {names}."


def _what_it_took(results: Results, started: RunStarted) -> str:
    time = duration_text(results.seconds)
    sentence = f"Learning needed {results.fits} fits, and the whole run {time}."
    if results.trials:
        sentence = f"{results.trials} settings were tried in {time}, with {results.fits} fits."
    needed = grid_fits(started)
    if needed is None or needed <= results.fits:
        return sentence
    if needed > MAX_GRID_FITS:
        return f"{sentence} A grid search over as much would never end."
    has_groups = started.kind == "penalties" and len(started.groups) > 1
    aim = " for one common penalty" if has_groups else ""
    return f"{sentence} A grid search{aim} would have needed {needed:,}."


def grid_fits(started: RunStarted) -> int | None:
    """Fits of a grid search for the same hyperparameters, or for one penalty."""
    folds = started.run_plan.folds
    if started.kind == "penalties":
        return PENALTY_GRID * folds + 1
    unlike = lists_values(started.run_plan.strategy) or tunes_several(started)
    if unlike or not started.space:
        return None
    points = 1
    for axis in started.space:
        if axis.is_free:
            points *= len(axis.choices) if axis.kind == "choice" else GRID
    return points * folds + 1


def _failures(results: Results) -> str:
    if not results.failed:
        return ""
    count_text = "One trial" if results.failed == 1 else f"{results.failed} trials"
    return f"{count_text} failed; the Tune page says why."
