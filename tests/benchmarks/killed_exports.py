"""kill -9 while files are written: each is whole, old or new, and the next command tidies up.

python tests/benchmarks/killed_exports.py [--rounds 150] [--seed 0] [--case npz]

A round starts a command that writes a file (an export of a run, predictions, a report, the
history), over an older file or none, in a copy of this process, and kills it: at a random moment,
or before its k-th call that changes a folder or brings a file to the disk. Then the file must be
the older one or open as a new one, and the run folder be unchanged; the same command once more must
succeed and leave nothing but its file. Exit status 1 where something was not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import optuna
import pandas as pd
from warm_programs import descendants, has_ended, start, wait_for, warm_up

from app.cli.commands import main as command
from core.datasets.samples import SAMPLES
from core.estimators.stored import archive
from core.estimators.stored.allowed_types import KEPT
from core.writing import DRAFT

CALLS = ("open", "mkdir", "rename", "replace", "unlink", "rmdir", "fsync", "chmod", "truncate")
TRIALS = ["--strategy", "random", "--trials", "3", "--option", "folds=2"]
RUNS = {
    "iris": ["sample:iris", "--model", "logistic", *TRIALS],
    "tags": ["tags.csv", "--strategy", "mm", "--option", "max_steps=3"],
}
OLD = b"an older file"


def _trial_counts(path: Path) -> dict[str, int]:
    storage: optuna.storages.BaseStorage | str = f"sqlite:///{path}"
    if path.suffix == ".log":
        backend = optuna.storages.journal.JournalFileBackend(str(path))
        storage = optuna.storages.JournalStorage(backend)
    return {study.study_name: study.n_trials for study in optuna.get_all_study_summaries(storage)}


def _check_study(path: Path) -> None:
    counts = _trial_counts(path)
    assert counts == {"iris": 3}, f"trials {counts}"


def _check_studies(path: Path) -> None:
    """A study joins others in place: a killed program has begun it, and the next completes it."""
    counts = _trial_counts(path)
    assert counts["joined"] == 3, f"trials {counts}"
    assert 0 <= counts.get("iris", 3) <= 3, f"trials {counts}"


def _check_html(path: Path) -> None:
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")


def _check_arrays(path: Path) -> None:
    with np.load(path) as arrays:
        assert all(arrays[name].size >= 0 for name in arrays.files)


def _check_rows(read: Callable[[Path], pd.DataFrame]) -> Callable[[Path], None]:
    def check(path: Path) -> None:
        assert len(read(path)) == len(SAMPLES["iris"].table())

    return check


# {file: (words of the command, where FILE is the file; raises where it is not whole)}
CASES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "a.skops": ("export iris FILE", lambda path: archive.load_model(path, KEPT)),
    "trial.skops": ("export iris FILE --which 1", lambda path: archive.load_model(path, KEPT)),
    "a.joblib": ("export iris FILE", joblib.load),
    "a.py": ("export iris FILE", lambda path: compile(path.read_text(), str(path), "exec")),
    "a.html": ("report iris --out FILE", _check_html),
    "a.db": ("export iris --format optuna --out FILE", _check_study),
    "a.log": ("export iris --format optuna --out FILE", _check_study),
    "joined.db": ("export iris --format optuna --out FILE", _check_studies),
    "joined.log": ("export iris --format optuna --out FILE", _check_studies),
    "a.npz": ("export tags FILE", _check_arrays),
    "a.json": ("export tags FILE", lambda path: json.loads(path.read_text())),
    "history.json": ("history export FILE", lambda path: json.loads(path.read_text())),
    "p.csv": ("predict iris iris.csv --out FILE", _check_rows(pd.read_csv)),
    "p.xlsx": (
        "predict iris iris.csv --out FILE",
        _check_rows(partial(pd.read_excel, engine="calamine")),
    ),
    "p.parquet": ("predict iris iris.csv --out FILE", _check_rows(pd.read_parquet)),
}


class World:
    """The runs and data that the commands read, and the folder that they write into."""

    def __init__(self, base: Path) -> None:
        self.base, self.runs, self.out = base, base / "runs", base / "out"
        for folder in (self.runs, self.out, base / "tmp"):
            folder.mkdir()
        os.environ |= {
            "TUNESCOPE_RUNS": str(self.runs),
            "TUNESCOPE_HISTORY": str(base / "history.sqlite3"),
            "TMPDIR": str(base / "tmp"),
        }
        tempfile.tempdir = str(base / "tmp")
        os.chdir(base)
        SAMPLES["tags"].table().head(400).to_csv("tags.csv", index=False)
        SAMPLES["iris"].table().to_csv("iris.csv", index=False)
        for name, words in RUNS.items():
            self.run(["tune", *words, "--run-dir", str(self.runs / name)])
        # The study that others are joined to is of another run.
        self.run(["tune", *RUNS["iris"], "--seed", "5", "--run-dir", str(self.runs / "joined")])
        for ending in ("db", "log"):
            file = str(base / f"other.{ending}")
            self.run(["export", "joined", "--format", "optuna", "--out", file])
        self.calls: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        self.drafts: set[str] = set()
        self.contents = self._run_contents()

    def run(self, words: list[str]) -> None:
        """A command that nobody kills."""
        if status := wait_for(start(lambda: command(words), self.base / "output")):
            raise SystemExit(f"{words}: status {status}\n{(self.base / 'output').read_text()}")

    def _run_contents(self) -> dict[str, bytes]:
        paths = (path for path in self.runs.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in paths}

    def old_content(self, name: str, has_old: bool) -> bytes | None:
        if name.startswith("joined"):
            return (self.base / f"other{Path(name).suffix}").read_bytes()
        # What is no study is refused, not replaced.
        return OLD if has_old and not name.endswith((".db", ".log")) else None

    def words(self, name: str) -> list[str]:
        return [str(self.out / name) if w == "FILE" else w for w in CASES[name][0].split()]

    def measure(self, name: str) -> None:
        """How long the command takes, and how many of the calls it makes."""
        note, began = self.base / "calls", time.monotonic()
        words = self.words(name)
        self.put(name, True)

        def work() -> int:
            counted = count_calls()
            status = command(words)
            note.write_text(str(counted.total()))
            return status

        if status := wait_for(start(work, self.base / "output")):
            raise SystemExit(f"{words}: status {status}\n{(self.base / 'output').read_text()}")
        self.calls[name], self.seconds[name] = int(note.read_text()), time.monotonic() - began

    def put(self, name: str, has_old: bool) -> bytes | None:
        """Nothing but the older file, which is returned."""
        shutil.rmtree(self.out)
        self.out.mkdir()
        content = self.old_content(name, has_old)
        if content is not None:
            (self.out / name).write_bytes(content)
        return content

    def faults(self, name: str, old: bytes | None, is_over: bool) -> list[str]:
        """What is wrong after a kill, or when the next command `is_over`."""
        path, faults = self.out / name, []
        content = path.read_bytes() if path.exists() else None
        if content != old or is_over:
            try:
                CASES[name][1](path)
            except Exception as error:
                faults.append(f"the file is neither old nor new: {type(error).__name__}: {error}")
        if is_over:
            if name.startswith("joined") and _trial_counts(path).get("iris") != 3:
                faults.append("the study is not complete")
            # Optuna itself leaves its locks, and breaks them half a minute later.
            names = {entry.name for entry in self.out.iterdir() if ".lock" not in entry.name}
            if more_names := sorted(names - {name}):
                faults.append(f"{', '.join(more_names)} stay")
            drafts = {str(path) for path in self.runs.rglob(f"{DRAFT}*/*")}
            if new_drafts := drafts - self.drafts:
                faults.append(f"drafts stay: {new_drafts}")
            self.drafts |= drafts
        # A report keeps its answers there.
        if not self.contents.items() <= self._run_contents().items():
            faults.append("the folder of the run has changed")
        return faults


def count_calls(last: int | None = None) -> Counter[str]:
    """Count the calls of this process; the one after `last` kills it."""
    counts: Counter[str] = Counter()
    for call in CALLS:
        usual = getattr(os, call)

        def counted(*given, usual=usual, call=call, **named):  # type: ignore[no-untyped-def]
            is_written = call != "open" or (given[1:] and given[1] & (os.O_WRONLY | os.O_RDWR))
            if is_written:
                if counts.total() == last:
                    os.kill(os.getpid(), signal.SIGKILL)
                counts[call] += 1
            return usual(*given, **named)

        setattr(os, call, counted)
    return counts


def run_round(world: World, name: str) -> tuple[str, list[str]]:
    """How it was killed ("" for too late), and what was wrong then."""
    if name not in world.calls:
        world.measure(name)
    old, words = world.put(name, random.random() < 0.5), world.words(name)
    # A database in place makes its calls below Python.
    is_counted = world.calls[name] > 0 and random.random() < 0.6
    last = random.randrange(world.calls[name]) if is_counted else None

    def work() -> int:
        count_calls(last)
        return command(words)

    number = start(work, world.base / "output")
    if not is_counted:
        time.sleep(random.uniform(0.0, world.seconds[name]))
        # The process that predicts is one of a stranger's model, as is the writer of a file.
        victims = [number] if has_ended(number) else [number, *descendants(number)]
        os.kill(random.choice(victims), signal.SIGKILL)
    status = wait_for(number)
    how = "" if status == 0 else "at a call" if is_counted else "at a moment"
    faults = world.faults(name, old, is_over=False)
    is_study, text = name.endswith((".db", ".log")), ""
    if status and (status := wait_for(start(lambda: command(words), world.base / "output"))):
        text = (world.base / "output").read_text()[-300:]
    if status and not (is_study and "holds a study" in text):
        faults.append(f"the next command ends with {status}: {text}")
    faults += world.faults(name, old, is_over=True)
    return how, faults


def run(rounds: int, seed: int, cases: list[str] | None = None) -> int:
    """So many rounds, a case after the other; prints what was wrong, returns how often."""
    warm_up()
    random.seed(seed)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    names, kills, wrong = cases or list(CASES), Counter[str](), 0
    before = os.getcwd()
    with tempfile.TemporaryDirectory(prefix="tunescope-exports-") as scratch:
        world = World(Path(scratch))
        for number in range(rounds):
            name = names[(seed + number) % len(names)]
            how, faults = run_round(world, name)
            kills[how or "too late"] += 1
            wrong += bool(faults)
            for fault in faults:
                print(f"round {number} ({name}, {how}): {fault}", flush=True)
        os.chdir(before)
    print(f"{rounds} exports, {dict(kills)}: {wrong} wrong", flush=True)
    return wrong


def main() -> int:
    """Run so many rounds; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=150)
    parser.add_argument("--case", action="append", choices=list(CASES), help="only these")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    return int(run(given.rounds, given.seed, given.case) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
