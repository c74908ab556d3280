"""The head of a page: what stands below it stays where it is when words come and go."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt

from app.pages.data.data_page import DataPage
from app.pages.results_page import ResultsPage
from app.pages.strategy_cards import MistakesCard
from app.pages.tune_page import TunePage
from app.pages.use_page import UsePage
from app.views.plot.data_table import DataTable
from app.widgets.chip import ColumnChip
from app.widgets.quiet_controls import QuietComboBox
from app.window.window_sides import Rail, step_states
from core.tuning.events import DatasetFacts, PenaltyStep, RunFinished, RunStarted
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results, RightCounts

SIZES = [(562, 100), (802, 100), (745, 150)]  # pixels in windows of 1024 and 1280, percent


def learned():
    plan = Plan(DataPlan("x.csv"), "logistic", "penalties").as_dict()
    penalties = {"first": 3.0, "second": 7.4}
    results = Results(
        metric="accuracy",
        test={"accuracy": 0.74},
        right=RightCounts(tuned=74, default=70, rows=100, baseline=59),
        baseline="the most frequent class",
        groups=penalties,
    )
    return [
        RunStarted(
            plan=plan,
            kind="penalties",
            groups=dict.fromkeys(penalties, 2),
            dataset=DatasetFacts(test_rows=100),
        ),
        *(PenaltyStep(step=n, objective=9.0 - n, penalties=penalties) for n in range(3)),
        RunFinished(because="done", results=results),
    ]


def test_a_head_and_a_panel_hold_the_ends_of_a_long_name(with_data, show):
    page = show(DataPage(with_data))
    page.set_head("a table", f"predicting “{'T' * 9000}”")
    page.set_panel("Findings", [f"The target “{'T' * 9000}” holds numbers."])
    assert len(page._subtitle.text()) < 120
    page.set_head("t" * 250)  # a file
    assert page._title.minimumSizeHint().width() < 450
    assert len(page.words[1][0]) < 130


def test_steps_tooltips_and_chips_show_the_ends_of_a_long_name(with_data, qtbot):
    with_data.summary = replace(with_data.summary, name="n" * 250)
    rail, chip = Rail(), ColumnChip("c" * 9000, "g")
    qtbot.addWidget(rail)
    qtbot.addWidget(chip)
    rail.show_steps(step_states(with_data), "data")
    assert rail.steps["data"].minimumSizeHint().width() < 300
    assert len(chip.toolTip()) < 1200
    assert len(chip.accessibleName()) < 100
    classes = tuple(replace(entry, label=entry.label * 900) for entry in with_data.summary.classes)
    with_data.summary = replace(with_data.summary, classes=classes)
    card = MistakesCard(with_data)
    qtbot.addWidget(card)
    card.refresh()
    assert len(card.controls) == 2
    assert card.minimumSizeHint().width() < 700


def test_boxes_and_heads_of_tables_are_no_wider_than_some_words(qtbot):
    box, table = QuietComboBox(), DataTable("A table")
    qtbot.addWidget(box)
    qtbot.addWidget(table)
    box.set_choices({"a": "b" * 900})
    assert box.sizeHint().width() < 700
    table.set_table((["line", "c" * 9000], [["1", "2"]]))
    assert table.model().headerData(1, Qt.Orientation.Horizontal).startswith("ccc")
    assert len(table.model().headerData(1, Qt.Orientation.Horizontal)) == 40


def test_nothing_below_a_head_moves_when_a_run_has_ended(with_data, show, look, qapp):
    pages = [show(kind(with_data)) for kind in (DataPage, TunePage, ResultsPage, UsePage)]
    ends = []
    for events in ([], learned()):
        with_data._show_run(events, None)
        for page in pages:
            page.visited()
        heads = [page.title for page in pages]
        for width, percent in SIZES:
            look.change_look(percent=percent)
            qapp.processEvents()  # until then pages are as wide as their widest text before
            for page in pages:
                page.resize(width, 600)
            qapp.processEvents()
            ends.append([page._head.geometry().bottom() for page in pages])
    assert heads[1:3] == [
        "Learning one penalty for each group of columns", "Right for 74 of 100 new rows"
    ]  # fmt: skip
    assert ends[: len(SIZES)] == ends[len(SIZES) :]
