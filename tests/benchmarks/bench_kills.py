"""kill -9 at random moments: nothing finished is lost or doubled, and the run goes on as it was.

python tests/benchmarks/bench_kills.py [--rounds 200] [--strategy gp] [--target worker]

Every round begins a run in a copy of this process, which has imported all, kills the program, the
window's worker or a process of a trial or of the end at a random moment (SIGKILL; the program also
by SIGTERM and SIGINT), perhaps once more after it was resumed, sees that its processes are gone,
and lets it go on to its end. Then the folder is compared with that of the uninterrupted run:
settings, scores and steps, each once, what was recorded before the kill unchanged, the test score,
and the history; numbers to nine digits, for sums of the same numbers differ in their last bits
where memory lies otherwise. A killed trial process costs its trial, so that of such a run the
number of trials is compared. Exit status 1 where something was lost, doubled or different.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from warm_programs import HANGS, descendants, session_members, start, wait_for, warm_up

from app.cli.commands import main as command
from app.worker import messages as m
from app.worker.worker_process import run_worker
from core.datasets.samples import SAMPLES
from core.tuning.events import (
    HyperGradientStep,
    PenaltyStep,
    RunFinished,
    TrialFailed,
    TrialFinished,
)
from core.tuning.runs.past_runs import list_runs
from core.tuning.runs.run_folder import RunFolder

SIGNALS = {"program": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
TARGETS = (*SIGNALS, "worker", "helper")
GONE = 5.0  # seconds until the processes of a killed program are gone
AGAIN = 0.25  # how often the resumed run is killed once more
TRIALS = ("--model", "svm", "--trials", "4", "--option", "folds=3")
SAMPLERS = ("random", "grid", "gp", "hybrid", "variable", "eb-hyp", "transfer", "scot", "tpe",
            "cma-es")  # fmt: skip
LEARNED = ("groups", "--model", "logistic", "--groups", "prefix", "--evaluation", "test")
LEARNERS = {**dict.fromkeys(("mm", "evidence", "loo", "direct"), "max_steps"), "gradient": "steps"}
CASES: dict[str, tuple[str, ...]] = {
    **{name: ("iris", *TRIALS, "--strategy", name) for name in SAMPLERS},
    **{
        name: (*LEARNED, "--strategy", name, "--option", f"{limit}=8")
        for name, limit in LEARNERS.items()
    },
    "tags mm": ("tags.csv", "--strategy", "mm"),
    "tags gradient": ("tags.csv", "--strategy", "gradient"),
    "molecules mm": ("molecules.csv", "--strategy", "mm", "--option", "max_steps=5"),
    "molecules gradient": ("molecules.csv", "--strategy", "gradient", "--option", "steps=3"),
    "topics": ("texts", "--task", "topics", "--strategy", "random", "--trials", "3",
               "--option", "folds=2"),
}  # fmt: skip


@dataclass
class Outcome:
    """What a run folder holds in the end."""

    trials: dict[int, tuple[Any, float]]
    steps: list[Any]
    test: Any
    failed: int
    doubled: list[int]
    took: float = 0.0


@dataclass
class Found:
    """What went wrong, and when the kills came."""

    problems: list[str] = field(default_factory=list)
    phases: Counter[str] = field(default_factory=Counter)


def outcome_of(folder: Path) -> Outcome:
    """The finished trials or steps of a folder, and what it ended with."""
    events = RunFolder.open(folder).all_events()
    ended = [event for event in events if isinstance(event, TrialFinished)]
    counts = Counter(event.number for event in ended)
    finish = [event for event in events if isinstance(event, RunFinished)]
    steps = [event for event in events if isinstance(event, (PenaltyStep, HyperGradientStep))]
    return Outcome(
        {event.number: (event.setting, event.score) for event in ended},
        [(event.step, getattr(event, "penalties", None) or event.d) for event in steps],
        finish[-1].results["test"] if finish else None,
        sum(isinstance(event, TrialFailed) for event in events),
        [number for number, count in counts.items() if count > 1],
    )


# ------------------------------------------------------------------------------------- processes


def by_command(arguments: list[str]) -> Callable[[], int]:
    return lambda: command(arguments)


def by_worker(folder: Path) -> Callable[[], None]:
    """The window's worker going on with the run in a folder, without a window's end to its pipe."""

    def work() -> None:
        ours, theirs = multiprocessing.Pipe()
        scratch = tempfile.mkdtemp(prefix="worker-", dir=folder.parent)
        request = m.Request(1, m.Tune(RunFolder.open(folder).plan, folder=str(folder)))
        worker = os.fork()
        if worker == 0:
            ours.close()
            run_worker(theirs, "app.worker.engine", scratch)
        theirs.close()
        (folder.parent / "worker").write_text(str(worker))
        ours.send(request)
        with contextlib.suppress(EOFError, OSError):
            while not isinstance(ours.recv().answer, m.RunEnded):
                pass

    return work


def kill(target: str, number: int, place: Path) -> None:
    """SIGKILL, or another signal, to what is meant, where there is such a process by now."""
    with contextlib.suppress(OSError, ValueError):
        if target == "worker":
            os.kill(int((place / "worker").read_text()), signal.SIGKILL)
        elif target == "helper":  # a trial, its fork server, or the process of the end
            if members := descendants(number):
                os.kill(random.choice(members), signal.SIGKILL)
        else:
            os.kill(number, SIGNALS[target])


def check_no_helpers(number: int, found: Found) -> None:
    """See that nothing of an ended program lives longer than a few seconds."""
    give_up = time.monotonic() + GONE
    while members := session_members(number):
        if time.monotonic() > give_up:
            found.problems.append(f"{len(members)} of its processes outlive it by {GONE:g} s")
            return
        time.sleep(0.02)


# ---------------------------------------------------------------------------------------- rounds


def arguments_of(case: str, data: Path, folder: Path) -> list[str]:
    file, *rest = CASES[case]
    given = str(data / file) if file.endswith(".csv") else f"sample:{file}"
    return ["tune", given, *rest, "--run-dir", str(folder), "--json"]


def fresh(place: Path) -> Path:
    """A folder for one run, with a history of its own."""
    place.mkdir()
    os.environ["TUNESCOPE_RUNS"] = str(place)
    os.environ["TUNESCOPE_HISTORY"] = str(place / "history.sqlite3")
    return place / "run"


def uninterrupted(case: str, data: Path, place: Path) -> Outcome:
    """What the run comes to when nothing befalls it."""
    folder, since = fresh(place), time.monotonic()
    status = wait_for(start(by_command(arguments_of(case, data, folder)), place / "said"))
    if status:
        raise SystemExit(f"{case}: status {status}\n{(place / 'said').read_text()}")
    whole = outcome_of(folder)
    whole.took = time.monotonic() - since
    return whole


def one_round(case: str, target: str, whole: Outcome, data: Path, place: Path) -> Found:
    """Begin, kill, look, go on, compare."""
    found, folder = Found(), fresh(place)
    tune = by_command(arguments_of(case, data, folder))
    kills = 1 + (random.random() < AGAIN)
    recorded = b""
    if target == "worker":  # the window's worker takes over what the program has just begun
        number = start(tune, place / "said")
        while not (folder / "events.jsonl").exists() and os.waitpid(number, os.WNOHANG)[0] == 0:
            time.sleep(0.005)
        with contextlib.suppress(OSError):
            os.kill(number, signal.SIGKILL)
            wait_for(number)
    for _ in range(kills):
        there = (folder / "plan.json").exists()
        if target == "worker" and there:
            work = by_worker(folder)
        else:
            work = by_command(["resume", str(folder), "--json"]) if there else tune
        number = start(work, place / "said")
        time.sleep(random.uniform(0.0, 1.05 * whole.took))
        kill(target, number, place)
        if wait_for(number) == HANGS:
            found.problems.append("the program hangs")
        check_no_helpers(number, found)
        recorded = looked_at(folder, recorded, found)
    there = (folder / "plan.json").exists()
    number = start(by_command(["resume", str(folder), "--json"]) if there else tune, place / "said")
    if status := wait_for(number):
        found.problems.append(
            f"going on ended with {status}: {(place / 'said').read_text()[-400:]}"
        )
        return found
    looked_at(folder, recorded, found)
    compared(case, target, outcome_of(folder), whole, found)
    remembered(place / "history.sqlite3", outcome_of(folder), found)
    return found


def looked_at(folder: Path, before: bytes, found: Found) -> bytes:
    """See that the folder opens, and that what was recorded is still there; what is there now."""
    events = folder / "events.jsonl"
    now = events.read_bytes() if events.exists() else b""
    now = now[: now.rfind(b"\n") + 1]
    if not now.startswith(before):
        found.problems.append("what was recorded before the kill has changed")
    past, left_out = list_runs(folder.parent)
    states = [run.state for run in past] + ["left out"] * len(left_out)
    found.phases["no folder" if not states else states[0]] += 1
    if (folder / "plan.json").exists():
        RunFolder.open(folder).all_events()
        if len(states) != 1 or left_out:
            found.problems.append(f"the list of runs has {states} of one run: {left_out}")
    return now


def compared(case: str, target: str, run: Outcome, whole: Outcome, found: Found) -> None:
    if run.doubled:
        found.problems.append(f"trials are there twice: {run.doubled}")
    if target == "helper" and run.failed:
        count = len(run.trials) + run.failed
        if count != len(whole.trials):
            found.problems.append(f"{count} trials instead of {len(whole.trials)}")
        return
    if run.failed != whole.failed:
        found.problems.append(f"{run.failed} trials failed instead of {whole.failed}")
    if not alike(run.trials, whole.trials):
        lost = sorted(whole.trials.keys() - run.trials.keys())
        other = [n for n in run.trials if not alike(run.trials[n], whole.trials.get(n))]
        found.problems.append(f"trials lost {lost}, other ones {other}")
    if not alike(run.steps, whole.steps):
        found.problems.append(f"{len(run.steps)} steps, of the whole run {len(whole.steps)}")
    if not alike(run.test, whole.test):
        found.problems.append(f"the test score is {run.test} instead of {whole.test}")


def alike(one: Any, other: Any) -> bool:
    """Whether two pieces of plain data are the same, numbers to nine digits."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def remembered(history: Path, run: Outcome, found: Found) -> None:
    if not run.trials or not history.exists():
        return
    with contextlib.closing(sqlite3.connect(history)) as database:
        rows = database.execute(
            "SELECT trials.number, score FROM trials JOIN datasets ON dataset = datasets.number "
            "WHERE origin = 'run' ORDER BY trials.number"
        ).fetchall()
    if dict(rows) != {number: score for number, (_, score) in run.trials.items()}:
        found.problems.append(f"the history holds {len(rows)} trials of {len(run.trials)}")
    if len(rows) != len(dict(rows)):
        found.problems.append("the history holds trials twice")


def write_small(data: Path) -> None:
    """A few sentences and molecules, so that many rounds fit into an hour."""
    data.mkdir()
    for name, rows in (("tags", 400), ("molecules", 12)):
        SAMPLES[name].table().head(rows).to_csv(data / f"{name}.csv", index=False)


def run(kills: int, seed: int, cases: Sequence[str] = (), targets: Sequence[str] = ()) -> int:
    """So many killed runs, a kind after the other; prints what was lost, returns how often."""
    warm_up()
    random.seed(seed)
    names, wrong, phases = list(cases or CASES), 0, Counter[str]()
    wholes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="tunescope-kills-") as scratch:
        base = Path(scratch)
        os.environ["TMPDIR"], tempfile.tempdir = scratch, scratch
        write_small(base / "data")
        for number in range(kills):
            case = names[(seed + number) % len(names)]
            target = random.choice(targets or TARGETS)
            if case not in wholes:
                wholes[case] = uninterrupted(case, base / "data", base / f"whole {case}")
            place = base / str(number)
            found = one_round(case, target, wholes[case], base / "data", place)
            phases += found.phases
            wrong += bool(found.problems)
            for problem in found.problems:
                print(f"round {number} ({case}, {target}): {problem}", flush=True)
            shutil.rmtree(place, ignore_errors=True)
    print(f"{kills} rounds over {len(wholes)} kinds of run: {wrong} wrong; "
          f"after the kills the folders were {dict(phases)}", flush=True)  # fmt: skip
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--strategy", action="append", choices=list(CASES), help="only these")
    parser.add_argument("--target", action="append", choices=TARGETS, help="only these")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    return int(run(given.rounds, given.seed, given.strategy or (), given.target or ()) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
