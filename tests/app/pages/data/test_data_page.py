"""The Data page: its table, its columns, its groups, one by one and several at once, and undo."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QMenu

from app.pages.data.data_page import DataPage
from app.pages.data.groups_board import MOTIFS, fresh_name, move_columns, rename_group, shown_groups
from app.text.data_text import change_title
from app.widgets.chip import MIME, dropped_columns
from app.worker.messages import Message, Opened
from core.datasets.dataset_summary import ColumnSummary, DatasetSummary
from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.datasets.task import Task
from core.tuning.guidance.advice import advise
from core.tuning.plan import DataPlan

CONTROL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


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


def test_the_page_shows_the_summary_in_head_table_and_panel(page):
    # The head: rows, columns, target and shares.
    summary = page.session.summary
    yes = next(c["count"] for c in summary["classes"] if c["label"] == "yes")
    subtitle = page._subtitle.text()
    assert "600 rows · 6 columns" in subtitle
    assert f"yes {100 * yes / 600:.0f}\u00a0%" in subtitle
    # The table: the target first, then kinds, then rows.
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
    # The panel has every finding.
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


def test_roles_kinds_task_and_test_part_are_asked_of_the_worker(page):
    _choose(page, "visit_id", "Use it to predict")
    assert _last_read(page).roles == {"visit_id": "feature"}
    _choose(page, "age", "category")
    assert _last_read(page).kinds == {"age": "category"}
    page.question.spin.setValue(20)
    assert _last_read(page).test_size == pytest.approx(0.2)
    page.question.share.setValue(40)
    assert _last_read(page).test_size == pytest.approx(0.4)
    page.question.task.setCurrentIndex(page.question.task.findData("multiclass"))
    assert _last_read(page).task == "multiclass"
    # Another target is told its task anew.
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


def test_the_ways_of_grouping(page):
    for way in ["single", "prefix", "column", "each"]:
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


def test_files_of_groups_that_cannot_be_used_are_a_sentence(page, tmp_path, qtbot):
    file = tmp_path / "groups.json"
    file.write_text("[1, 2")
    with qtbot.waitSignal(page.session.problem) as problem:
        page.board.load_groups(str(file))
    assert "groups.json" in problem.args[0]
    assert page.session.plan.groups == "single"
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


def press_head(page, qtbot, name, keys=Qt.KeyboardModifier.NoModifier):
    head = page.table.horizontalHeader()
    x = head.sectionViewportPosition(page.table.preview.names.index(name)) + 20
    qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, keys, QPoint(x, 10))


def act(menu, words, inside=""):
    if inside:
        found = next(one for one in menu.actions() if one.text() == inside)
        menu = found.menu()
    next(one for one in menu.actions() if one.text() == words).trigger()


def test_heads_are_selected_with_ctrl_and_shift_without_a_menu(page, qtbot):
    asked = []
    page.table.column_pressed.disconnect()
    page.table.column_pressed.connect(lambda name, _place: asked.append(name))
    press_head(page, qtbot, "age", CONTROL)
    press_head(page, qtbot, "smoker", CONTROL)
    assert page.table.selected_columns() == ["age", "smoker"]
    assert not asked
    assert page.several.isVisible()
    assert page.several.text() == "Change 2 columns…"
    press_head(page, qtbot, "ward")
    assert page.table.selected_columns() == asked == ["ward"]
    assert not page.several.isVisible()
    press_head(page, qtbot, "blood_pressure", SHIFT)
    assert page.table.selected_columns() == ["ward", "smoker", "blood_pressure"]


def test_the_keyboard_selects_and_asks(page, qtbot):
    asked = []
    page.table.columns_pressed.disconnect()
    page.table.columns_pressed.connect(lambda names, _place: asked.append(names))
    page.table.setCurrentIndex(page.table.preview.index(2, 1))
    qtbot.keyClick(page.table, Qt.Key.Key_Right, SHIFT)
    qtbot.keyClick(page.table, Qt.Key.Key_Right, SHIFT)
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert asked == [page.table.preview.names[1:4]]


def test_several_columns_get_a_role_or_a_kind_in_one_change(page):
    menu = page.menus.menu_for_columns(["came_back", "age", "ward"])
    assert menu.actions()[0].text() == "2 columns"  # the target stays what it is
    act(menu, "Leave them out")
    assert page.session.requested_data.roles == {"age": "ignore", "ward": "ignore"}
    act(page.menus.menu_for_columns(["age", "waiting_minutes"]), "category")
    assert page.session.requested_data.kinds == {"age": "category", "waiting_minutes": "category"}
    assert page.session.requested_data.roles == {"age": "ignore", "ward": "ignore"}


def test_several_columns_go_into_one_group_from_the_table(page, qtbot):
    menu = page.menus.menu_for_columns(["age", "ward", "visit_id"])
    act(menu, "A new group", inside="Put them into a group")
    qtbot.waitUntil(lambda: isinstance(page.session.plan.groups, dict))
    assert page.session.plan.groups["group 2"] == ["age", "ward"]  # the other one is left out
    menu = page.menu_for("smoker")
    act(menu, "group 2", inside="Put it into a group")
    qtbot.waitUntil(lambda: "smoker" in page.session.plan.groups["group 2"])
    page.session.undo_change()
    assert page.session.plan.groups["group 2"] == ["age", "ward"]


def chip_of(page, name):
    return next(one for one in page.board._column_chips() if one.column == name)


def test_chips_are_selected_and_moved_together(page, qtbot):
    board, left = page.board, Qt.MouseButton.LeftButton
    qtbot.mouseClick(chip_of(page, "age"), left, CONTROL)
    qtbot.mouseClick(chip_of(page, "smoker"), left, CONTROL)
    assert chip_of(page, "age").property("picked")
    assert "Selected" in chip_of(page, "smoker").accessibleDescription()
    assert chip_of(page, "age").carries == ["age", "smoker"]
    assert chip_of(page, "ward").carries == ["ward"]
    assert board.several.text() == "Move 2 columns…"
    menu = board.menu_for("smoker")
    assert menu.actions()[0].text() == "Move 2 columns to"
    act(menu, "A new group")
    qtbot.waitUntil(lambda: isinstance(page.session.plan.groups, dict))
    assert page.session.plan.groups["group 2"] == ["age", "smoker"]
    assert not board.several.isVisible()


def test_shift_selects_all_between_and_ctrl_space_one_more(page, qtbot):
    board, left = page.board, Qt.MouseButton.LeftButton
    names = [one.column for one in board._column_chips()]
    qtbot.mouseClick(chip_of(page, names[1]), left, CONTROL)
    qtbot.mouseClick(chip_of(page, names[3]), left, SHIFT)
    qtbot.keyClick(chip_of(page, names[5]), Qt.Key.Key_Space, CONTROL)
    assert list(board._picked) == [names[1], names[2], names[3], names[5]]
    qtbot.keyClick(chip_of(page, names[2]), Qt.Key.Key_Space, CONTROL)
    assert list(board._picked) == [names[1], names[3], names[5]]
    page.session.set_plan(groups={"one": names[:4], "two": names[4:]})
    qtbot.keyClick(chip_of(page, names[1]), Qt.Key.Key_Right, CONTROL)
    qtbot.waitUntil(lambda: names[1] in page.session.plan.groups["two"])
    assert set(page.session.plan.groups["two"]) == {names[1], names[3], *names[4:]}


@pytest.mark.parametrize("names", [["a"], ["a", '[“b”, "c"', "<b>"]])
def test_what_is_dragged_comes_back_from_the_drop(qtbot, monkeypatch, names, look):
    from app.widgets import chip as module

    carried = []

    class Drag:
        def __init__(self, _source): ...
        def setMimeData(self, mime):
            carried.append(mime)

        def setPixmap(self, _picture): ...
        def setHotSpot(self, _place): ...
        def exec(self, _action): ...

    monkeypatch.setattr(module, "QDrag", Drag)
    made = module.ColumnChip(names[0], "group")
    qtbot.addWidget(made)
    made.carries = names
    made.start_drag()
    assert dropped_columns(carried[0]) == names
    plain = QMimeData()
    plain.setData(module.MIME, b"[x")
    assert dropped_columns(plain) == ["[x"]


def test_a_table_that_is_not_listed_whole_offers_no_groups(page):
    page.session.summary = replace(page.session.summary, more_columns=9)
    assert not page.board.takes_columns
    menu = page.menus.menu_for_columns(["age", "ward"])
    assert not menu.findChildren(QMenu)


def test_buttons_say_what_they_undo(page):
    assert not page.undo.isEnabled()
    assert page.undo.toolTip() == "There is nothing to undo"
    page.board.move_columns(["ward"], "place")
    assert page.undo.accessibleName() == "Undo: the groups"
    assert "Ctrl+Z" in page.undo.toolTip()
    assert not page.redo.isEnabled()
    page.undo.click()
    assert page.session.plan.groups == "single"
    assert list(page.board.current_groups()) == ["all columns"]
    assert page.redo.accessibleName() == "Redo: the groups"
    page.redo.click()
    assert page.session.plan.groups["place"] == ["ward"]


@pytest.mark.parametrize("again", ["Y", "shift Z"])
def test_keys_undo_and_redo(page, qtbot, again):
    control, shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
    page.table.setFocus()
    page.session.set_plan(groups="column")
    qtbot.keyClick(page.table, Qt.Key.Key_Z, control)
    assert page.session.plan.groups == "single"
    if again == "Y":
        qtbot.keyClick(page.table, Qt.Key.Key_Y, control)
    else:
        qtbot.keyClick(page.table, Qt.Key.Key_Z, control | shift)
    assert page.session.plan.groups == "column"


def test_a_number_that_was_typed_is_undone_as_a_choice(page, qtbot):
    page.question.spin.setFocus()
    page.question.spin.selectAll()
    qtbot.keyClicks(page.question.spin, "20")
    qtbot.keyClick(page.question.spin, Qt.Key.Key_Return)
    assert page.session.requested_data.test_size == 0.2
    field = page.question.spin.lineEdit()
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert page.session.requested_data.test_size is None
    assert page.question.spin.value() == 30


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"target": "a", "roles": {"b": "ignore"}}, "what is predicted"),
        ({"roles": {"a <b>": "ignore"}}, "the role of “a <b>”"),
        ({"roles": {"a": "ignore", "b": "ignore"}}, "the roles of 2 columns"),
        ({"kinds": {"x" * 99: "text"}}, "what “" + "x" * 38 + " …” holds"),
        ({"readings": {"a": "text"}}, "how “a” is read"),
        ({"readings": {"a": "text"}, "kinds": {"b": "text"}}, "what “b” holds"),
        ({"readings": {"a": "text", "b": "text"}}, "the readings of 2 columns"),
        ({"test_size": 0.2}, "the test set"),
        ({"leaks": True}, "columns that leak the target"),
        ({}, "the groups"),
    ],
)
def test_what_a_change_is_called(fields, words):
    assert change_title(DataPlan("x.csv"), DataPlan("x.csv", **fields)) == words


@pytest.fixture
def page_of(still, qtbot):
    """Makes the page of a sample."""

    def make(name):
        still.open_sample(name)
        summary = summarize(read_dataset(f"sample:{name}"))
        opened = Opened(DataPlan(file=f"sample:{name}"), summary, advise(summary))
        still.worker.arrived.emit([Message(1, opened)])
        page = DataPage(still)
        qtbot.addWidget(page)
        page.resize(800, 900)
        page.show()
        return page

    return make


def _menu_words(page, column):
    return [action.text() for action in page.menu_for(column).actions() if action.text()]


def test_the_motifs_are_those_of_the_model():
    from core.losses.rna import parameters

    assert list(MOTIFS) == list(parameters.MOTIFS)


def test_sequences_are_counted_and_tested_whole(page_of):
    page = page_of("tags")
    assert page._subtitle.text().startswith("300 sequences of 2 to 20 tokens · 5 columns")
    assert "9 labels" in page._subtitle.text()
    assert page.question.task.currentText() == "The label of every token"
    assert page.question._test_words.text() == "90 of 300 sequences"
    sentences = page.words[1]
    assert any(sentence.startswith("90 whole sequences are the test set") for sentence in sentences)
    assert any("rows with the same “sequence” are one sequence" in s for s in sentences)
    model = page.table.preview
    assert model.index(0, model.names.index("sequence")).data() == "sequence"


def test_molecules_are_counted_with_their_pairs(page_of):
    page = page_of("molecules")
    assert "60 molecules of 30 to 80 bases" in page._subtitle.text()
    assert "966 base pairs" in page._subtitle.text()
    assert page.question.task.currentText() == "The structure of a molecule"
    assert page.question._test_words.text() == "18 of 60 molecules"
    model = page.table.preview
    assert model.index(0, model.names.index("sequence")).data() == "letters"
    assert "It holds" not in _menu_words(page, "id")


def test_the_groups_of_a_model_of_sequences(page_of):
    page = page_of("tags")
    page.session.set_plan(groups="column")
    columns = ["word", "suffix", "shape", "weekday", "shelf"]
    assert list(page.board.current_groups()) == ["initial", "transition", *columns]
    page.session.set_plan(groups="single")
    assert page.board.current_groups() == {"all parameters": ["initial", "transition", *columns]}
    page.session.set_plan(groups="prefix")
    assert list(page.board.current_groups())[:2] == ["initial", "transition"]
    page.board.move_columns(["transition"], "initial")
    assert page.session.plan.groups["initial"] == ["initial", "transition"]


def test_the_groups_of_a_model_of_molecules(page_of):
    page = page_of("molecules")
    page.session.set_plan(groups="column")
    assert list(page.board.current_groups()) == list(MOTIFS)
    assert page.board.ways.findData("prefix") == -1
    page.session.set_plan(groups="each")
    assert page.board._sentence.text() == "Every parameter has a penalty of its own."


def test_the_board_speaks_of_columns_again_after_other_data(page_of, clinic):
    page = page_of("tags")
    page.session.worker.arrived.emit([])
    assert page.board.ways.findData("single") == 0
    page.session.open_sample("clinic")
    number = len(page.session.worker.asked)
    opened = Opened(DataPlan(file="sample:clinic"), *clinic)
    page.session.worker.arrived.emit([Message(number, opened)])
    assert page.board.ways.itemText(0) == "All columns together"


def test_a_column_becomes_the_sequence_and_stops_being_one(page_of):
    page = page_of("tags")
    words = _menu_words(page, "shelf")
    assert "It says which sequence a row belongs to" in words
    assert {"number", "category"} <= set(words)
    assert not {"date", "yes/no"} & set(words)
    page._set_role("shelf", "sequence")
    asked = page.session.worker.asked[-1].data
    assert asked.roles == {"shelf": "sequence"}
    page.session.undo_change()  # still being read: it is not wanted any more
    page.session.data = page.session.data.__class__(file="sample:tags", task="sequence")
    page._set_role("sequence", "feature")
    asked = page.session.worker.asked[-1].data
    assert (asked.roles, asked.task) == ({"sequence": "feature"}, "")
