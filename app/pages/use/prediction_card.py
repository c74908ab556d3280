"""The prediction for the row in the form."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from app.look import appearance
from app.text.number_format import percent
from app.text.prediction_text import (
    predicted_text,
    prediction_interval_text,
    true_value_text,
    unlike_row_text,
)
from app.widgets.card import Card
from app.widgets.text_labels import plain_tooltip, wrapping_label
from core.export.using.row_answers import ModelForm, RowPrediction, TestRow

MAX_BARS = 8


class ShareBar(QWidget):
    """A class, its probability in words and as a bar."""

    def __init__(self) -> None:
        super().__init__()
        self._name, self._share = "", 0.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_share(self, name: str, share: float) -> None:
        """Show another class or probability."""
        self._name, self._share = " ".join(name.split()), share
        share_line = f"{self._name}: {percent(share)}"
        self.setToolTip(plain_tooltip(share_line))
        self.setAccessibleName(share_line)
        self.update()

    def sizeHint(self) -> QSize:
        """A line of words, and the bar below."""
        return QSize(160, self.fontMetrics().height() + 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw name, percent and bar."""
        theme = appearance.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = self.fontMetrics().height()
        percent_text = percent(self._share)
        percent_width = self.fontMetrics().horizontalAdvance(percent_text) + 8
        painter.setPen(QColor(theme.ink))
        elide = Qt.TextElideMode.ElideRight
        name = self.fontMetrics().elidedText(self._name, elide, self.width() - percent_width)
        painter.drawText(QRectF(0, 0, self.width() - percent_width, height), name)
        alignment = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop
        painter.drawText(QRectF(0, 0, self.width(), height), alignment, percent_text)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.line))
        painter.drawRoundedRect(QRectF(0, height + 3, self.width(), 6), 3, 3)
        painter.setBrush(QColor(theme.accent))
        bar_width = max(0.0, min(1.0, self._share)) * self.width()
        painter.drawRoundedRect(QRectF(0, height + 3, bar_width, 6), 3, 3)


class PredictionCard(Card):
    """The prediction beside the form."""

    def __init__(self) -> None:
        super().__init__("Prediction")
        self.prediction_label = wrapping_label("", "heading")
        self.prediction_label.setAccessibleName("Prediction")
        self.problem = wrapping_label("", "warning")
        self.unlike = wrapping_label("", "warning")
        self.interval = wrapping_label("", "caption")
        self.original = wrapping_label("", "muted")
        self.truth = wrapping_label("", "muted")
        self.notes = wrapping_label("", "caption")
        self._bars: list[ShareBar] = []
        self._bar_box = QVBoxLayout()
        self._bar_box.setSpacing(4)
        self._more = wrapping_label("", "caption")
        self.body.addWidget(self.prediction_label)
        self.body.addWidget(self.problem)
        self.body.addLayout(self._bar_box)
        answer_labels = (self._more, self.interval, self.unlike)
        for text_label in (*answer_labels, self.original, self.truth, self.notes):
            self.body.addWidget(text_label)
        self.body.addStretch(1)
        self.clear_answer()

    def clear_answer(self) -> None:
        """Forget the answers."""
        self._form: ModelForm | None = None
        self.show_problem("")
        for text_label in (self.original, self.truth, self.notes):
            _set_text(text_label, "")

    def set_form(self, form: ModelForm, notes: str) -> None:
        """Show answers of this model from now on."""
        self.clear_answer()
        self._form = form
        target = " ".join(form.target.split()) or "the target"
        self.set_words(f"Prediction of {target}")
        _set_text(self.notes, notes)

    def show_prediction(self, prediction: RowPrediction) -> None:
        """Show the current prediction."""
        interval = self._form.interval if self._form is not None else None
        _set_text(self.problem, "")
        _set_text(self.prediction_label, predicted_text(prediction))
        self._show_shares(prediction.shares)
        _set_text(self.interval, prediction_interval_text(prediction, interval))
        _set_text(self.unlike, unlike_row_text(prediction.unlike))

    def show_problem(self, problem: str) -> None:
        """Show why there is no prediction."""
        _set_text(self.problem, problem)
        self._show_shares([])
        for text_label in (self.prediction_label, self.interval, self.unlike):
            _set_text(text_label, "")

    def show_original(self, prediction: RowPrediction | None) -> None:
        """Show the prediction before the changes; None hides it."""
        words = f"Before the changes: {predicted_text(prediction)}" if prediction else ""
        _set_text(self.original, words)

    def show_truth(self, test_row: TestRow | None) -> None:
        """Show the true value of a row of the test set; None hides it."""
        _set_text(self.truth, true_value_text(test_row) if test_row else "")

    def _show_shares(self, shares: Sequence[tuple[str, float]]) -> None:
        while len(self._bars) < min(len(shares), MAX_BARS):
            self._bars.append(ShareBar())
            self._bar_box.addWidget(self._bars[-1])
        for index, bar in enumerate(self._bars):
            bar.setVisible(index < len(shares))
            if index < len(shares):
                bar.show_share(*shares[index])
        hidden = len(shares) - MAX_BARS
        words = f"{hidden:,} less likely classes are not shown." if hidden > 0 else ""
        _set_text(self._more, words)


def _set_text(text_label: QLabel, words: str) -> None:
    text_label.setText(words)
    text_label.setVisible(bool(words))
