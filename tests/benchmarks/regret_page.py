"""The page of bench_regret.py: ranks, regret and seconds of samplers on the functions of BBOB."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

PROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
OURS = "gp"
PACKAGES = {
    "gp-optuna": ("optuna",),
    "tpe": ("optuna",),
    "cma-es": ("cmaes",),
    "smac": ("smac",),
    "botorch": ("botorch", "optuna-integration"),
}
TITLES = {
    "gp": "Tunescope's gp",
    "hybrid": "Tunescope's hybrid",
    "variable": "Tunescope's variable",
    "gp-optuna": "Optuna's GPSampler",
    "tpe": "Optuna's TPE",
    "cma-es": "Optuna's CMA-ES (cmaes)",
    "smac": "SMAC (hyperparameter optimization)",
    "botorch": "BoTorch (by optuna-integration)",
    "random": "random",
}
KINDS = {  # of BBOB's functions (Hansen and others 2009)
    "separable": range(1, 6),
    "moderately conditioned": range(6, 10),
    "ill-conditioned": range(10, 15),
    "multimodal": range(15, 20),
    "multimodal, weakly structured": range(20, 25),
}
INTRODUCTION = """# Samplers on the functions of BBOB

How close samplers come to the minimum of a function in few trials: the 24 functions of BBOB \
without noise (instance 1, every axis from −5 to 5), whose minimum is known. Every sampler has its \
defaults, and all the same seeds. One command measures and writes this page; interrupted, the same \
command goes on where it was:

    python tests/benchmarks/bench_regret.py --tasks bbob --page docs/samplers.md --trials 100 \\
        --after 50 100 --seeds 2 --samplers gp tpe random cma-es gp-optuna smac

`--samplers`, `--functions`, `--dimensions`, `--seeds`, `--minutes` run less of it, and the page \
tells of all runs that are kept; BoTorch is run where it is named. Every run is one process with \
one thread of linear algebra. Changes of gp were checked on some of these functions in five \
dimensions: they are not all fresh to it.

**Rank**: a sampler's place on a function and seed, 1 the smallest regret, and the mean of these, \
among the samplers that ran every function, over the seeds that all of them ran. **Regret**: the \
best value less the function's minimum, the median over the same runs. **gp ahead**: the runs on \
which gp's regret is smaller : equal : larger, of all that gp and the sampler have both run. \
**Seconds**: those of the processor in a run of so many trials, the median; a function takes \
microseconds, so they are the sampler's.
"""


@dataclass(frozen=True)
class Run:
    """A sampler's run on a task: the losses in the order in which they came in."""

    sampler: str
    task: str
    seed: int
    workers: int
    losses: list[float]
    seconds: float  # of the processor

    @property
    def key(self) -> tuple[str, str, int, int]:
        return self.sampler, self.task, self.seed, self.workers

    @property
    def function(self) -> tuple[int, int]:
        """Number and dimensions of a function of BBOB; (0, 0) of another task."""
        match = re.fullmatch(r"f(\d+) in (\d+) dimensions", self.task)
        return (int(match[1]), int(match[2])) if match else (0, 0)


DEFAULTS = """## Defaults

| | gp | Optuna's GPSampler | Optuna's TPE |
| --- | --- | --- | --- |
| first trials | two for each axis, 4 to 8, a Sobol sequence | 10 at random | 10 at random |
| model | Gaussian process, Matérn 5/2, a length for each axis, learned noise | the same | \
densities of the best tenth and of the rest, all axes jointly |
| scores | standardized, the worse half compressed by a logarithm | standardized | ranks |
| next trial | log EI, in turn near the best and anywhere, with a prior against the edges | \
log EI, anywhere | the best ratio of densities among 24 candidates |
| running trials | have their posterior mean | are drawn from (qLogEI) | count as bad |
| conditional parameters | proposed, it learns what hides one | drawn at random | each by itself |
| constraints (`set_constraint`) | each a Gaussian process of its values, large ones compressed; \
log EI of the best feasible trial plus Σ log P(kept) | the same, values as they are | \
feasible trials rank first, others by their violations |
"""
Regrets = dict[str, dict[tuple[int, int], float]]  # by sampler, then by function and seed


def mean_ranks(best: np.ndarray) -> np.ndarray:
    """Mean ranks (tasks, samplers) of losses (tasks, samplers, seeds): the smallest has 1."""
    return rankdata(best.round(12), axis=1).mean(axis=2)


def regrets_after(count: int, runs: Iterable[Run]) -> Regrets:
    """The regret after so many trials, of runs with one worker that were long enough."""
    regrets: Regrets = defaultdict(dict)
    for run in runs:
        if len(run.losses) >= count:
            regrets[run.sampler][run.function[0], run.seed] = min(run.losses[:count])
    return regrets


def ranked_samplers(regrets: Regrets) -> tuple[list[str], list[tuple[int, int]]]:
    """Samplers that ran every function, and the functions and seeds that all of these ran."""
    functions = {number for points in regrets.values() for number, _ in points}
    complete = [s for s, points in regrets.items() if {number for number, _ in points} == functions]
    shared = set.intersection(*(set(regrets[sampler]) for sampler in complete)) if complete else ()
    return complete, sorted(shared)


def ranks_of(regrets: Regrets, numbers: Iterable[int] = range(1, 25)) -> dict[str, float]:
    """The mean rank of each sampler that ran every function, over functions of these numbers."""
    samplers, runs = ranked_samplers(regrets)
    runs = [run for run in runs if run[0] in set(numbers)]
    if not runs:
        return {}
    best = np.array([[[regrets[sampler][run]] for sampler in samplers] for run in runs])
    return dict(zip(samplers, mean_ranks(best).mean(axis=0), strict=True))


def ahead(regrets: Regrets, sampler: str) -> str:
    """On how many runs gp's regret is smaller : equal : larger than a sampler's."""
    ours, theirs = regrets[OURS], regrets[sampler]
    signs = [np.sign(round(theirs[run] - ours[run], 12)) for run in ours.keys() & theirs.keys()]
    return " : ".join(str(signs.count(sign)) for sign in (1, 0, -1))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown, its first column to the left, the others to the right."""
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows)) + "\n"


def dimension_table(runs: Sequence[Run], counts: Sequence[int]) -> str:
    """Of the runs in one dimension: ranks, regrets and seconds of every sampler, best first."""
    regrets = {count: regrets_after(count, runs) for count in counts}
    ranks = {count: ranks_of(regrets[count]) for count in counts}
    samplers = sorted(
        {run.sampler for run in runs},
        key=lambda name: [ranks[count].get(name, np.inf) for count in reversed(counts)],
    )

    def row(sampler: str) -> Iterable[str]:
        own = [run for run in runs if run.sampler == sampler]
        yield TITLES[sampler]
        for count in counts:
            yield f"{ranks[count][sampler]:.2f}" if sampler in ranks[count] else "–"
        for count in counts:
            shared = ranked_samplers(regrets[count])[1]
            is_ranked = sampler in ranks[count]
            values = [regrets[count][sampler][run] for run in shared] if is_ranked else []
            yield f"{np.median(values):.3g}" if values else "–"
        for count in counts:
            has_runs = sampler != OURS and regrets[count][sampler]
            yield ahead(regrets[count], sampler) if has_runs else ""
        length = max(len(run.losses) for run in own)
        seconds = [run.seconds for run in own if len(run.losses) == length]
        yield f"{np.median(seconds):.3g} ({length})"

    titles = ("rank after", "regret after", "gp ahead after")
    head = ["sampler", *[f"{title} {count}" for title in titles for count in counts], "seconds"]
    return table(head, [list(row(sampler)) for sampler in samplers])


def extent_table(runs: Sequence[Run], dimensions: Sequence[int]) -> str:
    """What was run: each sampler's functions, seeds and trials by dimension."""

    def extent(sampler: str, dimension: int) -> str:
        functions_of = defaultdict[tuple[int, int], set[int]](set)
        for run in runs:
            if (run.sampler, run.function[1]) == (sampler, dimension):
                functions_of[len(run.losses), run.seed].add(run.function[0])
        seeds_of = defaultdict[tuple[int, str], list[str]](list)
        for (length, seed), functions in sorted(functions_of.items()):
            seeds_of[length, numbers_text(functions)].append(str(seed))
        texts = [
            f"{functions}, {length} trials, seed {', '.join(seeds)}"
            for (length, functions), seeds in seeds_of.items()
        ]
        return "; ".join(texts) or "not run"

    head = ["sampler", *[f"{dimension} dimensions" for dimension in dimensions]]
    samplers = [name for name in TITLES if any(run.sampler == name for run in runs)]
    rows = [[TITLES[name], *[extent(name, d) for d in dimensions]] for name in samplers]
    return table(head, rows)


def numbers_text(numbers: Iterable[int]) -> str:
    """Functions by number, neighbours as a range: f1–f5, f7."""
    texts: list[str] = []
    ordered = sorted(numbers)
    for number in ordered:
        if number - 1 in ordered:
            texts[-1] = f"{texts[-1].split('–')[0]}–f{number}"
        else:
            texts.append(f"f{number}")
    return ", ".join(texts)


def defeats(runs: Sequence[Run], counts: Sequence[int], dimension: int) -> Iterable[str]:
    """Lines that name the kinds of functions on which another sampler's mean rank is smaller."""
    for count in counts:
        regrets = regrets_after(count, runs)
        for kind, numbers in {"all functions": range(1, 25), **KINDS}.items():
            ranks = ranks_of(regrets, numbers)
            ours = ranks.pop(OURS, 0.0)
            ahead_of_ours = sorted((rank, name) for name, rank in ranks.items() if rank < ours)
            if ahead_of_ours:
                text = ", ".join(f"{TITLES[name]} {rank:.2f}" for rank, name in ahead_of_ours)
                yield f"- {dimension} dimensions, {count} trials, {kind}: gp {ours:.2f}, {text}"


def samplers_page(runs: Sequence[Run], counts: Sequence[int]) -> str:
    """The page, of all runs on functions of BBOB with one worker."""
    runs = [run for run in runs if run.function[0] and run.workers == 1]
    of_dimension = defaultdict(list)
    for run in sorted(runs, key=lambda run: run.function):
        of_dimension[run.function[1]].append(run)
    dimensions = sorted(of_dimension)
    names = {run.sampler for run in runs}
    packages = sorted({package for name in names for package in PACKAGES.get(name, ())})
    versions = [f"{package} {metadata.version(package)}" for package in packages]
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    lines = [line for d in dimensions for line in defeats(of_dimension[d], counts, d)]
    return "\n".join(
        [
            INTRODUCTION,
            f"Tunescope {project['version']}, {', '.join([*versions, 'coco-experiment'])} "
            f"{metadata.version('coco-experiment')}.\n",
            *[
                f"## {d} dimensions\n\n{dimension_table(of_dimension[d], counts)}"
                for d in dimensions
            ],
            "## Where gp is not first\n",
            "\n".join(lines or ["Nowhere among the samplers with a rank."]) + "\n",
            f"## What was run\n\n{extent_table(runs, dimensions)}",
            DEFAULTS,
        ]
    )
