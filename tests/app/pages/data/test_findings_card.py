"""The cards and the heads of the Data page: findings, readings, texts, distributions."""

from __future__ import annotations

import csv
from dataclasses import fields as dataclass_fields
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from app.dialogs.target_dialog import TargetDialog
from app.pages.data import preview_table
from app.pages.data.data_page import DataPage
from app.pages.data.preview_table import MISSING, PreviewTable, draw_bars
from app.text.data_text import change_title, column_values_text, missing_text
from app.window.window import Window
from app.window.window_sides import step_states
from app.worker import engine
from app.worker.messages import InputRefused
from core.datasets.columns import distribution
from core.datasets.dataset_summary import (
    Column,
    ColumnSummary,
    DatasetSummary,
    Distribution,
    Preview,
)
from core.datasets.finding import UnusableTargetError
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.datasets.task import Task
from core.tuning.plan import DataPlan


@pytest.fixture
def orders(tmp_path):
    rows, random = 80, np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "country": np.array(["NA", "ZA"])[np.arange(rows) % 2],
            "weight": [f"{value:.1f} kg" for value in random.uniform(1, 9, rows)],
            "rating": np.where(np.arange(rows) % 4, "3", ""),
            "size": random.normal(size=rows).round(2),
            "y": random.normal(size=rows).round(3),
        }
    )
    table.loc[1, "rating"] = "4"
    path = tmp_path / "orders.csv"
    table.to_csv(path, index=False)
    return DataPlan(str(path))


@pytest.fixture
def opened(read, show):
    """The Data page of these data."""

    def show_page(data: DataPlan) -> DataPage:
        fields = {each.name: getattr(data, each.name) for each in dataclass_fields(data)}
        return show(DataPage(read(**fields)), 900, 800)

    return show_page


def said_by(page):
    return [label.text() for label in page.readings.findChildren(QLabel)]


def test_a_link_or_the_menu_reads_a_column_otherwise_and_undoes_it(opened, orders):
    page = opened(orders)
    worker = page.session.worker
    by_words = {link.text(): link for link in page.readings.buttons}
    assert set(by_words) == {"Read it as missing", "Read it as text"}
    by_words["Read it as missing"].click()
    assert worker.data_wanted.readings == {"country": "missing"}
    assert change_title(page.session.data, worker.data_wanted) == "how “country” is read"
    by_words["Read it as text"].click()
    assert worker.data_wanted.readings == {"country": "missing", "weight": "text"}
    page = opened(replace(orders, readings={"weight": "text"}))

    def press(column, words):
        entries = {action.text(): action for action in page.menu_for(column).actions()}
        entries[words].trigger()
        return worker.data_wanted.readings

    assert press("country", "Read it as missing") == {"weight": "text", "country": "missing"}
    assert press("weight", "Read it as at first") == {"country": "missing"}
    assert "Its cells" not in {action.text() for action in page.menu_for("size").actions()}


def test_one_link_changes_the_decimal_sign_of_all_columns(opened, tmp_path):
    numbers = [f"{i % 9 + 1}.{i % 7}25" for i in range(60)]
    table = pd.DataFrame({"a": numbers, "b": numbers[::-1], "y": np.arange(60) % 7})
    table.to_csv(tmp_path / "german.csv", sep=";", index=False)
    page = opened(DataPlan(str(tmp_path / "german.csv"), target="y"))
    together = page.readings.buttons[0]
    assert together.text() == "Read all 2 columns with a decimal point"
    assert "“a” and “b”" in together.accessibleDescription()
    together.click()
    assert page.session.worker.data_wanted.readings == {"a": "point", "b": "point"}


def test_a_reading_replaces_a_kind_and_a_kind_a_reading(opened, orders):
    page = opened(replace(orders, kinds={"country": "category", "size": "category"}))
    worker = page.session.worker
    [link] = [link for link in page.readings.buttons if "missing" in link.text()]
    link.click()
    assert worker.data_wanted.kinds == {"size": "category"}
    page.menus.set_kinds(["country"], "text")
    assert worker.data_wanted.readings == {}
    assert worker.data_wanted.kinds == {"size": "category", "country": "text"}


def test_links_are_named_and_the_card_says_what_the_model_is_given(opened, orders):
    page = opened(orders)
    for link in page.readings.buttons:
        assert link.accessibleName() == link.text()
        assert link.accessibleDescription().startswith(("country: “NA”", "weight: “"))
        assert link.focusPolicy() & Qt.FocusPolicy.TabFocus
    told = "For the model: 25 % missing: the median 3"
    assert any(text.startswith(told) for text in said_by(page))


@pytest.mark.parametrize("is_counted", [True, False])
def test_cells_that_do_not_come_back_are_counted_with_a_link_to_keep_them(
    opened, tmp_path, is_counted, monkeypatch
):
    monkeypatch.setattr(engine, "COUNTED_BYTES", 2**22 * is_counted)
    versions = ["1.10" if row % 3 == 0 else f"{row % 7}.5" for row in range(60)]
    prices = [f"${row % 9 + 1},200.00" for row in range(60)]
    table = pd.DataFrame({"version": versions, "price": prices, "y": np.arange(60)})
    table.to_csv(tmp_path / "table.csv", index=False)
    page = opened(DataPlan(str(tmp_path / "table.csv"), target="y"))
    texts = [button.text() for button in page.readings.buttons]
    assert texts == ["Read it as text"] * (1 + is_counted)  # one for the price
    if not is_counted:
        assert "Some of its cells are written otherwise than they are read." in said_by(page)
        return
    for count, cells in ((20, "“1.10” is 1.1"), (60, "“$1,200.00” is 1200")):
        assert f"{count} cells are written otherwise than read: {cells}." in said_by(page)
    page.readings.buttons[1].click()
    assert page.session.worker.data_wanted.readings == {"version": "text"}


def test_without_anything_to_say_there_is_no_card(opened, tmp_path):
    path = tmp_path / "plain.csv"
    random = np.random.default_rng(0)
    pd.DataFrame(random.normal(size=(60, 2)), columns=["a", "y"]).to_csv(path, index=False)
    page = opened(DataPlan(str(path)))
    assert not page.readings.isVisible()
    assert page._cards.isHidden()
    page = opened(DataPlan("sample:iris"))
    assert not page.findings.isVisible()
    assert any("2 of 150 rows equal" in sentence for sentence in page.words[1])


def test_cards_are_beside_each_other_where_there_is_room(opened, orders, qtbot):
    page = opened(DataPlan(orders.file, roles={"size": "ignore"}))
    page.findings.setVisible(True)
    for width, beside in ((1500, True), (800, False)):
        page.resize(width, 900)
        qtbot.waitUntil(
            lambda beside=beside: (page.readings.y() == page.findings.y()) == beside, timeout=2000
        )


def test_the_table_says_units_and_a_missing_cell_is_painted_as_a_badge(opened, orders):
    table = opened(orders).table
    preview = table.preview
    at = {name: index for index, name in enumerate(preview.heads)}
    cells = [(0, "weight"), (1, "rating"), (2, "rating")]
    shown = [preview.index(row, at[name]).data() for row, name in cells]
    assert shown == ["number, kg", MISSING, "4"]
    assert preview.is_missing(1, at["rating"])
    assert not preview.is_missing(1, at["weight"])
    spoken = preview.index(1, at["rating"]).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "rating: missing"
    picture = table.viewport().grab().toImage()
    scale = picture.devicePixelRatio()

    def colours(row):
        rect = table.visualRect(preview.index(row, at["rating"]))
        y = int(rect.center().y() * scale)
        return {picture.pixel(int((rect.left() + x) * scale), y) for x in range(60)}

    assert len(colours(1)) > 1  # both rows have the same ground
    assert colours(1) != colours(3)


@pytest.fixture
def visits(tmp_path):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(size=(160, 2)), columns=["a", "b"])
    table.insert(0, "patient", np.arange(160) % 40)
    table["seen"] = pd.date_range("2024-01-01", periods=160, freq="D").strftime("%Y-%m-%d")
    table["ill"] = np.where(table["a"] + rng.normal(size=160) > 0, "yes", "no")
    path = tmp_path / "visits.csv"
    table.to_csv(path, index=False)
    return DataPlan(str(path))


def test_each_proposal_has_a_button_that_asks_for_it_and_one_that_undoes_it(opened, visits):
    page = opened(visits)
    worker = page.session.worker
    words = [button.text() for button in page.findings.buttons]
    assert words == ["Keep the rows of one patient together", "Test on the latest rows"]
    page.findings.buttons[0].click()
    assert worker.data_wanted.roles == {"patient": "group"}
    page.findings.buttons[1].click()
    assert worker.data_wanted.latest == "seen"
    page = opened(replace(visits, roles={"patient": "group"}, latest="seen"))
    group, latest = page.findings.buttons
    group.click()
    assert worker.data_wanted.roles == {"patient": "ignore"}
    latest.click()
    assert worker.data_wanted.latest == ""
    assert worker.data_wanted.roles == {"patient": "ignore"}  # the change that is still being read


def test_equal_rows_of_a_run_of_before_are_offered_to_stay_together(opened):
    page = opened(DataPlan("sample:iris", together=False))
    [button] = page.findings.buttons
    assert button.text() == "Keep equal rows together"
    button.click()
    wanted = page.session.worker.data_wanted
    assert (wanted.file, wanted.together) == ("sample:iris", True)


def test_a_column_of_dates_that_becomes_the_target_no_longer_divides(opened, visits):
    page = opened(replace(visits, latest="seen"))
    page.question.choose_target("seen")
    assert page.session.worker.data_wanted.latest == ""


# Texts ----------------------------------------------------------------------------------------


@pytest.fixture
def page_of(read, show):
    """Makes the page of data that are understood as a plan says."""
    return lambda file, **fields: show(DataPage(read(file, **fields)), 800, 900)


@pytest.fixture(scope="module")
def posts(tmp_path_factory):
    """Texts with a title and a mark each; nothing but texts could predict the mark."""
    path = tmp_path_factory.mktemp("posts") / "posts.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["title", "body", "mark", "number"])
        for i, text in enumerate(SAMPLES["texts"].table()["text"]):
            writer.writerow([text.partition(".")[0], text, "ab"[i % 2], i % 13])
    return path


def wishes(page):
    target = page.question.target
    return [target.itemText(at) for at in range(target.count())]


def test_texts_are_counted_and_their_words_shown(page_of, assert_accessible, qtbot):
    page = page_of("sample:texts")
    subtitle = page._subtitle.text()
    assert subtitle.startswith("400 texts of 45 words on average · 227 different words")
    assert page.question.target.currentText() == "Find the topics of the texts in “text”"
    assert page.question._task_box.isHidden()
    assert page.question._test_words.text() == "120 of 400 texts"
    assert page.documents.isVisible()
    assert not page.board.isVisible()
    words = page.documents.words
    said = words.accessibleDescription()
    assert said.startswith("morning 464, began 436, people 390")
    assert len(said.split(", ")) == 30
    model = page.table.preview
    assert [model.index(0, at).data() for at in range(2)] == ["text", "left out"]
    assert any(sentence.startswith("120 texts are the test set") for sentence in page.words[1])
    assert step_states(page.session)["data"].chosen == "texts · 400 texts"
    assert_accessible(page)
    heights = []
    for width in (500, 800, 1500):
        page.resize(width, 900)
        qtbot.wait(20)
        heights.append(words.height() // words._row_height())
    assert heights == sorted(heights, reverse=True)
    assert heights[0] > heights[2] == 5  # thirty words in six columns


def test_a_table_with_texts_offers_their_topics_and_a_way_back(page_of, posts):
    page = page_of(posts, target="number")
    target, worker = page.question.target, page.session.worker
    assert wishes(page) == [
        *(f"Predict “{name}”" for name in ("title", "body", "mark", "number")),
        "Find the topics of the texts in “title”",
        "Find the topics of the texts in “body”",
    ]
    assert target.currentText() == "Predict “number”"
    assert not page.documents.isVisible()
    target.setCurrentIndex(5)
    assert (worker.data_wanted.task, worker.data_wanted.target) == ("topics", "body")
    target = page_of(posts, task="topics", target="body").question.target
    for index, wanted in ((2, ("", "mark")), (4, ("topics", "title"))):
        target.setCurrentIndex(index)
        assert (worker.data_wanted.task, worker.data_wanted.target) == wanted


def test_the_menu_of_a_column(page_of, posts):
    page = page_of(posts, task="topics", target="body")
    worker = page.session.worker

    def entries(column):
        return {a.text(): a.isChecked() for a in page.menu_for(column).actions()}

    body, mark = entries("body"), entries("mark")
    assert [words for words, ticked in body.items() if ticked] == ["Find the topics of its texts"]
    assert "Use it to predict" not in body
    assert [words for words, ticked in mark.items() if ticked] == ["Leave it out"]
    assert "Predict this column" in mark
    assert "Find the topics of its texts" not in mark
    asked, refused = len(worker.asked), []
    page.session.problem.connect(refused.append)
    page._set_role("body", "ignore")
    assert len(worker.asked) == asked
    assert "The topics of “body” are looked for" in refused[0]
    page._set_role("title", "feature")
    assert worker.data_wanted.target == "title"
    page._set_role("number", "group")
    assert worker.data_wanted.roles == {"number": "group"}


def test_counts_of_a_sparse_file_may_be_words(page_of, tmp_path):
    counts, shares = tmp_path / "words.libsvm", tmp_path / "shares.libsvm"
    counts.write_text("".join(f"{i % 2} {1 + i % 5}:2 {6 + i % 3}:1\n" for i in range(200)))
    page = page_of(counts)
    assert wishes(page) == ["Predict “target”", "Find topics: the numbers are counts of words"]
    page.question.target.setCurrentIndex(1)
    wanted = page.session.worker.data_wanted
    assert (wanted.task, wanted.target) == ("topics", "")
    again = page_of(counts, task="topics")
    assert again.question.target.currentIndex() == 1
    said = again._subtitle.text()
    assert said.startswith("200 texts of 3 words on average · 8 different words")
    shares.write_text("1 1:0.5\n0 2:0.25\n" * 20)
    assert wishes(page_of(shares)) == ["Predict “target”"]


def test_too_few_texts_leave_no_model(page_of, posts, tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("".join(posts.read_text().splitlines(keepends=True)[:60]))
    page = page_of(few, task="topics")
    assert page.session.plan is None
    assert not page.primary.isEnabled()
    assert step_states(page.session)["strategy"].locked == "No model fits these data yet."


def test_where_texts_and_all_else_are_left_out_topics_are_offered(show, still, posts):
    roles = dict.fromkeys(("number", "body", "title"), "ignore")
    with pytest.raises(UnusableTargetError) as caught:
        read_dataset(str(posts), DataOptions(target="mark", roles=roles))
    error = caught.value
    assert error.texts == ("body", "title")
    assert error.cure.endswith("or choose topics as the task")
    window = show(Window(still))
    still.open_file(posts)
    still.worker.answer(InputRefused(error.sentence, error.columns, error.texts))

    def take():
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, TargetDialog)
        assert "Find the topics of the texts in “body”" in dialog.columns.item(0).text()
        assert (dialog.chosen_column, dialog.task) == ("body", "topics")
        dialog.open_button.click()

    QTimer.singleShot(50, take)
    buttons = {b.accessibleName(): b for b in window.notice.findChildren(QPushButton)}
    buttons["Choose what to do"].click()
    wanted = still.worker.data_wanted
    assert (wanted.task, wanted.target) == ("topics", "body")


def test_stop_words_and_the_size_of_the_vocabulary_can_be_chosen(page_of):
    page = page_of("sample:texts")
    card, worker = page.documents, page.session.worker
    assert card.stop_words.currentText() == "Detected from the texts"
    assert card.vocabulary.value() == 1000
    assert "the stop words of English" in card._caption.text()
    card.stop_words.setCurrentIndex(card.stop_words.findData("de"))
    assert worker.data_wanted.stop_words == "de"
    card.vocabulary.setValue(300)
    assert worker.data_wanted.vocabulary == 300
    chosen = page_of("sample:texts", stop_words="none", vocabulary=300).documents
    assert chosen.stop_words.currentText() == "None are left out"
    assert "The 300 most frequent" in chosen._caption.text()


# The heads of the table -----------------------------------------------------------------------


def described(values, kind, form=""):
    series = pd.Series(values, name="x")
    column = Column("x", "feature", kind, date_format=form)
    found = distribution(series, column, len(series))
    missing, distinct = int(series.isna().sum()), int(series.nunique())
    return ColumnSummary("x", "feature", kind, missing, distinct, distribution=found)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (described([1, 1, 2, 5, None], "number"),
         "From 1 to 5; the highest bar, 50\u00a0%, is 1.\n1 of 5 values are missing (20\u00a0%)."),
        (described([7.5] * 4, "number"), "Always 7.5.\nNo value is missing."),
        (described([None] * 3, "number"), "3 of 3 values are missing (100\u00a0%)."),
        (described(["<b>", "<b>", "&"], "category"),
         "<b>: 67\u00a0%, &: 33\u00a0%.\nNo value is missing."),
        (described(["2024-01-01", "2024-03-01", "2024-01-02"], "date", "%Y-%m-%d"),
         "From 2024-01-01 to 2024-03-01; the highest bar, 67\u00a0%, is between 2024-01-01 and "
         "2024-01-04.\nNo value is missing."),
        (described(["08:30", "10:15"], "date", "%H:%M"),
         "From 08:30 to 10:15; the highest bar, 50\u00a0%, is between 08:30 and 08:35.\n"
         "No value is missing."),
        (described([-1.7e308, 1.7e308, 1.7e308], "number"),
         "From −1.7×10³⁰⁸ to 1.7×10³⁰⁸; the highest bar, 67\u00a0%, is between 1.53×10³⁰⁸ and "
         "1.7×10³⁰⁸.\nNo value is missing."),
    ],
)  # fmt: skip
def test_a_column_in_words(qapp, column, words):
    assert column_values_text(column, 5 if column["missing"] == 1 else 3) == words


def test_what_is_missing_is_a_share(qapp):
    column = ColumnSummary("x", "feature", "number")
    assert missing_text(replace(column, missing=1234), 10_000) == "12\u00a0% missing"
    assert missing_text(replace(column, missing=1), 10_000) == "< 0.1\u00a0% missing"
    assert missing_text(column, 10) == missing_text(None, 0) == ""


def bars(spread, width=100, height=20):
    """How high the picture is coloured at every pixel from the left."""
    picture = QImage(width, height, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.white)
    painter = QPainter(picture)
    draw_bars(painter, QRectF(0, 0, width, height), spread)
    painter.end()
    blue = QColor("#0072B2").rgb()
    return [sum(picture.pixel(x, y) == blue for y in range(height)) for x in range(width)]


def test_bars_are_as_high_as_their_counts(look):
    spread = Distribution("numbers", (1, 4, 2, 0))
    heights = bars(spread)
    assert [heights[12], heights[37], heights[62], heights[87]] == [5, 20, 10, 0]


def test_a_rare_value_still_has_a_bar_and_others_a_hollow_one(look):
    spread = Distribution("values", (100000, 1), labels=("a", "b"), other=50000)
    heights = bars(spread)
    assert heights[5] == 20
    assert heights[20] == 1
    assert 0 < heights[35] <= 4  # its two edges


def test_only_what_is_seen_is_drawn_of_very_many_columns(look, show, qtbot, monkeypatch):
    drawn = []
    monkeypatch.setattr(preview_table, "draw_bars", lambda *args: drawn.append(args[2]))
    columns = [replace(described([1, 2, 2], "number"), name=f"c{at}") for at in range(300)]
    preview = Preview([column.name for column in columns], [["1"] * 300] * 3)
    summary = DatasetSummary(
        "c.csv", "csv", 3, 300, Task.REGRESSION, "y", columns=columns, preview=preview
    )
    table = PreviewTable()
    table.preview.show_summary(summary, {c["name"]: "number" for c in columns})
    with qtbot.waitExposed(show(table, 800, 300)):
        table.grab()
    assert 0 < len({id(one) for one in drawn}) < 15


def test_the_head_has_room_for_bars_and_says_them(with_data, show):
    table = show(DataPage(with_data)).table
    at = table.preview.heads.index("blood_pressure")
    across, role = Qt.Orientation.Horizontal, Qt.ItemDataRole.AccessibleTextRole
    said = table.preview.headerData(at, across, role)
    assert said.startswith("blood_pressure\nFrom ")
    assert "of 600 values are missing" in said
    head = table.horizontalHeader()
    assert head.height() > 2 * head.fontMetrics().height() + 20
