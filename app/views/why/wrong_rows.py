"""The rows with the largest errors."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.text.number_format import percent
from app.views.plot.data_table import DataTable, Table
from app.views.why.why_view import WhyView, of_rows
from core.tuning.run_results import Results
from core.tuning.why.answer_types import Answer, RegressionDiagnostics, RowDiagnostics


class WrongRowsView(WhyView[RowDiagnostics]):
    """A table: line, actual, predicted, and the row."""

    name = "wrong"
    title = "Which rows is it most wrong about?"
    question = (
        "Test rows, the worst first, as they are in the file. A look may show a typing error, or "
        "what the columns do not hold."
    )
    waiting = "The worst rows appear here."
    asks = "rows"
    answer_type = RowDiagnostics
    wide = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table_button.hide()

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Rows of a table."""
        return of_rows(results)

    def make_content(self) -> QWidget:
        """A table."""
        self.table = DataTable("Rows that it is most wrong about")
        return self.table

    def show_answer(self, answer: Answer) -> None:
        """Show other rows, or that all are right."""
        if not isinstance(answer, RowDiagnostics) or not answer.wrong.rows:
            self._answer = None
            self._show_message("It is right about every test row.", offers=False)
            return
        super().show_answer(answer)
        wrong = answer.wrong
        words = "" if self._has_numbers else f"{len(wrong.rows)} of {wrong.wrong} wrong rows."
        if wrong.left_out:
            columns_are = "column is" if wrong.left_out == 1 else "columns are"
            words += f" {wrong.left_out} {columns_are} not shown."
        self._caption.setText(f"{self.question} {words}".strip())

    @property
    def _has_numbers(self) -> bool:
        return isinstance(self.answer, RegressionDiagnostics)

    def draw(self) -> None:
        """Fill the table."""
        self.table.set_table(self.table_data())

    def describe(self) -> str:
        """The number of rows."""
        wrong = self.answer.wrong
        return f"{len(wrong.rows)} rows; the worst is {wrong.counted} {wrong.lines[0]}."

    def table_data(self) -> Table:
        """Line, actual, predicted, certainty or error, and the cells."""
        wrong, off_by = self.answer.wrong, self._has_numbers
        certainty = "off by" if off_by else "sure"
        rows = zip(wrong.lines, wrong.actual, wrong.said, wrong.sure, wrong.rows, strict=True)
        return [wrong.counted, "actual", "predicted", certainty, *wrong.headers], [
            [line, actual, prediction, sure if off_by or sure is None else percent(sure), *cells]
            for line, actual, prediction, sure, cells in rows
        ]
