"""The strategies that model this dataset's scores: Gaussian processes, and averages by one."""

from __future__ import annotations

from collections.abc import Callable

from core.estimators.facts import Facts, Suggestion, in_words
from core.tuning.strategies.searches import MOST_GRIDDED, sampler
from core.tuning.strategies.strategy import Implementation, Moment, Space, Strategy

BROFOS = "Brofos 2013"
TAU = 0.8  # the share of trials that go for an improvement (Brofos 2013, Algorithm 2)
_WATCHED = "What it believes about every setting, how sure it is, and where it looks next."
_SHARES = {2: "One in two", 3: "One in three", 4: "One in four", 5: "One in five", 10: "One in ten"}


def _modelling(where: Callable[[Moment], str]) -> Callable[[Moment], str]:
    """From how many trials the scores are modelled, and `where` the next trial goes."""

    def works(moment: Moment) -> str:
        so_far = "A Gaussian process guesses the score of every setting from"
        said = f"{so_far} the {moment.tried} tried so far."
        if moment.tried == 0:
            said = "A Gaussian process learns to guess the score of every setting."
        elif moment.tried == 1:
            said = f"{so_far} the one tried."
        return f"{said} {where(moment)}"

    return works


def _goal(moment: Moment) -> str:
    goals = {
        "pi": "The next trial goes where an improvement is most likely.",
        "mean": "The next trial goes where the guess is best.",
    }
    usual = "The next trial goes where the score is expected to improve most."
    return goals.get(str(moment.options.get("acquisition", "ei")), usual)


def _mostly_improving(moment: Moment) -> str:
    exploring = 1 - float(moment.options.get("tau", TAU))
    one_in = (words for n, words in _SHARES.items() if abs(exploring - 1 / n) < 0.01)
    share = next(one_in, f"A share of {round(100 * exploring)} %")
    return (
        f"Most trials go where the score is expected to improve most. {share} goes where the guess "
        "is least certain, so that a better region is not missed."
    )


def _sometimes_exploring(moment: Moment) -> str:
    return (
        "Trials go where the score is expected to improve most, or where the guess is least "
        "certain; the more promising the unknown is, the more often it is explored."
    )


def _drawn(moment: Moment) -> str:
    drawn = (
        "The next setting is drawn at random: the likelier a setting is to be good, the likelier "
        "it is drawn."
    )
    if moment.options.get("rule") == "thompson":
        drawn = (
            "The next setting is the best one of a guess that is drawn at random among those that "
            "agree with the trials."
        )
    return (
        f"{drawn} One setting that looks best on little data can be luck, so the best tenth of the "
        "models predicts together."
    )


def _suggests_gp(facts: Facts, space: Space) -> Suggestion:
    count = len(space)
    if count == 1:
        learns = "a Gaussian process learns from every trial where its best value may lie."
        return Suggestion(1, f"One setting to tune: {learns}")
    need = f"would need {5**count:,} trials" if count <= MOST_GRIDDED else "would never end"
    return Suggestion(
        1,
        f"{in_words(count).capitalize()} settings to tune. A grid of five values each {need}; a "
        "Gaussian process learns from every trial and needs far fewer.",
    )


def _suggests_average(facts: Facts, space: Space) -> Suggestion | None:
    if facts.task != "topics":
        return None
    return Suggestion(
        2,
        f"No number of topics is the one right for {facts.rows:,} texts, many settings explain them"
        " about as well: an average over the best ones uses them all and needs no validation set.",
    )


def _averaging() -> Implementation:
    from core.tuning.averaging.averaging_options import AVERAGING, without_averaging

    own = sampler("eb-hyp")()
    return Implementation((*own.options, *AVERAGING), without_averaging(own.make))


GP = Strategy(
    name="gp",
    title="Gaussian process",
    kind="trials",
    does="Guesses the score of every setting from those tried so far, and tries next where the "
    "most improvement is expected.",
    costs="Few trials; choosing each takes some hundredths of a second.",
    shows=_WATCHED,
    load=sampler("gp"),
    works=_modelling(_goal),
    default_trials=40,
    source=BROFOS,
    suggests=_suggests_gp,
    surrogate="scores",
    asking=0.05,
)

HYBRID = Strategy(
    name="hybrid",
    title="Gaussian process, hybrid exploration",
    kind="trials",
    does="Like the Gaussian process, but one trial in five goes where least is known, so that a "
    "better region is not missed.",
    costs="Few trials, a fifth of them spent on exploring.",
    shows=_WATCHED,
    load=sampler("hybrid"),
    works=_modelling(_mostly_improving),
    default_trials=40,
    source=BROFOS,
    surrogate="scores",
    asking=0.05,
)

VARIABLE = Strategy(
    name="variable",
    title="Gaussian process, variable threshold",
    kind="trials",
    does="Like hybrid, but explores more often the more promising the least known setting is.",
    costs="Few trials; how many explore depends on what was found.",
    shows=_WATCHED,
    load=sampler("variable"),
    works=_modelling(_sometimes_exploring),
    default_trials=40,
    source=BROFOS,
    surrogate="scores",
    asking=0.05,
)

EB_HYP = Strategy(
    name="eb-hyp",
    title="Average of the best (EB-Hyp)",
    kind="trials",
    does="Tries settings drawn from what the scores so far make likely, and predicts with the "
    "average of the best tenth instead of betting on the one best, which on little data is partly "
    "luck.",
    costs="As many trials as a Gaussian process, or some more; one model in ten is averaged.",
    shows="Who is in the average, whether it beats the single best, where its members disagree, "
    "and what it believes about every setting.",
    load=_averaging,
    works=_modelling(_drawn),
    default_trials=40,
    source="McInerney 2017",
    suggests=_suggests_average,
    averages=True,
    surrogate="scores",
    asking=0.05,
)
