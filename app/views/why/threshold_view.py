"""ROC and precision–recall curves with a threshold."""

from __future__ import annotations

import itertools

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.look import appearance
from app.text.number_format import format_decimals, format_number
from app.text.results.explanation_text import threshold_text
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, pen
from app.views.results.result_view import hidden_chooser
from app.views.why.why_view import WhyView, has_classes, of_rows
from app.widgets.quiet_controls import QuietSlider
from app.widgets.text_labels import wrapping_label
from core.tuning.run_results import Results
from core.tuning.why.answer_types import Answer, ClassDiagnostics, ThresholdTally


class ThresholdView(WhyView[ClassDiagnostics]):
    """Both curves; drags or the slider move the handle."""

    name = "threshold"
    title = "How well does it tell classes apart?"
    question = (
        "Dashed: baseline. The dot is a threshold: drag it, or move the slider by the arrow "
        "keys. Diamond: the threshold that the model decides by."
    )
    waiting = "Two curves appear here."
    asks = "rows"
    answer_type = ClassDiagnostics
    wide = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.roc, self.recall = self.canvas.add_plot(), self.canvas.add_plot(column=1)
        self.roc.bottom.set_title("others called it (false positive rate)")
        self.roc.left.set_title("found (recall)")
        self.recall.bottom.set_title("found (recall)")
        self.recall.left.set_title("rightly called (precision)")
        self.items = {}  # of each plot: curve, baseline, the model's threshold, handle
        for plot in (self.roc, self.recall):
            self.items[plot] = (Lines(), Lines(), Dots("diamond", 13), Dots("circle", 14))
            plot.add_marks(*self.items[plot])
        self.canvas.viewport().installEventFilter(self)
        self._dragged = False

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Classes of rows of a table."""
        return of_rows(results) and has_classes(results)

    def controls(self) -> list[QWidget]:
        """The class against the rest."""
        self.which = hidden_chooser("Class", self._restart_slider)
        return [self.which, *super().controls()]

    def make_content(self) -> QWidget:
        """The canvas, the slider, and the counts at the threshold."""
        container = QWidget()
        column = QVBoxLayout(container)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(super().make_content(), 1)
        below = QHBoxLayout()
        below.setSpacing(24)
        self.slider = QuietSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Threshold")
        self.slider.valueChanged.connect(lambda _index: self.redraw())
        words = QVBoxLayout()
        words.addWidget(self.slider)
        self.sentence = wrapping_label("", "muted")
        words.addWidget(self.sentence)
        below.addLayout(words, 1)
        below.addLayout(self._make_counts())
        column.addLayout(below)
        return container

    def _make_counts(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(0)
        self.counts: dict[tuple[int, int], QLabel] = {}
        for row, column in itertools.product(range(3), range(3)):
            cell = wrapping_label("", "muted" if not row or not column else "")
            cell.setWordWrap(False)
            cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(cell, row, column)
            self.counts[row, column] = cell
        return grid

    def show_answer(self, answer: Answer) -> None:
        """Show other classes; the threshold is the model's own."""
        self._answer = answer if isinstance(answer, ClassDiagnostics) else None
        self.which.clear()
        self.which.addItems([] if self._answer is None else self._answer.labels)
        self.which.setVisible(self._answer is not None)
        self._restart_slider()
        super().show_answer(answer)

    def _restart_slider(self) -> None:
        if self._answer is None:
            return
        last = len(self._class_tally().thresholds) - 1
        self.slider.blockSignals(True)
        self.slider.setRange(0, last)
        # Thresholds fall, the slider rises to the right as thresholds do.
        self.slider.setValue(last - self._start_index())
        self.slider.blockSignals(False)
        self.redraw()

    def _start_index(self) -> int:
        """The model's threshold, else the maximum of Youden's J."""
        tally = self._class_tally()
        if (chosen := self.decision_index()) is not None:
            return chosen
        true, false = np.array(tally.true), np.array(tally.false)
        return int(np.argmax(true / max(tally.positives, 1) - false / max(tally.negatives, 1)))

    def decision_index(self) -> int | None:
        """The index of the model's threshold, or None."""
        value = self.answer.chosen
        if value is None:
            return None
        if self.which.currentText() != self.answer.second:
            value = 1 - value
        called = np.flatnonzero(np.array(self._class_tally().thresholds) >= value)
        return int(called[-1]) if len(called) else 0

    def _class_tally(self) -> ThresholdTally:
        return self.answer.of[self.which.currentText()]

    def handle_index(self) -> int:
        """The index of the handle's threshold."""
        return self.slider.maximum() - self.slider.value()

    def _curve_shares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """False positive rate, recall and precision at every threshold."""
        tally = self._class_tally()
        true, false = np.array(tally.true, float), np.array(tally.false, float)
        called = np.maximum(true + false, 1.0)
        return false / max(tally.negatives, 1), true / max(tally.positives, 1), true / called

    def draw(self) -> None:
        """Draw curves, baselines and handle."""
        theme, base = appearance.current(), self._class_tally().share
        wrong, recall, right = self._curve_shares()
        lines = {
            self.roc: (np.append(0.0, wrong), np.append(0.0, recall), [0.0, 1.0], [0.0, 1.0]),
            self.recall: (recall, right, [0.0, 1.0], [base, base]),
        }
        index, chosen = self.handle_index(), self.decision_index()
        for plot, (x, y, base_x, base_y) in lines.items():
            curve, baseline, mark, handle = self.items[plot]
            curve.set_style(pen(theme.model, 2.2))
            baseline.set_style(pen(theme.muted, 1.4, dashed=True))
            mark.set_style(theme.paper, theme.ink, 1.8)
            handle.set_style(theme.observed, theme.ink, 1.2)
            curve.set_data(x, y)
            baseline.set_data(base_x, base_y)
            shift = len(x) - len(recall)  # the ROC curve begins at 0, 0
            indices = [] if chosen is None else [chosen + shift]
            mark.set_data([x[p] for p in indices], [y[p] for p in indices])
            handle.set_data([x[index + shift]], [y[index + shift]])
            plot.hold_x(-0.03, 1.03, exact=True)
            plot.hold_y(-0.03, 1.05, exact=True)
        self._show_counts()

    def _show_counts(self) -> None:
        tally, index, name = self._class_tally(), self.handle_index(), self.which.currentText()
        true, false = tally.true[index], tally.false[index]
        counts = (true, false, tally.positives, tally.negatives)
        threshold = tally.thresholds[index]
        self.sentence.setText(threshold_text(name, threshold, self.answer.scale, counts))
        short = name if len(name) <= 14 else name[:13] + "…"
        table: list[list[str | int]] = [
            ["test rows", f"predicted {short}", "predicted other"],
            [f"true {short}", true, tally.positives - true],
            ["true other", false, tally.negatives - false],
        ]
        for (row, column), cell in self.counts.items():
            cell.setText(str(table[row][column]))

    def describe(self) -> str:
        """Both areas with their intervals, and the threshold's effect."""
        tally = self._class_tally()
        left, right = _with_interval(tally.area), _with_interval(tally.precision)
        words = f"Area under the left curve {left}, baseline 0.5; under the right one {right}, "
        words += f"baseline {format_number(tally.share)}."
        self._caption.setText(f"{self.question} {words} {self.of_folds()}".strip())
        return f"{words} {self.sentence.text()}"

    def table_data(self) -> Table:
        """Every threshold with its counts."""
        tally = self._class_tally()
        wrong, recall, right = self._curve_shares()
        headers = ["threshold", "true positives", "false positives"]
        headers += ["false negatives", "true negatives"]
        curves = (recall.tolist(), right.tolist(), wrong.tolist())
        columns = zip(tally.thresholds, tally.true, tally.false, *curves, strict=True)
        positives, negatives = tally.positives, tally.negatives
        rows = [[t, a, b, positives - a, negatives - b, *shares] for t, a, b, *shares in columns]
        return [*headers, "recall", "precision", "false positive rate"], rows

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Drag the handle along a curve."""
        kind, is_ours = event.type(), watched is self.canvas.viewport()
        if self._answer is None or not is_ours or not isinstance(event, QMouseEvent):
            return super().eventFilter(watched, event)
        if kind == QEvent.Type.MouseButtonPress:
            self._dragged = True
            self._move_to(event.position())
        elif kind == QEvent.Type.MouseMove and self._dragged:
            self._move_to(event.position())
        elif kind == QEvent.Type.MouseButtonRelease:
            self._dragged = False
        return super().eventFilter(watched, event)

    def _move_to(self, position: QPointF) -> None:
        scene = self.canvas.mapToScene(position.toPoint())
        wrong, recall, right = self._curve_shares()
        for plot, x, y in ((self.roc, wrong, recall), (self.recall, recall, right)):
            if plot.vb.sceneBoundingRect().contains(scene):
                point = plot.vb.mapSceneToView(scene)
                nearest = int(np.argmin(np.hypot(x - point.x(), y - point.y())))
                self.slider.setValue(self.slider.maximum() - nearest)


def _with_interval(values: list[float | None]) -> str:
    value, low, high = values
    if low is None:
        return format_number(value)
    interval = f"{format_decimals(low, 3)} to {format_decimals(high, 3)}"
    return f"{format_decimals(value, 3)} (95\u00a0% confidence interval {interval})"
