"""How each strategy works, in two sentences for people, and what data it judges by."""

from __future__ import annotations

from typing import Any

from app.text.averaging import how_averaging_works
from app.text.transfer import learning_from_past
from app.text.units import size_of_test_set, units
from core.tuning.events import RunStarted

MODELLING = ("gp", "hybrid", "variable")
AVERAGING = ("eb-hyp",)
FROM_THE_PAST = ("transfer", "scot")
HYBRID_TAU = 0.8  # the share of trials that go for an improvement (Brofos 2013, Algorithm 2)
FROM_TRAINING_ALONE = ("mm", "evidence", "loo", "direct")


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
        "grid": (
            "The program visits the points of a grid, first far apart, then those in between, so "
            "that the picture means something early."
        ),
        "random": (
            "Every setting is drawn at random from the whole range; nothing is learned from the "
            "earlier ones."
        ),
        "tpe": (
            "The program compares where good and where poor trials lie, and tries next where good "
            "ones are dense."
        ),
        "cma-es": (
            "A cloud of settings moves and changes its shape towards better scores, round by round."
        ),
        "loo": (
            "The program moves the penalty up and down, and works out for each how well every row "
            "is predicted by a model fitted without it."
        ),
        "direct": (
            "Weights and penalties are improved together by one general-purpose optimizer, until "
            "nothing moves."
        ),
        "gradient": (
            f"Some {_whole_units(task)} are held out. The program works out how their error "
            "changes with each penalty, and changes all penalties in the direction in which it "
            "falls."
        ),
    }.get(strategy, "")


def _who_has_a_penalty(task: str, groups: int) -> str:
    if groups == 1:
        return "All weights share one penalty."
    if task in ("sequence", "structure"):
        return "Each group of weights has its own penalty."
    return "Each group of columns has its own penalty."


def _from_the_weights(strategy: str, groups: int) -> str:
    """How the fitted weights give the penalties."""
    if strategy == "mm":
        words = (
            "The program fits the model, looks at how large each group's weights come out, and "
            "sets the penalty from that. Then it fits again."
        )
        alone = (
            "The program fits the model, looks at how large the weights come out, and sets the "
            "penalty from that. Then it fits again."
        )
    else:
        words = (
            "The program fits the model, counts how many of each group's weights the data really "
            "determines, and sets the penalty from that. Then it fits again."
        )
        alone = (
            "The program fits the model, counts how many weights the data really determines, and "
            "sets the penalty from that. Then it fits again."
        )
    return alone if groups == 1 else words


def _whole_units(task: str) -> str:
    """What is held out as a whole."""
    return "sequences" if task == "sequence" else units(task)


def _model_so_far(tried: int) -> str:
    if tried == 0:
        return "A Gaussian process learns to guess the score of every setting."
    if tried == 1:
        return "A Gaussian process guesses the score of every setting from the one tried."
    words = "A Gaussian process guesses the score of every setting from the {tried} tried so far."
    return words.format(tried=tried)


def _where_next(strategy: str, options: dict[str, Any]) -> str:
    if strategy == "hybrid":
        improving = float(options.get("tau", HYBRID_TAU))
        words = (
            "Most trials go where the score is expected to improve most. {share} goes where the "
            "guess is least certain, so that a better region is not missed."
        )
        return words.format(share=_share_in_words(1 - improving))
    if strategy == "variable":
        return (
            "Trials go where the score is expected to improve most, or where the guess is least "
            "certain; the more promising the unknown is, the more often it is explored."
        )
    goals = {
        "pi": "The next trial goes where an improvement is most likely.",
        "mean": "The next trial goes where the guess is best.",
    }
    usual = "The next trial goes where the score is expected to improve most."
    return goals.get(str(options.get("acquisition", "ei")), usual)


def _share_in_words(share: float) -> str:
    for count, words in (
        (2, "One in two"),
        (3, "One in three"),
        (4, "One in four"),
        (5, "One in five"),
        (10, "One in ten"),
    ):
        if abs(share - 1 / count) < 0.01:
            return words
    return f"A share of {round(100 * share)} %"


def what_is_held_out(started: RunStarted) -> str:
    """Which rows judge the settings of this run, "" where nothing is known yet."""
    strategy = started.plan.get("strategy", "")
    if not strategy:
        return ""
    task, aside = started.dataset.get("task", ""), size_of_test_set(started.dataset)
    if folds := started.dataset.get("outer_folds"):
        aside = f"Every row is tested once at the end, in {folds} parts."
    elif aside:
        aside = f"{aside} are the test set; tuning never sees them."
    whole = _whole_units(task)
    if strategy in FROM_TRAINING_ALONE:
        words = f"The penalty comes from the training {whole} themselves: no validation is needed."
    elif strategy == "gradient":
        return aside
    elif started.judged == "training" and task == "topics":
        words = (
            "Each score is the document completion of the training texts: how likely the second "
            "half of their words is, given the first. No validation is needed."
        )
    elif started.judged == "training":
        words = (
            f"Each score says how well the model explains the training {whole} themselves: "
            "no validation is needed."
        )
    elif started.judged == "validation":
        words = "Each score comes from one part of the training {units} that is held out."
        words = words.format(units=whole)
    else:
        folds = started.plan.get("folds", 5)
        words = "Each score is the mean over {folds} parts of the training {units}."
        words = words.format(folds=folds, units=whole)
    return f"{words} {aside}".strip()
