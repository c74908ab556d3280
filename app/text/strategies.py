"""How each strategy works, in two sentences for people, and what data it judges by."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QCoreApplication

from app.text.averaging import how_averaging_works
from app.text.transfer import learning_from_past
from app.text.units import put_aside, units
from core.tuning.events import RunStarted

MODELLING = ("gp", "hybrid", "variable")
AVERAGING = ("eb-hyp",)
FROM_THE_PAST = ("transfer", "scot")
HYBRID_TAU = 0.8  # the share of trials that go for an improvement (Brofos 2013, Algorithm 2)
FROM_TRAINING_ALONE = ("mm", "evidence", "loo", "direct")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Narration", text)


def how_it_works(
    strategy: str, options: dict[str, Any], tried: int, task: str = "", groups: int = 0
) -> str:
    """How a strategy works.

    Args:
        strategy, options: of the plan.
        tried: trials so far; strategies that model the score say from how many.
        task: of the data.
        groups: how many groups have a penalty of their own; 0 where nobody knows yet.
    """
    if strategy in MODELLING:
        return f"{_model_so_far(tried)} {_where_next(strategy, options)}"
    if strategy in AVERAGING:
        rule = str(options.get("rule", "sample"))
        return f"{_model_so_far(tried)} {how_averaging_works(rule)}"
    if strategy in FROM_THE_PAST:
        return learning_from_past(strategy, tried)
    if strategy in ("mm", "evidence"):
        return f"{_who_has_a_penalty(task, groups)} {_from_the_weights(strategy, groups)}"
    return {
        "grid": _tr(
            "The program visits the points of a grid, first far apart, then those in between, so "
            "that the picture means something early."
        ),
        "random": _tr(
            "Every setting is drawn at random from the whole range; nothing is learned from the "
            "earlier ones."
        ),
        "tpe": _tr(
            "The program compares where good and where poor trials lie, and tries next where good "
            "ones are dense."
        ),
        "cma-es": _tr(
            "A cloud of settings moves and changes its shape towards better scores, round by round."
        ),
        "loo": _tr(
            "The program moves the penalty up and down, and works out for each how well every row "
            "is predicted by a model fitted without it."
        ),
        "direct": _tr(
            "Weights and penalties are improved together by one general-purpose optimizer, until "
            "nothing moves."
        ),
        "gradient": _tr(
            "Some {units} are held out. The program works out how their error changes with each "
            "penalty, and changes all penalties in the direction in which it falls."
        ).format(units=_whole_units(task)),
    }.get(strategy, "")


def _who_has_a_penalty(task: str, groups: int) -> str:
    if groups == 1:
        return _tr("All weights share one penalty.")
    if task in ("sequence", "structure"):
        return _tr("Each group of weights has its own penalty.")
    return _tr("Each group of columns has its own penalty.")


def _from_the_weights(strategy: str, groups: int) -> str:
    """How the fitted weights give the penalties."""
    if strategy == "mm":
        words = _tr(
            "The program fits the model, looks at how large each group's weights come out, and "
            "sets the penalty from that. Then it fits again."
        )
        alone = _tr(
            "The program fits the model, looks at how large the weights come out, and sets the "
            "penalty from that. Then it fits again."
        )
    else:
        words = _tr(
            "The program fits the model, counts how many of each group's weights the data really "
            "determines, and sets the penalty from that. Then it fits again."
        )
        alone = _tr(
            "The program fits the model, counts how many weights the data really determines, and "
            "sets the penalty from that. Then it fits again."
        )
    return alone if groups == 1 else words


def _whole_units(task: str) -> str:
    """What is held out as a whole."""
    return _tr("sequences") if task == "sequence" else units(task)


def _model_so_far(tried: int) -> str:
    if tried == 0:
        return _tr("A Gaussian process learns to guess the score of every setting.")
    if tried == 1:
        return _tr("A Gaussian process guesses the score of every setting from the one tried.")
    words = _tr(
        "A Gaussian process guesses the score of every setting from the {tried} tried so far."
    )
    return words.format(tried=tried)


def _where_next(strategy: str, options: dict[str, Any]) -> str:
    if strategy == "hybrid":
        improving = float(options.get("tau", HYBRID_TAU))
        words = _tr(
            "Most trials go where the score is expected to improve most. {share} goes where the "
            "guess is least certain, so that a better region is not missed."
        )
        return words.format(share=_share_in_words(1 - improving))
    if strategy == "variable":
        return _tr(
            "Trials go where the score is expected to improve most, or where the guess is least "
            "certain; the more promising the unknown is, the more often it is explored."
        )
    goals = {
        "pi": _tr("The next trial goes where an improvement is most likely."),
        "mean": _tr("The next trial goes where the guess is best."),
    }
    usual = _tr("The next trial goes where the score is expected to improve most.")
    return goals.get(str(options.get("acquisition", "ei")), usual)


def _share_in_words(share: float) -> str:
    for count, words in (
        (2, _tr("One in two")),
        (3, _tr("One in three")),
        (4, _tr("One in four")),
        (5, _tr("One in five")),
        (10, _tr("One in ten")),
    ):
        if abs(share - 1 / count) < 0.01:
            return words
    return _tr("A share of {percent} %").format(percent=round(100 * share))


def what_is_held_out(started: RunStarted) -> str:
    """Which rows judge the settings of this run, "" where nothing is known yet."""
    strategy = started.plan.get("strategy", "")
    if not strategy:
        return ""
    task, aside = started.dataset.get("task", ""), put_aside(started.dataset)
    if folds := started.dataset.get("outer_folds"):
        aside = f"Every row is tested once at the end, in {folds} parts."
    elif aside:
        aside = _tr("{much} are the test set; tuning never sees them.").format(much=aside)
    whole = _whole_units(task)
    if strategy in FROM_TRAINING_ALONE:
        words = _tr("The penalty comes from the training {units} themselves: no validation is "
                    "needed.").format(units=whole)  # fmt: skip
    elif strategy == "gradient":
        return aside
    elif started.judged == "training" and task == "topics":
        words = (
            "Each score is the document completion of the training texts: how likely the second "
            "half of their words is, given the first. No validation is needed."
        )
    elif started.judged == "training":
        words = _tr("Each score says how well the model explains the training {units} themselves: "
                    "no validation is needed.").format(units=whole)  # fmt: skip
    elif started.judged == "validation":
        words = _tr("Each score comes from one part of the training {units} that is held out.")
        words = words.format(units=whole)
    else:
        folds = started.plan.get("folds", 5)
        words = _tr("Each score is the mean over {folds} parts of the training {units}.")
        words = words.format(folds=folds, units=whole)
    return f"{words} {aside}".strip()
