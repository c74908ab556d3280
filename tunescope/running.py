"""Tune a file or a table in memory, say how it is read, and open a recorded run."""

from __future__ import annotations

import contextlib
import difflib
import math
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from core.datasets.cell_values import read_cells
from core.datasets.column_format import guess_format, guess_of_numbers
from core.datasets.dataset import Dataset
from core.datasets.dataset_summary import ReadingReport
from core.datasets.groups import groups_from_file
from core.datasets.raw_table import formats_of
from core.errors import UnusableError
from core.export.exporters import export_run
from core.export.finished_run import FinishedRun, finished_run
from core.export.report.report_page import run_card
from core.figures.run_pictures import run_pictures
from core.records import to_plain
from core.space import Setting
from core.tuning.cluster.connection import ClusterConnection, parse_cluster_address
from core.tuning.events import Event, RunFailed, RunFinished, TrialFinished
from core.tuning.guidance.advice import chosen_or_recommended
from core.tuning.guidance.column_encodings import report_on
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan
from core.tuning.ranges import as_plain
from core.tuning.results.answer import answer_of
from core.tuning.results.conclude import conclude
from core.tuning.results.model_metadata import read_metadata, version_note
from core.tuning.run_results import Results
from core.tuning.runs.best import best_of
from core.tuning.runs.run_folder import RunFolder, new_folder, runs_root
from core.tuning.runs.state import RunState, state_from_events
from core.tuning.trials.executors import InProcessExecutor, ProcessExecutor, TrialExecutor
from core.tuning.tune import prepare_run
from core.tuning.tune import tune as tune_events
from core.wording import count_text, list_text
from core.writing import whole_file
from tunescope.progress_bar import progress_bar
from tunescope.run_picture import Picture


class SparseTable(NamedTuple):
    """Rows of numbers most of which are 0, and their targets, also numbers."""

    X: sparse.csr_matrix
    y: np.ndarray


Table = str | Path | pd.DataFrame | SparseTable


def read(data: Table, target: str = "", **options: Any) -> ReadingReport:
    """How a file or table is read: columns, what else they could mean, findings.

    `data`: a table, the path of a file, or `sample:NAME`; `target` and `options` (task, roles,
    kinds, readings) as in `tune`. Raises UnusableError: invalid data, in one sentence.

    >>> [column.kind for column in tunescope.read("sample:iris").columns]
    ['number', 'number', 'number', 'number', 'category']
    """
    with tempfile.TemporaryDirectory(prefix="tunescope-") as scratch:
        plan = DataPlan("", target=target, **options)
        report = report_on(with_file(plan, data, Path(scratch) / "rows.csv"))
        return ShownReport(**vars(report))


class ShownReport(ReadingReport):
    """The same as a notebook shows it: what was found, and a table of the columns."""

    def _repr_html_(self) -> str:
        sentences = [finding.sentence for finding in self.findings]
        if self.target:
            sentences.insert(0, f"{count_text(self.rows, 'row')} to predict “{self.target}” from.")
        names = {"name": "column", "kind_text": "read as", "role": "role", "missing": "missing"}
        names |= {"distinct": "distinct", "note": "note", "encoding": "what a model gets"}
        table = pd.DataFrame(map(to_plain, self.columns))[list(names)].rename(columns=names)
        with pd.option_context("display.max_colwidth", None):
            html = table.to_html(index=False)
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences) + html


def with_file(plan: DataPlan, data: Table, draft: Path) -> DataPlan:
    """The plan on a file or sample; a table is written to `draft`, and read as its types say."""
    file = file_of(data, draft)
    if not isinstance(data, pd.DataFrame):
        return replace(plan, file=file)
    kinds, readings = _meanings(data, {*plan.kinds, *plan.readings}, plan.target)
    readings, kinds = {**readings, **plan.readings}, {**kinds, **plan.kinds}
    return replace(plan, file=file, kinds=kinds, readings=readings)


def file_of(data: Table, draft: Path) -> str:
    """The file of some data, a table's being `draft`."""
    if isinstance(data, SparseTable):
        dump_svmlight_file(*data, str(draft), zero_based=False)
        return str(draft)
    if not isinstance(data, pd.DataFrame):
        return str(data) if str(data).startswith("sample:") else str(Path(data).absolute())
    _check_cells(data)
    data.to_csv(draft, index=False)
    return str(draft)


def _check_cells(table: pd.DataFrame) -> None:
    for name, values in table.items():
        if values.dtype.kind != "O" or not pd.api.types.infer_dtype(values).startswith("mixed"):
            continue
        for row, value in enumerate(values):
            if pd.api.types.is_list_like(value):
                raise UnusableError(
                    f"a cell is of type {type(value).__name__}, which is no single value",
                    where=f"column “{name}”, row {row + 1:,}",
                    cure="make a column of each of its values, or leave the column out",
                )


def _meanings(
    table: pd.DataFrame, chosen: set[str], target: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Kinds and readings of the columns that a CSV file would not tell as their types do."""
    kinds, readings = dict[str, str](), dict[str, str]()
    for index, name in enumerate(map(str, table.columns)):
        values, name = table.iloc[:, index], name.strip()
        if name in chosen:
            continue
        if isinstance(values.dtype, pd.CategoricalDtype):
            # As texts in a file they would be taken for numbers or dates.
            if guess_format(values.astype(object)).form.kind in ("number", "date"):
                kinds[name] = "category"
        # A target of texts may be numbers nevertheless.
        elif name != target and (reading := _reading_of(values)):
            readings[name] = reading
    return kinds, readings


def _reading_of(values: pd.Series) -> str:
    if values.dtype.kind in "iuf":
        return "number" if guess_of_numbers(values) else ""
    if pd.api.types.infer_dtype(values, skipna=True) != "string":
        return ""
    form = guess_format(values).form
    if form.kind != "number":
        return "values" if form.missing else ""
    return "" if guess_format(values, typed=True).form.kind == "number" else "text"


_OF_DATA = {field.name for field in fields(DataPlan)} - {"file", "target", "test_file"}
_OF_PLAN = {field.name for field in fields(Plan)} - {"data", "model", "strategy"}
GROUPINGS = ("single", "each", "column", "prefix")

Callback = Callable[[Event], object]


def tune(
    data: Table,
    target: str = "",
    *,
    test: Table | None = None,
    run: str | Path | None = None,
    callback: Callback | None = None,
    progress: bool | None = None,
    history: bool = True,
    cluster: str | Mapping[str, str] = "",
    in_process: bool = False,
    **settings: Any,
) -> TunedRun:
    """Tune a model, test it, and keep it in a run folder, as `tunescope tune` does.

    A table in memory is written as CSV into the run's folder, so that the run can be resumed and
    exported; its columns mean what their types say (the text "007" is no number). An interrupt ends
    the tuning; the best so far is tested and kept.

    Args:
        data: a table; the path of a file; or `sample:NAME`.
        target: the column to predict; "" for the first named target, label, class or y, else the
            last that is neither empty nor sentences (core.datasets.understanding.target).
        test: further rows to test on, as `data`; None to hold rows out.
        run: the folder of the run; None for a new one where `tunescope runs` finds it.
        callback: called with every event (core.tuning.events); where it returns True the tuning
            ends, and the best so far is tested and kept.
        progress: whether to show how far it is: a bar of tqdm or rich, whichever is installed, else
            lines; None for notebooks only.
        history: whether the history of earlier datasets may be read and added to.
        cluster: where trials run: the address of a dask.distributed scheduler, or "local", for
            which a script needs `if __name__ == "__main__"`; with certificates {"address", "ca",
            "certificate", "key"}. Penalty learners, which are one fit, always run here.
        in_process: whether trials run in this process, one at a time, which is quick for few rows;
            a fit then goes on beyond the minutes.
        settings: the options of the command line: model, strategy, groups (single, each, column,
            prefix, {group: [columns]} or a JSON file), trials, minutes, patience (end after so many
            trials in a row without improvement; 0 for never), ranges ({setting: (from, to)}), fixed
            ({setting: value}), seed, workers, memory (of each process of trials at most, such as
            "2GB"), folds, metric, evaluation (test or nested), refit, costs ({class: cost}),
            time_limit, standardize, rows (maximum of each file, drawn at random with rows_seed; 0
            for all; as many as fit into memory by default), test_size, task, roles, kinds and
            readings ({column: …}), latest, together, …; and `options`, a dict of those of the
            strategy.

    Raises:
        UnusableError: invalid data or settings, in one sentence; no folder is left then.
        TypeError: a setting that does not exist.
        RuntimeError: the run failed; the sentence says why.

    >>> table = pd.DataFrame({"x": range(100), "y": [3 * x + x % 7 for x in range(100)]})
    >>> done = tunescope.tune(table, "y", model="linear", strategy="random", trials=2)
    >>> print(done.metric, done.score > 0.99, done.model.predict(table).shape)
    r2 True (100,)
    """
    _check_names(settings)
    with tempfile.TemporaryDirectory(prefix="tunescope-") as scratch:
        test_file = "" if test is None else file_of(test, Path(scratch) / "test_rows.csv")
        data_options = {name: value for name, value in settings.items() if name in _OF_DATA}
        data_plan = DataPlan("", target=target, test_file=test_file, **data_options)
        data_plan = with_file(data_plan, data, Path(scratch) / "rows.csv")
        new_run = prepare_run(data_plan, partial(_with_settings, settings))  # no folder yet
        plan, dataset = new_run.plan, new_run.dataset
        where = cluster if new_run.problem.strategy.kind == "trials" else ""
        stack = contextlib.ExitStack()
        executor: Callable[..., TrialExecutor] = InProcessExecutor
        if not in_process:
            executor = _executor(stack, where, settings.get("workers"))
        try:
            path = None if run is None else Path(run)
            started_run = _prepare_run(plan, dataset, path, Path(scratch))
        except BaseException:
            stack.close()
            raise
    try:
        with stack:
            # The callback comes last: where it ends the run the bar has shown the event.
            tells = [callback] if callback else []
            if _is_notebook() if progress is None else progress:
                tells.insert(0, progress_bar(stack))
            last = _follow_run(started_run, tells, history, executor)
    except UnusableError:
        # With a table in it the folder would not count as one without anything.
        for table_file in started_run.table_files:
            table_file.unlink(missing_ok=True)
        started_run.folder.forget_if_idle()
        raise
    if isinstance(last, RunFailed):
        raise RuntimeError(last.sentence)
    return open_run(started_run.folder.path)


@dataclass(frozen=True)
class _StartedRun:
    """A run about to begin; `table_files` are tables from memory."""

    plan: Plan
    dataset: Dataset
    folder: RunFolder
    table_files: tuple[Path, ...] = ()


def _with_settings(settings: Setting, data: DataPlan, dataset: Dataset) -> Plan:
    names = settings.get("model") or "", settings.get("strategy") or ""
    model, strategy, recommended = chosen_or_recommended(dataset, *names)
    plan_options = {name: value for name, value in settings.items() if name in _OF_PLAN}
    groups: Any = plan_options.pop("groups", None) or recommended
    if isinstance(groups, str | Path) and str(groups) not in GROUPINGS:
        groups = groups_from_file(groups)
    if plan_options.get("evaluation") == "auto":
        plan_options["evaluation"] = ""
    ranges, fixed = plan_options.pop("ranges", None), plan_options.pop("fixed", None)
    ranges, fixed = as_plain(ranges or {}, fixed or {})
    plan_options |= {"ranges": ranges, "fixed": fixed, "memory": str(settings.get("memory", ""))}
    return Plan(data, model, strategy, groups=groups, **plan_options)


def _prepare_run(plan: Plan, dataset: Dataset, path: Path | None, scratch: Path) -> _StartedRun:
    data = plan.data
    paths = [Path(file) for file in (data.file, data.test_file)]
    scratch_files = [file for file in paths if file.parent == scratch]
    if not scratch_files:
        return _StartedRun(plan, dataset, RunFolder.create(plan, path=path))
    run_path = (new_folder(runs_root(), plan) if path is None else path).absolute()
    target_of = {str(file): run_path / file.name for file in scratch_files}
    file, test_file = (str(target_of.get(name, name)) for name in (data.file, data.test_file))
    plan = plan.changed(data=replace(data, file=file, test_file=test_file))
    folder = RunFolder.create(plan, path=run_path)
    # Into the run's folder, so that the run can be resumed without the table.
    for draft, target in target_of.items():
        with whole_file(target, is_private=True) as copy:
            shutil.copyfile(draft, copy)
    dataset = replace(dataset, source=replace(dataset.source, path=file))
    return _StartedRun(plan, dataset, folder, tuple(target_of.values()))


def _executor(
    stack: contextlib.ExitStack, cluster: str | Mapping[str, str], workers: int | None
) -> Callable[..., TrialExecutor]:
    if not cluster:
        return ProcessExecutor
    options = {"address": cluster} if isinstance(cluster, str) else cluster
    address = parse_cluster_address(**options)
    return stack.enter_context(ClusterConnection(address, workers)).executor


def _is_notebook() -> bool:
    # Where IPython runs it is imported already; its class tells a kernel from a terminal.
    ipython = sys.modules.get("IPython")
    return ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"


def _follow_run(
    run: _StartedRun,
    tells: Sequence[Callback],
    history: bool,
    executor: Callable[..., TrialExecutor],
) -> Event:
    plan, dataset, folder = run.plan, run.dataset, run.folder
    history_class = History if history else None
    stream = tune_events(plan, dataset, folder=folder, history=history_class, executor=executor)
    because = "it was interrupted"
    try:
        with contextlib.closing(stream):
            for event in stream:
                # True itself: callbacks return all kinds of things, such as a list's length.
                has_enough = any(tell(event) is True for tell in tells)
                if isinstance(event, RunFinished | RunFailed):
                    return event
                if has_enough:
                    because = "enough had been tried"
                    break
    except KeyboardInterrupt:
        pass
    last = conclude(plan, dataset, folder.all_events(), folder=folder, because=because)
    for tell in tells:
        tell(last)
    return last


def _check_names(settings: Setting) -> None:
    known_names = sorted(_OF_DATA | _OF_PLAN | {"model", "strategy"})
    for name in settings:
        if name not in known_names:
            near = difflib.get_close_matches(name, known_names, n=1)
            cure = f"did you mean “{near[0]}”?" if near else f"there are {', '.join(known_names)}."
            raise TypeError(f"tune: “{name}” is no argument; {cure}")


class TunedRun:
    """A run when it was opened, read only.

    In a notebook it shows its answer, the picture of its scores and its models.

    Attributes:
        run: its folder's path. events: all events, in order.

    >>> done = tunescope.tune("sample:iris", model="knn", strategy="random", trials=2)
    >>> done.plot("best")  # doctest: +ELLIPSIS
    <Picture “Best so far”: ...>
    >>> done.trials["state"].tolist()
    ['finished', 'finished']
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self.run: Path = folder.path
        self.events: list[Event] = folder.all_events()

    def __repr__(self) -> str:
        if self._run_state.results is None:
            return f"<TunedRun {self.run.name}>"
        answer = answer_of(self._results, self._run_state.started, self._run_state.topics)
        return f"<TunedRun {self.run.name}: {answer.ability} {answer.tuning}>"

    def _repr_html_(self) -> str | None:
        if self._run_state.results is None:
            return None
        return run_card(self._finished)

    def plot(self, name: str = "scores") -> Picture:
        """A picture of the report, which shows itself in a notebook and has `save(path)`.

        `name`: scores, calibration, predicted, curve (of pairs); best, belief (of the surrogate,
        and of a setting "belief NAME"), average; penalties, path, objective (of a penalty learner).
        Raises UnusableError: the run has no such picture; the sentence lists those that it has.
        """
        pictures = run_pictures(self._run_state)
        if name not in pictures:
            fault = f"this run has no picture “{name}”"
            cure = f"it has {list_text(pictures)}" if pictures else "it has none before its trials"
            raise UnusableError(fault, where=self.run.name, cure=cure)
        return Picture(*pictures[name])

    def export(self, path: str | Path, format: str | None = None) -> Path:
        """Write what `tunescope export` writes, by the ending of `path` or the name of a format.

        A model (.skops, .joblib, .onnx, .mlflow) has its card beside it; report, numbers and
        script are .html, .json and .py. Raises UnusableError: no such format or no room.

        >>> done = tunescope.tune("sample:iris", model="knn", strategy="random", trials=2)
        >>> done.export("iris.json").name
        'iris.json'
        """
        return export_run(self._finished, path, format)

    @cached_property
    def plan(self) -> Plan:
        """The plan of the run."""
        return self._folder.plan

    @cached_property
    def model(self) -> Any:
        """The fitted scikit-learn pipeline, for raw rows: a DataFrame with the same columns.

        Opening it runs no code. Raises UnusableError: there is none, or it cannot be opened.
        Warns where another scikit-learn fitted it.
        """
        pipeline = best_of(self._folder)
        with contextlib.suppress(FileNotFoundError):
            if note := version_note(read_metadata(self._folder.path).versions):
                warnings.warn(note, stacklevel=2)
        return pipeline

    def model_rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Rows of a table in memory as `model` takes them, its cells read as those of the run."""
        takeaway = self._finished.takeaway
        formats = formats_of(takeaway.columns, takeaway.source)
        columns = {name: read_cells(table[name], formats[name]) for name in takeaway.feature_names}
        return pd.DataFrame(columns, index=table.index)

    @property
    def is_sparse(self) -> bool:
        """Whether its rows are a sparse matrix."""
        return self._finished.takeaway.source.format == "libsvm"

    def with_content(self) -> TunedRun:
        """Itself, with all that is read from the folder, which may go then."""
        _ = self.plan, self.model, self._finished
        return self

    @cached_property
    def _finished(self) -> FinishedRun:
        return finished_run(self._folder, events=self.events)

    @cached_property
    def results(self) -> dict[str, Any]:
        """With the keys of core.tuning.run_results.Results; UnusableError: it has not ended."""
        return to_plain(self._results)

    @property
    def _results(self) -> Results:
        if self._run_state.results is None:
            raise UnusableError(
                "this run has not ended", where=str(self.run), cure="let it end, or resume it"
            )
        return self._run_state.results

    @property
    def metric(self) -> str:
        """The metric of the score. Raises UnusableError as `results`."""
        return self._results.metric

    @property
    def score(self) -> float:
        """The test score, NaN where undefined. Raises as `results`."""
        score = self._results.test.get(self.metric)
        return math.nan if score is None else float(score)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """A row for each trial that ended.

        Columns: number; state (finished, failed, or behind: ended early, the score an estimate);
        score; fold_scores; seconds; fits; reason; failure; excluded (by a person); `params_NAME`.
        """
        scores = {e.number: e.fold_scores for e in self.events if isinstance(e, TrialFinished)}
        rows = [
            {
                "number": trial.number,
                "state": "failed" if trial.failure else "behind" if trial.behind else "finished",
                "score": trial.score,
                "fold_scores": scores.get(trial.number, []),
                "seconds": trial.took,
                "fits": trial.fits,
                "reason": trial.reason,
                "failure": trial.failure,
                "excluded": trial.number in self._run_state.excluded,
                **{f"params_{name}": value for name, value in trial.setting.items()},
            }
            for trial in self._run_state.trials
        ]
        return pd.DataFrame(rows)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """A row for each step of a penalty learner.

        Columns: step; objective (what the method minimizes); `penalty_GROUP` for each group.
        """
        rows: list[dict[str, Any]] = []
        for step in self._run_state.steps:
            penalties = {f"penalty_{group}": C for group, C in step.penalties.items()}
            rows.append({"step": step.step, "objective": step.objective, **penalties})
        for line in self._run_state.gradients:
            penalties = {f"penalty_{group}": float(np.exp(d)) for group, d in line.d.items()}
            rows.append({"step": line.step, "objective": line.holdout_loss, **penalties})
        return pd.DataFrame(rows)

    @cached_property
    def _run_state(self) -> RunState:
        return state_from_events(self.events)


def export_study(run: TunedRun | str | Path, storage: str | Path) -> str:
    """Write a run as a study of Optuna, which optuna-dashboard opens; returns the study's name.

    A run of several models, as `auto` makes it, is a study for each, NAME/MODEL: NAME is returned.
    `run`: an opened run, a folder's path, or a name. `storage`: the path of a journal (`.log`) or
    SQLite file, created if missing; or a URL, such as `sqlite:///study.db`. Raises UnusableError:
    no trials, the storage has a study of this name, or it cannot be written.
    """
    # Optuna takes a second to import.
    from core.export.optuna_study import export_study as write

    path = run.run if isinstance(run, TunedRun) else run
    return write(RunFolder.open(path), storage)


def open_run(run: str | Path) -> TunedRun:
    """A run by its folder's path, or its name in `tunescope runs`; UnusableError: none to read.

    >>> run = tunescope.tune("sample:iris", model="knn", strategy="random", trials=2).run
    >>> tunescope.open_run(run).trials["number"].tolist()
    [0, 1]
    """
    return TunedRun(RunFolder.open(run))
