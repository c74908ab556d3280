"""What teaches a run: never an earlier run on its own file, and no setting is tried twice.

No constant was fitted to tables. That half to double the rows count as one file was set beforehand,
by the shares of rows that a plan may hold out; the copies here are drawn with other shares.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from core.datasets.samples import SAMPLES
from core.estimators.registry import MODELS
from core.samplers.transfer.history import EarlierDataset, TuningHistory
from core.space import Setting, unit_vector
from core.tuning.events import TrialFinished
from core.tuning.history.run_history import RunHistory, settings_in, warm_start_history
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import Problem
from core.tuning.problem_setup import build_problem, read_data
from core.tuning.scores.scoring import TrialResult
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.trials.trial_run import AskTellStudy
from tests.benchmarks.simulations.figure import Figure

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
FILES = ("abalone.csv", "glass.csv", "mixed/titanic.csv", "mixed/oj.csv", "mixed/weather.csv")
SAMPLE_NAMES = ("iris", "wine", "breast-cancer", "digits", "diabetes", "clinic", "prices", "groups")
STRATEGY_NAMES = [n for n, s in STRATEGIES.items() if s.kind == "trials" and not s.several]
EQUAL = 1e-4  # of a real number's range
Copy = Callable[[pd.DataFrame, str, np.random.Generator], tuple[pd.DataFrame, str]]


def figures(sets: int) -> Iterator[Figure]:
    """An earlier dataset that is this one, another one that is taken for it, repeated settings."""
    with tempfile.TemporaryDirectory() as folder:
        yield from teaching_figures(Path(folder), sets)
    yield other_dataset_figure(sets)
    yield from repetition_figures(max(1, sets // 100))


# The same file -----------------------------------------------------------------------------------


def _renamed(
    table: pd.DataFrame, target: str, random: np.random.Generator
) -> tuple[pd.DataFrame, str]:
    names = {name: f"column {number}" for number, name in enumerate(table.columns)}
    return table.rename(columns=names), names[target]


def _shuffled(
    table: pd.DataFrame, target: str, random: np.random.Generator
) -> tuple[pd.DataFrame, str]:
    return table.iloc[random.permutation(len(table)), random.permutation(table.shape[1])], target


def _shortened(
    table: pd.DataFrame, target: str, random: np.random.Generator
) -> tuple[pd.DataFrame, str]:
    return table.iloc[np.sort(random.permutation(len(table))[: round(0.95 * len(table))])], target


COPIES: dict[str, Copy] = {
    "rerun": lambda table, target, random: (table, target),
    "renamed": _renamed,
    "shuffled": _shuffled,
    "95 % of the rows": _shortened,
}


def teaching_figures(folder: Path, sets: int) -> Iterator[Figure]:
    """Of earlier runs on copies of a file, how many teach a run on it; and whether others do."""
    random = np.random.default_rng(5)
    same_count = teaching_count = other_count = 0
    tables = list(_tables(random, sets))
    for number, (table, target) in enumerate(tables):
        place = folder / str(number)
        place.mkdir()
        history = place / "history.sqlite3"
        problem = _problem(table, target, place / "present.csv", 0.3)
        own_ids = set()
        for name, copy in COPIES.items():
            copied, copied_target = copy(table, target, random)
            share = float(random.uniform(0.15, 0.45))
            earlier = _problem(copied, copied_target, place / f"{name[:2]}.csv", share)
            own_ids.add(_record(earlier, history, random))
        # Half of the columns are another dataset.
        kept = [name for name in table.columns if name != target][: (table.shape[1]) // 2]
        other = _problem(table[[*kept, target]], target, place / "other.csv", 0.3)
        other_id = _record(other, history, random)
        for strategy in ("transfer", "scot", "gp", "race"):
            taught_ids = _taught_ids(problem, strategy, history)
            same_count += len(own_ids)
            teaching_count += len(own_ids & taught_ids)
            other_count += strategy in ("transfer", "scot") and other_id in taught_ids
    note = f"{len(tables)} files, {', '.join(COPIES)}; transfer, SCoT, recalled starts, auto"
    name = "an earlier dataset that is this one, teaching it"
    yield Figure(name, teaching_count, 0.0, 0.0, same_count, note)
    share = other_count / (2 * len(tables))
    yield Figure(
        "an earlier dataset of half its columns, teaching it", share, 1, 1, 2 * len(tables)
    )


def _tables(random: np.random.Generator, sets: int) -> Iterator[tuple[pd.DataFrame, str]]:
    for name in SAMPLE_NAMES[: max(2, sets // 50)]:
        yield SAMPLES[name].table(), SAMPLES[name].target
    for name in FILES[: sets // 100]:
        if (DATA / name).is_file():
            dataset = read_data(DataPlan(str(DATA / name)))
            yield pd.read_csv(DATA / name), dataset.target_name
    for _ in range(sets // 50):
        rows, columns = int(10 ** random.uniform(1.8, 3.0)), int(10 ** random.uniform(0.7, 1.5))
        table = pd.DataFrame(random.normal(size=(rows, columns))).add_prefix("x")
        classes = int(random.choice([0, 2, 4]))
        signal = table["x0"] + random.normal(size=rows)
        labels = pd.qcut(signal, classes, labels=list("abcd"[:classes])) if classes else signal
        yield table.assign(y=labels), "y"


def _problem(table: pd.DataFrame, target: str, path: Path, share: float) -> Problem:
    table.to_csv(path, index=False)
    plan = Plan(DataPlan(str(path), target, test_size=share), "svm", "transfer", folds=3)
    return build_problem(plan, read_data(plan.data))


def _record(problem: Problem, path: Path, random: np.random.Generator) -> str:
    """Writes a run of three trials into a history; its id there."""
    run = RunHistory(problem, lambda: History(path, starter=False))
    for number, C in enumerate((1.0, *10.0 ** random.uniform(-2, 3, 2))):
        setting = {**problem.default, "C": C}
        run.record_trial(
            problem, TrialFinished(number=number, setting=setting, score=random.uniform())
        )
    run.close()
    return run.name


def _taught_ids(problem: Problem, strategy: str, path: Path) -> set[str]:
    """The datasets that a run of a strategy learns from."""
    model = "auto" if strategy == "race" else "svm"
    plan = replace(problem.plan, model=model, strategy=strategy, options={})
    whole_problem = build_problem(plan, problem.dataset)
    run = RunHistory(whole_problem, lambda: History(path, starter=False))
    single = whole_problem.single_model("svm") if strategy == "race" else whole_problem
    read = run.read(single)
    run.close()
    if not single.strategy.uses_history:
        read = warm_start_history(read, single)
        assert len(settings_in(read)) == len(read.datasets)
    return {dataset.id for dataset in read.datasets}


def other_dataset_figure(sets: int) -> Figure:
    """How often a dataset of another file is taken for this one, over forms of tables."""
    from core.samplers.transfer.history import may_be_present
    from core.tuning.history.dataset_records import statistics_of

    random, taken_count = np.random.default_rng(6), 0
    for _ in range(sets):
        first, second = (
            statistics_of(
                int(10 ** random.uniform(1.8, 4.0)),
                int(10 ** random.uniform(0.5, 2.0)),
                int(random.choice([0, 2, 2, 3, 4, 6])),
            )
            for _ in range(2)
        )
        taken_count += may_be_present(EarlierDataset("a", first, (), ()), [second])
    name = "a dataset of another file, taken for this one"
    return Figure(name, taken_count / sets, 0.0, 0.02, sets, "rows, columns and classes at random")


# Repeated settings -------------------------------------------------------------------------------


def repetition_figures(seeds: int) -> Iterator[Figure]:
    """Settings that were asked for before, and finite spaces that were not asked for as a whole."""
    dataset = read_data(DataPlan("sample:iris"))
    repeated, asked_count, unspent = 0, 0, 0
    for seed in range(seeds):
        for strategy in STRATEGY_NAMES:
            workers = 1 + (seed % 3)
            for model, ranges in (("knn", {"n_neighbors": [1, 5]}), ("svm", {}), ("forest", {})):
                if not STRATEGIES[strategy].suits(MODELS[model].space("multiclass")):
                    continue
                plan = Plan(DataPlan("sample:iris"), model, strategy, ranges=ranges, seed=seed)
                problem = build_problem(plan, dataset)
                asked = asked_settings(problem, 30, workers)
                repeated += repeated_count(problem, asked)
                asked_count += len(asked)
                unspent += model == "knn" and len(asked) != 20
    note = f"{len(STRATEGY_NAMES)} strategies, recalled starts, 1 to 3 workers"
    yield Figure("settings asked for again", repeated, 0.0, 0.0, asked_count, note)
    yield Figure("spaces of 20 settings not asked for once each", unspent, 0.0, 0.0, seeds)


def asked_settings(problem: Problem, count: int, workers: int) -> list[Setting]:
    """Settings that a study asks for, some of which fail."""
    random = np.random.default_rng(problem.plan.seed)
    study = AskTellStudy(replace(problem, plan=replace(problem.plan, seed=7)), TuningHistory())
    drawn = [study.ask().setting for _ in range(6)]
    history = TuningHistory(
        (EarlierDataset("a", (5.0, 2.0, 3.0), tuple(drawn), tuple(random.random(6).tolist())),),
        (4.6, 1.4, 3.0),
    )
    starts = [drawn[2], problem.default, drawn[3], drawn[2]]
    study = AskTellStudy(problem, history, starts, starts_are="past")
    settings, running = list[Setting](), []
    while len(settings) < count and not (settings and study.exhausted_reason):
        running.append(study.ask())
        settings.append(running[-1].setting)
        if len(running) == workers:
            trial = running.pop(0)
            failure = "too long" if random.random() < 0.1 else ""
            scores = () if failure else (float(random.random()),)
            study.tell(TrialResult(trial.number, trial.setting, scores, failure=failure))
    return settings


def repeated_count(problem: Problem, settings: list[Setting]) -> int:
    """How many settings equal an earlier one."""
    points = np.array([unit_vector(problem.space, setting) for setting in settings])
    gaps = np.abs(points[:, None] - points[None]).max(axis=2)
    return int((gaps <= EQUAL).any(axis=1, where=np.tri(len(points), k=-1, dtype=bool)).sum())
