"""How long the tuning may take: minutes, trials, early stopping, and the estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.preferences import remembered_choices
from app.widgets.card import Card
from app.widgets.flow_layout import FlowLayout
from app.widgets.quiet_controls import QuietDoubleSpinBox, QuietSpinBox
from app.widgets.text_labels import apply_style, titled_control, wrapping_label
from core.tuning.patience import patience_of, stop_rule_text, usual_patience

if TYPE_CHECKING:
    from app.session.session import Session

MAX_MINUTES = 60 * 24 * 7
MAX_TRIALS = 100_000


class BudgetCard(Card):
    """Minutes, trials, trials without a better one; the first limit ends the run."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.session = session
        self.set_words(
            "How long may it take?",
            "Tuning ends at the first limit. You can stop at any time and keep the best.",
        )
        self.minutes = QuietDoubleSpinBox()
        self.minutes.setRange(0, MAX_MINUTES)
        self.minutes.setSpecialValueText("no limit")
        self.minutes.setSuffix(" minutes")
        self.minutes.valueChanged.connect(lambda value: self._set_budget(minutes=value or None))
        self.trials = QuietSpinBox()
        self.trials.setRange(1, MAX_TRIALS)
        self.trials.setSuffix(" trials")
        self.trials.valueChanged.connect(lambda value: self._set_budget(trials=value or None))
        self.patience = QuietSpinBox()
        self.patience.setRange(0, MAX_TRIALS)
        self.patience.setSpecialValueText("never")
        self.patience.setSuffix(" trials")
        self.patience.valueChanged.connect(self._choose_patience)
        holder = QWidget()
        flow = FlowLayout(holder, gap=20, column_width=200)
        for control in (self.minutes, self.trials, self.patience):
            control.setKeyboardTracking(False)
            control.valueChanged.connect(self._update_units)
            control.setMaximumWidth(appearance.pixels(240))
        flow.addWidget(titled_control("Time at most", self.minutes))
        self._trials_part = titled_control("Trials at most", self.trials)
        flow.addWidget(self._trials_part)
        self._patience_part = titled_control("Stop when nothing improves for", self.patience)
        flow.addWidget(self._patience_part)
        self._holder = holder
        self.body.addWidget(holder)
        self.estimate = wrapping_label("")
        self.body.addWidget(self.estimate)
        self.ends = wrapping_label("", "caption")
        self.body.addWidget(self.ends)

    def refresh(self, default_trials: int, default_minutes: float | None = None) -> None:
        """Show the plan's budget; `default_trials` is 0 for a strategy without trials."""
        plan = self.session.plan
        if plan is None:
            return
        usual_minutes = default_minutes if plan.trials is None else None
        with QSignalBlocker(self.minutes):
            self.minutes.setValue(plan.minutes or usual_minutes or 0)
        is_bounded = plan.minutes is not None or default_minutes is not None
        with QSignalBlocker(self.trials):
            self._show_trials(plan.trials, 0 if is_bounded else default_trials)
        with QSignalBlocker(self.patience):
            self.patience.setValue(patience_of(plan))
        self._update_units()
        for control in (self._trials_part, self._patience_part, self.ends):
            control.setVisible(default_trials > 0)
        self.ends.setText(stop_rule_text(plan))
        self._holder.updateGeometry()
        self.show_estimate()

    def _show_trials(self, trials: int | None, usual: int) -> None:
        """Show the trials; where minutes bound the run (`usual` is 0), they need no limit."""
        self.trials.setRange(min(1, usual), MAX_TRIALS)
        self.trials.setSpecialValueText("" if usual else "no limit")
        self.trials.setValue(trials or usual)

    def _update_units(self) -> None:
        for control, unit in (
            (self.minutes, "minute"),
            (self.trials, "trial"),
            (self.patience, "trial"),
        ):
            control.setSuffix(f" {unit}" if control.value() == 1 else f" {unit}s")

    def _set_budget(self, **fields: float | None) -> None:
        self.session.set_plan(**fields)
        remembered_choices.remember_plan(self.session.current_plan)

    def _choose_patience(self, value: int) -> None:
        """Set the patience; the usual number follows the strategy."""
        usual = usual_patience(self.session.current_plan.strategy)
        self._set_budget(patience=None if value == usual else value)

    def show_estimate(self) -> None:
        """Show how long it will take, or that this is being estimated."""
        estimate = self.session.estimate
        if estimate is None:
            self.estimate.setText("Estimating the time …")
        else:
            self.estimate.setText(_as_sentence(estimate.sentence))
        is_bad = estimate is not None and estimate.unusable
        apply_style(self.estimate, voice="bad" if is_bad else "")


def _as_sentence(estimate: str) -> str:
    return estimate[:1].upper() + estimate[1:].rstrip(".") + "."
