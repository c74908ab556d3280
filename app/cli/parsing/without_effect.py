"""Options that change nothing in a run, said in a sentence each."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.tuning.problem import Problem


def without_effect(given: argparse.Namespace, problem: Problem) -> list[str]:
    """What was asked for and changes nothing here.

    Args:
        given: the arguments of `tunescope tune`.
        problem: the run that they ask for.
    """
    strategy, task = problem.strategy, problem.dataset.task
    own = {option.name for option in strategy.options}
    named = {text.partition("=")[0].strip() for text in given.option}
    asked = named - own
    found = {}
    if strategy.kind == "penalties":
        bound = next((name for name in ("max_steps", "steps") if name in own), "")
        cure = f"; --option {bound}=N bounds its steps" if bound else ""
        why = f"{strategy.name} learns penalties and makes no trials"
        if given.trials is not None:
            found["--trials"] = why + cure
        learned = f"{strategy.name} learns the penalty and searches no ranges"
        found |= {f"--{name}": learned for name in ("range", "fix") if getattr(given, name)}
        if given.patience is not None:
            found["--patience"] = why
        if given.workers not in (None, 1):
            found["--workers"] = why
        if given.cluster:
            found["--cluster"] = f"{strategy.name} is one fit, which is made on this computer"
        found |= {f"--option {name}": why for name in ("folds", "time_limit") if name in asked}
        if "counts" in named & own and task not in ("sequence", "structure"):
            found["--option counts"] = "every weight of a table counts"
    elif given.groups:
        found["--groups"] = f"{strategy.name} tunes settings and learns no penalties of groups"
    if "standardize" in asked and not (problem.model.scaled or strategy.several):
        found["--option standardize"] = f"{problem.model.name} takes columns as they are"
    if "decoding" in asked and task != "sequence":
        found["--option decoding"] = "only sequences are decoded"
    if given.gamma and task != "structure":
        found["--gamma"] = "only molecules have base pairs to weigh"
    if given.test_size is not None and problem.outer:
        found["--test-size"] = "in nested cross-validation every row tests once"
    return [f"{option} has no effect: {why}." for option, why in found.items()]
