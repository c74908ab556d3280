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
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import optuna
from optuna.samplers import BaseSampler
from optuna.trial import TrialState

from core.errors import UnusableError
from core.json_reading import read_as
from core.records import Record, optional, to_plain
from core.reproduction.checkpoint import Checkpoint
from core.reproduction.pool import WorkerPool
from core.samplers.bayes import GpSampler
from core.samplers.eb_hyp import EbHypSampler
from core.samplers.gp_options import EbHypOptions, GpOptions
from core.samplers.random import RandomSampler
from core.samplers.search_space import distributions
from core.space import Axis, Setting
from core.tuning.guidance.forecast import duration_text

optuna.logging.set_verbosity(optuna.logging.WARNING)

PROCESSES = 2
EB_HYP, BAYES, RANDOM = "eb-hyp", "bayesopt", "random"
# Eq. 5 at the program's own temperature; colder samples and the arg max of Algorithm 1 came out
# alike in a pilot.
RULE = "1.0"


@dataclass(frozen=True)
class FittedSetting(Record):
    """What a fit gives.

    Attributes:
        f: that the search maximizes; None where the fit failed.
        test: the log density of every test row, under the names of what is predicted.
        tokens: in the test documents.
        took: its seconds.
    """

    f: float | None
    test: dict[str, list[float]]
    tokens: int | None = optional()
    took: float = 0.0


FAILED = FittedSetting(None, {})


@dataclass(frozen=True)
class SearchProblem:
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
    fit: Callable[[SearchProblem, Setting, int, bool], FittedSetting]
    mark: str = ""

    @property
    def checkpoint_name(self) -> str:
        """What its checkpoint is called; the number of trials and seeds may be another one."""
        space = [axis.as_dict() for axis in self.space]
        content = json.dumps([self.mark, self.size, self.effort, space])
        return f"mcinerney-{self.name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def data_mark(folder: Path | None, names: Sequence[str], data_title: str) -> str:
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
                cure=f"give the folder with {data_title}",
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
class SearchRun:
    """One method with one seed, judged by validation data or by the data it is trained on."""

    problem: SearchProblem
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


class SearchChain:
    """The trials of one search, each with what those before gave."""

    def __init__(self, search: SearchRun, checkpoint: Checkpoint) -> None:
        self.search, self._checkpoint = search, checkpoint
        self._told_count = 0
        self._study: optuna.Study | None = None
        self._pending_trial: optuna.Trial | None = None

    @property
    def unfinished(self) -> bool:
        """Whether a trial is missing."""
        return any(self._trial_key(k) not in self._checkpoint for k in range(self.search.trials))

    @property
    def missing(self) -> int:
        """How many trials are missing."""
        return sum(self._trial_key(k) not in self._checkpoint for k in range(self.search.trials))

    def next_setting(self) -> Setting | None:
        """The setting that has to be fitted next; None where all are."""
        while self.unfinished:
            setting = self._ask_setting()
            if self.search.fit_key(setting) not in self._checkpoint:
                return setting
            self._tell_score(setting, self._recorded_fit(setting).f)
        return None

    def finished_trials(self) -> Trials:
        """What was tried, and what it gave."""
        settings = [self._checkpoint[self._trial_key(k)] for k in range(self.search.trials)]
        return [(setting, self._recorded_fit(setting)) for setting in settings]

    def _recorded_fit(self, setting: Setting) -> FittedSetting:
        return read_as(FittedSetting, self._checkpoint[self.search.fit_key(setting)])

    def _ask_setting(self) -> Setting:
        search = self.search
        if self._study is None:
            chosen = sampler(search.method, search.problem.space, search.seed, search.rule)
            self._study = optuna.create_study(direction="maximize", sampler=chosen)
        if self._pending_trial is None:
            self._pending_trial = self._study.ask(distributions(search.problem.space))
        return dict(self._pending_trial.params)

    def _tell_score(self, setting: Setting, f: float | None) -> None:
        assert self._study is not None
        assert self._pending_trial is not None
        if f is None:
            self._study.tell(self._pending_trial, state=TrialState.FAIL)
        else:
            self._study.tell(self._pending_trial, f)
        self._pending_trial = None
        if self._trial_key(self._told_count) not in self._checkpoint:
            self._checkpoint.record_result(self._trial_key(self._told_count), setting)
        self._told_count += 1

    def _trial_key(self, trial: int) -> str:
        return f"trial|{self.search.name}|{trial}"


Trials = list[tuple[Setting, FittedSetting]]
Runs = dict[tuple[str, bool, int], Trials]
"""The trials of every search, by its method, whether it is validated, and its seed."""


def searches(
    problem: SearchProblem, trials: int, seeds: Iterable[int], rule: str = RULE
) -> list[SearchRun]:
    """Three methods, with and without validation: first the two that are compared, seed by seed."""
    seeds = tuple(seeds)
    compared_pairs = ((BAYES, True), (EB_HYP, False))
    other_pairs = ((EB_HYP, True), (BAYES, False), (RANDOM, True), (RANDOM, False))
    return [
        SearchRun(problem, method, validated, seed, trials, rule)
        for pairs in (compared_pairs, other_pairs)
        for seed in seeds
        for method, validated in pairs
    ]


def run_searches(
    all_searches: list[SearchRun], processes: int = PROCESSES, checkpoint: Checkpoint | None = None
) -> Generator[str, None, Runs]:
    """Make the fits that are missing, saying how far it is; in the end all trials.

    Args:
        all_searches: the searches, those that matter first in front; one problem.
        processes: that work at once; 0 to work in this one.
        checkpoint: what was measured before; None for the problem's own.

    Yields:
        Sentences that say how far it is.
    """
    checkpoint = checkpoint or Checkpoint(all_searches[0].problem.checkpoint_name)
    chains = [SearchChain(search, checkpoint) for search in all_searches]
    progress = SearchProgress(chains, processes)
    with WorkerPool(processes) as pool:
        while any(chain.unfinished for chain in chains):
            for chain in chains:
                setting = (
                    chain.next_setting() if pool.has_free_process and chain.unfinished else None
                )
                if setting is None or pool.is_running(chain.search.fit_key(setting)):
                    continue
                pool.submit(fit_setting, (chain.search, setting), chain.search.fit_key(setting))
            for key, record in pool.as_completed(at_least=1):
                checkpoint.record_result(key, to_plain(record))
                yield progress.add_fit(record.took)
    return {
        (chain.search.method, chain.search.validated, chain.search.seed): chain.finished_trials()
        for chain in chains
    }


def fit_setting(search: SearchRun, setting: Setting) -> FittedSetting:
    """Fit a setting; one that cannot be fitted has failed."""
    begun = time.perf_counter()
    try:
        record = search.problem.fit(search.problem, setting, search.seed, search.validated)
    except (UnusableError, FloatingPointError, np.linalg.LinAlgError):
        record = FAILED
    if record.f is not None and not math.isfinite(record.f):
        record = FAILED
    return replace(record, took=round(time.perf_counter() - begun, 3))


def rounded_densities(values: np.ndarray) -> list[float]:
    """Log densities as they are kept, to a ten-thousandth of a nat."""
    return [round(float(value), 4) for value in values]


class SearchProgress:
    """How far the searches are, and how long they will still take."""

    def __init__(self, chains: list[SearchChain], processes: int) -> None:
        self._chains, self._processes = chains, max(1, processes)
        self._fit_seconds: list[float] = []

    def add_fit(self, seconds: float) -> str:
        """After a fit of so many seconds."""
        self._fit_seconds.append(seconds)
        trial_count = sum(chain.search.trials for chain in self._chains)
        missing = sum(chain.missing for chain in self._chains)
        time_left = duration_text(missing * float(np.mean(self._fit_seconds)) / self._processes)
        behind = next((c.search.seed for c in self._chains if c.unfinished), None)
        seed_text = "" if behind is None else f", at seed {behind}"
        count_text = f"{trial_count - missing} of {trial_count} trials{seed_text}"
        return f"{time.strftime('%H:%M:%S')} {count_text}, {time_left} left"


def scores_by_trial(trials: Trials) -> Mapping[int, float]:
    """{trial: f} of those that did not fail."""
    return {k: record.f for k, (_, record) in enumerate(trials) if record.f is not None}


def test_log_densities(trials: Trials, chosen: list[int], target: str) -> np.ndarray:
    """Log densities of the test rows under chosen trials, shape (rows, chosen)."""
    return np.array([trials[k][1].test[target] for k in chosen]).T
