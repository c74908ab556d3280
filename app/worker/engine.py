"""The work of the worker's process: read, advise, estimate, tune, conclude, export."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.worker import messages as m
from core.datasets.dataset import Dataset
from core.datasets.summary import rewritten_cells, summarize
from core.errors import UnusableError
from core.estimators.registry import MODELS
from core.export.exportable_models import TUNED
from core.tuning.events import Event, SettingRequested, TrialExcluded
from core.tuning.guidance.advice import advise
from core.tuning.history.dataset_records import statistics_of
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem_setup import build_problem, read_data, with_row_count
from core.tuning.run_results import Results
from core.tuning.runs.run_folder import RunFolder
from core.tuning.runs.state import state_from_events
from core.tuning.strategies.registry import STRATEGIES
from core.tuning.why.answer_types import Answer, NoAnswer
from core.tuning.why.questions import DEPENDENCE, SETTINGS

if TYPE_CHECKING:
    from app.worker.prediction_service import PredictionService
    from core.export.finished_run import FinishedRun
    from core.tuning.cluster.connection import ClusterConnection
    from core.tuning.trials.executors import TrialExecutor
    from core.tuning.why.tested_model import TestedModel

COUNTED_BYTES = 2**22  # of a file whose cells are counted that do not come back; under a second


@contextlib.contextmanager
def trial_executor(
    request: m.Tune, new_folder: RunFolder | None, of_trials: bool
) -> Iterator[Callable[..., TrialExecutor]]:
    """The executor of a run's trials: processes here, or a cluster until the end."""
    from core.tuning.trials.executors import ProcessExecutor

    # Learning penalties is one fit, made here.
    if request.cluster is None or not of_trials:
        yield ProcessExecutor
        return
    try:
        connection = _connect(request.cluster)
    except UnusableError:
        # Without its cluster the run does not begin, and leaves nothing.
        if new_folder is not None:
            new_folder.remove_run()
        raise
    with connection:
        yield connection.executor


def check_cluster(cluster: m.Cluster) -> m.ClusterChecked:
    """Whether it answers, and how many trials it runs at a time."""
    from core.tuning.cluster.connection import data_transfer_warning

    try:
        with _connect(cluster) as connection:
            threads, warnings_text = connection.threads, " ".join(connection.warnings)
    except UnusableError as error:
        return m.ClusterChecked(error.sentence, fine=False)
    trials_text = "1 trial" if threads == 1 else f"{threads} trials"
    return m.ClusterChecked(
        " ".join([f"It answers: {trials_text} at a time.", warnings_text]).strip(),
        data_transfer_warning(connection.address),
    )


def _connect(cluster: m.Cluster) -> ClusterConnection:
    from core.tuning.cluster.connection import ClusterConnection, parse_cluster_address

    return ClusterConnection(
        parse_cluster_address(cluster.address, cluster.ca, cluster.certificate, cluster.key)
    )


class Engine:
    """Does the work on the dataset that was read last."""

    def __init__(self) -> None:
        # As requested, and with its row count: a run's plan has the second, and is not read anew.
        self._data: tuple[DataPlan, ...] = ()
        self._dataset: Dataset | None = None
        self._tested_model: tuple[tuple[str, str], TestedModel] | None = None
        self._chosen: tuple[tuple[str, int, str, bool], FinishedRun] | None = None

    @cached_property
    def predictions(self) -> PredictionService:
        from app.worker.prediction_service import PredictionService

        return PredictionService(self._dataset_of)

    def warm_up(self) -> list[m.ExportFormat]:
        # And what brings scikit-learn: until here it would only delay a first table.
        from core.export.exporters import EXPORTERS
        from core.tuning.tune import tune as tune

        # Their entry points are read when a registry is first asked.
        len(MODELS), len(STRATEGIES)
        return [
            m.ExportFormat(
                exporter.name,
                variant.title,
                variant.sentence,
                exporter.ending,
                form,
                exporter.warning,
                exporter.of_run,
                exporter.joins,
                dict(exporter.endings),
            )
            for exporter in EXPORTERS.values()
            for form, variant in exporter.forms.items()
        ]

    def answer(self, request: m.Work) -> m.Answer:
        return HANDLERS[type(request)](self, request)

    def answers(self, request: m.Work, stop_reason: Callable[[], str] = str) -> Generator[m.Answer]:
        """The answers to a request but `Tune`; one that is long ends with a `stop_reason`."""
        match request:
            case m.Conclude():
                yield m.Concluding()
                yield from self.conclude(request)
                yield m.RunEnded()
            case m.Explain():
                yield from self.explain(request, stop_reason)
            case m.PredictRows():
                yield from self.predictions.use(request, stop_reason)
            case _:
                yield self.answer(request)

    def _open_data(self, request: m.OpenData) -> m.Opened:
        # Nothing of the engine changes before all of this has gone well: where the data are
        # unusable, those read before stay.
        data, dataset = request.data, read_data(request.data)
        summary = summarize(dataset)
        advice = advise(summary)
        model = next((entry.name for entry in advice.models if entry.recommended), "")
        summary = replace(summary, rewritten=rewritten_cells(dataset, COUNTED_BYTES))
        if any(column.may_be_encoded for column in dataset.columns):
            from core.tuning.guidance.column_encodings import column_encodings

            summary = replace(summary, encodings=column_encodings(dataset, model))
        self._data, self._dataset = (data, with_row_count(data, dataset)), dataset
        return m.Opened(self._data[-1], summary, advice)

    def _summarize_history(self, request: m.SummarizeHistory) -> m.HistorySummary:
        from core.tuning.history.run_history import metadata_of

        plan = request.plan
        # Whatever the plan's strategy: the page says what another one would know.
        learning = next((s.name for s in STRATEGIES.values() if s.uses_history), "")
        if not learning:
            return m.HistorySummary()
        history_plan = plan.changed(strategy=learning, options={})
        facts = metadata_of(build_problem(history_plan, self._dataset_of(plan)))
        try:
            with History() as history:
                return m.HistorySummary(history.matching_counts(facts))
        except UnusableError as error:
            return m.HistorySummary(problem=error.sentence)

    def _import_history(self, request: m.ImportHistory) -> m.HistoryImported:
        statistics = statistics_of(request.rows, request.columns, request.classes)
        with History() as history:
            imported = history.import_optuna(
                request.storage,
                request.model,
                statistics,
                request.study or None,
                metric=request.metric,
            )
        return m.HistoryImported(imported)

    def folder(self, request: m.Tune) -> str:
        if request.folder:
            return str(RunFolder.open(request.folder).path)
        return str(RunFolder.create(request.plan, root=Path(request.root)).path)

    def tune(self, request: m.Tune, folder: str, requests: deque[Event]) -> Generator[Event]:
        """The events after those in its folder."""
        from core.tuning.tune import RecordedRun, tune

        run = RunFolder.open(folder)
        strategy = STRATEGIES.get(request.plan.strategy)
        requests.extend(SettingRequested(setting=setting) for setting in request.settings)
        of_trials = strategy is not None and strategy.kind == "trials"
        with trial_executor(request, run if not request.folder else None, of_trials) as executor:
            yield from tune(
                request.plan,
                self._dataset_of(request.plan),
                folder=run,
                past=RecordedRun(run.all_events(), request.more_trials),
                requests=requests,
                history=History,
                executor=executor,
            )

    def conclude(self, request: m.Conclude) -> Iterator[Event]:
        """Of a run that was cut off, lost a trial, or gets another model."""
        from core.tuning.results.conclude import conclude, select_model

        run = RunFolder.open(request.folder)
        plan = run.plan
        if request.pick is not None:
            last = select_model(run, request.pick, self._dataset_of(plan))
            yield request.pick
            yield last
            return
        if request.exclude is not None:
            exclude = request.exclude
            event = TrialExcluded(number=exclude.number, excluded=exclude.excluded)
            with run.hold_lock():
                run.append(event)
            yield event
        yield conclude(plan, self._dataset_of(plan), run.all_events(), folder=run)

    def _export_model(self, request: m.Export) -> m.Exported:
        from core.export.exporters import check_export, export_run
        from core.export.finished_run import finished_run
        from core.tuning.results.conclude import fit_best_again
        from core.tuning.runs.best import may_open_best

        folder = RunFolder.open(request.folder)
        run = finished_run(folder, request.examples)
        task, model = run.takeaway.task, run.plan.model
        check_export(request.path, task, model, request.which, request.format)
        remark = ""
        if request.which != TUNED:
            run = self._chosen_run(run, request.which)
        # A model that another computer signed is not opened, but fitted again.
        elif not may_open_best(folder):
            remark = fit_best_again(folder, self._dataset_of(folder.plan))
        return m.Exported(str(export_run(run, request.path, request.format)), remark)

    def explain(
        self, request: m.Explain, stop_reason: Callable[[], str] = str
    ) -> Generator[m.Explained]:
        from core.tuning.why.answers import answers, answers_of_trials, keep_answer, kept_answer

        folder = RunFolder.open(request.folder)
        state = state_from_events(folder.all_events())
        results = state.results or Results()
        stored_answer = kept_answer(folder, results, request.question)
        if stored_answer is not None and request.question != DEPENDENCE:
            yield m.Explained(request, stored_answer)
            return
        answer_stream: Iterator[Answer]
        if request.question == SETTINGS:
            answer_stream = answers_of_trials(state)
        else:
            tested_model = self._fit_tested_model(folder, results)
            answer_stream = answers(tested_model, request.question, request.column)
        for answer in answer_stream:
            # Dependence is of one column of many: a file of all answers would grow without end.
            if answer.is_final and request.question != DEPENDENCE:
                answer = keep_answer(folder, results, request.question, answer)
            yield m.Explained(request, answer)
            if not answer.is_final and (reason := stop_reason()):
                yield m.Explained(request, NoAnswer(reason))
                return

    def _fit_tested_model(self, folder: RunFolder, results: Results) -> TestedModel:
        from core.tuning.why.answers import key_of
        from core.tuning.why.tested_model import fit_tested_model

        # Fitted once for all questions about a run.
        key = (str(folder.path), key_of(results))
        if self._tested_model is None or self._tested_model[0] != key:
            self._tested_model = key, fit_tested_model(folder, self._dataset_of(folder.plan))
        return self._tested_model[1]

    def _chosen_run(self, run: FinishedRun, which: str) -> FinishedRun:
        from core.export.finished_run import with_selected_model

        # Fitted once for several exports of the same model.
        key = (str(run.folder.path), len(run.events), which, run.allows_examples)
        if self._chosen is None or self._chosen[0] != key:
            self._chosen = key, with_selected_model(run, which, self._dataset_of(run.plan))
        return self._chosen[1]

    def _dataset_of(self, plan: Plan) -> Dataset:
        if self._dataset is None or plan.data not in self._data:
            self._data, self._dataset = (plan.data,), read_data(plan.data)
        return self._dataset


def _estimate(engine: Engine, request: m.Estimate) -> m.Estimated:
    from core.tuning.guidance.forecast import estimate

    return m.Estimated(estimate(request.plan, engine._dataset_of(request.plan)))


HANDLERS: dict[type[m.Work], Callable[[Engine, Any], m.Answer]] = {
    m.OpenData: Engine._open_data,
    m.Estimate: _estimate,
    m.SummarizeHistory: Engine._summarize_history,
    m.ImportHistory: Engine._import_history,
    m.CheckCluster: lambda _engine, request: check_cluster(request.cluster),
    m.Export: Engine._export_model,
    m.SortPredictions: lambda engine, request: engine.predictions.sort_predictions(request),
    m.SavePredictions: lambda engine, request: engine.predictions.save_predictions(request),
    m.DescribeModel: lambda engine, request: engine.predictions.describe(request),
    m.PredictRow: lambda engine, request: engine.predictions.try_row(request),
    m.FindTestRow: lambda engine, request: engine.predictions.find_row(request),
}
