"""The chooser of the best-k filter of all plots."""

from __future__ import annotations

from collections.abc import Callable

from app.widgets.quiet_controls import QuietComboBox

COUNTS = (None, 5, 10, 25, 100)


class BestK(QuietComboBox):
    """All trials, or the best k; `ask` gets k or None."""

    def __init__(self, ask: Callable[[int | None], object]) -> None:
        super().__init__()
        self.setAccessibleName("Show all trials or only the best")
        self.setToolTip(self.accessibleName())
        self._fill_choices(COUNTS)
        self.activated.connect(lambda index: ask(self.itemData(index)))

    def show_k(self, k: int | None) -> None:
        """Show the current k."""
        if self.currentData() != k or self.currentIndex() < 0:
            if self.findData(k) < 0:
                self._fill_choices((*COUNTS, k))
            self.setCurrentIndex(self.findData(k))

    def _fill_choices(self, counts: tuple[int | None, ...]) -> None:
        self.clear()
        for count in counts:
            words = "All trials" if count is None else f"Best {count}"
            self.addItem(words, count)
