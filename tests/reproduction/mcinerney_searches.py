"""Searches of McInerney 2017: three methods, with and without validation data."""

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
from core.samplers.bayes import EbHypSampler, GpSampler
from core.samplers.gp_options import EbHypOptions, GpOptions
from core.samplers.proposing_sampler import RandomSampler
from core.samplers.search_space import distributions
from core.space import Axis, Setting
from core.wording import rough_duration_text
from tests.reproduction.kept_work import Checkpoint, WorkerPool

optuna.logging.set_verbosity(optuna.logging.WARNING)

PROCESSES = 2
EB_HYP, BAYES, RANDOM = "eb-hyp", "bayesopt", "random"
# Eq. 5 at the program's own temperature; colder samples and the arg max of Algorithm 1 came out
# alike in a pilot.
RULE = "1.0"


@dataclass(frozen=True)
class FittedSetting(Record):
    """What a fit gives."""

    f: float | None  # what the search maximizes; None where the fit failed
    test: dict[str, list[float]]  # log densities of the test rows, by what is predicted
    tokens: int | None = optional()  # in the test documents
    took: float = 0.0  # seconds


FAILED = FittedSetting(None, {})


@dataclass(frozen=True)
class SearchProblem:
    """A model and its data."""

    name: str
    folder: str  # "" to draw the data
    size: int  # of the data, in the fit's own unit; 0 for all
    effort: int  # passes or epochs of a fit
    space: tuple[Axis, ...]
    priors: tuple[str, str]  # the axes of figure 2
    # (problem, setting, seed, with validation) -> fit, at the top of a module
    fit: Callable[[SearchProblem, Setting, int, bool], FittedSetting]
    mark: str = ""  # of the data

    @property
    def checkpoint_name(self) -> str:
        """The checkpoint's name, the same for any number of trials."""
        space = [axis.as_dict() for axis in self.space]
        content = json.dumps([self.mark, self.size, self.effort, space])
        return f"mcinerney-{self.name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def data_mark(folder: Path | None, names: Sequence[str], data_title: str) -> str:
    """The start of the first file's SHA-256, or "drawn".

    Raises:
        UnusableError: the folder lacks a file.
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
    """The search of a method; `rule` is EB-Hyp's: thompson, or a temperature."""
    if method == EB_HYP and rule == "thompson":
        return EbHypSampler(space, EbHypOptions(rule="thompson"), seed=seed)
    if method == EB_HYP:
        return EbHypSampler(space, EbHypOptions(rule="sample", temperature=float(rule)), seed=seed)
    if method == BAYES:  # expected improvement, Matérn 3/2 as in section 4
        options = GpOptions(kernel="matern32", always_learn=True, as_published=True)
        return GpSampler(space, options, seed=seed)
    return RandomSampler(space, seed=seed)


@dataclass(frozen=True)
class SearchRun:
    """One method with one seed."""

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
        """The key of a fit, which all methods share."""
        mode = "with" if self.validated else "without"
        return f"fit|{self.seed}|{mode}|{json.dumps(setting, sort_keys=True)}"


class SearchChain:
    """The trials of one search, one after the other."""

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
        """The setting to fit next, or None."""
        while self.unfinished:
            setting = self._ask_setting()
            if self.search.fit_key(setting) not in self._checkpoint:
                return setting
            self._tell_score(setting, self._recorded_fit(setting).f)
        return None

    def finished_trials(self) -> Trials:
        """The settings with their fits."""
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
Runs = dict[tuple[str, bool, int], Trials]  # by method, whether validated, and seed


def searches(
    problem: SearchProblem, trials: int, seeds: Iterable[int], rule: str = RULE
) -> list[SearchRun]:
    """All searches; the two that are compared come first, seed by seed."""
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
    """Run the missing fits, yielding progress; returns all trials."""
    checkpoint = checkpoint or Checkpoint(all_searches[0].problem.checkpoint_name)
    chains = [SearchChain(search, checkpoint) for search in all_searches]
    progress = SearchProgress(chains, processes)
    with WorkerPool(processes) as pool:
        while any(chain.unfinished for chain in chains):
            for chain in chains:
                is_ready = pool.has_free_process and chain.unfinished
                setting = chain.next_setting() if is_ready else None
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
    """Fit a setting; an error counts as a failed fit."""
    start = time.perf_counter()
    try:
        record = search.problem.fit(search.problem, setting, search.seed, search.validated)
    except (UnusableError, FloatingPointError, np.linalg.LinAlgError):
        record = FAILED
    if record.f is not None and not math.isfinite(record.f):
        record = FAILED
    return replace(record, took=round(time.perf_counter() - start, 3))


def rounded_densities(values: np.ndarray) -> list[float]:
    """Log densities, rounded to a ten-thousandth of a nat."""
    return [round(float(value), 4) for value in values]


class SearchProgress:
    """Progress of the searches, and the time left."""

    def __init__(self, chains: list[SearchChain], processes: int) -> None:
        self._chains, self._processes = chains, max(1, processes)
        self._fit_seconds: list[float] = []

    def add_fit(self, seconds: float) -> str:
        """The progress after a fit."""
        self._fit_seconds.append(seconds)
        trial_count = sum(chain.search.trials for chain in self._chains)
        missing = sum(chain.missing for chain in self._chains)
        time_left = rough_duration_text(
            missing * float(np.mean(self._fit_seconds)) / self._processes
        )
        next_seed = next((c.search.seed for c in self._chains if c.unfinished), None)
        seed_text = "" if next_seed is None else f", at seed {next_seed}"
        count_text = f"{trial_count - missing} of {trial_count} trials{seed_text}"
        return f"{time.strftime('%H:%M:%S')} {count_text}, about {time_left} left"


def scores_by_trial(trials: Trials) -> Mapping[int, float]:
    """{trial: f} of those that did not fail."""
    return {k: record.f for k, (_, record) in enumerate(trials) if record.f is not None}


def test_log_densities(trials: Trials, chosen: list[int], target: str) -> np.ndarray:
    """Log densities of the test rows, shape (rows, chosen)."""
    return np.array([trials[k][1].test[target] for k in chosen]).T
