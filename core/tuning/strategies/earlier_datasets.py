"""The strategies that learn from earlier datasets: a common surface, and rankings (SCoT)."""

from __future__ import annotations

from core.tuning.strategies.searches import sampler
from core.tuning.strategies.strategy import Moment, Strategy

YOGATAMA = "Yogatama and Mann 2014"


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
    load=sampler("transfer"),
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
    load=sampler("scot"),
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
