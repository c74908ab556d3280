"""The ring around the selected trial."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.look import appearance
from app.views.plot.items import Dots
from app.views.plot.view_state import ViewState


class Highlight(Dots):
    """A ring larger than any dot, in the focus colour."""

    def __init__(self) -> None:
        super().__init__("circle", 17)
        self.setZValue(20)

    def ring_selected(self, record: ViewState, x: Any, y: Any) -> None:
        """Ring the selected trial; x, y are of all trials."""
        row = record.run.row_of.get(-1 if record.selected is None else record.selected)
        self.set_style(None, appearance.current().focus, 2.6)
        if row is None or row >= len(x):
            self.set_data(np.empty(0), np.empty(0))
        else:
            self.set_data([x[row]], [y[row]])
