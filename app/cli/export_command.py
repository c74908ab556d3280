"""`tunescope export`: save a model of a past run."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from app.cli.parsing.tune_arguments import add_examples
from app.cli.terminal_text import setting_text, terminal_number
from core.errors import UnusableError
from core.records import JsonObject

if TYPE_CHECKING:
    from core.export.exportable_models import ExportableModel
    from core.tuning.runs.run_folder import RunFolder

OPTUNA = "optuna"


def add_to(commands: Any) -> None:
    """Add the command to the parser."""
    export = commands.add_parser(
        "export", help="save a model of a past run: the tuned one, or another"
    )
    export.add_argument("folder", metavar="RUN", help="a name that tunescope runs shows, or a path")
    export.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="where to; the ending says what (see tunescope tune --help). Without one, the models"
        " that there are to choose from are listed",
    )
    export.add_argument(
        "--which",
        default="tuned",
        metavar="tuned|default|baseline|TRIAL",
        help="which model: tuned (default), the default setting, the baseline (always the most"
        " frequent class, or the mean), or the number of a trial. Others than the tuned one are"
        " fitted now, and the run stays as it is",
    )
    export.add_argument(
        "--format",
        default="",
        metavar="NAME",
        help="what to write to --out, whatever its ending: one of the formats, or optuna, which is"
        " the whole run as a study, in a SQLite file or (.log) a journal; --out may then be a"
        " storage URL too",
    )
    export.add_argument("--out", default="", metavar="PATH", help="where to, with --format")
    add_examples(export)
    export.add_argument("--json", action="store_true", help="print as JSON")
    export.set_defaults(run=run_export)


def run_export(arguments: argparse.Namespace) -> int:
    """Export a model, or list those of the run; 1 where a file failed."""
    from core.export.exportable_models import TUNED, exportable_model, exportable_models
    from core.export.exporters import check_export, export_all
    from core.export.finished_run import finished_run
    from core.export.selected_run import with_selected_model
    from core.tuning.results.conclude import fit_best_again
    from core.tuning.runs.run_folder import RunFolder

    folder = RunFolder.open(arguments.folder)
    _check_format(arguments)
    if arguments.format == OPTUNA:
        return _export_study(folder, arguments)
    finished = finished_run(folder, arguments.examples)
    if not arguments.paths and not arguments.out:
        return _print_choices(exportable_models(finished.state), arguments.json)
    choice = exportable_model(finished.state, arguments.which)
    for path in arguments.paths:
        check_export(path, finished.takeaway.task, finished.plan.model, arguments.which)
    if arguments.out:
        about = finished.takeaway.task, finished.plan.model, arguments.which
        check_export(arguments.out, *about, arguments.format)
    if choice.name == TUNED and (refit_remark := fit_best_again(folder)):
        print(refit_remark, file=sys.stderr)
    exported_run = with_selected_model(finished, arguments.which)
    formats = {arguments.out: arguments.format} if arguments.out else {}
    written, failed = export_all(lambda: exported_run, [*arguments.paths, *formats], formats)
    if arguments.json:
        json_object = {"run": finished.name, **_as_json(choice), "exports": written}
        print(json.dumps({**json_object, **({"failed_exports": failed} if failed else {})}))
    else:
        print(f"{choice.title}{_score_text(choice)}. {choice.sentence}")
        for path in written:
            print(f"Saved:  {path}")
    for sentence in failed.values():
        print(f"tunescope: {sentence}", file=sys.stderr)
    return 1 if failed else 0


def _check_format(arguments: argparse.Namespace) -> None:
    if bool(arguments.format) != bool(arguments.out):
        present, missing = ("--format", "--out") if arguments.format else ("--out", "--format")
        raise UnusableError(f"{missing} is missing", where=present, cure=f"give {missing} as well")
    if arguments.format == OPTUNA and (arguments.paths or arguments.which != "tuned"):
        fault = "a study tells of the whole run, not of one model"
        raise UnusableError(fault, where="--format optuna", cure="give --out alone")


def _export_study(folder: RunFolder, arguments: argparse.Namespace) -> int:
    from core.export.optuna_study import export_study

    name = export_study(folder, arguments.out)
    if arguments.json:
        print(json.dumps({"run": folder.name, "study": name, "exports": [arguments.out]}))
    else:
        print(f"The run as the study “{name}” of Optuna.")
        print(f"Saved:  {arguments.out}")
    return 0


def _print_choices(choices: list[ExportableModel], as_json: bool) -> int:
    if as_json:
        print(json.dumps([_as_json(choice) for choice in choices]))
        return 0
    width = max(len(choice.name) for choice in choices)
    for choice in choices:
        setting = f": {setting_text(choice.setting)}" if choice.setting else ""
        print(f"{choice.name:>{width}}  {choice.title}{_score_text(choice)}{setting}")
    return 0


def _score_text(choice: ExportableModel) -> str:
    scores = []
    if choice.validation is not None:
        scores.append(f"validation {choice.judged_by} {terminal_number(choice.validation)}")
    if choice.test.get(choice.metric) is not None:
        scores.append(f"test {choice.metric} {terminal_number(choice.test[choice.metric])}")
    return f" ({', '.join(scores)})" if scores else ""


def _as_json(choice: ExportableModel) -> JsonObject:
    validation = {} if choice.validation is None else {choice.judged_by: choice.validation}
    return {
        "which": choice.name,
        "sentence": choice.sentence,
        "params": choice.setting,
        "validation": validation,
        "test": choice.test,
    }
