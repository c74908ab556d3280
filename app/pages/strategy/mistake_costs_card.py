"""The costs of the two kinds of mistakes between two classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QWidget

from app.look import appearance
from app.widgets.card import Card
from app.widgets.flow_layout import FlowLayout
from app.widgets.quiet_controls import QuietDoubleSpinBox
from app.widgets.text_labels import titled_control, wrapping_label
from core.estimators.registry import MODELS

if TYPE_CHECKING:
    from app.session.session import Session

MAX_COST = 1e6


class MistakesCard(Card):
    """Two numbers, one a kind of mistake; for two classes only."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.session = session
        self.set_words(
            "What does a mistake cost?",
            "Where one kind of mistake is worse than the other, say how many times. The "
            "threshold is then where it costs least, in the exported model too.",
        )
        self._classes: tuple[str, ...] = ()
        self.controls: dict[str, QuietDoubleSpinBox] = {}
        self._holder = QWidget()
        self._row = FlowLayout(self._holder, gap=20, column_width=240)
        self.body.addWidget(self._holder)
        self.threshold_note = wrapping_label("", "caption")
        self.body.addWidget(self.threshold_note)

    def refresh(self) -> None:
        """Show the plan's costs for the classes of the data."""
        plan, summary = self.session.plan, self.session.summary
        if plan is None or summary is None:
            return
        model = MODELS.get(plan.model)
        # A model that is exported as a folder has no threshold.
        has_threshold = summary.task.has_two_classes and model is not None and not model.folder
        self.setVisible(has_threshold)
        if not has_threshold:
            return
        classes = tuple(entry.label for entry in summary.classes)
        if classes != self._classes:
            self._rebuild_controls(classes)
        for name, control in self.controls.items():
            with QSignalBlocker(control):
                control.setValue(plan.costs.get(name, 1.0))
        note = "Both cost the same: each row gets its likelier class."
        if plan.costs:
            note = (
                "The threshold is chosen on the training rows alone, each predicted by a "
                "model that has not seen it."
            )
        self.threshold_note.setText(note)

    def _rebuild_controls(self, classes: tuple[str, ...]) -> None:
        while (layout_item := self._row.takeAt(0)) is not None:
            if (widget := layout_item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._classes, self.controls = classes, {}
        for name, predicted_name in (classes, classes[::-1]):
            control = QuietDoubleSpinBox()
            control.setDecimals(2)
            control.setRange(0, MAX_COST)
            control.setKeyboardTracking(False)
            control.setMaximumWidth(appearance.pixels(240))
            control.valueChanged.connect(self._set_costs)
            words = f"To call a “{name}” row “{predicted_name}” costs"
            control.setAccessibleName(words)
            self._row.addWidget(titled_control(words, control))
            self.controls[name] = control

    def _set_costs(self) -> None:
        costs = {name: control.value() for name, control in self.controls.items()}
        are_equal = len(set(costs.values())) == 1 and all(costs.values())
        self.session.set_plan(costs={} if are_equal else costs)
