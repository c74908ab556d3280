"""What the worker's process does with core: read, advise, estimate, tune, conclude, export.

The rows stay in here; the window only ever gets a summary.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from app.worker import messages as m
from app.worker.cluster import connected, tried
from app.worker.using import Using
from core.datasets.dataset import Dataset
from core.datasets.summary import summarize
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.export.choices import TUNED
from core.export.chosen import chosen_run
from core.export.exporters import EXPORTERS, check_export, export_run
from core.export.finished_run import FinishedRun, finished_run
from core.export.prediction import predict_into
from core.tuning.events import Event, SettingWanted, TrialExcluded
from core.tuning.guidance.advice import advise, estimate
from core.tuning.history.run_history import facts_of
from core.tuning.history.store import History, statistics_of
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem, read_data
from core.tuning.results.conclude import conclude, fit_best_again, pick
from core.tuning.rows_read import settled
from core.tuning.runs.best import may_open_best
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import folded
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.tune import Past, tune
from core.tuning.why.answers import (
    DEPENDENCE,
    SETTINGS,
    answers,
    answers_of_trials,
    keep_answer,
    kept_answer,
    key_of,
    plain_answer,
)
from core.tuning.why.judged import Judged, judged_model


class Engine:
    """Keeps the dataset that was read last, and works on it."""

    def __init__(self) -> None:
        self._data: tuple[DataPlan, ...] = ()  # as asked for, and with the number of rows settled
        self._dataset: Dataset | None = None
        self._judged: tuple[tuple[str, str], Judged] | None = None
        self.using = Using(self._dataset_of)
        self._chosen: tuple[tuple[str, int, str, bool], FinishedRun] | None = None

    def warm(self) -> list[dict[str, Any]]:
        """Import the extensions, as all else is imported by now; tell what can be exported."""
        len(MODELS), len(STRATEGIES)
        return [
            {
                **{"name": one.name, "ending": one.ending, "warning": one.warning},
                **{"title": held.title, "sentence": held.sentence},
                **{"form": form, "of_run": one.of_run, "joins": one.joins},
                "endings": dict(one.endings),
            }
            for one in EXPORTERS.values()
            for form, held in one.forms.items()
        ]

    def answer(
        self,
        asked: m.Open
        | m.Estimate
        | m.SummarizeHistory
        | m.ImportHistory
        | m.Export
        | m.Predict
        | m.SaveUsed
        | m.DescribeModel
        | m.TryRow
        | m.FindRow
        | m.TryCluster,
    ) -> m.Answer:
        """What a request that one answer ends wants to know."""
        match asked:
            case m.Open(data=data):
                return self._open(data)
            case m.Estimate(plan=plan):
                return m.Estimated(estimate(plan, self._dataset_of(plan)))
            case m.SummarizeHistory(plan=plan):
                return m.HistorySummary(self._summary_of_history(plan))
            case m.TryCluster(cluster=cluster):
                return tried(cluster)
            case m.ImportHistory():
                return m.HistoryImported(self._take_in(asked))
            case m.Export():
                return self._export(asked)
            case m.SaveUsed(path=path):
                return self.using.save(path)
            case m.DescribeModel():
                return self.using.describe(asked)
            case m.TryRow():
                return self.using.try_row(asked)
            case m.FindRow():
                return self.using.find_row(asked)
            case m.Predict(model=model, file=file, out=out, trust=trust):
                return m.Predicted(out, predict_into(model, file, out, trust=trust))

    def _open(self, data: DataPlan) -> m.Opened:
        """What the data are; on an unusable file those read before stay."""
        dataset = read_data(data)
        summary = summarize(dataset)
        advice = advise(summary)
        self._data, self._dataset = (data, settled(data, dataset)), dataset
        return m.Opened(self._data[-1], summary, advice)

    def _summary_of_history(self, plan: Plan) -> dict[str, Any]:
        """How many earlier datasets can help a plan's model, and how many of them are alike."""
        learning = next((s.name for s in STRATEGIES.values() if s.uses_history), "")
        if not learning:
            return {}
        asked = plan.changed(strategy=learning, options={})
        facts = facts_of(build_problem(asked, self._dataset_of(plan)))
        try:
            with History() as history:
                return {"enabled": history.enabled, **asdict(history.known(facts))}
        except UnusableError as error:
            return {"problem": error.sentence}

    def _take_in(self, request: m.ImportHistory) -> dict[str, Any]:
        """Take Optuna studies into the history; what came of it."""
        statistics = statistics_of(request.rows, request.columns, request.classes)
        with History() as history:
            return asdict(
                history.import_optuna(
                    request.storage, request.model, statistics, request.study or None
                )
            )

    def folder(self, request: m.Tune) -> str:
        """The run's folder: a new one, or the one to go on in."""
        if request.folder:
            return str(RunFolder.open(request.folder).path)
        return str(RunFolder.create(request.plan, root=Path(request.root)).path)

    def tune(self, request: m.Tune, folder: str, requests: deque[Event]) -> Iterator[Event]:
        """The events of a run; what happened in its folder before counts."""
        run = RunFolder.open(folder)
        strategy = STRATEGIES.get(request.plan.strategy)
        requests.extend(SettingWanted(setting=setting) for setting in request.settings)
        of_trials = strategy is not None and strategy.kind == "trials"
        with connected(request, run if not request.folder else None, of_trials) as executor:
            yield from tune(
                request.plan,
                self._dataset_of(request.plan),
                folder=run,
                past=Past(run.events(), request.more_trials),
                requests=requests,
                history=History,
                executor=executor,
            )

    def conclude(self, request: m.Conclude) -> Iterator[Event]:
        """The results of a run that was cut off, without one of its trials, or of another model."""
        run = RunFolder.open(request.folder)
        plan = run.plan
        if request.pick is not None:
            last = pick(run, request.pick, self._dataset_of(plan))
            yield request.pick
            yield last
            return
        if request.exclude is not None:
            changed = TrialExcluded(
                number=request.exclude.number, excluded=request.exclude.excluded
            )
            with run.owned():
                run.append(changed)
            yield changed
        yield conclude(plan, self._dataset_of(plan), run.events(), folder=run)

    def _export(self, request: m.Export) -> m.Exported:
        """Write one file."""
        folder = RunFolder.open(request.folder)
        run = finished_run(folder, request.examples)
        task, model = run.takeaway.task, run.plan.model
        check_export(request.path, task, model, request.which, request.format)
        said = ""
        if request.which != TUNED:
            run = self._chosen_run(run, request.which)
        elif not may_open_best(folder):
            said = fit_best_again(folder, self._dataset_of(folder.plan))
        return m.Exported(str(export_run(run, request.path, request.format)), said)

    def explain(self, asked: m.Explain) -> Iterator[m.Explained]:
        """The answer to a question about a run: the kept one, or what is worked out now."""
        folder = RunFolder.open(asked.folder)
        state = folded(folder.events())
        results = state.results or {}
        kept = kept_answer(folder, results, asked.question)
        if kept is not None and asked.question != DEPENDENCE:
            yield m.Explained(asked, kept)
            return
        if asked.question == SETTINGS:
            found = answers_of_trials(state)
        else:
            found = answers(self._judged_model(folder, results), asked.question, asked.options)
        for answer in found:
            if not answer.get("done", True):
                yield m.Explained(asked, answer, done=False)
            elif asked.question == DEPENDENCE:
                yield m.Explained(asked, plain_answer(answer))
            else:
                yield m.Explained(asked, keep_answer(folder, results, asked.question, answer))

    def _judged_model(self, folder: RunFolder, results: dict[str, Any]) -> Judged:
        """The tested model of a run, which is fitted once for all its questions."""
        key = (str(folder.path), key_of(results))
        if self._judged is None or self._judged[0] != key:
            self._judged = key, judged_model(folder, self._dataset_of(folder.plan))
        return self._judged[1]

    def _chosen_run(self, run: FinishedRun, which: str) -> FinishedRun:
        """The run with another of its models, which is fitted once for several files."""
        key = (str(run.folder.path), len(run.events), which, run.examples)
        if self._chosen is None or self._chosen[0] != key:
            self._chosen = key, chosen_run(run, which, self._dataset_of(run.plan))
        return self._chosen[1]

    def _dataset_of(self, plan: Plan) -> Dataset:
        if self._dataset is None or plan.data not in self._data:
            self._data, self._dataset = (plan.data,), read_data(plan.data)
        return self._dataset
