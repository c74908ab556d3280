import json
from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication

from app.pages.data.data_page import DataPage
from app.pages.data.group_edits import fresh_name, move_columns, rename_group, shown_groups
from app.widgets.chip import MIME
from core.datasets.dataset_summary import ColumnSummary, DatasetSummary
from core.datasets.task import Task


@pytest.fixture
def page(with_data, qtbot):
    made = DataPage(with_data)
    qtbot.addWidget(made)
    made.resize(800, 900)
    made.show()
    return made


def _last_read(page):
    """The DataPlan that the session asked the worker to read last."""
    return page.session.worker.asked[-1].data


def test_the_head_says_rows_columns_target_and_shares(page):
    summary = page.session.summary
    yes = next(c["count"] for c in summary["classes"] if c["label"] == "yes")
    subtitle = page._subtitle.text()
    assert "600 rows · 6 columns" in subtitle
    assert f"yes {100 * yes / 600:.0f}\u00a0%" in subtitle


def test_the_table_shows_target_first_then_kinds_then_rows(page):
    model = page.table.preview
    assert model.names[0] == "came_back"
    words = [model.index(0, at).data() for at in range(model.columnCount())]
    by_name = dict(zip(model.names, words, strict=True))
    assert by_name["came_back"] == "target"
    assert by_name["ward"] == "category"
    assert by_name["visit_date"] == "date"
    assert by_name["visit_id"] == "left out"
    first = page.session.summary["preview"]["rows"][0]
    at = page.session.summary["preview"]["columns"].index("ward")
    assert model.index(1, model.names.index("ward")).data() == first[at]


def test_the_panel_has_every_finding(page):
    title, sentences = page.words
    assert title == "Findings"
    for finding in page.session.summary["findings"]:
        assert finding["sentence"] in sentences
    assert any(sentence.startswith("180 rows are the test set") for sentence in sentences)


def test_enter_in_the_table_asks_for_the_menu_of_the_column(page, qtbot):
    asked = []
    page.table.column_pressed.disconnect()
    page.table.column_pressed.connect(lambda name, place: asked.append(name))
    page.table.setCurrentIndex(page.table.preview.index(3, 2))
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert asked == [page.table.preview.names[2]]


def _choose(page, column, words):
    menu = page.menu_for(column)
    next(action for action in menu.actions() if action.text() == words).trigger()


def test_a_left_out_column_can_be_brought_back(page):
    _choose(page, "visit_id", "Use it to predict")
    assert _last_read(page).roles == {"visit_id": "feature"}


def test_a_kind_can_be_changed(page):
    _choose(page, "age", "category")
    assert _last_read(page).kinds == {"age": "category"}


def test_another_target_from_the_menu_or_the_list_is_told_its_task_anew(page):
    _choose(page, "age", "Predict this column")
    assert (_last_read(page).target, _last_read(page).task) == ("age", "")
    page.question.target.setCurrentIndex(page.question.target.findText("Predict “ward”"))
    assert _last_read(page).target == "ward"


def test_the_target_cannot_be_left_out(page, qtbot):
    asked = len(page.session.worker.asked)
    with qtbot.waitSignal(page.session.problem) as problem:
        _choose(page, "came_back", "Leave it out")
    assert "Choose another target first" in problem.args[0]
    assert len(page.session.worker.asked) == asked


def test_the_test_part_by_slider_or_number(page):
    page.question.spin.setValue(20)
    assert _last_read(page).test_size == pytest.approx(0.2)
    page.question.share.setValue(40)
    assert _last_read(page).test_size == pytest.approx(0.4)


def test_the_task_can_be_changed(page):
    page.question.task.setCurrentIndex(page.question.task.findData("multiclass"))
    assert _last_read(page).task == "multiclass"


def test_columns_fill_the_table_or_scroll(page):
    table = page.table
    widths = [table.columnWidth(at) for at in range(table.preview.columnCount())]
    head = table.horizontalHeader()
    assert all(w >= min(head.sectionSizeHint(at), 320) for at, w in enumerate(widths))
    page.resize(2200, 900)
    QApplication.processEvents()
    total = sum(table.columnWidth(at) for at in range(table.preview.columnCount()))
    assert total == table.viewport().width()


def _drop(widget, mime):
    event = QDropEvent(
        QPointF(widget.rect().center()), Qt.DropAction.MoveAction, mime,
        Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    widget.dropEvent(event)


def test_a_dropped_file_is_opened(page, tmp_path):
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / "x.csv"))])
    _drop(page, mime)
    assert _last_read(page).file == str(tmp_path / "x.csv")


# Groups ---------------------------------------------------------------------------------------


def test_dragging_a_column_onto_a_new_group_moves_it(page, qtbot):
    board = page.board
    board.add_group()
    mime = QMimeData()
    mime.setData(MIME, b"age")
    _drop(board.group_box("group 2"), mime)
    qtbot.waitUntil(lambda: isinstance(page.session.plan.groups, dict))
    groups = page.session.plan.groups
    assert groups["group 2"] == ["age"]
    assert "age" not in groups["all columns"]
    assert sorted(c for g in groups.values() for c in g) == sorted(
        c["name"] for c in page.session.summary["columns"] if c["role"] == "feature"
    )


def test_the_keyboard_moves_a_column_by_menu_and_by_step(page, qtbot):
    board = page.board
    action = board.menu_for("ward").actions()[-1]
    assert action.text() == "A new group"
    action.trigger()
    qtbot.waitUntil(lambda: isinstance(page.session.plan.groups, dict))
    assert page.session.plan.groups["group 2"] == ["ward"]
    chip = next(c for c in board.group_box("all columns").chips if c.column == "smoker")
    qtbot.keyClick(chip, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: "smoker" in page.session.plan.groups["group 2"])


def test_focus_stays_with_the_column_that_was_moved(page, qtbot):
    board = page.board
    page.activateWindow()
    board.move_columns(["ward"], "place")
    assert QApplication.focusWidget().column == "ward"


def test_every_chip_of_a_narrow_group_shows(page, qtbot):
    page.board.move_columns(["ward"], "x" * 40)
    page.resize(420, 900)
    names = ["age", "blood_pressure", "waiting_minutes", "visit_date"]
    page.session.set_plan(groups={"all": names})
    qtbot.wait(20)
    for chip in page.board.group_box("all").chips:
        assert chip.parentWidget().rect().contains(chip.geometry())
        assert chip.text()


def test_a_group_gets_another_name(page, qtbot):
    board = page.board
    board.move_columns(["ward"], "place")
    title = board.group_box("place").title
    title.setText("where")
    title.editingFinished.emit()
    qtbot.waitUntil(lambda: "where" in page.session.plan.groups)
    assert page.session.plan.groups["where"] == ["ward"]


@pytest.mark.parametrize("way", ["single", "prefix", "column", "each"])
def test_the_ways_of_grouping(page, way):
    page.board.ways.setCurrentIndex(page.board.ways.findData(way))
    assert page.session.plan.groups == way


def test_groups_are_saved_and_loaded_again(page, tmp_path):
    board = page.board
    board.move_columns(["ward"], "place")
    file = tmp_path / "groups.json"
    board.save_groups(str(file))
    kept = page.session.plan.groups
    assert json.loads(file.read_text()) == kept
    page.session.set_plan(groups="single")
    board.load_groups(str(file))
    assert page.session.plan.groups == kept


def test_a_spoilt_file_of_groups_changes_nothing(page, tmp_path, qtbot):
    file = tmp_path / "groups.json"
    file.write_text("[1, 2")
    with qtbot.waitSignal(page.session.problem) as problem:
        page.board.load_groups(str(file))
    assert "groups.json" in problem.args[0]
    assert page.session.plan.groups == "single"


def test_a_folder_that_cannot_be_written_is_said(page, tmp_path, qtbot):
    with qtbot.waitSignal(page.session.problem) as problem:
        page.board.save_groups(str(tmp_path / "nowhere" / "groups.json"))
    assert "choose another folder" in problem.args[0]


SUMMARY = DatasetSummary(
    "a.csv",
    "csv",
    rows=9,
    features=4,
    task=Task.REGRESSION,
    target="y",
    columns=[ColumnSummary(name, "feature", "number") for name in ("a_1", "a_2", "b_1", "c")]
    + [ColumnSummary("y", "target", "number")],
    prefixes={"a": ["a_1", "a_2"], "other": ["b_1", "c"]},
)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("single", {"all": ["a_1", "a_2", "b_1", "c"]}),
        ("column", {"a_1": ["a_1"], "a_2": ["a_2"], "b_1": ["b_1"], "c": ["c"]}),
        ("prefix", {"a": ["a_1", "a_2"], "other": ["b_1", "c"]}),
        ({"mine": ["c", "y", "gone"]}, {"mine": ["c"], "other": ["a_1", "a_2", "b_1"]}),
    ],
)
def test_groups_as_they_are_shown(spec, expected):
    assert shown_groups(spec, SUMMARY, "all", "other") == expected


def test_groups_agree_with_those_the_core_makes():
    from core.datasets.groups import penalty_groups

    names = ["a_1", "a_2", "b_1", "c"]
    for spec in ("prefix", {"mine": ["c"]}):
        labels, of_column = penalty_groups(spec, names, names)
        made = {}
        for name, at in zip(names, of_column, strict=True):
            made.setdefault(labels[at], []).append(name)
        assert made == shown_groups(spec, SUMMARY, "all", "other")


def test_moving_and_renaming_lose_no_column():
    groups = {"a": ["1", "2"], "b": ["3"]}
    assert move_columns(groups, ["3"], "a") == {"a": ["1", "2", "3"]}
    assert move_columns(groups, ["1"], "new") == {"a": ["2"], "b": ["3"], "new": ["1"]}
    assert rename_group(groups, "b", "a") == {"a": ["1", "2", "3"]}
    assert rename_group(groups, "a", "z") == {"z": ["1", "2"], "b": ["3"]}
    assert fresh_name({"group 2": [], "x": []}, "group {number}") == "group 3"


def test_a_menu_opens_at_the_chip_and_at_the_head(page, qtbot):
    chip = page.board.group_box("all columns").chips[0]
    chip.click()
    menu = QApplication.activePopupWidget()
    assert menu.actions()[-1].text() == "A new group"
    menu.close()
    page.table._head_clicked(1)
    menu = QApplication.activePopupWidget()
    assert "Leave it out" in [action.text() for action in menu.actions()]
    menu.close()


def test_another_sheet_of_the_workbook_can_be_chosen(page, clinic):
    from app.worker.messages import Message, Opened
    from core.tuning.plan import DataPlan

    assert page.question._sheet_part.isHidden()
    session = page.session
    session.open_file("/data/book.xlsx")
    summary, advice = clinic
    summary = replace(summary, sheets=["First", "Second"], sheet="First")
    session.worker.arrived.emit(
        [Message(session._requests.last, Opened(DataPlan("/data/book.xlsx"), summary, advice))]
    )
    assert not page.question._sheet_part.isHidden()
    assert page.question.sheet.currentText() == "First"
    page.question.sheet.textActivated.emit("Second")
    assert _last_read(page).file == "/data/book.xlsx#Second"
    session.problem.emit("The sheet is empty.")  # refused: the choice goes back
    assert page.question.sheet.currentText() == "First"
