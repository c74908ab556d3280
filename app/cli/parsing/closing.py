"""What the help lists at its end: the names and defaults there are, read from the registries."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

_WIDTH = 98
_OF_EVERY_RUN = """
  metric=NAME            what the result is scored by (below)
  folds=N                folds of the cross-validation that scores a trial (default: {folds})
  time_limit=SECONDS     how long a trial may take (default: {limit})
  standardize=yes|no     whether models see standardized columns, where that matters to them
                         (default: {standardize})
  decoding=NAME          of sequences: {decodings} (default: {decoding})
  vocabulary=N           of topics: how many words count (default: {vocabulary})
  stop_words=NAME        of topics: auto, none, frequency, or a language: en, de, fr, es, it, pt,
                         nl, sv, da, pl, ru (default: {stop_words})
""".strip("\n")


def choices_in_words() -> str:
    """Models, strategies, options and metrics for `tune --help`."""
    from core.tuning.strategies.registry import STRATEGIES

    kinds = {
        kind: [one.name for one in STRATEGIES.values() if one.kind == kind]
        for kind in ("trials", "penalties")
    }
    return "\n\n".join(
        (
            "Models (tunescope models says more), by task:\n" + _listed(_models_by_task()),
            "Strategies (tunescope strategies says more, with their options and defaults):\n"
            + _listed(
                {"propose trials": kinds["trials"], "learn L2 penalties": kinds["penalties"]}
            ),
            "Options of every run, as --option KEY=VALUE:\n" + _options_of_every_run(),
            "Metrics, as --option metric=NAME. The first of a line is the usual one; where a class"
            " is rare,\nmistakes have costs or models are averaged, another is taken, and that is"
            " said:\n" + _listed(_metrics_by_task()),
            "Trials where neither --trials nor --minutes is given:\n" + _listed(_budgets()),
        )
    )


def reproductions_in_words() -> str:
    """The names that `reproduce` takes, each with its title."""
    from core.reproduction.registry import REPRODUCTIONS

    lines = []
    for one in REPRODUCTIONS.values():
        needs = " (needs --data)" if one.needs_data else ""
        lines.append(f"  {one.name}\n      {one.title}{needs}")
    return "The names:\n" + "\n".join(lines)


def places_in_words() -> str:
    """Where the program keeps what it keeps."""
    from core.tuning.history.store import history_path
    from core.tuning.runs.run_folder import runs_root

    return f"Runs are kept in {runs_root()}, the tuning history in {history_path()}."


def _options_of_every_run() -> str:
    from dataclasses import MISSING, fields

    from core.tuning.plan import DECODINGS, DataPlan, Plan

    known = {
        one.name: one.default
        for kind in (Plan, DataPlan)
        for one in fields(kind)
        if one.default is not MISSING
    }
    return _OF_EVERY_RUN.format(
        folds=known["folds"],
        limit="none" if known["time_limit"] is None else known["time_limit"],
        standardize="yes" if known["standardize"] else "no",
        decodings=" or ".join(DECODINGS),
        decoding=known["decoding"],
        vocabulary=known["vocabulary"],
        stop_words=known["stop_words"],
    )


def _models_by_task() -> dict[str, list[str]]:
    from core.estimators.registry import MODELS

    tasks = dict.fromkeys(task for model in MODELS.values() for task in model.tasks)
    return {task: [one.name for one in MODELS.values() if task in one.tasks] for task in tasks}


def _metrics_by_task() -> dict[str, list[str]]:
    from core.tuning.scores.metrics import METRICS, default_metric

    tasks = dict.fromkeys(task for metric in METRICS.values() for task in metric.tasks)
    found = {}
    for task in tasks:
        names = [name for name, metric in METRICS.items() if task in metric.tasks]
        usual = default_metric(task)
        found[task] = sorted(names, key=lambda name: name != usual)
    return found


def _budgets() -> dict[str, list[str]]:
    from core.tuning.strategies.registry import STRATEGIES

    found: dict[str, list[str]] = {}
    for one in STRATEGIES.values():
        if one.kind == "trials" and not one.several:
            found.setdefault(str(one.default_trials), []).append(one.name)
    return found


def _listed(named: Mapping[str, Iterable[str]]) -> str:
    """Lines "  name: a, b, c", equal lists on one line."""
    together: dict[str, list[str]] = {}
    for name, items in named.items():
        together.setdefault(", ".join(items), []).append(name)
    return "\n".join(
        textwrap.fill(
            f"{', '.join(names)}: {items}", _WIDTH, initial_indent="  ", subsequent_indent="      "
        )
        for items, names in together.items()
    )
