"""What the window asks about a model that is used on single rows, and what is answered."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.worker import messages as m
from core.export.using.row_answers import CellValue


class SessionPrediction(QObject):
    """Asks about the model of a run or of a file; the latest question of a kind counts.

    Args:
        ask: hands a question to the worker.
        leave: lets the worker leave the file in hand.
        parent: the session.

    Signals:
        described, row_predicted, test_row_found: what the worker answers.
        progress: how many rows of a file are predicted, and of how many.
    """

    described = Signal(object)  # ModelDescribed
    row_predicted = Signal(object)  # RowPredicted
    test_row_found = Signal(object)  # TestRowFound
    progress = Signal(int, int)

    def __init__(
        self, ask: Callable[[m.Work], None], leave: Callable[[], None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._ask, self._leave = ask, leave
        self.folder = self.model = ""
        self.trust = False

    def choose_model(self, folder: str, model: str = "", trust: bool = False) -> None:
        """Ask about this model from now on; `described` brings its form."""
        self.folder, self.model, self.trust = folder, model, trust
        if folder or model:
            self._ask(m.DescribeModel(folder, model, trust))

    def try_row(self, values: dict[str, CellValue]) -> None:
        """Have a row predicted; `row_predicted` brings the answer."""
        self._ask(m.PredictRow(self.folder, self.model, self.trust, values))

    def find_row(self, number: int = 0, line: int = 0) -> None:
        """Find the row of the test set with this number or line; `test_row_found` brings it."""
        self._ask(m.FindTestRow(self.folder, number, line))

    def stop_predicting(self) -> None:
        """Leave the file whose rows are being predicted; what is done is kept."""
        self._leave()

    def take_answer(self, answer: m.Answer) -> None:
        """Tell an answer on, if it is about the model that is chosen now."""
        match answer:
            case m.UseProgress(done=done, total=total):
                self.progress.emit(done, total)
            case m.ModelDescribed() if self._is_about_model(answer.request):
                self.described.emit(answer)
            case m.RowPredicted() if self._is_about_model(answer.request):
                self.row_predicted.emit(answer)
            case m.TestRowFound() if answer.request.folder == self.folder:
                self.test_row_found.emit(answer)

    def _is_about_model(self, request: m.DescribeModel | m.PredictRow) -> bool:
        return (request.folder, request.model) == (self.folder, self.model)
