"""The report's sections on results: scores, errors, the setting and the penalties."""

from core.estimators.model_settings import compare_settings
from core.export.finished_run import FinishedRun, members_of
from core.export.report.figure_svg import SIZES, figure_svg
from core.export.report.html import (
    TABLE,
    collapsible,
    figure_card,
    html_table,
    paragraphs,
    section_card,
)
from core.export.report.structured_section import example_sections
from core.figures.penalty_figures import RANGES, penalties_figure
from core.figures.registry import RESULT_PICTURES
from core.figures.score_figures import SCORES, confusion_rows
from core.tuning.events import PenaltyStep
from core.tuning.run_results import ConfusionCounts, CostResults, Results
from core.tuning.scores.metrics import METRICS
from core.tuning.scores.score import Score, score_text
from core.wording import format_number

MAX_BARS = 40
MAX_SPELT_LABELS = 8  # labels with words beside them in the table of errors


def result_sections(run: FinishedRun) -> list[str]:
    """The sections for which the run has results, in reading order."""
    results = run.results
    sections = [_scores_section(run)]
    # Scores are above, in a section with a table of their own.
    for picture in RESULT_PICTURES:
        if picture is not SCORES and picture.is_suitable(results):
            sections.append(figure_card(picture.question, picture.figure(results), picture.width))
    if results.confusion is not None:
        sections.append(_confusion_section(results.confusion, run.takeaway.task.units))
    if results.costs is not None:
        sections.append(_costs_section(results.costs))
    if run.has_learned_penalties:
        sections.append(_penalties_section(run))
    if results.setting and not run.has_learned_penalties:
        sections.append(_setting_section(run))
    return [*sections, *example_sections(run)]


def _scores_section(run: FinishedRun) -> str:
    results = run.results
    figure = (
        figure_svg(SCORES.figure(results), *SIZES["half"]) if SCORES.is_suitable(results) else ""
    )
    notes = [f"Baseline: {results.baseline}."] if results.baseline_scores else []
    if results.validation:
        notes.append(_validation_note(results))
    body = figure + scores_table(results) + paragraphs([" ".join(notes)])
    return section_card(SCORES.title, SCORES.question, body, "wide fitted")


def scores_table(results: Results) -> str:
    """Every measure of the tuned model beside the default setting and the baseline."""
    test, default, unit = results.test, results.default_test, results.target_unit or ""
    columns = {
        "tuned": test,
        "default": default,
        "baseline": results.baseline_scores,
        "validation": results.validation,
    }
    score_columns = {name: scores for name, scores in columns.items() if scores}
    names = {**test, **default}
    titles = [METRICS[n].title if n in METRICS else n.replace("_", " ") for n in names]
    rows = [
        (title, *(score_text(scores.get(n), n, unit) for scores in score_columns.values()))
        for n, title in zip(names, titles, strict=True)
    ]
    return html_table(("measure", *score_columns), rows, row_heads=True)


def _validation_note(results: Results) -> str:
    if not results.validation_interval:
        return "Validation: the tuned setting's score during tuning."
    score = Score(results.metric, None, results.validation_interval)
    return (
        "Validation: the expected score on new rows, corrected for the choice among all trials"
        f"{score.interval_phrase()}."
    )


def _confusion_section(confusion: ConfusionCounts, units: str) -> str:
    labels, counts = confusion.labels, confusion.tuned
    # With many labels "true" and "predicted" in every cell make the table wider than the page.
    has_few_labels = len(labels) <= MAX_SPELT_LABELS
    names = [f"true {label}" if has_few_labels else label for label in labels]
    rows = confusion_rows(names, counts)
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
        (f"threshold {format_number(costs.threshold, 2)}", costs.tuned),
        ("threshold 0.5", costs.half),
        (f"always “{costs.baseline.says}”", costs.baseline),
    )
    rows = [
        (title, counts.mistakes[second], counts.mistakes[first], format_number(counts.cost))
        for title, counts in options
    ]
    head = ("", f"{second} called {first}", f"{first} called {second}", "cost of a row")
    body = html_table(head, rows, row_heads=True)
    question = (
        f"To call “{second}” “{first}” costs {b:g}, to call “{first}” “{second}” {a:g}. "
        "Test rows, which had no part in the threshold."
    )
    return section_card("What do its mistakes cost?", question, body, "half")


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
    figure = ""
    if len(penalties) > 1:
        figure = figure_svg(penalties_figure(run.state, MAX_BARS), *SIZES["full"])
    rows = [
        (name, "switched off", None, norms.get(name))
        if name in off
        else (name, penalty, 1 / penalty if penalty > 0 else None, norms.get(name))
        for name, penalty in sorted(penalties.items(), key=lambda pair: (pair[0] in off, pair[1]))
    ]
    inverse_title = "1/λ, scikit-learn's C" if takeaway.task.is_table else "1/λ"
    as_table = html_table(("group", "penalty (λ)", inverse_title, "size of its weights"), rows)
    body = figure + (collapsible(TABLE, as_table) if figure else as_table)
    if (hidden := len(penalties) - MAX_BARS) > 0:
        body += paragraphs([f"The {hidden} groups in the middle are in the table only."])
    question = f"Which {takeaway.task.penalty_noun} does the model trust?"
    if run.results.group_ranges:
        question += f" {RANGES}"
    return section_card("Learned group penalties", question, body)
