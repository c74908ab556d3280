"""The data page with texts: what it offers, what it shows, and how a person gets there."""

from __future__ import annotations

import csv

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QPushButton

from app.dialogs.target_dialog import TargetDialog
from app.pages.data.data_page import DataPage
from app.window.window import Window
from app.window.window_sides import step_states
from app.worker.messages import InputRefused, Message, OpenData, Opened
from core.datasets.finding import UnusableTargetError
from core.datasets.raw_table import DataOptions
from core.datasets.reading import read_dataset
from core.datasets.samples import SAMPLES
from core.datasets.summary import summarize
from core.tuning.guidance.advice import advise
from core.tuning.plan import DataPlan
from core.tuning.problem_setup import read_data


@pytest.fixture
def page_of(still, qtbot):
    """Makes the page of data that are understood as a plan says."""

    def make(file, **fields):
        data = DataPlan(file=str(file), **fields)
        still.open_file(data.file)
        dataset = read_data(data)
        summary = summarize(dataset)
        opened = Opened(data, summary, advise(summary))
        still.worker.arrived.emit([Message(still._requests.last, opened)])
        page = DataPage(still)
        qtbot.addWidget(page)
        page.resize(800, 900)
        page.show()
        return page

    return make


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


def last_read(page):
    return [what for what in page.session.worker.asked if isinstance(what, OpenData)][-1].data


def test_texts_are_counted_and_their_words_shown(page_of, assert_accessible):
    page = page_of("sample:texts")
    assert (
        page._subtitle.text()
        == "400 texts of 45 words on average · 227 different words · the topics of “text”"
    )
    assert page.question.target.currentText() == "Find the topics of the texts in “text”"
    assert page.question._task_part.isHidden()
    assert page.question._test_words.text() == "120 of 400 texts"
    assert page.documents.isVisible()
    assert not page.board.isVisible()
    said = page.documents.words.accessibleDescription()
    assert said.startswith("morning 464, began 436, people 390")
    assert len(said.split(", ")) == 30
    model = page.table.preview
    assert [model.index(0, at).data() for at in range(2)] == ["text", "left out"]
    assert any(sentence.startswith("120 texts are the test set") for sentence in page.words[1])
    assert step_states(page.session)["data"].chosen == "texts · 400 texts"
    assert_accessible(page)


def test_the_words_have_the_height_that_their_columns_need(page_of, qtbot):
    page = page_of("sample:texts")
    heights = []
    for width in (500, 800, 1500):
        page.resize(width, 900)
        qtbot.wait(20)
        heights.append(page.documents.words.height() // page.documents.words._row_height())
    assert heights == sorted(heights, reverse=True)
    assert heights[0] > heights[2] == 5  # thirty words in six columns


def test_a_table_with_texts_offers_their_topics(page_of, posts):
    page = page_of(posts, target="number")
    assert wishes(page) == [
        *(f"Predict “{name}”" for name in ("title", "body", "mark", "number")),
        "Find the topics of the texts in “title”",
        "Find the topics of the texts in “body”",
    ]
    assert page.question.target.currentText() == "Predict “number”"
    assert not page.documents.isVisible()
    page.question.target.setCurrentIndex(5)
    assert (last_read(page).task, last_read(page).target) == ("topics", "body")


def test_from_topics_back_to_a_prediction_or_to_other_texts(page_of, posts):
    page = page_of(posts, task="topics", target="body")
    page.question.target.setCurrentIndex(wishes(page).index("Predict “mark”"))
    assert (last_read(page).task, last_read(page).target) == ("", "mark")
    page.question.target.setCurrentIndex(4)
    assert (last_read(page).task, last_read(page).target) == ("topics", "title")


def test_the_menu_of_a_column(page_of, posts):
    page = page_of(posts, task="topics", target="body")

    def entries(column):
        words = [a.text() for a in page.menu_for(column).actions() if a.isCheckable()]
        ticked = [a.text() for a in page.menu_for(column).actions() if a.isChecked()]
        return words, ticked

    words, ticked = entries("body")
    assert ticked == ["Find the topics of its texts"]
    assert "Use it to predict" not in words
    words, ticked = entries("mark")
    assert ticked == ["Leave it out"]
    assert words[0] == "Predict this column"
    assert "Find the topics of its texts" not in words
    asked = len(page.session.worker.asked)
    refused = []
    page.session.problem.connect(refused.append)
    page._set_role("body", "ignore")
    assert len(page.session.worker.asked) == asked
    assert refused == ["The topics of “body” are looked for. Choose what else first."]
    page._set_role("title", "feature")
    assert last_read(page).target == "title"
    page._set_role("number", "group")
    assert last_read(page).roles == {"number": "group"}


def test_counts_of_a_sparse_file_may_be_words(page_of, tmp_path):
    lines = (f"{i % 2} {1 + i % 5}:2 {6 + i % 3}:1\n" for i in range(200))
    (tmp_path / "words.libsvm").write_text("".join(lines))
    page = page_of(tmp_path / "words.libsvm")
    assert wishes(page) == ["Predict “target”", "Find topics: the numbers are counts of words"]
    page.question.target.setCurrentIndex(1)
    assert (last_read(page).task, last_read(page).target) == ("topics", "")
    again = page_of(tmp_path / "words.libsvm", task="topics")
    assert again.question.target.currentIndex() == 1
    assert (
        again._subtitle.text()
        == "200 texts of 3 words on average · 8 different words · their topics"
    )
    (tmp_path / "shares.libsvm").write_text("1 1:0.5\n0 2:0.25\n" * 20)
    assert wishes(page_of(tmp_path / "shares.libsvm")) == ["Predict “target”"]


def test_too_few_texts_leave_no_model(page_of, posts, tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("".join(posts.read_text().splitlines(keepends=True)[:60]))
    page = page_of(few, task="topics")
    assert page.session.plan is None
    assert not page.primary.isEnabled()
    assert step_states(page.session)["strategy"].locked == "No model fits these data yet."


def test_where_texts_and_all_else_are_left_out_topics_are_offered(look, qtbot, still, posts):
    roles = dict.fromkeys(("number", "body", "title"), "ignore")
    with pytest.raises(UnusableTargetError) as caught:
        read_dataset(str(posts), DataOptions(target="mark", roles=roles))
    error = caught.value
    assert error.texts == ("body", "title")
    assert error.cure.endswith("or choose topics as the task")
    window = Window(still)
    qtbot.addWidget(window)
    window.show()
    still.open_file(posts)
    refusal = InputRefused(error.sentence, error.columns, error.texts)
    still.worker.arrived.emit([Message(still._requests.last, refusal)])

    def take():
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, TargetDialog)
        words = [dialog.columns.item(row).text() for row in range(dialog.columns.count())]
        assert words[0] == "Find the topics of the texts in “body”"
        assert (dialog.chosen_column, dialog.task) == ("body", "topics")
        dialog.open_button.click()

    QTimer.singleShot(50, take)
    buttons = {b.accessibleName(): b for b in window.notice.findChildren(QPushButton)}
    buttons["Choose what to do"].click()
    opened = [what for what in still.worker.asked if isinstance(what, OpenData)][-1].data
    assert (opened.task, opened.target) == ("topics", "body")


def test_stop_words_and_the_size_of_the_vocabulary_can_be_chosen(page_of):
    page = page_of("sample:texts")
    card = page.documents
    assert card.stop_words.currentText() == "Detected from the texts"
    assert card.vocabulary.value() == 1000
    assert card.accessibleName() == card._title.text() == "Words that count"
    assert "the stop words of English" in card._caption.text()
    card.stop_words.setCurrentIndex(card.stop_words.findData("de"))
    assert last_read(page).stop_words == "de"
    card.vocabulary.setValue(300)
    assert last_read(page).vocabulary == 300
    chosen = page_of("sample:texts", stop_words="none", vocabulary=300)
    assert chosen.documents.stop_words.currentText() == "None are left out"
    assert "The 300 most frequent of three or more letters; not those in nearly" in (
        chosen.documents._caption.text()
    )
