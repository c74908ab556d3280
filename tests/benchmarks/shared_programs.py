"""Eight programs at once on one history and one folder of runs: none is lost, torn or doubled.

python tests/benchmarks/shared_programs.py [--runs 500] [--seed 0]

Every run is a program of its own. In each batch one folder is given to two programs: the second is
refused with a sentence. Exit status 1 where a run or a trial is missing, torn or there twice.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sqlite3
import tempfile
from pathlib import Path

from warm_programs import start, wait_for, warm_up

PROGRAMS, TRIALS = 8, 2
UNUSABLE = 2
MAX_SEED = 2**31
REFUSED = ("this run is being written by process", "this folder holds a run already")


def run(runs: int, seed: int) -> int:
    """So many runs, eight at a time; prints what was lost, returns how many faults there are."""
    warm_up()
    from app.cli.commands import main as command
    from core.tuning.events import RunFinished, TrialFinished
    from core.tuning.runs.run_folder import RunFolder

    problems: list[str] = []
    rows: list[tuple[int, float]] = []
    with tempfile.TemporaryDirectory(prefix="tunescope-shared-") as scratch:
        base = Path(scratch)
        history = base / "history.sqlite3"
        os.environ |= {"TUNESCOPE_RUNS": scratch, "TUNESCOPE_HISTORY": str(history)}
        for first in range(0, runs, PROGRAMS):
            numbers = list(range(first, min(runs, first + PROGRAMS)))
            programs = []
            for number in [*numbers, numbers[0]]:  # the last wants the folder of the first
                arguments = f"tune sample:iris --model svm --strategy random --trials {TRIALS}"
                own_seed = (seed + number) % MAX_SEED
                arguments += f" --option folds=2 --seed {own_seed} --run-dir {base / str(number)}"
                words = arguments.split()
                output = base / f"output-{len(programs)}-{number}"
                programs.append((number, output, start(lambda w=words: command(w), output)))
            ended = [(number, output, wait_for(program)) for number, output, program in programs]
            twins = [(output, status) for number, output, status in ended if number == first]
            refused = [output.read_text() for output, status in twins if status == UNUSABLE]
            if len(refused) != 1 or not any(text in refused[0] for text in REFUSED):
                problems.append(f"run {first}: of two programs in one folder {refused} was refused")
            for number in numbers:
                events = RunFolder.open(base / str(number)).all_events()
                trials = [(e.number, e.score) for e in events if isinstance(e, TrialFinished)]
                rows += trials
                if not isinstance(events[-1], RunFinished) or len(dict(trials)) != TRIALS:
                    texts = [output.read_text()[-300:] for n, output, _ in ended if n == number]
                    problems.append(f"run {number} has {len(trials)} trials: {texts}")
        with contextlib.closing(sqlite3.connect(history)) as database:
            query = (
                "SELECT trials.number, score FROM trials JOIN datasets ON dataset = datasets.number"
            )
            kept = database.execute(f"{query} WHERE origin = 'run'").fetchall()
            check = database.execute("PRAGMA integrity_check").fetchone()[0]
    if check != "ok" or sorted(kept) != sorted(rows):
        problems.append(
            f"the history has {len(kept)} trials of {len(rows)}, its check says {check}"
        )
    print(f"{runs} runs, {PROGRAMS} at once: {len(problems)} faults", flush=True)
    print(*problems, sep="\n", flush=True)
    return len(problems)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    return int(run(arguments.runs, arguments.seed) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
