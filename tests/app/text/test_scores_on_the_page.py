"""The results page says one score in one way, and lists the members of an average."""

from __future__ import annotations

import dataclasses
import re

import pytest
from PySide6.QtWidgets import QAbstractItemView, QLabel, QWidget

from app.pages.results_page import WHY, ResultsPage
from core.json_reading import read_as
from core.space import Axis
from core.tuning.events import DatasetFacts, RunFinished, RunStarted
from core.tuning.results.result_facts import fact_sentences
from core.tuning.run_results import Results
from core.tuning.scores.score import score_text

SPACE = [Axis("C", "Cost", "float", 0.1, 10.0, log=True)]
NUMBER = re.compile(r"\d+\.\d{2,}|\d+\.\d(?=\u00a0%)")
NEAR = 0.0015  # of a score: a number so near to it is meant to be that score


def classified(**changes):
    def gain(metric, difference):
        return {"metric": metric, "difference": difference, "low": 0.0211, "high": 0.0733,
                "real": True, "method": "exact McNemar", "p": 0.021}  # fmt: skip

    made = {
        "setting": {"C": 2.0}, "default_setting": {"C": 1.0}, "metric": "accuracy",
        "validation": {"accuracy": 0.88886},
        "validation_interval": [0.8512, 0.9164],
        "test": {"accuracy": 0.67164, "auc": 0.73257, "log_loss": 0.4127},
        "default_test": {"accuracy": 0.62437, "auc": 0.70192, "log_loss": 0.4763},
        "baseline": "the most frequent class",
        "baseline_test": {"accuracy": 0.53731, "auc": 0.5, "log_loss": 0.6931},
        "test_interval": [0.6113, 0.7264], "default_interval": [0.5635, 0.6821],
        "baseline_interval": [0.4782, 0.5971],
        "gain": gain("accuracy", 0.04727), "gain_over_baseline": gain("accuracy", 0.13433),
        "rows": 201, "right": {"tuned": 135, "default": 126, "baseline": 108, "rows": 201},
        "confusion": {"labels": ["no", "yes"], "tuned": [[80, 28], [38, 55]],
                      "default": [[75, 33], [42, 51]], "baseline": [[108, 0], [93, 0]]},
        "calibration": {"predicted": [0.2, 0.8], "observed": [0.3, 0.7], "counts": [100, 101]},
        "optimism": 0.21722, "optimism_error": 0.03, "fits": 200, "trials": 40, "seconds": 100.0,
        "stopped_because": "the budget was spent",
    }  # fmt: skip
    return read_as(Results, {**made, **changes})


def averaged(count):
    return classified(
        metric="log_loss", maximize=False, validation={}, validation_interval=None,
        ensemble={
            "members": [7 + n for n in range(count)], "weights": [1 / count] * count,
            "scores": [0.09 + 0.001 * n for n in range(count)],
            "settings": [{"C": 2.0 + n} for n in range(count)], "kind": "uniform",
        },
    )  # fmt: skip


def started(metric="accuracy"):
    plan = {"strategy": "gp", "model": "svm", "folds": 5}
    facts = DatasetFacts(test_rows=201)
    return RunStarted(plan=plan, space=SPACE, dataset=facts, metric=metric)


@pytest.fixture
def shown_page(still, qtbot):
    page = ResultsPage(still)
    qtbot.addWidget(page)
    page.resize(900, 700)
    page.show()

    def show(results):
        run = started(results.metric)
        still._show_run([run, RunFinished(because="done", results=results)], None)
        return page

    return show


def texts_of(page: QWidget):
    """Every text that a person or a screen reader meets on the page."""
    for widget in page.findChildren(QWidget):
        yield from (widget.accessibleName(), widget.accessibleDescription(), widget.toolTip())
        if isinstance(widget, QLabel):
            yield widget.text()
        if isinstance(widget, QAbstractItemView) and (model := widget.model()) is not None:
            for row in range(model.rowCount()):
                for column in range(model.columnCount()):
                    yield str(model.index(row, column).data() or "")


def test_no_two_numbers_of_one_score_disagree(shown_page):
    results = classified()
    page = shown_page(results)
    texts = [*texts_of(page), *fact_sentences(results, started())]
    of_models = (results.test, results.default_test, results.baseline_test, results.validation)
    scores = [(metric, value) for scores in of_models for metric, value in scores.items()]
    met = set()
    for text in texts:
        for match in NUMBER.finditer(text):
            is_share = text[match.end() :].startswith("\u00a0%")
            value = float(match.group()) / (100 if is_share else 1)
            said = f"{match.group()}{chr(0xA0) + '%' if is_share else ''}"
            near = [score for score in scores if abs(score[1] - value) < NEAR]
            if near:
                assert said in {score_text(value, metric) for metric, value in near}, text
                met |= {metric for metric, _ in near}
    assert met == {"accuracy", "auc", "log_loss"}


def test_the_page_lists_the_members_instead_of_one_setting(shown_page):
    page = shown_page(averaged(4))
    page.show_tab(WHY)
    shown = [card.accessibleName() for card in page._cards if card.isVisible()]
    assert "The average of 4 models" in shown
    assert "What did tuning change?" not in shown
    model = page.members.table.model()
    cells = [[model.index(row, column).data() for column in range(4)]
             for row in range(model.rowCount())]  # fmt: skip
    assert cells[0] == ["7", "25\u00a0%", "0.0900", "2"]
    assert cells[3] == ["10", "25\u00a0%", "0.0930", "5"]
    assert cells[4] == ["default", "–", "–", "1"]
    shares = dataclasses.replace(averaged(4), metric="accuracy")
    model = shown_page(shares).members.table.model()
    assert [model.index(row, 2).data() for row in (0, 3)] == ["9.0\u00a0%", "9.3\u00a0%"]
    page = shown_page(averaged(1))
    shown = [card.accessibleName() for card in page._cards if card.isVisible()]
    assert "What did tuning change?" in shown
