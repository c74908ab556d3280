"""The window with its pages, connected to the session."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import (
    QCloseEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QMainWindow,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QWidget,
)

from app.look import appearance
from app.pages.page import Page
from app.pages.start_page import TOURED, StartPage
from app.preferences import preferences as settings
from app.session.session import Session
from app.text import key_names
from app.widgets import drop_area
from app.widgets.layouts import in_column, in_row, order_tabs
from app.widgets.term_help import TermHelp
from app.window.notices import BusyNotice, EndNotice, Notice
from app.window.window_sides import STEPS, Rail, SidePanel, step_states
from core.datasets.finding import SuggestedChange

if TYPE_CHECKING:
    from app.window.tour import Tour

PAGES = {
    "start": ("app.pages.start_page", "StartPage"),
    "data": ("app.pages.data.data_page", "DataPage"),
    "model": ("app.pages.model_page", "ModelPage"),
    "strategy": ("app.pages.strategy_page", "StrategyPage"),
    "tune": ("app.pages.tune_page", "TunePage"),
    "results": ("app.pages.results_page", "ResultsPage"),
    "export": ("app.pages.export_page", "ExportPage"),
    "history": ("app.pages.history_page", "HistoryPage"),
    "use": ("app.pages.use_page", "UsePage"),
    "runs": ("app.pages.runs_page", "RunsPage"),
}
SMALLEST = (1024, 700)
FIRST_SIZE = (1268, 756)  # which a frame makes 1280 × 800 at most


class Window(QMainWindow):
    """The window. Pages are made at their first visit."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.pages: dict[str, Page] = {}
        self.here = "start"
        self.tour: Tour | None = None
        self._tabs = QTimer(self, interval=0, singleShot=True)
        self._tabs.timeout.connect(self._set_tab_order)
        local_file = drop_area.local_file  # of data, a model, or a run's folder
        drop_area.DropTarget(self, local_file, lambda held: session.open_file(local_file(held)))
        self.setWindowTitle("Tunescope")
        self.setMinimumSize(*SMALLEST)
        self._build_layout()
        self._connect()
        self._restore_geometry()
        self.show_page("start")
        if isinstance(self.current_page, StartPage):
            self.current_page.drop.button.setFocus()

    def _build_layout(self) -> None:
        self.rail = Rail()
        self.panel = SidePanel()
        self.notice = Notice()
        self.waiting = BusyNotice()
        self.stack = QStackedWidget()
        above = in_column(self.notice, self.waiting, gap=8, margins=(22, 0, 22, 0))
        middle = in_column(above, (self.stack, 1), gap=0)
        self._inside = QWidget()
        in_row(self.rail, (middle, 1), self.panel, on=self._inside, gap=0)
        self.setCentralWidget(self._inside)
        self.terms = TermHelp(self)
        self.end_notice = EndNotice(self, self.session)

    def _connect(self) -> None:
        session = self.session
        self.rail.step_pressed.connect(self.show_page)
        self.rail.run_pressed.connect(self.open_run)
        self.rail.page_pressed.connect(self.show_page)
        self.rail.help_pressed.connect(lambda: self.show_help("start"))
        self.rail.settings_pressed.connect(self.show_settings)
        self.panel.more_pressed.connect(lambda: self.show_help(self.current_page.topic))
        self.panel.fold_changed.connect(self._fit_sides)
        session.data_changed.connect(self._data_changed)
        session.file_opened.connect(self._show_data)
        session.plan_changed.connect(self._show_steps)
        session.plan_changed.connect(self._tabs.start)
        session.run_changed.connect(self._run_changed)
        session.run_changed.connect(self._show_title)
        session.events_arrived.connect(lambda _events: self._show_title())
        session.problem.connect(self._problem)
        session.run_opened.connect(self._run_opened)
        session.runs.changed.connect(self._list_runs)
        session.runs.change_reported.connect(self._show_change)
        session.busy_changed.connect(self._busy_changed)
        session.model_given.connect(self.use_model)
        session.predictions_saved.connect(self._predicted)
        self.terms.entry_wanted.connect(self.show_help)
        self.waiting.stop_pressed.connect(session.stop_reading)
        appearance.notifier.themed.connect(self._on_theme_changed)
        self._set_keys()

    def _set_keys(self) -> None:
        actions: dict[str, Callable[[], object]] = {
            key_names.OPEN: self.open_file,
            key_names.SAVE: lambda: self.current_page.save_asked(),
            key_names.EXPORT: lambda: self.rail_press("export"),
            key_names.QUIT: self.close,
            key_names.START: self._start_run,
            key_names.PAUSE: self._pause_run,
            key_names.STOP: self._stop_run,
            key_names.NEXT: lambda: self._move_by(1),
            key_names.BEFORE: lambda: self._move_by(-1),
            key_names.HELP: self.explain,
            key_names.LIST: lambda: self.show_help("keyboard"),
        }
        for number, key in enumerate(STEPS, start=1):
            actions[f"Ctrl+{number}"] = partial(self.rail_press, key)
        for keys, action in actions.items():
            QShortcut(QKeySequence(keys), self).activated.connect(action)

    # Pages ----------------------------------------------------------------------------------

    def show_page(self, key: str) -> None:
        key = "start" if key == "data" and not self.session.summary else key
        page = self.make_page(key)
        self.here = key
        if page is not self.stack.currentWidget():
            page.scroll_area.verticalScrollBar().setValue(0)
        self._fit_sides()
        self.stack.setCurrentWidget(page)
        page.visited()
        self._show_words()
        self._show_steps()
        self._show_title()
        self._tabs.start()

    @property
    def current_page(self) -> Page:
        return self.pages[self.here]

    def make_page(self, key: str) -> Page:
        if key not in self.pages:
            module, name = PAGES[key]
            page: Page = getattr(importlib.import_module(module), name)(self.session)
            page.step_wanted.connect(self.rail_press)
            page.run_wanted.connect(self.open_run)
            page.tour_wanted.connect(self.take_tour)
            page.comparison_wanted.connect(self.compare_runs)
            page.panel_changed.connect(self._show_words)
            page.head_changed.connect(self._show_title)
            self.pages[key] = page
            self.stack.addWidget(page)
        return self.pages[key]

    def rail_press(self, key: str) -> None:
        # The rail knows why a step is locked, and says it.
        if key in self.rail.steps:
            self.rail.steps[key].pressed.emit()
        else:
            self.show_page(key)

    def _show_words(self) -> None:
        self.panel.show_words(*self.current_page.words)

    def _show_steps(self) -> None:
        self.rail.show_steps(step_states(self.session), self._current_step)

    def _show_title(self) -> None:
        title = self.current_page.title
        if self.session.is_going_on and self.session.events:
            from app.text.run_head import window_title

            state = self.session.shown.state
            title = window_title(state, state.seconds)
        self.setWindowTitle(f"{title} – Tunescope" if title else "Tunescope")

    # Session --------------------------------------------------------------------------------

    def _data_changed(self) -> None:
        self.notice.hide()
        if self.session.data is not None and not self.session.data.file.startswith("sample:"):
            settings.remember_file(self.session.data.file)
        if self.here == "start":
            self.show_page("data")
        else:
            self._show_steps()

    def _show_data(self) -> None:
        # First, whatever page was in front: it makes the page that is scrolled then.
        self.show_page("data")
        self.pages["data"].scroll_area.verticalScrollBar().setValue(0)

    def _run_changed(self) -> None:
        if self.session.state == "running":
            # It is about an earlier run.
            self.notice.hide()
        self._show_steps()
        if self.session.state not in ("running", "paused"):
            self.session.runs.reload()

    def _problem(self, sentence: str) -> None:
        self._show_steps()  # it may be that data cannot be read
        if self.session.details:
            self.offer_details(sentence, self.session.details)
            # They belong to this problem, not to the next one.
            self.session.details = ""
        elif self.session.other_targets or self.session.texts:
            self._offer_targets(sentence, self.session.other_targets, self.session.texts)
            self.session.other_targets = self.session.texts = ()
        elif (offer := self.session.offer) is not None:
            self.session.offer = None
            self.notice.show_message(sentence, offer.words, lambda: self._take_offer(offer))
        else:
            self.notice.show_message(sentence)

    def _take_offer(self, offer: SuggestedChange) -> None:
        self.notice.hide()
        self.session.open_otherwise(offer)

    def offer_details(self, sentence: str, details: str) -> None:
        copy = QGuiApplication.clipboard().setText
        self.notice.show_message(sentence, "Copy details", lambda: copy(details))

    def _offer_targets(
        self, sentence: str, columns: tuple[str, ...], texts: tuple[str, ...]
    ) -> None:
        def choose_target() -> None:
            from app.dialogs.target_dialog import TargetDialog

            dialog = TargetDialog(columns, self, texts)
            if name := dialog.ask():
                self.notice.hide()
                self.session.open_with_target(name, dialog.task)

        label = "Choose what to do…" if texts else "Choose the column to predict…"
        self.notice.show_message(sentence, label, choose_target)

    def _list_runs(self) -> None:
        run_list = self.session.runs.run_list
        if self.rail.show_runs(run_list.runs, run_list.left_out, run_list.deleted):
            self._tabs.start()

    def _show_change(self, sentence: str) -> None:
        # The page of past runs shows it itself.
        if self.here != "runs":
            undo = "Undo" if self.session.runs.can_undo else ""
            self.notice.show_message(sentence, undo, self.session.runs.undo_change)

    def compare_runs(self, folders: list[str]) -> None:
        from app.pages.runs_page import RunsPage

        self.show_page("runs")
        if isinstance(self.current_page, RunsPage):
            self.current_page.show_and_compare(folders)

    def open_run(self, folder: str | Path) -> None:
        if self.session.is_going_on:
            self.rail.explain("A run is in progress. Stop it first, then open another.")
            return
        self.session.open_run(folder)

    def _run_opened(self) -> None:
        self.show_page("results" if self.session.results else "tune")
        self.current_page.scroll_area.verticalScrollBar().setValue(0)

    def _busy_changed(self, activity: str) -> None:
        self.waiting.show_message(activity, can_stop=self.session.run_loader.goes_on)

    # Actions --------------------------------------------------------------------------------

    def open_file(self) -> None:
        if file := drop_area.ask_for_file(self):
            self.session.open_file(file)

    def use_model(self, model: str) -> None:
        from app.pages.use_page import UsePage

        self.notice.hide()
        self.show_page("use")
        if isinstance(self.current_page, UsePage):
            self.current_page.open_model(model)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        focused = QApplication.focusWidget()
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        # Qt presses buttons by Enter in dialogs alone.
        if is_enter and isinstance(focused, (QPushButton, QToolButton)):
            focused.click()
        else:
            super().keyPressEvent(event)

    def _start_run(self) -> None:
        session, estimate = self.session, self.session.estimate
        if session.state in ("paused", "interrupted"):
            session.resume()
        elif session.state == "running elsewhere":
            session.look_again()
        # The key that starts must never stop: it is pressed twice by accident.
        elif session.state in ("running", "stopping"):
            self.rail.explain("A run is in progress already.")
            return
        elif session.plan is None:
            self.rail.explain("Open a file first, in step 1.")
            return
        elif estimate is not None and estimate.unusable:
            self.notice.show_message(estimate.sentence)
            return
        else:
            session.start()
        self.show_page("tune")

    def _pause_run(self) -> None:
        if self.session.state == "running":
            self.session.pause()
        elif self.session.state == "paused":
            self.session.resume()
        else:
            self.rail.explain("No run is in progress.")

    def _stop_run(self) -> None:
        if self.session.state in ("running", "paused"):
            self.session.stop()
        else:
            self.session.prediction.stop_predicting()

    def _move_by(self, offset: int) -> None:
        if self._current_step not in STEPS:
            self.rail_press("export" if offset < 0 and self.here == "use" else "data")
            return
        index = STEPS.index(self._current_step) + offset
        if 0 <= index < len(STEPS):
            self.rail_press(STEPS[index])

    @property
    def _current_step(self) -> str:
        return "data" if self.here == "start" else self.here

    def _set_tab_order(self) -> None:
        order_tabs(self._inside)
        for field in self._inside.findChildren(QLineEdit):
            # A field takes a dropped file for text, here and wherever a page makes one later.
            field.setAcceptDrops(False)

    def _predicted(self, path: str, count: int, sentences: tuple[str, ...]) -> None:
        from app.dialogs.message_boxes import show_saved_notice

        show_saved_notice(path, count, sentences, self)

    def show_help(self, anchor: str) -> None:
        from app.dialogs.help_dialog import HelpDialog

        dialog = HelpDialog(anchor, self)
        dialog.tour_wanted.connect(self.take_tour, Qt.ConnectionType.QueuedConnection)
        dialog.exec()

    def take_tour(self) -> None:
        if self.session.is_going_on:
            self.notice.show_message("A run is in progress. Stop it first, then take the tour.")
            return
        from app.window.tour import Tour

        settings.remember(TOURED, True)
        self.pages["start"].visited()
        if self.tour is not None:
            self.tour.end_tour()
        self.tour = Tour(self, self.session, lambda: (self.here, self.current_page))
        self.tour.page_wanted.connect(self.show_page)
        self.tour.return_offered.connect(self._offer_return)
        self.tour.tour_ended.connect(self._tour_left)
        self.tour.start()

    def _tour_left(self) -> None:
        if self.tour is not None:
            self.tour.deleteLater()
            self.tour = None

    def _offer_return(self, file: str, reopen: Callable[[], object]) -> None:
        self.notice.show_message("The run on the sample continues.", f"Open {file} again", reopen)

    def explain(self) -> None:
        if not self.terms.explain_focus():
            self.show_help(self.current_page.topic)

    def show_settings(self) -> None:
        from app.dialogs.settings_dialog import SettingsDialog

        dialog = SettingsDialog(self)
        dialog.where.attempt_wanted.connect(self.session.check_cluster)
        self.session.cluster_checked.connect(dialog.where.show_answer)
        dialog.exec()

    # Size and closing -----------------------------------------------------------------------

    def _restore_geometry(self) -> None:
        geometry = settings.geometry()
        # A geometry of an earlier version of Qt may not be understood.
        if geometry is None or not self.restoreGeometry(geometry):
            self.resize(*FIRST_SIZE)

    def _on_theme_changed(self) -> None:
        self._fit_sides()
        self._show_steps()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_sides()

    def _fit_sides(self) -> None:
        self.rail.setFixedWidth(min(appearance.pixels(222), self.width() * 23 // 100))
        self.panel.fit_width(min(appearance.pixels(240), self.width() * 24 // 100))
        # Beside large text in a small window, the page needs the room; F1 says more.
        has_room = self.width() >= appearance.pixels(SMALLEST[0])
        self.panel.setVisible(has_room and not self.pages[self.here].wide)

    def closeEvent(self, event: QCloseEvent) -> None:
        from app.window.window_end import may_close

        if may_close(self, self.session):
            self.prepare_end()
            event.accept()
        else:
            event.ignore()

    def prepare_end(self) -> None:
        """Remember the size, and let the worker end; `run_window` waits for it."""
        settings.remember(settings.GEOMETRY, self.saveGeometry())
        self.session.begin_shutdown()
