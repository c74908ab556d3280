"""The views of the Results page: one for every picture of the results, and the table of errors."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QRadioButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from app.look import appearance
from app.text.candidate_text import CandidateText
from app.views.plot.data_table import DataTable, DataTableModel
from app.views.plot.items import clear_colour
from app.views.plot.view import View
from app.widgets.layouts import in_column, in_row
from app.widgets.plain_table import DISPLAY, LEFT_CELL, RIGHT_CELL, Index
from app.widgets.quiet_controls import chooser
from app.widgets.text_labels import plain_tooltip, wrapping_label
from core.evaluation.calibration_bin import CalibrationBin
from core.figures import score_figures as figures
from core.figures.figure import Figure, Table
from core.figures.registry import RESULT_PICTURES
from core.figures.scales import JOINER, Scale
from core.tuning.events import RunStarted
from core.tuning.run_results import ConfusionCounts, Results
from core.tuning.why.answer_types import ClassDiagnostics, RowDiagnostics
from resources.theme import TARGET

MIN_STRIP = 150  # pixels of the names of models beside their scores
ROW_GAP, AXIS = 8, 76  # pixels between two models, and of what is above and below all
AFTER_TEST = (
    "Another model is fitted and tested at a click; any trial can be selected too, in the table of "
    "trials in step 4. One that is picked after seeing test scores looks a little better than it "
    "is."
)


class ResultView(View):
    """A view of the results of a finished run."""

    results = Results()

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return False

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        raise NotImplementedError

    def show_results(self, results: Results) -> None:
        self.results = results
        self.draw_afresh()

    def draw_afresh(self) -> None:
        for plot in self.canvas.plots if hasattr(self, "canvas") else []:
            plot.forget_ranges()
        self.redraw()

    def has_content(self) -> bool:
        return self.is_suitable(self.results)

    def _on_resized(self) -> None:
        self.redraw()

    def _tell_moment(self) -> None:
        """Nothing: results are of the end."""

    def _on_theme_changed(self, theme: object) -> None:
        super()._on_theme_changed(theme)
        self.redraw()


class PictureView(ResultView):
    """A view of a picture of the results."""

    shown_picture: ClassVar[figures.ResultPicture]
    crops = True

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        picture = cls.shown_picture
        cls.name, cls.title = picture.name, picture.title
        cls.question, cls.waiting = picture.question, picture.waiting
        cls.has_legend = picture.has_legend

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        return cls.shown_picture.is_suitable(results)

    def figure(self) -> Figure:
        return self.shown_picture.figure(self.results)


class ModelsView(PictureView):
    """The scores, with buttons that select among several models."""

    shown_picture = figures.SCORES
    choice = "Which model do you want?"
    picked = Signal(str)  # the kind of candidate

    def make_content(self) -> QWidget:
        canvas = super().make_content()
        self._strip, self._group = QWidget(), QButtonGroup(self)
        self._group.buttonClicked.connect(self._on_clicked)
        self._rows: list[QWidget] = []
        self.buttons: dict[str, QRadioButton] = {}
        self._candidates: Sequence[CandidateText] = ()
        canvas.setAccessibleName(self.title)
        holder = QWidget()
        in_row((self._strip, 1), (canvas, 1), on=holder, gap=0)
        return holder

    def show_candidates(self, candidates: Sequence[CandidateText]) -> None:
        """Show what may be selected; nothing of runs of earlier versions."""
        for row in self._rows:
            row.deleteLater()
        self._candidates, self.buttons = candidates, {}
        self._rows = [self._candidate_row(candidate) for candidate in candidates]
        self._strip.setVisible(bool(candidates))
        self.set_words(self.choice if candidates else self.title, self.question)
        self.redraw()

    def set_selectable(self, is_selectable: bool) -> None:
        self._strip.setEnabled(is_selectable)

    def _candidate_row(self, candidate: CandidateText) -> QWidget:
        row, button = QWidget(self._strip), QRadioButton()
        button.setAccessibleName(candidate.title)
        button.setProperty("bare", True)
        button.setMinimumSize(TARGET, TARGET)
        button.setChecked(candidate.is_selected)
        caption = "the run’s choice" if candidate.is_runs_choice else candidate.setting
        speed = f"It predicts about {candidate.speed} here." if candidate.speed else ""
        details = [candidate.scores, candidate.gain, candidate.setting, speed, AFTER_TEST]
        button.setAccessibleDescription(" ".join(filter(None, [caption, *details])))
        row.setToolTip(plain_tooltip("\n".join(filter(None, details))))
        self.buttons[candidate.key] = button
        self._group.addButton(button)
        state = "not tested yet" if candidate.lacks_test else candidate.speed
        lines = (caption.replace(" = ", "\u00a0=\u00a0"), state)
        captions = [wrapping_label(line, "caption") for line in lines if line]
        words = in_column(wrapping_label(candidate.title), *captions, gap=0)
        in_row(button, (words, 1), on=row, gap=4)
        row.show()
        return row

    def _on_clicked(self) -> None:
        for candidate in self._candidates:
            is_new = self.buttons[candidate.key].isChecked() and not candidate.is_selected
            # A trial is selected in the table of trials.
            if is_new and candidate.key != "trial":
                self.picked.emit(candidate.key)

    def figure(self) -> Figure:
        figure = super().figure()
        # The buttons beside it have the names.
        blank = tuple(JOINER * count for count in range(len(self._rows)))
        y = replace(figure.y, scale=Scale("choice", blank)) if blank else figure.y
        return replace(figure, y=y)

    def draw(self) -> None:
        super().draw()
        # The plot has its new size only after the layout.
        QTimer.singleShot(0, self, self._place_rows)

    def _place_rows(self) -> None:
        self._strip.setMinimumWidth(appearance.pixels(MIN_STRIP))
        wide = self._strip.width()
        heights = [row.heightForWidth(wide) for row in self._rows]
        row_height, axis_height = max(heights, default=0) + ROW_GAP, appearance.pixels(AXIS)
        self.canvas.setMinimumHeight(round((len(heights) + 0.5) * row_height) + axis_height)
        for position, (row, tall) in enumerate(zip(self._rows, heights, strict=True)):
            middle = self.plot.vb.mapViewToScene(QPointF(0.0, position)).y()
            row.setGeometry(0, round(middle - tall / 2), wide, tall)

    def picture(self) -> QWidget:
        return self.content if self._rows else super().picture()


class CalibrationView(PictureView):
    """The calibration; once answered, of each class and with intervals."""

    shown_picture = figures.CALIBRATION
    explained = "Bars: 95\u00a0% confidence."

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        if super().is_suitable(results):
            return True
        # Of several classes an answer brings the bins later.
        labels = results.confusion.labels if results.confusion is not None else ()
        return len(labels) > 2 and "log_loss" in results.test and not results.task

    def controls(self) -> list[QWidget]:
        self.bins_by_class: dict[str, list[CalibrationBin]] = {}
        self.which = chooser("Class", self.redraw)
        return [self.which]

    def show_results(self, results: Results) -> None:
        self._offer_classes({})
        super().show_results(results)

    def show_answer(self, answer: RowDiagnostics) -> None:
        bins = {}
        if isinstance(answer, ClassDiagnostics):
            bins = {label: answer.of[label].calibration for label in answer.labels}
        self._offer_classes({label: entries for label, entries in bins.items() if entries})
        self.redraw()

    def _offer_classes(self, bins: dict[str, list[CalibrationBin]]) -> None:
        self.bins_by_class = bins
        self.which.offer_names(list(bins))

    def has_content(self) -> bool:
        return bool(self.bins_by_class or figures.result_bins(self.results))

    def figure(self) -> Figure:
        if not self.bins_by_class:
            return super().figure()
        label = self.which.currentText()
        return figures.calibration_figure(self.bins_by_class[label], label)

    def draw(self) -> None:
        super().draw()
        explained = f" {self.explained}" if self.bins_by_class else ""
        self._caption.setText(f"{self.question}{explained}")


def _view_of(picture: figures.ResultPicture) -> type[ResultView]:
    own_views = {figures.CALIBRATION.name: CalibrationView, figures.SCORES.name: ModelsView}
    if picture.name in own_views:
        return own_views[picture.name]
    return type(f"{picture.name.title()}View", (PictureView,), {"shown_picture": picture})


MAX_PLAIN_CLASSES = 8  # classes from which on names stand alone, and those of the rows stay in view
LOW = 22  # pixels of a row of many
SEEN = 20  # rows of many that are seen without scrolling
LONGEST_CLASS, LONGEST_ANSWER = 150, 96  # pixels of names before they are cut


class ConfusionModel(DataTableModel):
    """The matrix with its diagonal highlighted."""

    classes = 0

    def data(self, index: Index, role: int = DISPLAY) -> Any:
        if self.classes > MAX_PLAIN_CLASSES and (wrong := self._of_wrong(index, role)) is not None:
            return wrong
        right = index.row() < self.classes and index.column() == index.row() + 1
        if role == Qt.ItemDataRole.FontRole and right:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.BackgroundRole and right:
            return QColor(appearance.current().selected)
        return super().data(index, role)

    def alignment(self, column: int) -> Qt.AlignmentFlag:
        return RIGHT_CELL if column else LEFT_CELL

    def _of_wrong(self, index: Index, role: int) -> Any:
        row, column = index.row(), index.column()
        if not 0 < column <= self.classes or row >= self.classes or column == row + 1:
            return None
        counts = self.rows[row][1 : self.classes + 1]
        if role == DISPLAY and not counts[column - 1]:
            return "·"
        if role == Qt.ItemDataRole.BackgroundRole and counts[column - 1]:
            share = counts[column - 1] / sum(counts)
            # A fifth of a class is as red as it gets: the count must stay legible.
            return clear_colour(appearance.current().bad, min(0.5, 2.5 * share))
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = DISPLAY) -> Any:
        if orientation == Qt.Orientation.Vertical:
            return super().data(self.index(section, 0)) if role == DISPLAY else None
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tooltip(super().headerData(section, orientation))
        return super().headerData(section, orientation, role)


class Tinted(QStyledItemDelegate):
    """Cells with the model's background, which a stylesheet would hide."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        ground = index.data(Qt.ItemDataRole.BackgroundRole)
        if ground is not None:
            painter.fillRect(option.rect, ground)
        super().paint(painter, option, index)


class ConfusionMatrix(ResultView):
    """Rows are the true classes, columns the predicted ones."""

    name = "confusion"
    title = "Where is it wrong?"
    question = "Confusion matrix of the test set. Right answers are bold."
    wide = False
    is_table = True
    waiting = "A table of right and wrong answers appears here."

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        return results.confusion is not None and bool(results.confusion.labels)

    @property
    def confusion_counts(self) -> ConfusionCounts:
        """Of all models; empty before there are any."""
        return self.results.confusion or ConfusionCounts()

    def make_content(self) -> QWidget:
        self.table = DataTable("Right and wrong answers")
        self.model = ConfusionModel()
        self.table.setModel(self.model)
        self.table.setItemDelegate(Tinted(self.table))
        self.table.setAlternatingRowColors(False)
        self.table.verticalHeader().setStyleSheet("QHeaderView::section { border: none; }")
        return self.table

    def controls(self) -> list[QWidget]:
        self.which = chooser("Whose answers", self.redraw, {"tuned": "tuned"})
        return [self.which]

    def draw(self) -> None:
        models = {"tuned": "tuned", "default": "default setting"}
        # Runs of earlier versions kept no counts of the baseline.
        if self.confusion_counts.baseline is not None:
            models["baseline"] = "baseline"
        self.which.set_choices(models, self.which.currentData())
        units = self.results.task.units
        self._caption.setText(
            f"Confusion matrix: predicted across, true down. {units[:1].upper()}{units[1:]} of the "
            "test set; right answers are bold. Recall: the share of a class that is found. "
            "Precision: the share of answers that are right."
        )
        self.model.classes = len(self.confusion_counts.labels)
        self.model.set_table(*self.table_data())
        self._keep_names_in_view(self.model.classes > MAX_PLAIN_CLASSES)
        self._fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The viewport has its new size only after the layout.
        QTimer.singleShot(0, self, self._fit_columns)

    def _fit_columns(self) -> None:
        self.table.fit_columns()
        columns, room = self.model.classes + 2, self.table.viewport().width()
        needed = [self.table.columnWidth(column) for column in range(columns)]
        if not self.wide and sum(needed) <= room:
            return
        # A few answers may share what room there is; many must not push the last out of sight.
        longest = max(appearance.pixels(LONGEST_ANSWER), room // columns)
        max_widths = [appearance.pixels(LONGEST_CLASS)] + [longest] * (columns - 1)
        for column, width in enumerate(needed[:-1]):
            self.table.setColumnWidth(column, min(max_widths[column], width))

    def _keep_names_in_view(self, has_many_classes: bool) -> None:
        self.wide = has_many_classes
        self.table.setColumnHidden(0, has_many_classes)
        names = self.table.verticalHeader()
        names.setVisible(has_many_classes)
        low = appearance.pixels(LOW)
        names.setMinimumSectionSize(low)
        names.setDefaultSectionSize(low if has_many_classes else TARGET)
        rows = min(self.model.classes + 1, SEEN) if has_many_classes else 0
        self.table.setMinimumHeight(rows * low + (2 * TARGET if has_many_classes else 0))

    def _labels_and_counts(self) -> tuple[list[str], list[list[int]]]:
        confusion = self.confusion_counts
        counts = {"default": confusion.default, "baseline": confusion.baseline}
        chosen = counts.get(self.which.currentData()) or confusion.tuned
        return [str(label) for label in confusion.labels], chosen

    def describe(self) -> str:
        labels, counts = self._labels_and_counts()
        right = sum(counts[code][code] for code in range(len(labels)))
        return f"{right} of {sum(map(sum, counts))} test {self.results.task.units} right."

    def table_data(self) -> Table:
        labels, counts = self._labels_and_counts()
        return ["", *labels, "recall"], figures.confusion_rows(labels, counts)


RESULT_VIEWS: tuple[type[ResultView], ...] = (*map(_view_of, RESULT_PICTURES), ConfusionMatrix)
