"""Streams of events to feed views with, and a board that is shut down whatever happens."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPointF

from app.look import appearance
from app.views.board import Board
from core.space import Axis
from core.tuning.events import (
    HyperGradientStep,
    PenaltyStep,
    Progress,
    RunStarted,
    SurrogateFitted,
    TrialFailed,
    TrialFinished,
    TrialStarted,
)
from resources.theme import DARK, LIGHT

SPACE = (
    Axis("C", "Penalty weight", "float", 1e-3, 1e3, log=True, default=1.0),
    Axis("depth", "Depth", "int", 1, 9, default=3),
    Axis("kernel", "Kernel", "choice", choices=("linear", "rbf"), default="rbf"),
)
SCORES = (0.70, 0.72, None, 0.71, 0.80, 0.79, 0.81, 0.60)


def begun(strategy="gp", maximize=True, space=SPACE, total=20):
    return RunStarted(
        run="one",
        plan={"strategy": strategy},
        kind="trials",
        space=list(space),
        metric="accuracy",
        maximize=maximize,
        total=total,
    )


def setting_of(number):
    kernel = ("linear", "rbf")[number % 2]
    return {"C": 10.0 ** (number % 7 - 3), "depth": 1 + number % 9, "kernel": kernel}


def trial_events(scores=SCORES, default=0.70, **given):
    """A run of trials; None is a trial that failed."""
    yield begun(**given)
    for number, score in enumerate(scores):
        setting = setting_of(number)
        reason = "default" if number == 0 and default is not None else "improve"
        yield TrialStarted(number=number, setting=setting, reason=reason)
        if score is None:
            reason = "the solver did not converge"
            yield TrialFailed(number=number, setting=setting, reason=reason, took=1.5)
        else:
            yield TrialFinished(number=number, setting=setting, score=score, took=0.25, fits=5)
        yield Progress(done=number + 1, total=20, default=default)


def penalty_events(groups=("noise", "useful", "more"), steps=5, off=("noise",), strategy="mm"):
    """A run of penalties; group g ends at C = 100, 10, 1, …"""
    sizes = dict.fromkeys(groups, 2)
    yield RunStarted(run="two", plan={"strategy": strategy}, kind="penalties", groups=sizes)
    for step in range(steps):
        share = step / max(1, steps - 1)
        C = {name: 10 ** ((2 - rank) * share) for rank, name in enumerate(groups)}
        yield PenaltyStep(
            step=step,
            objective=100.0 * 0.5**step,
            loss=50.0,
            penalties=C,
            norms=dict.fromkeys(groups, 0.5),
            switched_off=list(off) if step == steps - 1 else [],
            fits=step + 1,
        )


def gradient_events():
    """A run of the gradient strategy that ends on a bound of its own."""
    plan = {"strategy": "gradient", "options": {"low": -3.0, "high": 13.0}}
    yield RunStarted(run="three", plan=plan, kind="penalties", groups={"a": 1, "b": 2})
    for step in range(4):
        d = {"a": 4.0 * step, "b": -1.0 * step}
        at_bound = ["a"] if step == 3 else []
        yield HyperGradientStep(
            step=step, holdout_loss=10.0 - step, d=d, gradient_norm=1.0, at_bound=at_bound,
            ranges={"a": [1e4, 1e6], "b": [0.01, 0.1]} if step == 3 else None,
        )  # fmt: skip


def surrogate_of(scores=SCORES):
    """A surrogate over SPACE that has seen the trials of `trial_events`."""
    numbers = [number for number, score in enumerate(scores) if score is not None]
    points = []
    for number in numbers:
        setting = setting_of(number)
        points.append([unit for axis in SPACE for unit in axis.to_unit(setting[axis.name])])
    responses = [scores[number] for number in numbers]
    return SurrogateFitted(
        trials=len(numbers),
        points=points,
        responses=responses,
        numbers=numbers,
        lengths=[0.3, 0.5, 1.0, 1.0],
        noise=1e-3,
        mean=sum(responses) / len(responses),
        scale=0.06,
        incumbent=points[responses.index(max(responses))],
        next=[0.25, 0.5, 1.0, 0.0],
    )


@pytest.fixture
def streams():
    """The streams above, for test modules."""
    return SimpleNamespace(
        begun=begun,
        trials=trial_events,
        penalties=penalty_events,
        gradient=gradient_events,
        surrogate=surrogate_of,
        setting=setting_of,
        space=SPACE,
        scores=SCORES,
    )


def _streams_beside(name):
    @pytest.fixture(name=name)
    def module(monkeypatch):
        monkeypatch.syspath_prepend(str(Path(__file__).parent))
        return importlib.import_module(f"{name}_streams")

    return module


structured, ensemble, history, generative = map(
    _streams_beside, ("structured", "ensemble", "history", "generative")
)


@pytest.fixture
def board(qtbot):
    made = Board()
    qtbot.addWidget(made)
    made.resize(1060, 720)
    made.show()
    return made


@pytest.fixture
def feed(board, qapp):
    """Feeds events to the board and draws everything, layouts settled."""

    def give(events):
        for event in events:
            board.consume(event)
        for _ in range(3):  # a drawing may change a layout, which asks for another
            board.redraw_now()
            qapp.processEvents()
        return board

    return give


@pytest.fixture
def assert_words_fit():
    """The words beside the bars of a view end within its plot."""

    def check(view, mark):
        area, metrics = view.plot.vb.sceneBoundingRect(), view.plot.left.metrics
        for x, row, text in view.marks[mark].words:
            end = view.plot.vb.mapFromViewToItem(view.plot.vb, QPointF(x, row)).x()
            assert end + 6 + metrics.horizontalAdvance(text) <= area.width() + 1, text

    return check


@pytest.fixture
def dark(monkeypatch):
    """Changes every widget to the dark theme, and back at the end."""

    def change():
        monkeypatch.setattr(appearance._state, "theme", DARK)
        appearance.notifier.themed.emit(DARK)

    yield change
    monkeypatch.setattr(appearance._state, "theme", LIGHT)


@pytest.fixture(autouse=True)
def as_in_the_program(look):
    """Fonts and stylesheet as the window has them: what fits there is what counts."""
