"""The stops of the tour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.text.plan_text import model_title, strategy_title
from app.text.results.verdict import headline

if TYPE_CHECKING:
    from app.session.session import Session

SAMPLE, MODEL, STRATEGY, TRIALS = "breast-cancer", "svm", "gp", 16


@dataclass(frozen=True)
class TourStop:
    """A stop of the tour."""

    page: str  # key in the window
    title: str
    words: Callable[[Session], str]
    target: str  # the control, as `Page.tour_target` names it
    ready: Callable[[Session], bool] = lambda session: True  # for the next stop
    begin: Callable[[Session], None] = lambda session: None
    leads_on: Callable[[Session], None] = lambda session: None  # called before the next stop


def _data_text(session: Session) -> str:
    summary = session.summary
    if summary is None or session.plan is None:
        return "The sample is being read …"
    rows = summary.task.count_text(summary.rows)
    return (
        f"This is a sample, {summary.name}: {rows}, {summary.features} columns to predict "
        "from. Your own table is opened in the same way. Each column has a role and a kind, which "
        "you can change in the head of the table."
    )


def _question_text(session: Session) -> str:
    target = (session.summary and session.summary.target) or "the target"
    return f"One column is predicted, here “{target}”. The others are what is known beforehand."


def _model_text(session: Session) -> str:
    title = model_title(session.plan, session.advice)
    return (
        "Here you choose what kind of model learns from the table. One is recommended, with the "
        f"reason. For this tour it is: {title}, which takes seconds."
    )


def _strategy_text(session: Session) -> str:
    return (
        "A strategy decides which settings of the model are tried next. Each card says what it "
        f"does and costs. For this tour it is: {strategy_title(session.plan, session.advice)}."
    )


def _budget_text(session: Session) -> str:
    trials = session.plan.trials if session.plan is not None else None
    end = "Tuning ends by itself after so many minutes or trials, whichever comes first."
    return f"{end} {trials} trials are enough for this tour." if trials else end


def _start_text(session: Session) -> str:
    return "Everything is set. Next presses this button, and a short real tuning runs."


def _tune_text(session: Session) -> str:
    count = len(session.shown.state.trials)
    match session.state:
        case "running":
            progress = f"It is running: {count} trials so far."
            meaning = "Each dot is a setting that was tried."
            return f"{progress} {meaning} Next waits until the results are there."
        case "paused":
            return f"The run is paused after {count} trials. Resume continues it."
        case "stopping":
            return f"The tuning has ended after {count} trials; the best setting is being tested."
        case "finished" if session.results:
            return f"The run is over: {count} trials. Every dot is a setting that was tried."
        case "finished" | "interrupted":
            return (
                f"The run has ended after {count} trials without results, so the tour ends here. "
                "You can take it again at any time."
            )
    return "No run is in progress, so the tour ends here. You can take it again at any time."


def _results_text(session: Session) -> str:
    results = session.results
    if results is None:
        return "There are no results to show, so the tour ends here."
    verdict = headline(results, results.rows).rstrip(".")
    return (
        f"The verdict: {verdict}. It comes from rows that the tuning never saw, beside the "
        "default setting and the baseline."
    )


def _export_text(session: Session) -> str:
    return (
        "Everything can be exported: the model, its numbers, a script, a report. That was the "
        "tour. Help and the first page start it again; “?” and F1 explain any word."
    )


def _prepare_model(session: Session) -> None:
    session.choose_model(MODEL)


def _prepare_strategy(session: Session) -> None:
    session.choose_strategy(STRATEGY)
    session.set_plan(trials=TRIALS, minutes=None)


def _begin_run(session: Session) -> None:
    if not session.is_going_on:
        session.start()


STOPS = (
    TourStop("data", "1 Data", _data_text, "table", ready=lambda session: session.plan is not None),
    TourStop("data", "1 Data: the question", _question_text, "question"),
    TourStop("model", "2 Model", _model_text, "chosen card", begin=_prepare_model),
    TourStop("strategy", "3 Strategy", _strategy_text, "chosen card", begin=_prepare_strategy),
    TourStop("strategy", "3 Strategy: how long", _budget_text, "budget"),
    TourStop("strategy", "4 Tune: the start", _start_text, "start", leads_on=_begin_run),
    TourStop(
        "tune",
        "4 Tune",
        _tune_text,
        "best so far",
        ready=lambda session: session.state == "finished" and session.results is not None,
    ),
    TourStop("results", "5 Results", _results_text, "scores"),
    TourStop("export", "6 Export", _export_text, "save"),
)
START, TUNE = 5, 6  # the stops before and during the run
