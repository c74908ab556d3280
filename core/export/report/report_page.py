"""The report: one self-contained HTML page of the gain, the plots, and the run; in short a card."""

import base64
from dataclasses import replace
from html import escape
from pathlib import Path

from core.export.finished_run import FinishedRun, model_noun
from core.export.report.explanation_section import explanation_sections, settings_sections
from core.export.report.history_section import history_sections
from core.export.report.html import fact_list, paragraphs, section_card, style_sheet, svg_file
from core.export.report.models_section import average_sections, leaderboard_table, model_sections
from core.export.report.results_section import result_sections, scores_table
from core.export.report.structured_section import picture_sections, topic_sections
from core.figures.score_figures import CALIBRATION, SCORES
from core.tuning.results.answer import answer_of
from core.tuning.results.result_facts import result_facts
from core.tuning.runs.model_runs import model_leaderboard
from core.tuning.scores.metrics import METRICS
from core.tuning.strategies.registry import STRATEGIES
from core.wording import duration_text, format_integer

# Styles and pictures of the page itself; no script, no form, nothing from elsewhere.
_ALLOWED = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"


def write(run: FinishedRun, path: Path) -> None:
    """Write the page; it needs no other file and no network."""
    path.write_text(page_html(run), encoding="utf-8")


def page_html(run: FinishedRun) -> str:
    """The page as HTML text."""
    answer = answer_of(run.results, run.state.started, run.state.topics)
    title = f"{answer.ability} – {run.takeaway.dataset}"
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
        f"<header><h1>{escape(answer.ability)}</h1>"
        f"<p>{escape(answer.tuning)} {escape(answer.advice)}</p>"
        f'<p class="lead">{escape(lead_text(run))}</p></header>'
        f'\n<div class="cards">\n{chr(10).join(cards)}\n</div>\n'
        f"<footer>Made by Tunescope from the run {escape(run.name)}.</footer>"
        "</main></body></html>\n"
    )


def _answers(run: FinishedRun) -> list[str]:
    # The explanations' calibration has intervals and replaces that of the results.
    results, why = result_sections(run), explanation_sections(run)
    if any(CALIBRATION.title in card for card in why):
        results = [card for card in results if CALIBRATION.title not in card]
    return [*results, *why]


def lead_text(run: FinishedRun) -> str:
    """What was tuned on which data, and how, in a line."""
    takeaway = run.takeaway
    classes = len(takeaway.classes)
    task = takeaway.task
    columns = "" if task.has_one_column else f"{len(takeaway.feature_names):,} columns, "
    target_text = task.target_text.format(count=classes)
    rows = f"{takeaway.rows:,} {task.units}, {columns}{target_text}"
    strategy = STRATEGIES[run.plan.strategy].title
    return f"{takeaway.dataset}: {rows} · {model_noun(run)} · {strategy}"


def _overview_section(run: FinishedRun) -> str:
    results = run.results
    if run.takeaway.test_source:  # runs of earlier versions say so here alone
        results = replace(results, second_file=True)
    facts = result_facts(results, run.started)
    titles = {"Tuned": f"{METRICS[results.metric].title}, tuned", "Default": "default setting"}
    shown = {
        titles.get(fact.label, fact.label.lower()): fact.score.text
        for fact in facts
        if fact.score is not None and fact.label in ("Tuned", "Default", "Baseline")
    }
    if results.trials:
        shown["trials"] = format_integer(results.trials)
    shown["fits"] = format_integer(results.fits)
    shown["time"] = duration_text(results.seconds)
    shown["seed"] = str(run.plan.seed)
    sentences = [fact.sentence for fact in facts]
    if because := results.stopped_because:
        sentences.append(f"The run ended because: {because.rstrip('.')}.")
    body = fact_list(shown) + paragraphs(sentences)
    return section_card("In short", "", body, "long")


def run_card(run: FinishedRun) -> str:
    """A run in a few lines of HTML for notebooks, whose style its tables have."""
    answer, picture = answer_of(run.results, run.started, run.state.topics), ""
    if SCORES.is_suitable(run.results):
        figure = SCORES.figure(run.results)
        svg = base64.b64encode(svg_file(figure, "half").encode()).decode()
        words = escape(f"{figure.title} {figure.description}")
        # An image's own style touches nothing else on the page.
        picture = f'<img alt="{words}" src="data:image/svg+xml;base64,{svg}">'
    leaderboard = model_leaderboard(run.state) if run.tunes_several_models else []
    table = scores_table(run.results)
    if leaderboard:
        table = leaderboard_table(leaderboard, run.started.metric)
    return (
        f"<div><p><strong>{escape(answer.ability)}</strong></p>"
        f"<p>{escape(answer.tuning)} {escape(answer.advice)}</p><p>{escape(lead_text(run))}</p>"
        f"{picture}{table}</div>"
    )
