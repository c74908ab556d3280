"""ROC and precision–recall curves with a threshold that a person moves."""

import itertools
from functools import partial

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.views.explanation_views import WhyView, has_classes, of_rows
from app.views.plot.figure_painter import FigurePainter
from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.layouts import in_column, in_grid, in_row
from app.widgets.quiet_controls import QuietSlider, chooser
from app.widgets.text_labels import wrapping_label
from core.figures import explanation_figures as figures
from core.figures.explanation_text import areas_text, threshold_text
from core.figures.figure import Table
from core.tuning.run_results import Results
from core.tuning.why.answer_types import Answer, ClassDiagnostics, ThresholdTally
from core.wording import shortened_text

NAMED = 14  # characters of a class


class ThresholdView(WhyView[ClassDiagnostics]):
    """Both curves; a drag or the slider moves the handle, which a button keeps."""

    threshold_chosen = Signal(object)  # of the second class; None for the recommended one

    name = "threshold"
    title = figures.THRESHOLD
    question = (
        "Drag the dot, a threshold, or move the slider. Diamond: where the model decides. Dashed: "
        "baseline."
    )
    waiting = "Two curves appear here."
    asks = "rows"
    answer_type = ClassDiagnostics
    wide = True

    def make_plots(self) -> None:
        super().make_plots()
        self.curve_painters = [FigurePainter(self.canvas, column=column) for column in range(2)]
        self.canvas.viewport().installEventFilter(self)
        self._dragged = False

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        return of_rows(results) and has_classes(results)

    def controls(self) -> list[QWidget]:
        self.which = chooser("Class", self._restart_slider)
        return [self.which, *super().controls()]

    def make_content(self) -> QWidget:
        self.slider = QuietSlider(Qt.Orientation.Horizontal)
        self.slider.setAccessibleName("Threshold")
        self.slider.valueChanged.connect(lambda _index: self.redraw())
        self.sentence = wrapping_label("", "muted")
        self.keep_button = PlainButton("Keep this threshold", self._keep_threshold, "check")
        undo_choice = partial(self.threshold_chosen.emit, None)
        self.undo_button = LinkButton("Back to the recommended one", undo_choice)
        buttons = in_row(self.keep_button, self.undo_button, 1, gap=10)
        words = in_column(self.slider, self.sentence, buttons)
        below = in_row((words, 1), self._make_counts(), gap=24)
        container = QWidget()
        in_column((super().make_content(), 1), below, on=container, gap=4)
        return container

    def _make_counts(self) -> QGridLayout:
        grid = in_grid(14, 0)
        self.counts: dict[tuple[int, int], QLabel] = {}
        for row, column in itertools.product(range(3), range(3)):
            cell = wrapping_label("", "muted" if not row or not column else "")
            cell.setWordWrap(False)
            cell.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(cell, row, column)
            self.counts[row, column] = cell
        return grid

    def show_answer(self, answer: Answer) -> None:
        self._answer = answer if isinstance(answer, ClassDiagnostics) else None
        self.which.offer_names([] if self._answer is None else self._answer.labels)
        self._restart_slider()
        super().show_answer(answer)

    def show_results(self, results: Results) -> None:
        self.undo_button.setVisible(results.threshold is not None)
        super().show_results(results)

    def _keep_threshold(self) -> None:
        value = self._class_tally().thresholds[self.handle_index()]
        is_second = self.which.currentText() == self.answer.second
        # The first class from p on is the second one above 1 − p.
        self.threshold_chosen.emit(value if is_second else float(np.nextafter(1 - value, 2)))

    def _restart_slider(self) -> None:
        if self._answer is None:
            return
        last = len(self._class_tally().thresholds) - 1
        # A new range changes the value, too, which would draw with half of the answer.
        with QSignalBlocker(self.slider):
            self.slider.setRange(0, last)
            # Thresholds fall, the slider rises to the right as thresholds do.
            self.slider.setValue(last - self._start_index())
        self.redraw()

    def _start_index(self) -> int:
        """The model's threshold, else the maximum of Youden's J."""
        if (chosen := figures.decision_index(self.answer, self.which.currentText())) is not None:
            return chosen
        wrong, recall, _ = figures.curve_shares(self._class_tally())
        return int(np.argmax(recall - wrong))

    def _class_tally(self) -> ThresholdTally:
        return self.answer.of[self.which.currentText()]

    def handle_index(self) -> int:
        return self.slider.maximum() - self.slider.value()

    def draw(self) -> None:
        label, index = self.which.currentText(), self.handle_index()
        curves = figures.threshold_figures(self.answer, label, index)
        for painter, curve in zip(self.curve_painters, curves, strict=True):
            painter.paint(curve)
        self._show_counts()
        is_decided = index == figures.decision_index(self.answer, label)
        # Scores of other models are no probabilities, and more classes have no single threshold.
        self.keep_button.setVisible(self.answer.chosen is not None)
        self.keep_button.set_allowed(not is_decided, "The model decides by it already.")
        self._caption.setText(" ".join(filter(None, (self.question, self.of_folds()))))

    def _show_counts(self) -> None:
        tally, index, name = self._class_tally(), self.handle_index(), self.which.currentText()
        true, false = tally.true[index], tally.false[index]
        counts = (true, false, tally.positives, tally.negatives)
        effect = threshold_text(name, tally.thresholds[index], self.answer.scale, counts)
        self.sentence.setText(f"{areas_text(tally)} {effect}")
        short = shortened_text(name, NAMED)
        table: list[list[str | int]] = [
            ["test rows", f"predicted {short}", "predicted other"],
            [f"true {short}", true, tally.positives - true],
            ["true other", false, tally.negatives - false],
        ]
        for (row, column), cell in self.counts.items():
            cell.setText(str(table[row][column]))

    def describe(self) -> str:
        return self.sentence.text()

    def table_data(self) -> Table:
        return figures.threshold_table(self._class_tally())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
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
        wrong, recall, right = figures.curve_shares(self._class_tally())
        curves = ((wrong, recall), (recall, right))
        for painter, (x, y) in zip(self.curve_painters, curves, strict=True):
            box = painter.plot.vb
            if box.sceneBoundingRect().contains(scene):
                point = box.mapSceneToView(scene)
                nearest = int(np.argmin(np.hypot(x - point.x(), y - point.y())))
                self.slider.setValue(self.slider.maximum() - nearest)
