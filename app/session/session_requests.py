"""The requests to the worker that wait for answers, and those about single rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from app.worker import messages as m
from core.tuning.events import Event

if TYPE_CHECKING:
    from core.export.using.row_answers import CellValue

AnyWork = TypeVar("AnyWork", bound=m.Work)


class PendingRequests:
    """Requests whose answers count; of the kinds that are `only_latest` the latest."""

    def __init__(self, send: Callable[[m.Request], None]) -> None:
        self._send = send
        self.last = 0  # the latest id
        self._run = 0  # the request to which the answers and controls of the run belong
        self._open: dict[int, m.Work] = {}

    def ask(self, work: m.Work) -> None:
        # Also the worker skips one that waits; here its answer is ignored if it was on its way.
        if work.only_latest:
            self.forget_kind(type(work))
        self.last += 1
        self._open[self.last] = work
        if isinstance(work, (m.Tune, m.Conclude)):
            self._run = self.last
        self._send(m.Request(self.last, work))

    def send_control(self, control: m.Control) -> None:
        self._send(m.Request(self._run, control))

    def cancel(self, kind: type[m.Work], question: str = "") -> None:
        """Cancel requests of a kind, or this question; their answers still count."""
        for id, work in self._open.items():
            if isinstance(work, kind) and question in ("", getattr(work, "question", "")):
                self._send(m.Request(id, m.CancelExplanation()))

    @property
    def has_run(self) -> bool:
        return self._run in self._open

    def forget_run(self) -> None:
        self._open.pop(self._run, None)

    def forget_kind(self, kind: type[AnyWork]) -> list[AnyWork]:
        forgotten = [work for work in self._open.values() if isinstance(work, kind)]
        self._open = {id: w for id, w in self._open.items() if not isinstance(w, kind)}
        return forgotten

    def answered(self, message: m.Message) -> tuple[bool, type[m.Work] | None]:
        """Whether it counts, and the kind of its request, if there was one."""
        work = self._open.get(message.id)
        if work is None:
            return message.id == 0, None
        # Of the latest of a kind more answers may come: a file of rows tells how far it is.
        if not work.only_latest and _is_last(message.answer):
            del self._open[message.id]
        return True, type(work)


def _is_last(answer: m.Answer) -> bool:
    if isinstance(answer, m.Explained):
        return answer.done
    return not isinstance(answer, (Event, m.FolderMade, m.Paused, m.Concluding))


class SessionPrediction(QObject):
    """About the model of a run or file; the latest request of a kind counts."""

    described = Signal(object)  # ModelDescribed
    row_predicted = Signal(object)  # RowPredicted
    test_row_found = Signal(object)  # TestRowFound
    progress = Signal(int, int)  # predicted rows of a file, of how many

    def __init__(
        self, ask: Callable[[m.Work], None], leave: Callable[[], None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._ask, self.stop_predicting = ask, leave
        self.folder = self.model = ""
        self.trust = False

    def choose_model(self, folder: str, model: str = "", trust: bool = False) -> None:
        """`described` brings its form."""
        self.folder, self.model, self.trust = folder, model, trust
        if folder or model:
            self._ask(m.DescribeModel(folder, model, trust))

    def try_row(self, values: dict[str, CellValue]) -> None:
        """`row_predicted` follows."""
        self._ask(m.PredictRow(self.folder, self.model, self.trust, values))

    def find_row(self, number: int = 0, line: int = 0) -> None:
        """`test_row_found` follows."""
        self._ask(m.FindTestRow(self.folder, number, line))

    def take_answer(self, answer: m.Answer) -> None:
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
