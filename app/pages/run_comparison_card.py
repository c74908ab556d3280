"""Chosen runs side by side: cautions, curves, results, and the settings that differ."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from app.look import appearance
from app.text.past_runs_text import HEADS, cells_of, setting_name, setting_value
from app.text.rail_text import runs_of_one_dataset
from app.views.plot.data_table import DataTable
from app.views.runs_comparison import RunCurves, RunsComparison
from app.widgets.buttons import PlainButton
from app.widgets.cards import Card
from app.widgets.layouts import add_to, in_row
from app.widgets.quiet_controls import QuietComboBox
from app.widgets.text_labels import show_text, wrapping_label
from core.export.bundle.csv_rows import names_beside
from core.figures.run_figures import MAX_RUNS
from core.tuning.runs.past_runs import RunSummary
from core.tuning.runs.run_comparison import BestSoFarCurve, cautions, differing_names, refusal_text

RESULTS = ("measure", "score", "vs default", "vs baseline", "time")  # rows before the settings
HEIGHT = 300  # pixels of the curves


class RunComparisonCard(Card):
    """Two to eight runs side by side."""

    split_wanted = Signal(str, int)  # the folder of a run to test on a fresh split, and the seed
    close_pressed = Signal()

    def __init__(self) -> None:
        super().__init__("Runs side by side", "")
        self.runs: list[RunSummary] = []
        self.curves: list[BestSoFarCurve] = []
        self.close_button = PlainButton("Close", self.close_pressed.emit, "close")
        self.corner.addWidget(self.close_button)
        self.caution_label = wrapping_label("", "warning")
        self.picture, self.worth = RunCurves(), RunsComparison()
        for view in (self.picture, self.worth):
            view.setMinimumHeight(appearance.pixels(HEIGHT))
        heading = wrapping_label("Results, and the settings that differ:", "small")
        self.table = DataTable("Results and settings that differ")
        add_to(self.body, self.caution_label, self._make_split(), self.picture, self.worth)
        add_to(self.body, heading, self.table)

    def _make_split(self) -> QHBoxLayout:
        self.which = QuietComboBox()
        self.which.setAccessibleName("Run to test on a fresh split")
        self.fresh = PlainButton("Plan it on a fresh split", self._ask_split, "play")
        self.fresh.setAccessibleDescription(
            "Opens the run's data and plan with another seed, so that other rows test. Nothing "
            "starts before you say so."
        )
        return in_row(self.which, self.fresh, 1)

    def _ask_split(self) -> None:
        if self.which.currentIndex() < 0:
            return
        # A seed that none of them has splits the rows as none of them did.
        used_seeds = [curve.plan.seed for curve in self.curves if curve.plan is not None]
        self.split_wanted.emit(self.which.currentData(), max(used_seeds, default=0) + 1)

    def show_runs(self, runs: Sequence[RunSummary], curves: Sequence[BestSoFarCurve]) -> None:
        self.runs, self.curves = list(runs)[:MAX_RUNS], list(curves)[:MAX_RUNS]
        titles = zip(self.runs, runs_of_one_dataset(self.runs), strict=True)
        names = names_beside([run.title or title for run, title in titles], ())
        reason = refusal_text(self.runs)
        warnings = [reason] if reason else cautions(self.runs)
        named_curves = zip(names, self.curves, strict=True)
        warnings += [f"{name}: {curve.problem}" for name, curve in named_curves if curve.problem]
        show_text(self.caution_label, "\n".join(warnings))
        self._offer_split(names, bool(warnings) and not reason)
        is_comparable = not reason and len({c.metric for c in self.curves if c.best}) <= 1
        self.picture.setVisible(is_comparable)
        tested = {n: r for n, r in zip(names, self.runs, strict=True) if r.test is not None}
        # Scores of other data or measures say nothing beside each other.
        self.worth.setVisible(not reason and len(tested) > 1)
        if not reason and len(tested) > 1:
            self.worth.show_runs(tested)
        if is_comparable:
            self.picture.show_curves(self.curves, names)
        run_values = [curve.values for curve in self.curves]
        cells = [cells_of(run) for run in self.runs]
        rows: list[list[str]] = [
            [f"{name[:1].upper()}{name[1:]}", *(cell[HEADS.index(name)] or "–" for cell in cells)]
            for name in RESULTS
        ]
        rows += [
            [setting_name(name), *(setting_value(values, name) for values in run_values)]
            for name in differing_names(run_values)
        ]
        self.table.set_table((["", *names], rows))
        self.table.fit_height(len(rows))

    def _offer_split(self, names: Sequence[str], is_offered: bool) -> None:
        scores, choices = {}, {}
        for name, run, curve in zip(names, self.runs, self.curves, strict=True):
            if run.test is not None and curve.draws_test_rows:
                choices[run.path], scores[run.path] = name, run.test * (1 if run.maximize else -1)
        # The best is proposed: it is the one whose score flatters most, and a fresh split tells.
        self.which.set_choices(choices, max(scores, key=lambda path: scores[path], default=None))
        for control in (self.which, self.fresh):
            control.setVisible(is_offered and bool(choices))
