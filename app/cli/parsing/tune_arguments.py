"""The arguments of `tunescope tune`."""

from __future__ import annotations

import argparse
from typing import Any

from app.cli import cluster_options
from app.cli.parsing.help_epilog import choices_text
from core.tuning.patience import DEFAULT_PATIENCE


def add_to(commands: Any) -> argparse.ArgumentParser:
    """Add the command to the parser; the caller sets `run`."""
    tune = commands.add_parser("tune", help="tune a model on a file", closing=choices_text)
    add = tune.add_argument
    named: dict[str, Any] = {"default": "", "metavar": "NAME"}
    repeated: dict[str, Any] = {"action": "append", "default": []}
    add_columns(tune)
    add("--model", **named, help="which model (below; default: what suits the data)")
    add("--strategy", **named, help="which way of tuning (below; default: what suits the model)")
    add(
        "--option",
        **repeated,
        metavar="KEY=VALUE",
        help="an option of the strategy (see tunescope strategies), or one of those below; may be"
        " given again",
    )
    add(
        "--groups",
        default="",
        metavar="prefix|each|column|single|FILE.json|JSON",
        help='which columns share one penalty; JSON such as {"blood": ["iron", "salt"]} (default:'
        " single, or what is recommended)",
    )
    add("--trials", type=int, metavar="N", help="how many trials at most (default: below)")
    help_text = "how long at most (default: no limit; for auto a few minutes, by the rows)"
    add("--minutes", type=float, metavar="M", help=help_text)
    add(
        "--patience",
        type=int,
        metavar="N",
        help="stop when N trials in a row improve nothing; 0 for never (default: what suits the"
        f" strategy, for most of them {DEFAULT_PATIENCE})",
    )
    add(
        "--range",
        **repeated,
        metavar="SETTING=FROM:TO",
        help="search a setting of the model over this range, for example C=0.01:100; may be given"
        " again for another one",
    )
    add(
        "--fix",
        **repeated,
        metavar="SETTING=VALUE",
        help="do not search a setting of the model but take this value, for example gamma=0.1; may"
        " be given again",
    )
    add("--seed", type=int, default=0, metavar="K", help="of everything random (default: 0)")
    add(
        "--rows",
        type=_parse_row_count,
        metavar="N|all",
        help="read at most N rows of each file, drawn at random with the seed, or all (default: as"
        " many as fit into memory)",
    )
    add("--rows-seed", type=int, metavar="K", help="of that draw alone (default: that of --seed)")
    help_text = "of the file of --test (default: --rows)"
    add("--test-rows", type=_parse_row_count, metavar="N|all", help=help_text)
    testing = tune.add_mutually_exclusive_group()
    testing.add_argument("--test", default="", metavar="FILE", help="a second file to test on")
    help_text = "share of rows held out (default: 0.3, at most some 10,000 rows)"
    testing.add_argument("--test-size", type=float, metavar="SHARE", help=help_text)
    add(
        "--evaluation",
        choices=("auto", "test", "nested"),
        default="auto",
        help="how the result is judged: by one test set, or by nested cross-validation, in which"
        " every row is tested once and the tuning is done 5 times more (default: nested for"
        " penalty learners on tables of fewer than 1,000 rows)",
    )
    add(
        "--no-refit",
        dest="refit",
        action="store_false",
        help="keep exactly the model that was tested; otherwise the model is fitted on all rows"
        " once it has been tested",
    )
    add(
        "--mistake-costs",
        **repeated,
        metavar="CLASS=COST,CLASS=COST",
        help="for two classes: what it costs to call a row of each class the other one, for"
        " example healthy=1,sick=5; the threshold between them is chosen by it",
    )
    help_text = "test on the rows that are the latest by this column of dates"
    add("--test-latest", default="", metavar="COLUMN", help=help_text)
    help_text = "keep equal rows, and molecules of one family, on one side of every split"
    add("--together", action=argparse.BooleanOptionalAction, default=True, help=help_text)
    help_text = "use columns that leak the target (for one of them: --role COLUMN=feature)"
    add("--leaks", action=argparse.BooleanOptionalAction, default=False, help=help_text)
    help_text = "for molecules: read letters that are no bases as N, a base that is not known"
    add("--other-letters", action="store_true", help=help_text)
    add(
        "--gamma",
        default="",
        metavar="NUMBER|best|sensitivity=SHARE",
        help="for molecules: how much a base pair counts beside an unpaired base (default: 4); best"
        " F1, or finding a share of the true pairs, on training molecules held out",
    )
    help_text = (
        "trials at a time (default: 1; of several models in some minutes one a processor; on a"
        " cluster as many as it has threads)"
    )
    add("--workers", type=int, metavar="N", help=help_text)
    add_memory(tune)
    cluster_options.add_to(tune)
    add("--events", metavar="FILE.jsonl", help="write every event there as well")
    add("--run-dir", metavar="DIR", help="the folder of this run (default: a new one)")
    add_ending(tune)
    return tune


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Add the option about the memory of a process."""
    help_text = "that each process of trials may take, for example 2GB; a fit that needs more fails"
    help_text += " (on Linux; default: a quarter of what is free)"
    parser.add_argument("--memory", default="", metavar="SIZE", help=help_text)


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the file and what a person says of its columns."""
    add = parser.add_argument
    repeated: dict[str, Any] = {"action": "append", "default": []}
    add(
        "file",
        metavar="FILE",
        help="a table (CSV, Excel, OpenDocument, Parquet, Feather, ARFF), a LIBSVM file, or"
        " sample:NAME; book.xlsx#SHEET for a sheet of a workbook",
    )
    add("--target", default="", metavar="COL", help="the column to predict")
    add(
        "--task",
        metavar="NAME",
        help="regression, binary, multiclass, sequence, structure, or topics: those of the texts"
        " in the column of --target (default: detected in the file)",
    )
    add(
        "--role",
        **repeated,
        metavar="COLUMN=ROLE",
        help="what a column is for: feature, ignore, or group (its equal values stay on one side"
        " of every split); may be given again for another column",
    )
    help_text = "what a column holds: number, category, yes/no or date; may be given again"
    add("--kind", **repeated, metavar="COLUMN=KIND", help=help_text)
    add(
        "--reading",
        **repeated,
        metavar="COLUMN=WORD",
        help="how its cells are read: missing or values (NA, None and the like), number or text,"
        " comma or point (before decimals), day first or month first, any case (Berlin is berlin);"
        " may be given again",
    )


def _parse_row_count(text: str) -> int:
    if text == "all":
        return 0
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"“{text}” is neither a number of rows nor all")
    return int(text)


def add_ending(parser: argparse.ArgumentParser) -> None:
    """Add the options about the result."""
    parser.add_argument(
        "--export",
        action="append",
        default=[],
        metavar="PATH",
        help="save the result: .skops .joblib .onnx .json .py .html; for sequences and molecules "
        ".npz .json .py .html; for topics and deep latent Gaussian models .zip .json .html; of any "
        "run .db or .log, all its trials as a study of Optuna",
    )
    add_examples(parser)
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")


def add_examples(parser: argparse.ArgumentParser) -> None:
    """Add the option that keeps data values out of exports."""
    parser.add_argument(
        "--without-examples",
        dest="examples",
        action="store_false",
        help="keep rows, words and values of the data out of report, JSON and script; models keep"
        " the categories and words that they need to predict",
    )
