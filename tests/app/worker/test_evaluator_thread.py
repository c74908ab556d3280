from __future__ import annotations

import os
import signal
import time
from dataclasses import replace

import pytest

from app.worker.evaluator_process import (
    EvaluationRequest,
    evaluate_request,
    joint_history_of,
    surface_of,
)
from app.worker.evaluator_thread import SurrogateEvaluator
from core.gp import evaluator as direct
from core.gp.regression import Surrogate
from core.gp.transfer import joint_evaluator as transfer_evaluator
from core.gp.transfer.joint_fitting import JointSurface
from core.space import Axis
from core.tuning.events import HistoryDataset, HistoryRead, JointSurfaceFitted, SurrogateFitted

SPACE = (Axis("C", "C", "float", 1e-3, 1e3, log=True), Axis("g", "g", "float", 0.0, 1.0))
FIELDS = {
    "points": [[0.1, 0.2], [0.5, 0.9], [0.8, 0.4]],
    "responses": [0.1, 0.9, 0.4],
    "numbers": [0, 1, 2],
    "lengths": [0.3, 0.3],
    "noise": 1e-4,
    "mean": 0.5,
    "scale": 0.3,
    "incumbent": [0.5, 0.9],
}
SURROGATE = SurrogateFitted(**FIELDS)


def request(view="slice", axis="C"):
    return EvaluationRequest(view, 7, SPACE, SURROGATE, (axis,))


@pytest.fixture
def evaluator():
    made = SurrogateEvaluator()
    yield made
    made.shutdown()


def test_answers_equal_those_of_the_core(evaluator, qtbot):
    with qtbot.waitSignal(evaluator.arrived, timeout=60_000) as arrived:
        evaluator.ask(request())
    reply = arrived.args[0]
    assert (reply.view, reply.number, reply.answer.axis) == ("slice", 7, "C")
    assert reply.answer == direct.slice_through(surface_of(Surrogate, SURROGATE), SPACE, "C")


def test_the_latest_request_of_a_view_wins(evaluator, qtbot):
    replies = []
    evaluator.arrived.connect(replies.append)
    for axis in ("C", "g", "C", "g"):
        evaluator.ask(request(axis=axis))
    evaluator.ask(request(view="other", axis="C"))
    qtbot.waitUntil(lambda: any(reply.view == "other" for reply in replies), timeout=60_000)
    of_slice = [reply.answer.axis for reply in replies if reply.view == "slice"]
    assert of_slice[-1] == "g"
    assert len(of_slice) <= 2  # the first may have been on its way already


def test_a_killed_process_is_started_again(evaluator, qtbot):
    with qtbot.waitSignal(evaluator.arrived, timeout=60_000):
        evaluator.ask(request())
    first = evaluator.process_id
    os.kill(first, signal.SIGKILL)
    with qtbot.waitSignal(evaluator.arrived, timeout=60_000) as arrived:
        evaluator.ask(request(axis="g"))
    assert arrived.args[0].answer.axis == "g"
    assert evaluator.process_id != first


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="the system cannot halt a process")
def test_a_halted_process_keeps_nobody_waiting(qtbot):
    evaluator = SurrogateEvaluator()
    with qtbot.waitSignal(evaluator.arrived, timeout=60_000):
        evaluator.ask(request())
    number = evaluator.process_id
    os.kill(number, signal.SIGSTOP)
    evaluator.ask(request(axis="g"))
    qtbot.wait(200)
    began = time.monotonic()
    evaluator.begin_shutdown()
    assert time.monotonic() - began < 0.1
    evaluator.shutdown()
    assert time.monotonic() - began < 5.0
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_a_process_that_does_not_answer_in_time_is_told_as_ended(evaluator, qtbot, monkeypatch):
    monkeypatch.setattr("app.worker.evaluator_thread.PATIENCE", -1.0)
    with qtbot.waitSignal(evaluator.arrived, timeout=60_000) as arrived:
        evaluator.ask(request())
    assert arrived.args[0].problem == "ended"


def test_shutdown_leaves_nothing_behind(qtbot):
    evaluator = SurrogateEvaluator()
    with qtbot.waitSignal(evaluator.arrived, timeout=60_000):
        evaluator.ask(request())
    number = evaluator.process_id
    evaluator.shutdown()
    assert not evaluator.isRunning()
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
    evaluator.ask(request())
    assert not evaluator.isRunning()


def test_an_axis_that_is_not_there_is_a_problem_not_a_crash():
    assert evaluate_request(request(axis="nothing")).problem == "KeyError"


def test_a_common_surface_is_restored_from_both_events():
    earlier = HistoryDataset(
        id="d", statistics=[4.0, 2.0, 2.0], values=[[1.0, 0.5], [10.0, 0.2]], scores=[0.7, 0.8],
        maximize=True, starter=False, distance=1.0,
    )  # fmt: skip
    history = HistoryRead(statistics=[5.0, 2.0, 2.0], axes=["C", "g"], datasets=[earlier])
    surface = JointSurfaceFitted(
        **FIELDS, kernel="mkl", constant=1.0, neighbours=[0], settled=True,
        past_responses=[[-1.0, 1.0]], maximize=True, next=[0.2, 0.3],
    )  # fmt: skip
    asked = EvaluationRequest("common slice", 7, SPACE, surface, ("g",), history)
    joint = surface_of(JointSurface, surface), joint_history_of(history), SPACE
    assert evaluate_request(asked).answer == transfer_evaluator.joint_slice(*joint, "g")
    over_two = evaluate_request(replace(asked, axes=("C", "g"))).answer
    assert over_two == transfer_evaluator.joint_image(*joint, ("C", "g"))
    nothing = JointSurfaceFitted(lengths=[0.3, 0.3])
    assert evaluate_request(replace(asked, fitted=nothing)).problem == "ValueError"
