"""Axes in data units for the drawings of the papers' pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from core.export.report.svg import CHARACTER, SvgDrawing, svg_number


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


def add_dot(drawing: SvgDrawing, x: float, y: float, note: str) -> None:
    """An observed value; `note` is its tooltip."""
    title = f"<title>{escape(note)}</title>"
    circle = f'<circle class="f-observed s-paper" cx="{x:.1f}" cy="{y:.1f}" r="3.5">'
    drawing.marks.append(f"{circle}{title}</circle>")
