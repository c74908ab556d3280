"""“The best lies at the edge of its range”: where it is said, and what its button plans."""

from __future__ import annotations

import pytest

from app.pages.results_page import ResultsPage
from app.pages.shared_cards import RangeEdgeNotice
from app.pages.tune_page import TunePage
from app.session.shown_run import ShownRun
from core.space import Axis
from core.tuning.events import RunFinished, RunStarted, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.run_results import Results

C = Axis("C", "Cost of a wrong row", "float", 0.01, 1000, log=True, default=1.0)
GAMMA = Axis("gamma", "Reach of a row", "float", 0.001, 10, log=True, default=0.1)
PLAN = Plan(DataPlan("sample:clinic"), "svm", "random", trials=6, fixed={"shrinking": True})


def events(best, ended=True):
    yield RunStarted(plan=PLAN.as_dict(), total=6, space=[C, GAMMA])
    for n in range(6):
        last = n == 5
        setting = best if last else {"C": 1.0 + n, "gamma": 0.1}
        yield TrialFinished(number=n, setting=setting, score=0.9 if last else 0.5)
    if ended:
        yield RunFinished(because="done", results=Results())


def show(session, best, ended=True):
    session._replace_run(ShownRun(list(events(best, ended)), None))


@pytest.fixture
def line(with_data, qtbot):
    made = RangeEdgeNotice(with_data)
    qtbot.addWidget(made)
    return made


def said(line):
    line.show_run(line.session.shown.state)
    return line.words.text() if not line.isHidden() else ""


def test_it_names_the_setting_and_the_button_widens_its_range_in_the_plan(line):
    show(line.session, {"C": 1000.0, "gamma": 0.1})
    assert said(line) == "The best C lies at the edge of its range: widen it."
    assert line.button.text() == "Widen it"
    wanted = []
    line.widened.connect(lambda: wanted.append(True))
    line.button.click()
    plan = line.session.plan
    assert (plan.model, plan.strategy) == ("svm", "random")
    assert plan.ranges == {"C": [0.01, 50000.0]}
    assert plan.fixed == {"shrinking": True}
    assert wanted == [True]


def test_several_are_widened_together(line):
    show(line.session, {"C": 0.01, "gamma": 10.0})
    assert said(line).endswith("widen it. So does one other setting.")
    assert line.button.text() == "Widen them"
    line.button.click()
    assert set(line.session.plan.ranges) == {"C", "gamma"}
    assert line.session.plan.ranges["C"][0] < 0.01
    assert line.session.plan.ranges["gamma"][1] > 10


def test_nothing_is_said_in_the_middle_or_while_the_run_goes_on(line):
    show(line.session, {"C": 30.0, "gamma": 0.1})
    assert said(line) == ""
    show(line.session, {"C": 1000.0, "gamma": 0.1})
    line.session.state = "running"
    assert said(line) == ""


def test_a_click_before_the_data_are_open_again_is_no_crash(line):
    show(line.session, {"C": 1000.0, "gamma": 0.1})
    said(line)
    plan, other = line.session.plan, DataPlan("other.csv")
    for closed in (None, plan.changed(data=other)):
        line.session.plan = closed
        line.session.plan_changed.emit()
        assert not line.button.isEnabled()
        assert line.button.accessibleDescription() == "The data of this run are not open."
        line.session.widen_ranges({"C": (1.0, 2.0)})
        assert line.session.plan is closed
    line.session.plan = plan
    line.session.plan_changed.emit()
    assert line.button.isEnabled()


@pytest.mark.parametrize("kind", [TunePage, ResultsPage])
def test_both_pages_say_it_and_lead_to_the_strategy(with_data, qtbot, kind):
    page = kind(with_data)
    qtbot.addWidget(page)
    steps = []
    page.step_wanted.connect(steps.append)
    page.resize(900, 700)
    page.show()
    assert not page.edge_notice.isVisible()
    if kind is TunePage:
        show(with_data, {"C": 1000.0, "gamma": 0.1})
    else:
        with_data._replace_run(ShownRun(list(events({"C": 1000.0, "gamma": 0.1}, False)), None))
    assert page.edge_notice.isVisible()
    page.edge_notice.button.click()
    assert steps == ["strategy"]
    assert with_data.plan.ranges == {"C": [0.01, 50000.0]}
