"""The tour: steps through the window on a sample, and leaves as soon as a person does otherwise."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.window.tour.card import AROUND, TourCard, TourFrame, beside
from app.window.tour.stops import SAMPLE, START, STOPS, TUNE, Stop

if TYPE_CHECKING:
    from app.window.window import Window

FOLLOWS = 120  # milliseconds between two looks at where the control is


class Tour(QObject):
    """One tour, from its start until it is left.

    Signals:
        left: it is over; the window is as a person would have left it.
    """

    left = Signal()

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window, self._session = window, window.session
        own = self._session.data
        self._own = (own, self._session.plan) if own is not None else None
        self.at = -1
        self._folder: object = None  # of its run
        self._going = False  # whether it changes the window itself just now
        self.frame, self.card = TourFrame(window), TourCard(window)
        self.card.back_pressed.connect(self.back)
        self.card.next_pressed.connect(self.next)
        self.card.leave_pressed.connect(self.leave)
        self._timer = QTimer(self, interval=FOLLOWS)
        self._timer.timeout.connect(self._follow)
        self._session.run_changed.connect(self._follow)
        self._session.problem.connect(self._follow)

    @property
    def stop(self) -> Stop:
        """Where it is."""
        return STOPS[self.at]

    def start(self) -> None:
        """Open the sample and begin."""
        QApplication.instance().installEventFilter(self)
        if self._session.data is None or self._session.data.file != _file():
            self._session.open_sample(SAMPLE)
        self._timer.start()
        self._go(0)

    def next(self) -> None:
        """The next step; after the last one it is over."""
        if not self.stop.ready(self._session):
            return
        if self.at + 1 == len(STOPS):
            self.leave()
            return
        self._going = True
        self.stop.leads_on(self._session)
        self._go(self.at + 1)

    def back(self) -> None:
        """The step before; from the results back past the start of the run."""
        if self.at > 0:
            self._go(START - 1 if self.at == TUNE else self.at - 1)

    def leave(self) -> None:
        """End it; what a person had open comes back."""
        if self.at < 0:
            return
        self.at = -1
        self._timer.stop()
        QApplication.instance().removeEventFilter(self)
        self._session.run_changed.disconnect(self._follow)
        self._session.problem.disconnect(self._follow)
        for part in (self.frame, self.card):
            part.hide()
            part.deleteLater()
        self._give_back()
        self.left.emit()

    def _give_back(self) -> None:
        """The data and the plan that were open before, where the sample still is."""
        session = self._session
        if self._own is None or session.data is None or session.data.file != _file():
            return
        data, plan = self._own
        if data == session.data:
            if plan is not None:
                session.set_plan(**{one.name: getattr(plan, one.name) for one in fields(plan)})
            return

        def again() -> None:
            session.return_to(data, plan)

        if not session.is_going_on:
            again()
            return
        name = data.file.replace("\\", "/").rsplit("/", 1)[-1]
        self._window.notice.say("The run on the sample goes on.", f"Open {name} again", again)

    # Where it is ------------------------------------------------------------------------------

    def _go(self, at: int) -> None:
        self._going = True
        self.at = at
        self.stop.begin(self._session)
        self._show_page()
        self._going = False
        self._follow()
        self.card.next.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_page(self) -> None:
        page = self.stop.page
        if self._window.here != page and (page != "data" or self._session.summary):
            self._window.go(page)

    def _follow(self) -> None:
        """Bring card and frame to where the control is now, with what is true now."""
        if self.at < 0 or self._going:
            return
        if not self._is_sample():
            self.leave()
            return
        if self.at == START and self._session.state == "running":
            self._go(TUNE)  # a person pressed the real button
            return
        if self._window.here != self.stop.page and not self._may_come():
            self.leave()
            return
        self._say()
        self._place()

    def _may_come(self) -> bool:
        """The page of the sample comes when it has been read."""
        if self.stop.page != "data" or self._window.here != "start":
            return False
        if self._session.summary is not None:
            self._show_page()
        return True

    def _is_sample(self) -> bool:
        """Whether the sample is open, or was asked for and is on its way."""
        data = self._session.data
        return data is None or data.file == _file() or self._session.opens == _file()

    def _say(self) -> None:
        last = self.at + 1 == len(STOPS)
        ready = self.stop.ready(self._session)
        waits = self.at == TUNE and self._session.is_going_on
        why = "The results come when the run has ended." if waits else "It is not there yet."
        self.card.next.rename("Done" if last else "Next")
        self.card.next.allow(ready, why)
        self.card.back.allow(self.at > 0, "This is the first step.")
        place = f"Step {self.at + 1} of {len(STOPS)} · arrow keys and Esc work too"
        self.card.show_words(self.stop.title, self.stop.words(self._session), place)

    def _place(self) -> None:
        target = self._target()
        size = self.card.fitting()
        room = self._window.rect().adjusted(12, 12, -12, -12)
        self.card.resize(size)
        self.card.move(beside(target, size, room))
        around = target.adjusted(-AROUND, -AROUND, AROUND, AROUND)
        self.frame.setGeometry(around.intersected(self._window.rect()))
        for part in (self.frame, self.card):
            part.show()
            part.raise_()

    def _target(self) -> QRect:
        """Where the control is in the window: what is seen of it; the page where it is nowhere."""
        page = self._window.stack.currentWidget()
        found = self.stop.target(self._window) if self._window.here == self.stop.page else None
        if found is None or not found.isVisible():
            return _in(self._window, page)
        if page.scroll.isAncestorOf(found):
            view = _in(self._window, page.scroll)
            place = _in(self._window, found)
            if not view.intersects(place):
                page.scroll.ensureWidgetVisible(found)
                place = _in(self._window, found)
            return place.intersected(view)
        return _in(self._window, found)

    # What a person does -----------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrow keys and Esc at the card; a click elsewhere leaves, and does what it does."""
        if self.at < 0 or not isinstance(watched, QWidget):
            return False
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(watched, event)
        pressed = isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress
        if pressed and not self._is_ours(watched, event):
            QTimer.singleShot(0, self, self.leave)
        return False

    def _key(self, watched: QWidget, event: QKeyEvent) -> bool:
        if watched is not self.card and not self.card.isAncestorOf(watched):
            return False
        does = {
            Qt.Key.Key_Right: self.next,
            Qt.Key.Key_Left: self.back,
            Qt.Key.Key_Escape: self.leave,
        }.get(event.key())
        if does is not None:
            does()
        return does is not None

    def _is_ours(self, watched: QWidget, event: QMouseEvent) -> bool:
        """Whether a click is on the card or on the control that it speaks of."""
        if watched.window() is not self._window:
            return True  # a menu or a dialog
        at = self._window.mapFromGlobal(event.globalPosition().toPoint())
        return self.card.geometry().contains(at) or self.frame.geometry().contains(at)


def _file() -> str:
    return f"sample:{SAMPLE}"


def _in(window: QWidget, part: QWidget) -> QRect:
    return QRect(part.mapTo(window, part.rect().topLeft()), part.size())
