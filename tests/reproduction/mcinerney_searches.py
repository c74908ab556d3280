"""Searches of McInerney 2017: three methods, with and without validation data."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
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
from tests.reproduction.kept_work import Checkpoint, Part, finished_parts, time_left

optuna.logging.set_verbosity(optuna.logging.WARNING)

PROCESSES = 2
EB_HYP, BAYES, RANDOM = "eb-hyp", "bayesopt", "random"
TEMPERATURE = 1.0  # of EB-Hyp


@dataclass(frozen=True)
class FittedSetting(Record):
    f: float | None  # what the search maximizes; None where the fit failed
    test: dict[str, list[float]]  # log densities of the test rows, by what is predicted
    tokens: int | None = optional()  # in the test documents
    took: float = 0.0  # seconds


FAILED = FittedSetting(None, {})


@dataclass(frozen=True)
class SearchProblem:
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
        space = [axis.as_dict() for axis in self.space]
        content = json.dumps([self.mark, self.size, self.effort, space])
        return f"mcinerney-{self.name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"


def data_mark(folder: Path | None, names: Sequence[str], data_title: str) -> str:
    """The start of the first file's SHA-256, or "drawn"."""
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


def sampler(method: str, space: tuple[Axis, ...], seed: int) -> BaseSampler:
    if method == EB_HYP:
        # Eq. 5 at the program's own temperature; colder samples and the arg max of Algorithm 1
        # came out alike in a pilot.
        return EbHypSampler(space, EbHypOptions(temperature=TEMPERATURE), seed=seed)
    if method == BAYES:  # expected improvement, Matérn 3/2 as in section 4
        options = GpOptions(kernel="matern32", always_learn=True, as_published=True)
        return GpSampler(space, options, seed=seed)
    return RandomSampler(space, seed=seed)


@dataclass(frozen=True)
class SearchRun:
    problem: SearchProblem
    method: str
    validated: bool
    seed: int
    trials: int

    @property
    def mode(self) -> str:
        """Of validation data, in keys."""
        return "with" if self.validated else "without"

    def trial_key(self, trial: int) -> str:
        rule = f" {TEMPERATURE}" if self.method == EB_HYP else ""
        return f"trial|{self.seed}|{self.mode}|{self.method}{rule}|{trial}"

    def fit_key(self, setting: Setting) -> str:
        """The key of a fit, which all methods share."""
        return f"fit|{self.seed}|{self.mode}|{json.dumps(setting, sort_keys=True)}"


Trials = list[tuple[Setting, FittedSetting]]
Runs = dict[tuple[str, bool, int], Trials]  # by method, whether validated, and seed


def missing_trials(search: SearchRun, checkpoint: Checkpoint) -> int:
    return sum(search.trial_key(k) not in checkpoint for k in range(search.trials))


def recorded_fit(search: SearchRun, setting: Setting, checkpoint: Checkpoint) -> FittedSetting:
    """The fit of a setting, by whatever method it was tried."""
    return read_as(FittedSetting, checkpoint[search.fit_key(setting)])


def settings_to_fit(search: SearchRun, checkpoint: Checkpoint) -> Iterator[Setting]:
    """The settings of a search one after the other, each again until its fit is recorded."""
    if not missing_trials(search, checkpoint):
        return
    space = search.problem.space
    chosen = sampler(search.method, space, search.seed)
    study = optuna.create_study(direction="maximize", sampler=chosen)
    for k in range(search.trials):
        trial = study.ask(distributions(space))
        setting = dict(trial.params)
        while search.fit_key(setting) not in checkpoint:
            yield setting
        f = recorded_fit(search, setting, checkpoint).f
        study.tell(trial, f, state=TrialState.FAIL if f is None else None)
        if search.trial_key(k) not in checkpoint:
            checkpoint.record_result(search.trial_key(k), setting)


def searches(problem: SearchProblem, trials: int, seeds: Iterable[int]) -> list[SearchRun]:
    """All searches; the two that are compared come first, seed by seed."""
    seeds = tuple(seeds)
    compared_pairs = ((BAYES, True), (EB_HYP, False))
    other_pairs = ((EB_HYP, True), (BAYES, False), (RANDOM, True), (RANDOM, False))
    return [
        SearchRun(problem, method, validated, seed, trials)
        for pairs in (compared_pairs, other_pairs)
        for seed in seeds
        for method, validated in pairs
    ]


def run_searches(
    all_searches: list[SearchRun], processes: int = PROCESSES, checkpoint: Checkpoint | None = None
) -> Generator[str, None, Runs]:
    """Run the missing fits, yielding progress; returns all trials."""
    checkpoint = checkpoint or Checkpoint(all_searches[0].problem.checkpoint_name)
    settings = [(search, settings_to_fit(search, checkpoint)) for search in all_searches]

    def ready() -> Iterator[Part]:
        for search, search_settings in settings:
            if (setting := next(search_settings, None)) is not None:
                yield search.fit_key(setting), fit_setting, (search, setting)

    start = time.perf_counter()
    trial_count = sum(search.trials for search in all_searches)
    for done, (key, record) in enumerate(finished_parts(ready, processes), start=1):
        checkpoint.record_result(key, to_plain(record))
        missing = sum(missing_trials(search, checkpoint) for search in all_searches)
        count_text = f"{trial_count - missing} of {trial_count} trials"
        yield f"{count_text}, {time_left(start, done, missing)}"
    return {
        (search.method, search.validated, search.seed): [
            (setting, recorded_fit(search, setting, checkpoint))
            for setting in (checkpoint[search.trial_key(k)] for k in range(search.trials))
        ]
        for search in all_searches
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
    return [round(float(value), 4) for value in values]


def scores_by_trial(trials: Trials) -> Mapping[int, float]:
    """{trial: f} of those that did not fail."""
    return {k: record.f for k, (_, record) in enumerate(trials) if record.f is not None}


def test_log_densities(trials: Trials, chosen: list[int], target: str) -> np.ndarray:
    """Log densities of the test rows, shape (rows, chosen)."""
    return np.array([trials[k][1].test[target] for k in chosen]).T
