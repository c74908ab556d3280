"""Sensitivity against precision of predicted base pairs, tuned and default."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import format_decimals, format_number
from app.views.plot.data_table import Table
from app.views.plot.items import Dots, Lines, pen
from app.views.plot.legend import LegendEntry, line_sample, symbol_sample
from app.views.results.result_view import ResultView
from core.tuning.run_results import GammaValues, PairCurves, Results

USUAL = 4.0  # the γ that the scores are of, in runs that do not say it


class PairsCurve(ResultView):
    """Sensitivity over precision while γ goes from cautious to generous."""

    name = "curve"
    title = "Does it find the pairs, and only them?"
    question = "Higher: it finds more of the true pairs. Further right: fewer wrong ones."
    waiting = "A curve appears here for molecules."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.legend = self.canvas.add_legend()
        self.plot = self.canvas.add_plot(row=1)
        self.plot.bottom.set_title("called pairs that are right, %")
        self.plot.left.set_title("true pairs found, %")
        self.lines = {"default": Lines(), "tuned": Lines()}
        self.dots = {"default": Dots("circle", 5), "tuned": Dots("circle", 5)}
        self.usual = {"default": Dots("diamond", 13), "tuned": Dots("star", 17)}
        for marks in (self.lines, self.dots, self.usual):
            self.plot.add_marks(*marks.values())

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Folded molecules."""
        return results.curve is not None and bool(results.curve.tuned)

    def curve_points(self, who: str) -> np.ndarray:
        """γ, % found, % right; shape (count, 3), NaN where unknown."""
        curves = self.results.curve or PairCurves()
        curve = curves.tuned if who == "tuned" else curves.default
        rows = [[math.nan if value is None else value for value in row] for row in curve]
        return np.array(rows, dtype=float).reshape(-1, 3) * [1.0, 100.0, 100.0]

    def scored_point(self, who: str) -> np.ndarray:
        """The point at the scored γ, shape (1, 3)."""
        gammas, pairs = self.results.gamma or GammaValues(USUAL, USUAL), self.results.pairs
        gamma = gammas.tuned if who == "tuned" else gammas.default
        points = self.curve_points(who)
        is_scored = points[:, 0] == gamma
        if is_scored.any() or pairs is None:
            return points[is_scored]
        counts = pairs.tuned if who == "tuned" else pairs.default
        totals = (counts.true, counts.called)
        shares = [100 * counts.right / total if total else math.nan for total in totals]
        return np.array([[gamma, *shares]])

    def draw(self) -> None:
        """Draw both curves and mark the scored points."""
        theme = appearance.current()
        for who, colour, dashed in (("tuned", theme.model, False), ("default", theme.muted, True)):
            points = self.curve_points(who)
            point = self.scored_point(who)
            is_scored = np.isin(points[:, 0], point[:, 0])
            self.lines[who].set_style(pen(colour, 2.0, dashed=dashed))
            self.dots[who].set_style(colour, colour)
            self.usual[who].set_style(colour, theme.ink, 1.2)
            self.lines[who].set_data(points[:, 2], points[:, 1])
            self.dots[who].set_data(points[~is_scored, 2], points[~is_scored, 1])
            self.usual[who].set_data(point[:, 2], point[:, 1])
        self._draw_legend()
        all_points = np.vstack([self.curve_points("tuned"), self.curve_points("default")])
        for hold, column in ((self.plot.hold_x, 2), (self.plot.hold_y, 1)):
            finite = all_points[np.isfinite(all_points[:, column]), column]
            if len(finite):
                hold(float(finite.min()), float(finite.max()))
        self.canvas.align_left()

    def _draw_legend(self) -> None:
        theme = appearance.current()
        tuned, default = pen(theme.model, 2.0), pen(theme.muted, 2.0, dashed=True)
        star = symbol_sample("star", 13, pen(theme.ink, 1.2), QColor(theme.model))
        entries = [
            LegendEntry(line_sample(tuned), "tuned"),
            LegendEntry(line_sample(default), "default setting"),
            LegendEntry(star, "where the scores are taken"),
        ]
        self.legend.set_entries(entries, self.canvas.full_width)

    def describe(self) -> str:
        """Both scored points."""
        sentences = []
        template = "{}: {} of the true pairs found, {} of the called pairs right (γ = {})"
        for who, words in (("tuned", "tuned"), ("default", "default setting")):
            for gamma, *percentages in self.scored_point(who):
                shares = (f"{format_decimals(share, 1)} %" for share in percentages)
                sentences.append(template.format(words, *shares, format_number(gamma, 4)))
        return "; ".join(sentences) + "."

    def table_data(self) -> Table:
        """Setting, γ, sensitivity, precision."""
        headers = ["setting", "gamma", "true pairs found, %", "called pairs right, %"]
        return headers, [
            [who, format_number(gamma, 4), sensitivity, right]
            for who in ("tuned", "default")
            for gamma, sensitivity, right in self.curve_points(who).tolist()
        ]
