"""`tunescope tune`: the whole job headless, from the file to the exported model."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from app.cli import cluster
from app.cli.leaderboard import leaderboard_of
from app.cli.parsing import tune_arguments
from app.cli.parsing.columns import refuse_role_of_target
from app.cli.parsing.without_effect import without_effect
from app.cli.planning import data_of, plan_of, wherever_from
from app.cli.progress import ProgressLine
from app.cli.stopping import INTERRUPTED, Stopping, kept_in_words, untested, untested_in_words
from app.cli.words import result_in_words
from core.collecting import as_usual
from core.errors import UnusableError, cannot_write
from core.estimators.several import SEVERAL

if TYPE_CHECKING:
    from core.datasets.dataset import Dataset
    from core.tuning.events import Event
    from core.tuning.plan import Plan
    from core.tuning.runs.run_folder import RunFolder
    from core.tuning.runs.state import RunState


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    tune_arguments.add_to(commands).set_defaults(run=run)


def _refuse_exports(paths: list[Path], task: str, model: str) -> None:
    """What cannot be written is refused before anything is computed."""
    if not paths:
        return
    from core.export.exporters import check_export

    for path in paths:
        check_export(path, task, model)


def run(given: argparse.Namespace) -> int:
    """Tune, print the result, export."""
    from core.tuning.checks import MOST_WORKERS
    from core.tuning.guidance.power_words import power_of
    from core.tuning.history.store import History
    from core.tuning.patience import in_words
    from core.tuning.problem import build_problem, read_data
    from core.tuning.rows_read import settled
    from core.tuning.runs.run_folder import RunFolder
    from core.tuning.tune import tune

    data = data_of(given)
    dataset = read_data(data)
    refuse_role_of_target(data.roles, dataset.target_name)
    plan = plan_of(given, settled(wherever_from(data), dataset), dataset)
    _refuse_exports(given.export, dataset.task, plan.model)
    problem = build_problem(plan, dataset)  # refuses before a folder is made
    for line in _finding_lines(dataset):
        print(f"Data: {line}", file=sys.stderr)
    for sentence in without_effect(given, problem):
        print(sentence, file=sys.stderr)
    if problem.metric_reason:
        print(problem.metric_reason, file=sys.stderr)
    if power := power_of(problem):
        print(power, file=sys.stderr)
    if problem.strategy.kind == "trials":
        print(in_words(plan), file=sys.stderr)
    else:
        given.cluster = ""  # said to have no effect
    as_usual()
    copy = _opened(Path(given.events)) if given.events else None
    with cluster.connected(given, given.workers) as connection:
        if connection is not None and given.workers is None:
            plan = plan.changed(workers=min(connection.threads, MOST_WORKERS))
        folder = RunFolder.create(plan, path=Path(given.run_dir) if given.run_dir else None)
        requests: deque[Event] = deque()
        where = cluster.executing(connection)
        stream = tune(plan, dataset, folder=folder, history=History, requests=requests, **where)
        try:
            return follow(Followed(stream, requests, plan, dataset, folder, copy=copy), given)
        except UnusableError:
            folder.forget_if_idle()
            raise


def _findings(dataset: Dataset) -> list[str]:
    """What a person should know about the data."""
    from core.datasets.summary import all_findings

    return [finding.sentence for finding in all_findings(dataset)]


def _finding_lines(dataset: Dataset) -> list[str]:
    """The findings, with the option that asks for what one proposes."""
    from core.datasets.summary import all_findings

    found = all_findings(dataset)
    return [
        f"{one.sentence} ({one.proposal.option})"
        if one.proposal and one.proposal.option
        else one.sentence
        for one in found
    ]


def _opened(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        cure = "choose a file that you may write to"
        raise cannot_write("the events", str(path), error, cure=cure) from error


class _Copy:
    """The copy of a run's events; where it cannot be written, the run goes on without.

    Args:
        file: where to; None for no copy. It is closed on the way out of `with`.
        say: tells a sentence.
    """

    def __init__(self, file: TextIO | None, say: Callable[[str], None]) -> None:
        self._file, self._say = file, say

    def __enter__(self) -> _Copy:
        return self

    def add(self, event: Event) -> None:
        """Write an event."""
        from core.tuning.event_lines import to_json

        if self._file is None:
            return
        try:
            self._file.write(to_json(event) + "\n")
        except OSError as error:
            why = error.strerror or type(error).__name__
            self._say(
                f"The copy of the events in {self._file.name} ends here ({why});"
                " the run goes on, and its folder has them all."
            )
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # it tries again what it could not write
                self._file.close()
        self._file = None

    def __exit__(self, *_error: object) -> None:
        self._close()


@dataclass(frozen=True)
class Followed:
    """A run that is shown as it goes on.

    Attributes:
        stream: its events.
        requests: what it takes while it goes on (core.tuning.tune.tune).
        plan, dataset, folder: of the run.
        past: what happened before.
        copy: the file that takes a copy of the events, if any.
    """

    stream: Iterator[Event]
    requests: deque[Event]
    plan: Plan
    dataset: Dataset
    folder: RunFolder
    past: Sequence[Event] = ()
    copy: TextIO | None = None


def follow(run: Followed, given: argparse.Namespace) -> int:
    """Show a run's progress until it ends or is interrupted, then give its result."""
    from core.tuning.events import RunFailed
    from core.tuning.results.conclude import conclude

    plan, dataset, folder, last = run.plan, run.dataset, run.folder, None
    line = ProgressLine(sys.stderr)
    line.replay(run.past)
    with Stopping(line, run.requests, lambda: _leave(line.run, run, given)) as stopping:
        try:
            with contextlib.closing(run.stream), _Copy(run.copy, line.say) as copy:
                for last in run.stream:
                    copy.add(last)
                    line.consume(last)
        except KeyboardInterrupt:
            because = "it was interrupted"
            last = conclude(plan, dataset, folder.events(), folder=folder, because=because)
            line.consume(last)
        finally:
            line.close()
        stopping.answered()
        status = INTERRUPTED if stopping.interrupted else 0
        if last is None or isinstance(last, RunFailed):
            print(f"tunescope: {getattr(last, 'sentence', 'nothing was run.')}", file=sys.stderr)
            return status or 1
        return give_result(last.results, plan, dataset, folder, given) or status


def _leave(state: RunState, run: Followed, given: argparse.Namespace) -> None:
    """Tell the best so far and what is kept, as the process is about to end."""
    kept = kept_in_words(state, run.folder.name)
    if state.results is None and given.json:
        print(json.dumps(_untested_as_json(state, run, given, kept)), flush=True)
    elif state.results is None and (said := untested_in_words(state)):
        print(said, flush=True)
    print(f"tunescope: {kept}", file=sys.stderr, flush=True)


def _untested_as_json(
    state: RunState, run: Followed, given: argparse.Namespace, kept: str
) -> dict[str, Any]:
    """What `--json` prints where nobody waited for the test."""
    return {
        **_of_run(run.plan, run.dataset, run.folder),
        **untested(state),
        "remarks": [kept],
        "findings": _findings(run.dataset),
        "fits": state.fits,
        "trials": state.finished,
        "seconds": round(state.seconds, 4),
        "stopped_because": "it was interrupted",
        "seed": run.plan.seed,
        "exports": [],
        **({"failed_exports": dict.fromkeys(given.export, kept)} if given.export else {}),
    }


def give_result(
    results: dict[str, Any],
    plan: Plan,
    dataset: Dataset,
    folder: RunFolder,
    given: argparse.Namespace,
) -> int:
    """Export what was asked for and print the result; 1 where an export failed, otherwise 0."""
    from core.export.exporters import export_all
    from core.export.finished_run import finished_run

    exports, failed = export_all(lambda: finished_run(folder, given.examples), given.export)
    models = leaderboard_of(folder.events()) if plan.model == SEVERAL else []
    if given.json:
        for remark in results["remarks"]:
            print(f"Note: {remark}", file=sys.stderr)
        whole = result_as_json(results, plan, dataset, folder, exports)
        whole |= {"leaderboard": models} if models else {}
        print(json.dumps({**whole, **({"failed_exports": failed} if failed else {})}))
    else:
        print(result_in_words(results, plan, models))
        print(f"Run:    {folder.name}")
        for path in exports:
            print(f"Saved:  {path}")
    for sentence in failed.values():
        print(f"tunescope: {sentence}", file=sys.stderr)
    return 1 if failed else 0


def result_as_json(
    results: dict[str, Any], plan: Plan, dataset: Dataset, folder: RunFolder, exports: list[str]
) -> dict[str, Any]:
    """The one object that `--json` prints."""
    return {
        **_of_run(plan, dataset, folder),
        "params": results["setting"],
        **({"groups": results["groups"]} if results["groups"] else {}),
        **({"ensemble": results["ensemble"]} if "ensemble" in results else {}),
        "metric": results["metric"],
        **({"metric_reason": results["metric_reason"]} if "metric_reason" in results else {}),
        **({"costs": results["costs"]} if "costs" in results else {}),
        "validation": results["validation"],
        "test": results["test"],
        "default_test": results["default_test"],
        "remarks": list(results["remarks"]),
        "findings": _findings(dataset),
        "baseline_test": results.get("baseline_test", {}),
        "gain": {
            "metric": results["gain"]["metric"],
            "value": results["gain"]["difference"],
            "low": results["gain"]["low"],
            "high": results["gain"]["high"],
            "likely_real": results["gain"]["real"],
        },
        "evaluation": results["evaluation"],
        "fits": results["fits"],
        "trials": results["trials"],
        "seconds": results["seconds"],
        "stopped_because": results["stopped_because"],
        "seed": results["seed"],
        "exports": exports,
    }


def _of_run(plan: Plan, dataset: Dataset, folder: RunFolder) -> dict[str, Any]:
    return {
        "run": folder.name,
        "dataset": {
            "rows": dataset.rows,
            "features": int(dataset.features.shape[1]),
            "task": dataset.task,
        },
        "model": plan.model,
        "strategy": plan.strategy,
    }
