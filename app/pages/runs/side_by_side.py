"""Chosen runs side by side: what must be said, their curves, and the settings that differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.look import appearance
from app.text.past.past_runs import runs_of_one_dataset
from app.text.past.runs_list import HEADS, cells_of, setting_name, setting_value
from app.views.plot.data_table import DataTable, Table
from app.views.results.comparison import Comparison
from app.views.results.run_curves import MOST, RunCurves
from app.widgets.buttons import PlainButton
from app.widgets.card import Card
from app.widgets.labels import label
from app.widgets.quiet_controls import QuietComboBox
from resources.theme import TARGET

if TYPE_CHECKING:
    from core.tuning.runs.past_runs import RunSummary
    from core.tuning.runs.side_by_side import Curve

RESULTS = ("measure", "score", "vs default", "vs baseline", "time")  # rows before the settings
HEIGHT = 300  # pixels of the curves
NARROWEST = 130  # pixels of a run in the table


class SideBySide(Card):
    """Two to eight runs beside each other.

    Signals:
        split_wanted: the folder of a run that is to be tested on a fresh split, and the seed.
        close_pressed.
    """

    split_wanted = Signal(str, int)
    close_pressed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Runs side by side", "", parent)
        self.runs: list[RunSummary] = []
        self.curves: list[Curve] = []
        self.close = PlainButton("Close", self.close_pressed.emit, "close")
        self.corner.addWidget(self.close)
        self.said = label("", "warning")
        self.body.addWidget(self.said)
        self.body.addLayout(self._make_split())
        self.picture = RunCurves()
        self.picture.setMinimumHeight(appearance.pixels(HEIGHT))
        self.body.addWidget(self.picture)
        self.worth = Comparison()
        self.worth.setMinimumHeight(appearance.pixels(HEIGHT))
        self.body.addWidget(self.worth)
        self.heading = label("", "small")
        self.body.addWidget(self.heading)
        self.table = DataTable("Results and settings that differ")
        head = self.table.horizontalHeader()
        head.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        head.setTextElideMode(Qt.TextElideMode.ElideRight)
        head.setStretchLastSection(False)
        self.body.addWidget(self.table)

    def _make_split(self) -> QVBoxLayout:
        column, row = QVBoxLayout(), QHBoxLayout()
        self.which = QuietComboBox()
        self.which.setAccessibleName("Run to test on a fresh split")
        self.fresh = PlainButton("Plan it on a fresh split", self._ask_split, "play")
        self.fresh.setAccessibleDescription(
            "Opens the run's data and plan with another seed, so that other rows test. Nothing "
            "starts before you say so."
        )
        row.addWidget(self.which)
        row.addWidget(self.fresh)
        row.addStretch(1)
        column.addLayout(row)
        return column

    def _ask_split(self) -> None:
        if self.which.currentIndex() < 0:
            return
        used = [int(curve.values.get("seed", 0)) for curve in self.curves]
        self.split_wanted.emit(self.which.currentData(), max(used, default=0) + 1)

    def show_runs(self, runs: Sequence[RunSummary], curves: Sequence[Curve]) -> None:
        """Show these runs with what was read of them; as many curves as runs."""
        from core.tuning.runs.side_by_side import cautions, differing, why_not

        self.runs, self.curves = list(runs)[:MOST], list(curves)[:MOST]
        names = _apart(
            [
                run.title or told
                for run, told in zip(self.runs, runs_of_one_dataset(self.runs), strict=True)
            ]
        )
        apart = why_not(self.runs)
        said = [apart] if apart else cautions(self.runs)
        said += [f"{n}: {c.problem}" for n, c in zip(names, self.curves, strict=True) if c.problem]
        self.said.setText("\n".join(said))
        self.said.setVisible(bool(said))
        self._offer_split(names, bool(said) and not apart)
        alike = not apart and len({c.metric for c in self.curves if c.best}) <= 1
        self.picture.setVisible(alike)
        tested = [(r, n) for r, n in zip(self.runs, names, strict=True) if r.test is not None]
        self.worth.setVisible(not apart and len(tested) > 1)
        if not apart and len(tested) > 1:
            self.worth.show_runs([_compared(run, name) for run, name in tested])
        if alike:
            self.picture.show_curves(self.curves, names)
        found = [curve.values for curve in self.curves]
        rows = [*self._results(), *((setting_name(n), *(setting_value(v, n) for v in found))
                                    for n in differing(found))]  # fmt: skip
        self.heading.setText("Results, and the settings that differ:")
        self._fill((["", *names], [list(row) for row in rows]))

    def _offer_split(self, names: Sequence[str], offered: bool) -> None:
        from core.tuning.runs.side_by_side import draws_test_rows

        self.which.clear()
        for name, run, curve in zip(names, self.runs, self.curves, strict=True):
            if run.test is not None and draws_test_rows(curve.values):
                self.which.addItem(name, run.path)
        scores = {run.path: (run.test or 0.0) * (1 if run.maximize else -1) for run in self.runs}
        paths = [self.which.itemData(at) for at in range(self.which.count())]
        if paths:
            best = max(range(len(paths)), key=lambda at: scores[paths[at]])
            self.which.setCurrentIndex(best)
        for part in (self.which, self.fresh):
            part.setVisible(offered and bool(paths))

    def _results(self) -> list[tuple[Any, ...]]:
        cells = [cells_of(run) for run in self.runs]
        return [
            (f"{name[:1].upper()}{name[1:]}", *(cell[HEADS.index(name)] or "–" for cell in cells))
            for name in RESULTS
        ]

    def _fill(self, table: Table) -> None:
        self.table.set_table(table)
        head = self.table.horizontalHeader().sizeHint().height()
        bar = self.table.horizontalScrollBar().sizeHint().height()
        line = max(TARGET, self.fontMetrics().height() + 12)
        self.table.verticalHeader().setDefaultSectionSize(line)
        self.table.setFixedHeight(head + bar + len(table[1]) * line + 6)
        self._share_width()

    def _share_width(self) -> None:
        """The runs have columns of one width, which use the room there is."""
        columns = self.table.model().columnCount()
        room = self.table.viewport().width() - self.table.columnWidth(0)
        each = max(room // max(columns - 1, 1), appearance.pixels(NARROWEST))
        for column in range(1, columns):
            self.table.setColumnWidth(column, each)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the room there is."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._share_width)


def _compared(run: RunSummary, name: str) -> dict[str, Any]:
    """A run as the comparison takes it."""
    return {
        "name": name,
        "strategy": run.strategy,
        "fits": run.fits,
        "seconds": run.seconds,
        "test": run.test,
        "gain": run.gain,
        "metric": run.metric,
        "interval": run.interval,
    }


def _apart(names: Sequence[str]) -> list[str]:
    """The names, equal ones numbered."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found
