"""The leaderboard of models, and the next trial."""

from __future__ import annotations

import math

from PySide6.QtCore import QModelIndex, QPointF, QSignalBlocker
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QVBoxLayout, QWidget

from app.look import appearance
from app.text.score_text import metric_in_short
from app.text.tuning.model_progress_text import baseline_text, what_is_next, who_leads
from app.views.plot.data_table import Table
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from app.views.race.models_table import (
    ABOVE,
    GAIN,
    HEADS,
    MODEL,
    PICTURE,
    STATE,
    ModelsTableModel,
    ScorePicture,
)
from app.widgets.plain_table import PlainTable
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import wrapping_label
from core.estimators.facts import uncapitalized
from core.estimators.model_settings import title_of
from core.tuning import events
from core.tuning.runs.model_leaderboard import LeaderboardRow
from core.tuning.runs.model_run_state import models_of
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import tunes_several
from resources.theme import TARGET

PADDING = 28  # of a cell, left and right together
SEEN = 10  # rows that are seen without scrolling
NARROWEST, WIDEST = 110, 420  # pixels of the picture
LEFT_OUT = (GAIN, ABOVE)  # columns that go first where room is short
STATE_ROOM = 150  # pixels of a state in words


class ModelsGrid(PlainTable):
    """The table; a click or Enter looks at a model."""

    def __init__(self, view: Leaderboard) -> None:
        super().__init__()
        self._view = view
        self.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        rows = self.verticalHeader()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setSectionsClickable(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the columns to the new width."""
        super().resizeEvent(event)
        self._view.fit_columns()


class Leaderboard(View):
    """Every model with its best score and interval."""

    name = "models"
    title = "Models"
    question = "Which model is best so far? Choose one to see its trials alone."
    waiting = "Every model is listed here as soon as their screening begins."
    listens = (
        *(events.ModelScreened, events.ModelsCompared, events.TuningEnded, events.TrialStarted),
        *(events.TrialFinished, events.TrialFailed, events.RunResumed, events.RunFinished),
        *(events.RunStopped, events.RunFailed),
    )
    wide = True
    of_all = True

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.start(self.record.whole_run.started)

    @classmethod
    def wants(cls, started: events.RunStarted) -> bool:
        """Runs of several models."""
        return started.kind == "trials" and tunes_several(started)

    @property
    def run(self) -> RunState:
        """The run of all models."""
        return self.record.whole_run

    def make_content(self) -> QWidget:
        """The table above the next step."""
        self.model = ModelsTableModel()
        self.table = ModelsGrid(self)
        self.table.setAccessibleName("Models")
        self.table.setModel(self.model)
        self.picture_of_scores = ScorePicture(self.table)
        self.table.setItemDelegateForColumn(PICTURE, self.picture_of_scores)
        self.table.clicked.connect(self._on_row_chosen)
        self.table.activated.connect(self._on_row_chosen)
        self.next = wrapping_label("", "caption")
        container = QWidget()
        column = QVBoxLayout(container)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.table, 1)
        column.addWidget(self.next)
        return container

    def tooltip_at(self, position: QPointF) -> str:
        """The full text of a cell."""
        return self.table.tooltip_at(position)

    def controls(self) -> list[QWidget]:
        """The chooser of the model that is looked at."""
        self.chooser = box = QuietComboBox()
        box.setAccessibleName("Trials shown")
        requested = self.model_requested
        box.activated.connect(lambda index: requested.emit(box.itemData(index) or ""))
        return [box]

    def start(self, started: events.RunStarted) -> None:
        """Offer the models of the run."""
        started = self.record.whole_run.started
        if not tunes_several(started):
            return
        offered = ["", *models_of(started)]
        if [self.chooser.itemData(index) for index in range(self.chooser.count())] == offered:
            return
        with QSignalBlocker(self.chooser):
            self.chooser.clear()
            self.chooser.addItem("Trials of all models", "")
            for name in offered[1:]:
                self.chooser.addItem(f"Trials of {uncapitalized(title_of(name))}", name)

    def has_content(self) -> bool:
        """From the start."""
        return tunes_several(self.run.started)

    def draw(self) -> None:
        """Show the leaderboard and the selection."""
        run, looked_at = self.run, self.record.model
        self.model.show_run(run, looked_at)
        self._update_captions()
        with QSignalBlocker(self.chooser):
            self.chooser.setCurrentIndex(max(0, self.chooser.findData(looked_at)))
        row = self.model.row_of(looked_at)
        if row is None:
            self.table.clearSelection()
        else:
            self.table.selectRow(row)
        self._fit_rows()
        self.fit_columns()

    def _update_captions(self) -> None:
        run = self.run
        question = f"{self.question} Dot: best {metric_in_short(run.started.metric)}."
        if run.started.judged == "cv":
            question += " Line: one standard error to each side."
        shown = self.model.range
        scored_rows = [row for row in self.model.leaderboard if row.best_known_score is not None]
        if any(row.best is None for row in scored_rows):
            question += " Diamond: an estimate from a part of the rows."
        positions = [shown.position_of(row.best_known_score or 0.0) for row in scored_rows]
        if any(not 0.0 <= position <= 1.0 for position in positions):
            question += " Triangle: worse than the baseline."
        if baseline := baseline_text(run):
            drawn = self.model.range.baseline is not None
            sentence = f"Dashes: baseline, {baseline}" if drawn else f"Baseline: {baseline}"
            question += f" {sentence}."
        if question != self._caption.text():
            self._caption.setText(question)
        sentence = what_is_next(run) or who_leads(run)
        self.next.setText(sentence)
        self.next.setVisible(bool(sentence))

    def paint_theme(self) -> None:
        """Fit rows and columns to the text size."""
        self._fit_rows()
        self.fit_columns()

    def _fit_rows(self) -> None:
        tall = appearance.pixels(TARGET)
        self.table.verticalHeader().setDefaultSectionSize(tall)
        seen = min(SEEN, max(1, self.model.rowCount()))
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setMinimumHeight(head + seen * tall + 4)

    def fit_columns(self) -> None:
        """Fit columns; the picture takes the remaining width."""
        if not hasattr(self, "table") or not self.model.rowCount():
            return
        needed = self._needed_widths()
        room = self.table.viewport().width() - NARROWEST
        hidden: list[int] = []
        for column in LEFT_OUT:
            over = column == GAIN and self.run.ended is not None
            if sum(needed.values()) <= room and not over:
                continue
            hidden.append(column)
            del needed[column]
        for column in range(len(HEADS)):
            self.table.setColumnHidden(column, column in hidden)
        spare_width = self.table.viewport().width() - sum(needed.values())
        for column, wide in needed.items():
            self.table.setColumnWidth(column, wide)
        self.table.setColumnWidth(PICTURE, max(NARROWEST // 2, min(WIDEST, spare_width)))

    def _needed_widths(self) -> dict[int, int]:
        metrics = QFontMetrics(self.table.font())
        bold = self.table.horizontalHeader().fontMetrics()
        needed = {}
        for column, head in enumerate(HEADS):
            if column == PICTURE:
                continue
            texts = [row[column] for row in self.model.cell_texts()]
            widest = max(metrics.horizontalAdvance(text) for text in texts)
            if column == STATE:
                widest = min(widest, appearance.pixels(STATE_ROOM))
            if column == MODEL:
                widest = math.ceil(1.1 * widest)  # the first is bold
            needed[column] = int(max(widest, 1.1 * bold.horizontalAdvance(head) + 6)) + PADDING
        return needed

    def _on_row_chosen(self, index: QModelIndex) -> None:
        if index.isValid() and index.row() < len(self.model.leaderboard):
            model = self.model.leaderboard[index.row()].model
            self.model_requested.emit("" if model == self.record.model else model)

    def describe(self) -> str:
        """The leader and the next step."""
        run = self.run
        leads = who_leads(run) or "No model has a score yet."
        return " ".join(filter(None, (leads, what_is_next(run))))

    def table_data(self) -> Table:
        """Every number of every model, the best first."""
        headers = ["model", "title", "best", "standard error", "estimate of those ended early"]
        headers += ["screening", "over baseline", "trials", "ended early", "seconds"]
        headers += ["expected improvement", "seconds of the next trial", "state"]
        return headers, [self._table_row(row) for row in self.model.leaderboard]

    def _table_row(self, row: LeaderboardRow) -> list[object]:
        started = self.run.started
        over = None
        if row.best_known_score is not None and started.baseline is not None:
            over = row.best_known_score - started.baseline
            over = over if started.maximize else -over
        score = [row.best, row.error, row.estimate, row.look, over]
        cost = [row.trials, row.early, row.seconds, row.gain, row.takes]
        return [row.model, title_of(row.model), *score, *cost, row.why or row.state]
