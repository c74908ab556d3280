"""What views of example sequences or molecules share."""

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from PySide6.QtWidgets import QWidget

from app.views.surrogate_view import ChooserView
from app.widgets.quiet_controls import chooser
from core.datasets.task import Task
from core.tuning.events import FoldedMolecule, LabelledSequence, RunStarted

Example = TypeVar("Example", LabelledSequence, FoldedMolecule)


class ExamplesView(ChooserView, Generic[Example]):
    """A view of one example; all views show the same."""

    task: ClassVar[Task] = Task.UNKNOWN
    choosing: ClassVar[str] = ""  # the chooser's name; empty where another view has it

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        return started.kind == "penalties" and started.dataset.task == cls.task

    def examples(self) -> Sequence[Example]:
        raise NotImplementedError

    def example_title(self, example: Example) -> str:
        raise NotImplementedError

    def controls(self) -> list[QWidget]:
        self.which = chooser(self.choosing, self._on_example_chosen)
        return [self.which] if self.choosing else []

    def start(self, started: RunStarted) -> None:
        self.which.clear()
        self.which.hide()
        self._seen = self.record.example

    def has_content(self) -> bool:
        return bool(self.examples())

    def example(self) -> Example:
        examples = self.examples()
        return examples[min(self.record.example, len(examples) - 1)]

    def redraw(self) -> None:
        self._fill_chooser()
        if self._seen != self.record.example:
            self._seen = self.record.example
            self.reset_ranges()
        super().redraw()

    def _fill_chooser(self) -> None:
        names = [self.example_title(example) for example in self.examples()]
        if names != [self.which.itemText(index) for index in range(self.which.count())]:
            self.which.clear()
            self.which.addItems(names)
        self.which.setCurrentIndex(min(self.record.example, len(names) - 1))
        self.which.setVisible(bool(self.choosing) and len(names) > 1)

    def reset_ranges(self) -> None:
        self.canvas.forget_ranges()

    def _on_example_chosen(self) -> None:
        self.record.example = self.which.currentIndex()
        self.dirty = True
        self.example_requested.emit(self.record.example)
