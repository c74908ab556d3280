"""Which settings mattered: the share of the scores' differences that each explains by itself."""

from __future__ import annotations

from typing import Any

from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.numbers import percent
from app.text.results.why import settings_in_words
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.items import Lines, clear_colour, pen
from app.views.plot.scrolled_bars import ScrolledBars
from app.views.why.why_view import WhyView
from core.estimators.several import MODEL
from core.space import titled

FEWEST_TRIALS = 10  # below which nothing can be told


class SettingsView(WhyView, ScrolledBars):
    """A bar for each setting with its interval, the most important on top."""

    name = "mattered"
    title = "Which settings mattered?"
    question = (
        "How much of the differences between the trials' scores each setting explains by itself; "
        "line: its 95\u00a0% interval over resampled trials."
    )
    waiting = "A bar for every setting appears here."
    listed = "Settings shown"
    asks = "settings"

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.intervals = Lines()
        self.plot.addItem(self.intervals)

    @classmethod
    def suits(cls, results: dict[str, Any]) -> bool:
        """Several settings, and trials enough."""
        own = [name for name in results.get("setting") or {} if name != MODEL]
        return len(own) > 1 and (results.get("trials") or 0) >= FEWEST_TRIALS

    def count(self) -> int:
        """How many bars."""
        return len(self.answer.get("settings") or [])

    def names(self) -> list[str]:
        """What the settings are called, the most important first."""
        return [titled(one["label"], one["name"]) for one in self.answer["settings"]]

    def draw(self) -> None:
        """Bars from 0 to the share; the interval on top."""
        theme, settings = appearance.current(), self.answer["settings"]
        self.name_rows(self.names(), 0.45)
        self.plot.bottom.set_title("share of the differences in score")
        self.bars.set_data(
            [(float(row), 0.0, float(one["share"])) for row, one in enumerate(settings)],
            [clear_colour(theme.model, 0.55).name() for _ in settings],
            [False] * len(settings),
            theme.muted,
        )
        x, y = [], []
        for row, one in enumerate(settings):
            x += [one["low"], one["high"], float("nan")]
            y += [float(row), float(row), float("nan")]
        self.intervals.set_style(pen(theme.ink, 2.0))
        self.intervals.set_data(x, y)
        words = [percent(one["share"]) for one in settings]
        self.words.set_data(
            [
                (max(one["share"], one["high"]), float(row), word)
                for row, (one, word) in enumerate(zip(settings, words, strict=True))
            ]
        )
        metrics = QFontMetricsF(small_font())
        longest = max((metrics.horizontalAdvance(word) for word in words), default=0.0) + 16
        room = min(0.5, longest / max(self.canvas.inner_width(self.plot), 1.0))
        most = max([0.01, *(one["high"] for one in settings)])
        self.plot.hold_x(0.0, most / (1 - room), exact=True)
        self._caption.setText(f"{self.question} {settings_in_words(self.answer)}")
        self.show_window()

    def describe(self) -> str:
        """The most important setting, and what must be known of the others."""
        first = self.answer["settings"][0]
        said = f"{self.names()[0]} explains {percent(first['share'])} by itself."
        return f"{said} {settings_in_words(self.answer)}"

    def rows(self) -> Table:
        """Settings, share, low, high."""
        return ["setting", "share", "low", "high"], [
            [name, one["share"], one["low"], one["high"]]
            for name, one in zip(self.names(), self.answer["settings"], strict=True)
        ]
