"""The recipe of an estimator: its class and arguments, to build it or to write it down as code."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.datasets.task import Task
from core.space import Axis, Setting

CALIBRATION_FOLDS = 3
EVEN, BALANCED = "none", "balanced"

# Offered where a class is rare only: elsewhere it would make every search longer for nothing.
CLASS_WEIGHT = Axis(
    "class_weight",
    "Weight of the classes (balanced: rare ones count more)",
    "choice",
    choices=(EVEN, BALANCED),
    default=EVEN,
)


@dataclass(frozen=True)
class Recipe:
    """A scikit-learn class, where it comes from, and its arguments (which may be recipes)."""

    module: str  # where the class is imported from ("sklearn.svm")
    name: str  # of the class ("SVC")
    arguments: dict[str, Any] = field(default_factory=dict)  # as the script shows them, in order

    def build(self) -> Any:
        arguments = {
            key: value.build() if isinstance(value, Recipe) else value
            for key, value in self.arguments.items()
        }
        # Imported here alone: the registry is read without scikit-learn.
        return getattr(importlib.import_module(self.module), self.name)(**arguments)

    def imports(self) -> list[str]:
        inner = [value for value in self.arguments.values() if isinstance(value, Recipe)]
        import_line = f"from {self.module} import {self.name}"
        return sorted({import_line, *(line for recipe in inner for line in recipe.imports())})

    def expression(self) -> str:
        """The constructor call as Python code; evaluated, it gives an equal estimator."""
        shown = (
            f"{key}={value.expression() if isinstance(value, Recipe) else repr(value)}"
            for key, value in self.arguments.items()
        )
        return f"{self.name}({', '.join(shown)})"


RecipeFactory = Callable[[str, Setting, int], Recipe]


def build_from_recipe(make_recipe: RecipeFactory) -> Callable[[str, Setting, int], Any]:
    """The `build` of a model whose recipe `make_recipe` gives."""
    return lambda task, setting, seed: make_recipe(task, setting, seed).build()


def script_from_recipe(
    make_recipe: RecipeFactory,
) -> Callable[[str, Setting, int], tuple[str, str]]:
    """The `script` of a model with this recipe: import lines, then the expression."""

    def make_script(task: str, setting: Setting, seed: int) -> tuple[str, str]:
        recipe = make_recipe(task, setting, seed)
        return "\n".join(recipe.imports()), recipe.expression()

    return make_script


def on_standard_target(regressor: Recipe) -> Recipe:
    """The regressor behind a target of mean 0 and standard deviation 1."""
    # Vector machines, networks and absolute penalties presuppose that scale: prices in the hundred
    # thousands would never be reached with scikit-learn's default settings.
    scaler = Recipe("sklearn.preprocessing", "StandardScaler")
    return Recipe(
        "sklearn.compose",
        "TransformedTargetRegressor",
        {"regressor": regressor, "transformer": scaler},
    )


def standardize_numbers(task: str, recipe: Recipe) -> Recipe:
    """The `wrap` of `Model.of_sklearn` for classes whose regressor presupposes that scale."""
    return on_standard_target(recipe) if Task(task).has_numbers else recipe


def with_probabilities(classifier: Recipe, seed: int) -> Recipe:
    """The classifier, a sigmoid of its held-out decisions as probabilities (Platt 1999)."""
    # Three more fits, and no class may have fewer than three rows.
    folds = Recipe(
        "sklearn.model_selection",
        "StratifiedKFold",
        {"n_splits": CALIBRATION_FOLDS, "shuffle": True, "random_state": seed},
    )
    arguments = {"estimator": classifier, "ensemble": False, "cv": folds}
    return Recipe("sklearn.calibration", "CalibratedClassifierCV", arguments)


def weights_of(setting: Mapping[str, Any]) -> dict[str, Any]:
    """The `class_weight` argument of a scikit-learn classifier; empty without weights."""
    weighs = setting.get(CLASS_WEIGHT.name, EVEN) == BALANCED
    return {CLASS_WEIGHT.name: BALANCED} if weighs else {}


# The names of earlier versions.
building = build_from_recipe
scripting = script_from_recipe
