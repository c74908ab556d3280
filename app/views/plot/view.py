"""The View: a live picture of a run, its description, table and files."""

from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFileDialog, QMenu, QStackedWidget, QWidget

from app.look import appearance
from app.text.narration import ended_early
from app.text.plan_text import setting_lines
from app.views.plot.axes import ScaleAxis
from app.views.plot.canvas import Canvas, HoverText, nearest_mark
from app.views.plot.data_table import DataTable, as_text, picture_image, save_picture
from app.views.plot.figure_painter import FigurePainter
from app.views.plot.plot import Plot
from app.views.plot.view_state import Highlight, ViewState
from app.widgets.buttons import IconButton
from app.widgets.cards import Card
from app.widgets.layouts import in_row
from app.widgets.term_help import AXES
from app.widgets.text_labels import wrapping_label
from app.worker.evaluator_process import EvaluationReply
from core.errors import write_error
from core.figures.figure import Figure, Table
from core.tuning.events import Event, RunStarted
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import Trial
from core.wording import count_text, format_value
from core.writing import write_whole

_TITLE_WIDTH = 170  # pixels, with less of which choosers stand below the title
_OLD_METHODS = {
    "table_data": "rows",
    "hover_text": "reading",
    "tooltip_at": "told_at",
    "waiting_reason": "waits_for",
}


class View(Card):
    """One picture of a run.

    A subclass sets the attributes and writes `wants`, `has_content` and `figure`, or instead of the
    last `draw`, `describe` and `table_data`. The views of a Board share one ViewState; a view alone
    feeds its own.
    """

    name: ClassVar[str] = ""  # in the registry
    title: ClassVar[str] = ""
    question: str = ""  # that it answers; depends on the run in some
    waiting: ClassVar[str] = ""  # what will appear here and when
    listens: ClassVar[tuple[type[Event], ...]] = ()  # events after which it is drawn
    wide: bool = False  # takes the full width of the board
    of_all: ClassVar[bool] = False  # shows all models, also while one is looked at
    zooms: ClassVar[bool] = False
    crops: ClassVar[bool] = False  # leaves out what is far from the best, until all is asked for
    has_legend: ClassVar[bool] = False  # above a figure
    names_share: ClassVar[float | None] = None  # of the width, for the names of a figure's rows
    is_table: ClassVar[bool] = False  # needs no table beside it
    late: ClassVar[bool] = False  # may be empty for long, and takes no room until then
    interval: ClassVar[float] = 0.03  # minimum seconds between two drawings

    trial_selected = Signal(int)
    exclude_requested = Signal(int, bool)
    pick_requested = Signal(int)  # the trial that is to be taken away
    best_k_requested = Signal(object)  # how many, or None for all
    example_requested = Signal(int)  # which sequence or molecule
    model_requested = Signal(str)  # which of several models to look at; "" for all
    evaluation_wanted = Signal(object)
    problem = Signal(str)

    def __init_subclass__(cls) -> None:
        # An extension may write a method by its former name.
        super().__init_subclass__()
        for name, old_name in _OLD_METHODS.items():
            if old_name in vars(cls) and name not in vars(cls):
                setattr(cls, name, vars(cls)[old_name])

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(self.title, self.question, parent)
        self.column.setContentsMargins(14, 8, 12, 8)
        self.column.setSpacing(2)
        # The caption stands below the choosers, over the whole width, not beside them as in other
        # cards.
        self.column.insertWidget(1, self._caption)
        self._chooser_row = in_row(1, gap=4)  # choosers, and the rest of the width
        self.column.insertLayout(1, self._chooser_row)
        self._owns_record = record is None
        self.record = record or ViewState()
        self.dirty = True
        self._figure: Figure | None = None  # while it is drawn
        self._moment_text = ""  # the end of the caption
        self.highlight = Highlight()  # of the selected trial, where trials are dots or bars
        self.content = self.make_content()
        self.content.setAccessibleName(self.title)
        self._empty = wrapping_label(self.waiting, "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        for page in (self._empty, self.content):
            self._stack.addWidget(page)
        self.body.addWidget(self._stack, 1)
        self._choosers = self.controls()
        for chooser in self._choosers:
            self.corner.addWidget(chooser)
        self._add_buttons()
        self.make_plots()
        self.paint_theme()
        appearance.notifier.themed.connect(self._on_theme_changed)

    @property
    def run(self) -> RunState:
        return self.record.run

    @property
    def is_seen(self) -> bool:
        return not self.visibleRegion().isEmpty()

    @cached_property
    def _data_table(self) -> DataTable:
        # Made when a person wants it: tables beside all plots are a third of the program's widgets.
        table = DataTable(f"{self.title} as a table")
        self._stack.addWidget(table)
        return table

    # -- what a subclass writes ----------------------------------------------------------------

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Whether it has something to show of such a run: by default, of trials."""
        return started.kind == "trials"

    def make_content(self) -> QWidget:
        self.canvas = Canvas()
        self.canvas.picked.connect(self.trial_selected)
        self.canvas.stepped.connect(self._step_trial)
        self.canvas.trial_text, self.canvas.hover_text = self._trial_text, self.hover_text
        self.canvas.resized.connect(self._on_resized)
        if self.zooms or self.crops:
            self.canvas.let_zoom(enlarges=self.zooms)
        # Views without a figure add plots of their own.
        if type(self).figure is not View.figure:
            self.painter = FigurePainter(
                self.canvas, has_legend=self.has_legend, names_share=self.names_share
            )
            self.plot, self.marks = self.painter.plot, self.painter.marks
        return self.canvas

    def make_plots(self) -> None:
        """Add plots and marks of its own, below the controls that are there by now."""

    def controls(self) -> list[QWidget]:
        """Choosers for the corner."""
        return []

    def has_content(self) -> bool:
        raise NotImplementedError

    def waiting_reason(self) -> str:
        """What will appear here and when, or why nothing will."""
        return self.waiting

    def figure(self) -> Figure:
        """What is drawn, as data; a view without one writes the next three."""
        raise NotImplementedError

    def shown_figure(self) -> Figure:
        """Made once for a drawing."""
        return self._figure or self.figure()

    def draw(self) -> None:
        self.painter.paint(self.shown_figure())

    def describe(self) -> str:
        """The picture in a sentence, for screen readers."""
        return self.shown_figure().description

    def table_data(self) -> Table:
        """The picture as headers and rows of plain values."""
        return self.shown_figure().table()

    def hover_text(self, plot: Plot, x: float, y: float) -> HoverText | None:
        return nearest_mark(plot, x, y)

    def tooltip_at(self, position: QPointF) -> str:
        return self.canvas.tooltip_at(position)

    def is_needed(self) -> bool:
        """Whether it has enough to show to take room."""
        return not self.late or self.has_content()

    def paint_theme(self) -> None:
        """Apply `appearance.current()` where `draw` does not."""

    def take_evaluation(self, reply: EvaluationReply) -> None:
        """Receive the reply to this view's request."""

    def start(self, started: RunStarted) -> None:
        """Reset for a new run, which the record already shows."""

    def name_model(self, title: str) -> None:
        """Name the model that is looked at; "" for none."""
        self.set_words(self.title, f"{title}. {self.question}" if title else self.question)
        self.setAccessibleName(f"{self.title}: {title}" if title else self.title)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        widths = [chooser.sizeHint().width() for chooser in self._choosers]
        buttons = 3 * (self.save_button.sizeHint().width() + self.corner.spacing())
        is_narrow = event.size().width() - buttons - sum(widths) < appearance.pixels(_TITLE_WIDTH)
        row = self._chooser_row if is_narrow else self.corner
        for index, chooser in enumerate(self._choosers):
            if row.indexOf(chooser) < 0:
                row.insertWidget(index, chooser)

    # -- what the board calls ------------------------------------------------------------------

    def consume(self, event: Event) -> None:
        """Nothing is drawn before `redraw`."""
        if self._owns_record:
            self.record.consume(event)
        if isinstance(event, RunStarted):
            if hasattr(self, "canvas"):
                self.canvas.forget_ranges()
            self.start(event)
            self.dirty = True
        elif isinstance(event, self.listens):
            self.dirty = True

    def redraw(self) -> None:
        self.dirty = False
        has_content = self.has_content()
        if has_content:
            self._figure = self.figure() if type(self).figure is not View.figure else None
            self.draw()
            titles = [axis.title for axis in self._plot_axes()]
            self._update_whole_button()
            # The help explains the terms of the axes.
            if titles:
                self.canvas.setProperty(AXES, " ".join(filter(None, titles)))
        self._tell_moment()
        filled: QWidget = self.content
        if has_content and self._table_button.isChecked():
            filled = self._data_table
            self._data_table.set_table(self.table_data())
        page = filled if has_content else self._empty
        if self._stack.currentWidget() is not page:
            self._stack.setCurrentWidget(page)
        description = self.describe() if has_content else self.waiting_reason()
        if has_content:
            description = " ".join([description, *self._directions()]).strip()
        else:
            self._empty.setText(description)
        # Screen readers are told of every description that is set, also of the same one.
        whole = f"{self.question} {description}"
        for widget, words in ((self.content, description), (filled, description), (self, whole)):
            if words != widget.accessibleDescription():
                widget.setAccessibleDescription(words)
        # What is asked for between two drawings may be of newer data.
        self._figure = None

    def _plot_axes(self) -> list[ScaleAxis]:
        plots = self.canvas.plots if hasattr(self, "canvas") else []
        return [axis for plot in plots for axis in (plot.bottom, plot.left)]

    def _directions(self) -> list[str]:
        return list(dict.fromkeys(filter(None, (axis.direction for axis in self._plot_axes()))))

    def picture(self) -> QWidget:
        """The widget that is saved as the picture."""
        return getattr(self, "canvas", self.content)

    # -- table, copy, save ---------------------------------------------------------------------

    def copy_picture(self) -> None:
        image = picture_image(self.picture(), self.title, self.question)
        QGuiApplication.clipboard().setImage(image)

    def copy_table(self) -> None:
        QGuiApplication.clipboard().setText(as_text(self.table_data(), "\t"))

    def save_file(self, path: str) -> None:
        """Write a picture or the table; emits `problem` on failure."""
        is_table = path.lower().endswith(".csv")
        try:
            if is_table:
                write_whole(Path(path), as_text(self.table_data(), ","))
            else:
                save_picture(self.picture(), Path(path), self.title, self.question)
        except OSError as error:
            kind = "the table" if is_table else "the picture"
            self.problem.emit(write_error(kind, path, error).sentence)

    def _add_buttons(self) -> None:
        self._table_button = IconButton("table", f"Show “{self.title}” as a table")
        self._table_button.setCheckable(True)
        self._table_button.toggled.connect(lambda _shown: self.redraw())
        if self.is_table:
            self._table_button.hide()
        self.save_button = IconButton("download", f"Save or copy “{self.title}”")
        self.save_button.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.save_button)
        menu.addAction("Copy the picture\tCtrl+C", self.copy_picture)
        menu.addAction("Save the picture as PNG…", lambda: self._ask_save_path("png"))
        menu.addAction("Save the picture as SVG…", lambda: self._ask_save_path("svg"))
        menu.addSeparator()
        menu.addAction("Save the table as CSV…", lambda: self._ask_save_path("csv"))
        menu.addAction("Copy the table", self.copy_table)
        self.save_button.setMenu(menu)
        drawn = getattr(self, "canvas", getattr(self, "page", self.content))
        drawn.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        drawn.customContextMenuRequested.connect(
            lambda position: menu.popup(drawn.mapToGlobal(position))
        )
        # A table within the view copies its own cells.
        keys, context = QKeySequence.StandardKey.Copy, Qt.ShortcutContext.WidgetShortcut
        QShortcut(keys, drawn, context=context).activated.connect(self.copy_picture)
        buttons = [self._table_button, self.save_button]
        if self.zooms or self.crops:
            buttons.insert(0, self._make_whole_button())
        for button in buttons:
            self.corner.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)

    def _make_whole_button(self) -> IconButton:
        button = IconButton("whole", f"Whole range of “{self.title}”")
        button.setCheckable(True)
        button.clicked.connect(self.toggle_whole)
        policy = button.sizePolicy()
        # It keeps its room while it is hidden: nothing jumps when it comes.
        policy.setRetainSizeWhenHidden(True)
        button.setSizePolicy(policy)
        button.hide()
        self.canvas.zoomed.connect(self._on_zoomed)
        self.whole_button = button
        return button

    def toggle_whole(self) -> None:
        if self.canvas.zoom is not None:
            self.canvas.zoom.toggle_whole()
            self._update_whole_button()

    def _on_zoomed(self) -> None:
        self._update_whole_button()
        self.dirty = True

    def _update_whole_button(self) -> None:
        if not hasattr(self, "whole_button") or self.canvas.zoom is None:
            return
        zoom = self.canvas.zoom
        if not zoom.has_more and self.whole_button.hasFocus():
            self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        self.whole_button.setVisible(zoom.has_more)
        self.whole_button.setChecked(zoom.is_whole)

    def _ask_save_path(self, ending: str) -> None:
        wanted = f"{self.name}.{ending}"
        path, _ = QFileDialog.getSaveFileName(self, f"Save “{self.title}”", wanted, f"*.{ending}")
        if path:
            self.save_file(path if path.lower().endswith(f".{ending}") else f"{path}.{ending}")

    def _on_resized(self) -> None:
        # Another size has room for other labels.
        self.dirty = True

    def _on_theme_changed(self, _theme: object) -> None:
        if hasattr(self, "canvas"):
            self.canvas.paint_theme()
        self.paint_theme()
        self.dirty = True

    # -- trials in plots -----------------------------------------------------------------------

    def mark_trials(self, x: np.ndarray, y: np.ndarray) -> None:
        """Let trials at x and y be chosen; ring the selected one."""
        self.ring_trials(x, y)
        self.canvas.set_pickable(self.plot, x, y, self.run.numbers)

    def ring_trials(self, x: np.ndarray, y: np.ndarray) -> None:
        if self.highlight.scene() is None:
            self.plot.add_marks(self.highlight)
        self.highlight.ring_selected(self.record, x, y)

    def set_question(self, words: str) -> None:
        """Ask more in the caption, unless it names a model."""
        if self.record.exploring.any():
            words = f"{words} Squares explore: little was known there."
        if self.of_all or not self.record.model:
            self._caption.setText(words + self._moment_text)

    # -- the moment that it shows ----------------------------------------------------------------

    @property
    def shown_moment(self) -> int:
        """How many trials or steps had ended when its content was known."""
        return self.moment_of(None)

    def moment_of(self, event: Event | None) -> int:
        """None for that of the run."""
        run = self.record.whole_run
        done_count = run.done_count if event is None else run.done_at(event)
        # The first step of a learner is its start, which counts as number 0.
        return done_count - run.learns_penalties

    def _tell_moment(self) -> None:
        run, before, moment = self.record.whole_run, self._moment_text, self.shown_moment
        # At the end all is still: only what the last trial has no part in is told.
        is_told = self.has_content() and not (run.ended and moment == self.moment_of(None))
        unit = "step" if run.learns_penalties else "trial"
        self._moment_text = f" After {count_text(moment, unit)}." if is_told else ""
        self._caption.setText(self._caption.text().removesuffix(before) + self._moment_text)

    def _trial_text(self, number: int) -> str:
        trial = self.run.find_trial(number)
        return "" if trial is None else trial_text(trial, self.run)

    def _step_trial(self, step: int) -> None:
        numbers = sorted(self.run.row_of)
        if not numbers:
            return
        chosen = self.record.selected
        if chosen is not None and chosen in self.run.row_of:
            index = numbers.index(chosen) + step
        else:
            index = 0 if step > 0 else -1
        self.trial_selected.emit(numbers[max(0, min(len(numbers) - 1, index))])


def trial_text(trial: Trial, run: RunState) -> str:
    """Number, result and setting, one a line."""
    result = trial.failure or f"score {format_value(trial.score, 4)}"
    lines = [f"Trial {trial.number}: {result}"]
    if trial.reason == "explore":
        lines.append("Tried because little was known there")
    if trial.behind:
        lines.append(ended_early(trial, run.started))
    return "\n".join([*lines, *setting_lines(run.started, trial.setting)])
