"""One plot: its axes and stable ranges."""

from __future__ import annotations

import math

import pyqtgraph as pg

from app.views.plot.axes import ScaleAxis
from app.views.plot.scales import Scale

Range = tuple[float, float]
SHRINK = 0.55  # share of a held range below which data get a narrower one


class Plot(pg.PlotItem):
    """One plot whose ranges change only when data would leave them."""

    def __init__(self, bottom: Scale | None = None, left: Scale | None = None) -> None:
        self.bottom = ScaleAxis("bottom", bottom)
        self.left = ScaleAxis("left", left)
        super().__init__(axisItems={"bottom": self.bottom, "left": self.left}, enableMenu=False)
        self.hideButtons()
        self.setMouseEnabled(False, False)
        self.vb.disableAutoRange()
        self.vb.setDefaultPadding(0)
        self._held: list[Range | None] = [None, None]  # of x and y
        self.zoomed = False  # a person looks closer; the held ranges wait

    def add_marks(self, *marks: pg.GraphicsObject) -> None:
        """Add items, the lowest first."""
        for mark in marks:
            self.addItem(mark)

    def hold_x(self, low: float, high: float, *, exact: bool = False) -> None:
        """Show at least this range along the bottom."""
        self._hold_range(0, low, high, exact)

    def hold_y(self, low: float, high: float, *, exact: bool = False) -> None:
        """Show at least this range along the left."""
        self._hold_range(1, low, high, exact)

    def forget_ranges(self) -> None:
        """Choose ranges anew from the next data."""
        self._held = [None, None]

    def show_whole(self) -> None:
        """Restore the held ranges after zooming."""
        self.zoomed = False
        for show, held in zip((self.setXRange, self.setYRange), self._held, strict=True):
            if held is not None:
                show(*held, padding=0)
        self.left.fit_thickness()

    def _hold_range(self, axis: int, low: float, high: float, exact: bool) -> None:
        if not (math.isfinite(low) and math.isfinite(high)):
            return
        held = self._held[axis]
        if held is not None and not exact:
            if high - low < SHRINK * (held[1] - held[0]) and high > low:
                held = None
            elif held[0] <= low and high <= held[1]:
                return
        if not exact:
            low, high = self._padded_range(held, low, high)
        if (low, high) == self._held[axis]:
            return
        self._held[axis] = (low, high)
        if self.zoomed:  # show_whole sets it
            return
        (self.setXRange if axis == 0 else self.setYRange)(low, high, padding=0)
        if axis == 1:
            self.left.fit_thickness()

    @staticmethod
    def _padded_range(held: Range | None, low: float, high: float) -> Range:
        # Room beyond the data, so that the next value seldom changes the range again.
        span = (high - low) or max(abs(high) * 0.1, 1e-3)
        if held is None:
            return low - 0.08 * span, high + 0.08 * span
        low = held[0] if held[0] <= low else low - 0.15 * span
        return low, held[1] if held[1] >= high else high + 0.15 * span
