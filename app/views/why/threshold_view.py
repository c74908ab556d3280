"""ROC and precision–recall curves of a class, with the threshold as a handle."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.look import appearance
from app.text.numbers import fixed, plain
from app.text.results.why import threshold_in_words
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, pen
from app.views.why.why_view import WhyView, of_rows
from app.widgets.labels import label
from app.widgets.quiet_controls import QuietComboBox, QuietSlider


class ThresholdView(WhyView):
    """Both curves; the handle is moved on them, or by the slider below."""

    name = "threshold"
    title = "How well does it tell classes apart?"
    question = (
        "Dashed: knowing nothing. The dot is a threshold: drag it, or move the slider by the arrow "
        "keys. Diamond: the threshold that the model decides by."
    )
    waiting = "Two curves appear here."
    asks = "rows"
    wide = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.roc, self.recall = self.canvas.add_plot(), self.canvas.add_plot(column=1)
        self.roc.bottom.set_title("others called it (false positives)")
        self.roc.left.set_title("found (recall)")
        self.recall.bottom.set_title("found (recall)")
        self.recall.left.set_title("rightly called (precision)")
        self.items = {
            plot: (Lines(), Lines(), Dots("diamond", 13), Dots("circle", 14))
            for plot in (self.roc, self.recall)
        }
        for plot, items in self.items.items():
            for item in items:
                plot.addItem(item)
        self.canvas.viewport().installEventFilter(self)
        self._dragged = False

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Classes of rows of a table."""
        return of_rows(results) and bool((results.get("confusion") or {}).get("labels"))

    def controls(self) -> list[QWidget]:
        """The class that is told from the rest."""
        self.which = QuietComboBox()
        self.which.setAccessibleName("Class")
        self.which.activated.connect(lambda _at: self._begin())
        self.which.hide()
        return [self.which, *super().controls()]

    def make_content(self) -> QWidget:
        """The canvas, the slider, and the counts at the threshold."""
        whole = QWidget()
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(super().make_content(), 1)
        below = QHBoxLayout()
        below.setSpacing(24)
        self.slider = QuietSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Threshold")
        self.slider.valueChanged.connect(lambda _at: self.redraw())
        words = QVBoxLayout()
        words.addWidget(self.slider)
        self.sentence = label("", "muted")
        words.addWidget(self.sentence)
        below.addLayout(words, 1)
        below.addLayout(self._make_counts())
        column.addLayout(below)
        return whole

    def _make_counts(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(0)
        self.counts: dict[tuple[int, int], QLabel] = {}
        for row in range(3):
            for column in range(3):
                cell = label("", "muted" if not row or not column else "")
                cell.setWordWrap(False)
                cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                grid.addWidget(cell, row, column)
                self.counts[row, column] = cell
        return grid

    def show_answer(self, answer: dict[str, Any], done: bool = True) -> None:
        """Other classes; the threshold is where the model decides."""
        self.answer = answer if answer.get("of") else {}
        self.which.clear()
        self.which.addItems(answer.get("labels", []))
        self.which.setVisible(bool(self.answer))
        self._begin()
        super().show_answer(self.answer, done)

    def _begin(self) -> None:
        if not self.answer:
            return
        of = self._of()
        self.slider.blockSignals(True)
        self.slider.setRange(0, len(of["thresholds"]) - 1)
        # Thresholds fall, the slider rises to the right as thresholds do.
        self.slider.setValue(len(of["thresholds"]) - 1 - self._start())
        self.slider.blockSignals(False)
        self.redraw()

    def _start(self) -> int:
        """Where the model decides; else where both shares of mistakes are the least."""
        of = self._of()
        if (chosen := self.chosen()) is not None:
            return chosen
        true, false = np.array(of["true"]), np.array(of["false"])
        return int(np.argmax(true / max(of["positives"], 1) - false / max(of["negatives"], 1)))

    def chosen(self) -> int | None:
        """The place of the threshold that the model decides by; None where it has none."""
        value = self.answer.get("chosen")
        if value is None:
            return None
        if self.which.currentText() != self.answer.get("second"):
            value = 1 - value
        thresholds = np.array(self._of()["thresholds"])
        called = np.flatnonzero(thresholds >= value)
        return int(called[-1]) if len(called) else 0

    def _of(self) -> dict[str, Any]:
        return dict(self.answer["of"][self.which.currentText()])

    def at(self) -> int:
        """The place of the handle among the thresholds."""
        return self.slider.maximum() - self.slider.value()

    def _shares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """False positives, recall and precision at every threshold."""
        of = self._of()
        true, false = np.array(of["true"], float), np.array(of["false"], float)
        called = np.maximum(true + false, 1.0)
        return false / max(of["negatives"], 1), true / max(of["positives"], 1), true / called

    def draw(self) -> None:
        """The curves, the lines of knowing nothing, and the handle."""
        theme, of = appearance.current(), self._of()
        wrong, found, right = self._shares()
        base = of["positives"] / max(of["positives"] + of["negatives"], 1)
        lines = {
            self.roc: (np.append(0.0, wrong), np.append(0.0, found), [0.0, 1.0], [0.0, 1.0]),
            self.recall: (found, right, [0.0, 1.0], [base, base]),
        }
        at, chosen = self.at(), self.chosen()
        for plot, (x, y, base_x, base_y) in lines.items():
            curve, nothing, mark, handle = self.items[plot]
            curve.set_style(pen(theme.model, 2.2))
            nothing.set_style(pen(theme.muted, 1.4, dashed=True))
            mark.set_style(theme.paper, theme.ink, 1.8)
            handle.set_style(theme.observed, theme.ink, 1.2)
            curve.set_data(x, y)
            nothing.set_data(base_x, base_y)
            shift = len(x) - len(found)
            places = [] if chosen is None else [chosen + shift]
            mark.set_data([x[p] for p in places], [y[p] for p in places])
            handle.set_data([x[at + shift]], [y[at + shift]])
            plot.hold_x(-0.03, 1.03, exact=True)
            plot.hold_y(-0.03, 1.05, exact=True)
        self._tell_counts()

    def _tell_counts(self) -> None:
        of, at, name = self._of(), self.at(), self.which.currentText()
        true, false = int(of["true"][at]), int(of["false"][at])
        of_class, others = int(of["positives"]), int(of["negatives"])
        counts = (true, false, of_class, others)
        threshold = of["thresholds"][at]
        self.sentence.setText(threshold_in_words(name, threshold, self.answer["scale"], counts))
        short = name if len(name) <= 14 else name[:13] + "…"
        table = [
            ["test rows", f"called {short}", "called other"],
            [f"is {short}", true, of_class - true],
            ["is other", false, others - false],
        ]
        for (row, column), cell in self.counts.items():
            cell.setText(str(table[row][column]))

    def describe(self) -> str:
        """Both areas with their intervals, and what the threshold does."""
        of = self._of()
        base = of["positives"] / max(of["positives"] + of["negatives"], 1)
        said = [
            f"Area under the left curve {_with_interval(of['area'])}, knowing nothing 0.5",
            f"under the right one {_with_interval(of['precision'])}, knowing nothing {plain(base)}",
        ]
        words = "; ".join(said) + "."
        self._caption.setText(f"{self.question} {words} {self.of_folds()}".strip())
        return f"{words} {self.sentence.text()}"

    def rows(self) -> Table:
        """Every threshold with its counts."""
        of = self._of()
        wrong, found, right = self._shares()
        headers = ["threshold", "found", "wrongly called", "missed", "left alone"]
        rows = [
            [t, a, b, of["positives"] - a, of["negatives"] - b, r, p, w]
            for t, a, b, r, p, w in zip(
                of["thresholds"], of["true"], of["false"], found.tolist(), right.tolist(),
                wrong.tolist(), strict=True,
            )
        ]  # fmt: skip
        return [*headers, "recall", "precision", "share of others called"], rows

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A drag on either curve moves the handle to the nearest threshold."""
        kind = event.type()
        if not self.answer or watched is not self.canvas.viewport():
            return super().eventFilter(watched, event)
        if kind == QEvent.Type.MouseButtonPress:
            self._dragged = True
            self._move_to(event.position())
        elif kind == QEvent.Type.MouseMove and self._dragged:
            self._move_to(event.position())
        elif kind == QEvent.Type.MouseButtonRelease:
            self._dragged = False
        return super().eventFilter(watched, event)

    def _move_to(self, place: Any) -> None:
        scene = self.canvas.mapToScene(place.toPoint())
        wrong, found, right = self._shares()
        for plot, x, y in ((self.roc, wrong, found), (self.recall, found, right)):
            if plot.vb.sceneBoundingRect().contains(scene):
                at = plot.vb.mapSceneToView(scene)
                nearest = int(np.argmin(np.hypot(x - at.x(), y - at.y())))
                self.slider.setValue(self.slider.maximum() - nearest)


def _with_interval(values: list[float | None]) -> str:
    value, low, high = values
    if low is None:
        return plain(value)
    return f"{fixed(value, 3)} (95\u00a0% confidence interval {fixed(low, 3)} to {fixed(high, 3)})"
