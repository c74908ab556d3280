"""What the program makes ready after the first paint, so that no page stops the window later."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from app.session.run_loader import IsWanted, LatestTask
from app.window.window import PAGES

if TYPE_CHECKING:
    from app.session.session import Session
    from app.window.window import Window

PAUSE = 20  # milliseconds between two views, in which a person's clicks come first
AHEAD = ("data", "tune", "model", "strategy", "results", "export", "use")
# What pages import when they first need it.
LATER = (
    *("app.views.registry", "app.text.run_head", "app.dialogs.message_boxes"),
    *("app.dialogs.help_dialog", "app.dialogs.settings_dialog", "app.dialogs.target_dialog"),
    *("core.export.exportable_models", "core.datasets.groups", "core.tuning.history.store"),
    *("core.tuning.runs.past_runs", "core.tuning.runs.run_comparison", "core.tuning.runs.state"),
    # For the extensions, whose own code runs no earlier than a page asks for it.
    *("configparser", "importlib.metadata"),
)


class Preparation(QObject):
    """Imports modules and opens the history in a thread, then makes views and pages, one a turn."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self._steps: Iterator[object] = iter(())
        self._task = LatestTask(self)
        self._task.done.connect(self._begin_steps)
        self._turn = QTimer(self, interval=PAUSE)
        self._turn.timeout.connect(self._take_step)

    @property
    def goes_on(self) -> bool:
        return self._task.goes_on or self._turn.isActive()

    def start(self) -> None:
        self._task.start(partial(_prepare, self._window.session))

    def shutdown(self) -> None:
        self._turn.stop()
        self._task.shutdown()

    def _begin_steps(self) -> None:
        self._steps = self._make_widgets()
        self._turn.start()

    def _take_step(self) -> None:
        if next(self._steps, None) is None:
            self._turn.stop()

    def _make_widgets(self) -> Iterator[object]:
        for key in AHEAD:
            yield (page := self._window.make_page(key))
            yield from page.steps()


def _prepare(session: Session, is_wanted: IsWanted) -> None:
    for module in (*(module for module, _ in PAGES.values()), *LATER):
        if is_wanted():
            importlib.import_module(module)
    if is_wanted():
        # The first look writes the shipped datasets.
        session.history.read_contents()
