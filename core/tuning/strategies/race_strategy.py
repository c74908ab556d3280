"""The strategy that tunes several models in one run, the most promising next."""

from dataclasses import dataclass, replace
from typing import Any

from core.estimators.facts import Suggestion
from core.estimators.multi_model import MODEL
from core.options import Option, StrategyOptions, choice_option
from core.tuning.strategies.gp_strategies import JUDGED
from core.tuning.strategies.strategy import Implementation, Strategy

SEARCH = choice_option(
    "search",
    "How each model is tuned",
    "gp",
    "The strategy that proposes the settings of every model: gp a Gaussian process, hybrid and "
    "variable the same with more exploration, tpe Optuna's estimator, random at random, transfer "
    "by what earlier datasets taught.",
    {
        "gp": "Gaussian process (gp)",
        "hybrid": "Gaussian process, hybrid exploration (hybrid)",
        "variable": "Gaussian process, variable threshold (variable)",
        "transfer": "By earlier datasets (transfer)",
        "tpe": "Tree-structured Parzen estimator (tpe)",
        "random": "At random (random)",
    },
)
AVERAGE = Option(
    "average",
    "Average the best models",
    "bool",
    True,
    "Averages the models and settings that predict held-out rows best together, unless the single "
    "best is clearly ahead on rows that chose neither.",
)
REPEATS = Option(
    "repeats",
    "Times that the folds are drawn",
    "int",
    0,
    "How often the training rows are divided into folds anew. With few rows one division "
    "separates good settings from lucky ones badly; two or three do better and cost as many fits. "
    "Settings that fall behind early do not cost more. Automatic: three up to 500 rows, two up to "
    "1,500.",
    low=0,
    high=10,
    lowest_label="automatic",
)
# Models that are judged by their own training rows cannot be compared with others.
_JUDGED = replace(
    JUDGED,
    help="cv: every row is predicted by a model that did not see it (cross-validation). "
    "validation: a fifth of the training rows, held out once, which costs one fit a trial. "
    "Automatic takes cv, and validation where rows are many.",
    choices=JUDGED.choices[:3],
    choice_labels=JUDGED.choice_labels[:3],
)


@dataclass(frozen=True)
class RaceOptions(StrategyOptions):
    """Options of the strategy that tunes several models."""

    search: str = "gp"
    average: bool = True
    judged: str = "automatic"
    repeats: int = 0


def _load_race() -> Implementation:
    # A run of several models never asks this strategy for a sampler.
    def make_sampler(*_: Any) -> Any:
        raise TypeError("every model has a sampler of its own")

    return Implementation((SEARCH, AVERAGE, _JUDGED, REPEATS), make_sampler, RaceOptions)


RACE = Strategy(
    name="race",
    title="Several models, the most promising next",
    kind="trials",
    does="Looks at every model first, with its default setting and what was best on earlier "
    "datasets, then tunes those further whose best score may still rise, each by a Gaussian "
    "process of its own.",
    costs="The minutes or trials that you give. A trial that falls clearly behind is ended early.",
    shows="Which model leads and by how much, what each has cost, and where the next trial goes.",
    load=_load_race,
    works=lambda moment: (
        "Every model is tried with its default setting first. The next trial goes to the model "
        "whose best score is expected to rise most for the seconds that the trial takes."
    ),
    default_trials=150,
    patience=100,  # trials of many models take turns
    suggests=lambda facts, space: Suggestion(1, "It is the way to tune several models in one run."),
    suits=lambda space: tuple(axis.name for axis in space) == (MODEL,),
    averages=True,
    several=True,
    asking=0.05,
)
