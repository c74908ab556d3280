"""What every page has: a head with one primary button, a scrolling body, words for the panel."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from PySide6.QtCore import QEvent, Qt, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.look import appearance
from app.session.session import Session
from app.widgets.buttons import PlainButton, PrimaryButton
from app.widgets.layouts import TextWidget, add_to, in_column, in_row, scrolling
from app.widgets.text_labels import breakable_text, show_text, wrapping_label
from core.wording import MAX_NAME, shortened_text, with_short_names

NARROW = 660  # pixels at the usual text size, below which a title may take two lines


class Page(QWidget):
    """One page, made at its first visit; `visited` is called each time it comes to the front."""

    step_wanted = Signal(str)  # the key of the step, such as data
    run_wanted = Signal(object)  # the folder of a past run
    tour_wanted = Signal()
    comparison_wanted = Signal(object)  # the folders of past runs
    panel_changed = Signal()  # `words`
    head_changed = Signal(str, str)  # title and subtitle

    topic: ClassVar[str] = "start"  # the help text of “Read more”
    wide: ClassVar[bool] = False  # takes the panel's place too
    changes_title: ClassVar[bool] = False  # with what it shows

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.words: tuple[str, tuple[str, ...]] = ("", ())  # of the panel: title, sentences
        self.title = ""
        self._is_stale = False
        self.under_head = in_column(margins=(0, 0, 12, 0))
        self.body = QVBoxLayout()
        rows = (self._make_head(), self.under_head, (self._make_body(), 1))
        in_column(*rows, on=self, gap=6, margins=(22, 14, 10, 10))

    def _make_head(self) -> QBoxLayout:
        self._title = wrapping_label("", "heading")
        self._subtitle = wrapping_label("", "muted")
        self._subtitle.hide()
        self._lines = QWidget()
        in_column(self._title, self._subtitle, 1, on=self._lines, gap=2)
        head = self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        head.setContentsMargins(0, 0, 12, 0)
        head.setSpacing(10)
        self._icons = in_row(gap=4)
        self._buttons = in_row(gap=10)
        add_to(head, (in_row((self._lines, 1), self._icons, gap=10), 1), self._buttons)
        head.setAlignment(self._buttons, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        return head

    def _make_body(self) -> QScrollArea:
        content = TextWidget()
        content.setLayout(self.body)
        self.body.setContentsMargins(0, 0, 12, 4)
        self.body.setSpacing(12)
        self.scroll_area = scrolling(content)
        return self.scroll_area

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_head()

    def event(self, event: QEvent) -> bool:
        # Buttons come and go and change their labels while the width stays.
        if event.type() == QEvent.Type.LayoutRequest:
            self._fit_head()
        return super().event(event)

    def _fit_head(self) -> None:
        # Room for a title, of two lines where it is narrow, and two lines below, so that nothing
        # moves when they come or go.
        title, line = (w.fontMetrics().lineSpacing() for w in (self._title, self._subtitle))
        is_narrow = self.changes_title and self.width() < appearance.pixels(NARROW)
        room = (1 + is_narrow) * title + 2 * line + 4
        needed = self._lines.heightForWidth(self._lines.width())
        self._lines.setMinimumHeight(max(room, needed))
        # Where the head is too narrow for words beside buttons, the buttons go below.
        buttons_width = self._buttons.sizeHint().width() + self._icons.sizeHint().width()
        min_width = buttons_width + appearance.pixels(260)
        horizontal, vertical = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom
        direction = vertical if min_width > self.width() else horizontal
        if self._head.direction() != direction:
            self._head.setDirection(direction)

    def set_head(self, title: str, subtitle: str = "") -> None:
        title, subtitle = shortened_text(title, MAX_NAME), with_short_names(subtitle)
        if (title, subtitle) == (self.title, self._subtitle.text()):
            return
        self.title = title
        self._title.setText(breakable_text(title))
        show_text(self._subtitle, subtitle)
        self.setAccessibleName(title)
        self.head_changed.emit(title, subtitle)

    def add_button(self, text: str, press: Callable[[], object], icon: str = "") -> PlainButton:
        button = PlainButton(text, press, icon)
        self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return button

    def add_icon(self, button: QWidget) -> None:
        self._icons.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)

    def add_primary(self, text: str, press: Callable[[], object], icon: str = "") -> PrimaryButton:
        button = PrimaryButton(text, press, icon)
        self._buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return button

    def set_panel(self, title: str, sentences: Sequence[str]) -> None:
        words = (title, tuple(map(with_short_names, sentences)))
        if words != self.words:
            self.words = words
            self.panel_changed.emit()

    def save_asked(self) -> None:
        self.step_wanted.emit("export")

    def tour_target(self, name: str) -> QWidget | None:
        return None

    def steps(self) -> Iterator[object]:
        """Make, one at a time before the first visit, what stops the window if made at once."""
        return iter(())

    def visited(self) -> None:
        """The page comes to the front."""
        self.refresh()

    def refresh_after(self, *signals: SignalInstance) -> None:
        for signal in signals:
            signal.connect(self.request_refresh)

    def refresh(self) -> None:
        """Show the session as it is now."""

    def request_refresh(self) -> None:
        """Refresh the page, or a hidden one when it is shown next."""
        self._is_stale = not self.isVisible()
        if not self._is_stale:
            self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_stale:
            self.request_refresh()
