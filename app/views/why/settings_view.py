"""The share of score variance that each hyperparameter explains."""

from __future__ import annotations

from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.text.number_format import percent
from app.text.results.explanation_text import settings_text
from app.views.plot.axes import small_font
from app.views.plot.data_table import Table
from app.views.plot.items import Lines, clear_colour, pen, whiskers
from app.views.plot.scrolled_bars import ScrolledBars
from app.views.why.why_view import WhyView
from core.estimators.multi_model import MODEL
from core.space import axis_title
from core.tuning.run_results import Results
from core.tuning.why.answer_types import SettingImportance

MIN_TRIALS = 10  # fewer are not enough for an estimate


class SettingsView(WhyView[SettingImportance], ScrolledBars):
    """A bar for each hyperparameter with its interval."""

    name = "mattered"
    title = "Which settings mattered?"
    question = (
        "How much of the differences between the trials' scores each setting explains by itself; "
        "line: its 95\u00a0% interval over resampled trials."
    )
    waiting = "A bar for every setting appears here."
    listed = "Settings shown"
    asks = "settings"
    answer_type = SettingImportance

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.intervals = Lines()
        self.plot.addItem(self.intervals)

    @classmethod
    def is_suitable(cls, results: Results) -> bool:
        """Several hyperparameters, and trials enough."""
        setting_names = [name for name in results.setting if name != MODEL]
        return len(setting_names) > 1 and results.trials >= MIN_TRIALS

    def row_count(self) -> int:
        """The number of bars."""
        return 0 if self._answer is None else len(self._answer.settings)

    def setting_titles(self) -> list[str]:
        """The titles, the most important first."""
        return [axis_title(setting.label, setting.name) for setting in self.answer.settings]

    def draw(self) -> None:
        """Draw the shares with their intervals."""
        theme, settings = appearance.current(), self.answer.settings
        self.name_rows(self.setting_titles(), 0.45)
        self.plot.bottom.set_title("share of the differences in score")
        self.bars.set_data(
            [(float(row), 0.0, setting.share) for row, setting in enumerate(settings)],
            [clear_colour(theme.model, 0.55).name() for _ in settings],
            [False] * len(settings),
            theme.muted,
        )
        lows, highs = [setting.low for setting in settings], [setting.high for setting in settings]
        y, x = whiskers(range(len(settings)), lows, highs)
        self.intervals.set_style(pen(theme.ink, 2.0))
        self.intervals.set_data(x, y)
        words = [percent(setting.share) for setting in settings]
        bar_ends = [max(setting.share, setting.high) for setting in settings]
        self.words.set_data(list(zip(bar_ends, map(float, range(len(words))), words, strict=True)))
        metrics = QFontMetricsF(small_font())
        longest = max((metrics.horizontalAdvance(word) for word in words), default=0.0) + 16
        room = min(0.5, longest / max(self.canvas.inner_width(self.plot), 1.0))
        self.plot.hold_x(0.0, max(0.01, *highs) / (1 - room), exact=True)
        self._caption.setText(f"{self.question} {settings_text(self.answer)}")
        self.show_window()

    def describe(self) -> str:
        """The most important hyperparameter, and caveats."""
        share = percent(self.answer.settings[0].share)
        sentence = f"{self.setting_titles()[0]} explains {share} by itself."
        return f"{sentence} {settings_text(self.answer)}"

    def table_data(self) -> Table:
        """Titles, share, low, high."""
        return ["setting", "share", "low", "high"], [
            [name, setting.share, setting.low, setting.high]
            for name, setting in zip(self.setting_titles(), self.answer.settings, strict=True)
        ]
