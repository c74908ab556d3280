"""The rail at the left: steps and past runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.look import appearance, icons
from app.text.past.past_run_text import SHOWN_RUNS, left_out_text, run_lines, run_text
from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.card import clear_layout
from app.widgets.text_labels import ElidedLabel, apply_style, plain_tooltip, wrapping_label

if TYPE_CHECKING:
    from core.tuning.runs.past_runs import RunSummary

STEPS = ("data", "model", "strategy", "tune", "results", "export")
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@dataclass(frozen=True)
class StepState:
    """Choice and state of a step; `locked` says why it is."""

    chosen: str = ""
    done: bool = False
    locked: str = ""


class _Step(QFrame):
    """A step: number or tick, name, choice."""

    pressed = Signal()

    def __init__(self, number: int, name: str) -> None:
        super().__init__()
        self._number, self._name = number, name
        self.state = StepState()
        self.setProperty("step", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setMinimumHeight(36)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 5, 8, 5)
        row.setSpacing(8)
        self._mark = QLabel(str(number))
        self._mark.setProperty("stepnumber", True)
        self._mark.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        words = QVBoxLayout()
        words.setSpacing(0)
        self._title = QLabel(name)
        self._title.setProperty("stepname", True)
        self._chosen = wrapping_label("", "caption")
        words.addWidget(self._title)
        words.addWidget(self._chosen)
        row.addLayout(words, 1)
        self.show_state(self.state, here=False)

    def show_state(self, state: StepState, here: bool) -> None:
        """Show the state of the step."""
        self.state = state
        self._chosen.setText(state.chosen)
        self._chosen.setVisible(bool(state.chosen))
        self._mark.setFixedWidth(appearance.pixels(20))
        ticked = state.done and not here
        if ticked:
            size = appearance.pixels(16)
            self._mark.setPixmap(icons.tinted_icon("check", "good").pixmap(QSize(size, size)))
        else:
            self._mark.setText(str(self._number))
        apply_style(self, here=here)
        apply_style(self._mark, here=here)
        apply_style(self._title, locked=bool(state.locked))
        self.setToolTip(plain_tooltip(state.locked or f"{self._name} (Ctrl+{self._number})"))
        self.setAccessibleName(f"Step {self._number}: {self._name}")
        locked = f"Locked: {state.locked}" if state.locked else ""
        words = ("You are here." * here, "Done." * ticked, state.chosen, locked)
        self.setAccessibleDescription(" ".join(filter(None, words)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        inside = self.rect().contains(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and inside:
            self.pressed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER:
            self.pressed.emit()
        else:
            super().keyPressEvent(event)


class Rail(QFrame):
    """The rail."""

    step_pressed = Signal(str)  # the key of an open step
    run_pressed = Signal(object)  # the folder of a past run
    runs_pressed = Signal()
    history_pressed = Signal()
    help_pressed = Signal()
    settings_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        self.setAccessibleName("Steps")
        self._here = ""
        self._listed: object = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(14, 14, 6, 10)
        layout.setSpacing(2)
        layout.addWidget(ElidedLabel("Tunescope", "brand"))
        layout.addSpacing(8)
        inner = QWidget()
        inner.setObjectName("scrolled")
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(0, 0, 8, 0)
        self._column.setSpacing(2)
        self.steps = self._make_steps()
        self._why = self._make_reason()
        self._make_runs()
        self._column.addStretch(1)
        layout.addWidget(_scrolling(inner), 1)
        self.history_button = LinkButton("History", self.history_pressed.emit, "history")
        layout.addWidget(self.history_button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addLayout(self._make_foot())

    def _make_steps(self) -> dict[str, _Step]:
        names = ("Data", "Model", "Strategy", "Tune", "Results", "Export")
        steps = {}
        for number, (key, name) in enumerate(zip(STEPS, names, strict=True), start=1):
            step = _Step(number, name)
            step.pressed.connect(self._pressed(key))
            self._column.addWidget(step)
            steps[key] = step
        return steps

    def _make_reason(self) -> QLabel:
        why = wrapping_label("", "warning")
        why.setContentsMargins(8, 4, 4, 4)
        why.hide()
        self._column.addWidget(why)
        return why

    def _make_runs(self) -> None:
        self._column.addSpacing(14)
        self._runs_title = wrapping_label("PAST RUNS", "section")
        self._runs_title.hide()
        self._column.addWidget(self._runs_title)
        self._runs = QVBoxLayout()
        self._runs.setSpacing(0)
        self._column.addLayout(self._runs)
        self.runs_button = LinkButton("All runs", self.runs_pressed.emit, "table")
        self.runs_button.hide()
        self._column.addWidget(self.runs_button, 0, Qt.AlignmentFlag.AlignLeft)

    def _make_foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.setSpacing(6)
        self.help_button = LinkButton("Help", self.help_pressed.emit, "help")
        self.help_button.setToolTip("Help (F1), keys (Ctrl+/)")
        self.settings_button = LinkButton("Settings", self.settings_pressed.emit, "settings")
        foot.addWidget(self.help_button)
        foot.addWidget(self.settings_button)
        foot.addStretch(1)
        return foot

    def _pressed(self, key: str) -> Callable[[], None]:
        def press_step() -> None:
            locked = self.steps[key].state.locked
            self.explain(locked)
            if not locked:
                self.step_pressed.emit(key)

        return press_step

    def explain(self, why: str) -> None:
        """Show why a step is locked; "" hides it."""
        self._why.setText(why)
        self._why.setVisible(bool(why))

    def show_steps(self, states: dict[str, StepState], here: str) -> None:
        """Show the state of every step."""
        if here != self._here:
            self.explain("")
        self._here = here
        for key, step in self.steps.items():
            step.show_state(states[key], here=key == here)
        for key, button in (("history", self.history_button), ("runs", self.runs_button)):
            description = "You are here." if here == key else ""
            button.setAccessibleDescription(description)
            apply_style(button, here=bool(description))

    def show_runs(
        self, runs: list[RunSummary], left_out: Iterable[str] = (), deleted: Iterable[object] = ()
    ) -> bool:
        """List the newest past runs; True where the list changed."""
        content = (runs[:SHOWN_RUNS], list(left_out), bool(runs or left_out or deleted))
        if content == self._listed:
            return False
        self._listed = content
        clear_layout(self._runs)
        self._runs_title.setVisible(content[2])
        self.runs_button.setVisible(content[2])
        for run in content[0]:
            self._runs.addWidget(self._run_button(run))
        if left_out:
            self._runs.addWidget(ElidedLabel(left_out_text(left_out), "caption"))
        return True

    def _run_button(self, run: RunSummary) -> PlainButton:
        button = PlainButton("", partial(self.run_pressed.emit, run.path))
        name = run_text(run)
        button.setProperty("run", True)
        inner = QVBoxLayout(button)
        inner.setContentsMargins(4, 3, 2, 3)
        inner.setSpacing(0)
        # The stylesheet has a height for buttons of one line.
        inner.setSizeConstraint(QLayout.SizeConstraint.SetMinimumSize)
        for line, voice in zip(run_lines(run), ("small", "caption", "caption"), strict=True):
            words = ElidedLabel(line, voice)
            words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            inner.addWidget(words)
        button.setToolTip(plain_tooltip(name))
        button.setAccessibleName(f"Past run: {name}")
        return button

    def changeEvent(self, event: QEvent) -> None:
        """Draw the marks, which are pixmaps, again."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            for key, step in getattr(self, "steps", {}).items():
                step.show_state(step.state, here=key == self._here)


def _scrolling(inner: QWidget) -> QScrollArea:
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.viewport().setAutoFillBackground(False)
    area.setWidget(inner)
    return area
