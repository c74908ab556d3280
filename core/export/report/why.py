"""The report's sections on what people ask after the score.

What was answered before is taken from the run's folder; what takes seconds is worked out now.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from core.errors import UnusableError
from core.export.choices import TUNED
from core.export.finished_run import FinishedRun
from core.export.report import why_figures as figures
from core.export.report.html import folded, paragraphs, section, table
from core.export.report.results import TRUSTED
from core.export.report.svg import plain
from core.tuning.problem import read_data
from core.tuning.scores.metrics import METRICS
from core.tuning.why.answers import (
    IMPORTANCE,
    LEARNING,
    ROWS,
    SOON,
    answers,
    asks,
    keep_answer,
    kept_answer,
    seconds_before,
)
from core.tuning.why.judged import judged_model

MOST_BARS = 25
MOST_CLASSES = 3
MOST_CELLS = 14  # columns of a quoted row


def why_sections(run: FinishedRun) -> list[str]:
    """The sections that the run's answers can fill; one sentence where they cannot be had."""
    if run.which != TUNED or not asks(run.results, run.takeaway.task):
        return []
    told, problem = answers_of(run)
    found = []
    if importance := told.get(IMPORTANCE):
        found += _columns(importance, run.examples)
    if rows := told.get(ROWS):
        found += _rows(run, rows)
    if learning := told.get(LEARNING):
        found.append(_learning(learning))
    if problem:
        why = "Which columns matter, and where it is wrong, is not in this report."
        found.append(section("What else could be asked", "", paragraphs([f"{why} {problem}"])))
    return found


def answers_of(run: FinishedRun) -> tuple[dict[str, dict[str, Any]], str]:
    """{question: answer} of what was answered before or takes seconds; why some are missing."""
    results = run.results
    found = {q: kept_answer(run.folder, results, q) for q in (IMPORTANCE, ROWS, LEARNING)}
    told = {question: answer for question, answer in found.items() if answer is not None}
    missing = [question for question in (IMPORTANCE, ROWS) if question not in told]
    if not missing:
        return told, ""
    if seconds_before(ROWS, run.state) > SOON:
        return told, "It takes longer than a report should: ask on the Results page first."
    try:
        judged = judged_model(run.folder, read_data(run.plan.data))
        for question in missing:
            for answer in answers(judged, question, {}):
                told[question] = keep_answer(run.folder, results, question, answer)
    except UnusableError as error:
        return told, error.sentence
    except (ValueError, ArithmeticError, LookupError, MemoryError):
        return told, "The model could not be asked about its test rows."
    return told, ""


def _columns(told: Mapping[str, Any], examples: bool) -> list[str]:
    metric = METRICS[told["metric"]]
    say = partial(_difference, metric.share)
    shown = told["columns"][:MOST_BARS]
    label = f"loss of {metric.title[:1].lower()}{metric.title[1:]} if shuffled"
    weights = any(one.get("weight") is not None for one in told["columns"])
    header = ("column", "loss of score", "low", "high", *(["weight, scaled"] if weights else []))
    rows = [
        (one["names"][0], say(one["mean"]), say(one["low"]), say(one["high"]),
         *([one.get("weight")] if weights else []))
        for one in told["columns"]
    ]  # fmt: skip
    said = [
        f"{', '.join(one['names'])} say nearly the same (correlation {one['least']:.2f} or more): "
        "each can stand for the other, so that all look unimportant."
        for one in told["alike"]
    ]
    if told["screened"]:
        said.append(
            f"Of {told['total']:,} columns the {len(told['columns'])} that its answers go along "
            "with most were shuffled."
        )
    body = figures.columns(shown, label, say) if shown else ""
    body += paragraphs(said) + folded("As a table", table(header, rows, row_heads=True))
    if told["alike"]:
        together = [(" + ".join(g["names"]), say(g["mean"]), say(g["low"]), say(g["high"]))
                    for g in told["groups"]]  # fmt: skip
        alone = ("columns shuffled together", "loss of score", "low", "high")
        body += folded("Alike columns together", table(alone, together, row_heads=True))
    question = (
        f"How much worse the score of {told['rows']:,} test rows becomes if a column is shuffled, "
        "of the model that was fitted without them. Line: 95 % confidence interval."
    )
    found = [section("Which columns matter?", question, body)]
    if examples:
        question = "Thick: the mean over test rows, with its 95 % confidence interval. Pale: rows."
        for name, along in told["dependence"].items():
            if "problem" not in along:
                values = along["words"] or along["grid"]
                as_table = table(
                    (name, "mean", "low", "high"),
                    list(zip(values, along["mean"], along["low"], along["high"], strict=True)),
                )
                drawn = figures.dependence(along) + folded("As a table", as_table)
                found.append(section(f"What does {name} do?", question, drawn, "half"))
    return found


def _difference(share: bool, value: float | None) -> str:
    if value is None:
        return "–"
    said = f"{100 * value:.1f} points" if share else plain(value)
    return said.replace("-", "\u2212")


def _rows(run: FinishedRun, told: Mapping[str, Any]) -> list[str]:
    found = []
    for label in told.get("labels", [])[:MOST_CLASSES]:
        found.append(_curves(label, told))
        if len(told["labels"]) == 2:
            break  # those of the other class say the same
    for label in told.get("labels", [])[:MOST_CLASSES]:
        bins = told["of"][label]["calibration"]
        if bins:
            found.append(_calibration(label, bins))
        if len(told["labels"]) == 2:
            break
    if residuals := told.get("residuals"):
        question = (
            "Above the line it says too much. Large dots: the mean of an eighth of the test rows, "
            "with its 95 % confidence interval."
        )
        bins = residuals["bins"]
        rows = [(name or "prediction", b["at"], b["mean"], b["low"], b["high"], b["rows"])
                for name, of in bins.items() if run.examples or not name for b in of]  # fmt: skip
        header = ("over", "at", "mean", "low", "high", "rows")
        body = figures.residuals(residuals, run.examples)
        body += folded("As a table, over every column too", table(header, rows))
        found.append(section("Where is it too high or too low?", question, body))
    if run.examples and told["wrong"]["rows"]:
        found.append(_wrong(told))
    return found


def _curves(label: str, told: Mapping[str, Any]) -> str:
    of, chosen = told["of"][label], told["chosen"]
    at = None
    if chosen is not None and label == told["second"]:
        at = max(sum(threshold >= chosen for threshold in of["thresholds"]) - 1, 0)
    rows = []
    step = max(1, len(of["thresholds"]) // 40)
    for place in sorted({*range(0, len(of["thresholds"]), step), *([] if at is None else [at])}):
        true, false = of["true"][place], of["false"][place]
        recall, right = true / max(of["positives"], 1), true / max(true + false, 1)
        counts = (true, false, of["positives"] - true, of["negatives"] - false)
        rows.append((of["thresholds"][place], *counts, f"{recall:.3f}", f"{right:.3f}"))
    header = (
        told["scale"],
        "found",
        "wrongly called",
        "missed",
        "left alone",
        "recall",
        "precision",
    )
    area = f"Area under the ROC curve {_with_interval(of['area'])}, knowing nothing 0.5."
    base = of["positives"] / max(of["positives"] + of["negatives"], 1)
    average = f"Average precision {_with_interval(of['precision'])}, knowing nothing {base:.3f}."
    drawn = f'<div class="cards"><div>{figures.roc(of, at)}</div>'
    drawn += f"<div>{figures.precision(of, at)}</div></div>"
    marked = "" if at is None else " The large dot is the threshold that the model decides by."
    body = drawn + paragraphs([area, average]) + folded("As a table", table(header, rows))
    question = f"“{label}” against the rest. Dashed: knowing nothing.{marked}"
    return section("How well does it tell classes apart?", question, body)


def _with_interval(values: list[float | None]) -> str:
    value, low, high = values
    if value is None:
        return "unknown"
    if low is None or high is None:
        return f"{value:.3f}"
    return f"{value:.3f} (95 % confidence interval {low:.3f} to {high:.3f})"


def _calibration(label: str, bins: list[dict[str, Any]]) -> str:
    keys = ("predicted", "observed", "low", "high", "rows")
    rows = [tuple(one[key] for key in keys) for one in bins]
    body = figures.calibration(bins, label) + folded("As a table", table(keys, rows))
    question = "On the dashed line, 70 % means 70 %. Bars: 95 % confidence interval; numbers: rows."
    return section(TRUSTED, question, body, "half")


def _wrong(told: Mapping[str, Any]) -> str:
    wrong, number = told["wrong"], bool(told.get("residuals"))
    how_far = any(sure is not None for sure in wrong["sure"])  # some models give no probabilities
    header = [
        wrong["counted"],
        "actual",
        "predicted",
        *(["off by" if number else "sure"] * how_far),
    ]
    cells = zip(wrong["lines"], wrong["actual"], wrong["said"], wrong["sure"], wrong["rows"],
                strict=True)  # fmt: skip
    rows = []
    for line, actual, said, sure, row in cells:
        far = sure if number or sure is None else f"{100 * sure:.0f}\u00a0%"
        rows.append([str(line), actual, said, *([far] * how_far), *row[:MOST_CELLS]])
    body = table((*header, *wrong["headers"][:MOST_CELLS]), rows)
    if len(wrong["headers"]) > MOST_CELLS:
        body += paragraphs([f"The first {MOST_CELLS} columns."])
    question = "Test rows, the worst first, as they stand in the file."
    return section("Which rows is it most wrong about?", question, body)


def _learning(told: Mapping[str, Any]) -> str:
    metric, gain = METRICS[told["metric"]], told.get("gain")
    say = partial(_difference, metric.share)
    said = "There are too few rows to tell."
    if gain:
        first = {"yes": "Yes, likely", "no": "No, likely not"}
        said = (
            f"{first.get(told['answer'], 'That cannot be told')}: from {gain['from']:,} to "
            f"{gain['to']:,} training rows it became better by {say(gain['mean'])} (95 % "
            f"confidence interval {say(gain['low'])} to {say(gain['high'])})."
        )
    rows = [(one["rows"], one["mean"], one["low"], one["high"]) for one in told["sizes"]]
    body = paragraphs([said]) + figures.learning(told["sizes"], metric.title)
    body += folded("As a table", table(("training rows", "mean score", "low", "high"), rows))
    question = "The same setting, fitted on fewer training rows. Line: 95 % confidence interval."
    return section("Would more rows help?", question, body)
