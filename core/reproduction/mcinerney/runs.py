"""Searches of McInerney 2017 side by side: three methods, each with and without validation data.

A seed stands for everything random: the split, the start of every fit, the searches. Every fit is
kept when it ends, so that a stop costs a fit. The two searches that the paper compares come first,
seed after seed, so that the seeds that are finished are a result by themselves. A setting that two
searches try on the same data is fitted once: the evenly spread start of EB-Hyp and BayesOpt is the
same.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna.samplers import BaseSampler
from optuna.trial import TrialState

from core.errors import UnusableError
from core.reproduction.checkpoint import Checkpoint
from core.reproduction.pool import Pool
from core.samplers.bayes import GpOptions, GpSampler
from core.samplers.eb_hyp import EbHypOptions, EbHypSampler
from core.samplers.random import RandomSampler
from core.samplers.search_space import distributions
from core.space import Axis, Setting
from core.tuning.guidance.forecast import in_time

optuna.logging.set_verbosity(optuna.logging.WARNING)

PROCESSES = 2
EB_HYP, BAYES, RANDOM = "eb-hyp", "bayesopt", "random"
# Eq. 5 at the program's own temperature; colder samples and the arg max of Algorithm 1 came out
# alike in a pilot.
RULE = "1.0"

Fitted = dict[str, Any]
"""What a fit gives: ``f``, None where it failed; ``test``, the log density of every test row, under
the names of what is predicted; ``took``, its seconds."""


@dataclass(frozen=True)
class Problem:
    """A model and its data.

    Attributes:
        name: in the checkpoint's.
        folder: where the data lie; "" to draw them.
        size: how much of them, in the fit's own terms; 0 for all.
        effort: passes or epochs of a fit.
        space: of the hyperparameters.
        priors: the two of them that figure 2 is drawn over.
        fit: (problem, setting, seed, with validation) -> what a fit gives, at the top of a module.
        mark: of the data.
    """

    name: str
    folder: str
    size: int
    effort: int
    space: tuple[Axis, ...]
    priors: tuple[str, str]
    fit: Callable[[Problem, Setting, int, bool], Fitted]
    mark: str = ""

    @property
    def kept_as(self) -> str:
        """What its checkpoint is called; the number of trials and seeds may be another one."""
        space = [axis.as_dict() for axis in self.space]
        what = json.dumps([self.mark, self.size, self.effort, space])
        return f"mcinerney-{self.name}-{hashlib.sha256(what.encode()).hexdigest()[:12]}"


def marked(folder: Path | None, names: Sequence[str], what: str) -> str:
    """What tells the data apart: the start of the first file's SHA-256, or "drawn".

    Raises:
        UnusableError: the folder lacks one of the files.
    """
    if folder is None:
        return "drawn"
    for name in names:
        if not (folder / name).is_file():
            raise UnusableError(
                f"there is no {name}",
                where=f"--data {folder}",
                cure=f"give the folder with {what}",
            )
    return hashlib.sha256((folder / names[0]).read_bytes()).hexdigest()[:12]


def sampler(method: str, space: tuple[Axis, ...], seed: int, rule: str = RULE) -> BaseSampler:
    """The search of a method.

    EB-Hyp and BayesOpt have the performance model of the paper's section 4: Matérn 3/2, learned
    anew after every trial. BayesOpt maximizes expected improvement, with which it is best known.

    Args:
        method: eb-hyp, bayesopt or random.
        space: of the hyperparameters.
        seed: of everything random.
        rule: of EB-Hyp: thompson, or the temperature of sample as a number.
    """
    if method == EB_HYP and rule == "thompson":
        return EbHypSampler(space, EbHypOptions(rule="thompson"), seed=seed)
    if method == EB_HYP:
        return EbHypSampler(space, EbHypOptions(rule="sample", temperature=float(rule)), seed=seed)
    if method == BAYES:
        options = GpOptions(kernel="matern32", always_learn=True, as_published=True)
        return GpSampler(space, options, seed=seed)
    return RandomSampler(space, seed=seed)


@dataclass(frozen=True)
class Search:
    """One method with one seed, judged by validation data or by the data it is trained on."""

    problem: Problem
    method: str
    validated: bool
    seed: int
    trials: int
    rule: str = RULE

    @property
    def name(self) -> str:
        """In the checkpoint."""
        rule = f" {self.rule}" if self.method == EB_HYP else ""
        return f"{self.seed}|{'with' if self.validated else 'without'}|{self.method}{rule}"

    def fit_key(self, setting: Setting) -> str:
        """Of a fit in the checkpoint: who tried the setting does not matter."""
        mode = "with" if self.validated else "without"
        return f"fit|{self.seed}|{mode}|{json.dumps(setting, sort_keys=True)}"


class Chain:
    """The trials of one search, each with what those before gave."""

    def __init__(self, search: Search, kept: Checkpoint) -> None:
        self.search, self._kept = search, kept
        self._told = 0
        self._study: optuna.Study | None = None
        self._asked: optuna.Trial | None = None

    @property
    def unfinished(self) -> bool:
        """Whether a trial is missing."""
        return any(self._at(k) not in self._kept for k in range(self.search.trials))

    @property
    def missing(self) -> int:
        """How many trials are missing."""
        return sum(self._at(k) not in self._kept for k in range(self.search.trials))

    def next(self) -> Setting | None:
        """The setting that has to be fitted next; None where all are."""
        while self.unfinished:
            setting = self._ask()
            key = self.search.fit_key(setting)
            if key not in self._kept:
                return setting
            self._tell(setting, self._kept[key]["f"])
        return None

    def trials(self) -> list[tuple[Setting, Fitted]]:
        """What was tried, and what it gave."""
        settings = [self._kept[self._at(k)] for k in range(self.search.trials)]
        return [(each, self._kept[self.search.fit_key(each)]) for each in settings]

    def _ask(self) -> Setting:
        search = self.search
        if self._study is None:
            chosen = sampler(search.method, search.problem.space, search.seed, search.rule)
            self._study = optuna.create_study(direction="maximize", sampler=chosen)
        if self._asked is None:
            self._asked = self._study.ask(distributions(search.problem.space))
        return dict(self._asked.params)

    def _tell(self, setting: Setting, f: float | None) -> None:
        assert self._study is not None
        assert self._asked is not None
        if f is None:
            self._study.tell(self._asked, state=TrialState.FAIL)
        else:
            self._study.tell(self._asked, f)
        self._asked = None
        if self._at(self._told) not in self._kept:
            self._kept.keep(self._at(self._told), setting)
        self._told += 1

    def _at(self, trial: int) -> str:
        return f"trial|{self.search.name}|{trial}"


Runs = dict[tuple[str, bool, int], list[tuple[Setting, Fitted]]]
"""The trials of every search, by its method, whether it is validated, and its seed."""


def searches(problem: Problem, trials: int, seeds: Iterable[int], rule: str = RULE) -> list[Search]:
    """Three methods, with and without validation: first the two that are compared, seed by seed."""
    seeds = tuple(seeds)
    compared = ((BAYES, True), (EB_HYP, False))
    others = ((EB_HYP, True), (BAYES, False), (RANDOM, True), (RANDOM, False))
    return [
        Search(problem, method, validated, seed, trials, rule)
        for part in (compared, others)
        for seed in seeds
        for method, validated in part
    ]


def measured(
    every: list[Search], processes: int = PROCESSES, kept: Checkpoint | None = None
) -> Generator[str, None, Runs]:
    """Make the fits that are missing, saying how far it is; in the end all trials.

    Args:
        every: the searches, those that matter first in front; one problem.
        processes: that work at once; 0 to work in this one.
        kept: what was measured before; None for the problem's own.

    Yields:
        Sentences that say how far it is.
    """
    kept = kept or Checkpoint(every[0].problem.kept_as)
    chains = [Chain(search, kept) for search in every]
    progress = Progress(chains, processes)
    with Pool(processes) as pool:
        while any(chain.unfinished for chain in chains):
            for chain in chains:
                setting = chain.next() if pool.free and chain.unfinished else None
                if setting is None or pool.runs(chain.search.fit_key(setting)):
                    continue
                pool.submit(fitted, (chain.search, setting), chain.search.fit_key(setting))
            for key, part in pool.ended(at_least=1):
                kept.keep(key, part)
                yield progress.after(part["took"])
    return {
        (chain.search.method, chain.search.validated, chain.search.seed): chain.trials()
        for chain in chains
    }


def fitted(search: Search, setting: Setting) -> Fitted:
    """Fit a setting; one that cannot be fitted has failed."""
    begun = time.perf_counter()
    try:
        found = search.problem.fit(search.problem, setting, search.seed, search.validated)
    except (UnusableError, FloatingPointError, np.linalg.LinAlgError):
        found = {"f": None, "test": {}}
    if found["f"] is not None and not math.isfinite(found["f"]):
        found = {"f": None, "test": {}}
    return {**found, "took": round(time.perf_counter() - begun, 3)}


def rounded(values: np.ndarray) -> list[float]:
    """Log densities as they are kept, to a ten-thousandth of a nat."""
    return [round(float(value), 4) for value in values]


class Progress:
    """How far the searches are, and how long they will still take."""

    def __init__(self, chains: list[Chain], processes: int) -> None:
        self._chains, self._processes = chains, max(1, processes)
        self._took: list[float] = []

    def after(self, took: float) -> str:
        """After a fit of so many seconds."""
        self._took.append(took)
        whole = sum(chain.search.trials for chain in self._chains)
        missing = sum(chain.missing for chain in self._chains)
        left = in_time(missing * float(np.mean(self._took)) / self._processes)
        behind = next((c.search.seed for c in self._chains if c.unfinished), None)
        at = "" if behind is None else f", at seed {behind}"
        return f"{time.strftime('%H:%M:%S')} {whole - missing} of {whole} trials{at}, {left} left"


def scores(trials: list[tuple[Setting, Fitted]]) -> Mapping[int, float]:
    """{trial: f} of those that did not fail."""
    return {k: part["f"] for k, (_, part) in enumerate(trials) if part["f"] is not None}


def test_rows(trials: list[tuple[Setting, Fitted]], chosen: list[int], what: str) -> np.ndarray:
    """Log densities of the test rows under chosen trials, shape (rows, chosen)."""
    return np.array([trials[k][1]["test"][what] for k in chosen]).T
