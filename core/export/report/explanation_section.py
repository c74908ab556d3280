"""The report's sections on what the run's answers explain: errors, columns, rows, settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from core.errors import UnusableError
from core.evaluation.calibration_bin import CalibrationBin
from core.export.exportable_models import TUNED
from core.export.finished_run import FinishedRun
from core.export.report.figure_svg import SIZES, figure_svg
from core.export.report.html import collapsible, html_table, paragraphs, section_card
from core.figures import explanation_figures as figures
from core.figures.explanation_text import AREA, area_text, learning_verdict, loss_text
from core.figures.score_figures import CALIBRATION, calibration_figure
from core.space import axis_title
from core.tuning.problem_setup import read_data
from core.tuning.scores.score import score_text
from core.tuning.why.answer_types import (
    Answer,
    ClassDiagnostics,
    ColumnImportance,
    LearningCurve,
    NoAnswer,
    RegressionDiagnostics,
    RowDiagnostics,
    ScoreLoss,
    SettingImportance,
)
from core.tuning.why.answers import answers, answers_of_trials, keep_answer, kept_answer
from core.tuning.why.questions import (
    IMPORTANCE,
    LEARNING,
    ROWS,
    SETTINGS,
    SOON,
    can_explain,
    seconds_before,
)
from core.tuning.why.tested_model import fit_tested_model
from core.wording import percent

MAX_BARS = 25
MAX_CLASSES = 3
MAX_CELLS = 14  # columns of a quoted row


def explanation_sections(run: FinishedRun) -> list[str]:
    """The sections with answers; a sentence instead of those that are missing."""
    if run.selected_name != TUNED or not can_explain(run.results, run.takeaway.task):
        return []
    answer_by_question, problem = answers_of(run)
    sections = []
    for question in (IMPORTANCE, ROWS, LEARNING):
        match answer_by_question.get(question):
            case ColumnImportance() as importance:
                sections += _column_sections(importance, run.allows_examples)
            case RowDiagnostics() as diagnostics:
                sections += _row_sections(run, diagnostics)
            case LearningCurve() as curve:
                sections.append(_learning_section(curve))
    if problem:
        why = "Which columns matter, and where it is wrong, is not in this report."
        body = paragraphs([f"{why} {problem}"])
        sections.append(section_card("What else could be asked", "", body))
    return sections


def answers_of(run: FinishedRun) -> tuple[dict[str, Answer], str]:
    """{question: answer} of stored or quick answers, and why others are missing."""
    results = run.results
    stored = {q: kept_answer(run.folder, results, q) for q in (IMPORTANCE, ROWS, LEARNING)}
    answer_by_question = {q: answer for q, answer in stored.items() if answer is not None}
    missing = [question for question in (IMPORTANCE, ROWS) if question not in answer_by_question]
    if not missing:
        return answer_by_question, ""
    # A report is written in a moment; what takes longer is asked for in the window.
    if seconds_before(ROWS, run.state) > SOON:
        problem = "It takes longer than a report should: ask on the Results page first."
        return answer_by_question, problem
    try:
        tested_model = fit_tested_model(run.folder, read_data(run.plan.data))
        for question in missing:
            for answer in answers(tested_model, question):
                answer_by_question[question] = keep_answer(run.folder, results, question, answer)
    except UnusableError as error:
        return answer_by_question, error.sentence
    # A section less is better than no report.
    except (ValueError, ArithmeticError, LookupError, MemoryError):
        return answer_by_question, "The model could not be asked about its test rows."
    return answer_by_question, ""


def _column_sections(importance: ColumnImportance, examples: bool) -> list[str]:
    format_difference = partial(loss_text, importance.metric)
    shown = importance.columns[:MAX_BARS]
    weights = any(column.weight is not None for column in importance.columns)
    header = ("column", "loss of score", "low", "high", *(["weight, scaled"] if weights else []))
    rows = [
        (
            importance.title_of(column),
            *_loss_cells(column, format_difference),
            *([column.weight] if weights else []),
        )
        for column in importance.columns
    ]
    sentences = [
        f"{', '.join(group.names)} say nearly the same (correlation {group.least:.2f} or more): "
        "each can replace the other, so that all look unimportant."
        for group in importance.alike
    ]
    if importance.screened:
        sentences.append(
            f"Of {importance.total:,} columns the {len(importance.columns)} that correlate "
            "most with its predictions were shuffled."
        )
    body = figure_svg(figures.columns_figure(importance, shown)) if shown else ""
    as_table = html_table(header, rows, row_heads=True)
    body += paragraphs(sentences) + collapsible("As a table", as_table)
    if importance.alike:
        group_rows = [
            (importance.title_of(group), *_loss_cells(group, format_difference))
            for group in importance.groups
        ]
        group_header = ("columns shuffled together", "loss of score", "low", "high")
        as_table = html_table(group_header, group_rows, row_heads=True)
        body += collapsible("Correlated columns together", as_table)
    question = (
        f"Permutation importance: how much worse the score of {importance.rows:,} test rows "
        "becomes if a column is shuffled, of the model that was fitted without them. Line: 95 % "
        "confidence interval."
    )
    sections = [section_card("Which columns matter?", question, body)]
    if examples:
        question = "Thick: the mean over test rows, with its 95 % confidence interval. Pale: rows."
        for dependence in (importance.dependence or {}).values():
            if not dependence.problem:
                values: Sequence[str | float] = dependence.words or dependence.grid
                curve = zip(values, dependence.mean, dependence.low, dependence.high, strict=True)
                as_table = html_table((dependence.title, "mean", "low", "high"), curve)
                figure = figure_svg(figures.dependence_figure(dependence), *SIZES["half"])
                figure += collapsible("As a table", as_table)
                sections.append(
                    section_card(f"What does {dependence.name} do?", question, figure, "half")
                )
    return sections


def _loss_cells(
    loss: ScoreLoss, format_difference: Callable[[float | None], str]
) -> tuple[str, ...]:
    return tuple(format_difference(value) for value in (loss.mean, loss.low, loss.high))


def _row_sections(run: FinishedRun, diagnostics: RowDiagnostics) -> list[str]:
    sections = []
    if isinstance(diagnostics, ClassDiagnostics):
        is_binary = len(diagnostics.labels) == 2  # those of the other class say the same
        labels = diagnostics.labels[: 1 if is_binary else MAX_CLASSES]
        sections += [_curves_section(label, diagnostics) for label in labels]
        for label in labels:
            if bins := diagnostics.of[label].calibration:
                sections.append(_calibration_section(label, bins))
    if isinstance(diagnostics, RegressionDiagnostics):
        residuals = diagnostics.residuals
        question = (
            "Residuals: above the line the prediction is too high. Large dots: the mean of an "
            "eighth of the test rows, with its 95 % confidence interval."
        )
        rows = [
            (
                residuals.title_of(name) or "prediction",
                entry.at,
                entry.mean,
                entry.low,
                entry.high,
                entry.rows,
            )
            for name, bins in residuals.bins.items()
            if run.allows_examples or not name
            for entry in bins
        ]
        header = ("over", "at", "mean", "low", "high", "rows")
        body = figure_svg(
            figures.residuals_figure(
                residuals, rows=run.allows_examples, unit=run.results.target_unit
            )
        )
        body += collapsible("As a table, over every column too", html_table(header, rows))
        sections.append(section_card("Where is it too high or too low?", question, body))
    if run.allows_examples and diagnostics.wrong.rows:
        sections.append(_wrong_rows_section(diagnostics))
    return sections


def _curves_section(label: str, diagnostics: ClassDiagnostics) -> str:
    tally, thresholds = diagnostics.of[label], diagnostics.of[label].thresholds
    marked_index = figures.decision_index(diagnostics, label)
    rows = []
    # Some 40 rows can be read; the curve beside them has all.
    indices = set(range(0, len(thresholds), max(1, len(thresholds) // 40)))
    for index in sorted(indices if marked_index is None else {*indices, marked_index}):
        true, false = tally.true[index], tally.false[index]
        recall, right = true / max(tally.positives, 1), true / max(true + false, 1)
        counts = (true, false, tally.positives - true, tally.negatives - false)
        rows.append((thresholds[index], *counts, f"{recall:.3f}", f"{right:.3f}"))
    outcomes = ("true positives", "false positives", "false negatives", "true negatives")
    header = (diagnostics.scale, *outcomes, "recall", "precision")
    half, share = (score_text(value, AREA) for value in (0.5, tally.share))
    area = f"Area under the ROC curve {area_text(tally.area)}, baseline {half}."
    average = f"Average precision {area_text(tally.precision)}, baseline {share}."
    curves = figures.threshold_figures(diagnostics, label)
    pictures = "".join(f"<div>{figure_svg(curve, *SIZES['half'])}</div>" for curve in curves)
    figure = f'<div class="cards">{pictures}</div>'
    body = figure + paragraphs([area, average])
    body += collapsible("As a table", html_table(header, rows))
    question = f"“{label}” against the rest. Dashed: baseline."
    if marked_index is not None:
        question += " The large dot is the threshold that the model decides by."
    return section_card("How well does it tell classes apart?", question, body)


def _calibration_section(label: str, bins: list[CalibrationBin]) -> str:
    header = ("predicted", "observed", "low", "high", "rows")
    rows = [(entry.predicted, entry.observed, entry.low, entry.high, entry.rows) for entry in bins]
    body = figure_svg(calibration_figure(bins, label), *SIZES["half"])
    body += collapsible("As a table", html_table(header, rows))
    question = (
        "Calibration: on the dashed line, 70 % means 70 %. Bars: 95 % confidence interval; "
        "numbers: rows."
    )
    return section_card(CALIBRATION.title, question, body, "half")


def _wrong_rows_section(diagnostics: RowDiagnostics) -> str:
    wrong, is_regression = diagnostics.wrong, isinstance(diagnostics, RegressionDiagnostics)
    has_distances = any(sure is not None for sure in wrong.sure)  # some models lack probabilities
    distance = ["off by" if is_regression else "sure"] * has_distances
    header = [wrong.counted, "actual", "predicted", *distance]
    cells = zip(wrong.lines, wrong.actual, wrong.said, wrong.sure, wrong.rows, strict=True)
    rows = []
    for line, actual, predicted, sure, row in cells:
        far = sure if is_regression or sure is None else f"{100 * sure:.0f}\u00a0%"
        rows.append([str(line), actual, predicted, *([far] * has_distances), *row[:MAX_CELLS]])
    body = html_table((*header, *wrong.headers[:MAX_CELLS]), rows)
    if len(wrong.headers) > MAX_CELLS:
        body += paragraphs([f"The first {MAX_CELLS} columns."])
    question = "Test rows, the worst first, as they are in the file."
    return section_card("Which rows is it most wrong about?", question, body)


def _learning_section(curve: LearningCurve) -> str:
    rows = [(size.rows, size.mean, size.low, size.high) for size in curve.sizes]
    body = paragraphs([learning_verdict(curve)]) + figure_svg(figures.learning_figure(curve))
    header = ("training rows", "mean score", "low", "high")
    body += collapsible("As a table", html_table(header, rows))
    question = (
        "Learning curve: the same setting, fitted on fewer training rows. Line: 95 % confidence "
        "interval."
    )
    return section_card("Would more rows help?", question, body)


def settings_sections(run: FinishedRun) -> list[str]:
    """The section, where enough settings were tried."""
    answer = kept_answer(run.folder, run.results, SETTINGS)
    if answer is None:
        try:
            *_, answer = answers_of_trials(run.state)
        except (UnusableError, ValueError, ArithmeticError, LookupError, MemoryError):
            return []
        # Kept, so that the window tells the same.
        if not isinstance(answer, NoAnswer):
            keep_answer(run.folder, run.results, SETTINGS, answer)
    if not isinstance(answer, SettingImportance) or not answer.settings:
        return []
    rows = [(axis_title(s.label, s.name), s.share, s.low, s.high) for s in answer.settings]
    figure = figure_svg(figures.settings_figure(answer))
    as_table = html_table(
        ("setting", "share", "low", "high"),
        [(name, *map(percent, shares)) for name, *shares in rows],
        row_heads=True,
    )
    trials_text = f" {answer.trials} trials tell it." if answer.trials < answer.of else ""
    sentence = (
        f"The other {percent(answer.together)} lies in several settings together, or in "
        f"chance.{trials_text}"
    )
    question = (
        "How much of the differences between the trials' scores each setting explains by itself. "
        "Line: 95 % interval over resampled trials."
    )
    body = figure + paragraphs([sentence]) + collapsible("As a table", as_table)
    return [section_card("Which settings mattered?", question, body)]
