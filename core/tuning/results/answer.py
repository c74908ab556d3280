"""The answer of a run: what the model can do, whether tuning helped, and what to do next."""

from dataclasses import dataclass
from typing import Literal

from core import wording
from core.tuning.events import RunStarted, TopicsFound
from core.tuning.run_results import ConfusionCounts, PairCounts, Results
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.score import difference_text, metric_in_short, score_text

RARE = 0.2  # share of the rows up to which finding a class is told by itself
MAX_NAMED = 2  # classes that are never predicted
MAX_TOPICS = 4  # that are named by their likeliest word
Step = Literal["leak", "columns", "default", "minutes", "rows", "honest", "export"]


@dataclass(frozen=True)
class AnswerPicture:
    """What is right, or off by, without a model and by it: shares of what is drawn."""

    without: float
    by_model: float
    amounts: tuple[str, str] | None = None  # of errors, which are better the shorter


@dataclass(frozen=True)
class Answer:
    """Three sentences, what the third one proposes, and the first as a picture."""

    ability: str
    tuning: str
    advice: str
    step: Step
    is_gain: bool  # whether tuning helped, by the interval of its gain
    picture: AnswerPicture | None = None


def answer_of(results: Results, started: RunStarted, topics: TopicsFound | None = None) -> Answer:
    """The answer to "is it good, did tuning help, and what now?"."""
    ability = _ability(results, started, topics)
    if never := never_predicted(results):
        ability += f" It never predicts {wording.list_text(wording.quoted(never), MAX_NAMED)}."
    telling = started.dataset.telling or []
    step: Step = "leak" if telling else _next_step(results)
    is_gain = results.gain.real and results.gain.is_positive
    picture = _picture_of(results, started.dataset.target_unit or "")
    names = wording.list_text(wording.quoted(telling), MAX_NAMED)
    advice = _ADVICE[step].format(units=results.task.units, columns=names)
    ability, advice = wording.with_short_names(ability), wording.with_short_names(advice)
    return Answer(ability, _tuning_text(results), advice, step, is_gain, picture)


def _picture_of(results: Results, unit: str) -> AnswerPicture | None:
    right, counts = results.right, results.pairs
    if counts is not None:
        return AnswerPicture(0.0, counts.tuned.right / max(counts.tuned.true, 1))
    if right is not None and right.baseline is not None:
        return AnswerPicture(right.baseline / right.rows, right.tuned / right.rows)
    without, by_model = results.baseline_test.get("mae"), results.test.get("mae")
    if without is None or by_model is None or not (longest := max(without, by_model)):
        return None
    without_text, by_model_text = wording.amount_texts([without, by_model], unit)
    return AnswerPicture(without / longest, by_model / longest, (without_text, by_model_text))


def _ability(results: Results, started: RunStarted, topics: TopicsFound | None) -> str:
    if results.pairs is not None:
        return f"{pairs_summary(results.pairs.tuned)}."
    if results.right is not None:
        return _classes_text(results)
    if results.test.get("mae") is not None:
        return _numbers_text(results, started.dataset.target_unit or "")
    if topics is not None and topics.topics:
        names = list[str]()
        for topic in topics.topics:  # each by its likeliest word that names none before
            names += [word for word in topic.words if word not in names][:1]
        more = " …" if topics.count > MAX_TOPICS else "."
        return f"{wording.count_text(topics.count, 'topic')}: {', '.join(names[:MAX_TOPICS])}{more}"
    metric = results.metric
    name, tested = metric_in_short(metric), _tested_text(results)
    value = score_text(results.test.get(metric), metric)
    return f"{name[:1].upper()}{name[1:]} {value} on {tested}."


def _classes_text(results: Results) -> str:
    assert results.right is not None
    right, confusion = results.right, results.confusion
    # A hundred would hide the last mistakes.
    scale = 1000 if right.rows >= 1000 and 0.995 <= right.tuned / right.rows < 1.0 else 100
    count = min(round(scale * right.tuned / right.rows), scale - (right.tuned < right.rows))
    new = "" if results.is_optimistic else "new "
    sentence = f"Right for {count} of {wording.format_integer(scale)} {new}{results.task.units}"
    if right.baseline is not None:
        constant = _constant_label(confusion)
        subject = f"always “{constant}”" if constant else results.baseline or "the baseline"
        sentence += f"; {subject} would be right for {round(scale * right.baseline / right.rows)}"
    rare = _rare_class(confusion)
    if rare is None or confusion is None:
        return f"{sentence}."
    row = confusion.tuned[rare]
    label, total = confusion.labels[rare], wording.format_integer(sum(row))
    return f"{sentence}. It finds {wording.format_integer(row[rare])} of {total} “{label}”."


def _constant_label(confusion: ConfusionCounts | None) -> str:
    counts = confusion.baseline if confusion is not None else None
    if confusion is None or not counts:
        return ""
    predicted = [sum(row[code] for row in counts) for code in range(len(confusion.labels))]
    labels = [label for label, n in zip(confusion.labels, predicted, strict=True) if n]
    return labels[0] if len(labels) == 1 else ""


def _rare_class(confusion: ConfusionCounts | None) -> int | None:
    if confusion is None or len(confusion.labels) != 2 or not confusion.tuned:
        return None
    sizes = [sum(row) for row in confusion.tuned]
    rare = int(sizes[1] <= sizes[0])
    return rare if 0 < sizes[rare] <= RARE * sum(sizes) else None


def _numbers_text(results: Results, unit: str) -> str:
    error = results.test["mae"]
    assert error is not None
    if (baseline := results.baseline_test.get("mae")) is None:
        return f"Off by {wording.amount_text(error, unit)} on average."
    subject = results.baseline or "the baseline"
    error_text, baseline_text = wording.amount_texts([error, baseline], unit)
    return f"Off by {error_text} on average; {subject} would be off by {baseline_text}."


def pairs_summary(counts: PairCounts) -> str:
    """Such as "Finds 62 of 100 true base pairs; …"."""
    recall = f"{100 * counts.right / counts.true:.0f}" if counts.true else "–"
    precision = f"{100 * counts.right / counts.called:.0f}" if counts.called else "–"
    return f"Finds {recall} of 100 true base pairs; {precision} of 100 called pairs are right"


def never_predicted(results: Results) -> tuple[str, ...]:
    """Classes with test rows that no test row is predicted to be."""
    if results.confusion is None or not results.confusion.tuned:
        return ()
    counts = results.confusion.tuned
    return tuple(
        label
        for code, label in enumerate(results.confusion.labels)
        if sum(counts[code]) > 0 and sum(row[code] for row in counts) == 0
    )


def _tested_text(results: Results) -> str:
    rows = results.right.rows if results.right is not None else results.rows
    return results.task.count_text(results.rows or rows)


def _tuning_text(results: Results) -> str:
    """Whether tuning helped, no more than its interval allows."""
    gain, metric = results.gain, results.metric
    if results.taken == "default":
        return "The default setting, as you selected."
    is_average = results.ensemble is not None and len(results.ensemble.members) > 1
    if not is_average and results.setting and results.setting == results.default_setting:
        return "No setting that was tried is better than the default one."
    if gain.difference is None:
        return "There is no score to compare with that of the default setting."
    size = difference_text(metric, abs(gain.difference))
    if metric not in _POINTS:
        size = f"{metric_in_short(metric)} {size}"
    elif metric != "accuracy":  # which the first line speaks of
        size = f"{size} of {metric_in_short(metric)}"
    if gain.difference == 0:
        return "Neither better nor worse than the default setting."
    sign, verb = ("+", "over") if gain.is_positive else ("", "below")
    change = f"{sign}{size} {verb} the default setting"
    if metric not in _POINTS:
        change = f"{size} {'better' if gain.is_positive else 'worse'} than the default setting"
        change = f"{change[:1].upper()}{change[1:]}"
    if results.is_optimistic:
        return f"{change}, on {results.task.units} that helped to choose it."
    if not gain.real:
        if text := results.few_units_text:
            return f"{change}; {text}, too few to tell that from chance."
        tested = results.tested_units or _tested_text(results)
        return f"{change}; {tested} cannot tell that from chance."
    return f"{change}, likely real." if gain.is_positive else f"{change}: that one is better here."


_POINTS = frozenset(name for name, metric in METRICS.items() if metric.share)
_ADVICE: dict[Step, str] = {
    "leak": "Too good to be true? Leave {columns} out unless known before the target.",
    "columns": "It is not shown to beat knowing nothing: other columns or more rows help more.",
    "default": "Take the default setting.",
    "minutes": "More minutes may help.",
    "rows": "More {units} would help most.",
    "honest": "That is no honest test: a run with a test set gives one.",
    "export": "Take the model along.",
}


def _next_step(results: Results) -> Step:
    gain, over_baseline = results.gain, results.gain_over_baseline
    is_known = over_baseline.difference is not None  # not so in results of earlier versions
    is_shown = over_baseline.real or (results.is_optimistic and (over_baseline.low or 0.0) > 0)
    if is_known and not (is_shown and over_baseline.is_positive):
        return "columns"
    if results.is_optimistic:
        return "honest"
    if gain.real and not gain.is_positive:
        return "default"
    if results.untried:
        return "minutes"
    return "export" if gain.real else "rows"
