"""The list of the models of a run from which one is saved."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.text.score_text import metric_in_short, score_text
from app.text.setting_text import setting_cells
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import titled_control, wrapping_label
from core.estimators.model_settings import model_and_values
from core.export.exportable_models import TUNED, ExportableModel, exportable_models
from core.tuning.events import RunStarted
from core.tuning.runs.state import RunState
from core.tuning.runs.trial_table import tunes_several

MAX_TRIALS = 200  # in the list


class ModelChooser(QWidget):
    """The tuned model, the default setting, the baseline, or a trial."""

    changed = Signal()  # another model is chosen

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._choices: list[ExportableModel] = []
        self._started = RunStarted()
        self._more = ""
        self.box = QuietComboBox()
        self.box.setMinimumContentsLength(30)
        policy = QuietComboBox.SizeAdjustPolicy
        self.box.setSizeAdjustPolicy(policy.AdjustToMinimumContentsLengthWithIcon)
        self._about = wrapping_label("", "muted")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(titled_control("Which model?", self.box))
        column.addWidget(self._about)
        self.box.currentIndexChanged.connect(self._show_description)
        self.hide()

    @property
    def model_name(self) -> str:
        """The name of the chosen model."""
        return self._chosen_model.name if self._chosen_model else TUNED

    @property
    def model_kind(self) -> str:
        """The kind of the chosen model, or "average" of several kinds."""
        if self._chosen_model is None:
            return ""
        model = self._started.run_plan.model
        if self._chosen_model.averages and tunes_several(self._started):
            return "average"
        return model_and_values(model, self._chosen_model.setting)[0]

    @property
    def _chosen_model(self) -> ExportableModel | None:
        index = self.box.currentIndex()
        return self._choices[index] if 0 <= index < len(self._choices) else None

    def show_choices(self, run: RunState | None) -> None:
        """Offer the models of a run that has ended; a choice is kept where possible."""
        models = exportable_models(run, MAX_TRIALS) if run is not None else []
        scored = len(run.scored_trials()) if run is not None else 0
        self._more = ""
        if scored > MAX_TRIALS:
            self._more = (
                f"The list has the best {MAX_TRIALS:,} of {scored:,} trials; “tunescope export "
                "RUN FILE --which NUMBER” takes any."
            )
        self._started = run.started if run is not None else RunStarted()
        if models == self._choices:
            return
        previous_name, self._choices = self.model_name, models
        self.box.blockSignals(True)
        self.box.clear()
        self.box.addItems([_choice_line(choice) for choice in models])
        names = [choice.name for choice in models]
        self.box.setCurrentIndex(names.index(previous_name) if previous_name in names else 0)
        self.box.blockSignals(False)
        self.setVisible(bool(models))
        self._show_description()

    def _show_description(self) -> None:
        chosen = self._chosen_model
        if chosen is None:
            return
        # The setting of an average is that of its best member.
        setting = "" if chosen.averages else setting_cells(self._started, chosen.setting)[1]
        words = [chosen.sentence, f"{setting}." if setting else "", self._more]
        self._about.setText(" ".join(filter(None, words)))
        self.box.setAccessibleDescription(self._about.text())
        self.changed.emit()


def _choice_line(choice: ExportableModel) -> str:
    """The title and the score: in the test, otherwise in validation."""
    score, score_source = choice.test.get(choice.metric), "in the test"
    metric = choice.metric
    if score is None:
        score, score_source, metric = choice.validation, "in validation", choice.judged_by
    if score is None:
        return choice.title
    return f"{choice.title} · {metric_in_short(metric)} {score_text(score, metric)} {score_source}"
