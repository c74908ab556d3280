"""Small SVG drawings: marks in pixels; colours are CSS variables of the page."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

CHARACTER = 6.6  # pixels, the usual width of a character at 12 px


def shorten_name(name: str, max_length: int = 24) -> str:
    """A name, cut at its end where it is longer."""
    return name if len(name) <= max_length else name[: max_length - 1] + "…"


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
