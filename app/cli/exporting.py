"""`tunescope export`: save a model of a past run, the tuned one or another."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from app.cli.parsing.tune_arguments import add_examples
from app.cli.words import number, setting_in_words
from core.errors import UnusableError

if TYPE_CHECKING:
    from core.export.choices import Choice
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
        help="which model: tuned (default), the default setting, the baseline, which knows nothing"
        " of the columns, or the number of a trial. Others than the tuned one are fitted now, and"
        " the run stays as it is",
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
    export.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Export, or list what there is; 1 where a file failed."""
    from core.export.choices import TUNED, choice_named, choices
    from core.export.chosen import chosen_run
    from core.export.exporters import check_export, export_all
    from core.export.finished_run import finished_run
    from core.tuning.results.conclude import fit_best_again
    from core.tuning.runs.run_folder import RunFolder

    folder = RunFolder.open(given.folder)
    _check_format(given)
    if given.format == OPTUNA:
        return _study(folder, given)
    finished = finished_run(folder, given.examples)
    if not given.paths and not given.out:
        return _list(choices(finished.state), given.json)
    choice = choice_named(finished.state, given.which)
    for path in given.paths:
        check_export(path, finished.takeaway.task, finished.plan.model, given.which)
    if given.out:
        about = finished.takeaway.task, finished.plan.model, given.which
        check_export(given.out, *about, given.format)
    if choice.name == TUNED and (again := fit_best_again(folder)):
        print(again, file=sys.stderr)
    made = chosen_run(finished, given.which)
    formats = {given.out: given.format} if given.out else {}
    written, failed = export_all(lambda: made, [*given.paths, *formats], formats)
    if given.json:
        said = {"run": finished.name, **_as_json(choice), "exports": written}
        print(json.dumps({**said, **({"failed_exports": failed} if failed else {})}))
    else:
        print(f"{choice.title}{_scores(choice)}. {choice.sentence}")
        for path in written:
            print(f"Saved:  {path}")
    for sentence in failed.values():
        print(f"tunescope: {sentence}", file=sys.stderr)
    return 1 if failed else 0


def _check_format(given: argparse.Namespace) -> None:
    """See that --format and --out come together, and that a study is of the whole run.

    Raises:
        UnusableError: they do not.
    """
    if bool(given.format) != bool(given.out):
        there, lacking = ("--format", "--out") if given.format else ("--out", "--format")
        raise UnusableError(f"{lacking} is missing", where=there, cure=f"give {lacking} as well")
    if given.format == OPTUNA and (given.paths or given.which != "tuned"):
        raise UnusableError(
            "a study tells of the whole run, not of one model",
            where="--format optuna",
            cure="give --out alone",
        )


def _study(folder: RunFolder, given: argparse.Namespace) -> int:
    """Write the run as a study of Optuna."""
    from core.export.optuna_study import export_study

    name = export_study(folder, given.out)
    if given.json:
        print(json.dumps({"run": folder.name, "study": name, "exports": [given.out]}))
    else:
        print(f"The run as the study “{name}” of Optuna.")
        print(f"Saved:  {given.out}")
    return 0


def _list(found: list[Choice], as_json: bool) -> int:
    if as_json:
        print(json.dumps([_as_json(choice) for choice in found]))
        return 0
    width = max(len(choice.name) for choice in found)
    for choice in found:
        setting = f": {setting_in_words(choice.setting)}" if choice.setting else ""
        print(f"{choice.name:>{width}}  {choice.title}{_scores(choice)}{setting}")
    return 0


def _scores(choice: Choice) -> str:
    """What is known of it, in brackets: its score in validation, and on the test set."""
    known = []
    if choice.validation is not None:
        known.append(f"validation {choice.judged_by} {number(choice.validation)}")
    if choice.test.get(choice.metric) is not None:
        known.append(f"test {choice.metric} {number(choice.test[choice.metric])}")
    return f" ({', '.join(known)})" if known else ""


def _as_json(choice: Choice) -> dict[str, Any]:
    validation = {} if choice.validation is None else {choice.judged_by: choice.validation}
    return {
        "which": choice.name,
        "sentence": choice.sentence,
        "params": choice.setting,
        "validation": validation,
        "test": choice.test,
    }
