"""The registry of strategies: the penalty learners and the samplers, described for people."""

from __future__ import annotations

from dataclasses import replace

from core.penalties.registry import LEARNERS
from core.samplers.registry import SAMPLERS
from core.tuning.averaging.averaging_options import AVERAGING, without_averaging
from core.tuning.strategy import Strategy

FOO = "Foo, Do and Ng 2009"
DO = "Do, Foo and Ng 2008"
RAD = "Rad and Maleki 2020"
BROFOS = "Brofos 2013"
YOGATAMA = "Yogatama and Mann 2014"
MCINERNEY = "McInerney 2017"


def _learner(name: str, title: str, does: str, costs: str, shows: str, source: str) -> Strategy:
    learner = LEARNERS[name]
    return Strategy(
        name,
        title,
        "penalties",
        does,
        costs,
        shows,
        learner.options,
        learner.run,
        0,
        source,
        tasks=learner.tasks,
    )


def _sampler(
    name: str, title: str, does: str, costs: str, shows: str, trials: int, source: str = ""
) -> Strategy:
    sampler = SAMPLERS[name]
    return Strategy(
        name,
        title,
        "trials",
        does,
        costs,
        shows,
        sampler.options,
        sampler.make,
        trials,
        source,
        sampler.remembers,
    )


def _averaging(strategy: Strategy) -> Strategy:
    """The same sampler, with an average over its best models at the end."""
    return replace(
        strategy,
        options=(*strategy.options, *AVERAGING),
        make=without_averaging(strategy.make),
        averages=True,
    )


_ALL = (
    _learner(
        "mm",
        "Learn the penalty (MM)",
        "Learns how strongly to hold back the model's weights, one penalty for all columns or one "
        "for each group, from the training data alone.",
        "About as much as one fit: no trials, no validation data.",
        "Every group's penalty on its way, the objective that falls at each step, and which "
        "groups were switched off.",
        FOO,
    ),
    _learner(
        "evidence",
        "Learn the penalty (evidence)",
        "Like MM, but counts only the weights that the data really determines. Better when there "
        "are many columns for few rows.",
        "A little more than one fit: no trials, no validation data.",
        "Every group's penalty on its way and which groups were switched off.",
        "MacKay 1992; " + FOO,
    ),
    _learner(
        "loo",
        "Learn the penalty (leave-one-out)",
        "Finds the penalty with which each row is predicted best by the model of all the others, "
        "worked out for every row from one fit (approximate leave-one-out cross-validation).",
        "About as much as five fits: no trials, and every row validates.",
        "Every group's penalty on its way, and the leave-one-out log loss that falls.",
        RAD,
    ),
    _learner(
        "direct",
        "Learn the penalty (direct)",
        "Minimizes the same objective as MM in one go with a general-purpose optimizer; the "
        "papers' point of comparison, often stuck in poorer solutions.",
        "About as much as one fit.",
        "The objective and the penalties at each step.",
        FOO,
    ),
    _learner(
        "gradient",
        "Learn the penalty (validation gradient)",
        "Follows the slope of the error on held-out data with respect to every group's penalty.",
        "A few dozen fits, however many groups there are.",
        "The held-out error and the path of every penalty.",
        DO,
    ),
    _sampler(
        "grid",
        "Grid search, coarse to fine",
        "Tries evenly spread settings, first a coarse net over the whole range, then finer ones.",
        "Many trials; the number grows steeply with each further setting of the model.",
        "The score of every setting tried.",
        50,
    ),
    _sampler(
        "random",
        "Random search",
        "Tries settings drawn at random over the whole range.",
        "One trial a draw; nothing is learned from earlier trials.",
        "The score of every setting tried.",
        50,
    ),
    _sampler(
        "gp",
        "Gaussian process",
        "Guesses the score of every setting from those tried so far, and tries next where the "
        "most improvement is expected.",
        "Few trials; choosing each takes some hundredths of a second.",
        "What it believes about every setting, how sure it is, and where it looks next.",
        40,
        BROFOS,
    ),
    _sampler(
        "hybrid",
        "Gaussian process, hybrid exploration",
        "Like the Gaussian process, but one trial in five goes where least is known, so that a "
        "better region is not missed.",
        "Few trials, a fifth of them spent on exploring.",
        "What it believes about every setting, how sure it is, and where it looks next.",
        40,
        BROFOS,
    ),
    _sampler(
        "variable",
        "Gaussian process, variable threshold",
        "Like hybrid, but explores more often the more promising the least known setting is.",
        "Few trials; how many explore depends on what was found.",
        "What it believes about every setting, how sure it is, and where it looks next.",
        40,
        BROFOS,
    ),
    _averaging(
        _sampler(
            "eb-hyp",
            "Average of the best (EB-Hyp)",
            "Tries settings drawn from what the scores so far make likely, and predicts with the "
            "average of the best tenth instead of betting on the one best, which on little data "
            "is partly luck.",
            "As many trials as a Gaussian process, or some more; one model in ten is averaged.",
            "Who is in the average, whether it beats the single best, where its members disagree, "
            "and what it believes about every setting.",
            40,
            MCINERNEY,
        )
    ),
    _sampler(
        "transfer",
        "Learn from earlier datasets",
        "Begins where similar datasets were tuned best, and corrects itself by this dataset's own "
        "scores. Only sizes, settings and scores of earlier datasets are known, never their data.",
        "Very few trials: 11 in the paper.",
        "What earlier datasets and this one say together, which of them are most alike, and how "
        "well they predicted the first trials.",
        11,
        YOGATAMA,
    ),
    _sampler(
        "scot",
        "Learn from earlier rankings (SCoT)",
        "Like learning from earlier datasets, but by ranking the settings tried on each of them; "
        "the paper's point of comparison.",
        "Very few trials; choosing each takes longer the more datasets are known.",
        "What earlier datasets and this one say together, and which of them are most alike.",
        11,
        "Bardenet et al. 2013; " + YOGATAMA,
    ),
    _sampler(
        "tpe",
        "Tree-structured Parzen estimator (Optuna)",
        "Optuna's default: compares where good and where poor trials lie.",
        "More trials than a Gaussian process, each chosen at once.",
        "The score of every setting tried.",
        60,
    ),
    _sampler(
        "cma-es",
        "CMA-ES (Optuna)",
        "Moves and reshapes a cloud of settings towards better scores. For numbers only.",
        "Many trials; suits several hundred.",
        "The score of every setting tried.",
        100,
    ),
)

STRATEGIES: dict[str, Strategy] = {strategy.name: strategy for strategy in _ALL}
