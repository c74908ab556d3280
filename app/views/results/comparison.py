"""Several runs of one dataset side by side: score, fits and time of each strategy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import plain, seconds
from app.text.scores import score_in_words
from app.views.plot.bar_words import BarWords
from app.views.plot.data_table import Table
from app.views.plot.items import Bars, Dots, Lines, pen
from app.views.plot.scales import Scale
from app.views.results.result_view import ResultView


class Comparison(ResultView):
    """One row a run: a dot for its test score, bars for fits and seconds on log axes."""

    name = "comparison"
    title = "Which strategy was worth its time?"
    question = "Test score, models fitted, and time of every run of this dataset."
    waiting = "Runs of one dataset are compared here."

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.runs: list[dict[str, Any]] = []
        self.score = self.canvas.add_plot(Scale(), Scale("choice"), column=0)
        self.fits = self.canvas.add_plot(Scale("log"), Scale("choice"), column=1)
        self.time = self.canvas.add_plot(Scale("log"), Scale("choice"), column=2)
        for plot, title in (
            (self.score, "test score"),
            (self.fits, "models fitted"),
            (self.time, "seconds"),
        ):
            plot.vb.invertY(True)
            plot.bottom.set_title(title)
        self.canvas.ci.layout.setHorizontalSpacing(24)
        self.fits.left.hide_labels()
        self.time.left.hide_labels()
        self.dots, self.whiskers = Dots("circle", 11), Lines()
        self.score.addItem(self.whiskers)
        self.score.addItem(self.dots)
        self.bars = {plot: (Bars(), BarWords()) for plot in (self.fits, self.time)}
        for plot, (bars, words) in self.bars.items():
            plot.addItem(bars)
            plot.addItem(words)

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Runs to compare."""
        return bool(results.get("runs"))

    def show_runs(self, runs: list[dict[str, Any]]) -> None:
        """Compare runs, the best on top.

        Args:
            runs: {strategy, fits, seconds, test} each and, where known, {name, interval, gain,
                metric}; `name` is shown instead of the strategy.
        """
        self.runs = sorted(runs, key=lambda run: -(_number(run.get("test")) or -math.inf))
        self.show_results({"runs": self.runs})

    def names(self) -> list[str]:
        """What each row is called; equal names are numbered."""
        seen: dict[str, int] = {}
        found = []
        for run in self.runs:
            name = str(run.get("name") or run["strategy"])
            seen[name] = seen.get(name, 0) + 1
            found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
        return found

    def draw(self) -> None:
        """Three plots with common rows."""
        theme, rows = appearance.current(), np.arange(len(self.runs), dtype=float)
        scale = Scale("choice", tuple(name.replace(" · ", "\n") for name in self.names()))
        for plot in self.canvas.plots:
            plot.left.set_scale(scale)
            plot.hold_y(-0.6, max(len(rows), 3) - 0.4, exact=True)
        scores = np.array([_number(run.get("test")) for run in self.runs], float)
        ends = np.array([run.get("interval") or (np.nan, np.nan) for run in self.runs], float)
        self.dots.set_style(theme.model, theme.paper, 1.2)
        self.whiskers.set_style(pen(theme.model, 2.4))
        self.dots.set_data(scores, rows)
        gaps = np.full(len(rows), np.nan)
        across = np.column_stack([ends, gaps]).ravel()
        self.whiskers.set_data(across, np.repeat(rows, 3))
        known = np.concatenate([scores, ends.ravel()])
        if np.isfinite(known).any():
            self.score.hold_x(float(np.nanmin(known)), float(np.nanmax(known)))
        self._draw_bars(self.fits, "fits", plain)
        self._draw_bars(self.time, "seconds", seconds)

    def _draw_bars(self, plot: Any, key: str, words: Any) -> None:
        theme = appearance.current()
        values = [(row, _number(run.get(key))) for row, run in enumerate(self.runs)]
        places = [(row, math.log10(v), v) for row, v in values if v is not None and v > 0]
        bars, texts = self.bars[plot]
        if not places:
            bars.set_data([], [], [], theme.ink)
            texts.set_data([])
            return
        low = math.floor(min(at for _, at, _ in places) - 0.2)
        high = max(at for _, at, _ in places)
        plot.hold_x(low, low + (high - low) * 1.5, exact=True)
        bars.set_data(
            [(row, low, at) for row, at, _ in places],
            [theme.control] * len(places),
            [False] * len(places),
            theme.ink,
        )
        texts.set_data([(at, row, words(value)) for row, at, value in places])

    def describe(self) -> str:
        """The best and the fastest."""
        names = self.names()
        metric = str(self.runs[0].get("metric", ""))
        best = score_in_words(_number(self.runs[0].get("test")), metric)
        times = [_number(run.get("seconds")) for run in self.runs]
        fastest = min(range(len(times)), key=lambda at: times[at] or math.inf)
        said = "{} runs; best {} with {}, fastest {} with {}."
        quick = seconds(times[fastest] or 0.0)
        return said.format(len(names), names[0], best, names[fastest], quick)

    def rows(self) -> Table:
        """One row a run, best first."""
        headers = ["run", "score", "gain", "fits", "seconds"]
        rows = [
            [name, run.get("test"), run.get("gain"), run.get("fits"), run.get("seconds")]
            for name, run in zip(self.names(), self.runs, strict=True)
        ]
        return headers, rows


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None
