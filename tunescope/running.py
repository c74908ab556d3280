"""Tune a file or a table in memory."""

from __future__ import annotations

import contextlib
import difflib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from core.datasets.dataset import Dataset
from core.datasets.groups import groups_from_file
from core.errors import UnusableError
from core.space import Setting
from core.tuning.cluster.address import parse_cluster_address
from core.tuning.cluster.connection import ClusterConnection
from core.tuning.events import Event, RunFailed, RunFinished
from core.tuning.fixed_row_count import with_row_count
from core.tuning.guidance.choosing import chosen_or_recommended
from core.tuning.history.store import History
from core.tuning.plan import DataPlan, Plan
from core.tuning.problem import build_problem, read_data
from core.tuning.ranges import as_plain
from core.tuning.results.conclude import conclude
from core.tuning.runs.run_folder import RunFolder, new_folder, runs_root
from core.tuning.trials.executors import ProcessExecutor, TrialExecutor
from core.tuning.tune import tune as tune_events
from tunescope.data_files import Table, file_of, with_file
from tunescope.runs import TunedRun, open_run

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
    history: bool = True,
    cluster: str | Mapping[str, str] = "",
    **settings: Any,
) -> TunedRun:
    """Tune a model, test it, and keep it in a run folder, as `tunescope tune` does.

    A table in memory is written as CSV into the run's folder, so that the run can be resumed and
    exported; its columns mean what their types say (the text "007" is no number). An interrupt ends
    the tuning; the best so far is tested and kept. With several workers a script needs
    `if __name__ == "__main__"`.

    Args:
        data: a table; the path of a file; or `sample:NAME`.
        target: the column to predict; "" for the one named target, label, class or y, or the last.
        test: further rows to test on, as `data`; None to hold rows out.
        run: the folder of the run; None for a new one where `tunescope runs` finds it.
        callback: called with every event (core.tuning.events); where it returns True the tuning
            ends, and the best so far is tested and kept.
        history: whether the history of earlier datasets may be read and added to.
        cluster: where trials run: the address of a dask.distributed scheduler, or "local"; with
            certificates {"address", "ca", "certificate", "key"}. Penalty learners, which are one
            fit, always run here.
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
    """
    _check_names(settings)
    with tempfile.TemporaryDirectory(prefix="tunescope-") as scratch:
        test_file = "" if test is None else file_of(test, Path(scratch) / "test_rows.csv")
        data_options = {name: value for name, value in settings.items() if name in _OF_DATA}
        data_plan = DataPlan("", target=target, test_file=test_file, **data_options)
        plan = Plan(with_file(data_plan, data, Path(scratch) / "rows.csv"), "", "")
        dataset = read_data(plan.data)
        plan = plan.changed(data=with_row_count(plan.data, dataset))
        plan = _with_settings(plan, dataset, settings)
        problem = build_problem(plan, dataset)  # raises before a folder is made
        where = cluster if problem.strategy.kind == "trials" else ""
        stack = contextlib.ExitStack()
        executor = _executor(stack, where, settings.get("workers"))
        try:
            path = None if run is None else Path(run)
            started_run = _prepare_run(plan, dataset, path, Path(scratch))
        except BaseException:
            stack.close()
            raise
    try:
        with stack:
            last = _follow_run(started_run, callback, history, executor)
    except UnusableError:
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


def _with_settings(plan: Plan, dataset: Dataset, settings: Setting) -> Plan:
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
    return plan.changed(model=model, strategy=strategy, groups=groups, **plan_options)


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
    for draft, target in target_of.items():
        shutil.copyfile(draft, target)
    dataset = replace(dataset, source=replace(dataset.source, path=file))
    return _StartedRun(plan, dataset, folder, tuple(target_of.values()))


def _executor(
    stack: contextlib.ExitStack, cluster: str | Mapping[str, str], workers: int | None
) -> Callable[..., TrialExecutor]:
    """Processes here, or a cluster until the stack closes."""
    if not cluster:
        return ProcessExecutor
    options = {"address": cluster} if isinstance(cluster, str) else cluster
    address = parse_cluster_address(**options)
    return stack.enter_context(ClusterConnection(address, workers)).executor


def _follow_run(
    run: _StartedRun,
    callback: Callback | None,
    history: bool,
    executor: Callable[..., TrialExecutor],
) -> Event:
    plan, dataset, folder = run.plan, run.dataset, run.folder
    tell = callback or (lambda event: False)
    history_class = History if history else None
    stream = tune_events(plan, dataset, folder=folder, history=history_class, executor=executor)
    because = "it was interrupted"
    try:
        with contextlib.closing(stream):
            for event in stream:
                if isinstance(event, RunFinished | RunFailed):
                    tell(event)
                    return event
                if tell(event) is True:
                    because = "enough had been tried"
                    break
    except KeyboardInterrupt:
        pass
    last = conclude(plan, dataset, folder.all_events(), folder=folder, because=because)
    tell(last)
    return last


def _check_names(settings: Setting) -> None:
    known_names = sorted(_OF_DATA | _OF_PLAN | {"model", "strategy"})
    for name in settings:
        if name not in known_names:
            near = difflib.get_close_matches(name, known_names, n=1)
            cure = f"did you mean “{near[0]}”?" if near else f"there are {', '.join(known_names)}."
            raise TypeError(f"tune: “{name}” is no argument; {cure}")
