"""The card that offers to divide rows otherwise, and what its buttons ask for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from app.pages.data.data_page import DataPage
from app.worker.messages import Message, Opened
from core.datasets.summary import summarize
from core.tuning.guidance.advice import advise
from core.tuning.plan import DataPlan
from core.tuning.problem import read_data


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


@pytest.fixture
def opened(still, qtbot):
    """Opens data in a session and gives its Data page."""

    def show(data: DataPlan) -> DataPage:
        summary = summarize(read_data(data))
        still.open_file(data.file)
        number = len(still.worker.asked)
        still.worker.arrived.emit([Message(number, Opened(data, summary, advise(summary)))])
        assert still.data == data
        page = DataPage(still)
        qtbot.addWidget(page)
        page.resize(900, 800)
        page.show()
        return page

    return show


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
