from __future__ import annotations

import pytest

from app.pages.results.results_page import ResultsPage
from app.text.results.average_result_text import average_sentences, members_of, tuned_model_text
from app.text.results.verdict import headline, result_sentences
from app.views.results.results_views import ScoreComparison
from core.json_reading import read_as
from core.space import Axis
from core.tuning.events import RunFinished, RunStarted
from core.tuning.payloads import DatasetFacts
from core.tuning.run_results import Results

SPACE = [Axis("C", "Cost", "float", 0.1, 10.0, log=True)]


def results(count=4, average=None, **changes):
    ensemble = {
        "members": [7 + n for n in range(count)], "weights": [1 / count] * count,
        "scores": [0.09 + 0.001 * n for n in range(count)],
        "settings": [{"C": 2.0 + n} for n in range(count)], "effective": float(count),
        "kind": "uniform", "finished": 10 * count, "single_held_out": {"log_loss": 0.11},
        "held_out": {"log_loss": 0.1},
        "left_out": [],
    }  # fmt: skip
    made = {
        "setting": {"C": 2.0}, "default_setting": {"C": 1.0}, "metric": "log_loss",
        "maximize": False, "groups": {}, "switched_off": [], "validation": {"log_loss": 0.092},
        "test": {"log_loss": 0.1, "accuracy": 0.97},
        "default_test": {"log_loss": 0.13, "accuracy": 0.95},
        "test_interval": [0.07, 0.14], "default_interval": [0.09, 0.18],
        "gain": {"metric": "log_loss", "difference": 0.03, "low": 0.01, "high": 0.06,
                 "real": True},
        "optimism": 0.008, "right": {"tuned": 166, "default": 162, "rows": 171}, "remarks": [],
        "confusion": None, "calibration": None, "fits": 200, "trials": 10 * count, "failed": 0,
        "seconds": 31.0, "stopped_because": "done", "seed": 0,
    }  # fmt: skip
    return read_as(Results, {**made, "ensemble": ensemble | (average or {}), **changes})


def run():
    plan = {"strategy": "eb-hyp", "model": "svm", "folds": 5}
    facts = DatasetFacts(test_rows=171)
    return RunStarted(plan=plan, space=SPACE, dataset=facts, metric="log_loss",
                      maximize=False, averages=True)  # fmt: skip


def test_the_average_stands_against_its_best_member_and_the_default():
    said = " ".join(result_sentences(results(), run()))
    assert "the average of 4 models is right on 166, the default setting on 162" in said
    assert "average of 4 models, each of which counts 25\u00a0%" in said
    assert "In validation its best member alone has log loss 0.11: averaging gains 0.01." in said


@pytest.mark.parametrize(
    ("single", "words"), [(0.09, "averaging costs 0.01 here"), (0.1, "changes nothing here")]
)
def test_an_average_that_does_not_help_says_so(single, words):
    made = results(average={"single_held_out": {"log_loss": single}})
    assert words in " ".join(average_sentences(made))


def test_an_average_that_was_taken_though_its_best_member_scored_better_says_why():
    made = results(average={"single_held_out": {"log_loss": 0.09}}, taken="average")
    said = " ".join(average_sentences(made))
    assert "log loss 0.09, 0.01 better. That is within chance" in said
    assert "costs" not in said


def test_weights_that_differ_are_said_as_a_range():
    made = results(average={"weights": [0.5, 0.3, 0.15, 0.05]})
    assert "which count between 5\u00a0% and 50\u00a0%" in average_sentences(made)[0]


def test_one_member_is_called_what_it_is():
    made = results(1)
    assert "from 20 trials on there are two" in average_sentences(made)[0]
    assert tuned_model_text(made) == "the tuned model"
    late = results(1, {"finished": 45})
    assert average_sentences(late) == ("The average has one member: it is the single best model.",)


def test_members_that_were_left_out_are_said():
    left_out = [{"number": 3, "reason": "Trial 3 is left out: it fails."}]
    made = results(average={"left_out": left_out})
    assert average_sentences(made)[-1] == "Trial 3 is left out: it fails."


def test_a_run_without_an_average_says_nothing_of_one():
    made = results(ensemble=None)
    assert average_sentences(made) == ()
    assert members_of(made) == 0
    assert "average" not in " ".join(result_sentences(made, run()))


def test_an_average_whose_best_member_is_the_default_is_more_than_the_default():
    made = results(setting={"C": 1.0})
    assert "default setting is the best" not in headline(made, 171)
    assert "default setting is the best" in headline(results(1, setting={"C": 1.0}), 171)


def test_the_page_lists_the_members_instead_of_one_setting(still, qtbot):
    page = ResultsPage(still)
    qtbot.addWidget(page)
    page.resize(900, 700)
    page.show()
    still._show_run([run(), RunFinished(because="done", results=results())], None)
    shown = [card.accessibleName() for card in page._cards if card.isVisible()]
    assert "The average of 4 models" in shown
    assert "What did tuning change?" not in shown
    model = page.members.table.model()
    cells = [[model.index(row, column).data() for column in range(4)]
             for row in range(model.rowCount())]  # fmt: skip
    assert "Score: log loss when it was tried." in page.members._caption.text()
    assert cells[0] == ["7", "25\u00a0%", "0.0900", "2"]
    assert cells[3] == ["10", "25\u00a0%", "0.0930", "5"]
    assert cells[4] == ["default", "–", "–", "1"]
    still._show_run([run(), RunFinished(because="done", results=results(1))], None)
    shown = [card.accessibleName() for card in page._cards if card.isVisible()]
    assert "What did tuning change?" in shown


def test_the_picture_has_no_test_score_of_a_member(qtbot):
    view = ScoreComparison()
    qtbot.addWidget(view)
    view.resize(480, 320)
    view.show_results(results())
    assert [who for who, *_ in view.entries()] == ["average of 4", "default setting"]
    assert "member" not in view.describe()
