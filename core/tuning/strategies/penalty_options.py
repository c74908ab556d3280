"""The options of the strategies that learn penalties."""

from __future__ import annotations

from core.options import Option, StrategyOptions
from core.penalties.learner_options import GradientOptions

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
    Option(
        "preset",
        "Where α and β come from",
        "choice",
        "automatic",
        "automatic: as paper, but for groups of weights that mostly occur five times or fewer in"
        " training sequences, such as those of words: for these β is half their number, so that no"
        " penalty exceeds 1. paper: α and β as given here. authors: α = ½, as in the authors' own"
        " program, which matters for groups of a few columns only; both count every weight as free,"
        " which evidence does not. sparse: β = 0.0001, for one group a column.",
        choices=("automatic", "paper", "authors", "sparse"),
        choice_labels=(
            "Automatic",
            "From the two fields above (paper)",
            "From the authors' program (authors)",
            "For one group a column (sparse)",
        ),
    ),
    Option(
        "counts",
        "Which weights count (n)",
        "choice",
        "seen",
        "Of sequences and molecules. seen: those of features and labels that the training rows have"
        " together, such as a word with one of its tags. all: every weight, as in the paper; most"
        " of them never occur, and their number alone makes the penalties large.",
        choices=("seen", "all"),
        choice_labels=("Those that occur (seen)", "Every weight (all)"),
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
DIRECT_STEPS = Option(
    "max_steps",
    "Steps at most",
    "int",
    500,
    "The method stops earlier by itself.",
    low=1,
    high=10000,
)
SEARCH_STEPS = Option(
    "max_steps",
    "Steps at most",
    "int",
    130,
    "The method stops earlier by itself.",
    low=1,
    high=10000,
)
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
GRADIENT = (
    Option(
        "validation",
        "Validation rows",
        "choice",
        "automatic",
        "holdout: one part of the training rows is held out, as in the paper. folds: every row is"
        " held out once, slower and steadier. Automatic takes folds where a quarter of the rows"
        " (sequences, molecules) would be fewer than five a penalty.",
        choices=("automatic", "holdout", "folds"),
        choice_labels=(
            "Automatic",
            "One part of the rows (holdout)",
            "Every row once, in turns (folds)",
        ),
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
    Option(
        "prior",
        "Prior on the penalties",
        "choice",
        "automatic",
        "weak: a Gaussian prior on each log penalty around 0, so that few held-out data do not"
        " drive penalties to extremes. none: as in the paper. Automatic takes weak for sequences"
        " and molecules and none for tables.",
        choices=("automatic", "none", "weak"),
        choice_labels=("Automatic", "No (none)", "A little (weak)"),
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
