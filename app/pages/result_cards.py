"""The answer and the tables of the Results page: settings and scores, members."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QRect, Qt, QTimer
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QWidget

from app.look import appearance
from app.text.plan_text import setting_cells
from app.views.plot.axes import small_font
from app.views.plot.data_table import DataTable
from app.widgets.buttons import PlainButton
from app.widgets.cards import Card
from app.widgets.layouts import TOP, add_to, in_column, in_lines, in_row
from app.widgets.text_labels import StatusIcon, wrapping_label
from core.estimators.model_settings import compare_settings, labels_of
from core.space import Setting, axis_title
from core.tuning.events import RunStarted
from core.tuning.results.answer import Answer, AnswerPicture
from core.tuning.run_results import EnsembleResults, Results, Scores
from core.tuning.runs.trial_table import Trial, tunes_several
from core.tuning.scores.score import metric_in_short, metric_title, score_text, score_texts
from core.wording import format_value, percent

SQUARE, ACROSS = 11, 20  # pixels of one in a hundred with its gap, and how many are in a row
LONGEST = 0.66  # share of the width of the longest bar, beside which its words stand
BESIDE, APART = 3, 16  # pixels between a colour and its words, and after these
LEGEND = ("without a model", "by the model")
MARK = 16  # pixels of a mark beside a line
ROWS = 6  # seen without scrolling
UNBOUNDED = 16777215  # Qt's QWIDGETSIZE_MAX
TWO_LINES = 40  # pixels of a row, for names that have to be broken
MAX_ROWS = 7  # seen without scrolling


class AnswerArea(QWidget):
    """A hundred squares, or two errors as bars: without a model and with it."""

    _picture: AnswerPicture | None = None

    def show_picture(self, picture: AnswerPicture | None) -> None:
        self._picture = picture
        self.setVisible(picture is not None)
        if picture is None:
            return
        shares = [percent(share) for share in (picture.without, picture.by_model)]
        self.setAccessibleName("The answer as a picture")
        self.setAccessibleDescription("{}: {}; {}: {}".format(
            *(text for pair in zip(LEGEND, picture.amounts or shares, strict=True) for text in pair)
        ))  # fmt: skip
        step, metrics = appearance.pixels(SQUARE), QFontMetrics(small_font())
        legend = sum(map(metrics.horizontalAdvance, LEGEND)) + 2 * step + BESIDE + APART
        self.setFixedSize(max(ACROSS * step, legend), (100 // ACROSS) * step + metrics.height() + 6)
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.show_picture(self._picture)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._picture is None:
            return
        painter, theme = QPainter(self), appearance.current()
        painter.setFont(small_font())
        painter.setPen(Qt.PenStyle.NoPen)
        step = appearance.pixels(SQUARE)
        bottom = (100 // ACROSS) * step
        colours = QColor(theme.muted), QColor(theme.model)
        words = self._picture.amounts or ("", "")
        if self._picture.amounts:
            for row, share in enumerate((self._picture.without, self._picture.by_model)):
                wide = round(share * self.width() * LONGEST)
                bar = QRect(0, row * bottom // 2 + 2, wide, 2 * step)
                painter.fillRect(bar, colours[row])
                painter.setPen(QColor(theme.ink))
                box = QRect(bar.right() + 8, bar.top(), self.width(), bar.height())
                painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, words[row])
        else:
            pair = self._picture.without, self._picture.by_model
            without, by_model = (round(100 * share) for share in pair)
            for count in range(100):
                colour = colours[count >= without] if count < by_model else QColor(theme.line)
                x, y = count % ACROSS * step, count // ACROSS * step
                painter.fillRect(QRect(x, y, step - 2, step - 2), colour)
        x, tall = 0, self.height() - bottom
        for colour, text in zip(colours, LEGEND, strict=True):
            painter.fillRect(QRect(x, bottom + (tall - step) // 2 + 2, step - 2, step - 2), colour)
            painter.setPen(QColor(theme.muted))
            box = QRect(x + step + BESIDE, bottom, self.width(), tall)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)
            x += step + APART + painter.fontMetrics().horizontalAdvance(text)


class AnswerLines(QWidget):
    """Whether tuning helped, and what to do next, a line each."""

    def __init__(self, *buttons: PlainButton) -> None:
        super().__init__()
        size = appearance.pixels(MARK)
        self._good = StatusIcon("check", "good", size)
        self._unsure = StatusIcon("warning", "warning", size)
        self._tuning, self._advice = wrapping_label(""), wrapping_label("")
        self.picture = AnswerArea()
        lines = in_column(
            in_row(self._good, self._unsure, (self._tuning, 1), gap=8),
            in_row(StatusIcon("arrow-right", "accent", size), (self._advice, 1), gap=8),
            in_lines(*buttons, gap=10),
            gap=6,
        )
        in_row((lines, 1), (self.picture, TOP), on=self, gap=16)

    def show_answer(self, answer: Answer) -> None:
        self._good.setVisible(answer.is_gain)
        self._unsure.setVisible(not answer.is_gain)
        self._tuning.setText(answer.tuning)
        self._advice.setText(answer.advice)
        self.picture.show_picture(answer.picture)


class FactsCard(Card):
    """Everything that the results say, a paragraph each."""

    wide = True

    def __init__(self) -> None:
        super().__init__("The whole result in words")
        self._label = wrapping_label("")
        # What is given beyond the words stays below them.
        add_to(self.body, self._label, 1)

    def show_sentences(self, sentences: Sequence[str]) -> None:
        self._label.setText("\n\n".join(sentences))


class DefaultComparisonCard(Card):
    """A row a setting or score, of all models."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = self._alone = False  # alone: as high as its rows
        self.table = DataTable("")
        self.table.setWordWrap(True)
        # Beside a high card a single row stays below its title.
        add_to(self.body, (self.table, 1), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit_rows)

    def show_settings(self, started: RunStarted, tuned: Setting, default: Setting) -> None:
        """In the order of the search space, labelled as in their models."""
        self._alone = False
        self.set_words("What did tuning change?", "The settings of the model.")

        def labels_by_name(model: str) -> dict[str, str]:
            if tunes_several(started):
                return labels_of(model, started.dataset.task)
            return {axis.name: axis.label for axis in started.space}

        model = started.run_plan.model
        rows = [
            [axis_title(pair.label, pair.name), _value_text(pair.tuned), _value_text(pair.default)]
            for pair in compare_settings(model, tuned, default, labels_by_name)
        ]
        self._show_table(["setting", "tuned", "default"], rows)

    def show_penalty(self, penalty: float, start_penalty: float | None, *, off: bool) -> None:
        """Show the one penalty; `off`: all columns are switched off."""
        self._alone = True
        self.set_words(
            "Which penalty was learned?",
            "One for all weights: the larger it is, the less the columns are trusted.",
        )
        words = "switched off" if off else format_value(penalty)
        row = ["Penalty on large weights (λ)", words, _value_text(start_penalty)]
        self._show_table(["setting", "learned", "at the start"], [row])

    def show_scores(self, scores: dict[str, Scores], results: Results) -> None:
        """Show {model: {metric: score}}, the tuned model first."""
        caption = f"Several ways of measuring the same predictions on test {results.task.units}."
        if results.baseline:
            caption += f" Baseline: {results.baseline}."
        self.set_words("How good is it by other measures?", caption)
        models = {model: model_scores for model, model_scores in scores.items() if model_scores}
        metrics, unit = next(iter(models.values())), results.target_unit or ""
        rows = [
            [
                metric_title(metric),
                *(score_text(scores.get(metric), metric, unit) for scores in models.values()),
            ]
            for metric in metrics
        ]
        self._show_table(["measure", *models], rows)

    def _show_table(self, headers: list[str], rows: list[list[str]]) -> None:
        # Three scores need the room of two cards beside their measure.
        self.wide = len(headers) > 3
        self.table.setAccessibleName(self.accessibleName())
        self.table.setAccessibleDescription("; ".join(", ".join(row) for row in rows))
        self.table.set_table((headers, rows))
        header, size = self.table.horizontalHeader(), QHeaderView.ResizeMode
        header.setStretchLastSection(False)
        for column in range(len(headers)):
            header.setSectionResizeMode(column, size.ResizeToContents if column else size.Stretch)
        policies = Qt.ScrollBarPolicy
        bar = policies.ScrollBarAlwaysOff if len(rows) <= ROWS else policies.ScrollBarAsNeeded
        self.table.setVerticalScrollBarPolicy(bar)
        self._fit_rows()

    def _fit_rows(self) -> None:
        header, row_heads = self.table.horizontalHeader(), self.table.verticalHeader()
        row_heads.setMinimumSectionSize(appearance.pixels(TWO_LINES))
        self.table.resizeRowsToContents()
        rows_height = sum(row_heads.sectionSize(row) for row in range(min(row_heads.count(), ROWS)))
        height = header.sizeHint().height() + rows_height + 6
        self.table.setMinimumHeight(height)
        self.table.setMaximumHeight(height if self._alone else UNBOUNDED)


def _value_text(value: Any) -> str:
    return "–" if value is None else format_value(value)


class MembersCard(Card):
    """A row a member, the best first; the default setting below."""

    wide = True

    def __init__(self) -> None:
        super().__init__()
        self.table = DataTable("")
        add_to(self.body, self.table, 1)

    def show_members(
        self,
        ensemble: EnsembleResults,
        default: Setting,
        started: RunStarted,
        trial: Trial | None = None,
    ) -> None:
        """Show members and, where tried, the default setting's `trial`."""
        count = len(ensemble.members)
        title = "The one model of the average" if count == 1 else f"The average of {count} models"
        words = "Which settings predict together, and how much does each count? Score:"
        self.set_words(title, f"{words} {metric_in_short(started.metric)} when it was tried.")
        several = tunes_several(started)
        names = [axis.name for axis in started.space] or list(ensemble.settings[0])

        def cells_of_setting(setting: Setting) -> list[str]:
            if several:
                return list(setting_cells(started, setting))
            return [format_value(setting.get(name, "–")) for name in names]

        headers = ["trial", "weight", "score", *(["model", "setting"] if several else names)]
        default_values = [] if trial is None or trial.score is None else [trial.score]
        # All with equally many decimals.
        texts = score_texts([*ensemble.scores, *default_values], started.metric)
        scores, default_scores = texts[:count], texts[count:] or ["–"]
        rows = [
            [str(number), percent(weight), f, *cells_of_setting(setting)]
            for number, weight, f, setting in zip(
                ensemble.members, ensemble.weights, scores, ensemble.settings, strict=True
            )
        ]
        if default or not several:
            rows.append(["default", "–", *default_scores, *cells_of_setting(default)])
        self.table.setAccessibleName(title)
        self.table.setAccessibleDescription("; ".join(", ".join(row) for row in rows))
        self.table.set_table((headers, rows))
        self.table.fit_height(min(len(rows), MAX_ROWS))
