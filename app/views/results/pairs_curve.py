"""How the balance between finding base pairs and calling wrong ones moves, tuned and default."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import fixed, plain
from app.views.plot.canvas import EDGES
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, pen, symbol_path
from app.views.plot.legend import Entry, Legend, line_sample
from app.views.results.result_view import ResultView

USUAL = 4.0  # the γ that the scores are of, in runs that do not say it


class PairsCurve(ResultView):
    """Sensitivity over specificity while γ goes from cautious to generous."""

    name = "curve"
    title = "Does it find the pairs, and only them?"
    question = "Higher: it finds more of the true pairs. Further right: fewer wrong ones."
    waiting = "A curve appears here for molecules."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.legend = Legend()
        self.canvas.addItem(self.legend, row=0, col=0)
        self.plot = self.canvas.add_plot(row=1)
        self.plot.bottom.set_title("called pairs that are right, %")
        self.plot.left.set_title("true pairs found, %")
        self.lines = {"default": Lines(), "tuned": Lines()}
        self.dots = {"default": Dots("circle", 5), "tuned": Dots("circle", 5)}
        self.usual = {"default": Dots("diamond", 13), "tuned": Dots("star", 17)}
        for items in (self.lines, self.dots, self.usual):
            for item in items.values():
                self.plot.addItem(item)

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Folded molecules."""
        return bool((results.get("curve") or {}).get("tuned"))

    def points(self, who: str) -> np.ndarray:
        """γ, and percent found and right, of a setting, shape (count, 3), NaN where unknown."""
        found = self.results["curve"].get(who) or []
        rows = [[math.nan if value is None else value for value in row] for row in found]
        return np.array(rows, dtype=float).reshape(-1, 3) * [1.0, 100.0, 100.0]

    def own(self, who: str) -> np.ndarray:
        """The point of the γ that pairs are called with, as in `points`, shape (1, 3)."""
        gamma = (self.results.get("gamma") or {}).get(who, USUAL)
        points = self.points(who)
        at = points[:, 0] == gamma
        counts = (self.results.get("pairs") or {}).get(who)
        if at.any() or counts is None:
            return points[at]
        right, called, true = (float(counts[name]) for name in ("right", "called", "true"))
        shares = [100 * right / whole if whole else math.nan for whole in (true, called)]
        return np.array([[gamma, *shares]])

    def draw(self) -> None:
        """Both curves; the balance that the scores are of is marked."""
        theme = appearance.current()
        for who, colour, dashed in (("tuned", theme.model, False), ("default", theme.muted, True)):
            points = self.points(who)
            own = self.own(who)
            at = np.isin(points[:, 0], own[:, 0])
            self.lines[who].set_style(pen(colour, 2.0, dashed=dashed))
            self.dots[who].set_style(colour, colour)
            self.usual[who].set_style(colour, theme.ink, 1.2)
            self.lines[who].set_data(points[:, 2], points[:, 1])
            self.dots[who].set_data(points[~at, 2], points[~at, 1])
            self.usual[who].set_data(own[:, 2], own[:, 1])
        self._draw_legend()
        both = np.vstack([self.points("tuned"), self.points("default")])
        for hold, column in ((self.plot.hold_x, 2), (self.plot.hold_y, 1)):
            if np.isfinite(both[:, column]).any():
                hold(float(np.nanmin(both[:, column])), float(np.nanmax(both[:, column])))
        self.canvas.align_left()

    def _draw_legend(self) -> None:
        theme = appearance.current()
        tuned, default = pen(theme.model, 2.0), pen(theme.muted, 2.0, dashed=True)
        entries = [
            Entry(line_sample(tuned), "tuned"),
            Entry(line_sample(default), "default setting"),
            Entry(_star, "where the scores are taken"),
        ]
        self.legend.set_entries(entries, self.canvas.width() - EDGES[0] - EDGES[2])

    def describe(self) -> str:
        """Both settings at the usual balance."""
        parts = []
        for who, words in (("tuned", "tuned"), ("default", "default setting")):
            for gamma, found, right in self.own(who):
                said = "{}: {} of the true pairs found, {} of the called pairs right (γ = {})"
                shares = (f"{fixed(v, 1)} %" for v in (found, right))
                parts.append(said.format(words, *shares, plain(gamma, 4)))
        return "; ".join(parts) + "."

    def rows(self) -> Table:
        """Setting, γ, sensitivity, specificity."""
        headers = ["setting", "gamma", "true pairs found, %", "called pairs right, %"]
        rows = [
            [words, plain(gamma, 4), found, right]
            for who, words in (("tuned", "tuned"), ("default", "default"))
            for gamma, found, right in self.points(who).tolist()
        ]
        return headers, rows


def _star(painter: QPainter, box: QRectF) -> None:
    theme = appearance.current()
    painter.setPen(pen(theme.ink, 1.2))
    painter.setBrush(pen(theme.model).color())
    painter.drawPath(symbol_path("star", 13).translated(box.center()))
