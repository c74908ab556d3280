"""Up to 32 workers on one run, half of them killed at random: each trial ends once, none is lost.

python tests/benchmarks/shared_work.py [--runs 4] [--seed 0] [--workers 1 2 8 32]

The coordinator and the workers are programs of their own. In every other run half of the workers
are killed, each at a moment of its own, and the coordinator too: another process has to take over.
Exit status 1 where a trial is missing or there twice, has another score than here, or where the run
or a worker that lives does not end.
"""

import argparse
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from warm_programs import HANGS, descendants, start, wait_for, warm_up

from app.cli.commands import main as command
from core.tuning.cluster import executor, shared_executor, shared_folder, shared_worker
from core.tuning.events import RunFinished, TrialFailed, TrialFinished, TrialStarted
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.scoring import ScoringJob, TrialRequest, TrialResult, score_trial
from core.tuning.trials import executors

WORKERS = (1, 2, 8, 32)
TRIALS = 120
TRIAL_SECONDS = 0.5  # that each waits, so that all workers come to have some
GONE_SECONDS = 6.0  # without a beat, in place of the product's 20
RUN_SECONDS = 400.0
TUNE = f"tune sample:iris --model svm --strategy random --trials {TRIALS} --patience 0"
TUNE += " --option folds=2 --evaluation test"


@dataclass(frozen=True)
class SharedRun:
    """What one run came to."""

    workers: int
    killed: int
    coordinators: int
    trials: int
    seconds: float
    faults: list[str]

    @property
    def row(self) -> str:
        columns = (self.workers, self.killed, self.coordinators, self.trials, len(self.faults))
        return "".join(f"{value:>13}" for value in columns) + f"{self.seconds:>12.0f} s"


def kill_program(number: int) -> None:
    """End a program and its processes at once."""
    for member in [number, *descendants(number)]:
        try:
            os.kill(member, signal.SIGKILL)
        except ProcessLookupError:
            continue


def shared_run(base: Path, count: int, seed: int, kills: bool) -> SharedRun:
    """A run of so many workers."""
    draw, began = random.Random(seed), time.monotonic()
    path = base / f"run-{seed}-{count}-{kills}"
    output = path.with_suffix(".txt")
    words = f"{TUNE} --seed {seed} --run-dir {path}".split()
    coordinator = start(partial(command, words), output)
    while not (path / "events.jsonl").exists() and time.monotonic() < began + 60:
        time.sleep(0.05)
    work = partial(command, f"work {path}".split())
    programs = [start(work, output) for _ in range(count)]
    victims = draw.sample(programs, count // 2) if kills else []
    victims += [coordinator] if kills and count > 1 else []
    moments = sorted((draw.uniform(5, 0.8 * TRIALS), victim) for victim in victims)
    for ended_count, victim in moments:
        end = time.monotonic() + RUN_SECONDS
        while trial_count(path) < ended_count and time.monotonic() < end:
            time.sleep(0.05)
        kill_program(victim)
    statuses = {program: wait_for(program, RUN_SECONDS) for program in (coordinator, *programs)}
    killed = sum(status == -signal.SIGKILL for status in statuses.values())
    faults = [
        f"{path.name}: a process ended with {'no end' if status == HANGS else status}"
        for program, status in statuses.items()
        if status and program not in victims
    ]
    text = output.read_text(errors="replace")
    if faults:
        faults.append(text[-600:])
    events = RunFolder.open(path).all_events()
    faults += [f"{path.name}: {fault}" for fault in trial_faults(events)]
    if (path / "work").exists() and not victims:
        faults.append(f"{path.name}: files of workers are left")
    trials = sum(isinstance(event, TrialFinished) for event in events)
    takeovers = text.count("from now on this one does")
    seconds = time.monotonic() - began
    return SharedRun(count, killed, 1 + takeovers, trials, seconds, faults)


def trial_count(path: Path) -> int:
    """How many trials have ended by now."""
    return (path / "events.jsonl").read_bytes().count(b'{"event": "TrialFinished"')


def slow_score(job: ScoringJob, request: TrialRequest) -> TrialResult:
    """A trial that takes its time, and little of the processor."""
    time.sleep(TRIAL_SECONDS)
    return score_trial(job, request)


def trial_faults(events: list) -> Iterator[str]:
    """What is wrong with the recorded trials."""
    ends = Counter(e.number for e in events if isinstance(e, (TrialFinished, TrialFailed)))
    starts = Counter(e.number for e in events if isinstance(e, TrialStarted))
    if sorted(ends) != list(range(TRIALS)) or ends.total() != TRIALS:
        yield f"trials end {ends.total()} times, {len(ends)} of {TRIALS}"
    if starts.keys() != ends.keys():
        yield "a trial began and has no end"
    yield from (f"trial {e.number}: {e.reason}" for e in events if isinstance(e, TrialFailed))
    if not isinstance(events[-1], RunFinished):
        yield f"the last event is {type(events[-1]).__name__}"


def scores_of(path: Path) -> list[tuple[int, list[float]]]:
    """(number, scores of its folds) of all trials in a folder."""
    events = RunFolder.open(path).all_events()
    return sorted((e.number, e.fold_scores) for e in events if isinstance(e, TrialFinished))


def run(runs: int, seed: int, counts: tuple[int, ...] = WORKERS) -> int:
    """So many runs of each count of workers; prints a table, returns how many faults there are."""
    warm_up()
    for module in (executor, shared_executor, shared_folder, shared_worker):
        module.GONE_SECONDS = GONE_SECONDS
    names = ("workers", "killed", "coordinators", "trials", "faults")
    print("".join(f"{name:>13}" for name in names), flush=True)
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="tunescope-work-") as scratch:
        base = Path(scratch)
        os.environ |= {"TUNESCOPE_RUNS": scratch, "TUNESCOPE_HISTORY": str(base / "history")}
        for number in range(runs):
            own_seed = (seed + number) % 2**31
            executors.score_trial = score_trial
            alone = base / f"alone-{own_seed}"
            words = f"{TUNE} --seed {own_seed} --run-dir {alone}".split()
            wait_for(start(partial(command, words), alone.with_suffix(".txt")))
            expected = scores_of(alone)
            executors.score_trial = slow_score
            for count in counts:
                shared = shared_run(base, count, own_seed, kills=number % 2 == 0)
                faults += shared.faults
                if scores_of(base / f"run-{own_seed}-{count}-{number % 2 == 0}") != expected:
                    faults.append(f"seed {own_seed}, {count} workers: other scores than alone")
                print(shared.row, flush=True)
    print(*faults, sep="\n", flush=True)
    return len(faults)


def main() -> int:
    """Run so many runs; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    arguments = parser.parse_args()
    return int(run(arguments.runs, arguments.seed, tuple(arguments.workers)) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
