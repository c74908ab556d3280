"""kill -9 at any line of a run: nothing is lost or doubled, and the run goes on as it was.

python tests/benchmarks/bench_kills.py [--rounds 200] [--case gp] [--victim worker] [--phase saving]

Every round begins a run in a copy of this process, which has imported all, and kills the program,
the window's worker or a process of a trial, of a cluster or of the end (SIGKILL; the program also
by SIGTERM and SIGINT): when the run has so many lines, while it is concluded, while its model is
saved, or while it is exported; perhaps once more after it was resumed. The processes must be gone
then, and the run goes on to its end. Its folder is compared with that of the uninterrupted run:
settings, scores and steps, each once, what was recorded before the kill unchanged, the results, the
export, and the history; numbers to nine digits, for sums of the same numbers differ in their last
bits where memory lies otherwise. A killed trial process costs its trial, and several models share
their trials by the clock: of such runs the number of trials is compared, and the score of equal
settings. Exit status 1 where something was lost, doubled or different.
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

from warm_programs import HANGS, descendants, has_ended, session_members, start, wait_for, warm_up

from app.cli.commands import main as command
from app.worker import messages as m
from app.worker.worker_process import run_worker
from core.datasets.samples import SAMPLES
from core.estimators.stored import archive
from core.estimators.stored.allowed_types import KEPT
from core.tuning.events import (
    HyperGradientStep,
    PenaltyStep,
    RunFinished,
    TrialFailed,
    TrialFinished,
    TuningEnded,
)
from core.tuning.run_results import Results
from core.tuning.runs.past_runs import list_runs
from core.tuning.runs.run_folder import RunFolder
from core.writing import DRAFT

SIGNALS = {"program": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
VICTIMS = (*SIGNALS, "worker", "helper")
PHASES = ("lines", "conclusion", "saving", "export")
GONE_SECONDS = 5.0  # until the processes of a killed program are gone
SECOND_KILL = 0.25  # how often the resumed run is killed once more
LOOK_SECONDS = 0.001


@dataclass(frozen=True)
class Case:
    """A kind of run.

    Attributes:
        arguments: of `tunescope tune`.
        is_decided: whether its seed decides all of its trials.
    """

    arguments: str
    is_decided: bool = True

    @property
    def exports(self) -> bool:
        """Whether the model is saved as a file too."""
        return "--export" in self.arguments


EXPORT = "model.skops"
TRIALS = "--trials 4 --option folds=3"
SVM = f"sample:iris --model svm {TRIALS} --strategy"
GROUPS = "sample:groups --model logistic --groups prefix --evaluation test --strategy"
CASES = {
    **{
        name: Case(f"{SVM} {name}")
        for name in ("random", "grid", "gp", "hybrid", "variable", "eb-hyp", "transfer", "scot",
                     "tpe", "cma-es")
    },
    **{
        name: Case(f"{GROUPS} {name} --option max_steps=8")
        for name in ("mm", "evidence", "loo", "direct")
    },
    "gradient": Case(f"{GROUPS} gradient --option steps=8"),
    "nested mm": Case(f"{GROUPS.replace('test', 'nested')} mm --option max_steps=4"),
    "nested": Case(f"{SVM} random --evaluation nested"),
    "tags mm": Case("tags.csv --strategy mm"),
    "tags gradient": Case("tags.csv --strategy gradient"),
    "tags gp": Case("tags.csv --strategy gp --trials 3"),
    "molecules mm": Case("molecules.csv --strategy mm --option max_steps=5"),
    "molecules gradient": Case("molecules.csv --strategy gradient --option steps=3"),
    "topics": Case("sample:texts --task topics --strategy random --trials 3 --option folds=2"),
    "two at a time": Case(f"{SVM} random --workers 2", is_decided=False),
    "export": Case(f"{SVM} random --export {EXPORT}"),
    "auto": Case("sample:iris --model auto --trials 6 --option folds=2", is_decided=False),
    "minutes": Case("sample:iris --model auto --minutes .02 --option folds=2", is_decided=False),
    "cluster": Case(f"{SVM} random --cluster local --workers 1"),
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What a run folder holds in the end."""

    trials: dict[int, tuple[Any, float]]
    steps: list[Any]
    results: Results | None
    failed: int
    doubled: list[int]
    lines: int
    ending_seconds: float
    files: set[str]


@dataclass
class Round:
    """What went wrong in a round, and what was killed when."""

    problems: list[str] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)

    def add(self, problems: Sequence[str]) -> None:
        """Note problems."""
        self.problems += problems


def outcome_of(folder: Path) -> Outcome:
    """The finished trials or steps of a folder, and what it ended with."""
    events = RunFolder.open(folder).all_events()
    ended = [event for event in events if isinstance(event, TrialFinished)]
    counts = Counter(event.number for event in ended)
    finish = [event for event in events if isinstance(event, RunFinished)]
    tuned = [event.seconds for event in events if isinstance(event, TuningEnded)]
    steps = [event for event in events if isinstance(event, (PenaltyStep, HyperGradientStep))]
    return Outcome(
        {event.number: (event.setting, event.score) for event in ended},
        [(event.step, getattr(event, "penalties", None) or event.d) for event in steps],
        finish[-1].results if finish else None,
        sum(isinstance(event, TrialFailed) for event in events),
        [number for number, count in counts.items() if count > 1],
        len(events),
        finish[-1].seconds - tuned[-1] if finish else 0.0,
        {path.name for path in folder.iterdir()},
    )


# ------------------------------------------------------------------------------------- processes


def by_command(arguments: list[str]) -> Callable[[], int]:
    """The work of a program."""
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


@dataclass(frozen=True)
class Moment:
    """A moment of a run: some seconds after its events, or the names of its files, say so."""

    phase: str
    lines: int
    seconds: float

    @classmethod
    def drawn(cls, phase: str, whole: Outcome) -> Moment:
        """A moment of a phase; of `lines` any line of the uninterrupted run, and none."""
        seconds = {"conclusion": whole.ending_seconds, "saving": 0.01, "export": 0.2}
        lines = random.randint(0, whole.lines)
        return cls(phase, lines, random.uniform(0.0, seconds.get(phase, 0.2 if lines else 0.5)))

    def has_come(self, folder: Path) -> bool:
        """Whether it has come, but for the seconds."""
        if self.phase == "saving":
            with contextlib.suppress(OSError):
                names = os.listdir(folder)
                return (
                    any(name.startswith((DRAFT, "best")) for name in names) and "plan.json" in names
                )
            return False
        events = folder / "events.jsonl"
        content = events.read_bytes() if events.exists() else b""
        if self.phase == "lines":
            return content.count(b"\n") >= self.lines
        return (b'"TuningEnded"' if self.phase == "conclusion" else b'"RunFinished"') in content

    def wait(self, number: int, folder: Path) -> bool:
        """Wait for it; whether the program still runs then."""
        while not self.has_come(folder):
            if has_ended(number):
                return False
            time.sleep(LOOK_SECONDS)
        time.sleep(self.seconds)
        return not has_ended(number)


def kill(victim: str, number: int, place: Path) -> None:
    """SIGKILL, or another signal, to what is meant, where there is such a process by now."""
    with contextlib.suppress(OSError, ValueError):
        if victim == "worker":
            os.kill(int((place / "worker").read_text()), signal.SIGKILL)
        elif victim == "helper":  # a trial, its fork server, or the process of the end
            if members := descendants(number):
                os.kill(random.choice(members), signal.SIGKILL)
        else:
            os.kill(number, SIGNALS[victim])


def remaining_helpers(number: int) -> list[str]:
    """Whether something of an ended program lives longer than a few seconds."""
    end = time.monotonic() + GONE_SECONDS
    while members := session_members(number):
        if time.monotonic() > end:
            return [f"{len(members)} of its processes outlive it by {GONE_SECONDS:g} s"]
        time.sleep(0.02)
    return []


# ---------------------------------------------------------------------------------------- rounds


@dataclass(frozen=True)
class Program:
    """The programs that begin a run in a place and go on with it."""

    case: Case
    data: Path
    place: Path

    def __post_init__(self) -> None:
        self.place.mkdir()
        os.environ["TUNESCOPE_RUNS"] = str(self.place)
        os.environ["TUNESCOPE_HISTORY"] = str(self.place / "history.sqlite3")

    @property
    def folder(self) -> Path:
        return self.place / "run"

    @property
    def export(self) -> Path:
        return self.place / EXPORT

    @property
    def output(self) -> Path:
        return self.place / "output"

    @property
    def has_begun(self) -> bool:
        return (self.folder / "plan.json").exists()

    def start(self) -> int:
        """Begin or resume; the number of the program."""
        words = [str(self.export) if w == EXPORT else w for w in self.case.arguments.split()]
        file = words[0] if ":" in words[0] else str(self.data / words[0])
        begin = ["tune", file, *words[1:], "--run-dir", str(self.folder), "--json"]
        again = ["resume", str(self.folder), "--json"]
        if self.case.exports:
            again += ["--export", str(self.export)]
        if "--cluster" in words:
            again += ["--cluster", "local"]
        return start(by_command(again if self.has_begun else begin), self.output)

    def start_worker(self) -> int:
        """The window's worker takes over what the program has just begun; its owner's number."""
        if not self.has_begun:
            number = self.start()
            while not (self.folder / "events.jsonl").exists() and not has_ended(number):
                time.sleep(LOOK_SECONDS)
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
            wait_for(number)
        return start(by_worker(self.folder), self.output)


def uninterrupted(case: Case, data: Path, place: Path) -> Outcome:
    """What the run comes to when nothing befalls it."""
    program = Program(case, data, place)
    if status := wait_for(program.start()):
        raise SystemExit(f"{case}: status {status}\n{program.output.read_text()}")
    return outcome_of(program.folder)


def run_round(case: Case, victim: str, phases: Sequence[str], whole: Outcome,
              data: Path, place: Path) -> Round:  # fmt: skip
    """Begin, kill, look, go on, compare."""
    record, program = Round(), Program(case, data, place)
    content = b""
    for _ in range(1 + (random.random() < SECOND_KILL)):
        phase = random.choice(phases)
        number = program.start_worker() if victim == "worker" else program.start()
        if Moment.drawn(phase, whole).wait(number, program.folder):
            kill(victim, number, place)
            record.kills[f"{victim}, {phase}"] += 1
        if wait_for(number) == HANGS:
            record.add([f"{phase}: the program hangs"])
        record.add(remaining_helpers(number))
        content = look_at(program, content, record)
    if status := wait_for(program.start()):
        text = program.output.read_text()[-400:]
        record.add([f"going on ended with {status}: {text}"])
        return record
    look_at(program, content, record)
    outcome = outcome_of(program.folder)
    record.add(differences(case, victim, outcome, whole))
    record.add(history_faults(place / "history.sqlite3", outcome))
    if case.exports and not program.export.exists():
        record.add(["there is no export"])
    return record


def look_at(program: Program, before: bytes, record: Round) -> bytes:
    """See that the folder opens, and that what was recorded is still there; what is there now."""
    events = program.folder / "events.jsonl"
    now = events.read_bytes() if events.exists() else b""
    now = now[: now.rfind(b"\n") + 1]
    if not now.startswith(before):
        record.add(["what was recorded before the kill has changed"])
    runs, left_out = list_runs(program.place)
    states = [run.state for run in runs] + ["left out"] * len(left_out)
    record.states["no folder" if not states else states[0]] += 1
    if program.has_begun:
        RunFolder.open(program.folder).all_events()
        if len(states) != 1 or left_out:
            record.add([f"the list of runs has {states} of one run: {left_out}"])
    for path in (program.export, program.folder / "best.skops"):
        if path.exists():
            archive.load_model(path, KEPT)  # whole, or not there
    return now


def differences(case: Case, victim: str, run: Outcome, whole: Outcome) -> list[str]:
    """How a run that went on differs from the uninterrupted one."""
    problems = [f"trials are there twice: {run.doubled}"] if run.doubled else []
    if extra := run.files - whole.files:
        problems.append(f"the folder has files more: {extra}")
    count = len(run.trials) + run.failed
    if (victim == "helper" and run.failed) or not case.is_decided:
        if count != len(whole.trials) and "--minutes" not in case.arguments:
            problems.append(f"{count} trials instead of {len(whole.trials)}")
        scores = {str(setting): score for setting, score in whole.trials.values()}
        return problems + [
            f"trial {number} has {score} instead of {scores[str(setting)]}"
            for number, (setting, score) in run.trials.items()
            if not alike(score, scores.get(str(setting), score))
        ]
    if run.failed != whole.failed:
        problems.append(f"{run.failed} trials failed instead of {whole.failed}")
    if not alike(run.trials, whole.trials):
        lost = sorted(whole.trials.keys() - run.trials.keys())
        other = [n for n in run.trials if not alike(run.trials[n], whole.trials.get(n))]
        problems.append(f"trials lost {lost}, other ones {other}")
    if not alike(run.steps, whole.steps):
        problems.append(f"{len(run.steps)} steps, of the whole run {len(whole.steps)}")
    names = ("setting", "validation", "test", "default_test", "test_interval", "groups")
    if victim in ("SIGTERM", "SIGINT") and "nested" in case.arguments:
        names = names[:2]  # an interrupt in the conclusion leaves out the tuning of each fold
    for name in names:
        value, expected = getattr(run.results, name, None), getattr(whole.results, name)
        if not alike(value, expected):
            problems.append(f"{name} is {value} instead of {expected}")
    return problems


def alike(first: Any, second: Any) -> bool:
    """Whether two pieces of plain data are the same, numbers to nine digits."""
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(alike(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(alike, first, second))
    return bool(first == second)


def history_faults(history: Path, run: Outcome) -> list[str]:
    """What the history of datasets has more or less than the run."""
    if not run.trials or not history.exists():
        return []
    with contextlib.closing(sqlite3.connect(history)) as database:
        rows = database.execute(
            "SELECT score FROM trials JOIN datasets ON dataset = datasets.number "
            "WHERE origin = 'run'"
        ).fetchall()
    kept = sorted(score for (score,) in rows)
    if kept == sorted(score for _, score in run.trials.values()):
        return []
    return [f"the history holds {len(kept)} trials of {len(run.trials)}"]


def write_small(data: Path) -> None:
    """A few sentences and molecules, so that many rounds fit into an hour."""
    data.mkdir()
    for name, rows in (("tags", 400), ("molecules", 12)):
        SAMPLES[name].table().head(rows).to_csv(data / f"{name}.csv", index=False)


def run(
    kills: int,
    seed: int,
    cases: Sequence[str] = (),
    victims: Sequence[str] = (),
    phases: Sequence[str] = (),
) -> int:
    """So many killed runs, a kind after the other; prints what was lost, returns how often."""
    warm_up()
    random.seed(seed)
    names, sums, wrong = list(cases or CASES), Round(), 0
    wholes: dict[str, Outcome] = {}
    with tempfile.TemporaryDirectory(prefix="tunescope-kills-") as scratch:
        base = Path(scratch)
        os.environ["TMPDIR"], tempfile.tempdir = scratch, scratch
        write_small(base / "data")
        for number in range(kills):
            name = names[(seed + number) % len(names)]
            case, victim = CASES[name], random.choice(victims or VICTIMS)
            if name not in wholes:
                wholes[name] = uninterrupted(case, base / "data", base / f"whole {name}")
            possible = [phase for phase in PHASES if phase != "export" or case.exports]
            place = base / str(number)
            record = run_round(case, victim, phases or possible, wholes[name], base / "data", place)
            sums.kills += record.kills
            sums.states += record.states
            wrong += bool(record.problems)
            for problem in record.problems:
                print(f"round {number} ({name}, {victim}): {problem}", flush=True)
            shutil.rmtree(place, ignore_errors=True)
    print(f"{kills} rounds over {len(wholes)} kinds of run, {sums.kills.total()} kills: {wrong} "
          f"wrong; kills {dict(sums.kills)}; then the folders were {dict(sums.states)}",
          flush=True)  # fmt: skip
    return wrong


def main() -> int:
    """Run so many rounds; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--case", action="append", choices=list(CASES), help="only these")
    parser.add_argument("--victim", action="append", choices=VICTIMS, help="only these")
    parser.add_argument("--phase", action="append", choices=PHASES, help="only these")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    wrong = run(given.rounds, given.seed, given.case or (), given.victim or (), given.phase or ())
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
