"""Workers and schedulers that die, hang, lie or are late: every trial counts once, all is told.

python tests/benchmarks/hostile_clusters.py [--runs 20] [--seed 0] [--only KIND]

A scheduler of dask.distributed and two workers are programs of this computer. The workers return
what is no result of a trial, end, halt, or take long, the first time or always; the scheduler is
killed or halted, for a while or for good. Every trial must end once, with the score that it has
here or a sentence that says what befell it, and a run whose scheduler is gone ends with a sentence
and goes on without a cluster. Exit status 1 where that is not so.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from core.datasets.memory_limit import VARIABLE
from core.errors import UnusableError
from core.tuning.cluster import executor as executor_module
from core.tuning.cluster.connection import ClusterConnection, parse_cluster_address
from core.tuning.cluster.on_worker import run_trial
from core.tuning.events import Event, RunFinished, TrialFailed, TrialFinished
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import read_data
from core.tuning.runs.run_folder import RunFolder
from core.tuning.scores.scoring import TrialRequest, TrialResult
from core.tuning.tune import tune

PLAN = Plan(DataPlan("sample:iris"), "svm", "random", trials=5, folds=2, seed=1)
MEMORY = 2 * 10**9  # bytes that seem free, an eighth of them for what a worker returns
GIANT = 6 * 10**8
GONE_SECONDS = 8.0  # of a scheduler, in place of the product's 20
HALT_SECONDS = 4.0
START_SECONDS = 60.0
MAX_SECONDS = 120.0  # of a run
LIES = ("type", "trial", "run", "nan", "texts", "bytes", "giant", "raises", "unpicklable", "late",
        "dies", "halts")  # fmt: skip
SCHEDULERS = ("dies", "halts", "hangs")  # killed, halted for a while, halted for good
SCHEDULER = "scheduler "
KINDS = (*LIES, "mixed", *(SCHEDULER + fate for fate in SCHEDULERS))


def false_result(
    lie: str, folder: str, work: bytes, run: str, task: TrialRequest, limit: float
) -> object:
    """In place of a trial: a lie the first time, of every third trial always."""
    calls = Path(folder) / str(task.number)
    with calls.open("a", encoding="ascii") as file:
        file.write("x")
    if len(calls.read_text(encoding="ascii")) > 1 and task.number % 3:
        return run_trial(work, run, task, limit)
    lie = LIES[task.number % len(LIES)] if lie == "mixed" else lie
    plain = TrialResult(task.number, task.setting, (1.0,))
    if lie == "raises":
        raise ValueError("this worker\nfails")
    if lie == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    elif lie == "halts":
        command = f"sleep {HALT_SECONDS}; kill -CONT {os.getpid()}"
        subprocess.Popen(["sh", "-c", command], start_new_session=True)
        os.kill(os.getpid(), signal.SIGSTOP)
    elif lie == "late":
        time.sleep(HALT_SECONDS)
    lies = {
        "type": {"score": 1.0},
        "trial": pickle.dumps((run, TrialResult(task.number + 1, task.setting, (1.0,)))),
        "run": pickle.dumps(("another", plain)),
        "nan": pickle.dumps((run, TrialResult(task.number, task.setting, (math.nan,)))),
        "texts": pickle.dumps((run, TrialResult(task.number, task.setting, ("a", "b")))),  # type: ignore[arg-type]
        "bytes": b"no pickle",
        "unpicklable": threading.Lock(),
    }
    if lie == "giant":
        return bytes(GIANT)
    return lies[lie] if lie in lies else run_trial(work, run, task, limit)


class Cluster:
    """A scheduler and its workers, programs of one session each."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._file = folder / "scheduler.json"
        self._folder = folder
        file = ("--scheduler-file", str(self._file))
        self.scheduler = self._start("scheduler", *file, "--host", "127.0.0.1", "--port", "0")
        end = time.monotonic() + START_SECONDS
        while not self._file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        many = ("--nworkers", "2", "--nthreads", "1", "--local-directory", str(folder))
        self._workers = self._start("worker", *file, *many)

    def _start(self, name: str, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{name}", "--no-dashboard", *words]
        # Where this module is imported, its functions are told by their names.
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
        with (self._folder / f"{name}.log").open("wb") as log:
            return subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, start_new_session=True
            )

    @property
    def address(self) -> str:
        """Of the scheduler."""
        return str(json.loads(self._file.read_text())["address"])

    def close(self) -> None:
        """End all of it."""
        for process in (self._workers, self.scheduler):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def halt_or_kill(name: str, scheduler: subprocess.Popen[bytes], folder: RunFolder) -> None:
    """After the first trial that ended."""
    while not any(isinstance(event, TrialFinished) for event in folder.all_events()):
        time.sleep(0.01)
    scheduler.send_signal(signal.SIGKILL if name == "dies" else signal.SIGSTOP)
    if name == "halts":
        time.sleep(HALT_SECONDS)
        scheduler.send_signal(signal.SIGCONT)


def faults_of(events: list[Event], scores: dict[str, float]) -> Iterator[str]:
    """What is wrong with the trials of a run, whose settings have these scores here."""
    ended = [event for event in events if isinstance(event, (TrialFinished, TrialFailed))]
    counts = Counter(event.number for event in ended)
    if counts != dict.fromkeys(range(PLAN.trials or 0), 1):
        yield f"trials ended {dict(counts)} times"
    for event in ended:
        if isinstance(event, TrialFailed):
            is_sentence = event.reason.endswith(".") and "\n" not in event.reason
            if not is_sentence or len(event.reason) > 400:
                yield f"trial {event.number}: no sentence: {event.reason[:400]!r}"
        elif not math.isclose(event.score, scores[str(event.setting)], rel_tol=1e-9):
            yield f"trial {event.number} has the score {event.score}"
    if not isinstance(events[-1], RunFinished):
        yield f"it ended with {type(events[-1]).__name__}"


def run_kind(kind: str, cluster: Cluster, base: Path, scores: dict[str, float]) -> Iterator[str]:
    """One run on a cluster; what was wrong."""
    base.mkdir()
    data, folder = read_data(PLAN.data), RunFolder.create(PLAN, path=base / "run")
    fate = kind.removeprefix(SCHEDULER) if kind.startswith(SCHEDULER) else ""
    function = run_trial if fate else partial(false_result, kind, str(base))
    executor_module.run_trial = function  # type: ignore[assignment]
    began, sentence = time.monotonic(), ""
    try:
        with ClusterConnection(parse_cluster_address(cluster.address), 2) as connection:
            if fate:
                arguments = (fate, cluster.scheduler, folder)
                threading.Thread(target=halt_or_kill, args=arguments, daemon=True).start()
            list(tune(PLAN, data, folder=folder, executor=connection.executor))
    except UnusableError as error:
        sentence = error.sentence
    seconds = time.monotonic() - began
    if seconds > MAX_SECONDS:
        yield f"it took {seconds:.0f} s"
    if ("the scheduler of the cluster" in sentence) != (fate in ("dies", "hangs")):
        yield f"it ended with the sentence {sentence!r}"
    if sentence:  # the run goes on here
        list(tune(PLAN, data, folder=folder, past=folder.all_events()))
    yield from faults_of(folder.all_events(), scores)


def run(runs: int, seed: int, only: str = "") -> list[str]:
    """So many runs, a kind after the other; the findings."""
    os.environ[VARIABLE] = str(MEMORY)
    executor_module.GONE_SECONDS = GONE_SECONDS  # type: ignore[misc]
    here = [event for event in tune(PLAN, read_data(PLAN.data)) if isinstance(event, TrialFinished)]
    scores = {str(event.setting): event.score for event in here}
    findings: list[str] = []
    kinds = [kind for kind in KINDS if only in kind]
    with tempfile.TemporaryDirectory(prefix="tunescope-cluster-") as scratch:
        cluster: Cluster | None = None
        try:
            for number in range(runs):
                kind, base = kinds[(seed + number) % len(kinds)], Path(scratch)
                cluster = cluster or Cluster(base / f"cluster-{number}")
                faults = run_kind(kind, cluster, base / str(number), scores)
                findings += [f"{kind}: {fault}" for fault in faults]
                if kind.startswith(SCHEDULER):
                    cluster.close()
                    cluster = None
        finally:
            if cluster is not None:
                cluster.close()
    return findings


def main() -> int:
    """Run so many clusters; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=len(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of the name of a kind")
    arguments = parser.parse_args()
    began = time.monotonic()
    findings = run(arguments.runs, arguments.seed, arguments.only)
    seconds = time.monotonic() - began
    print(*findings, f"{arguments.runs} runs, {len(findings)} findings, {seconds:.0f} s", sep="\n")
    return int(bool(findings))


if __name__ == "__main__":
    sys.modules["hostile_clusters"] = sys.modules["__main__"]
    sys.exit(main())
