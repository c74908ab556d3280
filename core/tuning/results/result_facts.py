"""The results of a run as facts: each has a label, a value and a sentence, and is told once.

The window and the report show the sentences, the command line the labels with their values.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.estimators.facts import uncapitalized
from core.estimators.model_settings import model_and_values, noun_of, title_of
from core.estimators.multi_model import MODEL
from core.penalties.penalty_order import order_text
from core.space import Setting
from core.tuning.events import RunStarted
from core.tuning.ranges import setting_text
from core.tuning.results.answer import pairs_summary
from core.tuning.run_results import EnsembleResults, Gain, Results, evaluation_text
from core.tuning.runs.model_runs import LeaderboardRow, models_of
from core.tuning.runs.trial_table import tunes_several
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.score import (
    Score,
    difference_text,
    metric_as_noun,
    metric_in_short,
    score_text,
    signed_difference,
)
from core.tuning.strategies.registry import STRATEGIES
from core.wording import (
    count_text,
    duration_text,
    format_integer,
    format_number,
    list_text,
    percent,
    quoted,
    rough_duration_text,
    with_short_names,
)

SURE = 1.96  # standard errors that chance explains
WARNINGS = ("The validation score", "Validation flattered")  # beginnings of remarks
MAX_LISTED_GROUPS = 5
MAX_PENALTIES = 30  # lines
GRID = 10  # values of each hyperparameter in a usual grid search
PENALTY_GRID = 21  # C = 2⁻¹⁰ … 2¹⁰
MAX_GRID_FITS = 10**9  # of which the number is printed
TRIALS_OF_TWO = 20  # one trial in ten is averaged
ALIKE = 1e-6  # difference of equal weights


@dataclass(frozen=True)
class Fact:
    """One thing that the results say; `value` or `sentence` is "" where it would add nothing."""

    label: str
    value: str = ""
    sentence: str = ""
    score: Score | None = None  # that the value gives

    def __post_init__(self) -> None:
        for name in ("value", "sentence"):
            object.__setattr__(self, name, with_short_names(getattr(self, name)))


def result_facts(
    results: Results, started: RunStarted, leaderboard: Sequence[LeaderboardRow] = ()
) -> list[Fact]:
    """In reading order; `leaderboard` ranks the models of a run of several."""
    untried, failures = results.untried or {}, ""
    if results.failed:
        failures = f"{count_text(results.failed, 'trial')} failed; the table of trials says why."
    facts = [
        *_model_facts(results, started),
        *_score_facts(results, started),
        *(_leaderboard_fact(r, results) for r in leaderboard if r.model not in untried),
        *_average_facts(results),
        *_setting_facts(results),
        *(Fact("Costs", sentence, sentence) for sentence in _threshold_sentences(results)),
        _same("Score", results.metric_reason or ""),
        Fact("Switched off", sentence=_switched_off(results)),
        Fact("Cost", _cost_value(results), _cost_sentence(results, started)),
        Fact("Failed", sentence=failures),
        _same("Tested", evaluation_text(results)),
        *(_same("Note", remark) for remark in results.remarks),
    ]
    return [fact for fact in facts if fact.value or fact.sentence]


def fact_sentences(results: Results, started: RunStarted) -> tuple[str, ...]:
    """The sentences of the facts."""
    return tuple(fact.sentence for fact in result_facts(results, started) if fact.sentence)


PLAIN_LABELS = ("Best", "Note", "Untried", "Tuned", "Order", "Switched off", "Failed")
MAX_PLAIN_WORDS = 60


def plain_sentences(results: Results, started: RunStarted) -> tuple[str, ...]:
    """Those beside the pictures, in 60 words at most."""
    facts = [fact for fact in result_facts(results, started) if fact.sentence]
    facts = [fact for label in PLAIN_LABELS for fact in facts if fact.label == label]
    sentences: list[str] = []
    for fact in facts:
        if len(" ".join([*sentences, fact.sentence]).split()) <= MAX_PLAIN_WORDS:
            sentences.append(fact.sentence)
    return tuple(sentences)


def _same(label: str, sentence: str) -> Fact:
    return Fact(label, sentence, sentence)


# The scores: tuned, default, baseline, gain, validation.


def _score_facts(results: Results, started: RunStarted) -> Iterator[Fact]:
    metric = results.metric
    name, tested = metric_in_short(metric), _tested_rows(results, started)
    tuned = Score(metric, results.test.get(metric), results.test_interval)
    default = Score(metric, results.default_test.get(metric), results.default_interval)
    sentence = _tested_sentence(results, tested, tuned, default)
    yield Fact("Tuned", f"{name} {_defined(tuned)} on {tested}", sentence, tuned)
    yield from _structured_facts(results)
    yield Fact("Default", f"{name} {_defined(default)}", score=default)
    yield Fact("Gain", _gain_value(results), _gain_sentence(results, started))
    baseline = Score(metric, results.baseline_scores.get(metric), results.baseline_interval)
    if baseline.value is not None:
        value = f"{name} {baseline.text} by {results.baseline}"
        yield Fact("Baseline", value, _baseline_sentence(results, baseline), baseline)
    validation = Score(metric, results.validation.get(metric), results.validation_interval)
    value = ""
    if results.validation_interval:
        value = f"{name} {validation.text} on new rows"
        value += validation.interval_phrase(", corrected for the choice")
    yield Fact("Expected", value, _validation_sentence(results, validation), validation)


def _defined(score: Score) -> str:
    # Undefined is, for example, the area under a curve of rows of one class.
    return "undefined" if score.value is None else score.text


def _tested_rows(results: Results, started: RunStarted) -> str:
    rows = results.right.rows if results.right is not None else results.rows
    # Earlier versions did not count them.
    size = results.task.count_text(results.rows or rows or started.dataset.test_rows)
    if results.sequences is not None:
        size = f"{count_text(results.sequences.count, 'sequence')} ({size})"
    elif results.tested_units is not None:
        size = f"{size} ({results.tested_units})"
    if results.folds:
        return f"all {size}, each tested once by {results.folds}-fold cross-validation"
    return f"the test {'file' if results.second_file else 'set'} of {size}"


def _tested_sentence(results: Results, tested: str, tuned: Score, default: Score) -> str:
    if results.pairs is not None:
        return ""
    subject, right = f"On {tested}, {tuned_model_text(results)}", results.right
    if right is not None:
        return (
            f"{subject} is right on {format_integer(right.tuned)}, the default setting on "
            f"{format_integer(right.default)}."
        )
    noun = metric_as_noun(results.metric)
    return f"{subject} has {noun} {tuned.text}, the default setting {default.text}."


def _structured_facts(results: Results) -> Iterator[Fact]:
    if (sequences := results.sequences) is not None:
        tuned_count, default_count, count = map(
            format_integer, (sequences.tuned, sequences.default, sequences.count)
        )
        yield Fact(
            "Sequences",
            f"{tuned_count} of {count} without any error, {default_count} by the default setting",
            f"It labels {tuned_count} of {count} sequences without any error, the default setting "
            f"{default_count}.",
        )
    if (pairs := results.pairs) is None:
        return
    tuned, default = pairs.tuned, pairs.default
    at_tuned, at_default = _gamma_phrases(results)
    yield Fact(
        "Pairs",
        f"{pairs_summary(tuned)[:1].lower()}{pairs_summary(tuned)[1:]}",
        f"On {count_text(pairs.molecules, 'test molecule')} the tuned model finds{at_tuned} "
        f"{format_integer(tuned.right)} of {format_integer(tuned.true)} true base pairs; "
        f"{format_integer(tuned.right)} of the {format_integer(tuned.called)} pairs that it calls "
        "are right.",
    )
    yield Fact(
        "Pairs",
        sentence=f"The default setting finds{at_default} {format_integer(default.right)}; "
        f"{format_integer(default.right)} of the {format_integer(default.called)} it calls are "
        "right.",
    )


def _gamma_phrases(results: Results) -> tuple[str, str]:
    gamma = results.gamma
    if gamma is None or gamma.tuned == gamma.default:
        return "", ""
    return f" at γ = {format_number(gamma.tuned)}", f" at γ = {format_number(gamma.default)}"


def _gain_interval(gain: Gain) -> str:
    # Equal ends are those of a model beside itself.
    if gain.low is None or gain.high is None or gain.low == gain.high:
        return ""
    low = signed_difference(gain.low, gain.metric)
    high = signed_difference(gain.high, gain.metric, unit=True)
    return f"95\u00a0% confidence interval of the gain: {low} to {high}"


def _gain_value(results: Results) -> str:
    gain = results.gain
    difference = signed_difference(gain.difference, gain.metric, unit=True)
    value = f"{difference or '–'} over the default"
    if not (interval := _gain_interval(gain)):
        return value
    verdict = results.few_units_text or "may be chance"
    if results.is_optimistic:
        verdict = f"on {results.task.units} that helped to choose it"
    elif gain.real:
        verdict = "likely real"
    return f"{value} ({interval}; {verdict})"


def _gain_sentence(results: Results, started: RunStarted) -> str:
    gain, task = results.gain, results.task
    if gain.low == gain.high == 0:
        return f"Both do equally well on these {task.units}: there is no gain."
    if text := results.few_units_text:
        interval = _gain_interval(gain)
        return f"{interval}. No verdict: {text}." if interval else f"No verdict: {text}."
    if gain.low is None or gain.high is None:
        return ""
    if gain.real and gain.is_positive:
        least = difference_text(results.metric, gain.low)
        conclusion = f"The gain is likely real. It could still be as small as {least}."
    elif gain.real and not results.validation:
        conclusion = "The loss is likely real."
    elif gain.real:
        conclusion = "The loss is likely real: what looked best in validation is worse here."
    elif results.is_optimistic:
        conclusion = f"These {task.units} helped to choose the setting: they prove no gain."
    elif gain.low > 0:
        conclusion = (
            "The tuned model likely beats the default setting, but not the baseline: the gain is "
            "of no use."
        )
    else:
        rows = results.tested_units or task.count_text(results.rows or started.dataset.test_rows)
        conclusion = f"With {rows} chance alone makes such differences."
    test = ""
    if gain.p is not None:
        p_text = "p < 0.001" if gain.p < 0.001 else f"p = {format_number(gain.p, 2)}"
        test = f" ({gain.method} test: {p_text})"
    interval = (
        f"{_gain_interval(gain)}. Of 20 such intervals, about 19 contain the true gain{test}."
    )
    return f"{interval} {conclusion}"


def _baseline_sentence(results: Results, baseline: Score) -> str:
    difference, tuned = results.gain_over_baseline.difference, results.test.get(results.metric)
    if difference is None:
        return ""
    if results.metric == "r2" and tuned is not None and baseline.value is not None:
        difference = tuned - baseline.value
    sentence = f"The baseline ({results.baseline}) gives {baseline.text}"
    if difference <= 0:
        return f"{sentence}, which is no worse."
    size = difference_text(results.metric, difference)
    return f"{sentence}; {tuned_model_text(results)} is {size} better."


def _validation_sentence(results: Results, validation: Score) -> str:
    difference, error = results.optimism, results.optimism_error
    if difference is None:
        difference, error = results.flattery, results.flattery_error  # as earlier versions had it
    if not results.validation:
        return "No validation data was used: the test score is the only one."
    if difference is None or validation.value is None:  # held-out rows gave a loss, not this metric
        return ""
    if any(remark.startswith(WARNINGS) for remark in results.remarks):
        return ""  # the remark has both scores' difference
    interval = validation.interval_phrase(" for new rows, corrected for the choice")
    subject = f"The validation score, {validation.text}{interval},"
    if difference <= 0:
        return f"{subject} was no better than the test score."
    is_chance = error is not None and difference <= SURE * error
    return (
        f"{subject} was {difference_text(results.metric, difference)} "
        f"{'above' if results.maximize else 'below'} the test score"
        f"{', no more than chance explains' if is_chance else ''}."
    )


# The models: which is best, how each did, and the average of several.


def _model_facts(results: Results, started: RunStarted) -> Iterator[Fact]:
    if not tunes_several(started):
        return
    count, untried = len(models_of(started)), results.untried or {}
    yield Fact("Best", sentence=_best_model_sentence(results, started, count - len(untried)))
    yield _same("Untried", untried_text(untried, count))
    if results.default_setting:
        noun = noun_of(_model_of(started, results.default_setting))
        sentence = f"The default setting beside it is that of {noun}, as one would take without"
        yield Fact("Default", sentence=f"{sentence} tuning.")


def _best_model_sentence(results: Results, started: RunStarted, count: int) -> str:
    candidates = (c.setting for c in results.candidates or () if c.kind == "best")
    best = noun_of(_model_of(started, next(candidates, results.setting)))
    if member_count(results) < 2 and results.taken in (None, "best"):
        subject = (
            f"The best of {count_text(count, 'model')}" if count > 1 else "The only model tried"
        )
        return f"{subject} is {best}."
    if results.ensemble is None or member_count(results) < 2:
        selected = noun_of(_model_of(started, results.setting))
        return f"The model that you selected is {selected}; the best of {count} models is {best}."
    settings = results.ensemble.settings
    kinds = Counter(title_of(_model_of(started, setting)) for setting in settings)
    kinds_text = ", ".join(f"{n} × {uncapitalized(title)}" for title, n in kinds.most_common())
    return (
        f"The result is an average of {len(settings)} models: {kinds_text}. The best of "
        f"{count} models alone is {best}."
    )


def _model_of(started: RunStarted, setting: Setting) -> str:
    return model_and_values(started.run_plan.model, setting)[0]


def untried_text(untried: Mapping[str, float], count: int) -> str:
    """Of `count` models, and what the untried ones would have needed; or ""."""
    if not untried:
        return ""
    times = [f"{rough_duration_text(seconds)} more" for seconds in untried.values()]
    needs = [f"{noun_of(name)} {time}" for name, time in zip(untried, times, strict=True)]
    needs[0] = f"{noun_of(next(iter(untried)))} would have needed {times[0]}"
    return f"{count - len(untried)} of {count} models tried; {', '.join(needs)}."


def _leaderboard_fact(row: LeaderboardRow, results: Results) -> Fact:
    summary = row.why or "no score"
    if not row.why and row.best is not None:
        summary = f"{score_text(row.best, results.metric)} in validation"
    elif not row.why and row.estimate is not None:
        summary = f"about {score_text(row.estimate, results.metric)} in validation, ended early"
    return Fact("Model", f"{row.model}, {summary} ({duration_text(row.seconds)})")


def member_count(results: Results) -> int:
    """The number of models in the average, or 0."""
    return len(results.ensemble.members) if results.ensemble is not None else 0


def tuned_model_text(results: Results) -> str:
    """Such as "the average of 4 models"."""
    count = member_count(results)
    return "the tuned model" if count < 2 else f"the average of {count} models"


def _average_facts(results: Results) -> Iterator[Fact]:
    ensemble = results.ensemble
    if ensemble is None:
        return
    if len(ensemble.members) < 2:
        yield Fact("Average", sentence=_one_member(ensemble.finished or results.trials))
    else:
        yield Fact("Average", sentence=_weights_sentence(ensemble.weights))
        yield _single_fact(results, ensemble)
    members = zip(ensemble.members, ensemble.weights, ensemble.settings, strict=True)
    for trial, weight, setting in members:
        yield Fact("Member", f"{percent(weight)} trial {trial}: {setting_text(setting)}")
    for omitted_trial in ensemble.left_out:
        yield Fact("Left out", sentence=omitted_trial.reason)


def _one_member(finished: int) -> str:
    if finished >= TRIALS_OF_TWO:
        return "The average has one member: it is the single best model."
    return (
        "The average has one member so far, the single best model: one model in ten is averaged, "
        f"so that from {TRIALS_OF_TWO} trials on there are two."
    )


def _weights_sentence(weights: list[float]) -> str:
    average = f"The model is the average of {len(weights)} models"
    if max(weights) - min(weights) <= ALIKE:
        return f"{average}, each of which counts {percent(weights[0])}."
    return f"{average}, which count between {percent(min(weights))} and {percent(max(weights))}."


def _single_fact(results: Results, ensemble: EnsembleResults) -> Fact:
    metric = results.metric
    single, average = ensemble.single_held_out.get(metric), ensemble.held_out.get(metric)
    if single is None or average is None:
        return Fact("Single")
    better = METRICS[metric].signed_gain(average - single)
    size, single_text = difference_text(metric, abs(better)), score_text(single, metric)
    alone = f"In validation its best member alone has {metric_as_noun(metric)} {single_text}"
    conclusion = f": averaging {f'gains {size}' if better > 0 else f'costs {size} here'}."
    if better < 0 and results.taken == "average" and MODEL in results.setting:
        conclusion = (
            f", {size} better. That is within chance, and the best of many owes more to chance "
            "than an average."
        )
    elif better == 0:
        conclusion = ": averaging changes nothing here."
    value = f"{metric_in_short(metric)} {single_text} by its best member alone, in validation, "
    value += f"where the average has {score_text(average, metric)}"
    return Fact("Single", value, f"{alone}{conclusion}")


# The setting and the penalties, the costs of mistakes, and what the run took.


def _setting_facts(results: Results) -> Iterator[Fact]:
    if results.setting and results.ensemble is None:
        yield Fact("Setting", setting_text(results.setting))
    ranges = results.group_ranges or {}
    for group, penalty in list(results.groups.items())[:MAX_PENALTIES]:
        words = "  (switched off)" if group in results.switched_off else ""
        if not words and group in ranges:
            low, high = (format_number(end) for end in ranges[group])
            words = f"  (single folds: {low} to {high})"
        yield Fact("Penalty", f"λ = {format_number(penalty, 4)} for {group}{words}")
    alive = {group: ends for group, ends in ranges.items() if group not in results.switched_off}
    yield _same("Order", order_text(alive))


def _switched_off(results: Results) -> str:
    if not results.switched_off:
        return ""
    names = list_text(quoted(results.switched_off), MAX_LISTED_GROUPS)
    return f"Switched off, because they add nothing: {names}."


def _threshold_sentences(results: Results) -> list[str]:
    costs, value = results.costs, results.threshold
    own_choice = ""
    if value is not None:
        own_choice = (
            f"The threshold {format_number(value, 2)} was chosen by hand after the run had ended: "
            "where the test scores guided it, they look a little better than new rows will be."
        )
    if costs is None:
        return [own_choice] if own_choice else []
    first, second = costs.costs
    chosen, ideal = format_number(costs.threshold, 2), format_number(costs.theoretical, 2)
    ideal_text = "" if chosen == ideal else f" ({ideal} would be best were they exact)"
    threshold_text = (
        f"A row is called “{second}” from a probability of {chosen} on{ideal_text}. The costs "
        f"chose this threshold on {format_integer(costs.out_of_fold.rows)} training rows, each "
        "predicted by a model that had not seen it."
    )
    tuned, at_half, baseline = costs.tuned, costs.half, costs.baseline
    cost_text = (
        f"Of {costs.rows:,} test rows, {tuned.mistakes[second]:,} “{second}” are called “{first}” "
        f"and {tuned.mistakes[first]:,} “{first}” are called “{second}”, which costs "
        f"{format_number(tuned.cost)} a row. At a threshold of one half it would be "
        f"{at_half.mistakes[second]:,} and {at_half.mistakes[first]:,}, which costs "
        f"{format_number(at_half.cost)}; always predicting “{baseline.says}” costs "
        f"{format_number(baseline.cost)}."
    )
    return [own_choice or threshold_text, cost_text]


def _cost_value(results: Results) -> str:
    trials = f"{count_text(results.trials, 'trial')}, " if results.trials else ""
    cost = f"{trials}{count_text(results.fits, 'fit')}, {duration_text(results.seconds)}"
    return f"{cost}; ended because {results.stopped_because}"


def _cost_sentence(results: Results, started: RunStarted) -> str:
    time, fits = duration_text(results.seconds), format_integer(results.fits)
    sentence = f"Learning needed {fits} fits, and the whole run {time}."
    if results.trials:
        verb = "was" if results.trials == 1 else "were"
        settings = count_text(results.trials, "setting")
        sentence = f"{settings} {verb} tried in {time}, with {count_text(results.fits, 'fit')}."
    needed = grid_fits(started)
    if needed is None or needed <= results.fits:
        return sentence
    if needed > MAX_GRID_FITS:
        return f"{sentence} A grid search over as much would never end."
    has_groups = started.kind == "penalties" and len(started.groups) > 1
    aim = " for one common penalty" if has_groups else ""
    return f"{sentence} A grid search{aim} would have needed {format_integer(needed)}."


def grid_fits(started: RunStarted) -> int | None:
    """Fits of a grid search for the same hyperparameters, or for one penalty."""
    folds = started.run_plan.folds
    if started.kind == "penalties":
        return PENALTY_GRID * folds + 1
    strategy = STRATEGIES.get(started.run_plan.strategy)
    lists_values = strategy is not None and strategy.values is not None
    if lists_values or tunes_several(started) or not started.space:
        return None
    points = 1
    for axis in started.space:
        if axis.is_free:
            points *= len(axis.choices) if axis.kind == "choice" else GRID
    # The last fit, at the best point, follows those of the folds.
    return points * folds + 1
