"""The type of the entries of the registry of models."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from core.datasets.dataset_summary import Categories
from core.datasets.task import TABLE_TASKS, TASKS, Task
from core.estimators.facts import ModelingFacts, Suggestion
from core.estimators.optional_parts import OPTIONAL_DEPENDENCIES
from core.estimators.recipe import (
    CLASS_WEIGHT,
    Recipe,
    RecipeFactory,
    build_from_recipe,
    script_from_recipe,
    weights_of,
    with_probabilities,
)
from core.extensions import check_kind
from core.space import Axis, Setting

Axes = tuple[Axis, ...]
AxesOf = Axes | Callable[[str], Axes]  # the same for every task, or by task


@dataclass(frozen=True)
class FitSize:
    """The size of a fit: its rows and prepared columns, and the classes, 0 where numbers are."""

    rows: int
    columns: int
    classes: int


@dataclass(frozen=True)
class Model:
    """One kind of model, an entry of the registry."""

    name: str  # on the command line
    title: str  # in the window: "Support vector machine"
    good_for: str  # when to choose it, one or two plain sentences
    cost: str  # one plain sentence
    tasks: tuple[str, ...]
    space: Callable[[str], tuple[Axis, ...]]  # by task; defaults are scikit-learn's own
    build: Callable[[str, Setting, int], Any]  # (task, setting, seed) -> unfitted estimator
    loss: dict[str, str]  # {task: loss that penalty learners use}
    takes_sparse: bool  # without making CSR matrices dense
    scaled: bool  # whether it needs standardized columns
    # (task, setting, seed) -> (import lines, constructor expression) of the exported script
    script: Callable[[str, Setting, int], tuple[str, str]]
    # (task, prepared training columns) -> the default values that depend on the data
    defaults: Callable[[str, Any], Setting] | None = None
    most: Callable[[int], dict[str, float]] | None = (
        None  # (training rows) -> {axis: largest value}
    )
    simplex: tuple[str, ...] = ()  # axes whose values count only as shares of their sum
    probabilistic: Model | None = None  # the variant with probabilities, where `build` has none
    # (fitted estimator, training rows, targets) -> log likelihood in nats a row, or a word
    training_score: Callable[[Any, Any, Any], float] | None = None
    extra: str = ""  # the optional part that it needs (core.estimators.optional_parts)
    compiled: bool = False  # whether numba compiles its loops
    rare: bool = False  # whether its card is folded under "More"
    class_weights: bool = False  # whether its classifier takes `class_weight`
    noun: str = ""  # in a sentence: "a support vector machine"; "" for the title
    # (facts) -> a reason to take it, and one plain sentence against it
    suggests: Callable[[ModelingFacts], Suggestion | None] = lambda facts: None
    warns: Callable[[ModelingFacts], str] = lambda facts: ""
    # whether categories become a column a level, or, where these are many, means of the target
    categories: Categories = "means"
    minibatch: int = 1  # documents a learning step; fewer are refused
    shows: Literal["", "topics", "pictures"] = ""  # what every trial shows of the fitted model
    folder: Literal["", "topics", "classes"] = ""  # what the exported folder predicts
    # the module with its `CARRIER` (core.export.bundle.carrier), where files hold it as arrays
    carrier: str = ""
    costly: bool = False  # a fit may take an hour: members of averages are not fitted again
    # Types inside an extension's fitted estimator that are not on the list of allowed types. They
    # must run nothing when a file makes them: files may come from strangers.
    holds: tuple[str, ...] = ()
    competes: bool = True  # whether it is tuned together with other models
    # (task, default setting) -> settings tried after the default among several models
    starts: Callable[[str, Setting], tuple[Setting, ...]] = lambda task, default: ()
    growth: float = 1.0  # the power of the rows with which a fit takes longer
    # (size, setting) -> the bytes that a fit takes beyond those of the rows, about, where these may
    # be many
    fit_bytes: Callable[[FitSize, Setting], float] = lambda size, setting: 0.0
    dearer: tuple[str, ...] = ()  # axes in proportion to which a fit takes longer
    complexity: int = 5  # from 1, weights that can be read, to 9
    # of several models the first one by this rank is the default, from so many training rows
    default_rank: int = 9
    default_rows: int = 0
    recipe: RecipeFactory | None = None  # what `build` and `script` come from, where one gives both

    @classmethod
    def of_recipe(cls, make_recipe: RecipeFactory, axes: AxesOf, **description: Any) -> Model:
        """A model whose estimator and exported script come from one recipe.

        Of the other fields, `description`, `starts` may be the settings themselves; `tasks` are
        those of tables, and `loss`, `takes_sparse` and `scaled` none where not given.
        """
        starts = description.get("starts", ())
        if not callable(starts):
            description["starts"] = lambda task, default: starts
        usual: dict[str, Any] = {
            "tasks": TABLE_TASKS,
            "loss": {},
            "takes_sparse": False,
            "scaled": False,
        }
        return cls(
            space=_by_task(axes),
            build=build_from_recipe(make_recipe),
            script=script_from_recipe(make_recipe),
            recipe=make_recipe,
            **(usual | description),
        )

    @classmethod
    def of_sklearn(
        cls,
        classes: str | tuple[str, str],
        axes: AxesOf,
        constants: Callable[[int], dict[str, Any]] = lambda seed: {},
        wrap: Callable[[str, Recipe], Recipe] = lambda task, recipe: recipe,
        **description: Any,
    ) -> Model:
        """A model that is a class of scikit-learn's kind, its axes arguments of the constructor.

        Args:
            classes: "module.Class", or those of the classifier and of the regressor.
            axes, description: as of `of_recipe`.
            constants: seed -> the arguments that are not tuned, in order after those that are.
            wrap: (task, recipe) -> the recipe of what the estimator stands in.
        """

        def make_recipe(task: str, setting: Setting, seed: int) -> Recipe:
            path = classes if isinstance(classes, str) else classes[Task(task).has_numbers]
            module, _, name = path.rpartition(".")
            values = axis_values(_by_task(axes)(task), setting)
            return wrap(task, Recipe(module, name, values | constants(seed) | weights_of(setting)))

        return cls.of_recipe(make_recipe, axes, **description)

    def with_calibration(self, **changes: Any) -> Model:
        """The model with a probabilistic variant and `changes`, for classifiers of scores alone."""
        make_recipe = self.recipe
        if make_recipe is None:
            raise ValueError(f"{self.name} has no recipe")

        # Calibration costs more fits, so that only who needs probabilities takes this variant.
        def make_calibrated(task: str, setting: Setting, seed: int) -> Recipe:
            recipe = make_recipe(task, setting, seed)
            return recipe if Task(task).has_numbers else with_probabilities(recipe, seed)

        changes |= {"recipe": make_calibrated, "build": build_from_recipe(make_calibrated)}
        changes["script"] = script_from_recipe(make_calibrated)
        return replace(self, probabilistic=replace(self, **changes))

    @property
    def known_tasks(self) -> tuple[Task, ...]:
        """Its tasks without those that an extension names for a later version."""
        return tuple(Task(task) for task in self.tasks if task in TASKS)

    def space_of(self, task: str, *, rare: bool = False) -> tuple[Axis, ...]:
        """The search space, with class weights where a class is rare."""
        weighs = rare and self.class_weights and Task(task).is_classification
        return (*self.space(task), CLASS_WEIGHT) if weighs else self.space(task)


def _by_task(axes: AxesOf) -> Callable[[str], Axes]:
    return axes if callable(axes) else lambda task: axes


def axis_values(axes: Axes, setting: Setting) -> dict[str, Any]:
    """The values of axes as a constructor takes them."""
    values: dict[str, Any] = {}
    for axis in axes:
        value = setting[axis.name]
        # As the axis writes it: a file may have 2.0 for 2.
        if axis.kind == "choice":
            value = next((choice for choice in axis.choices if choice == value), value)
        # numpy's numbers would stand in the script as np.float64(…).
        else:
            value = int(value) if axis.kind == "int" else float(value)
        values[axis.name] = value
    return values


def row_count_warning(fewest: int = 0, most: float = math.inf) -> Callable[[ModelingFacts], str]:
    """The `warns` of a model for this range of row counts."""

    def warning_text(facts: ModelingFacts) -> str:
        if facts.rows > most:
            return f"{facts.rows:,} rows are many for it: each trial takes minutes."
        return f"{facts.rows:,} rows are few for it." if facts.rows < fewest else ""

    return warning_text


def check_model(entry: Any) -> None:
    """Raise an exception for an unusable entry of an extension."""
    check_kind(entry, Model)
    if entry.extra and entry.extra not in OPTIONAL_DEPENDENCIES:
        raise ValueError(f"there is no optional part “{entry.extra}”")
    if not entry.known_tasks:
        raise ValueError(f"there is no task “{', '.join(entry.tasks)}”")
    for name in entry.holds:
        check_kind(name, str)
    for task in entry.known_tasks:
        for axis in entry.space(task):
            check_kind(axis, Axis)


few_or_many = row_count_warning  # the name of earlier versions
