"""What the pictures of a folded molecule share: its base pairs, and which of them are right."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.views.structured.examples_view import ExamplesView
from core.datasets.molecules import bracket_pairs
from core.datasets.task import Task
from core.tuning.events import MoleculesFolded
from core.tuning.payloads import FoldedMolecule

LOWEST = 225  # pixels of the canvas


class MoleculeView(ExamplesView[FoldedMolecule]):
    """A view of one of the molecules that are watched; pairs are (i, j), counted from 1."""

    listens = (MoleculesFolded,)
    task = Task.STRUCTURE
    zooms = True
    interval = 0.06

    def make_content(self) -> QWidget:
        """A canvas that is never too low for small arcs and squares."""
        content = super().make_content()
        self.canvas.setMinimumHeight(appearance.pixels(LOWEST))
        return content

    def examples(self) -> list[FoldedMolecule]:
        """The molecules of the latest step."""
        return self.run.folded.molecules if self.run.folded is not None else []

    def latest_step(self) -> int:
        """The latest step."""
        return self.run.folded.step if self.run.folded is not None else 0

    def example_title(self, example: FoldedMolecule) -> str:
        """The molecule's name."""
        return example.name

    def base_pairs(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """The pairs that the model calls, and the true ones."""
        example = self.example()
        predicted, truth = bracket_pairs(example.predicted), bracket_pairs(example.truth)
        return {(i + 1, j + 1) for i, j in predicted}, {(i + 1, j + 1) for i, j in truth}

    def pair_count_text(self) -> str:
        """How many true pairs are found, and how many called pairs are right, in words."""
        called, true = self.base_pairs()
        right = len(called & true)
        template = "Step {}, {}: finds {} of {} true base pairs; {} of {} called pairs are right."
        name = self.example().name
        return template.format(self.latest_step(), name, right, len(true), right, len(called))
