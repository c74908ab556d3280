"""The sides of the window: the rail with steps and past runs, and the panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QLabel, QLayout, QWidget

from app.look import appearance, icons
from app.preferences import preferences as settings
from app.session.session_state import SessionState
from app.text.rail_text import (
    SHOWN_RUNS,
    left_out_text,
    model_title,
    run_lines,
    run_text,
    strategy_title,
)
from app.widgets.buttons import LinkButton, PlainButton
from app.widgets.layouts import LEFT, TOP, add_to, clear_layout, in_column, in_row, scrolling
from app.widgets.text_labels import (
    ElidedLabel,
    apply_style,
    breakable_text,
    plain_tooltip,
    show_text,
    wrapping_label,
)
from core.wording import shortened_text

if TYPE_CHECKING:
    from core.tuning.runs.past_runs import RunSummary

STEPS = ("data", "model", "strategy", "tune", "results", "export")
MAX_FILE = 60  # letters
FOLDED, FOLDED_WIDTH = "panel/folded", 44  # remembered; pixels
_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


@dataclass(frozen=True)
class StepState:
    """A step's choice; `locked` says why it is."""

    chosen: str = ""
    done: bool = False
    locked: str = ""


class _Step(QFrame):
    pressed = Signal()

    def __init__(self, number: int, name: str) -> None:
        super().__init__()
        self._number, self._name = number, name
        self.state = StepState()
        self.setProperty("step", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setMinimumHeight(36)
        self._mark = QLabel(str(number))
        self._mark.setProperty("stepnumber", True)
        self._mark.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self._title = QLabel(name)
        self._title.setProperty("stepname", True)
        self._chosen = wrapping_label("", "caption")
        words = in_column(self._title, self._chosen, gap=0)
        in_row((self._mark, TOP), (words, 1), on=self, gap=8, margins=(8, 5, 8, 5))
        self.show_state(self.state, here=False)

    def show_state(self, state: StepState, here: bool) -> None:
        self.state = state
        show_text(self._chosen, breakable_text(state.chosen))
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
    page_pressed = Signal(str)  # history or runs
    help_pressed = Signal()
    settings_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("rail")
        self.setAccessibleName("Steps")
        self._here = ""
        self._shown_steps: tuple[str, dict[str, StepState]] = ("", {})
        self._listed: object = None
        inner = QWidget()
        self._column = in_column(on=inner, gap=2, margins=(0, 0, 8, 0))
        self.steps = self._make_steps()
        self._why = wrapping_label("", "warning")
        self._why.setContentsMargins(8, 4, 4, 4)
        self._why.hide()
        add_to(self._column, self._why, self._make_runs(), 1)
        to_history = partial(self.page_pressed.emit, "history")
        self.history_button = LinkButton("History", to_history, "history")
        self.help_button = LinkButton("Help", self.help_pressed.emit, "help")
        self.help_button.setToolTip("Help (F1), keys (Ctrl+/)")
        self.settings_button = LinkButton("Settings", self.settings_pressed.emit, "settings")
        foot = in_row(self.help_button, self.settings_button, 1, gap=6)
        brand = ElidedLabel("Tunescope", "brand")
        layout = in_column(brand, on=self, gap=2, margins=(14, 14, 6, 10))
        layout.addSpacing(8)
        add_to(layout, (scrolling(inner), 1), (self.history_button, LEFT), foot)

    def _make_steps(self) -> dict[str, _Step]:
        steps = {}
        for number, key in enumerate(STEPS, start=1):
            step = _Step(number, key.capitalize())
            step.pressed.connect(partial(self._press_step, key))
            self._column.addWidget(step)
            steps[key] = step
        return steps

    def _make_runs(self) -> QLayout:
        self._runs_title = wrapping_label("PAST RUNS", "section")
        self._runs_title.hide()
        self._runs = in_column(gap=0)
        self.runs_button = LinkButton("All runs", partial(self.page_pressed.emit, "runs"), "table")
        self.runs_button.hide()
        rows = (self._runs_title, self._runs, (self.runs_button, LEFT))
        return in_column(*rows, gap=2, margins=(0, 14, 0, 0))

    def _press_step(self, key: str) -> None:
        locked = self.steps[key].state.locked
        self.explain(locked)
        if not locked:
            self.step_pressed.emit(key)

    def explain(self, why: str) -> None:
        show_text(self._why, why)

    def show_steps(self, states: dict[str, StepState], here: str) -> None:
        # What it said may be true no longer.
        if (here, states) != self._shown_steps:
            self.explain("")
        self._here, self._shown_steps = here, (here, states)
        for key, step in self.steps.items():
            step.show_state(states[key], here=key == here)
        for key, button in (("history", self.history_button), ("runs", self.runs_button)):
            description = "You are here." if here == key else ""
            button.setAccessibleDescription(description)
            apply_style(button, here=bool(description))

    def show_runs(
        self, runs: list[RunSummary], left_out: Iterable[str] = (), deleted: Iterable[object] = ()
    ) -> bool:
        """Whether the list changed."""
        content = (runs[:SHOWN_RUNS], list(left_out), bool(runs or left_out or deleted))
        # The list is read every few seconds, and the keyboard may be on one of its buttons.
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
        inner = in_column(on=button, gap=0, margins=(4, 3, 0, 3))
        # The stylesheet has a height for buttons of one line.
        inner.setSizeConstraint(QLayout.SizeConstraint.SetMinimumSize)
        for line, voice in zip(run_lines(run), ("small", "caption", "caption"), strict=True):
            words = ElidedLabel(line, voice)
            # A label would take the click that is the button's.
            words.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            inner.addWidget(words)
        button.setToolTip(plain_tooltip(name))
        button.setAccessibleName(f"Past run: {name}")
        return button

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.StyleChange, QEvent.Type.FontChange):
            # Qt tells of a style already while the rail is being made.
            for key, step in getattr(self, "steps", {}).items():
                step.show_state(step.state, here=key == self._here)


def step_states(session: SessionState) -> dict[str, StepState]:
    """{step: state}; a step is locked while what it needs is missing."""
    no_data = "" if session.summary else "Open a file first, in step 1."
    has_plan = bool(session.plan)
    no_plan = no_data or ("" if has_plan else "No model fits these data yet.")
    no_tune = "" if session.events else no_plan
    # Beside a past run nothing is told of the data that were open before.
    plan = None if session.awaits_data else session.plan
    data = "being read …" if session.awaits_data else _data_chosen(session)
    return {
        "data": StepState(data, bool(session.summary)),
        "model": StepState(model_title(plan, session.advice), has_plan, no_data),
        "strategy": StepState(strategy_title(plan, session.advice), has_plan, no_plan),
        "tune": StepState(session.state.removeprefix("idle"), session.state == "finished", no_tune),
        "results": StepState("", bool(session.results), _why_no_results(session)),
        "export": StepState("", False, _why_no_results(session)),
    }


def _why_no_results(session: SessionState) -> str:
    if session.results:
        return ""
    if session.events:
        return "The results come when the run has ended, in step 4."
    return "Tune a model first, in step 4."


def _data_chosen(session: SessionState) -> str:
    summary = session.summary
    if summary is None:
        return ""
    size = f"{shortened_text(summary.name, MAX_FILE)} · {summary.task.count_text(summary.rows)}"
    return size if summary.task.has_one_column else f"{size} · {summary.features} columns"


class SidePanel(QFrame):
    """A heading, sentences, and "Read more"; it folds."""

    more_pressed = Signal()  # show the help of this page
    fold_changed = Signal()  # `is_folded`

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("panel")
        self._title = wrapping_label("", "panel")
        self._title.setContentsMargins(6, 0, 0, 0)
        self.is_folded = settings.stored_flag(FOLDED)
        self.fold_button = LinkButton("", self._toggle_fold, "chevron-right")
        inner = QWidget()
        self._column = in_column(1, on=inner, gap=8, margins=(6, 0, 12, 0))
        self._lines: list[QLabel] = []
        self._area = scrolling(inner)
        self._area.setAccessibleName("What this page says, in plain words")
        self.more = LinkButton("Read more", self.more_pressed.emit)
        head = in_row((self._title, 1), (self.fold_button, TOP), gap=0)
        contents = (head, (self._area, 1), (self.more, LEFT))
        in_column(*contents, on=self, gap=6, margins=(4, 14, 4, 10))
        self._show_fold()

    def _toggle_fold(self) -> None:
        self.is_folded = not self.is_folded
        settings.remember(FOLDED, self.is_folded)
        self._show_fold()
        self.fold_changed.emit()

    def _show_fold(self) -> None:
        for widget in (self._title, self._area, self.more):
            widget.setHidden(self.is_folded)
        words = "Show what this page says" if self.is_folded else "Fold this panel"
        self.fold_button.setIcon(
            icons.tinted_icon("help" if self.is_folded else "chevron-right", "accent")
        )
        self.fold_button.setToolTip(words)
        self.fold_button.setAccessibleName(words)

    def fit_width(self, width: int) -> None:
        """`width` in pixels, or the button alone."""
        self.setFixedWidth(appearance.pixels(FOLDED_WIDTH) if self.is_folded else width)

    def show_words(self, title: str, sentences: Sequence[str]) -> None:
        self._title.setText(title)
        for index, sentence in enumerate(sentences):
            if index == len(self._lines):
                self._lines.append(wrapping_label())
                self._column.insertWidget(index, self._lines[index])
            if self._lines[index].text() != (line_text := breakable_text(sentence)):
                self._lines[index].setText(line_text)
            self._lines[index].show()
        # Lines are hidden, not deleted: the sentences change with every trial.
        for line in self._lines[len(sentences) :]:
            line.hide()
        self.setAccessibleName(title)
        self.setAccessibleDescription(" ".join(sentences))
