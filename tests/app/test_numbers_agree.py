"""A walk over the pages of four kinds of run: what one number tells, every label tells alike."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest
from PySide6.QtWidgets import QLabel

from app.pages.results_page import TABS
from app.views.plot.data_table import DataTable
from app.views.plot.view import View
from app.window.window import Window
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.score import metric_title, score_text, signed_difference
from core.tuning.tune import tune

PLANS = {
    "several models": Plan(DataPlan("sample:iris"), "auto", "race", trials=5),
    "numbers": Plan(DataPlan("sample:diabetes"), "svm", "gp", trials=5),
    "penalties of groups": Plan(
        DataPlan("sample:groups"), "logistic", "mm", groups="prefix", evaluation="test"
    ),
    "an average": Plan(DataPlan("sample:iris"), "svm", "eb-hyp", trials=20),
}
NUMBER = r"([−+]?\d(?:[\d,.]*\d)?(?:\u00a0%)?)"
TIME = r"(\d[\d.]* (?:s|min)(?: \d+ s)?)"
# What is told, and the words around it; each is found in more than one place.
PHRASES = {
    "seconds": (rf"· took {TIME}", rf"tried in {TIME}", rf"the whole run {TIME}"),
    "trials": (
        r"^(\d+)(?: of \d+| trials) ·", r"after (\d+)(?: of \d+)? trials\.",
        r"^(\d+) trials; trial", r"(\d+) settings were tried", r"^(\d+) trials, up to",
    ),
    "test rows": (
        r"test set of ([\d,]+) rows", r"([\d,]+) rows are the test set", r"of ([\d,]+) test rows",
        r"^[+−].*; ([\d,]+) rows cannot tell", r"With ([\d,]+) rows chance alone",
    ),
    "best in validation": (
        rf"best (?:accuracy|log loss|R²) {NUMBER}", rf"is the best with {NUMBER}",
        rf"^Best {NUMBER} after", rf"very best has {NUMBER}",
    ),
    "test score": (
        rf"^(?:tuned|average of \d+) {NUMBER} \(", rf"(?:; |^)\* [^;]*? {NUMBER} \(",
        rf"^{NUMBER} \([^)]*\), baseline", rf"^MEASURE \| {NUMBER} \|",
    ),
    "test score of the default setting": (
        rf"default setting {NUMBER} \(", rf"^MEASURE \| [^|]* \| {NUMBER} \|",
    ),
    "baseline in the test": (
        rf"without a model {NUMBER}", rf"\), baseline {NUMBER}", rf"^MEASURE \|.*\| {NUMBER}$",
    ),
}  # fmt: skip


def told(window, page):
    """All that stands on the screen: labels, what pictures say, rows of tables."""
    texts = [label.text() for label in window.findChildren(QLabel) if label.isVisible()]
    for view in page.findChildren(View):
        if view.isVisible() and view.has_content():
            texts.append(view.describe())
    for table in page.findChildren(DataTable):
        model = table.model()
        if table.isVisible() and model is not None:
            cells = (model.index(r, c) for r in range(model.rowCount()) for c in range(1))
            rows = ((cell.row(), range(model.columnCount())) for cell in cells)
            texts += [
                " | ".join(str(model.index(row, column).data()) for column in columns)
                for row, columns in rows
            ]
    return [line for text in texts for line in text.split("\n")]


@pytest.fixture
def walked(still, qtbot, tmp_path):
    """The lines of all pages after a run, and its results."""

    def walk(plan):
        folder = RunFolder.create(plan, root=tmp_path / "runs")
        for _ in tune(plan, read_data(plan.data), folder=folder):
            pass
        folder.close()
        events = folder.all_events()
        window = Window(still)
        qtbot.addWidget(window)
        window.resize(1280, 800)
        window.show()
        still._show_run(events, folder.path)
        still.runs.reload()
        lines = []
        for key in ("tune", "results", "export", "runs"):
            window.show_page(key)
            page = window.pages[key]
            for title in TABS if key == "results" else ("",):
                if title:
                    page.show_tab(title)
                qtbot.wait(150)
                lines += told(window, page)
        return list(dict.fromkeys(lines)), still.results

    return walk


@pytest.mark.parametrize("kind", PLANS)
def test_what_is_told_twice_is_told_alike(walked, kind):
    lines, results = walked(PLANS[kind])
    metric = results.metric
    found = defaultdict(set)
    for line in lines:
        for fact, patterns in PHRASES.items():
            for pattern in patterns:
                words = re.escape(metric_title(metric))
                for number in re.findall(pattern.replace("MEASURE", words), line):
                    found[fact].add(number)
    disagreements = {fact: numbers for fact, numbers in found.items() if len(numbers) > 1}
    assert disagreements == {}
    assert found["test score"] == {score_text(results.test[metric], metric)}
    assert found["baseline in the test"] == {score_text(results.baseline_scores[metric], metric)}
    assert {"seconds", "test rows", "test score of the default setting"} <= found.keys()
    gain = signed_difference(results.gain.difference, metric)
    assert any(f"({gain})" in line for line in lines)  # in the list of past runs
