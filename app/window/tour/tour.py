"""The tour through the window on a sample."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.window.tour.stops import SAMPLE, START, STOPS, TUNE, TourStop
from app.window.tour.tour_card import AROUND, TourCard, TourFrame, card_position

if TYPE_CHECKING:
    from app.window.window import Window

FOLLOWS = 120  # milliseconds between two updates of the position


class Tour(QObject):
    """One tour, which ends when the person does something else."""

    tour_ended = Signal()  # the earlier data are open again

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window, self._session = window, window.session
        open_data = self._session.data
        self._earlier = (open_data, self._session.plan) if open_data is not None else None
        self.index = -1
        self._folder: object = None  # of its run
        self._going = False  # whether the tour itself changes the window
        self.frame, self.card = TourFrame(window), TourCard(window)
        self.card.back_pressed.connect(self.go_back)
        self.card.next_pressed.connect(self.go_forward)
        self.card.leave_pressed.connect(self.end_tour)
        self._timer = QTimer(self, interval=FOLLOWS)
        self._timer.timeout.connect(self._follow_control)
        self._session.run_changed.connect(self._follow_control)
        self._session.problem.connect(self._follow_control)

    @property
    def current_stop(self) -> TourStop:
        """The current stop."""
        return STOPS[self.index]

    def start(self) -> None:
        """Open the sample and begin."""
        appearance.application().installEventFilter(self)
        if self._session.data is None or self._session.data.file != _sample_file():
            self._session.open_sample(SAMPLE)
        self._timer.start()
        self._go_to(0)

    def go_forward(self) -> None:
        """Go to the next stop, or end the tour."""
        if not self.current_stop.ready(self._session):
            return
        if self.index + 1 == len(STOPS):
            self.end_tour()
            return
        self._going = True
        self.current_stop.leads_on(self._session)
        self._go_to(self.index + 1)

    def go_back(self) -> None:
        """Go to the stop before."""
        if self.index > 0:
            self._go_to(START - 1 if self.index == TUNE else self.index - 1)

    def end_tour(self) -> None:
        """End the tour and restore the earlier data."""
        if self.index < 0:
            return
        self.index = -1
        self._timer.stop()
        appearance.application().removeEventFilter(self)
        self._session.run_changed.disconnect(self._follow_control)
        self._session.problem.disconnect(self._follow_control)
        for widget in (self.frame, self.card):
            widget.hide()
            widget.deleteLater()
        self._give_back()
        self.tour_ended.emit()

    def _give_back(self) -> None:
        session = self._session
        if self._earlier is None or session.data is None or session.data.file != _sample_file():
            return
        data, plan = self._earlier
        if data == session.data:
            if plan is not None:
                session.set_plan(**{f.name: getattr(plan, f.name) for f in fields(plan)})
            return

        def reopen() -> None:
            session.return_to(data, plan)

        if not session.is_going_on:
            reopen()
            return
        name = data.file.replace("\\", "/").rsplit("/", 1)[-1]
        sentence = "The run on the sample continues."
        self._window.notice.show_message(sentence, f"Open {name} again", reopen)

    # Position ---------------------------------------------------------------------------------

    def _go_to(self, index: int) -> None:
        self._going = True
        self.index = index
        self.current_stop.begin(self._session)
        self._show_page()
        self._going = False
        self._follow_control()
        self.card.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_page(self) -> None:
        page = self.current_stop.page
        if self._window.here != page and (page != "data" or self._session.summary):
            self._window.show_page(page)

    def _follow_control(self) -> None:
        if self.index < 0 or self._going:
            return
        if not self._is_sample():
            self.end_tour()
            return
        if self.index == START and self._session.state == "running":
            self._go_to(TUNE)  # a person pressed the real button
            return
        if self._window.here != self.current_stop.page and not self._may_come():
            self.end_tour()
            return
        self._update_card()
        self._lay_out()

    def _may_come(self) -> bool:
        if self.current_stop.page != "data" or self._window.here != "start":
            return False
        if self._session.summary is not None:
            self._show_page()
        return True

    def _is_sample(self) -> bool:
        data, session = self._session.data, self._session
        return data is None or _sample_file() in (data.file, session.requested_file)

    def _update_card(self) -> None:
        last = self.index + 1 == len(STOPS)
        ready = self.current_stop.ready(self._session)
        waits = self.index == TUNE and self._session.is_going_on
        why = "The results come when the run has ended." if waits else "It is not there yet."
        self.card.next.set_label("Done" if last else "Next")
        self.card.next.set_allowed(ready, why)
        self.card.back.set_allowed(self.index > 0, "This is the first step.")
        position = f"Step {self.index + 1} of {len(STOPS)} · arrow keys and Esc work too"
        stop = self.current_stop
        self.card.show_words(stop.title, stop.words(self._session), position)

    def _lay_out(self) -> None:
        target = self._target_rectangle()
        size = self.card.fitting()
        room = self._window.rect().adjusted(12, 12, -12, -12)
        self.card.resize(size)
        self.card.move(card_position(target, size, room))
        around = target.adjusted(-AROUND, -AROUND, AROUND, AROUND)
        self.frame.setGeometry(around.intersected(self._window.rect()))
        for widget in (self.frame, self.card):
            widget.show()
            widget.raise_()

    def _target_rectangle(self) -> QRect:
        page = self._window.current_page
        is_here = self._window.here == self.current_stop.page
        control = page.tour_target(self.current_stop.target) if is_here else None
        if control is None or not control.isVisible():
            return _rectangle_in(self._window, page)
        if page.scroll_area.isAncestorOf(control):
            view = _rectangle_in(self._window, page.scroll_area)
            rectangle = _rectangle_in(self._window, control)
            if not view.intersects(rectangle):
                page.scroll_area.ensureWidgetVisible(control)
                rectangle = _rectangle_in(self._window, control)
            return rectangle.intersected(view)
        return _rectangle_in(self._window, control)

    # Keys and clicks --------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow keys and Esc on the card; other clicks end the tour."""
        if self.index < 0 or not isinstance(watched, QWidget):
            return False
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._handle_key(watched, event)
        is_press = event.type() == QEvent.Type.MouseButtonPress
        if is_press and isinstance(event, QMouseEvent) and not self._is_ours(watched, event):
            QTimer.singleShot(0, self, self.end_tour)
        return False

    def _handle_key(self, watched: QWidget, event: QKeyEvent) -> bool:
        if watched is not self.card and not self.card.isAncestorOf(watched):
            return False
        match event.key():
            case Qt.Key.Key_Right:
                self.go_forward()
            case Qt.Key.Key_Left:
                self.go_back()
            case Qt.Key.Key_Escape:
                self.end_tour()
            case _:
                return False
        return True

    def _is_ours(self, watched: QWidget, event: QMouseEvent) -> bool:
        if watched.window() is not self._window:
            return True  # a menu or a dialog
        point = self._window.mapFromGlobal(event.globalPosition().toPoint())
        return self.card.geometry().contains(point) or self.frame.geometry().contains(point)


def _sample_file() -> str:
    return f"sample:{SAMPLE}"


def _rectangle_in(window: QWidget, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(window, widget.rect().topLeft()), widget.size())
