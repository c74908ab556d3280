"""What the model says of the row in the form: prediction, probabilities, interval, what it was."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.look import appearance
from app.text.numbers import percent
from app.text.use import (
    interval_in_words,
    prediction_in_words,
    truth_in_words,
    unlike_in_words,
)
from app.widgets.card import Card
from app.widgets.labels import label, tip

MOST_BARS = 8


class ShareBar(QWidget):
    """A class, its probability in words and as a bar."""

    def __init__(self) -> None:
        super().__init__()
        self._name, self._share = "", 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def say(self, name: str, share: float) -> None:
        """Show another class or probability."""
        self._name, self._share = " ".join(name.split()), share
        said = f"{self._name}: {percent(share)}"
        self.setToolTip(tip(said))
        self.setAccessibleName(said)
        self.update()

    def sizeHint(self) -> QSize:
        """Two lines: words, and the bar below."""
        return QSize(160, self.fontMetrics().height() + 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw name, percent and bar."""
        theme = appearance.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = self.fontMetrics().height()
        said = percent(self._share)
        wide = self.fontMetrics().horizontalAdvance(said) + 8
        painter.setPen(QColor(theme.ink))
        name = self.fontMetrics().elidedText(
            self._name, Qt.TextElideMode.ElideRight, self.width() - wide
        )
        painter.drawText(QRectF(0, 0, self.width() - wide, height), name)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
        painter.drawText(QRectF(0, 0, self.width(), height), right, said)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.line))
        painter.drawRoundedRect(QRectF(0, height + 3, self.width(), 6), 3, 3)
        painter.setBrush(QColor(theme.accent))
        filled = max(0.0, min(1.0, self._share)) * self.width()
        painter.drawRoundedRect(QRectF(0, height + 3, filled, 6), 3, 3)


class Answer(Card):
    """The prediction beside the form."""

    def __init__(self) -> None:
        super().__init__("Prediction")
        self.said = label("", "heading")
        self.said.setAccessibleName("Prediction")
        self.problem = label("", "warning")
        self.unlike = label("", "warning")
        self.interval = label("", "caption")
        self.original = label("", "muted")
        self.truth = label("", "muted")
        self.notes = label("", "caption")
        self._bars: list[ShareBar] = []
        self._bar_box = QVBoxLayout()
        self._bar_box.setSpacing(4)
        self._more = label("", "caption")
        self.body.addWidget(self.said)
        self.body.addWidget(self.problem)
        self.body.addLayout(self._bar_box)
        for part in (self._more, self.interval, self.unlike, self.original, self.truth, self.notes):
            self.body.addWidget(part)
        self.body.addStretch(1)
        self.forget()

    def forget(self) -> None:
        """Nothing was asked yet."""
        self._form: dict[str, Any] = {}
        for part in (self.said, self.problem, self.unlike, self.interval, self._more):
            _show(part, "")
        for part in (self.original, self.truth, self.notes):
            _show(part, "")
        for bar in self._bars:
            bar.hide()

    def begin(self, form: dict[str, Any], notes: str) -> None:
        """Answers are about this model from now on."""
        self.forget()
        self._form = form
        target = " ".join(str(form["target"]).split()) or "the target"
        self.set_words(f"Prediction of {target}")
        _show(self.notes, notes)

    def show_answer(self, said: dict[str, Any]) -> None:
        """Show what the model says now; of a row that cannot be asked about, why."""
        problem = str(said.get("problem", ""))
        _show(self.problem, problem)
        if problem:
            self._show_shares([])
            _show(self.said, "")
            _show(self.interval, "")
            _show(self.unlike, "")
            return
        _show(self.said, prediction_in_words(said))
        self._show_shares(said["shares"])
        _show(self.interval, interval_in_words(said, self._form.get("interval")))
        _show(self.unlike, unlike_in_words(said["unlike"]))

    def show_original(self, said: dict[str, Any] | None, changed: bool) -> None:
        """Show what was said of the row as it began, once it was changed."""
        fine = said is not None and "problem" not in said and changed
        words = f"Before the changes: {prediction_in_words(said)}" if fine and said else ""
        _show(self.original, words)

    def show_truth(self, found: dict[str, Any] | None) -> None:
        """Show the truth of a row of the test set; None of any other row."""
        _show(self.truth, truth_in_words(found) if found else "")

    def _show_shares(self, shares: list[Any]) -> None:
        while len(self._bars) < min(len(shares), MOST_BARS):
            self._bars.append(ShareBar())
            self._bar_box.addWidget(self._bars[-1])
        for at, bar in enumerate(self._bars):
            bar.setVisible(at < len(shares))
            if at < len(shares):
                bar.say(*shares[at])
        left = len(shares) - MOST_BARS
        _show(self._more, f"{left:,} less likely classes are not shown." if left > 0 else "")


def _show(part: Any, words: str) -> None:
    part.setText(words)
    part.setVisible(bool(words))
