"""The board: the views of a run side by side."""

import time
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.look import appearance
from app.views.plot.view import View
from app.views.plot.view_state import ViewState
from app.views.registry import VIEWS
from app.widgets.layouts import in_grid, scrolling
from app.worker.evaluator_process import EvaluationReply
from core.estimators.model_settings import title_of
from core.extensions import extension_errors
from core.tuning.events import Event, RunStarted
from core.tuning.runs.state import RunState
from resources.theme import GAP

TICK = 33  # milliseconds between two looks at what is dirty
SLICE = 0.012  # seconds of one tick spent on drawing; the rest waits for the next
REST = 8.0  # times as long as drawing took nothing is drawn while events stream in
LONGEST_REST = 1.0  # seconds
LOWEST = 270  # pixels of a row below which the board scrolls
PEEK = 36  # pixels of the next row that show that there is more
NARROW = 520  # pixels at the usual text size, below which there is one column


class Board(QScrollArea):
    """A run's views in two columns; wide ones and a last odd one span both."""

    trial_selected = Signal(int)
    exclude_requested = Signal(int, bool)
    pick_requested = Signal(int)
    evaluation_wanted = Signal(object)
    problem = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.record = ViewState()
        self.views: dict[str, View] = {}
        self._cached_views: dict[str, View] = {}
        self._drawn: dict[str, float] = {}
        self._rests_until = self._redrawn_since = 0.0
        self._wanted_now = False  # a person wants to see something else
        self._single = False
        self._needed_names: set[str] = set()  # views that had something to show in this run
        self._unsettled = True  # whether more of them may have by now
        self._shown_names: list[str] = []
        self._heading_model = ""  # in the headings
        self._errors_shown = False  # the extensions that could not be used
        self._page = QWidget()
        self._grid = in_grid(GAP, GAP, 3, 2, on=self._page)
        scrolling(self._page, self)
        self._timer = QTimer(self, interval=TICK)
        self._timer.timeout.connect(self._on_tick)
        # What a person waits for is drawn as soon as all input is handled, without a tick's delay.
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._on_tick)

    # -- what happens --------------------------------------------------------------------------

    def show_run(self, run: RunState, onward: bool = False) -> None:
        """Show a run that is updated elsewhere; `onward`: the same run, later."""
        before = self.record.run.started
        self.record.show_run(run)
        if onward and self.record.run.started is before:
            self._unsettled = True
            self._all_dirty()
        else:
            self._start_run()

    def consume(self, event: Event) -> None:
        before = self.record.run.started
        self._unsettled = True
        self.record.consume(event)
        if isinstance(event, RunStarted) or self.record.run.started is not before:
            self._start_run()
            return
        for view in self.views.values():
            if not view.dirty:
                view.consume(event)

    def _start_run(self) -> None:
        started = self.record.run.started
        self._needed_names, self._unsettled = set(), True
        self._want_now()
        for view in self._cached_views.values():
            # All views begin the run before one is shown: a layout asks them for rows of the run
            # before.
            view.consume(started)
        joint_start, model = self.record.whole_run.started, self.record.model
        starts = {True: joint_start, False: started}
        names = [name for name, view in VIEWS.items() if view.wants(starts[view.of_all])]
        if model or self._heading_model:
            for view in self._cached_views.values():
                view.name_model("" if view.of_all or not model else title_of(model))
        self._heading_model = model
        if names != list(self.views):
            self._compose(names)
        else:
            self._update_layout()
        # Extensions are imported with the first run; what failed is told once.
        if not self._errors_shown and extension_errors():
            self.problem.emit(" ".join(extension_errors()))
        self._errors_shown = True

    def look_at(self, model: str) -> None:
        if model != self.record.model:
            self.record.look_at(model)
            self._start_run()

    def set_best_k(self, k: int | None) -> None:
        self.record.best_k = k
        self._all_dirty()

    def select_trial(self, number: int | None) -> None:
        if number != self.record.selected:
            self.record.selected = number
            self._all_dirty()

    def show_example(self, index: int) -> None:
        self.record.example = index
        self._all_dirty()

    def take_evaluation(self, reply: EvaluationReply) -> None:
        view = self.views.get(reply.view)
        if view is not None:
            view.take_evaluation(reply)
            self._unsettled = True

    def redraw_now(self) -> None:
        """Draw all that is dirty, also unseen."""
        self._update_layout()
        for view in self.views.values():
            if view.dirty:
                view.redraw()

    def describe(self) -> str:
        return " ".join(view.describe() for view in self.views.values() if view.has_content())

    # -- drawing -------------------------------------------------------------------------------

    def _on_tick(self) -> None:
        start_time = time.perf_counter()
        self._update_layout()
        # Events stream in faster than they can be drawn: most of the time is theirs.
        if start_time < self._rests_until and not self._wanted_now:
            return
        # The one that waited longest comes first, so that the slice of a tick starves none.
        longest_waiting = sorted(self.views.values(), key=lambda view: self._drawn[view.name])
        due_views = [view for view in longest_waiting if view.dirty and view.is_seen]
        for view in due_views:
            now = time.perf_counter()
            if now - start_time > SLICE:
                break
            if self._wanted_now or now - self._drawn[view.name] >= view.interval:
                self._drawn[view.name] = now
                view.redraw()
                self._redrawn_since = self._redrawn_since or start_time
        else:
            self._wanted_now = False
        if self._redrawn_since:
            # Qt paints after this has returned: painting counts as drawing, too.
            QTimer.singleShot(0, self._on_painted)
        if self._wanted_now:
            self._soon.start()

    def _on_painted(self) -> None:
        if self._redrawn_since:
            now = time.perf_counter()
            self._rests_until = now + min(REST * (now - self._redrawn_since), LONGEST_REST)
            self._redrawn_since = 0.0

    def _all_dirty(self) -> None:
        self._want_now()
        for view in self.views.values():
            view.dirty = True

    def _want_now(self) -> None:
        self._wanted_now = True
        self._rests_until = self._redrawn_since = 0.0
        # A board that is hidden draws when it is shown.
        if self._timer.isActive():
            self._soon.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
        self._soon.stop()

    # -- composing -----------------------------------------------------------------------------

    def _compose(self, names: list[str]) -> None:
        for name, view in self.views.items():
            self._grid.removeWidget(view)
            # Views that stay are not built anew, so that the keyboard stays where it is.
            if name not in names:
                view.hide()
        self.views = {name: self._cached_views.get(name) or self._make_view(name) for name in names}
        self._update_layout()

    def shown_views(self) -> list[View]:
        """Views with something to show; else all."""
        needed = [view for name, view in self.views.items() if name in self._needed_names]
        return needed or list(self.views.values())

    def _update_layout(self) -> None:
        if not self._unsettled:
            return
        self._unsettled = False
        waiting = [view for name, view in self.views.items() if name not in self._needed_names]
        # What had something to show keeps its room: cards that come and go would move all others.
        self._needed_names |= {view.name for view in waiting if view.is_needed()}
        shown = [view.name for view in self.shown_views()]
        if shown != self._shown_names:
            self._shown_names = shown
            self._lay_out()

    def _lay_out(self) -> None:
        self._single = self.viewport().width() < appearance.pixels(NARROW)
        views = self.shown_views()
        for view in self.views.values():
            self._grid.removeWidget(view)
            view.setVisible(view in views)
        cells = grid_positions(views, self._single)
        for view, (row, column, width) in zip(views, cells, strict=True):
            self._grid.addWidget(view, row, column, 1, width)
        self._fit_rows()

    def _make_view(self, name: str) -> View:
        # Made once and kept: another run starts them anew, which is quicker than new ones.
        view = self._cached_views[name] = VIEWS[name](self.record, self._page)
        self._drawn[name] = 0.0
        view.trial_selected.connect(self._on_trial_selected)
        view.exclude_requested.connect(self.exclude_requested)
        view.pick_requested.connect(self.pick_requested)
        view.best_k_requested.connect(self.set_best_k)
        view.example_requested.connect(self.show_example)
        view.model_requested.connect(self.look_at)
        view.evaluation_wanted.connect(self.evaluation_wanted)
        view.problem.connect(self.problem)
        view.consume(self.record.run.started)
        if self.record.model and not view.of_all:
            view.name_model(title_of(self.record.model))
        return view

    def views_ahead(self, names: Sequence[str]) -> Iterator[View]:
        """Make views one at a time: all together stop the window."""
        for name in names:
            if name in VIEWS and name not in self._cached_views:
                self._make_view(name).hide()
                yield self._cached_views[name]

    def _on_trial_selected(self, number: int) -> None:
        self.select_trial(number)
        self.trial_selected.emit(number)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._single != (self.viewport().width() < appearance.pixels(NARROW)):
            self._lay_out()
        else:
            self._fit_rows()

    def _fit_rows(self) -> None:
        cells = grid_positions(self.shown_views(), self._single)
        rows = 1 + max((row for row, _, _ in cells), default=0)
        tall = self.viewport().height()
        seen = min(rows, 2)
        spare = PEEK if rows > 2 else 0
        share = (tall - spare - GAP * (seen - 1)) // seen - (GAP if spare else 0)
        height = max(appearance.pixels(LOWEST), share)
        for row in range(self._grid.rowCount()):
            is_used = row < rows
            self._grid.setRowMinimumHeight(row, height if is_used else 0)
            self._grid.setRowStretch(row, 1 if is_used else 0)


def grid_positions(views: Sequence[QWidget], single: bool = False) -> list[tuple[int, int, int]]:
    """(row, column, column span) of every card."""
    if single:
        return [(row, 0, 2) for row in range(len(views))]
    cells: list[tuple[int, int, int]] = []
    row, column = 0, 0
    for index, view in enumerate(views):
        last = index == len(views) - 1 or (column == 0 and is_wide(views[index + 1]))
        if is_wide(view) or (column == 0 and last):
            # A wide card after a narrow one leaves the second column empty.
            row += column
            cells.append((row, 0, 2))
            row, column = row + 1, 0
        else:
            cells.append((row, column, 1))
            row, column = (row, 1) if column == 0 else (row + 1, 0)
    return cells


def is_wide(card: QWidget) -> bool:
    """Whether a card takes the whole width."""
    return bool(getattr(card, "wide", False))
