"""The models that are tuned together on a dataset: which fit it, and the problem of each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from core.datasets.dataset import Dataset
from core.errors import UnusableError
from core.estimators.facts import ENOUGH_ROWS
from core.estimators.registry import MODELS, model_named
from core.estimators.several import MODEL, choosable, of_model
from core.options import complete
from core.space import Axis, Setting, default_setting
from core.tuning.strategies.registry import STRATEGIES

if TYPE_CHECKING:
    from core.tuning.problem import Problem

LONGEST_MINUTES = 10.0
_MINUTES = ((3e4, 1.0), (3e5, 2.0), (3e6, 5.0))  # of tables with so many values at most
SPREAD = 2  # trials of a model that are spread evenly, after its default and known starts
MOST_DENSE = 4e8  # bytes of a sparse table that is filled in, so that every model takes it


def stays_sparse(dataset: Dataset) -> bool:
    """Whether the columns stay a sparse matrix, which not every model takes."""
    if dataset.matrix is None:
        return False
    rows, columns = dataset.matrix.shape
    return 8.0 * rows * columns > MOST_DENSE


def usual_minutes(dataset: Dataset) -> float:
    """How long several models are tuned where nobody said: 1 to 10 minutes, by the table's size."""
    rows, columns = dataset.features.shape
    size = rows * columns * max(1, len(dataset.classes) - 1)
    return next((minutes for most, minutes in _MINUTES if size <= most), LONGEST_MINUTES)


def contenders_of(problem: Problem) -> tuple[str, ...]:
    """The names of the models that are tuned together, in the order of the registry.

    Raises:
        UnusableError: no model fits the data.
    """
    sparse = stays_sparse(problem.dataset)
    found = tuple(
        name
        for name in choosable(MODELS, problem.dataset.task)
        if MODELS[name].takes_sparse or not sparse
    )
    if not found:
        raise UnusableError(
            f"there is no model for this task ({problem.dataset.task})", where="option model"
        )
    return found


def space_of_several(problem: Problem) -> tuple[Axis, ...]:
    """The one axis that all models share: which of them it is."""
    names = contenders_of(problem)
    usual = _usual(problem, names)
    return (Axis(MODEL, "Model", "choice", choices=names, default=usual),)


def default_of_several(problem: Problem) -> Setting:
    """The default setting of the model that would be taken without a look at any score."""
    usual = _usual(problem, contenders_of(problem))
    return of_model(usual, alone(problem, usual).default)


def alone(problem: Problem, name: str) -> Problem:
    """The problem of one of the models: the same rows and metric, its own space and strategy."""
    search = STRATEGIES[str(problem.options["search"])]
    model = model_named(name, probabilities=problem.model.probabilistic is None)
    plan = problem.plan.changed(model=name, strategy=search.name, options={})
    given: dict[str, int] = {}
    if any(option.name == "start_trials" for option in search.options):
        # The default and the known starts come first: few more are spread before scores decide.
        task = problem.dataset.task
        known = model.starts(task, default_setting(model.space(task)))
        given["start_trials"] = 1 + len(known) + SPREAD
    options = complete(search.options, given)
    return replace(problem, plan=plan, model=model, strategy=search, options=options, axes=())


def starts_of(problem: Problem) -> list[Setting]:
    """Whole settings of a model that are tried after its default, within its space."""
    default, axes = problem.default, {axis.name: axis for axis in problem.space}
    found = []
    for start in problem.model.starts(problem.dataset.task, default):
        setting = {**default, **{name: value for name, value in start.items() if name in axes}}
        if setting != default and setting not in found:
            found.append(setting)
    return found


def _usual(problem: Problem, names: tuple[str, ...]) -> str:
    many = len(problem.train_rows) >= ENOUGH_ROWS
    order = ("boosting", "forest") if many else ("logistic", "linear")
    return next((name for name in (*order, "logistic", "linear") if name in names), names[0])
