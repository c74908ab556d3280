"""Held-out rows on which the members of the average disagree."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.views.ensemble_views import EnsembleView
from app.views.plot.axes import small_font
from app.views.plot.figure_painter import colour_of
from app.views.plot.items import Dots, Lines, clear_colour, pen
from app.views.plot.legend import LegendEntry, symbol_sample
from app.views.plot.scrolled_views import ScrolledBars
from app.views.plot.view_state import ViewState
from core.figures.figure import AVERAGE, Table
from core.tuning.events import DisputedRow, MembersDisagree, RunStarted
from core.tuning.runs.trial_table import tunes_several
from core.wording import format_decimals, format_number

NAMES = 0.5  # share of the width that the words about rows may take
ALL_CLASSES = 8  # classes up to which the table has a column for each


class Disagreement(EnsembleView, ScrolledBars):
    """A row of dots, one a member, and a diamond for the truth."""

    name = "disagreement"
    title = "Where the members disagree"
    question = "On which held-out rows do the averaged models disagree most?"
    waiting = "Rows appear here when the average has two members, which is after 20 trials."
    wide = True
    late = True
    listed = "Rows shown"
    listens = (MembersDisagree,)

    def __init__(self, record: ViewState | None = None, parent: QWidget | None = None) -> None:
        super().__init__(record, parent)
        self.canvas.removeItem(self.plot)
        self.legend = self.canvas.add_legend()
        self.canvas.addItem(self.plot, row=1, col=0)
        self.span, self.dots = Lines(), Dots("circle", 9)
        self.truth, self.picked = Dots("diamond", 12, "truth"), Dots("circle", 16)
        self.plot.add_marks(self.span, self.dots, self.truth, self.picked)

    def paint_theme(self) -> None:
        theme = appearance.current()
        self.span.set_style(pen(theme.control, 1.4))
        self.dots.set_style(clear_colour(colour_of(AVERAGE), 0.75), theme.ink, 1.0)
        self.truth.set_style(None, theme.observed, 2.2)
        self.picked.set_style(None, theme.focus, 2.4)

    @classmethod
    def wants(cls, started: RunStarted) -> bool:
        has_holdout_rows = started.judged != "training" and not tunes_several(started)
        return super().wants(started) and has_holdout_rows

    # -- what is known -------------------------------------------------------------------------

    @property
    def disagreement(self) -> MembersDisagree:
        """The latest event; empty before the first."""
        return self.run.disagreement or MembersDisagree()

    def has_content(self) -> bool:
        return bool(self.disagreement.rows) and len(self.disagreement.members) > 1

    def shown_class(self, row: DisputedRow) -> int:
        """The class drawn for a row: the second of two, else the true one."""
        classes = self.disagreement.classes
        if len(classes) == 2 or row.truth not in classes:
            return len(classes) - 1 if len(classes) == 2 else _likeliest(row.said)
        return classes.index(row.truth)

    def member_values(self, row: DisputedRow) -> np.ndarray:
        """The x of each member's dot, shape (members,)."""
        if self.disagreement.classes:
            code = self.shown_class(row)
            return np.array([100 * prediction[code] for prediction in row.said], dtype=float)
        return np.array([_parse_number(prediction) for prediction in row.said], dtype=float)

    def true_value(self, row: DisputedRow) -> float:
        """The x of the truth, NaN where it is unknown."""
        classes = self.disagreement.classes
        if classes:
            is_known = row.truth in classes
            return 100.0 * (classes[self.shown_class(row)] == row.truth) if is_known else math.nan
        return _parse_number(row.truth)

    def row_label(self, row: DisputedRow) -> str:
        """A row in words, with its class where there are over two."""
        name, classes = f"row {row.row + 1}", self.disagreement.classes
        name += f": {row.about}" if row.about else ""
        return f"{classes[self.shown_class(row)]} · {name}" if len(classes) > 2 else name

    # -- drawing -------------------------------------------------------------------------------

    def draw(self) -> None:
        self.paint_theme()
        rows, members = self.disagreement.rows, self.disagreement.members
        self.name_rows(self._row_names(), NAMES)
        self.plot.bottom.set_title(self._bottom_title())
        values = [self.member_values(row) for row in rows]
        heights = [np.full(len(row_values), float(row)) for row, row_values in enumerate(values)]
        x, y = np.concatenate(values), np.concatenate(heights)
        self.dots.set_data(x, y)
        ends = [[row_values.min(), row_values.max(), math.nan] for row_values in values]
        self.span.set_data(np.ravel(ends), np.repeat(np.arange(len(rows), dtype=float), 3))
        true = np.array([self.true_value(row) for row in rows])
        self.truth.set_data(true, np.arange(len(rows), dtype=float))
        numbers = np.tile(np.array(members), len(rows))
        mine = numbers == (-1 if self.record.selected is None else self.record.selected)
        self.picked.set_data(x[mine], y[mine])
        self.canvas.set_pickable(self.plot, x, y, numbers)
        self._set_limits(np.append(x, true[np.isfinite(true)]))
        self._draw_legend(bool(np.isfinite(true).any()))
        self.show_rows(len(rows))

    def _row_names(self) -> list[str]:
        # The first columns of a row say most of it: what does not fit is left out at the end.
        metrics, max_width = QFontMetricsF(small_font()), NAMES * self.canvas.width() - 1
        labels, right = map(self.row_label, self.disagreement.rows), Qt.TextElideMode.ElideRight
        return [metrics.elidedText(label, right, max_width) for label in labels]

    def _bottom_title(self) -> str:
        classes = self.disagreement.classes
        if len(classes) == 2:
            return f"probability of “{classes[1]}” in %"
        if classes:
            return "probability of the true class in %"
        is_known = any(math.isfinite(self.true_value(row)) for row in self.disagreement.rows)
        return "predicted value" if is_known else "log density given to it"

    def _set_limits(self, x: np.ndarray) -> None:
        if self.disagreement.classes:
            self.plot.hold_x(-4.0, 104.0, exact=True)
        else:
            self.plot.hold_x(float(x.min()), float(x.max()))

    def _draw_legend(self, true: bool) -> None:
        theme, green = appearance.current(), clear_colour(colour_of(AVERAGE), 0.75)
        member = symbol_sample("circle", 9, pen(theme.ink, 1.0), green)
        entries = [LegendEntry(member, "prediction of one member")]
        if true:
            sample = symbol_sample("diamond", 11, pen(theme.observed, 2.0))
            entries.append(LegendEntry(sample, "truth"))
        self.legend.set_entries(entries, self.canvas.full_width)

    # -- in words ------------------------------------------------------------------------------

    def value_text(self, value: float) -> str:
        """A prediction with its unit."""
        is_share = bool(self.disagreement.classes)
        return f"{format_decimals(value, 0)} %" if is_share else format_number(value)

    def describe(self) -> str:
        row = self.disagreement.rows[0]
        values = self.member_values(row)
        ends = [self.value_text(float(end)) for end in (values.min(), values.max())]
        classes = self.disagreement.classes
        label = f" for “{classes[self.shown_class(row)]}”" if classes else ""
        sentence = (
            f"They differ most about row {row.row + 1}: between {ends[0]} and {ends[1]}{label}."
        )
        return f"{sentence} In truth: {row.truth}." if row.truth else sentence

    def table_data(self) -> Table:
        disagreement = self.disagreement
        count = len(disagreement.classes)
        classes = list(range(count)) if count <= ALL_CLASSES else None
        headers = ["row", "about", "truth", "spread"]
        for number in disagreement.members:
            trial = f"trial {number}"
            if not disagreement.classes:
                headers.append(trial)
            elif classes is None:
                headers.append(f"{trial}: probability of the true class")
            else:
                headers += [f"{trial}: {disagreement.classes[code]}" for code in classes]
        return headers, [self._row_cells(row, classes) for row in disagreement.rows]

    def _row_cells(self, row: DisputedRow, classes: list[int] | None) -> list[Any]:
        cells = [row.row + 1, row.about, row.truth, row.spread]
        if not self.disagreement.classes:
            return [*cells, *row.said]
        shown = [self.shown_class(row)] if classes is None else classes
        return [*cells, *(prediction[code] for prediction in row.said for code in shown)]

    def start(self, started: RunStarted) -> None:
        ScrolledBars.start(self, started)


def _likeliest(member_probabilities: list[list[float]]) -> int:
    best = max(member_probabilities, key=max)
    return best.index(max(best))


def _parse_number(text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan
