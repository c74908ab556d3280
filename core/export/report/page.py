"""The report: one self-contained HTML page with what was gained, the plots, and how it was done."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from core.export.average import members_of, told_model
from core.export.finished_run import FinishedRun
from core.export.report.average_sections import average_sections
from core.export.report.history import history_sections
from core.export.report.html import facts, paragraphs, section
from core.export.report.mattered import mattered_sections
from core.export.report.models import model_sections
from core.export.report.pictures import picture_sections
from core.export.report.results import TRUSTED, result_sections, score_words
from core.export.report.structured import result_words, topic_sections, unit
from core.export.report.style import style_sheet
from core.export.report.why import why_sections
from core.tuning.evaluation import evaluation_in_words
from core.tuning.scores.cost_words import costs_in_words
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES

# Styles and pictures of the page itself; no script, no form, nothing from elsewhere.
_ALLOWED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"


def write(run: FinishedRun, path: Path) -> None:
    """Write the page; it needs no other file and no network."""
    path.write_text(page(run), encoding="utf-8")


def page(run: FinishedRun) -> str:
    """The whole page as HTML text."""
    title = f"{headline(run)} – {run.takeaway.dataset}"
    shown = (topic_sections, picture_sections, model_sections, average_sections)
    parts = (*shown, mattered_sections, history_sections)
    cards = [_overview(run), *_answers(run), *(card for part in parts for card in part(run))]
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_ALLOWED}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>{style_sheet()}</style></head>\n<body><main>"
        f'<header><h1>{escape(headline(run))}</h1><p class="lead">{escape(_lead(run))}</p></header>'
        f'\n<div class="cards">\n{chr(10).join(cards)}\n</div>\n'
        f"<footer>Made by Tunescope from the run {escape(run.name)}.</footer>"
        "</main></body></html>\n"
    )


def _answers(run: FinishedRun) -> list[str]:
    """What the run ended with, and what was asked of it; calibration with intervals where known."""
    results, why = result_sections(run), why_sections(run)
    if any(TRUSTED in card for card in why):
        results = [card for card in results if TRUSTED not in card]
    return [*results, *why]


def headline(run: FinishedRun) -> str:
    """What tuning brought, in one line, no more than the interval allows."""
    gain = run.results.get("gain")
    if not gain or gain["difference"] is None:
        return "The tuned model"
    points, unit = _in_points(gain["metric"], abs(gain["difference"]))
    over = run.results.get("gain_over_baseline") or {}
    if over.get("difference") is not None and over["difference"] <= 0:
        return "The tuned model is not better than knowing nothing"
    setting = run.results.get("setting")
    if setting and len(members_of(run)) < 2 and setting == run.results.get("default_setting"):
        return "Tuning ended where the default setting is"
    if not gain["real"]:
        return "Tuning made no clear difference"
    return f"Tuning {'gained' if gain['difference'] > 0 else 'lost'} {points} {unit}"


def _in_points(metric: str, difference: float) -> tuple[str, str]:
    if METRICS[metric].share:
        return f"{100 * difference:.1f}", "points"
    return f"{difference:.3g}", f"in {METRICS[metric].title.lower()}"


def _lead(run: FinishedRun) -> str:
    takeaway = run.takeaway
    classes = len(takeaway.classes)
    tasks = {"regression": "a number", "binary": "two classes", "sequence": f"{classes} labels"}
    tasks |= {"structure": "base pairs", "topics": "topics"}
    task = tasks.get(takeaway.task, f"{classes} classes")
    one_column = takeaway.task in ("structure", "topics")
    columns = "" if one_column else f"{len(takeaway.feature_names):,} columns, "
    rows = f"{takeaway.rows:,} {unit(takeaway.task)}, {columns}{task}"
    strategy = STRATEGIES[run.plan.strategy].title
    return f"{takeaway.dataset}: {rows} · {told_model(run)} · {strategy}"


def _overview(run: FinishedRun) -> str:
    results, metric = run.results, run.results["metric"]
    shown = {f"{METRICS[metric].title}, tuned": score_words(metric, results["test"][metric])}
    if metric in results.get("default_test", {}):
        shown["default setting"] = score_words(metric, results["default_test"][metric])
    if metric in (results.get("baseline_test") or {}):
        shown["knowing nothing"] = score_words(metric, results["baseline_test"][metric])
    if results.get("trials"):
        shown["trials"] = f"{results['trials']:,}"
    shown["fits"] = f"{results.get('fits', 0):,}"
    shown["time"] = _duration(results.get("seconds", 0.0))
    shown["seed"] = str(run.plan.seed)
    return section("In short", "", facts(shown) + paragraphs(_words(run)), "long")


def _words(run: FinishedRun) -> list[str]:
    results, sentences = run.results, []
    if right := results.get("right"):
        known = "baseline" in right
        nothing = f", knowing nothing on {right['baseline']:,}" if known else ""
        sentences.append(
            f"On {_tested(run, right['rows'])}, the tuned model is right on {right['tuned']:,}, "
            f"the default setting on {right['default']:,}{nothing}."
        )
    sentences += [*result_words(results), _interval(results)]
    if costs := results.get("costs"):
        sentences += costs_in_words(costs)
    if reason := results.get("metric_reason"):
        sentences.append(str(reason))
    sentences += filter(None, [evaluation_in_words(results)])
    said = [str(remark) for remark in results.get("remarks", [])]
    because = results.get("stopped_because", "")
    stopped = f"The run ended because: {because.rstrip('.')}." if because else ""
    return [*sentences, *(remark for remark in said if remark not in sentences), stopped]


def _tested(run: FinishedRun, rows: int) -> str:
    """Which rows gave the test scores."""
    results, units = run.results, unit(run.takeaway.task)
    if results.get("folds"):
        return f"all {rows:,} {units}, each tested once by {results['folds']}-fold cross-validation"
    second = results.get("second_file", bool(run.takeaway.test_source))
    return f"the {rows:,} {units} of the test {'file' if second else 'set'}"


def _interval(results: dict[str, Any]) -> str:
    """The confidence interval of the gain, and what it means."""
    gain = results.get("gain") or {}
    if gain.get("low") is None or gain.get("high") is None or gain["low"] == gain["high"]:
        return ""
    share = METRICS[gain["metric"]].share
    low, high = (
        (f"{100 * gain[end]:+.1f}" if share else f"{gain[end]:+.3g}").replace("-", "\u2212")
        for end in ("low", "high")
    )
    method = f" ({gain['method']})" if gain.get("method") else ""
    return (
        f"95 % confidence interval of the gain{method}: {low} to {high}"
        f"{' points' if share else ''}. Of 20 such intervals, 19 contain the true gain."
    )


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds >= 0.1 else f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
