"""The strategies that learn from earlier datasets: a joint surface, and rankings (SCoT)."""

from __future__ import annotations

from dataclasses import dataclass

from core.options import Option, StrategyOptions
from core.tuning.strategies.strategy import Implementation, RunContext, Strategy

YOGATAMA = "Yogatama and Mann 2014"
COMMON_KERNEL = Option(
    "kernel",
    "Which earlier datasets count",
    "choice",
    "mkl",
    "mkl: the twenty most similar datasets, all counted the same. sqe: all earlier datasets, by "
    "their similarity. printed: as mkl, but by the paper's formula to the letter, "
    "for comparison; it finds good settings less often.",
    choices=("mkl", "sqe", "printed"),
    choice_labels=(
        "The twenty most similar (mkl)",
        "All, by similarity (sqe)",
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
    "mkl: the twenty most similar datasets, all counted the same. sqe: all earlier datasets, by "
    "their similarity.",
    choices=("mkl", "sqe"),
    choice_labels=("The twenty most similar (mkl)", "All, by similarity (sqe)"),
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


@dataclass(frozen=True)
class TransferOptions(StrategyOptions):
    """Options of the joint surface."""

    kernel: str = "mkl"
    replacement: float = 0.25


@dataclass(frozen=True)
class ScotOptions(StrategyOptions):
    """Options of SCoT."""

    kernel: str = "mkl"
    features: str = "rbf"


def _load_transfer() -> Implementation:
    from core.samplers.transfer.sampler import TransferSampler  # Optuna takes seconds to import

    return Implementation(
        (COMMON_KERNEL, REPLACEMENT),
        lambda space, options, seed, history: TransferSampler(
            space,
            seed=seed,
            history=history,
            kernel=options.kernel,
            replacement=options.replacement,
        ),
        TransferOptions,
    )


def _load_scot() -> Implementation:
    from core.samplers.transfer.scot import ScotSampler

    return Implementation(
        (SCOT_KERNEL, FEATURES),
        lambda space, options, seed, history: ScotSampler(
            space, seed=seed, history=history, kernel=options.kernel, features=options.features
        ),
        ScotOptions,
    )


def _works_text(moment: RunContext) -> str:
    trials_text = f"this dataset's {moment.tried} trials and from " if moment.tried > 1 else ""
    return (
        f"A Gaussian process guesses how good every setting is from {trials_text}what worked on "
        "datasets like this one. Every score counts by how much it beats its own dataset's mean, "
        "so that easy and hard datasets can be compared."
    )


TRANSFER = Strategy(
    name="transfer",
    title="Learn from earlier datasets",
    kind="trials",
    does="Begins where similar datasets were tuned best, and corrects itself by this dataset's own "
    "scores. Only sizes, settings and scores of earlier datasets are known, never their data.",
    costs="Very few trials: 11 in the paper.",
    shows="The joint surface of earlier datasets and this one, which of them are most similar, "
    "and how well they predicted the first trials.",
    load=_load_transfer,
    works=_works_text,
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
    shows="The joint surface of earlier datasets and this one, and which of them are most similar.",
    load=_load_scot,
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
