"""How the models of a run stand: a table, the best first, and where the next trial goes."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPointF, QSignalBlocker
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QVBoxLayout, QWidget

from app.look import appearance
from app.text.scores import metric_in_short
from app.text.tuning.models import baseline_in_words, what_is_next, who_leads
from app.views.plot.data_table import Table
from app.views.plot.record import Record
from app.views.plot.view import View
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
from app.widgets.labels import label
from app.widgets.plain_table import PlainTable
from app.widgets.quiet_controls import QuietComboBox
from core.estimators.facts import uncapitalized
from core.estimators.settings import title_of
from core.tuning.events import (
    ModelLooked,
    ModelsCompared,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    TrialFailed,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.runs.competition import tunes_several
from core.tuning.runs.one_model import models_of
from core.tuning.runs.standings import Standing
from core.tuning.runs.state import RunState
from resources.theme import TARGET

PADDING = 28  # of a cell, left and right together
SEEN = 10  # rows that are seen without scrolling
NARROWEST, WIDEST = 110, 420  # pixels of the picture
LEFT_OUT = (GAIN, ABOVE)  # columns that go first where room is short
STATE_ROOM = 150  # pixels of a state in words


class ModelsGrid(PlainTable):
    """The table: a click, or Enter, looks at a model alone; again, at all of them."""

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
        """Another width has room for other columns."""
        super().resizeEvent(event)
        self._view.fit_columns()


class Leaderboard(View):
    """Every model with its best score and interval, against knowing nothing."""

    name = "models"
    title = "Models"
    question = "Which model is best so far? Choose one to see its trials alone."
    waiting = "Every model is listed here as soon as the first look at them begins."
    listens = (
        *(ModelLooked, ModelsCompared, TrialStarted, TrialFinished, TrialFailed),
        *(RunResumed, TuningEnded, RunFinished, RunStopped, RunFailed),
    )
    wide = True
    of_all = True

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.start(self.record.whole.started)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs of several models."""
        return started.kind == "trials" and tunes_several(started)

    @property
    def run(self) -> RunState:
        """The whole run, also while a person looks at one model alone."""
        return self.record.whole

    def make_content(self) -> QWidget:
        """The table, and below it where the next trial goes."""
        self.model = ModelsTableModel()
        self.table = ModelsGrid(self)
        self.table.setAccessibleName("Models")
        self.table.setModel(self.model)
        self.picture_of_scores = ScorePicture(self.table)
        self.table.setItemDelegateForColumn(PICTURE, self.picture_of_scores)
        self.table.clicked.connect(self._chose)
        self.table.activated.connect(self._chose)
        self.next = label("", "caption")
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.table, 1)
        column.addWidget(self.next)
        return whole

    def told_at(self, place: QPointF) -> str:
        """The whole text of the cell there."""
        return self.table.told_at(place)

    def controls(self) -> list[QWidget]:
        """Which model's trials are shown in the other pictures."""
        self.chooser = QuietComboBox()
        self.chooser.setAccessibleName("Trials shown")
        self.chooser.activated.connect(
            lambda at: self.model_requested.emit(self.chooser.itemData(at) or "")
        )
        return [self.chooser]

    def start(self, started: RunStarted) -> None:
        """The models of another run."""
        whole = self.record.whole.started
        if not tunes_several(whole):
            return
        offered = ["", *models_of(whole)]
        if [self.chooser.itemData(at) for at in range(self.chooser.count())] == offered:
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
        """Rows as they stand; the one that is looked at is selected."""
        run, looked_at = self.run, self.record.model
        self.model.show_run(run, looked_at)
        self._say()
        with QSignalBlocker(self.chooser):
            self.chooser.setCurrentIndex(max(0, self.chooser.findData(looked_at)))
        row = self.model.row_of(looked_at)
        if row is None:
            self.table.clearSelection()
        else:
            self.table.selectRow(row)
        self._fit_rows()
        self.fit_columns()

    def _say(self) -> None:
        """What dots and dashes mean, and what is next."""
        run = self.run
        question = f"{self.question} Dot: best {metric_in_short(run.started.metric)}."
        if run.started.judged == "cv":
            question += " Line: one standard error to each side."
        shown = self.model.range
        known = [one for one in self.model.found if one.known is not None]
        if any(one.best is None for one in known):
            question += " Diamond: an estimate from a part of the rows."
        if any(not 0.0 <= shown.place(one.known or 0.0) <= 1.0 for one in known):
            question += " Triangle: worse than knowing nothing."
        if nothing := baseline_in_words(run):
            drawn = self.model.range.baseline is not None
            said = f"Dashes: knowing nothing, {nothing}" if drawn else f"Knowing nothing: {nothing}"
            question += f" {said}."
        if question != self._caption.text():
            self._caption.setText(question)
        said = what_is_next(run) or who_leads(run)
        self.next.setText(said)
        self.next.setVisible(bool(said))

    def paint_theme(self) -> None:
        """Rows and columns as large as the text."""
        self._fit_rows()
        self.fit_columns()

    def _fit_rows(self) -> None:
        tall = appearance.pixels(TARGET)
        self.table.verticalHeader().setDefaultSectionSize(tall)
        seen = min(SEEN, max(1, self.model.rowCount()))
        head = self.table.horizontalHeader().sizeHint().height()
        self.table.setMinimumHeight(head + seen * tall + 4)

    def fit_columns(self) -> None:
        """Each as wide as its words, the picture as wide as what is left."""
        if not hasattr(self, "table") or not self.model.rowCount():
            return
        needed = self._needed()
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
        rest = self.table.viewport().width() - sum(needed.values())
        for column, wide in needed.items():
            self.table.setColumnWidth(column, wide)
        self.table.setColumnWidth(PICTURE, max(NARROWEST // 2, min(WIDEST, rest)))

    def _needed(self) -> dict[int, int]:
        metrics = QFontMetrics(self.table.font())
        bold = self.table.horizontalHeader().fontMetrics()
        needed = {}
        for column, head in enumerate(HEADS):
            if column == PICTURE:
                continue
            texts = [row[column] for row in self.model.cells()]
            widest = max(metrics.horizontalAdvance(text) for text in texts)
            if column == STATE:
                widest = min(widest, appearance.pixels(STATE_ROOM))
            if column == MODEL:
                widest = 1.1 * widest  # the first is bold
            needed[column] = int(max(widest, 1.1 * bold.horizontalAdvance(head) + 6)) + PADDING
        return needed

    def _chose(self, index: QModelIndex) -> None:
        if index.isValid() and index.row() < len(self.model.found):
            model = self.model.found[index.row()].model
            self.model_requested.emit("" if model == self.record.model else model)

    def describe(self) -> str:
        """Who leads, and which is next."""
        run = self.run
        leads = who_leads(run) or "No model has a score yet."
        return " ".join(filter(None, (leads, what_is_next(run))))

    def rows(self) -> Table:
        """Every number of every model, the best first."""
        headers = ["model", "title", "best", "standard error"]
        headers += [
            "estimate of those ended early",
            "first look",
            "over nothing",
            "trials",
            "ended early",
            "seconds",
            "expected gain",
            "seconds of the next trial",
            "state",
        ]
        return headers, [self._row(one) for one in self.model.found]

    def _row(self, one: Standing) -> list[object]:
        started = self.run.started
        over = None
        if one.known is not None and started.baseline is not None:
            over = one.known - started.baseline
            over = over if started.maximize else -over
        score = [one.best, one.error, one.estimate, one.look, over]
        cost = [one.trials, one.early, one.seconds, one.gain, one.takes]
        return [one.model, title_of(one.model), *score, *cost, one.why or one.state]
