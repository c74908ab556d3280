"""The cards of findings and of how columns were read: their buttons, and the same in the table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from PySide6.QtCore import Qt

from app.pages.data.data_page import DataPage
from app.pages.data.preview_table import MISSING
from app.text.data_text import change_title
from app.widgets.cards import SideBySide
from app.worker.messages import Message, Opened
from core.datasets.summary import rewritten_cells, summarize
from core.tuning.guidance.advice import advise
from core.tuning.guidance.column_encodings import column_encodings
from core.tuning.plan import DataPlan
from core.tuning.problem_setup import read_data


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
def opened(still, qtbot):
    """Opens data in a session and gives its Data page."""

    def show(data: DataPlan, counted: int = 2**22) -> DataPage:
        dataset = read_data(data)
        encodings, rewritten = column_encodings(dataset), rewritten_cells(dataset, counted)
        summary = replace(summarize(dataset), encodings=encodings, rewritten=rewritten)
        still.open_file(data.file)
        number = len(still.worker.asked)
        still.worker.arrived.emit([Message(number, Opened(data, summary, advise(summary)))])
        page = DataPage(still)
        qtbot.addWidget(page)
        page.resize(900, 800)
        page.show()
        return page

    return show


def last_asked(page):
    return page.session.worker.asked[-1].data


def test_a_link_reads_a_column_otherwise(opened, orders):
    page = opened(orders)
    by_words = {link.text(): link for link in page.readings.buttons}
    assert set(by_words) == {"Read it as missing", "Read it as text"}
    by_words["Read it as missing"].click()
    assert last_asked(page).readings == {"country": "missing"}
    assert change_title(orders, last_asked(page)) == "how “country” is read"
    by_words["Read it as text"].click()
    assert last_asked(page).readings == {"country": "missing", "weight": "text"}


def test_one_link_changes_the_decimal_sign_of_all_columns(opened, tmp_path):
    numbers = [f"{i % 9 + 1}.{i % 7}25" for i in range(60)]
    table = pd.DataFrame({"a": numbers, "b": numbers[::-1], "y": np.arange(60) % 7})
    table.to_csv(tmp_path / "german.csv", sep=";", index=False)
    page = opened(DataPlan(str(tmp_path / "german.csv"), target="y"))
    together = page.readings.buttons[0]
    assert together.text() == "Read all 2 columns with a decimal point"
    assert "“a”, “b”" in together.accessibleDescription()
    together.click()
    assert last_asked(page).readings == {"a": "point", "b": "point"}


def test_a_reading_replaces_a_kind_and_a_kind_a_reading(opened, orders):
    data = DataPlan(orders.file, kinds={"country": "category", "size": "category"})
    page = opened(data)
    [link] = [link for link in page.readings.buttons if "missing" in link.text()]
    link.click()
    assert last_asked(page).kinds == {"size": "category"}
    page.menus.set_kinds(["country"], "text")
    assert last_asked(page).readings == {}
    assert last_asked(page).kinds == {"size": "category", "country": "text"}


def test_links_are_named_and_the_card_says_what_the_model_is_given(opened, orders):
    page = opened(orders)
    for link in page.readings.buttons:
        assert link.accessibleName() == link.text()
        assert link.accessibleDescription().startswith(("country: “NA”", "weight: “"))
        assert link.focusPolicy() & Qt.FocusPolicy.TabFocus
    said = [label.text() for label in page.readings.findChildren(type(page.readings._caption))]
    assert any(text.startswith("For the model: 25 % missing: the median 3") for text in said)


@pytest.mark.parametrize("is_counted", [True, False])
def test_cells_that_do_not_come_back_are_counted_with_a_link_to_keep_them(
    opened, tmp_path, is_counted
):
    versions = ["1.10" if row % 3 == 0 else f"{row % 7}.5" for row in range(60)]
    prices = [f"${row % 9 + 1},200.00" for row in range(60)]
    table = pd.DataFrame({"version": versions, "price": prices, "y": np.arange(60)})
    table.to_csv(tmp_path / "table.csv", index=False)
    page = opened(DataPlan(str(tmp_path / "table.csv"), target="y"), 2**22 * is_counted)
    said = [label.text() for label in page.readings.findChildren(type(page.readings._caption))]
    texts = [button.text() for button in page.readings.buttons]
    assert texts == ["Read it as text"] * (1 + is_counted)  # one for the price
    if not is_counted:
        assert "Some of its cells are written otherwise than they are read." in said
        return
    assert "20 cells are written otherwise than read: “1.10” is 1.1." in said
    assert "60 cells are written otherwise than read: “$1,200.00” is 1200." in said
    page.readings.buttons[1].click()
    assert last_asked(page).readings == {"version": "text"}


def test_without_anything_to_say_there_is_no_card(opened, tmp_path):
    path = tmp_path / "plain.csv"
    random = np.random.default_rng(0)
    pd.DataFrame({"a": random.normal(size=60), "y": random.normal(size=60)}).to_csv(
        path, index=False
    )
    page = opened(DataPlan(str(path)))
    assert not page.readings.isVisible()
    assert not any(pair.isVisible() for pair in page.findChildren(SideBySide))


def test_cards_are_beside_each_other_where_there_is_room(opened, orders, qtbot):
    page = opened(DataPlan(orders.file, roles={"size": "ignore"}))
    page.findings.setVisible(True)
    for width, beside in ((1500, True), (800, False)):
        page.resize(width, 900)
        qtbot.waitUntil(
            lambda beside=beside: (page.readings.y() == page.findings.y()) == beside, timeout=2000
        )


def test_the_table_says_units_and_what_is_missing(opened, orders):
    preview = opened(orders).table.preview
    at = {name: index for index, name in enumerate(preview.names)}
    cell = lambda row, name: preview.index(row, at[name]).data()  # noqa: E731
    assert cell(0, "weight") == "number, kg"
    assert cell(1, "rating") == MISSING
    assert cell(2, "rating") == "4"
    assert preview.is_missing(1, at["rating"])
    assert not preview.is_missing(1, at["weight"])
    spoken = preview.index(1, at["rating"]).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "rating: missing"


def test_a_missing_cell_is_painted_as_a_badge(opened, orders, qtbot):
    page = opened(orders)
    table = page.table
    at = table.preview.names.index("rating")
    rects = [table.visualRect(table.preview.index(row, at)) for row in (1, 3)]
    with qtbot.waitExposed(page):
        page.show()
    picture = table.viewport().grab().toImage()
    scale = picture.devicePixelRatio()

    def colours(rect):
        points = (
            (x, y) for x in range(rect.left(), rect.left() + 60) for y in (rect.center().y(),)
        )
        return {picture.pixel(int(x * scale), int(y * scale)) for x, y in points}

    assert len(colours(rects[0])) > 1  # both rows have the same ground
    assert colours(rects[0]) != colours(rects[1])


def test_the_menu_offers_the_readings_of_its_column(opened, orders):
    page = opened(DataPlan(orders.file, readings={"weight": "text"}))
    country = {action.text(): action for action in page.menu_for("country").actions()}
    country["Read it as missing"].trigger()
    assert last_asked(page).readings == {"weight": "text", "country": "missing"}
    weight = {action.text(): action for action in page.menu_for("weight").actions()}
    weight["Read it as at first"].trigger()
    assert last_asked(page).readings == {"country": "missing"}
    assert "Its cells" not in {action.text() for action in page.menu_for("size").actions()}


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


def test_each_proposal_has_a_button_that_asks_for_it(opened, visits):
    page = opened(visits)
    words = [button.text() for button in page.findings.buttons]
    assert words == ["Keep the rows of one patient together", "Test on the latest rows"]
    page.findings.buttons[0].click()
    assert page.session.worker.asked[-1].data.roles == {"patient": "group"}
    page.findings.buttons[1].click()
    assert page.session.worker.asked[-1].data.latest == "seen"


def test_what_was_taken_can_be_undone(opened, visits):
    data = DataPlan(visits.file, roles={"patient": "group"}, latest="seen")
    page = opened(data)
    assert len(page.findings.buttons) == 2
    for button in page.findings.buttons:
        button.click()
    [group, latest] = [asked.data for asked in page.session.worker.asked[-2:]]
    assert group.roles == {"patient": "ignore"}
    assert latest.latest == ""
    assert latest.roles == {"patient": "ignore"}  # the change that is still being read stays


def test_equal_rows_of_a_run_of_before_are_offered_to_stay_together(opened):
    page = opened(DataPlan("sample:iris", together=False))
    [button] = page.findings.buttons
    assert button.text() == "Keep equal rows together"
    button.click()
    assert page.session.worker.asked[-1].data == DataPlan("sample:iris", together=True)


def test_without_proposals_there_is_no_card(opened):
    page = opened(DataPlan("sample:iris"))
    assert not page.findings.isVisible()
    assert any("2 of 150 rows equal" in sentence for sentence in page.words[1])


def test_a_column_of_dates_that_becomes_the_target_no_longer_divides(opened, visits):
    page = opened(DataPlan(visits.file, latest="seen"))
    page.question.choose_target("seen")
    assert page.session.worker.asked[-1].data.latest == ""
