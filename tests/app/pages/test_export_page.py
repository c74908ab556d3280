"""The Export page: its cards, the model that is chosen, and what is saved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QLabel

from app.pages import export_page
from app.pages.export_page import ExportPage
from app.session.shown_run import ShownRun
from app.worker.messages import ExportFormat
from core.datasets.dataset_summary import DatasetSummary
from core.datasets.task import Task
from core.tuning.events import DatasetFacts, RunFinished, RunStarted, TrialFinished
from core.tuning.run_results import EnsembleResults, Results


def finished(opened, qtbot):
    opened.set_plan(trials=2)
    opened.start()
    qtbot.waitUntil(lambda: opened.state == "finished", timeout=30_000)


@pytest.fixture
def page(still, qtbot):
    """The page before a run has ended, with two kinds of files."""
    still.exporters = [offer("json"), offer("report", of_run=True)]
    made = ExportPage(still)
    qtbot.addWidget(made)
    return made


def test_before_a_run_has_ended_nothing_can_be_saved_and_the_page_says_why(page):
    card = page.cards["json"]
    assert not card.save_button.isEnabled()
    assert "step 4" in card.save_button.toolTip()
    assert page.chooser.isHidden()
    assert page.chooser.model_name == "tuned"
    assert page.without_data.isHidden()


def test_saving_confirms_the_path_and_opens_its_folder(opened, qtbot, tmp_path, monkeypatch):
    page = ExportPage(opened)
    qtbot.addWidget(page)
    page.show()
    finished(opened, qtbot)
    where = tmp_path / "my numbers"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(where), ""))
    card = page.cards["json"]
    with qtbot.waitSignal(opened.exported, timeout=20_000):
        card.save_button.click()
    assert where.with_suffix(".json").read_text() == "json"
    assert card._saved.isVisible()
    assert card._saved.text().endswith("my numbers.json")
    opened_urls = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened_urls.append)
    card.folder_button.click()
    assert opened_urls[0].toLocalFile() == str(tmp_path)


def test_several_files_saved_at_once_are_each_confirmed(opened, qtbot, tmp_path):
    finished(opened, qtbot)
    done = []
    opened.exported.connect(done.append)
    paths = [str(tmp_path / f"{name}.json") for name in ("one", "two", "three")]
    for path in paths:
        opened.export_model("json", path)
    qtbot.waitUntil(lambda: len(done) == 3, timeout=20_000)
    assert done == paths


def test_a_confirmation_stands_on_the_card_of_its_file(page, tmp_path):
    page._saving = {tmp_path / "a.json": "json"}
    page.session.exported.emit(str(tmp_path / "another.skops"))
    assert page.cards["json"]._path is None
    page.session.exported.emit(str(tmp_path / "a.json"))
    assert page.cards["json"]._path == tmp_path / "a.json"


def test_a_place_that_cannot_be_written_leaves_no_confirmation(
    opened, qtbot, tmp_path, monkeypatch
):
    page = ExportPage(opened)
    qtbot.addWidget(page)
    page.show()
    finished(opened, qtbot)
    nowhere = tmp_path / "no" / "such" / "folder.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(nowhere), ""))
    with qtbot.waitSignal(opened.problem, timeout=20_000):
        page.cards["json"].save_button.click()
    assert not page.cards["json"]._saved.isVisible()


def offer(name, form="table", warning="", of_run=False):
    """A format as the worker tells of it."""
    return ExportFormat(
        name, f"{name} for {form}", "For.", f".{name}", form, warning=warning, of_run=of_run
    )


def test_a_warning_is_part_of_the_card(still, qtbot):
    warned = offer("joblib", warning="Open only files from people you trust.")
    still.exporters = [warned]
    page = ExportPage(still)
    qtbot.addWidget(page)
    texts = [label.text() for label in page.cards["joblib"].findChildren(QLabel)]
    assert warned.warning in texts


def test_a_study_is_saved_as_the_kind_of_file_that_was_chosen(ended, tmp_path, monkeypatch):
    """A file that is there is joined, so that nobody is asked whether to replace it."""
    page, sent = ended
    kinds = {".db": "SQLite file", ".log": "Journal"}
    study = replace(offer("optuna", of_run=True), ending=".db", endings=kinds, joins=True)
    page.session.exporters = [offer("json"), study]
    page.session.exporters_changed.emit()
    asked = []

    def ask(_page, _title, proposed, filters, options):
        asked.append((Path(proposed).suffix, filters, options))
        return str(tmp_path / "study"), filters.split(";;")[-1]

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    page.cards["optuna"].save_button.click()
    page.cards["json"].save_button.click()
    assert asked[0][0] == ".db"
    assert asked[0][1] == "SQLite file (*.db);;Journal (*.log)"
    assert asked[0][2] == QFileDialog.Option.DontConfirmOverwrite
    assert asked[1][2] == QFileDialog.Option(0)
    assert [given[:3] for given in sent] == [
        ("optuna", str(tmp_path / "study.log"), "tuned"),
        ("json", str(tmp_path / "study.json"), "tuned"),
    ]


def test_the_cards_are_those_that_fit_the_task_of_the_run(still, qtbot):
    still.exporters = [
        offer("skops"), offer("npz", "sequence"), offer("json"), offer("json", "sequence"),
    ]  # fmt: skip
    page = ExportPage(still)
    qtbot.addWidget(page)
    assert [card.exporter.title for card in page.cards.values()] == [
        "skops for table", "json for table",
    ]  # fmt: skip
    still.summary = DatasetSummary("tags.csv", "csv", 9, 1, Task.SEQUENCE, "tag")
    still.data_changed.emit()
    titles = ["npz for sequence", "json for sequence"]
    assert [card.exporter.title for card in page.cards.values()] == titles
    assert not page.cards["npz"].save_button.isEnabled()
    before = dict(page.cards)
    still.run_changed.emit()
    assert page.cards == before  # what was saved stays to be read
    still.events.append(RunStarted(dataset=DatasetFacts(task=Task.BINARY)))
    still.run_changed.emit()
    assert list(page.cards) == ["skops", "json"]


def test_models_that_leave_as_folders_have_cards_of_their_own(still, qtbot):
    still.exporters = [
        offer("skops"), offer("folder", "classes"), offer("json"), offer("json", "classes"),
    ]  # fmt: skip
    page = ExportPage(still)
    qtbot.addWidget(page)
    for model, cards in (("dlgm", ["folder", "json"]), ("svm", ["skops", "json"])):
        still.events[:] = [
            RunStarted(dataset=DatasetFacts(task=Task.BINARY), plan={"model": model})
        ]
        still.run_changed.emit()
        assert list(page.cards) == cards
        said = " ".join(page._advice_sentences())
        assert ("unpack it" in said) == (model == "dlgm")


def test_an_average_is_said_to_be_one_model(still, qtbot, monkeypatch):
    page = ExportPage(still)
    qtbot.addWidget(page)
    monkeypatch.setattr(
        type(still), "results", Results(ensemble=EnsembleResults([3, 1])), raising=False
    )
    still.events[:] = [RunStarted(dataset=DatasetFacts(task=Task.BINARY), plan={"model": "svm"})]
    assert (
        "The average of 2 models is one model in each of these files." in page._advice_sentences()
    )


ENDED = [
    RunStarted(dataset=DatasetFacts(task=Task.BINARY), plan={"model": "svm"}, metric="accuracy"),
    TrialFinished(number=0, setting={"C": 1.0}, score=0.8),
    TrialFinished(number=1, setting={"C": 30.0}, score=0.9),
    RunFinished(
        results=Results(
            metric="accuracy",
            setting={"C": 30.0},
            default_setting={"C": 1.0},
            validation={"accuracy": 0.9},
            test={"accuracy": 0.7},
            default_test={"accuracy": 0.75},
            baseline_test={"accuracy": 0.5},
        )
    ),
]


@pytest.fixture
def ended(still, qtbot, monkeypatch, tmp_path):
    """The page beside a run that ended, and what it asks to be saved."""
    still.exporters = [offer("skops"), replace(offer("report", of_run=True), ending=".html")]
    page = ExportPage(still)
    qtbot.addWidget(page)
    page.show()
    still.shown = ShownRun(ENDED, None)
    monkeypatch.setattr(type(still), "results", ENDED[-1].results, raising=False)
    still.run_changed.emit()
    asked = []
    monkeypatch.setattr(still, "export_model", lambda *given: asked.append(given))
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *given, **_: asked.append(given[2]) or ("", "")
    )
    return page, asked


def test_the_default_the_baseline_and_trials_can_be_chosen(ended):
    page, _ = ended
    box = page.chooser.box
    assert page.chooser.isVisible()
    assert [box.itemText(at) for at in range(box.count())] == [
        "The tuned model · accuracy 70.0\u00a0% in the test",
        "The default setting · accuracy 75.0\u00a0% in the test",
        "The baseline · accuracy 50.0\u00a0% in the test",
        "Trial 1 · accuracy 90.0\u00a0% in validation",
        "Trial 0 · accuracy 80.0\u00a0% in validation",
    ]
    box.setCurrentIndex(3)
    assert "The test set has not judged it." in page.chooser._about.text()
    assert "C = 30" in page.chooser._about.text()


def test_of_very_many_trials_the_best_are_listed_and_the_rest_named(ended, monkeypatch):
    page, _ = ended
    monkeypatch.setattr(export_page, "MAX_TRIALS", 1)
    page.chooser.show_choices(page.session.shown.state)
    box = page.chooser.box
    trials = [box.itemText(at) for at in range(box.count()) if "Trial" in box.itemText(at)]
    assert trials == ["Trial 1 · accuracy 90.0\u00a0% in validation"]
    assert "the best 1 of 2 trials" in page.chooser._about.text()


def test_an_average_is_not_described_by_the_setting_of_one_member(still, qtbot, monkeypatch):
    page = ExportPage(still)
    qtbot.addWidget(page)
    results = replace(ENDED[-1].results, ensemble=EnsembleResults([0, 1], [0.5, 0.5]))
    monkeypatch.setattr(type(still), "results", results, raising=False)
    still.shown = ShownRun([*ENDED[:-1], RunFinished(results=results)], None)
    still.run_changed.emit()
    assert "average of 2 models" in page.chooser.box.itemText(0)
    assert "C = " not in page.chooser._about.text()
    page.chooser.box.setCurrentIndex(1)
    assert "C = 1" in page.chooser._about.text()


def test_the_chosen_model_is_asked_for_and_the_report_stays_that_of_the_run(
    ended, tmp_path, monkeypatch
):
    page, asked = ended
    page.chooser.box.setCurrentIndex(1)
    page.save_as("skops")
    assert asked.pop().endswith("default.skops")
    for name, which in (("skops", "default"), ("report", "tuned")):
        path = str(tmp_path / name) + page.cards[name].exporter["ending"]
        monkeypatch.setattr(page, "_ask_path", lambda _, path=path: (path, ""))
        page.save_as(name)
        assert asked.pop() == (name, path, which, True)


def test_a_confirmation_goes_with_the_model_that_was_saved(ended, tmp_path):
    page, _ = ended
    page.cards["skops"].show_saved(tmp_path / "tuned.skops")
    page.chooser.box.setCurrentIndex(1)
    assert not page.cards["skops"]._saved.isVisible()
    assert page.chooser.model_name == "default"
    page.session.run_changed.emit()
    assert page.chooser.model_name == "default"


def test_a_dialog_that_was_cancelled_saves_nothing(ended, monkeypatch):
    page, asked = ended
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: ("", ""))
    page.primary.click()
    assert not page._saving
    assert asked == []


def test_the_tick_leaves_rows_and_examples_out(ended, tmp_path, monkeypatch):
    page, asked = ended
    assert not page.without_data.isHidden()
    where = str(tmp_path / "page.skops")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (where, ""))
    for tick in (False, True):
        page.without_data.setChecked(tick)
        page.cards["skops"].save_button.click()
    assert [given[3] for given in asked] == [True, False]
