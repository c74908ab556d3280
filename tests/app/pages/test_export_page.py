"""The Export page: its cards, the model that is chosen, and what is saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLabel

from app.pages import export_page
from app.pages.export_page import ExportPage
from app.widgets.buttons import LinkButton
from app.worker.messages import Export, Exported, ExportFormat, InputRefused
from core.datasets.dataset_summary import DatasetSummary
from core.datasets.task import Task
from core.export.exportable_models import exportable_model
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, TrialFinished
from core.tuning.run_results import EnsembleResults, EvaluationFacts, Results

RESULTS = Results(
    metric="accuracy",
    setting={"C": 30.0},
    default_setting={"C": 1.0},
    validation={"accuracy": 0.9},
    test={"accuracy": 0.7},
    default_test={"accuracy": 0.75},
    baseline_test={"accuracy": 0.5},
)
TRIED = [
    RunStarted(dataset=DatasetFacts(task=Task.BINARY), plan={"model": "svm"}, metric="accuracy"),
    TrialFinished(number=0, setting={"C": 1.0}, score=0.8),
    TrialFinished(number=1, setting={"C": 30.0}, score=0.9),
]


def offer(name, form="table", ending="", **fields):
    """A format as the worker tells of it."""
    title, ending = f"{name} for {form}", ending or f".{name}"
    return ExportFormat(name, title, "For.", ending, form, **fields)


@pytest.fixture
def page(still, show):
    """The page before a run has ended, with two kinds of files."""
    report = offer("report", ending=".html", of_run=True)
    still.exporters = [offer("skops", warning="Open only files of friends."), report]
    return show(ExportPage(still))


@pytest.fixture
def ended(page, tmp_path):
    """The page beside a run that ended, and its worker."""
    page.session._show_run([*TRIED, RunFinished(results=RESULTS)], tmp_path)
    return page, page.session.worker


@pytest.fixture
def choose_path(monkeypatch):
    """Gives the path that the next dialogs answer, and what they were asked with."""
    asked = []

    def answer(path):
        def ask(_page, _title, proposed, filters, options):
            asked.append((proposed, filters, options))
            return str(path), filters.split(";;")[-1]

        monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
        return asked

    return answer


def test_before_a_run_has_ended_nothing_can_be_saved_and_the_page_says_why(page):
    card = page.cards["skops"]
    assert not card.save_button.isEnabled()
    assert "step 4" in card.save_button.toolTip()
    assert card.exporter.warning in [label.text() for label in card.findChildren(QLabel)]
    assert page.chooser.isHidden()
    assert page.chooser.model_name == "tuned"
    assert page.without_data.isHidden()


def test_saving_confirms_the_path_on_its_card_and_opens_its_folder(
    ended, tmp_path, choose_path, monkeypatch
):
    page, worker = ended
    card, where = page.cards["skops"], tmp_path / "my numbers.skops"
    choose_path(where.with_suffix(""))
    card.save_button.click()
    page.session.exported.emit(str(tmp_path / "another.skops"))
    assert not card._saved.isVisible()
    worker.answer(Exported(str(where)), to=Export)
    assert card._saved.isVisible()
    assert card._saved.text().endswith("my numbers.skops")
    opened_urls = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened_urls.append)
    card.folder_button.click()
    assert opened_urls[0].toLocalFile() == str(tmp_path)
    # A confirmation goes with the model that was saved.
    page.chooser.box.setCurrentIndex(1)
    assert not card._saved.isVisible()
    page.session.run_changed.emit()
    assert page.chooser.model_name == "default"


def test_the_lines_use_the_run_until_another_model_is_saved(ended, tmp_path, choose_path):
    page, worker = ended
    command, python, window = [line.line for line in page.use_lines.lines]
    assert command.endswith(f"predict {tmp_path} new_rows.csv --out answers.csv")
    assert f"open_run({str(tmp_path)!r}).model.predict(rows)" in python
    assert window.endswith(str(tmp_path))
    page.use_lines.findChildren(LinkButton)[1].click()
    assert QGuiApplication.clipboard().text() == python
    page.chooser.box.setCurrentIndex(1)
    assert page.use_lines.isHidden()
    choose_path(tmp_path / "default.skops")
    page.cards["skops"].save_button.click()
    worker.answer(Exported(str(tmp_path / "default.skops")), to=Export)
    assert "predict " + str(tmp_path / "default.skops") in page.use_lines.lines[0].line


def test_a_place_that_cannot_be_written_leaves_no_confirmation(ended, tmp_path, choose_path, qtbot):
    page, worker = ended
    choose_path(tmp_path / "no" / "such" / "folder")
    page.cards["skops"].save_button.click()
    with qtbot.waitSignal(page.session.problem):
        worker.answer(InputRefused("It cannot be written."), to=Export)
    assert not page.cards["skops"]._saved.isVisible()


def test_a_dialog_that_was_cancelled_saves_nothing(ended, choose_path):
    page, worker = ended
    choose_path("")
    page.primary.click()
    assert not page._saving
    assert worker.all_of(Export) == []


def test_a_study_is_saved_as_the_kind_of_file_that_was_chosen(ended, tmp_path, choose_path):
    """A file that is there is joined, so that nobody is asked whether to replace it."""
    page, worker = ended
    kinds = {".db": "SQLite file", ".log": "Journal"}
    study = offer("optuna", ending=".db", of_run=True, endings=kinds, joins=True)
    page.session.exporters = [offer("json"), study]
    page.session.exporters_changed.emit()
    asked = choose_path(tmp_path / "study")
    for name in ("optuna", "json"):
        page.cards[name].save_button.click()
    assert Path(asked[0][0]).suffix == ".db"
    assert asked[0][1] == "SQLite file (*.db);;Journal (*.log)"
    options = [given[2] for given in asked]
    assert options == [QFileDialog.Option.DontConfirmOverwrite, QFileDialog.Option(0)]
    saved = [(export.format, Path(export.path).name) for export in worker.all_of(Export)]
    assert saved == [("optuna", "study.log"), ("json", "study.json")]


def test_the_chosen_model_is_asked_for_and_the_report_stays_that_of_the_run(
    ended, tmp_path, choose_path
):
    page, worker = ended
    page.chooser.box.setCurrentIndex(1)
    asked = choose_path(tmp_path / "saved")
    for name in ("skops", "report"):
        page.save_as(name)
    page.without_data.setChecked(True)
    page.save_as("report")
    assert asked[0][0].endswith("default.skops")
    assert worker.all_of(Export) == [
        Export(str(tmp_path), "skops", str(tmp_path / "saved.skops"), "default", True),
        Export(str(tmp_path), "report", str(tmp_path / "saved.html"), "tuned", True),
        Export(str(tmp_path), "report", str(tmp_path / "saved.html"), "tuned", False),
    ]


def test_the_cards_are_those_that_fit_the_task_of_the_run(page):
    still = page.session
    still.exporters = [
        offer("skops"), offer("npz", "sequence"), offer("json"), offer("json", "sequence"),
    ]  # fmt: skip
    still.exporters_changed.emit()
    assert [card.exporter.form for card in page.cards.values()] == ["table", "table"]
    still.summary = DatasetSummary("tags.csv", "csv", 9, 1, Task.SEQUENCE, "tag")
    still.data_changed.emit()
    assert list(page.cards) == ["npz", "json"]
    assert [card.exporter.form for card in page.cards.values()] == ["sequence", "sequence"]
    assert not page.cards["npz"].save_button.isEnabled()
    before = dict(page.cards)
    still.run_changed.emit()
    assert page.cards == before  # what was saved stays to be read
    still.events.append(RunStarted(dataset=DatasetFacts(task=Task.BINARY)))
    still.run_changed.emit()
    assert list(page.cards) == ["skops", "json"]


def test_models_that_leave_as_folders_have_cards_of_their_own(page):
    still = page.session
    still.exporters = [
        offer("skops"), offer("folder", "classes"), offer("json"), offer("json", "classes"),
    ]  # fmt: skip
    for model, cards in (("dlgm", ["folder", "json"]), ("svm", ["skops", "json"])):
        still._show_run([replace(TRIED[0], plan={"model": model})], None)
        assert list(page.cards) == cards
        said = " ".join(page._advice_sentences())
        assert ("unpack it" in said) == (model == "dlgm")


def choices(page):
    box = page.chooser.box
    return [box.itemText(at) for at in range(box.count())]


def test_the_default_the_baseline_and_trials_can_be_chosen(ended, monkeypatch):
    page, _ = ended
    assert page.chooser.isVisible()
    assert choices(page) == [
        "The tuned model · accuracy 70.0\u00a0% in the test",
        "The default setting · accuracy 75.0\u00a0% in the test",
        "The baseline · accuracy 50.0\u00a0% in the test",
        "Trial 1 · accuracy 90.0\u00a0% in validation",
        "Trial 0 · accuracy 80.0\u00a0% in validation",
    ]
    page.chooser.box.setCurrentIndex(3)
    assert "The test set has not judged it." in page.chooser._about.text()
    assert "C = 30" in page.chooser._about.text()
    # Of very many trials the best are listed and the rest named.
    monkeypatch.setattr(export_page, "MAX_TRIALS", 1)
    page.chooser.show_choices(page.session.shown.state)
    assert [choice[:7] for choice in choices(page)[3:]] == ["Trial 1"]
    assert "the best 1 of 2 trials" in page.chooser._about.text()


def test_a_default_setting_that_was_selected_is_called_so(ended):
    page, _ = ended
    chooser = page.chooser
    page.session._show_run([*TRIED, RunFinished(results=replace(RESULTS, taken="default"))], None)
    titles = [line.split(" · ")[0] for line in choices(page)]
    assert titles[:2] == ["The default setting", "The baseline"]
    assert chooser.model_name == "tuned"  # the run's model, whichever that is
    assert "tuning found" not in chooser._about.text()
    assert "C = 1." in chooser._about.text()
    assert exportable_model(page.session.shown.state, "default").title == titles[0]
    unproven = replace(RESULTS, taken="best", evaluation=EvaluationFacts("nested", 5, False))
    page.session._show_run([*TRIED, RunFinished(results=unproven)], None)
    assert "believe" not in chooser._about.text()


def test_an_average_is_not_described_by_the_setting_of_one_member(ended):
    page, _ = ended
    results = replace(RESULTS, ensemble=EnsembleResults([0, 1], [0.5, 0.5]))
    page.session._show_run([*TRIED, RunFinished(results=results)], None)
    assert "average of 2 models" in choices(page)[0]
    assert any("The average of 2 models is one" in said for said in page._advice_sentences())
    assert "C = " not in page.chooser._about.text()
    page.chooser.box.setCurrentIndex(1)
    assert "C = 1" in page.chooser._about.text()
