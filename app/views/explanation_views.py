"""The views of the questions after the score."""

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.views.plot.data_table import DataTable
from app.views.plot.items import Lines, pen
from app.views.plot.scrolled_views import ScrolledBars
from app.views.result_views import ResultView
from app.views.surrogate_view import ON_ITS_WAY
from app.widgets.buttons import PlainButton
from app.widgets.quiet_controls import chooser
from core.datasets.finding import column_title
from core.estimators.multi_model import MODEL
from core.figures import explanation_figures as figures
from core.figures.explanation_text import columns_text, learning_verdict, settings_text
from core.figures.figure import Figure, Table
from core.tuning.run_results import Results
from core.tuning.why import answer_types
from core.wording import percent, rough_duration_text

A_co = TypeVar("A_co", bound=answer_types.Answer, covariant=True)
TALL = 210  # pixels, the least height of a picture
GROUPINGS = {"columns": "each column alone", "groups": "correlated columns together"}
MIN_TRIALS = 10  # fewer are not enough for an estimate of which settings mattered


class WhyView(ResultView, Generic[A_co]):
    """A view of the answer to a question."""

    asks: ClassVar[str] = ""  # a question of core.tuning.why.questions
    answer_type: type[A_co]
    button_words: ClassVar[str] = "Work it out"
    tells_folds: ClassVar[bool] = True  # in the caption, where there are several

    answer_requested = Signal(str)  # the question
    stop_requested = Signal(str)  # the question

    _answer: A_co | None = None
    _message = ""  # instead of an answer

    def make_plots(self) -> None:
        if hasattr(self, "canvas"):
            self.canvas.setMinimumHeight(TALL)

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        return of_rows(results)

    @property
    def answer(self) -> A_co:
        assert self._answer is not None
        return self._answer

    def controls(self) -> list[QWidget]:
        request, stop = self.answer_requested.emit, self.stop_requested.emit
        self.ask_button = PlainButton(self.button_words, lambda: request(self.asks))
        self.stop_button = PlainButton("Stop", lambda: stop(self.asks))
        self.ask_button.hide()
        self.stop_button.hide()
        return [self.ask_button, self.stop_button]

    def show_results(self, results: Results) -> None:
        # An earlier answer is of other results, and so are the words about it.
        self._answer, self._message = None, ""
        self._caption.setText(self.question)
        super().show_results(results)

    def offer_answer(self, seconds: float) -> None:
        about = rough_duration_text(seconds)
        self._show_message(f"“{self.button_words}” takes about {about}.", offers=True)

    def show_waiting(self) -> None:
        self._show_message(ON_ITS_WAY, offers=False)

    def show_refusal(self, sentence: str) -> None:
        self._show_message(sentence, offers=True)

    def show_answer(self, answer: answer_types.Answer) -> None:
        self._answer = answer if isinstance(answer, self.answer_type) else None
        self._message = ""
        self.ask_button.hide()
        # The first columns are shown while others are still shuffled.
        self.stop_button.setVisible(not answer.is_final)
        self.draw_afresh()

    def has_content(self) -> bool:
        return self._answer is not None

    def waiting_reason(self) -> str:
        return self._message or super().waiting_reason()

    def caption_remark(self) -> str:
        """What the caption says of the answer beside the question."""
        return ""

    def draw(self) -> None:
        super().draw()
        sentences = (self.question, self.caption_remark(), self.of_folds())
        self._caption.setText(" ".join(filter(None, sentences)))

    def of_folds(self) -> str:
        """A sentence on predictions across folds, or ""."""
        if not (self.results.folds and self.tells_folds):
            return ""
        return (
            "Each row was asked of a model that was fitted without its fold, at the setting found."
        )

    def _show_message(self, words: str, *, offers: bool) -> None:
        self._message = words
        self.stop_button.hide()
        # A whole answer that is at hand needs no button.
        if self._answer is None or not self._answer.is_final:
            self.ask_button.setVisible(offers)
        self.redraw()


def of_rows(results: Results) -> bool:
    """Whether results are about single rows of a table."""
    return (has_classes(results) or has_numbers(results)) and not results.task


def has_classes(results: Results) -> bool:
    """Whether targets are classes."""
    return results.confusion is not None and bool(results.confusion.labels)


def has_numbers(results: Results) -> bool:
    """Whether targets are numbers."""
    return results.predictions is not None and bool(results.predictions.actual)


# Columns ---------------------------------------------------------------------------------------


class ColumnsView(WhyView[answer_types.ColumnImportance], ScrolledBars):
    """A bar a column with its interval; a click or Enter chooses one."""

    name = "columns"
    title = figures.COLUMNS
    question = (
        "Permutation importance: how much worse the score on test rows becomes if the column is "
        "shuffled; line: its 95\u00a0% confidence interval. Click a column, or Enter, for what it "
        "does."
    )
    waiting = "A bar for every column appears here."
    listed = "Columns shown"
    asks = "importance"
    answer_type = answer_types.ColumnImportance
    wide = True
    names_share = 0.4

    column_chosen = Signal(str)

    row = 0  # of the bar that the arrow keys are on

    def make_plots(self) -> None:
        super().make_plots()
        self.row_mark = Lines()
        self.plot.add_marks(self.row_mark)
        self.canvas.installEventFilter(self)
        # The viewport gets the mouse, the canvas the keys.
        self.canvas.viewport().installEventFilter(self)

    def controls(self) -> list[QWidget]:
        self.grouping = chooser("Columns alone or together", self._regroup, GROUPINGS)
        self.grouping.hide()  # until there are groups
        return [self.grouping, *super().controls()]

    def shown_losses(self) -> Sequence[answer_types.ScoreLoss]:
        is_single = self.grouping.currentData() == "columns"
        return self.answer.columns if is_single else self.answer.groups

    def show_answer(self, answer: answer_types.Answer) -> None:
        self.row = 0
        has_groups = isinstance(answer, answer_types.ColumnImportance) and bool(answer.alike)
        self.grouping.setVisible(has_groups)
        if not has_groups:
            self.grouping.setCurrentIndex(0)
        super().show_answer(answer)

    def choose_row(self, row: int) -> None:
        losses = self.shown_losses()
        if 0 <= row < len(losses):
            self.row = row
            self.redraw()
            self.column_chosen.emit(losses[row].names[0])

    def figure(self) -> Figure:
        return figures.columns_figure(self.answer, self.shown_losses())

    def caption_remark(self) -> str:
        return columns_text(self.answer)

    def draw(self) -> None:
        super().draw()
        axis = self.shown_figure().x
        self.row = min(self.row, len(self.shown_losses()) - 1)
        # Left of where the bars begin, in the strip that the axis keeps free (its `air`).
        x = axis.low - 0.03 * ((axis.high - axis.low) or 1e-3)
        self.row_mark.set_style(pen(appearance.current().accent, 3.0))
        self.row_mark.set_data([x, x], [self.row - 0.4, self.row + 0.4])

    def _regroup(self) -> None:
        self.row = 0
        self.scroll_bar.setValue(0)
        self.redraw()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if self._answer is None:
            return super().eventFilter(watched, event)
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress:
            scene_point = self.canvas.mapToScene(event.position().toPoint())
            row = round(self.plot.vb.mapSceneToView(scene_point).y())
            self.canvas.setFocus(Qt.FocusReason.MouseFocusReason)
            self.choose_row(row)
        elif event.type() == QEvent.Type.KeyPress and watched is self.canvas:
            assert isinstance(event, QKeyEvent)
            moves: dict[int, int] = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
            if event.key() in moves:
                self.row = max(0, min(len(self.shown_losses()) - 1, self.row + moves[event.key()]))
                first, fit = self.scroll_bar.value(), self.scroll_bar.pageStep()
                self.scroll_bar.setValue(max(self.row - fit + 1, min(self.row, first)))
                self.redraw()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.choose_row(self.row)
                return True
        return super().eventFilter(watched, event)


class DependenceView(WhyView[answer_types.Dependence]):
    """What the model predicts if only one column changes."""

    name = "dependence"
    title = "What does a column do?"
    question = (
        "What the model predicts if only this column changes. Thick: the mean over test rows with "
        "its 95\u00a0% confidence interval; thin: single rows; bottom: how many rows have the "
        "value."
    )
    waiting = "Choose a column at “Which columns matter?”."
    asks = "dependence"
    answer_type = answer_types.Dependence
    wide = True
    # The view of the columns, beside this one, has said it.
    tells_folds = False

    column_wanted = Signal(str)

    def controls(self) -> list[QWidget]:
        wanted = self.column_wanted
        self.which = chooser("Column", lambda: wanted.emit(self.which.currentText()))
        return [self.which, *super().controls()]

    def set_columns(self, names: list[str]) -> None:
        self.which.offer_names(names)

    def show_answer(self, answer: answer_types.Answer) -> None:
        assert isinstance(answer, answer_types.Dependence)
        index = self.which.findText(answer.name)
        if index >= 0:
            self.which.setCurrentIndex(index)
        if answer.problem:
            self.show_refusal(answer.problem)
        else:
            super().show_answer(answer)

    def show_refusal(self, sentence: str) -> None:
        self._answer = None
        self._show_message(sentence, offers=False)

    def figure(self) -> Figure:
        return figures.dependence_figure(self.answer)


# Settings --------------------------------------------------------------------------------------


class SettingsView(WhyView[answer_types.SettingImportance], ScrolledBars):
    """A bar a hyperparameter with its interval."""

    name = "mattered"
    title = figures.SETTINGS
    question = (
        "How much of the differences between the trials' scores each setting explains by itself; "
        "line: its 95\u00a0% interval over resampled trials."
    )
    waiting = "A bar for every setting appears here."
    listed = "Settings shown"
    asks = "settings"
    answer_type = answer_types.SettingImportance
    # No test row is asked here: trials alone are compared.
    tells_folds = False
    names_share = 0.45

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        setting_names = [name for name in results.setting if name != MODEL]
        return len(setting_names) > 1 and results.trials >= MIN_TRIALS

    def figure(self) -> Figure:
        return figures.settings_figure(self.answer)

    def caption_remark(self) -> str:
        return settings_text(self.answer)


# Rows ------------------------------------------------------------------------------------------


class ResidualsView(WhyView[answer_types.RegressionDiagnostics]):
    """Residuals of a regression against predictions or any column."""

    name = "residuals"
    title = figures.RESIDUALS
    question = (
        "Residuals: above the line the prediction is too high. Thick: the mean of an eighth of the "
        "test rows, with its 95\u00a0% confidence interval."
    )
    waiting = "A dot for every test row appears here."
    asks = "rows"
    answer_type = answer_types.RegressionDiagnostics
    # The view of wrong rows stands beside it.
    tells_folds = False

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        return of_rows(results) and has_numbers(results)

    def controls(self) -> list[QWidget]:
        self.along = chooser("Over", self.draw_afresh)
        return [self.along, *super().controls()]

    def show_answer(self, answer: answer_types.Answer) -> None:
        titles = {"": figures.PREDICTION}
        if isinstance(answer, answer_types.RegressionDiagnostics):
            titles |= {name: answer.residuals.title_of(name) for name in answer.residuals.along}
        self.along.set_choices(titles)
        self.along.setVisible(isinstance(answer, answer_types.RegressionDiagnostics))
        super().show_answer(answer)

    def figure(self) -> Figure:
        column, unit = self.along.currentData(), self.results.target_unit
        return figures.residuals_figure(self.answer.residuals, column, unit=unit)


class WrongRowsView(WhyView[answer_types.RowDiagnostics]):
    """The rows with the largest errors."""

    name = "wrong"
    title = "Which rows is it most wrong about?"
    question = (
        "Test rows, the worst first, as they are in the file. A look may show a typing error, or "
        "what the columns do not hold."
    )
    waiting = "The worst rows appear here."
    asks = "rows"
    answer_type = answer_types.RowDiagnostics
    wide = True
    is_table = True

    def make_content(self) -> QWidget:
        self.table = DataTable("Rows that it is most wrong about")
        return self.table

    def show_answer(self, answer: answer_types.Answer) -> None:
        if not isinstance(answer, answer_types.RowDiagnostics) or not answer.wrong.rows:
            self._answer = None
            self._show_message("It is right about every test row.", offers=False)
            return
        super().show_answer(answer)

    @property
    def _has_numbers(self) -> bool:
        return isinstance(self.answer, answer_types.RegressionDiagnostics)

    def draw(self) -> None:
        wrong = self.answer.wrong
        words = "" if self._has_numbers else f"{len(wrong.rows)} of {wrong.wrong} wrong rows."
        if wrong.left_out:
            columns_are = "column is" if wrong.left_out == 1 else "columns are"
            words += f" {wrong.left_out} {columns_are} not shown."
        self._caption.setText(f"{self.question} {words}".strip())
        self.table.set_table(self.table_data())

    def describe(self) -> str:
        wrong = self.answer.wrong
        return f"{len(wrong.rows)} rows; the worst is {wrong.counted} {wrong.lines[0]}."

    def table_data(self) -> Table:
        wrong, off_by = self.answer.wrong, self._has_numbers
        unit = self.results.target_unit if off_by else None
        certainty = column_title("off by", unit) if off_by else "sure"
        rows = zip(wrong.lines, wrong.actual, wrong.said, wrong.sure, wrong.rows, strict=True)
        heads = (column_title(name, unit) for name in ("actual", "predicted"))
        return [wrong.counted, *heads, certainty, *wrong.headers], [
            [line, actual, prediction, sure if off_by or sure is None else percent(sure), *cells]
            for line, actual, prediction, sure, cells in rows
        ]


class LearningView(WhyView[answer_types.LearningCurve]):
    """The scores after fitting on fewer training rows."""

    name = "learning"
    title = figures.LEARNING
    question = "Learning curve: on fewer rows."
    waiting = "A curve appears here."
    asks = "learning"
    answer_type = answer_types.LearningCurve
    button_words = "Try it"

    def has_content(self) -> bool:
        return self._answer is not None and bool(self._answer.sizes)

    def show_answer(self, answer: answer_types.Answer) -> None:
        super().show_answer(answer)
        self._caption.setText(learning_verdict(self.answer))

    def figure(self) -> Figure:
        return figures.learning_figure(self.answer)

    def draw(self) -> None:
        # `show_answer` writes the caption, also before the view has its first size.
        ResultView.draw(self)
