"""The data page with sequences and with molecules."""

from __future__ import annotations

import pytest

from app.pages.data.data_page import DataPage
from app.pages.data.group_edits import MOTIFS
from app.worker.messages import Message, Opened
from core.datasets.reading import read_dataset
from core.datasets.summary import summarize
from core.tuning.guidance.advice import advise
from core.tuning.plan import DataPlan


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
