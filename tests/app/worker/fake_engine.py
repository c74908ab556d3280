"""An engine without any statistics: its plan's options say how it behaves, its folder is real."""

from __future__ import annotations

import gc
import json
import os
import signal
import struct
import sys
import time
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

from app.worker import messages as m
from core.datasets.dataset_summary import DatasetSummary
from core.datasets.task import Task
from core.errors import UnusableError
from core.tuning.events import (
    DatasetFacts,
    RunFinished,
    RunResumed,
    RunStarted,
    RunStopped,
    SurrogateFitted,
    TrialExcluded,
    TrialFinished,
    TrialStarted,
    TuningEnded,
)
from core.tuning.guidance.guidance_records import Advice, ModelAdvice, RunEstimate, StrategyAdvice
from core.tuning.history.dataset_records import HistoryCounts, ImportCounts
from core.tuning.run_results import Results
from core.tuning.runs.run_folder import RunFolder


def _traced():
    """The worker ends by killing its group, itself as well: what was traced is saved before."""
    import coverage

    usual, tracing = os.killpg, coverage.Coverage.current()

    def killpg(group, number):
        tracing.save()
        usual(group, number)

    os.killpg = killpg


if "coverage" in sys.modules and sys.modules["coverage"].Coverage.current() is not None:
    _traced()

IN_TRIAL = "in trial"  # a file of the run, once a stubborn trial is being tried
MODELS = [
    ModelAdvice("svm", "Support vector machine"),
    ModelAdvice("logistic", "Logistic regression", recommended=True),
]


def _strategy(name: str, recommended: bool) -> StrategyAdvice:
    groups = "prefix" if name == "mm" else "single"
    return StrategyAdvice(
        name, name, "trials", recommended=recommended, default_trials=5, groups=groups
    )


STRATEGIES = {
    "svm": [_strategy("random", False), _strategy("gp", True)],
    "logistic": [_strategy("mm", True), _strategy("random", False)],
}


class Engine:
    niceness: int | None = None  # while it warmed up, once it has

    def warm_up(self):
        self.niceness = os.nice(0)
        return [m.ExportFormat("json", "Numbers", "", ".json", "table")]

    def answers(self, asked, stop_reason=str):
        match asked:
            case m.OpenData(data=data):
                yield m.Opened(data, *self._open(data))
            case m.Estimate(plan=plan):
                yield m.Estimated(self._estimate(plan))
            case m.SummarizeHistory():
                yield m.HistorySummary(HistoryCounts(34, 6, 20))
            case m.ImportHistory():
                yield m.HistoryImported(self._take_in(asked))
            case m.Export():
                Path(asked.path).write_text(asked.format)
                yield m.Exported(asked.path)
            case m.Conclude():
                yield m.Concluding()
                yield from self.conclude(asked)
                yield m.RunEnded()

    def _open(self, data):
        if "missing" in data.file:
            raise UnusableError("there is no such file", where=data.file, cure="choose another")
        if "defect" in data.file:
            raise ValueError("secret value 4711")
        if "deadly" in data.file:
            os.kill(os.getpid(), signal.SIGKILL)
        if "slow" in data.file:
            time.sleep(1)
        process = {
            "pid": os.getpid(),
            "niceness": os.nice(0),
            "niceness while it started": self.niceness,
            "threads": os.environ["OPENBLAS_NUM_THREADS"],
        }
        summary = DatasetSummary(
            data.file, "csv", 9, 1, Task.BINARY, data.target, described=json.dumps(process)
        )
        return summary, Advice(MODELS, STRATEGIES)

    def _estimate(self, plan):
        time.sleep(plan.options.get("estimate_seconds", 0.0))
        if plan.folds < 2:
            raise UnusableError("“1” is out of range", where="folds", cure="give at least 2")
        return RunEstimate("about 1 second", 1.0, plan.trials or 0)

    def _take_in(self, request):
        if "deadly" in request.storage:
            os.kill(os.getpid(), signal.SIGKILL)
        if "missing" in request.storage:
            raise UnusableError("there is no such storage", where=request.storage, cure="look")
        left_out = ("Study “b” has other parameters.",)
        return ImportCounts(1, 9, 0, left_out)

    def folder(self, request):
        if request.folder:
            return request.folder
        return str(RunFolder.create(request.plan, root=Path(request.root)).path)

    def tune(self, request, folder, requests):
        run = RunFolder(folder)
        past = run.all_events()
        for event in self._events(request, run, past, requests):
            run.append(event)
            yield event

    def _events(self, request, run, past, requests):
        plan = request.plan
        how = plan.options
        done = sum(isinstance(e, TrialFinished) for e in past)
        total = (plan.trials or 5) + request.more_trials
        if past:
            yield RunResumed(done=done, total=total)
        else:
            yield RunStarted(plan=plan.as_dict(), total=total, dataset=DatasetFacts(name="fake"))
        for number in range(done, total):
            while requests:
                yield requests.popleft()
            yield TrialStarted(number=number, setting={"C": 1.0})
            if number == how.get("killed_at") and not past:
                os.kill(os.getpid(), signal.SIGKILL)
            if number == how.get("halted_at") and not past:
                os.kill(os.getpid(), signal.SIGSTOP)
            if number == how.get("half_said_at") and not past:
                say_half()
            if how.get("stubborn"):
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                (run.path / IN_TRIAL).touch()
            self._try(how.get("trial_seconds", 0.0))
            for beat in range(how.get("surrogates", 0)):
                yield SurrogateFitted(trials=beat)
            yield TrialFinished(number=number, setting={"C": 1.0}, score=number / 100)
        yield TuningEnded(because="done")
        until = time.monotonic() + how.get("testing_seconds", 0.0)
        while time.monotonic() < until and not requests:
            time.sleep(0.01)
        because = "it was shortened" if requests else "done"
        results = Results(test={"accuracy": 1.0}, stopped_because=because)
        yield RunFinished(because="done", results=results)

    def _try(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            time.sleep(0.005)

    def conclude(self, request):
        run = RunFolder(request.folder)
        time.sleep(run.plan.options.get("concluding_seconds", 0.0))
        if request.pick is not None:
            if request.pick.number == 99:
                raise UnusableError("there is no trial 99", where="run", cure="choose another")
            run.append(request.pick)
            yield request.pick
        if request.exclude is not None:
            event = TrialExcluded(0.0, request.exclude.number, request.exclude.excluded)
            run.append(event)
            yield event
        last = replace(RunStopped(because="stopped"), results=Results(trials=len(run.all_events())))
        run.append(last)
        yield last


def say_half():
    """Half a message to the window, and then nothing more."""
    gc.unfreeze()  # what is frozen is not among the objects
    for end in [one for one in gc.get_objects() if isinstance(one, Connection)]:
        if not end.closed and end.writable:
            os.write(end.fileno(), struct.pack("!i", 1000) + b"half")
    time.sleep(600)
