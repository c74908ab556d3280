"""What the window asks about a model that is used on single rows, and what is answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.worker import messages as m


class SessionUse(QObject):
    """Asks about the model of a run or of a file; the latest question of a kind counts.

    Args:
        ask: hands a question to the worker.
        leave: lets the worker leave the file in hand.
        parent: the session.

    Signals:
        described: the fields of the form, or {"problem": sentence}.
        tried: the values that were asked about, and what the model says of them.
        found: a row of the test set, or {"problem": sentence}.
        progress: how many rows of a file are predicted, and of how many.
    """

    described = Signal(object)
    tried = Signal(object, object)
    found = Signal(object)
    progress = Signal(int, int)

    def __init__(
        self,
        ask: Callable[[m.Work], None],
        leave: Callable[[], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._ask, self._leave = ask, leave
        self.folder = self.model = ""
        self.trust = False

    def choose(self, folder: str, model: str = "", trust: bool = False) -> None:
        """Ask about this model from now on; `described` tells what it takes."""
        self.folder, self.model, self.trust = folder, model, trust
        if folder or model:
            self._ask(m.DescribeModel(folder, model, trust))

    def try_row(self, values: dict[str, Any]) -> None:
        """What does the model say of this row? `tried` tells."""
        self._ask(m.TryRow(self.folder, self.model, self.trust, values))

    def find(self, number: int = 0, line: int = 0) -> None:
        """Which row of the test set has this number, or stands in this line? `found` tells."""
        self._ask(m.FindRow(self.folder, number, line))

    def stop(self) -> None:
        """Leave the file whose rows are being predicted; what is done is kept."""
        self._leave()

    def take(self, answer: m.Answer) -> None:
        """Tell an answer on, if it is about the model that is chosen now."""
        match answer:
            case m.UseProgress(done=done, total=total):
                self.progress.emit(done, total)
            case m.ModelDescribed() if self._is_own(answer.asked):
                self.described.emit(answer.form)
            case m.RowTried() if self._is_own(answer.asked):
                self.tried.emit(answer.asked.values, answer.said)
            case m.RowFound() if answer.asked.folder == self.folder:
                self.found.emit(answer.found)

    def _is_own(self, asked: m.DescribeModel | m.TryRow) -> bool:
        return (asked.folder, asked.model) == (self.folder, self.model)
