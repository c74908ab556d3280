"""The strategies with a Gaussian process of the scores: this dataset's, or earlier ones' too."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from core.estimators.facts import ModelingFacts, Suggestion, count_word
from core.options import Option, choice_option
from core.samplers.gp_options import EbHypOptions, GpOptions, HybridOptions, VariableOptions
from core.tuning.strategies.strategy import (
    Implementation,
    RunContext,
    Space,
    Strategy,
    sampler_maker,
)

WEIGHTS = choice_option(
    "weights",
    "How much each model counts",
    "uniform",
    "uniform: all models of the average the same, as in the paper. tempered: better scores count "
    "more. greedy: as often as a model improves the average on held-out rows when models are added "
    "one by one (Caruana and others 2004).",
    {
        "uniform": "All the same (uniform)",
        "tempered": "Better ones more (tempered)",
        "greedy": "What improves the average (greedy)",
    },
)
JUDGED = choice_option(
    "judged",
    "What settings are judged by",
    "automatic",
    "cv: every row is predicted by a model that did not see it (cross-validation). validation: a "
    "fifth of the training rows, held out once, which costs one fit a trial. training: the rows "
    "that the model was fitted to, as the paper does without validation; only for models of how "
    "the data come about (topics, by document completion; deep latent Gaussian). Automatic takes "
    "training for the latter and cv for all others; validation for topics of very many texts.",
    {
        "automatic": "Automatic",
        "cv": "Cross-validation (cv)",
        "validation": "A part held out once (validation)",
        "training": "How well it explains the training rows (training)",
    },
)
BROFOS = "Brofos 2013"
_SHARES = {2: "One in two", 3: "One in three", 4: "One in four", 5: "One in five", 10: "One in ten"}
START_TRIALS = Option(
    "start_trials",
    "Trials spread evenly at the start",
    "int",
    -1,
    "How many settings are spread evenly over the space before the scores seen decide. "
    "Automatic (−1) chooses by the number of settings; 0 leaves the start to trials that exist "
    "already.",
    low=-1,
    lowest_label="automatic",
)
KERNEL = choice_option(
    "kernel",
    "Smoothness of the score",
    "matern52",
    "How smooth the score is assumed to be: se very smooth, matern52 smooth, matern32 rougher.",
    {
        "se": "Very smooth (squared exponential, se)",
        "matern32": "Rougher (Matérn 3/2, matern32)",
        "matern52": "Smooth (Matérn 5/2, matern52)",
    },
)
ACQUISITION = choice_option(
    "acquisition",
    "What makes a setting promising",
    "ei",
    "ei: the expected improvement. pi: the probability of any improvement, which stays closer to "
    "the best so far. mean: the expected score alone, which hardly looks elsewhere.",
    {
        "ei": "How much it may improve (ei)",
        "pi": "How likely it improves (pi)",
        "mean": "The score expected there (mean)",
    },
)
STOP_WHEN_CERTAIN = Option(
    "stop_when_certain",
    "Stop when nothing is left to find",
    "bool",
    False,
    "Ends the run early when no better setting is expected and none is still unknown.",
)
AS_PUBLISHED = Option(
    "as_published",
    "Search exactly as published",
    "bool",
    False,
    "As the paper has it, every score counts by its distance from the mean, and every trial may go "
    "anywhere. Otherwise the scores below the median are compressed, so that a few very bad ones "
    "hide nothing, every second trial stays near the best, and the others shun the edges.",
)
# On files held out, beginning with two of them beats transfer and the start by chance.
EARLIER = Option(
    "earlier",
    "Settings taken from earlier datasets",
    "int",
    2,
    "After the default setting, what did best on so many of the most similar earlier datasets is "
    "tried. 0 begins without them, as published.",
    low=0,
)
GP_OPTIONS = (ACQUISITION, KERNEL, START_TRIALS, STOP_WHEN_CERTAIN, AS_PUBLISHED)
SHARE_IMPROVING = Option(
    "tau",
    "Share of trials that improve",
    "float",
    HybridOptions.tau,
    "The probability of trying the most promising setting; otherwise the least known one is tried. "
    "The paper's value is 4/5.",
    low=0.0,
    high=1.0,
)
VARIABLE_TAU = Option(
    "tau",
    "Eagerness to explore",
    "float",
    1.0,
    "Multiplies the probability that the least known setting improves on the best; the product "
    "decides how often it is tried. 1 takes that probability as it is.",
    low=0.0,
)
RULE = choice_option(
    "rule",
    "Which rule decides when to explore",
    "corrected",
    "corrected: the more promising the least known setting, the more often it is tried, as the "
    "paper's text says. printed: the opposite, as the paper's listing has it, which always tries "
    "an unknown that promises nothing; it finds the best less often.",
    {
        "corrected": "As the paper's text says (corrected)",
        "printed": "As its listing has it (printed)",
    },
)
DRAWN = choice_option(
    "rule",
    "How the next setting is drawn",
    "sample",
    "sample: at random, the better a setting may be the more often. thompson: the best of "
    "one sampled surface (Thompson sampling), as the paper's listing has it.",
    {
        "sample": "A sample of the good ones (sample)",
        "thompson": "The best of one sampled surface (thompson)",
    },
)
TEMPERATURE = Option(
    "temperature",
    "Spread of the samples",
    "float",
    1.0,
    "In units of the scores' standard deviation. Small values draw only what may be best; large "
    "ones draw nearly evenly. It does not matter for thompson.",
    low=0.0,
    low_open=True,
)
EB_HYP_OPTIONS = (
    DRAWN,
    TEMPERATURE,
    replace(KERNEL, default="matern32"),
    START_TRIALS,
    WEIGHTS,
    JUDGED,
)


@dataclass(frozen=True)
class WarmGpOptions(GpOptions):
    """Options of the Gaussian process with warm starts."""

    earlier: int = 2


@dataclass(frozen=True)
class AveragedEbHypOptions(EbHypOptions):
    """Options of EB-Hyp and its average."""

    weights: str = "uniform"
    judged: str = "automatic"


def _modelling_text(goal_text: Callable[[RunContext], str]) -> Callable[[RunContext], str]:
    """How many trials the scores are modelled from, and the goal of the next trial."""

    def works_text(moment: RunContext) -> str:
        text = "A Gaussian process learns to guess the score of every setting."
        if moment.tried > 0:
            trials_text = "one tried" if moment.tried == 1 else f"{moment.tried} tried so far"
            text = f"A Gaussian process guesses the score of every setting from the {trials_text}."
        return f"{text} {goal_text(moment)}"

    return works_text


def _goal_text(moment: RunContext) -> str:
    options = GpOptions.from_values(moment.options)
    goals = {
        "pi": "The next trial goes where an improvement is most likely.",
        "mean": "The next trial goes where the guess is best.",
    }
    usual = "The next trial goes where the score is expected to improve most."
    goal = goals.get(options.acquisition, usual)
    if options.as_published:
        return goal
    return f"{goal} Every second one stays near the best so far."


def _hybrid_text(moment: RunContext) -> str:
    # Shares that a person knows are words; the others are a percentage.
    exploring = 1 - float(HybridOptions.from_values(moment.options).tau)
    one_in = (words for n, words in _SHARES.items() if abs(exploring - 1 / n) < 0.01)
    share = next(one_in, f"A share of {round(100 * exploring)} %")
    return (
        f"Most trials go where the score is expected to improve most. {share} goes where the guess "
        "is least certain, so that a better region is not missed."
    )


def _draw_text(moment: RunContext) -> str:
    text = (
        "The next setting is drawn at random: the likelier a setting is to be good, the likelier "
        "it is drawn."
    )
    if EbHypOptions.from_values(moment.options).rule == "thompson":
        text = (
            "The next setting is the best one of a guess that is drawn at random among those that "
            "agree with the trials."
        )
    return (
        f"{text} One setting that looks best on little data can be luck, so the best tenth of the "
        "models predicts together."
    )


def _suggests_gp(facts: ModelingFacts, space: Space) -> Suggestion:
    settings, target = "One setting", "its best value may lie"
    if len(space) != 1:
        settings = f"{count_word(len(space)).capitalize()} settings"
        target = "their best values may lie together"
    learns = f"a Gaussian process learns from every trial where {target}."
    return Suggestion(1, f"{settings} to tune: {learns}")


def _suggests_average(facts: ModelingFacts, space: Space) -> Suggestion | None:
    # Where there is a target, held-out rows tell the best setting apart from the others.
    if facts.task.has_target:
        return None
    return Suggestion(
        2,
        f"No number of topics is the one right for {facts.rows:,} texts, many settings explain them"
        " about as well: an average over the best ones uses them all and needs no validation set.",
    )


def _gp_implementation(
    sampler_name: str, option_class: type[GpOptions], options: tuple[Option, ...]
) -> Implementation:
    def make_sampler(space: Space, options: GpOptions, seed: int, _history: object) -> Any:
        from core.samplers import bayes

        return getattr(bayes, sampler_name)(space, options, seed=seed)

    return Implementation(options, make_sampler, option_class)


_gp_strategy = partial(
    Strategy,
    kind="trials",
    shows="What it expects of every setting, how sure it is, and where it looks next.",
    default_trials=40,
    source=BROFOS,
    surrogate="scores",
    asking=0.05,
)

GP = _gp_strategy(
    name="gp",
    title="Gaussian process",
    does="Guesses the score of every setting from those tried so far, and tries next where the "
    "most improvement is expected.",
    costs="Few trials; choosing each takes some hundredths of a second.",
    load=lambda: _gp_implementation("GpSampler", WarmGpOptions, (*GP_OPTIONS, EARLIER)),
    works=_modelling_text(_goal_text),
    suggests=_suggests_gp,
)

HYBRID = _gp_strategy(
    name="hybrid",
    title="Gaussian process, hybrid exploration",
    does="Like the Gaussian process, but one trial in five goes where least is known, so that a "
    "better region is not missed.",
    costs="Few trials, a fifth of them spent on exploring.",
    load=lambda: _gp_implementation("HybridSampler", HybridOptions, (SHARE_IMPROVING, *GP_OPTIONS)),
    works=_modelling_text(_hybrid_text),
)

VARIABLE = _gp_strategy(
    name="variable",
    title="Gaussian process, variable threshold",
    does="Like hybrid, but explores more often the more promising the least known setting is.",
    costs="Few trials; how many explore depends on what was found.",
    load=lambda: _gp_implementation(
        "VariableSampler", VariableOptions, (RULE, VARIABLE_TAU, *GP_OPTIONS)
    ),
    works=_modelling_text(
        lambda moment: (
            "Trials go where the score is expected to improve most, or where the guess is least "
            "certain; the more promising the unknown is, the more often it is explored."
        )
    ),
)

EB_HYP = _gp_strategy(
    name="eb-hyp",
    title="Average of the best (EB-Hyp)",
    does="Tries settings drawn from what the scores so far make likely, and predicts with the "
    "average of the best tenth instead of betting on the one best, which on little data is partly "
    "luck.",
    costs="As many trials as a Gaussian process, or some more; one model in ten is averaged.",
    shows="Who is in the average, whether it beats the single best, where its members disagree, "
    "and what it expects of every setting.",
    load=lambda: _gp_implementation("EbHypSampler", AveragedEbHypOptions, EB_HYP_OPTIONS),
    works=_modelling_text(_draw_text),
    source="McInerney 2017",
    suggests=_suggests_average,
    averages=True,
)


YOGATAMA = "Yogatama and Mann 2014"
COMMON_KERNEL = choice_option(
    "kernel",
    "Which earlier datasets count",
    "mkl",
    "mkl: the twenty most similar datasets, all counted the same. sqe: all earlier datasets, by "
    "their similarity. printed: as mkl, but by the paper's formula to the letter, "
    "for comparison; it finds good settings less often.",
    {
        "mkl": "The twenty most similar (mkl)",
        "sqe": "All, by similarity (sqe)",
        "printed": "The paper's formula to the letter (printed)",
    },
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
TRANSFER_AS_PUBLISHED = replace(
    AS_PUBLISHED,
    label="Standardize exactly as published",
    help="As the paper has it, mean and deviation of this dataset's scores are those of its trials "
    "alone, however few and however alike. Otherwise they are estimated from how far its scores "
    "differ from what earlier datasets lead to expect, and from how widely scores spread there.",
)
# "printed" is a formula of the joint surface alone.
SCOT_KERNEL = replace(
    COMMON_KERNEL,
    help=COMMON_KERNEL.help.partition(" printed:")[0],
    choices=COMMON_KERNEL.choices[:2],
    choice_labels=COMMON_KERNEL.choice_labels[:2],
)
FEATURES = choice_option(
    "features",
    "How settings are ranked",
    "rbf",
    "rbf: values may be best in the middle of their range, and differently on different datasets. "
    "linear: each value counts for or against a setting, on every dataset alike, as in the "
    "comparison of Yogatama and Mann; it often ends in a corner of the ranges.",
    {"rbf": "Any shape (rbf)", "linear": "More of a value is better or worse (linear)"},
)


def _transfer_text(moment: RunContext) -> str:
    trials_text = f"this dataset's {moment.tried} trials and from " if moment.tried > 1 else ""
    return (
        f"A Gaussian process guesses how good every setting is from {trials_text}what worked on "
        "datasets like this one. Every score counts by how much it beats its own dataset's usual "
        "score, so that easy and hard datasets can be compared."
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
    load=lambda: Implementation(
        (COMMON_KERNEL, REPLACEMENT, TRANSFER_AS_PUBLISHED),
        sampler_maker("transfer.joint_surrogate", "TransferSampler", "space", "history"),
    ),
    works=_transfer_text,
    default_trials=11,
    source=YOGATAMA,
    uses_history=True,
    surrogate="common",
    asking=0.05,
)

SCOT = replace(
    TRANSFER,
    name="scot",
    title="Learn from earlier rankings (SCoT)",
    does="Like learning from earlier datasets, but by ranking the settings tried on each of them; "
    "the paper's point of comparison.",
    costs="Very few trials; choosing each takes longer the more datasets are known.",
    shows="The joint surface of earlier datasets and this one, and which of them are most similar.",
    load=lambda: Implementation(
        (SCOT_KERNEL, FEATURES), sampler_maker("transfer.scot", "ScotSampler", "space", "history")
    ),
    works=lambda moment: (
        "The program learns from pairs of earlier trials which settings beat which others on "
        "datasets of this size. A Gaussian process over that ranking says where to try next."
    ),
    source=f"Bardenet et al. 2013; {YOGATAMA}",
    surrogate="ranks",
)
