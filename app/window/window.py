"""The window with its pages, connected to the session."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMainWindow,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.look import appearance
from app.pages.page import Page
from app.pages.start.start_page import TOURED, StartPage
from app.preferences import preferences as settings
from app.widgets import drop_area
from app.widgets.tab_order import order_tabs
from app.widgets.term_help import TermHelp
from app.window.end_notice import EndNotice
from app.window.keyboard_shortcuts import KeyboardShortcuts, press_focused
from app.window.notices import BusyNotice, Notice
from app.window.rail import Rail
from app.window.side_panel import SidePanel
from app.window.step_states import step_states
from core.datasets.finding import SuggestedChange

if TYPE_CHECKING:
    from app.session.session import Session
    from app.window.tour.tour import Tour

PAGES = {
    "start": ("app.pages.start.start_page", "StartPage"),
    "data": ("app.pages.data.data_page", "DataPage"),
    "model": ("app.pages.model.model_page", "ModelPage"),
    "strategy": ("app.pages.strategy.strategy_page", "StrategyPage"),
    "tune": ("app.pages.tune.tune_page", "TunePage"),
    "results": ("app.pages.results.results_page", "ResultsPage"),
    "export": ("app.pages.export.export_page", "ExportPage"),
    "history": ("app.pages.history.history_page", "HistoryPage"),
    "use": ("app.pages.use.use_page", "UsePage"),
    "runs": ("app.pages.runs.runs_page", "RunsPage"),
}
SMALLEST = (1024, 700)


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
        self.setAcceptDrops(True)
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
        middle = QVBoxLayout()
        middle.setSpacing(0)
        above = QVBoxLayout()
        above.setContentsMargins(22, 0, 22, 0)
        above.setSpacing(8)
        above.addWidget(self.notice)
        above.addWidget(self.waiting)
        middle.addLayout(above)
        middle.addWidget(self.stack, 1)
        inside = self._inside = QWidget()
        row = QHBoxLayout(inside)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addLayout(middle, 1)
        row.addWidget(self.panel)
        self.setCentralWidget(inside)
        self.terms = TermHelp(self)
        self.end_notice = EndNotice(self, self.session)

    def _connect(self) -> None:
        session = self.session
        self.rail.step_pressed.connect(self.show_page)
        self.rail.run_pressed.connect(self.open_run)
        self.rail.runs_pressed.connect(lambda: self.show_page("runs"))
        self.rail.history_pressed.connect(lambda: self.show_page("history"))
        self.rail.help_pressed.connect(lambda: self.show_help("start"))
        self.rail.settings_pressed.connect(self.show_settings)
        self.panel.more_pressed.connect(lambda: self.show_help(self.current_page.topic))
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
        session.busy_changed.connect(self._busy_changed)
        session.model_given.connect(self.use_model)
        session.predictions_saved.connect(self._predicted)
        self.terms.entry_wanted.connect(self.show_help)
        self.waiting.stop_pressed.connect(session.stop_reading)
        appearance.notifier.themed.connect(self._on_theme_changed)
        self.keys = KeyboardShortcuts(self)

    # Pages ----------------------------------------------------------------------------------

    def show_page(self, key: str) -> None:
        """Bring a step's page to the front."""
        key = "start" if key == "data" and not self.session.summary else key
        page = self._open_page(key)
        self.here = key
        if page is not self.stack.currentWidget():
            page.scroll_area.verticalScrollBar().setValue(0)
        self.panel.setVisible(not page.wide)
        self.stack.setCurrentWidget(page)
        page.visited()
        self._show_words()
        self._show_steps()
        self._show_title()
        self._tabs.start()

    @property
    def current_page(self) -> Page:
        """The page that is in front."""
        return self.pages[self.here]

    def _open_page(self, key: str) -> Page:
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
        """Go to a step if it is open; explain why if it is locked."""
        if key in self.rail.steps:
            self.rail.steps[key].pressed.emit()
        else:
            self.show_page(key)

    def _show_words(self) -> None:
        self.panel.show_words(*self.current_page.words)

    def _show_steps(self) -> None:
        here = "data" if self.here == "start" else self.here
        self.rail.show_steps(step_states(self.session), here)

    def _show_title(self) -> None:
        title = self.current_page.title
        if self.session.is_going_on and self.session.events:
            from app.text.tuning.head import window_title

            state = self.session.shown.state
            title = window_title(state, state.seconds)
        self.setWindowTitle(f"{title} – Tunescope" if title else "Tunescope")

    # Session --------------------------------------------------------------------------------

    def _data_changed(self) -> None:
        self.notice.dismiss()
        if self.session.data is not None and not self.session.data.file.startswith("sample:"):
            settings.remember_file(self.session.data.file)
        if self.here == "start":
            self.show_page("data")
        else:
            self._show_steps()

    def _show_data(self) -> None:
        self.show_page("data")  # first, whatever page was in front
        self.pages["data"].scroll_area.verticalScrollBar().setValue(0)

    def _run_changed(self) -> None:
        if self.session.state == "running":
            self.notice.dismiss()  # about an earlier run
        self._show_steps()
        if self.session.state not in ("running", "paused"):
            self.show_runs()

    def _problem(self, sentence: str) -> None:
        if self.session.details:
            self.offer_details(sentence, self.session.details)
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
        self.notice.dismiss()
        self.session.open_otherwise(offer)

    def offer_details(self, sentence: str, details: str) -> None:
        """Show the sentence, and a button that copies the details."""
        copy = QGuiApplication.clipboard().setText
        self.notice.show_message(sentence, "Copy details", lambda: copy(details))

    def _offer_targets(
        self, sentence: str, columns: tuple[str, ...], texts: tuple[str, ...]
    ) -> None:
        def choose_target() -> None:
            from app.dialogs.target_dialog import TargetDialog

            dialog = TargetDialog(columns, self, texts)
            if name := dialog.ask():
                self.notice.dismiss()
                self.session.open_with_target(name, dialog.task)

        label = "Choose what to do…" if texts else "Choose the column to predict…"
        self.notice.show_message(sentence, label, choose_target)

    def show_runs(self) -> None:
        """Read the past runs."""
        self.session.runs.reload()

    def _list_runs(self) -> None:
        run_list = self.session.runs.run_list
        if self.rail.show_runs(run_list.runs, run_list.left_out, run_list.deleted):
            self._tabs.start()

    def compare_runs(self, folders: list[str]) -> None:
        """Show past runs side by side."""
        from app.pages.runs.runs_page import RunsPage

        self.show_page("runs")
        if isinstance(self.current_page, RunsPage):
            self.current_page.show_and_compare(folders)

    def open_run(self, folder: str | Path) -> None:
        """Show the results of a past run, or its Tune page."""
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
        """Ask for a file and open it."""
        if file := drop_area.ask_for_file(self):
            self.session.open_file(file)

    def use_model(self, model: str) -> None:
        """Show the page that uses a model file."""
        from app.pages.use.use_page import UsePage

        self.notice.dismiss()
        self.show_page("use")
        if isinstance(self.current_page, UsePage):
            self.current_page.open_model(model)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Accept a file anywhere."""
        if drop_area.dropped_file(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the file: data, a model, or the folder of a run."""
        event.acceptProposedAction()
        self.session.open_file(drop_area.dropped_file(event))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button that has the focus."""
        if not press_focused(event):
            super().keyPressEvent(event)

    def _set_tab_order(self) -> None:
        order_tabs(self._inside)
        for field in self._inside.findChildren(QLineEdit):
            field.setAcceptDrops(False)

    def _predicted(self, path: str, count: int, sentences: tuple[str, ...]) -> None:
        from app.dialogs.model_file_dialogs import show_saved_notice

        show_saved_notice(path, count, sentences, self)

    def show_help(self, anchor: str) -> None:
        """Open the help at an anchor."""
        from app.dialogs.help_dialog import HelpDialog

        dialog = HelpDialog(anchor, self)
        dialog.tour_wanted.connect(self.take_tour, Qt.ConnectionType.QueuedConnection)
        dialog.exec()

    def take_tour(self) -> None:
        """Start the tour, on a sample."""
        if self.session.is_going_on:
            self.notice.show_message("A run is in progress. Stop it first, then take the tour.")
            return
        from app.window.tour.tour import Tour

        settings.remember(TOURED, True)
        self.pages["start"].visited()
        if self.tour is not None:
            self.tour.end_tour()
        self.tour = Tour(self)
        self.tour.tour_ended.connect(self._tour_left)
        self.tour.start()

    def _tour_left(self) -> None:
        if self.tour is not None:
            self.tour.deleteLater()
            self.tour = None

    def explain(self) -> None:
        """Explain the focused term, or show the page's help."""
        if not self.terms.explain_focus():
            self.show_help(self.current_page.topic)

    def show_settings(self) -> None:
        """Open the settings."""
        from app.dialogs.settings_dialog import SettingsDialog

        dialog = SettingsDialog(self)
        dialog.where.attempt_wanted.connect(self.session.check_cluster)
        self.session.cluster_checked.connect(dialog.where.show_answer)
        dialog.exec()

    # Size and closing -----------------------------------------------------------------------

    def _restore_geometry(self) -> None:
        geometry = settings.geometry()
        if geometry is None or not self.restoreGeometry(geometry):
            self.resize(1280, 800)

    def _on_theme_changed(self) -> None:
        self._fit_sides()
        self._show_steps()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit rail and panel to text size and window."""
        super().resizeEvent(event)
        self._fit_sides()

    def _fit_sides(self) -> None:
        self.rail.setFixedWidth(min(appearance.pixels(222), self.width() * 23 // 100))
        self.panel.setFixedWidth(min(appearance.pixels(240), self.width() * 24 // 100))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask during a run."""
        from app.window.close_confirmation import may_close

        if not may_close(self):
            event.ignore()
            return
        settings.remember_geometry(self.saveGeometry())
        self.session.begin_shutdown()  # `run_window` waits for the worker once the window is closed
        event.accept()
