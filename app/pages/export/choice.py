"""Which model of the run is saved: a list at the top of the Export page, and what to know of it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.text.scores import metric_in_short, score_in_words
from app.text.settings import in_a_cell
from app.widgets.labels import label, titled
from app.widgets.quiet_controls import QuietComboBox
from core.estimators.settings import own_setting
from core.export.choices import TUNED, Choice, choices
from core.tuning.events import RunStarted
from core.tuning.runs.competition import tunes_several
from core.tuning.runs.state import RunState

MOST_TRIALS = 200  # that are listed


class ModelChooser(QWidget):
    """The tuned model, the default setting, the baseline, or a trial.

    Signals:
        changed: another model is chosen.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices: list[Choice] = []
        self._started = RunStarted()
        self._more = ""
        self.box = QuietComboBox()
        self.box.setMinimumContentsLength(30)
        self.box.setSizeAdjustPolicy(
            QuietComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self._about = label("", "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(titled("Which model?", self.box))
        column.addWidget(self._about)
        self.box.currentIndexChanged.connect(self._tell)
        self.hide()

    @property
    def which(self) -> str:
        """The name of the chosen model."""
        return self._chosen.name if self._chosen else TUNED

    @property
    def kind(self) -> str:
        """The name of the kind of model that the chosen one is, or "average" of several kinds."""
        if self._chosen is None:
            return ""
        model = str(self._started.plan.get("model", ""))
        if self._chosen.averages and tunes_several(self._started):
            return "average"
        return own_setting(model, self._chosen.setting)[0]

    @property
    def _chosen(self) -> Choice | None:
        at = self.box.currentIndex()
        return self._choices[at] if 0 <= at < len(self._choices) else None

    def show_choices(self, run: RunState | None) -> None:
        """Offer the models of a run; nothing before it has ended. A choice stays where it can."""
        found = choices(run, MOST_TRIALS) if run is not None else []
        scored = len(run.scored()) if run is not None else 0
        self._more = ""
        if scored > MOST_TRIALS:
            self._more = (
                f"The list has the best {MOST_TRIALS:,} of {scored:,} trials; “tunescope export "
                "RUN FILE --which NUMBER” takes any."
            )
        self._started = run.started if run is not None else RunStarted()
        if found == self._choices:
            return
        before, self._choices = self.which, found
        self.box.blockSignals(True)
        self.box.clear()
        self.box.addItems([_in_a_line(choice) for choice in found])
        names = [choice.name for choice in found]
        self.box.setCurrentIndex(names.index(before) if before in names else 0)
        self.box.blockSignals(False)
        self.setVisible(bool(found))
        self._tell()

    def _tell(self) -> None:
        chosen = self._chosen
        if chosen is None:
            return
        # An average has no setting; what it carries is that of its best member.
        setting = "" if chosen.averages else in_a_cell(self._started, chosen.setting)[1]
        words = [chosen.sentence, f"{setting}." if setting else "", self._more]
        self._about.setText(" ".join(filter(None, words)))
        self.box.setAccessibleDescription(self._about.text())
        self.changed.emit()


def _in_a_line(choice: Choice) -> str:
    """Its title and its best known score: that of the test, otherwise that of validation."""
    score, where = choice.test.get(choice.metric), "in the test"
    metric = choice.metric
    if score is None:
        score, where, metric = choice.validation, "in validation", choice.judged_by
    if score is None:
        return choice.title
    return f"{choice.title} · {metric_in_short(metric)} {score_in_words(score, metric)} {where}"
