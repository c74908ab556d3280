"""`tunescope tune`: the whole job headless, from the file to the exported model."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from app.cli.columns import of_columns, refuse_role_of_target
from app.cli.progress import ProgressLine
from app.cli.words import result_in_words
from core.errors import UnusableError
from core.options import Option

if TYPE_CHECKING:
    from core.datasets.dataset import Dataset
    from core.tuning.events import Event
    from core.tuning.plan import DataPlan, Plan
    from core.tuning.run_folder import RunFolder

PLAN_OPTIONS = {
    "metric": str,
    "folds": int,
    "time_limit": float,
    "standardize": Option("standardize", "", "bool", True, "").read,
    "decoding": str,
}
DATA_OPTIONS = {"vocabulary": int, "stop_words": str}


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    tune = commands.add_parser("tune", help="tune a model on a file")
    tune.add_argument("file", metavar="FILE", help="CSV or LIBSVM file, or sample:NAME")
    tune.add_argument("--target", default="", metavar="COL", help="the column to predict")
    tune.add_argument(
        "--task",
        default="",
        metavar="NAME",
        help="regression, binary, multiclass, sequence, structure, or topics: those of the texts"
        " in the column of --target (default: told from the file)",
    )
    tune.add_argument(
        "--role",
        action="append",
        default=[],
        metavar="COLUMN=ROLE",
        help="what a column is for: feature, ignore, or group (its equal values stay on one side"
        " of every split); may be given again for another column",
    )
    tune.add_argument(
        "--kind",
        action="append",
        default=[],
        metavar="COLUMN=KIND",
        help="what a column holds: number, category, yes/no or date; may be given again",
    )
    tune.add_argument("--model", default="", metavar="NAME", help="see tunescope models")
    tune.add_argument("--strategy", default="", metavar="NAME", help="see tunescope strategies")
    tune.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of the strategy, or metric, folds, time_limit, standardize; for"
        " topics, vocabulary (how many words count) and stop_words (auto, none, frequency, or a"
        " language: en, de, fr, es, it, pt, nl, sv, da, pl, ru)",
    )
    tune.add_argument(
        "--groups",
        default="",
        metavar="prefix|each|column|single|FILE.json",
        help="which columns share one penalty (default: single, or what is recommended)",
    )
    tune.add_argument("--trials", type=int, metavar="N", help="how many trials at most")
    tune.add_argument("--minutes", type=float, metavar="M", help="how long at most")
    tune.add_argument("--seed", type=int, default=0, metavar="K", help="of everything random")
    testing = tune.add_mutually_exclusive_group()
    testing.add_argument("--test", default="", metavar="FILE", help="a second file to test on")
    testing.add_argument(
        "--test-size",
        type=float,
        metavar="SHARE",
        help="share of rows held out (default: 0.3, at most some 10,000 rows)",
    )
    tune.add_argument(
        "--evaluation",
        choices=("auto", "test", "nested"),
        default="auto",
        help="how the result is judged: by one test set, or by nested cross-validation, in which"
        " every row is tested once and the tuning is done 5 times more (default: nested for"
        " penalty learners on tables of fewer than 1,000 rows)",
    )
    tune.add_argument(
        "--no-refit",
        dest="refit",
        action="store_false",
        help="keep exactly the model that was tested; otherwise the model is fitted on all rows"
        " once it has been tested",
    )
    tune.add_argument(
        "--mistake-costs",
        action="append",
        default=[],
        metavar="CLASS=COST,CLASS=COST",
        help="for two classes: what it costs to call a row of each class the other one, for"
        " example healthy=1,sick=5; the threshold between them is chosen by it",
    )
    tune.add_argument(
        "--test-latest",
        default="",
        metavar="COLUMN",
        help="test on the rows that are the latest by this column of dates",
    )
    tune.add_argument(
        "--together",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="keep equal rows, and molecules of one family, on one side of every split",
    )
    tune.add_argument(
        "--gamma",
        default="",
        metavar="NUMBER|best|sensitivity=SHARE",
        help="for molecules: how much a base pair counts beside an unpaired base (default: 4); best"
        " F1, or finding a share of the true pairs, on training molecules held out",
    )
    tune.add_argument("--workers", type=int, default=1, metavar="N", help="trials at a time")
    tune.add_argument("--events", metavar="FILE.jsonl", help="write every event there as well")
    tune.add_argument("--run-dir", metavar="DIR", help="the folder of this run")
    add_ending(tune)
    tune.set_defaults(run=run)


def add_ending(parser: argparse.ArgumentParser) -> None:
    """The arguments that say what is done with the result."""
    parser.add_argument(
        "--export",
        action="append",
        default=[],
        metavar="PATH",
        help="save the result: .skops .joblib .onnx .json .py .html; for sequences and molecules "
        ".npz .json .py .html; for topics and deep latent Gaussian models .zip .json .html",
    )
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def run(given: argparse.Namespace) -> int:
    """Tune, print the result, export."""
    from core.export.exporters import check_export
    from core.tuning.history import History
    from core.tuning.plan import DataPlan
    from core.tuning.power_words import power_of
    from core.tuning.problem import build_problem, read_data
    from core.tuning.run_folder import RunFolder
    from core.tuning.tune import tune

    data = DataPlan(
        given.file,
        target=given.target,
        task=given.task or _task_of(given.model),
        roles=of_columns(given.role, "--role"),
        kinds=of_columns(given.kind, "--kind"),
        test_file=given.test,
        test_size=given.test_size,
        together=given.together,
        latest=given.test_latest,
        **_options_of_data(given),
    )
    dataset = read_data(data)
    refuse_role_of_target(data.roles, dataset.target_name)
    plan = plan_of(given, _wherever_from(data), dataset)
    for path in given.export:
        check_export(path, dataset.task, plan.model)
    problem = build_problem(plan, dataset)  # refuses before a folder is made
    for line in _finding_lines(dataset):
        print(f"Data: {line}", file=sys.stderr)
    if problem.metric_reason:
        print(problem.metric_reason, file=sys.stderr)
    if power := power_of(problem):
        print(power, file=sys.stderr)
    copy = _opened(Path(given.events)) if given.events else None
    folder = RunFolder.create(plan, path=Path(given.run_dir) if given.run_dir else None)
    stream = tune(plan, dataset, folder=folder, history=History)
    if copy is not None:
        stream = _copied(stream, copy)
    try:
        return follow(stream, plan, dataset, folder, given)
    except UnusableError:
        folder.forget_if_idle()
        raise


def _options_of_data(given: argparse.Namespace) -> dict[str, Any]:
    """The options that say which words of texts count."""
    options = dict(_pair(text) for text in given.option)
    return {name: _read(name, options[name]) for name in DATA_OPTIONS if name in options}


def _refuse_word_options(options: dict[str, str], task: str) -> None:
    named = [name for name in DATA_OPTIONS if name in options]
    if named and task != "topics":
        raise UnusableError(
            "only texts whose topics are found have words that count",
            where=f"option {named[0]}",
            cure="leave it out, or choose topics as the task",
        )


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


def _task_of(model: str) -> str:
    """The task that the model alone says: whoever wants this one looks for topics."""
    from core.estimators.registry import MODELS

    only = MODELS[model].tasks if model in MODELS else ()
    return "topics" if only == ("topics",) else ""


def _wherever_from(data: DataPlan) -> DataPlan:
    """The same files by paths that a later resume finds from any folder."""
    file = data.file if data.file.startswith("sample:") else os.path.abspath(data.file)
    return replace(data, file=file, test_file=data.test_file and os.path.abspath(data.test_file))


def plan_of(given: argparse.Namespace, data: Any, dataset: Dataset) -> Plan:
    """The plan that the arguments ask for; the guidance fills what they leave open."""
    from core.datasets.groups import groups_from_file
    from core.tuning.plan import Plan
    from core.tuning.strategies import STRATEGIES

    options = dict(_pair(text) for text in given.option)
    _refuse_word_options(options, dataset.task)
    options = {name: text for name, text in options.items() if name not in DATA_OPTIONS}
    model, strategy, groups = _recommended(given, dataset)
    of_strategy = {o.name for o in STRATEGIES[strategy].options} if strategy in STRATEGIES else ()
    of_plan = {
        name: _read(name, options.pop(name))
        for name in PLAN_OPTIONS
        if name in options and name not in of_strategy
    }
    groups = given.groups or groups
    if groups not in ("single", "each", "column", "prefix"):
        groups = groups_from_file(groups)
    return Plan(
        data=data,
        model=model,
        strategy=strategy,
        options=options,
        groups=groups,
        trials=given.trials,
        minutes=given.minutes,
        seed=given.seed,
        workers=given.workers,
        costs=_costs(given.mistake_costs),
        evaluation="" if given.evaluation == "auto" else given.evaluation,
        refit=given.refit,
        **_gamma(given.gamma),
        **of_plan,
    )


def _recommended(given: argparse.Namespace, dataset: Dataset) -> tuple[str, str, str]:
    """Model, strategy and groups: as given, the rest as the guidance recommends."""
    structured = dataset.task in ("sequence", "structure")
    if given.model and given.strategy and not structured:
        return given.model, given.strategy, "single"
    from core.datasets.summary import summarize
    from core.tuning.guidance import advise

    advice = advise(summarize(dataset))
    # Where none fits, the best one is refused with its reason.
    fitting = [entry for entry in advice["models"] if entry["fits_task"]] or advice["models"][:1]
    fitting.sort(key=lambda entry: not entry["recommended"])
    for entry in [{"name": given.model}] if given.model else fitting:
        offered = advice["strategies"].get(entry["name"], [])
        offered = sorted(offered, key=lambda strategy: not strategy["recommended"])
        groups = {strategy["name"]: strategy["groups"] for strategy in offered}
        if not given.strategy and offered:
            return entry["name"], offered[0]["name"], offered[0]["groups"]
        if given.strategy in groups:
            # Every parameter of a structured model has a kind; columns of a table may have none.
            of_kind = groups[given.strategy] if structured else "single"
            return entry["name"], given.strategy, of_kind
    return given.model or fitting[0]["name"], given.strategy or "random", "single"


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UnusableError(
            f"“{text}” is not KEY=VALUE", where="--option", cure="write for example tau=0.8"
        )
    return key.strip(), value.strip()


def _gamma(text: str) -> dict[str, Any]:
    """The fields of the plan that say γ."""
    if not text:
        return {}
    if text == "best":
        return {"gamma_by": "f1"}
    name, wants_share, share = text.partition("=")
    try:
        if wants_share and name == "sensitivity":
            return {"gamma_by": "sensitivity", "sensitivity": float(share)}
        return {"gamma": float(text)}
    except ValueError:
        raise UnusableError(
            f"“{text}” is no γ",
            where="--gamma",
            cure="give a number such as 4, best, or sensitivity=0.8",
        ) from None


def _costs(given: Sequence[str]) -> dict[str, float]:
    """{class: cost} of every CLASS=COST; a comma may also be part of a class."""
    costs, parts = {}, [part for text in given for part in text.split(",")]
    label = ""
    for part in parts:
        label += part
        name, equals, cost = label.rpartition("=")
        try:
            costs[name.strip()] = float(cost if equals and name.strip() else "")
        except ValueError:
            label += ","
        else:
            label = ""
    if label:
        raise UnusableError(
            f"“{label.rstrip(',')}” is not CLASS=COST",
            where="--mistake-costs",
            cure="write for example healthy=1,sick=5",
        )
    return costs


def _read(name: str, text: str) -> Any:
    try:
        return (PLAN_OPTIONS | DATA_OPTIONS)[name](text)
    except ValueError:
        raise UnusableError(
            f"“{text}” is not a number", where=f"option {name}", cure="give a number"
        ) from None


def _opened(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise _no_copy(str(path), error) from error


def _copied(stream: Iterator[Event], file: TextIO) -> Iterator[Event]:
    from core.tuning.events import to_json

    try:
        with contextlib.closing(stream), file:  # closing writes as well what a full disk refused
            for event in stream:
                file.write(to_json(event) + "\n")
                yield event
    except OSError as error:
        raise _no_copy(file.name, error) from error


def _no_copy(path: str, error: OSError) -> UnusableError:
    return UnusableError(
        f"the events cannot be written ({error.strerror})",
        where=path,
        cure="choose a file that you may write to",
    )


def follow(
    stream: Iterator[Event],
    plan: Plan,
    dataset: Dataset,
    folder: RunFolder,
    given: argparse.Namespace,
    past: Sequence[Event] = (),
) -> int:
    """Show a run's progress until it ends or is interrupted, then give its result."""
    from core.tuning.conclude import conclude
    from core.tuning.events import RunFailed

    status, last = 0, None
    line = ProgressLine(sys.stderr)
    line.remember(past)
    try:
        with contextlib.closing(stream):
            for last in stream:
                line.consume(last)
    except KeyboardInterrupt:
        line.say("Interrupted; working out the best so far. Interrupt again to leave at once.")
        because = "it was interrupted"
        last = conclude(plan, dataset, folder.events(), folder=folder, because=because)
        status = 130
    finally:
        line.close()
    if last is None or isinstance(last, RunFailed):
        print(f"tunescope: {getattr(last, 'sentence', 'nothing was run.')}", file=sys.stderr)
        return status or 1
    return give_result(last.results, plan, dataset, folder, given) or status


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

    exports, failed = export_all(lambda: finished_run(folder), given.export)
    if given.json:
        for remark in results["remarks"]:
            print(f"Note: {remark}", file=sys.stderr)
        whole = result_as_json(results, plan, dataset, folder, exports)
        print(json.dumps({**whole, **({"failed_exports": failed} if failed else {})}))
    else:
        print(result_in_words(results, plan))
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
        "run": folder.name,
        "dataset": {
            "rows": dataset.rows,
            "features": int(dataset.features.shape[1]),
            "task": dataset.task,
        },
        "model": plan.model,
        "strategy": plan.strategy,
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
