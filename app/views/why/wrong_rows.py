"""The rows that the model is most wrong about, as they stand in the file."""

from __future__ import annotations

from typing import Any

from PySide6.QtWidgets import QWidget

from app.text.numbers import percent
from app.views.plot.data_table import DataTable, Table
from app.views.why.why_view import WhyView, of_rows


class WrongRowsView(WhyView):
    """A table: the line, what is, what the model says, and the row."""

    name = "wrong"
    title = "Which rows is it most wrong about?"
    question = (
        "Test rows, the worst first, as they stand in the file. A look may show a typing error, or "
        "what the columns do not tell."
    )
    waiting = "The worst rows appear here."
    asks = "rows"
    wide = True

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._table_button.hide()

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Rows of a table."""
        return of_rows(results)

    def make_content(self) -> QWidget:
        """A table."""
        self.table = DataTable("Rows that it is most wrong about")
        return self.table

    def show_answer(self, answer: dict[str, Any], done: bool = True) -> None:
        """Other rows; none where everything is right."""
        wrong = answer.get("wrong") or {}
        if not wrong.get("rows"):
            self.answer = {}
            self._say("It is right about every test row.", offers=False)
            return
        super().show_answer(answer, done)
        words = f"{len(wrong['rows'])} of {wrong['wrong']} wrong rows."
        if answer.get("residuals"):
            words = ""
        if left := wrong.get("left_out"):
            words += f" {left} {'column is' if left == 1 else 'columns are'} not shown."
        self._caption.setText(f"{self.question} {words}".strip())

    def draw(self) -> None:
        """The table."""
        self.table.set_table(self.rows())

    def describe(self) -> str:
        """How many there are."""
        wrong = self.answer["wrong"]
        return f"{len(wrong['rows'])} rows; the worst is {wrong['counted']} {wrong['lines'][0]}."

    def rows(self) -> Table:
        """Line, actual, said, how sure or how far off, and the cells."""
        wrong, number = self.answer["wrong"], bool(self.answer.get("residuals"))
        headers = [
            wrong["counted"],
            "actual",
            "predicted",
            "off by" if number else "sure",
            *wrong["headers"],
        ]
        rows = zip(
            wrong["lines"], wrong["actual"], wrong["said"], wrong["sure"], wrong["rows"],
            strict=True,
        )  # fmt: skip
        return headers, [
            [line, actual, said, sure if number or sure is None else percent(sure), *cells]
            for line, actual, said, sure, cells in rows
        ]
