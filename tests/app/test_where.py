"""Where trials run, in the settings: what is chosen is remembered and goes with the next run."""

from __future__ import annotations

from app.dialogs.where import Where
from app.preferences import cluster
from app.session.session import chosen_cluster
from app.worker.cluster import tried
from app.worker.messages import Cluster, ClusterTried


def test_trials_run_here_unless_something_else_was_chosen(qtbot):
    where = Where()
    qtbot.addWidget(where)
    assert chosen_cluster() is None
    assert where.scheduler.isHidden()
    assert "nothing is sent" in where.hint.text()
    where.box.setCurrentIndex(where.box.findData(cluster.LOCAL))
    assert chosen_cluster() == Cluster("local")
    assert where.scheduler.isHidden()


def test_a_scheduler_and_its_certificates(qtbot):
    where = Where()
    qtbot.addWidget(where)
    where.box.setCurrentIndex(where.box.findData(cluster.SCHEDULER))
    assert not where.scheduler.isHidden()
    assert "training rows are sent" in where.hint.text()
    for name, text in zip(cluster.FIELDS, (" tls://n:1 ", "a.pem", "b.pem", "c.pem"), strict=True):
        where.fields[name].setText(text)
        where.fields[name].textEdited.emit(text)
    assert chosen_cluster() == Cluster("tls://n:1", "a.pem", "b.pem", "c.pem")
    again = Where()
    qtbot.addWidget(again)
    assert again.fields["address"].text() == "tls://n:1"


def test_an_answer_is_waited_for_and_shown(qtbot):
    where = Where()
    qtbot.addWidget(where)
    where.box.setCurrentIndex(where.box.findData(cluster.LOCAL))
    with qtbot.waitSignal(where.attempt_wanted):
        where.button.click()
    assert where.answer.text() == "Waiting for an answer …"
    where.show_answer(ClusterTried("It answers.", "Nothing protects it."))
    assert where.answer.text() == "It answers. Nothing protects it."


def test_an_address_that_is_none_is_one_sentence():
    found = tried(Cluster("nowhere"))
    assert not found.fine
    assert found.sentence.startswith("option cluster: “nowhere” is no address")
