"""What views of a folded molecule share."""

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
    """A view of a molecule; pairs count from 1."""

    listens = (MoleculesFolded,)
    task = Task.STRUCTURE
    zooms = True
    interval = 0.06

    def make_content(self) -> QWidget:
        """A canvas high enough for small arcs and squares."""
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
        """The predicted and the true pairs."""
        example = self.example()
        predicted, truth = bracket_pairs(example.predicted), bracket_pairs(example.truth)
        return {(i + 1, j + 1) for i, j in predicted}, {(i + 1, j + 1) for i, j in truth}

    def pair_count_text(self) -> str:
        """The numbers of right pairs in words."""
        called, true = self.base_pairs()
        right = len(called & true)
        finds = f"finds {right} of {len(true)} true base pairs"
        sentence = f"Step {self.latest_step()}, {self.example().name}: {finds}; "
        return sentence + f"{right} of {len(called)} called pairs are right."
