"""Eight programs at once on one history and one folder of runs: none is lost, torn or doubled.

python tests/benchmarks/shared_programs.py [--runs 500] [--seed 0]

Every run is a program of its own. In each batch all begin in the same second, every other run in a
new folder that the program names, and one folder is given to two programs: the second is refused
with a sentence. Exit status 1 where a run or a trial is missing, torn or there twice.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sqlite3
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

from warm_programs import start, wait_for, warm_up

from app.cli.commands import main as command
from core.tuning.events import RunFinished, TrialFinished
from core.tuning.runs.run_folder import RunFolder

PROGRAMS, TRIALS = 8, 2
UNUSABLE = 2
MAX_SEED = 2**31
REFUSED = ("this run is being written by process", "this folder holds a run already")
TUNE = f"tune sample:iris --model svm --strategy random --trials {TRIALS} --option folds=2"


def start_run(base: Path, seed: int, has_folder: bool, copy: int = 0) -> tuple[Path, int]:
    """A program that tunes; the file of its output, and its number."""
    folder = f"--run-dir {base / f'given-{seed}'}" if has_folder else ""
    output = base / f"output-{seed}-{copy}"
    return output, start(partial(command, f"{TUNE} --seed {seed} {folder}".split()), output)


def run_batch(base: Path, seeds: list[int]) -> list[str]:
    """Programs at once, the last in the folder of the first; what is wrong with their ends."""
    programs = [start_run(base, seed, index % 2 == 0) for index, seed in enumerate(seeds)]
    programs.append(start_run(base, seeds[0], True, copy=1))
    statuses = [(output, wait_for(program)) for output, program in programs]
    twins = [statuses[0], statuses[-1]]
    refused = [output.read_text() for output, status in twins if status == UNUSABLE]
    problems = [
        f"{output.name}: {status}, {output.read_text()[-300:]}"
        for output, status in statuses
        if status and (output, status) not in twins
    ]
    if len(refused) != 1 or not any(text in refused[0] for text in REFUSED):
        problems.append(f"seed {seeds[0]}: of two programs in one folder {refused} was refused")
    return problems


def folder_faults(base: Path, seeds: list[int]) -> tuple[list[str], list[tuple[int, float]]]:
    """What is wrong with the folders of runs, and the (number, score) of all their trials."""
    folders = [RunFolder.open(path.parent) for path in base.glob("*/plan.json")]
    counts = Counter(folder.plan.seed for folder in folders)
    problems = [f"seed {seed}: {counts[seed]} folders" for seed in seeds if counts[seed] != 1]
    rows: list[tuple[int, float]] = []
    for folder in folders:
        events = folder.all_events()
        trials = [(e.number, e.score) for e in events if isinstance(e, TrialFinished)]
        rows += trials
        if not isinstance(events[-1], RunFinished) or len(dict(trials)) != TRIALS:
            problems.append(f"{folder.name} has {len(trials)} trials")
    return problems, rows


def history_faults(history: Path, rows: list[tuple[int, float]]) -> list[str]:
    """What the history has more or less than the runs."""
    query = "SELECT trials.number, score FROM trials JOIN datasets ON dataset = datasets.number"
    with contextlib.closing(sqlite3.connect(history)) as database:
        kept = database.execute(f"{query} WHERE origin = 'run'").fetchall()
        check = database.execute("PRAGMA integrity_check").fetchone()[0]
    if check == "ok" and sorted(kept) == sorted(rows):
        return []
    return [f"the history has {len(kept)} trials of {len(rows)}, its check says {check}"]


def run(runs: int, seed: int) -> int:
    """So many runs, eight at a time; prints what was lost, returns how many faults there are."""
    warm_up()
    seeds = [(seed + number) % MAX_SEED for number in range(runs)]
    with tempfile.TemporaryDirectory(prefix="tunescope-shared-") as scratch:
        base = Path(scratch)
        history = base / "history.sqlite3"
        os.environ |= {"TUNESCOPE_RUNS": scratch, "TUNESCOPE_HISTORY": str(history)}
        problems: list[str] = []
        for first in range(0, runs, PROGRAMS):
            problems += run_batch(base, seeds[first : first + PROGRAMS])
        faults, rows = folder_faults(base, seeds)
        problems += [*faults, *history_faults(history, rows)]
    print(f"{runs} runs, {PROGRAMS} at once: {len(problems)} faults", flush=True)
    print(*problems, sep="\n", flush=True)
    return len(problems)


def main() -> int:
    """Run so many programs; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    return int(run(arguments.runs, arguments.seed) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
