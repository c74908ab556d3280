"""Small SVG drawings: axes in data units, and marks; colours are CSS variables of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

SERIES = 8
CHARACTER = 6.6  # pixels, the usual width of a character at 12 px


@dataclass(frozen=True)
class SvgScale:
    """Data units to pixels, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        low, high = self._linear_value(self.low), self._linear_value(self.high)
        share = (self._linear_value(value) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def _linear_value(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def tick_values(self, count: int = 5) -> list[float]:
        """A few round numbers inside the range."""
        if self.log:
            return log_ticks(self.low, self.high)
        return linear_ticks(self.low, self.high, count)


def linear_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers, about `count` of them, from low to high."""
    rough = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(k * step, 12) for k in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten, with 3 (or 2 and 5) between them if there is room, at most about seven."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = last - first
    between = (1, 2, 5) if decades <= 2 else (1, 3) if decades <= 3 else (1,)
    stride = max(1, math.ceil(decades / 7))
    return [
        factor * 10.0**power
        for power in range(first, last + 1, stride)
        for factor in between
        if low * 0.999 <= factor * 10.0**power <= high * 1.001
    ]


def padded_range(values: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """A range with a margin around the values; never empty."""
    low, high = min(values), max(values)
    air = (high - low) * share or abs(high) * 0.05 or 0.5
    return low - air, high + air


def padded_log(values: Sequence[float], factor: float = 1.4) -> tuple[float, float]:
    """The same on a logarithmic axis."""
    return min(values) / factor, max(values) * factor


def svg_number(value: float) -> str:
    """A number as text: 0.05, 12, 1,500, 2e-7."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e7 or size < 1e-4:
        return f"{value:.3g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    if size >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


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

    def add_path(self, points: Sequence[tuple[float, float]], kind: str) -> None:
        """An open line through points."""
        steps = "L".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.marks.append(f'<path class="{kind}" d="M{steps}"/>')

    def add_arc(self, start: float, end: float, y: float, height: float, kind: str) -> None:
        """Half an ellipse above a base line at y, or below for a negative height."""
        radii = f"{(end - start) / 2:.1f},{abs(height):.1f}"
        arc = f"A{radii} 0 0 {int(height > 0)} {end:.1f},{y:.1f}"
        self.marks.append(f'<path class="{kind}" d="M{start:.1f},{y:.1f}{arc}"/>')

    def add_dot(self, x: float, y: float, kind: str, radius: float = 3.5, note: str = "") -> None:
        """A round mark; `note` is its tooltip."""
        inside = f"<title>{escape(note)}</title>" if note else ""
        circle = f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}">'
        self.marks.append(f"{circle}{inside}</circle>")

    def add_bar(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """A filled rectangle."""
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
        """The name of a vertical axis."""
        self.marks.append(
            f'<text class="label" transform="translate({x:.1f} {y:.1f}) rotate(-90)" '
            f'text-anchor="middle">{escape(words)}</text>'
        )

    def to_svg(self) -> str:
        """The SVG element."""
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" '
            f'style="max-width:{1.15 * self.width:.0f}px" '
            f'aria-label="{escape(self.title)}. {escape(self.description)}">'
            f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>"
            f"{''.join(self.marks)}</svg>"
        )


@dataclass
class SvgAxes:
    """A drawing with axes; `x` and `y` map data units to pixels."""

    drawing: SvgDrawing
    x: SvgScale
    y: SvgScale

    @property
    def bottom_y(self) -> float:
        """The y pixel of the horizontal axis."""
        return self.y.start


def svg_axes(
    drawing: SvgDrawing,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    labels: tuple[str, str],
    *,
    log: tuple[bool, bool] = (False, False),
    whole_x: bool = False,
    right: float = 20,
) -> SvgAxes:
    """Axes with grid, round ticks and names, leaving `right` pixels for end labels."""
    y_ticks = SvgScale(*y_range, 1, 0, log[1]).tick_values()
    plot_left = 34 + CHARACTER * max((len(svg_number(tick)) for tick in y_ticks), default=2)
    x = SvgScale(*x_range, plot_left, drawing.width - right, log[0])
    y = SvgScale(*y_range, drawing.height - 46, 14, log[1])
    for tick in y_ticks:
        drawing.add_line(x.start, y(tick), x.end, y(tick), "grid")
        drawing.add_text(x.start - 8, y(tick) + 4, svg_number(tick), anchor="end")
    x_ticks = [t for t in x.tick_values(7) if not whole_x or t == int(t)]
    for tick in x_ticks:
        drawing.add_line(x(tick), y.start, x(tick), y.start + 4, "axis")
        drawing.add_text(x(tick), y.start + 19, svg_number(tick), anchor="middle")
    drawing.add_line(x.start, y.start, x.end, y.start, "axis")
    drawing.add_text((x.start + x.end) / 2, drawing.height - 8, labels[0], "label", "middle")
    drawing.add_vertical_text(14, (y.start + y.end) / 2, labels[1])
    return SvgAxes(drawing, x, y)


def spread_apart(positions: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The positions, moved as little as needed to lie `gap` apart between low and high."""
    order = sorted(range(len(positions)), key=lambda i: positions[i])
    gap = min(gap, (high - low) / max(len(positions) - 1, 1))
    moved = list(positions)
    for before, after in zip([None, *order], order, strict=False):
        floor = low if before is None else moved[before] + gap
        moved[after] = max(positions[after], floor)
    ceiling = high
    for index in reversed(order):
        moved[index] = min(moved[index], ceiling)
        ceiling = moved[index] - gap
    return moved
