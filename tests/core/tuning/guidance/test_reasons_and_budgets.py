"""What a strategy gives as its reason never contradicts the budget, whatever the budget is."""

import itertools
import re

import pytest

from core.estimators.facts import ModelingFacts
from core.estimators.registry import MODELS
from core.tuning.strategies.registry import STRATEGIES

TRIALS = (1, 5, 11, 25, 40, 50, 125, 625, 100_000)
MINUTES = (0.1, 1.0, 5.0, 60.0, 600.0)
BUDGETS = [(n, None) for n in TRIALS] + [(None, m) for m in MINUTES] + [(25, 1.0), (625, 0.1)]
COUNTED = re.compile(r"([\d,]+|one|two|eleven) trials?\b")
LONG, SHORT = re.compile(r"\b(many|more|hundreds of) trials|\bhours?\b"), re.compile(
    r"\b(few|fewer|far fewer|very few) trials|\bfar fewer\b|\bat once\b"
)  # fmt: skip


def contradictions(reason, trials, minutes):
    """What a reason says of the number of trials or the time that a budget does not allow."""
    found = [
        said.group(0)
        for said in COUNTED.finditer(reason)
        if minutes is not None or not said.group(1).replace(",", "").isdecimal()
        or (trials is not None and int(said.group(1).replace(",", "")) != trials)
    ]  # fmt: skip
    short = (trials or 0) <= 40 or (minutes or 10) <= 5
    if short and (said := LONG.search(reason)):
        found.append(said.group(0))
    if ((trials or 0) > 40 or (minutes or 0) >= 5) and (said := SHORT.search(reason)):
        found.append(said.group(0))
    if minutes is not None and (said := re.search(r"\bminutes?\b", reason)):
        found.append(said.group(0))
    return found


def facts():
    sizes = itertools.product((30, 300, 3000, 300_000), (1, 13, 500), (0, 2, 7))
    for rows, columns, classes in sizes:
        task = {0: "regression", 2: "binary"}.get(classes, "multiclass")
        for groups in ((), ("blood", "age")):
            yield ModelingFacts(
                task, rows, columns, columns, classes, int(0.7 * rows), rows, False, groups
            )
    for task in ("sequence", "structure", "topics"):
        yield ModelingFacts(task, 500, 9, 9, 5, 400, 400, False, (), items="500 items", words=900)


def reasons():
    """Every reason that can be shown beside a budget: of strategies, and of models."""
    found = set()
    for fact in facts():
        for model in MODELS.values():
            if fact.task not in model.tasks:
                continue
            space = model.space_of(fact.task, rare=fact.rare)
            said = [model.suggests(fact)]
            said += [one.suggests(fact, space) for one in STRATEGIES.values()]
            found |= {one.reason for one in said if one is not None}
    return sorted(found)


def test_reasons_were_found():
    assert len(reasons()) > 20
    grid = "A grid of five values each would need 25 trials; a process needs far fewer."
    assert contradictions(grid, 40, None) == ["25 trials", "far fewer"] or contradictions(
        grid, 40, None
    ) == ["25 trials"]
    assert contradictions("It takes many trials.", None, 1.0) == ["many trials"]


@pytest.mark.parametrize(("trials", "minutes"), BUDGETS)
def test_no_reason_contradicts_a_budget(trials, minutes):
    wrong = {one: said for one in reasons() if (said := contradictions(one, trials, minutes))}
    assert wrong == {}
