"""A run in a few lines of HTML for notebooks: the answer, its picture, the models or scores."""

import base64
from html import escape

from core.export.finished_run import FinishedRun
from core.export.report.html import svg_file
from core.export.report.models_section import leaderboard_table
from core.export.report.report_page import lead_text
from core.export.report.results_section import scores_table
from core.figures.score_figures import SCORES
from core.tuning.results.answer import answer_of
from core.tuning.runs.model_runs import model_leaderboard


def run_card(run: FinishedRun) -> str:
    """As the report has them, but for its style: a table looks like those of the notebook."""
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
