"""Where trials run, in the settings: what is chosen is remembered and goes with the next run."""

from __future__ import annotations

from app.dialogs.settings_dialog import ExecutionSettings
from app.preferences import preferences
from app.session.session import chosen_cluster
from app.worker.engine import check_cluster
from app.worker.messages import Cluster, ClusterChecked


def test_trials_run_here_unless_something_else_was_chosen(qtbot):
    where = ExecutionSettings()
    qtbot.addWidget(where)
    assert chosen_cluster() is None
    assert where.scheduler.isHidden()
    assert "nothing is sent" in where.hint.text()
    where.box.setCurrentIndex(where.box.findData(preferences.LOCAL))
    assert chosen_cluster() == Cluster("local")
    assert where.scheduler.isHidden()


def test_a_scheduler_and_its_certificates(qtbot):
    where = ExecutionSettings()
    qtbot.addWidget(where)
    where.box.setCurrentIndex(where.box.findData(preferences.SCHEDULER))
    assert not where.scheduler.isHidden()
    assert "training rows are sent" in where.hint.text()
    for name, text in zip(
        preferences.CLUSTER_FIELDS, (" tls://n:1 ", "a.pem", "b.pem", "c.pem"), strict=True
    ):
        where.fields[name].setText(text)
        where.fields[name].textEdited.emit(text)
    assert chosen_cluster() == Cluster("tls://n:1", "a.pem", "b.pem", "c.pem")
    again = ExecutionSettings()
    qtbot.addWidget(again)
    assert again.fields["address"].text() == "tls://n:1"


def test_an_answer_is_waited_for_and_shown(qtbot):
    where = ExecutionSettings()
    qtbot.addWidget(where)
    where.box.setCurrentIndex(where.box.findData(preferences.LOCAL))
    with qtbot.waitSignal(where.attempt_wanted):
        where.button.click()
    assert where.answer.text() == "Waiting for an answer …"
    where.show_answer(ClusterChecked("It answers.", "Nothing protects it."))
    assert where.answer.text() == "It answers. Nothing protects it."


def test_an_address_that_is_none_is_one_sentence():
    found = check_cluster(Cluster("nowhere"))
    assert not found.fine
    assert found.sentence.startswith("option cluster: “nowhere” is no address")
