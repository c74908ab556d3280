"""A walk over pages and dialogs after four kinds of run: all labels tell a number alike."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLabel, QLineEdit, QTableView, QWidget

from app.dialogs.settings_dialog import SettingsDialog
from app.dialogs.target_dialog import TargetDialog
from app.pages.results_page import TABS
from app.pages.tune_page import SettingDialog
from app.session.session import Session
from app.session.shown_run import ShownRun
from app.views.plot.view import View
from app.window.window import Window
from app.worker.engine import Engine
from app.worker.messages import (
    DescribeModel,
    Estimate,
    Message,
    OpenData,
    PredictRow,
    PredictRows,
    SummarizeHistory,
)
from core.errors import UnusableError
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.score import metric_title, score_text, signed_difference
from core.tuning.tune import tune
from tests.app.conftest import StillWorker

PAGES = ("data", "model", "strategy", "tune", "results", "export", "use", "runs", "history")
PLANS = {
    "several models": Plan(DataPlan("sample:iris"), "auto", "race", trials=5),
    "numbers": Plan(DataPlan("sample:diabetes"), "svm", "gp", trials=5),
    "penalties of groups": Plan(
        DataPlan("sample:groups"), "logistic", "mm", groups="prefix", evaluation="test"
    ),
    "an average": Plan(DataPlan("sample:iris"), "svm", "eb-hyp", trials=20),
}
HEAD = Qt.Orientation.Horizontal
NUMBER = r"([−+]?\d(?:[\d,.]*\d)?(?:\u00a0%)?)"
TIME = r"(\d[\d.]* (?:s|min)(?: \d+ s)?)"
# What is told, and the words around it; each is found in more than one place.
PHRASES = {
    "rows": (
        r"· ([\d,]+) rows ·", r"^([\d,]+) rows ·", r"\d of ([\d,]+) rows\.",
        r"^([\d,]+) rows, [\d,]+ columns", r"fitted on all ([\d,]+) rows",
    ),
    "columns": (r"rows · ([\d,]+) columns", r"rows, ([\d,]+) columns"),
    "models": (r"^Tries (\d+) models", r"the best of (\d+) models$", r" of (\d+) models tried"),
    "seconds": (rf"· took {TIME}", rf"tried in {TIME}", rf"the whole run {TIME}"),
    "trials": (
        r"^(\d+)(?: of \d+| trials) ·", r"after (\d+)(?: of \d+)? trials\.",
        r"^(\d+) trials; trial", r"(\d+) settings were tried", r"^(\d+) trials, up to",
    ),
    "test rows": (
        r"test set of ([\d,]+) rows", r"([\d,]+) rows are the test set", r"of ([\d,]+) test rows",
        r"^([\d,]+) of [\d,]+ rows\.", r"the test set has ([\d,]+) others",
        r"^With ([\d,]+) test rows", r"([\d,]+) rows cannot tell",
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
    """All that stands on the screen: labels, buttons, fields, what pictures say, rows of tables."""
    shown = [widget for widget in window.findChildren(QWidget) if widget.isVisible()]
    texts = []
    for widget in shown:
        if isinstance(widget, (QLabel, QAbstractButton, QLineEdit)):
            texts.append(widget.text())
        elif isinstance(widget, QComboBox):
            texts += [widget.itemText(index) for index in range(widget.count())]
        elif isinstance(widget, View) and widget.has_content() and page.isAncestorOf(widget):
            texts.append(widget.describe())
        elif isinstance(widget, QTableView) and (model := widget.model()) is not None:
            columns = range(model.columnCount())
            cells = [
                [model.index(row, c).data() for c in columns] for row in range(model.rowCount())
            ]
            texts += [" | ".join(map(str, row)) for row in cells]
    return [line for text in texts for line in text.split("\n")]


class AnsweringWorker(StillWorker):
    """Answers at once what is asked of data and models, without a process."""

    KINDS = (OpenData, Estimate, SummarizeHistory, DescribeModel, PredictRow, PredictRows)

    def __init__(self):
        super().__init__()
        self._engine = Engine()

    def ask(self, request):
        super().ask(request)
        if isinstance(request.payload, self.KINDS):
            with contextlib.suppress(UnusableError):  # of a history that cannot help
                answers = [Message(request.id, a) for a in self._engine.answers(request.payload)]
                QTimer.singleShot(0, self, lambda: self.arrived.emit(answers))


@pytest.fixture
def session(look, tmp_path):
    opened = Session(runs_root=tmp_path / "runs", worker=AnsweringWorker())
    yield opened
    opened.shutdown()


def predict_typical_row(qtbot, page, path):
    """Predict the form's row from a file as well."""
    qtbot.waitUntil(lambda: page.row_form.answer.prediction_label.isVisible())
    values = page.row_form.values
    path.write_text(f"{','.join(values)}\n{','.join(map(repr, values.values()))}\n")
    page.predict_file(str(path))
    qtbot.waitUntil(lambda: page.file_card.has_table)


def predictions_of(page):
    """The prediction of the form and that of the table, without its probability."""
    model = page.table.model()
    column = next(
        c for c in range(model.columnCount()) if model.headerData(c, HEAD) == "prediction"
    )
    of_form = page.row_form.answer.prediction_label.text().split(" (")[0]
    return [f"prediction {of_form}", f"prediction {model.index(0, column).data()}"]


@pytest.fixture
def walked(session, qtbot, tmp_path):
    """The lines of all pages and dialogs after a run, and its results."""

    def walk(plan):
        folder = RunFolder.create(plan, root=tmp_path / "runs")
        data = read_data(plan.data)
        for _ in tune(plan, data, folder=folder):
            pass
        folder.close()
        window = Window(session)
        qtbot.addWidget(window)
        window.resize(1280, 800)
        window.show()
        run = ShownRun(folder.all_events(), folder.path)
        with qtbot.waitSignal(session.estimate_changed, timeout=20_000):
            session._take_past((run, plan))
        session.runs.reload()
        lines = []
        for key in PAGES:
            window.show_page(key)
            page = window.pages[key]
            if key == "use":
                predict_typical_row(qtbot, page, tmp_path / "rows.csv")
            for title in TABS if key == "results" else ("",):
                if title:
                    page.show_tab(title)
                qtbot.wait(100)
                lines += told(window, page)
            if key == "use":
                lines += predictions_of(page)
        started = run.state.started
        dialogs = (
            SettingDialog(started.space, session.results.setting or {}, window),
            TargetDialog([column.name for column in session.summary.columns], window),
            SettingsDialog(window),
        )
        for dialog in dialogs:
            dialog.show()
            lines += told(dialog, dialog)
            dialog.close()
        return list(dict.fromkeys(lines)), session.results

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
    predictions = [line for line in lines if line.startswith("prediction ")]
    assert len(set(predictions)) == 1, predictions
    assert {
        "rows",
        "columns",
        "seconds",
        "test rows",
        "test score of the default setting",
    } <= found.keys()
    gain = signed_difference(results.gain.difference, metric)
    assert any(f"({gain})" in line for line in lines)  # in the list of past runs
