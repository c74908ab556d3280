"""The label probabilities of one sequence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_decimals
from app.views.plot.data_table import Table
from app.views.plot.items import clear_colour
from app.views.plot.legend import SAMPLE, LegendEntry
from app.views.structured.examples_view import ExamplesView
from app.views.structured.token_grid import (
    SequenceLabels,
    TokenGrid,
    draw_right,
    draw_true,
    draw_wrong,
)
from core.datasets.task import Task
from core.tuning.events import RunStarted, SequencesLabelled
from core.tuning.payloads import LabelledSequence

MAX_FULL_LABELS = 20  # labels up to which each has a row, likely or not
LIKELY = 0.05  # of more labels, those that are as likely as this somewhere have one
MAX_TOOLTIP_LABELS = 3  # labels that are named when the pointer rests on a token
NAMED = 4  # wrong tokens that the description names


class SequenceView(ExamplesView[LabelledSequence]):
    """Tokens across, labels down; frames are true labels."""

    name = "sequence"
    title = "One sequence, token by token"
    question = "Which label does the model find likely, where?"
    waiting = "The likely labels of a few training sequences appear here at step 0."
    choosing = "Which sequence"
    listens = (SequencesLabelled,)
    task = Task.SEQUENCE
    wide = True
    interval = 0.06

    def make_content(self) -> QWidget:
        """A scrolling grid."""
        self.grid = TokenGrid()
        return self.grid

    def picture(self) -> QWidget:
        """The full sequence."""
        return self.grid.full_picture()

    def start(self, started: RunStarted) -> None:
        """Forget the label rows of the last run."""
        super().start(started)
        self._rows: dict[str, set[int]] = {}

    def reset_ranges(self) -> None:
        """Nothing: the grid starts at the left."""

    def tooltip_at(self, position: QPointF) -> str:
        """The token and its labels."""
        return self.grid.tooltip_at(position)

    @property
    def latest_labels(self) -> SequencesLabelled:
        """The latest event; empty before the first."""
        return self.run.labelled or SequencesLabelled()

    def examples(self) -> list[LabelledSequence]:
        """The sequences of the latest step."""
        return self.latest_labels.sequences

    def latest_step(self) -> int:
        """The latest step."""
        return self.latest_labels.step

    def example_title(self, example: LabelledSequence) -> str:
        """The sequence's name and length."""
        return f"{example.name} ({len(example.tokens)} tokens)"

    def draw(self) -> None:
        """Draw the selected sequence."""
        entries = [
            LegendEntry(_paint_shades, "more likely"),
            LegendEntry(_centred_sample(draw_true), "true label"),
            LegendEntry(_centred_sample(draw_right), "model right"),
            LegendEntry(_centred_sample(draw_wrong), "model wrong"),
        ]
        self.grid.set_data(self.sequence_labels(), entries, self._token_text)

    def sequence_labels(self) -> SequenceLabels:
        """Tokens with all labels that were true, predicted or likely."""
        example, classes = self.example(), self.latest_labels.classes
        marginals = np.array(example.marginals, dtype=float).reshape(-1, len(classes))
        code_of = {label: code for code, label in enumerate(classes)}
        shown = self._rows.setdefault(example.name, set())  # grows, so that rows do not jump
        if len(classes) <= MAX_FULL_LABELS:
            shown.update(range(len(classes)))
        shown.update(
            code_of[label] for label in (*example.truth, *example.labels) if label in code_of
        )
        shown.update(np.flatnonzero(marginals.max(axis=0, initial=0.0) >= LIKELY).tolist())
        codes = sorted(shown)
        row_of = {classes[code]: row for row, code in enumerate(codes)}
        return SequenceLabels(
            tokens=tuple(example.tokens),
            labels=tuple(row_of),
            probabilities=marginals[:, codes],
            true=tuple(row_of.get(label, -1) for label in example.truth),
            predictions=tuple(row_of.get(label, -1) for label in example.labels),
        )

    def _token_text(self, token: int) -> str:
        example, classes = self.example(), self.latest_labels.classes
        shares = np.array(example.marginals[token])
        likely = np.argsort(-shares, kind="stable")[:MAX_TOOLTIP_LABELS]
        lines = [
            f"“{example.tokens[token]}”, token {token + 1}",
            f"true label: {example.truth[token]}",
            f"predicted: {example.labels[token]}",
        ]
        lines += [f"{classes[code]} {format_decimals(100 * shares[code], 1)} %" for code in likely]
        return "\n".join(lines)

    def describe(self) -> str:
        """How many tokens are right, and the wrong ones."""
        example = self.example()
        pairs = list(zip(example.tokens, example.truth, example.labels, strict=True))
        wrong = ["“{}” is {}, predicted {}".format(*pair) for pair in pairs if pair[1] != pair[2]]
        right = f"{len(pairs) - len(wrong)} of {len(pairs)} tokens right."
        sentence = f"Step {self.latest_step()}, sequence {example.name}: {right}"
        if not wrong:
            return sentence
        ending = " …" if len(wrong) > NAMED else "."
        return f"{sentence} Wrong: {'; '.join(wrong[:NAMED])}{ending}"

    def table_data(self) -> Table:
        """Every token with true and predicted label and all probabilities."""
        example, classes = self.example(), self.latest_labels.classes
        headers = ["token", "true label", "predicted label", "right"]
        columns = (example.tokens, example.truth, example.labels, example.marginals)
        return [*headers, *classes], [
            [token, true, prediction, "yes" if true == prediction else "no", *shares]
            for token, true, prediction, shares in zip(*columns, strict=True)
        ]


def _paint_shades(painter: QPainter, box: QRectF) -> None:
    model, steps = appearance.current().model, 6
    wide = box.width() / steps
    for step in range(steps):
        shade_box = QRectF(box.left() + step * wide, box.top() + 3, wide + 0.5, box.height() - 6)
        painter.fillRect(shade_box, clear_colour(model, (step + 0.5) / steps))


def _centred_sample(draw: Callable[[QPainter, QRectF], None]) -> Callable[[QPainter, QRectF], None]:
    def paint_sample(painter: QPainter, box: QRectF) -> None:
        draw(painter, QRectF(box.center().x() - SAMPLE / 2, box.top(), SAMPLE, box.height()))

    return paint_sample
