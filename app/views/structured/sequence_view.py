"""One sequence, token by token: how likely the model finds every label."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import fixed
from app.views.plot.data_table import Table
from app.views.plot.items import clear_colour
from app.views.plot.legend import SAMPLE, Entry
from app.views.structured.examples_view import ExamplesView
from app.views.structured.token_grid import Labelled, TokenGrid, draw_said, draw_true, draw_wrong
from core.tuning.events import RunStarted, SequencesLabelled
from core.tuning.payloads import LabelledSequence

FEW = 20  # labels up to which each has a row, likely or not
LIKELY = 0.05  # of more labels, those that are as likely as this somewhere have one
SAID = 3  # labels that are named when the pointer rests on a token
NAMED = 4  # wrong tokens that the description names


class SequenceView(ExamplesView):
    """Tokens across, labels down; frames are true labels, dots and crosses what the model says."""

    name = "sequence"
    title = "One sequence, token by token"
    question = "Which label does the model find likely, where?"
    waiting = "The likely labels of a few training sequences appear here at step 0."
    choosing = "Which sequence"
    listens = (SequencesLabelled,)
    task = "sequence"
    wide = True
    interval = 0.06

    def make_content(self) -> QWidget:
        """A grid that scrolls."""
        self.grid = TokenGrid()
        return self.grid

    def picture(self) -> QWidget:
        """The whole sequence, scrolled or not."""
        return self.grid.whole()

    def start(self, started: RunStarted) -> None:
        """Labels that had a row in the last run have none in this one."""
        super().start(started)
        self._rows: dict[str, set[int]] = {}

    def another(self) -> None:
        """The grid itself begins at the left."""

    def told_at(self, place: QPointF) -> str:
        """What the token there is."""
        return self.grid.told_at(place)

    def examples(self) -> list[LabelledSequence]:
        """The sequences of the latest step."""
        return self.run.labelled.sequences if self.run.labelled is not None else []

    def step(self) -> int:
        """The latest step."""
        return self.run.labelled.step if self.run.labelled is not None else 0

    def called(self, example: LabelledSequence) -> str:
        """The sequence's name and length."""
        return f"{example.name} ({len(example.tokens)} tokens)"

    def draw(self) -> None:
        """The likely labels of the chosen sequence."""
        self.grid.set_data(self.labelled(), self._legend(), self._told)

    def labelled(self) -> Labelled:
        """What is drawn: of many labels those that are true, said or likely somewhere.

        A label that once had a row keeps it while the run goes on, so that rows do not jump.
        """
        example, classes = self.example(), self.run.labelled.classes
        marginals = np.array(example.marginals, dtype=float).reshape(-1, len(classes))
        code = {label: at for at, label in enumerate(classes)}
        true = [code.get(label, -1) for label in example.truth]
        said = [code.get(label, -1) for label in example.labels]
        rows = self._rows.setdefault(example.name, set())
        if len(classes) <= FEW:
            rows.update(range(len(classes)))
        rows.update(at for at in (*true, *said) if at >= 0)
        rows.update(np.flatnonzero(marginals.max(axis=0, initial=0.0) >= LIKELY).tolist())
        kept = sorted(rows)
        row_of = {at: row for row, at in enumerate(kept)}
        return Labelled(
            tokens=tuple(example.tokens),
            labels=tuple(classes[at] for at in kept),
            probabilities=marginals[:, kept],
            true=tuple(row_of.get(at, -1) for at in true),
            said=tuple(row_of.get(at, -1) for at in said),
        )

    def _legend(self) -> list[Entry]:
        return [
            Entry(_shades, "more likely"),
            Entry(_middle(draw_true), "true label"),
            Entry(_middle(draw_said), "model right"),
            Entry(_middle(draw_wrong), "model wrong"),
        ]

    def _told(self, token: int) -> str:
        example, classes = self.example(), self.run.labelled.classes
        shares = np.array(example.marginals[token])
        likely = np.argsort(-shares, kind="stable")[:SAID]
        lines = [
            f"“{example.tokens[token]}”, token {token + 1}",
            f"true label: {example.truth[token]}",
            f"model says: {example.labels[token]}",
        ]
        lines += [f"{classes[at]} {fixed(100 * shares[at], 1)} %" for at in likely]
        return "\n".join(lines)

    def describe(self) -> str:
        """How many tokens of the sequence are right, and which are not."""
        example = self.example()
        pairs = list(zip(example.tokens, example.truth, example.labels, strict=True))
        wrong = ["“{}” is {}, said {}".format(*pair) for pair in pairs if pair[1] != pair[2]]
        right = f"{len(pairs) - len(wrong)} of {len(pairs)} tokens right."
        said = f"Step {self.step()}, sequence {example.name}: {right}"
        if not wrong:
            return said
        rest = " …" if len(wrong) > NAMED else "."
        return f"{said} {'Wrong: {}'.format('; '.join(wrong[:NAMED]))}{rest}"

    def rows(self) -> Table:
        """Every token with its true and given label and the probability of every label."""
        example, classes = self.example(), self.run.labelled.classes
        headers = ["token", "true label", "model says", "right"]
        rows = [
            [token, true, said, "yes" if true == said else "no", *shares]
            for token, true, said, shares in zip(
                example.tokens, example.truth, example.labels, example.marginals, strict=True
            )
        ]
        return [*headers, *classes], rows


def _shades(painter: QPainter, box: QRectF) -> None:
    model, steps = appearance.current().model, 6
    wide = box.width() / steps
    for at in range(steps):
        part = QRectF(box.left() + at * wide, box.top() + 3, wide + 0.5, box.height() - 6)
        painter.fillRect(part, clear_colour(model, (at + 0.5) / steps))


def _middle(draw: Any) -> Any:
    def sample(painter: QPainter, box: QRectF) -> None:
        draw(painter, QRectF(box.center().x() - SAMPLE / 2, box.top(), SAMPLE, box.height()))

    return sample
