"""Every sampler by its name, with its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from optuna.samplers import BaseSampler

from core.options import Option, complete
from core.samplers.bayes import GpSampler, HybridSampler, VariableSampler
from core.samplers.eb_hyp import EbHypSampler
from core.samplers.grid import GridSampler
from core.samplers.peers import NotedCmaEsSampler, NotedTpeSampler
from core.samplers.random import RandomSampler
from core.samplers.transfer.past import Memory
from core.samplers.transfer.sampler import TransferSampler
from core.samplers.transfer.scot import ScotSampler
from core.space import Axis

Build = Callable[[Sequence[Axis], dict[str, Any], int, Memory], BaseSampler]


@dataclass(frozen=True)
class Sampler:
    """One way of proposing trials.

    Attributes:
        name: on the command line.
        options: what can be set, with the papers' defaults.
        build: (space, checked options, seed, memory) -> the Optuna sampler.
        source: the paper it comes from.
        remembers: whether earlier datasets decide what it proposes.
    """

    name: str
    options: tuple[Option, ...]
    build: Build
    source: str = ""
    remembers: bool = False

    def make(
        self,
        space: Sequence[Axis],
        options: Mapping[str, Any],
        seed: int,
        memory: Memory | None = None,
    ) -> BaseSampler:
        """The sampler over a space; `memory` is for those that remember.

        Raises:
            UnusableError: an option that does not exist or is out of its range.
        """
        return self.build(space, complete(self.options, options), seed, memory or Memory())


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
KERNEL = Option(
    "kernel",
    "Smoothness of the score",
    "choice",
    "matern52",
    "How smooth the score is believed to be: se very smooth, matern52 smooth, matern32 rougher.",
    choices=("se", "matern32", "matern52"),
    choice_labels=(
        "Very smooth (squared exponential, se)",
        "Rougher (Matérn 3/2, matern32)",
        "Smooth (Matérn 5/2, matern52)",
    ),
)
ACQUISITION = Option(
    "acquisition",
    "What makes a setting promising",
    "choice",
    "ei",
    "ei: the expected improvement. pi: the probability of any improvement, which stays closer to "
    "the best so far. mean: the expected score alone, which hardly looks elsewhere.",
    choices=("ei", "pi", "mean"),
    choice_labels=(
        "How much it may improve (ei)",
        "How likely it improves (pi)",
        "The score expected there (mean)",
    ),
)
STOP_WHEN_CERTAIN = Option(
    "stop_when_certain",
    "Stop when nothing is left to find",
    "bool",
    False,
    "Ends the run early when no better setting is expected and none is still unknown.",
)
GP_OPTIONS = (ACQUISITION, KERNEL, START_TRIALS, STOP_WHEN_CERTAIN)
TAU = Option(
    "tau",
    "Share of trials that improve",
    "float",
    0.8,
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
RULE = Option(
    "rule",
    "Which rule decides when to explore",
    "choice",
    "corrected",
    "corrected: the more promising the least known setting, the more often it is tried, as the "
    "paper's text says. printed: the opposite, as the paper's listing has it, which always tries "
    "an unknown that promises nothing; it finds the best less often.",
    choices=("corrected", "printed"),
    choice_labels=("As the paper's text says (corrected)", "As its listing has it (printed)"),
)
DRAWN = Option(
    "rule",
    "How the next setting is drawn",
    "choice",
    "sample",
    "sample: at random, the better a setting may be the more often. thompson: the best of what "
    "one guess of all scores says, as the paper's listing has it.",
    choices=("sample", "thompson"),
    choice_labels=("A sample of the good ones (sample)", "The best of one guess (thompson)"),
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
EB_HYP_OPTIONS = (DRAWN, TEMPERATURE, replace(KERNEL, default="matern32"), START_TRIALS)
POINTS = Option(
    "points",
    "Values of every setting",
    "int",
    0,
    "How many values of every number are tried. Automatic (0) chooses so that the grid has some "
    "500 settings at most where that is possible; the coarse ones come first.",
    low=0,
    high=1001,
    lowest_label="automatic",
)
POWERS_OF_TWO = Option(
    "powers_of_two",
    "Powers of two on wide ranges",
    "bool",
    False,
    "For settings with a logarithmic range: tries powers of two, such as C = 2⁻¹⁰ … 2¹⁰.",
)
TPE_START = Option(
    "start_trials", "Random trials at the start", "int", 10, "Random trials before TPE begins.", 0
)

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

_BROFOS = "Brofos 2013"


def _bayes(kind: type[GpSampler[Any]]) -> Build:
    def build(
        space: Sequence[Axis], options: dict[str, Any], seed: int, memory: Memory
    ) -> BaseSampler:
        start = options["start_trials"]
        given = {**options, "start_trials": None if start < 0 else start}
        return kind(space, kind.Options(**given), seed=seed)

    return build


SAMPLERS: dict[str, Sampler] = {
    sampler.name: sampler
    for sampler in (
        Sampler(
            "grid",
            (POINTS, POWERS_OF_TWO),
            lambda space, options, seed, memory: GridSampler(space, seed=seed, **options),
            "LIBSVM, grid.py",
        ),
        Sampler(
            "random",
            (),
            lambda space, options, seed, memory: RandomSampler(space, seed=seed),
            "Bergstra & Bengio 2012",
        ),
        Sampler("gp", GP_OPTIONS, _bayes(GpSampler), f"{_BROFOS}, Algorithm 1"),
        Sampler("hybrid", (TAU, *GP_OPTIONS), _bayes(HybridSampler), f"{_BROFOS}, Algorithm 2"),
        Sampler(
            "variable",
            (RULE, VARIABLE_TAU, *GP_OPTIONS),
            _bayes(VariableSampler),
            f"{_BROFOS}, Algorithm 3",
        ),
        Sampler("eb-hyp", EB_HYP_OPTIONS, _bayes(EbHypSampler), "McInerney 2017, Algorithm 1"),
        Sampler(
            "transfer",
            (COMMON_KERNEL, REPLACEMENT),
            lambda space, options, seed, memory: TransferSampler(
                space, seed=seed, memory=memory, **options
            ),
            "Yogatama & Mann 2014, Algorithm 2",
            remembers=True,
        ),
        Sampler(
            "scot",
            (SCOT_KERNEL, FEATURES),
            lambda space, options, seed, memory: ScotSampler(
                space, seed=seed, memory=memory, **options
            ),
            "Bardenet et al. 2013",
            remembers=True,
        ),
        Sampler(
            "tpe",
            (TPE_START,),
            lambda space, options, seed, memory: NotedTpeSampler(seed=seed, **options),
            "Bergstra et al. 2011",
        ),
        Sampler(
            "cma-es",
            (),
            lambda space, options, seed, memory: NotedCmaEsSampler(seed=seed),
            "Hansen 2016",
        ),
    )
}
