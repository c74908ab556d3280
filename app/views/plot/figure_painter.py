"""Paints figures in a plot: an item of the canvas for every mark, kept while the mark stays."""

from collections.abc import Callable
from typing import Any, assert_never

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from app.look import appearance
from app.views.plot import items, labels
from app.views.plot.axes import ScaleAxis, small_font
from app.views.plot.canvas import Canvas
from app.views.plot.legend import LegendEntry, line_sample, symbol_sample
from core.figures import figure as data
from core.figures.scales import JOINER, Scale

OUTLINE = 1.6  # pixels that the ink below a light line is wider
BESIDE = 16  # pixels around the words at a bar's end
MOST_WORDS, MOST_NAMES = 0.67, 0.6  # shares of the width that words at ends may take
SYMBOL = 13  # pixels of a symbol in a legend, at most


class FigurePainter:
    """A plot that shows one figure after the other."""

    def __init__(
        self,
        canvas: Canvas,
        *,
        has_legend: bool = False,
        column: int = 0,
        names_share: float | None = None,
    ) -> None:
        self._canvas = canvas
        self._names_share = names_share  # of the width, beyond which names of rows are cut
        self.legend = canvas.add_legend() if has_legend else None
        self.plot = canvas.add_plot(row=int(has_legend), column=column)
        self.marks: dict[str, Any] = {}  # the items by the names of their marks

    def paint(self, figure: data.Figure) -> None:
        self._set_axis(self.plot.left, figure.y)
        self._set_axis(self.plot.bottom, figure.x)
        # Rows count downwards: the first is the upper one.
        self.plot.vb.invertY(figure.y.scale.kind == "choice")
        names = {mark.name for mark in figure.marks}
        # Items of marks that stay are kept: new ones cost more than new data.
        for name in set(self.marks) - names:
            self.plot.removeItem(self.marks.pop(name))
        for mark in figure.marks:
            if mark.name not in self.marks:
                self.marks[mark.name] = self._new_item(mark)
                self.plot.add_marks(self.marks[mark.name])
            self._show_mark(self.marks[mark.name], mark, figure)
        self._hold_ranges(figure)
        # Now that the ranges are held, the lower edge is known.
        for mark in figure.marks:
            if isinstance(mark, data.Dots) and mark.at_floor:
                heights = self.plot.seen_heights(np.full(len(mark.x), np.nan))
                self.marks[mark.name].set_data(mark.x, heights)
        if self.legend is not None:
            entries = [self._legend_entry(figure, *entry) for entry in figure.legend]
            self.legend.set_entries(entries, self._canvas.full_width)

    # Marks ------------------------------------------------------------------------------------

    def _new_item(self, mark: data.Mark) -> Any:
        match mark:
            case data.Dots():
                return items.Dots(mark.symbol, mark.size, mark.label)
            case data.Lines():
                return items.Lines(mark.label)
            case data.Band():
                return items.Band()
            case data.Bars():
                return items.HorizontalBars()
            case data.Labels():
                return labels.TopLabels() if mark.place == "above" else labels.BarLabels()
            case data.EndNames():
                return labels.EndLabels()
            case data.EdgeMarks():
                return labels.EdgeMarks()
            case data.Level():
                levels = [i for i in self.marks.values() if isinstance(i, labels.DefaultLine)]
                return labels.DefaultLine(levels[-1] if levels else None)
            case data.Border():
                return labels.Marker("control")
            case _:
                assert_never(mark)

    def _show_mark(self, item: Any, mark: data.Mark, figure: data.Figure) -> None:
        match mark:
            case data.Dots():
                item.set_style(*dot_style(mark), mark.width)
                item.set_shape(mark.symbol, mark.size)
                if not mark.at_floor:
                    item.set_data(mark.x, mark.y)
            case data.Lines():
                item.set_style(*line_pens(mark))
                item.set_data(mark.x, mark.y)
            case data.Band():
                item.set_style(items.clear_colour(colour_of(mark.colour), mark.opacity))
                item.set_data(*(np.asarray(v, float) for v in (mark.x, mark.low, mark.high)))
            case data.Bars():
                fills = [colour_of(colour) for colour in mark.colours]
                bars = [
                    (row, mark.start, end) for row, end in zip(mark.rows, mark.ends, strict=True)
                ]
                item.set_data(bars, fills, list(mark.hatched), colour_of(mark.edge))
            case data.Labels() | data.EndNames():
                item.set_data(list(zip(mark.x, mark.y, mark.texts, strict=True)))
            case data.EdgeMarks():
                item.set_data(mark.x, mark.y, mark.texts, colour_of(mark.colour))
            case data.Level():
                item.set_value(mark.value, mark.words, mark.number, *_avoided(figure))
            case data.Border():
                item.set_value(mark.value, mark.words)

    def _legend_entry(self, figure: data.Figure, name: str, words: str) -> LegendEntry:
        mark = next((mark for mark in figure.marks if mark.name == name), None)
        if isinstance(mark, data.Lines):
            line, dots = line_pens(mark)[0], (m for m in figure.marks if isinstance(m, data.Dots))
            on_line = next((m for m in dots if m.label and m.label == mark.label), None)
            sample = _dots_sample(on_line, line) if on_line is not None else line_sample(line)
            return LegendEntry(sample, words)
        if isinstance(mark, data.Dots):
            return LegendEntry(_dots_sample(mark), words)
        return LegendEntry(lambda *_arguments: None, words)

    # Axes and ranges --------------------------------------------------------------------------

    def _set_axis(self, axis: ScaleAxis, wanted: data.FigureAxis) -> None:
        scale = wanted.scale
        if axis is self.plot.left and scale.kind == "choice" and self._names_share is not None:
            scale = Scale("choice", self._cut_names(scale.choices, wanted.is_cut_at_end))
        axis.set_scale(scale)
        axis.set_title(wanted.title, wanted.maximize)

    def _cut_names(self, names: tuple[str, ...], is_cut_at_end: bool) -> tuple[str, ...]:
        max_width = (self._names_share or 1.0) * self._canvas.width()
        # Long names of one table tend to differ at their ends.
        mode = Qt.TextElideMode.ElideRight if is_cut_at_end else Qt.TextElideMode.ElideMiddle
        metrics = QFontMetricsF(small_font())
        return unique_names([metrics.elidedText(name, mode, max_width) for name in names])

    def _hold_ranges(self, figure: data.Figure) -> None:
        self.plot.full_ranges = [figure.x.full_range, figure.y.full_range]
        self.plot.hold_y(figure.y.low, figure.y.high, exact=figure.y.exact)
        for mark in figure.marks:
            if isinstance(mark, data.Labels) and mark.place == "right":
                return self._hold_bars(figure.x, mark)
            if isinstance(mark, data.EndNames):
                return self._hold_names(figure.x, mark)
        return self.plot.hold_x(figure.x.low, figure.x.high, exact=figure.x.exact)

    def _hold_bars(self, axis: data.FigureAxis, words: data.Labels) -> None:
        low, high = axis.low, axis.high
        # As wide as it ever was, so that bars do not jump from step to step.
        if not axis.exact:
            before = self.plot.widest or (low, high)
            low, high = self.plot.widest = min(low, before[0]), max(high, before[1])
        texts = [words.reserved] if words.reserved else words.texts
        metrics = QFontMetricsF(small_font())
        longest = max((metrics.horizontalAdvance(text) for text in texts), default=0.0) + BESIDE
        room = min(MOST_WORDS, longest / max(self._canvas.inner_width(self.plot), 1.0))
        span = (high - low) or 1e-3
        self.plot.hold_x(low - axis.air * span, low + span / (1 - room), exact=True)

    def _hold_names(self, axis: data.FigureAxis, names: data.EndNames) -> None:
        # The names stand right of the last point: their pixels belong to the range.
        width = self.marks[names.name].needed_width() + 6
        share = min(MOST_NAMES, width / self._canvas.inner_width(self.plot))
        last = max(names.x, default=axis.high)
        first = 0.0 if axis.air else axis.low
        high = max(axis.high, first + (last - first) / (1 - share))
        x_min, x_max = self.plot.vb.viewRange()[0]
        fits = x_max > x_min and (x_max - last) / (x_max - x_min) >= share
        if axis.exact or not (fits and x_min < 0 <= last <= x_max):
            self.plot.hold_x(axis.low - axis.air * high, high, exact=True)


def colour_of(role: str) -> str:
    """A role's colour in the current theme."""
    theme = appearance.current()
    if role.startswith("series"):
        return theme.series[int(role[6:]) % len(theme.series)]
    return str(getattr(theme, role))


def dot_style(mark: data.Dots) -> tuple[str | QColor | None, str | None]:
    """Fill and outline."""
    fill = None if mark.fill is None else colour_of(mark.fill)
    outline = mark.outline
    if outline in (data.OWN, data.APART):
        is_light = fill in appearance.current().outlined
        usual = fill if outline == data.OWN else colour_of("paper")
        return fill, colour_of("ink") if is_light else usual
    edge = None if outline is None else colour_of(outline)
    return items.clear_colour(fill, mark.opacity) if fill and mark.opacity < 1 else fill, edge


def line_pens(mark: data.Lines) -> tuple[QPen, QPen | None]:
    """The pens of a line and of what lies below it."""
    colour = colour_of(mark.colour)
    shade = items.clear_colour(colour, mark.opacity) if mark.opacity < 1 else colour
    line = items.pen(shade, mark.width, mark.dashed)
    if mark.halo:
        return line, items.pen(colour_of(mark.halo), mark.halo_width)
    is_light = colour in appearance.current().outlined
    return line, items.pen(colour_of("ink"), mark.width + OUTLINE) if is_light else None


def _dots_sample(mark: data.Dots, line: QPen | None = None) -> Callable[[QPainter, QRectF], None]:
    fill, outline = dot_style(mark)
    edge = items.pen(outline, mark.width) if outline else QPen(Qt.PenStyle.NoPen)
    colour = None if fill is None else QColor(fill)
    return symbol_sample(mark.symbol, min(SYMBOL, mark.size), edge, colour, line)


def unique_names(names: list[str]) -> tuple[str, ...]:
    """Names made different by unseen joiners."""
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, -1) + 1
        unique.append(name + JOINER * seen[name])
    return tuple(unique)


def _avoided(figure: data.Figure) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Dots, shape (n, 2), and the corners of lines."""
    dots = [m for m in figure.marks if isinstance(m, data.Dots) and not m.at_floor]
    lines = [m for m in figure.marks if isinstance(m, data.Lines)]
    points = [np.column_stack([mark.x, mark.y]) for mark in dots]
    x, y = (np.concatenate([np.asarray(getattr(m, axis)) for m in lines]) for axis in "xy")
    return np.concatenate(points), (x, y)
