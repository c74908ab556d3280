"""The report's sections on results: scores, errors, the setting and the penalties."""

from __future__ import annotations

from functools import partial

from core.estimators.model_settings import compare_settings
from core.export.ensemble_members import members_of
from core.export.finished_run import FinishedRun
from core.export.report import report_figures
from core.export.report.html import collapsible, html_table, paragraphs, section_card
from core.export.report.structured_section import curve_section, example_sections
from core.tuning.events import PenaltyStep
from core.tuning.run_results import (
    Calibration,
    ConfusionCounts,
    CostResults,
    GammaValues,
    PredictionPairs,
    Results,
)
from core.tuning.scores.metrics import METRICS

CALIBRATION_TITLE = "Can its probabilities be trusted?"
MAX_SPELT_LABELS = 8  # labels with words beside them in the table of errors


def result_sections(run: FinishedRun) -> list[str]:
    """The sections for which the run has results, in reading order."""
    results = run.results
    sections = [_scores_section(run)]
    if results.calibration is not None:
        sections.append(_calibration_section(run, results.calibration))
    if results.predictions is not None:
        sections.append(_predictions_section(run, results.predictions))
    if results.curve is not None:
        sections.append(curve_section(results.curve, (results.gamma or GammaValues()).tuned))
    if results.confusion is not None:
        sections.append(_confusion_section(results.confusion, run.takeaway.task.units))
    if results.costs is not None:
        sections.append(_costs_section(results.costs))
    if run.has_learned_penalties:
        sections.append(_penalties_section(run))
    if results.setting and not run.has_learned_penalties:
        sections.append(_setting_section(run))
    return [*sections, *example_sections(run)]


def metric_score_text(metric: str, score: float | None) -> str:
    """A score as text: "87.7 %" for shares of rows, a plain number otherwise."""
    if score is None:
        return "–"
    share = metric in METRICS and METRICS[metric].share
    return f"{100 * score:.1f}\N{NO-BREAK SPACE}%" if share else f"{score:.4g}"


def _scores_section(run: FinishedRun) -> str:
    results, metric = run.results, run.results.metric
    test, default, baseline = results.test, results.default_test, results.baseline_test
    model = "average" if len(members_of(run)) > 1 else "tuned"
    rows = []
    for name, scores, interval in (
        (model, test, results.test_interval),
        ("default setting", default, results.default_interval),
        ("baseline", baseline, results.baseline_interval),
    ):
        score, (low, high) = scores.get(metric), interval or (None, None)
        if score is not None and low is not None and high is not None:
            rows.append((name, score, low, high))
    title = METRICS[metric].title
    label = f"{title[0].lower()}{title[1:]}, on test {run.takeaway.task.units}"
    format_score = partial(metric_score_text, metric)
    figure = report_figures.score_intervals(rows, label, format_score) if rows else ""
    validation = results.validation
    columns = {"tuned": test, "default": default, "baseline": baseline, "validation": validation}
    score_columns = {name: scores for name, scores in columns.items() if scores}
    names = list(dict.fromkeys([*test, *default]))
    as_table = html_table(
        ("measure", *score_columns),
        [
            (_metric_title(n), *(metric_score_text(n, s.get(n)) for s in score_columns.values()))
            for n in names
        ],
        row_heads=True,
    )
    notes = [f"Baseline: {results.baseline}."] if baseline else []
    if validation:
        notes.append(_validation_note(results))
    question = "Dot: score on the test set. Line: its 95 % confidence interval."
    body = figure + as_table + paragraphs([" ".join(notes)])
    return section_card("Was tuning worth it?", question, body, "wide fitted")


def _validation_note(results: Results) -> str:
    if not results.validation_interval:
        return "Validation: the tuned setting's score during tuning."
    low, high = (metric_score_text(results.metric, end) for end in results.validation_interval)
    return (
        "Validation: the expected score on new rows, corrected for the choice among all trials; "
        f"95 % confidence interval {low} to {high}."
    )


def _metric_title(measure: str) -> str:
    return METRICS[measure].title if measure in METRICS else measure.replace("_", " ")


def _calibration_section(run: FinishedRun, calibration: Calibration) -> str:
    predicted, observed = calibration.predicted, calibration.observed
    label = str(run.takeaway.classes[-1]) if run.takeaway.classes else "the class"
    figure = report_figures.calibration(predicted, observed, label)
    rows = zip(predicted, observed, calibration.counts, strict=True)
    rounded = [(round(p, 3), round(o, 3), n) for p, o, n in rows]
    as_table = html_table(("predicted", "observed", "rows"), rounded)
    question = "Calibration: on the dashed line, 70 % means 70 %."
    body = figure + collapsible("As a table", as_table)
    return section_card(CALIBRATION_TITLE, question, body, "narrow")


def _predictions_section(run: FinishedRun, predictions: PredictionPairs) -> str:
    actual, tuned = predictions.actual, predictions.tuned
    targets = (column.title for column in run.takeaway.columns if column.role == "target")
    target = next(targets, run.takeaway.target)
    figure = report_figures.predicted_vs_actual(actual, tuned, target)
    rows = html_table(("actual", "predicted"), zip(actual, tuned, strict=True))
    as_table = collapsible("As a table", rows)
    question = "Each dot is a row of the test set. On the dashed line it is right."
    return section_card("How close are the predictions?", question, figure + as_table, "narrow")


def _confusion_section(confusion: ConfusionCounts, units: str) -> str:
    labels, counts = confusion.labels, confusion.tuned
    recall = [_percent_text(row[i], sum(row)) for i, row in enumerate(counts)]
    totals = [sum(column) for column in zip(*counts, strict=True)]
    precision = [_percent_text(row[i], totals[i]) for i, row in enumerate(counts)]
    # With many labels "true" and "predicted" in every cell make the table wider than the page.
    has_few_labels = len(labels) <= MAX_SPELT_LABELS
    rows = [
        (f"true {label}" if has_few_labels else label, *row, share)
        for label, row, share in zip(labels, counts, recall, strict=True)
    ]
    rows.append(("precision", *precision, ""))
    header = [f"predicted {label}" if has_few_labels else label for label in labels]
    diagonal = frozenset((i, i + 1) for i in range(len(labels)))
    body = html_table(("", *header, "recall"), rows, row_heads=True, marked=diagonal)
    question = f"Confusion matrix of the {units} of the test set."
    if not has_few_labels:
        question += " A row is what they are, a column what the model predicts."
    question += (
        " Recall: the share of a class that is found. Precision: the share of answers that are "
        "right."
    )
    kind = "half" if len(labels) < 6 else "" if has_few_labels else "tight"
    return section_card("Where is it wrong?", question, body, kind)


def _costs_section(costs: CostResults) -> str:
    (first, a), (second, b) = costs.costs.items()
    options = (
        (f"threshold {costs.threshold:.2g}", costs.tuned),
        ("threshold 0.5", costs.half),
        (f"always “{costs.baseline.says}”", costs.baseline),
    )
    rows = [
        (title, counts.mistakes[second], counts.mistakes[first], f"{counts.cost:.3g}")
        for title, counts in options
    ]
    head = ("", f"{second} called {first}", f"{first} called {second}", "cost of a row")
    body = html_table(head, rows, row_heads=True)
    question = (
        f"To call “{second}” “{first}” costs {b:g}, to call “{first}” “{second}” {a:g}. "
        "Test rows, which had no part in the threshold."
    )
    return section_card("What do its mistakes cost?", question, body, "half")


def _percent_text(right: int, total: int) -> str:
    return f"{100 * right / total:.1f}\N{NO-BREAK SPACE}%" if total else "–"


def _setting_section(run: FinishedRun) -> str:
    tuned, default = run.results.setting, run.results.default_setting
    compared = compare_settings(run.plan.model, tuned, default, run.labels_of)
    rows = [(entry.label, entry.name, entry.tuned, entry.default) for entry in compared]
    ours = not run.takeaway.task.is_table or run.model.folder
    name = "name" if ours else "in scikit-learn"
    body = html_table(("setting", name, "tuned", "default"), rows, row_heads=True)
    if len(members_of(run)) > 1:
        question = "The others are further below."
        return section_card("The best member's setting", question, body, "half")
    return section_card("The tuned setting", "What would you type to get this model?", body, "half")


def _penalties_section(run: FinishedRun) -> str:
    takeaway, off = run.takeaway, run.results.switched_off
    steps = run.events_of_kind(PenaltyStep)
    norms = steps[-1].norms if steps else {}
    penalties = takeaway.penalties
    figure = report_figures.penalty_bars(penalties, off) if len(penalties) > 1 else ""
    rows = [
        (name, "switched off", None, norms.get(name))
        if name in off
        else (name, penalty, 1 / penalty if penalty > 0 else None, norms.get(name))
        for name, penalty in sorted(penalties.items(), key=lambda pair: (pair[0] in off, pair[1]))
    ]
    inverse_title = "1/λ, scikit-learn's C" if takeaway.task.is_table else "1/λ"
    as_table = html_table(("group", "penalty (λ)", inverse_title, "size of its weights"), rows)
    body = figure + (collapsible("As a table", as_table) if figure else as_table)
    if (hidden := len(penalties) - report_figures.MAX_BARS) > 0:
        body += paragraphs([f"The {hidden} groups in the middle are in the table only."])
    question = f"Which {takeaway.task.penalty_noun} does the model trust?"
    return section_card("Learned group penalties", question, body)
