"""The View: one live picture of a run, with its question, its words, its table and its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu, QStackedWidget, QWidget

from app.look import appearance
from app.text.numbers import shown
from app.text.settings import in_lines
from app.text.tuning.trials import ended_early
from app.views.plot.axes import ScaleAxis
from app.views.plot.canvas import Canvas
from app.views.plot.data_table import DataTable, Table, as_text
from app.views.plot.plot import Plot
from app.views.plot.pointer import Reading, nearest
from app.views.plot.record import Record
from app.views.plot.saving import save_picture, save_table
from app.widgets.buttons import IconButton
from app.widgets.card import Card
from app.widgets.labels import label
from app.widgets.terms import AXES
from core.errors import UnusableError
from core.tuning.events import Event, RunStarted
from core.tuning.runs.competition import Trial
from core.tuning.runs.state import RunState


class View(Card):
    """One picture of a run.

    A subclass names itself, says when it is wanted and which events it `listens` to, and writes
    `draw`, `has_content`, `describe` and `rows`. Several views share one Record, which their Board
    feeds; a view alone feeds its own.

    Attributes:
        name: in the registry. title, question: its heading and the question that it answers.
        waiting: what will appear here and when, shown while there is nothing.
        wide: whether it takes the whole width of the board.
        of_all: whether it is of all models of a run of several, whichever a person looks at.
        zooms: whether a part of its plots can be enlarged.
        late: whether it may have nothing to show for long; until then others have its room.
        interval: the least seconds between two drawings.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    question: ClassVar[str] = ""
    waiting: ClassVar[str] = ""
    listens: ClassVar[tuple[type[Event], ...]] = ()
    wide: ClassVar[bool] = False
    of_all: ClassVar[bool] = False
    zooms: ClassVar[bool] = False
    late: ClassVar[bool] = False
    interval: ClassVar[float] = 0.03

    trial_selected = Signal(int)
    exclude_requested = Signal(int, bool)
    pick_requested = Signal(int)  # the trial that is to be taken away
    best_k_requested = Signal(object)  # how many, or None for all
    example_requested = Signal(int)  # which sequence or molecule
    model_requested = Signal(str)  # which of several models to look at; "" for all
    evaluation_wanted = Signal(object)
    problem = Signal(str)

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(self.title, self.question, parent)
        whole = self.layout()
        whole.setContentsMargins(14, 8, 12, 8)
        whole.setSpacing(2)
        whole.insertWidget(1, self._caption)  # below the choosers, over the whole width
        self._own = record is None
        self.record = record or Record()
        self.dirty = True
        self.content = self.make_content()
        self.content.setAccessibleName(self.title)
        self._data_table = DataTable(f"{self.title} as a table")
        self._empty = label(self.waiting, "muted")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        for page in (self.content, self._data_table, self._empty):
            self._stack.addWidget(page)
        self._stack.setCurrentWidget(self._empty)
        self.body.addWidget(self._stack, 1)
        for control in self.controls():
            self.corner.addWidget(control)
        self._add_buttons()
        appearance.notifier.themed.connect(self._themed)

    @property
    def run(self) -> RunState:
        """The state of the run that is shown."""
        return self.record.run

    @property
    def is_seen(self) -> bool:
        """Whether any part of it is on the screen."""
        return not self.visibleRegion().isEmpty()

    # -- what a subclass writes ----------------------------------------------------------------

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Whether it has something to show of such a run."""
        raise NotImplementedError

    def make_content(self) -> QWidget:
        """The widget that it draws in; a canvas unless the subclass says otherwise."""
        self.canvas = Canvas()
        self.canvas.picked.connect(self.trial_selected)
        self.canvas.stepped.connect(self._step)
        self.canvas.tell_with(self._tell)
        self.canvas.read_with(self.reading)
        self.canvas.resized.connect(self._resized)
        if self.zooms:
            self.canvas.let_zoom()
        return self.canvas

    def controls(self) -> list[QWidget]:
        """Choosers for the corner."""
        return []

    def has_content(self) -> bool:
        """Whether there is anything to draw."""
        raise NotImplementedError

    def waits_for(self) -> str:
        """What will appear here and when, or why nothing will."""
        return self.waiting

    def draw(self) -> None:
        """Draw the record as it is now."""
        raise NotImplementedError

    def describe(self) -> str:
        """What the picture shows now, in a sentence for those who do not see it."""
        raise NotImplementedError

    def rows(self) -> Table:
        """What the picture shows now, as headers and rows of plain values."""
        raise NotImplementedError

    def reading(self, plot: Plot, x: float, y: float) -> Reading | None:
        """What the pointer is told at a place of a plot, beside trials; None for nothing."""
        return nearest(plot, x, y)

    def told_at(self, place: QPointF) -> str:
        """What the pointer is told at a place of the content, in pixels; "" for nothing."""
        return self.canvas.told_at(place)

    def is_needed(self) -> bool:
        """Whether it has, or will soon have, enough to show to take room from the others."""
        return not self.late or self.has_content()

    def paint_theme(self) -> None:
        """Take the colours of `appearance.current()`; what is drawn anew anyway needs nothing."""

    def take_evaluation(self, reply: dict[str, Any]) -> None:
        """The answer to a request to evaluate of this view."""

    def start(self, started: RunStarted) -> None:
        """A run begins: forget the last one. The record has been started already."""

    def name_model(self, title: str) -> None:
        """Say under the heading which of several models is looked at; "" for none."""
        self.set_words(self.title, f"{title}. {self.question}" if title else self.question)
        self.setAccessibleName(f"{self.title}: {title}" if title else self.title)

    # -- what the board calls ------------------------------------------------------------------

    def consume(self, event: Event) -> None:
        """Take an event in; nothing is drawn before `redraw`."""
        if self._own:
            self.record.consume(event)
        if isinstance(event, RunStarted):
            if hasattr(self, "canvas"):
                for plot in self.canvas.plots:
                    plot.forget_ranges()
                if self.canvas.zoom is not None:
                    self.canvas.zoom.whole()
            self.start(event)
            self.dirty = True
        elif isinstance(event, self.listens):
            self.dirty = True

    def redraw(self) -> None:
        """Draw what changed since the last time."""
        self.dirty = False
        there = self.has_content()
        if there:
            self.draw()
            self._name_axes()
        page = self._empty if not there else self._data_table if self.shows_table else self.content
        if self._stack.currentWidget() is not page:
            self._stack.setCurrentWidget(page)
        if page is self._data_table:
            self._data_table.set_table(self.rows())
        said = self.describe() if there else self.waits_for()
        if not there and said != self._empty.text():
            self._empty.setText(said)
        if there:
            said = " ".join([said, *self._directions()]).strip()
        if said != self.content.accessibleDescription():
            self.content.setAccessibleDescription(said)
            self._data_table.setAccessibleDescription(said)
            self.setAccessibleDescription(f"{self.question} {said}")

    def _name_axes(self) -> None:
        """Let the glossary know what stands on the axes."""
        if hasattr(self, "canvas"):
            said = [axis.title for axis in self._axes()]
            self.canvas.setProperty(AXES, " ".join(filter(None, said)))

    def _axes(self) -> list[ScaleAxis]:
        plots = self.canvas.plots if hasattr(self, "canvas") else []
        return [axis for plot in plots for axis in (plot.bottom, plot.left)]

    def _directions(self) -> list[str]:
        """Which way is better on every axis of scores, each once."""
        return list(dict.fromkeys(filter(None, (axis.direction for axis in self._axes()))))

    def picture(self) -> QWidget:
        """The widget that is saved as the picture."""
        return getattr(self, "canvas", self.content)

    # -- table, copy, save ---------------------------------------------------------------------

    @property
    def shows_table(self) -> bool:
        """Whether the table stands in place of the picture."""
        return self._table_button.isChecked()

    def show_table(self, shown: bool) -> None:
        """Put the table in place of the picture, or the picture back."""
        self._table_button.setChecked(shown)

    def copy_table(self) -> None:
        """The whole table to the clipboard, tabs between the cells."""
        QGuiApplication.clipboard().setText(as_text(self.rows(), "\t"))

    def save(self, path: str) -> None:
        """Write a picture (.png, .svg) or the table (.csv); `problem` says why it failed."""
        try:
            if path.lower().endswith(".csv"):
                save_table(self.rows(), Path(path))
            else:
                title, question = self.title, self.question
                save_picture(self.picture(), Path(path), title, question)
        except UnusableError as error:
            self.problem.emit(error.sentence)

    def _add_buttons(self) -> None:
        title = self.title
        self._table_button = IconButton("table", f"Show “{title}” as a table")
        self._table_button.setCheckable(True)
        self._table_button.toggled.connect(self._toggled)
        self.save_button = IconButton("download", f"Save or copy “{title}”")
        self.save_button.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.save_button)
        menu.addAction("Save the picture as PNG…", lambda: self._ask("png"))
        menu.addAction("Save the picture as SVG…", lambda: self._ask("svg"))
        menu.addSeparator()
        menu.addAction("Save the table as CSV…", lambda: self._ask("csv"))
        menu.addAction("Copy the table", self.copy_table)
        self.save_button.setMenu(menu)
        buttons = [self._table_button, self.save_button]
        if self.zooms:
            buttons.insert(0, self._make_whole_button())
        for button in buttons:
            self.corner.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)

    def _make_whole_button(self) -> IconButton:
        title = self.title
        button = IconButton("whole", f"Whole range of “{title}”")
        button.clicked.connect(lambda _checked=False: self.canvas.zoom.whole())
        policy = button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)  # nothing jumps when it comes
        button.setSizePolicy(policy)
        button.hide()
        self.canvas.zoomed.connect(self._zoomed)
        self.whole_button = button
        return button

    def _zoomed(self, part: bool) -> None:
        if not part and self.whole_button.hasFocus():
            self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
        self.whole_button.setVisible(part)
        self.dirty = True

    def _ask(self, ending: str) -> None:
        wanted = f"{self.name}.{ending}"
        path, _ = QFileDialog.getSaveFileName(self, f"Save “{self.title}”", wanted, f"*.{ending}")
        if path:
            self.save(path if path.lower().endswith(f".{ending}") else f"{path}.{ending}")

    def _toggled(self, _shown: bool) -> None:
        self.redraw()

    def _resized(self) -> None:
        self.dirty = True  # another size has room for other labels

    def _themed(self, _theme: object) -> None:
        if hasattr(self, "canvas"):
            self.canvas.paint_theme()
        self.paint_theme()
        self.dirty = True

    # -- trials in plots -----------------------------------------------------------------------

    def _tell(self, number: int) -> str:
        trial = self.run.trial(number)
        return "" if trial is None else trial_in_words(trial, self.run)

    def _step(self, by: int) -> None:
        numbers = sorted(self.run.row_of)
        if not numbers:
            return
        chosen = self.record.selected
        at = numbers.index(chosen) + by if chosen in self.run.row_of else (0 if by > 0 else -1)
        self.trial_selected.emit(numbers[max(0, min(len(numbers) - 1, at))])


def trial_in_words(trial: Trial, run: RunState) -> str:
    """A trial's number, result and setting, one a line."""
    result = trial.failure or f"score {shown(trial.score, 4)}"
    lines = [f"Trial {trial.number}: {result}"]
    if trial.behind:
        lines.append(ended_early(trial, run.started))
    return "\n".join([*lines, *in_lines(run.started, trial.setting)])
