"""The strategies that learn from earlier datasets: a common surface, and rankings (SCoT)."""

from __future__ import annotations

from core.options import Option
from core.tuning.strategies.strategy import Implementation, Moment, Strategy

YOGATAMA = "Yogatama and Mann 2014"
COMMON_KERNEL = Option(
    "kernel",
    "Which earlier datasets count",
    "choice",
    "mkl",
    "mkl: the twenty datasets most like this one, all alike. sqe: all earlier datasets, the more "
    "the more they are like this one. printed: as mkl, but by the paper's formula to the letter, "
    "for comparison; it finds good settings less often.",
    choices=("mkl", "sqe", "printed"),
    choice_labels=(
        "The twenty most alike (mkl)",
        "All, by their likeness (sqe)",
        "The paper's formula to the letter (printed)",
    ),
)
REPLACEMENT = Option(
    "replacement",
    "Share of values drawn by chance",
    "float",
    0.25,
    "With this probability each value of a proposed setting is replaced by a random one, so that "
    "this dataset's usual score, which scores are compared with, is not judged by good settings "
    "alone. The paper's value is 1/4; 0 takes every proposal as it is.",
    low=0.0,
    high=1.0,
)
SCOT_KERNEL = Option(
    "kernel",
    "Which earlier datasets count",
    "choice",
    "mkl",
    "mkl: the twenty datasets most like this one, all alike. sqe: all earlier datasets, the more "
    "the more they are like this one.",
    choices=("mkl", "sqe"),
    choice_labels=("The twenty most alike (mkl)", "All, by their likeness (sqe)"),
)
FEATURES = Option(
    "features",
    "How settings are ranked",
    "choice",
    "rbf",
    "rbf: values may be best in the middle of their range, and differently on different datasets. "
    "linear: each value counts for or against a setting, on every dataset alike, as in the "
    "comparison of Yogatama and Mann; it often ends in a corner of the ranges.",
    choices=("rbf", "linear"),
    choice_labels=("Any shape (rbf)", "More of a value is better or worse (linear)"),
)


def _transfer() -> Implementation:
    from core.samplers.transfer.sampler import TransferSampler  # Optuna takes seconds to import

    return Implementation(
        (COMMON_KERNEL, REPLACEMENT),
        lambda space, options, seed, history: TransferSampler(
            space, seed=seed, history=history, **options
        ),
    )


def _scot() -> Implementation:
    from core.samplers.transfer.scot import ScotSampler

    return Implementation(
        (SCOT_KERNEL, FEATURES),
        lambda space, options, seed, history: ScotSampler(
            space, seed=seed, history=history, **options
        ),
    )


def _works(moment: Moment) -> str:
    own = f"this dataset's {moment.tried} trials and from " if moment.tried > 1 else ""
    return (
        f"A Gaussian process guesses how good every setting is from {own}what worked on datasets "
        "like this one. Every score counts by how much it beats its own dataset's mean, so that "
        "easy and hard datasets can be compared."
    )


TRANSFER = Strategy(
    name="transfer",
    title="Learn from earlier datasets",
    kind="trials",
    does="Begins where similar datasets were tuned best, and corrects itself by this dataset's own "
    "scores. Only sizes, settings and scores of earlier datasets are known, never their data.",
    costs="Very few trials: 11 in the paper.",
    shows="What earlier datasets and this one say together, which of them are most alike, and how "
    "well they predicted the first trials.",
    load=_transfer,
    works=_works,
    default_trials=11,
    source=YOGATAMA,
    uses_history=True,
    surrogate="common",
    asking=0.05,
)

SCOT = Strategy(
    name="scot",
    title="Learn from earlier rankings (SCoT)",
    kind="trials",
    does="Like learning from earlier datasets, but by ranking the settings tried on each of them; "
    "the paper's point of comparison.",
    costs="Very few trials; choosing each takes longer the more datasets are known.",
    shows="What earlier datasets and this one say together, and which of them are most alike.",
    load=_scot,
    works=lambda moment: (
        "The program learns from pairs of earlier trials which settings beat which others on "
        "datasets of this size. A Gaussian process over that ranking says where to try next."
    ),
    default_trials=11,
    source=f"Bardenet et al. 2013; {YOGATAMA}",
    uses_history=True,
    surrogate="ranks",
    asking=0.05,
)
