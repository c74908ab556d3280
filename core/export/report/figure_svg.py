"""Figures as SVG: marks in pixels, their colours variables of the page."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from html import escape
from typing import assert_never

import numpy as np

from core.figures import figure as data
from core.figures.figure import Figure, FigureAxis, spaced_apart, spread_apart
from core.wording import shortened_text

CHARACTER = 6.6  # pixels, the usual width of a character at 12 px
LONG_NAME = 40  # characters of a name beside a row, or at a line's end
ROW, HIGH_ROW = 26, 46  # pixels of a row, and of one with words above
AIR = 0.08  # of a range, on both sides of what is not exact
HEAD, FOOT = 14, 46  # pixels above and below the plot
LEGEND, SAMPLE = 20, 22  # pixels of its height, and of a sample with what keeps it from its words
BAR = 16  # pixels of a bar
LINE = 15  # pixels from one name at a line's end to the next
FLOOR = 6  # pixels of a mark above the axis
TICKS = 7
MOST_NUMBERS = 6  # of marks at the edges
# Width and height of a figure by the width of its card.
SIZES = {
    "": (760, 300),
    "full": (980, 280),
    "wide": (680, 320),
    "half": (540, 320),
    "narrow": (420, 320),
}


@dataclass
class SvgDrawing:
    """Marks in order, with title and description."""

    title: str
    description: str
    width: int = 980
    height: int = 280
    marks: list[str] = field(default_factory=list)

    def add_line(self, x1: float, y1: float, x2: float, y2: float, kind: str) -> None:
        """A straight line; `kind` is its CSS class."""
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self.marks.append(f'<line class="{kind}" {ends}/>')

    def add_arc(self, start: float, end: float, y: float, height: float, kind: str) -> None:
        """Half an ellipse above a base line at y, or below for a negative height."""
        radii = f"{(end - start) / 2:.1f},{abs(height):.1f}"
        arc = f"A{radii} 0 0 {int(height > 0)} {end:.1f},{y:.1f}"
        self.marks.append(f'<path class="{kind}" d="M{start:.1f},{y:.1f}{arc}"/>')

    def add_bar(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        self.marks.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" '
            f'width="{max(width, 0):.1f}" height="{height:.1f}" rx="2"/>'
        )

    def add_text(
        self, x: float, y: float, words: str, kind: str = "tick", anchor: str = ""
    ) -> None:
        """A text; `anchor` is start (the default), middle or end."""
        anchor_attribute = f' text-anchor="{anchor}"' if anchor else ""
        self.marks.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{anchor_attribute}>{escape(words)}</text>'
        )

    def add_vertical_text(self, x: float, y: float, words: str) -> None:
        self.marks.append(
            f'<text class="label" transform="translate({x:.1f} {y:.1f}) rotate(-90)" '
            f'text-anchor="middle">{escape(words)}</text>'
        )

    def to_svg(self, style: str = "") -> str:
        """An element of a page, or with a style sheet a file of its own."""
        size, paper = f'style="max-width:{1.15 * self.width:.0f}px"', ""
        if style:
            size = f'xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}"'
            corner = f"H{self.width}V{self.height}H0Z"
            paper = f'<style>{style}</style><path class="f-paper" d="M0 0{corner}"/>'
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" {size} '
            f'aria-label="{escape(self.title)}. {escape(self.description)}">'
            f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>"
            f"{paper}{''.join(self.marks)}</svg>"
        )


@dataclass(frozen=True)
class _Plot:
    drawing: SvgDrawing
    left_x: float
    right: float
    top: float
    bottom: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]  # the lower end first, also of rows that run down
    is_cropped: bool = False  # lines beyond it go along its edge

    def x(self, position: float) -> float:
        low, high = self.x_range
        return self.left_x + (position - low) / (high - low) * (self.right - self.left_x)

    def y(self, position: float) -> float:
        low, high = self.y_range
        return self.bottom - (position - low) / (high - low) * (self.bottom - self.top)

    def points(self, x: Iterable[float], y: Iterable[float]) -> Iterator[tuple[float, float]]:
        """Pixels; NaN outside of the range."""
        low, high = sorted(self.y_range)
        for position, height in zip(x, y, strict=True):
            inside = low - 1e-9 <= height <= high + 1e-9
            yield (self.x(position), self.y(height)) if inside else (math.nan, math.nan)


def figure_svg(
    figure: Figure, width: int = SIZES[""][0], height: int = SIZES[""][1], style: str = ""
) -> str:
    """An SVG element, or a file with a style sheet; the height of rows is their own."""
    rows = figure.y.scale.choices if figure.y.scale.kind == "choice" else ()
    if rows:
        has_words = any(isinstance(m, data.Labels) and m.place == "above" for m in figure.marks)
        height = HEAD + FOOT + (HIGH_ROW if has_words else ROW) * len(rows)
    height += LEGEND * bool(figure.legend)
    drawing = SvgDrawing(figure.title, figure.description, width, height)
    plot = _laid_out(drawing, figure)
    _draw_axes(plot, figure)
    for mark in figure.marks:
        _draw_mark(plot, mark)
    _draw_legend(plot, figure)
    return drawing.to_svg(style)


def _laid_out(drawing: SvgDrawing, figure: Figure) -> _Plot:
    y_range = _shown_range(figure.y)
    rows = figure.y.scale.choices if figure.y.scale.kind == "choice" else ()
    if rows:  # the first is the upper one
        y_range = (len(rows) - 0.4, -0.6)
    texts = [shortened_text(name, LONG_NAME) for name in rows]
    texts = texts or [text for _, text in figure.y.scale.ticks_between(*y_range, TICKS)]
    left_x = 34 + CHARACTER * max(map(len, texts), default=2) - 14 * bool(rows)
    right = float(drawing.width - 20)
    low, high = _shown_range(figure.x)
    for mark in figure.marks:
        if isinstance(mark, data.EndNames):
            longest = max((len(shortened_text(text, LONG_NAME)) for text in mark.texts), default=0)
            right = drawing.width - 30 - CHARACTER * longest
            low, high = figure.x.low, max([*mark.x, low + 1e-9])
        elif isinstance(mark, data.Level) and mark.words and mark.value is not None:
            is_seen = min(y_range) <= mark.value <= max(y_range)
            length = len(mark.words) + (0 if is_seen else len(mark.number) + 3)
            right = min(right, drawing.width - 16 - CHARACTER * length)
        elif isinstance(mark, data.Labels) and mark.place == "right":
            # The words stand behind the largest value, in half of the plot at most.
            room = (CHARACTER * max(map(len, mark.texts), default=0) + 12) / (right - left_x)
            high = low + (figure.x.high - low) / (1 - min(room, 0.5))
    bottom, top = drawing.height - FOOT, HEAD + LEGEND * bool(figure.legend)
    is_cropped = figure.y.full_range is not None
    return _Plot(drawing, left_x, right, top, bottom, (low, high), y_range, is_cropped)


def _shown_range(axis: FigureAxis) -> tuple[float, float]:
    low, high = axis.low, axis.high
    # A constant needs a range as well.
    span = (high - low) or abs(high) * 0.1 or 1.0
    air = 0.0 if axis.exact else AIR
    if axis.scale.kind == "choice" or axis.air:
        return low - axis.air * span, high
    return low - air * span, high + air * span


def _draw_axes(plot: _Plot, figure: Figure) -> None:
    drawing, middle = plot.drawing, (plot.left_x + plot.right) / 2
    if figure.y.scale.kind == "choice":
        for row, name in enumerate(figure.y.scale.choices):
            words = shortened_text(name, LONG_NAME)
            drawing.add_text(plot.left_x - 8, plot.y(row) + 4, words, "name", "end")
    else:
        for position, text in figure.y.scale.ticks_between(*plot.y_range, TICKS):
            y = plot.y(position)
            drawing.add_line(plot.left_x, y, plot.right, y, "grid")
            drawing.add_text(plot.left_x - 8, y + 4, text, anchor="end")
    for position, text in figure.x.scale.ticks_between(*plot.x_range, TICKS):
        x = plot.x(position)
        if figure.y.scale.kind == "choice":
            drawing.add_line(x, plot.top, x, plot.bottom, "grid")
        else:
            drawing.add_line(x, plot.bottom, x, plot.bottom + 4, "axis")
        drawing.add_text(x, plot.bottom + 19, text, anchor="middle")
    drawing.add_line(plot.left_x, plot.bottom, plot.right, plot.bottom, "axis")
    drawing.add_text(middle, drawing.height - 8, _axis_title(figure.x), "label", "middle")
    # Upright, so that → points up.
    drawing.add_vertical_text(14, (plot.top + plot.bottom) / 2, _axis_title(figure.y))


def _axis_title(axis: FigureAxis) -> str:
    if axis.maximize is None:
        return axis.title
    return f"{axis.title}  {'→' if axis.maximize else '←'} better"


def _draw_mark(plot: _Plot, mark: data.Mark) -> None:
    drawing = plot.drawing
    match mark:
        case data.Lines():
            for points in _unbroken(plot, mark):
                steps = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
                drawing.marks.append(f'<path {_stroke_attributes(mark)} d="M{steps}"/>')
        case data.Dots():
            _draw_dots(plot, mark)
        case data.Band():
            _draw_band(plot, mark)
        case data.Bars():
            _draw_bars(plot, mark)
        case data.Labels():
            is_right = mark.place == "right"
            for x, y, text in zip(mark.x, mark.y, mark.texts, strict=True):
                across, down = (6, 4) if is_right else (0, -9)
                kind, anchor = ("tick", "start") if is_right else ("name", "middle")
                text_x = min(max(plot.x(x), plot.left_x), plot.right) + across
                drawing.add_text(text_x, plot.y(y) + down, text, kind, anchor)
        case data.EndNames():
            _draw_end_names(plot, mark)
        case data.EdgeMarks():
            _draw_edge_marks(plot, mark)
        case data.Level():
            if mark.value is not None:
                _draw_level(plot, mark)
        case data.Border():
            if mark.value is not None:
                x = plot.x(mark.value)
                drawing.add_line(x, plot.top, x, plot.bottom, "dashed")
                drawing.add_text(x + 4, plot.top + 11, mark.words)
        case _:
            assert_never(mark)


def _stroke_attributes(mark: data.Lines) -> str:
    dashes = ' stroke-dasharray="5 4"' if mark.dashed else ""
    clear = f' opacity="{mark.opacity:g}"' if mark.opacity < 1 else ""
    return f'class="curve s-{mark.colour}" stroke-width="{mark.width:g}"{dashes}{clear}'


def _unbroken(plot: _Plot, mark: data.Lines) -> Iterator[list[tuple[float, float]]]:
    heights = np.asarray(mark.y, dtype=float)
    if plot.is_cropped or len(heights) == 2:  # a straight line that may go beyond the rows
        heights = np.clip(heights, min(plot.y_range), max(plot.y_range))
    points: list[tuple[float, float]] = []
    for point in [*plot.points(mark.x, heights), (math.nan, math.nan)]:
        if math.isfinite(point[0]) and math.isfinite(point[1]):
            points.append(point)
        elif points:
            yield points
            points = []


def _draw_dots(plot: _Plot, mark: data.Dots) -> None:
    outline = {data.OWN: mark.fill, data.APART: "paper"}.get(mark.outline or "", mark.outline)
    style = f'class="f-{mark.fill or "none"} s-{outline or "none"}" stroke-width="{mark.width:g}"'
    style += f' opacity="{mark.opacity:g}"' if mark.opacity < 1 else ""
    if mark.at_floor:
        pairs = [(plot.x(x), plot.bottom - FLOOR) for x in mark.x]
    else:
        pairs = list(plot.points(mark.x, mark.y))
    notes = list(mark.notes) or [""] * len(pairs)
    for (x, y), note in zip(pairs, notes, strict=True):
        if math.isfinite(x) and math.isfinite(y):
            title = f"<title>{escape(note)}</title>" if note else ""
            plot.drawing.marks.append(_symbol_path(mark.symbol, x, y, mark.size / 2, style, title))


def _symbol_path(symbol: str, x: float, y: float, r: float, style: str, title: str) -> str:
    if symbol == "circle":
        return f'<circle {style} cx="{x:.1f}" cy="{y:.1f}" r="{r:g}">{title}</circle>'
    corners = {
        "cross": f"M{-r:g},{-r:g}L{r:g},{r:g}M{-r:g},{r:g}L{r:g},{-r:g}",
        "diamond": f"M0,{-r:g}L{r:g},0L0,{r:g}L{-r:g},0Z",
        "square": f"M{-r:g},{-r:g}H{r:g}V{r:g}H{-r:g}Z",
        "triangle": f"M0,{-r:g}L{r:g},{r:g}L{-r:g},{r:g}Z",
    }
    path = corners.get(symbol) or _star_path(r)
    return f'<path {style} transform="translate({x:.1f} {y:.1f})" d="{path}">{title}</path>'


def _star_path(r: float) -> str:
    corners = (
        (math.sin(turn * math.pi / 5) * reach, -math.cos(turn * math.pi / 5) * reach)
        for turn, reach in enumerate([r, 0.45 * r] * 5)
    )
    return "M" + "L".join(f"{x:.2f},{y:.2f}" for x, y in corners) + "Z"


def _draw_band(plot: _Plot, mark: data.Band) -> None:
    upper = [(plot.x(x), plot.y(y)) for x, y in zip(mark.x, mark.high, strict=True)]
    lower = [(plot.x(x), plot.y(y)) for x, y in zip(mark.x, mark.low, strict=True)]
    outline = [point for point in [*upper, *reversed(lower)] if math.isfinite(point[1])]
    if outline:
        steps = "L".join(f"{x:.1f},{y:.1f}" for x, y in outline)
        style = f'class="f-{mark.colour} s-none" opacity="{mark.opacity:g}"'
        plot.drawing.marks.append(f'<path {style} d="M{steps}Z"/>')


def _draw_bars(plot: _Plot, mark: data.Bars) -> None:
    bars = zip(mark.rows, mark.ends, mark.colours, mark.hatched, strict=True)
    for row, end, colour, is_hatched in bars:
        left_x, right = sorted((plot.x(mark.start), plot.x(end)))
        kind = "hatched" if is_hatched else f"f-{colour}"
        plot.drawing.add_bar(left_x, plot.y(row) - BAR / 2, right - left_x, BAR, kind)


def _draw_end_names(plot: _Plot, mark: data.EndNames) -> None:
    ends = [min(max(plot.y(y), plot.top), plot.bottom) for y in mark.y]
    rows = spread_apart(ends, LINE, plot.top, plot.bottom)
    for x, end, row, text in zip(mark.x, ends, rows, mark.texts, strict=True):
        right = plot.x(x)
        plot.drawing.add_line(right + 3, end, right + 14, row, "axis")
        plot.drawing.add_text(right + 17, row + 4, shortened_text(text, LONG_NAME), "name")


def _draw_edge_marks(plot: _Plot, mark: data.EdgeMarks) -> None:
    limits = (plot.left_x, plot.right), (plot.top, plot.bottom)
    style, centres, below = f'class="f-{mark.colour} s-ink" stroke-width="0.8"', list[float](), []
    for x, y in zip(map(plot.x, mark.x), map(plot.y, mark.y), strict=True):
        ends = [min(max(end, low), high) for end, (low, high) in zip((x, y), limits, strict=True)]
        is_low = y > plot.bottom
        centres.append(ends[0])
        below.append(is_low)
        if (x, y) != tuple(ends):
            turn = 90 * (2 if is_low else 0 if y < plot.top else 1 if x > plot.right else 3)
            triangle = _symbol_path("triangle", 0.0, 0.0, 3.5, style, "")
            shift = f"translate({ends[0]:.1f} {ends[1]:.1f}) rotate({turn})"
            plot.drawing.marks.append(f'<g transform="{shift}">{triangle}</g>')
    widths = [CHARACTER * len(text) + 8.0 for text in mark.texts]
    for index in spaced_apart(centres[: len(widths)], widths, MOST_NUMBERS):
        y = plot.bottom - 10 if below[index] else plot.top + 18
        plot.drawing.add_text(centres[index], y, mark.texts[index], anchor="middle")


def _draw_level(plot: _Plot, mark: data.Level) -> None:
    y, words = plot.y(mark.value or 0.0), mark.words
    if plot.top <= y <= plot.bottom:
        plot.drawing.add_line(plot.left_x, y, plot.right, y, "dashed")
    else:
        words = f"{words} {mark.number} {'↓' if y > plot.bottom else '↑'}"
    plot.drawing.add_text(plot.right + 6, min(max(y, plot.top), plot.bottom) + 4, words)


def _draw_legend(plot: _Plot, figure: Figure) -> None:
    x, y = plot.left_x, HEAD - 2
    marks = {mark.name: mark for mark in figure.marks}
    for name, words in figure.legend:
        mark = marks.get(name)
        if isinstance(mark, data.Lines):
            path = f"M{x:.1f},{y}h{SAMPLE - 6}"
            plot.drawing.marks.append(f'<path {_stroke_attributes(mark)} d="{path}"/>')
        elif isinstance(mark, data.Dots):
            style = f'class="f-{mark.fill or "none"} s-{mark.outline or "none"}"'
            plot.drawing.marks.append(_symbol_path(mark.symbol, x + SAMPLE / 2, y, 6, style, ""))
        plot.drawing.add_text(x + SAMPLE, y + 4, words)
        x += SAMPLE + CHARACTER * len(words) + 16
