"""A curve as an SVG: seconds on the left, megabytes on the right, both axes by decades."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from scale.curve import Curve, Point, slope

WIDTH, HEIGHT = 1120, 460
LEFT, TOP, BOTTOM = 70, 76, 56
PANEL, GAP = 345, 90
COLOURS = ("#3355c4", "#b4560a", "#1f7a4d", "#8a3fa0", "#5b6472", "#a3262f")
DASHES = ("", "7 4", "2 3", "10 3 2 3", "5 2", "1 4")
INK, MUTED, GRID = "#1d2530", "#5b6472", "#dfe3e8"
Lines = Mapping[str, Sequence[Point]]


def draw_curve(curve: Curve, lines: Lines) -> str:
    """The picture's text."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 26, curve.title, size=17, weight="bold"),
    ]
    seconds = {name: [(p.size, p.seconds) for p in line] for name, line in lines.items()}
    memory = {
        name: [(p.size, p.megabytes) for p in line if p.megabytes >= 1.0]
        for name, line in lines.items()
    }
    parts += _panel(LEFT, "processor seconds", curve.axis, seconds)
    parts += _panel(LEFT + PANEL + GAP, "megabytes", curve.axis, memory)
    parts += _legend(LEFT + 2 * PANEL + GAP + 30, curve, lines)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(
    left: float, title: str, axis: str, lines: Mapping[str, Sequence[tuple[float, float]]]
) -> list[str]:
    every = [point for line in lines.values() for point in line]
    if not every:
        return [_text(left, TOP + 20, f"{title}: nothing above one", colour=MUTED)]
    x_low, x_high = _decades([x for x, _ in every])
    y_low, y_high = _decades([y for _, y in every])
    bottom = HEIGHT - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        across = (math.log10(x) - x_low) / (x_high - x_low)
        up = (math.log10(y) - y_low) / (y_high - y_low)
        return left + PANEL * across, bottom - (bottom - TOP) * up

    parts = [_text(left, TOP - 14, title, colour=MUTED)]
    for decade in range(x_low, x_high + 1):
        x, _ = place(10.0**decade, 10.0**y_low)
        parts.append(_rule(x, TOP, x, bottom))
        parts.append(_text(x, bottom + 18, _power(decade), anchor="middle", colour=MUTED))
    for decade in range(y_low, y_high + 1):
        _, y = place(10.0**x_low, 10.0**decade)
        parts.append(_rule(left, y, left + PANEL, y))
        parts.append(_text(left - 8, y + 4, _power(decade), anchor="end", colour=MUTED))
    parts.append(_text(left + PANEL / 2, bottom + 40, axis, anchor="middle"))
    for number, line in enumerate(lines.values()):
        if line:
            parts.append(_line([place(x, y) for x, y in line], number))
    return parts


def _line(dots_xy: Sequence[tuple[float, float]], number: int) -> str:
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in dots_xy)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in dots_xy)
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashed}/>'
        f"{dots}"
    )


def _legend(left: float, curve: Curve, lines: Lines) -> list[str]:
    parts = [_text(left, TOP - 14, "grows with the power", colour=MUTED)]
    for number, line in enumerate(curve.lines):
        y = TOP + 14 + 46 * number
        power = slope(lines.get(line.name, ()))
        parts.append(_line([(left, y - 4), (left + 26, y - 4)], number))
        parts.append(_text(left + 34, y, line.name))
        power_text = "–" if power is None else f"{power:.2f}"
        theory = "" if line.theory is None else f", in theory {line.theory:g}"
        parts.append(_text(left + 34, y + 17, power_text + theory, colour=MUTED))
    return parts


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low = math.floor(math.log10(min(values)) + 1e-9)
    return low, max(low + 1, math.ceil(math.log10(max(values)) - 1e-9))


def _power(decade: int) -> str:
    if -3 <= decade <= 3:
        return f"{10.0**decade:g}"
    return f'10<tspan dy="-5" font-size="9">{decade}</tspan>'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{GRID}"/>'


def _text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    colour: str = INK,
    size: int = 13,
    weight: str = "normal",
) -> str:
    content = words if words.startswith("10<tspan") else escape(words)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
        f'font-size="{size}" font-weight="{weight}">{content}</text>'
    )
