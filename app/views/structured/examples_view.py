"""What views of a few sequences or molecules share: which one of them is shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.views.plot.view import View
from app.widgets.quiet_controls import QuietComboBox
from core.tuning.events import RunStarted
from core.tuning.payloads import FoldedMolecule, LabelledSequence

Example = LabelledSequence | FoldedMolecule

NARROWEST = 110  # pixels of the chooser


class ExamplesView(View):
    """A view of one example of the latest event; views of one record show the same example.

    Attributes:
        task: of the data that have such examples.
        choosing: the name of the chooser; empty where another view has it.
    """

    task: ClassVar[str] = ""
    choosing: ClassVar[str] = ""

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Penalty learners on such data."""
        return started.kind == "penalties" and started.dataset.get("task") == cls.task

    def examples(self) -> Sequence[Example]:
        """The examples of the latest event; empty before the first."""
        raise NotImplementedError

    def called(self, example: Example) -> str:
        """An example's name and size, for the chooser."""
        raise NotImplementedError

    def step(self) -> int:
        """The step that the latest event belongs to."""
        raise NotImplementedError

    def controls(self) -> list[QWidget]:
        """The chooser of the example."""
        self.which = box = QuietComboBox()
        if not self.choosing:
            return []
        box.setAccessibleName(self.choosing)
        box.setToolTip(self.choosing)
        box.setSizeAdjustPolicy(QuietComboBox.SizeAdjustPolicy.AdjustToContents)
        box.setMinimumWidth(appearance.pixels(NARROWEST))
        box.activated.connect(self._chosen)
        return [box]

    def start(self, started: RunStarted) -> None:
        """Another run has other examples."""
        self.which.clear()
        self.which.hide()
        self._seen = self.record.example

    def has_content(self) -> bool:
        """From the first event."""
        return bool(self.examples())

    def example(self) -> Example:
        """The example that is shown."""
        examples = self.examples()
        return examples[min(self.record.example, len(examples) - 1)]

    def redraw(self) -> None:
        """Keep the chooser true, then draw."""
        self._fill()
        if self._seen != self.record.example:
            self._seen = self.record.example
            self.another()
        super().redraw()

    def _fill(self) -> None:
        names = [self.called(example) for example in self.examples()]
        if names != [self.which.itemText(at) for at in range(self.which.count())]:
            self.which.clear()
            self.which.addItems(names)
        self.which.setCurrentIndex(min(self.record.example, len(names) - 1))
        self.which.setVisible(bool(self.choosing) and len(names) > 1)

    def another(self) -> None:
        """Another example is going to be drawn: it has ranges of its own."""
        for plot in self.canvas.plots:
            plot.forget_ranges()
        self.canvas.zoom.whole()

    def _chosen(self, at: int) -> None:
        self.record.example = at
        self.dirty = True
        self.example_requested.emit(at)
