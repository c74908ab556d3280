"""The report: one self-contained HTML page of the gain, the plots, and the run."""

from __future__ import annotations

from html import escape
from pathlib import Path

from core.export.ensemble_members import members_of, model_noun
from core.export.finished_run import FinishedRun
from core.export.report.average_sections import average_sections
from core.export.report.explanation_section import explanation_sections
from core.export.report.history_section import history_sections
from core.export.report.html import fact_list, paragraphs, section_card
from core.export.report.models_section import model_sections
from core.export.report.pictures_section import picture_sections
from core.export.report.results_section import CALIBRATION_TITLE, metric_score_text, result_sections
from core.export.report.settings_section import settings_sections
from core.export.report.structured_section import result_sentences, topic_sections
from core.export.report.style import style_sheet
from core.tuning.evaluation import evaluation_text
from core.tuning.run_results import Gain
from core.tuning.scores.cost_words import costs_text
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES

# Styles and pictures of the page itself; no script, no form, nothing from elsewhere.
_ALLOWED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"


def write(run: FinishedRun, path: Path) -> None:
    """Write the page; it needs no other file and no network."""
    path.write_text(page_html(run), encoding="utf-8")


def page_html(run: FinishedRun) -> str:
    """The page as HTML text."""
    title = f"{headline(run)} – {run.takeaway.dataset}"
    first_functions = (topic_sections, picture_sections, model_sections, average_sections)
    section_functions = (*first_functions, settings_sections, history_sections)
    cards = [
        _overview_section(run),
        *_answers(run),
        *(card for make_sections in section_functions for card in make_sections(run)),
    ]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_ALLOWED}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>{style_sheet()}</style></head>\n<body><main>"
        f"<header><h1>{escape(headline(run))}</h1>"
        f'<p class="lead">{escape(_lead_text(run))}</p></header>'
        f'\n<div class="cards">\n{chr(10).join(cards)}\n</div>\n'
        f"<footer>Made by Tunescope from the run {escape(run.name)}.</footer>"
        "</main></body></html>\n"
    )


def _answers(run: FinishedRun) -> list[str]:
    # The explanations' calibration has intervals and replaces that of the results.
    results, why = result_sections(run), explanation_sections(run)
    if any(CALIBRATION_TITLE in card for card in why):
        results = [card for card in results if CALIBRATION_TITLE not in card]
    return [*results, *why]


def headline(run: FinishedRun) -> str:
    """The gain of tuning in one line, no more than its interval allows."""
    results = run.results
    gain = results.gain
    if gain.difference is None:
        return "The tuned model"
    points, unit = _in_points(gain.metric, abs(gain.difference))
    if results.gain_over_baseline.is_missing:
        return "The tuned model is not better than the baseline"
    setting = results.setting
    if setting and len(members_of(run)) < 2 and setting == results.default_setting:
        return "Tuning ended where the default setting is"
    if not gain.real:
        return "Tuning made no clear difference"
    return f"Tuning {'gained' if gain.is_positive else 'lost'} {points} {unit}"


def _in_points(metric: str, difference: float) -> tuple[str, str]:
    if METRICS[metric].share:
        return f"{100 * difference:.1f}", "points"
    return f"{difference:.3g}", f"in {METRICS[metric].title.lower()}"


def _lead_text(run: FinishedRun) -> str:
    takeaway = run.takeaway
    classes = len(takeaway.classes)
    task = takeaway.task
    columns = "" if task.has_one_column else f"{len(takeaway.feature_names):,} columns, "
    target_text = task.target_text.format(count=classes)
    rows = f"{takeaway.rows:,} {task.units}, {columns}{target_text}"
    strategy = STRATEGIES[run.plan.strategy].title
    return f"{takeaway.dataset}: {rows} · {model_noun(run)} · {strategy}"


def _overview_section(run: FinishedRun) -> str:
    results, metric = run.results, run.results.metric
    shown = {f"{METRICS[metric].title}, tuned": metric_score_text(metric, results.test[metric])}
    if metric in results.default_test:
        shown["default setting"] = metric_score_text(metric, results.default_test[metric])
    if metric in results.baseline_test:
        shown["baseline"] = metric_score_text(metric, results.baseline_test[metric])
    if results.trials:
        shown["trials"] = f"{results.trials:,}"
    shown["fits"] = f"{results.fits:,}"
    shown["time"] = _duration_text(results.seconds)
    shown["seed"] = str(run.plan.seed)
    body = fact_list(shown) + paragraphs(_summary_sentences(run))
    return section_card("In short", "", body, "long")


def _summary_sentences(run: FinishedRun) -> list[str]:
    results, sentences = run.results, []
    if (right := results.right) is not None:
        baseline = right.baseline
        baseline_text = "" if baseline is None else f", the baseline on {baseline:,}"
        sentences.append(
            f"On {_test_rows_text(run, right.rows)}, the tuned model is right on {right.tuned:,}, "
            f"the default setting on {right.default:,}{baseline_text}."
        )
    sentences += [*result_sentences(results), _interval_text(results.gain)]
    if results.costs is not None:
        sentences += costs_text(results.costs)
    sentences += filter(None, [results.metric_reason, evaluation_text(results)])
    because = results.stopped_because
    stopped = f"The run ended because: {because.rstrip('.')}." if because else ""
    return [*sentences, *(remark for remark in results.remarks if remark not in sentences), stopped]


def _test_rows_text(run: FinishedRun, rows: int) -> str:
    results, units = run.results, run.takeaway.task.units
    if results.folds:
        return f"all {rows:,} {units}, each tested once by {results.folds}-fold cross-validation"
    second = results.second_file or run.takeaway.test_source
    return f"the {rows:,} {units} of the test {'file' if second else 'set'}"


def _interval_text(gain: Gain) -> str:
    if gain.low is None or gain.high is None or gain.low == gain.high:
        return ""
    share = METRICS[gain.metric].share
    low, high = (
        (f"{100 * end:+.1f}" if share else f"{end:+.3g}").replace("-", "\u2212")
        for end in (gain.low, gain.high)
    )
    method = f" ({gain.method})" if gain.method else ""
    return (
        f"95 % confidence interval of the gain{method}: {low} to {high}"
        f"{' points' if share else ''}. Of 20 such intervals, 19 contain the true gain."
    )


def _duration_text(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds:.2f} s"
    minutes, remaining_seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {remaining_seconds} s"
