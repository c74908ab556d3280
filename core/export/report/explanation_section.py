"""The report's sections on what the run's answers explain: errors, columns, rows, settings."""

from collections.abc import Sequence

from core.errors import UnusableError
from core.export.exportable_models import TUNED
from core.export.finished_run import FinishedRun
from core.export.report import html
from core.export.report.figure_svg import SIZES, figure_svg
from core.figures import explanation_figures as figures
from core.figures.explanation_text import columns_text, learning_text, loss_text, settings_text
from core.figures.score_figures import calibration_figure
from core.tuning.problem_setup import read_data
from core.tuning.why import answer_types
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

MAX_BARS = 25
MAX_CLASSES = 3
MAX_CELLS = 14  # columns of a quoted row


def explanation_sections(run: FinishedRun) -> list[str]:
    """The sections with answers; a sentence instead of those that are missing."""
    if run.selected_name != TUNED or not can_explain(run.results, run.takeaway.task):
        return []
    answer_by_question, problem = answers_of(run)
    sections = []
    for name in (IMPORTANCE, ROWS, LEARNING):
        match answer_by_question.get(name):
            case answer_types.ColumnImportance() as importance:
                sections += _column_sections(importance, run.allows_examples)
            case answer_types.RowDiagnostics() as diagnostics:
                sections += _row_sections(run, diagnostics)
            case answer_types.LearningCurve() as curve:
                question = (
                    "Learning curve: the same setting, fitted on fewer training rows. Line: 95 % "
                    "confidence interval."
                )
                verdict = html.paragraphs([learning_text(curve)])
                learning = figures.learning_figure(curve)
                sections.append(html.figure_card(question, learning, below=verdict))
    if problem:
        why = "Which columns matter, and where it is wrong, is not in this report."
        body = html.paragraphs([f"{why} {problem}"])
        sections.append(html.section_card("What else could be asked", "", body))
    return sections


def answers_of(run: FinishedRun) -> tuple[dict[str, answer_types.Answer], str]:
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


def _column_sections(importance: answer_types.ColumnImportance, examples: bool) -> list[str]:
    shown = importance.columns[:MAX_BARS]
    body = figure_svg(figures.columns_figure(importance, shown)) if shown else ""
    body += html.paragraphs([columns_text(importance)])
    body += html.collapsible(html.TABLE, _losses_table(importance, importance.columns))
    if importance.alike:
        table = _losses_table(importance, importance.groups)
        body += html.collapsible("Correlated columns together", table)
    question = (
        f"Permutation importance: how much worse the score of {importance.rows:,} test rows "
        "becomes if a column is shuffled, of the model that was fitted without them. Line: 95 % "
        "confidence interval."
    )
    sections = [html.section_card("Which columns matter?", question, body)]
    if examples:
        question = "Thick: the mean over test rows, with its 95 % confidence interval. Pale: rows."
        sections += [
            html.figure_card(question, figures.dependence_figure(dependence), "half")
            for dependence in (importance.dependence or {}).values()
            if not dependence.problem
        ]
    return sections


def _losses_table(
    importance: answer_types.ColumnImportance, losses: Sequence[answer_types.ScoreLoss]
) -> str:
    has_weights = any(getattr(loss, "weight", None) is not None for loss in losses)
    header = ("column", "loss of score", "low", "high", *["weight, scaled"] * has_weights)
    rows = [
        (
            importance.title_of(loss),
            *(loss_text(importance.metric, value) for value in (loss.mean, loss.low, loss.high)),
            *[getattr(loss, "weight", None)] * has_weights,
        )
        for loss in losses
    ]
    return html.html_table(header, rows, row_heads=True)


def _row_sections(run: FinishedRun, diagnostics: answer_types.RowDiagnostics) -> list[str]:
    sections = []
    if isinstance(diagnostics, answer_types.ClassDiagnostics):
        is_binary = len(diagnostics.labels) == 2  # those of the other class say the same
        labels = diagnostics.labels[: 1 if is_binary else MAX_CLASSES]
        sections += [_curves_section(label, diagnostics) for label in labels]
        question = (
            "Calibration: on the dashed line, 70 % means 70 %. Bars: 95 % confidence interval; "
            "numbers: rows."
        )
        sections += [
            html.figure_card(question, calibration_figure(bins, label), "half")
            for label in labels
            if (bins := diagnostics.of[label].calibration)
        ]
    if isinstance(diagnostics, answer_types.RegressionDiagnostics):
        sections.append(_residuals_section(run, diagnostics.residuals))
    if run.allows_examples and diagnostics.wrong.rows:
        sections.append(_wrong_rows_section(diagnostics))
    return sections


def _residuals_section(run: FinishedRun, residuals: answer_types.Residuals) -> str:
    has_rows, unit = run.allows_examples, run.results.target_unit
    figure = figures.residuals_figure(residuals, rows=has_rows, unit=unit)
    rows = [
        (residuals.title_of(name) or "prediction", b.at, b.mean, b.low, b.high, b.rows)
        for name, bins in residuals.bins.items()
        if has_rows or not name
        for b in bins
    ]
    table = html.html_table(("over", "at", "mean", "low", "high", "rows"), rows)
    question = (
        "Residuals: above the line the prediction is too high. Large dots: the mean of an eighth "
        "of the test rows, with its 95 % confidence interval."
    )
    body = figure_svg(figure) + html.collapsible(f"{html.TABLE}, over every column too", table)
    return html.section_card(figure.title, question, body)


def _curves_section(label: str, diagnostics: answer_types.ClassDiagnostics) -> str:
    curves = figures.threshold_figures(diagnostics, label)
    marked_index = figures.decision_index(diagnostics, label)
    headers, rows = figures.threshold_table(diagnostics.of[label])
    # Some 40 rows can be read; the curve beside them has all.
    indices = {*range(0, len(rows), max(1, len(rows) // 40))}
    indices |= {marked_index} - {None}
    table = html.html_table([diagnostics.scale, *headers[1:]], [rows[i] for i in sorted(indices)])
    pictures = "".join(f"<div>{figure_svg(curve, *SIZES['half'])}</div>" for curve in curves)
    body = f'<div class="cards">{pictures}</div>'
    body += html.paragraphs(f"{curve.title}: {curve.description}" for curve in curves)
    question = f"“{label}” against the rest. Dashed: baseline."
    if marked_index is not None:
        question += " The large dot is the threshold that the model decides by."
    body += html.collapsible(html.TABLE, table)
    return html.section_card(figures.THRESHOLD, question, body)


def _wrong_rows_section(diagnostics: answer_types.RowDiagnostics) -> str:
    wrong = diagnostics.wrong
    is_regression = isinstance(diagnostics, answer_types.RegressionDiagnostics)
    has_distances = any(sure is not None for sure in wrong.sure)  # some models lack probabilities
    distance = ["off by" if is_regression else "sure"] * has_distances
    header = [wrong.counted, "actual", "predicted", *distance]
    cells = zip(wrong.lines, wrong.actual, wrong.said, wrong.sure, wrong.rows, strict=True)
    rows = []
    for line, actual, predicted, sure, row in cells:
        far = sure if is_regression or sure is None else f"{100 * sure:.0f}\u00a0%"
        rows.append([str(line), actual, predicted, *([far] * has_distances), *row[:MAX_CELLS]])
    body = html.html_table((*header, *wrong.headers[:MAX_CELLS]), rows)
    if len(wrong.headers) > MAX_CELLS:
        body += html.paragraphs([f"The first {MAX_CELLS} columns."])
    question = "Test rows, the worst first, as they are in the file."
    return html.section_card("Which rows is it most wrong about?", question, body)


def settings_sections(run: FinishedRun) -> list[str]:
    """The section, where enough settings were tried."""
    answer = kept_answer(run.folder, run.results, SETTINGS)
    if answer is None:
        try:
            *_, answer = answers_of_trials(run.state)
        except (UnusableError, ValueError, ArithmeticError, LookupError, MemoryError):
            return []
        # Kept, so that the window tells the same.
        if not isinstance(answer, answer_types.NoAnswer):
            keep_answer(run.folder, run.results, SETTINGS, answer)
    if not isinstance(answer, answer_types.SettingImportance) or not answer.settings:
        return []
    question = (
        "How much of the differences between the trials' scores each setting explains by itself. "
        "Line: 95 % interval over resampled trials."
    )
    below = html.paragraphs([settings_text(answer)])
    return [html.figure_card(question, figures.settings_figure(answer), below=below)]
