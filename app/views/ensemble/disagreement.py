"""Where the members of the average disagree: held-out rows, and what each member says of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import fixed, plain
from app.views.ensemble.ensemble_view import EnsembleView, average_colour
from app.views.plot.axes import small_font
from app.views.plot.canvas import EDGES
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, clear_colour, pen, symbol_path
from app.views.plot.legend import Entry, Legend
from app.views.plot.record import Record
from app.views.plot.scrolled_bars import ScrolledBars
from core.tuning.events import MembersDisagree, RunStarted
from core.tuning.payloads import DisputedRow
from core.tuning.runs.competition import tunes_several

NAMES = 0.5  # share of the width that the words about rows may take
ALL_CLASSES = 8  # classes up to which the table has a column for each


class Disagreement(EnsembleView, ScrolledBars):
    """A line of dots a row: one dot a member, and a diamond for the truth."""

    name = "disagreement"
    title = "Where the members disagree"
    question = "About which held-out rows do the averaged models say the most different things?"
    waiting = "Rows appear here when the average has two members, which is after 20 trials."
    wide = True
    late = True
    listed = "Rows shown"
    listens = (MembersDisagree,)

    def __init__(self, record: Record | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.canvas.removeItem(self.plot)
        self.legend = Legend()
        self.canvas.addItem(self.legend, row=0, col=0)
        self.canvas.addItem(self.plot, row=1, col=0)
        self.span, self.dots = Lines(), Dots("circle", 9)
        self.truth, self.picked = Dots("diamond", 12, "truth"), Dots("circle", 16)
        for item in (self.span, self.dots, self.truth, self.picked):
            self.plot.addItem(item)

    def paint_theme(self) -> None:
        """Members in the average's green, the truth in vermilion."""
        theme = appearance.current()
        self.span.set_style(pen(theme.control, 1.4))
        self.dots.set_style(clear_colour(average_colour(), 0.75), theme.ink, 1.0)
        self.truth.set_style(None, theme.observed, 2.2)
        self.picked.set_style(None, theme.focus, 2.4)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        """Runs that average and hold rows out."""
        told = started.judged != "training" and not tunes_several(started)
        return super().wants(started) and told

    # -- what is known -------------------------------------------------------------------------

    def said(self) -> MembersDisagree | None:
        """The latest word of the members."""
        return self.run.disagreement

    def count(self) -> int:
        """The rows."""
        return len(self.said().rows) if self.said() is not None else 0

    def has_content(self) -> bool:
        """Where two members or more say something."""
        said = self.said()
        return said is not None and bool(said.rows) and len(said.members) > 1

    def asked(self, row: DisputedRow) -> int:
        """Which class the picture shows of a row: the second of two, else the true one."""
        classes = self.said().classes
        if len(classes) == 2 or row.truth not in classes:
            return len(classes) - 1 if len(classes) == 2 else _likeliest(row.said)
        return classes.index(row.truth)

    def values(self, row: DisputedRow) -> np.ndarray:
        """Where each member's dot lies, shape (members,)."""
        if self.said().classes:
            return np.array([100 * given[self.asked(row)] for given in row.said], dtype=float)
        return np.array([_number(given) for given in row.said], dtype=float)

    def true_value(self, row: DisputedRow) -> float:
        """Where the truth lies, NaN where it is not known."""
        classes = self.said().classes
        if classes:
            known = row.truth in classes
            return 100.0 * (classes[self.asked(row)] == row.truth) if known else math.nan
        return _number(row.truth)

    def called(self, row: DisputedRow) -> str:
        """A row in words; of more than two classes with the one that the dots are about."""
        words = "row {}: {}" if row.about else "row {}"
        name = words.format(row.row + 1, row.about)
        classes = self.said().classes
        return f"{classes[self.asked(row)]} · {name}" if len(classes) > 2 else name

    # -- drawing -------------------------------------------------------------------------------

    def draw(self) -> None:
        """Dots and truths, row by row."""
        self.paint_theme()
        rows, members = self.said().rows, self.said().members
        self.name_rows(self._names(), NAMES)
        self.plot.bottom.set_title(self._bottom_title())
        values = [self.values(row) for row in rows]
        at = [np.full(len(given), float(place)) for place, given in enumerate(values)]
        x, y = np.concatenate(values), np.concatenate(at)
        self.dots.set_data(x, y)
        ends = [[given.min(), given.max(), math.nan] for given in values]
        self.span.set_data(np.ravel(ends), np.repeat(np.arange(len(rows), dtype=float), 3))
        true = np.array([self.true_value(row) for row in rows])
        self.truth.set_data(true, np.arange(len(rows), dtype=float))
        numbers = np.tile(np.array(members), len(rows))
        mine = numbers == (-1 if self.record.selected is None else self.record.selected)
        self.picked.set_data(x[mine], y[mine])
        self.canvas.set_pickable(self.plot, x, y, numbers)
        self._hold(np.append(x, true[np.isfinite(true)]))
        self._draw_legend(bool(np.isfinite(true).any()))
        self.show_window()

    def _names(self) -> list[str]:
        # The first columns of a row say most of it: what does not fit is left out at the end.
        metrics, most = QFontMetricsF(small_font()), NAMES * self.canvas.width() - 1
        right = Qt.TextElideMode.ElideRight
        return [metrics.elidedText(self.called(row), right, most) for row in self.said().rows]

    def _bottom_title(self) -> str:
        classes = self.said().classes
        if len(classes) == 2:
            return f"probability of “{classes[1]}” in %"
        if classes:
            return "probability of the true class in %"
        known = any(math.isfinite(self.true_value(row)) for row in self.said().rows)
        return "predicted value" if known else "log density given to it"

    def _hold(self, x: np.ndarray) -> None:
        if self.said().classes:
            self.plot.hold_x(-4.0, 104.0, exact=True)
        else:
            self.plot.hold_x(float(x.min()), float(x.max()))

    def _draw_legend(self, true: bool) -> None:
        entries = [Entry(_member, "what one member says")]
        if true:
            entries.append(Entry(_truth, "truth"))
        self.legend.set_entries(entries, self.canvas.width() - EDGES[0] - EDGES[2])

    # -- in words ------------------------------------------------------------------------------

    def in_words(self, value: float) -> str:
        """What a member says, with its unit."""
        return f"{fixed(value, 0)} %" if self.said().classes else plain(value)

    def describe(self) -> str:
        """The row that is disputed most, and between what the members range."""
        row = self.said().rows[0]
        values = self.values(row)
        ends = [self.in_words(float(end)) for end in (values.min(), values.max())]
        classes = self.said().classes
        if classes:
            words = "They differ most about row {}: between {} and {} for “{}”."
            said = words.format(row.row + 1, *ends, classes[self.asked(row)])
        else:
            words = "They differ most about row {}: between {} and {}."
            said = words.format(row.row + 1, *ends)
        return f"{said} In truth: {row.truth}." if row.truth else said

    def rows(self) -> Table:
        """Every row with what every member says of every class, in full."""
        said = self.said()
        classes = list(range(len(said.classes))) if len(said.classes) <= ALL_CLASSES else None
        headers = ["row", "about", "truth", "spread"]
        for number in said.members:
            trial = f"trial {number}"
            if not said.classes:
                headers.append(trial)
            elif classes is None:
                headers.append(f"{trial}: probability of the true class")
            else:
                headers += [f"{trial}: {said.classes[at]}" for at in classes]
        return headers, [self._cells(row, classes) for row in said.rows]

    def _cells(self, row: DisputedRow, classes: list[int] | None) -> list[Any]:
        cells = [row.row + 1, row.about, row.truth, row.spread]
        if not self.said().classes:
            return [*cells, *row.said]
        shown = [self.asked(row)] if classes is None else classes
        return [*cells, *(given[at] for given in row.said for at in shown)]

    def start(self, started: RunStarted) -> None:
        """Other rows."""
        ScrolledBars.start(self, started)


def _likeliest(said: list[list[float]]) -> int:
    """The class to which some member gives the highest probability."""
    best = max(said, key=max)
    return best.index(max(best))


def _number(text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


def _member(painter: QPainter, box: QRectF) -> None:
    painter.setPen(pen(appearance.current().ink, 1.0))
    painter.setBrush(clear_colour(average_colour(), 0.75))
    painter.drawPath(symbol_path("circle", 9).translated(box.center()))


def _truth(painter: QPainter, box: QRectF) -> None:
    painter.setPen(pen(appearance.current().observed, 2.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPath(symbol_path("diamond", 11).translated(box.center()))
