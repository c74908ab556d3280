"""Where the tour stops: which control, and words that follow what the window truly shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app.text.plan import model_title, strategy_title
from app.text.results.verdict import headline
from app.text.units import counted

if TYPE_CHECKING:
    from app.session.session import Session
    from app.window.window import Window

SAMPLE, MODEL, STRATEGY, TRIALS = "breast-cancer", "svm", "gp", 16


@dataclass(frozen=True)
class Stop:
    """One step of the tour.

    Attributes:
        page: of the window, by its key.
        title: the card's heading.
        words: what the card says, of the session as it is now.
        target: the control that is pointed at; None for the whole page.
        ready: whether the next step can be taken yet.
        begin: what the tour does when it comes here.
        leads_on: what pressing Next does here, before the next step.
    """

    page: str
    title: str
    words: Callable[[Session], str]
    target: Callable[[Window], QWidget | None]
    ready: Callable[[Session], bool] = lambda session: True
    begin: Callable[[Session], None] = lambda session: None
    leads_on: Callable[[Session], None] = lambda session: None


def _data(session: Session) -> str:
    summary = session.summary
    if summary is None or session.plan is None:
        return "The sample is being read …"
    rows = counted(summary["task"], summary["rows"])
    return (
        f"This is a sample, {summary['name']}: {rows}, {summary['features']} columns to predict "
        "from. Your own table is opened in the same way. Each column has a role and a kind, which "
        "you can change in the head of the table."
    )


def _question(session: Session) -> str:
    summary = session.summary or {}
    target = summary.get("target") or "the target"
    return f"One column is predicted, here “{target}”. The others are what is known beforehand."


def _model(session: Session) -> str:
    return (
        "Here you choose what kind of model learns from the table. One is recommended, with the "
        f"reason. For this tour it is: {model_title(session)}, which takes seconds."
    )


def _strategy(session: Session) -> str:
    return (
        "A strategy decides which settings of the model are tried next. Each card says what it "
        f"does and costs. For this tour it is: {strategy_title(session)}."
    )


def _budget(session: Session) -> str:
    trials = session.plan.trials if session.plan is not None else None
    said = f" {trials} trials are enough for this tour." if trials else ""
    return f"Tuning ends by itself after so many minutes or trials, whichever comes first.{said}"


def _start(session: Session) -> str:
    return "Everything is set. Next presses this button, and a short real tuning runs."


def _tune(session: Session) -> str:
    tried = len(session.shown.state.trials)
    match session.state:
        case "running":
            said = f"It is running: {tried} trials so far. Each dot is a setting that was tried."
            return f"{said} Next waits until the results are there."
        case "paused":
            return f"The run is paused after {tried} trials. Resume goes on with it."
        case "stopping":
            return f"The tuning has ended after {tried} trials; the best setting is being tested."
        case "finished" if session.results:
            return f"The run is over: {tried} trials. Every dot is a setting that was tried."
        case "finished" | "interrupted":
            return (
                f"The run has ended after {tried} trials without results, so the tour ends here. "
                "You can take it again at any time."
            )
    return "No run is going on, so the tour ends here. You can take it again at any time."


def _results(session: Session) -> str:
    results = session.results
    if results is None:
        return "There are no results to show, so the tour ends here."
    said = headline(results, int(results.get("rows") or 0)).rstrip(".")
    return (
        f"The verdict: {said}. It comes from rows that the tuning never saw, beside the "
        "default setting and knowing nothing."
    )


def _export(session: Session) -> str:
    return (
        "Everything can be taken away: the model, its numbers, a script, a report. That was the "
        "tour. Help and the first page start it again; “?” and F1 explain any word."
    )


def _prepare_model(session: Session) -> None:
    session.choose_model(MODEL)


def _prepare_strategy(session: Session) -> None:
    session.choose_strategy(STRATEGY)
    session.set_plan(trials=TRIALS, minutes=None)


def _first_card(window: Window, page: str) -> QWidget | None:
    cards = window.pages[page].cards.cards
    return next((card for card in cards.values() if card.button.isChecked()), None)


def _begin_run(session: Session) -> None:
    if not session.is_going_on:
        session.start()


def _board(window: Window) -> QWidget | None:
    views = window.pages["tune"].board.views.values()
    return next((view for view in views if view.name == "best"), next(iter(views), None))


STOPS = (
    Stop(
        "data",
        "1 Data",
        _data,
        lambda window: window.pages["data"].table,
        ready=lambda session: session.plan is not None,
    ),
    Stop("data", "1 Data: the question", _question, lambda window: window.pages["data"].question),
    Stop(
        "model",
        "2 Model",
        _model,
        lambda window: _first_card(window, "model"),
        begin=_prepare_model,
    ),
    Stop(
        "strategy",
        "3 Strategy",
        _strategy,
        lambda window: _first_card(window, "strategy"),
        begin=_prepare_strategy,
    ),
    Stop(
        "strategy",
        "3 Strategy: how long",
        _budget,
        lambda window: window.pages["strategy"].budget,
    ),
    Stop(
        "strategy",
        "4 Tune: the start",
        _start,
        lambda window: window.pages["strategy"].primary,
        leads_on=_begin_run,
    ),
    Stop(
        "tune",
        "4 Tune",
        _tune,
        _board,
        ready=lambda session: session.state == "finished" and session.results is not None,
    ),
    Stop(
        "results",
        "5 Results",
        _results,
        lambda window: window.pages["results"].views["scores"],
    ),
    Stop(
        "export",
        "6 Export",
        _export,
        lambda window: window.pages["export"].primary,
    ),
)
START, TUNE = 5, 6  # the stops before and during the run
