"""The docstring of an exported script: its purpose, its requirements, its origin."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from core.estimators.facts import uncapitalized
from core.estimators.model_settings import model_and_values
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES
from core.estimators.registry import MODELS
from core.export.ensemble_members import members_of, model_noun
from core.export.exportable_models import BASELINE, DEFAULT, TUNED
from core.export.finished_run import FinishedRun, score_text
from core.export.script.reading_code import packages_of
from core.space import Setting


def docstring(run: FinishedRun, settings: Sequence[Setting], *, carries: bool) -> str:
    """The docstring of a script with models of these settings; `carries`: with their source."""
    kinds = (MODELS[model_and_values(run.plan.model, setting)[0]] for setting in settings)
    extras = dict.fromkeys(kind.extra for kind in kinds if kind.extra)
    extra_modules = [module for extra in extras for module in OPTIONAL_DEPENDENCIES[extra].modules]
    sources = [source for source in (run.takeaway.source, run.takeaway.test_source) if source]
    libraries = [*extra_modules, "scikit-learn", "numpy", "pandas", *packages_of(sources)]
    needed_text = f"{', '.join(libraries[:-1])} and {libraries[-1]}"
    usage = f"It needs {needed_text}. Run it with the data file as its argument."
    if carries:
        model = "The model" if len(members_of(run)) < 2 else "Not every model"
        no = "no" if len(members_of(run)) < 2 else "a"
        usage += f" {model} is {no} class of scikit-learn's own: its source is below."
    versions = ", ".join(f"{name} {version}" for name, version in run.takeaway.versions.items())
    versions_text = f"Made with {versions}."
    first, *body = [
        *(_tuned_model_text(run) if run.selected_name == TUNED else _selected_model_text(run)),
        usage,
    ]
    paragraphs = (first, *(textwrap.fill(words, 96) for words in (*body, versions_text)))
    return '"""' + _in_docstring("\n\n".join(paragraphs)) + '\n"""'


def _tuned_model_text(run: FinishedRun) -> list[str]:
    metric, test = run.results.metric, run.results.test
    default = run.results.default_test
    model = model_noun(run)
    first = (
        f"{model}{',' if ',' in model else ''} for {run.takeaway.dataset}, as Tunescope tuned it."
    )
    body = _task_text(run) + f"{score_text(test[metric])} tuned"
    if metric in default:
        body += f", {score_text(default[metric])} with the default setting"
    body += "."
    if run.takeaway.refitted:
        body += " Then it fits the tuned model on all rows."
    body += _sampled_rows_text(run)
    return [first, body]


def _selected_model_text(run: FinishedRun) -> list[str]:
    metric, model_text = run.results.metric, selection_text(run)
    kind = "" if run.selected_name == BASELINE else f", {uncapitalized(run.model_title)}"
    title = f"{model_text[0].upper()}{model_text[1:]}"
    first = f"{title} of a Tunescope run on {run.takeaway.dataset}{kind}."
    body = _task_text(run).replace("the tuned model", "this model").removesuffix(": ")
    if run.is_nested and metric not in run.results.test:
        body = "It reads the file and fits this model on all rows"
    if metric in run.results.test:
        body += f": {score_text(run.results.test[metric])}"
    last = " Then it fits the model on all rows." if run.takeaway.refitted else ""
    last += _sampled_rows_text(run)
    return [first, f"{body}.{last} {run.results.remarks[0]}"]


def _sampled_rows_text(run: FinishedRun) -> str:
    sample = run.takeaway.sampled
    if not sample:
        return ""
    counts = f"{sample.rows:,} of the file's {sample.of:,}"
    sentences = f" The rows are {counts}, drawn at random with the seed {sample.seed}, as"
    sentences += " Tunescope drew them."
    if run.takeaway.taught:
        sentences += (
            f" Tunescope's own model then learned from {run.takeaway.taught:,} others of the file"
            " in parts; this program leaves that out."
        )
    return sentences


def selection_text(run: FinishedRun) -> str:
    """The selected model, other than the tuned one."""
    name = run.selected_name
    return {DEFAULT: "default setting", BASELINE: "baseline"}.get(name, f"trial {name}")


def _task_text(run: FinishedRun) -> str:
    metric = run.results.metric.replace("_", " ")
    if run.is_nested:
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
