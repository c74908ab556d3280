"""What the history costs a trial and a run, beside Optuna's storages.

Run: python tests/benchmarks/bench_history.py
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend

from core.estimators.registry import MODELS
from core.samplers.search_space import distributions
from core.space import default_setting
from core.tuning.history.store import History, RunMetadata, statistics_of

SPACE = MODELS["svm"].space("binary")
FACTS = RunMetadata("svm", "binary", "accuracy", True, statistics_of(100, 4, 2), "gp", SPACE)
SETTING = default_setting(SPACE)
TRIALS = 2000


def ours(path: Path, trials: int = TRIALS) -> list[float]:
    """Milliseconds of every trial."""
    with History(path, starter=False) as history:
        id = history.begin_dataset(FACTS)
        return [
            timed(lambda at=at: history.add_trial(id, at, SETTING, 0.5)) for at in range(trials)
        ]


def peers(storage: BaseStorage, trials: int) -> list[float]:
    study = optuna.create_study(storage=storage, direction="maximize")
    described = distributions(SPACE)

    def one() -> None:
        study.enqueue_trial(SETTING)
        study.tell(study.ask(described), 0.5)

    return [timed(one) for _ in range(trials)]


def timed(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - begun)


def tell(what: str, each: list[float], beside: float = 0.0) -> float:
    mean = statistics.fmean(each)
    ratio = f", {mean / beside:.0f} times ours" if beside else ""
    print(f"{what:44} {mean:8.3f} ms (median {statistics.median(each):.3f}){ratio}")
    return mean


def writing(folder: Path) -> None:
    print(f"A trial, written ({TRIALS} of them; peers 100)")
    own = tell("history", ours(folder / "one.sqlite3"))
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; "
        "from bench_history import ours, tell; "
        "tell('history, one of two programs', ours(Path(sys.argv[2])))"
    )
    command = [sys.executable, "-c", script, str(Path(__file__).parent), str(folder / "two.db")]
    for program in [subprocess.Popen(command) for _ in range(2)]:
        program.wait()
    sqlite = RDBStorage(f"sqlite:///{folder / 'optuna.db'}")
    tell("Optuna, SQLite", peers(sqlite, 100), own)
    journal = JournalStorage(JournalFileBackend(str(folder / "optuna.log")))
    tell("Optuna, journal", peers(journal, 100), own)


def reading(folder: Path, datasets: int) -> None:
    print(f"\nThe history of a run, {datasets} datasets × 11 trials")
    path = folder / f"history{datasets}.sqlite3"
    with History(path, starter=False) as history:
        for _ in range(datasets):
            id = history.begin_dataset(FACTS)
            for at in range(11):
                history.add_trial(id, at, SETTING, 0.5)
        own = tell("read", [timed(lambda: history.datasets_for(FACTS)) for _ in range(10)])
        tell("known (of the strategy card)", [timed(lambda: history.matching_counts(FACTS))])
        tell("entries (of the page)", [timed(history.entries)])
    tell("open", [timed(lambda: History(path).close())])
    storage = RDBStorage(f"sqlite:///{folder / f'optuna{datasets}.db'}")
    made = min(datasets, 40)
    for _ in range(made):
        study = optuna.create_study(storage=storage, direction="maximize")
        study.add_trials([earlier_trial() for _ in range(11)])
    each = [timed(lambda: optuna_read(storage)) * datasets / made for _ in range(3)]
    tell("Optuna, SQLite" + " (40, scaled up)" * (datasets > made), each, own)


def earlier_trial() -> optuna.trial.FrozenTrial:
    return optuna.trial.create_trial(params=SETTING, distributions=distributions(SPACE), value=0.5)


def optuna_read(storage: BaseStorage) -> list:
    fresh = RDBStorage(storage.url)  # without what the first one keeps in memory
    return [fresh.get_all_trials(study._study_id) for study in fresh.get_all_studies()]


def starting(folder: Path) -> None:
    print("\nA new file")
    plain, full = folder / "plain.sqlite3", folder / "full.sqlite3"
    tell("without the starter history", [timed(lambda: History(plain, starter=False).close())])
    tell("with it", [timed(lambda: History(full).close())])


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with tempfile.TemporaryDirectory() as name:
        writing(Path(name))
        reading(Path(name), 40)
        reading(Path(name), 1000)
        starting(Path(name))
