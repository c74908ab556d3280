"""The first lines of the script export: what it does, what it needs, how it was made."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from core.estimators.facts import uncapitalized
from core.estimators.optional_parts import OPTIONAL_PARTS
from core.estimators.registry import MODELS
from core.estimators.settings import own_setting
from core.export.average import members_of, told_model
from core.export.choices import BASELINE, DEFAULT, TUNED
from core.export.finished_run import FinishedRun, score_said
from core.export.script.reading import packages_of
from core.space import Setting


def docstring(run: FinishedRun, settings: Sequence[Setting], *, carries: bool) -> str:
    """What the program says of itself, as its first lines.

    Args:
        run: that it reproduces.
        settings: of every model that it builds.
        carries: whether the source of a model stands in it.
    """
    kinds = (MODELS[own_setting(run.plan.model, setting)[0]] for setting in settings)
    extras = dict.fromkeys(kind.extra for kind in kinds if kind.extra)
    own = [module for extra in extras for module in OPTIONAL_PARTS[extra].modules]
    sources = [one for one in (run.takeaway.source, run.takeaway.test_source) if one]
    libraries = [*own, "scikit-learn", "numpy", "pandas", *packages_of(sources)]
    needed = f"{', '.join(libraries[:-1])} and {libraries[-1]}"
    usage = f"It needs {needed}. Run it with the data file as its argument."
    if carries:
        model = "The model" if len(members_of(run)) < 2 else "Not every model"
        no = "no" if len(members_of(run)) < 2 else "a"
        usage += f" {model} is {no} class of scikit-learn's own: its source stands below."
    versions = ", ".join(f"{name} {version}" for name, version in run.takeaway.versions.items())
    made = f"Made with {versions}."
    first, *others = [*(_said_of_tuned(run) if run.which == TUNED else _said_of_chosen(run)), usage]
    paragraphs = (first, *(textwrap.fill(words, 96) for words in (*others, made)))
    return '"""' + _in_docstring("\n\n".join(paragraphs)) + '\n"""'


def _said_of_tuned(run: FinishedRun) -> list[str]:
    metric, test = run.results["metric"], run.results["test"]
    default = run.results.get("default_test", {})
    model = told_model(run)
    first = (
        f"{model}{',' if ',' in model else ''} for {run.takeaway.dataset}, as Tunescope tuned it."
    )
    body = _what_it_does(run) + f"{score_said(test[metric])} tuned"
    if metric in default:
        body += f", {score_said(default[metric])} with the default setting"
    body += "."
    if run.takeaway.refitted:
        body += " Then it fits the tuned model on all rows."
    body += _of_drawn_rows(run)
    return [first, body]


def _said_of_chosen(run: FinishedRun) -> list[str]:
    metric, chosen = run.results["metric"], chosen_name(run)
    kind = "" if run.which == BASELINE else f", {uncapitalized(run.kind)}"
    first = f"{chosen[0].upper()}{chosen[1:]} of a Tunescope run on {run.takeaway.dataset}{kind}."
    body = _what_it_does(run).replace("the tuned model", "this model").removesuffix(": ")
    if run.nested and metric not in run.results["test"]:
        body = "It reads the file and fits this model on all rows"
    if metric in run.results["test"]:
        body += f": {score_said(run.results['test'][metric])}"
    last = " Then it fits the model on all rows." if run.takeaway.refitted else ""
    last += _of_drawn_rows(run)
    return [first, f"{body}.{last} {run.results['remarks'][0]}"]


def _of_drawn_rows(run: FinishedRun) -> str:
    """That the rows are some of a larger file, and what the program's own model learned beyond."""
    about = run.takeaway.sampled
    if not about:
        return ""
    said = (
        f" The rows are {about['rows']:,} of the file's {about['of']:,}, drawn at random with the"
    )
    said += f" seed {about['seed']}, as Tunescope drew them."
    if run.takeaway.taught:
        said += (
            f" Tunescope's own model then learned from {run.takeaway.taught:,} others of the file"
            " in parts; this program leaves that out."
        )
    return said


def chosen_name(run: FinishedRun) -> str:
    """What was chosen instead of the tuned model."""
    return {DEFAULT: "default setting", BASELINE: "baseline"}.get(run.which, f"trial {run.which}")


def _what_it_does(run: FinishedRun) -> str:
    metric = run.results["metric"].replace("_", " ")
    if run.nested:
        return (
            f"It reads the file and fits the tuned model on all rows. The {metric} that Tunescope "
            "measured, with every row tested once by a model that was tuned and fitted without it "
            "(nested cross-validation): "
        )
    return (
        f"It reads the file, holds the same {len(run.takeaway.test_rows):,} rows out for the test, "
        f"trains on the others and prints the {metric} on the test rows: "
    )


def _in_docstring(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', "'''")
