"""Requests about a model that is used on single rows, and their answers."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.worker import messages as m
from core.export.using.row_answers import CellValue


class SessionPrediction(QObject):
    """Asks about the model of a run or of a file; the latest request of a kind counts."""

    described = Signal(object)  # ModelDescribed
    row_predicted = Signal(object)  # RowPredicted
    test_row_found = Signal(object)  # TestRowFound
    progress = Signal(int, int)  # predicted rows of a file, of how many

    def __init__(
        self, ask: Callable[[m.Work], None], leave: Callable[[], None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._ask, self._leave = ask, leave
        self.folder = self.model = ""
        self.trust = False

    def choose_model(self, folder: str, model: str = "", trust: bool = False) -> None:
        """Use this model from now on; `described` brings its form."""
        self.folder, self.model, self.trust = folder, model, trust
        if folder or model:
            self._ask(m.DescribeModel(folder, model, trust))

    def try_row(self, values: dict[str, CellValue]) -> None:
        """Predict a row; `row_predicted` follows."""
        self._ask(m.PredictRow(self.folder, self.model, self.trust, values))

    def find_row(self, number: int = 0, line: int = 0) -> None:
        """Get the row of the test set with this number or line; `test_row_found` follows."""
        self._ask(m.FindTestRow(self.folder, number, line))

    def stop_predicting(self) -> None:
        """Stop predicting a file; the predictions so far are kept."""
        self._leave()

    def take_answer(self, answer: m.Answer) -> None:
        """Emit an answer, if it is about the current model."""
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
