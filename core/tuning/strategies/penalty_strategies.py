"""The strategies that learn L2 penalties: MM, evidence, leave-one-out, direct, gradient."""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import cast

from core.datasets.task import CLASSIFICATION_TASKS, Task
from core.datasets.texts import MAX_TEXT_COLUMNS
from core.estimators.facts import ModelingFacts, Suggestion
from core.options import Option, StrategyOptions, choice_option
from core.penalties.penalty_problem import (
    DirectOptions,
    EvidenceOptions,
    GradientOptions,
    LearnerStep,
    LooOptions,
    MmOptions,
    PenaltyProblem,
)
from core.tuning.strategies.strategy import Implementation, LearnerCost, RunContext, Space, Strategy

PRIOR = (
    Option(
        "alpha",
        "How much to shrink in any case (α)",
        "float",
        0.0,
        "Larger values shrink the weights more; 0 is the paper's value. It is the shape of the"
        " Gamma prior on each penalty.",
        low=-1e6,
        high=1e6,
    ),
    Option(
        "beta",
        "How strictly penalties are limited (β)",
        "float",
        1.0,
        "Small values let a group be switched off entirely: a penalty is at most (n/2 + α)/β. It is"
        " the rate of the Gamma prior, and has the unit of a squared weight: where a number is"
        " predicted, β = 1 means another thing for every standard deviation of the target (option"
        " target_spread). With about as many columns as rows it holds nearly everything back, or"
        " next to nothing; evidence needs no such number.",
        low=0.0,
        low_open=True,
    ),
    choice_option(
        "preset",
        "Where α and β come from",
        "automatic",
        "automatic: as paper, but for groups of weights that mostly occur five times or fewer in"
        " training sequences, such as those of words: for these β is half their number, so that no"
        " penalty exceeds 1. paper: α and β as given here. authors: α = ½, as in the authors' own"
        " program, which matters for groups of a few columns only; both count every weight as free,"
        " which evidence does not. sparse: β = 0.0001, for one group a column.",
        {
            "automatic": "Automatic",
            "paper": "From the two fields above (paper)",
            "authors": "From the authors' program (authors)",
            "sparse": "For one group a column (sparse)",
        },
    ),
    choice_option(
        "counts",
        "Which weights count (n)",
        "seen",
        "Of sequences and molecules. seen: those of features and labels that the training rows have"
        " together, such as a word with one of its tags. all: every weight, as in the paper; most"
        " of them never occur, and their number alone makes the penalties large.",
        {"seen": "Those that occur (seen)", "all": "Every weight (all)"},
    ),
)
TARGET = Option(
    "target_spread",
    "The target's standard deviation while learning (s)",
    "float",
    StrategyOptions.target_spread,
    "A number to predict is divided so that its standard deviation is this; what is predicted is"
    " in the target's own unit again. It gives α, β and the start at C = 1 their meaning: ten"
    " times s is as if β were a hundredth. Without standardized columns the target stays as it is,"
    " and classes have no such unit.",
    low=0.0,
    high=1e6,
    low_open=True,
)
MM_STEPS = Option(
    "max_steps",
    "Steps at most",
    "int",
    100,
    "The method stops earlier by itself.",
    low=1,
    high=10000,
)
DIRECT_STEPS = replace(MM_STEPS, default=500)
SEARCH_STEPS = replace(MM_STEPS, default=130)
TOLERANCE = Option(
    "tolerance",
    "Accuracy",
    "float",
    1e-3,
    "It stops when no penalty changes by more than this share.",
    low=0.0,
    high=0.5,
    low_open=True,
)
GRADIENT_OPTIONS = (
    choice_option(
        "validation",
        "Validation rows",
        "automatic",
        "holdout: one part of the training rows is held out, as in the paper; noise is often"
        " trusted so. folds: every row is held out once, and it is seen how far the folds agree."
        " Automatic takes folds where a quarter of the rows (sequences, molecules) would be fewer"
        " than five a penalty, and of tables up to 3 million values (rows times columns, times"
        " classes if more than two) a minute of the run, 30 million without a limit.",
        {
            "automatic": "Automatic",
            "holdout": "One part of the rows (holdout)",
            "folds": "Every row once, in turns (folds)",
        },
    ),
    Option(
        "folds", "Folds", "int", 5, "How many parts take turns to be held out.", low=2, high=100
    ),
    Option(
        "start",
        "Where the penalties start (log C)",
        "float",
        0.0,
        "Where every log penalty starts. The authors' program starts at 5.",
        low=-10.0,
        high=12.0,
    ),
    choice_option(
        "prior",
        "Prior on the penalties",
        "automatic",
        "weak: a Gaussian prior on each log penalty around 0, so that few held-out data do not"
        " drive penalties to extremes. none: as in the paper. Automatic takes weak for sequences"
        " and molecules and none for tables.",
        {"automatic": "Automatic", "none": "No (none)", "weak": "A little (weak)"},
    ),
    Option(
        "prior_sd",
        "Standard deviation of the prior (log C)",
        "float",
        GradientOptions.prior_sd,
        "The standard deviation of the weak prior. At 1 a penalty of 7.4 or of 1/7.4 is two"
        " standard deviations away, which costs as much as two nats of held-out log loss.",
        low=0.0,
        low_open=True,
    ),
    Option("steps", "Steps at most", "int", 30, "Line searches at most.", low=1, high=1000),
    Option(
        "low",
        "Smallest penalty (log C)",
        "float",
        GradientOptions.low,
        "No log penalty goes below this.",
        low=-30.0,
        high=0.0,
    ),
    Option(
        "high",
        "Largest penalty (log C)",
        "float",
        GradientOptions.high,
        "No log penalty goes above this.",
        low=0.0,
        high=30.0,
    ),
)


FOO = "Foo, Do and Ng 2009"


def _learner(module: str, function: str) -> Callable[..., Iterator[LearnerStep]]:
    """A learner of core.penalties, imported when it is called."""

    # The learners bring SciPy, which takes a second, and the window shows their options without it.
    def steps(problem: PenaltyProblem, *options: StrategyOptions) -> Iterator[LearnerStep]:
        learner = getattr(importlib.import_module(f"core.penalties.{module}"), function)
        return cast(Iterator[LearnerStep], learner(problem, *options))

    return steps


def _where_recommended(name: str) -> Callable[[ModelingFacts, Space], Suggestion | None]:
    """For tables, by `recommend_update`."""

    def suggests(facts: ModelingFacts, space: Space) -> Suggestion | None:
        # What it recommends was measured on tables.
        if facts.structured:
            return None
        from core.penalties.recommendation import recommend_update

        groups = max(1, len(facts.groups))
        weights, weights_text = facts.weights, ""
        # Their words are not counted yet.
        if facts.texts:
            weights = MAX_TEXT_COLUMNS * facts.outputs
            weights_text = "thousands of weights of words"
        recommendation = recommend_update(
            weights, facts.learning, facts.classes, groups=groups, weights=weights_text
        )
        return Suggestion(2, recommendation.reason) if recommendation.strategy == name else None

    return suggests


def _weights_text(action: str) -> Callable[[RunContext], str]:
    """How the fitted weights give the penalties; {whose} or {counted} stands for the weights."""

    def works_text(moment: RunContext) -> str:
        if moment.groups == 1:
            group_text, whose = "All weights share one penalty.", "the weights"
            counted = "weights"
        else:
            unit_name = "weights" if Task(moment.task).is_structured else "columns"
            group_text = f"Each group of {unit_name} has its own penalty."
            whose, counted = "each group's weights", "of each group's weights"
        does = action.format(whose=whose, counted=counted)
        ending = "and sets the penalty from that. Then it fits again."
        return f"{group_text} The program fits the model, {does}, {ending}"

    return works_text


def _suggests_mm(facts: ModelingFacts, space: Space) -> Suggestion | None:
    if not facts.task.has_pairs:
        return None
    return Suggestion(
        2,
        "Some kinds of weights matter more than others: MM learns how strongly to hold back each "
        "kind, and needs no validation data.",
    )


def _suggests_gradient(facts: ModelingFacts, space: Space) -> Suggestion | None:
    # Ahead of the default and of MM on 60 to 300 sentences of an English treebank: counted as in
    # the paper, MM switches kinds of rare weights off. For molecules MM by kind beat the default.
    if not facts.task.has_sequences:
        return None
    weights = facts.inputs * facts.classes + facts.classes * (facts.classes + 1)
    return Suggestion(
        2,
        f"{weights:,} weights for {facts.training:,} training tokens, most of them for words that "
        "are rare: sequences held out show how strongly to hold back each kind of weights.",
    )


_penalty_strategy = partial(Strategy, kind="penalties", default_trials=0)

MM = _penalty_strategy(
    name="mm",
    title="Learn the penalty (MM)",
    does="Learns how strongly to hold back the model's weights, one penalty for all columns or one "
    "for each group, from the training data alone.",
    costs="About as much as one fit: no trials, no validation data.",
    shows="Every group's penalty on its way, the objective that falls at each step, and which "
    "groups were switched off.",
    load=lambda: Implementation(
        (*PRIOR, TARGET, MM_STEPS, TOLERANCE), _learner("mm", "mm_steps"), MmOptions
    ),
    works=_weights_text("looks at how large {whose} come out"),
    source=FOO,
    suggests=_suggests_mm,
    effort=LearnerCost(tables=3.0, structured=8.0),
    costs_structured="As much as five to ten fits: no trials, and a fifth of the training data is "
    "held out only to see that the result beats the default.",
)

EVIDENCE = _penalty_strategy(
    name="evidence",
    title="Learn the penalty (evidence)",
    does="Like MM, but counts only the weights that the data really determine. Better when there "
    "are many columns for few rows.",
    costs="A little more than one fit: no trials, no validation data.",
    shows="Every group's penalty on its way and which groups were switched off.",
    load=lambda: Implementation(
        (MM_STEPS, TOLERANCE), _learner("evidence", "evidence_steps"), EvidenceOptions
    ),
    works=_weights_text("counts how many {counted} the data really determine"),
    source=f"MacKay 1992; {FOO}",
    suggests=_where_recommended("evidence"),
    # Of sequences and molecules the traces come from probes.
    effort=LearnerCost(tables=4.0, structured=300.0),
    costs_structured="Hundreds of fits: at each step it is estimated anew how much the data "
    "determine, which here takes many passes over all of them.",
)

LOO = _penalty_strategy(
    name="loo",
    title="Learn the penalty (leave-one-out)",
    does="Finds the penalty with which each row is predicted best by the model of all the others, "
    "worked out for every row from one fit (approximate leave-one-out cross-validation).",
    costs="About three fits, with several groups of several classes up to 25: no trials, and every "
    "row validates.",
    shows="Every group's penalty on its way, and the leave-one-out log loss that falls.",
    load=lambda: Implementation(
        (SEARCH_STEPS,), _learner("leave_one_out", "leave_one_out_steps"), LooOptions
    ),
    works=lambda moment: (
        "The program moves the penalty up and down, and works out for each how well every row is "
        "predicted by a model fitted without it."
    ),
    source="Rad and Maleki 2020",
    tasks=CLASSIFICATION_TASKS,
    suggests=_where_recommended("loo"),
    effort=LearnerCost(tables=5.0),
)

DIRECT = _penalty_strategy(
    name="direct",
    title="Learn the penalty (direct)",
    does="Minimizes the same objective as MM in one go with a general-purpose optimizer; the "
    "papers' point of comparison, often stuck in poorer solutions.",
    costs="About as much as one fit.",
    shows="The objective and the penalties at each step.",
    load=lambda: Implementation(
        (*PRIOR, TARGET, DIRECT_STEPS), _learner("mm", "direct_steps"), DirectOptions
    ),
    works=lambda moment: (
        "Weights and penalties are improved together by one general-purpose optimizer, until "
        "nothing moves."
    ),
    source=FOO,
    effort=LearnerCost(tables=5.0, structured=15.0),
    costs_structured="As much as ten fits or more, and two to see that the result beats the "
    "default.",
)

GRADIENT = _penalty_strategy(
    name="gradient",
    title="Learn the penalty (validation gradient)",
    does="Follows the slope of the error on held-out data with respect to every group's penalty.",
    costs="A few dozen fits, however many groups there are; about seven times as many with folds.",
    shows="The held-out error, the path of every penalty, and which of them the folds agree on.",
    load=lambda: Implementation(
        GRADIENT_OPTIONS, _learner("implicit_gradient", "gradient_steps"), GradientOptions
    ),
    works=lambda moment: (
        f"Some {moment.items} are held out. The program works out how their error changes with "
        "each penalty, and changes all penalties in the direction in which it falls."
    ),
    source="Do, Foo and Ng 2008",
    suggests=_suggests_gradient,
    holds_out=True,
    effort=LearnerCost(tables=20.0, structured=15.0, in_turns=60.0),
    costs_structured="Some dozens of fits on a part of the training data; five times as many where "
    "so little can be held out that every part takes its turn.",
)
