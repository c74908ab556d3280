"""The tour through the window on a sample: a card beside one control after the other."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QWidget

from app.look import appearance
from app.pages.page import Page
from app.session.session import Session
from app.text.rail_text import model_title, strategy_title
from app.widgets.buttons import LinkButton, PlainButton, PrimaryButton
from app.widgets.layouts import in_column, in_row
from app.widgets.text_labels import wrapping_label

SAMPLE, MODEL, STRATEGY, TRIALS = "breast-cancer", "svm", "gp", 16
SAMPLE_FILE = f"sample:{SAMPLE}"
WIDE = 330  # pixels
GAP = 14  # between control and card
AROUND = 5  # between control and frame
FOLLOWS = 120  # milliseconds between two updates of the position


@dataclass(frozen=True)
class TourStop:
    """A stop of the tour."""

    page: str  # key in the window
    title: str
    words: Callable[[Session], str] | str
    target: str  # the control, as `Page.tour_target` names it
    begin: Callable[[Session], None] = lambda session: None
    ready: Callable[[Session], bool] = lambda session: True  # for the next stop
    leads_on: Callable[[Session], None] = lambda session: None  # called before the next stop


def _data_text(session: Session) -> str:
    summary = session.summary
    if summary is None or session.plan is None:
        return "The sample is being read …"
    rows = summary.task.count_text(summary.rows)
    return (
        f"This is a sample, {summary.name}: {rows}, {summary.features} columns to predict "
        "from. Your own table is opened in the same way. Each column has a role and a kind, which "
        "you can change in the head of the table."
    )


def _question_text(session: Session) -> str:
    target = (session.summary and session.summary.target) or "the target"
    return f"One column is predicted, here “{target}”. The others are what is known beforehand."


def _model_text(session: Session) -> str:
    title = model_title(session.plan, session.advice)
    return (
        "Here you choose what kind of model learns from the table. One is recommended, with the "
        f"reason. For this tour it is: {title}, which takes seconds."
    )


def _strategy_text(session: Session) -> str:
    return (
        "A strategy decides which settings of the model are tried next. Each card says what it "
        f"does and costs. For this tour it is: {strategy_title(session.plan, session.advice)}."
    )


def _budget_text(session: Session) -> str:
    trials = session.plan.trials if session.plan is not None else None
    end = "Tuning ends by itself after so many minutes or trials, whichever comes first."
    return f"{end} {trials} trials are enough for this tour." if trials else end


def _tune_text(session: Session) -> str:
    count = len(session.shown.state.trials)
    match session.state:
        case "running":
            progress = f"It is running: {count} trials so far."
            meaning = "Each dot is a setting that was tried."
            return f"{progress} {meaning} Next waits until the results are there."
        case "paused":
            return f"The run is paused after {count} trials. Resume continues it."
        case "stopping":
            return f"The tuning has ended after {count} trials; the best setting is being tested."
        case "finished" if session.results:
            return f"The run is over: {count} trials. Every dot is a setting that was tried."
        case "finished" | "interrupted":
            return (
                f"The run has ended after {count} trials without results, so the tour ends here. "
                "You can take it again at any time."
            )
    return "No run is in progress, so the tour ends here. You can take it again at any time."


def _results_text(session: Session) -> str:
    results = session.results
    if results is None:
        return "There are no results to show, so the tour ends here."
    from core.tuning.results.answer import answer_of  # not for the first paint: it brings numpy

    answer = answer_of(results, session.shown.state.started)
    return (
        f"{answer.ability} {answer.tuning} That comes from rows that the tuning never saw, beside "
        "the default setting and the baseline."
    )


def _prepare_strategy(session: Session) -> None:
    session.choose_strategy(STRATEGY)
    session.set_plan(trials=TRIALS, minutes=None)


def _has_ended(session: Session) -> bool:
    return session.state == "finished" and session.results is not None


def _begin_run(session: Session) -> None:
    if not session.is_going_on:
        session.start()


START_TEXT = "Everything is set. Next presses this button, and a short real tuning runs."
EXPORT_TEXT = (
    "Everything can be exported: the model, its numbers, a script, a report. That was the tour; "
    "Done leads back to where it began. Help and the first page start it again."
)
STOPS = (
    TourStop("data", "1 Data", _data_text, "table", ready=lambda s: s.plan is not None),
    TourStop("data", "1 Data: the question", _question_text, "question"),
    TourStop("model", "2 Model", _model_text, "chosen card", lambda s: s.choose_model(MODEL)),
    TourStop("strategy", "3 Strategy", _strategy_text, "chosen card", _prepare_strategy),
    TourStop("strategy", "3 Strategy: how long", _budget_text, "budget"),
    TourStop("strategy", "4 Tune: the start", START_TEXT, "start", leads_on=_begin_run),
    TourStop("tune", "4 Tune", _tune_text, "best so far", ready=_has_ended),
    TourStop("results", "5 Results", _results_text, "scores"),
    TourStop("export", "6 Export", EXPORT_TEXT, "save"),
)
START, TUNE = 5, 6  # the stops before and during the run


class TourFrame(QWidget):
    """A line around a control; clicks go through it."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName("Frame around the control that the tour speaks of")

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = appearance.current()
        box = self.rect().adjusted(3, 3, -3, -3)
        for width, colour in ((6, theme.paper), (3, theme.accent)):
            painter.setPen(QPen(QColor(colour), width))
            painter.drawRoundedRect(box, 9, 9)


class TourCard(QFrame):
    """Heading, text, and the buttons Back, Next and Leave."""

    back_pressed = Signal()
    next_pressed = Signal()
    leave_pressed = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setProperty("card", "tour")
        self._window = window
        self._title = wrapping_label("", "cardtitle")
        self.words = wrapping_label()
        self._position_label = wrapping_label("", "caption")
        self.leave = LinkButton("Leave", self.leave_pressed.emit)
        self.leave.setAccessibleName("Leave the tour")
        self.back = PlainButton("Back", self.back_pressed.emit)
        self.back.setAccessibleName("Back to the step before")
        self.next = PrimaryButton("Next", self.next_pressed.emit)
        row = in_row(self.leave, 1, self.back, self.next, gap=6)
        lines = (self._title, self.words, self._position_label, row)
        self._column = in_column(*lines, on=self, gap=6, margins=(16, 12, 16, 12))

    def show_words(self, title: str, words: str, position: str) -> None:
        if (title, words) == (self._title.text(), self.words.text()):
            return
        self._title.setText(title)
        self.words.setText(words)
        self._position_label.setText(position)
        self.setAccessibleName(f"Tour: {title}")
        self.setAccessibleDescription(words)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def fitting(self) -> QSize:
        wide = min(appearance.pixels(WIDE), self._window.width() - 24)
        least = self._column.totalMinimumSize()
        wide = max(wide, least.width())
        high = max(self._column.totalHeightForWidth(wide), least.height())
        return QSize(wide, min(high, self._window.height() - 24))


def card_position(target: QRect, size: QSize, room: QRect) -> QPoint:
    """Right of a control, left, below, above; else over its corner."""
    x = max(room.left(), min(target.left(), room.right() - size.width()))
    y = max(room.top(), min(target.top(), room.bottom() - size.height()))
    west, north = target.left() - GAP - size.width(), target.top() - GAP - size.height()
    east, south = target.right() + GAP, target.bottom() + GAP
    for corner in (QPoint(east, y), QPoint(west, y), QPoint(x, south), QPoint(x, north)):
        if room.contains(QRect(corner, size)):
            return corner
    corner = room.bottomRight() - QPoint(size.width(), size.height())
    return QPoint(max(room.left(), corner.x()), max(room.top(), corner.y()))


class Tour(QObject):
    """One tour, which ends when the person does something else."""

    tour_ended = Signal()  # the earlier data are open again
    page_wanted = Signal(str)  # the key of a page
    return_offered = Signal(str, object)  # the file that was open before, and what opens it again

    def __init__(
        self, window: QWidget, session: Session, shown_page: Callable[[], tuple[str, Page]]
    ) -> None:
        """`shown_page` is the page in front, with its key."""
        super().__init__(window)
        self._window, self._session, self._shown_page = window, session, shown_page
        self._first_page = shown_page()[0]
        self._earlier = (session.data, session.plan, session.shown)
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
        return STOPS[self.index]

    def start(self) -> None:
        appearance.application().installEventFilter(self)
        if self._session.data is None or self._session.data.file != SAMPLE_FILE:
            self._session.open_sample(SAMPLE)
        self._timer.start()
        self._go_to(0)

    def go_forward(self) -> None:
        if not self.current_stop.ready(self._session):
            return
        if self.index + 1 == len(STOPS):
            self.end_tour()
            return
        self._going = True
        self.current_stop.leads_on(self._session)
        self._go_to(self.index + 1)

    def go_back(self) -> None:
        if self.index > 0:
            self._go_to(START - 1 if self.index == TUNE else self.index - 1)

    def end_tour(self, has_gone_on: bool = False) -> None:
        """End where it began, unless the person is elsewhere."""
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
        if not (has_gone_on or self._session.is_going_on):
            self.page_wanted.emit(self._first_page)
        self.tour_ended.emit()

    def _give_back(self) -> None:
        session, (data, plan, run) = self._session, self._earlier
        is_changed = self._earlier != (session.data, session.plan, session.shown)
        if data is None or not is_changed or not self._is_sample():
            return

        reopen = partial(session.return_to, data, plan, run)
        if session.is_going_on:
            self.return_offered.emit(data.file.replace("\\", "/").rsplit("/", 1)[-1], reopen)
        else:
            reopen()

    # Position ---------------------------------------------------------------------------------

    def _go_to(self, index: int) -> None:
        self._going = True
        self.index = index
        self.current_stop.begin(self._session)
        self._show_page()
        self._going = False
        self._follow_control()
        self._focus_button()

    def _focus_button(self) -> None:
        """Focus Next; while that waits, the card would lose its keys with it."""
        button = self.card.next if self.card.next.isEnabled() else self.card.leave
        button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_page(self) -> None:
        page = self.current_stop.page
        if self._shown_page()[0] != page and (page != "data" or self._session.summary):
            self.page_wanted.emit(page)

    def _follow_control(self) -> None:
        if self.index < 0 or self._going:
            return
        if not self._is_sample():
            self.end_tour(has_gone_on=True)
            return
        if self.index == START and self._session.state == "running":
            # A person pressed the real button that the card points at.
            self._go_to(TUNE)
            return
        # The person went on alone.
        if self._shown_page()[0] != self.current_stop.page and not self._may_come():
            self.end_tour(has_gone_on=True)
            return
        self._update_card()
        self._lay_out()

    def _may_come(self) -> bool:
        if self.current_stop.page != "data" or self._shown_page()[0] != "start":
            return False
        if self._session.summary is not None:
            self._show_page()
        return True

    def _is_sample(self) -> bool:
        data, session = self._session.data, self._session
        return data is None or SAMPLE_FILE in (data.file, session.requested_file)

    def _update_card(self) -> None:
        last = self.index + 1 == len(STOPS)
        ready = self.current_stop.ready(self._session)
        waits = self.index == TUNE and self._session.is_going_on
        why = "The results come when the run has ended." if waits else "It is not there yet."
        self.card.next.set_label("Done" if last else "Next")
        has_focus = self.card.isAncestorOf(QApplication.focusWidget() or self._window)
        is_other = ready != self.card.next.isEnabled()
        self.card.next.set_allowed(ready, why)
        if has_focus and is_other:
            self._focus_button()
        self.card.back.set_allowed(self.index > 0, "This is the first step.")
        position = f"Step {self.index + 1} of {len(STOPS)} · arrow keys and Esc work too"
        words = self.current_stop.words
        text = words if isinstance(words, str) else words(self._session)
        self.card.show_words(self.current_stop.title, text, position)

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
        here, page = self._shown_page()
        is_here = here == self.current_stop.page
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
        if self.index < 0 or not isinstance(watched, QWidget):
            return False
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._handle_key(watched, event)
        is_press = event.type() == QEvent.Type.MouseButtonPress
        if is_press and isinstance(event, QMouseEvent) and not self._is_ours(watched, event):
            # Later: the click first does what it does.
            QTimer.singleShot(0, self, lambda: self.end_tour(has_gone_on=True))
        return False

    def _handle_key(self, watched: QWidget, event: QKeyEvent) -> bool:
        is_card = watched is self.card or self.card.isAncestorOf(watched)
        # What no control has used reaches the window in the end.
        if not (is_card or watched is self._window or isinstance(watched, QPushButton)):
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
            # A menu or a dialog, which the person was led to.
            return True
        point = self._window.mapFromGlobal(event.globalPosition().toPoint())
        return self.card.geometry().contains(point) or self.frame.geometry().contains(point)


def _rectangle_in(window: QWidget, widget: QWidget) -> QRect:
    return QRect(widget.mapTo(window, widget.rect().topLeft()), widget.size())
