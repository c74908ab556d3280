"""Text about importance, learning curve and threshold."""

from collections.abc import Sequence

from core.tuning.scores import score as scores
from core.tuning.why import answer_types
from core.wording import format_decimals, format_integer, format_number, percent, shortened_text

INTERVAL = "95\u00a0% confidence interval "
WHOLE = 1.0  # R² of exact predictions
AREA = "auc"  # as which both areas are told
FEW_TRIALS = 25
MAX_LABEL = 40  # letters of a class in a sentence beside its counts
MAX_ALIKE_GROUPS = 2  # groups of alike columns that are named


def columns_text(answer: answer_types.ColumnImportance) -> str:
    """Columns that are nearly equal or left out."""
    sentences = []
    for group in answer.alike[:MAX_ALIKE_GROUPS]:
        names = group.names
        short_list = f"{', '.join(names[:2])} and {len(names) - 2} more" if len(names) > 3 else ""
        name_list = short_list or " and ".join([", ".join(names[:-1]), names[-1]])
        least = min(group.least, 0.99)  # "1.00 or more" would be no correlation
        sentences.append(
            f"{name_list} say nearly the same (correlation {format_decimals(least, 2)} or "
            "more): each can replace the other, so that all look unimportant."
        )
    if (more := len(answer.alike) - MAX_ALIKE_GROUPS) > 0:
        sentences.append(f"So do {more} more group{'s' if more > 1 else ''} of columns.")
    if answer.screened:
        sentences.append(
            f"Of {answer.total} columns the {len(answer.columns)} that correlate most with "
            "its predictions were shuffled."
        )
    if answer.rows < answer.test_rows:
        sentences.append(f"{answer.rows:,} of {answer.test_rows:,} test rows, drawn at random.")
    if not answer.done:
        sentences.append(f"{answer.shuffled:,} of {answer.asked:,} columns shuffled so far.")
    return " ".join(sentences)


def loss_text(metric: str, loss: float | None) -> str:
    """What of a score is lost; of R² no more than all of it."""
    # Below 0 it is that of a worse answer than the mean: no column is worth more than all.
    if loss is not None and metric == "r2" and loss >= WHOLE:
        return f"all of {scores.metric_in_short(metric)}"
    return scores.difference_text(metric, loss)


def settings_text(answer: answer_types.SettingImportance) -> str:
    """The joint share of the settings, and the trials behind it."""
    shared_effect = percent(answer.together)
    sentences = [f"The other {shared_effect} lies in several settings together, or in chance."]
    if answer.trials < answer.of:
        sentences.append(f"{answer.trials:,} of {answer.of:,} trials, drawn at random.")
    if answer.trials < FEW_TRIALS:
        sentences.append(f"{answer.trials} trials tell little: see how long the lines are.")
    return " ".join(sentences)


def learning_text(answer: answer_types.LearningCurve) -> str:
    """Whether more rows would help."""
    last = {
        "yes": "Twice as many rows may help again, usually by less.",
        "no": "Other columns or another model are likelier to help.",
        "unclear": "If more rows help, then by little.",
    }
    verdict, gain = learning_verdict(answer), answer.gain
    if not answer.done or gain is None:
        return verdict
    low, high = (scores.signed_difference(end, answer.metric) for end in (gain.low, gain.high))
    interval = f"95\u00a0% confidence interval: {low} to {high}."
    return f"{verdict} {interval} {last.get(answer.answer or '', '')}".strip()


def learning_verdict(answer: answer_types.LearningCurve) -> str:
    """What twice the rows gained."""
    if not answer.done:
        return "More sizes are being tried …"
    if answer.gain is None or answer.answer is None:
        return "There are too few rows to tell."
    gain = answer.gain
    mean = scores.signed_difference(gain.mean, answer.metric, unit=True)
    first = {"yes": "Yes, likely", "no": "No, likely not", "unclear": "Unclear"}
    return (
        f"{first[answer.answer]}: {mean} from {format_integer(gain.from_rows)} to "
        f"{format_integer(gain.to_rows)} rows."
    )


def threshold_text(
    label: str, threshold: float, scale: str, counts: tuple[int, int, int, int]
) -> str:
    """The effect of a threshold; `counts`: true and false positives, rows of the class, others."""
    true, false, of_class, other_rows = counts
    called, name = true + false, f"“{shortened_text(label, MAX_LABEL)}”"
    recall = percent(true / of_class) if of_class else "–"
    precision = percent(true / called) if called else "–"
    return (
        f"{name} from a {scale} of {format_number(threshold)} on: {true} of {of_class} are "
        f"found (recall {recall}), {of_class - true} missed; {called} are called {name}, {true} "
        f"of them rightly (precision {precision}); {other_rows - false} of {other_rows} others "
        "are left alone."
    )


def areas_text(tally: answer_types.ThresholdTally) -> str:
    """The areas under both curves with their intervals and baselines."""
    first, second = area_text(tally.area), area_text(tally.precision)
    if INTERVAL in first:  # said once
        second = second.replace(INTERVAL, "")
    return (
        f"Area left {first}, baseline {scores.score_text(0.5, AREA)}; right {second}, baseline "
        f"{scores.score_text(tally.share, AREA)}."
    )


def area_text(values: Sequence[float | None]) -> str:
    """An area with the ends of its interval, where they are known."""
    value, *interval = values
    score = scores.Score(AREA, value, interval)
    return f"{score.text}{score.interval_phrase()}"
